//! The examples in every `--help` run, in a folder that has the files they name.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::formulanet;
use formulanet_testing::{Folder, pairs, shell, write_holstep};

const PROGRAM: &str = env!("CARGO_BIN_EXE_formulanet");

/// Headings under which help lists commands.
const COMMANDS: [&str; 5] = ["Commands:", "Use:", "Inspect:", "Integrate:", "Develop models:"];

/// What would take long, and what stands for it in the test.
const SHORTER: [(&str, &str); 2] =
    [("--kind reader --data", "--kind reader --dim 8 --data"), ("--budget 2h", "--budget 2s")];

/// Files that examples name, and the fixtures they are.
const FILES: [(&str, &str); 16] = [
    ("arithmetic.hol", "arithmetic.hol"),
    ("statements.hol", "arithmetic.hol"),
    ("theory.p", "relations.p"),
    ("theory.jsonl", "theory.jsonl"),
    ("problem.p", "relations.p"),
    ("big.p", "relations.p"),
    ("file.holstep", "successor.holstep"),
    ("file.deepmath", "order.deepmath"),
    ("pairs.jsonl", "pairs.jsonl"),
    ("proofs.txt", "theory.tests"),
    ("lib.fea", "hammer/lib.fea"),
    ("lib.dep", "hammer/lib.dep"),
    ("lib.seq", "hammer/lib.seq"),
    ("goal.fea", "hammer/goal.fea"),
    ("names.txt", "hammer/names.txt"),
    ("lean.jsonl", "lean/library.jsonl"),
];

/// Commands that make the rest.
const MADE: [&str; 9] = [
    // Two problems.
    "mkdir problems; cp problem.p problems/a.p; cp problem.p problems/b.p",
    // A formula of HOL Light and of TPTP.
    "echo 'x = x' > goal.txt",
    "formulanet library build reals.db arithmetic.hol; formulanet library list --format json reals.db > reals.jsonl",
    "tar -czf holstep.tgz -C raw .",
    "formulanet prepare holstep.tgz --out holstep --view dag",
    "formulanet train --data holstep --out run --dim 8 --epochs 1",
    "formulanet library build theory.db theory.jsonl",
    "formulanet library build sets.db theory.p; grep conjecture theory.p > goal.p",
    "for name in arithmetic lemmas; do cp reals.db $name.db; done",
];

/// A folder with everything that examples read.
fn place() -> Folder {
    let folder = Folder::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").canonicalize().unwrap();
    for (name, fixture) in FILES {
        fs::copy(fixtures.join(fixture), folder.path(name)).unwrap();
    }
    folder.write("more.hol", "OLD_LEMMA: !m. m + 0 = m");
    folder.write("my-pairs.jsonl", pairs(true));
    folder.write("token.txt", "a-token-that-nobody-knows");
    // More than `prepare` holds out.
    write_holstep(&folder.path("raw"), 704);
    for (command, run) in MADE.iter().zip(shell(PROGRAM, folder.root(), &MADE)) {
        assert_eq!(run.code, 0, "{command}\n{}", run.printed);
    }
    folder
}

/// The lines under a heading of a help text, up to an empty one.
fn under<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    help.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.is_empty()).collect()
}

/// The examples of a command and of the commands under it, each with the command.
fn examples(command: &[&str], found: &mut Vec<(String, String)>) {
    let help = formulanet(&[command, &["--help"]].concat(), b"").output();
    let mut lines: Vec<String> = Vec::new();
    for line in under(&help, "Examples:").into_iter().chain(under(&help, "Example:")) {
        match lines.last_mut() {
            Some(last) if last.ends_with('\\') => *last += &format!("\n{line}"),
            _ => lines.push(line.trim_start().to_owned()),
        }
    }
    found.extend(lines.into_iter().map(|line| (command.join(" "), line)));
    for line in COMMANDS.iter().flat_map(|heading| under(&help, heading)) {
        match line.split_whitespace().next().filter(|_| line.starts_with("  ") && !line.starts_with("   ")) {
            Some(name) if name != "help" => examples(&[command, &[name]].concat(), found),
            _ => (),
        }
    }
}

/// The output of an example, which is removed first, unless the example continues with it.
fn written(example: &str) -> Option<&str> {
    if example.contains("--resume") {
        return None;
    }
    let mut words = example.split_whitespace();
    words.find(|word| ["--out", "build"].contains(word)).and_then(|_| words.next())
}

#[test]
fn examples_run() {
    let folder = place();
    let mut found = Vec::new();
    examples(&[], &mut found);
    assert!(found.len() > 30, "{found:?}");
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    found.retain(|(_, example)| {
        ["curl", "eprover", "z3"].iter().all(|program| !example.contains(program) || is_there(program))
    });
    let commands: Vec<String> = found
        .iter()
        .map(|(_, example)| {
            let remove = written(example).map_or(String::new(), |path| format!("rm -rf {path}; "));
            SHORTER.iter().fold(remove + example, |line, (long, short)| line.replace(long, short))
        })
        .collect();
    let runs = shell(PROGRAM, folder.root(), &commands.iter().map(String::as_str).collect::<Vec<_>>());
    let failed: String = found
        .iter()
        .zip(runs)
        .filter(|((_, example), run)| {
            // In two seconds, not all facts of a library are proved.
            let is_short = example.contains("--all") && run.printed.contains("problems proved");
            run.code != 0 && !(run.code == 1 && is_short)
        })
        .map(|((command, example), run)| format!("formulanet {command} --help: {example}\n{}\n", run.printed))
        .collect();
    assert!(failed.is_empty(), "{failed}");
}
