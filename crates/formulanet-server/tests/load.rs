//! Many clients at once, and the end of the server.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::Running;
use serde_json::json;

/// A request that takes a while.
fn long_request() -> String {
    let statement = "!x y z. x + y * z = y * z + x /\\ (!f. f x y < f (x + y) z ==> (?w. f w w = x))";
    let statements = vec![json!({"name": "a", "statement": statement}); 2000];
    json!({"conjecture": "!x. x = x", "premises": statements, "k": 3}).to_string()
}

#[test]
fn too_many_are_told_to_come_back() {
    let server = Running::new(|settings| {
        settings.workers = 1;
        settings.queue = 2;
        settings.timeout = Duration::from_secs(60);
    });
    let body = long_request();
    let replies: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..10).map(|_| scope.spawn(|| server.post("/v1/rank", &body))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
    assert_eq!(count(200) + count(429), 10, "{replies:?}");
    assert!(count(200) >= 3 && count(429) >= 1, "{} {}", count(200), count(429));
    let refused = replies.iter().find(|reply| reply.status == 429).unwrap();
    assert!(
        refused.head.contains("retry-after: 1") && refused.refusal().contains("try again"),
        "{refused:?}"
    );
    let text = server.get("/metrics").body;
    assert!(text.contains(&format!("formulanet_refused_total {}", count(429))), "{text}");
    server.is_well();
}

#[test]
fn two_hundred_clients_wait_for_their_turn() {
    let server = Running::new(|settings| {
        // The queue is the usual one; so that it fills up, one at a time is computed, and the first takes long.
        settings.workers = 1;
        settings.timeout = Duration::from_secs(60);
    });
    let (long, short) = (long_request(), r#"{"conjecture": "!m. m + 0 = m", "library": "small"}"#);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let first = scope.spawn(|| server.post("/v1/rank", &long).status);
        while !server.get("/metrics").body.contains("formulanet_requests_in_flight 2") && !first.is_finished()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        let others: Vec<_> =
            (0..200).map(|_| scope.spawn(|| server.post("/v1/rank", short).status)).collect();
        others.into_iter().chain([first]).map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses, [200; 201]);
}

/// Few bytes may ask for much: what is computed long is not in the way of what is computed soon.
#[test]
fn a_short_request_that_asks_for_much_is_in_nobodys_way() {
    let server = Running::new(|settings| {
        settings.workers = 1;
        settings.timeout = Duration::from_secs(60);
    });
    let many = json!({"conjectures": vec!["!x. x = x"; 900], "library": "small", "k": 1, "rerank": "on"});
    let many = many.to_string();
    assert!(many.len() < 16 << 10);
    server.is_well();
    std::thread::scope(|scope| {
        let begin = Instant::now();
        let long = [(); 2].map(|()| scope.spawn(|| server.post("/v1/rank", &many).status));
        std::thread::sleep(Duration::from_millis(50));
        let asked = Instant::now();
        server.is_well();
        let short = asked.elapsed();
        assert_eq!(long.map(|thread| thread.join().unwrap()), [200; 2]);
        assert!(short * 4 < begin.elapsed(), "{short:?} of {:?}", begin.elapsed());
    });
}

#[test]
fn answers_are_the_same_alone_and_in_a_crowd() {
    let server = Running::new(|settings| {
        settings.workers = 4;
        settings.queue = 1000;
        settings.timeout = Duration::from_secs(60);
    });
    let ask = |i: usize| {
        let conjecture = format!("!m n. m + n = n + m /\\ f{} m", i % 3);
        let reply =
            server.post("/v1/rank", &json!({"conjecture": conjecture, "library": "small"}).to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["premises"].clone()
    };
    let alone: Vec<_> = (0..3).map(ask).collect();
    std::thread::scope(|scope| {
        for i in 0..60 {
            let (ask, alone) = (&ask, &alone);
            scope.spawn(move || assert_eq!(ask(i), alone[i % 3]));
        }
    });
}

#[test]
fn connections_are_kept_and_limited() {
    let server = Running::new(|settings| {
        settings.max_connections = 2;
        settings.timeout = Duration::from_secs(1);
    });
    // Two requests on one connection, one behind the other.
    let mut stream = server.connect();
    let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for _ in 0..2 {
        stream.write_all(request).unwrap();
        assert!(read_some(&mut stream).starts_with("HTTP/1.1 200"));
    }
    // Two idle connections are all there may be; the third waits until one was idle for too long.
    let _second = server.connect();
    let began = Instant::now();
    assert_eq!(server.get("/healthz").status, 200);
    assert!(began.elapsed() > Duration::from_millis(300), "{:?}", began.elapsed());
}

#[test]
fn what_has_begun_is_finished_before_the_end() {
    let mut server = Running::new(|settings| {
        settings.workers = 1;
        settings.timeout = Duration::from_secs(60);
    });
    let address = server.address;
    let body = long_request();
    let mut long = server.connect();
    let head = format!(
        "POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    long.write_all(head.as_bytes()).unwrap();
    long.write_all(body.as_bytes()).unwrap();
    let idle = server.connect();
    while !server.get("/metrics").body.contains("formulanet_requests_in_flight 2") {
        std::thread::sleep(Duration::from_millis(1));
    }
    let began = Instant::now();
    server.stop();
    let mut answer = String::new();
    long.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"premises\":[{"), "{answer:.300}");
    server.join();
    assert!(began.elapsed() < Duration::from_secs(50), "idle connections do not hold it up");
    assert!(TcpStream::connect(address).is_err());
    drop(idle);
}

fn read_some(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}
