//! `formulanet-lab reproduce` from the outside, on a small made-up data set.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use expect_test::expect;
use formulanet_testing::{Run, write_holstep};
use tempfile::TempDir;

fn formulanet(arguments: &[&str], input: &[u8]) -> Run {
    formulanet_testing::run(env!("CARGO_BIN_EXE_formulanet-lab"), arguments, input)
}

/// A folder with a small data set, and its name.
fn with_source(training: usize) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    write_holstep(&directory.path().join("tiny"), training);
    let folder = directory.path().display().to_string();
    (directory, folder)
}

/// Arguments for a target with a small network.
fn arguments<'a>(what: &'a str, folder: &'a str, budget: &'a str) -> Vec<String> {
    let path = |name: &str| format!("{folder}/{name}");
    let (source, work, results) = (path("tiny"), path("work"), path("results"));
    let flags = [
        ["--source", &source],
        ["--work", &work],
        ["--results", &results],
        ["--budget", budget],
        ["--validation", "6"],
        ["--dim", "8"],
        ["--batch", "32"],
    ];
    ["reproduce", what].into_iter().chain(flags.concat()).map(str::to_owned).collect()
}

fn reproduce(what: &str, folder: &str, budget: &str) -> Run {
    let arguments = arguments(what, folder, budget);
    formulanet(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), b"")
}

/// Begins a process.
fn spawn(arguments: Vec<String>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_formulanet-lab"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// The rows of a result's first table, each as its cells.
fn rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    let lines = text.lines().skip_while(|line| !line.starts_with('|'));
    lines.take_while(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

#[test]
fn everything_once_and_never_twice() {
    let (directory, folder) = with_source(24);
    let first = reproduce("all", &folder, "300");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    expect![[r#"
        wrote FOLDER/results/table1.md
        wrote FOLDER/results/table2.md
        wrote FOLDER/results/table2.svg
        wrote FOLDER/results/table3.md
        wrote FOLDER/results/table3.svg
        wrote FOLDER/results/figure5.md
        wrote FOLDER/results/figure5.svg
    "#]]
    .assert_eq(&first.stdout.replace(&folder, "FOLDER"));
    assert_eq!(trained(&first.stderr).len(), 14, "{}", first.stderr);

    let results = directory.path().join("results");
    let written = files(&results);
    for (name, text) in &written {
        assert!(!text.contains(&folder), "{name} has a path of this machine");
        if name.ends_with(".svg") {
            assert!(text.trim_start().starts_with("<svg"), "{name}");
            continue;
        }
        let command = format!("formulanet-lab reproduce {} --source tiny", name.trim_end_matches(".md"));
        assert!(text.contains(&command), "{text}");
        assert!(text.contains("--budget 300") && text.contains("seed 0") && text.contains("pairs seen"));
        assert!(!text.contains("Not everything"), "{text}");
    }
    check_tables(&|name| fs::read_to_string(results.join(name)).unwrap());

    let second = reproduce("all", &folder, "300");
    assert_eq!((second.code, second.stdout), (Some(0), first.stdout));
    assert!(!second.stderr.contains("training"), "{}", second.stderr);
    assert!(!second.stderr.contains("evaluating"), "{}", second.stderr);
    assert_eq!(files(&results), written);
}

fn check_tables(read: &dyn Fn(&str) -> String) {
    let percent = |cell: &str| -> f64 {
        let share: f64 = cell.parse().unwrap_or_else(|_| panic!("`{cell}` is no number"));
        assert!((0.0..=100.0).contains(&share));
        share
    };
    let table1 = rows(&read("table1.md"));
    let names_and_paper: Vec<String> = table1.iter().map(|row| row[..2].join(": ")).collect();
    expect![[r#"
        CNN (quoted), unconditional: 83
        CNN (quoted), conditional: 82
        CNN-LSTM (quoted), unconditional: 83
        CNN-LSTM (quoted), conditional: 83
        FormulaNet-basic, unconditional: 89.0
        FormulaNet-basic, conditional: 89.1
        FormulaNet, unconditional: 90.0
        FormulaNet, conditional: 90.3
        DeepWalk, unconditional: 61.7
        DeepWalk, conditional: 61.8"#]]
    .assert_eq(&names_and_paper.join("\n"));
    for row in &table1 {
        if row[0].starts_with("CNN") {
            assert_eq!(row[2..], ["", ""]);
        } else {
            assert!(row[2..].iter().all(|cell| percent(cell) > 0.0));
        }
    }
    let table2 = rows(&read("table2.md"));
    for row in &table2 {
        let (original, renamed) = (percent(&row[2]), percent(&row[4]));
        // Views without names do not see that anything was renamed.
        assert!(row[0].contains("names`") || original == renamed, "{row:?}");
    }
    let paper: Vec<String> = table2.iter().map(|row| format!("{}: {} {}", row[0], row[1], row[3])).collect();
    expect![[r#"
        `tree-names` (tree-old-names): 89.7 82.3
        `tree` (tree-renamed): 84.7 84.7
        `graph-names` (graph-old-names): 89.8 83.5
        `graph` (our graph): 89.9 89.9"#]]
    .assert_eq(&paper.join("\n"));
    let table3 = rows(&read("table3.md"));
    let paper: Vec<String> = table3.iter().map(|row| format!("{}: {} {}", row[0], row[1], row[3])).collect();
    expect![[r#"
        0: 81.5 81.5
        1: 89.3 90.4
        2: 89.8 91.0
        3: 89.9 91.1
        4: 90.0 90.8"#]]
    .assert_eq(&paper.join("\n"));
    // The same run, in two tables.
    assert_eq!(table3[3][4], table1[7][3]);
    assert_eq!(table3[3][2], table2[3][2]);
    table3.iter().for_each(|row| assert!(percent(&row[2]) > 0.0 && percent(&row[4]) > 0.0));
}

#[test]
fn ctrl_c_and_on() {
    // Enough that the signal comes before the end.
    let (directory, folder) = with_source(120);
    let mut child = spawn(arguments("table3", &folder, "1500"));
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // In the second run, so that there is something to show.
    let in_second = |line: &String| line.starts_with("training formulanet-basic-conditional-steps-1");
    assert!(lines.by_ref().map(Result::unwrap).any(|line| in_second(&line)));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(rest.last().unwrap(), "error: stopped before the end of table3; the same command goes on");
    let table = directory.path().join("results/table3.md");
    let half = fs::read_to_string(&table).unwrap();
    assert!(half.contains("Not everything is measured yet: the same command goes on."));
    let half = rows(&half);
    assert_eq!(half[4][1..], ["90.0", "-", "90.8", "-"]);

    let run = reproduce("table3", &folder, "1500");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!run.stderr.contains("training formulanet-conditional-steps-0"), "{}", run.stderr);
    let whole = rows(&fs::read_to_string(table).unwrap());
    assert_eq!(whole[0], half[0]);
    assert!(whole.concat().iter().all(|cell| cell != "-"));

    // Stopping made no difference.
    fs::remove_dir_all(directory.path().join("work")).unwrap();
    let run = reproduce("table3", &folder, "1500");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(rows(&fs::read_to_string(directory.path().join("results/table3.md")).unwrap()), whole);
}

#[test]
fn a_budget_in_minutes_is_measured_once() {
    let (directory, folder) = with_source(24);
    let run = reproduce("figure5", &folder, "0.002m");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let budget = directory.path().join(
        "work/runs/paper-dim-8-batch-32-seed-0-0.002m/formulanet-conditional-steps-3-graph/budget.json",
    );
    let kept = fs::read_to_string(&budget).unwrap();
    assert!(kept.contains("pairs_per_second"), "{kept}");
    let before = files(&directory.path().join("results"));
    let run = reproduce("figure5", &folder, "0.002m");
    assert!(!run.stderr.contains("measuring"), "{}", run.stderr);
    assert_eq!(files(&directory.path().join("results")), before);
}

/// Names of the networks that a process trained, from what it said.
fn trained(said: &str) -> Vec<String> {
    let names = said.lines().filter_map(|line| line.strip_prefix("training formulanet"));
    names.map(str::to_owned).collect()
}

#[test]
fn two_processes_share_the_work() {
    let (directory, folder) = with_source(24);
    let alone = reproduce("all", &folder, "300");
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    let read = |results: &str, name: &str| {
        rows(&fs::read_to_string(directory.path().join(results).join(name)).unwrap())
    };
    let tables = ["table1.md", "table2.md", "table3.md"];
    let expected = tables.map(|name| read("results", name));

    fs::remove_dir_all(directory.path().join("work")).unwrap();
    let processes = ["first", "second"].map(|results| {
        let results = format!("{folder}/{results}");
        let mut arguments = arguments("all", &folder, "300");
        let place = arguments.iter().position(|argument| argument == "--results").unwrap();
        arguments[place + 1] = results;
        spawn(arguments)
    });
    let mut names = Vec::new();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        names.extend(trained(&said));
    }
    // Between them they did what one does alone, and nothing twice.
    let mut names_alone = trained(&alone.stderr);
    names.sort();
    names_alone.sort();
    assert_eq!(names, names_alone);
    for results in ["first", "second"] {
        assert_eq!(tables.map(|name| read(results, name)), expected);
    }
}

#[test]
fn what_another_process_does_comes_last() {
    let (directory, folder) = with_source(24);
    let run = "work/runs/paper-dim-8-batch-32-seed-0-300-pairs/formulanet-conditional-steps-0-graph";
    let run = directory.path().join(run);
    fs::create_dir_all(&run).unwrap();
    let lock = File::create(run.join("reproduce.lock")).unwrap();
    lock.lock().unwrap();
    let mut child = spawn(arguments("table3", &folder, "300"));
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let before: Vec<String> =
        lines.by_ref().take_while(|line| line != "waiting for another process").collect();
    assert_eq!(trained(&before.join("\n")).len(), 8, "{before:?}");
    let half = fs::read_to_string(directory.path().join("results/table3.md")).unwrap();
    assert!(half.contains("Not everything is measured yet"), "{half}");
    drop(lock);
    let after: Vec<String> = lines.collect();
    assert_eq!(trained(&after.join("\n")), ["-conditional-steps-0-graph"]);
    assert!(child.wait().unwrap().success());
    let whole = rows(&fs::read_to_string(directory.path().join("results/table3.md")).unwrap());
    assert!(whole.concat().iter().all(|cell| cell != "-"));
}

#[test]
fn what_can_be_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().display().to_string();
    let source = directory.path().join("tiny");
    let missing = reproduce("table3", &folder, "300");
    assert_eq!(missing.code, Some(1));
    assert_eq!(
        missing.stderr,
        format!("error: cannot read or write `{folder}/tiny`: No such file or directory (os error 2)\n")
    );

    write_holstep(&source, 24);
    let (source, work) = (source.display().to_string(), format!("{folder}/work"));
    let with = |extra: &[&str]| {
        let results = format!("{folder}/results");
        let flags = ["reproduce", "table3", "--source", &source, "--work", &work, "--results", &results];
        formulanet(&[&flags, extra].concat(), b"")
    };
    let nothing = with(&["--validation", "0"]);
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.stderr.ends_with(
        "tiny: expected conjectures with statements held out for validation, found none and 24 for training; \
         give --validation a number from 1 to 23, and choose another folder\n"
    ));
    let other = with(&["--validation", "6"]);
    assert!(other.stderr.contains("prepared from other input or with other options"), "{}", other.stderr);
    assert_eq!(with(&["--budget", "soon"]).code, Some(2));
    let wrong = with(&["--validation", "many"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("invalid value 'many'"), "{}", wrong.stderr);
}
