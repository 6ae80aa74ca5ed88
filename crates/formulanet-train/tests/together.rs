//! Reading a conjecture and its statements together: problem sets, training, measuring.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use formulanet::logic::View;
use formulanet::model::joint::JointRecipe;
use formulanet::model::{JointModelFile, ModelFile, ModelKind};
use formulanet::net::{Compute, Precision};
use formulanet_testing::{Folder, Stopper};
use formulanet_train::dataset::{HoldOut, Options, Prepared, ProblemOptions, Problems, Split, prepare};
use formulanet_train::eval::{Company, Prediction, Reader, predict_together};
use formulanet_train::train::{Log, RunEnd, RunOptions, TogetherRun, Validation, train_together};
use formulanet_train::{Error, Silent};

const CONJECTURES: usize = 60;
const HELD_OUT: usize = 12;

/// A file of DeepMath: what shares a function with the conjecture is useful. `prefix` begins the names of all symbols.
fn deepmath(number: usize, prefix: &str) -> String {
    let (f, g) = (format!("{prefix}f{}", number % 11), format!("{prefix}g{}", number % 7));
    let other = format!("{prefix}f{}", (number + 1 + number % 4) % 11);
    let mut text = format!("C fof(t{number}, axiom, ! [X] : {f}({g}(X)) = X).\n");
    writeln!(text, "+ fof(a{}, axiom, ! [X, Y] : ({f}(X) = Y => {prefix}p(Y))).", number % 11).unwrap();
    writeln!(text, "- fof(b{number}, axiom, ! [X, Y] : ({other}(X) = Y => {prefix}p(Y))).").unwrap();
    writeln!(text, "+ fof(c{number}, axiom, {prefix}q({f}({prefix}z{}))).", number % 3).unwrap();
    writeln!(text, "- fof(d{number}, axiom, ~ {prefix}q({other}({prefix}z{}))).", number % 5).unwrap();
    text
}

/// A folder with raw data in `raw`.
fn place(prefix: &str) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("raw")).unwrap();
    for number in 0..CONJECTURES {
        folder.write(&format!("raw/t{number}"), deepmath(number, prefix));
    }
    folder
}

fn problems_with(path: &Path, threads: usize) -> Result<Problems, Error> {
    let options =
        ProblemOptions { validation: HoldOut::Number(HELD_OUT), seed: 0, keep_going: false, threads };
    Problems::open(path, &options, &Silent)
}

fn raw_problems(place: &Folder) -> Problems {
    problems_with(&place.path("raw"), 2).unwrap()
}

/// Everything that a problem set says, in words.
fn shown(problems: &Problems) -> Vec<String> {
    let statement = |number: u32| {
        let view = problems.statement(number);
        let symbols = view.symbols().iter().map(|&symbol| problems.symbols()[symbol as usize].as_str());
        format!("{:?} {:?}", view.labels(), symbols.collect::<Vec<_>>())
    };
    let problem = |number: usize| {
        let problem = problems.problem(number);
        let candidates = problem.candidates.iter();
        let candidates = candidates.map(|c| format!("{} {}", c.is_useful, statement(c.statement)));
        let candidates: Vec<_> = candidates.collect();
        format!("{} {:?} {} {candidates:?}", problem.name, problem.split, statement(problem.conjecture))
    };
    (0..problems.len()).map(problem).collect()
}

fn prepare_with(place: &Folder, name: &str, together: bool) {
    let options =
        Options { validation: HoldOut::Number(HELD_OUT), view: View::Dag, together, ..Options::default() };
    prepare(&place.path("raw"), &place.path(name), None, &options, 2, &Silent).unwrap();
}

#[test]
fn problems_are_the_same_from_raw_data_and_from_a_prepared_folder() {
    let place = place("");
    let raw = raw_problems(&place);
    assert_eq!((raw.len(), raw.of_split(Split::Validation).count()), (CONJECTURES, HELD_OUT));
    let first = raw.problem(0);
    let useful: Vec<bool> = first.candidates.iter().map(|candidate| candidate.is_useful).collect();
    assert_eq!((first.name, &useful[..]), ("t0", &[true, false, true, false][..]));
    assert_eq!(raw.statement_symbols(first.conjecture).len(), 2);
    prepare_with(&place, "data", true);
    assert_eq!(shown(&problems_with(&place.path("data"), 1).unwrap()), shown(&raw));
    assert_eq!(shown(&problems_with(&place.path("raw"), 1).unwrap()), shown(&raw));
    let prepared = Prepared::open(&place.path("data")).unwrap();
    for (number, conjecture) in prepared.conjectures().enumerate() {
        let problem = raw.problem(number);
        assert_eq!((problem.name, problem.split), (conjecture.name, conjecture.split));
    }
}

#[test]
fn other_and_damaged_folders_are_refused() {
    let place = place("");
    prepare_with(&place, "plain", false);
    let refused = |name: &str| problems_with(&place.path(name), 1).err().expect("refused");
    assert!(matches!(refused("plain"), Error::NoProblems { .. }));
    prepare_with(&place, "data", true);
    let mut bytes = place.bytes("data/problems.safetensors");
    let end = bytes.len() - 1;
    bytes[end] = 255;
    place.write("data/problems.safetensors", &bytes);
    assert!(refused("data").to_string().contains("found a damaged one"));
    place.write("data/problems.safetensors", &bytes[..end]);
    assert!(refused("data").to_string().contains("found a damaged one"));
}

fn recipe() -> JointRecipe {
    JointRecipe {
        dimension: 16,
        rounds: 3,
        hidden: 32,
        min_count: 3,
        batch: 200,
        micro_batch: 60,
        rate: 1e-2,
        epochs: 12,
        validate_every: 20,
        average: 0.9,
        precision: Precision::F32,
        ..JointRecipe::default()
    }
}

fn run(
    place: &Folder,
    recipe: &JointRecipe,
    name: &str,
    stop_after: u64,
    resumes: bool,
    threads: usize,
) -> RunEnd {
    let options =
        RunOptions { threads, resumes, checkpoint_every: Duration::from_secs(3600), ..RunOptions::default() };
    let (problems, folder) = (raw_problems(place), place.path(name));
    let run = TogetherRun { problems: &problems, recipe, folder: &folder, options };
    train_together(&run, &Stopper::after(stop_after), &mut |_| ()).unwrap()
}

fn model(place: &Folder, run: &str) -> JointModelFile {
    let bytes = place.bytes(&format!("{run}/model.safetensors"));
    assert!(matches!(ModelFile::from_bytes(&bytes, "m"), Err(Error::ReadsTogether { .. })));
    JointModelFile::from_bytes(&bytes, run).unwrap()
}

fn predictions(
    file: &JointModelFile,
    problems: &Problems,
    present: Option<usize>,
    hides_names: bool,
) -> Vec<Prediction> {
    let compute = Compute::new(Precision::F32, 2);
    let mut reader = Reader::new(file, problems, hides_names, compute).unwrap();
    let company = Company { splits: &[Split::Validation], present, most: None };
    predict_together(&mut reader, problems, &company, &Silent).unwrap().last
}

fn accuracy(predictions: &[Prediction]) -> f64 {
    let right = predictions.iter().filter(|p| (p.score > 0.5) == p.is_useful).count();
    right as f64 / predictions.len() as f64
}

/// A trained model says the same from its file, does not look at names that are hidden, and judges by the company.
#[test]
fn a_network_learns_to_read_together() {
    let place = place("");
    let RunEnd::Finished(Some(Validation { accuracy: found, hidden, pairs, .. })) =
        run(&place, &recipe(), "run", u64::MAX, false, 2)
    else {
        panic!("not finished");
    };
    assert_eq!(pairs, 4 * HELD_OUT);
    assert!(found > 0.9 && hidden.unwrap() > 0.9, "{found} {hidden:?}");
    let lines = Log::read(&place.path("run")).unwrap().lines;
    let last = lines.last().unwrap();
    assert!(last.pairs > 0 && last.pairs < last.step * 4 * CONJECTURES as u64);
    let (file, problems) = (model(&place, "run"), raw_problems(&place));
    assert_eq!(file.origin.hidden_accuracy, hidden);
    let known = predictions(&file, &problems, None, false);
    assert!((accuracy(&known) - found).abs() < 0.05);
    let renamed = raw_problems(&self::place("other_"));
    assert!(file.name_numbers(renamed.symbols()).iter().all(|&name| name == 0));
    let hidden = predictions(&file, &problems, None, true);
    assert_eq!(predictions(&file, &renamed, None, false), hidden);
    assert_eq!(predictions(&file, &renamed, None, true), hidden);
    assert_ne!(known, hidden);
    assert_eq!(predictions(&file, &problems, Some(4), true), hidden);
    assert_ne!(predictions(&file, &problems, Some(1), true), hidden);
    assert!(matches!(ModelKind::named(&place.text("run")), Ok(ModelKind::Joint(_))));
}

#[test]
fn a_run_is_resumed_to_the_same_bytes() {
    let place = place("");
    let recipe = JointRecipe { epochs: 3, subsets: 0.5, ..recipe() };
    run(&place, &recipe, "whole", u64::MAX, false, 1);
    assert!(matches!(run(&place, &recipe, "parts", 5, false, 3), RunEnd::Stopped(5)));
    assert!(matches!(run(&place, &recipe, "parts", 9, true, 1), RunEnd::Stopped(14)));
    run(&place, &recipe, "parts", u64::MAX, true, 2);
    assert!(place.bytes("whole/model.safetensors") == place.bytes("parts/model.safetensors"));
    let pairs = |run: &str| Log::read(&place.path(run)).unwrap().lines.last().unwrap().pairs;
    assert_eq!(pairs("whole"), pairs("parts"));
}

#[test]
fn without_names_renaming_changes_nothing() {
    let recipe = JointRecipe { epochs: 2, min_count: 0, ..recipe() };
    let trained = |prefix: &str| {
        let place = place(prefix);
        run(&place, &recipe, "run", u64::MAX, false, 1);
        model(&place, "run")
    };
    let (one, other) = (trained(""), trained("other_"));
    assert!(one.names.is_empty());
    assert_eq!(one.model.values(), other.model.values());
}

#[test]
fn other_data_and_wrong_recipes_are_refused() {
    let (place, other) = (place(""), place("other_"));
    run(&place, &recipe(), "run", 2, false, 1);
    let start = |problems: &Problems, recipe: &JointRecipe, resumes: bool| {
        let options = RunOptions { threads: 1, resumes, ..RunOptions::default() };
        let folder = place.path("run");
        let run = TogetherRun { problems, recipe, folder: &folder, options };
        train_together(&run, &Silent, &mut |_| ()).unwrap_err()
    };
    assert!(matches!(start(&raw_problems(&other), &recipe(), true), Error::OtherData { .. }));
    assert!(matches!(start(&raw_problems(&place), &recipe(), false), Error::RunExists { .. }));
    let wrong = JointRecipe { rounds: 0, ..recipe() };
    assert!(start(&raw_problems(&place), &wrong, false).to_string().contains("rounds"));
    let options =
        ProblemOptions { validation: HoldOut::Number(CONJECTURES), seed: 0, keep_going: false, threads: 1 };
    let held_out = Problems::open(&place.path("raw"), &options, &Silent).unwrap();
    assert!(matches!(start(&held_out, &recipe(), false), Error::TooFewPairs { .. }));
}
