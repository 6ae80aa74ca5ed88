//! `formulanet embed`: formulas as vectors.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args, ValueEnum};
use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::embed::Embeddings;
use formulanet::read::Source;
use formulanet_train::processes;

use crate::input::{
    ComputeArguments, FormatArgument, FormulaArguments, KeepGoingArgument, LimitArguments, ModelArgument,
    language_of, model_for, writing,
};
use crate::output::{refuse_own_input, write_file};
use crate::processes::{facts, group, refuse_stdin, speaks};

/// Compute embeddings of formulas
///
/// Similar formulas have close embeddings.
#[derive(Args)]
#[command(
    group(ArgGroup::new("source").required(true)),
    after_help = "Examples:\n  \
        formulanet embed '!x. x + 0 = x'\n  \
        formulanet embed --premises arithmetic.hol --format safetensors --out vectors.safetensors\n  \
        formulanet embed --premises theory.p --format npy --out vectors.npy"
)]
pub(crate) struct Arguments {
    /// Formula or sequent, `@FILE`, or `-` for standard input
    #[arg(group = "source", allow_hyphen_values = true)]
    formula: Option<String>,
    /// Embed the statements of this file, in any format of `formulanet rank`; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    premises: Option<String>,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    going: KeepGoingArgument,
    #[command(flatten)]
    model: ModelArgument,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Json)]
    format: Output,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// `{"name": ..., "vector": [...]}` on every line.
    Json,
    /// A tensor `vectors`, a row for each statement, and the names as JSON in the metadata.
    Safetensors,
    /// A NumPy array with a row for each statement; --out also writes the names, to `.names.txt`.
    Npy,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    refuse_stdin(arguments.formula.as_deref().into_iter().chain(arguments.premises.as_deref()))?;
    let files: Vec<String> = arguments.premises.iter().cloned().collect();
    if let Some(out) = &arguments.out {
        refuse_own_input(out, files.iter().map(String::as_str))?;
    }
    let sources = arguments.input.open(&files)?;
    let source_syntax = sources.first().map(Source::language);
    let (statements, language) = language_of(arguments.reading.syntax, source_syntax);
    let limits = arguments.limits.limits();
    let retriever = arguments.model.retriever(model_for(statements), &arguments.compute, limits)?;
    let premises = match &arguments.formula {
        Some(formula) => {
            let (name, text, syntax) = ("formula".to_owned(), formula.clone(), language);
            let goal = arguments.reading.question(formula, syntax, &retriever)?;
            vec![AnalyzedStatement {
                name,
                text,
                language: syntax,
                encoded: goal.encoded,
                ..AnalyzedStatement::default()
            }]
        }
        None => {
            arguments.reading.refuse("a file of statements")?;
            arguments.going.read_all(Analyzer::new(&retriever).without_features(), sources)?
        }
    };
    if premises.is_empty() {
        bail!("expected statements, found none");
    }
    processes::agree(group(), &facts(&retriever, &premises))?;
    let vectors = Embeddings::of(&retriever, &premises)?;
    if !speaks() {
        return Ok(());
    }
    let bytes = match arguments.format {
        Output::Json => {
            let mut rows = Vec::new();
            for (premise, vector) in premises.iter().zip(vectors.rows()) {
                let row = serde_json::json!({ "name": premise.name, "vector": vector });
                writing(writeln!(rows, "{row}"))?;
            }
            rows
        }
        Output::Safetensors => {
            vectors.to_safetensors(&premises.iter().map(|p| p.name.as_str()).collect::<Vec<_>>())?
        }
        Output::Npy => {
            if let Some(path) = &arguments.out {
                write_file(&path.with_extension("names.txt"), names(&premises))?;
            }
            vectors.to_npy()
        }
    };
    match &arguments.out {
        Some(path) => write_file(path, bytes),
        None => writing(io::stdout().lock().write_all(&bytes)),
    }
}

/// Names, one a line.
fn names(premises: &[AnalyzedStatement]) -> String {
    let line = |premise: &AnalyzedStatement| premise.name.replace(|c: char| c.is_control(), " ") + "\n";
    premises.iter().map(line).collect()
}
