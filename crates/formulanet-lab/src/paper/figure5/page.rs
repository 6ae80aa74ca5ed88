//! The whole figure: a table of drawings, and the plane of colours below.

use super::FigureOptions;
use super::choose::Row;
use super::nodes::Nodes;
use super::plane::Plane;
use super::star::{CHARACTER, Star, number};
use formulanet::logic::draw::escape;

/// Empty space around everything.
const MARGIN: f64 = 18.0;
/// Between columns.
const GAP: f64 = 26.0;
/// Above and below the drawings of a row.
const PADDING: f64 = 12.0;
/// For the distances below a row's drawings.
const CAPTION: f64 = 18.0;
/// For the names of the columns.
const HEADING: f64 = 30.0;
/// The side of the plane.
const PLANE: f64 = 330.0;
/// The narrowest column.
const COLUMN: f64 = 120.0;
/// Labels that the plane may name, the most frequent first.
const NAMED: usize = 60;

/// Bound to the figure's own class, so that a page can hold other drawings too.
const STYLE: &str = "\
.figure5 text{font:11px \"DejaVu Sans Mono\",ui-monospace,Menlo,Consolas,monospace;text-anchor:middle;fill:#111}
.figure5 .s{font:12px system-ui,\"DejaVu Sans\",sans-serif;fill:#444}
.figure5 .b{font-weight:600;fill:#111}
.figure5 .l{text-anchor:start}
.figure5 .n rect{stroke:#555;stroke-width:.8px}
.figure5 .n.q rect{stroke:#111;stroke-width:2.2px}
.figure5 .n.q text{font-weight:700}
.figure5 .m rect,.figure5 .e.m{stroke-dasharray:3 2}
.figure5 .t{font-size:9px;fill:#333}
.figure5 .e{fill:none;stroke:#555;stroke-width:1px}
.figure5 .h{fill:#555}
.figure5 .w{font-size:10px;stroke:#fff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}
.figure5 circle{stroke:#444;stroke-width:.4px}
.figure5 .r{stroke:#ddd;fill:none}
";

/// The table's columns and rows: where each begins, and where the nodes in the middle stand.
struct Table {
    stars: Vec<Vec<Star>>,
    columns: Vec<Span>,
    rows: Vec<Span>,
    width: f64,
    height: f64,
}

/// Where something begins and ends, and the line through its nodes.
struct Span {
    begin: f64,
    middle: f64,
    end: f64,
}

impl Table {
    fn new(rows: &[Row], vocabulary: &[String], columns: usize) -> Self {
        let stars = |row: &Row| -> Vec<Star> {
            let locals = std::iter::once(&row.query).chain(row.neighbours.iter().map(|n| &n.local));
            locals.map(|local| Star::new(local, vocabulary)).collect()
        };
        let stars: Vec<Vec<Star>> = rows.iter().map(stars).collect();
        // How far drawings reach to one side of the nodes in the middle.
        let reach = |stars: &mut dyn Iterator<Item = &Star>, side: usize, least: f64| {
            stars.map(|star| star.reach()[side]).fold(least, f64::max)
        };
        let mut x = MARGIN;
        let column = |column: usize| {
            let stars = || stars.iter().filter_map(|stars| stars.get(column));
            let [left, right] = [0, 1].map(|side| reach(&mut stars(), side, COLUMN / 2.0));
            let span = Span { begin: x, middle: x + GAP / 2.0 + left, end: x + GAP + left + right };
            x = span.end;
            span
        };
        let columns: Vec<Span> = (0..columns).map(column).collect();
        let mut y = MARGIN + HEADING;
        let row = |stars: &Vec<Star>| {
            let [up, down] = [2, 3].map(|side| reach(&mut stars.iter(), side, 0.0));
            let middle = y + PADDING + up;
            let span = Span { begin: y, middle, end: middle + down + PADDING + CAPTION };
            y = span.end;
            span
        };
        let rows: Vec<Span> = stars.iter().map(row).collect();
        Table { stars, columns, rows, width: x + MARGIN, height: y }
    }
}

/// The figure as a whole SVG file, on white whatever is around it.
pub(super) fn svg(
    rows: &[Row],
    plane: &Plane,
    nodes: &Nodes<'_>,
    vocabulary: &[String],
    options: &FigureOptions,
) -> String {
    let most = rows.iter().map(|row| row.neighbours.len()).max().unwrap_or(0);
    let table = Table::new(rows, vocabulary, 1 + most);
    let width = table.width.max(2.0 * MARGIN + PLANE + 440.0).ceil();
    let height = (table.height + 2.0 * MARGIN + HEADING + PLANE).ceil();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure5\" role=\"img\" \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <title>Nearest neighbours of nodes after step {}</title>\n<desc>",
        options.step
    );
    for row in rows {
        let name = |token: u16| escape(&vocabulary[usize::from(token)]);
        let neighbours: Vec<String> =
            row.neighbours.iter().map(|n| format!("{} at {:.2}", name(n.local.token), n.distance)).collect();
        out += &format!("Near {}: {}. ", name(row.query.token), neighbours.join(", "));
    }
    out += &format!("</desc>\n<style>\n{STYLE}</style>\n");
    out += &format!("<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#fff\"/>\n");
    draw_table(&mut out, rows, &table, plane, vocabulary);
    let top = table.height + MARGIN;
    draw_plane(&mut out, rows, plane, nodes, vocabulary, top + HEADING);
    explain(&mut out, nodes, options, 2.0 * MARGIN + PLANE + 18.0, top);
    out.push_str("</svg>\n");
    out
}

fn draw_table(out: &mut String, rows: &[Row], table: &Table, plane: &Plane, vocabulary: &[String]) {
    let top = MARGIN + HEADING;
    // The queries stand apart from what was found.
    if let Some(first) = table.columns.first() {
        let (x, width) = (number(first.begin), number(first.end - first.begin));
        let (y, height) = (number(MARGIN), number(table.height - MARGIN));
        *out += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#f4f4f1\"/>\n"
        );
    }
    for (place, column) in table.columns.iter().enumerate() {
        let name = if place == 0 { "query".to_owned() } else { format!("neighbour {place}") };
        text(out, "s b", (column.begin + column.end) / 2.0, top - 11.0, &name);
    }
    for (row_number, (row, span)) in rows.iter().zip(&table.rows).enumerate() {
        let (y, x, end) = (number(span.begin), number(MARGIN), number(table.width - MARGIN));
        *out += &format!("<path class=\"r\" d=\"M{x} {y}H{end}\"/>\n");
        for (star, column) in table.stars[row_number].iter().zip(&table.columns) {
            star.draw(out, column.middle, span.middle, plane, vocabulary);
        }
        let y = span.end - 9.0;
        let distances = row.neighbours.iter().map(|neighbour| format!("{:.2}", neighbour.distance));
        let captions = std::iter::once(format!("median of all: {:.2}", row.median)).chain(distances);
        for (caption, column) in captions.zip(&table.columns) {
            text(out, "s", (column.begin + column.end) / 2.0, y, &caption);
        }
    }
}

/// All labels in the plane that their colours come from; the queries' and the most frequent ones by name.
fn draw_plane(
    out: &mut String,
    rows: &[Row],
    plane: &Plane,
    nodes: &Nodes<'_>,
    vocabulary: &[String],
    top: f64,
) {
    let inner = PLANE / 2.0 - 14.0;
    let (middle_x, middle_y) = (MARGIN + PLANE / 2.0, top + PLANE / 2.0);
    let at = |token: u16| {
        let [x, y] = plane.place(token);
        (middle_x + inner * x, middle_y - inner * y)
    };
    text(out, "s b", middle_x, top - 11.0, "labels before the first step, by t-SNE");
    let (x, y) = (number(MARGIN), number(top));
    *out +=
        &format!("<rect class=\"r\" x=\"{x}\" y=\"{y}\" width=\"{PLANE}\" height=\"{PLANE}\" rx=\"4\"/>\n");
    let mut tokens: Vec<u16> = plane.tokens().collect();
    // Frequent ones last, on top of the others.
    tokens.sort_by_key(|&token| (nodes.counts[usize::from(token)], token));
    for &token in &tokens {
        let (x, y) = at(token);
        let radius = 1.6 + 0.45 * (nodes.counts[usize::from(token)].max(1) as f64).ln();
        let [x, y, radius] = [x, y, radius].map(number);
        let (fill, label) = (plane.colour(token), escape(&vocabulary[usize::from(token)]));
        *out += &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\">");
        *out += &format!("<title>{label}</title></circle>\n");
    }
    let mut named: Vec<u16> = rows.iter().map(|row| row.query.token).collect();
    named.extend(tokens.iter().rev().take(NAMED));
    let mut taken: Vec<[f64; 4]> = Vec::new();
    for token in named {
        let label = &vocabulary[usize::from(token)];
        let width = label.chars().count() as f64 * CHARACTER * 10.0 / 11.0;
        let (x, y) = at(token);
        let x = x.clamp(MARGIN + 3.0 + width / 2.0, (MARGIN + PLANE - 3.0 - width / 2.0).max(MARGIN));
        let y = (y - 6.0).max(top + 12.0);
        let place = [x - width / 2.0 - 2.0, y - 9.0, x + width / 2.0 + 2.0, y + 3.0];
        let meets = |other: &[f64; 4]| {
            place[0] < other[2] && other[0] < place[2] && place[1] < other[3] && other[1] < place[3]
        };
        if !taken.iter().any(meets) {
            text(out, "w", x, y, label);
            taken.push(place);
        }
    }
}

/// How to read the figure.
fn explain(out: &mut String, nodes: &Nodes<'_>, options: &FigureOptions, x: f64, top: f64) {
    let (graphs, all, step) = (nodes.graphs.len(), nodes.len(), options.step);
    let steps = if step == 1 { "one step".to_owned() } else { format!("{step} steps") };
    let lines = [
        format!("Nearest neighbours of node vectors after {steps}"),
        String::new(),
        "Each drawing is a node (thick line) with its parents above and".to_owned(),
        "its children below, children in order from left to right.".to_owned(),
        "×2: two edges to the same node. +2: two more, not drawn.".to_owned(),
        String::new(),
        format!("Each row is a query and the nearest of {all} nodes in"),
        format!("{graphs} statements of held-out conjectures. All are of other"),
        "statements than the query and each other; nodes with the same".to_owned(),
        "surroundings are shown once.".to_owned(),
        String::new(),
        "The numbers are Euclidean distances from the query; below it,".to_owned(),
        "the median distance of all nodes.".to_owned(),
        String::new(),
        "The closer two colours, the nearer their labels are to each other".to_owned(),
        "before the first step. The map shows all labels that occur;".to_owned(),
        "larger dots are more frequent.".to_owned(),
    ];
    for (place, line) in lines.iter().enumerate() {
        let class = if place == 0 { "s l b" } else { "s l" };
        text(out, class, x, top + HEADING - 11.0 + 18.0 * place as f64, line);
    }
}

fn text(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    if !text.is_empty() {
        let (x, y) = (number(x), number(y));
        *out += &format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>\n", escape(text));
    }
}
