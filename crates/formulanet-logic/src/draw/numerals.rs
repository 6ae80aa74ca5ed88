//! Numbers in drawings.
//!
//! HOL Light writes 2 as `NUMERAL (BIT0 (BIT1 _0))`, and so does the graph that the network reads. In a drawing it is one
//! node, `2`.

use std::borrow::Cow;

use crate::graph::{Graph, NodeId, NodeKind};
use crate::symbol::Interner;

/// A graph as it is drawn.
pub(super) struct Drawn<'a> {
    pub(super) graph: Cow<'a, Graph>,
    /// The label of every node.
    pub(super) labels: Vec<Cow<'a, str>>,
    /// The number that every node has in the graph that the network reads.
    pub(super) numbers: Vec<u32>,
}

/// Makes one node of every numeral. Digits that something else uses, too, stay.
pub(super) fn contract<'a>(graph: &'a Graph, names: &'a Interner) -> Drawn<'a> {
    let label = |node: NodeId| names.name(graph.labels()[node.index()]);
    let values: Vec<Option<u128>> = graph.nodes().map(|node| value(graph, names, node)).collect();
    let text = |node: NodeId| match values[node.index()] {
        Some(value) => Cow::Owned(value.to_string()),
        None => Cow::Borrowed(label(node)),
    };
    if values.iter().all(Option::is_none) {
        let (labels, numbers) = graph.nodes().map(|node| (text(node), node.0)).unzip();
        return Drawn { graph: Cow::Borrowed(graph), labels, numbers };
    }
    let edges = |node: NodeId| match values[node.index()] {
        Some(_) => &[],
        None => graph.children(node),
    };
    let is_kept = reached(graph, edges);
    let mut place = vec![0; graph.node_count()];
    let mut drawn = Drawn { graph: Cow::Owned(Graph::new()), labels: Vec::new(), numbers: Vec::new() };
    for node in graph.nodes().filter(|node| is_kept[node.index()]) {
        place[node.index()] = drawn.numbers.len() as u32;
        drawn.numbers.push(node.0);
        drawn.labels.push(text(node));
    }
    let contracted = drawn.graph.to_mut();
    for node in drawn.numbers.iter().map(|&number| NodeId(number)) {
        let is_number = values[node.index()].is_some();
        let kind = if is_number { NodeKind::Constant } else { graph.kinds()[node.index()] };
        let targets = edges(node).iter().map(|target| place[target.index()]);
        contracted.push(graph.labels()[node.index()], kind, targets);
    }
    drawn
}

/// The number that a node denotes, if it does. Numbers of more than 128 bits are not drawn as one node.
fn value(graph: &Graph, names: &Interner, node: NodeId) -> Option<u128> {
    let look = |node: NodeId| (names.name(graph.labels()[node.index()]), graph.children(node));
    let ("NUMERAL", &[mut digit]) = look(node) else { return None };
    let mut value = 0;
    for place in 0..=128 {
        digit = match look(digit) {
            ("_" | "_0", []) if graph.kinds()[digit.index()] == NodeKind::Constant => return Some(value),
            ("BIT0", &[higher]) if place < 128 => higher,
            ("BIT1", &[higher]) if place < 128 => {
                value |= 1 << place;
                higher
            }
            _ => return None,
        };
    }
    None
}

/// Which nodes can be reached by the given edges from those that the graph leads to by none.
fn reached<'a>(graph: &Graph, edges: impl Fn(NodeId) -> &'a [NodeId]) -> Vec<bool> {
    let mut is_reached = vec![true; graph.node_count()];
    graph.targets().iter().for_each(|target| is_reached[target.index()] = false);
    let mut waiting: Vec<NodeId> = graph.nodes().filter(|node| is_reached[node.index()]).collect();
    while let Some(node) = waiting.pop() {
        for &target in edges(node) {
            if !std::mem::replace(&mut is_reached[target.index()], true) {
                waiting.push(target);
            }
        }
    }
    is_reached
}
