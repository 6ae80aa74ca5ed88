//! Requests that change a library, and pages of other sites that ask.

mod common;

use std::time::{Duration, Instant};

use common::Running;
use serde_json::json;

const TOKEN: &str = "a-token-that-nobody-knows";

fn writable() -> Running {
    Running::new(|settings| {
        settings.token = Some(TOKEN.to_owned());
        settings.origins = vec!["https://example.org".to_owned()];
    })
}

fn add(server: &Running, library: &str, token: Option<&str>, body: &str) -> common::Reply {
    let authorization = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(authorization.as_deref().map(|value| ("authorization", value)));
    server.send("POST", &format!("/v1/libraries/{library}/facts"), &headers, body.as_bytes())
}

fn names(server: &Running, request: &serde_json::Value) -> Vec<String> {
    let answer = server.post("/v1/rank", &request.to_string()).json();
    let premises = answer["premises"].as_array().unwrap().iter();
    premises.map(|premise| premise["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn facts_are_known_at_once() {
    let server = writable();
    let facts = json!({"facts": [
        {"name": "ADD_TWICE", "statement": "!n. n + n = 2 * n", "proof": ["ADD_SYM", "ADD_0", "NOWHERE"]},
        {"name": "LE_REFL", "proof": ["LT_SUC"]},
        {"name": "MISSING", "proof": ["LT_SUC"]}
    ]});
    let reply = add(&server, "small", Some(TOKEN), &facts.to_string());
    assert_eq!(reply.status, 200, "{reply:?}");
    let expected =
        json!({"new": 1, "changed": 0, "same": 0, "proofs": 2, "of_unknown": 1, "unknown": 1, "ignored": 0});
    assert_eq!(reply.json(), expected);
    let asked = json!({"conjecture": "!n. n + n = n", "library": "small", "k": 99});
    assert!(names(&server, &asked).contains(&"ADD_TWICE".to_owned()));
    let listed = server.get("/v1/library").json();
    assert_eq!(
        (&listed["libraries"][0]["statements"], &listed["libraries"][0]["proofs"]),
        (&json!(7), &json!(2))
    );
    assert_eq!(listed["writable"], true);
    let asked = json!({"conjecture": "!n. n + 0 = n * 1", "library": "small", "explain": true, "k": 99});
    let answer = server.post("/v1/rank", &asked.to_string()).json();
    let zero = answer["premises"].as_array().unwrap().iter().find(|row| row["name"] == "ADD_0").unwrap();
    assert_eq!((&zero["uses"], &zero["used_by"]), (&json!(1), &json!(["ADD_TWICE"])));
    assert!(zero["shared_symbols"].as_array().unwrap().contains(&json!("+")), "{zero}");
    let again = add(&server, "small", Some(TOKEN), &facts.to_string()).json();
    assert_eq!((&again["same"], &again["proofs"]), (&json!(1), &json!(0)));
    let other = json!({"facts": [{"name": "ADD_TWICE", "statement": "!n. n + n = n + n"}]});
    assert_eq!(add(&server, "small", Some(TOKEN), &other.to_string()).json()["changed"], 1);
}

#[test]
fn changes_need_a_token() {
    let server = writable();
    let body = r#"{"facts": [{"name": "X", "statement": "T"}]}"#;
    let check = |reply: common::Reply, status: u16, expected: &str| {
        assert!(reply.status == status && reply.body.contains(expected), "{reply:?}");
    };
    let refused = add(&server, "small", None, body);
    assert!(refused.head.contains("www-authenticate: bearer"), "{refused:?}");
    check(refused, 401, "expected the header");
    check(add(&server, "small", Some("a-token-that-somebody-knows"), body), 401, "not the one");
    check(add(&server, "none", Some(TOKEN), body), 404, "expected one of small");
    check(
        add(&server, "small", Some(TOKEN), r#"{"facts": [{"name": "X"}]}"#),
        422,
        "`statement`, `proof` or both",
    );
    check(
        add(&server, "small", Some(TOKEN), r#"{"facts": [{"name": "a\nb", "statement": "T"}]}"#),
        422,
        "control",
    );
    check(
        add(&server, "small", Some(TOKEN), r#"{"facts": [{"name": "X", "statement": "("}]}"#),
        400,
        "facts[0].statement",
    );
    check(add(&server, "small", Some(TOKEN), r#"{"facts": 7}"#), 422, "expected a list, found `7`");
    let read_only = Running::new(|_| ());
    check(add(&read_only, "small", Some(TOKEN), body), 403, "--writable");
    assert_eq!(server.get("/v1/library").json()["libraries"][0]["statements"], 6);
}

#[test]
fn pages_of_listed_sites_may_ask() {
    let server = writable();
    let ask = |method: &str, origin: &str| {
        let headers = [
            ("origin", origin),
            ("content-type", "application/json"),
            ("access-control-request-method", "POST"),
        ];
        server.send(method, "/v1/graph", &headers, br#"{"formula": "!x. x = x"}"#)
    };
    let reply = ask("OPTIONS", "https://example.org");
    assert_eq!(reply.status, 204, "{reply:?}");
    assert!(reply.head.contains("access-control-allow-origin: https://example.org"), "{reply:?}");
    assert!(reply.head.contains("access-control-allow-headers: authorization, content-type"), "{reply:?}");
    let reply = ask("POST", "https://example.org");
    assert!(reply.status == 200 && reply.head.contains("access-control-allow-origin: https://example.org"));
    for origin in ["https://example.org.evil.net", "http://example.org", "null", "*"] {
        let reply = ask("OPTIONS", origin);
        assert_eq!(reply.status, 405, "{reply:?}");
        assert!(!reply.head.contains("access-control"), "{reply:?}");
        assert!(!ask("POST", origin).head.contains("access-control"), "{origin}");
    }
}

/// Whoever waits for another process that is writing is in nobody's way, and has written nothing when the time is over.
#[test]
fn who_waits_to_write_is_in_the_way_of_nobody() {
    let server = Running::new(|settings| {
        settings.token = Some(TOKEN.to_owned());
        settings.timeout = Duration::from_secs(2);
        settings.workers = 1;
    });
    let lock = rusqlite::Connection::open(server.folder.path("small.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|number| {
                let facts = json!({"facts": [
                    {"name": format!("NEW{number}"), "statement": "!n. n + n = 2 * n"},
                    {"name": "LE_REFL", "proof": [format!("ADD_{number}")]}
                ]});
                let server = &server;
                scope.spawn(move || add(server, "small", Some(TOKEN), &facts.to_string()))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        for _ in 0..5 {
            let begin = Instant::now();
            server.is_well();
            assert!(begin.elapsed() < Duration::from_millis(1500), "{:?}", begin.elapsed());
        }
        for writer in writers {
            let reply = writer.join().unwrap();
            assert!(reply.status == 503 && reply.body.contains("nothing was written"), "{reply:?}");
        }
    });
    drop(lock);
    std::thread::sleep(Duration::from_millis(500));
    let library = formulanet::Library::open(&server.folder.path("small.db")).unwrap();
    assert_eq!((library.count().unwrap(), library.proof_count().unwrap()), (6, 0));
    let fact = r#"{"facts": [{"name": "NEW", "statement": "!n. n + n = 2 * n"}]}"#;
    assert_eq!(add(&server, "small", Some(TOKEN), fact).status, 200);
}

/// Statements and proofs are written together: what is wrong with one leaves out all.
#[test]
fn a_request_is_written_whole_or_not_at_all() {
    let server = writable();
    let facts = json!({"facts": [
        {"name": "GOOD", "statement": "!n. n + n = 2 * n"},
        {"name": "LE_REFL", "proof": ["ADD_0"]},
        {"name": "x".repeat(1001), "statement": "T"}
    ]});
    let reply = add(&server, "small", Some(TOKEN), &facts.to_string());
    assert!(reply.status == 422 && reply.body.contains("1 to 1000 bytes"), "{reply:?}");
    // A name twice is the last one; what is as before keeps its proofs.
    let proof = json!({"facts": [{"name": "LE_REFL", "proof": ["ADD_0"]}]});
    assert_eq!(add(&server, "small", Some(TOKEN), &proof.to_string()).json()["proofs"], 1);
    let twice = json!({"facts": [
        {"name": "LE_REFL", "statement": "!n. n < n"},
        {"name": "LE_REFL", "statement": "!n. n <= n"}
    ]});
    let reply = add(&server, "small", Some(TOKEN), &twice.to_string()).json();
    assert_eq!((&reply["new"], &reply["changed"], &reply["same"]), (&json!(0), &json!(0), &json!(1)));
    let listed = server.get("/v1/library").json()["libraries"][0].clone();
    assert_eq!((&listed["statements"], &listed["proofs"]), (&json!(6), &json!(1)));
    let moved = json!({"facts": [{"name": "LE_REFL", "statement": "!n. n <= n", "module": "order"}]});
    assert_eq!(add(&server, "small", Some(TOKEN), &moved.to_string()).json()["changed"], 1);
    let asked = json!({"conjecture": "!n. n = n", "library": "small", "modules": ["order"]});
    assert_eq!(names(&server, &asked), ["LE_REFL"]);
}
