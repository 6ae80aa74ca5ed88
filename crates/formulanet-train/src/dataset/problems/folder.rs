//! Problems in a prepared directory: the arrays in addition to the directory's own.

use std::io;
use std::path::Path;

use bytemuck::pod_read_unaligned;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use super::{Candidate, Entry, ProblemOrigin, Problems, split_text};
use crate::Error;
use crate::dataset::Prepared;
use crate::dataset::checksums::Checksums;
use crate::dataset::collect::Collection;
use crate::dataset::statements::Statements;
use crate::dataset::store::{Element, array};
use crate::dataset::write::{write_arrays, write_file};
use formulanet::error::Artefact;
use formulanet::read::SkippedStatements;
use formulanet::util::files;

const PROBLEMS: &str = "problems.safetensors";
pub(super) const SYMBOLS: &str = "symbols.txt";

/// Writes the problems of a collection, whose pairs are in order, into a folder.
pub(in crate::dataset) fn write(
    collection: &Collection,
    folder: &Path,
    checksums: &mut Checksums,
) -> io::Result<()> {
    let pair_statement: Vec<u32> = collection.pairs.iter().map(|pair| pair.graph).collect();
    let conjecture_statement: Vec<u32> = collection.conjectures.iter().map(|c| c.graph).collect();
    let arrays = statement_arrays(&collection.statements.statements).into_iter().chain([
        ("pair_statement", array(&pair_statement)),
        ("conjecture_statement", array(&conjecture_statement)),
    ]);
    write_arrays(arrays, &folder.join(PROBLEMS), checksums)?;
    write_file(&folder.join(SYMBOLS), symbol_text(&collection.statements.symbols).as_bytes(), checksums)
}

/// The arrays of statements.
pub(super) fn statement_arrays(s: &Statements) -> [(&'static str, TensorView<'_>); 11] {
    [
        ("node_offsets", array(&s.node_offsets)),
        ("edge_offsets", array(&s.edge_offsets)),
        ("block_offsets", array(&s.block_offsets)),
        ("symbol_offsets", array(&s.symbol_offsets)),
        ("symbol_of", array(&s.symbol_of)),
        ("edge_starts", array(&s.edge_starts)),
        ("edge_targets", array(&s.edge_targets)),
        ("blocks", array(&s.blocks)),
        ("symbols", array(&s.symbols)),
        ("labels", array(&s.labels)),
        ("edge_classes", array(&s.edge_classes)),
    ]
}

/// Symbols, a line each.
pub(super) fn symbol_text(symbols: &[String]) -> String {
    symbols.iter().flat_map(|symbol| [symbol.as_str(), "\n"]).collect()
}

/// The symbols of a folder.
pub(super) fn read_symbols(folder: &Path, checksums: &Checksums) -> Result<Vec<String>, Error> {
    let file = folder.join(SYMBOLS);
    let symbols = files::read_text(&file)?;
    checksums.verify(&file, symbols.as_bytes())?;
    Ok(symbols.lines().map(str::to_owned).collect())
}

/// Reads the problems of a prepared folder.
pub(super) fn read(path: &Path) -> Result<Problems, Error> {
    let prepared = Prepared::open(path)?;
    let file = path.join(PROBLEMS);
    if !file.is_file() {
        return Err(Error::NoProblems { folder: path.display().to_string() });
    }
    let shown = file.display().to_string();
    let damaged = |found: String| {
        Error::corrupt(Artefact::Dataset, &shown, format!("expected problems, found {found}"))
    };
    let bytes = files::read(&file)?;
    prepared.meta().checksums.verify(&file, &bytes)?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(error.to_string()))?;
    let found = Found(&tensors);
    let statements = found.statements().map_err(damaged)?;
    let [of_pairs, of_conjectures] =
        ["pair_statement", "conjecture_statement"].map(|name| found.numbers::<u32>(name).map_err(damaged));
    let (of_pairs, of_conjectures) = (of_pairs?, of_conjectures?);
    let symbols = read_symbols(path, &prepared.meta().checksums)?;
    let counts = prepared.meta().counts;
    let is_statement = |numbers: &[u32]| numbers.iter().all(|&n| (n as usize) < statements.len());
    if !statements.are_whole(symbols.len())
        || (of_pairs.len(), of_conjectures.len()) != (counts.pairs, counts.conjectures)
        || !is_statement(&of_pairs)
        || !is_statement(&of_conjectures)
    {
        return Err(damaged("arrays that do not fit together; prepare the folder again".into()));
    }
    let candidates = of_pairs
        .iter()
        .enumerate()
        .map(|(number, &statement)| Candidate { statement, is_useful: prepared.pair(number).useful });
    let candidates = candidates.collect();
    let problems = prepared.conjectures().zip(of_conjectures).map(|(conjecture, statement)| Entry {
        name: conjecture.name.to_owned(),
        statement,
        split: conjecture.split,
        relevant: conjecture.pairs.clone().filter(|&number| prepared.pair(number).useful).count(),
        candidates: conjecture.pairs,
    });
    let meta = prepared.meta();
    let origin = ProblemOrigin {
        path: path.display().to_string(),
        input: meta.input.clone(),
        fingerprint: meta.fingerprint.clone(),
        split: split_text(&meta.options),
        skipped: SkippedStatements::default(),
    };
    let problems = problems.collect();
    Ok(Problems {
        origin,
        symbols,
        statements,
        problems,
        candidates,
        features: Vec::new(),
        values: Vec::new(),
    })
}

/// The arrays of a file.
pub(super) struct Found<'a>(pub(super) &'a SafeTensors<'a>);

impl Found<'_> {
    pub(super) fn numbers<T: Element>(&self, name: &str) -> Result<Vec<T>, String> {
        let view = self.0.tensor(name).ok().filter(|view| view.dtype() == T::DTYPE);
        let view = view.ok_or_else(|| format!("no array `{name}`"))?;
        Ok(view.data().chunks_exact(size_of::<T>()).map(pod_read_unaligned).collect())
    }

    pub(super) fn statements(&self) -> Result<Statements, String> {
        let statements = Statements {
            node_offsets: self.numbers("node_offsets")?,
            edge_offsets: self.numbers("edge_offsets")?,
            block_offsets: self.numbers("block_offsets")?,
            symbol_offsets: self.numbers("symbol_offsets")?,
            labels: self.numbers("labels")?,
            symbol_of: self.numbers("symbol_of")?,
            edge_starts: self.numbers("edge_starts")?,
            edge_targets: self.numbers("edge_targets")?,
            edge_classes: self.numbers("edge_classes")?,
            blocks: self.numbers("blocks")?,
            symbols: self.numbers("symbols")?,
        };
        if statements.node_offsets.is_empty() { Err("no statements".into()) } else { Ok(statements) }
    }
}
