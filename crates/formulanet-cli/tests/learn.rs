//! Libraries that keep proofs: `formulanet library learn` and `forget`, and what `rank` makes of them.

mod common;

use std::process::{Command, Stdio};

use common::{Run, formulanet};
use formulanet_testing::Folder;
use serde_json::Value;

const THEORY: &str = "fixtures/theory.jsonl";

struct Place {
    folder: Folder,
    library: String,
}

impl Place {
    /// With a library of the fixture's facts, proofs included.
    fn new() -> Self {
        let folder = Folder::new();
        let library = folder.text("theory.db");
        let run = formulanet(&["library", "build", &library, THEORY], b"");
        assert!(run.stderr.contains("36 statements and 22 proofs in"), "{}", run.stderr);
        Place { folder, library }
    }

    fn learn(&self, text: &str, more: &[&str]) -> Run {
        formulanet(&[&["library", "learn", &self.library, "-"], more].concat(), text.as_bytes())
    }

    /// Names in order.
    fn rank(&self, more: &[&str]) -> Vec<String> {
        let arguments = [&["rank", "--library", &self.library, "--format", "json"], more].concat();
        let name =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().map(str::to_owned);
        formulanet(&arguments, b"").output().lines().filter_map(name).collect()
    }

    /// The proofs that the library lists for a statement.
    fn proofs(&self, name: &str) -> String {
        let listed = formulanet(&["library", "list", &self.library, "--format", "json"], b"").output();
        let line = listed.lines().find(|line| line.contains(&format!("\"name\":\"{name}\""))).unwrap();
        let row: Value = serde_json::from_str(line).unwrap();
        [&row["proof"], &row["proofs"]]
            .iter()
            .filter(|part| !part.is_null())
            .map(|part| part.to_string())
            .collect()
    }
}

#[test]
fn proofs_of_every_format_are_learned() {
    let place = Place::new();
    let check = |text: &str, said: &str, expected: &str| {
        let run = place.learn(text, &[]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains(said), "expected {said}\nfound {}", run.stderr);
        assert_eq!(place.proofs("suc_injective"), expected);
    };
    check("suc_injective: plus_zero\n", "learned 1 proof, knew 0", r#"["plus_zero"]"#);
    check("suc_injective: plus_zero\n", "learned 0 proofs, knew 1", r#"["plus_zero"]"#);
    let two = r#"[["plus_zero"],["plus_suc"]]"#;
    check("{\"name\": \"suc_injective\", \"proof\": [\"plus_suc\"]}\n", "learned 1 proof, knew 0", two);
    let three = r#"[["plus_zero"],["plus_suc"],["nat_induction","plus_zero"]]"#;
    let mash = "*** MaSh version 20190121 ***\na suc_injective: ; f; plus%095zero nat_induction\n";
    check(mash, "learned 1 proof, knew 0", three);
    let derivation = "# SZS output start CNFRefutation\nfof(suc_injective, conjecture, p, file('x.p', suc_injective)).\n\
        fof(a, axiom, q, file('x.p', times_suc)).\nfof(n, negated_conjecture, ~p, inference(neg, [], [suc_injective])).\n\
        fof(f, plain, $false, inference(r, [], [a, n])).\n# SZS output end CNFRefutation\n";
    let four = r#"[["plus_zero"],["plus_suc"],["nat_induction","plus_zero"],["times_suc"]]"#;
    check(derivation, "learned 1 proof, knew 0", four);
    let run = formulanet(&["library", "forget", &place.library, "suc_injective", "--last"], b"");
    assert!(run.stderr.contains("forgot 1 proof"), "{}", run.stderr);
    assert_eq!(place.proofs("suc_injective"), three);
    assert!(
        formulanet(&["library", "forget", &place.library, "suc_injective"], b"").stderr.contains("forgot 3")
    );
    let run = formulanet(&["library", "forget", &place.library, "suc_injective"], b"");
    assert!(
        run.code == Some(1) && run.stderr.contains("no statement with such a name has a proof"),
        "{}",
        run.stderr
    );
}

#[test]
fn strange_proofs_are_reported() {
    let place = Place::new();
    let check = |text: &str, more: &[&str], code: i32, said: &str| {
        let run = place.learn(text, more);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(said), "expected {said}\nfound {}", run.stderr);
    };
    let odd = "plus_comm: plus_comm plus_assoc nowhere plus_zero\n";
    check(
        odd,
        &["--strict"],
        1,
        "-:1: expected earlier facts, but the proof of `plus_comm` uses `plus_comm`",
    );
    check(odd, &[], 0, "1 that no fact has, 1 of the fact itself, 1 of later facts");
    check("nobody: plus_zero\n", &[], 1, "left out 1 proof of statements that are not in the library");
    check("plus_comm plus_zero\n", &[], 1, "-:1: expected `name: name name ...`");
    check("", &[], 1, "expected proofs, found none");
    // Two that use each other: the one that comes later may.
    check("plus_zero: plus_suc\nplus_suc: plus_zero\n", &[], 0, "1 of later facts");
    // A list of proofs can be learned from as it is.
    let listed = formulanet(&["library", "list", &place.library, "--format", "json"], b"").output();
    let again = place.folder.text("again.db");
    let file = place.folder.write("again.jsonl", &listed);
    let run = formulanet(&["library", "build", &again, &file], b"");
    assert!(run.stderr.contains("36 statements and 25 proofs in"), "{}", run.stderr);
    assert_eq!(formulanet(&["library", "list", &again, "--format", "json"], b"").output(), listed);
}

#[test]
fn a_statement_of_the_library_can_be_asked_for() {
    let place = Place::new();
    let found = place.rank(&["--goal-name", "rev_rev", "-k", "100"]);
    assert_eq!(found.len(), 32, "what comes before it");
    assert!(!found.contains(&"rev_rev".to_owned()) && !found.contains(&"append_cancel".to_owned()));
    let useful = ["rev_append", "rev_cons", "list_induction"];
    assert!(
        useful.iter().filter(|name| found[..10].iter().any(|other| other == *name)).count() >= 2,
        "{found:?}"
    );
    // Its own proof is not known to itself.
    formulanet(&["library", "forget", &place.library, "rev_rev"], b"").output();
    assert_eq!(place.rank(&["--goal-name", "rev_rev", "-k", "100"]), found);
    let before = place.rank(&["--conjecture", "!l. rev (rev l) = l", "--before", "rev_rev", "-k", "100"]);
    assert_eq!(before, found);
    let goal = ["--conjecture", "!m n. plus m n = plus n m", "-k", "100"];
    let kept = place.rank(&[&goal[..], &["--keep-duplicates"]].concat());
    let left = place.rank(&goal);
    assert!(kept.contains(&"plus_comm".to_owned()) && !left.contains(&"plus_comm".to_owned()));
    assert_eq!((kept.len(), left.len()), (36, 35));
    let run = formulanet(&["rank", "--library", &place.library, "--goal-name", "nobody"], b"");
    assert!(run.stderr.contains("expected a statement `nobody`, found none"), "{}", run.stderr);
}

/// Several that learn at once wait for each other, and one that is killed leaves all of what it learns or nothing.
#[test]
fn many_learn_at_once_and_some_are_killed() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_formulanet");
    let begin = |number: usize| {
        let lines: String = (0..200).map(|n| format!("rev_rev: plus_zero from_{number}_{n}\n")).collect();
        let file = place.folder.write(&format!("proofs-{number}"), &lines);
        Command::new(program)
            .args(["library", "learn", &place.library, &file])
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut running: Vec<_> = (0..12).map(begin).collect();
    for (number, child) in running.iter_mut().enumerate().filter(|(number, _)| number % 3 == 0) {
        std::thread::sleep(std::time::Duration::from_millis(3 * number as u64));
        let _ = child.kill();
    }
    let ended: Vec<bool> = running.iter_mut().map(|child| child.wait().unwrap().success()).collect();
    assert!((0..12).filter(|number| number % 3 != 0).all(|number| ended[number]), "{ended:?}");
    let known = place.proofs("rev_rev");
    for (number, has_ended) in ended.into_iter().enumerate() {
        let found = known.matches(&format!("from_{number}_")).count();
        assert!(found == 200 || (found == 0 && !has_ended), "{number}: {found}");
    }
    let verified = formulanet(&["library", "verify", &place.library], b"").output();
    assert!(verified.contains("36 statements, nothing wrong"), "{verified}");
}

#[test]
fn a_reader_is_fitted_to_a_library() {
    let place = Place::new();
    let train =
        |library: &str| formulanet(&["library", "train", library, "--budget", "20s", "--threads", "1"], b"");
    let run = train(&place.library);
    assert!(run.stderr.contains("expected at least 40 proofs to learn from, found"), "{}", run.stderr);
    // Facts about some functions, each proved by the one before of the same function and its definition.
    let mut facts = String::new();
    for n in 0..150 {
        let (f, depth) = (n % 6, n / 6);
        let term = |times: usize| format!("{}x{}", format!("f{f} (").repeat(times), ")".repeat(times));
        let proof =
            if depth == 0 { String::new() } else { format!(", \"proof\": [\"t{}\", \"t{f}\"]", n - 6) };
        facts += &format!("{{\"name\": \"t{n}\", \"statement\": \"!x. {} = x\"{proof}}}\n", term(depth + 1));
    }
    let (file, library) = (place.folder.write("facts.jsonl", &facts), place.folder.text("facts.db"));
    formulanet(&["library", "build", &library, &file], b"").output();
    let run = train(&library);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.starts_with("MAP 0.") || run.stdout.starts_with("MAP 1."), "{}", run.stdout);
    let is_kept = run.stdout.contains("better: the library keeps it") && !run.stdout.contains("not better");
    // It is used where it was kept: with the reader that is built in, scores are others.
    let rank = |more: &[&str]| {
        let goal = ["rank", "--library", &library, "--conjecture", "!x. f1 (f2 x) = x", "-k", "5"];
        formulanet(&[&goal[..], more].concat(), b"").output()
    };
    assert_eq!(rank(&[]) != rank(&["--reranker", "reader"]), is_kept);
    for wrong in ["ten", "5", "-1m", "1d", "m"] {
        let run = formulanet(&["library", "train", &library, &format!("--budget={wrong}")], b"");
        assert!(run.stderr.contains("expected a time such as 90s"), "{wrong} {}", run.stderr);
    }
}

#[test]
fn proofs_say_why_a_statement_is_there() {
    let place = Place::new();
    let text = formulanet(
        &["rank", "--library", &place.library, "--goal-name", "rev_rev", "-k", "36", "--explain"],
        b"",
    )
    .output();
    let line = text.lines().find(|line| line.contains("rev_append")).unwrap();
    assert!(line.contains("(shares: ") && line.contains("rev"), "{text}");
    let json = [
        "rank",
        "--library",
        &place.library,
        "--goal-name",
        "rev_rev",
        "-k",
        "36",
        "--explain",
        "--format",
        "json",
    ];
    let rows: Vec<Value> =
        formulanet(&json, b"").output().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let induction = rows.iter().find(|row| row["name"] == "list_induction").unwrap();
    assert!(induction["uses"].as_u64().unwrap() > 3, "{induction}");
    assert_eq!(induction["used_by"].as_array().unwrap().len(), 3, "{induction}");
}
