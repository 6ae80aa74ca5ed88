//! An input is opened once, and what it is decides language and model, wherever it comes from.

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;

use common::formulanet;
use formulanet_testing::Folder;

const PROBLEM: &str = "fixtures/relations.p";
const GOAL: &str = "subset(a, union(a, b))";

fn printed(arguments: &[&str], input: &[u8]) -> String {
    formulanet(arguments, input).output()
}

/// The problem as bytes, for standard input.
fn problem() -> Vec<u8> {
    fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/relations.p")).unwrap()
}

#[test]
fn standard_input_is_read_as_the_file_is() {
    for command in [&["rank", "--conjecture", GOAL][..], &["neighbors", GOAL]] {
        let from_file = printed(&[command, &["--premises", PROBLEM]].concat(), b"");
        let from_input = printed(&[command, &["--premises", "-"]].concat(), &problem());
        assert_eq!(from_file, from_input, "{command:?}");
    }
    let from_file = printed(&["embed", "--premises", PROBLEM], b"");
    assert_eq!(printed(&["embed", "--premises", "-"], &problem()), from_file);
}

#[test]
fn json_lines_say_their_language() {
    let lines = b"{\"name\": \"a\", \"statement\": \"subset(x, x)\", \"syntax\": \"tptp\"}\n";
    let command = ["rank", "--conjecture", GOAL, "--premises", "-", "--format", "json"];
    let with_default = printed(&command, lines);
    let with_model = printed(&[&command[..], &["--model", "mizar-premises"]].concat(), lines);
    assert_eq!(with_default, with_model);
}

#[test]
fn a_library_knows_its_language() {
    let folder = Folder::new();
    let library = folder.text("tptp.db");
    printed(&["library", "build", &library, PROBLEM, "--model", "hol-premises"], b"");
    let found = printed(&["rank", "--conjecture", GOAL, "--library", &library, "-k", "3"], b"");
    assert_eq!(found.lines().count(), 3, "{found}");
}

#[test]
fn a_pipe_is_read_from_its_beginning() {
    let folder = Folder::new();
    let pipe = folder.text("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = thread::spawn({
        let (pipe, text) =
            (pipe.clone(), (0..8000).map(|i| format!("L{i}: !x. x + {i} = x\n")).collect::<String>());
        move || fs::write(pipe, text)
    });
    let run = formulanet(&["library", "build", &folder.text("big.db"), &pipe], b"");
    writer.join().unwrap().unwrap();
    assert!(run.code == Some(0) && run.stderr.starts_with("8000 statements"), "{}", run.stderr);
    // What a shell gives for <(cat ...) is a pipe as well.
    let script = "\"$0\" rank --conjecture 'x < y + y' --premises <(printf 'a: x < x\\nb: y = z\\n') -k 9";
    let program = env!("CARGO_BIN_EXE_formulanet");
    let output =
        Command::new("bash").args(["-c", script, program]).stderr(Stdio::inherit()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
}

#[test]
fn what_fits_nothing_is_said() {
    let check = |arguments: &[&str], expected: &str| {
        let run = formulanet(arguments, b"");
        assert!(run.code == Some(0) && run.stderr.contains(expected), "{arguments:?}\n{}", run.stderr);
    };
    let rank = ["rank", "--conjecture", "x = x", "--premises", "fixtures/arithmetic.hol"];
    check(&[&rank[..], &["--include", "NO_SUCH*"]].concat(), "no statement is called `NO_SUCH*`");
    check(&[&rank[..], &["--exclude", "NO_SUCH"]].concat(), "no statement is called `NO_SUCH`");
    check(&["select", PROBLEM, "--include", "bogus"], "no statement is called `bogus`");
    check(&["select", PROBLEM, "--keep-roles", "bogus"], "no statement has the role `bogus`");
    let quiet = formulanet(&["select", PROBLEM, "--keep-roles", "none", "--symbols", "anonymous"], b"");
    assert_eq!(quiet.stderr, "");
}

#[test]
fn flags_without_effect_are_wrong_usage() {
    let check = |arguments: &[&str], expected: &str| {
        let run = formulanet(arguments, b"");
        assert!(run.code == Some(2) && run.stderr.contains(expected), "{arguments:?}\n{}", run.stderr);
    };
    check(
        &["rank", "--conjecture", GOAL, "--premises", PROBLEM, "--overload", "int"],
        "'--overload' cannot be used with",
    );
    check(&["graph", "--tptp", PROBLEM, "--constants", "c"], "'--constants' cannot be used with");
    check(&["embed", "--premises", PROBLEM, "--syntax", "tptp"], "'--syntax' cannot be used with");
    check(&["select", PROBLEM, "-k", "1,2"], "--out FOLDER");
    check(&["rank", "--conjecture", "-", "--premises", "-"], "only once");
}

/// Flags stand under the headings that they belong to.
#[test]
fn help_is_in_order() {
    for (command, general) in [("rank", "--model"), ("select", "--format"), ("neighbors", "--model")] {
        let help = printed(&[command, "--help"], b"");
        let (before, _) =
            help.split_once("\nSelection:").or(help.split_once("\nReading the formula:")).unwrap();
        assert!(before.contains(general), "{command}: {general} stands too late");
        let (_, computing) = help.split_once("\nComputing:").unwrap();
        assert!(computing.contains("--threads") && computing.contains("--precision"), "{command}");
    }
}
