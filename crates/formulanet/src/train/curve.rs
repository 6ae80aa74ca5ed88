//! The training curve as SVG.

use plotters::prelude::*;

use super::Line;
use crate::util::plot::{BLUE, DrawingError, GRID, INK, ORANGE, legend, line, picture, text};

/// Accuracy over the pairs that training has seen: of the last classifier on training batches, and on held-out pairs.
pub(super) fn training_curve(lines: &[Line]) -> Result<String, DrawingError> {
    picture((960, 560), |root| {
        let last = lines.last().map_or(1, |line| line.pairs).max(1) as f64;
        let training: Vec<(f64, f64)> =
            lines.iter().map(|l| (l.pairs as f64, 100.0 * l.accuracy.last().unwrap_or(&0.0))).collect();
        let held_out = lines.iter().filter_map(|line| Some((line.pairs, line.validation.as_ref()?)));
        let held_out: Vec<(f64, f64)> =
            held_out.map(|(pairs, v)| (pairs as f64, 100.0 * v.accuracy)).collect();
        let values = || training.iter().chain(&held_out).map(|point| point.1);
        let (low, high) = (values().fold(100.0, f64::min).min(95.0), values().fold(0.0, f64::max));
        let mut chart = ChartBuilder::on(root)
            .caption("Training", text(24))
            .margin(16)
            .margin_right(32)
            .x_label_area_size(56)
            .y_label_area_size(72)
            .build_cartesian_2d(0.0..last, (low - 1.0).max(0.0)..(high + 1.0).min(100.0).max(low + 1.0))?;
        let pairs = |x: &f64| match *x {
            x if last >= 2e6 => format!("{:.1} M", x / 1e6),
            x if last >= 2e3 => format!("{:.0} k", x / 1e3),
            x => format!("{x:.0}"),
        };
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .axis_style(INK)
            .x_desc("pairs that training has seen")
            .y_desc("accuracy in %")
            .x_label_formatter(&pairs)
            .axis_desc_style(text(18))
            .label_style(text(15))
            .draw()?;
        // Single batches jump about: thin, with their mean over a twentieth of the run on top.
        let smooth = moving_mean(&training, training.len().div_ceil(20));
        chart.draw_series(LineSeries::new(training, ORANGE.mix(0.3)))?;
        line(&mut chart, smooth, ORANGE.stroke_width(3), "training batches, and their mean")?;
        line(&mut chart, held_out.iter().copied(), BLUE.stroke_width(3), "held-out conjectures")?;
        chart.draw_series(held_out.iter().map(|&point| Circle::new(point, 5, BLUE.filled())))?;
        legend(&mut chart, SeriesLabelPosition::LowerRight, 0.9)
    })
}

/// The mean of every point and so many before it.
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
    fn a_curve_names_its_axes() {
        let curve = training_curve(&[]).unwrap();
        for text in ["accuracy in %", "pairs that training has seen", "held-out conjectures"] {
            assert!(curve.contains(text), "{text}");
        }
    }
}
