//! Flags that several commands share, and what they mean.

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use formulanet::logic::hol::{self, Overload};
use formulanet::logic::tptp::{self, Language};
use formulanet::logic::{Formula, Interner, Limits, View};
use formulanet::model::TrainedModel;
use formulanet::model::shipped;
use formulanet::net::{Compute, Precision};
use formulanet::processes;
use formulanet::rank::ranker::Ranker;
use formulanet::rank::selection::Selection;
use formulanet::read::Syntax;
use formulanet::read::{self, Format};

use crate::processes::group;

/// How large an input may be.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Bytes of one formula or line.
    #[arg(long, value_name = "N", default_value_t = Limits::default().bytes)]
    max_bytes: usize,
    /// Depth of nested brackets and binders.
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: usize,
    /// Nodes of one formula.
    #[arg(long, value_name = "N", default_value_t = Limits::default().nodes)]
    max_nodes: usize,
    /// Treelets of one graph.
    #[arg(long, value_name = "N", default_value_t = Limits::default().treelets)]
    max_treelets: u64,
}

impl LimitArguments {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            bytes: self.max_bytes,
            depth: self.max_depth,
            nodes: self.max_nodes,
            treelets: self.max_treelets,
        }
    }
}

/// How a formula on the command line is read.
#[derive(Args)]
#[command(next_help_heading = "Reading a formula")]
pub(crate) struct FormulaArguments {
    /// The language of the formula; if not given, that of what it is for, or HOL Light
    #[arg(long, value_enum)]
    syntax: Option<SyntaxName>,
    /// What `+`, `<=` and the like mean where no operand or annotation tells.
    #[arg(long, value_name = "TYPE", default_value = "num",
          value_parser = PossibleValuesParser::new(Overload::ALL.map(|(name, _)| name)))]
    overload: String,
    /// Names that are constants, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    constants: Vec<String>,
    /// Names that are variables, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    variables: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SyntaxName {
    /// HOL Light.
    Hol,
    /// A TPTP formula, with or without `fof(...)` around it.
    Tptp,
}

impl FormulaArguments {
    /// The language that was asked for.
    pub(crate) fn syntax(&self) -> Option<Syntax> {
        self.syntax.map(|name| match name {
            SyntaxName::Hol => Syntax::Hol,
            SyntaxName::Tptp => Syntax::Tptp,
        })
    }

    /// Reads a formula: the text itself, `@FILE`, or `-` for standard input.
    pub(crate) fn parse(&self, argument: &str, limits: Limits, names: &mut Interner) -> Result<Formula> {
        let options = hol::Options { limits, ..hol::Options::default() };
        self.parse_as(argument, self.syntax().unwrap_or_default(), options, names)
    }

    /// The same in a language that is used if none was asked for, and with what is known of names.
    pub(crate) fn parse_as(
        &self,
        argument: &str,
        syntax: Syntax,
        known: hol::Options,
        names: &mut Interner,
    ) -> Result<Formula> {
        let limits = known.limits;
        let (source, text) = match argument.strip_prefix('@') {
            Some(file) => (file, read::read_text(file, limits.bytes)?),
            None if argument == "-" => ("-", read::read_text("-", limits.bytes)?),
            None => ("formula", argument.to_owned()),
        };
        let formula = match self.syntax().unwrap_or(syntax) {
            Syntax::Hol => {
                let options = hol::Options {
                    names: known.names.with_constants(&self.constants).with_variables(&self.variables),
                    overload: named(&Overload::ALL, &self.overload),
                    limits,
                };
                hol::parse(&text, &options, names)
            }
            Syntax::Tptp => tptp::parse_formula(&text, Language::Fof, limits, names),
        };
        // An error prints as `source:line:column: ...`, as it does for files.
        formula.map_err(|error| anyhow::anyhow!("{source}:{error}"))
    }
}

/// Which statements are taken, beside how many.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectionArguments {
    /// None that is less likely to be useful than this
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    threshold: f32,
    /// Statements that must be in, by name or pattern (`ADD_*`); they count among the K
    #[arg(long, value_name = "NAME")]
    include: Vec<String>,
    /// Statements that must not be in, by name or pattern
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
}

impl SelectionArguments {
    pub(crate) fn selection(&self, most: usize) -> Selection {
        let (include, exclude) = (self.include.clone(), self.exclude.clone());
        Selection { most, threshold: self.threshold, include, exclude }
    }
}

/// What a network runs on.
#[derive(Args)]
pub(crate) struct ComputeArguments {
    /// bf16 where the CPU multiplies it (auto), or always one of them
    #[arg(long, value_name = "auto|f32|bf16", default_value = "auto", value_parser = super::train::parse_word::<Precision>)]
    precision: Precision,
    /// Threads; as many as there are cores if not given. Processes on the same cores share them
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl ComputeArguments {
    pub(crate) fn compute(&self) -> Compute {
        Compute::among(group(), self.precision, self.threads())
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| processes::threads(group())).max(1)
    }
}

/// The given model, or the shipped one for the language of what is read, within limits.
pub(crate) fn ranker_for(
    model: Option<&str>,
    syntax: Option<Syntax>,
    files: &[String],
    format: Option<Format>,
    compute: &ComputeArguments,
    limits: Limits,
) -> Result<Ranker> {
    let name = match model {
        Some(model) => model,
        None => shipped::for_syntax(syntax.map_or_else(|| language(files, format), Ok)?),
    };
    Ok(Ranker::new(TrainedModel::named(name)?, compute.compute())?.with_limits(limits))
}

/// The language of the first file.
pub(crate) fn language(files: &[String], format: Option<Format>) -> Result<Syntax> {
    let format = match (format, files.first()) {
        (Some(format), _) => format,
        (None, Some(file)) if file != "-" => Format::of_file(file)?,
        _ => Format::Hol,
    };
    Ok(format.syntax())
}

/// `--input-format`
#[derive(Args)]
pub(crate) struct FormatArgument {
    /// What the files of statements are; recognised by looking if not given
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)))]
    input_format: Option<String>,
}

impl FormatArgument {
    pub(crate) fn format(&self) -> Option<Format> {
        self.input_format.as_deref().map(|name| named(&Format::ALL, name))
    }
}

/// How a list of statements is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// A table.
    Text,
    /// One object per line.
    Json,
}

/// `--view`
#[derive(Args)]
pub(crate) struct ViewArgument {
    /// Which graph is made of a formula.
    #[arg(long, default_value = "graph", value_parser = PossibleValuesParser::new(View::ALL.map(|(name, _)| name)))]
    view: String,
}

impl ViewArgument {
    pub(crate) fn view(&self) -> View {
        named(&View::ALL, &self.view)
    }
}

/// The value with a name that the argument parser has already checked.
pub(crate) fn named<T: Copy>(values: &[(&str, T)], name: &str) -> T {
    let found = values.iter().find(|(known, _)| *known == name);
    found.expect("the argument parser accepts only these names").1
}

/// Adds what was being written to an error of the output.
pub(crate) fn writing<T>(result: std::io::Result<T>) -> Result<T> {
    result.context("cannot write the result")
}
