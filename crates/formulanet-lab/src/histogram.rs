//! Sizes of formulas as a chart.

use plotters::prelude::*;

use crate::plot::{Area, BLUE, DrawingError, GRID, INK, picture, text};
use formulanet_train::dataset::Distribution;

/// Histograms side by side, with classes that double in width: sizes of formulas differ by orders of magnitude.
pub fn histograms(title: &str, distributions: &[(&str, &Distribution)]) -> Result<String, DrawingError> {
    let columns = distributions.len().clamp(1, 3);
    let rows = distributions.len().div_ceil(columns).max(1);
    picture((460 * columns as u32, 56 + 340 * rows as u32), |root| {
        let area = root.titled(title, text(26))?;
        for (area, (name, distribution)) in area.split_evenly((rows, columns)).iter().zip(distributions) {
            histogram(area, name, distribution)?;
        }
        Ok(())
    })
}

fn histogram(area: &Area<'_>, name: &str, distribution: &Distribution) -> Result<(), DrawingError> {
    let total = distribution.histogram.iter().sum::<u64>().max(1) as f64;
    let shares: Vec<f64> = distribution.histogram.iter().map(|&n| 100.0 * n as f64 / total).collect();
    let highest = shares.iter().copied().fold(1.0, f64::max);
    let classes = shares.len().max(1);
    let caption =
        format!("{name}: median {}, 99 % below {}", distribution.median, distribution.percentile_99 + 1);
    let mut chart = ChartBuilder::on(area)
        .caption(caption, text(18))
        .margin(12)
        .margin_right(24)
        .x_label_area_size(50)
        .y_label_area_size(68)
        .build_cartesian_2d(0.0..classes as f64, 0.0..highest * 1.08)?;
    // Class k holds the values from 2^(k-1) up to, but not including, 2^k.
    let lower = |class: f64| if class < 1.0 { 0 } else { 1u64 << (class.round() as u32 - 1).min(62) };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .x_desc(name)
        .y_desc("share of formulas")
        .axis_desc_style(text(16))
        .x_labels(classes.min(9) + 1)
        .x_label_formatter(&|class| lower(*class).to_string())
        .y_label_formatter(&|share| format!("{share:.0} %"))
        .label_style(text(14))
        .draw()?;
    chart.draw_series(shares.iter().enumerate().map(|(class, &share)| {
        let class = class as f64;
        Rectangle::new([(class + 0.06, 0.0), (class + 0.94, share)], BLUE.filled())
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
