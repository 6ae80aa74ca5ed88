//! Curves on a unit square as SVG, coloured by the page around them.
//!
//! Not `plot.rs`: plotters writes colours into the picture, and these follow the reader's light or dark theme.

use super::{Bin, RocPoint};

/// Length of the axes and the room around them.
const SIDE: f64 = 300.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 44.0;

/// Where a point of the unit square is in the picture.
fn place(x: f64, y: f64) -> (f64, f64) {
    (LEFT + SIDE * x, TOP + SIDE * (1.0 - y))
}

/// Axes from 0 to 1, the diagonal, and what is drawn between them.
fn square(name: &str, x_name: &str, y_name: &str, content: &str) -> String {
    let (width, height) = (LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM);
    let mut svg = format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{name}\">");
    let mut grid = String::new();
    for step in 0..=5 {
        let value = f64::from(step) / 5.0;
        let ((x, bottom), (_, top)) = (place(value, 0.0), place(value, 1.0));
        let ((left, y), (right, _)) = (place(0.0, value), place(1.0, value));
        grid += &format!("M{x:.1} {bottom:.1}V{top:.1}M{left:.1} {y:.1}H{right:.1}");
        let (below, beside, level) = (bottom + 16.0, left - 7.0, y + 4.0);
        svg += &format!(
            "<text x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{value:.1}</text>\
             <text x=\"{beside:.1}\" y=\"{level:.1}\" text-anchor=\"end\">{value:.1}</text>"
        );
    }
    let ((x0, y0), (x1, y1)) = (place(0.0, 0.0), place(1.0, 1.0));
    let (middle_x, middle_y, under) = ((x0 + x1) / 2.0, (y0 + y1) / 2.0, height - 6.0);
    svg += &format!(
        "<path class=\"grid\" d=\"{grid}\"/>\
         <path class=\"diagonal\" d=\"M{x0:.1} {y0:.1}L{x1:.1} {y1:.1}\"/>{content}\
         <text x=\"{middle_x:.1}\" y=\"{under:.1}\" text-anchor=\"middle\">{x_name}</text>\
         <text transform=\"translate(12 {middle_y:.1}) rotate(-90)\" text-anchor=\"middle\">{y_name}</text></svg>"
    );
    svg
}

/// A line through points of the unit square, as a path.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points.map(|(x, y)| place(x, y)) {
        let command = if path.is_empty() { 'M' } else { 'L' };
        path += &format!("{command}{x:.1} {y:.1}");
    }
    path
}

/// The ROC curve; without points, empty axes.
pub(super) fn roc(points: &[RocPoint]) -> String {
    let mut content = String::new();
    if !points.is_empty() {
        let line = path(points.iter().map(|p| (p.false_positive_rate, p.true_positive_rate)));
        let (x, y) = place(1.0, 0.0);
        content =
            format!("<path class=\"area\" d=\"{line}L{x:.1} {y:.1}Z\"/><path class=\"curve\" d=\"{line}\"/>");
    }
    let x_name = "useless statements taken for useful (share)";
    square("ROC curve", x_name, "useful statements found (share)", &content)
}

/// Share of useful statements against mean score, with a bar for the number of statements of each bin.
pub(super) fn calibration(bins: &[Bin]) -> String {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1) as f64;
    let mut content = String::new();
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        // A quarter of the height for the fullest bin, so that bars stay below what they are about.
        let height = bin.count as f64 / most * 0.25;
        let ((x, y), (end, bottom)) = (place(bin.from, height), place(bin.to, 0.0));
        let (left, width, height) = (x + 1.0, end - x - 2.0, bottom - y);
        let &Bin { count, from, to, .. } = bin;
        content += &format!(
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">\
             <title>{count} statements from {from:.1} to {to:.1}</title></rect>"
        );
    }
    let known: Vec<(f64, f64)> = bins.iter().filter_map(|bin| bin.mean_score.zip(bin.share_useful)).collect();
    content += &format!("<path class=\"curve\" d=\"{}\"/>", path(known.iter().copied()));
    for &(score, share) in &known {
        let (x, y) = place(score, share);
        content += &format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\">\
             <title>mean score {score:.3}, share useful {share:.3}</title></circle>"
        );
    }
    square("Calibration curve", "mean score (bars: how many statements)", "share useful", &content)
}
