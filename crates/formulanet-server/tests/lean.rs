//! The paths of Lean's premise selection, asked as its clients are described to ask: right, wrong and too much.

mod common;

use std::path::PathBuf;
use std::sync::LazyLock;

use common::{Reply, Running};
use formulanet_server::{LeanSummary, Server, Settings};
use formulanet_testing::Folder;
use serde_json::{Value, json};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/lean")).join(name)
}

static SERVER: LazyLock<Running> =
    LazyLock::new(|| Running::new(|settings| settings.lean_index = Some(fixture("library.jsonl"))));

/// A server that knows no declarations.
static EMPTY: LazyLock<Running> = LazyLock::new(|| Running::new(|settings| settings.lean = true));

fn retrieve(server: &Running, question: &Value) -> Reply {
    server.post("/retrieve", &question.to_string())
}

/// The names of an answer, whose scores have to be in order.
fn names(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer = reply.json();
    let ranked = answer.as_array().unwrap();
    let scores: Vec<f64> = ranked.iter().map(|ranked| ranked["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| (0.0..=1.0).contains(score)));
    ranked.iter().map(|ranked| ranked["name"].as_str().unwrap().to_owned()).collect()
}

const STATE: &str = "a b : Nat\n⊢ Eq (HAdd.hAdd a b) (HAdd.hAdd b a)";

#[test]
fn lists() {
    let reply = SERVER.get("/max-new-premises");
    assert_eq!((reply.status, reply.body.as_str()), (200, "2048"));
    assert!(reply.head.contains("application/json"));
    let modules = SERVER.get("/indexed-modules").json();
    assert_eq!((&modules[0], &modules[1]), (&json!("Logic.Basic"), &json!("Data.Nat.Basic")));
    assert_eq!(modules.as_array().unwrap().len(), 7);
    let premises = SERVER.get("/indexed-premises").json();
    assert_eq!((&premises[0], premises.as_array().unwrap().len()), (&json!("and_comm"), 75));
    assert_eq!(EMPTY.get("/indexed-modules").body, "[]");
    assert_eq!(EMPTY.get("/indexed-premises").body, "[]");
}

#[test]
fn recorded_questions() {
    for (file, expected) in [
        ("retrieve.json", &["Nat.add_assoc", "Nat.add_comm"][..]),
        ("new-premises.json", &["Tree.mirror_mirror", "Tree.size_mirror"]),
    ] {
        let question = std::fs::read_to_string(fixture(file)).unwrap();
        let found = names(&SERVER.post("/retrieve", &question));
        assert!(expected.iter().all(|name| found.contains(&(*name).to_owned())), "{file}: {found:?}");
        let k = serde_json::from_str::<Value>(&question).unwrap()["k"].as_u64().unwrap();
        assert_eq!(found.len() as u64, k, "{file}");
    }
}

#[test]
fn only_what_may_be_used_is_answered() {
    let ask = |modules: Value, local: Value| {
        names(&retrieve(
            &SERVER,
            &json!({"state": STATE, "imported_modules": modules, "local_premises": local, "k": 100}),
        ))
    };
    assert_eq!(ask(json!([]), json!([])), Vec::<String>::new());
    let order = ask(json!([2]), json!([]));
    assert_eq!((order.len(), order.contains(&"Nat.le_refl".to_owned())), (10, true));
    let mut named = ask(json!(["Data.Nat.Order", "Not.Indexed", 2]), json!([]));
    assert_eq!(named, order);
    let more = ask(json!([2]), json!([0, "Nat.add_comm", "not_indexed", "Nat.le_refl"]));
    named.extend(["and_comm".to_owned(), "Nat.add_comm".to_owned()]);
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(more[0], "Nat.add_comm");
    assert_eq!(sorted(more), sorted(named));
    let all = json!({"state": STATE, "imported_all_modules": [1], "k": 1});
    assert_eq!(names(&retrieve(&SERVER, &all)), ["Nat.add_comm"]);
}

#[test]
fn new_premises_are_ranked_and_those_that_cannot_be_read_are_left_out() {
    let question = |k: usize| {
        json!({"state": STATE, "imported_modules": [], "local_premises": [], "k": k, "new_premises": [
            {"name": "other", "decl": "theorem other (x : Int) : LE.le x x"},
            {"name": "broken", "decl": "theorem broken ("},
            {"name": "empty", "decl": ""},
            {"name": "mine", "decl": "theorem mine (n m : Nat) : Eq (HAdd.hAdd n m) (HAdd.hAdd m n)"},
        ]})
    };
    for server in [&*SERVER, &*EMPTY, &*EMPTY] {
        assert_eq!(names(&retrieve(server, &question(10))), ["mine", "other"]);
        assert_eq!(names(&retrieve(server, &question(1))), ["mine"]);
        assert!(names(&retrieve(server, &question(0))).is_empty());
    }
}

#[test]
fn as_many_as_are_promised_are_read_in_time() {
    let premise = |i: usize| {
        let decl = format!(
            "theorem t{i} {{α : Type u_1}} [inst : Ring{} α] (x y z : α) (h : LE.le x (f{} y)) : Eq (HAdd.hAdd (g{i} x) \
             (HMul.hMul y z)) (HAdd.hAdd (HMul.hMul z y) (g{i} x)) -- {}",
            i % 7,
            i % 50,
            "a".repeat(2000),
        );
        json!({"name": format!("t{i}"), "decl": decl})
    };
    let new: Vec<Value> = (0..2048).map(premise).collect();
    let state = "α : Type u_1\nx y : α\n⊢ Eq (HAdd.hAdd (g77 x) y) (HAdd.hAdd y (g77 x))";
    let question = json!({"state": state, "new_premises": new, "k": 5});
    assert!(question.to_string().len() > 4_000_000);
    assert_eq!(names(&retrieve(&EMPTY, &question))[0], "t77");
}

/// A refusal as `status field line:column message`.
fn check(question: &Value, expected: &str) {
    let found = retrieve(&SERVER, question).refusal();
    assert!(found.starts_with(expected), "expected {expected}\n  found {found}");
    SERVER.is_well();
}

#[test]
fn what_is_wrong_is_said() {
    check(
        &json!({"state": "a : Nat\n⊢ f (a", "k": 3}),
        "400 state 2:7 expected an operator or `)`, found the end",
    );
    check(
        &json!({"state": "", "k": 3}),
        "400 state 1:1 expected a hypothesis, or `⊢` and the goal, found the end",
    );
    check(
        &json!({"state": STATE, "imported_modules": [0, 8], "k": 3}),
        "400 imported_modules[1] - expected a place in the list of `/indexed-modules`, which has 7, found 8",
    );
    check(
        &json!({"state": STATE, "local_premises": [u64::MAX], "k": 3}),
        "400 local_premises[0] - expected a place in the list of `/indexed-premises`, which has 75, found",
    );
    check(&json!({"state": STATE, "k": 4097}), "400 k - expected a number from 0 to 4096, found 4097");
    check(&json!({"state": STATE, "k": -1}), "422 ");
    check(&json!({"state": STATE}), "422 - 1:");
    check(&json!({"state": STATE, "local_premises": [1.5], "k": 3}), "422 ");
    check(&json!({"state": STATE, "new_premises": [{"name": "a"}], "k": 3}), "422 ");
    check(&json!([STATE]), "422 - - expected a JSON object");
    let deep = format!("⊢ {}p{}", "(".repeat(20_000), ")".repeat(20_000));
    check(
        &json!({"state": deep, "k": 3}),
        "400 state 1:1004 expected at most 1000 nested brackets and binders",
    );
    assert_eq!(SERVER.get("/retrieve").status, 405);
    assert_eq!(SERVER.post("/indexed-modules", "{}").status, 405);
}

#[test]
fn a_million_premises_are_refused() {
    let small = vec![json!({"name": "", "decl": ""}); 300_000];
    check(
        &json!({"state": STATE, "new_premises": small, "k": 3}),
        "413 new_premises - expected at most 2048 declarations, as `/max-new-premises` says, found 300000",
    );
    let premise = json!({"name": "a", "decl": "theorem a : Eq 1 1"});
    let many = format!(
        "{{\"state\": \"⊢ p\", \"k\": 3, \"new_premises\": [{premise}{}]}}",
        format!(",{premise}").repeat(999_999)
    );
    let found = SERVER.post("/retrieve", &many).refusal();
    assert!(found.starts_with("413 - - expected at most 8388608 bytes, found more"), "{found}");
    SERVER.is_well();
}

#[test]
fn without_lean_there_are_no_such_paths() {
    let server = Running::new(|_| ());
    for path in ["/max-new-premises", "/indexed-modules", "/indexed-premises"] {
        assert_eq!(server.get(path).status, 404);
    }
    assert_eq!(server.post("/retrieve", "{}").status, 404);
}

#[test]
fn an_index_is_read_as_far_as_it_can_be() {
    let folder = Folder::new();
    let (model, _) = common::files(folder.root());
    let start = |text: &[u8]| {
        folder.write("dump", text);
        Server::new(Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            model: Some(model.to_string_lossy().into_owned()),
            lean_index: Some(folder.path("dump")),
            ..Settings::default()
        })
    };
    let line = |name: &str, decl: &str| json!({"module": "M", "name": name, "decl": decl}).to_string() + "\n";
    let text =
        line("a", "theorem a : p") + &line("b", "theorem b (") + &line("c", "lemma c : q") + &line("d", "?");
    let LeanSummary { modules, declarations, skipped, first_skipped } =
        start(text.as_bytes()).unwrap().lean().unwrap();
    assert_eq!((modules, declarations, skipped), (1, 2, 2));
    let first = first_skipped.unwrap();
    assert!(first.contains("dump:2: `b`: 1:12: expected names and `:`"), "{first}");
    let error = start(b"{\"module\": 3}").err().unwrap().to_string();
    assert!(error.contains("dump:1:12: expected an object with `module`, `name` and `decl`"), "{error}");
    let settings = Settings { lean_index: Some(folder.path("none")), ..Settings::default() };
    let error = Server::new(Settings { listen: "127.0.0.1:0".parse().unwrap(), ..settings }).err().unwrap();
    assert!(error.to_string().contains("none"), "{error}");
}
