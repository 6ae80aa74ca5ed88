//! `formulanet train` and `formulanet eval` from the outside: killed, resumed, given nonsense.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::formulanet;
use formulanet_testing::{Folder, pairs};

struct Place(Folder);

impl Place {
    fn new() -> Self {
        let place = Place(Folder::new());
        place.0.write("pairs.jsonl", pairs(false));
        let run = formulanet(
            &["prepare", &place.text("pairs.jsonl"), "--out", &place.text("data"), "--validation", "8"],
            b"",
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn text(&self, name: &str) -> String {
        self.0.text(name)
    }

    /// The arguments of a run, or of its resumption.
    fn arguments(&self, run: &str, resumes: bool) -> Vec<String> {
        let mut arguments = vec!["train".to_string(), "--data".into(), self.text("data")];
        if resumes {
            arguments.extend(["--resume".into(), self.text(run)]);
        } else {
            arguments.extend(["--out".into(), self.text(run)]);
            let recipe =
                "--dim 12 --steps 2 --batch 16 --epochs 40 --rate 0.01 --micro-batch 8 --validate-every 400";
            arguments.extend(recipe.split(' ').map(str::to_owned));
        }
        arguments.extend(["--checkpoint-every", "0", "--log-every", "5"].map(str::to_owned));
        arguments
    }

    fn train(&self, run: &str, resumes: bool) -> common::Run {
        let arguments = self.arguments(run, resumes);
        formulanet(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), b"")
    }
}

fn model(run: &Path) -> Vec<u8> {
    fs::read(run.join("model.safetensors")).unwrap()
}

/// Killed at odd moments, with a checkpoint after every batch, a run still comes to the same weights.
#[test]
fn kills_do_not_change_the_result() {
    let place = Place::new();
    let whole = place.train("whole", false);
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    assert!(whole.stdout.contains("validation accuracy"), "{}", whole.stdout);
    let (mut kills, mut seed, mut round) = (0, 7u64, 0);
    while kills < 20 && round < 6 {
        let run = format!("run{round}");
        let mut resumes = false;
        loop {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
                .args(place.arguments(&run, resumes))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(20 + (seed >> 33) % 250));
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            // Before the recipe is written, there is no run to resume.
            resumes = place.path(&run).join("log.jsonl").exists();
            if !resumes {
                let _ = fs::remove_dir_all(place.path(&run));
            }
            if kills >= 20 {
                let last = place.train(&run, resumes);
                assert_eq!(last.code, Some(0), "{}", last.stderr);
                break;
            }
        }
        assert!(model(&place.path(&run)) == model(&place.path("whole")), "after {kills} kills");
        round += 1;
    }
    assert!(kills >= 5, "only {kills} kills: the run is too short for this machine");
}

#[test]
fn eval_says_what_a_model_and_what_baselines_are_worth() {
    let place = Place::new();
    assert_eq!(place.train("run", false).code, Some(0));
    let (model, data, raw) =
        (place.text("run/model.safetensors"), place.text("data"), place.text("pairs.jsonl"));
    let page = place.text("report.html");
    let run =
        formulanet(&["eval", "--model", &model, "--data", &data, "--format", "json", "--report", &page], b"");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["examples"], 32);
    assert!(value["accuracy"].as_f64().unwrap() > 0.9, "{value}");
    for key in ["precision", "recall", "auc", "f1", "vote"] {
        assert!(value[key].is_number(), "{key}: {value}");
    }
    assert_eq!(value["steps"].as_array().unwrap().len(), 3);
    assert!(fs::read_to_string(&page).unwrap().contains("<svg"));
    // Raw data gives the same answers, with all pairs.
    let run = formulanet(&["eval", "--model", &model, "--data", &raw, "--format", "json"], b"");
    let all: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(all["examples"], 160);
}

fn check_refused(arguments: &[&str], code: i32, expected: &str) {
    let run = formulanet(arguments, b"");
    assert_eq!(run.code, Some(code), "{arguments:?} {}", run.stderr);
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

#[test]
fn nonsense_is_refused() {
    let place = Place::new();
    let (data, out, raw) = (place.text("data"), place.text("out"), place.text("pairs.jsonl"));
    check_refused(&["train", "--data", &data, "--out", &out, "--rate", "0"], 1, "rate must be positive");
    check_refused(&["train", "--data", &data, "--out", &out, "--norm", "odd"], 2, "unknown variant");
    check_refused(&["train", "--data", &raw, "--out", &out], 1, "pairs.jsonl");
    check_refused(&["train", "--data", &data], 2, "--out");
    check_refused(&["eval", "--model", &raw, "--data", &data], 1, "not a safetensors file");
    check_refused(&["eval", "--model", &out, "--data", &data], 1, "found neither");
    assert_eq!(place.train("run", false).code, Some(0));
    let model = place.text("run/model.safetensors");
    check_refused(
        &["eval", "--model", &model, "--data", &data, "--split", "test"],
        1,
        "choose others with --split",
    );
    check_refused(
        &["train", "--data", &data, "--resume", &place.text("run"), "--dim", "9"],
        2,
        "'--resume <RUN>' cannot be used with '--dim <N>'",
    );
    let sample = place.text("sample");
    assert_eq!(
        formulanet(&["prepare", "fixtures/sample", "--out", &sample, "--view", "dag"], b"").code,
        Some(0)
    );
    check_refused(&["eval", "--model", &model, "--data", &sample], 1, "prepare it with --view graph");
    let words: Vec<String> = (0..90).map(|i| format!("WORD{i}")).collect();
    let line = format!(r#"{{"conjecture": "{}", "statement": "AAA", "useful": true}}"#, words.join(" = "));
    fs::write(place.path("foreign.jsonl"), line).unwrap();
    let foreign = place.text("foreign.jsonl");
    check_refused(&["eval", "--model", &model, "--data", &foreign], 1, "expected a model for this data");
}

/// A flag that has no effect is wrong usage, never ignored.
#[test]
fn flags_without_effect_are_refused() {
    let place = Place::new();
    let (data, out) = (place.text("data"), place.text("out"));
    let train = |flags: &str, expected: &str| {
        let fixed = ["train", "--data", &data, "--out", &out];
        let arguments: Vec<&str> = fixed.into_iter().chain(flags.split(' ')).collect();
        check_refused(&arguments, 2, expected);
    };
    for flag in ["--useful 3", "--random 3", "--proofs 0.1"] {
        train(flag, "without a model that ranks premises");
    }
    for flag in ["--memory 1", "--mark-shared", "--group 2", "--validation-pairs 9"] {
        train(&format!("--preset premises {flag}"), "without a model that classifies pairs");
    }
    train("--memory 0 --memory-dropout 0.1", "'--memory-dropout' has no effect without a memory");
    train("--divide-by 2", "'--divide-by' has no effect without --schedule divide");
    train("--preset paper --warm-up 0.1", "'--warm-up' has no effect without --schedule cosine");
    train("--unconditional --interaction product", "without a model that sees the conjecture");
    train("--conditional --unconditional", "cannot be used with");
    train("--dim x", "expected a whole number");
    train("--dim 1.5", "expected a whole number");
    train("--rate x", "expected a number");
    assert!(!place.path("out").exists());

    let eval = |flags: &str, expected: &str| {
        let arguments: Vec<&str> = ["eval", "--data", &data].into_iter().chain(flags.split(' ')).collect();
        check_refused(&arguments, 2, expected);
    };
    for flag in ["--report x", "--predictions x", "--limit-pairs 9"] {
        eval(&format!("--model hol-premises {flag}"), "cannot be used with a model that ranks premises");
    }
    eval("--model models/holstep --keep-going", "'--keep-going' cannot be used with a prepared folder");
}

/// Every flag of a recipe shows its default, under a heading that fits.
#[test]
fn help_shows_defaults_and_headings() {
    let help = formulanet(&["train", "--help"], b"").stdout;
    let (general, recipe) = help.split_once("\nNetwork:").unwrap();
    for flag in ["--threads", "--format", "--log-every", "--max-minutes"] {
        assert!(general.contains(flag) && !recipe.contains(&format!(" {flag} ")), "{flag}");
    }
    let words = recipe.split_whitespace().collect::<Vec<_>>().join(" ");
    for shown in [
        "[default: formulanet]",
        "[default: 128, paper: 256, together: 64]",
        "[default: adam-w, paper: rms-prop]",
        "[default: 0.15, paper: 0.0]",
        "[default: concat, premises: towers]",
        "Classify pairs of conjecture and statement [default]",
    ] {
        assert!(words.contains(shown), "{shown} in {words}");
    }
    let flags = recipe.lines().filter(|line| line.trim_start().starts_with("--")).count();
    assert_eq!((flags, words.matches("[default").count()), (45 + 1, 45 + 1));
}

/// Files of earlier versions say `full` for what is called `formulanet` now.
#[test]
fn recipes_name_the_model_as_the_flag_does() {
    let place = Place::new();
    let run = |name: &str, flags: &[&str]| {
        let (data, out) = (place.text("data"), place.text(name));
        let small = ["--dim", "8", "--limit-pairs", "32", "--batch", "16"];
        let run = formulanet(&[&["train", "--data", &data, "--out", &out], &small[..], flags].concat(), b"");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        fs::read_to_string(place.path(name).join("recipe.toml")).unwrap()
    };
    let recipe = run("new", &["--model", "formulanet"]);
    assert!(recipe.contains("model = \"formulanet\""), "{recipe}");
    fs::write(place.path("old.toml"), recipe.replace("\"formulanet\"", "\"full\"")).unwrap();
    assert_eq!(run("old", &["--recipe", &place.text("old.toml")]), recipe);
    assert!(model(&place.path("old")) == model(&place.path("new")));
}
