//! `formulanet rank`: which statements are worth using for a conjecture.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use formulanet::rank::{
    Candidates, Intake, Languages, Library, Order, Pace, Question, Ranked, Ranker, Scores, Stored, Wishes,
};
use formulanet::read::{Source, Syntax};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormatArgument, FormulaArguments, KeepGoingArgument, LimitArguments, ModelArgument,
    ReadingArguments, SelectionArguments, one_of, problem_of, refuse_stdin_twice, warn_unmatched, writing,
};
use crate::output::Output;
use crate::shown;
use crate::usage::wrong;

/// Rank statements by how useful they are for a conjecture
///
/// Reads statements from a file or a library and prints the best ones, each with the probability that it is useful for
/// proving the conjecture.
#[derive(Args)]
#[command(
    group(ArgGroup::new("source")),
    group(ArgGroup::new("question").required(true)),
    after_help = "Examples:\n  \
        formulanet rank '!m n. m + n = n + m' --premises arithmetic.hol -k 5\n  \
        formulanet rank --conjecture @goal.txt --premises theory.p --format json\n  \
        formulanet rank @big.p -k 5\n  \
        formulanet rank --conjecture 'x + &0 = x' --premises reals.jsonl --exclude '*_THM' --explain\n  \
        formulanet rank --library theory.db --name rev_rev -k 5\n\n\
        A file of premises has `name: formula` lines in HOL Light's syntax, or is a HolStep file, a TPTP problem with\n\
        its includes, a DeepMath file, or JSON Lines: {\"name\": \"...\", \"statement\": \"...\", \"syntax\": \"hol\"}"
)]
pub(crate) struct Arguments {
    /// A formula or sequent, `@FILE` to read it from a file or a TPTP problem, or `-` to read it from standard input
    #[arg(value_name = "FORMULA", group = "question")]
    formula: Option<String>,
    /// The same: for formulas that begin with `-`
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true, group = "question")]
    conjecture: Option<String>,
    /// Rank for this statement of the library what comes before it, as if it had no proof yet
    #[arg(long, value_name = "NAME", group = "question", requires = "library", conflicts_with = "before")]
    name: Option<String>,
    /// Rank the statements of this file; `-` is standard input [default: the axioms of a problem that has the conjecture]
    #[arg(long, value_name = "FILE", group = "source")]
    premises: Option<String>,
    /// Rank the statements of a library made by `formulanet library build`
    #[arg(long, value_name = "FILE", group = "source")]
    library: Option<PathBuf>,
    /// Rank the statements of this file, too, such as lemmas of your own
    #[arg(long, value_name = "FILE")]
    local: Vec<String>,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    going: KeepGoingArgument,
    /// Show at most K statements
    #[arg(short = 'k', value_name = "K", default_value_t = 32)]
    most: usize,
    /// Show why a statement is there: symbols that it shares with the conjecture, proofs that used it, symbols that the model
    /// does not know, and the score without the conjecture
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    scope: ScopeArguments,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    together: ReadingArguments,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// A line of the result.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    /// The problem it is for, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<&'a str>,
    pub(crate) rank: usize,
    pub(crate) name: &'a str,
    pub(crate) score: f32,
    pub(crate) statement: &'a str,
    /// Symbols that it has in common with the conjecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<Vec<String>>,
    /// How many proofs of the library used it, and some of what these prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uses: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) used_by: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) without_conjecture: Option<f32>,
}

/// Which statements may be used, and which come first.
#[derive(Args)]
struct ScopeArguments {
    /// Put first what the conjecture makes likely, or what is most likely to be used, also if most proofs use it
    #[arg(long, value_name = "ORDER", default_value = "goal", value_parser = one_of(&Order::ALL))]
    order: Order,
    /// Rank only what comes before this statement of the library
    #[arg(long, value_name = "NAME", requires = "library")]
    before: Option<String>,
    /// Rank only statements of the library from this module or file, or those that fit a pattern
    #[arg(long, value_name = "MODULE", requires = "library")]
    module: Vec<String>,
    /// Keep statements that say the same as the conjecture
    #[arg(long)]
    keep_goal: bool,
}

/// Runs the command.
pub(crate) fn run(mut arguments: Arguments) -> Result<()> {
    arguments.conjecture = arguments.conjecture.take().or(arguments.formula.take());
    let problem = arguments.conjecture.as_deref().map(problem_of).transpose()?.flatten();
    let own_axioms = problem.as_ref().filter(|_| arguments.premises.is_none() && arguments.library.is_none());
    let own_axioms = own_axioms.map(|problem| problem.name().to_owned());
    if own_axioms.is_none() && arguments.premises.is_none() && arguments.library.is_none() {
        return Err(wrong("say what to rank: --premises FILE or --library FILE"));
    }
    let premises = arguments.premises.iter().chain(&own_axioms);
    let files: Vec<String> = premises.chain(&arguments.local).cloned().collect();
    refuse_stdin_twice(files.iter().chain(&arguments.conjecture).map(String::as_str))?;
    let library = arguments.library.as_deref().map(Library::open).transpose()?;
    let sources = arguments.input.open(&files)?;
    let (own, stored) = (sources.first().map(Source::syntax), library.as_ref().map(Library::syntax));
    let asked = arguments.reading.syntax.or(problem.map(|_| Syntax::Tptp));
    let languages = Languages::decide(asked, own, stored.transpose()?);
    let has_proofs = library.as_ref().map(Library::proof_count).transpose()?.unwrap_or(0) > 0;
    let limits = arguments.limits.limits();
    let together = (&arguments.together, has_proofs || languages.reads());
    let computing = (&arguments.compute, limits);
    let (ranker, reading) =
        arguments.model.selector(languages.model(), library.as_ref(), together, computing)?;
    let intake = Intake::new(&ranker);
    let intake = if has_proofs { intake } else { intake.without_features() };
    let own = arguments.going.read_all(intake, sources)?;
    let mut question = match (&arguments.conjecture, &arguments.name, &library) {
        (None, Some(name), Some(library)) => {
            arguments.reading.refuse("--name, which takes the statement as the library has it")?;
            Question::read(&ranker, &library.statement(name)?)?
        }
        (conjecture, ..) => {
            let conjecture = conjecture.as_deref().unwrap_or_default();
            arguments.reading.question(conjecture, languages.conjecture, &ranker)?
        }
    };
    let ScopeArguments { order, before, module, keep_goal } = &arguments.scope;
    let wishes = Wishes {
        reading: reading.as_ref(),
        before: before.clone(),
        own_name: arguments.name.clone(),
        modules: module.clone(),
        keeps_goal: *keep_goal,
        order: *order,
        with_usual: arguments.explain,
    };
    let mut candidates = Candidates::new(library.as_ref().map(Stored::OnDisk), own);
    let scores = candidates.rank(&ranker, &mut question, &wishes, &Pace::Free)?;
    let selection = arguments.selection.selection(arguments.most);
    let (taken, marks) = candidates.select(&selection, &scores, &Pace::Free)?;
    warn_unmatched(&marks.unmatched);
    if arguments.explain && !question.encoded.unknown().is_empty() {
        eprintln!("unknown in the conjecture: {}", question.encoded.unknown().join(", "));
    }
    print(&arguments, &taken, &candidates, &scores, (&ranker, &question), has_proofs)
}

fn print(
    arguments: &Arguments,
    taken: &[Ranked],
    candidates: &Candidates<'_>,
    scores: &Scores,
    (ranker, question): (&Ranker, &Question),
    has_proofs: bool,
) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let width = shown::column(taken.iter().map(|ranked| candidates.name(ranked.statement)));
    let known = ranker.hol_options().names;
    let reasons = arguments.explain.then(|| candidates.reasons(taken, ranker, question)).transpose()?;
    for (i, ranked) in taken.iter().enumerate() {
        let statement = candidates.statement(ranked.statement)?;
        let reasons = reasons.as_ref().map(|reasons| &reasons[i]);
        let row = Row {
            problem: None,
            rank: i + 1,
            name: &statement.name,
            score: ranked.score,
            statement: &statement.text,
            shared: reasons.map(|reasons| reasons.shared.clone()),
            uses: reasons.filter(|_| has_proofs).map(|reasons| reasons.uses),
            used_by: reasons.filter(|_| has_proofs).map(|reasons| reasons.used_by.clone()),
            unknown: reasons.map(|reasons| reasons.unknown.clone()),
            without_conjecture: scores.usual.as_ref().map(|scores| scores[ranked.statement]),
        };
        writing(match arguments.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(&row)?),
            Output::Text => {
                writeln!(out, "{}", shown::cut(&text(&row, &shown::statement(&statement, &known), width)))
            }
        })?;
    }
    writing(out.flush())
}

fn text(row: &Row<'_>, statement: &str, width: usize) -> String {
    let mut line = format!("{:>4}  {:.4}  {:<width$}  ", row.rank, row.score, row.name);
    if let Some(without) = row.without_conjecture {
        line += &format!("(alone {without:.4})  ");
    }
    line += statement;
    let used_by = row.used_by.clone().unwrap_or_default();
    let more = row.uses.unwrap_or(0).saturating_sub(used_by.len());
    let others = if more > 0 { vec![format!("{more} more")] } else { Vec::new() };
    let used_by = Some([used_by, others].concat());
    for (what, names) in [("shares", &row.shared), ("used by", &used_by), ("unknown", &row.unknown)] {
        if let Some(names) = names.as_ref().filter(|names| !names.is_empty()) {
            line += &format!("  ({what}: {})", names.join(", "));
        }
    }
    line
}
