//! `mpirun -n N formulanet ...`: the same results as one process, and one clear message when something goes wrong.
#![cfg(feature = "mpi")]

mod common;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use common::{Run, formulanet};
use formulanet_testing::{Folder, pairs};

const PROGRAM: &str = env!("CARGO_BIN_EXE_formulanet");

/// What `mpirun` gets, up to the program. A job that hangs is a failed test, not an endless one.
fn launcher() -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", "600", "mpirun", "--allow-run-as-root", "--oversubscribe"])
        // There may be fewer cores than processes, or others who want them.
        .args(["--mca", "mpi_yield_when_idle", "1"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn finished(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into(),
        stderr: String::from_utf8_lossy(&output.stderr).into(),
    }
}

/// Runs the program in so many processes.
fn mpirun(processes: usize, arguments: &[&str]) -> Run {
    finished(launcher().args(["-n", &processes.to_string(), PROGRAM]).args(arguments).spawn().unwrap())
}

/// Runs a process of one kind and a process of another as one job.
fn mpirun_two(first: (&str, &[&str]), second: (&str, &[&str])) -> Run {
    let mut command = launcher();
    command.args(["-n", "1", first.0]).args(first.1);
    command.args([":", "-n", "1", second.0]).args(second.1);
    finished(command.spawn().unwrap())
}

struct Place {
    folder: Folder,
    /// Processes that wait for each other use up their cores: one job at a time.
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Place {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Place {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Place { folder: Folder::new(), _turn: turn };
        place.write("pairs.jsonl", pairs(true));
        place.prepare("data", "8");
        place
    }

    fn prepare(&self, name: &str, validation: &str) {
        let (raw, out) = (self.text("pairs.jsonl"), self.text(name));
        check(&formulanet(
            &["prepare", &raw, "--out", &out, "--validation", validation, "--view", "dag"],
            b"",
        ));
    }

    /// The arguments of a run with a recipe, or of its resumption.
    fn arguments(&self, run: &str, recipe: &str) -> Vec<String> {
        let mut arguments = vec!["train".to_string(), "--data".into(), self.text("data")];
        let place = if recipe.is_empty() { "--resume" } else { "--out" };
        arguments.extend([place.into(), self.text(run)]);
        arguments.extend(recipe.split_whitespace().map(str::to_owned));
        arguments.extend(["--log-every", "5", "--threads", "1"].map(str::to_owned));
        arguments
    }

    fn train(&self, processes: usize, run: &str, recipe: &str, others: &[&str]) -> Run {
        let arguments = self.arguments(run, recipe);
        let arguments: Vec<&str> =
            arguments.iter().map(String::as_str).chain(others.iter().copied()).collect();
        if processes == 1 { formulanet(&arguments, b"") } else { mpirun(processes, &arguments) }
    }
}

fn check(run: &Run) {
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
}

/// The job ended with one message of ours, and it says this.
fn check_refused(run: &Run, expected: &str) {
    assert!(run.code != Some(0) && run.code != Some(124), "{:?} {}", run.code, run.stderr);
    let messages: Vec<&str> = run.stderr.lines().filter(|line| line.contains("error: ")).collect();
    assert!(messages.len() == 1 && messages[0].contains(expected), "{}", run.stderr);
}

/// Classifiers with norms over micro-batches and a memory; the paper's; and dot products.
const RECIPES: [&str; 3] = [
    "--dim 12 --steps 2 --batch 16 --epochs 6 --rate 0.01 --micro-batch 4 --validate-every 200",
    "--preset paper --dim 12 --steps 1 --batch 16 --epochs 2 --micro-batch 4",
    "--preset premises --dim 12 --steps 1 --batch 16 --epochs 6 --random 8 --useful 2 --micro-batch 4",
];

#[test]
fn two_processes_train_as_one() {
    let place = Place::new();
    for (i, recipe) in RECIPES.iter().enumerate() {
        let [one, two] = [1, 2].map(|number| format!("run{i}-{number}"));
        let alone = place.train(1, &one, recipe, &[]);
        check(&alone);
        let run = place.train(2, &two, recipe, &[]);
        check(&run);
        assert!(run.stderr.contains("2 processes"), "{}", run.stderr);
        for file in ["model.safetensors", "best.safetensors"] {
            assert!(
                place.bytes(&format!("{one}/{file}")) == place.bytes(&format!("{two}/{file}")),
                "{recipe}"
            );
        }
        // One process speaks.
        assert_eq!(run.stdout.matches("wrote ").count(), 1, "{}", run.stdout);
    }
}

#[test]
fn a_run_goes_on_with_another_number_of_processes() {
    let place = Place::new();
    let recipe = RECIPES[0];
    check(&place.train(1, "one", recipe, &[]));
    check(&place.train(4, "four", recipe, &[]));
    let mut next = recipe;
    for processes in [2, 4, 1, 3] {
        // Every sitting is one batch long.
        let run = place.train(processes, "pieces", next, &["--max-minutes", "0"]);
        check(&run);
        assert_eq!(run.stderr.matches("stopped after").count(), 1, "{}", run.stderr);
        next = "";
    }
    check(&place.train(2, "pieces", "", &[]));
    for file in ["model.safetensors", "best.safetensors"] {
        let expected = place.bytes(&format!("one/{file}"));
        assert!(place.bytes(&format!("four/{file}")) == expected, "{file}");
        assert!(place.bytes(&format!("pieces/{file}")) == expected, "{file}");
    }
}

#[test]
fn eval_embed_and_library_are_those_of_one_process() {
    let place = Place::new();
    for (name, recipe) in [("classifier", RECIPES[0]), ("towers", RECIPES[2])] {
        check(&place.train(1, name, recipe, &[]));
        let (model, data) = (place.text(&format!("{name}/model.safetensors")), place.text("data"));
        let eval = ["eval", "--model", &model, "--data", &data, "--format", "json"];
        let expected = formulanet(&eval, b"");
        check(&expected);
        let raw = place.text("pairs.jsonl");
        let eval_raw = ["eval", "--model", &model, "--data", &raw, "--format", "json"];
        let expected_raw = formulanet(&eval_raw, b"");
        for processes in [2, 3] {
            let found = mpirun(processes, &eval);
            check(&found);
            assert_eq!(found.stdout, expected.stdout);
        }
        assert_eq!(mpirun(2, &eval_raw).stdout, expected_raw.stdout);
    }
    let model = place.text("towers/model.safetensors");
    let run = |processes: usize, arguments: &[&str]| {
        check(&if processes == 1 { formulanet(arguments, b"") } else { mpirun(processes, arguments) });
    };
    for processes in [1, 2, 4] {
        let [vectors, library] = ["vectors", "library"].map(|name| place.text(&format!("{name}{processes}")));
        let (statements, model) = ("fixtures/arithmetic.hol", ["--model", model.as_str()]);
        let embed = ["embed", "--premises", statements, "--format", "npy", "--out", &vectors];
        run(processes, &[&embed[..], &model].concat());
        run(processes, &[&["library", "build", &library, statements][..], &model].concat());
    }
    // Every library has an identity of its own, so that files of libraries differ; what they hold does not.
    let answers = |processes: usize| {
        let library = place.text(&format!("library{processes}"));
        let listed = formulanet(&["library", "list", &library, "--format", "json"], b"").output();
        let goal = ["rank", "--library", &library, "--conjecture", "!m n. m + n = n + m", "--format", "json"];
        (listed, formulanet(&[&goal[..], &["--model", &model, "-k", "100"]].concat(), b"").output())
    };
    let alone = answers(1);
    for processes in [2, 4] {
        assert!(place.bytes(&format!("vectors{processes}")) == place.bytes("vectors1"));
        assert_eq!(answers(processes), alone);
    }
}

/// The processes of a job that work on a run.
fn workers(run: &str) -> Vec<u32> {
    let is_worker = |command: &[u8]| {
        let mut words = command.split(|&byte| byte == 0);
        words.next() == Some(PROGRAM.as_bytes()) && words.any(|word| word == run.as_bytes())
    };
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let number: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        is_worker(&fs::read(format!("/proc/{number}/cmdline")).ok()?).then_some(number)
    });
    numbers.collect()
}

/// A recipe that takes a while, with a checkpoint after every batch.
const LONG: &str =
    "--dim 24 --steps 2 --batch 16 --epochs 20 --rate 0.01 --micro-batch 4 --checkpoint-every 0";

#[test]
fn a_process_that_dies_ends_the_job_and_spares_the_checkpoint() {
    let place = Place::new();
    let job = launcher().args(["-n", "2", PROGRAM]).args(place.arguments("run", LONG)).spawn().unwrap();
    let begin = Instant::now();
    while !place.path("run/last.safetensors").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no checkpoint");
        thread::sleep(Duration::from_millis(20));
    }
    let victim = workers(&place.text("run")).into_iter().max().expect("a process to kill");
    assert!(Command::new("kill").args(["-9", &victim.to_string()]).status().unwrap().success());
    let run = finished(job);
    assert!(run.code != Some(0) && run.code != Some(124), "{:?} {}", run.code, run.stderr);
    assert!(workers(&place.text("run")).is_empty());
    assert!(!place.path("run/model.safetensors").exists(), "the job was too short");
    // What is left is a run that goes on.
    check(&place.train(2, "run", "", &[]));
    check(&place.train(1, "whole", LONG, &[]));
    assert!(place.bytes("run/model.safetensors") == place.bytes("whole/model.safetensors"));
}

#[test]
#[expect(clippy::print_stderr, reason = "who runs the tests should know")]
fn a_full_disk_ends_the_job_and_spares_the_checkpoint() {
    let place = Place::new();
    check(&place.train(1, "whole", LONG, &[]));
    let size = fs::metadata(place.path("whole/last.safetensors")).unwrap().len();
    // There is room for one checkpoint, and not for a second beside it.
    fs::create_dir(place.path("small")).unwrap();
    let (small, options) = (place.text("small"), format!("size={}", size * 8 / 5));
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs", &small]).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    }
    let run = place.train(2, "small/run", LONG, &[]);
    let copied = Command::new("cp").args(["-r", &place.text("small/run"), &place.text("run")]).status();
    assert!(copied.unwrap().success());
    assert!(Command::new("umount").arg(&small).status().unwrap().success());
    check_refused(&run, "No space left");
    check(&place.train(2, "run", "", &[]));
    assert!(place.bytes("run/model.safetensors") == place.bytes("whole/model.safetensors"));
}

#[test]
fn processes_that_differ_are_refused() {
    let place = Place::new();
    place.prepare("other", "5");
    let (data, other, out) = (place.text("data"), place.text("other"), place.text("out"));
    let train = |data: &'_ str, flags: &str| {
        let fixed = format!("train --data {data} --out {out} --dim 12 --batch 16 --micro-batch 4 {flags}");
        fixed.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let check_two = |first: (&str, Vec<String>), second: (&str, Vec<String>), expected: &str| {
        let [a, b] = [&first.1, &second.1].map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        check_refused(&mpirun_two((first.0, &a), (second.0, &b)), expected);
        assert!(!place.path("out").exists());
    };
    let same = || (PROGRAM, train(&data, ""));
    check_two(same(), (PROGRAM, train(&other, "")), "expected the data of rank 0");
    check_two(same(), (PROGRAM, train(&data, "--rate 0.5")), "expected the recipe of rank 0");
    let bf16 = (PROGRAM, train(&data, "--precision bf16"));
    check_two((PROGRAM, train(&data, "--precision f32")), bf16, "expected the kind of CPU of rank 0");
    // Another build: a byte more at the end changes nothing but the file.
    let build = place.text("formulanet");
    fs::copy(PROGRAM, &build).unwrap();
    OpenOptions::new().append(true).open(&build).unwrap().write_all(b"x").unwrap();
    check_two(same(), (&build, train(&data, "")), "expected the program of rank 0");
    check_two(same(), (PROGRAM, train("nowhere", "")), "nowhere");
}

#[test]
fn what_is_wrong_is_said_once() {
    let place = Place::new();
    let data = place.text("data");
    let out = place.text("out");
    check_refused(&mpirun(2, &["train", "--data", "nowhere", "--out", &out]), "nowhere");
    let slow = mpirun(3, &["train", "--data", &data, "--out", &out, "--rate", "0"]);
    check_refused(&slow, "rate must be positive");
    let few = ["train", "--data", &data, "--out", &out, "--batch", "4", "--micro-batch", "4"];
    check_refused(&mpirun(4, &few), "expected at most 2 processes");
    check_refused(&mpirun(2, &["embed", "--premises", "-"]), "standard input reaches one of 2");
    check_refused(&mpirun(2, &["train", "--data", &data]), "");
    let there = place.write("there.db", "");
    let build = mpirun(2, &["library", "build", &there, "fixtures/arithmetic.hol"]);
    check_refused(&build, "expected nothing there, found a file");
}
