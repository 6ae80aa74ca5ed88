//! What others do to a library while the server runs.

mod common;

use std::path::PathBuf;
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
    // No library in its place, and then another one.
    drop(library);
    std::fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/v1/library").json()["libraries"][0]["statements"], 6, "what was read stays");
    files(server.folder.root());
    wait(&server, &json!([6, 0]));
    server.is_well();
}

/// The statements that the server ranks, with their names.
fn served(server: &Running) -> Vec<(String, String)> {
    let asked = json!({"conjecture": "T", "library": "small", "k": 99, "rerank": "off"});
    let answer = server.post("/v1/rank", &asked.to_string()).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = answer["premises"].as_array().unwrap().iter();
    let mut rows: Vec<_> = rows.map(|row| (text(&row["name"]), text(&row["statement"]))).collect();
    rows.sort();
    rows
}

/// Waits until these are served.
fn wait_for(server: &Running, expected: &[(&str, &str)]) {
    let end = Instant::now() + Duration::from_secs(20);
    let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
    let expected: Vec<_> = expected.iter().map(owned).collect();
    while served(server) != expected {
        assert!(Instant::now() < end, "expected {expected:?}, found {:?}", served(server));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Makes a library of the server's model beside the one that is served.
fn another(server: &Running, statements: &[(&str, &str)]) -> PathBuf {
    let (path, model) = (server.folder.path("other.db"), server.folder.text("tiny.safetensors"));
    let _ = std::fs::remove_file(&path);
    let retriever = retriever(server);
    let mut intake = Analyzer::new(&retriever);
    Library::build(&path, &retriever, &model, |addition| {
        statements
            .iter()
            .try_for_each(|(name, text)| addition.push(intake.analyze(name, text, Language::Hol)?))
    })
    .unwrap();
    path
}

/// A library with as many statements, or with one more, is not taken for the one that it replaces.
#[test]
fn another_library_is_served_whole() {
    let server = Running::new(|_| {});
    let path = server.folder.path("small.db");
    let first = [("A", "x = 1"), ("B", "x = 2"), ("C", "x = 3")];
    let second = [("A", "x = 4"), ("B", "x = 5"), ("C", "x = 6")];
    let third = [("A", "x = 7"), ("B", "x = 8"), ("C", "x = 9"), ("D", "x = 0")];
    for statements in [&first[..], &second, &third, &first] {
        std::fs::rename(another(&server, statements), &path).unwrap();
        wait_for(&server, statements);
    }
    // The same by a program that writes into the file.
    std::fs::copy(another(&server, &second), &path).unwrap();
    wait_for(&server, &second);
}

/// The same state in `/metrics` and in the list of libraries.
#[track_caller]
fn is_readable(server: &Running, expected: Option<&str>) {
    let end = Instant::now() + Duration::from_secs(20);
    let number = u8::from(expected.is_none());
    let line = format!("formulanet_library_readable{{library=\"small\"}} {number}\n");
    loop {
        let listed = server.get("/v1/library").json()["libraries"][0]["unreadable"].clone();
        let is_as_expected = match expected {
            Some(part) => listed.as_str().is_some_and(|why| why.contains(part)),
            None => listed.is_null(),
        };
        if is_as_expected && server.get("/metrics").body.contains(&line) {
            return;
        }
        assert!(Instant::now() < end, "expected {expected:?}, found {listed}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What cannot be read is not served, and whoever looks is told so.
#[test]
fn a_library_that_cannot_be_read_is_reported() {
    let server = Running::new(|_| {});
    let path = server.folder.path("small.db");
    let before = served(&server);
    is_readable(&server, None);
    std::fs::rename(server.folder.write("text", [b'x'; 1000]).as_str(), &path).unwrap();
    is_readable(&server, Some("another file"));
    assert_eq!(served(&server), before, "what was read stays");
    std::fs::remove_file(&path).unwrap();
    is_readable(&server, Some("no such file"));
    let statements = [("A", "x = 1")];
    std::fs::rename(another(&server, &statements), &path).unwrap();
    is_readable(&server, None);
    wait_for(&server, &statements);
    // One of another model.
    let whole = another(&server, &statements);
    let change = "UPDATE made SET fingerprint = 'another'";
    rusqlite::Connection::open(&whole).unwrap().execute_batch(change).unwrap();
    std::fs::rename(&whole, &path).unwrap();
    is_readable(&server, Some("expected the model"));
}
