//! Graphs in the language of Graphviz.

use std::fmt::{self, Write};

use crate::graph::{Graph, NodeId, NodeKind};
use crate::symbol::Interner;

use super::{Sketch, visible};

/// The graph in the DOT language, for `dot -Tsvg` and its like.
///
/// Every edge stands on a line of its own, ordered by source and rank.
pub fn dot(graph: &Graph, names: &Interner) -> String {
    let mut text = String::new();
    write_dot(&mut text, graph, names).expect("a string takes everything");
    text
}

/// Writes what [`dot()`] returns.
pub fn write_dot(out: &mut impl Write, graph: &Graph, names: &Interner) -> fmt::Result {
    write_sketch(out, &Sketch::of_formula(graph, names))
}

pub(super) fn write_sketch(out: &mut impl Write, sketch: &Sketch<'_>) -> fmt::Result {
    let Sketch { graph, labels, numbers, .. } = sketch;
    out.write_str("digraph formula {\n")?;
    out.write_str("  graph [rankdir=TB, nodesep=0.15, ranksep=0.4];\n")?;
    out.write_str(
        "  node [fontname=\"monospace\", fontsize=11, style=filled, height=0.3, margin=\"0.08,0.03\"];\n",
    )?;
    out.write_str("  edge [fontname=\"sans-serif\", fontsize=8, color=\"#5b6470\", arrowsize=0.5];\n")?;
    for node in graph.nodes() {
        write!(out, "  {} [label=\"", numbers[node.index()])?;
        write_label(out, &labels[node.index()])?;
        writeln!(out, "\", {}];", look(graph.kinds()[node.index()]))?;
    }
    for source in graph.nodes() {
        write_edges(out, sketch, source)?;
    }
    out.write_str("}\n")
}

fn write_edges(out: &mut impl Write, sketch: &Sketch<'_>, source: NodeId) -> fmt::Result {
    let children = sketch.graph.children(source);
    let start = sketch.graph.starts()[source.index()] as usize;
    for (rank, target) in children.iter().enumerate() {
        let [from, to] = [source, *target].map(|node| sketch.numbers[node.index()]);
        write!(out, "  {from} -> {to}")?;
        let mark = sketch.mark(start + rank, rank);
        let is_marked = (children.len() > 1 || sketch.marks.is_some()) && !mark.is_empty();
        match (is_marked, sketch.dashed[start + rank]) {
            (true, true) => write!(out, " [taillabel=\"{mark}\", style=dashed]")?,
            (true, false) => write!(out, " [taillabel=\"{mark}\"]")?,
            (false, true) if sketch.marks.is_some() => out.write_str(" [style=dashed]")?,
            (false, _) => {}
        }
        out.write_str(";\n")?;
    }
    Ok(())
}

/// A label between quotes. Graphviz reads not only `\` but also the entities of HTML there.
fn write_label(out: &mut impl Write, label: &str) -> fmt::Result {
    for c in label.chars().map(visible) {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '&' => out.write_str("&amp;")?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}

/// Shape and colours of a node: the light theme of the SVG drawing.
fn look(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Turnstile => "shape=hexagon, fillcolor=\"#e9ecef\", color=\"#495057\"",
        NodeKind::Binder => "shape=trapezium, fillcolor=\"#eee3fb\", color=\"#7b3fc4\"",
        NodeKind::Function => "shape=box, style=\"filled,rounded\", fillcolor=\"#dfecfb\", color=\"#1f6fc0\"",
        NodeKind::Constant => "shape=octagon, fillcolor=\"#def3e4\", color=\"#22843f\"",
        NodeKind::Variable => "shape=ellipse, fillcolor=\"#fdeccd\", color=\"#b66a00\"",
        NodeKind::VariableFunction => {
            "shape=box, style=\"filled,rounded\", peripheries=2, fillcolor=\"#fde0dc\", color=\"#c0392b\""
        }
    }
}
