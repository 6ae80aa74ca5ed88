//! Scenarios as command lines.

use formulanet_testing::Folder;
use formulanet_testing::golden::{Command, Duplicates, Order, Rerank, Scenario, Symbols, hit};
use serde_json::Value;

/// Runs the program, which must succeed.
pub(crate) fn formulanet(arguments: &[&str]) -> String {
    let run = formulanet_testing::run(env!("CARGO_BIN_EXE_formulanet"), arguments, b"");
    assert_eq!(run.code, Some(0), "{arguments:?}\n{}{}", run.stdout, run.stderr);
    run.stdout
}

/// Asks the program.
pub(crate) fn answer(scenario: &Scenario, libraries: &Folder) -> Vec<String> {
    let library = scenario.library.as_ref().map(|name| libraries.text(&format!("{name}.db")));
    match scenario.command {
        Command::Hammer => return hammer(scenario, libraries),
        Command::Theory => return theory(scenario, libraries),
        Command::Lean => panic!("{}: no command answers Lean", scenario.id),
        Command::Rank | Command::Select | Command::Neighbors => {}
    }
    let flags = flags(scenario, library);
    let printed = formulanet(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    let rows = printed.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.filter(|line: &Value| line.get("existing").is_none()).map(|line| row(&line)).collect()
}

/// A line of the result.
fn row(row: &Value) -> String {
    let score = row.get("score").or(row.get("similarity")).and_then(Value::as_f64).unwrap();
    hit(row["name"].as_str().unwrap(), score as f32)
}

/// The command line of a scenario.
fn flags(s: &Scenario, library: Option<String>) -> Vec<String> {
    let mut flags = Flags(Vec::new());
    flags.add(match s.command {
        Command::Select => "select",
        Command::Neighbors => "neighbors",
        _ => "rank",
    });
    match s.command {
        Command::Neighbors => flags.add(s.formula()),
        Command::Select => flags.add(s.problem.as_deref().unwrap()),
        _ => flags.some("--conjecture", s.goal.as_ref()),
    }
    flags.some("--goal-name", s.goal_name.as_ref());
    flags.some("--premises", s.premises.as_ref());
    flags.some("--library", library.as_ref());
    flags.some("--local", &s.local);
    flags.some("--before", s.before.as_ref());
    flags.some("--module", &s.modules);
    flags.some("--include", &s.include);
    flags.some("--exclude", &s.exclude);
    flags.some("--constants", Some(&s.constants.join(",")).filter(|names| !names.is_empty()));
    flags.some("--overload", s.overload.as_ref());
    flags.some("--model", s.model.as_ref());
    flags.some("--reranker", s.reranker.as_ref());
    flags.some("--keep-roles", s.keep_roles.as_ref().map(|roles| roles.join(",")).as_ref());
    flags.some("--min-score", Some(&s.min_score.to_string()).filter(|_| s.min_score > 0.0));
    flags.some("--order", s.order.map(|order| order_name(order).to_owned()).as_ref());
    match s.rerank {
        Rerank::Auto => {}
        Rerank::On => ["--rerank", "on"].iter().for_each(|word| flags.add(word)),
        Rerank::Off => ["--rerank", "off"].iter().for_each(|word| flags.add(word)),
    }
    if s.symbols == Symbols::Anonymous {
        ["--symbols", "anonymous"].iter().for_each(|word| flags.add(word));
    }
    if s.duplicates == Duplicates::Keep {
        flags.add("--keep-duplicates");
    }
    if s.explain {
        flags.add("--explain");
    }
    flags.some("-k", Some(&s.k.to_string()));
    ["--format", "json", "--precision", "f32"].iter().for_each(|word| flags.add(word));
    flags.0
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Lift => "lift",
        Order::Probability => "probability",
    }
}

/// A command line that is being written.
struct Flags(Vec<String>);

impl Flags {
    fn add(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    fn some<'a>(&mut self, flag: &str, values: impl IntoIterator<Item = &'a String>) {
        values.into_iter().for_each(|value| self.0.extend([flag.to_owned(), value.clone()]));
    }
}

/// `predict`: names without scores.
fn hammer(s: &Scenario, libraries: &Folder) -> Vec<String> {
    let (number, method) = (s.k.to_string(), s.method.as_deref().unwrap());
    let mut words = vec!["predict", "lib.fea", "lib.dep", "lib.seq", "-n", &number, "-p", method];
    if s.exact {
        words.push("--exact");
    }
    if s.names.is_some() {
        words.extend(["-e", "names.txt"]);
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_formulanet"));
    command.args(words).current_dir(formulanet_testing::golden::repository("fixtures/hammer"));
    command.env_remove("FORMULANET_LOG").env("XDG_CACHE_HOME", libraries.path("cache"));
    command.env("XDG_STATE_HOME", libraries.path("state"));
    let goal = std::fs::read(formulanet_testing::golden::repository("fixtures/hammer/goal.fea")).unwrap();
    let printed = formulanet_testing::run_with(&mut command, &goal).output();
    printed.lines().map(str::to_owned).collect()
}

/// `eval --theory`: the figures, and the best of each ranking.
fn theory(s: &Scenario, libraries: &Folder) -> Vec<String> {
    let (out, last) = (libraries.text(&format!("{}.rankings", s.id)), s.last.map(|last| last.to_string()));
    let mut flags = Flags(Vec::new());
    ["eval", "--format", "json", "--precision", "f32"].iter().for_each(|word| flags.add(word));
    flags.some("--theory", s.theory.as_ref());
    flags.some("--test-last", last.as_ref());
    flags.some("--test", s.tests.as_ref());
    flags.some("--method", s.method.as_ref());
    flags.some("--rankings", [&out]);
    if s.rerank == Rerank::Off {
        ["--rerank", "off"].iter().for_each(|word| flags.add(word));
    }
    let printed = formulanet(&flags.0.iter().map(String::as_str).collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&printed).unwrap();
    let figure = |name: &str| format!("{name} {:016x}", report[name].as_f64().unwrap().to_bits());
    let mut lines = vec![figure("map"), figure("mrr")];
    for line in std::fs::read_to_string(&out).unwrap().lines() {
        let (name, best) = line.split_once(':').unwrap();
        let best: Vec<&str> = best.split(' ').take(s.k).collect();
        lines.push(format!("{name}: {}", best.join(" ")));
    }
    lines
}
