//! `formulanet mcp` over pipes: what a client asks for, and what no client should send.

mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use common::formulanet;
use formulanet_testing::Folder;
use serde_json::{Value, json};

/// A server, and what it answers.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Value>,
    last: u64,
}

impl Client {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_formulanet"));
        command.arg("mcp").args(arguments).current_dir(folder.root());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, answers) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).expect("only messages are on standard output");
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let mut client = Client { input: child.stdin.take(), child, answers, last: 0 };
        let about = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
        let hello = client.ask("initialize", hello);
        assert_eq!(hello["result"]["serverInfo"]["name"], "formulanet", "{hello}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request and returns its number.
    fn begin(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}).to_string());
        id
    }

    /// Begins the call of a tool.
    fn begin_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    #[track_caller]
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters);
        self.wait_for(id)
    }

    /// The answer to a request; those to others are passed over.
    #[track_caller]
    fn wait_for(&mut self, id: u64) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left).expect("an answer within a minute");
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool: its text, and whether it is an error.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let id = self.begin_call(tool, &arguments);
        let answer = self.wait_for(id);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    /// Calls a tool that succeeds.
    #[track_caller]
    fn rows(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Calls a tool that fails, with these words.
    #[track_caller]
    fn fails(&mut self, tool: &str, arguments: Value, words: &str) {
        let (text, is_error) = self.call(tool, arguments);
        assert!(is_error && text.contains(words) && text.len() < 1000, "{tool}: {text}");
    }

    /// Closes the server's input and returns how long it takes to end.
    fn close(mut self) -> Duration {
        drop(self.input.take());
        let began = Instant::now();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        began.elapsed()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn library(folder: &Folder, name: &str, statements: &str) {
    let statements = folder.write("statements", statements);
    formulanet(&["library", "build", &folder.text(name), &statements], b"").output();
}

const SUMS: &str = "ADD_COMM: !m n. m + n = n + m\nADD_0: !m. m + 0 = m\nMUL_COMM: !m n. m * n = n * m\n";

const SETS: &str = "fof(subset, axiom, ![A, B] : (subset(A, B) <=> ![X] : (member(X, A) => member(X, B)))).\n\
                    fof(union, axiom, ![X, A, B] : (member(X, union(A, B)) <=> (member(X, A) | member(X, B)))).\n\
                    fof(empty, axiom, ![X] : ~member(X, empty)).\n";

#[test]
fn tools_answer_like_the_command() {
    let folder = Folder::new();
    library(&folder, "sums.db", SUMS);
    let mut client = Client::start(&folder, &["--library", "sums.db"]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["explain", "prove", "rank_premises", "search_library", "select_axioms"]);
    assert!(
        tools.iter().all(|tool| tool["description"].as_str().is_some_and(|text| text.len() > 40)),
        "{tools:?}"
    );
    // Same names and same scores, digit by digit.
    let goal = "!a b. a + b = b + a + 0";
    let command = ["rank", goal, "--library", &folder.text("sums.db"), "--format", "json"];
    let (text, _) = client.call("rank_premises", json!({"goal": goal}));
    assert_eq!(text, formulanet(&command, b"").output().trim_end());
    assert_eq!(client.rows("rank_premises", json!({"goal": goal, "k": 1, "library": "sums"})).len(), 1);
    let best =
        client.rows("rank_premises", json!({"goal": goal, "exclude": ["ADD_*"], "before": "MUL_COMM"}));
    assert!(best.is_empty(), "{best:?}");

    let found = client.rows("search_library", json!({"contains": "add"}));
    assert_eq!((found.len(), &found[0]["found"], &found[1]["name"]), (3, &json!(2), &json!("ADD_COMM")));
    let found = client.rows("search_library", json!({"pattern": "*_COMM", "k": 1}));
    assert_eq!((found.len(), &found[0]["found"]), (2, &json!(2)));
    let found = client.rows("search_library", json!({"formula": "!x y. x * y = y * x"}));
    assert_eq!((&found[0]["name"], &found[0]["similarity"]), (&json!("MUL_COMM"), &json!(1.0)));
    let explained = client.rows("explain", json!({"goal": goal, "names": ["ADD_0"]}));
    assert_eq!((explained.len(), &explained[0]["name"]), (1, &json!("ADD_0")));

    let listed = client.ask("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], "formulanet://library/sums");
    let read = client.ask("resources/read", json!({"uri": "formulanet://library/sums"}));
    let statistics = read["result"]["contents"][0]["text"].as_str().unwrap();
    let statistics: Value = serde_json::from_str(statistics).unwrap();
    assert_eq!((&statistics["statements"], &statistics["writable"]), (&json!(3), &json!(false)));
    assert!(client.ask("resources/read", json!({"uri": "file:///etc/passwd"})).get("error").is_some());
    assert!(client.close() < Duration::from_secs(3));
}

#[test]
fn additions_count_at_once_whoever_makes_them() {
    let folder = Folder::new();
    library(&folder, "sums.db", SUMS);
    let mut client = Client::start(&folder, &["--library", "sums.db", "--writable"]);
    let goal = json!({"goal": "!n. EVEN (n + n)", "k": 4});
    let has_it = |rows: Vec<Value>| rows.iter().any(|row| row["name"] == "EVEN_SUM");
    assert!(!has_it(client.rows("rank_premises", goal.clone())));
    let statement = json!({"name": "EVEN_SUM", "statement": "!m n. EVEN (m + n) <=> (EVEN m <=> EVEN n)"});
    let added = client.rows("add_statements", json!({"statements": [statement]}));
    assert_eq!(added, [json!({"new": 1, "changed": 0, "same": 0})]);
    assert!(has_it(client.rows("rank_premises", goal)));
    // Another process adds a statement, and replaces one.
    let more = folder.write("more", "EVEN_0: EVEN 0\nEVEN_SUM: !n. EVEN (n + n)");
    formulanet(&["library", "add", &folder.text("sums.db"), &more], b"").output();
    assert_eq!(client.rows("search_library", json!({"pattern": "EVEN_*"}))[0]["found"], 2);
    let ranked = client.rows("rank_premises", json!({"goal": "EVEN (1 + 1)", "k": 5}));
    let changed = ranked.iter().find(|row| row["name"] == "EVEN_SUM").unwrap();
    assert_eq!(changed["statement"], "!n. EVEN (n + n)");
    // What a proof used is known to the next question.
    let learned = client.rows("learn_proof", json!({"name": "EVEN_SUM", "premises": ["ADD_COMM"]}));
    assert_eq!(learned[0]["new"], 1);
    let explained = client.rows("explain", json!({"goal": "EVEN (k + k)", "names": ["ADD_COMM"]}));
    assert_eq!(explained.last().unwrap()["used_by"], json!(["EVEN_SUM"]), "{explained:?}");
    client.fails("learn_proof", json!({"name": "NONE", "premises": []}), "NONE");
    // All or nothing.
    let wrong = json!([{"name": "X", "statement": "T"}, {"name": "Y", "statement": "(("}]);
    client.fails("add_statements", json!({"statements": wrong}), "Y");
    assert_eq!(client.rows("search_library", json!({"pattern": "X"}))[0]["found"], 0);
    // Another library takes its place.
    library(&folder, "other.db", "OTHER: !m. m * 1 = m");
    std::fs::rename(folder.path("other.db"), folder.path("sums.db")).unwrap();
    let ranked = client.rows("rank_premises", json!({"goal": "!m. m * 1 = 1 * m"}));
    assert_eq!((ranked.len(), &ranked[0]["name"]), (1, &json!("OTHER")));
}

#[test]
fn axioms_are_selected_from_a_problem_and_a_library() {
    let folder = Folder::new();
    library(&folder, "sets.db", SETS);
    library(&folder, "sums.db", SUMS);
    let mut client = Client::start(&folder, &["--library", "sets.db", "--library", "sums.db"]);
    let problem =
        "fof(own, axiom, ![A] : subset(A, A)). fof(goal, conjecture, ![A, B] : subset(A, union(A, B))).";
    let (text, is_error) =
        client.call("select_axioms", json!({"problem": problem, "library": "sets", "k": 3}));
    assert!(
        !is_error && text.contains("fof(goal, conjecture") && text.contains("fof(union, axiom"),
        "{text}"
    );
    let (text, _) = client.call("select_axioms", json!({"problem": problem}));
    assert!(text.contains("fof(own, axiom") && !text.contains("fof(union"), "{text}");
    client.fails("select_axioms", json!({"problem": problem, "library": "sums"}), "TPTP");
    client.fails("prove", json!({"goal": "p", "library": "sums"}), "TPTP");
    client.fails("prove", json!({"goal": "p", "name": "q"}), "one of `goal`, `name` and `problem`");
    client.fails("rank_premises", json!({"goal": "p"}), "one of sets, sums, found none");
    // No tool opens a file.
    let secret = folder.write("secret.p", "fof(secret, axiom, p).");
    for library in [&secret, "../sets.db", "sets.db", ""] {
        client.fails("rank_premises", json!({"goal": "p", "library": library}), "one of sets, sums");
    }
    let including = format!("include('{secret}'). fof(goal, conjecture, p).");
    for tool in ["select_axioms", "prove"] {
        let (text, is_error) = client.call(tool, json!({"problem": including}));
        assert!(is_error && !text.contains("fof(secret"), "{tool}: {text}");
    }
    // What is not offered does not work either.
    let answer = client.ask("tools/call", json!({"name": "add_statements", "arguments": {"statements": []}}));
    assert!(answer.get("error").is_some(), "{answer}");
}

#[test]
fn proves_and_stops_proving() {
    if !has_program("eprover") {
        #[allow(clippy::print_stderr, reason = "tests print why they are skipped")]
        {
            eprintln!("skipped: needs eprover");
        }
        return;
    }
    let folder = Folder::new();
    library(&folder, "sets.db", SETS);
    let mut client = Client::start(&folder, &["--library", "sets.db"]);
    let proved = client.rows("prove", json!({"goal": "![A, B] : subset(A, union(A, B))"}));
    assert_eq!(
        (&proved[0]["status"], &proved[0]["premises"]),
        (&json!("Theorem"), &json!(["subset", "union"]))
    );
    assert!(proved[0].get("proof").is_none());
    let problem = "fof(a, axiom, p). fof(b, axiom, p => q). fof(goal, conjecture, q).";
    let proved = client.rows("prove", json!({"problem": problem, "proof": true}));
    assert!(proved[0]["proof"].as_str().unwrap().contains("SZS output"), "{proved:?}");
    // A search without end: cancelled, it makes place for the next call.
    let endless = json!({"problem": ENDLESS, "seconds": 50});
    let calls: Vec<u64> = (0..4).map(|_| client.begin_call("prove", &endless)).collect();
    thread::sleep(Duration::from_millis(500));
    for id in calls {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        client.send(&cancel.to_string());
    }
    let began = Instant::now();
    assert_eq!(client.rows("search_library", json!({"pattern": "*"}))[0]["found"], 3);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The client goes while a prover runs.
    client.begin_call("prove", &endless);
    thread::sleep(Duration::from_millis(300));
    assert!(client.close() < Duration::from_secs(20));
}

/// A problem that saturation neither proves nor refutes.
const ENDLESS: &str = "fof(a, axiom, ![X, Y] : (p(X) & p(Y) => p(f(X, Y)))).\n\
                       fof(b, axiom, ![X, Y] : (p(f(X, Y)) => p(f(f(Y, X), g(X))))).\n\
                       fof(c, axiom, p(c)).\nfof(goal, conjecture, ?[X] : (p(X) & f(X, X) = h(X) & ~p(h(X)))).\n";

#[test]
fn hostile_input_changes_nothing() {
    let folder = Folder::new();
    library(&folder, "sums.db", SUMS);
    let mut client = Client::start(&folder, &["--library", "sums.db", "--timeout", "20"]);
    let goal = json!({"goal": "!n. n + 0 = n"});
    let expected = client.rows("rank_premises", goal.clone());
    let garbage = [
        "",
        "garbage",
        "{",
        "[]",
        "{\"jsonrpc\": \"2.0\"}",
        "\u{0}\u{1}",
        "{\"id\": 7}",
        "null",
        "\"\u{feff}\"",
    ];
    garbage.iter().for_each(|line| client.send(line));
    client.input.as_mut().unwrap().write_all(b"\xff\xfe\x80\n").unwrap();
    client.send(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
    client.send(&"x".repeat(40 << 20));
    assert_eq!(client.rows("rank_premises", goal.clone()), expected);
    // A wrong call is answered, and says what is wrong.
    client.fails("rank_premises", json!({"goal": "!n. n +"}), "goal");
    client.fails("rank_premises", json!({"goal": "(".repeat(1_000_000)}), "goal");
    client.fails("rank_premises", json!({"goal": "T", "k": 0}), "1 to 256");
    client.fails("rank_premises", json!({"goal": "T", "k": 100_000}), "1 to 256");
    client.fails("rank_premises", json!({"goal": "T", "before": "NOT_THERE"}), "NOT_THERE");
    client.fails("search_library", json!({}), "one of");
    client.fails("search_library", json!({"formula": "(("}), "formula");
    client.fails("prove", json!({"problem": "fof(a, conjecture, p).", "seconds": -1}), "seconds");
    client.fails("select_axioms", json!({"problem": "fof("}), "problem");
    for arguments in
        [json!({}), json!({"goal": 7}), json!({"goal": "T", "unknown": 1}), json!({"goal": "T", "k": -1})]
    {
        let answer = client.ask("tools/call", json!({"name": "rank_premises", "arguments": arguments}));
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
    }
    assert!(client.ask("tools/call", json!({"name": "nothing", "arguments": {}})).get("error").is_some());
    assert!(client.ask("no/such/method", json!({})).get("error").is_some());
    // Many calls at once are all answered.
    let mut open: HashSet<u64> = (0..200).map(|_| client.begin_call("rank_premises", &goal)).collect();
    while !open.is_empty() {
        let answer = client.answers.recv_timeout(Duration::from_secs(30)).expect("all calls are answered");
        open.remove(&answer["id"].as_u64().unwrap());
    }
    assert!(client.close() < Duration::from_secs(3));
}

#[test]
fn libraries_are_checked_at_start() {
    let folder = Folder::new();
    library(&folder, "sums.db", SUMS);
    std::fs::create_dir(folder.path("other")).unwrap();
    std::fs::copy(folder.path("sums.db"), folder.path("other/sums.db")).unwrap();
    let (sums, other) = (folder.text("sums.db"), folder.text("other/sums.db"));
    let check = |libraries: &[&str], expected: &str| {
        let libraries = libraries.iter().flat_map(|library| ["--library", library]);
        let run = formulanet(&["mcp"].into_iter().chain(libraries).collect::<Vec<_>>(), b"");
        assert!(run.code == Some(1) && run.stderr.contains(expected), "{}", run.stderr);
    };
    check(&[&folder.text("missing.db")], "missing.db");
    check(&[&folder.text("statements")], "statements");
    check(&[&sums, &other], "`sums`");
}

fn has_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(name).is_file())
}
