//! Libraries by the command line: what is in nobody's way, and what is saved of a damaged one.

mod common;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::formulanet;
use formulanet_testing::Folder;

/// A program that prints statements slowly keeps nobody from reading or changing the library.
#[test]
fn a_slow_input_is_in_the_way_of_nobody() {
    let folder = Folder::new();
    let library = folder.text("library.db");
    formulanet(&["library", "build", &library, "-"], b"A: x = x\n").output();
    let mut slow = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(["library", "add", &library, "-", "--threads", "1"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = slow.stdin.take().unwrap();
    // More than are embedded at once, so that some wait to be written.
    let statements: String = (0..4200).map(|i| format!("N{i}: f{} x = x\n", i % 50)).collect();
    input.write_all(statements.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let begin = Instant::now();
    let listed = formulanet(&["library", "list", &library], b"").output();
    assert_eq!(listed, "A: x = x\n");
    let added = formulanet(&["library", "add", &library, "-"], b"B: x = y\n");
    assert!(added.stderr.ends_with("1 new, 0 changed, 0 as before\n"), "{}", added.stderr);
    let ranked =
        formulanet(&["rank", "--conjecture", "p x y", "--library", &library, "--rerank", "off"], b"");
    // A line that B says it already may come first.
    assert_eq!(ranked.output().lines().filter(|line| line.starts_with("   ")).count(), 2);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    drop(input);
    let told = String::from_utf8(slow.wait_with_output().unwrap().stderr).unwrap();
    assert!(told.ends_with("4200 new, 0 changed, 0 as before\n"), "{told}");
    assert_eq!(formulanet(&["library", "list", &library], b"").output().lines().count(), 4202);
}

/// Who reads a list slowly keeps nobody from changing the library.
#[test]
fn a_slow_reader_is_in_the_way_of_nobody() {
    let folder = Folder::new();
    let library = folder.text("library.db");
    let statements: String = (0..3000).map(|i| format!("N{i}: f{} x = x /\\ g x = y\n", i % 50)).collect();
    formulanet(&["library", "build", &library, "-"], statements.as_bytes()).output();
    let mut list = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(["library", "list", &library, "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(list.try_wait().unwrap().is_none(), "the list fits into the pipe");
    let begin = Instant::now();
    formulanet(&["library", "remove", &library, "N1"], b"").output();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let listed = String::from_utf8(list.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(listed.lines().count(), 3000);
}

#[test]
fn what_can_be_read_is_saved() {
    let folder = Folder::new();
    let library = folder.text("library.db");
    formulanet(&["library", "build", &library, "-"], b"A: x = x\nB: x = y\nC: y = x\n").output();
    let change = |change: &str| {
        rusqlite::Connection::open(folder.path("library.db")).unwrap().execute_batch(change).unwrap();
    };
    let verify = |more: &[&str]| formulanet(&[&["library", "verify", &library][..], more].concat(), b"");
    change(
        "UPDATE statements SET row = zeroblob(9) WHERE name = 'A'; UPDATE statements SET text = 'T' WHERE name = 'B'",
    );
    let run = verify(&[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("`A` is damaged; save what can be read with"), "{}", run.stderr);
    let run = verify(&["--repair"]);
    assert!(run.stderr.ends_with("computed again: A\nlost: B\n"), "{}", run.stderr);
    assert_eq!(
        run.output(),
        format!("saved 2 statements and 0 proofs; the damaged file is {library}.damaged\n")
    );
    assert_eq!(verify(&["--repair"]).output(), "2 statements, nothing wrong\n");
    // What runs in the file of somebody else does not run here, and is gone after a repair.
    change("CREATE TRIGGER gone AFTER INSERT ON statements BEGIN DELETE FROM statements; END");
    let added = formulanet(&["library", "add", &library, "-"], b"D: x = x\n");
    assert!(added.code == Some(1) && added.stderr.contains("a trigger `gone`"), "{}", added.stderr);
    std::fs::remove_file(format!("{library}.damaged")).unwrap();
    verify(&["--repair"]).output();
    let added = formulanet(&["library", "add", &library, "-"], b"D: x = x\n");
    assert!(added.stderr.ends_with("1 new, 0 changed, 0 as before\n"), "{}", added.stderr);
    assert_eq!(formulanet(&["library", "list", &library], b"").output().lines().count(), 3);
}

/// A full disk under the log neither ends the program nor makes it report a failure.
#[cfg(target_os = "linux")]
#[test]
fn messages_that_cannot_be_written_are_no_failure() {
    let folder = Folder::new();
    let (library, lines) = (folder.text("library.db"), folder.write("more.hol", "B: x = y\n"));
    let run = |arguments: &[&str]| {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_formulanet"));
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(full)
            .status()
            .unwrap()
            .code()
    };
    formulanet(&["library", "build", &library, "-"], b"A: x = x\n").output();
    assert_eq!(run(&["library", "add", &library, &lines]), Some(0));
    assert_eq!(formulanet(&["library", "list", &library], b"").output().lines().count(), 2);
    assert_eq!(run(&["library", "remove", &library, "B"]), Some(0));
    assert_eq!(run(&["graph", "x = (y"]), Some(1));
    assert_eq!(run(&["stats", "--no-such-flag"]), Some(2));
    assert_eq!(
        run(&["rank", "--conjecture", "FROB x", "--library", &library, "--include", "Z", "--explain"]),
        Some(0)
    );
    let data = folder.write("small", "N a\nC |- T\nT cT\n+ |- T\nT cT\n- |- F\nT cF\n");
    let prepared = folder.text("prepared");
    assert_eq!(run(&["prepare", &data, "--out", &prepared, "--validation", "0"]), Some(0));
    let train = [
        "train",
        "--data",
        &prepared,
        "--out",
        &folder.text("run"),
        "--dim",
        "4",
        "--steps",
        "1",
        "--epochs",
        "1",
    ];
    assert_eq!(run(&train), Some(0));
    // A server answers all the same.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(["serve", "--listen", "127.0.0.1:0", "--library", &library])
        .stderr(full)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert!(server.try_wait().unwrap().is_none(), "the server has ended");
    server.kill().unwrap();
    server.wait().unwrap();
}
