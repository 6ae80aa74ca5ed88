//! What others do to a library while the server runs.

mod common;

use std::time::{Duration, Instant};

use common::{Running, files};
use formulanet::analyze::Analyzer;
use formulanet::model::ModelFile;
use formulanet::net::{Compute, Precision};
use formulanet::read::Proof;
use formulanet::retrieve::VectorRetriever;
use formulanet::{Language, Library};
use serde_json::{Value, json};

/// Waits until the only library is as expected, far longer than it should take.
fn wait(server: &Running, expected: &Value) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let libraries = server.get("/v1/library").json()["libraries"].clone();
        let found = json!([libraries[0]["statements"], libraries[0]["proofs"]]);
        if found == *expected {
            return;
        }
        assert!(Instant::now() < end, "expected {expected}, found {found}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The model that the server's library was made with.
fn retriever(server: &Running) -> VectorRetriever {
    let model = ModelFile::load(&server.folder.path("tiny.safetensors")).unwrap();
    VectorRetriever::new(model, Compute::new(Precision::F32, 1)).unwrap()
}

fn add(library: &mut Library, retriever: &VectorRetriever, statements: &[(&str, &str)]) {
    let mut analyzer = Analyzer::new(retriever);
    let mut addition = library.writer(retriever).unwrap();
    for (name, text) in statements {
        addition.push(analyzer.analyze(name, text, Language::Hol).unwrap()).unwrap();
    }
    addition.commit().unwrap();
}

#[test]
fn changes_are_seen_without_a_restart() {
    let server = Running::new(|_| {});
    let path = server.folder.path("small.db");
    wait(&server, &json!([6, 0]));
    let mut library = Library::open(&path).unwrap();
    add(&mut library, &retriever(&server), &[("NEW", "!m. 0 + m = m")]);
    wait(&server, &json!([7, 0]));
    let proof =
        |name: &str, used: &str| Proof { name: name.into(), used: vec![used.into()], place: "test".into() };
    library.learn(&[proof("NEW", "ADD_SYM")], true).unwrap();
    wait(&server, &json!([7, 1]));
    library.learn(&[proof("MULT_0", "ADD_0")], true).unwrap();
    wait(&server, &json!([7, 2]));
    let asked = server.post("/v1/rank", r#"{"library": "small", "name": "NEW", "k": 9}"#);
    assert_eq!(asked.json()["premises"].as_array().unwrap().len(), 6, "{asked:?}");
    library.forget("NEW", false).unwrap();
    library.remove(&["NEW".into()]).unwrap();
    wait(&server, &json!([6, 1]));
    // Another library in its place.
    drop(library);
    std::fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/v1/library").json()["libraries"][0]["statements"], 6, "what was read stays");
    files(server.folder.root());
    wait(&server, &json!([6, 0]));
    server.is_well();
}
