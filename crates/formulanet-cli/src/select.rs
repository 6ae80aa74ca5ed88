//! `formulanet select`: a TPTP problem with the best axioms alone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use formulanet::model::shipped;
use formulanet::rank::{Pace, Problem, Ranked, Trust};
use formulanet::read::{Source, Syntax};

use crate::input::{
    ComputeArguments, LimitArguments, ModelArgument, ReadingArguments, SelectionArguments, warn_unmatched,
    writing,
};
use crate::output::write_file;
use crate::rank::Row;
use crate::usage::wrong;

/// Keep the best axioms of a TPTP problem
///
/// Reads a problem with its includes and prints one that has the conjecture and the K axioms that are most likely to be
/// useful. It includes nothing: a prover reads it as it is.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet select big.p -k 64 | eprover --auto -s -\n  \
    formulanet select big.p -k 16,64,256 --out slices\n  \
    formulanet select big.p -k 64 --format names")]
pub(crate) struct Arguments {
    /// The problem; `-` is standard input
    problem: String,
    /// Keep at most K axioms; several numbers, separated by commas, write several files
    #[arg(short = 'k', value_name = "K", value_delimiter = ',', default_value = "64")]
    most: Vec<usize>,
    /// The file to write; with several K the folder, where `big.p` becomes `big.16.p` and so on
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Keep all statements with these roles, separated by commas, and do not count them; `none` keeps no role
    /// [default: hypothesis,assumption]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    keep: Option<Vec<String>>,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    together: ReadingArguments,
    /// Look at no symbol's name: renaming all symbols of the problem changes nothing
    #[arg(long, conflicts_with_all = ["model", "no_read"])]
    no_names: bool,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Tptp)]
    format: Output,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    compute: ComputeArguments,
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
    if arguments.most.len() > 1 && arguments.out.is_none() {
        return Err(wrong("several K write several files: say where with --out FOLDER"));
    }
    let model = shipped::for_syntax(Syntax::Tptp);
    let together = (&arguments.together, arguments.no_names || shipped::reads(Syntax::Tptp));
    let computing = (&arguments.compute, arguments.limits.limits());
    let (ranker, reading) = arguments.model.selector(model, None, together, computing)?;
    let usual = ["hypothesis", "assumption"].map(str::to_owned);
    let kept = arguments.keep.as_deref().unwrap_or(&usual);
    let problem = Problem::read(Source::open(&arguments.problem)?, &ranker, kept)?;
    for role in arguments.keep.iter().flatten().filter(|role| *role != "none" && !problem.has_role(role)) {
        eprintln!("warning: no statement has the role `{role}`");
    }
    let mut scores =
        if arguments.no_names { problem.nameless_scores(&ranker)? } else { problem.scores(&ranker) };
    if let Some(reading) = &reading {
        let trust = if arguments.no_names { Trust::Reader } else { Trust::Both };
        problem.rescore(reading, &ranker, (&mut scores, trust))?;
    }
    let name = |i| problem.axiom_name(i);
    let marks = arguments.selection.selection(0).marks(scores.len(), name, &Pace::Free)?;
    warn_unmatched(&marks.unmatched);
    let shown = |most: usize| -> Result<String> {
        let selection = arguments.selection.selection(most);
        show(&problem, &selection.pick_marked(&scores, name, &marks)?, arguments.format)
    };
    match (arguments.most.as_slice(), &arguments.out) {
        ([most], None) => writing(io::stdout().lock().write_all(shown(*most)?.as_bytes())),
        ([most], Some(path)) => write_file(path, shown(*most)?),
        (several, folder) => {
            let folder = folder.as_deref().unwrap_or(Path::new("."));
            fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
            for &most in several {
                let path = folder.join(slice_name(&arguments.problem, most, arguments.format));
                write_file(&path, shown(most)?)?;
                eprintln!("wrote {}", path.display());
            }
            Ok(())
        }
    }
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
