//! Libraries that keep proofs: `formulanet library learn` and `forget`, and what `rank` makes of them.

mod common;

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
        let name = |line: &str| {
            serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap_or_default().to_owned()
        };
        formulanet(&arguments, b"").output().lines().map(name).collect()
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
    let found = place.rank(&["--name", "rev_rev", "-k", "100"]);
    assert_eq!(found.len(), 32, "what comes before it");
    assert!(!found.contains(&"rev_rev".to_owned()) && !found.contains(&"append_cancel".to_owned()));
    let useful = ["rev_append", "rev_cons", "list_induction"];
    assert!(
        useful.iter().filter(|name| found[..10].iter().any(|other| other == *name)).count() >= 2,
        "{found:?}"
    );
    // Its own proof is not known to itself.
    formulanet(&["library", "forget", &place.library, "rev_rev"], b"").output();
    assert_eq!(place.rank(&["--name", "rev_rev", "-k", "100"]), found);
    let before = place.rank(&["--conjecture", "!l. rev (rev l) = l", "--before", "rev_rev", "-k", "100"]);
    assert_eq!(before, found);
    let goal = ["--conjecture", "!m n. plus m n = plus n m", "-k", "100"];
    let kept = place.rank(&[&goal[..], &["--keep-goal"]].concat());
    let left = place.rank(&goal);
    assert!(kept.contains(&"plus_comm".to_owned()) && !left.contains(&"plus_comm".to_owned()));
    assert_eq!((kept.len(), left.len()), (36, 35));
    let run = formulanet(&["rank", "--library", &place.library, "--name", "nobody"], b"");
    assert!(run.stderr.contains("expected a statement `nobody`, found none"), "{}", run.stderr);
}
