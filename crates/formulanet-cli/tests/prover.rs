//! Problems that `formulanet select` writes, read by E.

mod common;

use std::io::{ErrorKind, Write};
use std::process::Command;

use common::formulanet;
use formulanet_testing::Folder;

/// What E says of a file: how many statements it read, or why it did not. Nothing if there is no E.
fn read_by_e(file: &str) -> Option<Result<usize, String>> {
    // To clauses and no further; `-s` keeps the clauses to itself.
    let arguments = ["--cnf", "-s", "--tstp-format", "--print-statistics", file];
    let output = match Command::new("eprover").args(arguments).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let parsed = text.lines().find_map(|line| line.strip_prefix("# Parsed axioms"));
    let parsed = parsed.and_then(|rest| rest.trim_start_matches([' ', ':']).trim().parse().ok());
    let message = || format!("{}{text}", String::from_utf8_lossy(&output.stderr));
    Some(parsed.filter(|_| output.status.success()).ok_or_else(message))
}

#[test]
fn e_reads_every_reduced_problem() {
    let folder = Folder::new();
    let broken = folder.write("broken.p", "fof(a, axiom, (p.");
    match read_by_e(&broken) {
        None => {
            // Past the harness, which shows what a test prints only if it fails.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: there is no eprover on the PATH, so reduced problems are not tried with it"
            );
            return;
        }
        Some(read) => assert!(read.is_err(), "E does not tell what it cannot read: {read:?}"),
    }
    // A problem, its axioms, and what is always in.
    let problems = [
        ("relations", 20, 2),
        ("group", 3, 2),
        ("problems/lattice", 8, 1),
        ("problems/quoted", 8, 1),
        ("problems/clauses", 9, 2),
        ("problems/mixed", 7, 2),
        ("problems/typed", 4, 5),
    ];
    for (problem, axioms, always) in problems {
        let (file, out) = (format!("fixtures/{problem}.p"), folder.text(""));
        let run = formulanet(&["select", &file, "-k", "0,1,2,5,100", "--out", &out], b"");
        assert_eq!(run.code, Some(0), "{problem}\n{}", run.stderr);
        let stem = problem.rsplit('/').next().unwrap();
        for k in [0, 1, 2, 5, 100] {
            let read = read_by_e(&folder.text(&format!("{stem}.{k}.p"))).unwrap();
            assert_eq!(read, Ok(always + axioms.min(k)), "{problem} {k}");
        }
    }
}

/// A name with quotes is the same statement to a user who gives it, and as it was written to a prover.
#[test]
fn quoted_names_are_kept() {
    let problem = "fixtures/problems/quoted.p";
    let check = |name: &str, expected: &str| {
        let run = formulanet(&["select", problem, "-k", "1", "--include", name], b"");
        assert!(run.stdout.contains(expected), "{}{}", run.stdout, run.stderr);
    };
    check("every man is mortal", "fof('every man is mortal', axiom, ! [X]");
    check(
        "it's about Socrates",
        "fof('it\\'s about Socrates', axiom, 'Man'('Socrates the \\\\ philosopher')).",
    );
    check("a \"name\"", "fof('a \"name\"', axiom, p <~> q).");
    check("1", "fof(1, axiom, ");
}

/// The model knows hardly a symbol of this problem, so symbols in common have to lead to the two definitions of its proof:
/// `union` stands in the conjecture, `member` only in what has a symbol of it.
#[test]
fn unknown_symbols_lead_to_axioms() {
    let run = formulanet(&["select", "fixtures/relations.p", "-k", "4", "--format", "names"], b"");
    let (_, names) = run.stdout.trim().split_once(':').unwrap();
    for name in ["union_definition", "subset_definition"] {
        assert!(names.split(' ').any(|found| found == name), "{name}: {names}");
    }
}

/// A library keeps what it takes to compare unknown symbols.
#[test]
fn a_library_ranks_unknown_symbols_as_a_file_does() {
    let folder = Folder::new();
    let library = folder.text("relations.fnlib");
    formulanet(&["library", "build", &library, "fixtures/relations.p"], b"").output();
    let rank = |source: &[&str]| {
        let conjecture = "subset(union(small, small), large)";
        let always = ["rank", "--conjecture", conjecture, "--syntax", "tptp", "-k", "20"];
        formulanet(&[&always, source].concat(), b"").stdout
    };
    let (from_library, from_file) =
        (rank(&["--library", &library]), rank(&["--premises", "fixtures/relations.p"]));
    assert_eq!(from_library, from_file);
    assert!(from_file.lines().take(2).any(|line| line.contains("union_definition")), "{from_file}");
}
