//! `formulanet neighbors`: what is close to a formula in the network's eyes.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use formulanet::Error;
use formulanet::logic::draw::{self, SvgOptions};
use formulanet::logic::{Formula, Graph, GraphBuilder, Interner};
use formulanet::model::encode::{Encoded, Encoder};
use formulanet::rank::{Languages, Ranked, Ranker, Vectors, order};
use formulanet::read::{Item, Skipped, Source};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormatArgument, FormulaArguments, KeepGoingArgument, LimitArguments, ModelArgument,
    refuse_stdin_twice, report_skipped, writing,
};
use crate::output::{Output, write_file};

/// Find the statements or sub-formulas that are closest to a formula
///
/// Formulas are close if the angle between their embeddings is small. With --drawings, writes a page that shows the graphs.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet neighbors '!m n. m + n = n + m' --premises arithmetic.hol -k 5\n  \
    formulanet neighbors 'x + y = y + x' --premises arithmetic.hol --subformulas --drawings close.html")]
pub(crate) struct Arguments {
    /// A formula or sequent, `@FILE` to read it from a file, or `-` to read it from standard input
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Search the statements of this file, in any format of `formulanet rank`; `-` is standard input
    #[arg(long, value_name = "FILE")]
    premises: String,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    going: KeepGoingArgument,
    /// Search all parts of the statements, not only whole ones
    #[arg(long)]
    subformulas: bool,
    /// Show at most K formulas
    #[arg(short = 'k', value_name = "K", default_value_t = 10)]
    most: usize,
    /// Write a page that shows the graphs
    #[arg(long, value_name = "FILE.html")]
    drawings: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgument,
    /// How to show the result
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
struct Row<'a> {
    rank: usize,
    name: &'a str,
    similarity: f32,
    formula: String,
}

/// Parts of statements are not looked at beyond this number, lest a large library takes all memory.
const MOST_PARTS: usize = 2_000_000;

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    refuse_stdin_twice([arguments.query.as_str(), &arguments.premises])?;
    let source = arguments.input.open(std::slice::from_ref(&arguments.premises))?.remove(0);
    let languages = Languages::decide(arguments.reading.syntax, Some(source.syntax()), None);
    let limits = arguments.limits.limits();
    let ranker = arguments.model.ranker(languages.model(), &arguments.compute, limits)?;
    let mut names = Interner::new();
    let candidates = read(&arguments, source, &ranker, &mut names)?;
    if candidates.is_empty() {
        bail!("expected statements to look at, found none");
    }
    let (query, known) = (&arguments.query, ranker.hol_options());
    let query = arguments.reading.parse_as(query, languages.conjecture, known, &mut names)?;
    let encoded = ranker.encoder().encode(&query, &names)?;
    let vector = Vectors::of_encoded(&ranker, &[&encoded]);
    let vectors = Vectors::of_encoded(&ranker, &candidates.iter().map(|c| &c.encoded).collect::<Vec<_>>());
    let similarities = vectors.cosines(vector.rows().next().unwrap_or(&[]));
    let mut closest = order(&similarities, |i| &candidates[i].name);
    closest.truncate(arguments.most);
    let row = |(ranked, rank): (&Ranked, usize)| {
        let Candidate { name, formula, .. } = &candidates[ranked.statement];
        Row { rank, name, similarity: ranked.score, formula: formula.display(&names).to_string() }
    };
    let rows: Vec<Row<'_>> = closest.iter().zip(1..).map(row).collect();
    if let Some(path) = &arguments.drawings {
        let formulas = closest.iter().map(|ranked| &candidates[ranked.statement].formula);
        write_file(path, page(&query, &rows, formulas, &ranker, &names)?)?;
    }
    let mut out = io::stdout().lock();
    for row in &rows {
        writing(match arguments.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(row)?),
            Output::Text => {
                writeln!(out, "{:>4}  {:.4}  {}  {}", row.rank, row.similarity, row.name, row.formula)
            }
        })?;
    }
    Ok(())
}

/// All statements, or all distinct parts of each.
fn read(
    arguments: &Arguments,
    source: Source,
    ranker: &Ranker,
    names: &mut Interner,
) -> Result<Vec<Candidate>> {
    let (mut candidates, mut encoder, mut skipped) = (Vec::new(), ranker.encoder(), Skipped::default());
    let mut items = source.items(ranker.hol_options())?;
    loop {
        let (read, is_damaged) = match items.next(names) {
            Ok(None) => break,
            Ok(Some(item)) => (candidates_of(&item, arguments.subformulas, names, &mut encoder), false),
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
    item: &Item<'_>,
    with_parts: bool,
    names: &Interner,
    encoder: &mut Encoder<'_>,
) -> Result<Vec<Candidate>, Error> {
    let parts: Vec<Formula> = if with_parts {
        // Single variables and constants are close to everything of their kind.
        let terms = item.formula.preorder().filter(|&term| item.formula.arity(term) > 0);
        terms.map(|term| item.formula.subformula(term)).collect()
    } else {
        vec![item.formula.clone()]
    };
    let (mut candidates, mut seen) = (Vec::new(), HashSet::new());
    for formula in parts {
        let encoded = encoder.encode(&formula, names).map_err(|cause| Error::TooLarge {
            file: item.file.to_owned(),
            position: item.position,
            cause,
        })?;
        let input = encoded.input();
        if seen.insert((input.tokens.to_vec(), input.degrees.to_vec(), input.targets.to_vec())) {
            candidates.push(Candidate { name: item.shown_name(), formula, encoded });
        }
    }
    Ok(candidates)
}

/// The query's graph and those of its neighbours.
fn page<'a>(
    query: &Formula,
    rows: &[Row<'_>],
    formulas: impl Iterator<Item = &'a Formula>,
    ranker: &Ranker,
    names: &Interner,
) -> Result<String> {
    let mut builder = GraphBuilder::new(ranker.model().origin.view, ranker.limits());
    let mut graph = Graph::new();
    let mut picture = |formula: &Formula, title: String| -> Result<String> {
        builder.build(formula, names, &mut graph)?;
        Ok(draw::svg(&graph, names, &SvgOptions { title: Some(title), ..SvgOptions::default() })?)
    };
    let mut text = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Neighbours of a formula</title>\n\
         <style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem;max-width:80rem}figure{margin:0 0 2rem;\
         overflow-x:auto}figcaption{margin-bottom:.5rem}code{white-space:pre-wrap}</style>\n\
         <h1>Neighbours of a formula</h1>\n",
    );
    let mut add = |caption: String, picture: String| {
        text += &format!("<figure><figcaption>{caption}</figcaption>{picture}</figure>\n");
    };
    let code = |formula: &str| format!("<code>{}</code>", draw::escape(formula));
    add(code(&query.display(names).to_string()), picture(query, "query".into())?);
    for (Row { name, similarity, formula, .. }, drawn) in rows.iter().zip(formulas) {
        let caption =
            format!("<b>{}</b>, similarity {similarity:.4}<br>{}", draw::escape(name), code(formula));
        add(caption, picture(drawn, (*name).to_owned())?);
    }
    Ok(text + "</html>\n")
}
