//! `formulanet prove` with several problems: directories, batch files, journals, rounds, and proofs that later problems know.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Run, formulanet};
use formulanet_testing::Folder;
use serde_json::Value;

/// A prover that proves if the problem has an axiom `key_N` for the conjecture `goal_N`, and prints that it used it.
const KEYS: &str = "n=$(sed -n 's/^fof(goal_\\([0-9]*\\), conjecture.*/\\1/p' \"$1\")\n\
    grep -q \"^fof(key_$n, axiom\" \"$1\" || { echo SZS status GaveUp; exit 1; }\n\
    echo '# SZS status Theorem'\necho '# SZS output start Refutation'\n\
    echo \"fof(goal_$n, conjecture, p, file('$1', goal_$n)).\"\necho \"fof(key_$n, axiom, p, file('$1', key_$n)).\"\n\
    echo \"fof(end, plain, \\$false, inference(magic, [], [goal_$n, key_$n])).\"\necho '# SZS output end Refutation'\n";

/// Small problems, some of which the prover of keys proves.
struct Place {
    folder: Folder,
    prover: String,
}

impl Place {
    fn new(script: &str) -> Self {
        let folder = Folder::new();
        fs::create_dir_all(folder.path("problems/more")).unwrap();
        let prover = format!("sh {} {{file}}", folder.write("prover.sh", script));
        Place { folder, prover }
    }

    fn problem(&self, number: usize, file: &str, has_key: bool) {
        let key = if has_key { format!("fof(key_{number}, axiom, p{number}(a)).\n") } else { String::new() };
        let text = format!(
            "{key}fof(other_{number}, axiom, ! [X] : (q{number}(X) => r(X))).\nfof(goal_{number}, conjecture, p{number}(a)).\n"
        );
        self.folder.write(&format!("problems/{file}"), text);
    }

    fn directory(&self) -> String {
        self.folder.text("problems")
    }

    fn run(&self, more: &[&str]) -> Run {
        let directory = self.directory();
        formulanet(&[&["prove", &directory, "--prover", &self.prover], more].concat(), b"")
    }
}

/// The table at the end without the times, and with the directory's name cut.
fn table(run: &Run, directory: &str) -> Vec<String> {
    let lines = run.stdout.lines().skip_while(|line| !line.starts_with("problem "));
    let cut = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [problem, status, prover, premises, _] if problem.starts_with('/') => {
                let problem = problem.strip_prefix(directory).unwrap().trim_start_matches('/');
                format!("{problem} {status} {prover} {premises}")
            }
            _ => words.join(" "),
        }
    };
    lines.map(cut).collect()
}

#[test]
fn a_directory_has_a_table_and_proofs() {
    let place = Place::new(KEYS);
    place.problem(1, "one.p", true);
    place.problem(2, "two.p", false);
    place.problem(3, "more/three.p", true);
    place.folder.write("problems/notes.txt", "no problem");
    place.folder.write("problems/broken.p", "fof(a, axiom, p).\nfof(");
    let out = place.folder.text("out");
    // Without --keep-going, it ends with the place of the mistake.
    let run = place.run(&["--time", "2"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("broken.p`; add --keep-going"), "{}", run.stderr);
    assert!(run.stderr.contains("broken.p:2:"), "{}", run.stderr);
    let run = place.run(&["--time", "2", "--keep-going", "--out", &out]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let expected = [
        "problem status prover premises seconds",
        "broken.p InputError - -",
        "more/three.p Theorem sh 1",
        "one.p Theorem sh 1",
        "two.p GaveUp - -",
        "2 of 4 problems proved, 1 not proved, 1 not read",
    ];
    assert_eq!(table(&run, &place.directory()), expected);
    assert!(
        run.stderr.contains("2 of 4 problems proved") && run.stderr.contains("broken.p:2:"),
        "{}",
        run.stderr
    );
    let line = format!("% SZS status Theorem for {}/one.p : sh, 1 premise, ", place.directory());
    assert!(run.stdout.contains(&line), "{}", run.stdout);
    let proof = String::from_utf8(place.folder.bytes("out/more/three.proof")).unwrap();
    assert!(
        proof.starts_with("% SZS status Theorem for ") && proof.contains("% premises used: key_3\n"),
        "{proof}"
    );
    assert!(!place.folder.path("out/two.proof").exists() && place.folder.path("out/journal.jsonl").exists());
    // All is proved: the exit code says so.
    let one = place.folder.text("problems/one.p");
    let three = place.folder.text("problems/more/three.p");
    let run = formulanet(&["prove", &one, &three, "--prover", &place.prover, "--format", "json"], b"");
    let mut rows: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by_key(|row| row["problem"].to_string());
    assert_eq!((run.code, rows.len()), (Some(0), 2), "{}", run.stderr);
    assert_eq!((&rows[0]["premises"][0], &rows[1]["premises"][0]), (&"key_3".into(), &"key_1".into()));
}

#[test]
fn wrong_use_is_refused() {
    let place = Place::new(KEYS);
    let check = |more: &[&str], code: i32, expected: &str| {
        let run = place.run(more);
        assert!(
            run.code == Some(code) && run.stderr.contains(expected),
            "{more:?} {:?} {}",
            run.code,
            run.stderr
        );
        assert_eq!(run.stdout, "");
    };
    check(&[], 1, "has no problems: files that end in .p or .tptp");
    place.problem(1, "one.p", true);
    check(&["--resume"], 2, "--resume continues a run that had --out DIR or --journal FILE");
    check(&["--budget", "soon"], 2, "expected a time such as 90s");
    check(&["--all"], 2, "--all");
    let one = place.folder.text("problems/one.p");
    check(&[&one], 2, "is given twice");
    let journal = place.folder.write("journal", "fof(a, axiom, p).\n");
    check(&["--journal", &journal], 1, "already exists; continue its run with --resume");
    check(&["--journal", &journal, "--resume"], 1, "it is another file");
    let run = formulanet(&["prove", &one, "--keep-going", "--prover", &place.prover], b"");
    assert!(
        run.code == Some(2) && run.stderr.contains("'--keep-going' cannot be used with one problem"),
        "{}",
        run.stderr
    );
}

#[test]
fn batches_of_casc_are_read() {
    let place = Place::new(KEYS);
    place.problem(1, "one+1.p", true);
    place.problem(2, "two.p", true);
    let text = "% SZS start BatchConfiguration\ndivision.category LTB.SMO\noutput.required Proof\nlimit.time.problem.wc 2\n\
                % SZS end BatchConfiguration\n% SZS start BatchProblems\nproblems/one*.p answers/first\nproblems/two.p second\n\
                % SZS end BatchProblems\n";
    let (batch, out) = (place.folder.write("batch", text), place.folder.text("out"));
    let run = formulanet(&["prove", &batch, "--prover", &place.prover, "--out", &out], b"");
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for name in ["first", "second"] {
        let proof = String::from_utf8(place.folder.bytes(&format!("out/{name}.proof"))).unwrap();
        assert!(proof.starts_with("% SZS status Theorem for "), "{proof}");
    }
}

/// Some process with a word among its arguments, other than this one.
fn is_alive(word: &str) -> bool {
    let processes =
        fs::read_dir("/proc").map(|entries| entries.flatten().collect()).unwrap_or_else(|_| Vec::new());
    let has_word = |arguments: &[u8]| arguments.windows(word.len()).any(|part| part == word.as_bytes());
    processes
        .iter()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|arguments| has_word(&arguments))
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// The numbers of the problems that a prover has worked at, which it writes to a file.
fn worked(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_killed_run_is_resumed() {
    let place = Place::new("");
    for number in 1..=8 {
        place.problem(number, &format!("p{number}.p"), number % 4 != 0);
    }
    let log = place.folder.path("log");
    // Slow enough to be killed between two problems.
    let script =
        format!("sleep 0.15\nsed -n 's/^fof(goal_\\([0-9]*\\),.*/\\1/p' \"$1\" >> {}\n{KEYS}", log.display());
    place.folder.write("prover.sh", script);
    let temporary = place.folder.path("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let start = |out: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_formulanet"));
        command
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .args(["prove", &place.directory(), "--prover", &place.prover, "--out", &place.folder.text(out)])
            .args(["--time", "4", "--threads", "1", "-k", "8"])
            .args(more)
            .env("TMPDIR", &temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let undisturbed = formulanet_testing::run_with(&mut start("whole", &[]), b"");
    let expected = table(&undisturbed, &place.directory());
    assert_eq!(expected.last().unwrap(), "6 of 8 problems proved, 2 not proved", "{}", undisturbed.stderr);
    for (kill, after) in [("KILL", 2), ("INT", 3), ("KILL", 5)] {
        let out = format!("{kill}{after}");
        fs::remove_file(&log).ok();
        let mut child = start(&out, &[]).spawn().unwrap();
        wait_until("the prover does not start", || worked(&log).len() >= after);
        Command::new("kill").args([&format!("-{kill}"), &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();
        wait_until("a prover is left", || !is_alive(&place.folder.text("prover.sh")));
        let journal = fs::read_to_string(place.folder.path(&out).join("journal.jsonl")).unwrap();
        let done = journal.lines().skip(1).filter(|line| line.ends_with('}')).count();
        fs::remove_file(&log).ok();
        let run = formulanet_testing::run_with(&mut start(&out, &["--resume"]), b"");
        assert_eq!(table(&run, &place.directory()), expected, "{kill} {}", run.stderr);
        // What had ended is not tried again: at most one attempt with all axioms of each other problem, or as many as it has.
        let again: std::collections::HashSet<String> = worked(&log).into_iter().collect();
        assert!(done >= 1 && again.len() == 8 - done, "{kill}: {done} done, then {again:?}");
    }
    // The folder that a killed process left was removed by the next one.
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn ctrl_c_says_what_was_not_tried() {
    let place = Place::new("");
    for number in 1..=4 {
        place.problem(number, &format!("p{number}.p"), true);
    }
    let began = place.folder.text("began");
    place.folder.write("prover.sh", format!("touch {began}; sleep 300"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(["prove", &place.directory(), "--prover", &place.prover, "--threads", "1", "--time", "100"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the prover does not start", || Path::new(&began).exists());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap();
    let output = child.wait_with_output().unwrap();
    let (printed, said) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(code.code(), Some(1), "{said}");
    assert!(said.contains("not tried: 3 problems (") && said.contains("p2.p"), "{said}");
    let statuses: Vec<&str> = printed
        .lines()
        .skip_while(|line| !line.starts_with("problem "))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(statuses[1..5], ["User", "NotTried", "NotTried", "NotTried"], "{printed}");
}

/// A hint that only proofs give: all conjectures need one axiom, which the ranking puts last.
#[test]
fn later_problems_know_earlier_proofs() {
    let place = Place::new("");
    let others: String =
        (0..40).map(|n| format!("fof(near_{n}, axiom, ! [X] : (p(f{n}(X)) => p(X))).\n")).collect();
    for number in 1..=6 {
        let text = format!(
            "{others}fof(far, axiom, ! [Y] : (strange(Y) | odd(Y, Y))).\nfof(goal_{number}, conjecture, p(f{number}(f{number}(a)))).\n"
        );
        place.folder.write(&format!("problems/p{number}.p"), text);
    }
    // Proves the first with all axioms, the others with few.
    let script = "n=$(grep -c axiom \"$1\")\ngrep -q '^fof(far, axiom' \"$1\" || { echo SZS status GaveUp; exit 1; }\n\
                  g=$(sed -n 's/^fof(\\(goal_[0-9]*\\), conjecture.*/\\1/p' \"$1\")\n\
                  [ $n -le 8 ] || [ $g = goal_1 ] || { echo SZS status GaveUp; exit 1; }\n\
                  echo '# SZS status Theorem'\necho '# SZS output start Refutation'\n\
                  echo \"fof($g, conjecture, p, file('$1', $g)).\"\necho \"fof(far, axiom, p, file('$1', far)).\"\n\
                  echo \"fof(end, plain, \\$false, inference(magic, [], [$g, far])).\"\necho '# SZS output end Refutation'\n";
    place.folder.write("prover.sh", script);
    let without = place.run(&["--time", "8", "--threads", "1", "-k", "8,64"]);
    assert!(without.stdout.contains("1 of 6 problems proved"), "{}", without.stdout);
    let journal = place.folder.text("journal");
    let learn = ["--time", "8", "--threads", "1", "-k", "8,64", "--learn", "--journal", &journal];
    let with = place.run(&learn);
    assert!(with.stdout.contains("6 of 6 problems proved"), "{}{}", with.stdout, with.stderr);
    // A resumed run has learned from the journal, too: cut after the first proof.
    let whole = fs::read_to_string(&journal).unwrap();
    let cut = 1 + whole.lines().position(|line| line.contains("\"status\":\"Theorem\"")).unwrap();
    let first: String = whole.lines().take(cut).map(|line| format!("{line}\n")).collect();
    fs::write(&journal, first).unwrap();
    let again = place.run(&[&learn[..], &["--resume"]].concat());
    assert_eq!(table(&again, &place.directory()), table(&with, &place.directory()), "{}", again.stderr);
}

#[test]
fn a_library_is_proved_and_keeps_the_proofs() {
    let place = Place::new(KEYS);
    let library = place.folder.text("lib.db");
    let statements = "fof(key_1, axiom, p1(a)).\nfof(key_2, axiom, p2(a)).\nfof(goal_1, axiom, p1(a) | r(a)).\nfof(goal_2, axiom, p2(a) | r(a)).\n\
                      fof(last, axiom, r(b)).\n";
    let file = place.folder.write("statements.p", statements);
    formulanet(&["library", "build", &library, &file], b"").output();
    let always =
        ["prove", "--library", &library, "--all", "--prover", &place.prover, "--budget", "20s", "-k", "8"];
    let run = formulanet(&always, b"");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let rows = table(&run, "");
    assert_eq!(rows.last().unwrap(), "2 of 5 problems proved, 3 not proved", "{}{}", run.stdout, run.stderr);
    let listed = formulanet(&["library", "list", &library, "--proofs"], b"").output();
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("goal_1: key_1 (sh in "), "{listed}");
    assert!(lines[1].contains(" s, 20") && lines[1].ends_with("Z)"), "{listed}");
    let listed = formulanet(&["library", "list", &library, "--proofs", "--format", "json"], b"").output();
    let row: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&row["name"], &row["proof"][0], &row["prover"]),
        (&"goal_1".into(), &"key_1".into(), &"sh".into())
    );
    assert!(row["seconds"].is_number() && row["time"].is_string(), "{row}");
    // What has a proof is not tried again.
    let run = formulanet(&always, b"");
    assert_eq!(table(&run, "").last().unwrap(), "0 of 3 problems proved, 3 not proved", "{}", run.stdout);
    // A proof that is learned from a file has no prover.
    formulanet(&["library", "learn", &library, "-"], b"last: key_1\n").output();
    let listed = formulanet(&["library", "list", &library, "--proofs"], b"").output();
    assert!(listed.ends_with("last: key_1\n"), "{listed}");
    formulanet(&["library", "verify", &library], b"").output();
}

/// With a prover that is installed.
#[test]
fn e_proves_a_directory() {
    let is_there =
        Command::new("eprover").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        #[allow(clippy::print_stderr, reason = "tests print why they are skipped")]
        {
            eprintln!("skipped: eprover is not installed");
        }
        return;
    }
    let folder = Folder::new();
    fs::create_dir(folder.path("problems")).unwrap();
    let chain: String =
        (0..30).map(|n| format!("fof(step_{n}, axiom, ! [X] : (p{n}(X) => p{}(X))).\n", n + 1)).collect();
    for number in [3, 9, 20] {
        let text = format!("{chain}fof(start, axiom, p0(a)).\nfof(goal, conjecture, p{number}(a)).\n");
        folder.write(&format!("problems/chain{number}.p"), text);
    }
    folder.write("problems/open.p", format!("{chain}fof(goal, conjecture, p3(a)).\n"));
    let run = formulanet(
        &["prove", &folder.text("problems"), "--prover", "eprover", "--learn", "--time", "8", "--check"],
        b"",
    );
    let rows = table(&run, &folder.text("problems"));
    let expected = [
        "chain20.p Theorem eprover 21",
        "chain3.p Theorem eprover 4",
        "chain9.p Theorem eprover 10",
        "open.p CounterSatisfiable eprover -",
    ];
    assert_eq!(rows[1..5], expected, "{}{}", run.stdout, run.stderr);
}
