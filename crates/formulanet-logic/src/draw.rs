//! Pictures of graphs: [`dot()`] for Graphviz, [`svg()`] without any other program; and of problems, [`problem_dot`] and
//! [`problem_svg`].
//!
//! Both show the same things: the kind of a node by shape and colour, the rank of an edge as a small number at
//! its source (only where a node has more than one edge), and the edges from a binder to its variables dashed. A numeral is
//! one node with the number, though the graph spells it out.
//!
//! ```
//! use formulanet_logic::draw::{self, SvgOptions};
//! use formulanet_logic::{Formula, Graph, GraphBuilder, Interner, Limits, View};
//! let mut names = Interner::new();
//! let (p, x) = (names.intern("p"), names.intern("x"));
//! let mut formula = Formula::new();
//! let var = formula.free(x);
//! let (head, argument) = (formula.constant(p), formula.variable(var));
//! let term = formula.apply(head, argument);
//! formula.push(term);
//! let mut graph = Graph::new();
//! GraphBuilder::new(View::Graph, Limits::default()).build(&formula, &names, &mut graph)?;
//! assert!(draw::dot(&graph, &names).starts_with("digraph"));
//! assert!(draw::svg(&graph, &names, &SvgOptions::default())?.starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;

use thiserror::Error;

use crate::graph::{Graph, NodeId, NodeKind};
use crate::symbol::Interner;

use numerals::Drawn;

mod dot;
mod layout;
mod numerals;
mod order;
mod place;
mod problem;
mod shape;
mod svg;
#[cfg(test)]
mod tests;

pub use dot::{dot, write_dot};
pub use problem::{problem_dot, problem_svg};
pub use svg::{legend, style_sheet, svg};

/// How [`svg()`] draws, and how much.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SvgOptions {
    /// The accessible name of the picture, for instance the formula's text; `None` for a general one.
    pub title: Option<String>,
    /// Whether the shapes are explained above the graph.
    pub legend: bool,
    /// Whether the picture brings its style sheet along; a page of many pictures has [`style_sheet`] once.
    pub style: bool,
    /// Which colours are used.
    pub theme: Theme,
    /// A graph with more nodes is not drawn.
    pub max_nodes: usize,
    /// A graph with more edges is not drawn.
    pub max_edges: usize,
}

impl Default for SvgOptions {
    fn default() -> Self {
        let (theme, max_nodes, max_edges) = (Theme::Auto, 2_000, 20_000);
        SvgOptions { title: None, legend: true, style: true, theme, max_nodes, max_edges }
    }
}

/// The colours of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Theme {
    /// The preference of the reader's system, light by default.
    #[default]
    Auto,
    /// Dark lines on white.
    Light,
    /// Light lines on near black.
    Dark,
}

/// A graph too large for a readable picture.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "cannot draw a graph with {found} {what} as SVG: at most {limit} are drawn; \
     draw the `dag` view, or write DOT, which has no limit"
)]
pub struct TooLargeToDraw {
    /// The limit that is exceeded: `nodes` or `edges`.
    pub what: &'static str,
    /// How much is drawn at most.
    pub limit: usize,
    /// How much there is.
    pub found: usize,
}

/// The legend for dashed edges of a formula.
const BINDS: &str = "binds a variable";

/// A graph, and what is shown of it.
struct Sketch<'a> {
    graph: Cow<'a, Graph>,
    /// The label of each node.
    labels: Vec<Cow<'a, str>>,
    /// The name of each node in tooltips and in DOT.
    numbers: Vec<u32>,
    /// For each edge, whether it is dashed.
    dashed: Vec<bool>,
    /// For each edge, what stands at its source; its rank if there is nothing else to say.
    marks: Option<Vec<&'static str>>,
    kind_name: fn(NodeKind) -> &'static str,
    /// The legend for dashed edges.
    dashed_name: &'static str,
}

impl<'a> Sketch<'a> {
    fn of_formula(graph: &'a Graph, names: &'a Interner) -> Self {
        let Drawn { graph, labels, numbers } = numerals::contract(graph, names);
        let dashed = binding_edges(&graph);
        Sketch { graph, labels, numbers, dashed, marks: None, kind_name: NodeKind::name, dashed_name: BINDS }
    }

    /// The mark at the source of an edge.
    fn mark(&self, edge: usize, rank: usize) -> Cow<'static, str> {
        match &self.marks {
            Some(marks) => marks[edge].into(),
            None => (rank + 1).to_string().into(),
        }
    }
}

/// For each edge, in the graph's order, whether it leads from a binder to a variable that it binds.
///
/// The graph does not record it, but such edges come last: the binder's function variables, then its variable.
/// A bound variable also occurs somewhere, so it has a second incoming edge, which no node of a tree has. Only
/// an abstraction that is applied to a variable itself can be mistaken.
fn binding_edges(graph: &Graph) -> Vec<bool> {
    let mut incoming = vec![0_u32; graph.node_count()];
    for target in graph.targets() {
        incoming[target.index()] += 1;
    }
    let mut binding = vec![false; graph.edge_count()];
    for (index, &kind) in graph.kinds().iter().enumerate() {
        if kind != NodeKind::Binder {
            continue;
        }
        let children = graph.children(NodeId(index as u32));
        let start = graph.starts()[index] as usize;
        for rank in (1..children.len()).rev() {
            let target = children[rank].index();
            let is_bound = match graph.kinds()[target] {
                NodeKind::Variable => rank + 1 == children.len(),
                NodeKind::VariableFunction => true,
                _ => false,
            };
            if !is_bound || incoming[target] < 2 {
                break;
            }
            binding[start + rank] = true;
        }
    }
    binding
}

/// A character that can stand in any text: controls, which XML forbids or which would tear or turn a label
/// around, are replaced by their pictures or by the replacement character.
fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fffe}'
        | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// A text as it stands between tags or in an attribute of XML or HTML: nothing in it is markup, and controls are
/// replaced by something that can be seen.
///
/// ```
/// use formulanet_logic::draw::escape;
/// assert_eq!(escape("a < b & \"c\"\0"), "a &lt; b &amp; &quot;c&quot;\u{2400}");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text, usize::MAX);
    out
}

/// [`escape`] of at most this many characters.
fn push_escaped(out: &mut String, text: &str, limit: usize) {
    for (i, c) in text.chars().enumerate() {
        if i == limit {
            out.push('…');
            break;
        }
        match visible(c) {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}
