//! Charts as SVG.

use plotters::prelude::*;

use crate::data::Distribution;
use crate::train::Line;

type DrawingError = Box<dyn std::error::Error + Send + Sync>;

/// Histograms side by side, with classes that double in width: sizes of formulas differ by orders of magnitude.
pub fn histograms(title: &str, distributions: &[(&str, &Distribution)]) -> Result<String, DrawingError> {
    let columns = distributions.len().clamp(1, 3);
    let rows = distributions.len().div_ceil(columns).max(1);
    let mut picture = String::new();
    {
        let size = (360 * columns as u32, 40 + 260 * rows as u32);
        let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        root.fill(&WHITE)?;
        let area = root.titled(title, ("sans-serif", 20))?;
        for (area, (name, distribution)) in area.split_evenly((rows, columns)).iter().zip(distributions) {
            histogram(area, name, distribution)?;
        }
        root.present()?;
    }
    Ok(picture)
}

/// Accuracy over the pairs that training has seen: of the last classifier on training batches, and on held-out pairs.
pub fn training_curve(lines: &[Line]) -> Result<String, DrawingError> {
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, (760, 420)).into_drawing_area();
        root.fill(&WHITE)?;
        let last = lines.last().map_or(1, |line| line.pairs).max(1) as f64;
        let training: Vec<(f64, f64)> =
            lines.iter().map(|l| (l.pairs as f64, 100.0 * l.accuracy.last().unwrap_or(&0.0))).collect();
        let held_out = lines.iter().filter_map(|line| Some((line.pairs, line.validation.as_ref()?)));
        let held_out: Vec<(f64, f64)> =
            held_out.map(|(pairs, v)| (pairs as f64, 100.0 * v.accuracy)).collect();
        let values = || training.iter().chain(&held_out).map(|point| point.1);
        let (low, high) = (values().fold(100.0, f64::min).min(95.0), values().fold(0.0, f64::max));
        let mut chart = ChartBuilder::on(&root)
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
        let (grey, blue) = (RGBColor(150, 150, 150), RGBColor(44, 110, 170));
        chart
            .draw_series(LineSeries::new(training, grey))?
            .label("training batches")
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], grey));
        chart
            .draw_series(LineSeries::new(held_out.iter().copied(), blue.stroke_width(2)))?
            .label("held-out conjectures")
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], blue.stroke_width(2)));
        chart.draw_series(held_out.iter().map(|&point| Circle::new(point, 3, blue.filled())))?;
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.85))
            .label_font(("sans-serif", 12))
            .draw()?;
        root.present()?;
    }
    Ok(picture)
}

fn histogram(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    name: &str,
    distribution: &Distribution,
) -> Result<(), DrawingError> {
    let total = distribution.histogram.iter().sum::<u64>().max(1) as f64;
    let shares: Vec<f64> = distribution.histogram.iter().map(|&n| 100.0 * n as f64 / total).collect();
    let highest = shares.iter().copied().fold(1.0, f64::max);
    let classes = shares.len().max(1);
    let caption =
        format!("{name}: median {}, 99 % below {}", distribution.median, distribution.percentile_99 + 1);
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 14))
        .margin(8)
        .margin_right(20)
        .x_label_area_size(28)
        .y_label_area_size(40)
        .build_cartesian_2d(0.0..classes as f64, 0.0..highest * 1.08)?;
    // Class k holds the values from 2^(k-1) up to, but not including, 2^k.
    let lower = |class: f64| if class < 1.0 { 0 } else { 1u64 << (class.round() as u32 - 1).min(62) };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(classes.min(9) + 1)
        .x_label_formatter(&|class| lower(*class).to_string())
        .y_label_formatter(&|share| format!("{share:.0} %"))
        .label_style(("sans-serif", 11))
        .draw()?;
    let blue = RGBColor(44, 110, 170);
    chart.draw_series(shares.iter().enumerate().map(|(class, &share)| {
        let class = class as f64;
        Rectangle::new([(class + 0.06, 0.0), (class + 0.94, share)], blue.filled())
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_show_their_names() {
        let distribution = Distribution { histogram: vec![0, 1, 5, 3], median: 3, ..Distribution::default() };
        let picture =
            histograms("sizes", &[("nodes", &distribution), ("edges", &Distribution::default())]).unwrap();
        assert!(
            picture.starts_with("<svg") && picture.contains("nodes: median 3") && picture.contains("edges")
        );
    }
}
