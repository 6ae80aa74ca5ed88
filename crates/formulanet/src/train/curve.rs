//! The training curve as SVG.

use plotters::prelude::*;

use super::Line;
use crate::util::plot::{BLUE, DrawingError, legend, line, picture};

/// Accuracy over the pairs that training has seen: of the last classifier on training batches, and on held-out pairs.
pub(super) fn training_curve(lines: &[Line]) -> Result<String, DrawingError> {
    picture((760, 420), |root| {
        let last = lines.last().map_or(1, |line| line.pairs).max(1) as f64;
        let training: Vec<(f64, f64)> =
            lines.iter().map(|l| (l.pairs as f64, 100.0 * l.accuracy.last().unwrap_or(&0.0))).collect();
        let held_out = lines.iter().filter_map(|line| Some((line.pairs, line.validation.as_ref()?)));
        let held_out: Vec<(f64, f64)> =
            held_out.map(|(pairs, v)| (pairs as f64, 100.0 * v.accuracy)).collect();
        let values = || training.iter().chain(&held_out).map(|point| point.1);
        let (low, high) = (values().fold(100.0, f64::min).min(95.0), values().fold(0.0, f64::max));
        let mut chart = ChartBuilder::on(root)
            .caption("accuracy in %", ("sans-serif", 16))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(36)
            .y_label_area_size(44)
            .build_cartesian_2d(0.0..last, (low - 1.0).max(0.0)..(high + 1.0).min(100.0).max(low + 1.0))?;
        let pairs = |x: &f64| match *x {
            x if last >= 2e6 => format!("{:.1} M", x / 1e6),
            x if last >= 2e3 => format!("{:.0} k", x / 1e3),
            x => format!("{x:.0}"),
        };
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc("pairs seen")
            .x_label_formatter(&pairs)
            .label_style(("sans-serif", 12))
            .draw()?;
        let grey = RGBColor(150, 150, 150);
        line(&mut chart, training, grey.into(), "training batches")?;
        line(&mut chart, held_out.iter().copied(), BLUE.stroke_width(2), "held-out conjectures")?;
        chart.draw_series(held_out.iter().map(|&point| Circle::new(point, 3, BLUE.filled())))?;
        legend(&mut chart, SeriesLabelPosition::LowerRight, 0.85)
    })
}
