//! Graphs as the network reads them: a few together, as index arrays, without what would be computed twice.
//!
//! Two nodes with the same token have the same vector before the first step. If their neighbours' tokens are the same
//! too, they still have the same vector after it, and so on. So the network computes one row for a *class* of nodes that
//! cannot be told apart yet, and one for all edges or treelets between the same classes; norms count a row as often as
//! it stands for something. The result is that of the graphs themselves. With a norm over one graph, classes are within
//! a graph; otherwise, graphs share them.

use std::collections::HashMap;

use crate::config::{Config, Kind, NormKind};
use crate::random::scramble;

/// Treelets of a graph that the network looks at, at most: their number grows with the square of a node's children, and
/// each takes one or two kilobytes while the graph is embedded. The graphs of HolStep and Mizar have far fewer.
const MOST_TREELETS: usize = 1 << 16;

/// A graph: the token and the number of edges of every node, and the targets of all edges in rank order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GraphInput<'a> {
    /// The token of every node.
    pub tokens: &'a [u16],
    /// The number of edges that leave every node.
    pub degrees: &'a [u16],
    /// Where they lead.
    pub targets: &'a [u16],
}

impl<'a> GraphInput<'a> {
    /// Replaces the tokens, if there are others.
    pub fn with(self, tokens: &'a Option<Vec<u16>>) -> Self {
        GraphInput { tokens: tokens.as_deref().unwrap_or(self.tokens), ..self }
    }

    /// The number of treelets that the network uses.
    pub fn treelets(&self) -> usize {
        self.treelets_within(self.reach())
    }

    /// Treelets whose children are at most so far apart.
    fn treelets_within(&self, reach: usize) -> usize {
        let of_node = |&n: &u16| {
            let (n, reach) = (usize::from(n), reach.min(usize::from(n.max(1) - 1)));
            reach * n - reach * (reach + 1) / 2
        };
        self.degrees.iter().map(of_node).sum()
    }

    /// How far apart two children of a node are that make a treelet with it: any two, unless there are more than
    /// [`MOST_TREELETS`] in the graph. Then the farthest are left out, as many as it takes.
    fn reach(&self) -> usize {
        let any = usize::from(u16::MAX);
        if self.treelets_within(any) <= MOST_TREELETS {
            return any;
        }
        let (mut fits, mut exceeds) = (0, any);
        while exceeds - fits > 1 {
            let middle = usize::midpoint(fits, exceeds);
            if self.treelets_within(middle) <= MOST_TREELETS { fits = middle } else { exceeds = middle }
        }
        fits
    }

    /// About how much work the graph is.
    pub fn cost(&self) -> usize {
        10 * self.tokens.len() + 2 * self.targets.len() + 3 * self.treelets()
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

/// The part that edges and treelets share: rows of classes in roles.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Relation {
    /// For each role, its members.
    pub(crate) roles: Vec<Role>,
    /// For each role, where messages to it go.
    pub(crate) deliveries: Vec<Deliveries>,
    /// The number of edges or treelets that each row represents.
    pub(crate) weights: Vec<f32>,
    /// The groups of rows that norms look at.
    pub(crate) groups: Vec<u32>,
    /// For each class after the step, one over the number of messages to it; 0 for one without.
    pub(crate) factors: Vec<f32>,
}

/// Classes of nodes that cannot be distinguished after this many steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Level {
    /// The class of every node.
    pub(crate) of_node: Vec<u32>,
    /// The number of nodes of each class.
    pub(crate) weights: Vec<f32>,
    /// The groups of classes that norms look at.
    pub(crate) groups: Vec<u32>,
    /// The classes of each graph, one graph after the other, and how many nodes of the graph are in each.
    pub(crate) classes: Vec<u32>,
    pub(crate) counts: Vec<f32>,
    /// Where the classes of each graph begin, and the end.
    pub(crate) graphs: Vec<u32>,
}

/// The work of a step.
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
        let (mut rest, reach) = (graph.targets, graph.reach());
        for (head, &degree) in (base..).zip(graph.degrees) {
            let (children, behind) = rest.split_at(usize::from(degree));
            rest = behind;
            for (rank, &left) in children.iter().enumerate() {
                let left = base + u32::from(left);
                self.edges.nodes.push([head, left]);
                if kind == Kind::Full {
                    let rights =
                        children[rank + 1..].iter().take(reach).map(|&right| base + u32::from(right));
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
        let mut hashes: Vec<u64> = self.tokens.iter().map(|&token| scramble(u64::from(token))).collect();
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

    /// Groups of rows, given the start of each graph.
    fn norm_groups(&self, graphs: Vec<u32>) -> Vec<u32> {
        let end = graphs[graphs.len() - 1];
        match self.norm {
            NormKind::Graph => graphs,
            NormKind::Batch => vec![0, end],
            NormKind::Layer => (0..=end).collect(),
        }
    }

    /// The hash that distinguishes nodes: those with the same hash are in one class, if their graphs share classes.
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
        let mut sums: Vec<u64> = hashes.iter().map(|&hash| scramble(hash ^ 0x5e1f)).collect();
        let mut send = |nodes: &[u32]| {
            let row = row_hash(nodes, hashes);
            for (&node, role) in nodes.iter().zip(1u64..) {
                let sum = &mut sums[node as usize];
                *sum = sum.wrapping_add(scramble(row ^ scramble(role)));
            }
        };
        self.edges.nodes.iter().for_each(|nodes| send(nodes));
        self.treelets.nodes.iter().for_each(|nodes| send(nodes));
        sums.into_iter().map(scramble).collect()
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
    nodes.iter().fold(nodes.len() as u64, |sum, &node| scramble(sum ^ hashes[node as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of treelets that the network uses of a node with this many children, and the largest distance between their
    /// children.
    fn treelets(children: u16) -> (usize, u32) {
        let tokens = vec![1; usize::from(children) + 1];
        let degrees: Vec<u16> = (0..=children).map(|node| if node == 0 { children } else { 0 }).collect();
        let targets: Vec<u16> = (1..=children).collect();
        let graph = GraphInput { tokens: &tokens, degrees: &degrees, targets: &targets };
        let rows = Rows { nodes: Vec::new(), groups: vec![0] };
        let mut builder = Builder {
            shares: false,
            norm: NormKind::Graph,
            tokens: Vec::new(),
            groups: vec![0],
            edges: Rows { nodes: Vec::new(), groups: vec![0] },
            treelets: rows,
        };
        builder.push(graph, Kind::Full);
        let found = builder.treelets.nodes;
        assert_eq!(found.len(), graph.treelets());
        (found.len(), found.iter().map(|[left, _, right]| right - left).max().unwrap_or(0))
    }

    #[test]
    fn of_too_many_treelets_the_farthest_are_left_out() {
        assert_eq!(treelets(1), (0, 0));
        assert_eq!(treelets(300), (300 * 299 / 2, 299));
        assert_eq!(treelets(362), (362 * 361 / 2, 361));
        for (children, reach) in [(363, 344), (2000, 33), (50_000, 1)] {
            let (count, farthest) = treelets(children);
            assert_eq!(farthest, reach);
            assert!(count <= MOST_TREELETS && count + usize::from(children) > MOST_TREELETS, "{count}");
        }
    }
}
