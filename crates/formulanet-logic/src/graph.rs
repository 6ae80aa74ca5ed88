//! Formulas as graphs that do not depend on variable names.
//!
//! The construction of the paper's section 3.1, made exact: the turnstile is node 0, every other node follows
//! when the formula is read from left to right, and the `!` nodes that close free variables come last. A node's
//! outgoing edges stand in rank order, because the treelets of Eqn. 2 depend on it.

use crate::formula::{Formula, Head, VarId};
use crate::limits::{Limit, Limits, TooLarge};
use crate::symbol::{Interner, Symbol};

mod share;

/// Which graph is made of a formula. The first four are those of the paper's Table 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum View {
    /// Leaves merged, binders linked to their variables, variables without names.
    #[default]
    Graph,
    /// The graph with the variables' names as labels.
    GraphNames,
    /// The parse tree of the closed formula, variables without names.
    Tree,
    /// The parse tree of the closed formula, with the variables' names.
    TreeNames,
    /// `Graph` with equal sub-formulas shared.
    Dag,
}

impl View {
    /// All views, with the names they have on the command line.
    pub const ALL: [(&'static str, View); 5] = [
        ("graph", View::Graph),
        ("graph-names", View::GraphNames),
        ("tree", View::Tree),
        ("tree-names", View::TreeNames),
        ("dag", View::Dag),
    ];

    /// The name of the view in files and on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    fn is_tree(self) -> bool {
        matches!(self, View::Tree | View::TreeNames)
    }

    fn has_names(self) -> bool {
        matches!(self, View::GraphNames | View::TreeNames)
    }
}

/// The label of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NodeKind {
    /// The node `|-`.
    Turnstile,
    /// A quantifier, choice or abstraction.
    Binder,
    /// A constant with arguments.
    Function,
    /// A constant without arguments.
    Constant,
    /// A variable as a value.
    Variable,
    /// A variable with arguments.
    VariableFunction,
}

impl NodeKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Turnstile => "turnstile",
            NodeKind::Binder => "binder",
            NodeKind::Function => "function",
            NodeKind::Constant => "constant",
            NodeKind::Variable => "variable",
            NodeKind::VariableFunction => "function variable",
        }
    }
}

/// A node of one graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node's number: dense, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A directed graph with labelled nodes and ranked edges, as flat arrays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    labels: Vec<Symbol>,
    kinds: Vec<NodeKind>,
    /// Where each node's edges begin in `targets`; one entry more than there are nodes.
    starts: Vec<u32>,
    targets: Vec<NodeId>,
    treelets: u64,
}

impl Graph {
    /// A graph without nodes, to be filled by [`GraphBuilder::build`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of nodes.
    #[inline]
    pub fn node_count(&self) -> usize {
        self.labels.len()
    }

    /// The number of edges, including repeated ones.
    #[inline]
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// The nodes in order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.node_count() as u32).map(NodeId)
    }

    /// The label of every node.
    #[inline]
    pub fn labels(&self) -> &[Symbol] {
        &self.labels
    }

    /// The labels of the nodes.
    pub fn kinds(&self) -> &[NodeKind] {
        &self.kinds
    }

    /// Where each node's edges begin in [`Graph::targets`], and the end of the last.
    #[inline]
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The targets of all edges, ordered by source and rank.
    #[inline]
    pub fn targets(&self) -> &[NodeId] {
        &self.targets
    }

    /// The targets of a node's edges in rank order.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.targets[self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize]
    }

    /// All edges, ordered by source and rank.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.nodes().flat_map(|v| self.children(v).iter().map(move |&c| (v, c)))
    }

    /// The number of treelets: any two different edges of a node make one.
    #[inline]
    pub fn treelet_count(&self) -> u64 {
        self.treelets
    }

    /// All treelets `(left, head, right)`, ordered by head and ranks.
    pub fn treelets(&self) -> impl Iterator<Item = (NodeId, NodeId, NodeId)> + '_ {
        self.nodes().flat_map(|head| {
            let children = self.children(head);
            (0..children.len())
                .flat_map(move |i| children[i + 1..].iter().map(move |&right| (children[i], head, right)))
        })
    }

    /// For every node, d_v of Eqn. 1: its incoming and outgoing edges, repeats included.
    pub fn degrees(&self) -> Vec<u32> {
        let mut degrees: Vec<u32> = self.starts.windows(2).map(|w| w[1] - w[0]).collect();
        for target in &self.targets {
            degrees[target.index()] += 1;
        }
        degrees
    }

    /// For every node, e_v of Eqn. 2: how often it is left, head or right of a treelet.
    pub fn treelet_degrees(&self) -> Vec<u64> {
        let mut degrees = vec![0; self.node_count()];
        for head in self.nodes() {
            let children = self.children(head);
            let others = children.len().saturating_sub(1) as u64;
            degrees[head.index()] += children.len() as u64 * others / 2;
            for child in children {
                degrees[child.index()] += others;
            }
        }
        degrees
    }

    /// Appends a node.
    pub(crate) fn push(&mut self, label: Symbol, kind: NodeKind, edges: impl Iterator<Item = u32>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.labels.push(label);
        self.kinds.push(kind);
        self.targets.extend(edges.map(NodeId));
        let before = self.starts[self.starts.len() - 1];
        self.starts.push(self.targets.len() as u32);
        self.treelets += treelets(self.targets.len() as u32 - before);
    }

    fn clear(&mut self) {
        self.labels.clear();
        self.kinds.clear();
        self.starts.clear();
        self.targets.clear();
    }
}

const NONE: u32 = u32::MAX;

/// Builds graphs one after the other and keeps its working memory between them.
///
/// ```
/// use formulanet_logic::{hol, Graph, GraphBuilder, Interner, Limits, View};
/// let mut names = Interner::new();
/// let formula = hol::parse("!x. ?y. P x /\\ Q x y", &hol::Options::default(), &mut names)?;
/// let mut graph = Graph::new();
/// GraphBuilder::new(View::Graph, Limits::default()).build(&formula, &names, &mut graph)?;
/// assert_eq!((graph.node_count(), graph.edge_count(), graph.treelet_count()), (10, 14, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct GraphBuilder {
    view: View,
    limits: Limits,
    /// For each symbol, the leaf node that stands for it in the graph with the given stamp.
    leaves: Vec<(u32, u32)>,
    stamp: u32,
    variables: Vec<VariableNodes>,
    /// Free variables in the order of their first occurrence.
    free: Vec<VarId>,
    /// Edges of the parse tree in the order of their targets' occurrence.
    tree_edges: Vec<(u32, u32)>,
    /// Occurrences of variables as functions, from left to right.
    functions: Vec<(VarId, u32)>,
    stack: Vec<(crate::TermId, u32)>,
    cursor: Vec<u32>,
    sharing: share::Sharing,
}

#[derive(Clone, Copy)]
struct VariableNodes {
    binder: u32,
    value: u32,
}

impl GraphBuilder {
    /// A builder of one view.
    pub fn new(view: View, limits: Limits) -> Self {
        GraphBuilder { view, limits, ..Self::default() }
    }

    /// Fills `graph` with the graph of a formula.
    pub fn build(&mut self, formula: &Formula, names: &Interner, graph: &mut Graph) -> Result<(), TooLarge> {
        self.reset(formula, names);
        graph.clear();
        self.add_terms(formula, names, graph);
        self.close(graph);
        TooLarge::check(Limit::Nodes, graph.node_count() as u64, self.limits.nodes as u64)?;
        self.link(graph);
        if self.view == View::Dag {
            self.sharing.share(graph, &self.functions, &self.variables);
        }
        TooLarge::check(Limit::Treelets, graph.treelet_count(), self.limits.treelets)
    }

    fn reset(&mut self, formula: &Formula, names: &Interner) {
        if self.stamp == u32::MAX {
            self.leaves.clear();
            self.stamp = 0;
        }
        self.stamp += 1;
        if self.leaves.len() < names.len() {
            self.leaves.resize(names.len(), (0, 0));
        }
        self.variables.clear();
        self.variables.resize(formula.variables().len(), VariableNodes { binder: NONE, value: NONE });
        self.free.clear();
        self.tree_edges.clear();
        self.functions.clear();
    }

    /// The turnstile and everything below it, with the edges of the tree.
    fn add_terms(&mut self, formula: &Formula, names: &Interner, graph: &mut Graph) {
        let most = formula.len() + formula.variables().len() + 1;
        graph.labels.reserve(most);
        graph.kinds.reserve(most);
        graph.starts.reserve(most + 1);
        self.tree_edges.reserve(most);
        add(graph, Symbol::TURNSTILE, NodeKind::Turnstile, formula.part_count());
        let Some(first) = formula.first_child(None) else { return };
        let (mut term, mut parent) = (first, 0);
        loop {
            let node = self.node(formula, term, names, graph);
            self.tree_edges.push((parent, node));
            let sibling = formula.sibling(term);
            match (formula.first_child(Some(term)), sibling) {
                (Some(child), sibling) => {
                    if let Some(sibling) = sibling {
                        self.stack.push((sibling, parent));
                    }
                    (term, parent) = (child, node);
                }
                (None, Some(sibling)) => term = sibling,
                (None, None) => match self.stack.pop() {
                    Some(next) => (term, parent) = next,
                    None => return,
                },
            }
        }
    }

    /// The node of a term: a new one, or the one that it is merged with.
    #[inline(always)]
    fn node(&mut self, formula: &Formula, term: crate::TermId, names: &Interner, graph: &mut Graph) -> u32 {
        let arity = formula.arity(term);
        match formula.head(term) {
            Head::Constant(name) if arity > 0 => add(graph, names.label(name), NodeKind::Function, arity),
            Head::Constant(name) => {
                let leaf = &mut self.leaves[name.index()];
                if leaf.0 != self.stamp || self.view.is_tree() {
                    *leaf = (self.stamp, add(graph, names.label(name), NodeKind::Constant, 0));
                }
                leaf.1
            }
            Head::Binder(var) => {
                let binder = formula.variables()[var.index()].binder;
                let label = binder.map_or(Symbol::FORALL, |b| b.symbol());
                let node = add(graph, label, NodeKind::Binder, arity);
                self.variables[var.index()].binder = node;
                node
            }
            Head::Variable(var) => {
                let nodes = &mut self.variables[var.index()];
                if nodes.binder == NONE {
                    // Its `!` node gets its number after everything else has one.
                    nodes.binder = NONE - 1;
                    self.free.push(var);
                }
                let label = |general| match self.view.has_names() {
                    true => names.label(formula.variables()[var.index()].name),
                    false => general,
                };
                if arity > 0 {
                    let node = add(graph, label(Symbol::VARFUNC), NodeKind::VariableFunction, arity);
                    self.functions.push((var, node));
                    node
                } else {
                    if nodes.value == NONE || self.view.is_tree() {
                        nodes.value = add(graph, label(Symbol::VAR), NodeKind::Variable, 0);
                    }
                    nodes.value
                }
            }
        }
    }

    /// One `!` per free variable above the turnstile, the innermost first.
    fn close(&mut self, graph: &mut Graph) {
        let mut below = 0;
        for &var in self.free.iter().rev() {
            let node = add(graph, Symbol::FORALL, NodeKind::Binder, 1);
            self.variables[var.index()].binder = node;
            self.tree_edges.push((node, below));
            below = node;
        }
    }

    /// Sorts the edges by source: first those of the tree, then a binder's function variables, then its variable.
    fn link(&mut self, graph: &mut Graph) {
        let is_tree = self.view.is_tree();
        let functions = if is_tree { &[] } else { self.functions.as_slice() };
        let variables = if is_tree { &[] } else { self.variables.as_slice() };
        // So far `starts` holds how many edges of the tree every node has.
        for &(var, _) in functions {
            graph.starts[self.variables[var.index()].binder as usize] += 1;
        }
        for variable in variables.iter().filter(|v| v.value != NONE) {
            graph.starts[variable.binder as usize] += 1;
        }
        let mut total = 0;
        graph.treelets = 0;
        for count in &mut graph.starts {
            graph.treelets += treelets(*count);
            total += std::mem::replace(count, total);
        }
        self.cursor.clear();
        self.cursor.extend_from_slice(&graph.starts);
        graph.starts.push(total);
        graph.targets.resize(total as usize, NodeId(0));
        let mut put = |source: u32, target: u32| {
            let place = &mut self.cursor[source as usize];
            graph.targets[*place as usize] = NodeId(target);
            *place += 1;
        };
        for &(source, target) in &self.tree_edges {
            put(source, target);
        }
        for &(var, node) in functions {
            put(self.variables[var.index()].binder, node);
        }
        for variable in variables.iter().filter(|v| v.value != NONE) {
            put(variable.binder, variable.value);
        }
    }
}

/// The number of treelets of a node with this many edges.
#[inline]
fn treelets(edges: u32) -> u64 {
    u64::from(edges) * u64::from(edges).saturating_sub(1) / 2
}

/// Appends a node with this many edges of the tree.
#[inline(always)]
fn add(graph: &mut Graph, label: Symbol, kind: NodeKind, edges: usize) -> u32 {
    let node = graph.labels.len() as u32;
    graph.labels.push(label);
    graph.kinds.push(kind);
    graph.starts.push(edges as u32);
    node
}

#[cfg(test)]
mod tests;
