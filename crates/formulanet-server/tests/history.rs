//! Every answer is from one state that the library's file had, and within a second from the last: while the file is changed
//! as the command line does it, by requests, and by libraries that take its place.
//!
//! The environment variable `FORMULANET_CHANGES` sets the number of changes, for a longer run than tests have time for.

mod common;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use common::Running;
use formulanet::analyze::Analyzer;
use formulanet::model::ModelFile;
use formulanet::net::{Compute, Precision};
use formulanet::read::Proof;
use formulanet::retrieve::VectorRetriever;
use formulanet::{Language, Library};
use serde_json::json;

const TOKEN: &str = "a-token-that-nobody-knows";
/// How late an answer may be: the second that is promised, and some more for machines that do much else.
const LATE: Duration = Duration::from_secs(3);
/// How long the changes of a short run may take.
const SHORT: Duration = Duration::from_secs(25);

/// Statements by their names.
type State = BTreeMap<String, String>;

/// A state that the file had, and when it came to be: between these moments.
struct Past {
    hash: u64,
    began: Instant,
    ended: Instant,
}

struct History {
    now: State,
    past: Vec<Past>,
}

impl History {
    fn push(&mut self, state: State, began: Instant) {
        self.past.push(Past { hash: hash(&state), began, ended: Instant::now() });
        self.now = state;
    }
}

fn hash(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// One of few names, so that statements are changed and come back, and one of few texts.
    fn statement(&mut self) -> (String, String) {
        let text = format!("!x. x + {} = f{} x", self.roll(9), self.roll(4));
        (format!("S{}", self.roll(60)), text)
    }
}

/// The file as it is, read without the server.
fn on_disk(library: &Library) -> State {
    library.statements().unwrap().into_iter().map(|statement| (statement.name, statement.text)).collect()
}

struct Scene<'a> {
    server: &'a Running,
    retriever: &'a VectorRetriever,
    history: &'a Mutex<History>,
}

impl Scene<'_> {
    fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap()
    }

    /// A change as `library add`, `remove`, `learn` and `forget` make it.
    fn by_command_line(&self, dice: &mut Dice) {
        let mut history = self.lock();
        let (began, mut state) = (Instant::now(), history.now.clone());
        let mut library = Library::open(&self.server.folder.path("small.db")).unwrap();
        let some = state.keys().nth(dice.roll(state.len().max(1))).cloned().unwrap_or_default();
        match dice.roll(6) {
            0 if state.len() > 10 => {
                assert_eq!(library.remove(std::slice::from_ref(&some)).unwrap(), 1);
                state.remove(&some);
            }
            1 => {
                let used = vec![state.keys().next().cloned().unwrap_or_default()];
                library.learn(&[Proof { name: some, used, place: "test".into() }], false).unwrap();
            }
            2 => drop(library.forget(&some, false).unwrap()),
            _ => {
                let mut intake = Analyzer::new(self.retriever);
                let mut addition = library.writer(self.retriever).unwrap();
                for _ in 0..1 + dice.roll(3) {
                    let (name, text) = dice.statement();
                    addition.push(intake.analyze(&name, &text, Language::Hol).unwrap()).unwrap();
                    state.insert(name, text);
                }
                addition.commit().unwrap();
            }
        }
        history.push(state, began);
    }

    /// A change by a request: all of it, or none if the answer says so.
    fn by_request(&self, dice: &mut Dice) {
        let mut history = self.lock();
        let (began, mut state) = (Instant::now(), history.now.clone());
        let (name, text) = dice.statement();
        let used = state.keys().next().cloned();
        let facts = json!({"facts": [{"name": name, "statement": text}, {"name": name, "proof": [used]}]});
        let headers = [("content-type", "application/json"), ("authorization", &format!("Bearer {TOKEN}"))];
        let path = "/v1/libraries/small/facts";
        let reply = self.server.send("POST", path, &headers, facts.to_string().as_bytes());
        match reply.status {
            200 => drop(state.insert(name, text)),
            503 => {}
            _ => panic!("{reply:?}"),
        }
        history.push(state, began);
    }

    /// Another library in its place: with the same names and other texts, with fewer or with more of them.
    fn by_replacement(&self, dice: &mut Dice) {
        let mut history = self.lock();
        let (began, mut state) = (Instant::now(), State::new());
        let is_same = dice.roll(2) == 0;
        for name in history.now.keys() {
            let (other, text) = dice.statement();
            state.insert(if is_same { name.clone() } else { other }, text);
        }
        let folder = &self.server.folder;
        let (new, model) = (folder.path("new.db"), folder.text("tiny.safetensors"));
        let mut intake = Analyzer::new(self.retriever);
        Library::build(&new, self.retriever, &model, |addition| {
            state
                .iter()
                .try_for_each(|(name, text)| addition.push(intake.analyze(name, text, Language::Hol)?))
        })
        .unwrap();
        std::fs::rename(&new, folder.path("small.db")).unwrap();
        history.push(state, began);
    }

    fn ask(&self) -> (Instant, Instant, u64) {
        let asked = json!({"conjecture": "!x. x + 1 = f1 x", "library": "small", "k": 1000, "rerank": "off", "keep_duplicates": true});
        let began = Instant::now();
        let reply = self.server.post("/v1/rank", &asked.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let premises = reply.json()["premises"].as_array().unwrap().clone();
        let state: State = premises.iter().map(|row| (text(&row["name"]), text(&row["statement"]))).collect();
        assert_eq!(state.len(), premises.len(), "a name came twice");
        (began, Instant::now(), hash(&state))
    }
}

#[test]
fn every_answer_is_from_a_state_that_the_file_had() {
    let wanted: Option<usize> = std::env::var("FORMULANET_CHANGES").ok().and_then(|text| text.parse().ok());
    let changes = wanted.unwrap_or(200);
    let server = Running::new(|settings| settings.token = Some(TOKEN.to_owned()));
    let model = ModelFile::load(&server.folder.path("tiny.safetensors")).unwrap();
    let retriever = VectorRetriever::new(model, Compute::new(Precision::F32, 1)).unwrap();
    let path = server.folder.path("small.db");
    let history = Mutex::new(History { now: State::new(), past: Vec::new() });
    let first = on_disk(&Library::open(&path).unwrap());
    history.lock().unwrap().push(first, Instant::now());
    let scene = Scene { server: &server, retriever: &retriever, history: &history };
    let (left, is_over, begin) = (AtomicUsize::new(changes), AtomicBool::new(false), Instant::now());
    let goes_on = || {
        let has_time = wanted.is_some() || begin.elapsed() < SHORT;
        has_time
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    };
    let answers = thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut answers = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    answers.push(scene.ask());
                }
                answers
            })
        });
        let writers = [1u64, 2].map(|seed| {
            let (scene, goes_on) = (&scene, &goes_on);
            scope.spawn(move || {
                let mut dice = Dice(seed);
                while goes_on() {
                    match dice.roll(12) {
                        0 if seed == 1 => scene.by_replacement(&mut dice),
                        roll if roll % 2 == 0 => scene.by_request(&mut dice),
                        _ => scene.by_command_line(&mut dice),
                    }
                    // Now and then, everything that was changed has to have arrived.
                    thread::sleep(Duration::from_millis(if dice.roll(20) == 0 { 600 } else { 5 }));
                }
            })
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        thread::sleep(LATE);
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    let last = scene.ask().2;
    let History { now, past } = history.into_inner().unwrap();
    let library = Library::open(&path).unwrap();
    assert_eq!(on_disk(&library), now, "the history is not what was written");
    assert_eq!(last, hash(&now), "the last state is not what is served");
    let listed = server.get("/v1/library").json()["libraries"][0].clone();
    assert_eq!(listed["proofs"], library.proof_count().unwrap(), "{listed}");
    // Where each state lasted from and to, of which one has to fit.
    let mut lasted: HashMap<u64, Vec<(Instant, Option<Instant>)>> = HashMap::new();
    for (number, past_state) in past.iter().enumerate() {
        let until = past.get(number + 1).map(|next| next.ended);
        lasted.entry(past_state.hash).or_default().push((past_state.began, until));
    }
    for (began, ended, found) in &answers {
        let spans = lasted.get(found).unwrap_or_else(|| panic!("an answer from a state that never was"));
        let fits = |(from, until): &(Instant, Option<Instant>)| {
            from <= ended && until.is_none_or(|until| until + LATE >= *began)
        };
        assert!(spans.iter().any(fits), "an answer that is out of date");
    }
    assert!(answers.len() > 10 && past.len() > 20, "{} answers, {} states", answers.len(), past.len());
}
