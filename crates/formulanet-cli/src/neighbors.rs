//! `formulanet neighbors`: what is close to a formula in the network's eyes.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use formulanet::logic::{Formula, Interner};
use formulanet::model::encode::{Encoded, Encoder};
use formulanet::read::{SkippedStatements, Source, SourceItem};
use formulanet::retrieve::{ScoredStatement, VectorRetriever, best_first};
use formulanet::{Error, Library, Statement};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormatArgument, FormulaArguments, KeepGoingArgument, LimitArguments, ModelArgument,
    language_of, model_for, parse_statement, refuse_stdin_twice, report_skipped, writing,
};
use crate::lines;
use crate::output::{Output, write_file};

mod page;

/// Find statements or subformulas similar to a formula
///
/// Similarity is the cosine of two embeddings. With --drawings, writes a page that shows the graphs side by side.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet neighbors '!m n. m + n = n + m' --premises arithmetic.hol -k 5\n  \
    formulanet neighbors 'x + y = y + x' --premises arithmetic.hol --subformulas --drawings close.html\n  \
    formulanet neighbors 'x + y = y + x' --library lemmas.db -k 5")]
pub(crate) struct Arguments {
    /// Formula or sequent, `@FILE`, or `-` for standard input
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Search the statements of this file, in any format of `formulanet rank`; `-` is standard input
    #[arg(long, value_name = "FILE", required_unless_present = "library")]
    premises: Option<String>,
    /// Search the statements of this library
    #[arg(long, value_name = "FILE", conflicts_with_all = ["premises", "subformulas", "keep_going"])]
    library: Option<PathBuf>,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    going: KeepGoingArgument,
    /// Search all parts of the statements, not only whole ones
    #[arg(long)]
    subformulas: bool,
    /// Print at most K formulas
    #[arg(short = 'k', value_name = "K", default_value_t = 10)]
    most: usize,
    /// Write a page that shows the graphs side by side
    #[arg(long, value_name = "FILE.html")]
    drawings: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgument,
    /// Output format
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    #[command(flatten)]
    reading: FormulaArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// A formula that may be close.
struct Candidate {
    /// The statement that it is, or is part of.
    name: String,
    formula: Formula,
    encoded: Encoded,
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    name: String,
    similarity: f32,
    formula: String,
}

/// Subformulas that are searched, at most: a bound on memory.
const MOST_PARTS: usize = 2_000_000;

/// A formula that is close.
struct Neighbour {
    name: String,
    similarity: f32,
    formula: Formula,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let mut names = Interner::new();
    let (retriever, query, closest) = match (&arguments.library, &arguments.premises) {
        (Some(library), _) => in_library(&arguments, library, &mut names)?,
        (None, Some(premises)) => in_file(&arguments, premises, &mut names)?,
        (None, None) => bail!("expected --premises or --library"),
    };
    let row = |(neighbour, rank): (&Neighbour, usize)| {
        let Neighbour { name, similarity, formula } = neighbour;
        Row {
            rank,
            name: name.clone(),
            similarity: *similarity,
            formula: formula.display(&names).to_string(),
        }
    };
    let rows: Vec<Row> = closest.iter().zip(1..).map(row).collect();
    if let Some(path) = &arguments.drawings {
        write_file(path, page::page(&query, &closest, &retriever, &names)?)?;
    }
    let width = lines::column(closest.iter().map(|neighbour| neighbour.name.as_str()));
    let mut out = io::stdout().lock();
    for (row, neighbour) in rows.iter().zip(&closest) {
        writing(match arguments.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(row)?),
            Output::Text => {
                let formula = neighbour.formula.pretty(&names);
                let line = format!("{:>4}  {:.4}  {:<width$}  {formula}", row.rank, row.similarity, row.name);
                writeln!(out, "{}", lines::cut(&line))
            }
        })?;
    }
    Ok(())
}

/// Finds the statements of a file that are closest to the formula.
fn in_file(
    arguments: &Arguments,
    premises: &String,
    names: &mut Interner,
) -> Result<(VectorRetriever, Formula, Vec<Neighbour>)> {
    refuse_stdin_twice([arguments.query.as_str(), premises])?;
    let source = arguments.input.open(std::slice::from_ref(premises))?.remove(0);
    let (statements, language) = language_of(arguments.reading.syntax, Some(source.language()));
    let limits = arguments.limits.limits();
    let retriever = arguments.model.retriever(model_for(statements), &arguments.compute, limits)?;
    let mut candidates = read(arguments, source, &retriever, names)?;
    if candidates.is_empty() {
        bail!("expected statements to look at, found none");
    }
    let known = retriever.hol_options();
    let query = arguments.reading.parse_as(&arguments.query, language, known, names)?;
    let encoded = retriever.encoder().encode(&query, names)?;
    retriever.network()?;
    let named: Vec<_> = candidates.iter().map(|found| (found.name.as_str(), &found.encoded)).collect();
    let similarities = retriever.similarities(&encoded, &retriever.rows(&named));
    let mut closest = best_first(&similarities);
    closest.truncate(arguments.most);
    let neighbour = |ranked: ScoredStatement| {
        let Candidate { name, formula, .. } = &mut candidates[ranked.statement];
        let (name, formula) = (std::mem::take(name), std::mem::take(formula));
        Neighbour { name, similarity: ranked.score, formula }
    };
    let closest = closest.into_iter().map(neighbour).collect();
    Ok((retriever, query, closest))
}

/// Finds the statements of a library that are closest to the formula, by the embeddings in its file.
fn in_library(
    arguments: &Arguments,
    library: &Path,
    names: &mut Interner,
) -> Result<(VectorRetriever, Formula, Vec<Neighbour>)> {
    let library = Library::open(library)?;
    let retriever = arguments.model.retriever_of(&library, &arguments.compute, arguments.limits.limits())?;
    let (_, language) = language_of(arguments.reading.syntax, Some(library.language()?));
    let known = retriever.hol_options();
    let query = arguments.reading.parse_as(&arguments.query, language, known.clone(), names)?;
    let encoded = retriever.encoder().encode(&query, names)?;
    retriever.network()?;
    let (mut found, mut similarities) = (Vec::new(), Vec::new());
    library.scan(|entries, rows| {
        similarities.extend(retriever.similarities(&encoded, rows));
        found.extend(entries.into_iter().map(|entry| entry.statement.name));
        Ok(())
    })?;
    let mut closest = best_first(&similarities);
    closest.truncate(arguments.most);
    let mut neighbours = Vec::with_capacity(closest.len());
    for ranked in closest {
        let Statement { name, text, language: syntax } = library.statement(&found[ranked.statement])?;
        let formula = parse_statement(&text, syntax, &known, names)?;
        neighbours.push(Neighbour { name, similarity: ranked.score, formula });
    }
    Ok((retriever, query, neighbours))
}

/// All statements, or all distinct parts of each.
fn read(
    arguments: &Arguments,
    source: Source,
    retriever: &VectorRetriever,
    names: &mut Interner,
) -> Result<Vec<Candidate>> {
    let (mut candidates, mut encoder, mut skipped) =
        (Vec::new(), retriever.encoder(), SkippedStatements::default());
    // Of equal parts, the first is shown; statements have names of their own.
    let mut seen = HashSet::new();
    let mut items = source.items(retriever.hol_options())?;
    loop {
        let (read, is_damaged) = match items.next(names) {
            Ok(None) => break,
            Ok(Some(item)) => {
                (candidates_of(&item, arguments.subformulas.then_some(&mut seen), names, &mut encoder), false)
            }
            Err(error) => (Err(error), true),
        };
        match read {
            Ok(found) => candidates.extend(found),
            Err(error) if arguments.going.keep_going && (!is_damaged || items.recover(&error)) => {
                skipped.note(&error);
            }
            Err(error) => return Err(error.into()),
        }
        if candidates.len() > MOST_PARTS {
            bail!("expected at most {MOST_PARTS} formulas to look at, found more; give fewer statements");
        }
    }
    report_skipped(&skipped);
    Ok(candidates)
}

/// A statement, or all its distinct parts.
fn candidates_of(
    item: &SourceItem<'_>,
    parts_seen: Option<&mut HashSet<u64>>,
    names: &Interner,
    encoder: &mut Encoder<'_>,
) -> Result<Vec<Candidate>, Error> {
    let parts: Vec<Formula> = if parts_seen.is_some() {
        // Single variables and constants are close to everything of their kind.
        let terms = item.formula.preorder().filter(|&term| item.formula.arity(term) > 0);
        terms.map(|term| item.formula.subformula(term)).collect()
    } else {
        vec![item.formula.clone()]
    };
    let (mut candidates, mut parts_seen) = (Vec::new(), parts_seen);
    for formula in parts {
        let encoded = encoder.encode(&formula, names).map_err(|cause| Error::TooLarge {
            file: item.file.to_owned(),
            position: item.position,
            cause,
        })?;
        if parts_seen.as_mut().is_none_or(|seen| seen.insert(encoded.fingerprint())) {
            candidates.push(Candidate { name: item.shown_name(), formula, encoded });
        }
    }
    Ok(candidates)
}
