//! A server in this process with a tiny model, and a client that sends what it is told, right or wrong.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use formulanet::analyze::Analyzer;
use formulanet::model::ModelFile;
use formulanet::net::{Compute, Meeting, Precision, Storage};
use formulanet::retrieve::VectorRetriever;
use formulanet::{Language, Library};
use formulanet_server::{Server, Settings};
use formulanet_testing::{Folder, tiny};
use serde_json::Value;
use tokio::sync::oneshot;

/// Statements of the library `small`.
pub(crate) const STATEMENTS: [(&str, &str); 6] = [
    ("ADD_0", "!m. m + 0 = m"),
    ("ADD_SYM", "!m n. m + n = n + m"),
    ("MULT_0", "!m. m * 0 = 0"),
    ("LT_SUC", "!n. n < SUC n"),
    ("LE_REFL", "!n. n <= n"),
    ("PROBE", "!p x. p x ==> (?y. p y)"),
];

/// Files that servers read: a model and a library that was made with it.
pub(crate) fn files(folder: &Path) -> (PathBuf, PathBuf) {
    let (model, library) = (folder.join("tiny.safetensors"), folder.join("small.db"));
    tiny(Meeting::Towers).save(&model, Storage::F32).unwrap();
    // A file is known by its checksum, which the model in memory has not.
    let saved = ModelFile::load(&model).unwrap();
    let retriever = VectorRetriever::new(saved, Compute::new(Precision::F32, 1)).unwrap();
    let mut analyzer = Analyzer::new(&retriever);
    Library::build(&library, &retriever, &model.to_string_lossy(), |addition| {
        STATEMENTS
            .iter()
            .try_for_each(|(name, text)| addition.push(analyzer.analyze(name, text, Language::Hol)?))
    })
    .unwrap();
    (model, library)
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    pub(crate) folder: Folder,
}

impl Running {
    /// Starts with the tiny model and its library, and settings of one's own.
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = Folder::new();
        let (model, library) = files(folder.root());
        let mut settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            libraries: vec![library],
            model: Some(model.to_string_lossy().into_owned()),
            precision: Precision::F32,
            ..Settings::default()
        };
        change(&mut settings);
        let server = Server::new(settings).unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime
                .block_on(server.run(async {
                    let _ = stopped.await;
                }))
                .unwrap();
        });
        Running { address, stop: Some(stop), thread: Some(thread), folder }
    }

    /// Asks the server to stop.
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits until it has.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], body.as_bytes())
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n", body.len());
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    /// Sends bytes and reads everything that comes back.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may have refused before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let _ = stream.shutdown(Shutdown::Both);
        Reply::new(&answer)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// A good request is answered.
    pub(crate) fn is_well(&self) {
        let reply = self.post("/v1/rank", r#"{"conjecture": "!m n. m + n = n * m", "library": "small"}"#);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.json()["premises"].as_array().unwrap().len(), STATEMENTS.len());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        if !std::thread::panicking() {
            self.join();
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    /// 0 for nothing.
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error of a refusal, in one line: `status field line:column message`.
    pub(crate) fn refusal(&self) -> String {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or("-").to_owned();
        let place = match (error["line"].as_u64(), error["column"].as_u64()) {
            (Some(line), Some(column)) => format!("{line}:{column}"),
            _ => "-".to_owned(),
        };
        format!("{} {} {place} {}", self.status, text("field"), text("message"))
    }
}
