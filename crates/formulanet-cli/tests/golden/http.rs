//! Scenarios as requests to a server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use formulanet_testing::Folder;
use formulanet_testing::golden::{
    Command, Duplicates, Matrix, Order, Rerank, Scenario, Symbols, hit, repository,
};
use serde_json::{Value, json};

/// A server with all libraries and Lean's index, which runs until it is dropped.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    pub(crate) fn start(matrix: &Matrix, libraries: &Folder) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_formulanet"));
        command.current_dir(repository("")).stderr(Stdio::piped());
        command.args(["serve", "--listen", "127.0.0.1:0", "--precision", "f32"]);
        command.args(["--lean-index", "fixtures/lean/library.jsonl"]);
        for library in &matrix.libraries {
            command.arg("--library").arg(libraries.path(&format!("{}.db", library.name)));
        }
        let mut child = command.spawn().unwrap();
        let (mut said, mut stderr) = (String::new(), BufReader::new(child.stderr.take().unwrap()));
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server did not start:\n{said}");
            if let Some(address) = line.trim_end().strip_prefix("listening on http://") {
                break address.to_owned();
            }
            said += &line;
        };
        // Later messages must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Server { child, address }
    }

    /// Asks the server.
    pub(crate) fn answer(&self, scenario: &Scenario) -> Vec<String> {
        let (path, request) = request(scenario);
        let answer = self.post(path, &request.to_string(), &scenario.id);
        let rows = answer.get("premises").or(answer.get("neighbors")).unwrap_or(&answer);
        let rows = rows.as_array().unwrap_or_else(|| panic!("{}: {answer}", scenario.id));
        rows.iter().map(row).collect()
    }

    fn post(&self, path: &str, body: &str, id: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        assert!(head.starts_with("HTTP/1.1 200"), "{id}: {head}\n{text}\n{body}");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{id}: {error}: {text}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line of the result.
fn row(row: &Value) -> String {
    let score = row.get("score").or(row.get("similarity")).and_then(Value::as_f64).unwrap();
    hit(row["name"].as_str().unwrap(), score as f32)
}

/// The request of a scenario. Files are sent as text.
fn request(s: &Scenario) -> (&'static str, Value) {
    let text = |path: &String| fs::read_to_string(repository(path)).unwrap();
    let mut fields = Fields(json!({ "k": s.k }));
    let path = match s.command {
        Command::Rank => "/v1/rank",
        Command::Select => "/v1/select",
        Command::Neighbors => "/v1/neighbors",
        Command::Lean => {
            let mut question: Value = serde_json::from_str(&text(s.question.as_ref().unwrap())).unwrap();
            question["k"] = s.k.into();
            return ("/retrieve", question);
        }
        Command::Hammer | Command::Theory => panic!("{}: HTTP has no such path", s.id),
    };
    let premises: String = s.files().map(text).collect();
    let goal = if s.command == Command::Neighbors { "formula" } else { "conjecture" };
    fields.some(goal, s.goal.clone());
    fields.some("name", s.goal_name.clone());
    fields.some("problem", s.problem.as_ref().map(text));
    fields.some("premises", Some(premises).filter(|premises| !premises.is_empty()));
    fields.some("library", s.library.clone());
    fields.some("before", s.before.clone());
    fields.some("modules", Some(s.modules.clone()).filter(|modules| !modules.is_empty()));
    fields.some("include", Some(s.include.clone()).filter(|patterns| !patterns.is_empty()));
    fields.some("exclude", Some(s.exclude.clone()).filter(|patterns| !patterns.is_empty()));
    fields.some("overload", s.overload.clone());
    fields.some("model", s.model.clone());
    fields.some("keep_roles", s.keep_roles.clone());
    fields.some("min_score", Some(s.min_score).filter(|score| *score > 0.0));
    fields.some("order", s.order.map(order_name));
    fields.some(
        "rerank",
        match s.rerank {
            Rerank::Auto => None,
            Rerank::On => Some("on"),
            Rerank::Off => Some("off"),
        },
    );
    fields.some("symbols", (s.symbols == Symbols::Anonymous).then_some("anonymous"));
    fields.some("keep_duplicates", (s.duplicates == Duplicates::Keep).then_some(true));
    fields.some("explain", s.explain.then_some(true));
    (path, fields.0)
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Lift => "lift",
        Order::Probability => "probability",
    }
}

/// A request that is being written.
struct Fields(Value);

impl Fields {
    fn some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0[name] = value.into();
        }
    }
}
