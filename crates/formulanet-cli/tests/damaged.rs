//! One statement that cannot be read does not stop a whole library, if the user says so.

mod common;

use common::formulanet;
use formulanet_testing::Folder;

const LINES: &str = "A: x + 0 = x\nB: (x = \nC: 0 + x = x\nno name\nD: x = x\n";

/// Without `--keep-going` a command stops at the first damaged statement; with it, it goes on and says what it skipped.
#[track_caller]
fn check(command: &[&str], input: &str, first: &str, skipped: usize) -> String {
    let stopped = formulanet(command, input.as_bytes());
    assert_eq!(stopped.code, Some(1), "{command:?}");
    assert!(stopped.stderr.contains(first), "{}", stopped.stderr);
    let run = formulanet(&[command, &["--keep-going"]].concat(), input.as_bytes());
    let count = if skipped == 1 {
        "skipped 1 statement\n".to_owned()
    } else {
        format!("skipped {skipped} statements\n")
    };
    assert!(
        run.stderr.contains(&format!("skipped: -:{first}")) && run.stderr.contains(&count),
        "{}",
        run.stderr
    );
    run.output()
}

#[test]
fn every_command_that_reads_statements_can_go_on() {
    let rank = ["rank", "--conjecture", "f x = y", "--premises", "-", "--keep-duplicates"];
    assert_eq!(check(&rank, LINES, "2:8: ", 2).lines().count(), 3);
    assert_eq!(check(&["embed", "--premises", "-"], LINES, "2:8: ", 2).lines().count(), 3);
    assert_eq!(check(&["neighbors", "x = x", "--premises", "-"], LINES, "2:8: ", 2).lines().count(), 3);
    let folder = Folder::new();
    let library = folder.text("library.db");
    check(&["library", "build", &library, "-"], LINES, "2:8: ", 2);
    let listed = formulanet(&["library", "list", &library], b"").output();
    assert_eq!(listed.lines().map(|line| &line[..2]).collect::<Vec<_>>(), ["A:", "C:", "D:"]);
    check(&["library", "add", &library, "-"], "E: x\nF: (\n", "2:", 1);
    assert_eq!(formulanet(&["library", "list", &library], b"").output().lines().count(), 4);
}

#[test]
fn every_format_goes_on() {
    let rank = ["rank", "--conjecture", "zz", "--premises", "-", "--rerank", "off", "--keep-duplicates"];
    let tptp = "fof(a, axiom, p).\nfof(b, axiom, $let(x)).\nfof(c, axiom, q).\n";
    assert_eq!(check(&rank, tptp, "2:", 1).lines().count(), 2);
    let json =
        "{\"name\": \"a\", \"statement\": \"T\"}\n{\"name\": \"b\", \"statement\": \"(T\"}\n{\"name\"\n";
    assert_eq!(check(&rank, json, "2: in the statement", 2).lines().count(), 1);
    let holstep = "N g\nC |- T\nT cT\nD a\nA |- T\nT cT\n+ |- (T\nT cT\n- |- F\nD b\nA |- F\nT cF\n";
    assert_eq!(check(&rank, holstep, "7:8: ", 2).lines().count(), 2);
    let deepmath = "C fof(g,axiom,p).\n+ fof(a,axiom,p\n- fof(b,axiom,q).\n";
    assert_eq!(check(&rank, deepmath, "2:", 1).lines().count(), 1);
    let long = format!("A: x = x\nB: x = {}\nC: T\n", "y".repeat(100));
    let limited = [&rank[..], &["--max-bytes", "50"]].concat();
    assert_eq!(check(&limited, &long, "2:1: ", 1).lines().count(), 2);
    let large = "A: f x y z = x\nB: T\n";
    let limited = [&rank[..], &["--max-treelets", "5"]].concat();
    assert_eq!(check(&limited, large, "1:4: ", 1).lines().count(), 1);
}

#[test]
fn nothing_but_damage_is_no_library() {
    let run = formulanet(&["rank", "--conjecture", "T", "--premises", "-", "--keep-going"], b"A: (\nB: )\n");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("skipped 2 statements\n"), "{}", run.stderr);
}

#[test]
fn a_missing_include_is_not_passed_over() {
    let problem = b"include('nowhere.ax').\nfof(c, conjecture, p).\n";
    let run = formulanet(&["select", "-", "--keep-going"], problem);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("nowhere.ax"), "{}", run.stderr);
}

#[test]
fn select_leaves_out_or_keeps_what_it_cannot_read() {
    let problem = "fof(a, axiom, p).\nfof(b, axiom, $let(x, y)).\nfof(c, conjecture, p).\n";
    let select = ["select", "-", "--rerank", "off"];
    let without = check(&select, problem, "2:", 1);
    assert!(!without.contains("$let") && without.contains("fof(a,"), "{without}");
    let with =
        formulanet(&[&select[..], &["--keep-going", "--keep-unreadable"]].concat(), problem.as_bytes());
    assert!(with.stderr.contains("skipped 1 statement\n"), "{}", with.stderr);
    let with = with.output();
    assert!(with.starts_with("% 1 of 1 axioms") && with.contains("\nfof(b, axiom, $let(x, y)).\n"), "{with}");
    // There is nothing to select for.
    let damaged = problem.replace("conjecture, p", "conjecture, (p");
    let run = formulanet(&[&select[..], &["--keep-going"]].concat(), damaged.as_bytes());
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("error: -:3:"), "{}", run.stderr);
}

/// A name does nothing to a terminal, and does not look like another line.
#[test]
fn names_are_shown_as_what_they_are() {
    let folder = Folder::new();
    let library = folder.text("library.db");
    let forged = br#"{"name": "A\nB", "statement": "T"}"#;
    let run = formulanet(&["library", "build", &library, "-"], forged);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("a name without control characters, found `\\n`"), "{}", run.stderr);
    // Names of HolStep may have any character.
    let escaping = "N g\nC |- T\nT cT\nD a\u{1b}[31m\u{202e}\nA |- (T = T)\nT c= cT cT\n";
    formulanet(&["library", "build", &library, "-"], escaping.as_bytes()).output();
    for (command, input) in [
        (&["library", "list", &library][..], ""),
        (&["rank", "--conjecture", "F", "--premises", "-"], escaping),
        (&["neighbors", "F", "--premises", "-"], escaping),
        (&["graph", "--holstep", "-"], escaping),
    ] {
        let printed = formulanet(command, input.as_bytes()).output();
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
        assert!(printed.contains("a\\u{1b}[31m\\u{202e}"), "{printed:?}");
    }
    let run = formulanet(&["rank", "--conjecture", "T", "--premises", "no\u{1b}[31mfile"], b"");
    assert!(run.stderr.contains("no\\u{1b}[31mfile"), "{}", run.stderr);
}

/// A model that was damaged after it was written is refused; one of an older version says how to get a checksum.
#[test]
fn damaged_models_are_refused() {
    let folder = Folder::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/hol-premises/model.safetensors");
    let whole = std::fs::read(root).unwrap();
    let rank = |model: &str| {
        formulanet(&["rank", "--conjecture", "T", "--premises", "-", "--model", model], b"A: x = x\n")
    };
    let copy = folder.write("model.safetensors", &whole);
    let run = rank(&copy);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    for at in [whole.len() / 2, whole.len() - 1, whole.len() / 3, 200] {
        let mut other = whole.clone();
        other[at] ^= 1;
        let run = rank(&folder.write("damaged.safetensors", &other));
        assert_eq!(run.code, Some(1), "byte {at}");
    }
    // Without the checksum, damage would go unnoticed.
    let mark = b"\\\"checksum\\\":\\\"checksum:";
    let at = whole.windows(mark.len()).position(|window| window == mark).unwrap();
    let mut older = whole.clone();
    // Spaces where the entry was: JSON does not mind.
    older[at..at + mark.len() + 16 + 3].fill(b' ');
    let run = rank(&folder.write("older.safetensors", &older));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("found a model without a checksum"), "{}", run.stderr);
}
