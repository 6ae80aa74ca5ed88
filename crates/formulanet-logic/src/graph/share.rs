//! View `dag`: equal sub-formulas become one node.

use super::{Graph, NodeId, NodeKind, VariableNodes};
use crate::formula::VarId;
use crate::hash::{self, mix};

const NONE: u32 = u32::MAX;

/// Working memory of [`Sharing::share`], kept between graphs.
pub(super) struct Sharing {
    /// For every node, the node that represents its class while classes are found.
    class: Vec<u32>,
    /// For the representative of every class, its node in the shared graph.
    shared: Vec<u32>,
    /// For every function variable, its variable.
    variable: Vec<u32>,
    /// For every binder, how many edges to function variables and to its variable it has.
    bound_edges: Vec<u32>,
    table: Vec<u32>,
    seed: u64,
    result: Graph,
}

impl Default for Sharing {
    fn default() -> Self {
        Sharing {
            class: Vec::new(),
            shared: Vec::new(),
            variable: Vec::new(),
            bound_edges: Vec::new(),
            table: Vec::new(),
            seed: hash::seed(),
            result: Graph::new(),
        }
    }
}

impl Sharing {
    /// Two function nodes with the same label, the same variable and the same ordered children become one, from
    /// the leaves upwards. Binders and the turnstile stay as they are. A shared node has the place of its
    /// first occurrence.
    pub(super) fn share(
        &mut self,
        graph: &mut Graph,
        functions: &[(VarId, u32)],
        variables: &[VariableNodes],
    ) {
        self.prepare(graph, functions, variables);
        self.classify(graph);
        self.number(graph);
        self.rebuild(graph);
        std::mem::swap(graph, &mut self.result);
    }

    fn prepare(&mut self, graph: &Graph, functions: &[(VarId, u32)], variables: &[VariableNodes]) {
        let nodes = graph.node_count();
        for (array, value) in
            [(&mut self.shared, NONE), (&mut self.variable, NONE), (&mut self.bound_edges, 0)]
        {
            array.clear();
            array.resize(nodes, value);
        }
        self.class.clear();
        self.class.extend(0..nodes as u32);
        self.table.clear();
        self.table.resize((nodes * 2).next_power_of_two(), NONE);
        for &(var, node) in functions {
            self.variable[node as usize] = var.0;
            self.bound_edges[variables[var.index()].binder as usize] += 1;
        }
        for variable in variables.iter().filter(|v| v.value != NONE) {
            self.bound_edges[variable.binder as usize] += 1;
        }
    }

    /// Children follow their parents, except for leaves, which are merged already: going backwards, the
    /// children's classes are known when a node's turn comes.
    fn classify(&mut self, graph: &Graph) {
        let mask = self.table.len() - 1;
        for node in graph.nodes().rev() {
            if !matches!(graph.kinds[node.index()], NodeKind::Function | NodeKind::VariableFunction) {
                continue;
            }
            let mut place = self.hash(graph, node) as usize & mask;
            loop {
                let other = self.table[place];
                if other == NONE {
                    self.table[place] = node.0;
                    break;
                }
                if self.same(graph, node, NodeId(other)) {
                    self.class[node.index()] = other;
                    break;
                }
                place = (place + 1) & mask;
            }
        }
    }

    fn hash(&self, graph: &Graph, node: NodeId) -> u64 {
        let head = mix(self.seed, graph.labels[node.index()].index() as u64);
        let head = mix(head, u64::from(self.variable[node.index()]));
        let children = graph.children(node).iter();
        children.fold(head, |hash, child| mix(hash, u64::from(self.class[child.index()])))
    }

    fn same(&self, graph: &Graph, a: NodeId, b: NodeId) -> bool {
        let class = |node: &NodeId| self.class[node.index()];
        graph.labels[a.index()] == graph.labels[b.index()]
            && self.variable[a.index()] == self.variable[b.index()]
            && graph.children(a).iter().map(class).eq(graph.children(b).iter().map(class))
    }

    fn number(&mut self, graph: &Graph) {
        let mut next = 0;
        for node in graph.nodes() {
            let class = self.class[node.index()] as usize;
            if self.shared[class] == NONE {
                self.shared[class] = next;
                next += 1;
            }
        }
    }

    fn rebuild(&mut self, graph: &Graph) {
        let Sharing { class, shared, bound_edges, result, table: seen, .. } = self;
        result.clear();
        result.treelets = 0;
        seen.clear();
        seen.resize(graph.node_count(), NONE);
        for node in graph.nodes() {
            if shared[class[node.index()] as usize] != result.node_count() as u32 {
                continue; // not the first of its class
            }
            result.starts.push(result.targets.len() as u32);
            result.labels.push(graph.labels[node.index()]);
            result.kinds.push(graph.kinds[node.index()]);
            let children = graph.children(node);
            let of_the_tree = children.len() - bound_edges[node.index()] as usize;
            for (rank, child) in children.iter().enumerate() {
                let target = shared[class[child.index()] as usize];
                if rank >= of_the_tree && std::mem::replace(&mut seen[target as usize], node.0) == node.0 {
                    continue; // a function variable that this binder has an edge to already
                }
                result.targets.push(NodeId(target));
            }
            let edges = result.targets.len() as u32 - result.starts[result.starts.len() - 1];
            result.treelets += super::treelets(edges);
        }
        result.starts.push(result.targets.len() as u32);
    }
}
