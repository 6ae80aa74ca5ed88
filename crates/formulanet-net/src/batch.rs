//! Graphs as the network reads them: a few together, as index arrays, without what would be computed twice.
//!
//! Two nodes with the same token have the same vector before the first step. If their neighbours' tokens are the same
//! too, they still have the same vector after it, and so on. So the network computes one row for a *class* of nodes that
//! cannot be told apart yet, and one for all edges or treelets between the same classes; norms count a row as often as
//! it stands for something. The result is that of the graphs themselves. With a norm over one graph, classes are within
//! a graph; otherwise, graphs share them.

use std::collections::HashMap;

use crate::config::{Config, Hints, Kind, NormKind};
use crate::lanes::Lanes;

/// A graph: the token and the number of edges of every node, and the targets of all edges in rank order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GraphInput<'a> {
    /// The token of every node.
    pub tokens: &'a [u16],
    /// How many edges leave every node.
    pub degrees: &'a [u16],
    /// Where they lead.
    pub targets: &'a [u16],
}

impl GraphInput<'_> {
    /// About how much work the graph is.
    pub fn cost(&self) -> usize {
        let treelets: usize =
            self.degrees.iter().map(|&n| usize::from(n) * usize::from(n.max(1) - 1) / 2).sum();
        10 * self.tokens.len() + 2 * self.targets.len() + 3 * treelets
    }
}

/// Which classes have a role, such as the head of a treelet. What is computed of a class in a role is computed once,
/// however many rows it has the role in.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Role {
    /// The classes that have it, in order.
    pub(crate) members: Vec<u32>,
    /// For each row, the number of its class among the members.
    pub(crate) rows: Vec<u32>,
}

impl Role {
    fn of(classes: &[u32], count: usize) -> Self {
        let mut numbers = vec![u32::MAX; count];
        classes.iter().for_each(|&class| numbers[class as usize] = 0);
        let members: Vec<u32> = (0..count as u32).filter(|&class| numbers[class as usize] == 0).collect();
        members.iter().zip(0..).for_each(|(&class, number)| numbers[class as usize] = number);
        Role { rows: classes.iter().map(|&class| numbers[class as usize]).collect(), members }
    }
}

/// Where the messages of an update function go: row `rows[i]` to the class `classes[i]` after the step.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Deliveries {
    pub(crate) rows: Vec<u32>,
    pub(crate) classes: Vec<u32>,
}

/// What is the same for edges and treelets: rows of classes in roles.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Relation {
    /// For each role, its members.
    pub(crate) roles: Vec<Role>,
    /// For each role, where messages to it go.
    pub(crate) deliveries: Vec<Deliveries>,
    /// How many edges or treelets each row stands for.
    pub(crate) weights: Vec<f32>,
    /// The groups of rows that norms look at.
    pub(crate) groups: Vec<u32>,
    /// For each class after the step, one over the number of messages to it; 0 for one without.
    pub(crate) factors: Vec<f32>,
}

/// Nodes that cannot be told apart after so many steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Level {
    /// The class of every node.
    pub(crate) of_node: Vec<u32>,
    /// How many nodes each class has.
    pub(crate) weights: Vec<f32>,
    /// The groups of classes that norms look at.
    pub(crate) groups: Vec<u32>,
    /// The classes of each graph, one graph after the other, and how many nodes of the graph are in each.
    pub(crate) classes: Vec<u32>,
    pub(crate) counts: Vec<f32>,
    /// Where the classes of each graph begin, and the end.
    pub(crate) graphs: Vec<u32>,
}

/// What a step does.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Plan {
    /// For each class after the step, its class before.
    pub(crate) parents: Vec<u32>,
    /// Source and target of every edge.
    pub(crate) edges: Relation,
    /// Left child, head and right child of every treelet.
    pub(crate) treelets: Relation,
}

/// A few graphs, ready for the network.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Union {
    /// The token of every class before the first step.
    pub(crate) tokens: Vec<u32>,
    /// Before the first step and after every step.
    pub(crate) levels: Vec<Level>,
    pub(crate) plans: Vec<Plan>,
}

/// Another number for every number, without order in them (the last steps of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Rows of nodes, as the graphs have them.
struct Rows<const ROLES: usize> {
    nodes: Vec<[u32; ROLES]>,
    /// Where the rows of each graph begin, and the end.
    groups: Vec<u32>,
}

/// The nodes' classes at some moment.
struct Classes {
    /// The first node of every class.
    first: Vec<u32>,
    level: Level,
}

/// Makes a union of graphs.
struct Builder {
    shares: bool,
    norm: NormKind,
    tokens: Vec<u32>,
    groups: Vec<u32>,
    edges: Rows<2>,
    treelets: Rows<3>,
}

impl Union {
    /// Some graphs, for a network.
    ///
    /// # Panics
    ///
    /// If a target is no node, or the degrees do not sum up to the number of targets.
    pub(crate) fn new<'a>(graphs: impl IntoIterator<Item = GraphInput<'a>>, config: &Config) -> Self {
        let mut builder = Builder {
            shares: config.norm != NormKind::Graph,
            norm: config.norm,
            tokens: Vec::new(),
            groups: vec![0],
            edges: Rows { nodes: Vec::new(), groups: vec![0] },
            treelets: Rows { nodes: Vec::new(), groups: vec![0] },
        };
        graphs.into_iter().for_each(|graph| builder.push(graph, config.kind));
        builder.finish(config.steps)
    }
}

impl Builder {
    fn push(&mut self, graph: GraphInput<'_>, kind: Kind) {
        let base = self.tokens.len() as u32;
        assert_eq!(graph.tokens.len(), graph.degrees.len(), "tokens and degrees do not fit each other");
        assert!(graph.targets.iter().all(|&t| usize::from(t) < graph.tokens.len()), "an edge to no node");
        self.tokens.extend(graph.tokens.iter().map(|&token| u32::from(token)));
        let mut rest = graph.targets;
        for (head, &degree) in (base..).zip(graph.degrees) {
            let (children, behind) = rest.split_at(usize::from(degree));
            rest = behind;
            for (rank, &left) in children.iter().enumerate() {
                let left = base + u32::from(left);
                self.edges.nodes.push([head, left]);
                if kind == Kind::Full {
                    let rights = children[rank + 1..].iter().map(|&right| base + u32::from(right));
                    self.treelets.nodes.extend(rights.map(|right| [left, head, right]));
                }
            }
        }
        assert!(rest.is_empty(), "degrees and targets do not fit each other");
        self.groups.push(self.tokens.len() as u32);
        self.edges.groups.push(self.edges.nodes.len() as u32);
        self.treelets.groups.push(self.treelets.nodes.len() as u32);
    }

    fn finish(self, steps: usize) -> Union {
        let mut hashes: Vec<u64> = self.tokens.iter().map(|&token| mix(u64::from(token))).collect();
        let mut classes = self.classes(&hashes);
        let tokens = classes.first.iter().map(|&node| self.tokens[node as usize]).collect();
        let (mut levels, mut plans) = (Vec::new(), Vec::new());
        for _ in 0..steps {
            let after_hashes = self.next_hashes(&hashes);
            let after = self.classes(&after_hashes);
            plans.push(Plan {
                parents: after.first.iter().map(|&node| classes.level.of_node[node as usize]).collect(),
                edges: self.relation(&self.edges, &hashes, &classes, &after),
                treelets: self.relation(&self.treelets, &hashes, &classes, &after),
            });
            levels.push(classes.level);
            (hashes, classes) = (after_hashes, after);
        }
        levels.push(classes.level);
        Union { tokens, levels, plans }
    }

    /// Groups of so many rows, given where each graph's begin.
    fn norm_groups(&self, graphs: Vec<u32>) -> Vec<u32> {
        let end = graphs[graphs.len() - 1];
        match self.norm {
            NormKind::Graph => graphs,
            NormKind::Batch => vec![0, end],
            NormKind::Layer => (0..=end).collect(),
        }
    }

    /// What tells nodes apart: those with the same hash are in one class, if their graphs share classes.
    fn classes(&self, hashes: &[u64]) -> Classes {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut first = Vec::new();
        let mut level = Level { graphs: vec![0], ..Level::default() };
        let mut norm_groups = vec![0];
        // For every class, its last place among the classes of graphs.
        let mut places: Vec<usize> = Vec::new();
        for group in self.groups.windows(2) {
            if !self.shares {
                numbers.clear();
            }
            let begin = level.classes.len();
            for node in group[0]..group[1] {
                let class = *numbers.entry(hashes[node as usize]).or_insert_with(|| {
                    first.push(node);
                    level.weights.push(0.0);
                    places.push(usize::MAX);
                    first.len() as u32 - 1
                });
                level.of_node.push(class);
                level.weights[class as usize] += 1.0;
                let place = &mut places[class as usize];
                if *place == usize::MAX || *place < begin {
                    *place = level.classes.len();
                    level.classes.push(class);
                    level.counts.push(0.0);
                }
                level.counts[*place] += 1.0;
            }
            level.graphs.push(level.classes.len() as u32);
            norm_groups.push(first.len() as u32);
        }
        level.groups = self.norm_groups(norm_groups);
        Classes { first, level }
    }

    /// The hashes after a step: of a node's own and, in any order, of those that send it messages.
    fn next_hashes(&self, hashes: &[u64]) -> Vec<u64> {
        let mut sums: Vec<u64> = hashes.iter().map(|&hash| mix(hash ^ 0x5e1f)).collect();
        let mut send = |nodes: &[u32]| {
            let row = row_hash(nodes, hashes);
            for (&node, role) in nodes.iter().zip(1u64..) {
                let sum = &mut sums[node as usize];
                *sum = sum.wrapping_add(mix(row ^ mix(role)));
            }
        };
        self.edges.nodes.iter().for_each(|nodes| send(nodes));
        self.treelets.nodes.iter().for_each(|nodes| send(nodes));
        sums.into_iter().map(mix).collect()
    }

    fn relation<const ROLES: usize>(
        &self,
        rows: &Rows<ROLES>,
        hashes: &[u64],
        before: &Classes,
        after: &Classes,
    ) -> Relation {
        let mut numbers: HashMap<[u32; ROLES], u32> = HashMap::new();
        let mut classes: [Vec<u32>; ROLES] = std::array::from_fn(|_| Vec::new());
        let (mut weights, mut groups) = (Vec::new(), vec![0]);
        // For every class after the step, its first node, if that is where a message goes.
        let is_first = |node: u32| {
            let class = after.level.of_node[node as usize];
            (after.first[class as usize] == node).then_some(class)
        };
        let mut deliveries: [Vec<(u32, u64, u32)>; ROLES] = std::array::from_fn(|_| Vec::new());
        let mut counts = vec![0u32; after.first.len()];
        for group in rows.groups.windows(2) {
            for nodes in &rows.nodes[group[0] as usize..group[1] as usize] {
                let key = nodes.map(|node| before.level.of_node[node as usize]);
                let row = *numbers.entry(key).or_insert_with(|| {
                    classes.iter_mut().zip(key).for_each(|(classes, class)| classes.push(class));
                    weights.push(0.0);
                    weights.len() as u32 - 1
                });
                weights[row as usize] += 1.0;
                for (deliveries, &node) in deliveries.iter_mut().zip(nodes) {
                    if let Some(class) = is_first(node) {
                        counts[class as usize] += 1;
                        deliveries.push((class, row_hash(nodes, hashes), row));
                    }
                }
            }
            groups.push(weights.len() as u32);
        }
        let deliveries = deliveries.map(|mut deliveries| {
            // Messages are added in an order that depends on what they are, not on where the node stands or which
            // node of a class came first: so sums have the same bits in any batch.
            deliveries.sort_unstable();
            let (rows, classes) = deliveries.iter().map(|&(class, _, row)| (row, class)).unzip();
            Deliveries { rows, classes }
        });
        Relation {
            roles: classes.iter().map(|classes| Role::of(classes, before.first.len())).collect(),
            deliveries: deliveries.into(),
            weights,
            groups: self.norm_groups(groups),
            factors: counts.iter().map(|&n| if n == 0 { 0.0 } else { 1.0 / n as f32 }).collect(),
        }
    }
}

/// The hash of an edge or a treelet between nodes of these hashes.
fn row_hash(nodes: &[u32], hashes: &[u64]) -> u64 {
    nodes.iter().fold(nodes.len() as u64, |sum, &node| mix(sum ^ hashes[node as usize]))
}

/// A labelled pair of graphs of a batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// Number of the statement's graph.
    pub statement: usize,
    /// Number of the conjecture's graph; an unconditional network does not look at it.
    pub conjecture: usize,
    /// Whether the statement is useful.
    pub is_useful: bool,
    /// What else is known of the statement.
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
    /// The same share of other numbers.
    pub(crate) fn other(self, number: u64) -> Self {
        Dropout { seed: mix(self.seed ^ mix(number)), ..self }
    }

    /// Leaves numbers out, or their gradients.
    pub(crate) fn apply(self, values: &mut [f32]) {
        if self.share <= 0.0 {
            return;
        }
        let (bar, scale) = ((self.share * 65536.0) as u64, 1.0 / (1.0 - self.share));
        for (i, four) in values.chunks_mut(4).enumerate() {
            let dice = mix(self.seed ^ i as u64);
            for (j, value) in four.iter_mut().enumerate() {
                *value = if (dice >> (16 * j)) & 0xffff < bar { 0.0 } else { *value * scale };
            }
        }
    }
}

impl Contest {
    /// What is added to a score, so that it is what the library would teach though the batch has mostly useful ones:
    /// the prior, and the logarithm of how much likelier a useful statement is to be in the batch than a useless one.
    pub(crate) fn shift(&self, conjecture: usize, statement: usize) -> f32 {
        self.prior + (self.chances[conjecture] * (1.0 / self.statements[statement].chance - 1.0)).ln_1p()
    }
}

/// What is scored.
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
    /// Graphs that go through the network together, about.
    pub micro_batch: usize,
    /// The number of this process, from 0.
    pub rank: usize,
    /// How many processes share the batch.
    pub ranks: usize,
}

impl Dealing {
    /// How many threads, of one process or several, can work on a batch of so many graphs at the same time.
    pub fn most_parallel(&self, graphs: usize) -> usize {
        Lanes::new(self.micro_batches(graphs)).count
    }

    fn micro_batches(self, graphs: usize) -> usize {
        let count = graphs.div_ceil(self.micro_batch.max(1)).max(1);
        // An even number keeps two threads, or four, busy to the end.
        if count > 1 { count.next_multiple_of(if count > 4 { 4 } else { 2 }) } else { count }
    }
}

impl From<usize> for Dealing {
    /// Micro-batches of so many graphs, all for this process.
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
        let count = contest.conjectures.len();
        assert!(
            contest.useful.len() == count && contest.chances.len() == count,
            "not one for each conjecture"
        );
        let (unions, places) = deal(graphs, dealing.into(), config);
        Batch { unions, places, task: Task::Contest(contest), dropout: Dropout::default() }
    }

    /// The same batch, of which numbers are left out at random, so that no single one is relied on.
    #[must_use]
    pub fn with_dropout(self, dropout: Dropout) -> Self {
        Batch { dropout, ..self }
    }

    /// How many multiplications the matrix products of a forward pass are; a backward pass has twice as many.
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

    /// How many graphs each micro-batch has.
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

    /// How many pairs or conjectures are scored.
    pub fn examples(&self) -> usize {
        match &self.task {
            Task::Pairs(pairs) => pairs.len(),
            Task::Contest(contest) => contest.conjectures.len(),
        }
    }
}

/// Deals graphs out to micro-batches of about the same work, with at most about so many graphs each: the largest
/// first, each to the micro-batch with the least. Which graphs are together depends on nothing else; a process makes
/// those micro-batches that are its own.
fn deal(
    graphs: &[GraphInput<'_>],
    dealing: Dealing,
    config: &Config,
) -> (Vec<Option<Union>>, Vec<(usize, usize)>) {
    let count = dealing.micro_batches(graphs.len());
    let costs: Vec<usize> = graphs.iter().map(GraphInput::cost).collect();
    let mut order: Vec<usize> = (0..graphs.len()).collect();
    order.sort_by_key(|&graph| std::cmp::Reverse(costs[graph]));
    let mut parts: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); count];
    let mut places = vec![(0, 0); graphs.len()];
    for graph in order {
        let part = (0..count).min_by_key(|&part| parts[part].0).expect("there is a part");
        places[graph] = (part, parts[part].1.len());
        parts[part].0 += costs[graph];
        parts[part].1.push(graph);
    }
    let lanes = Lanes::new(count);
    let union = |(i, (_, part)): (usize, &(usize, Vec<usize>))| {
        lanes
            .has(dealing.rank, dealing.ranks, i)
            .then(|| Union::new(part.iter().map(|&graph| graphs[graph]), config))
    };
    (parts.iter().enumerate().map(union).collect(), places)
}
