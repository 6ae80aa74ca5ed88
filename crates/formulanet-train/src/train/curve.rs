//! The training curve as SVG, and as CSV for other programs.

use std::fmt::Write;

use super::Line;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 32.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 72.0;
const BLUE: &str = "#1f62a8";
const ORANGE: &str = "#d67618";
const INK: &str = "#262c36";
const GRID: &str = "#dee2e8";

/// Draws accuracy over the pairs that training has seen: of the last classifier on training batches, and on held-out pairs.
pub(super) fn training_curve(lines: &[Line]) -> String {
    let (training, held_out) = (training(lines), held_out(lines));
    let last = lines.last().map_or(1, |line| line.pairs).max(1) as f64;
    let values = || training.iter().chain(&held_out).map(|point| point.1);
    let low = (values().fold(100.0, f64::min).min(95.0) - 1.0).max(0.0);
    let high = (values().fold(0.0, f64::max) + 1.0).min(100.0).max(low + 2.0);
    let place = |&(x, y): &(f64, f64)| {
        let across = LEFT + (WIDTH - LEFT - RIGHT) * x / last;
        let up = (HEIGHT - BOTTOM) - (HEIGHT - TOP - BOTTOM) * (y - low) / (high - low);
        (across, up)
    };
    let path = |points: &[(f64, f64)]| {
        let places: Vec<String> = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        places.join(" ")
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"15\" fill=\"{INK}\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{}\" y=\"36\" text-anchor=\"middle\" font-size=\"24\">Training</text>",
        WIDTH / 2.0
    );
    for value in ticks(low, high) {
        let ((x, y), (end, _)) = (place(&(0.0, value)), place(&(last, value)));
        let _ = write!(
            svg,
            "<path d=\"M{x:.1} {y:.1}H{end:.1}\" stroke=\"{GRID}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            x - 8.0,
            y + 5.0
        );
    }
    for value in ticks(0.0, last) {
        let (x, y) = place(&(value, low));
        let _ = write!(
            svg,
            "<path d=\"M{x:.1} {y:.1}V{TOP}\" stroke=\"{GRID}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            y + 22.0,
            pairs(value, last)
        );
    }
    // Single batches vary widely: a thin line, with their mean over a twentieth of the run on top.
    let smooth = moving_mean(&training, training.len().div_ceil(20));
    let _ = write!(
        svg,
        "<g fill=\"none\"><polyline points=\"{}\" stroke=\"{ORANGE}\" stroke-opacity=\".3\"/>\
         <polyline points=\"{}\" stroke=\"{ORANGE}\" stroke-width=\"3\"/>\
         <polyline points=\"{}\" stroke=\"{BLUE}\" stroke-width=\"3\"/></g>",
        path(&training),
        path(&smooth),
        path(&held_out)
    );
    for (x, y) in held_out.iter().map(place) {
        let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{BLUE}\"/>");
    }
    let (middle, bottom) = ((TOP + HEIGHT - BOTTOM) / 2.0, HEIGHT - 20.0);
    let _ = write!(
        svg,
        "<text x=\"{0}\" y=\"{bottom}\" text-anchor=\"middle\" font-size=\"18\">pairs that training has seen</text>\
         <text transform=\"translate(26 {middle}) rotate(-90)\" text-anchor=\"middle\" font-size=\"18\">accuracy (%)</text>\
         <g transform=\"translate({1} {2})\"><path d=\"M0 0h24\" stroke=\"{ORANGE}\" stroke-width=\"3\"/>\
         <text x=\"34\" y=\"5\">training batches, and their mean</text>\
         <path d=\"M0 24h24\" stroke=\"{BLUE}\" stroke-width=\"3\"/><text x=\"34\" y=\"29\">held-out conjectures</text></g></svg>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        WIDTH - RIGHT - 290.0,
        HEIGHT - BOTTOM - 52.0
    );
    svg
}

/// Writes the same points as comma-separated values.
pub(super) fn table(lines: &[Line]) -> String {
    let mut text = String::from("pairs,training_accuracy,held_out_accuracy\n");
    for line in lines {
        let training = line.accuracy.last().map(f64::to_string).unwrap_or_default();
        let held_out = line.validation.as_ref().map(|v| v.accuracy.to_string()).unwrap_or_default();
        let _ = writeln!(text, "{},{training},{held_out}", line.pairs);
    }
    text
}

fn training(lines: &[Line]) -> Vec<(f64, f64)> {
    lines.iter().map(|l| (l.pairs as f64, 100.0 * l.accuracy.last().unwrap_or(&0.0))).collect()
}

fn held_out(lines: &[Line]) -> Vec<(f64, f64)> {
    let measured = lines.iter().filter_map(|line| Some((line.pairs, line.validation.as_ref()?)));
    measured.map(|(pairs, v)| (pairs as f64, 100.0 * v.accuracy)).collect()
}

/// Round values between two bounds, about six of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = ((high - low) / 6.0).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| *step >= raw).unwrap_or(raw);
    let first = (low / step).ceil() as i64;
    (first..).map(|n| (n as f64 * step * 1e6).round() / 1e6).take_while(|value| *value <= high).collect()
}

fn pairs(value: f64, last: f64) -> String {
    match last {
        last if last >= 2e6 => format!("{:.1} M", value / 1e6),
        last if last >= 2e3 => format!("{:.0} k", value / 1e3),
        _ => format!("{value:.0}"),
    }
}

/// The mean of every point and the `window` - 1 before it.
fn moving_mean(points: &[(f64, f64)], window: usize) -> Vec<(f64, f64)> {
    let mean = |end: usize| {
        let seen = &points[(end + 1).saturating_sub(window.max(1))..=end];
        (points[end].0, seen.iter().map(|point| point.1).sum::<f64>() / seen.len() as f64)
    };
    (0..points.len()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_look_back() {
        let points = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)];
        assert_eq!(moving_mean(&points, 2), [(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)]);
        assert_eq!(moving_mean(&points, 0), points);
        assert_eq!(moving_mean(&[], 3), []);
    }

    #[test]
    fn ticks_are_round_and_within_bounds() {
        let check = |low: f64, high: f64, expected: &[f64]| assert_eq!(ticks(low, high), expected);
        check(0.0, 60.0, &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        check(81.5, 92.0, &[82.0, 84.0, 86.0, 88.0, 90.0, 92.0]);
        check(0.0, 1.0, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    }

    #[test]
    fn a_curve_names_its_axes() {
        let curve = training_curve(&[]);
        for text in ["accuracy (%)", "pairs that training has seen", "held-out conjectures"] {
            assert!(curve.contains(text), "{text}");
        }
        assert_eq!(table(&[]).lines().count(), 1);
    }
}
