//! Where the boxes and the bends of a layered drawing lie (after Sugiyama, Tagawa and Toda).
//!
//! A node's layer is the length of the longest path to it from the root, so every edge leads downwards. An edge
//! over several layers gets a bend in each layer between; boxes and bends together are the *items*, which are
//! ordered to avoid crossings ([`super::order`]) and then given coordinates ([`super::place`]). Between two
//! layers lies an empty gap, and edges move sideways only there, so no edge runs through a box.
//!
//! Deep formulas can need very many bends. Beyond [`MAX_BENDS`] the longest edges take *lanes* instead: they run
//! down the left margin, where nothing else is, and edges with the same target share a lane.

use std::ops::Range;

use crate::graph::{Graph, NodeId};

use super::{order, place};

/// Bends beyond this number are avoided by lanes: memory, time and the size of the file depend on it.
const MAX_BENDS: usize = 40_000;
/// Height of every box.
pub(super) const HEIGHT: f64 = 26.0;
/// Height of the strip below a layer that holds the ranks of its edges.
const RANK_HEIGHT: f64 = 12.0;
/// Distance between two lanes.
const LANE_GAP: f64 = 6.0;

/// The size and kind of a node, for the layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Width of the box.
    pub(super) width: f64,
    /// How far from either side of the box edges may enter at its top.
    pub(super) top_inset: f64,
    /// How far from either side of the box edges may leave at its bottom.
    pub(super) bottom_inset: f64,
}

/// How an edge gets from its source's layer to its target's.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Route {
    /// By these items, one for each layer between; none if the layers are neighbours.
    Bends(Range<usize>),
    /// Down the margin.
    Lane(usize),
}

/// An edge and where it leaves and arrives.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) rank: usize,
    pub(super) route: Route,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Edge {
    /// The bends of an edge that has some.
    fn chain(&self) -> Option<Range<usize>> {
        match &self.route {
            Route::Bends(bends) if !bends.is_empty() => Some(bends.clone()),
            _ => None,
        }
    }
}

/// A finished layout. The items are the graph's nodes and then the bends.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) edges: Vec<Edge>,
    /// Layer of every node.
    pub(super) layer: Vec<usize>,
    /// Centre of every item.
    pub(super) x: Vec<f64>,
    /// Top of every layer; its boxes are [`HEIGHT`] high.
    pub(super) top: Vec<f64>,
    /// Bottom of every layer: where the ranks below its boxes end and edges may move sideways.
    pub(super) bottom: Vec<f64>,
    /// Where each lane runs.
    pub(super) lanes: Vec<f64>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    /// Lays a graph out.
    pub(super) fn new(graph: &Graph, sizes: &[Size]) -> Self {
        Self::with_bends(graph, sizes, MAX_BENDS)
    }

    /// Lays a graph out with at most this many bends.
    pub(super) fn with_bends(graph: &Graph, sizes: &[Size], max_bends: usize) -> Self {
        let layer = layers(graph);
        let (edges, lane_count) = route(graph, &layer, max_bends);
        let mut items = Items::new(&layer, &edges, sizes);
        order::reduce_crossings(&mut items);
        let mut chains: Vec<Range<usize>> = edges.iter().filter_map(Edge::chain).collect();
        let x = place::coordinates(&items, &mut chains);
        let mut layout = Layout { edges, layer, x, ..Layout::default() };
        layout.shift(sizes, lane_count);
        layout.attach(graph, sizes);
        layout.stack(graph, items.layers.len());
        layout
    }

    /// Where an edge passes the layers between its ends, as pairs of a layer and a coordinate from top to bottom.
    /// A lane, which is straight, tells only the first and the last of its layers.
    pub(super) fn bends<'a>(&'a self, edge: &'a Edge) -> impl DoubleEndedIterator<Item = (usize, f64)> + 'a {
        let (first, end) = (self.layer[edge.source] + 1, self.layer[edge.target]);
        let (items, lane) = match &edge.route {
            Route::Bends(items) => (items.clone(), None),
            Route::Lane(lane) => (0..0, Some(self.lanes[*lane])),
        };
        let bends = items.map(move |item| self.x[item]).enumerate().map(move |(i, x)| (first + i, x));
        bends.chain(lane.into_iter().flat_map(move |x| [(first, x), (end - 1, x)]))
    }

    /// Moves everything to the right of the lanes, which begin at 0.
    fn shift(&mut self, sizes: &[Size], lane_count: usize) {
        let half = |item: usize| sizes.get(item).map_or(0.0, |s| s.width / 2.0);
        let sides = |sign: f64| self.x.iter().enumerate().map(move |(i, x)| sign * x + half(i));
        let left = -sides(-1.0).fold(f64::NEG_INFINITY, f64::max);
        let right = sides(1.0).fold(f64::NEG_INFINITY, f64::max);
        let margin = if lane_count == 0 { 0.0 } else { (lane_count + 1) as f64 * LANE_GAP };
        self.lanes = (0..lane_count).map(|i| i as f64 * LANE_GAP).collect();
        for x in &mut self.x {
            *x += margin - left;
        }
        self.width = if self.x.is_empty() { 0.0 } else { right - left + margin };
    }

    /// Spreads the ends of edges over the tops and bottoms of boxes, in the order in which they go on.
    fn attach(&mut self, graph: &Graph, sizes: &[Size]) {
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); graph.node_count()];
        self.edges.iter().enumerate().for_each(|(e, edge)| incoming[edge.target].push(e));
        for (node, size) in sizes.iter().enumerate() {
            let goes_on = |edge: &Edge| self.bends(edge).next().map_or(self.x[edge.target], |bend| bend.1);
            let outgoing = graph.starts()[node] as usize..graph.starts()[node + 1] as usize;
            for (e, port) in self.ports(node, size.width - 2.0 * size.bottom_inset, outgoing, goes_on) {
                self.edges[e].start = port;
            }
        }
        for (node, size) in sizes.iter().enumerate() {
            let comes_from = |edge: &Edge| self.bends(edge).next_back().map_or(edge.start, |bend| bend.1);
            let incoming = incoming[node].iter().copied();
            for (e, port) in self.ports(node, size.width - 2.0 * size.top_inset, incoming, comes_from) {
                self.edges[e].end = port;
            }
        }
    }

    /// Places for edges, evenly over a width around the centre of a node, ordered by what `key` says of each.
    fn ports(
        &self,
        node: usize,
        width: f64,
        edges: impl Iterator<Item = usize>,
        key: impl Fn(&Edge) -> f64,
    ) -> Vec<(usize, f64)> {
        let mut keyed: Vec<(f64, usize)> = edges.map(|e| (key(&self.edges[e]), e)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let step = width / keyed.len().max(1) as f64;
        let port = |i: usize| self.x[node] + step * (i as f64 + 0.5) - width / 2.0;
        keyed.iter().enumerate().map(|(i, &(_, e))| (e, port(i))).collect()
    }

    /// Gives the layers their heights: a gap is higher if an edge goes far to the side in it.
    fn stack(&mut self, graph: &Graph, count: usize) {
        let mut farthest = vec![0.0_f64; count];
        let mut ranked = vec![false; count];
        for edge in &self.edges {
            let last = (self.layer[edge.target], edge.end);
            ranked[self.layer[edge.source]] |= graph.children(NodeId(edge.source as u32)).len() > 1;
            let mut before = edge.start;
            for (layer, x) in self.bends(edge).chain([last]) {
                farthest[layer - 1] = farthest[layer - 1].max((x - before).abs());
                before = x;
            }
        }
        let mut y = 0.0;
        for (distance, ranked) in farthest.iter().zip(&ranked) {
            self.top.push(y);
            y += HEIGHT + if *ranked { RANK_HEIGHT } else { 0.0 };
            self.bottom.push(y);
            y += (20.0 + distance / 9.0).min(90.0).round();
        }
        self.height = self.top.last().map_or(0.0, |top| top + HEIGHT);
    }
}

/// The longest path from the root to every node.
fn layers(graph: &Graph) -> Vec<usize> {
    let mut waiting = vec![0_u32; graph.node_count()];
    for target in graph.targets() {
        waiting[target.index()] += 1;
    }
    let mut layer = vec![0; graph.node_count()];
    let mut ready: Vec<NodeId> = graph.nodes().filter(|v| waiting[v.index()] == 0).collect();
    while let Some(node) = ready.pop() {
        for child in graph.children(node) {
            layer[child.index()] = layer[child.index()].max(layer[node.index()] + 1);
            waiting[child.index()] -= 1;
            if waiting[child.index()] == 0 {
                ready.push(*child);
            }
        }
    }
    layer
}

/// Gives every edge its bends or its lane; also says how many lanes there are.
fn route(graph: &Graph, layer: &[usize], max_bends: usize) -> (Vec<Edge>, usize) {
    let mut edges: Vec<Edge> = Vec::with_capacity(graph.edge_count());
    for source in graph.nodes() {
        edges.extend(graph.children(source).iter().enumerate().map(|(rank, target)| Edge {
            source: source.index(),
            target: target.index(),
            rank,
            route: Route::Bends(0..0),
            start: 0.0,
            end: 0.0,
        }));
    }
    // Short edges are the first to get bends: they need fewest and a detour would hurt them most.
    let between = |edge: &Edge| layer[edge.target] - layer[edge.source] - 1;
    let mut shortest_first: Vec<usize> = (0..edges.len()).filter(|&e| between(&edges[e]) > 0).collect();
    shortest_first.sort_by_key(|&e| between(&edges[e]));
    let mut next = graph.node_count();
    let mut detours: Vec<usize> = Vec::new();
    for e in shortest_first {
        let end = next + between(&edges[e]);
        if end - graph.node_count() > max_bends {
            detours.push(e);
        } else {
            edges[e].route = Route::Bends(next..end);
            next = end;
        }
    }
    let lanes = assign_lanes(&mut edges, &mut detours, layer);
    (edges, lanes)
}

/// One lane for all detours to one node; nodes share a lane if they use it at different heights.
fn assign_lanes(edges: &mut [Edge], detours: &mut [usize], layer: &[usize]) -> usize {
    detours.sort_by_key(|&e| (edges[e].target, layer[edges[e].source]));
    let mut bundles: Vec<&[usize]> = detours.chunk_by(|&a, &b| edges[a].target == edges[b].target).collect();
    bundles.sort_by_key(|bundle| layer[edges[bundle[0]].source]);
    let mut used_until: Vec<usize> = Vec::new();
    let mut routes: Vec<(usize, usize)> = Vec::with_capacity(detours.len());
    for bundle in bundles {
        let (from, until) = (layer[edges[bundle[0]].source], layer[edges[bundle[0]].target]);
        let lane = used_until.iter().position(|&end| end <= from).unwrap_or(used_until.len());
        match used_until.get_mut(lane) {
            Some(end) => *end = until,
            None => used_until.push(until),
        }
        routes.extend(bundle.iter().map(|&e| (e, lane)));
    }
    for (e, lane) in routes {
        edges[e].route = Route::Lane(lane);
    }
    used_until.len()
}

/// Nodes and bends in their layers, and the pieces of edges between them.
pub(super) struct Items {
    /// The items of each layer from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// The layer of each item.
    pub(super) layer: Vec<usize>,
    /// Where each item stands in its layer.
    pub(super) position: Vec<usize>,
    /// The items above and below each item that it is linked with, repeats included.
    pub(super) links: [Links; 2],
    /// Width of each item; bends have none.
    pub(super) width: Vec<f64>,
    /// Items from this number on are bends.
    pub(super) nodes: usize,
}

/// Which neighbours of an item are meant; an index into [`Items::links`].
pub(super) const ABOVE: usize = 0;
/// See [`ABOVE`].
pub(super) const BELOW: usize = 1;

impl Items {
    fn new(layer: &[usize], edges: &[Edge], sizes: &[Size]) -> Self {
        let nodes = layer.len();
        let mut item_layer = layer.to_vec();
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        let mut width: Vec<f64> = sizes.iter().map(|s| s.width).collect();
        for edge in edges {
            let Route::Bends(bends) = &edge.route else { continue };
            let mut above = edge.source;
            for (item, place) in bends.clone().zip(layer[edge.source] + 1..) {
                if item_layer.len() <= item {
                    item_layer.resize(item + 1, 0);
                }
                item_layer[item] = place;
                pieces.push((above, item));
                above = item;
            }
            pieces.push((above, edge.target));
        }
        width.resize(item_layer.len(), 0.0);
        let below = Links::new(item_layer.len(), pieces.iter().copied());
        let above = Links::new(item_layer.len(), pieces.iter().map(|&(a, b)| (b, a)));
        let mut items = Items {
            layers: vec![Vec::new(); item_layer.iter().max().map_or(0, |deepest| deepest + 1)],
            position: vec![0; item_layer.len()],
            layer: item_layer,
            links: [above, below],
            width,
            nodes,
        };
        items.read_from_left();
        items
    }

    /// First order of the layers: as the formula is read, which keeps arguments in their order.
    fn read_from_left(&mut self) {
        let item_layer = &self.layer;
        let mut seen = vec![false; item_layer.len()];
        // A node that only lanes lead to has nothing above it and is as good a start as the root.
        let mut stack: Vec<usize> =
            (0..item_layer.len()).filter(|&i| self.links[ABOVE].of(i).is_empty()).collect();
        stack.sort_by_key(|&i| std::cmp::Reverse((item_layer[i], i)));
        while let Some(item) = stack.pop() {
            if std::mem::replace(&mut seen[item], true) {
                continue;
            }
            self.position[item] = self.layers[item_layer[item]].len();
            self.layers[item_layer[item]].push(item);
            stack.extend(self.links[BELOW].of(item).iter().rev().filter(|&&below| !seen[below]));
        }
    }

    /// The number of pieces of edges.
    pub(super) fn piece_count(&self) -> usize {
        self.links[BELOW].items.len()
    }
}

/// Lists of items, one for each item, in one array.
pub(super) struct Links {
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl Links {
    fn new(count: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for (from, _) in pairs.clone() {
            starts[from + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut cursor = starts.clone();
        let mut items = vec![0; starts[count]];
        for (from, to) in pairs {
            items[cursor[from]] = to;
            cursor[from] += 1;
        }
        Links { starts, items }
    }

    /// The list of one item.
    pub(super) fn of(&self, item: usize) -> &[usize] {
        &self.items[self.starts[item]..self.starts[item + 1]]
    }
}
