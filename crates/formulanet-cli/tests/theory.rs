//! `formulanet eval --theory`.

mod common;

use common::{Run, formulanet};
use formulanet_testing::Folder;
use serde_json::Value;

const THEORY: &str = "fixtures/theory.jsonl";

fn eval(more: &[&str]) -> Run {
    formulanet(&[&["eval", "--theory"], more].concat(), b"")
}

fn json(more: &[&str]) -> Value {
    let run = eval(&[more, &["--format", "json"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn json_has_the_keys_that_programs_rely_on() {
    for method in ["auto", "knn", "nbayes", "mesh", "mepo", "popularity"] {
        let report = json(&[THEORY, "--test-last", "5", "--method", method]);
        let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = ["facts", "full", "map", "method", "mrr", "recall", "seconds_per_query", "tests"];
        assert_eq!(keys, expected);
        assert_eq!(
            (&report["facts"], &report["tests"], &report["method"]),
            (&36.into(), &5.into(), &method.into())
        );
        for figures in [&report["recall"], &report["full"]] {
            let mut cutoffs: Vec<&str> = figures.as_object().unwrap().keys().map(String::as_str).collect();
            cutoffs.sort_by_key(|cutoff| cutoff.len());
            assert_eq!(cutoffs, ["16", "32", "64", "256"]);
        }
        assert!(report["map"].as_f64().is_some_and(|map| (0.01..=1.0).contains(&map)), "{report}");
    }
    assert_eq!(json(&[THEORY, "--test", "fixtures/theory.tests"])["method"], "auto");
}

#[test]
fn text_has_all_methods_side_by_side() {
    let printed = eval(&[THEORY, "--test-last", "5"]).output();
    let methods: Vec<&str> =
        printed.lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(methods, ["auto", "knn", "nbayes", "mesh", "mepo", "popularity"]);
    assert!(printed.starts_with("36 facts, 5 asked for\n"), "{printed}");
}

#[test]
fn rankings_have_a_line_for_each_question() {
    let folder = Folder::new();
    let out = folder.text("rankings");
    json(&[THEORY, "--test", "fixtures/theory.tests", "--method", "knn", "--rankings", &out]);
    let text = std::fs::read_to_string(&out).unwrap();
    let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(':').unwrap()).collect();
    assert_eq!(lines.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["rev_rev", "length_append_comm"]);
    for (name, premises) in lines {
        // Facts before it, each once.
        let premises: Vec<&str> = premises.split(' ').collect();
        let distinct: std::collections::HashSet<&str> = premises.iter().copied().collect();
        assert!(premises.len() == distinct.len() && !distinct.contains(name), "{premises:?}");
        assert!(!distinct.contains("append_cancel"));
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    let check = |more: &[&str], expected: &str| {
        let run = formulanet(&[&["eval"], more].concat(), b"");
        assert!(run.code == Some(2) && run.stderr.contains(expected), "{more:?}\n{}", run.stderr);
    };
    check(&["--theory", THEORY], "--test-last or --test");
    check(&["--theory", THEORY, "--test-last", "0"], "expected a number from 1");
    check(&["--theory", THEORY, "--test-last", "3", "--test", "x"], "cannot be used with");
    check(&["--theory", THEORY, "--test-last", "3", "--method", "best"], "expected one of auto, knn");
    check(&["--theory", THEORY, "--test-last", "3", "--model", "holstep"], "cannot be used with --theory");
    check(&["--test-last", "3"], "--theory");
    check(&["--model", "holstep"], "--data");
}

#[test]
fn bad_theories_are_told_with_their_place() {
    let folder = Folder::new();
    let fact = |name: &str, proof: &str| {
        format!("{{\"name\": \"{name}\", \"statement\": \"{name} = {name}\", \"proof\": [{proof}]}}\n")
    };
    let odd = fact("aa", "") + &fact("bb", "\"aa\", \"gone\", \"cc\"") + &fact("cc", "\"bb\", \"cc\"");
    folder.write("odd.jsonl", &odd);
    let path = folder.text("odd.jsonl");
    let run = eval(&[&path, "--test-last", "2", "--method", "knn"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = "1 that no fact has, 1 of the fact itself, 1 of later facts";
    assert!(run.stderr.contains(expected) && run.stderr.contains("odd.jsonl:2:"), "{}", run.stderr);
    let check = |name: &str, text: &str, more: &[&str], expected: &str| {
        folder.write(name, text);
        let run = eval(&[&[folder.text(name).as_str(), "--test-last", "2"], more].concat());
        assert!(run.code == Some(1) && run.stderr.contains(expected), "{name}\n{}", run.stderr);
    };
    check("strict", &odd, &["--strict"], "strict:2: expected earlier facts");
    check("cut", &odd[..odd.len() - 5], &[], "cut:3:");
    check("twice", &(fact("aa", "") + &fact("aa", "")), &[], "twice:2: expected each name once");
    check("empty", "", &[], "expected facts with proofs that use others, found none");
}
