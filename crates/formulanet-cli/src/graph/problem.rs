//! `formulanet graph --problem`: a conjecture and all axioms as one graph.

use std::io::{self, BufWriter, Write};

use anyhow::{Result, anyhow};
use formulanet::Error;
use formulanet::logic::draw::{self, SvgOptions};
use formulanet::logic::problem::{
    NO_SYMBOL, ProblemBuilder, ProblemGraph, ProblemLimits, StatementBuilder, StatementGraph,
};
use formulanet::logic::{Interner, Position, TooLarge, hol};
use formulanet::read::{Format, Source, is_goal};
use serde_json::{Value, json};

use super::{Arguments, Output};
use crate::input::writing;

/// A statement of the problem, and where it stands.
struct Statement {
    name: String,
    role: String,
    file: String,
    position: Position,
    graph: StatementGraph,
}

impl Statement {
    /// No flag changes how large a whole problem may be.
    fn too_large(&self, cause: &TooLarge) -> anyhow::Error {
        let place = format!("{}:{}", self.file, self.position);
        anyhow!("{place}: {cause} in the whole problem; give fewer or smaller statements")
    }
}

/// Shows the problem in a TPTP file.
pub(super) fn run(arguments: &Arguments, file: &str) -> Result<()> {
    let limits = arguments.limits.limits();
    let mut names = Interner::new();
    let mut statements: Vec<Statement> = Vec::new();
    let mut builder = StatementBuilder::new(limits);
    let options = hol::Options { limits, ..hol::Options::default() };
    let mut items = Source::open(file)?.in_format(Some(Format::Tptp)).items(options)?;
    while let Some(item) = items.next(&mut names)? {
        let graph = builder.build(item.formula).map_err(|cause| Error::TooLarge {
            file: item.file.to_owned(),
            position: item.position,
            cause,
        })?;
        statements.push(Statement {
            name: item.name.unwrap_or_default().to_owned(),
            role: item.role.to_owned(),
            file: item.file.to_owned(),
            position: item.position,
            graph,
        });
    }
    let Some(conjecture) = statements.iter().position(|statement| is_goal(&statement.role)) else {
        return Err(Error::NoConjecture { file: file.to_owned() }.into());
    };
    statements[..=conjecture].rotate_right(1);
    let mut problem = ProblemBuilder::new(ProblemLimits::default());
    for statement in &statements {
        problem.add(statement.graph.view()).map_err(|cause| statement.too_large(&cause))?;
    }
    let (graph, names) = (problem.finish(), (!arguments.no_names).then_some(&names));
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match arguments.format {
        Output::Text => writing(print(&mut output, &statements, &graph, names))?,
        Output::Json => writing(writeln!(output, "{}", object(&statements, &graph, names)))?,
        Output::Dot => writing(write!(output, "{}", draw::problem_dot(&graph, names)))?,
        Output::Svg => {
            let title = names.is_some().then(|| statements[0].name.clone());
            let picture = draw::problem_svg(&graph, names, &SvgOptions { title, ..SvgOptions::default() })?;
            writing(output.write_all(picture.as_bytes()))?;
        }
    }
    writing(output.flush())
}

/// How often every symbol occurs.
fn occurrences(graph: &ProblemGraph) -> Vec<usize> {
    let mut counts = vec![0; graph.symbol_count()];
    graph.symbol_of().iter().filter(|&&symbol| symbol != NO_SYMBOL).for_each(|&s| counts[s as usize] += 1);
    counts
}

fn print(
    out: &mut impl Write,
    statements: &[Statement],
    graph: &ProblemGraph,
    names: Option<&Interner>,
) -> io::Result<()> {
    writeln!(
        out,
        "{} statements, {} nodes, {} edges, {} symbols, {} of them in the conjecture\n",
        graph.statement_count(),
        graph.node_count(),
        graph.edge_count(),
        graph.symbol_count(),
        graph.conjecture_symbol_count()
    )?;
    if names.is_some() {
        for (number, statement) in statements.iter().enumerate() {
            writeln!(out, "statement {number} is {} ({})", statement.name, statement.role)?;
        }
    }
    for (symbol, count) in occurrences(graph).into_iter().enumerate() {
        let nodes = if count == 1 { "node" } else { "nodes" };
        writeln!(out, "symbol {} at {count} {nodes}", graph.symbol_text(symbol as u32, names))?;
    }
    write!(out, "\n{}", graph.text(names))
}

/// The graph as flat arrays; names stand in fields of their own, so that the rest does not depend on them.
fn object(statements: &[Statement], graph: &ProblemGraph, names: Option<&Interner>) -> Value {
    let nodes = 0..graph.node_count() as u32;
    let edge = |source: u32| {
        graph
            .edges(source)
            .map(move |(target, class, is_negated)| json!([source, target, class.name(), is_negated]))
    };
    let symbols: Vec<Option<u32>> =
        graph.symbol_of().iter().map(|&symbol| (symbol != NO_SYMBOL).then_some(symbol)).collect();
    let mut object = json!({
        "nodes": nodes.clone().map(|node| graph.label(node).name()).collect::<Vec<_>>(),
        "symbol_of": symbols,
        "edges": nodes.flat_map(edge).collect::<Vec<_>>(),
        "statements": (0..statements.len())
            .map(|number| json!({ "root": graph.root(number), "nodes": graph.statement(number) }))
            .collect::<Vec<_>>(),
        "symbols": graph.symbol_count(),
        "conjecture_symbols": graph.conjecture_symbol_count(),
    });
    if names.is_some() {
        object["names"] = statements.iter().map(|statement| json!(statement.name)).collect();
        object["symbol_names"] =
            (0..graph.symbol_count() as u32).map(|symbol| json!(graph.symbol_text(symbol, names))).collect();
    }
    object
}
