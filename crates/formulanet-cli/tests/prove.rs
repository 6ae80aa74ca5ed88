//! `formulanet prove`, with provers that are scripts. Those that are installed are tried in `provers.rs`.
#![cfg(unix)]

mod common;

use common::{Run, formulanet};
use formulanet_testing::Folder;
use serde_json::Value;

const PROBLEM: &str = "fixtures/relations.p";
const CONJECTURE: &str = "union_is_larger";

/// A prover that proves if the problem has all of some axioms, and prints which it used.
fn script(folder: &Folder, needed: &[&str]) -> String {
    let tests: String = needed.iter().map(|name| format!("grep -q '({name},' \"$1\" || exit 1\n")).collect();
    let used: String =
        needed.iter().map(|name| format!("echo \"fof({name}, axiom, p, file('$1', {name})).\"\n")).collect();
    let parents = needed.join(", ");
    let text = format!(
        "{tests}echo '# SZS status Theorem'\necho '# SZS output start Refutation'\n\
         echo \"fof({CONJECTURE}, conjecture, p, file('$1', {CONJECTURE})).\"\n{used}\
         echo 'fof(end, plain, $false, inference(magic, [], [{CONJECTURE}, {parents}])).'\necho '# SZS output end Refutation'\n"
    );
    format!("sh {} {{file}}", folder.write("prover.sh", &text))
}

/// A prover that is a shell script.
fn shell(folder: &Folder, name: &str, text: &str) -> String {
    format!("sh {} {{file}}", folder.write(name, text))
}

fn prove(more: &[&str]) -> Run {
    formulanet(&[&["prove", PROBLEM], more].concat(), b"")
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
}

#[test]
fn a_proof_names_what_it_used() {
    let folder = Folder::new();
    let needed = ["subset_definition", "union_definition"];
    let prover = script(&folder, &needed);
    let run = prove(&["--prover", &prover]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "% SZS status Theorem for fixtures/relations.p");
    assert!(lines[1].starts_with("% sh with ") && lines[1].contains("proof found in"), "{}", run.stdout);
    assert_eq!(lines[2], "% premises used: subset_definition union_definition");
    assert_eq!(lines[3], "% SZS output start Refutation for fixtures/relations.p");
    assert_eq!(
        lines[4],
        "fof(union_is_larger, conjecture, p, file('fixtures/relations.p', union_is_larger))."
    );
    assert_eq!(lines.last(), Some(&"% SZS output end Refutation for fixtures/relations.p"));
    assert_eq!(run.stdout.matches("SZS output start").count(), 1);
    let run = prove(&["--prover", &prover, "--format", "json", "--minimize", "--check"]);
    let found = json(&run);
    let premises: Vec<&str> =
        found["premises"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!((premises, found["status"].as_str()), (needed.to_vec(), Some("Theorem")));
    assert!(found["checked"] == true && found["check_prover"] == "sh", "{found}");
    assert!(found["minimize_seconds"].is_number() && found["seconds"].is_number(), "{found}");
}

/// A prover that does not report what it used: the list is unknown, until it is found by trying.
#[test]
fn premises_that_are_not_reported_are_not_invented() {
    let folder = Folder::new();
    let text = "grep -q '(subset_definition,' \"$1\" && grep -q '(union_definition,' \"$1\" || exit 1\n\
                echo SZS status Unsatisfiable\n";
    let prover = shell(&folder, "silent.sh", text);
    let run = prove(&["--prover", &prover]);
    assert!(run.stdout.starts_with("% SZS status Theorem for "), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("\n% premises used: not reported by sh\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("SZS output"), "{}", run.stdout);
    assert!(json(&prove(&["--prover", &prover, "--format", "json"]))["premises"].is_null());
    let run = prove(&["--prover", &prover, "--minimize"]);
    let expected = "\n% premises used: given subset_definition union_definition\n";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

#[test]
fn what_is_not_proved_has_a_status() {
    let folder = Folder::new();
    let check = |command: &str, time: &str, status: &str| {
        let run = prove(&["--prover", command, "--time", time]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(
            run.stdout.starts_with(&format!("% SZS status {status} for {PROBLEM}\n")),
            "{command} {}",
            run.stdout
        );
        assert!(run.stderr.contains("1 of 1 problem not proved"), "{}", run.stderr);
    };
    check(&script(&folder, &["nothing_of_this_name"]), "20", "Error");
    check("cat {file}", "20", "Error");
    check(&shell(&folder, "crash.sh", "kill -SEGV $$"), "20", "Error");
    check(&shell(&folder, "gives_up.sh", "echo SZS status Unknown"), "20", "GaveUp");
    check(&shell(&folder, "cannot.sh", "echo SZS status TypeError"), "20", "Inappropriate");
    check(&shell(&folder, "memory.sh", "echo SZS status MemoryOut"), "20", "ResourceOut");
    check(&shell(&folder, "slow.sh", "sleep 1000"), "2", "Timeout");
    // Of all axioms, a model is one.
    check(&shell(&folder, "refutes.sh", "echo SZS status Satisfiable"), "20", "CounterSatisfiable");
    let run = prove(&["--prover", "my-prover x.p"]);
    assert!(run.code == Some(2) && run.stderr.contains("expected `{file}` in the command"), "{}", run.stderr);
    let run = prove(&["--prover", "/no/such/prover {file}"]);
    assert!(
        run.code == Some(1) && run.stderr.contains("cannot find the program `/no/such/prover`"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout, "");
}

/// A model of some axioms refutes nothing.
#[test]
fn a_model_of_the_best_axioms_is_no_counter_model() {
    let folder = Folder::new();
    let prover = shell(&folder, "refutes.sh", "echo SZS status Satisfiable");
    let run = prove(&["--prover", &prover, "-k", "4"]);
    assert!(run.stdout.starts_with("% SZS status GaveUp for "), "{}", run.stdout);
    let library = folder.text("relations.db");
    formulanet(&["library", "build", &library, PROBLEM], b"").output();
    let check = |more: &[&str], expected: &str| {
        let always = ["prove", "--library", &library, "--prover", &prover];
        let run = formulanet(&[&always, more].concat(), b"");
        assert!(
            run.stdout.starts_with(&format!("% SZS status {expected} for ")),
            "{more:?} {}{}",
            run.stdout,
            run.stderr
        );
    };
    check(&["--conjecture", "subset(a, b)"], "CounterSatisfiable");
    check(&["--conjecture", "subset(a, b)", "-k", "4"], "GaveUp");
    check(&["--goal-name", "equal_sets"], "CounterSatisfiable");
    check(&["--goal-name", "power_definition", "-k", "1"], "GaveUp");
}

/// Names that a prover or a terminal would take for something else.
#[test]
fn names_do_not_deceive() {
    let folder = Folder::new();
    let text = "fof('a % name', axiom, p).\nfof(twice, axiom, p => q).\nfof(twice, axiom, q => r).\nfof(goal, conjecture, r).\n";
    let problem = folder.write("odd\n% SZS status Theorem for x.p", text);
    let names = "formulanet_name_0 twice formulanet_name_2";
    let used: String = names
        .split(' ')
        .map(|name| format!("echo \"fof({name}, axiom, p, file('$1', {name})).\"\n"))
        .collect();
    let parents = names.replace(' ', ",");
    let script = format!(
        "echo '# SZS status Theorem'\necho '# SZS output start Refutation'\necho \"fof(goal, conjecture, r, file('$1', goal)).\"\n\
         {used}echo 'fof(e, plain, $false, inference(x, [], [goal,{parents}])).'\necho '# SZS output end Refutation'\n"
    );
    let prover = shell(&folder, "prover.sh", &script);
    let run = formulanet(&["prove", &problem, "--prover", &prover], b"");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let statuses: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("% SZS status")).collect();
    assert!(statuses.len() == 1 && statuses[0].contains("odd\\n% SZS status"), "{statuses:?}");
    assert!(run.stdout.contains("\n% premises used: 'a % name' twice twice\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("formulanet_name_"), "{}", run.stdout);
}

#[test]
fn a_library_learns_from_what_was_proved() {
    let folder = Folder::new();
    let library = folder.text("relations.db");
    let goal =
        "{\"name\": \"late\", \"statement\": \"fof(x, axiom, ![A]: subset(A, A)).\", \"syntax\": \"tptp\"}\n";
    formulanet(&["library", "build", &library, PROBLEM], b"").output();
    formulanet(&["library", "add", &library, "-"], goal.as_bytes()).output();
    let text = "grep -q 'fof(subset_definition, axiom' \"$1\" && grep -q 'fof(late, conjecture' \"$1\" || exit 1\n\
                echo '# SZS status Theorem'\n";
    let prover = shell(&folder, "quoted.sh", text);
    let learn = |more: &[&str]| {
        let always = ["prove", "--library", &library, "--goal-name", "late", "--learn", "--prover", &prover];
        let run = formulanet(&[&always, more].concat(), b"");
        assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
        let listed = formulanet(&["library", "list", &library, "--format", "json"], b"").output();
        (listed.lines().find(|line| line.contains("\"late\"")).unwrap().to_owned(), run.stderr)
    };
    // Not from a list that is not known.
    let (line, said) = learn(&[]);
    assert!(!line.contains("\"proof\":[") && said.contains("add --minimize"), "{line} {said}");
    let (line, _) = learn(&["--minimize"]);
    assert!(line.contains("\"proof\":[\"subset_definition\"]"), "{line}");
    // A problem's own axioms, and those of the library.
    let goal = "fof('a goal', conjecture, subset(a, b)). fof(own, axiom, a = b).";
    let problem = folder.write("goal.p", goal);
    let text = "grep -q 'fof(own, axiom' \"$1\" && grep -q 'fof(subset_definition, axiom' \"$1\" || exit 1\n\
                echo '# SZS status Theorem'\n";
    let prover = shell(&folder, "both.sh", text);
    let run = formulanet(&["prove", &problem, "--library", &library, "--prover", &prover], b"");
    assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
    let conjecture = format!("@{problem}");
    let run =
        formulanet(&["prove", "--conjecture", &conjecture, "--library", &library, "--prover", &prover], b"");
    assert_eq!(run.code, Some(1), "{} {}", run.stdout, run.stderr);
    let run = formulanet(&["prove", "--library", &library], b"");
    assert!(run.code == Some(2) && run.stderr.contains("say what to prove"), "{}", run.stderr);
}

/// Some provers take numerals for integers, and stop where formulas have no types.
#[test]
fn numerals_do_not_stop_a_prover() {
    let folder = Folder::new();
    let text = "fof(1, axiom, ![X]: (even(X) => even(plus(X, 2)))).\nfof(zero, axiom, even(0)).\n\
                fof(goal, conjecture, even(plus(plus(0, 2), 2))).\n";
    let problem = folder.write("numbers.p", text);
    let text = "grep -q 'plus(plus(numeral_0, numeral_2), numeral_2)' \"$1\" || exit 1\necho '# SZS status Theorem'\n\
                echo '# SZS output start Proof'\ncat \"$1\"\necho '# SZS output end Proof'\n";
    let prover = shell(&folder, "checks.sh", text);
    let run = formulanet(&["prove", &problem, "--prover", &prover], b"");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.contains("fof(1, axiom,") && run.stdout.contains("even(plus(plus(0, 2), 2))"),
        "{}",
        run.stdout
    );
}

/// A prover that a description in TOML adds, and words of its own.
#[test]
fn a_description_adds_a_prover() {
    let folder = Folder::new();
    let script =
        folder.write("own.sh", "echo \"Hurrah: refuted $1\"; echo 'Needed: union_definition given;'\n");
    let description = format!(
        "[[prover]]\nname = \"own\"\ncommand = [\"sh\", \"{script}\", \"{{file}}\"]\nlanguages = [\"fof\"]\n\
         premises = \"names\"\nafter = \"Needed:\"\nuntil = \";\"\nwords = {{ \"Hurrah: refuted\" = \"Unsatisfiable\" }}\n"
    );
    let file = folder.write("own.toml", description);
    let run = prove(&["--prover", &file]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    // Nothing of the conjecture is needed, which this prover reports.
    assert!(run.stdout.starts_with("% SZS status ContradictoryAxioms for "), "{}", run.stdout);
    assert!(run.stdout.contains("\n% premises used: given union_definition\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains("% SZS output start ListOfFormulae for fixtures/relations.p\n"),
        "{}",
        run.stdout
    );
    let wrong = folder.write("wrong.toml", "[[prover]]\nname = \"own\"\ncommand = [\"sh\"]\n");
    let run = prove(&["--prover", &wrong]);
    assert!(run.code == Some(2) && run.stderr.contains("expected `{file}`"), "{}", run.stderr);
    // A language that it does not read.
    let typed = folder.write("typed.p", "tff(a, axiom, $less(1, 2)). tff(goal, conjecture, $less(1, 2)).");
    let run = formulanet(&["prove", &typed, "--prover", &file], b"");
    assert!(run.stdout.starts_with("% SZS status Inappropriate for "), "{}{}", run.stdout, run.stderr);
}

#[test]
fn problems_are_written_in_smtlib() {
    let folder = Folder::new();
    let select = ["select", PROBLEM, "-k", "4", "--symbols", "anonymous", "--format", "smtlib"];
    let text = formulanet(&select, b"").output();
    assert!(text.contains("(declare-fun |subset/2| (U U) Bool)\n"), "{text}");
    assert!(text.contains(":named |name:union_is_larger|))\n(check-sat)\n"), "{text}");
    let typed = folder.write("typed.p", "tff(a, axiom, $less(1, 2)). tff(goal, conjecture, $less(1, 2)).");
    let run = formulanet(&["select", &typed, "--format", "smtlib", "--symbols", "anonymous"], b"");
    assert!(
        run.code == Some(1) && run.stderr.contains("expected formulas in FOF or CNF, found one with types"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout, "");
}
