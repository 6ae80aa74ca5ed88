//! In which order training sees pairs, or conjectures with premises. It depends on the data, the seed and the epoch
//! alone, so that a run can go on from any batch.

use std::collections::HashMap;

use formulanet_net::{Batch, GraphInput, Meeting};

use super::contest::ContestOrder;
use crate::data::{Prepared, Split};
use crate::random::{sample, scramble};
use crate::recipe::Recipe;

/// What every batch has: pairs; or, for dot products, conjectures and premises.
pub(super) struct Order<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    /// Ranges of examples that belong together: the training pairs of each conjecture, or single conjectures.
    groups: Vec<std::ops::Range<usize>>,
    contests: Option<ContestOrder<'a>>,
    examples: usize,
    /// The epoch that `shuffled` is for.
    epoch: Option<u64>,
    shuffled: Vec<u32>,
}

impl<'a> Order<'a> {
    pub(super) fn new(prepared: &'a Prepared, recipe: &'a Recipe) -> Self {
        let contests = (recipe.meeting == Meeting::Towers).then(|| ContestOrder::new(prepared, recipe));
        let groups: Vec<_> = match &contests {
            Some(contests) => (0..contests.count()).map(|place| place..place + 1).collect(),
            None => prepared.conjectures().filter(|c| c.split == Split::Train).map(|c| c.pairs).collect(),
        };
        let examples = groups.iter().map(ExactSizeIterator::len).sum();
        Order { prepared, recipe, groups, contests, examples, epoch: None, shuffled: Vec::new() }
    }

    /// How many training pairs or conjectures there are.
    pub(super) fn count(&self) -> usize {
        self.examples
    }

    /// The logarithm of how many premises are useful for each that is not, if premises are ranked.
    pub(super) fn prior(&self) -> Option<f32> {
        self.contests.as_ref().map(ContestOrder::prior)
    }

    /// Pairs or conjectures of a batch.
    fn batch_size(&self) -> usize {
        self.recipe.batch.min(self.examples)
    }

    /// Batches of an epoch. What is left over waits for the next epoch's order.
    pub(super) fn batches(&self) -> u64 {
        (self.examples / self.batch_size().max(1)) as u64
    }

    /// Batches of the whole training.
    pub(super) fn total(&self) -> u64 {
        let total = self.batches() * u64::from(self.recipe.epochs);
        match self.recipe.limit_pairs {
            0 => total,
            limit => total.min(limit.div_ceil(self.batch_size().max(1) as u64)),
        }
    }

    /// The pairs or conjectures of a batch, counted over all epochs.
    fn examples(&mut self, step: u64) -> &[u32] {
        let (epoch, batch) = (step / self.batches(), step % self.batches());
        if self.epoch != Some(epoch) {
            self.shuffled = self.shuffle(epoch);
            self.epoch = Some(epoch);
        }
        let start = batch as usize * self.batch_size();
        &self.shuffled[start..start + self.batch_size()]
    }

    /// All examples in the order of an epoch: groups of pairs of one conjecture stay together.
    fn shuffle(&self, epoch: u64) -> Vec<u32> {
        let seed = scramble(self.recipe.seed ^ scramble(epoch ^ 0x6f72_6465));
        let mut groups: Vec<Vec<u32>> =
            Vec::with_capacity(self.examples / self.recipe.group + self.groups.len());
        for (i, range) in self.groups.iter().enumerate() {
            let pairs: Vec<u32> = range.clone().map(|pair| pair as u32).collect();
            let pairs = sample(pairs, usize::MAX, seed ^ scramble(i as u64));
            groups.extend(pairs.chunks(self.recipe.group).map(<[u32]>::to_vec));
        }
        sample(groups, usize::MAX, seed).concat()
    }

    /// A batch, ready for the network.
    pub(super) fn batch(&mut self, step: u64) -> Batch {
        let (prepared, recipe) = (self.prepared, self.recipe);
        let examples = self.examples(step).to_vec();
        match &self.contests {
            Some(contests) => contests.batch(&examples, step),
            None => make_batch(prepared, recipe, &examples),
        }
    }
}

/// A batch of some pairs: every distinct graph once.
fn make_batch(prepared: &Prepared, recipe: &Recipe, pairs: &[u32]) -> Batch {
    let mut graphs: Vec<GraphInput<'_>> = Vec::new();
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    let mut number = |graph: u32| {
        *numbers.entry(graph).or_insert_with(|| {
            graphs.push(prepared.graph(graph).input());
            graphs.len() - 1
        })
    };
    let labelled = pairs.iter().map(|&pair| {
        let pair = prepared.pair(pair as usize);
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
