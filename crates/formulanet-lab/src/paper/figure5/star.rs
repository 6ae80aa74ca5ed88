//! The drawing of one node with its parents above and its children below.

use super::nodes::{Link, Local};
use super::plane::Plane;
use formulanet::logic::draw::escape;

/// Height of a box.
const HEIGHT: f64 = 20.0;
/// Width of a character: six tenths of the font size in nearly every monospaced font.
pub(super) const CHARACTER: f64 = 6.6;
/// Longer labels are cut; the whole label stands in the tooltip.
const MAX_COLUMNS: usize = 14;
/// More parents, or more children, are only counted.
const MOST: usize = 6;
/// Boxes wider than this together stand in two lines.
const LINE: f64 = 185.0;
/// From the middle of the node to that of the first line, and from there to the second.
const FIRST: f64 = 50.0;
const SECOND: f64 = 30.0;
/// Height of an arrow's head.
const HEAD: f64 = 5.0;

/// A box around a label.
struct Label {
    text: String,
    /// The number of edges that lead there, if more than one.
    times: String,
    token: Option<u16>,
    width: f64,
}

impl Label {
    fn new(text: &str, edges: usize, token: Option<u16>) -> Self {
        let mut shown: String = text.chars().take(MAX_COLUMNS).collect();
        if text.chars().count() > MAX_COLUMNS {
            shown.pop();
            shown.push('…');
        }
        let times = if edges > 1 { format!("×{edges}") } else { String::new() };
        // Conservative: whatever may be drawn double is counted double.
        let columns: usize = shown.chars().map(|c| if c < '\u{1100}' { 1 } else { 2 }).sum();
        let columns = columns as f64 + 0.8 * times.chars().count() as f64;
        Label { text: shown, times, token, width: (columns * CHARACTER + 12.0).max(26.0) }
    }
}

/// A box next to the node: its distance to the right, and whether it is in the first or the second line.
struct Seat {
    label: Label,
    x: f64,
    is_far: bool,
}

/// A drawing with the node at the origin.
pub(super) struct Star {
    centre: Label,
    parents: Vec<Seat>,
    children: Vec<Seat>,
}

impl Star {
    pub(super) fn new(local: &Local, vocabulary: &[String]) -> Self {
        let name = |token: u16| vocabulary[usize::from(token)].as_str();
        let seats = |links: &[Link]| {
            // A box that says "+1" would take the place of what it leaves out.
            let shown = if links.len() > MOST { MOST - 1 } else { links.len() };
            let label = |link: &Link| Label::new(name(link.token), link.edges, Some(link.token));
            let mut labels: Vec<Label> = links[..shown].iter().map(label).collect();
            if shown < links.len() {
                labels.push(Label::new(&format!("+{}", links.len() - shown), 1, None));
            }
            seat(labels)
        };
        Star {
            centre: Label::new(name(local.token), 1, Some(local.token)),
            parents: seats(&local.parents),
            children: seats(&local.children),
        }
    }

    /// How far the drawing reaches to the left, to the right, up and down.
    pub(super) fn reach(&self) -> [f64; 4] {
        let half = self.centre.width / 2.0;
        let seats = || self.parents.iter().chain(&self.children);
        let left = seats().map(|seat| seat.label.width / 2.0 - seat.x).fold(half, f64::max);
        let right = seats().map(|seat| seat.label.width / 2.0 + seat.x).fold(half, f64::max);
        let lines = |seats: &[Seat]| {
            let distances = seats.iter().map(|seat| if seat.is_far { FIRST + SECOND } else { FIRST });
            distances.fold(0.0, f64::max) + HEIGHT / 2.0
        };
        [left, right, lines(&self.parents), lines(&self.children)]
    }

    /// Draws it around a point.
    pub(super) fn draw(&self, out: &mut String, x: f64, y: f64, plane: &Plane, vocabulary: &[String]) {
        *out += &format!("<g transform=\"translate({} {})\">", number(x), number(y));
        for (seats, is_above) in [(&self.parents, true), (&self.children, false)] {
            for (place, seat) in seats.iter().enumerate() {
                self.edge(out, seat, place, seats.len(), is_above);
            }
        }
        for (seats, side) in [(&self.parents, -1.0), (&self.children, 1.0)] {
            for seat in seats {
                let y = side * if seat.is_far { FIRST + SECOND } else { FIRST };
                draw_box(out, &seat.label, (seat.x, y), "n", plane, vocabulary);
            }
        }
        draw_box(out, &self.centre, (0.0, 0.0), "n q", plane, vocabulary);
        out.push_str("</g>\n");
    }

    /// An arrow from a parent or to a child; one from afar passes straight through the nearer line.
    fn edge(&self, out: &mut String, seat: &Seat, place: usize, count: usize, is_above: bool) {
        let half = HEIGHT / 2.0;
        let spread = (self.centre.width - 14.0).min(11.0 * (count - 1) as f64);
        let port = spread * (place as f64 / (count - 1).max(1) as f64 - 0.5);
        let class = if seat.label.token.is_some() { "e" } else { "e m" };
        let far = if seat.is_far { SECOND } else { 0.0 };
        let (x, port_x) = (number(seat.x), number(port));
        // From top to bottom in both cases, as edges lead downwards.
        let tip = if is_above {
            let (begin, end) = (-FIRST + half, -half - HEAD);
            let (top, middle) = (number(begin - far), number((begin + end) / 2.0));
            *out += &format!("<path class=\"{class}\" d=\"M{x} {top}V{}", number(begin));
            *out += &format!("C{x} {middle} {port_x} {middle} {port_x} {}\"/>", number(end));
            (port, -half)
        } else {
            let (begin, end) = (half, FIRST - half - HEAD);
            let (bottom, middle) = (number(end + far), number((begin + end) / 2.0));
            *out += &format!("<path class=\"{class}\" d=\"M{port_x} {}", number(begin));
            *out += &format!("C{port_x} {middle} {x} {middle} {x} {}V{bottom}\"/>", number(end));
            (seat.x, FIRST + far - half)
        };
        let (x, y) = (number(tip.0 - 2.5), number(tip.1 - HEAD));
        *out += &format!("<path class=\"h\" d=\"M{x} {y}h5l-2.5 {HEAD}z\"/>");
    }
}

/// Places labels from left to right, in their order, around 0: in one line if they fit, and else by turns in the first
/// and the second, with space in the first for the edges of the second.
fn seat(labels: Vec<Label>) -> Vec<Seat> {
    let gap = 10.0;
    let together = labels.iter().map(|label| label.width + gap).sum::<f64>() - gap;
    let is_single = together <= LINE;
    let mut seats: Vec<Seat> = Vec::new();
    // Right ends of both lines, and the last edge that passes through the first.
    let (mut ends, mut passage) = ([f64::NEG_INFINITY; 2], f64::NEG_INFINITY);
    for (place, label) in labels.into_iter().enumerate() {
        let is_far = !is_single && place % 2 == 1;
        let half = label.width / 2.0;
        let beside = ends[usize::from(is_far)] + gap + half;
        let x = if is_far { beside.max(ends[0] + gap / 2.0) } else { beside.max(passage + gap / 2.0 + half) };
        let x = if x.is_finite() { x } else { 0.0 };
        if is_far {
            passage = x;
        }
        ends[usize::from(is_far)] = x + half;
        seats.push(Seat { label, x, is_far });
    }
    let left = seats.iter().map(|seat| seat.x - seat.label.width / 2.0).fold(f64::INFINITY, f64::min);
    let right = ends[0].max(ends[1]);
    seats.iter_mut().for_each(|seat| seat.x -= (left + right) / 2.0);
    seats
}

fn draw_box(
    out: &mut String,
    label: &Label,
    at: (f64, f64),
    class: &str,
    plane: &Plane,
    vocabulary: &[String],
) {
    let (x, y) = (number(at.0 - label.width / 2.0), number(at.1 - HEIGHT / 2.0));
    let width = number(label.width);
    let (class, fill) = match label.token {
        Some(token) => (class, plane.colour(token)),
        None => ("n m", "#fff".to_owned()),
    };
    *out += &format!("<g class=\"{class}\">");
    if let Some(token) = label.token {
        *out += &format!("<title>{}</title>", escape(&vocabulary[usize::from(token)]));
    }
    *out += &format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"4\" fill=\"{fill}\"/>"
    );
    let (x, y) = (number(at.0), number(at.1 + 3.8));
    *out += &format!("<text x=\"{x}\" y=\"{y}\">{}", escape(&label.text));
    if !label.times.is_empty() {
        *out += &format!("<tspan class=\"t\">{}</tspan>", label.times);
    }
    out.push_str("</text></g>");
}

/// A coordinate with one digit after the point, as short as possible.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_and_edges_do_not_meet() {
        let check = |texts: &[&str], lines: usize| {
            let seats = seat(texts.iter().map(|text| Label::new(text, 1, None)).collect());
            let ends = |seat: &Seat| (seat.x - seat.label.width / 2.0, seat.x + seat.label.width / 2.0);
            for (i, a) in seats.iter().enumerate() {
                for b in &seats[i + 1..] {
                    assert!(a.x < b.x, "the order stays");
                    assert!(a.is_far != b.is_far || ends(a).1 < ends(b).0, "{texts:?}: boxes meet");
                    let (near, far) = if a.is_far { (b, a) } else { (a, b) };
                    if near.is_far != far.is_far {
                        assert!(
                            far.x < ends(near).0 || far.x > ends(near).1,
                            "{texts:?}: an edge meets a box"
                        );
                    }
                }
            }
            assert_eq!(seats.iter().any(|seat| seat.is_far), lines == 2, "{texts:?}");
        };
        check(&[], 1);
        check(&["="], 1);
        check(&["=", "a_rather_long_label"], 1);
        check(&["a_rather_long_label", "another_long_label"], 2);
        check(&["x", "y", "z"], 1);
        check(&["a_rather_long_label", "=", "VAR", "another_long_label", "!", "VAR"], 2);
        check(&["!", "real_of_num", "!", "real_of_num", "real_of_num", "+3"], 2);
    }

    #[test]
    fn labels_and_numbers_are_short() {
        assert_eq!(Label::new("a_name_without_end", 1, None).text, "a_name_withou…");
        assert_eq!([number(-0.04), number(1.25), number(3.0)], ["0", "1.2", "3"]);
    }
}
