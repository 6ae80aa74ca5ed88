//! `formulanet select`: a TPTP problem with the best axioms alone.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use formulanet::engine::Model;
use formulanet::problem::{OnUnreadable, ProblemOptions, SymbolCoverage, as_axiom};
use formulanet::read::Source;
use formulanet::{Corpus, Engine, Evidence, Hit, Language, Policy, Problem, Residency, Symbols};

use crate::input::{
    ComputeArguments, KeepGoingArgument, LimitArguments, ModelArgument, RerankArguments, SelectionArguments,
    one_of, refuse_stdin_twice, report_skipped, warn_unmatched, writing,
};
use crate::output::{refuse_own_input, shown, write_file};
use crate::rank::Row;
use crate::smtlib;
use crate::usage::wrong;

/// Select the best axioms of TPTP problems
///
/// Reads a problem with its includes and prints a problem with the conjecture, the K axioms that rank highest and no includes.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet select big.p -k 64 | eprover --auto -s -\n  \
    formulanet select big.p -k 16,64,256 --out slices\n  \
    formulanet select big.p -k 64 --format smtlib | z3 -in\n  \
    formulanet select big.p -k 64 --format names\n  \
    formulanet select goal.p --library sets.db -k 32 --explain")]
pub(crate) struct Arguments {
    /// TPTP problems; `-` is standard input
    #[arg(required = true)]
    problems: Vec<String>,
    /// Keep at most K axioms; with several values, separated by commas, write a file for each
    #[arg(short = 'k', value_name = "K", value_delimiter = ',', default_value = "64")]
    most: Vec<usize>,
    /// Output file, or directory if there are several problems or values of K (`big.p` becomes `big.16.p`)
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Also select from the facts of this TPTP library
    #[arg(long, value_name = "FILE", conflicts_with = "symbols")]
    library: Option<PathBuf>,
    /// Add comments with the symbols that an axiom shares with the conjecture and those that the model does not know
    #[arg(long)]
    explain: bool,
    /// Keep all statements with these roles, separated by commas, in addition to the K axioms; `none` keeps no role [default:
    /// hypothesis,assumption]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    keep_roles: Option<Vec<String>>,
    #[command(flatten)]
    going: KeepGoingArgument,
    /// With --keep-going: keep unreadable statements in the problem as they are, in addition to the K axioms
    #[arg(long, requires = "keep_going")]
    keep_unreadable: bool,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    reranking: RerankArguments,
    /// Use the names of symbols, ignore them (renaming all symbols changes nothing), or fuse both rankings [default: named]
    #[arg(long, value_name = "SYMBOLS", conflicts_with = "model", value_parser = one_of(&Symbols::ALL))]
    symbols: Option<Symbols>,
    /// Output format
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
    /// A problem in SMT-LIB, with the negated conjecture; of problems in FOF and CNF.
    Smtlib,
    /// `conjecture:axiom axiom ...`, the best first.
    Names,
    /// One object per axiom and line.
    Json,
}

/// Whether a format is that of a whole problem.
fn is_problem(format: Output) -> bool {
    matches!(format, Output::Tptp | Output::Smtlib)
}

/// Settings that all problems share.
struct Selector<'a> {
    arguments: &'a Arguments,
    engine: Engine,
    model: Arc<Model>,
    library: Option<Corpus>,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    if arguments.symbols == Some(Symbols::Anonymous) {
        arguments.reranking.refuse("--symbols anonymous")?;
    }
    let is_one_text = arguments.problems.len() == 1 && arguments.most.len() == 1;
    if arguments.most.len() > 1 && arguments.out.is_none() {
        return Err(wrong("several K write several files: say where with --out FOLDER"));
    }
    if arguments.problems.len() > 1 && arguments.out.is_none() && is_problem(arguments.format) {
        return Err(wrong("several problems write several files: say where with --out FOLDER"));
    }
    refuse_stdin_twice(arguments.problems.iter().map(String::as_str))?;
    if let Some(out) = arguments.out.as_deref().filter(|_| is_one_text) {
        refuse_own_input(out, arguments.problems.iter().map(String::as_str))?;
    }
    let limits = arguments.limits.limits();
    let engine = arguments.model.engine(&arguments.reranking, &arguments.compute, limits)?;
    let library = arguments.library.as_deref();
    let library =
        library.map(|path| engine.corpus().library(path, Residency::Streamed).build()).transpose()?;
    let model = match &library {
        Some(corpus) if corpus.language() != Language::Tptp => return Err(formulanet::Error::NotTptp.into()),
        Some(corpus) => corpus.model(),
        None => engine.model_for(Language::Tptp)?,
    };
    let selector = Selector { arguments: &arguments, engine, model, library };
    let folder = arguments.out.as_deref().filter(|_| !is_one_text);
    if let Some(folder) = folder {
        fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    }
    let mut written = BTreeSet::new();
    for file in &arguments.problems {
        for (most, text) in selector.select(file)? {
            match (folder, &arguments.out) {
                (Some(folder), _) => {
                    let path = folder.join(slice_name(file, most, &arguments));
                    if !written.insert(path.clone()) {
                        bail!("two problems would both be written to `{}`: rename one", path.display());
                    }
                    write_file(&path, text)?;
                    tell!("wrote {}", path.display());
                }
                (None, Some(path)) => write_file(path, text)?,
                (None, None) => writing(io::stdout().lock().write_all(text.as_bytes()))?,
            }
        }
    }
    Ok(())
}

impl Selector<'_> {
    /// Selects from a problem: for each number of axioms, what is to be written.
    fn select(&self, file: &str) -> Result<Vec<(usize, String)>> {
        let Selector { arguments, engine, model, library } = self;
        let mut options = ProblemOptions::default();
        if let Some(roles) = &arguments.keep_roles {
            options.keep_roles.clone_from(roles);
        }
        options.on_unreadable = match (arguments.going.keep_going, arguments.keep_unreadable) {
            (false, _) => OnUnreadable::Fail,
            (true, false) => OnUnreadable::Skip,
            (true, true) => OnUnreadable::Keep,
        };
        let mut problem = Problem::read(Source::open(file)?, &model.retriever, &options)?;
        report_skipped(problem.skipped());
        for role in
            arguments.keep_roles.iter().flatten().filter(|role| *role != "none" && !problem.has_role(role))
        {
            tell!("warning: no statement has the role `{role}`");
        }
        let coverage = problem.coverage(&model.retriever);
        if coverage.is_low() && arguments.symbols.is_none() && library.is_none() {
            let SymbolCoverage { known, total } = coverage;
            tell!(
                "warning: the model knows {known} of the {total} symbols of `{file}`; try --symbols anonymous, or a library with proofs"
            );
        }
        let axioms = problem.take_axioms();
        let corpus = match library {
            Some(library) => library.with_local(axioms, None, true),
            None => Corpus::of_local(Arc::clone(model), axioms, Language::Tptp, true),
        };
        let symbols = arguments.symbols.unwrap_or_default();
        let policy = Policy::default().symbols(symbols).rerank(arguments.reranking.rerank());
        let mut query = problem.query().policy(policy);
        if arguments.explain {
            query = query.explain();
        }
        let rank = |k: usize| engine.rank(&corpus, &query.clone().take(arguments.selection.take(k)));
        let most = arguments.most.iter().copied().max().unwrap_or(0);
        let whole = rank(most)?;
        warn_unmatched(&whole.unmatched);
        let mut texts = Vec::new();
        for &most in &arguments.most {
            // The best few are the first of the best many, unless some must be among them.
            let few = if arguments.selection.forces() { Some(rank(most)?) } else { None };
            let hits = few.as_ref().map_or(&whole.hits, |few| &few.hits);
            let hits = &hits[..hits.len().min(most)];
            texts.push((most, show((&problem, file), hits, whole.considered, arguments)?));
        }
        Ok(texts)
    }
}

/// `big.p` with 16 axioms is `big.16.p`.
fn slice_name(problem: &str, most: usize, arguments: &Arguments) -> String {
    let stem = Path::new(problem).file_stem().map_or("problem".into(), |stem| stem.to_string_lossy());
    let stem = if problem == "-" { "problem".into() } else { stem };
    let ending = match arguments.format {
        Output::Tptp => "p",
        Output::Smtlib => "smt2",
        Output::Names => "txt",
        Output::Json => "jsonl",
    };
    format!("{stem}.{most}.{ending}")
}

fn show(
    (problem, file): (&Problem, &str),
    hits: &[Hit],
    considered: usize,
    arguments: &Arguments,
) -> Result<String> {
    Ok(match arguments.format {
        Output::Tptp => problem.reduced_with(hits, considered, |rank| {
            let Hit { statement, score, evidence, .. } = &hits[rank];
            let Evidence { shared_symbols: shared, unknown_symbols: unknown, .. } = evidence.as_ref()?;
            let mut note = format!("{}. {} {score:.2}", rank + 1, statement.name);
            for (what, symbols) in [("shares", shared), ("unknown", unknown)] {
                if !symbols.is_empty() {
                    note += &format!("; {what}: {}", symbols.join(" "));
                }
            }
            Some(note)
        }),
        Output::Smtlib => {
            let selected = problem.reduced(hits, considered);
            smtlib::translate(Source::text(file, selected), arguments.limits.limits())?
        }
        Output::Names => {
            let names: Vec<&str> = hits.iter().map(|hit| hit.statement.name.as_str()).collect();
            let lines = problem.conjecture_names().into_iter();
            if let Some(name) =
                lines.clone().chain(names.iter().copied()).find(|name| name.contains(['\n', '\r']))
            {
                bail!("expected names of one line, found `{}`; use --format json", shown(name));
            }
            lines.map(|conjecture| format!("{conjecture}:{}\n", names.join(" "))).collect()
        }
        Output::Json => {
            let mut text = String::new();
            for (hit, rank) in hits.iter().zip(1..) {
                let problem = (arguments.problems.len() > 1).then_some(file);
                let statement = as_axiom(hit);
                let row = Row { problem, rank, statement: &statement, ..Row::of(hit, false) };
                let row = Row { base_rate: None, ..row };
                text += &serde_json::to_string(&row)?;
                text.push('\n');
            }
            text
        }
    })
}
