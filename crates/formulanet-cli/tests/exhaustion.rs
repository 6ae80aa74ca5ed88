//! Nothing that is read takes memory or time without bound, and nothing that is written is half.

mod common;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::formulanet;
use formulanet_testing::Folder;

/// Runs the program and returns its exit code, its messages and the most memory that it took, in megabytes.
fn measured(arguments: &[&str]) -> (Option<i32>, String, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0);
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        most = most.max(peak.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap(), most / 1024)
}

#[test]
fn no_statement_takes_more_than_500_megabytes() {
    let folder = Folder::new();
    let names: Vec<String> = (0..3000).map(|i| format!("x{i}")).collect();
    let wide = folder.write("wide.hol", format!("A: f {}\n", names.join(" ")));
    // A graph as large as networks take, whose nodes can all be told apart.
    let tree = |leaves: usize| {
        let mut terms: Vec<String> = (0..leaves).map(|i| format!("k{}_numbers", i % 97)).collect();
        while terms.len() > 1 {
            let pair = |(i, pair): (usize, &[String])| format!("k{}_xcmplx_0({})", i % 89, pair.join(","));
            terms = terms.chunks(2).enumerate().map(pair).collect();
        }
        format!("fof(a, axiom, p({})).\n", terms[0])
    };
    let large = folder.write("large.p", tree(1 << 14));
    for file in [wide, large] {
        let (code, messages, megabytes) = measured(&["rank", "--conjecture", "p", "--premises", &file]);
        assert_eq!(code, Some(0), "{messages}");
        assert!((10..500).contains(&megabytes), "{megabytes} MB for {file}");
    }
}

#[test]
fn every_reader_has_its_bound() {
    let folder = Folder::new();
    let out = folder.text("out");
    let line = format!("{{\"conjecture\": \"{}", "x".repeat(40 << 20));
    let long = folder.write("long.jsonl", line);
    let pairs = folder.write("pairs.txt", "A: x = x\n");
    let small = folder.write("small", "N a\nC |- T\nT cT\n+ |- T\nT cT\n");
    let prepared = folder.text("prepared");
    formulanet(&["prepare", &small, "--out", &prepared, "--validation", "0"], b"").output();
    for (arguments, expected) in [
        (&["prepare", &long, "--out", &out][..], "at most 16777216 bytes in a line"),
        (&["prepare", &long, "--out", &out, "--max-bytes", "1000000"], "at most 1000000 bytes in a line"),
        (&["prepare", "/dev/zero", "--out", &out], "found a device or a pipe"),
        (
            &["rank", "--conjecture", "T", "--premises", &pairs, "--model", "/dev/zero"],
            "at most 268435456 bytes",
        ),
        (&["rank", "--conjecture", "T", "--premises", "/dev/zero"], "at most 16777216 bytes"),
        (
            &["rank", "--conjecture", "T", "--premises", "/dev/zero", "--keep-going"],
            "more than 1073741824 bytes",
        ),
        (&["train", "--data", &prepared, "--out", &out, "--recipe", "/dev/zero"], "at most 1048576 bytes"),
    ] {
        let begin = Instant::now();
        let (code, messages, megabytes) = measured(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {messages}");
        assert!(messages.contains(expected), "{arguments:?}: {messages}");
        assert!(
            megabytes < 500 && begin.elapsed() < Duration::from_secs(60),
            "{arguments:?}: {megabytes} MB"
        );
    }
}

#[test]
fn a_long_line_is_passed_over_where_work_goes_on() {
    let folder = Folder::new();
    let pair = "{\"conjecture\": \"T\", \"statement\": \"T\", \"useful\": true}\n";
    let long = format!("{{\"conjecture\": \"{}\"}}\n", "x".repeat(3 << 20));
    let data = folder.write("data.jsonl", format!("{pair}{long}{pair}{long}{long}{pair}"));
    let arguments = ["prepare", &data, "--out", &folder.text("out"), "--max-bytes", "1000", "--keep-going"];
    let run = formulanet(&[&arguments[..], &["--validation", "0", "--threads", "40000"]].concat(), b"");
    for line in [2, 4, 5] {
        assert!(
            run.stderr.contains(&format!("data.jsonl:{line}:1: expected at most 1000 bytes")),
            "{}",
            run.stderr
        );
    }
    assert!(run.stderr.contains("skipped 3 statements"), "{}", run.stderr);
    assert!(run.output().contains("3 labelled statements"));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_preparing_and_a_second_one_at_once() {
    let folder = Folder::new();
    // Enough that nothing is over before the signal.
    let data = folder.path("data.jsonl");
    let mut file = std::io::BufWriter::new(fs::File::create(&data).unwrap());
    for i in 0..400_000 {
        let formula = format!("!x y z. f{i} (x + y * z) = g{} (x * y + z)", i % 1000);
        writeln!(file, "{{\"conjecture\": \"{formula}\", \"statement\": \"{formula}\", \"useful\": true}}")
            .unwrap();
    }
    file.flush().unwrap();
    for (signal, number) in [("INT", 1), ("TERM", 1), ("INT", 2)] {
        let out = folder.text("out");
        let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
            .args(["prepare", &data.display().to_string(), "--out", &out])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(700));
        let begin = Instant::now();
        for _ in 0..number {
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
            thread::sleep(Duration::from_millis(20));
        }
        let status = child.wait().unwrap();
        assert!(matches!(status.code(), Some(1 | 130)), "{status}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{signal}: {:?}", begin.elapsed());
        assert!(!folder.path("out").exists());
    }
}

#[test]
fn numbers_at_the_border_are_numbers() {
    let largest = u64::MAX.to_string();
    for premises in
        [b"A: x = x\nB: T\n".as_slice(), b"fof(a,axiom,p).\n", b"{\"name\":\"a\",\"statement\":\"T\"}\n"]
    {
        let arguments = ["rank", "--conjecture", "p", "--premises", "-", "--max-bytes", &largest];
        let run = formulanet(
            &[&arguments[..], &["--max-depth", &largest, "--max-treelets", &largest]].concat(),
            premises,
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    let nodes: Vec<String> = (0..70_000).map(|i| format!("x{i}")).collect();
    let large = format!("fof(a,axiom,p({})).\n", nodes.join(","));
    let arguments = ["rank", "--conjecture", "p", "--premises", "-", "--max-treelets", &largest];
    let run = formulanet(&arguments, large.as_bytes());
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("at most 65535 nodes") && !run.stderr.contains("--max-nodes"),
        "{}",
        run.stderr
    );
}

#[test]
fn marks_and_ends_of_lines_of_other_systems() {
    let rank = [
        "rank",
        "--conjecture",
        "p",
        "--premises",
        "-",
        "--format",
        "json",
        "--rerank",
        "off",
        "--keep-duplicates",
    ];
    for text in [
        "A: x = x\nB: F\n",
        "fof(a,axiom,p). % a\nfof(b,axiom,q).\n",
        "{\"name\":\"a\",\"statement\":\"F\"}\n",
    ] {
        let expected = formulanet(&rank, text.as_bytes()).output();
        for other in [format!("\u{feff}{text}"), text.replace('\n', "\r"), text.replace('\n', "\r\n")] {
            assert_eq!(formulanet(&rank, other.as_bytes()).output(), expected, "{other:?}");
        }
    }
    let folder = Folder::new();
    let holstep = "N a\nC |- T\nT cT\n+ |- T\nT cT\n";
    for (name, text) in [("mark", format!("\u{feff}{holstep}")), ("returns", holstep.replace('\n', "\r"))] {
        let (data, out) = (folder.write(name, text), folder.text(&format!("{name}.out")));
        let run = formulanet(&["prepare", &data, "--out", &out, "--validation", "0"], b"");
        assert!(run.stdout.contains("1 labelled statements"), "{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn results_are_written_whole_and_not_over_what_is_read() {
    let folder = Folder::new();
    let problem = folder.write("x.p", "fof(a,axiom,p).\nfof(c,conjecture,p).\n");
    let before = folder.bytes("x.p");
    for arguments in
        [&["select", &problem, "--out", &problem][..], &["embed", "--premises", &problem, "--out", &problem]]
    {
        let run = formulanet(arguments, b"");
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert_eq!(folder.bytes("x.p"), before);
    }
    // A device is written to as it is, and fails as it does.
    let run = formulanet(&["select", &problem, "--out", "/dev/full"], b"");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(formulanet(&["select", &problem, "--out", "/dev/null"], b"").code, Some(0));
    let out = folder.text("y.p");
    formulanet(&["select", &problem, "--out", &out], b"").output();
    assert!(String::from_utf8(folder.bytes("y.p")).unwrap().contains("conjecture"));
}
