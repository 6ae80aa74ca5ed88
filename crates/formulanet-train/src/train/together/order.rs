//! In which order training sees problems, and how it cuts and blinds them. It depends on the data, the seed and the step
//! alone, so that a run can go on from any batch.

use std::collections::HashSet;

use formulanet::logic::problem::{ProblemBuilder, ProblemLimits};
use formulanet::net::together::{LabelledProblem, Loss, ProblemInput, TogetherBatch, TogetherConfig};
use formulanet::net::{Dealing, Dropout};

use crate::Error;
use crate::dataset::{Problems, Split, scaled};
use formulanet::model::JointModelFile;
use formulanet::model::joint::{JointRecipe, Standardizer, problem_input};
use formulanet::util::random::{Random, sample, scramble};

/// A pool is not cut down to fewer candidates.
const LEAST_POOL: usize = 16;

/// The problems of training, by how large they are.
pub(super) struct ProblemOrder<'a> {
    problems: &'a Problems,
    recipe: &'a JointRecipe,
    config: TogetherConfig,
    dealing: Dealing,
    /// The number of each symbol's name.
    names: Vec<u32>,
    scales: Vec<(Standardizer, usize)>,
    /// The numbers of the problems, and how many nodes each has before anything is shared: at most those of a batch, to
    /// which problems are cut down.
    numbers: Vec<u32>,
    sizes: Vec<usize>,
    pairs: usize,
}

/// The symbols in at least this many training statements, the most common first.
pub(super) fn common_names(problems: &Problems, min_count: u32) -> Vec<String> {
    let mut counts = vec![0; problems.symbols().len()];
    let mut seen = HashSet::new();
    for problem in problems.of_split(Split::Train).map(|number| problems.problem(number)) {
        let candidates = problem.candidates.iter().map(|candidate| candidate.statement);
        for statement in candidates.chain([problem.conjecture]).filter(|&number| seen.insert(number)) {
            problems.statement_symbols(statement).iter().for_each(|&symbol| counts[symbol as usize] += 1);
        }
    }
    let mut common: Vec<(u32, &String)> =
        counts.into_iter().zip(problems.symbols()).filter(|(count, _)| *count >= min_count).collect();
    common.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    common.into_iter().map(|(_, name)| name.clone()).collect()
}

impl<'a> ProblemOrder<'a> {
    pub(super) fn new(
        problems: &'a Problems,
        recipe: &'a JointRecipe,
        model: &JointModelFile,
        dealing: Dealing,
    ) -> Result<Self, Error> {
        let limits = ProblemLimits::default();
        let (mut numbers, mut sizes, mut pairs) = (Vec::new(), Vec::new(), 0);
        for number in problems.of_split(Split::Train) {
            let problem = problems.problem(number);
            let nodes = |statement: u32| problems.statement_nodes(statement);
            let largest = problem.candidates.iter().map(|candidate| nodes(candidate.statement)).max();
            if nodes(problem.conjecture) + largest.unwrap_or(0) > limits.nodes / 2 {
                let message = format!(
                    "{}: expected statements of at most {} nodes, found more",
                    problem.name,
                    limits.nodes / 4
                );
                return Err(Error::input(&problems.origin().path, message));
            }
            let all: usize = problem.candidates.iter().map(|candidate| nodes(candidate.statement)).sum();
            numbers.push(number as u32);
            sizes.push((nodes(problem.conjecture) + all).min(recipe.batch));
            pairs += problem.candidates.len();
        }
        let (config, names) = (*model.model.config(), model.name_numbers(problems.symbols()));
        let scales = model.scales.iter().cloned().zip(0..).collect();
        Ok(ProblemOrder { problems, recipe, config, dealing, names, scales, numbers, sizes, pairs })
    }

    /// The number of candidates.
    pub(super) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Batches of an epoch.
    pub(super) fn batches(&self) -> u64 {
        (self.sizes.iter().sum::<usize>() / self.recipe.batch).max(1) as u64
    }

    /// The maker of batches.
    pub(super) fn maker(self) -> BatchMaker<'a> {
        let builder = self.recipe.builder();
        BatchMaker { order: self, builder, epoch: None, shuffled: Vec::new(), ends: Vec::new() }
    }
}

pub(super) struct BatchMaker<'a> {
    order: ProblemOrder<'a>,
    builder: ProblemBuilder,
    /// The epoch that the rest is for.
    epoch: Option<u64>,
    /// The problems' places in its order.
    shuffled: Vec<u32>,
    /// Where each batch ends among them.
    ends: Vec<usize>,
}

impl BatchMaker<'_> {
    /// Shuffles the problems for an epoch, and deals them out so that all batches have about as many nodes.
    fn begin(&mut self, epoch: u64) {
        let order = &self.order;
        let seed = scramble(order.recipe.seed ^ scramble(epoch ^ 0x6f72_6465));
        self.shuffled = sample((0..order.numbers.len() as u32).collect(), usize::MAX, seed);
        let (total, batches) = (order.sizes.iter().sum::<usize>(), order.batches() as usize);
        let (mut nodes, mut place) = (0, 0);
        self.ends.clear();
        for batch in 1..=batches {
            let begin = place;
            // A problem is in the batch that its middle falls into; no batch is empty.
            while place < self.shuffled.len() && batches - batch < self.shuffled.len() - place {
                let size = order.sizes[self.shuffled[place] as usize];
                let is_inside = (2 * nodes + size) * batches < 2 * total * batch;
                if place > begin && batch < batches && !is_inside {
                    break;
                }
                nodes += size;
                place += 1;
            }
            self.ends.push(place);
        }
        self.epoch = Some(epoch);
    }

    /// A batch, counted over all epochs.
    pub(super) fn batch(&mut self, step: u64) -> TogetherBatch {
        let (epoch, batch) = (step / self.order.batches(), (step % self.order.batches()) as usize);
        if self.epoch != Some(epoch) {
            self.begin(epoch);
        }
        let begin = if batch == 0 { 0 } else { self.ends[batch - 1] };
        let problems: Vec<(ProblemInput, Vec<bool>)> = (begin..self.ends[batch])
            .map(|place| {
                let number = self.order.numbers[self.shuffled[place] as usize];
                let seed = scramble(self.order.recipe.seed ^ scramble(epoch ^ scramble(u64::from(number))));
                self.problem(number as usize, seed)
            })
            .collect();
        let labelled: Vec<LabelledProblem<'_>> =
            problems.iter().map(|(problem, useful)| LabelledProblem { problem, useful }).collect();
        let order = &self.order;
        let seed = scramble(order.recipe.seed ^ scramble(step ^ 0x6472_6f70));
        TogetherBatch::new(&labelled, order.dealing, &order.config)
            .with_dropout(Dropout { share: order.recipe.dropout, seed })
    }

    /// A problem as a batch has it: perhaps with fewer candidates, and with names hidden.
    fn problem(&mut self, number: usize, seed: u64) -> (ProblemInput, Vec<bool>) {
        let ProblemOrder { problems, recipe, names, scales, .. } = &self.order;
        let problem = problems.problem(number);
        let mut random = Random(seed);
        let of = |place: &usize| problem.candidates[*place];
        let mut candidates: Vec<usize> = (0..problem.candidates.len()).collect();
        if random.unit() < recipe.subsets {
            // All orders of magnitude are equally likely.
            let most = candidates.len() as f32;
            let size = (most.powf(random.unit()).round() as usize).max(1);
            // A pool that is cut down is what the retriever would have found if less had been asked for.
            match recipe.loss {
                Loss::Each => candidates = sample(candidates, size, seed),
                Loss::Pool => candidates.truncate(size.max(LEAST_POOL)),
            }
        }
        let nodes = |place: &usize| problems.statement_nodes(of(place).statement);
        let mut room = recipe.batch.saturating_sub(problems.statement_nodes(problem.conjecture));
        let all: usize = candidates.iter().map(nodes).sum();
        if all > room {
            let mut is_first = true;
            candidates = sample(candidates, usize::MAX, seed);
            candidates.retain(|candidate| {
                let fits = nodes(candidate) <= room || std::mem::take(&mut is_first);
                if fits {
                    is_first = false;
                    room = room.saturating_sub(nodes(candidate));
                }
                fits
            });
        }
        let statements = candidates.iter().map(|place| of(place).statement);
        problems
            .build(problem.conjecture, statements, &mut self.builder)
            .expect("a problem that was cut down is within the limits");
        let hides_all = random.unit() < recipe.hide_names;
        let mut input = problem_input(self.builder.graph(), |symbol| {
            let is_hidden = hides_all || random.unit() < recipe.hide_each;
            if is_hidden { 0 } else { names[symbol as usize] }
        });
        input.features = scaled(scales, &problem, &candidates);
        (input, candidates.iter().map(|place| of(place).is_useful).collect())
    }
}
