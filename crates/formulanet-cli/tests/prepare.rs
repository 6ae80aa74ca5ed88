//! `formulanet prepare` and `formulanet stats` from the outside.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::formulanet;
use expect_test::expect;

fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_sample() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("sample").display().to_string();
    let prepare = ["prepare", "fixtures/sample", "--validation", "1", "--out", &out];
    let run = formulanet(&prepare, b"");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let shown = run.stdout.replace(&out, "OUT");
    expect![[r#"
        wrote OUT
                   4 conjectures
                  10 labelled statements, 9 distinct
                  17 graphs, 129 nodes, 158 edges
                  15 labels
                   5 named premises, 6 dependencies
    "#]]
    .assert_eq(&shown);
    let again = formulanet(&prepare, b"");
    assert_eq!(again.stdout.replace(&out, "OUT"), shown.replace("wrote", "already there:"));
    let stats = formulanet(&["stats", &out], b"");
    expect![[r#"
        sample (holstep), view graph

                                       train  validation        test
        conjectures                        2           1           1
        labelled statements                6           2           2
        useful ones                        3           1           1

        distinct graphs                   17
        distinct statements                9
        tokens of statements              75
        labels                            15
        named premises                     5
        dependencies                       6
        skipped                            0

            0.000 %  statements with both labels
           50.000 %  validation statements that training has, too
           10.714 %  unknown labels in held-out statements

                                        mean      median        99 %         max
        nodes of a statement             7.5           7           9           9
        edges of a statement             9.3           9          14          14
        treelets of a statement          3.6           3           7           7
        nodes of a conjecture            7.5           7          10          10
        edges of a conjecture            8.8           8          13          13
        treelets of a conjecture         3.2           3           5           5
    "#]]
    .assert_eq(&stats.stdout);
    let json = formulanet(&["stats", &out, "--format", "json"], b"").stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["stats"]["pairs"], serde_json::json!([6, 2, 2]));
    assert_eq!(value["meta"]["layout"], "holstep");
}

#[test]
fn wrong_arguments() {
    let check = |arguments: &[&str], message: &str| {
        let run = formulanet(arguments, b"");
        assert_eq!((run.code, run.stderr), (Some(1), format!("error: {message}\n")));
    };
    check(
        &["stats", "fixtures"],
        "fixtures: expected a prepared folder, found no meta.json; make one with `formulanet prepare`",
    );
    check(
        &["prepare", "no/such", "--out", "x"],
        "cannot read or write `no/such`: No such file or directory (os error 2)",
    );
    check(
        &["prepare", "fixtures/sample", "--out", "no/such/folder"],
        "no/such/folder: expected a folder in no/such, which is not there",
    );
    assert_eq!(formulanet(&["prepare", "fixtures/sample"], b"").code, Some(2));
    let usage = |flags: &str, message: &str| {
        let fixed = ["prepare", "fixtures/sample", "--out", "x"];
        let run = formulanet(&fixed.into_iter().chain(flags.split(' ')).collect::<Vec<_>>(), b"");
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(message), "{}", run.stderr);
    };
    usage("--validation many", "expected a number, a fraction from 0 to 1 or @FILE");
    usage("--validation @fixtures/pairs.jsonl --seed 1", "'--seed' cannot be used with --validation @FILE");
    usage("--view dag --rename-variables 1", "'--rename-variables' cannot be used with --view dag");
}

#[test]
fn keep_going_says_what_it_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("pairs.jsonl");
    let good = r#"{"conjecture": "p", "statement": "q", "useful": true}"#;
    fs::write(&input, format!("{good}\n{}\n", good.replace("\"q\"", "\"(q\""))).unwrap();
    let (input, out) = (input.display().to_string(), directory.path().join("out").display().to_string());
    let run = formulanet(&["prepare", &input, "--out", &out, "--keep-going"], b"");
    assert_eq!(run.code, Some(0));
    assert_eq!(
        run.stderr,
        format!(
            "skipped: {input}:2: in the statement, 1:3: expected an operator or `)`, found the end of the formula\n\
             skipped 1 statement\n"
        )
    );
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("pairs.jsonl");
    let line =
        r#"{"conjecture": "p", "statement": "!x y z. f x (g y) = h z ==> ?w. k w x y z", "useful": true}"#;
    fs::write(&input, format!("{line}\n").repeat(600_000)).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .arg("prepare")
        .arg(&input)
        .arg("--out")
        .arg(directory.path().join("out"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: stopped before the end; nothing was written\n"
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(entries(directory.path()), ["pairs.jsonl"]);
}

/// On a disk without room, which needs a file system of its own to try.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=8k none '{0}' || exit 77\n\
         '{1}' prepare fixtures/sample --validation 1 --out '{0}/out'\n\
         code=$?; ls -A '{0}'; exit $code",
        directory.path().display(),
        env!("CARGO_BIN_EXE_formulanet")
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output();
    let Ok(output) = output else {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(std::io::stderr(), "skipped: unshare is not there");
        return;
    };
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || error.contains("unshare") {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(std::io::stderr(), "skipped: cannot mount a small file system: {error}");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("No space left on device"), "{error}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}
