//! `formulanet-lab tally` and `formulanet-lab eval` from the outside.

use std::fs;

use formulanet_testing::{Folder, Run, write_holstep};

fn lab(arguments: &[&str]) -> Run {
    formulanet_testing::run(env!("CARGO_BIN_EXE_formulanet-lab"), arguments, b"")
}

/// A count model is made in a moment, judges alone, and says so of its memory.
#[test]
fn a_count_model_judges_pairs() {
    let folder = Folder::new();
    write_holstep(&folder.path("raw"), 24);
    let (data, tally) = (folder.text("data"), folder.text("tally.safetensors"));
    let options = formulanet_train::dataset::Options {
        validation: formulanet_train::dataset::HoldOut::Number(6),
        ..formulanet_train::dataset::Options::default()
    };
    let silent = formulanet_train::Silent;
    formulanet_train::dataset::prepare(&folder.path("raw"), &folder.path("data"), None, &options, 2, &silent)
        .unwrap();
    let make = ["tally", "--data", &data, "--trees", "5", "--depth", "3", "--out", &tally];
    let made = lab(&make);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains("5 trees: "), "{}", made.stderr);
    let bytes = fs::read(&tally).unwrap();
    lab(&make);
    assert!(fs::read(&tally).unwrap() == bytes, "made twice, it is another");
    let run = lab(&["eval", "--ensemble", &tally, "--data", &data, "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("\"accuracy\""), "{}", run.stdout);
    let other = lab(&[&make[..], &["--memory-of", "holstep"]].concat());
    assert!(other.stderr.contains("found one with another memory"), "{}", other.stderr);
    for baseline in ["majority", "tokens", "nearest", "seen"] {
        let run = lab(&["baseline", baseline, "--data", &data]);
        assert_eq!(run.code, Some(0), "{baseline}: {}", run.stderr);
        assert!(run.stdout.contains("accuracy"), "{}", run.stdout);
    }
}
