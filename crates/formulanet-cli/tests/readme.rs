//! Every command of the README, of `docs/` and of `integrations/` runs as it stands, and prints what the page says. What is typed
//! into other programs is run by the tests that have their names.
//!
//! A block marked `console` has `$ command` lines, each followed by what the command prints. `...` stands for anything: alone
//! on a line for any number of lines, else for a part of its line. Numbers with a point may differ by 0.02, because CPUs
//! round differently. A command that is shown to print `error:` has to fail. Blocks marked `text` are not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use formulanet_testing::{Folder, shell};

/// Programs of others, without which commands are left out.
const PROGRAMS: [&str; 2] = ["curl", "eprover"];

struct Step<'a> {
    line: usize,
    command: String,
    expected: Vec<&'a str>,
}

/// The commands of a page, and the marks of all its blocks.
fn read(page: &str) -> (Vec<Step<'_>>, Vec<&str>) {
    let (mut steps, mut marks): (Vec<Step>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut is_inside = false;
    for (number, line) in page.lines().enumerate() {
        if let Some(mark) = line.strip_prefix("```") {
            is_inside = !is_inside;
            if is_inside {
                marks.push(mark);
            }
        } else if !is_inside || marks.last() != Some(&"console") {
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { line: number + 1, command: command.to_owned(), expected: Vec::new() });
        } else {
            let step = steps.last_mut().expect("a block of commands begins with `$ `");
            if step.command.ends_with('\\') {
                step.command += &format!("\n{line}");
            } else {
                step.expected.push(line);
            }
        }
    }
    (steps, marks)
}

#[derive(Debug, PartialEq)]
enum Token {
    Any,
    Decimal(f64),
    Char(char),
}

fn tokens(line: &str) -> Vec<Token> {
    let (mut tokens, mut rest) = (Vec::new(), line.trim_end());
    while let Some(first) = rest.chars().next() {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let sign = usize::from(first == '-');
        let point = sign + digits(&rest[sign..]);
        let after = rest[point..].strip_prefix('.').map_or(0, digits);
        let (token, length) = if rest.starts_with("...") {
            (Token::Any, 3)
        } else if point > sign && after > 0 {
            let length = point + 1 + after;
            (Token::Decimal(rest[..length].parse().unwrap()), length)
        } else {
            (Token::Char(first), first.len_utf8())
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

/// Whether a pattern describes what was found, where some of its items stand for any number of others.
fn describes<A, B>(pattern: &[A], found: &[B], is_any: fn(&A) -> bool, fits: fn(&A, &B) -> bool) -> bool {
    match (pattern, found) {
        ([first, rest @ ..], _) if is_any(first) => {
            (0..=found.len()).any(|skipped| describes(rest, &found[skipped..], is_any, fits))
        }
        ([first, rest @ ..], [other, others @ ..]) => {
            fits(first, other) && describes(rest, others, is_any, fits)
        }
        (pattern, found) => pattern.is_empty() && found.is_empty(),
    }
}

fn fits(expected: &[&str], printed: &str) -> bool {
    let lines: Vec<&str> = printed.lines().collect();
    describes(
        expected,
        &lines,
        |line| *line == "...",
        |expected, line| {
            describes(
                &tokens(expected),
                &tokens(line),
                |token| *token == Token::Any,
                |expected, found| match (expected, found) {
                    (Token::Decimal(a), Token::Decimal(b)) => (a - b).abs() <= 0.02,
                    _ => expected == found,
                },
            )
        },
    )
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README, all pages of `docs/` and of `integrations/`.
fn pages() -> Vec<(String, String)> {
    let mut names: Vec<String> = Vec::new();
    for folder in ["docs", "docs/getting-started", "docs/guides", "docs/concepts", "docs/reference"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let files = entries.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().display()));
        names.extend(files.filter(|name| name.ends_with(".md")));
    }
    let systems = fs::read_dir(root().join("integrations")).unwrap();
    names.extend(
        systems.map(|entry| format!("integrations/{}/README.md", entry.unwrap().file_name().display())),
    );
    names.sort();
    names.insert(0, "README.md".to_owned());
    names
        .into_iter()
        .map(|name| (fs::read_to_string(root().join(&name)).unwrap(), name))
        .map(|(a, b)| (b, a))
        .collect()
}

#[test]
fn commands_print_what_the_pages_say() {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|program| !is_there(program)).collect();
    let mut wrong = String::new();
    for (name, text) in pages() {
        let (mut steps, _) = read(&text);
        steps.retain(|step| !missing.iter().any(|program| step.command.contains(program)));
        let folder = Folder::new();
        std::os::unix::fs::symlink(root().join("fixtures"), folder.path("fixtures")).unwrap();
        let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
        let runs = shell(env!("CARGO_BIN_EXE_formulanet"), folder.root(), &commands);
        for (Step { line, command, expected }, run) in steps.iter().zip(runs) {
            let may_fail = expected.iter().any(|line| line.starts_with("error:"));
            if (run.code != 0) != may_fail || !fits(expected, &run.printed) {
                let (expected, printed) = (expected.join("\n"), run.printed);
                wrong += &format!("{name}:{line}: $ {command}\nexpected:\n{expected}\nprinted:\n{printed}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_page_is_listed_and_every_block_is_tested() {
    let (readme, summary) = (&pages()[0].1, fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap());
    let compiled = include_str!("../../formulanet-testing/src/lib.rs");
    let run_by_pytest = include_str!("../../../python/tests/test_docs.py");
    for (name, text) in pages() {
        let (_, marks) = read(&text);
        for mark in &marks {
            // Blocks of OCaml are run by hol_light.rs, those of Python by pytest. JSON is for settings of other programs.
            let known = ["console", "rust", "text", "ocaml", "python", "json"];
            assert!(known.contains(mark), "{name}: what is done with `{mark}` blocks?");
        }
        assert!(
            !marks.contains(&"rust") || compiled.contains(&name),
            "{name}: its Rust blocks are not compiled"
        );
        assert!(
            !marks.contains(&"python") || run_by_pytest.contains(&format!("\"{name}\"")),
            "{name}: its Python blocks are not run"
        );
        if let Some(page) = name.strip_prefix("docs/").filter(|page| *page != "SUMMARY.md") {
            assert!(readme.contains(&format!("({name})")), "README.md does not link to {name}");
            assert!(summary.contains(&format!("({page})")), "docs/SUMMARY.md does not list {page}");
        }
    }
}

/// The text of a page outside of its blocks.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// The anchors that headings have on GitHub.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|line| line.chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let others = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "RELEASE.md",
        "SECURITY.md",
        "results/README.md",
    ];
    let others = others.map(|name| (name.to_owned(), fs::read_to_string(root().join(name)).unwrap()));
    let (mut wrong, mut count) = (String::new(), 0);
    for (name, text) in pages().into_iter().chain(others) {
        let text = prose(&text);
        let links = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        for link in links.filter(|link| !link.contains("://")) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let here = root().join(&name);
            let path = if file.is_empty() { here } else { here.parent().unwrap().join(file) };
            let has_anchor = || {
                let target = fs::read_to_string(&path).unwrap_or_default();
                anchors(&prose(&target)).iter().any(|known| known == anchor)
            };
            if !path.exists() || (!anchor.is_empty() && !has_anchor()) {
                wrong += &format!("{name}: {link}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "links to nothing:\n{wrong}");
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn dots_stand_for_anything_and_decimals_may_differ_a_little() {
    let check = |expected: &[&str], printed: &str, is_fine: bool| {
        assert_eq!(fits(expected, printed), is_fine, "{expected:?} {printed:?}");
    };
    check(&["a  0.951 b"], "a  0.96 b\n", true);
    check(&["a  0.951 b"], "a  0.91 b\n", false);
    check(&["took ... ms, 3 done"], "took 17.1 ms, 3 done", true);
    check(&["took ... ms, 3 done"], "took 17 ms, 4 done", false);
    check(&["[-0.5, ...", "...", "end"], "[-0.51, 3]\n1\n2\nend\n", true);
    check(&["one"], "one\ntwo\n", false);
    check(&["one", "two"], "one\n", false);
    check(&[], "", true);
}
