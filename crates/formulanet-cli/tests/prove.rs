//! `formulanet prove`, with provers that are scripts, and with E where it is installed.
#![cfg(unix)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Run, formulanet};
use formulanet_testing::Folder;
use serde_json::Value;

const PROBLEM: &str = "fixtures/relations.p";

/// A prover that proves if the problem has all of some axioms, and prints which it used.
fn script(folder: &Folder, needed: &[&str]) -> String {
    let tests: String = needed.iter().map(|name| format!("grep -q '({name},' \"$1\" || exit 1\n")).collect();
    let used: String =
        needed.iter().map(|name| format!("echo \"fof({name}, axiom, p, file('$1', {name})).\"\n")).collect();
    let parents = needed.join(", ");
    let text = format!(
        "{tests}echo '# SZS status Theorem'\necho '# SZS output start Refutation'\n\
         echo \"fof(goal, conjecture, p, file('$1', goal)).\"\n{used}\
         echo 'fof(end, plain, $false, inference(magic, [], [{parents}])).'\necho '# SZS output end Refutation'\n"
    );
    format!("sh {} {{file}}", folder.write("prover.sh", &text))
}

fn prove(more: &[&str]) -> Run {
    formulanet(&[&["prove", PROBLEM], more].concat(), b"")
}

#[test]
fn a_proof_names_what_it_used() {
    let folder = Folder::new();
    let needed = ["subset_definition", "union_definition"];
    let prover = script(&folder, &needed);
    let run = prove(&["--prover", &prover]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.starts_with("% SZS status Theorem for fixtures/relations.p\n% sh with "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("# SZS output start Refutation"), "{}", run.stdout);
    let run = prove(&["--prover", &prover, "--format", "json", "--minimize"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let mut premises: Vec<&str> =
        found["premises"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    premises.sort_unstable();
    assert_eq!((premises, found["status"].as_str()), (needed.to_vec(), Some("Theorem")));
}

#[test]
fn what_is_not_proved_has_a_status() {
    let folder = Folder::new();
    let check = |command: &str, time: &str, status: &str| {
        let run = prove(&["--prover", command, "--time", time]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert_eq!(run.stdout, format!("% SZS status {status} for {PROBLEM}\n"), "{}", run.stderr);
        assert!(run.stderr.contains("1 of 1 problem not proved"), "{}", run.stderr);
        run.stderr
    };
    check(&script(&folder, &["nothing_of_this_name"]), "20", "GaveUp");
    check("cat {file}", "20", "GaveUp");
    let said = check("/no/such/prover {file}", "20", "GaveUp");
    assert!(said.contains("cannot run `/no/such/prover`"), "{said}");
    let slow = format!("sh {} {{file}}", folder.write("slow.sh", "sleep 1000"));
    check(&slow, "2", "Timeout");
    let refutes = format!("sh {} {{file}}", folder.write("refutes.sh", "echo SZS status CounterSatisfiable"));
    check(&refutes, "20", "CounterSatisfiable");
    let run = formulanet(&["prove", PROBLEM, "--prover", "prover"], b"");
    assert!(run.code == Some(2) && run.stderr.contains("expected `{file}` in the command"), "{}", run.stderr);
}

/// Who stops the program stops its provers.
#[test]
fn nothing_is_left_behind() {
    let folder = Folder::new();
    let mark = folder.path("mark");
    let script = folder.write("slow.sh", format!("sleep 4; touch {}", mark.display()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["prove", PROBLEM, "--prover", &format!("sh {script} {{file}}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let start = Instant::now();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    child.wait().unwrap();
    assert!(start.elapsed() < Duration::from_secs(3));
    std::thread::sleep(Duration::from_secs(4));
    assert!(!mark.exists());
}

#[test]
fn a_library_learns_from_what_was_proved() {
    let folder = Folder::new();
    let library = folder.text("relations.db");
    let goal =
        "{\"name\": \"late\", \"statement\": \"fof(x, axiom, ![A]: subset(A, A)).\", \"syntax\": \"tptp\"}\n";
    formulanet(&["library", "build", &library, PROBLEM], b"").output();
    formulanet(&["library", "add", &library, "-"], goal.as_bytes()).output();
    let script = folder.write(
        "quoted.sh",
        "grep -q 'fof(subset_definition, axiom' \"$1\" && grep -q 'fof(late, conjecture' \"$1\" || exit 1\n\
         echo '# SZS status Theorem'\n",
    );
    let prover = format!("sh {script} {{file}}");
    let run =
        formulanet(&["prove", "--library", &library, "--name", "late", "--learn", "--prover", &prover], b"");
    assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
    let listed = formulanet(&["library", "list", &library, "--format", "json"], b"").output();
    let line = listed.lines().find(|line| line.contains("\"late\"")).unwrap();
    assert!(line.contains("\"proof\":[") && line.contains("subset_definition"), "{line}");
    // A problem's own axioms, and those of the library.
    let goal = "fof('a goal', conjecture, subset(a, b)). fof(own, axiom, a = b).";
    let problem = folder.write("goal.p", goal);
    let script = folder.write(
        "both.sh",
        "grep -q 'fof(own, axiom' \"$1\" && grep -q 'fof(subset_definition, axiom' \"$1\" || exit 1\n\
         echo '# SZS status Theorem'\n",
    );
    let prover = format!("sh {script} {{file}}");
    let run = formulanet(&["prove", &problem, "--library", &library, "--prover", &prover], b"");
    assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
    let conjecture = format!("@{problem}");
    let run =
        formulanet(&["prove", "--conjecture", &conjecture, "--library", &library, "--prover", &prover], b"");
    assert_eq!(run.code, Some(1), "{} {}", run.stdout, run.stderr);
    let run = formulanet(&["prove", "--library", &library], b"");
    assert!(run.code == Some(2) && run.stderr.contains("say what to prove"), "{}", run.stderr);
}

#[test]
fn e_proves_a_problem() {
    if Command::new("eprover").arg("--version").output().is_err() {
        eprintln!("skipped: eprover is not installed");
        return;
    }
    let run =
        prove(&["--minimize", "--prover", "eprover --auto -s --proof-object --cpu-limit={seconds} {file}"]);
    assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
    assert!(run.stdout.contains("\n% used: "), "{}", run.stdout);
}

/// E takes numerals for integers, and stops where formulas have no types.
#[test]
fn numerals_do_not_stop_a_prover() {
    let folder = Folder::new();
    let text = "fof(1, axiom, ![X]: (even(X) => even(plus(X, 2)))).\nfof(zero, axiom, even(0)).\n\
                fof(goal, conjecture, even(plus(plus(0, 2), 2))).\n";
    let problem = folder.write("numbers.p", text);
    let script = folder.write(
        "checks.sh",
        "grep -q 'plus(plus(numeral_0, numeral_2), numeral_2)' \"$1\" || exit 1\necho '# SZS status Theorem'\ncat \"$1\"\n",
    );
    let run = formulanet(&["prove", &problem, "--prover", &format!("sh {script} {{file}}")], b"");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("even(plus(plus(0, 2), 2))"), "{}", run.stdout);
    if Command::new("eprover").arg("--version").output().is_err() {
        eprintln!("skipped: eprover is not installed");
        return;
    }
    let prover = "eprover --auto -s --proof-object --cpu-limit={seconds} {file}";
    let run = formulanet(&["prove", &problem, "--prover", prover], b"");
    assert_eq!(run.code, Some(0), "{} {}", run.stdout, run.stderr);
    assert!(run.stdout.contains("\n% used: 1 zero\n") && !run.stdout.contains("numeral"), "{}", run.stdout);
}
