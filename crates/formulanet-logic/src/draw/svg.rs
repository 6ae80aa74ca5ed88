//! The layered drawing as a standalone SVG file.

use std::borrow::Cow;

use crate::graph::{Graph, NodeId};
use crate::symbol::Interner;

use super::layout::{Edge, HEIGHT, Layout, Size};
use super::{BINDS, Sketch, SvgOptions, Theme, TooLargeToDraw, push_escaped, shape, visible};
use shape::number;

/// Empty space around the drawing.
const MARGIN: f64 = 14.0;
/// Height of an arrow's head.
const HEAD: f64 = 5.0;
/// Longer labels are cut; the whole label stands in the node's tooltip.
const MAX_COLUMNS: usize = 28;
/// The most characters of a tooltip, because a hostile name can be long.
const MAX_TOOLTIP: usize = 400;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 24.0;

/// A layered drawing of a graph: the root at the top, every edge leading downwards.
///
/// The text is a complete SVG file and depends on nothing but the graph, its names and the options. Each node
/// and edge has a tooltip; the numbers at the sources of edges are their ranks, from 1.
pub fn svg(graph: &Graph, names: &Interner, options: &SvgOptions) -> Result<String, TooLargeToDraw> {
    draw(&Sketch::of_formula(graph, names), options)
}

pub(super) fn draw(sketch: &Sketch<'_>, options: &SvgOptions) -> Result<String, TooLargeToDraw> {
    let graph = &*sketch.graph;
    for (what, found, limit) in
        [("nodes", graph.node_count(), options.max_nodes), ("edges", graph.edge_count(), options.max_edges)]
    {
        if found > limit {
            return Err(TooLargeToDraw { what, limit, found });
        }
    }
    let labels = labels(&sketch.labels);
    let sizes = sizes(graph, &labels);
    let layout = Layout::new(graph, &sizes);
    Ok(Picture { sketch, graph, labels, sizes, layout }.write(options))
}

/// A label as it is shown, and how many columns it takes.
pub(super) struct Label {
    text: String,
    columns: usize,
}

impl Label {
    fn new(name: &str) -> Self {
        let (mut text, mut columns) = (String::new(), 0);
        for c in name.chars() {
            // Conservative: whatever may be drawn double is counted double.
            let wide = if c < '\u{1100}' { 1 } else { 2 };
            if columns + wide > MAX_COLUMNS {
                text.push('…');
                columns += 1;
                break;
            }
            // A space at the end of a label would not be seen, nor two from one.
            text.push(if c == ' ' { '␣' } else { visible(c) });
            columns += wide;
        }
        Label { text, columns }
    }
}

/// The labels of all nodes.
pub(super) fn labels(names: &[Cow<'_, str>]) -> Vec<Label> {
    names.iter().map(|name| Label::new(name)).collect()
}

/// The boxes of all nodes.
pub(super) fn sizes(graph: &Graph, labels: &[Label]) -> Vec<Size> {
    let mut incoming = vec![0; graph.node_count()];
    for target in graph.targets() {
        incoming[target.index()] += 1;
    }
    let size = |v: NodeId| {
        let i = v.index();
        shape::size(graph.kinds()[i], labels[i].columns, graph.children(v).len(), incoming[i])
    };
    graph.nodes().map(size).collect()
}

/// The style sheet of pictures that have none of their own ([`SvgOptions::style`]).
pub fn style_sheet(theme: Theme) -> String {
    shape::style(theme)
}

/// The legend of shapes and lines: a small picture of each without a style sheet, and its name. For pages that show many graphs,
/// each without a legend of its own ([`SvgOptions::legend`]).
pub fn legend() -> Vec<(String, &'static str)> {
    let picture = |inside: String| {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"formulanet\" aria-hidden=\"true\" viewBox=\"0 0 28 18\" \
             width=\"28\" height=\"18\">{inside}</svg>"
        )
    };
    let kind = |kind| {
        let (class, outline) = (shape::class(kind), shape::outline(kind, 14.0, 9.0, 26.0, 16.0));
        (picture(format!("<g class=\"{class}\"><path d=\"{outline}\"/></g>")), kind.name())
    };
    let line = picture("<path class=\"e d\" d=\"M1 9h26\"/>".to_owned());
    shape::KINDS.into_iter().map(kind).chain([(line, BINDS)]).collect()
}

struct Picture<'a> {
    sketch: &'a Sketch<'a>,
    graph: &'a Graph,
    labels: Vec<Label>,
    sizes: Vec<Size>,
    layout: Layout,
}

impl Picture<'_> {
    fn write(&self, options: &SvgOptions) -> String {
        let legend = if options.legend { self.legend() } else { Legend::default() };
        let width = (self.layout.width + 2.0 * MARGIN).max(legend.width + 2.0 * MARGIN).ceil();
        let height = (self.layout.height + 2.0 * MARGIN + legend.height).ceil();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"formulanet\" role=\"img\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
        );
        let title = options.title.as_deref().unwrap_or("Graph of a formula");
        out.push_str("<title>");
        push_escaped(&mut out, title, MAX_TOOLTIP);
        out.push_str("</title>\n<desc>");
        self.describe(&mut out);
        out.push_str("</desc>\n");
        if options.style {
            // A style sheet is text of the XML file, too, but none of its rules needs an escape.
            out += &format!("<style>\n{}</style>\n", style_sheet(options.theme));
        }
        out += &format!("<rect class=\"p\" width=\"{width}\" height=\"{height}\"/>\n");
        out.push_str(&legend.text);
        // A drawing narrower than its legend stands in the middle.
        let left = ((width - self.layout.width) / 2.0).max(MARGIN);
        let top = MARGIN + legend.height;
        out += &format!("<g transform=\"translate({} {})\">\n", number(left), number(top));
        self.edges(&mut out);
        for node in self.graph.nodes() {
            self.node(&mut out, node.index());
        }
        self.ranks(&mut out);
        out.push_str("</g>\n</svg>\n");
        out
    }

    /// The description for those who do not see the picture.
    fn describe(&self, out: &mut String) {
        *out += &format!("{} nodes", self.graph.node_count());
        for (i, kind) in shape::KINDS.into_iter().enumerate() {
            let count = self.graph.kinds().iter().filter(|&&k| k == kind).count();
            *out += &format!("{} {} {count}", if i == 0 { ":" } else { "," }, (self.sketch.kind_name)(kind));
        }
        let (edges, layers) = (self.graph.edge_count(), self.layout.top.len());
        *out += &format!(". {edges} edges in {layers} layers, from the root at the top downwards.");
        if self.graph.node_count() > 0 {
            let root = self.layout.layer.iter().position(|&layer| layer == 0).unwrap_or(0);
            out.push_str(" The root is ");
            push_escaped(out, &self.labels[root].text, MAX_TOOLTIP);
            out.push('.');
        }
    }

    fn edges(&self, out: &mut String) {
        let mut heads = [String::new(), String::new()];
        for (index, (edge, &binding)) in self.layout.edges.iter().zip(&self.sketch.dashed).enumerate() {
            let class = if binding { "e d" } else { "e" };
            *out += &format!("<path class=\"{class}\" d=\"");
            let tip = self.edge(out, edge);
            let [from, to] = [edge.source, edge.target].map(|node| self.sketch.numbers[node]);
            *out += &format!("\"><title>{from} → {to}");
            if self.graph.children(NodeId(edge.source as u32)).len() > 1 {
                match &self.sketch.marks {
                    Some(marks) => *out += &format!(" {}", marks[index]),
                    None => *out += &format!(", rank {}", edge.rank + 1),
                }
            }
            out.push_str("</title></path>\n");
            let (x, y) = (number(edge.end - 2.5), number(tip - HEAD));
            heads[usize::from(binding)] += &format!("M{x} {y}h5l-2.5 {HEAD}z");
        }
        for (class, path) in ["h", "hd"].into_iter().zip(&heads) {
            if !path.is_empty() {
                *out += &format!("<path class=\"{class}\" d=\"{path}\"/>\n");
            }
        }
    }

    /// Writes the curve of an edge; returns where its arrow points.
    fn edge(&self, out: &mut String, edge: &Edge) -> f64 {
        let first = self.layout.layer[edge.source];
        let mut y = self.layout.top[first] + HEIGHT;
        *out += &format!("M{} {}", number(edge.start), number(y));
        if self.layout.bottom[first] > y {
            y = self.layout.bottom[first];
            *out += &format!("V{}", number(y));
        }
        let mut x = edge.start;
        // A vertical piece is written only when it ends, which keeps long straight edges short.
        let mut vertical = false;
        for (layer, bend) in self.layout.bends(edge) {
            if number(bend) != number(x) {
                if std::mem::take(&mut vertical) {
                    *out += &format!("V{}", number(y));
                }
                curve(out, (x, y), (bend, self.layout.top[layer]));
            }
            (x, y, vertical) = (bend, self.layout.bottom[layer], true);
        }
        if vertical {
            *out += &format!("V{}", number(y));
        }
        let target = edge.target;
        let top = self.layout.top[self.layout.layer[target]];
        curve(out, (x, y), (edge.end, top - HEAD));
        let distance = edge.end - self.layout.x[target];
        let tip = top + shape::dip(self.graph.kinds()[target], distance, self.sizes[target].width);
        if tip > top {
            *out += &format!("V{}", number(tip - HEAD));
        }
        tip
    }

    fn node(&self, out: &mut String, node: usize) {
        let (x, y) = (self.layout.x[node], self.layout.top[self.layout.layer[node]] + HEIGHT / 2.0);
        let kind = self.graph.kinds()[node];
        let (number_of_node, name) = (self.sketch.numbers[node], (self.sketch.kind_name)(kind));
        *out += &format!("<g class=\"{}\"><title>{number_of_node}: {name} ", shape::class(kind));
        push_escaped(out, &self.sketch.labels[node], MAX_TOOLTIP);
        let path = shape::outline(kind, x, y, self.sizes[node].width, HEIGHT);
        *out += &format!("</title><path d=\"{path}\"/><text x=\"{}\" y=\"{}\">", number(x), number(y + 4.0));
        push_escaped(out, &self.labels[node].text, usize::MAX);
        out.push_str("</text></g>\n");
    }

    /// The rank of each edge below its source, or of every few edges where there is too little space.
    fn ranks(&self, out: &mut String) {
        for (index, edge) in self.layout.edges.iter().enumerate() {
            let count = self.graph.children(NodeId(edge.source as u32)).len();
            let size = self.sizes[edge.source];
            let space = (size.width - 2.0 * size.bottom_inset) / count as f64;
            let every = (shape::rank_width(count) / space).ceil().max(1.0) as usize;
            if count > 1 && (edge.rank + 1) % every == 0 {
                let y = self.layout.top[self.layout.layer[edge.source]] + HEIGHT + 10.0;
                let (x, mark) = (number(edge.start), self.sketch.mark(index, edge.rank));
                *out += &format!("<text class=\"r\" x=\"{x}\" y=\"{}\">{mark}</text>\n", number(y));
            }
        }
    }

    /// The kinds that occur, in as many lines as the width of the drawing asks for.
    fn legend(&self) -> Legend {
        let mut legend = Legend::default();
        let available = self.layout.width.max(330.0);
        let (mut x, mut y) = (MARGIN, MARGIN);
        let mut place = |columns: usize| {
            let width = 42.0 + columns as f64 * 6.2;
            if x > MARGIN && x + width > MARGIN + available {
                (x, y) = (MARGIN, y + LEGEND_LINE);
            }
            let at = (x, y + 8.0);
            x += width;
            legend.width = legend.width.max(x - MARGIN);
            legend.height = y + LEGEND_LINE;
            at
        };
        let mut text = String::new();
        for kind in shape::KINDS.into_iter().filter(|kind| self.graph.kinds().contains(kind)) {
            let name = (self.sketch.kind_name)(kind);
            let (x, y) = place(name.len());
            text += &format!("<g class=\"{}\"><path d=\"", shape::class(kind));
            text.push_str(&shape::outline(kind, x + 13.0, y, 26.0, 16.0));
            let (x, y) = (number(x + 31.0), number(y + 4.0));
            text += &format!("\"/><text class=\"k\" x=\"{x}\" y=\"{y}\">{name}</text></g>\n");
        }
        if self.sketch.dashed.contains(&true) {
            let name = self.sketch.dashed_name;
            let (x, y) = place(name.len());
            text += &format!("<path class=\"e d\" d=\"M{} {}h26\"/>", number(x), number(y));
            let (x, y) = (number(x + 31.0), number(y + 4.0));
            text += &format!("<text class=\"k\" x=\"{x}\" y=\"{y}\">{name}</text>\n");
        }
        legend.text = text;
        legend
    }
}

#[derive(Default)]
struct Legend {
    text: String,
    width: f64,
    height: f64,
}

/// A curve that is vertical at both ends.
fn curve(out: &mut String, from: (f64, f64), to: (f64, f64)) {
    let (begin, middle) = (number(from.0), number((from.1 + to.1) / 2.0));
    let (x, y) = (number(to.0), number(to.1));
    *out += &if begin == x { format!("V{y}") } else { format!("C{begin} {middle} {x} {middle} {x} {y}") };
}
