//! What becomes of the processes and files of `formulanet prove`, whatever provers do and however it ends.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::formulanet;
use formulanet_testing::Folder;

const PROBLEM: &str = "fixtures/relations.p";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_formulanet"));
    command
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["prove", PROBLEM])
        .args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Whether some process has a word among its arguments.
fn is_alive(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let has_word = |arguments: &[u8]| arguments.windows(word.len()).any(|part| part == word.as_bytes());
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|arguments| has_word(&arguments))
}

fn wait_until(what: &str, most: Duration, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < most, "{what}");
        sleep(Duration::from_millis(20));
    }
}

/// A prover with a child, and one that leaves its process group. All have the folder's name among their arguments.
fn family(folder: &Folder) -> String {
    let sleeper = folder.write("sleeper.sh", format!("touch {}; sleep 300", folder.text("began")));
    let text = format!("setsid sh {sleeper} & sh {sleeper} & trap '' TERM; sleep 300");
    format!("sh {} {{file}}", folder.write("family.sh", text))
}

fn started(folder: &Folder, more: &[&str]) -> Child {
    let temporary = folder.path("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let prover = family(folder);
    let child =
        command(&[&["--prover", prover.as_str()], more].concat()).env("TMPDIR", &temporary).spawn().unwrap();
    wait_until("the prover does not start", Duration::from_secs(60), || folder.path("began").exists());
    child
}

#[test]
fn nothing_survives_whatever_ends_it() {
    for signal in ["TERM", "INT", "KILL"] {
        let folder = Folder::new();
        let word = folder.text("sleeper.sh");
        let mut child = started(&folder, &[]);
        assert!(is_alive(&word));
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();
        wait_until(signal, Duration::from_secs(5), || !is_alive(&word));
        let left = || fs::read_dir(folder.path("tmp")).unwrap().count();
        assert_eq!(left(), usize::from(signal == "KILL"), "{signal}");
        // The next run removes what a killed one left.
        let status = command(&["--prover", "cat {file}", "-k", "4"])
            .env("TMPDIR", folder.path("tmp"))
            .status()
            .unwrap();
        assert_eq!((status.code(), left()), (Some(1), 0));
    }
}

/// The time is over while processes of the prover run that hold its output.
#[test]
fn it_ends_in_time() {
    let folder = Folder::new();
    let start = Instant::now();
    let mut child = started(&folder, &["--time", "3", "-k", "4"]);
    child.wait().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(!is_alive(&folder.text("sleeper.sh")));
}

/// Provers that print without end, fork, and leave children that hold their output.
#[test]
fn strange_provers_do_no_harm() {
    let folder = Folder::new();
    let check = |name: &str, text: &str, expected: &str| {
        let prover = format!("sh {} {{file}}", folder.write(name, text));
        let run = formulanet(&["prove", PROBLEM, "--time", "8", "-k", "4", "--prover", &prover], b"");
        assert!(
            run.stdout.starts_with(&format!("% SZS status {expected} for")),
            "{name} {}{}",
            run.stdout,
            run.stderr
        );
    };
    check("much.sh", "echo SZS status Theorem; head -c 1000000000 /dev/zero", "Theorem");
    check("noise.sh", "head -c 100000 /dev/urandom", "Error");
    check("held.sh", "setsid sleep 300 & sleep 300 & echo SZS status Theorem", "Theorem");
    check(
        "forks.sh",
        "for i in 1 2 3 4 5 6 7 8 9; do (sleep 300; sleep 300) & done; echo SZS status GaveUp",
        "GaveUp",
    );
    check("killed.sh", "echo SZS status Theorem; kill -9 $$", "Theorem");
}

#[test]
fn temporary_folders_may_be_strange() {
    let folder = Folder::new();
    let script = folder.write("prover.sh", "grep -q union_is_larger \"$1\" && echo SZS status Theorem");
    let prover = format!("sh {script} {{file}}");
    let odd = folder.root().join(OsStr::from_bytes(b"not \xff utf-8 ' %"));
    fs::create_dir(&odd).unwrap();
    let output = |place: &Path| {
        let mut command = command(&["--prover", &prover]);
        command.env("TMPDIR", place).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    };
    let found = output(&odd);
    assert!(found.stdout.starts_with(b"% SZS status Theorem"), "{}", String::from_utf8_lossy(&found.stderr));
    let found = output(&folder.path("nowhere"));
    let said = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.code() == Some(1) && said.contains("set TMPDIR to a directory"), "{said}");
}
