//! The server as a process: it says where it listens, answers, and ends when it is asked to.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use common::formulanet;

struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
            .args(["serve", "--listen", "127.0.0.1:0", "--model", "holstep", "--timeout", "5"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let address = line.strip_prefix("listening on http://").expect(&line).to_owned();
        Process { child, address }
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn answers_until_it_is_asked_to_end() {
    for signal in ["-TERM", "-INT"] {
        let mut process = Process::start();
        let answer = process.ask("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
        formulanet(&["serve", "--check", &process.address], b"").output();
        let body = r#"{"conjecture": "!m n. m + n = n + m", "premises": "a: !m. m + 0 = m"}"#;
        let request = format!(
            "POST /v1/rank HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = process.ask(&request);
        assert!(answer.contains("\"rank\":1,\"name\":\"a\""), "{answer}");
        let idle = TcpStream::connect(&process.address).unwrap();
        let sent = Command::new("kill").args([signal, &process.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let began = Instant::now();
        let status = process.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(began.elapsed() < Duration::from_secs(3), "an idle connection does not hold it up");
        drop(idle);
    }
}

#[test]
fn rests_and_goes_on() {
    let mut process = Process::start();
    for _ in 0..2 {
        let answer = process.ask("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        // Long enough for it to rest, which nobody should notice.
        thread::sleep(Duration::from_secs(3));
    }
    let sent = Command::new("kill").args(["-TERM", &process.child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(process.child.wait().unwrap().code(), Some(0), "asked to end at rest");
}

/// What requests needed goes back: at rest, a server that answered more has no page more.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn memory_at_rest_is_the_same() {
    let process = Process::start();
    let ask = |number: usize| {
        let nested = |depth: usize| "f (".repeat(depth) + "x" + &")".repeat(depth);
        let premises =
            (0..number % 23).map(|i| format!("p{i}: {} = {i}\\n", nested(i))).collect::<String>() + "t: T";
        let conjecture = "!m n. m + n = n + m /\\\\ ".repeat(number % 7);
        let body = format!(r#"{{"conjecture": "{conjecture}T", "premises": "{premises}"}}"#);
        let head = "POST /v1/rank HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json";
        let answer = process.ask(&format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    let resident = || {
        let pages = fs::read_to_string(format!("/proc/{}/smaps_rollup", process.child.id())).unwrap();
        let line = pages.lines().find_map(|line| line.strip_prefix("Rss:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
    };
    let round = |requests: usize| {
        thread::scope(|scope| {
            for client in 0..8 {
                scope.spawn(move || (0..requests).for_each(|number| ask(8 * number + client)));
            }
        });
    };
    round(20);
    thread::sleep(Duration::from_secs(5));
    let before = resident();
    round(60);
    // A busy machine may take its time.
    let began = Instant::now();
    while resident() > before && began.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(100));
    }
    assert!(resident() <= before, "{before} kB, then {}", resident());
}

#[test]
fn what_it_cannot_do_it_says() {
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let run = formulanet(&[&["serve", "--model", "holstep"], arguments].concat(), b"");
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(expected) && run.stdout.is_empty(), "{}", run.stderr);
    };
    check(&["--listen", "nowhere"], 2, "--listen");
    check(&["--timeout", "0"], 2, "expected seconds from 0.01 to 86400");
    check(&["--timeout", "NaN"], 2, "expected seconds");
    check(&["--listen", "127.0.0.1:0", "--library", "no-such.db"], 1, "found no such file");
    check(&["--listen", "192.0.2.1:80"], 1, "choose another address with --listen");
}
