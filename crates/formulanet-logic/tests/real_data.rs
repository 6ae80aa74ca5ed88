//! Properties on real HolStep, Mizar and HOL4 statements, where the archives are at hand.
//!
//! The data are in `shared/data` next to the checkout; without them these tests skip and say so. The environment variable
//! `FORMULANET_SHARED` names another directory than `shared`, and `FORMULANET_STATEMENTS` sets the number of statements of each
//! archive that are tested.
#![expect(clippy::print_stderr, reason = "who runs the tests should know what was looked at")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use formulanet_logic::problem::StatementBuilder;
use formulanet_logic::{
    Formula, Graph, GraphBuilder, Interner, Limits, Names, Symbol, View, deepmath, hol, holstep, tptp,
};

fn sample_size() -> usize {
    std::env::var("FORMULANET_STATEMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("FORMULANET_SHARED").map_or_else(beside, PathBuf::from)
}

fn archive(name: &str) -> Option<PathBuf> {
    let path = shared().join("data").join(name);
    if path.is_file() {
        return Some(path);
    }
    // Past the harness, which shows what a test prints only if it fails.
    let _ = writeln!(std::io::stderr(), "skipped: {} is not there", path.display());
    None
}

/// Calls `check` with the files of an archive until it returns false.
fn for_each_file(archive: &Path, mut check: impl FnMut(&[u8]) -> bool) {
    let decoder = zstd::Decoder::new(BufReader::new(File::open(archive).unwrap())).unwrap();
    let mut tar = tar::Archive::new(decoder);
    let mut text = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let is_copying = entry.path().unwrap().file_name().is_some_and(|name| name == "COPYING");
        if !entry.header().entry_type().is_file() || is_copying {
            continue;
        }
        text.clear();
        entry.read_to_end(&mut text).unwrap();
        if !check(&text) {
            return;
        }
    }
}

/// Everything that is checked of one statement.
#[derive(Default)]
struct Checker {
    names: Interner,
    statements: StatementBuilder,
    counts: [usize; 4],
    mistyped: usize,
}

impl Checker {
    fn graph(&self, formula: &Formula, view: View) -> Graph {
        let mut graph = Graph::new();
        GraphBuilder::new(view, Limits::default()).build(formula, &self.names, &mut graph).unwrap();
        graph
    }

    fn formula(&mut self, formula: &Formula) {
        let graph = self.graph(formula, View::Graph);
        let sizes = [1, graph.node_count(), graph.edge_count(), graph.treelet_count() as usize];
        for (total, size) in self.counts.iter_mut().zip(sizes) {
            *total += size;
        }
        self.print_and_parse(formula);
        self.rename(formula, &graph);
        let dag = self.graph(formula, View::Dag);
        assert!(dag.node_count() <= graph.node_count() && dag.edge_count() <= graph.edge_count());
    }

    fn print_and_parse(&mut self, formula: &Formula) {
        let text = formula.display(&self.names).to_string();
        let options = hol::Options::to_read_back(formula, &self.names);
        let back = hol::parse(&text, &options, &mut self.names).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(back == *formula, "{text}\nbecame\n{}", back.display(&self.names));
    }

    /// Gives every variable a new name, and parses the text with these names.
    fn rename(&mut self, formula: &Formula, graph: &Graph) {
        let mut renamed = formula.clone();
        for var in formula.variable_ids() {
            let name = format!("v{}", (var.index() * 7919 + 13) % 100_003);
            renamed.rename(var, self.names.intern(&name));
        }
        assert!(self.graph(&renamed, View::Graph) == *graph);
        let [here, there] = [formula, &renamed].map(|f| self.statements.build(f).unwrap());
        assert!(here == there);
        let text = renamed.display(&self.names).to_string();
        let options = hol::Options::to_read_back(&renamed, &self.names);
        let back = hol::parse(&text, &options, &mut self.names).unwrap();
        assert!(self.graph(&back, View::Graph) == *graph, "{text}");
    }
}

#[test]
fn holstep_statements() {
    let Some(archive) = archive("holstep-train.tar.zst") else { return };
    let (limits, most) = (Limits::default(), sample_size());
    let (mut checker, mut parser, mut formula) =
        (Checker::default(), holstep::Parser::new(limits), Formula::new());
    for_each_file(&archive, |text| {
        let mut reader = holstep::Reader::new(text, limits);
        let mut conjectures = 0;
        // Files differ more than the statements of one file do.
        for _ in 0..most.div_ceil(200).max(50) {
            let Some(entry) = reader.next_entry().unwrap() else { break };
            conjectures += usize::from(entry.kind == holstep::Kind::Conjecture);
            parser.parse(&entry.statement, &mut checker.names, &mut formula).unwrap();
            checker.formula(&formula);
            typed_text_has_the_same_graph(&mut checker, &entry.statement, &formula);
        }
        assert_eq!(conjectures, 1);
        checker.counts[0] < most
    });
    let (counts, mistyped) = (checker.counts, checker.mistyped);
    eprintln!("checked {counts:?} statements, nodes, edges, treelets; {mistyped} with types that do not fit");
    assert!(mistyped * 1000 <= counts[0]);
}

/// HolStep's text is HOL Light: read as if a user had typed it, it is the same formula.
///
/// With overloading there are rare exceptions: HOL Light tells variables of one name apart by their types, which
/// the text has lost, and then the types that are left do not fit.
fn typed_text_has_the_same_graph(
    checker: &mut Checker,
    statement: &holstep::Tokenized<'_>,
    formula: &Formula,
) {
    let constants = statement.tokens.split(' ').filter_map(|token| token.strip_prefix('c'));
    let free = formula.variables().iter().filter(|v| v.binder.is_none());
    let free: Vec<String> = free.map(|v| checker.names.name(v.name).to_owned()).collect();
    let names = Names::default().with_constants(constants).with_variables(free);
    let theirs = checker.graph(formula, View::Graph);
    for overload in [hol::Overload::Resolved, hol::Overload::Num] {
        let options = hol::Options { names: names.clone(), overload, ..hol::Options::default() };
        let typed = hol::parse(statement.text, &options, &mut checker.names)
            .unwrap_or_else(|error| panic!("{}: {error}", statement.text));
        if checker.graph(&typed, View::Graph) != theirs {
            let shown = typed.display(&checker.names);
            assert!(overload == hol::Overload::Num, "{}\nwas read as\n{shown}", statement.text);
            checker.mistyped += 1;
        }
    }
}

#[test]
fn mizar_statements() {
    let Some(archive) = archive("deepmath-train.tar.zst") else { return };
    let most = sample_size();
    let mut checker = Checker::default();
    let mut formula = Formula::new();
    for_each_file(&archive, |text| {
        let mut reader = deepmath::Reader::new(text, Limits::default());
        while reader.next(&mut checker.names, &mut formula).unwrap().is_some() {
            checker.formula(&formula);
        }
        checker.counts[0] < most
    });
    eprintln!("checked {:?} statements, nodes, edges, treelets", checker.counts);
}

/// HOL4's exporter writes THF with few brackets, and a JSON object in every line.
#[test]
fn hol4_statements() {
    let Some(archive) = archive("hol4-theory.jsonl.zst") else { return };
    let lines = zstd::Decoder::new(BufReader::new(File::open(archive).unwrap())).unwrap();
    let (mut checker, mut read, mut refused) = (Checker::default(), 0, Vec::new());
    for line in BufReader::new(lines).lines() {
        let line = line.unwrap();
        let start = line.find("\"statement\": \"").expect("every object has a statement") + 14;
        let end = start + line[start..].find("\", \"syntax\": \"tptp\"").expect("followed by its syntax");
        let text = line[start..end].replace("\\\"", "\"").replace("\\\\", "\\");
        match tptp::parse_formula(&text, tptp::Language::Thf, Limits::default(), &mut checker.names) {
            Ok(formula) => {
                read += 1;
                if read % 10 == 0 {
                    checker.formula(&formula);
                }
            }
            Err(error) => refused.push(format!("{error} in {text}")),
        }
    }
    eprintln!("read {read} statements, refused {}", refused.len());
    assert!(refused.is_empty(), "{}", refused[..refused.len().min(10)].join("\n"));
    assert_eq!(read, 14_426);
}

/// The plain reference of the graph construction agrees, hash and all, where Python is at hand.
#[test]
fn reference_program() {
    let Some(archive) = archive("holstep-train.tar.zst") else { return };
    let reference = shared().join("reference/refgraph.py");
    let directory = std::env::temp_dir().join(format!("formulanet-reference-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut paths = Vec::new();
    for_each_file(&archive, |text| {
        let path = directory.join(format!("{:05}", paths.len()));
        std::fs::write(&path, text).unwrap();
        paths.push(path);
        paths.len() < 5
    });
    let output = std::process::Command::new("python3").arg(&reference).args(&paths).output();
    let Ok(output) = output else {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(std::io::stderr(), "skipped: python3 is not there");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (limits, mut names, mut formula) = (Limits::default(), Interner::new(), Formula::new());
    let mut parser = holstep::Parser::new(limits);
    let mut lines = output.stdout.lines();
    for path in &paths {
        let mut reader = holstep::Reader::new(BufReader::new(File::open(path).unwrap()), limits);
        while let Some(entry) = reader.next_entry().unwrap() {
            parser.parse(&entry.statement, &mut names, &mut formula).unwrap();
            let mut graph = Graph::new();
            GraphBuilder::new(View::Graph, limits).build(&formula, &names, &mut graph).unwrap();
            let counts = format!(
                "{{\"nodes\": {}, \"edges\": {}, \"treelets\": {}, ",
                graph.node_count(),
                graph.edge_count(),
                graph.treelet_count()
            );
            let expected = lines.next().expect("one line per statement").unwrap();
            assert!(expected.starts_with(&counts), "{}: {expected} {counts}", entry.statement.text);
            assert_eq!(graph.labels()[0], Symbol::TURNSTILE);
        }
    }
    assert!(lines.next().is_none());
    std::fs::remove_dir_all(&directory).unwrap();
}
