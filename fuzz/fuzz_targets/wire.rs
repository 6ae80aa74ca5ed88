//! Bytes on a connection, which need not be HTTP. An answer has a status below 500, or 503, and the server answers the next
//! client.
#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use formulanet_server::{Server, Settings};
use libfuzzer_sys::fuzz_target;

/// A server in this process, which runs as long as that does.
fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let settings = Settings {
            listen: "127.0.0.1:0".parse().expect("an address"),
            timeout: Duration::from_secs(2),
            lean: true,
            token: Some("fuzz".to_owned()),
            origins: vec!["https://example.org".to_owned()],
            ..Settings::default()
        };
        let server = Server::new(settings).expect("a server");
        let address = server.address();
        thread::spawn(|| server.run_until_signal());
        address
    })
}

fn send(bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    // The server may have refused before it has read everything.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

fuzz_target!(|input: &[u8]| {
    let answer = send(input);
    if !answer.is_empty() {
        let text = String::from_utf8_lossy(&answer);
        let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).expect("a status");
        assert!(status < "500" || status == "503", "{text}");
    }
    let next = send(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(next.starts_with(b"HTTP/1.1 200 "));
});
