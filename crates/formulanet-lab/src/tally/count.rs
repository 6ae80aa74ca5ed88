//! Making a tally: counts of the training split, and trees that learn what they are worth.
//!
//! What trees learn from a pair are the counts of all other conjectures: what a statement was for its own is never among
//! them.

use std::ops::Range;

use formulanet::net::Hints;

use super::{Tally, TallyOrigin};
use crate::boost::{BoostOptions, Examples, Phase, Shares, boost, in_threads};
use crate::tally::{Code, Described, Goal, Symbols, Table, describe, names, row, width};
use formulanet::model::memory::statements::{ConjectureContext, StatementMemory};
use formulanet::model::{ModelFile, registry};
use formulanet_train::dataset::{Prepared, Split};
use formulanet_train::{Error, Progress, Stage, processes};

/// How a tally is made.
#[derive(Clone, PartialEq, Debug)]
pub struct TallyOptions {
    /// Whether it looks at the conjecture.
    pub is_conditional: bool,
    /// The built-in model with its memory, made from the same data; it has one of its own if there is none.
    pub memory_of: Option<String>,
    /// The number of trees.
    pub trees: usize,
    /// Levels of a tree.
    pub depth: usize,
    /// Which part of a tree's step is taken.
    pub rate: f32,
    /// Threads.
    pub threads: usize,
}

impl Default for TallyOptions {
    fn default() -> Self {
        TallyOptions { is_conditional: true, memory_of: None, trees: 250, depth: 7, rate: 0.1, threads: 2 }
    }
}

/// A pair of training as trees see it.
struct Lesson {
    described: Described,
    hints: Hints,
}

/// Makes a tally of the training split of a prepared folder.
///
/// # Errors
///
/// If there are no pairs, if the memory of `memory_of` is another, or if `progress` stops it.
pub fn make_tally(
    prepared: &Prepared,
    options: &TallyOptions,
    progress: &dyn Progress,
) -> Result<Tally, Error> {
    let conjectures: Vec<(u32, Range<usize>)> =
        prepared.of_split(Split::Train).map(|conjecture| (conjecture.graph, conjecture.pairs)).collect();
    let pairs: usize = conjectures.iter().map(|(_, pairs)| pairs.len()).sum();
    if pairs == 0 {
        return Err(Error::TooFewPairs { data: prepared.path().display().to_string(), found: 0 });
    }
    let seen = memory(prepared, options.memory_of.as_deref())?;
    let symbols = Symbols::of(prepared);
    progress.begin(Stage { name: "reading", done: 0, of: pairs as u64, unit: "pairs" });
    let is_conditional = options.is_conditional;
    let lessons = in_threads(conjectures.len(), options.threads, |number| {
        if progress.is_stopped() {
            return Vec::new();
        }
        let (graph, pairs) = &conjectures[number];
        let conjecture = prepared.graph(*graph);
        let goal = is_conditional.then(|| Goal::new(conjecture, &symbols));
        let asked = if is_conditional { seen.conjecture(conjecture) } else { ConjectureContext::default() };
        let lesson = |pair: usize| {
            let statement = prepared.graph(prepared.pair(pair).statement);
            let hints = seen.hints_without(Some(number), &seen.statement(statement), &asked);
            Lesson { described: describe(&symbols, statement, goal.as_ref()), hints }
        };
        progress.advance(pairs.len() as u64);
        pairs.clone().map(lesson).collect()
    });
    progress.check()?;
    let labels = conjectures
        .iter()
        .map(|(_, pairs)| pairs.clone().map(|pair| prepared.pair(pair).useful).collect::<Vec<bool>>());
    let labels: Vec<Vec<bool>> = labels.collect();
    let counted = in_threads(names(is_conditional).count(), options.threads, |key| {
        let keys = lessons.iter().flatten().map(|lesson| lesson.described.keys[key]);
        count(&keys.collect::<Vec<u64>>(), &labels)
    });
    let mut examples = Examples::new(width(is_conditional));
    let mut pair = 0;
    for (lessons, labels) in lessons.into_iter().zip(&labels) {
        for (lesson, &is_useful) in lessons.into_iter().zip(labels) {
            let codes = counted.iter().map(|(_, codes)| codes[pair]);
            let row = row(codes, &lesson.described.numbers, &lesson.hints, is_conditional);
            examples.push(&row, is_useful, 1.0);
            pair += 1;
        }
        examples.end_group(Phase::First);
    }
    let columns = (0..width(is_conditional)).collect();
    let forest =
        boost(&examples, &boost_options(options), &[(Phase::First, options.trees, columns)], progress)?;
    let meta = prepared.meta();
    let origin = TallyOrigin {
        view: meta.options.view,
        is_conditional,
        data: meta.input.clone(),
        fingerprint: meta.fingerprint.clone(),
        pairs: pairs as u64,
        memory_of: options.memory_of.clone(),
        program: processes::program().to_owned(),
    };
    let tables = counted.into_iter().map(|(table, _)| table).collect();
    Ok(Tally { origin, vocabulary: prepared.vocabulary().to_vec(), symbols, tables, forest, seen })
}

fn boost_options(options: &TallyOptions) -> BoostOptions {
    BoostOptions {
        depth: options.depth,
        rate: options.rate,
        smoothing: 10.0,
        least: 10.0,
        pairwise: 0.0,
        shares: Shares { columns: 0.5, groups: 0.5 },
        threads: options.threads,
    }
}

/// The labels of statements for the conjectures of training: those of a built-in model, which must be the same.
fn memory(prepared: &Prepared, memory_of: Option<&str>) -> Result<StatementMemory, Error> {
    let own = formulanet_train::remember::labels(prepared, 1);
    if let Some(other) = memory_of {
        let message = |what: &str| {
            Error::input(
                other,
                format!("expected a shipped model with the memory of this data, found {what}"),
            )
        };
        let bytes = registry::bytes(other).ok_or_else(|| message("no shipped model"))?;
        if ModelFile::from_bytes(bytes, other)?.seen != own {
            return Err(message("one with another memory"));
        }
    }
    Ok(own)
}

/// The table of a key, and what it says of every pair without the pairs of the same conjecture. Keys come conjecture by
/// conjecture, as labels do.
fn count(keys: &[u64], labels: &[Vec<bool>]) -> (Table, Vec<Code>) {
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let bits = Table::bits_for(sorted.len());
    drop(sorted);
    // A key, the conjecture, the place of the pair, and its label.
    let mut entries: Vec<(u32, u32, u32, bool)> = Vec::with_capacity(keys.len());
    for (labels, conjecture) in labels.iter().zip(0..) {
        for &is_useful in labels {
            let place = entries.len();
            entries.push((Table::short(keys[place], bits), conjecture, place as u32, is_useful));
        }
    }
    entries.sort_unstable();
    let sums = |entries: &[(u32, u32, u32, bool)]| {
        (entries.len() as u32, entries.iter().filter(|entry| entry.3).count() as u32)
    };
    let mut codes = vec![Code::default(); keys.len()];
    let mut table = Vec::new();
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        let (all, useful) = sums(same);
        table.push((same[0].0, Code::new(all, useful)));
        for own in same.chunk_by(|a, b| a.1 == b.1) {
            let (own_all, own_useful) = sums(own);
            let code = Code::new(all - own_all, useful - own_useful);
            own.iter().for_each(|entry| codes[entry.2 as usize] = code);
        }
    }
    (Table::new(bits, table.into_iter()), codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_judged_by_other_conjectures() {
        // One key for the first conjecture's two pairs and the second's first; another for the rest.
        let (a, b) = (1u64 << 60, 1u64 << 63);
        let labels = [vec![true, true], vec![false, true], vec![true]];
        let (table, codes) = count(&[a, a, a, b, b], &labels);
        assert_eq!(table.len(), 2);
        assert_eq!((table.get(a), table.get(b)), (Code::new(3, 2), Code::new(2, 2)));
        let expected = [(1, 0), (1, 0), (2, 2), (1, 1), (1, 1)].map(|(all, useful)| Code::new(all, useful));
        assert_eq!(codes, expected);
    }
}
