//! Requests that are wrong, too large or too slow: each is refused with a reason, and the next good one is answered.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use common::Running;
use formulanet::logic::Limits;
use serde_json::json;

static SERVER: LazyLock<Running> = LazyLock::new(|| {
    Running::new(|settings| {
        settings.max_body = 100_000;
        settings.max_premises = 100;
        settings.timeout = Duration::from_millis(3000);
        settings.limits = Limits { bytes: 20_000, depth: 100, nodes: 1000, treelets: 5000 };
    })
});

/// A refusal as `status field line:column message`, of which the beginning or the end is expected.
fn check(path: &str, body: &str, expected: &str) {
    let reply = SERVER.post(path, body);
    let found = reply.refusal();
    assert!(found.contains(expected), "{path} {body:.200}\n  expected {expected}\n  found {found}");
    assert!(reply.head.contains("application/problem+json"));
    SERVER.is_well();
}

/// Who reads the first of two hosts and who reads the last would not mean the same one.
#[test]
fn two_hosts_are_refused() {
    let server = Running::new(|_| {});
    for hosts in ["host: localhost\r\nhost: example.org", "host: localhost\r\nhost: localhost"] {
        let reply =
            server.raw(format!("GET /healthz HTTP/1.1\r\n{hosts}\r\nconnection: close\r\n\r\n").as_bytes());
        assert_eq!(reply.status, 400, "{reply:?}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn malformed_json() {
    for body in
        ["", "{", "[1, 2", "nonsense", "{\"conjecture\": }", "{\"conjecture\": \"a\u{1}\"}", "{} {}", "1e999"]
    {
        check("/v1/rank", body, "400 - ");
    }
    check("/v1/rank", "{\n  \"k\": ?", "400 - 2:8 ");
    check("/v1/rank", &"[".repeat(50_000), "400 - ");
    check("/v1/rank", &"{\"a\":".repeat(10_000), "400 - ");
    let reply = SERVER.send(
        "POST",
        "/v1/graph",
        &[("content-type", "application/json")],
        b"{\"formula\": \"\xff\xfe\"}",
    );
    assert!(reply.refusal().starts_with("400 - "), "{reply:?}");
    let reply = SERVER.send("POST", "/v1/graph", &[("content-type", "application/json")], &[0; 5000]);
    assert!(reply.refusal().starts_with("400 - "), "{reply:?}");
    SERVER.is_well();
}

#[test]
fn json_that_makes_no_sense() {
    for (body, expected) in [
        ("{}", "422 - - expected `library`, `premises` or both, found neither"),
        (
            r#"{"library": "small"}"#,
            "422 conjecture - expected `conjecture`, `conjectures`, or `library` and the `name` of one of its statements",
        ),
        (
            r#"{"library": "small", "name": "NOBODY"}"#,
            "422 name - expected a statement of the library, found `NOBODY`",
        ),
        (
            r#"{"library": "small", "conjecture": "T", "before": "NOBODY"}"#,
            "422 before - expected a statement of the library, found `NOBODY`",
        ),
        ("[]", "422 - - expected a JSON object"),
        ("null", "422 - - expected a JSON object"),
        (r#"{"conjecture": "T"}"#, "422 - - expected `library`, `premises` or both, found neither"),
        (r#"{"conjecture": 1, "premises": []}"#, "422"),
        (r#"{"conjecture": "T", "premises": []}"#, "422 premises - expected statements to rank, found none"),
        (r#"{"conjecture": "T", "premises": ""}"#, "422 premises - expected statements to rank, found none"),
        (r#"{"conjecture": "T", "premises": 3}"#, "expected a list of objects"),
        (r#"{"conjecture": "T", "premises": "a: T", "k": -1}"#, "expected a whole number, found `-1`"),
        (r#"{"conjecture": "T", "premises": "a: T", "k": 1.5}"#, "expected a whole number, found `1.5`"),
        (r#"{"conjecture": "T", "premises": "a: T", "kk": 1}"#, "unknown field `kk`"),
        (r#"{"conjecture": "T", "premises": "a: T", "syntax": "coq"}"#, "expected `hol`, `tptp` or `lean`"),
        (r#"{"conjecture": "T", "library": "x"}"#, "404 library - expected one of small, found `x`"),
        (r#"{"conjecture": "T", "library": "../../etc/passwd"}"#, "404 library"),
        (
            r#"{"conjecture": "T", "premises": "a: T", "model": "/etc/passwd"}"#,
            "422 model - expected one of ",
        ),
        (r#"{"conjecture": "T", "library": "small", "model": "holstep"}"#, "422 model - expected `tiny`"),
        (r#"{"conjecture": "T", "premises": [{"name": "", "statement": "T"}]}"#, "422 premises[0].name"),
        (
            r#"{"conjecture": "T", "library": "small", "include": ["*"], "k": 2}"#,
            "422 include - expected at most k = 2",
        ),
    ] {
        check("/v1/rank", body, expected);
    }
    check("/v1/graph", r#"{"formula": "T", "view": "cube"}"#, "422 view - expected one of graph, ");
    check("/v1/graph", r#"{"formula": "T", "model": "none"}"#, "422 model");
    check("/v1/embed", r#"{"statements": []}"#, "422 statements");
    check("/v1/embed", r#"{"statements": [{}]}"#, "missing field `statement`");
    let many = json!({"conjecture": "T", "library": "small", "include": vec!["*a"; 1001]}).to_string();
    check("/v1/rank", &many, "422 include - expected at most 1000");
    let long = json!({"conjecture": "T", "library": "small", "exclude": ["x", "*".repeat(300)]}).to_string();
    check("/v1/rank", &long, "422 exclude[1] - expected at most 256 bytes");
    for query in ["offset=-1", "limit=x", "limit=1001", "wrong=1", "name=small&name=small"] {
        assert_eq!(SERVER.get(&format!("/v1/library?name=small&{query}")).status, 422, "{query}");
    }
    assert!(SERVER.get("/v1/library?name=x").refusal().starts_with("404 name - expected one of small"));
}

#[test]
fn formulas_that_cannot_be_read_have_a_place() {
    check("/v1/graph", r#"{"formula": "!x. x +"}"#, "400 formula 1:8 expected");
    check("/v1/graph", r#"{"formula": "T\n /\\ )"}"#, "400 formula 2:5 expected");
    check("/v1/graph", r#"{"formula": ""}"#, "400 formula 1:1");
    check("/v1/graph", r#"{"formula": "![X: p", "syntax": "tptp"}"#, "400 formula 1:");
    check("/v1/rank", r#"{"conjecture": "(", "library": "small"}"#, "400 conjecture 1:2");
    check("/v1/rank", r#"{"conjecture": "T", "premises": "a: T\nb: x +"}"#, "400 premises 2:7");
    check(
        "/v1/rank",
        r#"{"conjecture": "T", "premises": "no colon here"}"#,
        "400 premises 1:1 expected `name: formula`",
    );
    let list = r#"{"conjecture": "T", "premises": [{"name": "a", "statement": "T"}, {"name": "b", "statement": "x ="}]}"#;
    check("/v1/rank", list, "400 premises[1].statement 1:");
    check("/v1/embed", r#"{"statements": [{"statement": "x ="}]}"#, "400 statements[0].statement 1:");
    check("/v1/rank", r#"{"conjecture": "T", "premises": "{\"name\": 1}"}"#, "400 premises");
}

#[test]
fn files_are_never_read() {
    for include in [
        "include('/etc/passwd').",
        "include('Cargo.toml').",
        "fof(a, axiom, p). include('http://localhost/').",
    ] {
        let body = json!({"conjecture": "p", "syntax": "tptp", "premises": include}).to_string();
        check("/v1/rank", &body, "expected a text without includes");
    }
    check("/v1/rank", &json!({"conjecture": "@/etc/passwd", "library": "small"}).to_string(), "");
    for path in ["/../Cargo.toml", "/%2e%2e/etc/passwd", "/v1/rank/../../etc/passwd", "//etc/passwd"] {
        assert_eq!(SERVER.get(path).status, 404, "{path}");
    }
}

#[test]
fn formulas_that_are_too_large() {
    let rank = |conjecture: String| json!({"conjecture": conjecture, "library": "small"}).to_string();
    check("/v1/rank", &rank("(".repeat(15_000)), "400 conjecture 1:");
    check("/v1/rank", &rank("~".repeat(15_000) + "p"), "400 conjecture 1:");
    check("/v1/rank", &rank("!x. ".repeat(4_000) + "T"), "400 conjecture 1:");
    check("/v1/rank", &rank("x".repeat(30_000)), "400 conjecture");
    check("/v1/rank", &rank(vec!["f x"; 1500].join(" + ")), "conjecture");
    // Treelets grow with the square of a function's arguments.
    check(
        "/v1/rank",
        &rank(format!("FUN {}", "x ".repeat(900))),
        "413 conjecture 1:1 expected at most 5000 treelets",
    );
    check(
        "/v1/graph",
        &json!({"formula": format!("p({})", vec!["a"; 900].join(",")), "syntax": "tptp"}).to_string(),
        "413",
    );
    let many = vec!["a: T"; 101].join("\n");
    check(
        "/v1/rank",
        &json!({"conjecture": "T", "premises": many}).to_string(),
        "413 premises - expected at most 100",
    );
    let list = vec![json!({"name": "a", "statement": "T"}); 101];
    check(
        "/v1/rank",
        &json!({"conjecture": "T", "premises": list}).to_string(),
        "413 premises - expected at most 100",
    );
    check("/v1/embed", &json!({"statements": list}).to_string(), "413 statements - expected at most 100");
    // A text is counted as it is read: what stands behind the hundredth statement is not looked at.
    let text: String = (0..101).map(|i| format!("a{i}: x = x\n")).collect();
    let request = json!({"conjecture": "T", "premises": text + "no statement at all\n"});
    check("/v1/rank", &request.to_string(), "413 premises - expected at most 100");
}

#[test]
fn bodies_that_are_too_large() {
    let large = format!("{{\"conjecture\": \"{}\"}}", "x".repeat(1_000_000));
    check("/v1/rank", &large, "413 - - expected at most 100000 bytes");
    // Without a length, and never ending.
    let mut stream = SERVER.connect();
    let head = "POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 10_000, "x".repeat(10_000));
    for _ in 0..50 {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    assert!(read(&mut stream).starts_with("HTTP/1.1 413"));
    // A length that is a lie.
    let lie = "POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{}";
    assert_eq!(SERVER.raw(lie.as_bytes()).status, 413);
    SERVER.is_well();
}

#[test]
fn wrong_methods_paths_types_and_hosts() {
    for (method, path, status) in [
        ("GET", "/v1/rank", 405),
        ("PUT", "/v1/rank", 405),
        ("DELETE", "/v1/library", 405),
        ("OPTIONS", "/v1/embed", 405),
        ("POST", "/", 405),
        ("BREW", "/v1/graph", 405),
        ("GET", "/nothing", 404),
        ("POST", "/v1/rank/", 404),
        ("GET", "/v1", 404),
    ] {
        let reply = SERVER.send(method, path, &[], b"");
        assert!(reply.refusal().starts_with(&format!("{status} ")), "{method} {path} {reply:?}");
    }
    let reply = SERVER.get("/v1/rank");
    assert!(reply.head.contains("allow: post"), "{reply:?}");
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("application/jsonx"),
        Some(""),
    ] {
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        assert_eq!(
            SERVER.send("POST", "/v1/graph", &headers, b"{\"formula\": \"T\"}").status,
            415,
            "{kind:?}"
        );
    }
    let kind = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(SERVER.send("POST", "/v1/graph", &kind, b"{\"formula\": \"T\"}").status, 200);
    for (host, status) in [
        ("localhost", 200),
        ("localhost:1", 200),
        ("[::1]:8017", 200),
        ("127.0.0.1", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
    ] {
        assert_eq!(SERVER.send("GET", "/healthz", &[("host", host)], b"").status, status, "{host}");
    }
    let reply = SERVER
        .raw(b"GET http://evil.example/healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert_eq!(reply.status, 421);
    assert_eq!(SERVER.raw(b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n").status, 400);
}

#[test]
fn what_is_not_http() {
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n",
        b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        assert_eq!(SERVER.raw(bytes).status, 400, "{:?}", String::from_utf8_lossy(bytes));
    }
    let many = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(1000));
    assert_eq!(SERVER.raw(many.as_bytes()).status, 431);
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    assert_eq!(SERVER.raw(long.as_bytes()).status, 431);
    let path = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "y".repeat(200_000));
    assert!(matches!(SERVER.raw(path.as_bytes()).status, 414 | 431));
    SERVER.is_well();
}

fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn slow_clients_are_sent_away() {
    let slow = Running::new(|settings| settings.timeout = Duration::from_millis(400));
    let began = Instant::now();
    // Half a head.
    let mut head = slow.connect();
    head.write_all(b"POST /v1/rank HTTP/1.1\r\nhost: loc").unwrap();
    // Half a body.
    let mut body = slow.connect();
    body.write_all(b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"conj").unwrap();
    // Nothing at all.
    let mut nothing = slow.connect();
    // A byte now and then.
    let mut drops = slow.connect();
    let dropping = std::thread::spawn(move || {
        for byte in b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n" {
            if drops.write_all(&[*byte]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        read(&mut drops)
    });
    assert!(read(&mut head).starts_with("HTTP/1.1 408"));
    let answer = read(&mut body);
    assert!(
        answer.starts_with("HTTP/1.1 408") && answer.contains("timed out while reading the body"),
        "{answer}"
    );
    assert_eq!(read(&mut nothing), "");
    assert!(began.elapsed() < Duration::from_secs(5));
    let answer = dropping.join().unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    // A client that breaks off in the middle.
    let mut broken = slow.connect();
    broken.write_all(b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{").unwrap();
    drop(broken);
    slow.is_well();
    let text = slow.get("/metrics").body;
    assert!(text.contains("formulanet_slow_clients_total 2"), "{text}");
}

#[test]
fn who_does_not_read_the_answer_is_given_up() {
    let server = Running::new(|settings| settings.timeout = Duration::from_secs(3));
    // More than systems keep for a client that does not read.
    let statements = vec![json!({"statement": "T"}); 9000];
    let body = json!({"statements": statements, "model": "holstep"}).to_string();
    let mut deaf = server.connect();
    let head = format!(
        "POST /v1/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    deaf.write_all(head.as_bytes()).unwrap();
    deaf.write_all(body.as_bytes()).unwrap();
    let is_open = || !server.get("/metrics").body.contains("formulanet_connections 1\n");
    let began = Instant::now();
    while !is_open() {
        assert!(began.elapsed() < Duration::from_secs(3));
    }
    while is_open() {
        assert!(began.elapsed() < Duration::from_secs(20), "the connection stays open");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(began.elapsed() > Duration::from_secs(2), "the client had its time");
    assert!(server.get("/metrics").body.contains("path=\"/v1/embed\",status=\"200\""));
}

#[test]
fn many_large_statements_do_not_outlast_their_time() {
    let server = Running::new(|settings| {
        settings.timeout = Duration::from_secs(1);
        settings.workers = 1;
    });
    // Each has nearly as many treelets as there may be.
    let statement = format!("FUN {}", (0..300).map(|i| format!("x{i} ")).collect::<String>());
    let statements = vec![json!({"name": "a", "statement": statement}); 600];
    let body = json!({"statements": statements, "model": "holstep"}).to_string();
    let began = Instant::now();
    assert_eq!(server.post("/v1/embed", &body).status, 503);
    while server.post("/v1/graph", r#"{"formula": "T"}"#).status != 200 {
        assert!(began.elapsed() < Duration::from_secs(15));
    }
}

#[test]
fn time_that_is_over_is_no_answer_but_no_end_either() {
    let hasty = Running::new(|settings| {
        settings.timeout = Duration::from_millis(250);
        settings.workers = 1;
        settings.model = Some("holstep".into());
        settings.libraries.clear();
    });
    let statements =
        vec![json!({"name": "a", "statement": "!x y. x + y = y + x /\\ (!z. f z < g (x + y) z)"}); 9999];
    let body = json!({"conjecture": "T", "premises": statements}).to_string();
    let began = Instant::now();
    let reply = hasty.post("/v1/rank", &body);
    assert!(reply.refusal().starts_with("503 "), "{reply:?}");
    assert!(reply.head.contains("retry-after"));
    assert!(began.elapsed() < Duration::from_secs(5));
    // The worker noticed that nobody waits any more.
    let good = r#"{"formula": "T"}"#;
    while hasty.post("/v1/graph", good).status != 200 {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
