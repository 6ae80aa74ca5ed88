//! Graphs as the network reads them: disjoint unions of a few, as index arrays.

use std::collections::HashMap;

use crate::config::{Config, Kind};

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

/// Which nodes have a role, such as the head of a treelet. What is computed of a node in a role is computed once,
/// however many rows it has the role in.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Role {
    /// The nodes that have it, in order.
    pub(crate) members: Vec<u32>,
    /// For each row, the number of its node among the members.
    pub(crate) rows: Vec<u32>,
}

impl Role {
    /// The members of a role, given the node of every row. Nodes that `classes` calls equal are represented by the
    /// first of them.
    fn of(nodes: &[u32], classes: &[u32]) -> Self {
        let mut numbers = vec![u32::MAX; classes.len()];
        nodes.iter().for_each(|&node| numbers[classes[node as usize] as usize] = 0);
        let members: Vec<u32> =
            (0..classes.len() as u32).filter(|&node| numbers[node as usize] == 0).collect();
        members.iter().zip(0..).for_each(|(&node, number)| numbers[node as usize] = number);
        Role { rows: nodes.iter().map(|&node| numbers[classes[node as usize] as usize]).collect(), members }
    }
}

/// What is the same for edges and treelets: rows of nodes in roles.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Relation {
    /// For each role, the node of every row.
    pub(crate) nodes: Vec<Vec<u32>>,
    /// For each role, its members.
    pub(crate) roles: Vec<Role>,
    /// The same before the first step, when nodes of one graph and token still have the same vector and one of them
    /// can stand for all.
    pub(crate) first_roles: Vec<Role>,
    /// Where the rows of each graph begin, and the end.
    pub(crate) groups: Vec<u32>,
    /// For each node, one over the number of its places in rows; 0 for a node without.
    pub(crate) factors: Vec<f32>,
}

impl Relation {
    fn new(roles: usize) -> Self {
        Relation { nodes: vec![Vec::new(); roles], groups: vec![0], ..Self::default() }
    }

    pub(crate) fn row_count(&self) -> usize {
        self.nodes[0].len()
    }

    fn end_graph(&mut self) {
        self.groups.push(self.row_count() as u32);
    }

    fn finish(&mut self, classes: &[u32]) {
        let mut counts = vec![0u32; classes.len()];
        self.nodes.iter().flatten().for_each(|&node| counts[node as usize] += 1);
        self.factors = counts.iter().map(|&n| if n == 0 { 0.0 } else { 1.0 / n as f32 }).collect();
        let each_its_own: Vec<u32> = (0..classes.len() as u32).collect();
        self.roles = self.nodes.iter().map(|nodes| Role::of(nodes, &each_its_own)).collect();
        self.first_roles = self.nodes.iter().map(|nodes| Role::of(nodes, classes)).collect();
    }
}

/// A disjoint union of graphs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Union {
    pub(crate) tokens: Vec<u32>,
    /// Where the nodes of each graph begin, and the end.
    pub(crate) groups: Vec<u32>,
    /// Source and target of every edge, ordered by source and rank.
    pub(crate) edges: Relation,
    /// Left child, head and right child of every treelet.
    pub(crate) treelets: Relation,
}

impl Union {
    /// The union of some graphs.
    ///
    /// # Panics
    ///
    /// If a target is no node, or the degrees do not sum up to the number of targets.
    pub(crate) fn new<'a>(graphs: impl IntoIterator<Item = GraphInput<'a>>) -> Self {
        let mut union = Union {
            tokens: Vec::new(),
            groups: vec![0],
            edges: Relation::new(2),
            treelets: Relation::new(3),
        };
        graphs.into_iter().for_each(|graph| union.push(graph));
        let classes = union.token_classes();
        union.edges.finish(&classes);
        union.treelets.finish(&classes);
        union
    }

    /// For each node, the first of its graph with the same token.
    fn token_classes(&self) -> Vec<u32> {
        let mut classes = Vec::with_capacity(self.tokens.len());
        let mut first = HashMap::new();
        for group in self.groups.windows(2) {
            first.clear();
            for node in group[0]..group[1] {
                classes.push(*first.entry(self.tokens[node as usize]).or_insert(node));
            }
        }
        classes
    }

    fn push(&mut self, graph: GraphInput<'_>) {
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
                self.edges.nodes[0].push(head);
                self.edges.nodes[1].push(left);
                for &right in &children[rank + 1..] {
                    let treelet = [left, head, base + u32::from(right)];
                    self.treelets.nodes.iter_mut().zip(treelet).for_each(|(role, node)| role.push(node));
                }
            }
        }
        assert!(rest.is_empty(), "degrees and targets do not fit each other");
        self.groups.push(self.tokens.len() as u32);
        self.edges.end_graph();
        self.treelets.end_graph();
    }

    pub(crate) fn graph_count(&self) -> usize {
        self.groups.len() - 1
    }
}

/// A labelled pair of graphs of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Number of the statement's graph.
    pub statement: usize,
    /// Number of the conjecture's graph; an unconditional network does not look at it.
    pub conjecture: usize,
    /// Whether the statement is useful.
    pub is_useful: bool,
}

/// A mini-batch, ready for the network: each distinct graph once, in micro-batches, and pairs of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    pub(crate) unions: Vec<Union>,
    /// For each graph, its micro-batch and its number there.
    pub(crate) places: Vec<(usize, usize)>,
    pub(crate) pairs: Vec<Pair>,
}

impl Batch {
    /// Deals graphs out to micro-batches of about the same work, with at most about so many graphs each: the largest
    /// first, each to the micro-batch with the least. The result depends on nothing else.
    ///
    /// # Panics
    ///
    /// If a graph is not one, or a pair names a graph that is not there.
    pub fn new(graphs: &[GraphInput<'_>], pairs: Vec<Pair>, micro_batch: usize) -> Self {
        let mut count = graphs.len().div_ceil(micro_batch.max(1)).max(1);
        if count > 1 {
            // An even number keeps two threads, or four, busy to the end.
            count = count.next_multiple_of(if count > 4 { 4 } else { 2 });
        }
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
        let exists = |pair: &Pair| pair.statement < graphs.len() && pair.conjecture < graphs.len();
        assert!(pairs.iter().all(exists), "a pair of a graph that is not there");
        let unions =
            parts.iter().map(|(_, part)| Union::new(part.iter().map(|&graph| graphs[graph]))).collect();
        Batch { unions, places, pairs }
    }

    /// How many multiplications the matrix products of a forward pass are; a backward pass has twice as many.
    pub fn products(&self, config: &Config) -> usize {
        let members = |roles: &[Role]| roles.iter().map(|role| role.members.len()).sum::<usize>();
        let of_step = |union: &Union, roles: fn(&Relation) -> &[Role]| {
            let rows = |relation: &Relation| members(roles(relation)) + relation.row_count();
            let treelets = if config.kind == Kind::Full { 3 * rows(&union.treelets) } else { 0 };
            2 * rows(&union.edges) + treelets + union.tokens.len()
        };
        let of_union = |union: &Union| match config.steps {
            0 => 0,
            steps => of_step(union, |r| &r.first_roles) + (steps - 1) * of_step(union, |r| &r.roles),
        };
        let rows: usize = self.unions.iter().map(of_union).sum();
        let heads = (config.steps + 1)
            * self.pairs.len()
            * config.classifier_hidden()
            * (config.classifier_input() + 2);
        rows * config.dimension * config.dimension + heads
    }

    /// The pairs.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }
}
