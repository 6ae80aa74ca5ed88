//! Mini-batches: graphs dealt out to micro-batches, and what is scored.

use crate::config::{Config, Hints};
use crate::lanes::Lanes;
use crate::random::scramble;
use crate::union::{GraphInput, Plan, Relation, Union};

/// A labelled pair of graphs of a batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// Number of the statement's graph.
    pub statement: usize,
    /// Number of the conjecture's graph; an unconditional network does not look at it.
    pub conjecture: usize,
    /// Whether the statement is useful.
    pub is_useful: bool,
    /// Side features of the statement.
    pub hints: Hints,
}

/// A statement that conjectures are compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Candidate {
    /// Its graph, by its number in the batch.
    pub graph: usize,
    /// The chance that it is in the batch for another reason than being useful for the conjecture it is compared with.
    pub chance: f32,
}

/// Conjectures that are all compared with the same statements.
#[derive(Clone, PartialEq, Debug)]
pub struct Contest {
    /// The graph of every conjecture, by its number in the batch.
    pub conjectures: Vec<usize>,
    /// The statements.
    pub statements: Vec<Candidate>,
    /// For every conjecture, the numbers of the statements that are useful for it.
    pub useful: Vec<Vec<u32>>,
    /// For every conjecture, the chance that one of its useful statements is in the batch because it is.
    pub chances: Vec<f32>,
    /// The logarithm of how many statements are useful for each that is not, in the whole library.
    pub prior: f32,
}

/// Numbers that are left out at random in training; the others are made larger for it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Dropout {
    /// Share that is left out, below 1.
    pub share: f32,
    /// Decides which.
    pub seed: u64,
}

impl Dropout {
    /// Applies the share to other numbers.
    pub(crate) fn other(self, number: u64) -> Self {
        Dropout { seed: scramble(self.seed ^ scramble(number)), ..self }
    }

    /// Leaves numbers out, or their gradients.
    pub(crate) fn apply(self, values: &mut [f32]) {
        if self.share <= 0.0 {
            return;
        }
        let (bar, scale) = ((self.share * 65536.0) as u64, 1.0 / (1.0 - self.share));
        for (i, four) in values.chunks_mut(4).enumerate() {
            let dice = scramble(self.seed ^ i as u64);
            for (j, value) in four.iter_mut().enumerate() {
                *value = if (dice >> (16 * j)) & 0xffff < bar { 0.0 } else { *value * scale };
            }
        }
    }
}

impl Contest {
    /// The correction of a score for sampling, so that it fits a library although a batch has mostly useful statements: the
    /// prior, and the logarithm of how much likelier a useful statement is to be in the batch than a useless one.
    pub(crate) fn shift(&self, conjecture: usize, statement: usize) -> f32 {
        self.prior + (self.chances[conjecture] * (1.0 / self.statements[statement].chance - 1.0)).ln_1p()
    }
}

/// The pairs or contests to score.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Task {
    /// Pairs, by the classifiers.
    Pairs(Vec<Pair>),
    /// Conjectures with statements, by dot products.
    Contest(Contest),
}

/// A mini-batch, ready for the network: each distinct graph once, in micro-batches, and what is scored.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// The micro-batches; nothing for those of other processes.
    pub(crate) unions: Vec<Option<Union>>,
    /// For each graph, its micro-batch and its number there.
    pub(crate) places: Vec<(usize, usize)>,
    pub(crate) task: Task,
    pub(crate) dropout: Dropout,
}

/// How the graphs of a batch are dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dealing {
    /// Graphs that go through the network together, about; nodes, if they are graphs of whole problems.
    pub micro_batch: usize,
    /// The number of this process, from 0.
    pub rank: usize,
    /// The number of processes that share the batch.
    pub ranks: usize,
}

impl Dealing {
    /// The number of threads, of one process or several, that can work at the same time on a batch of this many graphs.
    pub fn most_parallel(&self, graphs: usize) -> usize {
        Lanes::new(self.micro_batches(graphs)).count
    }

    pub(crate) fn micro_batches(self, graphs: usize) -> usize {
        let count = graphs.div_ceil(self.micro_batch.max(1)).max(1);
        // An even number keeps two threads, or four, busy to the end.
        if count > 1 { count.next_multiple_of(if count > 4 { 4 } else { 2 }) } else { count }
    }
}

impl From<usize> for Dealing {
    /// Micro-batches of this many graphs, all for this process.
    fn from(micro_batch: usize) -> Self {
        Dealing { micro_batch, rank: 0, ranks: 1 }
    }
}

impl Batch {
    /// A batch of pairs.
    ///
    /// # Panics
    ///
    /// If a graph is not one, or a pair names a graph that is not there.
    pub fn new(
        graphs: &[GraphInput<'_>],
        pairs: Vec<Pair>,
        dealing: impl Into<Dealing>,
        config: &Config,
    ) -> Self {
        let exists = |pair: &Pair| pair.statement < graphs.len() && pair.conjecture < graphs.len();
        assert!(pairs.iter().all(exists), "a pair of a graph that is not there");
        let (unions, places) = deal(graphs, dealing.into(), config);
        Batch { unions, places, task: Task::Pairs(pairs), dropout: Dropout::default() }
    }

    /// A batch of conjectures that are all compared with the same statements.
    ///
    /// # Panics
    ///
    /// If a graph is not one, or the contest names something that is not there.
    pub fn contest(
        graphs: &[GraphInput<'_>],
        contest: Contest,
        dealing: impl Into<Dealing>,
        config: &Config,
    ) -> Self {
        let statements = contest.statements.iter();
        let mut named = contest.conjectures.iter().copied().chain(statements.map(|s| s.graph));
        assert!(named.all(|graph| graph < graphs.len()), "a graph that is not there");
        let mut useful = contest.useful.iter().flatten();
        assert!(useful.all(|&n| (n as usize) < contest.statements.len()), "a statement that is not there");
        let counts = [contest.useful.len(), contest.chances.len()];
        assert_eq!(counts, [contest.conjectures.len(); 2], "not one for each conjecture");
        let (unions, places) = deal(graphs, dealing.into(), config);
        Batch { unions, places, task: Task::Contest(contest), dropout: Dropout::default() }
    }

    /// Applies dropout to the batch, so that no single number is relied on.
    #[must_use]
    pub fn with_dropout(self, dropout: Dropout) -> Self {
        Batch { dropout, ..self }
    }

    /// The number of multiplications in the matrix products of a forward pass; a backward pass has twice as many.
    pub fn products(&self, config: &Config) -> usize {
        let of_relation = |relation: &Relation| {
            let members: usize = relation.roles.iter().map(|role| role.members.len()).sum();
            relation.roles.len() * (members + relation.weights.len())
        };
        let of_plan =
            |plan: &Plan| of_relation(&plan.edges) + of_relation(&plan.treelets) + plan.parents.len();
        let rows: usize = self.unions.iter().flatten().flat_map(|union| &union.plans).map(of_plan).sum();
        let (hidden, inputs) = (config.classifier_hidden(), config.classifier_input());
        let heads = match &self.task {
            Task::Pairs(pairs) => (config.steps + 1) * pairs.len() * hidden * (inputs + 2),
            Task::Contest(contest) => {
                let (conjectures, statements) = (contest.conjectures.len(), contest.statements.len());
                (conjectures + statements) * hidden * (inputs + config.tower())
                    + conjectures * statements * config.tower()
            }
        };
        rows * config.dimension * config.dimension + heads
    }

    /// The number of graphs of each micro-batch.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.unions.len()];
        self.places.iter().for_each(|&(part, _)| sizes[part] += 1);
        sizes
    }

    /// The pairs, if it is a batch of pairs.
    pub fn pairs(&self) -> &[Pair] {
        match &self.task {
            Task::Pairs(pairs) => pairs,
            Task::Contest(_) => &[],
        }
    }

    /// The number of pairs or conjectures that are scored.
    pub fn examples(&self) -> usize {
        match &self.task {
            Task::Pairs(pairs) => pairs.len(),
            Task::Contest(contest) => contest.conjectures.len(),
        }
    }
}

/// Distributes graphs over micro-batches of at most about this many graphs. The grouping depends on nothing else; a process makes
/// only its own micro-batches.
fn deal(
    graphs: &[GraphInput<'_>],
    dealing: Dealing,
    config: &Config,
) -> (Vec<Option<Union>>, Vec<(usize, usize)>) {
    let count = dealing.micro_batches(graphs.len());
    let costs: Vec<usize> = graphs.iter().map(GraphInput::cost).collect();
    let parts = deal_out(&costs, count);
    let mut places = vec![(0, 0); graphs.len()];
    for (i, part) in parts.iter().enumerate() {
        part.iter().enumerate().for_each(|(number, &graph)| places[graph] = (i, number));
    }
    let lanes = Lanes::new(count);
    let union = |(i, part): (usize, &Vec<usize>)| {
        lanes
            .has(dealing.rank, dealing.ranks, i)
            .then(|| Union::new(part.iter().map(|&graph| graphs[graph]), config))
    };
    (parts.iter().enumerate().map(union).collect(), places)
}

/// Distributes items with these costs over this many parts of about the same cost: the most expensive first, each to the cheapest
/// part.
pub(crate) fn deal_out(costs: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&thing| std::cmp::Reverse(costs[thing]));
    let (mut parts, mut totals) = (vec![Vec::new(); count], vec![0; count]);
    for thing in order {
        let part = (0..count).min_by_key(|&part| totals[part]).expect("there is a part");
        totals[part] += costs[thing];
        parts[part].push(thing);
    }
    parts
}
