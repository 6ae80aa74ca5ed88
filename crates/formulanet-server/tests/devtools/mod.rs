//! A browser that does as it is told, over the DevTools protocol.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// A page in a browser of its own.
pub(crate) struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    last: u64,
    /// What the page or the browser complained about.
    pub(crate) complaints: Vec<String>,
    _profile: TempDir,
}

/// Where the browser is, if there is one.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|file| file.is_file())
}

impl Browser {
    pub(crate) fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let process = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-dev-shm-usage",
            ])
            .args(["--disable-background-networking", "--disable-extensions", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        let file = profile.path().join("DevToolsActivePort");
        let (port, path) = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.trim().split_once('\n') {
                break (port.parse::<u16>().unwrap(), path.to_owned());
            }
            assert!(began.elapsed() < PATIENCE, "the browser does not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream).unwrap();
        let complaints = Vec::new();
        let mut browser =
            Browser { process, socket, session: String::new(), last: 0, complaints, _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        // Otherwise a picture of the whole page is narrower than the page.
        browser.call("Emulation.setScrollbarsHidden", json!({"hidden": true}));
        for domain in ["Page", "DOM", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and waits for its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            self.listen(&message);
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// Remembers complaints.
    fn listen(&mut self, message: &Value) {
        let parameters = &message["params"];
        let is_complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => parameters["type"] == "error",
            Some("Log.entryAdded") => {
                let entry = &parameters["entry"];
                // A refused formula is an answer, not a mistake of the page.
                let url = entry["url"].as_str().unwrap_or_default();
                let is_refusal = entry["source"] == "network" && url.contains("/v1/");
                entry["level"] == "error" && !is_refusal
            }
            _ => false,
        };
        if is_complaint {
            self.complaints.push(parameters.to_string());
        }
    }

    /// Opens a page anew, even if it differs from what is open in its fragment alone.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.wait("document.readyState === 'complete' && location.href === 'about:blank'");
        self.call("Page.navigate", json!({"url": url}));
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let began = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            if began.elapsed() > PATIENCE {
                let page = self.value("document.body.innerText");
                panic!("`{expression}` does not come true; complaints: {:?}; page: {page}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses a key, with `Ctrl+` and `Shift+` before it or not.
    pub(crate) fn press(&mut self, key: &str) {
        let (modifiers, key) = match key.split_once('+') {
            Some(("Ctrl", key)) => (2, key),
            Some(("Shift", key)) => (8, key),
            _ => (0, key),
        };
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "ArrowDown" => (40, ""),
            "ArrowUp" => (38, ""),
            "End" => (35, ""),
            "Home" => (36, ""),
            "Backspace" => (8, ""),
            "Space" => (32, " "),
            "a" => (65, ""),
            _ => panic!("the test does not know the key {key}"),
        };
        let mut event = json!({"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers, "type": "keyDown"});
        if !text.is_empty() && modifiers == 0 {
            event["text"] = json!(text);
        }
        if key == "Space" {
            event["key"] = json!(" ");
        }
        if key == "a" {
            event["code"] = json!("KeyA");
            event["commands"] = json!(["selectAll"]);
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Goes on with Tab until an expression is true of what has the focus.
    pub(crate) fn tab_to(&mut self, expression: &str) {
        for _ in 0..40 {
            self.press("Tab");
            if self.value(&format!("Boolean({expression})")) == true {
                return;
            }
        }
        panic!("Tab does not come to where `{expression}`");
    }

    /// The size of the window and the colours that its user prefers.
    pub(crate) fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    pub(crate) fn screenshot(&mut self, file: &Path) {
        use base64::Engine;
        let parameters = json!({"format": "png", "captureBeyondViewport": true});
        let shot = self.call("Page.captureScreenshot", parameters);
        let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
