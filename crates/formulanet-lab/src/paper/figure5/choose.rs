//! Which nodes are queries, and which are their neighbours.

use std::collections::{BTreeMap, HashSet};

use super::FigureOptions;
use super::nodes::{Local, Nodes};
use formulanet::util::random::{sample, scramble};

/// A query and its nearest neighbours.
pub(super) struct Row {
    pub(super) query: Local,
    /// The median distance of nodes of other graphs from the query: what the other distances compare with.
    pub(super) median: f32,
    pub(super) neighbours: Vec<Neighbour>,
}

/// A node near a query.
pub(super) struct Neighbour {
    pub(super) local: Local,
    pub(super) distance: f32,
}

/// The label of all variables that are applied.
const VARIABLE_FUNCTION: &str = "VARFUNC";
/// Labels outside the model's vocabulary, which the figure could not name.
const UNKNOWN: &str = "UNKNOWN";
/// Labels of quantifiers and other binders in the languages that are read.
const BINDERS: [&str; 6] = ["!", "?", "?!", "\\", "@", "^"];
/// Labels in about this share of graphs are neither trivial nor rare.
const MEDIUM: f64 = 0.04;
/// The number of labels that the seed chooses from, for each query.
const CHOICE: usize = 8;

/// The rows of the figure: a binder and a variable function if there are rows enough, and labels of medium frequency.
pub(super) fn rows(nodes: &Nodes<'_>, vocabulary: &[String], options: &FigureOptions) -> Vec<Row> {
    let queries = queries(nodes, vocabulary, options).into_iter();
    queries.map(|query| row(nodes, query, options.neighbours)).collect()
}

/// Nodes of one label that could be queries.
#[derive(Default)]
struct Candidates {
    /// Those with parents and children.
    inner: Vec<usize>,
    /// Those of them that show something: few parents and children, but several, and not all of these leaves.
    handsome: Vec<usize>,
    graphs: usize,
    last_graph: Option<usize>,
}

fn candidates(nodes: &Nodes<'_>) -> BTreeMap<u16, Candidates> {
    let mut all: BTreeMap<u16, Candidates> = BTreeMap::new();
    for node in 0..nodes.len() {
        let (incoming, outgoing) = nodes.degrees(node);
        if incoming == 0 || outgoing == 0 {
            continue;
        }
        let candidates = all.entry(nodes.tokens[node]).or_default();
        candidates.inner.push(node);
        let is_clear = incoming <= 4 && (2..=4).contains(&outgoing);
        if is_clear && nodes.children(node).any(|child| nodes.degrees(child).1 > 0) {
            candidates.handsome.push(node);
        }
        let graph = nodes.graph_of(node);
        if candidates.last_graph.replace(graph) != Some(graph) {
            candidates.graphs += 1;
        }
    }
    all
}

fn queries(nodes: &Nodes<'_>, vocabulary: &[String], options: &FigureOptions) -> Vec<usize> {
    let all = candidates(nodes);
    let label = |token: u16| vocabulary[usize::from(token)].as_str();
    // Handsome ones first, and of these the ones of medium frequency; a logarithm, as frequencies differ by orders.
    let unusual = |token: u16| {
        let candidates = &all[&token];
        let share = candidates.graphs as f64 / nodes.graphs.len() as f64;
        (candidates.handsome.is_empty(), (share / MEDIUM).ln().abs())
    };
    let mut order: Vec<u16> = all.keys().copied().filter(|&token| label(token) != UNKNOWN).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (unusual(a), unusual(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let is_special = |token: u16| label(token) == VARIABLE_FUNCTION || BINDERS.contains(&label(token));
    let binder = order.iter().copied().find(|&token| BINDERS.contains(&label(token)));
    let variable = order.iter().copied().find(|&token| label(token) == VARIABLE_FUNCTION);
    let special = [binder.filter(|_| options.queries >= 3), variable.filter(|_| options.queries >= 4)];
    let mut tokens: Vec<u16> = special.into_iter().flatten().collect();
    let others: Vec<u16> = order.iter().copied().filter(|&token| !is_special(token)).collect();
    let wanted = options.queries - tokens.len();
    let medium = others[..others.len().min(CHOICE * wanted)].to_vec();
    tokens.extend(sample(medium, wanted, options.seed));
    // Few labels: then whatever there is.
    for token in order {
        if tokens.len() < options.queries && !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    let of_token = |token: u16| {
        let candidates = &all[&token];
        let pool = if candidates.handsome.is_empty() { &candidates.inner } else { &candidates.handsome };
        sample(pool.clone(), 1, options.seed ^ scramble(u64::from(token)))
    };
    tokens.into_iter().flat_map(of_token).collect()
}

/// The nearest nodes of other graphs, each of another graph and with other surroundings than those before.
fn row(nodes: &Nodes<'_>, query: usize, wanted: usize) -> Row {
    let (own, vector) = (nodes.graph_of(query), nodes.vector(query));
    let distance = |node: usize| {
        let squares = vector.iter().zip(nodes.vector(node)).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f32>().sqrt()
    };
    let others = (0..nodes.len()).filter(|&node| nodes.graph_of(node) != own);
    let mut order: Vec<(f32, usize)> = others.map(|node| (distance(node), node)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let median = order.get(order.len() / 2).map_or(0.0, |&(distance, _)| distance);
    let local = nodes.local(query);
    let mut shown = HashSet::from([local.clone()]);
    let (mut graphs, mut neighbours) = (HashSet::new(), Vec::new());
    for (distance, node) in order {
        if neighbours.len() == wanted {
            break;
        }
        let (graph, local) = (nodes.graph_of(node), nodes.local(node));
        if !graphs.contains(&graph) && shown.insert(local.clone()) {
            graphs.insert(graph);
            neighbours.push(Neighbour { local, distance });
        }
    }
    Row { query: local, median, neighbours }
}
