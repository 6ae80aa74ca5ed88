//! The golden matrix: questions that every door answers, and the answers as they were recorded.
//!
//! `scenarios.json` has the questions in words that belong to no door; each door has one place that turns them into its flags,
//! fields or calls. `golden.json` has names and the bits of their scores as they were before there was one engine, and is not recorded
//! again. An answer that a decision changes is in `decided.json`, and its scenario names the decision: with `FORMULANET_RECORD=1`, the
//! tests record these.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

/// Libraries, and questions about them and about files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Libraries that are made before anything is asked.
    pub libraries: Vec<LibraryFiles>,
    /// The questions.
    pub scenarios: Vec<Scenario>,
}

/// The files of a library.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryFiles {
    /// Its name.
    pub name: String,
    /// Files of statements.
    pub files: Vec<String>,
    /// A file of proofs to learn.
    pub proofs: Option<String>,
    /// A re-ranker that it keeps as if it had been fitted to it.
    pub reranker: Option<String>,
}

/// One question. Paths begin in the root of the repository.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Tells it from others.
    pub id: String,
    /// The reason why it is there.
    pub why: String,
    /// Whom to ask.
    #[serde(default)]
    pub command: Command,
    /// Doors that can be asked, if not all of the command's.
    pub doors: Option<Vec<String>>,
    /// The decision that changed the recorded answer of some door.
    pub decision: Option<String>,
    /// A file of statements.
    pub premises: Option<String>,
    /// More files of statements.
    #[serde(default)]
    pub local: Vec<String>,
    /// The name of a library.
    pub library: Option<String>,
    /// A TPTP problem.
    pub problem: Option<String>,
    /// A formula, or `@` and a file that has it.
    pub goal: Option<String>,
    /// A statement of the library as the goal.
    pub goal_name: Option<String>,
    /// Names to read as constants.
    #[serde(default)]
    pub constants: Vec<String>,
    /// The meaning of `+` in the goal.
    pub overload: Option<String>,
    /// A built-in model, instead of the language's own.
    pub model: Option<String>,
    /// A file of a re-ranker, instead of the built-in one.
    pub reranker: Option<String>,
    /// Whether symbols have names.
    #[serde(default)]
    pub symbols: Symbols,
    /// Whether the best are ranked a second time.
    #[serde(default)]
    pub rerank: Rerank,
    /// Which come first; what the command does by itself if it is left out.
    pub order: Option<Order>,
    /// Only what comes before this statement of the library.
    pub before: Option<String>,
    /// Only statements of these modules of the library.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Whether statements that say what the goal says are left out.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// Take at most this number.
    #[serde(default = "eight")]
    pub k: usize,
    /// The lowest score.
    #[serde(default)]
    pub min_score: f32,
    /// Patterns of what must be in.
    #[serde(default)]
    pub include: Vec<String>,
    /// Patterns of what must not.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Roles of a problem that are always kept, if not the usual ones.
    pub keep_roles: Option<Vec<String>>,
    /// Whether reasons are asked for.
    #[serde(default)]
    pub explain: bool,
    /// Whether the Rust API is asked by its shortest call.
    #[serde(default)]
    pub plain: bool,
    /// A question of a Lean client.
    pub question: Option<String>,
    /// A method of a hammer or of `eval`.
    pub method: Option<String>,
    /// Whether a hammer's own program is to be repeated exactly.
    #[serde(default)]
    pub exact: bool,
    /// A file of names to ask a hammer's library about.
    pub names: Option<String>,
    /// A library with proofs to measure.
    pub theory: Option<String>,
    /// Ask for this number of its last facts.
    pub last: Option<usize>,
    /// A file of facts to ask for.
    pub tests: Option<String>,
}

fn eight() -> usize {
    8
}

/// Commands of the program, and paths of the server.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Statements for a formula.
    #[default]
    Rank,
    /// Axioms of a problem.
    Select,
    /// Statements that are close to a formula.
    Neighbors,
    /// Declarations of Lean.
    Lean,
    /// Facts of CoqHammer and Isabelle.
    Hammer,
    /// `eval --theory`.
    Theory,
}

/// Whether symbols have names.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Symbols {
    /// They do.
    #[default]
    Named,
    /// Renaming them changes nothing.
    Anonymous,
}

/// Whether the best are ranked a second time, together with the goal.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rerank {
    /// Where it helps.
    #[default]
    Auto,
    /// They are.
    On,
    /// They are not.
    Off,
}

/// Which statements come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Those that the goal makes likelier than they usually are.
    Lift,
    /// Those that are most likely to be used.
    Probability,
}

/// Statements that say what the goal says.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// They are left out.
    #[default]
    Drop,
    /// They stay.
    Keep,
}

impl Scenario {
    /// Whether a door answers it.
    pub fn is_for(&self, door: &str) -> bool {
        let usual: &[&str] = match self.command {
            Command::Rank | Command::Select => &["cli", "http", "python", "rust"],
            Command::Neighbors => &["cli", "http", "rust"],
            Command::Lean => &["http", "rust"],
            Command::Hammer | Command::Theory => &["cli"],
        };
        match &self.doors {
            Some(doors) => doors.iter().any(|known| known == door),
            None => usual.contains(&door),
        }
    }

    /// Its files of statements.
    pub fn files(&self) -> impl Iterator<Item = &String> {
        self.premises.iter().chain(&self.local)
    }

    /// The formula that is asked about.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn formula(&self) -> &str {
        self.goal.as_deref().unwrap_or_else(|| panic!("{}: expected a goal", self.id))
    }
}

/// A name and the bits of its score, as the recording has them.
pub fn hit(name: &str, score: f32) -> String {
    format!("{name} {:08x}", score.to_bits())
}

/// The scenarios.
///
/// # Panics
///
/// If the file cannot be read.
pub fn matrix() -> Matrix {
    let text = fs::read_to_string(here("scenarios.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("scenarios.json: {error}"))
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Answers with the doors that give them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The doors.
    pub doors: Vec<String>,
    /// Names with the bits of their scores.
    pub hits: Vec<String>,
}

/// The answers from before there was one engine.
const GOLDEN: &str = "golden.json";

/// The answers that a decision changed.
const DECIDED: &str = "decided.json";

/// A recording.
#[derive(Default, Serialize, Deserialize)]
pub struct Golden {
    /// The instructions of the processor that recorded it: others round differently.
    pub machine: String,
    /// By scenario, the different answers.
    pub answers: BTreeMap<String, Vec<Answer>>,
}

impl Golden {
    /// Reads a recording: `golden.json`, or `decided.json`.
    ///
    /// # Panics
    ///
    /// If it is damaged.
    pub fn read(file: &str) -> Self {
        match fs::read_to_string(here(file)) {
            Ok(text) => serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}")),
            Err(_) => Golden::default(),
        }
    }

    /// The answer of a door.
    pub fn of(&self, id: &str, door: &str) -> Option<&[String]> {
        let answers = self.answers.get(id)?;
        let found = answers.iter().find(|answer| answer.doors.iter().any(|known| known == door));
        found.map(|answer| &*answer.hits)
    }

    fn set(&mut self, id: &str, door: &str, hits: Vec<String>) {
        let answers = self.answers.entry(id.to_owned()).or_default();
        answers.iter_mut().for_each(|answer| answer.doors.retain(|known| known != door));
        match answers.iter_mut().find(|answer| answer.hits == hits) {
            Some(answer) => answer.doors.push(door.to_owned()),
            None => answers.push(Answer { doors: vec![door.to_owned()], hits }),
        }
        answers.retain(|answer| !answer.doors.is_empty());
        answers.iter_mut().for_each(|answer| answer.doors.sort());
        answers.sort_by(|a, b| a.doors.cmp(&b.doors));
    }

    /// One scenario per line.
    fn write(&self) {
        let line = |(id, answers): (&String, &Vec<Answer>)| {
            let answers = serde_json::to_string(answers).unwrap();
            format!("  {}: {answers}", serde_json::to_string(id).unwrap())
        };
        let lines: Vec<String> = self.answers.iter().map(line).collect();
        let machine = serde_json::to_string(&self.machine).unwrap();
        let text =
            format!("{{\n \"machine\": {machine},\n \"answers\": {{\n{}\n }}\n}}\n", lines.join(",\n"));
        fs::write(here(DECIDED), text).unwrap();
    }
}

/// Whether the tests write what they find.
pub fn records() -> bool {
    std::env::var_os("FORMULANET_RECORD").is_some_and(|value| value == "1")
}

/// The recorded answer of a door: where a decision changed it, the later one.
fn recorded<'a>(golden: &'a Golden, decided: &'a Golden, scenario: &Scenario, door: &str) -> &'a [String] {
    let later = decided.of(&scenario.id, door).filter(|_| scenario.decision.is_some());
    later.or(golden.of(&scenario.id, door)).unwrap_or_default()
}

/// Compares the answers of a door with the recording, or records those that a decision changed.
///
/// # Panics
///
/// If an answer differs, with all that do.
pub fn check(door: &str, answers: Vec<(&Scenario, Vec<String>)>) {
    let (golden, mut decided, machine) = (Golden::read(GOLDEN), Golden::read(DECIDED), machine());
    if records() {
        let known = matrix().scenarios;
        let is_decided =
            |id: &String| known.iter().any(|scenario| scenario.id == *id && scenario.decision.is_some());
        decided.answers.retain(|id, _| is_decided(id));
        decided.machine = machine;
        for (scenario, hits) in answers.into_iter().filter(|(scenario, _)| scenario.decision.is_some()) {
            decided.set(&scenario.id, door, hits);
        }
        decided.write();
        return;
    }
    let is_exact = golden.machine == machine;
    let wrong: Vec<String> = answers
        .iter()
        .filter_map(|(scenario, hits)| {
            let expected = recorded(&golden, &decided, scenario, door);
            let is_right = if is_exact { hits == expected } else { is_close(hits, expected) };
            (!is_right).then(|| format!("{} ({}): {}", scenario.id, scenario.why, difference(expected, hits)))
        })
        .collect();
    assert!(wrong.is_empty(), "{door}: {} answers differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn difference(expected: &[String], found: &[String]) -> String {
    let place = (0..).find(|&place| expected.get(place) != found.get(place)).unwrap_or(0);
    let at = |hits: &[String]| hits.get(place).map_or("nothing".to_owned(), |hit| shown(hit));
    let (expected_at, found_at) = (at(expected), at(found));
    format!("at rank {} expected {expected_at}, found {found_at}", place + 1)
}

fn shown(hit: &str) -> String {
    split(hit).map_or_else(|| hit.to_owned(), |(name, score)| format!("{name} {score} ({hit})"))
}

fn split(hit: &str) -> Option<(&str, f32)> {
    let (name, bits) = hit.rsplit_once(' ')?;
    Some((name, f32::from_bits(u32::from_str_radix(bits, 16).ok().filter(|_| bits.len() == 8)?)))
}

/// Equal but for rounding: scores are close rank by rank, and names are the same where no other score is close.
fn is_close(found: &[String], expected: &[String]) -> bool {
    const NEAR: f32 = 1e-3;
    let scored: Option<Vec<_>> = found.iter().zip(expected).map(|(a, b)| split(a).zip(split(b))).collect();
    let Some(scored) = scored.filter(|_| found.len() == expected.len()) else { return found == expected };
    scored.iter().enumerate().all(|(place, ((name, score), (other, expected)))| {
        let near = |neighbour: usize| {
            scored.get(neighbour).is_none_or(|(_, (_, other))| (other - expected).abs() < NEAR)
        };
        let is_alone = !near(place + 1) && (place == 0 || !near(place - 1));
        (score - expected).abs() < NEAR && (name == other || !is_alone)
    })
}

/// Decides how sums are rounded: the instructions that the network's products are made of.
fn machine() -> String {
    #[allow(unused_mut, reason = "other processors add nothing")]
    let mut parts = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    {
        for (name, is_there) in [
            ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
            ("fma", std::arch::is_x86_feature_detected!("fma")),
        ] {
            if is_there {
                parts.push(name);
            }
        }
    }
    parts.join(" ")
}

/// Answers questions on all cores, in their order.
pub fn in_parallel<'a, T: Send>(
    scenarios: &[&'a Scenario],
    answer: impl Fn(&Scenario) -> T + Sync,
) -> Vec<(&'a Scenario, T)> {
    let (next, answers) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answer = answer(scenario);
                    answers.lock().unwrap().insert(&scenario.id, answer);
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap();
    scenarios.iter().filter_map(|scenario| Some((*scenario, answers.remove(&scenario.id)?))).collect()
}

/// All doors give one answer: the same names and the same bits.
///
/// # Panics
///
/// If doors disagree, a recording is missing, or a decision changed nothing.
pub fn doors_agree() {
    let (golden, decided, matrix) = (Golden::read(GOLDEN), Golden::read(DECIDED), matrix());
    let mut wrong = Vec::new();
    for scenario in &matrix.scenarios {
        let doors: Vec<&str> = DOORS.into_iter().filter(|door| scenario.is_for(door)).collect();
        let answers: Vec<&[String]> =
            doors.iter().map(|door| recorded(&golden, &decided, scenario, door)).collect();
        let id = &scenario.id;
        for (door, hits) in doors.iter().zip(&answers) {
            if hits.is_empty() {
                wrong.push(format!("{id}: no answer of {door}"));
            } else if *hits != answers[0] {
                wrong.push(format!("{id}: {} and {door}: {}", doors[0], difference(answers[0], hits)));
            }
        }
        let is_changed = doors
            .iter()
            .any(|door| decided.of(id, door).is_some_and(|later| Some(later) != golden.of(id, door)));
        if let Some(decision) = scenario.decision.as_ref().filter(|_| !is_changed) {
            wrong.push(format!("{id}: {decision} changes nothing here"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// The doors that answer questions.
const DOORS: [&str; 4] = ["cli", "http", "python", "rust"];

#[test]
fn rounding_is_told_from_another_order() {
    let check = |found: &[(&str, f32)], expected: bool| {
        let hits =
            |list: &[(&str, f32)]| list.iter().map(|(name, score)| hit(name, *score)).collect::<Vec<_>>();
        let recorded = hits(&[("a", 0.9), ("b", 0.5), ("c", 0.4999)]);
        assert_eq!(is_close(&hits(found), &recorded), expected, "{found:?}");
    };
    check(&[("a", 0.9), ("b", 0.5), ("c", 0.4999)], true);
    check(&[("a", 0.90001), ("c", 0.5), ("b", 0.4999)], true);
    check(&[("b", 0.9), ("a", 0.5), ("c", 0.4999)], false);
    check(&[("a", 0.91), ("b", 0.5), ("c", 0.4999)], false);
    check(&[("a", 0.9), ("b", 0.5)], false);
}
