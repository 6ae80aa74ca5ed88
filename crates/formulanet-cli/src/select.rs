//! `formulanet select`: a TPTP problem with the best axioms alone.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use formulanet::model::shipped;
use formulanet::rank::{
    EmbeddedAxioms, Knowledge, Library, Pace, Problem, Ranked, Ranker, Reading, Reasons, Stored, Unreadable,
    Wishes,
};
use formulanet::read::{Source, Syntax};

use crate::input::{
    ComputeArguments, KeepGoingArgument, LimitArguments, ModelArgument, ReadingArguments, SelectionArguments,
    refuse_stdin_twice, report_skipped, warn_unmatched, writing,
};
use crate::output::{refuse_own_input, shown, write_file};
use crate::rank::Row;
use crate::usage::wrong;

/// Keep the best axioms of TPTP problems
///
/// Reads a problem with its includes and prints one that has the conjecture and the K axioms that are most likely to be
/// useful. It includes nothing: a prover reads it as it is.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet select big.p -k 64 | eprover --auto -s -\n  \
    formulanet select big.p -k 16,64,256 --out slices\n  \
    formulanet select big.p -k 64 --format names\n  \
    formulanet select goal.p --library sets.db -k 32 --explain")]
pub(crate) struct Arguments {
    /// The problems; `-` is standard input
    #[arg(required = true)]
    problems: Vec<String>,
    /// Keep at most K axioms; several numbers, separated by commas, write several files
    #[arg(short = 'k', value_name = "K", value_delimiter = ',', default_value = "64")]
    most: Vec<usize>,
    /// The file to write; of several problems or several K the folder, where `big.p` becomes `big.16.p` and so on
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Select from the statements of this library, too
    #[arg(long, value_name = "FILE", conflicts_with = "no_names")]
    library: Option<PathBuf>,
    /// Say why each axiom is there: symbols that it shares with the conjecture, and symbols that the model does not know
    #[arg(long)]
    explain: bool,
    /// Keep all statements with these roles, separated by commas, and do not count them; `none` keeps no role
    /// [default: hypothesis,assumption]
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    keep: Option<Vec<String>>,
    #[command(flatten)]
    going: KeepGoingArgument,
    /// With --keep-going: keep these statements in the problem as they are written, beside the K axioms
    #[arg(long, requires = "keep_going")]
    keep_unreadable: bool,
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

/// What every problem is selected with.
struct Selector<'a> {
    arguments: &'a Arguments,
    ranker: Ranker,
    reading: Option<Reading>,
    library: Option<Library>,
    embedded: EmbeddedAxioms,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let is_one_text = arguments.problems.len() == 1 && arguments.most.len() == 1;
    if arguments.most.len() > 1 && arguments.out.is_none() {
        return Err(wrong("several K write several files: say where with --out FOLDER"));
    }
    if arguments.problems.len() > 1 && arguments.out.is_none() && arguments.format == Output::Tptp {
        return Err(wrong("several problems write several files: say where with --out FOLDER"));
    }
    refuse_stdin_twice(arguments.problems.iter().map(String::as_str))?;
    if let Some(out) = arguments.out.as_deref().filter(|_| is_one_text) {
        refuse_own_input(out, arguments.problems.iter().map(String::as_str))?;
    }
    let library = arguments.library.as_deref().map(Library::open).transpose()?;
    let model = shipped::for_syntax(Syntax::Tptp);
    let together = (&arguments.together, arguments.no_names || shipped::reads(Syntax::Tptp));
    let computing = (&arguments.compute, arguments.limits.limits());
    let (ranker, reading) = arguments.model.selector(model, library.as_ref(), together, computing)?;
    let embedded = EmbeddedAxioms::new(&ranker);
    let mut selector = Selector { arguments: &arguments, ranker, reading, library, embedded };
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
                    eprintln!("wrote {}", path.display());
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
    fn select(&mut self, file: &str) -> Result<Vec<(usize, String)>> {
        let Selector { arguments, ranker, reading, library, embedded } = self;
        let usual = ["hypothesis", "assumption"].map(str::to_owned);
        let kept = arguments.keep.as_deref().unwrap_or(&usual);
        let unreadable = match (arguments.going.keep_going, arguments.keep_unreadable) {
            (false, _) => Unreadable::Refused,
            (true, false) => Unreadable::LeftOut,
            (true, true) => Unreadable::Kept,
        };
        let mut problem = Problem::read_on(Source::open(file)?, ranker, kept, unreadable)?;
        report_skipped(problem.skipped());
        for role in arguments.keep.iter().flatten().filter(|role| *role != "none" && !problem.has_role(role))
        {
            eprintln!("warning: no statement has the role `{role}`");
        }
        let known = problem.knowledge(ranker);
        if known.is_little() && !arguments.no_names && library.is_none() {
            let Knowledge { known, of } = known;
            eprintln!(
                "warning: the model knows {known} of the {of} symbols of `{file}`; try --no-names, or a library with proofs"
            );
        }
        let mut scores = match library {
            Some(library) => {
                let most = arguments.most.iter().copied().max().unwrap_or(0);
                let wishes = Wishes { reading: reading.as_ref(), ..Wishes::default() };
                let from = (Stored::OnDisk(library), library.syntax()?);
                let selection = arguments.selection.selection(most);
                let found = problem.rank_axioms(Some(from), ranker, &wishes, &selection, &Pace::Free)?;
                warn_unmatched(&found.unmatched);
                found.scores
            }
            None if arguments.no_names => problem.nameless_scores(ranker, reading.as_ref(), &Pace::Free)?,
            None => problem.scores_with(ranker, embedded),
        };
        if let (Some(reading), None, false) = (reading, library, arguments.no_names) {
            problem.rescore(reading, ranker, &mut scores)?;
        }
        let name = |i| problem.axiom_name(i);
        let marks = arguments.selection.selection(0).marks(scores.len(), name, &Pace::Free)?;
        if arguments.library.is_none() {
            warn_unmatched(&marks.unmatched);
        }
        let mut texts = Vec::new();
        for &most in &arguments.most {
            let taken = arguments.selection.selection(most).pick_marked(&scores, name, &marks)?;
            let reasons = arguments.explain.then(|| problem.reasons(&taken, ranker));
            texts.push((most, show((&problem, file), &taken, reasons.as_deref(), arguments)?));
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
        Output::Names => "txt",
        Output::Json => "jsonl",
    };
    format!("{stem}.{most}.{ending}")
}

fn show(
    (problem, file): (&Problem, &str),
    taken: &[Ranked],
    reasons: Option<&[Reasons]>,
    arguments: &Arguments,
) -> Result<String> {
    let reasons = |rank: usize| reasons.map(|reasons| &reasons[rank]);
    Ok(match arguments.format {
        Output::Tptp => problem.reduced_with(taken, |rank| {
            let Reasons { shared, unknown, .. } = reasons(rank)?;
            let Ranked { statement, score } = taken[rank];
            let mut note = format!("{}. {} {score:.4}", rank + 1, problem.axiom_name(statement));
            for (what, symbols) in [("shares", shared), ("unknown", unknown)] {
                if !symbols.is_empty() {
                    note += &format!("; {what}: {}", symbols.join(" "));
                }
            }
            Some(note)
        }),
        Output::Names => {
            let names: Vec<&str> = taken.iter().map(|ranked| problem.axiom_name(ranked.statement)).collect();
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
            for (i, ranked) in taken.iter().enumerate() {
                let row = Row {
                    problem: (arguments.problems.len() > 1).then_some(file),
                    rank: i + 1,
                    name: problem.axiom_name(ranked.statement),
                    score: ranked.score,
                    statement: problem.axiom_text(ranked.statement),
                    shared: reasons(i).map(|reasons| reasons.shared.clone()),
                    uses: None,
                    used_by: None,
                    unknown: reasons(i).map(|reasons| reasons.unknown.clone()),
                    without_conjecture: None,
                };
                text += &serde_json::to_string(&row)?;
                text.push('\n');
            }
            text
        }
    })
}
