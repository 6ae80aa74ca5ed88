//! Training on learnable pairs: stopped, resumed, damaged.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use formulanet::model::ModelFile;
use formulanet::model::recipe::Recipe;
use formulanet::net::{Compute, Group, Network, Precision, team};
use formulanet_testing::{Folder, Stopper};
use formulanet_train::dataset::{HoldOut, Options, Prepared, Split, prepare};
use formulanet_train::eval::{TokenMap, evaluate, pairs_of, predict};
use formulanet_train::train::{Event, Log, Run, RunEnd, RunOptions, train};
use formulanet_train::{Error, Silent};

/// Conjectures about FF have useful statements about GG, whatever their variables are called.
fn pairs() -> String {
    let mut text = String::new();
    for i in 0..60 {
        let depth = i % 7 + 1;
        let nested =
            |name: &str, x: &str| format!("{}{x}{}", format!("{name} (").repeat(depth), ")".repeat(depth));
        let conjecture = format!("!x. {} = x", nested("FF", "x"));
        for (function, is_useful) in [("GG", true), ("HH", false), ("GG2", true), ("KK", false)] {
            let variable = ["a", "b", "c", "y"][i % 4];
            let statement = format!("!{variable}. PP ({}) ==> QQ {variable}", nested(function, variable));
            let line = format!(
                "{{\"conjecture\": \"{conjecture} /\\\\ RR{i}\", \"statement\": \"{statement}\", \"useful\": {is_useful}}}"
            );
            writeln!(text, "{line}").unwrap();
        }
    }
    text
}

struct Place(Folder);

impl Place {
    fn new() -> Self {
        let place = Place(Folder::new());
        place.0.write("pairs.jsonl", pairs());
        place.prepare("data", 10);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn prepare(&self, name: &str, validation: usize) {
        let options = Options { validation: HoldOut::Number(validation), ..Options::default() };
        prepare(&self.path("pairs.jsonl"), &self.path(name), None, &options, 1, &Silent).unwrap();
    }

    fn data(&self) -> Prepared {
        Prepared::open(&self.path("data")).unwrap()
    }

    fn train(
        &self,
        recipe: &Recipe,
        run: &str,
        options: RunOptions,
        stop_after: u64,
    ) -> Result<RunEnd, Error> {
        self.train_on(&self.data(), recipe, run, options, None, stop_after)
    }

    fn train_on(
        &self,
        prepared: &Prepared,
        recipe: &Recipe,
        run: &str,
        options: RunOptions,
        first_weights: Option<&ModelFile>,
        stop_after: u64,
    ) -> Result<RunEnd, Error> {
        let run = Run { prepared, recipe, folder: &self.path(run), first_weights, options };
        train(&run, &Stopper::after(stop_after), &mut |event| match event {
            Event::Begins(plan) => assert!(plan.pairs > 0 && plan.total > 0),
            Event::Logged(line) => assert!(line.loss.iter().all(|loss| loss.is_finite())),
        })
    }

    fn bytes(&self, run: &str, file: &str) -> Vec<u8> {
        self.0.bytes(&format!("{run}/{file}"))
    }
}

fn recipe() -> Recipe {
    Recipe {
        dimension: 12,
        steps: 2,
        batch: 16,
        rate: 1e-2,
        epochs: 12,
        validate_every: 160,
        micro_batch: 8,
        ..Recipe::default_preset()
    }
}

fn options(threads: usize, resumes: bool) -> RunOptions {
    RunOptions {
        threads,
        resumes,
        log_every: 3,
        checkpoint_every: Duration::from_secs(3600),
        ..RunOptions::default()
    }
}

#[test]
fn what_can_be_learnt_is_learnt() {
    let place = Place::new();
    for (i, recipe) in [
        recipe(),
        Recipe { conditional: false, ..recipe() },
        Recipe { dimension: 12, steps: 1, batch: 16, epochs: 12, ..Recipe::paper() },
    ]
    .iter()
    .enumerate()
    {
        let run = format!("run{i}");
        let RunEnd::Finished(Some(validation)) =
            place.train(recipe, &run, options(2, false), u64::MAX).unwrap()
        else {
            panic!("not finished");
        };
        assert!(validation.accuracy > 0.95, "{recipe:?} {validation:?}");
        assert_eq!(validation.pairs, 40);
        // The model file says the same, in another process as well as here.
        let trained = ModelFile::load(&place.path(&run).join("model.safetensors")).unwrap();
        assert_eq!(trained.origin.recipe, *recipe);
        let data = place.data();
        let map = TokenMap::new(data.vocabulary(), &trained.vocabulary, "model").unwrap();
        let network = Network::new(trained.model, Compute::new(Precision::Auto, 1));
        let pairs = pairs_of(&data, Split::Validation, None, 0);
        let predictions = predict(&network, &trained.seen, &data, &map, &pairs, &Silent).unwrap();
        let report = evaluate(&predictions.last, &predictions.steps).unwrap();
        assert_eq!(report.examples, 40);
        assert!((report.accuracy - validation.accuracy).abs() < 0.03, "{}", report.accuracy);
        let log = Log::read(&place.path(&run)).unwrap();
        assert!(log.lines.windows(2).all(|lines| lines[0].step < lines[1].step));
        assert!(fs::read_to_string(place.path(&run).join("curve.svg")).unwrap().contains("held-out"));
    }
}

/// However often it is stopped, and on any number of threads, a run comes to the same weights, bit for bit.
#[test]
fn a_resumed_run_is_the_run() {
    let place = Place::new();
    let whole = place.train(&recipe(), "whole", options(1, false), u64::MAX).unwrap();
    assert!(matches!(whole, RunEnd::Finished(Some(_))));
    for (name, pauses) in [("halves", vec![50]), ("pieces", vec![1, 7, 1, 30, 2, 19])] {
        let mut resumes = false;
        for pause in pauses {
            let outcome = place.train(&recipe(), name, options(2, resumes), pause).unwrap();
            assert!(matches!(outcome, RunEnd::Stopped(_)));
            resumes = true;
        }
        let outcome = place.train(&recipe(), name, options(3, true), u64::MAX).unwrap();
        assert_eq!(outcome, whole);
        for file in ["model.safetensors", "best.safetensors"] {
            assert!(place.bytes(name, file) == place.bytes("whole", file), "{name} {file}");
        }
        let steps =
            |run| Log::read(&place.path(run)).unwrap().lines.iter().map(|l| l.step).collect::<Vec<_>>();
        assert_eq!(steps(name), steps("whole"));
    }
    // Once it is finished, there is nothing left to do.
    assert_eq!(place.train(&recipe(), "whole", options(1, true), 1).unwrap(), RunEnd::Finished(None));
}

/// Trains on this many processes, simulated by threads.
fn train_among(
    place: &Place,
    recipe: &Recipe,
    run: &str,
    processes: usize,
    resumes: bool,
    stop_after: u64,
) -> Result<RunEnd, Error> {
    let mut outcomes = team(processes, |member| {
        let options = RunOptions { group: member, ..options(1, resumes) };
        // The last process is the one that is told to stop.
        let stop_after = if member.rank() + 1 == processes { stop_after } else { u64::MAX };
        place.train(recipe, run, options, stop_after)
    });
    let first = outcomes.swap_remove(0);
    for outcome in outcomes {
        assert_eq!(
            outcome.map_err(|error| error.to_string()),
            first.as_ref().map(Clone::clone).map_err(ToString::to_string)
        );
    }
    first
}

/// Any number of processes comes to the same weights, and so does a run that goes on with another number of them.
#[test]
fn processes_share_a_run() {
    let place = Place::new();
    let paper = Recipe { dimension: 12, steps: 1, batch: 16, epochs: 3, micro_batch: 4, ..Recipe::paper() };
    for (name, recipe) in [("fast", Recipe { epochs: 4, ..recipe() }), ("paper", paper)] {
        let whole = train_among(&place, &recipe, name, 1, false, u64::MAX).unwrap();
        let lines = |run: &str| Log::read(&place.path(run)).unwrap().lines;
        for processes in [2, 3, 4] {
            let run = format!("{name}{processes}");
            assert_eq!(train_among(&place, &recipe, &run, processes, false, u64::MAX).unwrap(), whole);
            assert!(place.bytes(&run, "model.safetensors") == place.bytes(name, "model.safetensors"));
            for (found, expected) in lines(&run).iter().zip(lines(name)) {
                assert_eq!((&found.loss, &found.accuracy), (&expected.loss, &expected.accuracy));
            }
        }
        let run = format!("{name} resumed");
        for (i, processes) in [2, 1, 4, 3].into_iter().enumerate() {
            let outcome = train_among(&place, &recipe, &run, processes, i > 0, 7).unwrap();
            assert!(matches!(outcome, RunEnd::Stopped(_)));
        }
        assert_eq!(train_among(&place, &recipe, &run, 2, true, u64::MAX).unwrap(), whole);
        for file in ["model.safetensors", "best.safetensors"] {
            assert!(place.bytes(&run, file) == place.bytes(name, file), "{name} {file}");
        }
    }
    let result = train_among(&place, &recipe(), "x", 9, false, u64::MAX);
    check_refused(result, "expected at most 4 processes, which is what a batch has work for, found 9");
}

fn check_refused(result: Result<RunEnd, Error>, expected: &str) {
    let error = result.expect_err("refused").to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_folder_has_one_run_and_one_process() {
    let place = Place::new();
    place.train(&recipe(), "run", options(1, false), 5).unwrap();
    check_refused(place.train(&recipe(), "run", options(1, false), 5), "found one with a run");
    let lock = fs::File::open(place.path("run").join("lock")).unwrap();
    lock.lock().unwrap();
    check_refused(place.train(&recipe(), "run", options(1, true), 5), "another process");
    drop(lock);
    place.train(&recipe(), "run", options(1, true), 5).unwrap();
}

#[test]
fn other_data_is_refused() {
    let place = Place::new();
    place.train(&recipe(), "run", options(1, false), 5).unwrap();
    place.prepare("other", 5);
    let other = Prepared::open(&place.path("other")).unwrap();
    let result = place.train_on(&other, &recipe(), "run", options(1, true), None, 1);
    check_refused(result, "expected the data that the run");
}

#[test]
fn a_loss_that_is_no_number_spares_the_checkpoint() {
    let place = Place::new();
    let wild = Recipe { rate: 1e30, average: 0.0, clip: 0.0, warm_up: 0.5, ..recipe() };
    // The first rate is 0, so that there is a good checkpoint to begin with.
    place.train(&wild, "run", options(1, false), 1).unwrap();
    let before = place.bytes("run", "last.safetensors");
    let every_step = RunOptions { checkpoint_every: Duration::ZERO, ..options(1, true) };
    check_refused(place.train(&wild, "run", every_step, u64::MAX), "no longer a number");
    let after = place.bytes("run", "last.safetensors");
    let finite = |bytes: &[u8]| {
        let tensors = safetensors::SafeTensors::deserialize(bytes).unwrap();
        let values = tensors.tensor("values").unwrap();
        values.data().chunks_exact(4).all(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).is_finite())
    };
    assert!(finite(&before) && finite(&after));
}

#[test]
fn damaged_checkpoints_and_empty_splits_are_named() {
    let place = Place::new();
    place.train(&recipe(), "run", options(1, false), 5).unwrap();
    let path = place.path("run").join("last.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    check_refused(place.train(&recipe(), "run", options(1, true), 5), "expected a checkpoint of this run");
    place.prepare("none", 60);
    let none = Prepared::open(&place.path("none")).unwrap();
    let result = place.train_on(&none, &recipe(), "x", options(1, false), None, 1);
    check_refused(result, "expected pairs or dependencies to train on, found 0");
    let wrong = Recipe { batch: 1, ..recipe() };
    check_refused(place.train(&wrong, "y", options(1, false), 5), "batch must be at least 2");
    assert!(!Path::new(&place.path("y")).exists());
}

#[test]
fn a_model_of_another_world_is_refused() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let data = words("VAR VARFUNC UNKNOWN a b c d e f g h i j k");
    assert!(TokenMap::new(&data, &data, "model").is_ok());
    assert!(TokenMap::new(&data, &words("VAR VARFUNC UNKNOWN k j i"), "model").is_ok());
    let error = TokenMap::new(&data, &words("VAR VARFUNC UNKNOWN x y z"), "model").err().unwrap().to_string();
    assert!(error.contains("knows 0 of its 11 labels"), "{error}");
}

/// Training goes on from the weights of another run, and a resumed run does not need that one any more.
#[test]
fn first_weights_can_be_given() {
    let place = Place::new();
    place.train(&recipe(), "first", options(1, false), u64::MAX).unwrap();
    let first = ModelFile::load(&place.path("first").join("model.safetensors")).unwrap();
    let short = Recipe { limit_pairs: 64, ..recipe() };
    place.train_on(&place.data(), &short, "second", options(1, false), Some(&first), 1).unwrap();
    let outcome = place.train(&short, "second", options(1, true), u64::MAX).unwrap();
    let RunEnd::Finished(Some(validation)) = outcome else { panic!("not finished") };
    assert!(validation.accuracy > 0.9, "{validation:?}");
    let other = Recipe { dimension: 16, ..short };
    let result = place.train_on(&place.data(), &other, "x", options(1, false), Some(&first), 1);
    check_refused(result, "expected a network like");
}

/// The number of threads is given explicitly: processes of a job share their cores. One place counts them.
#[test]
fn cores_are_counted_in_one_place() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut pending: Vec<PathBuf> = ["dataset", "eval", "train"].map(|module| source.join(module)).into();
    pending.extend(["dataset.rs", "eval.rs", "train.rs"].map(|file| source.join(file)));
    let mut files = 0;
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
            assert!(!fs::read_to_string(&path).unwrap().contains("available_parallelism"), "{path:?}");
        }
    }
    assert!(files > 40, "{files}");
    assert!(fs::read_to_string(source.join("processes.rs")).unwrap().contains("available_parallelism"));
}
