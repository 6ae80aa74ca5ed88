//! In which order training sees pairs, or conjectures with premises. It depends on the data, the seed and the epoch
//! alone, so that a run can go on from any batch.

use formulanet::net::{Batch, Compute, Dealing, Dropout, Hints, Meeting};

use super::contest::ContestOrder;
use super::gather::{Blur, Gathered};
use crate::dataset::{Prepared, Split};
use formulanet::model::memory::marks::SymbolMarker;
use formulanet::model::memory::statements::{ConjectureContext, MEMORIES, REMEMBERED, StatementMemory};
use formulanet::model::recipe::Recipe;
use formulanet::util::random::{falls_in, sample, scramble};

/// The items of batches: pairs; or, for dot products, conjectures and premises.
pub(super) struct Order<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    dealing: Dealing,
    /// Ranges of examples that belong together: the training pairs of each conjecture, or single conjectures.
    groups: Vec<std::ops::Range<usize>>,
    contests: Option<ContestOrder<'a>>,
    /// The side features of every pair; empty without a memory.
    hints: Vec<Hints>,
    /// Marks statements, if the recipe says so.
    marker: Option<SymbolMarker>,
    blur: Blur,
    examples: usize,
    /// The epoch that `shuffled` is for.
    epoch: Option<u64>,
    shuffled: Vec<u32>,
}

impl<'a> Order<'a> {
    /// The statistics of training statements, which may be empty.
    pub(super) fn new(
        prepared: &'a Prepared,
        recipe: &'a Recipe,
        seen: &StatementMemory,
        dealing: Dealing,
        compute: &Compute,
    ) -> Self {
        let ranks = recipe.meeting == Meeting::Towers;
        let contests = ranks.then(|| ContestOrder::new(prepared, recipe));
        let groups: Vec<_> = match &contests {
            Some(contests) => (0..contests.conjectures.len()).map(|place| place..place + 1).collect(),
            None => prepared.of_split(Split::Train).map(|c| c.pairs).collect(),
        };
        let examples = groups.iter().map(ExactSizeIterator::len).sum();
        let hints =
            if seen.is_empty() { Vec::new() } else { hints(prepared, recipe.conditional, seen, compute) };
        Order {
            prepared,
            recipe,
            dealing,
            groups,
            contests,
            hints,
            marker: recipe.marks.then(|| seen.marker(prepared.vocabulary().len() as u16)),
            blur: Blur::new(prepared, recipe),
            examples,
            epoch: None,
            shuffled: Vec::new(),
        }
    }

    /// The number of training pairs or conjectures.
    pub(super) fn count(&self) -> usize {
        self.examples
    }

    /// The logarithm of how many premises are useful for each that is not, if premises are ranked.
    pub(super) fn prior(&self) -> Option<f32> {
        self.contests.as_ref().map(|contests| contests.prior)
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
        let examples = self.examples(step).to_vec();
        match &self.contests {
            Some(contests) => contests.batch(&examples, step, self.dealing),
            None => self.pairs(&examples, step),
        }
    }

    /// A batch of some pairs: every distinct graph once.
    fn pairs(&self, pairs: &[u32], step: u64) -> Batch {
        let (prepared, recipe) = (self.prepared, self.recipe);
        let mut graphs = Gathered::marking(self.marker.as_ref());
        let labelled = pairs.iter().map(|&number| {
            let pair = prepared.pair(number as usize);
            let conjecture = prepared.conjecture(pair.conjecture as usize).graph;
            let statement = graphs.statement(pair.statement, conjecture);
            // An unconditional network does not look at conjectures, so they need not be embedded.
            let conjecture = if recipe.conditional { graphs.number(conjecture) } else { statement };
            let hints = self.hints(number, step);
            formulanet::net::Pair { statement, conjecture, is_useful: pair.useful, hints }
        });
        let labelled = labelled.collect();
        let config = recipe.config(prepared.vocabulary().len());
        graphs.with_inputs(prepared, &self.blur, step, |inputs| {
            let seed = scramble(recipe.seed ^ scramble(step ^ 0x6472_6f70));
            let dropout = Dropout { share: recipe.dropout, seed };
            Batch::new(inputs, labelled, self.dealing, &config).with_dropout(dropout)
        })
    }

    /// The side features of a pair's statement.
    fn hints(&self, pair: u32, step: u64) -> Hints {
        let Some(&(mut hints)) = self.hints.get(pair as usize) else { return Hints::default() };
        let dice = scramble(self.recipe.seed ^ scramble(step ^ scramble(u64::from(pair))));
        if falls_in(dice, self.recipe.forget) {
            hints[..REMEMBERED].fill(0.0);
            hints[MEMORIES].fill(0.0);
        }
        hints
    }
}

/// For every training pair, what its statement was for other conjectures and has in common with its own. On the
/// threads of the run, and no others: processes of a job share their cores.
fn hints(prepared: &Prepared, is_conditional: bool, seen: &StatementMemory, compute: &Compute) -> Vec<Hints> {
    let mut hints = vec![Hints::default(); prepared.meta().counts.pairs];
    let training: Vec<_> = prepared.of_split(Split::Train).collect();
    let of_conjecture = |number: usize| -> Vec<Hints> {
        let conjecture = &training[number];
        let asked = match is_conditional {
            true => seen.conjecture(prepared.graph(conjecture.graph)),
            false => ConjectureContext::default(),
        };
        let of_pair = |pair: usize| {
            let statement = seen.statement(prepared.graph(prepared.pair(pair).statement));
            seen.hints_without(Some(number), &statement, &asked)
        };
        conjecture.pairs.clone().map(of_pair).collect()
    };
    let all = compute.map(training.len(), of_conjecture);
    for (conjecture, of_pairs) in training.iter().zip(all) {
        hints[conjecture.pairs.clone()].copy_from_slice(&of_pairs);
    }
    hints
}
