//! Bodies of requests. The first byte chooses the question; every answer has a status below 500, or 503.
#![no_main]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use formulanet_server::{Server, Settings};
use libfuzzer_sys::fuzz_target;

const PATHS: [&str; 7] = [
    "/v1/rank",
    "/v1/graph",
    "/v1/embed",
    "/v1/select",
    "/v1/neighbors",
    "/v1/libraries/none/facts",
    "/retrieve",
];
const TOKEN: &str = "fuzz";

/// A server in this process, which runs as long as that does.
fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let settings = Settings {
            listen: "127.0.0.1:0".parse().expect("an address"),
            timeout: Duration::from_secs(5),
            lean: true,
            token: Some(TOKEN.to_owned()),
            ..Settings::default()
        };
        let server = Server::new(settings).expect("a server");
        let address = server.address();
        thread::spawn(|| server.run_until_signal());
        address
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((&first, body)) = input.split_first() else { return };
    let path = PATHS[usize::from(first) % PATHS.len()];
    let Ok(mut stream) = TcpStream::connect(address()) else { return };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\
         authorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    let status: u16 = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer");
    assert!(status < 500 || status == 503, "{status} for {}", body.escape_ascii());
});
