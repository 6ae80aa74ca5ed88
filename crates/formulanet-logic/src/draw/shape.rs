//! Looks of nodes: shapes, sizes and colors.

use crate::graph::NodeKind;

use super::Theme;
use super::layout::{HEIGHT, Size};

/// All kinds in the order of the legend.
pub(super) const KINDS: [NodeKind; 6] = [
    NodeKind::Turnstile,
    NodeKind::Binder,
    NodeKind::Function,
    NodeKind::Constant,
    NodeKind::VariableFunction,
    NodeKind::Variable,
];

/// Width of a character of a label: six tenths of the font size in nearly every monospaced font.
pub(super) const CHARACTER: f64 = 7.2;
/// A box is not made wider than this for its edges; they come closer together instead.
const MAX_PORTS_WIDTH: f64 = 2_400.0;

/// The class of a node in the style sheet.
pub(super) fn class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Turnstile => "t",
        NodeKind::Binder => "b",
        NodeKind::Function => "f",
        NodeKind::Constant => "c",
        NodeKind::Variable => "v",
        NodeKind::VariableFunction => "w",
    }
}

/// The space of one rank number, by how many there are.
pub(super) fn rank_width(count: usize) -> f64 {
    let digits = count.checked_ilog10().unwrap_or(0) + 1;
    6.0 + 5.0 * f64::from(digits)
}

/// The size of a node with a label of this many columns.
pub(super) fn size(kind: NodeKind, columns: usize, outgoing: usize, incoming: usize) -> Size {
    let (padding, top_inset, bottom_inset) = match kind {
        NodeKind::Turnstile => (13.0, 9.0, 9.0),
        NodeKind::Binder => (13.0, 9.0, 4.0),
        NodeKind::Function => (8.0, 6.0, 6.0),
        NodeKind::Constant => (9.0, 7.0, 7.0),
        NodeKind::Variable => (11.0, 9.0, 9.0),
        NodeKind::VariableFunction => (12.0, 12.0, 12.0),
    };
    let text = (columns as f64 * CHARACTER + 2.0 * padding).max(32.0);
    let ports = |width: f64, inset: f64| width.min(MAX_PORTS_WIDTH) + 2.0 * inset;
    let leaving = if outgoing > 1 { outgoing as f64 * rank_width(outgoing) } else { 0.0 };
    let arriving = (incoming as f64 * 5.0).min(150.0);
    let width = text.max(ports(leaving, bottom_inset)).max(ports(arriving, top_inset)).ceil();
    Size { width, top_inset, bottom_inset }
}

/// How far below the top of its box a shape begins, at a distance from its centre. (Edges leave from flat
/// bottoms only: variables, the one round shape, have no outgoing edges.)
pub(super) fn dip(kind: NodeKind, distance: f64, width: f64) -> f64 {
    match kind {
        NodeKind::Variable => {
            let across = (2.0 * distance / width).clamp(-1.0, 1.0);
            HEIGHT / 2.0 * (1.0 - (1.0 - across * across).sqrt())
        }
        _ => 0.0,
    }
}

/// The outline around a centre, as the data of an SVG path.
pub(super) fn outline(kind: NodeKind, x: f64, y: f64, width: f64, height: f64) -> String {
    let (w, h) = (width / 2.0, height / 2.0);
    let polygon = |points: &[(f64, f64)]| {
        let mut path = String::new();
        for (i, (dx, dy)) in points.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{command}{} {}", number(x + dx), number(y + dy)));
        }
        path + "Z"
    };
    let rounded = |w: f64, h: f64, r: f64| {
        let (left, top, across, down) = (number(x - w + r), number(y - h), 2.0 * (w - r), 2.0 * (h - r));
        let ([right, back], [down, up]) = ([across, -across].map(number), [down, -down].map(number));
        let corner = |dx: &str, dy: &str| format!("a{0} {0} 0 0 1 {dx}{0} {dy}{0}", number(r));
        let (first, second, third, last) =
            (corner("", ""), corner("-", ""), corner("-", "-"), corner("", "-"));
        format!("M{left} {top}h{right}{first}v{down}{second}h{back}{third}v{up}{last}Z")
    };
    match kind {
        NodeKind::Turnstile => {
            polygon(&[(-w + 8.0, -h), (w - 8.0, -h), (w, 0.0), (w - 8.0, h), (-w + 8.0, h), (-w, 0.0)])
        }
        NodeKind::Binder => polygon(&[(-w + 8.0, -h), (w - 8.0, -h), (w, h), (-w, h)]),
        NodeKind::Function => rounded(w, h, 4.0),
        NodeKind::Constant => {
            let (a, b) = (w - 6.0, h - 6.0);
            polygon(&[(-a, -h), (a, -h), (w, -b), (w, b), (a, h), (-a, h), (-w, b), (-w, -b)])
        }
        NodeKind::Variable => {
            let [left, y, rx, ry, right, back] = [x - w, y, w, h, width, -width].map(number);
            format!("M{left} {y}a{rx} {ry} 0 1 1 {right} 0a{rx} {ry} 0 1 1 {back} 0Z")
        }
        NodeKind::VariableFunction => rounded(w, h, h) + &rounded(w - 3.0, h - 3.0, h - 3.0),
    }
}

/// A coordinate with one digit after the point, as short as possible.
pub(super) fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

/// Colours: for the page, edges, binding edges, text, ranks, and then fill and line of each kind by its class.
struct Palette {
    page: &'static str,
    edge: &'static str,
    binding: &'static str,
    text: &'static str,
    rank: &'static str,
    kinds: [(&'static str, &'static str, &'static str); 6],
}

const LIGHT: Palette = Palette {
    page: "#fff",
    edge: "#5b6470",
    binding: "#7b3fc4",
    text: "#16191d",
    rank: "#2f353c",
    kinds: [
        ("t", "#e9ecef", "#495057"),
        ("b", "#eee3fb", "#7b3fc4"),
        ("f", "#dfecfb", "#1f6fc0"),
        ("c", "#def3e4", "#22843f"),
        ("v", "#fdeccd", "#b66a00"),
        ("w", "#fde0dc", "#c0392b"),
    ],
};

const DARK: Palette = Palette {
    page: "#14171b",
    edge: "#97a1ad",
    binding: "#b48cf0",
    text: "#eef1f4",
    rank: "#d3dae1",
    kinds: [
        ("t", "#343a40", "#adb5bd"),
        ("b", "#3a2757", "#b48cf0"),
        ("f", "#17365a", "#66aef5"),
        ("c", "#173f25", "#5fc880"),
        ("v", "#4d3408", "#f0ae3e"),
        ("w", "#552320", "#f58a7e"),
    ],
};

/// The style sheet. Every rule is bound to the drawing's own class, so that a page can hold many drawings.
pub(super) fn style(theme: Theme) -> String {
    let mut css = String::from(
        "\
.formulanet text{font:12px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;text-anchor:middle}
.formulanet .k{font:11px system-ui,\"DejaVu Sans\",sans-serif;text-anchor:start}
.formulanet .r{font:9px system-ui,\"DejaVu Sans\",sans-serif;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}
.formulanet g path{stroke-width:1.3px}
.formulanet .e{fill:none;stroke-width:1.1px;stroke-linecap:round}
.formulanet .d{stroke-dasharray:4 3}
.formulanet .e:hover{stroke-width:3px}
",
    );
    let colours = |p: &Palette| {
        let Palette { page, edge, binding, text, rank, kinds } = p;
        let mut css = format!(".formulanet .p{{fill:{page}}}\n.formulanet .r{{stroke:{page}}}\n");
        css += &format!(".formulanet text{{fill:{text}}}\n.formulanet .r{{fill:{rank}}}\n");
        css += &format!(".formulanet .e{{stroke:{edge}}}\n.formulanet .h{{fill:{edge}}}\n");
        css += &format!(".formulanet .d{{stroke:{binding}}}\n.formulanet .hd{{fill:{binding}}}\n");
        for (class, fill, line) in kinds {
            css += &format!(".formulanet .{class} path{{fill:{fill};stroke:{line}}}\n");
        }
        css
    };
    match theme {
        Theme::Light => css += &colours(&LIGHT),
        Theme::Dark => css += &colours(&DARK),
        Theme::Auto => {
            css += &colours(&LIGHT);
            css += &format!("@media (prefers-color-scheme: dark){{\n{}}}\n", colours(&DARK));
        }
    }
    css
}
