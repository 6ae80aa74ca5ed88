//! `formulanet graph`: what the network sees of a formula.

mod problem;

use std::io::{self, BufWriter, Write};

use anyhow::{Result, bail};
use clap::{ArgGroup, Args, ValueEnum};
use formulanet::logic::draw::{self, SvgOptions};
use formulanet::logic::{Formula, Graph, GraphBuilder, Interner, Limits, Position, hol};
use formulanet::read::{Format, Source, SourceItem};
use formulanet::{Error, Language};

use crate::input::{FormulaArguments, LimitArguments, ViewArgument, writing};
use crate::output::shown;
use crate::usage::refuse_given;

/// Show the graph of a formula
///
/// The graph is the input of the network and does not depend on the names of variables. With --problem, a conjecture and all
/// axioms become one graph in which every symbol is one node.
#[derive(Args)]
#[command(
    group(ArgGroup::new("source").required(true)),
    after_help = "Examples:\n  \
        formulanet graph '!x. ?y. P x /\\ Q x y'\n  \
        formulanet graph --format svg 'x + &0 = x' > graph.svg\n  \
        formulanet graph --format json --tptp problem.p\n  \
        formulanet graph --format svg --problem problem.p > problem.svg\n  \
        echo '!n. n < SUC n' | formulanet graph --view dag -"
)]
pub(crate) struct Arguments {
    /// Formula or sequent, `@FILE`, or `-` for standard input
    #[arg(group = "source", allow_hyphen_values = true)]
    formula: Option<String>,
    /// Show all statements of HolStep files; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source", num_args = 1..)]
    holstep: Vec<String>,
    /// Show all formulas of TPTP problems and their includes
    #[arg(long, value_name = "FILE", group = "source", num_args = 1..)]
    tptp: Vec<String>,
    /// Show all statements of DeepMath files
    #[arg(long, value_name = "FILE", group = "source", num_args = 1..)]
    deepmath: Vec<String>,
    /// Show the conjecture and the axioms of a TPTP problem and its includes as one graph; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source", conflicts_with = "view")]
    problem: Option<String>,
    /// With --problem: number the symbols instead of naming them
    #[arg(long)]
    no_names: bool,
    /// Show only the N-th statement of the files, counted from 1
    #[arg(long, value_name = "N", conflicts_with_all = ["formula", "problem"])]
    nth: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    view: ViewArgument,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// The formula, its size, and every node with its edges.
    Text,
    /// One object per line: labels of the nodes, edges in rank order, number of treelets.
    Json,
    /// Graphviz.
    Dot,
    /// A drawing.
    Svg,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if let Some(file) = &arguments.problem {
        arguments.reading.refuse("a problem")?;
        return problem::run(&arguments, file);
    }
    refuse_given(&[("--no-names", arguments.no_names)], "a formula that stands alone")?;
    let limits = arguments.limits.limits();
    let mut names = Interner::new();
    let builder = GraphBuilder::new(arguments.view.view, limits);
    let output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut printer = Printer::new(output, arguments.format, builder);
    if let Some(formula) = &arguments.formula {
        let formula = arguments.reading.parse(formula, limits, &mut names)?;
        let place = ("formula", Position { line: 1, column: 1 });
        let statement = SourceItem::new((None, ""), place, ("", Language::Hol), &formula);
        printer.print(&statement, &names)?;
    } else {
        arguments.reading.refuse("a file of statements")?;
        print_files(&arguments, limits, &mut names, &mut printer)?;
    }
    printer.finish()
}

fn print_files(
    arguments: &Arguments,
    limits: Limits,
    names: &mut Interner,
    printer: &mut Printer<impl Write>,
) -> Result<()> {
    let sources = [
        (Format::Holstep, &arguments.holstep),
        (Format::Tptp, &arguments.tptp),
        (Format::Deepmath, &arguments.deepmath),
    ];
    let options = hol::Options { limits, ..hol::Options::default() };
    let mut count = 0;
    for (format, files) in sources {
        for file in files {
            let mut items = Source::open(file)?.in_format(Some(format)).items(options.clone())?;
            while let Some(item) = items.next(names)? {
                count += 1;
                if arguments.nth.is_none_or(|n| n == count) {
                    printer.print(&item, names)?;
                }
            }
        }
    }
    if let Some(n) = arguments.nth
        && n > count
    {
        bail!("expected --nth to be from 1 to {count}, the number of statements, found {n}");
    }
    Ok(())
}

struct Printer<W> {
    output: W,
    format: Output,
    builder: GraphBuilder,
    graph: Graph,
    printed: usize,
    /// For each symbol, its name as a JSON string.
    json_names: Vec<String>,
}

impl<W: Write> Printer<W> {
    fn new(output: W, format: Output, builder: GraphBuilder) -> Self {
        Printer { output, format, builder, graph: Graph::new(), printed: 0, json_names: Vec::new() }
    }

    fn print(&mut self, statement: &SourceItem<'_>, names: &Interner) -> Result<()> {
        self.builder.build(statement.formula, names, &mut self.graph).map_err(|cause| Error::TooLarge {
            file: statement.file.to_owned(),
            position: statement.position,
            cause,
        })?;
        self.printed += 1;
        match self.format {
            Output::Text => writing(self.text(statement, names)),
            Output::Json => writing(self.json(statement, names)),
            Output::Dot => writing(write!(self.output, "{}", draw::dot(&self.graph, names))),
            Output::Svg if self.printed > 1 => {
                bail!("expected one statement to draw as SVG, found more; choose one with --nth N")
            }
            Output::Svg => {
                let title = Some(title(statement, names));
                let picture = draw::svg(&self.graph, names, &SvgOptions { title, ..SvgOptions::default() })?;
                writing(self.output.write_all(picture.as_bytes()))
            }
        }
    }

    fn finish(mut self) -> Result<()> {
        writing(self.output.flush())
    }

    fn text(&mut self, statement: &SourceItem<'_>, names: &Interner) -> io::Result<()> {
        let (graph, out) = (&self.graph, &mut self.output);
        if self.printed > 1 {
            writeln!(out)?;
        }
        if let Some(name) = statement.name {
            writeln!(out, "{} ({})", shown(name), statement.role)?;
        } else if !statement.role.is_empty() {
            writeln!(out, "({})", statement.role)?;
        }
        writeln!(out, "{}", shown(&statement.formula.display(names).to_string()))?;
        let treelets = graph.treelet_count();
        writeln!(out, "{} nodes, {} edges, {treelets} treelets", graph.node_count(), graph.edge_count())?;
        let width = graph.labels().iter().map(|&l| names.name(l).chars().count()).max().unwrap_or(0).min(24);
        for node in graph.nodes() {
            let label = shown(names.name(graph.labels()[node.index()]));
            let children = graph.children(node);
            if children.is_empty() {
                writeln!(out, "{:>5}  {label}", node.0)?;
                continue;
            }
            write!(out, "{:>5}  {label:<width$}  ->", node.0)?;
            for child in children {
                write!(out, " {}", child.0)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn json(&mut self, statement: &SourceItem<'_>, names: &Interner) -> io::Result<()> {
        if self.json_names.len() < names.len() {
            for symbol in names.symbols().skip(self.json_names.len()) {
                self.json_names.push(serde_json::to_string(names.name(symbol))?);
            }
        }
        let (graph, out) = (&self.graph, &mut self.output);
        write!(out, "{{\"nodes\":[")?;
        for (i, label) in graph.labels().iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(out, "{comma}{}", self.json_names[label.index()])?;
        }
        write!(out, "],\"edges\":[")?;
        for (i, (source, target)) in graph.edges().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(out, "{comma}[{},{}]", source.0, target.0)?;
        }
        write!(out, "],\"treelets\":{}", graph.treelet_count())?;
        if let Some(name) = statement.name {
            write!(out, ",\"name\":{}", serde_json::to_string(name)?)?;
        }
        if !statement.role.is_empty() {
            write!(out, ",\"role\":{}", serde_json::to_string(statement.role)?)?;
        }
        writeln!(out, "}}")
    }
}

/// The title of a drawing: the statement's name, or its text if that is short.
fn title(statement: &SourceItem<'_>, names: &Interner) -> String {
    let text = |formula: &Formula| formula.display(names).to_string();
    match statement.name {
        Some(name) => name.to_owned(),
        None => text(statement.formula).chars().take(200).collect(),
    }
}
