//! In which order training sees pairs. It depends on the data, the seed and the epoch alone, so that a run can go on
//! from any batch.

use std::collections::HashMap;

use formulanet_net::{Batch, GraphInput};

use crate::data::{Prepared, Split};
use crate::random::{sample, scramble};
use crate::recipe::Recipe;

/// Which pairs every batch has.
pub(super) struct Order<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    /// Ranges of training pairs, one for each conjecture.
    conjectures: Vec<std::ops::Range<usize>>,
    pairs: usize,
    /// The epoch that `shuffled` is for.
    epoch: Option<u64>,
    shuffled: Vec<u32>,
}

impl<'a> Order<'a> {
    pub(super) fn new(prepared: &'a Prepared, recipe: &'a Recipe) -> Self {
        let conjectures: Vec<_> =
            prepared.conjectures().filter(|c| c.split == Split::Train).map(|c| c.pairs).collect();
        let pairs = conjectures.iter().map(ExactSizeIterator::len).sum();
        Order { prepared, recipe, conjectures, pairs, epoch: None, shuffled: Vec::new() }
    }

    /// How many training pairs there are.
    pub(super) fn pair_count(&self) -> usize {
        self.pairs
    }

    /// Pairs of a batch.
    fn batch_size(&self) -> usize {
        self.recipe.batch.min(self.pairs)
    }

    /// Batches of an epoch. What is left over waits for the next epoch's order.
    pub(super) fn batches(&self) -> u64 {
        (self.pairs / self.batch_size().max(1)) as u64
    }

    /// Batches of the whole training.
    pub(super) fn total(&self) -> u64 {
        let total = self.batches() * u64::from(self.recipe.epochs);
        match self.recipe.limit_pairs {
            0 => total,
            limit => total.min(limit.div_ceil(self.batch_size().max(1) as u64)),
        }
    }

    /// The pairs of a batch, counted over all epochs.
    pub(super) fn pairs(&mut self, step: u64) -> &[u32] {
        let (epoch, batch) = (step / self.batches(), step % self.batches());
        if self.epoch != Some(epoch) {
            self.shuffled = self.shuffle(epoch);
            self.epoch = Some(epoch);
        }
        let start = batch as usize * self.batch_size();
        &self.shuffled[start..start + self.batch_size()]
    }

    /// All training pairs in the order of an epoch: groups of pairs of one conjecture stay together.
    fn shuffle(&self, epoch: u64) -> Vec<u32> {
        let seed = scramble(self.recipe.seed ^ scramble(epoch ^ 0x6f72_6465));
        let mut groups: Vec<Vec<u32>> =
            Vec::with_capacity(self.pairs / self.recipe.group + self.conjectures.len());
        for (i, range) in self.conjectures.iter().enumerate() {
            let pairs: Vec<u32> = range.clone().map(|pair| pair as u32).collect();
            let pairs = sample(pairs, usize::MAX, seed ^ scramble(i as u64));
            groups.extend(pairs.chunks(self.recipe.group).map(<[u32]>::to_vec));
        }
        sample(groups, usize::MAX, seed).concat()
    }

    /// A batch, ready for the network.
    pub(super) fn batch(&mut self, step: u64) -> Batch {
        let (prepared, recipe) = (self.prepared, self.recipe);
        let pairs: Vec<usize> = self.pairs(step).iter().map(|&pair| pair as usize).collect();
        make_batch(prepared, recipe, &pairs)
    }
}

/// A batch of some pairs: every distinct graph once.
fn make_batch(prepared: &Prepared, recipe: &Recipe, pairs: &[usize]) -> Batch {
    let mut graphs: Vec<GraphInput<'_>> = Vec::new();
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    let mut number = |graph: u32| {
        *numbers.entry(graph).or_insert_with(|| {
            graphs.push(prepared.graph(graph).input());
            graphs.len() - 1
        })
    };
    let labelled = pairs.iter().map(|&pair| {
        let pair = prepared.pair(pair);
        let statement = number(pair.statement);
        // An unconditional network does not look at conjectures, so they need not be embedded.
        let conjecture = if recipe.conditional {
            number(prepared.conjecture(pair.conjecture as usize).graph)
        } else {
            statement
        };
        formulanet_net::Pair { statement, conjecture, is_useful: pair.useful }
    });
    let labelled = labelled.collect();
    Batch::new(&graphs, labelled, recipe.micro_batch, &recipe.config(prepared.vocabulary().len()))
}
