//! `integrations/hol_light/README.md`, run by HOL Light where it is installed. Its core takes a minute or more to load, so all is
//! asked in one session.

mod common;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::formulanet;
use formulanet_testing::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The blocks of a page, each with its mark; those in lists are indented.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let (mut blocks, mut open): (Vec<(&str, String)>, bool) = (Vec::new(), false);
    for line in page.lines().map(str::trim) {
        match line.strip_prefix("```") {
            Some(mark) if !open => {
                blocks.push((mark, String::new()));
                open = true;
            }
            Some(_) => open = false,
            None if open => blocks.last_mut().unwrap().1 += &format!("{line}\n"),
            None => {}
        }
    }
    blocks
}

/// Whether what a page shows was printed. `...` stands for anything and a number for any number; lines may be broken elsewhere.
fn is_printed(expected: &str, printed: &str) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let any_number = |text: &str| {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '0'..='9' if out.ends_with('0') => {}
                '0'..='9' => out.push('0'),
                c => out.push(c),
            }
        }
        out
    };
    let mut rest = any_number(&squeezed(printed));
    for line in expected.lines() {
        for piece in any_number(&squeezed(line)).split("...").filter(|piece| !piece.trim().is_empty()) {
            let Some(at) = rest.find(piece.trim()) else { return false };
            rest = rest.split_off(at + piece.trim().len());
        }
    }
    true
}

#[test]
fn the_page_leads_to_a_proof() {
    let page = fs::read_to_string(root().join("integrations/hol_light/README.md")).unwrap();
    let blocks = blocks(&page);
    let Some(start) = blocks.iter().find(|(mark, _)| *mark == "sh").map(|(_, command)| command.trim()) else {
        panic!("the page does not say how to start HOL Light");
    };
    let folder = Folder::new();
    let mut input = String::new();
    for (_, block) in blocks.iter().filter(|(mark, _)| *mark == "ocaml") {
        input += block;
    }
    let (exact, printed) = (folder.text("exact.jsonl"), folder.text("printed.txt"));
    // Everything once more as the top level prints it.
    input += &format!(
        "FORMULANET_DUMP \"{exact}\";;\nset_margin 1000000;;\nlet out = open_out \"{printed}\";;\n\
         do_list (fun (name,th) -> output_string out (\"val \" ^ name ^ \" : thm = \" ^ string_of_thm th ^ \"\\n\")) !theorems;;\n\
         close_out out;;\nreport (\"THE\" ^ \" END\");;\n"
    );
    let is_there = |program: &str| {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
        found.status.success()
    };
    if !is_there("hol-light") || !is_there("ocamlc") {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no hol-light on the PATH, so integrations/hol_light/README.md is not run"
        );
        return;
    }
    let output = File::create(folder.path("session")).unwrap();
    let mut hol_light = Command::new("timeout")
        .args(["900", "sh", "-c", start])
        .current_dir(root())
        .env("FORMULANET", env!("CARGO_BIN_EXE_formulanet"))
        .env("FORMULANET_LIBRARY", folder.path("hol-light.db"))
        .stdin(Stdio::piped())
        .stderr(output.try_clone().unwrap())
        .stdout(output)
        .spawn()
        .unwrap();
    hol_light.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    hol_light.wait().unwrap();
    let session = String::from_utf8_lossy(&folder.bytes("session")).into_owned();
    let loaded = session.find("val formulanet_environment").unwrap_or_else(|| panic!("{session}"));
    let session = &session[loaded..];
    assert!(session.contains("THE END"), "{session}");
    for error in ["Error:", "Exception:"] {
        assert!(!session.contains(error), "{session}");
    }
    // What stands before the first command of OCaml is about installing.
    let first = blocks.iter().position(|(mark, _)| *mark == "ocaml").unwrap();
    for (_, expected) in blocks[first..].iter().filter(|(mark, _)| *mark == "text") {
        assert!(is_printed(expected, session), "expected\n{expected}\nin\n{session}");
    }
    let count = fs::read_to_string(&exact).unwrap().lines().count();
    assert!(count > 2000, "{count}");
    // The library has what was exact, theorem by theorem; what was printed is read as well.
    let listed = formulanet(&["library", "list", &folder.text("hol-light.db")], b"").stdout;
    assert_eq!(listed.lines().count(), count);
    let built = formulanet(&["library", "build", &folder.text("printed.db"), &printed], b"");
    let expected = format!("{count} statements in {}\n", folder.text("printed.db"));
    assert_eq!((built.stdout, built.stderr), (String::new(), expected));
    theorems_are_found(&folder);
    a_person_finds_the_theorem(&folder.text("printed.db"));
}

/// A benchmark that fails if the default ranker becomes worse: the theorems that the last proofs of the core used.
fn theorems_are_found(folder: &Folder) {
    let library = folder.text("hol-light.db");
    let facts = formulanet(&["library", "list", &library, "--format", "json"], b"").output();
    let facts = folder.write("facts.jsonl", &facts);
    let check = |more: &[&str], least: [f64; 3]| {
        let always = ["eval", "--theory", &facts, "--test-last", "300", "--format", "json"];
        let report = formulanet(&[&always[..], more].concat(), b"").output();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let figures = [&report["recall"]["16"], &report["recall"]["64"], &report["map"]];
        let is_good = figures
            .iter()
            .zip(least)
            .all(|(figure, least)| figure.as_f64().is_some_and(|found| found >= least));
        assert!(is_good, "expected at least {least:?}, found {report}");
    };
    check(&[], [0.75, 0.91, 0.48]);
    check(&["--without-proofs"], [0.65, 0.84, 0.41]);
}

/// Goals that follow from one theorem of the core, which has to be near the top of a library without proofs, and above what says
/// nothing of the goal.
fn a_person_finds_the_theorem(library: &str) {
    let check = |goal: &str, theorem: &str, best: usize| {
        let run = formulanet(&["rank", "--library", library, "--conjecture", goal, "-k", "100"], b"");
        let listed = run.output();
        let rank = |name: &str| {
            listed.lines().position(|line| line.split_whitespace().nth(2) == Some(name)).unwrap_or(usize::MAX)
        };
        assert!(rank(theorem) < best.min(rank("TRUTH")), "{goal}\n{listed}");
    };
    check("abs (x - y) <= abs x + abs y", "REAL_ABS_TRIANGLE", 8);
    check("FINITE s ==> FINITE (s INTER t)", "FINITE_INTER", 8);
    check("EVEN (n * n + n)", "EVEN_ADD", 12);
    check("LENGTH (APPEND l (APPEND m n)) = LENGTH l + LENGTH m + LENGTH n", "LENGTH_APPEND", 8);
    check("m <= n ==> m * p <= n * p + p", "LE_TRANS", 24);
    check("s SUBSET t ==> s INTER u SUBSET t", "INTER_SUBSET", 8);
}

#[test]
fn dots_and_numbers_stand_for_others() {
    let check = |expected: &str, printed: &str, is_fine: bool| {
        assert_eq!(is_printed(expected, printed), is_fine, "{expected:?} {printed:?}");
    };
    check("12 theorems in ...\n... done", "# 2952 theorems in\n/tmp/x\n- : done", true);
    check("12 theorems in ...\n... done", "done\n# 2952 theorems in x", false);
    check("list = ...[A", "list =\n[B; A", false);
}
