//! One file of a data set to graphs, independently of all other files.

use std::collections::HashMap;

use formulanet::logic::problem::StatementGraph;
use formulanet::logic::{
    Formula, Graph, GraphBuilder, Interner, Limit, Limits, ParseError, Position, ReadError, Symbol, deepmath,
    hol, holstep,
};
use serde::Deserialize;

use super::Options;
use super::source::{Layout, SourceFile};
use super::split::Split;
use super::statements::StatementMaker;
use crate::{Error, Progress};
use formulanet::Language;
use formulanet::read::SkippedStatements;
use formulanet::util::hash::{hash_text, mix};

/// The contents of a file, in order.
pub(super) enum Entry {
    /// A conjecture, to which the entries after it belong.
    Conjecture {
        name: String,
        graph: u32,
        /// In JSON Lines, the text that makes two conjectures the same one.
        key: Option<String>,
    },
    /// A named theorem, and whether the conjecture's proof depends on it.
    Named { name: String, graph: u32, is_dependency: bool },
    /// A labelled statement.
    Pair { name: Option<String>, graph: u32, useful: bool },
}

/// Graphs as flat arrays, with labels as symbols of the worker that made them.
#[derive(Default)]
pub(super) struct Graphs {
    pub(super) labels: Vec<u32>,
    pub(super) degrees: Vec<u16>,
    pub(super) targets: Vec<u16>,
    /// For each graph, where its nodes and edges end, and a hash that does not depend on the worker.
    pub(super) ends: Vec<(u32, u32, u64)>,
}

/// The contents of a file.
#[derive(Default)]
pub(super) struct Parsed {
    pub(super) worker: usize,
    pub(super) file: String,
    pub(super) split: Split,
    /// Labels that the worker had not used before: number and text.
    pub(super) new_labels: Vec<(u32, String)>,
    pub(super) graphs: Graphs,
    /// For each graph, the same statement as a part of problems, if the options ask for it.
    pub(super) statements: Vec<StatementGraph>,
    /// Symbols of statements that the worker had not met before: number and text.
    pub(super) new_symbols: Vec<(u32, String)>,
    pub(super) entries: Vec<Entry>,
    /// Statements that were left out.
    pub(super) skipped: SkippedStatements,
}

/// Turns files into graphs; every thread has one.
pub(super) struct Worker<'a> {
    id: usize,
    options: &'a Options,
    progress: &'a dyn Progress,
    layout: Layout,
    limits: Limits,
    names: Interner,
    builder: GraphBuilder,
    holstep: holstep::Parser,
    formula: Formula,
    graph: Graph,
    /// For each symbol, the hash of its text once it has been a label; 0 before.
    label_hashes: Vec<u64>,
    new_labels: Vec<(u32, String)>,
    /// Makes statements of problems, if the options ask for it.
    statements: Option<StatementMaker>,
}

#[derive(Deserialize)]
struct JsonPair {
    conjecture: String,
    statement: String,
    useful: bool,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    syntax: Language,
}

impl<'a> Worker<'a> {
    pub(super) fn new(id: usize, layout: Layout, options: &'a Options, progress: &'a dyn Progress) -> Self {
        // Nodes and degrees are stored in sixteen bits.
        let limits = Limits { nodes: options.limits.nodes.min(usize::from(u16::MAX)), ..options.limits };
        Worker {
            id,
            options,
            progress,
            layout,
            limits,
            names: Interner::new(),
            builder: GraphBuilder::new(options.view, limits),
            holstep: holstep::Parser::new(limits),
            formula: Formula::new(),
            graph: Graph::new(),
            label_hashes: Vec::new(),
            new_labels: Vec::new(),
            statements: options.together.then(|| StatementMaker::new(limits)),
        }
    }

    pub(super) fn parse(&mut self, file: SourceFile) -> Result<Parsed, Error> {
        let mut parsed = Parsed { worker: self.id, file: file.name, split: file.split, ..Parsed::default() };
        if file.is_cut {
            let at = ParseError::at(Position { line: file.first_line, column: 1 }, self.longest(), "more");
            self.skip(Error::parse(&parsed.file, at.over(Limit::Bytes)), &mut parsed)?;
            return Ok(parsed);
        }
        let result = match (Layout::of(&file.content), self.layout) {
            (Some(found), layout) if found == layout => match layout {
                Layout::Holstep => self.holstep(&file.content, &mut parsed),
                Layout::Deepmath => self.deepmath(&file.content, &mut parsed),
                Layout::Jsonl => self.jsonl(&file.content, file.first_line, &mut parsed),
            },
            // A piece of a JSON Lines file may be blank, and so may a whole file of any kind be.
            (None, Layout::Jsonl) if file.content.trim_ascii().is_empty() => Ok(()),
            (_, layout) => {
                let name = Layout::ALL.iter().find(|(_, l)| *l == layout).map_or("", |(name, _)| name);
                let message = format!("expected a {name} file as the others are, found something else");
                Err(Error::input(&parsed.file, message))
            }
        };
        if let Err(error) = result {
            self.skip(error, &mut parsed)?;
        }
        parsed.new_labels = std::mem::take(&mut self.new_labels);
        if let Some(statements) = &mut self.statements {
            parsed.new_symbols = std::mem::take(&mut statements.new_symbols);
        }
        Ok(parsed)
    }

    fn longest(&self) -> String {
        format!("at most {} bytes in a line", self.limits.bytes)
    }

    /// Notes an error and goes on, or stops.
    fn skip(&self, error: Error, parsed: &mut Parsed) -> Result<(), Error> {
        if !self.options.keep_going || matches!(error, Error::Interrupted) {
            return Err(error);
        }
        parsed.skipped.note(&error);
        Ok(())
    }

    fn holstep(&mut self, content: &[u8], parsed: &mut Parsed) -> Result<(), Error> {
        let mut reader = holstep::Reader::new(content, self.limits);
        let mut has_conjecture = false;
        loop {
            let entry = match reader.next_entry() {
                Ok(None) => return Ok(()),
                Ok(Some(entry)) => entry,
                Err(error) => {
                    let is_readable = matches!(error, ReadError::Parse(_));
                    self.skip(Error::read(&parsed.file, error), parsed)?;
                    if !is_readable {
                        return Ok(());
                    }
                    reader.recover();
                    continue;
                }
            };
            if entry.kind != holstep::Kind::Conjecture && !has_conjecture {
                // Without its conjecture, nothing else of the file means anything.
                let Position { line, .. } = entry.statement.position;
                let message = "expected a conjecture that can be read before this, found none";
                self.skip(Error::input(format!("{}:{line}", parsed.file), message), parsed)?;
                continue;
            }
            let result = self.holstep.parse(&entry.statement, &mut self.names, &mut self.formula);
            let result = result.map_err(|error| Error::parse(&parsed.file, error));
            let graph = match result.and_then(|()| self.add(entry.statement.position, parsed)) {
                Ok(graph) => graph,
                Err(error) => {
                    self.skip(error, parsed)?;
                    continue;
                }
            };
            has_conjecture = true;
            let name = entry.name.unwrap_or_default().to_owned();
            parsed.entries.push(match entry.kind {
                holstep::Kind::Conjecture => Entry::Conjecture { name, graph, key: None },
                holstep::Kind::Dependency => Entry::Named { name, graph, is_dependency: true },
                holstep::Kind::Step { useful } => Entry::Pair { name: None, graph, useful },
            });
        }
    }

    fn deepmath(&mut self, content: &[u8], parsed: &mut Parsed) -> Result<(), Error> {
        let mut reader = deepmath::Reader::new(content, self.limits);
        let mut has_conjecture = false;
        loop {
            let line = match reader.next(&mut self.names, &mut self.formula) {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => Ok((line.kind, line.name.into_owned(), line.number)),
                Err(ReadError::Parse(error)) => Err(Error::parse(&parsed.file, error)),
                Err(error) => return Err(Error::read(&parsed.file, error)),
            };
            let is_conjecture = reader.last_kind() == Some(deepmath::Kind::Conjecture);
            // Without its conjecture, a premise means nothing.
            has_conjecture &= !is_conjecture;
            let added = line.and_then(|(kind, name, number)| {
                if !is_conjecture && !has_conjecture {
                    let message = "expected a conjecture that can be read before this, found none";
                    return Err(Error::input(format!("{}:{number}", parsed.file), message));
                }
                let graph = self.add(Position { line: number, column: 3 }, parsed)?;
                Ok((kind, name, graph))
            });
            let (kind, name, graph) = match added {
                Ok(added) => added,
                Err(error) => {
                    self.skip(error, parsed)?;
                    reader.recover();
                    continue;
                }
            };
            has_conjecture |= is_conjecture;
            if kind == deepmath::Kind::Conjecture {
                // A theorem of the library like all others, for the conjectures after it.
                parsed.entries.push(Entry::Named { name: name.clone(), graph, is_dependency: false });
            }
            parsed.entries.push(match kind {
                deepmath::Kind::Conjecture => Entry::Conjecture { name, graph, key: None },
                deepmath::Kind::Useful => Entry::Pair { name: Some(name), graph, useful: true },
                deepmath::Kind::Useless => Entry::Pair { name: Some(name), graph, useful: false },
            });
        }
    }

    fn jsonl(&mut self, content: &[u8], first_line: usize, parsed: &mut Parsed) -> Result<(), Error> {
        let mut last: Option<String> = None;
        for (number, line) in (first_line..).zip(content.split(|&byte| byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Err(error) = self.json_line(line, number, &mut last, parsed) {
                self.skip(error, parsed)?;
            }
        }
        Ok(())
    }

    fn json_line(
        &mut self,
        line: &[u8],
        number: usize,
        last: &mut Option<String>,
        parsed: &mut Parsed,
    ) -> Result<(), Error> {
        if line.len() > self.limits.bytes {
            let long = ParseError::at(Position { line: number, column: 1 }, self.longest(), "more");
            return Err(Error::parse(&parsed.file, long.over(Limit::Bytes)));
        }
        let pair: JsonPair = serde_json::from_slice(line).map_err(|error| {
            let position = Position { line: number, column: error.column().max(1) };
            let expected = r#"{"conjecture": "...", "statement": "...", "useful": true}"#.to_owned();
            let message = error.to_string();
            let found = message.split(" at line ").next().unwrap_or_default().to_owned();
            Error::parse(&parsed.file, ParseError::at(position, expected, found))
        })?;
        let position = Position { line: number, column: 1 };
        if last.as_ref() != Some(&pair.conjecture) {
            let graph = self.json_formula(&pair.conjecture, "conjecture", pair.syntax, position, parsed)?;
            let name: String = pair.conjecture.chars().take(80).collect();
            parsed.entries.push(Entry::Conjecture { name, graph, key: Some(pair.conjecture.clone()) });
            *last = Some(pair.conjecture);
        }
        let graph = self.json_formula(&pair.statement, "statement", pair.syntax, position, parsed)?;
        parsed.entries.push(Entry::Pair { name: pair.name, graph, useful: pair.useful });
        Ok(())
    }

    fn json_formula(
        &mut self,
        text: &str,
        field: &str,
        syntax: Language,
        position: Position,
        parsed: &mut Parsed,
    ) -> Result<u32, Error> {
        let options = hol::Options { limits: self.limits, ..hol::Options::default() };
        self.formula =
            formulanet::statement::parse(text, syntax, &options, &mut self.names).map_err(|error| {
                let file = format!("{}:{}", parsed.file, position.line);
                Error::input(file, format!("in the {field}, {error}"))
            })?;
        self.add(position, parsed)
    }

    /// Adds the graph of the current formula and returns its number within the file.
    fn add(&mut self, position: Position, parsed: &mut Parsed) -> Result<u32, Error> {
        self.progress.check()?;
        if let Some(seed) = self.options.rename_variables {
            rename(&mut self.formula, &mut self.names, seed);
        }
        let file = parsed.file.clone();
        let too_large = |cause| Error::TooLarge { file, position, cause };
        self.builder.build(&self.formula, &self.names, &mut self.graph).map_err(too_large.clone())?;
        let (graph, graphs) = (&self.graph, &mut parsed.graphs);
        let wide = graph.starts().windows(2).find(|w| w[1] - w[0] > u32::from(u16::MAX));
        if wide.is_some() {
            let message = format!("{position}: expected at most {} children of a node, found more", u16::MAX);
            return Err(Error::input(&parsed.file, message));
        }
        // The vocabulary is a file of lines.
        let is_known = |label: Symbol| self.label_hashes.get(label.index()).is_some_and(|&hash| hash != 0);
        let is_line = |label: Symbol| !self.names.name(label).contains(['\n', '\r']);
        if !graph.labels().iter().all(|&label| is_known(label) || is_line(label)) {
            let message = format!("{position}: expected symbols without line breaks, found one with");
            return Err(Error::input(&parsed.file, message));
        }
        if let Some(statements) = &mut self.statements {
            let statement = statements.make(&self.formula, &self.names);
            parsed.statements.push(statement.map_err(too_large)?);
        }
        self.label_hashes.resize(self.names.len(), 0);
        let mut hash = mix(graph.node_count() as u64, graph.edge_count() as u64 | 1 << 40);
        for &label in graph.labels() {
            let known = &mut self.label_hashes[label.index()];
            if *known == 0 {
                let text = self.names.name(label);
                *known = hash_text(text);
                self.new_labels.push((label.index() as u32, text.to_owned()));
            }
            hash = mix(hash ^ *known, 0x9e37_79b9_7f4a_7c15);
            graphs.labels.push(label.index() as u32);
        }
        for w in graph.starts().windows(2) {
            hash = mix(hash ^ u64::from(w[1] - w[0]), 0xd1b5_4a32_d192_ed03);
            graphs.degrees.push((w[1] - w[0]) as u16);
        }
        for target in graph.targets() {
            hash = mix(hash ^ u64::from(target.0), 0xa24b_aed4_963e_e407);
            graphs.targets.push(target.0 as u16);
        }
        graphs.ends.push((graphs.labels.len() as u32, graphs.targets.len() as u32, hash));
        Ok(graphs.ends.len() as u32 - 1)
    }
}

/// Names to draw from in addition to the formula's own, so that a formula with one variable is renamed as well.
const POOL: [&str; 32] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "m", "n", "p", "q", "r", "s", "t", "u", "v", "w",
    "x", "y", "z", "x'", "y'", "A", "B", "P", "Q", "S", "V",
];

/// Gives every variable name of a formula another one, by the seed and the formula's size. Variables of the same
/// name keep sharing one.
fn rename(formula: &mut Formula, names: &mut Interner, seed: u64) {
    let mut own: Vec<Symbol> = Vec::new();
    let mut places: HashMap<Symbol, usize> = HashMap::new();
    for variable in formula.variables() {
        places.entry(variable.name).or_insert_with(|| {
            own.push(variable.name);
            own.len() - 1
        });
    }
    let mut choices: Vec<Symbol> = own.clone();
    for name in POOL {
        let symbol = names.intern(name);
        if !places.contains_key(&symbol) {
            choices.push(symbol);
        }
    }
    // Fisher and Yates, with a generator that depends on what is renamed.
    let mut state = mix(seed, formula.len() as u64);
    for name in &own {
        state = mix(state ^ hash_text(names.name(*name)), 0x2545_f491_4f6c_dd1d);
    }
    for i in 0..own.len().min(choices.len() - 1) {
        state = mix(state, 0x9e37_79b9_7f4a_7c15);
        let j = i + (state % (choices.len() - i) as u64) as usize;
        choices.swap(i, j);
    }
    for var in formula.variable_ids() {
        let name = formula.variables()[var.index()].name;
        formula.rename(var, choices[places[&name]]);
    }
}
