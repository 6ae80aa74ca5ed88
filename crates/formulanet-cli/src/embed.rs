//! `formulanet embed`: formulas as vectors.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args, ValueEnum};
use formulanet::processes;
use formulanet::rank::collection::Collection;
use formulanet::rank::ranker::Ranker;
use formulanet::rank::vectors::Vectors;

use crate::input::{ComputeArguments, FormatArgument, FormulaArguments, LimitArguments, ranker_for, writing};
use crate::processes::{group, refuse_stdin, speaks};

/// Turn formulas into vectors
///
/// The network's embedding of each formula's graph: close vectors are formulas that mean similar things to the network.
#[derive(Args)]
#[command(
    group(ArgGroup::new("source").required(true)),
    after_help = "Examples:\n  \
        formulanet embed '!x. x + 0 = x'\n  \
        formulanet embed --premises arithmetic.hol --format safetensors --out vectors.safetensors\n  \
        formulanet embed --premises theory.p --format npy --out vectors.npy"
)]
pub(crate) struct Arguments {
    /// A formula or sequent, `@FILE` to read it from a file, or `-` to read it from standard input
    #[arg(group = "source", allow_hyphen_values = true)]
    formula: Option<String>,
    /// A file of statements, as `formulanet rank` reads them; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    premises: Option<String>,
    #[command(flatten)]
    input: FormatArgument,
    /// A model file or a shipped model; by default the one that ranks libraries of the statements' language
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The file to write instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Output::Json)]
    format: Output,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// `{"name": ..., "vector": [...]}` on every line.
    Json,
    /// A tensor `vectors`, a row for each statement, and the names as JSON in the metadata.
    Safetensors,
    /// An array of NumPy, a row for each statement.
    Npy,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    refuse_stdin(arguments.formula.as_deref().into_iter().chain(arguments.premises.as_deref()))?;
    let format = arguments.input.format();
    let files: Vec<String> = arguments.premises.iter().cloned().collect();
    let ranker: Ranker = ranker_for(
        arguments.model.as_deref(),
        arguments.reading.syntax(),
        &files,
        format,
        &arguments.compute,
        arguments.limits.limits(),
    )?;
    let mut collection = Collection::new(&ranker);
    match (&arguments.formula, &arguments.premises) {
        (Some(formula), _) => {
            let syntax = arguments.reading.syntax().unwrap_or_default();
            let mut names = formulanet::logic::Interner::new();
            let parsed = arguments.reading.parse_as(formula, syntax, ranker.hol_options(), &mut names)?;
            collection.add_formula("formula", formula, syntax, &parsed, &names)?;
        }
        (None, Some(file)) => collection.read(file, format)?,
        (None, None) => bail!("expected a formula or --premises"),
    }
    if collection.premises.is_empty() {
        bail!("expected statements, found none");
    }
    processes::agree(group(), &collection.facts())?;
    let vectors = Vectors::of(&ranker, &collection.premises);
    if !speaks() {
        return Ok(());
    }
    let mut out: Box<dyn Write> = match &arguments.out {
        Some(path) => {
            Box::new(File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?)
        }
        None => Box::new(io::stdout().lock()),
    };
    let bytes = match arguments.format {
        Output::Json => {
            let mut buffered = BufWriter::new(&mut out);
            for (premise, vector) in collection.premises.iter().zip(vectors.rows()) {
                let row = serde_json::json!({ "name": premise.name, "vector": vector });
                writing(writeln!(buffered, "{row}"))?;
            }
            return writing(buffered.flush());
        }
        Output::Safetensors => vectors
            .to_safetensors(&collection.premises.iter().map(|p| p.name.as_str()).collect::<Vec<_>>())?,
        Output::Npy => vectors.to_npy(),
    };
    writing(out.write_all(&bytes).and_then(|()| out.flush()))
}
