//! Builds what a model remembers besides its weights from a prepared data set.

use std::collections::{HashMap, HashSet};

use formulanet::model::memory::conjectures::Conjectures;
use formulanet::model::memory::proofs::{TrainingProofs, named};
use formulanet::model::memory::statements::{StatementMemory, key};

use crate::dataset::{Conjecture, Prepared, Split};

/// Indexes the conjectures of the training split.
pub fn conjectures(prepared: &Prepared) -> Conjectures {
    let training = prepared.of_split(Split::Train);
    Conjectures::from_graphs(training.map(|conjecture| prepared.graph(conjecture.graph)))
}

/// Remembers statements of the training split that have at least `least` labels.
pub fn labels(prepared: &Prepared, least: u32) -> StatementMemory {
    let training = prepared.of_split(Split::Train);
    let mut labelled: Vec<(u32, u32, bool)> = Vec::with_capacity(prepared.meta().counts.pairs);
    for (conjecture, number) in training.zip(0..) {
        let pairs = conjecture.pairs.map(|number| prepared.pair(number));
        labelled.extend(pairs.map(|pair| (pair.statement, number, pair.useful)));
    }
    labelled.sort_unstable();
    let same = labelled.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() >= least as usize);
    let entries = same.flat_map(|same| {
        let key = key(prepared.graph(same[0].0));
        same.iter().map(move |&(_, conjecture, is_useful)| (key, conjecture, is_useful))
    });
    StatementMemory::from_labels(entries, conjectures(prepared))
}

/// Remembers the premises that proofs of the training split used.
pub fn proofs(prepared: &Prepared) -> TrainingProofs {
    let key_of = |graph: u32| key(prepared.graph(graph));
    let training = || prepared.of_split(Split::Train);
    let used = |conjecture| used(prepared, conjecture);
    // Names are needed where proofs used several theorems that say the same.
    let mut first_names: HashMap<u32, &str> = HashMap::new();
    let mut ambiguous: HashSet<u32> = HashSet::new();
    for (name, graph) in training().flat_map(used) {
        if *first_names.entry(graph).or_insert(name) != name {
            ambiguous.insert(graph);
        }
    }
    let keys_of = |(name, graph): (&str, u32)| {
        let key = key_of(graph);
        [Some(key), ambiguous.contains(&graph).then(|| named(key, name))].into_iter().flatten()
    };
    let uses: Vec<Vec<u64>> =
        training().map(|conjecture| used(conjecture).flat_map(keys_of).collect()).collect();
    TrainingProofs::from_uses(conjectures(prepared), &uses)
}

/// The names and graphs of the premises of a conjecture's proof, and of the conjecture itself: a similar theorem may help to
/// prove another.
fn used<'a>(
    prepared: &'a Prepared,
    conjecture: Conjecture<'a>,
) -> impl Iterator<Item = (&'a str, u32)> + use<'a> {
    let premises = conjecture.dependencies.iter().map(|&n| prepared.premise(n as usize));
    premises.map(|premise| (premise.name, premise.graph)).chain([(conjecture.name, conjecture.graph)])
}
