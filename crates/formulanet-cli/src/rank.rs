//! `formulanet rank`: ranks premises by relevance to a conjecture.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use formulanet::policy::Stage1;
use formulanet::{
    Corpus, Duplicates, Existing, Goal, Hit, Language, Order, Policy, Query, Ranking, Relation, Residency,
};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormatArgument, FormulaArguments, KeepGoingArgument, LimitArguments, ModelArgument,
    RerankArguments, SelectionArguments, at_least_one, one_of, problem_of, refuse_stdin_twice,
    report_skipped, warn_unmatched, writing,
};
use crate::lines;
use crate::output::{Output, shown};
use crate::project;
use crate::usage::wrong;

/// Rank premises by relevance to a conjecture
///
/// Prints the best statements of a file or a library, each with a score from 0 to 1. Scores compare the statements of one
/// ranking; `--format json` also has the estimated probability that a proof uses a statement.
#[derive(Args)]
#[command(
    group(ArgGroup::new("source")),
    group(ArgGroup::new("question").required(true)),
    after_help = "Examples:\n  \
        formulanet rank '!m n. m + n = n + m' --premises arithmetic.hol -k 5\n  \
        formulanet rank @goal.txt --premises theory.p --format json\n  \
        formulanet rank @big.p -k 5\n  \
        formulanet rank 'x + &0 = x' --premises reals.jsonl --exclude '*_THM' --explain\n  \
        formulanet rank --library theory.db --goal-name rev_rev -k 5\n\n\
        A file of premises has `name: formula` lines in HOL Light's syntax, or is a HolStep file, a TPTP problem with\n\
        its includes, a DeepMath file, or JSON Lines: {\"name\": \"...\", \"statement\": \"...\", \"syntax\": \"hol\"}"
)]
pub(crate) struct Arguments {
    /// Conjecture: a formula or sequent, `@FILE` (also a TPTP problem), or `-` for standard input
    #[arg(value_name = "FORMULA", group = "question")]
    formula: Option<String>,
    /// Conjecture, as FORMULA; for formulas that begin with `-`
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true, group = "question")]
    conjecture: Option<String>,
    /// Use this fact of the library as the conjecture; only earlier facts are candidates, and its own proofs are ignored
    #[arg(long, value_name = "NAME", group = "question", requires = "library", conflicts_with = "before")]
    goal_name: Option<String>,
    /// Rank the statements of this file; `-` is standard input [default: the axioms of the conjecture's problem]
    #[arg(long, value_name = "FILE", group = "source")]
    premises: Option<String>,
    /// Rank the facts of this library [default: the one that `formulanet.toml` names]
    #[arg(long, value_name = "FILE", group = "source")]
    library: Option<PathBuf>,
    /// Also rank the statements of this file, such as lemmas of your own
    #[arg(long, value_name = "FILE")]
    local: Vec<String>,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    going: KeepGoingArgument,
    /// Print at most K statements
    #[arg(short = 'k', value_name = "K", default_value_t = 32, value_parser = at_least_one)]
    most: usize,
    /// Also print shared symbols, proofs that used the statement, symbols that the model does not know, and the score without the
    /// conjecture
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    scope: ScopeArguments,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    reranking: RerankArguments,
    /// Output format
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
    /// How likely a proof uses it, if that was estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<f32>,
    pub(crate) statement: &'a str,
    /// Symbols that it has in common with the conjecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared_symbols: Option<Vec<String>>,
    /// The number of the library's proofs that used it, and some of the facts that they prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uses: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) used_by: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_symbols: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_rate: Option<f32>,
}

/// Candidates and their order.
#[derive(Args)]
struct ScopeArguments {
    /// Sort by probability, or by lift, which downweights premises that most proofs use
    #[arg(long, value_name = "ORDER", default_value = "probability", value_parser = one_of(&Order::ALL))]
    order: Order,
    /// Rank only facts of the library before this one
    #[arg(long, value_name = "NAME", requires = "library")]
    before: Option<String>,
    /// Rank only facts of this module or file, or of those that match a pattern
    #[arg(long, value_name = "MODULE", requires = "library")]
    module: Vec<String>,
    /// Also rank statements that equal the conjecture
    #[arg(long)]
    keep_duplicates: bool,
}

/// Runs the command.
pub(crate) fn run(mut arguments: Arguments) -> Result<()> {
    arguments.conjecture = arguments.conjecture.take().or(arguments.formula.take());
    let conjecture = arguments.conjecture.as_deref();
    let is_alone = arguments.premises.is_none() && arguments.library.is_none();
    let problem = conjecture.map(problem_of).transpose()?.flatten();
    let is_problem = problem.is_some();
    let own_axioms = problem.filter(|_| is_alone).map(|problem| problem.name().to_owned());
    if is_alone && own_axioms.is_none() {
        let library = project::library()?;
        arguments.library =
            Some(library.ok_or_else(|| wrong("say what to rank: --premises FILE or --library FILE"))?);
    }
    let premises = arguments.premises.iter().chain(&own_axioms);
    let files: Vec<String> = premises.chain(&arguments.local).cloned().collect();
    refuse_stdin_twice(files.iter().chain(&arguments.conjecture).map(String::as_str))?;
    let limits = arguments.limits.limits();
    let engine = arguments.model.engine(&arguments.reranking, &arguments.compute, limits)?;
    let asked = arguments.reading.syntax.or(is_problem.then_some(Language::Tptp));
    let mut builder = engine.corpus().language(asked);
    if let Some(library) = &arguments.library {
        builder = builder.library(library, Residency::Streamed);
    }
    for source in arguments.input.open(&files)? {
        builder = builder.source(source);
    }
    if arguments.going.keep_going {
        builder = builder.keep_going();
    }
    let corpus = builder.build()?;
    report_skipped(corpus.skipped());
    let goal = match (conjecture, &arguments.goal_name) {
        (None, Some(name)) => {
            arguments.reading.refuse("--goal-name, which takes the statement as the library has it")?;
            Goal::Stored(name.clone())
        }
        (conjecture, _) => {
            let language = asked.unwrap_or(corpus.language());
            arguments.reading.goal(conjecture.unwrap_or_default(), language, limits)?
        }
    };
    let ScopeArguments { order, before, module, keep_duplicates } = &arguments.scope;
    let duplicates = if *keep_duplicates { Duplicates::Keep } else { Duplicates::Drop };
    let policy = Policy::default().order(*order).rerank(arguments.reranking.rerank());
    let mut query = Query::new(goal).modules(module.clone()).duplicates(duplicates).policy(policy);
    query = query.take(arguments.selection.take(arguments.most));
    if let Some(before) = before {
        query = query.before(before);
    }
    if arguments.explain {
        query = query.explain();
    }
    let ranking = engine.rank(&corpus, &query)?;
    warn_unmatched(&ranking.unmatched);
    if arguments.explain && !ranking.unknown_symbols.is_empty() {
        tell!("unknown in the conjecture: {}", shown(&ranking.unknown_symbols.join(", ")));
    }
    print(&arguments, &ranking, &corpus)
}

fn print(arguments: &Arguments, ranking: &Ranking, corpus: &Corpus) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let width = lines::column(ranking.hits.iter().map(|hit| hit.statement.name.as_str()));
    let known = corpus.hol_options().names;
    let has_proofs = matches!(ranking.plan.retrieve, Stage1::Learned { with_proofs: true });
    writing(write_existing(&mut out, &ranking.existing, arguments))?;
    for (hit, rank) in ranking.hits.iter().zip(1..) {
        let row = Row { rank, ..Row::of(hit, has_proofs) };
        writing(match arguments.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(&row)?),
            Output::Text => {
                let statement = lines::statement(&hit.statement, &known);
                writeln!(out, "{}", lines::cut(&text(&row, &statement, width)))
            }
        })?;
    }
    writing(out.flush())
}

/// A line before the ranking where the goal need not be proved.
fn write_existing(out: &mut impl Write, existing: &[Existing], arguments: &Arguments) -> io::Result<()> {
    if existing.is_empty() {
        return Ok(());
    }
    if matches!(arguments.format, Output::Json) {
        return writeln!(out, "{}", serde_json::json!({ "existing": existing }));
    }
    let place = if arguments.library.is_some() { "library" } else { "list" };
    for (relation, what) in
        [(Relation::Same, "already in"), (Relation::Instance, "an instance of what is in")]
    {
        let names = existing.iter().filter(|existing| existing.relation == relation);
        let names: Vec<_> = names.map(|existing| shown(&existing.name)).collect();
        if !names.is_empty() {
            writeln!(out, "{what} the {place}: {}", names.join(", "))?;
        }
    }
    Ok(())
}

impl<'a> Row<'a> {
    /// A line for a hit; uses are known if the library has proofs.
    pub(crate) fn of(hit: &'a Hit, has_proofs: bool) -> Self {
        let evidence = hit.evidence.as_ref();
        Row {
            problem: None,
            rank: 0,
            name: &hit.statement.name,
            score: hit.score,
            probability: hit.probability,
            statement: &hit.statement.text,
            shared_symbols: evidence.map(|evidence| evidence.shared_symbols.clone()),
            uses: evidence.filter(|_| has_proofs).map(|evidence| evidence.uses),
            used_by: evidence.filter(|_| has_proofs).map(|evidence| evidence.used_by.clone()),
            unknown_symbols: evidence.map(|evidence| evidence.unknown_symbols.clone()),
            base_rate: hit.base_rate,
        }
    }
}

fn text(row: &Row<'_>, statement: &str, width: usize) -> String {
    let mut line = format!("{:>4}  {:.2}  {:<width$}  ", row.rank, row.score, row.name);
    if let Some(rate) = row.base_rate {
        line += &format!("(usual {rate:.2})  ");
    }
    line += statement;
    let used_by = row.used_by.clone().unwrap_or_default();
    let more = row.uses.unwrap_or(0).saturating_sub(used_by.len());
    let others = if more > 0 { vec![format!("{more} more")] } else { Vec::new() };
    let used_by = Some([used_by, others].concat());
    for (what, names) in
        [("shares", &row.shared_symbols), ("used by", &used_by), ("unknown", &row.unknown_symbols)]
    {
        if let Some(names) = names.as_ref().filter(|names| !names.is_empty()) {
            line += &format!("  ({what}: {})", names.join(", "));
        }
    }
    line
}
