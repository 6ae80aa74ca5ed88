//! `formulanet select`: a TPTP problem with the best axioms alone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use formulanet::model::TrainedModel;
use formulanet::model::shipped;
use formulanet::rank::problem::Problem;
use formulanet::rank::ranker::{Ranked, Ranker};
use formulanet::read::Syntax;

use crate::input::{ComputeArguments, LimitArguments, SelectionArguments, writing};
use crate::rank::Row;

/// Keep the axioms of a TPTP problem that are most likely to be useful
///
/// Reads a problem with its includes and prints one that has the conjecture, the K best axioms and nothing to include:
/// a prover reads it as it is.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet select big.p -k 64 | eprover --auto -s -\n  \
    formulanet select big.p -k 16,64,256 --out slices\n  \
    formulanet select big.p -k 64 --format names")]
pub(crate) struct Arguments {
    /// The problem; `-` is standard input
    problem: String,
    /// So many axioms at most; several numbers, separated by commas, write several files
    #[arg(short = 'k', value_name = "K", value_delimiter = ',', default_value = "64")]
    most: Vec<usize>,
    /// The file to write; with several K the folder, where `big.p` becomes `big.16.p` and so on
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Roles that are always in, separated by commas, and not counted; `none` for none
    #[arg(long, value_name = "ROLES", value_delimiter = ',', default_value = "hypothesis,assumption")]
    keep: Vec<String>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// A model file or a shipped model
    #[arg(long, value_name = "MODEL", default_value = shipped::for_syntax(Syntax::Tptp))]
    model: String,
    #[command(flatten)]
    compute: ComputeArguments,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Tptp)]
    format: Output,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A problem.
    Tptp,
    /// `conjecture:axiom axiom ...`, the best first.
    Names,
    /// One object per axiom and line.
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let limits = arguments.limits.limits();
    let ranker = Ranker::new(TrainedModel::named(&arguments.model)?, arguments.compute.compute())?;
    let ranker = ranker.with_limits(limits);
    let problem = Problem::read(&arguments.problem, &ranker, limits, &arguments.keep)?;
    let scores = problem.scores(&ranker);
    let shown = |most: usize| -> Result<String> {
        let selection = arguments.selection.selection(most);
        show(&problem, &selection.pick(&scores, |i| problem.axiom_name(i))?, arguments.format)
    };
    match (arguments.most.as_slice(), &arguments.out) {
        ([], _) => bail!("expected a number after -k"),
        ([most], None) => writing(io::stdout().lock().write_all(shown(*most)?.as_bytes())),
        ([most], Some(path)) => write(path, &shown(*most)?),
        (_, None) => bail!("several K write several files: say where with --out FOLDER"),
        (several, Some(folder)) => {
            fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
            for &most in several {
                let path = folder.join(slice_name(&arguments.problem, most, arguments.format));
                write(&path, &shown(most)?)?;
                eprintln!("wrote {}", path.display());
            }
            Ok(())
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// `big.p` with 16 axioms is `big.16.p`.
fn slice_name(problem: &str, most: usize, format: Output) -> String {
    let stem = Path::new(problem).file_stem().map_or("problem".into(), |stem| stem.to_string_lossy());
    let stem = if problem == "-" { "problem".into() } else { stem };
    let ending = match format {
        Output::Tptp => "p",
        Output::Names => "txt",
        Output::Json => "jsonl",
    };
    format!("{stem}.{most}.{ending}")
}

fn show(problem: &Problem, taken: &[Ranked], format: Output) -> Result<String> {
    Ok(match format {
        Output::Tptp => problem.reduced(taken),
        Output::Names => {
            let names: Vec<&str> = taken.iter().map(|ranked| problem.axiom_name(ranked.statement)).collect();
            let lines = problem.conjecture_names().into_iter();
            lines.map(|conjecture| format!("{conjecture}:{}\n", names.join(" "))).collect()
        }
        Output::Json => {
            let mut text = String::new();
            for (i, ranked) in taken.iter().enumerate() {
                let row = Row {
                    rank: i + 1,
                    name: problem.axiom_name(ranked.statement),
                    score: ranked.score,
                    statement: problem.axiom_text(ranked.statement),
                    unknown: None,
                    without_conjecture: None,
                };
                text += &serde_json::to_string(&row)?;
                text.push('\n');
            }
            text
        }
    })
}
