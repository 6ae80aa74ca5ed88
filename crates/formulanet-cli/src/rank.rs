//! `formulanet rank`: which statements are worth using for a conjecture.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args};
use formulanet::Error;
use formulanet::logic::Interner;
use formulanet::model::encode::Encoded;
use formulanet::rank::collection::{Collection, Premise};
use formulanet::rank::library::Library;
use formulanet::rank::ranker::{Ranked, Ranker};
use formulanet::read::Syntax;
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormatArgument, FormulaArguments, LimitArguments, Listing, SelectionArguments,
    ranker_for, writing,
};
use crate::library::ranker_of;

/// Rank statements by how useful they are for a conjecture
///
/// Reads the statements from a file, embeds them and the conjecture with a shipped model, and prints the best ones with
/// the probability that each is useful.
#[derive(Args)]
#[command(
    group(ArgGroup::new("source").required(true)),
    after_help = "Examples:\n  \
        formulanet rank --conjecture '!m n. m + n = n + m' --premises arithmetic.hol -k 5\n  \
        formulanet rank --conjecture @goal.txt --premises theory.p --format json\n  \
        formulanet rank --conjecture 'x + &0 = x' --premises reals.jsonl --exclude '*_THM' --explain\n\n\
        A file of premises has `name: formula` lines in HOL Light's syntax, or is a HolStep file, a TPTP problem with\n\
        its includes, a DeepMath file, or JSON Lines: {\"name\": \"...\", \"statement\": \"...\", \"syntax\": \"hol\"}"
)]
pub(crate) struct Arguments {
    /// A formula or sequent, `@FILE` to read it from a file, or `-` to read it from standard input
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    conjecture: String,
    /// A file of statements; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    premises: Option<String>,
    /// A library of `formulanet library build`
    #[arg(long, value_name = "FILE", group = "source")]
    library: Option<PathBuf>,
    #[command(flatten)]
    input: FormatArgument,
    /// More statements, such as lemmas of your own
    #[arg(long, value_name = "FILE")]
    local: Vec<String>,
    /// So many statements at most
    #[arg(short = 'k', value_name = "K", default_value_t = 32)]
    most: usize,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Also show which symbols the model does not know, and the score without the conjecture
    #[arg(long)]
    explain: bool,
    /// A model file or a shipped model; by default the one that ranks libraries of the statements' language
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    compute: ComputeArguments,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    format: Listing,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// A line of the result.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    pub(crate) rank: usize,
    pub(crate) name: &'a str,
    pub(crate) score: f32,
    pub(crate) statement: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) without_conjecture: Option<f32>,
}

/// What is ranked: the statements of a library, and behind them those of files.
struct Candidates<'a> {
    library: Option<&'a Library>,
    /// Names of the library's statements. Their texts are read when they are shown, their vectors when they are scored.
    stored: Vec<String>,
    collection: Collection<'a>,
    scores: Vec<f32>,
    /// Scores without the conjecture, where they are wanted and the model has them.
    without: Option<Vec<f32>>,
}

impl Candidates<'_> {
    fn name(&self, number: usize) -> &str {
        match number.checked_sub(self.stored.len()) {
            None => &self.stored[number],
            Some(number) => &self.collection.premises[number].name,
        }
    }

    /// A statement's text, and the symbols in it that the model does not know.
    fn shown(&self, number: usize, ranker: &Ranker) -> Result<(String, Vec<String>)> {
        if let Some(number) = number.checked_sub(self.stored.len()) {
            let premise = &self.collection.premises[number];
            return Ok((premise.text.clone(), premise.encoded.unknown().to_vec()));
        }
        let name = &self.stored[number];
        let entry = self.library.map(|library| library.entry(name)).transpose()?.flatten();
        let entry = entry.with_context(|| format!("`{name}` was removed from the library just now"))?;
        let mut alone = Collection::new(ranker);
        alone.add(&entry.name, &entry.text, entry.syntax)?;
        let unknown = alone.premises.first().map_or_else(Vec::new, |p| p.encoded.unknown().to_vec());
        Ok((entry.text, unknown))
    }
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let limits = arguments.limits.limits();
    let format = arguments.input.format();
    let files: Vec<String> = arguments.premises.iter().chain(&arguments.local).cloned().collect();
    if files.iter().filter(|file| *file == "-").count() + usize::from(arguments.conjecture == "-") > 1 {
        bail!("standard input can be read only once: give the others as files");
    }
    let library = arguments.library.as_deref().map(Library::open).transpose()?;
    let ranker = match &library {
        Some(library) => ranker_of(library, arguments.model.as_deref(), &arguments.compute)?,
        None => ranker_for(
            arguments.model.as_deref(),
            arguments.reading.syntax(),
            &files,
            format,
            &arguments.compute,
            limits,
        )?,
    };
    let ranker = ranker.with_limits(limits);
    let mut collection = Collection::new(&ranker);
    for file in &files {
        collection.read(file, format)?;
    }
    let known = collection.syntax();
    let of_model =
        || if ranker.model().origin.data.contains("deepmath") { Syntax::Tptp } else { Syntax::Hol };
    let syntax = arguments.reading.syntax().or(known).unwrap_or_else(of_model);
    let mut names = Interner::new();
    let conjecture =
        arguments.reading.parse_as(&arguments.conjecture, syntax, ranker.hol_options(), &mut names)?;
    let conjecture = ranker.encoder().encode(&conjecture, &names)?;
    let candidates = score(library.as_ref(), collection, &ranker, &conjecture, arguments.explain)?;
    if candidates.scores.is_empty() {
        bail!("expected statements to rank, found none");
    }
    let selection = arguments.selection.selection(arguments.most);
    let taken = selection.pick(&candidates.scores, |i| candidates.name(i))?;
    if arguments.explain && !conjecture.unknown().is_empty() {
        eprintln!("unknown in the conjecture: {}", conjecture.unknown().join(", "));
    }
    print(&arguments, &taken, &candidates, &ranker)
}

/// Scores statements of a library as they are read, so that vectors take no memory, and behind them those of files.
fn score<'a>(
    library: Option<&'a Library>,
    collection: Collection<'a>,
    ranker: &Ranker,
    conjecture: &Encoded,
    explains: bool,
) -> Result<Candidates<'a>> {
    let query = ranker.query(conjecture);
    let (mut stored, mut scoring, mut without) =
        (Vec::new(), ranker.scoring(&query), explains.then(Vec::new));
    let mut add = |vectors: &[f32]| {
        scoring.add(vectors);
        if let Some(all) = &mut without {
            match ranker.scores_without_conjecture(vectors) {
                Some(scores) => all.extend(scores),
                None => without = None,
            }
        }
    };
    if let Some(library) = library {
        library.scan(|entries, vectors| {
            add(vectors);
            stored.extend(entries.into_iter().map(|entry| entry.name));
            Ok::<(), Error>(())
        })?;
    }
    let named: Vec<_> = collection.premises.iter().map(Premise::named).collect();
    if !named.is_empty() {
        add(&ranker.vectors(&named));
    }
    let scores = scoring.finish();
    Ok(Candidates { library, stored, collection, scores, without })
}

fn print(
    arguments: &Arguments,
    taken: &[Ranked],
    candidates: &Candidates<'_>,
    ranker: &Ranker,
) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let width = taken.iter().map(|ranked| candidates.name(ranked.statement).chars().count()).max();
    let width = width.unwrap_or(0).min(40);
    for (i, ranked) in taken.iter().enumerate() {
        let (statement, unknown) = candidates.shown(ranked.statement, ranker)?;
        let row = Row {
            rank: i + 1,
            name: candidates.name(ranked.statement),
            score: ranked.score,
            statement: &statement,
            unknown: arguments.explain.then_some(unknown),
            without_conjecture: candidates.without.as_ref().map(|scores| scores[ranked.statement]),
        };
        writing(match arguments.format {
            Listing::Json => writeln!(out, "{}", serde_json::to_string(&row)?),
            Listing::Text => text(&mut out, &row, width),
        })?;
    }
    writing(out.flush())
}

fn text(out: &mut impl Write, row: &Row<'_>, width: usize) -> io::Result<()> {
    write!(out, "{:>4}  {:.4}  {:<width$}  ", row.rank, row.score, row.name)?;
    if let Some(without) = row.without_conjecture {
        write!(out, "(alone {without:.4})  ")?;
    }
    let shown: String = row.statement.split_whitespace().collect::<Vec<_>>().join(" ");
    write!(out, "{shown}")?;
    if let Some(unknown) = row.unknown.as_ref().filter(|unknown| !unknown.is_empty()) {
        write!(out, "  (unknown: {})", unknown.join(", "))?;
    }
    writeln!(out)
}
