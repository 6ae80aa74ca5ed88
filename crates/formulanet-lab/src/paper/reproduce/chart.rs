//! Pictures next to the tables: ours in full color, the paper's numbers pale.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::plot::{BLUE, DrawingError, legend, line, picture};
use formulanet::Error;

/// Two accuracies of a view: with the original names and with others.
pub(super) struct Bars {
    pub(super) name: &'static str,
    /// In %.
    pub(super) paper: [f64; 2],
    /// Shares.
    pub(super) ours: [Option<f64>; 2],
}

/// Accuracy of a model over steps.
pub(super) struct Curve {
    pub(super) name: &'static str,
    /// In %.
    pub(super) paper: Vec<f64>,
    /// Shares.
    pub(super) ours: Vec<Option<f64>>,
}

const ORANGE: RGBColor = RGBColor(205, 105, 30);
const SIZE: (u32, u32) = (760, 420);

/// Bars of every view, with original and with other names; a black line is the paper's number.
pub(super) fn renaming(bars: &[Bars]) -> Result<String, Error> {
    drawn("table2.svg", draw_renaming(bars))
}

/// Accuracy over steps.
pub(super) fn steps(curves: &[Curve]) -> Result<String, Error> {
    drawn("table3.svg", draw_steps(curves))
}

fn drawn(name: &str, picture: Result<String, DrawingError>) -> Result<String, Error> {
    picture.map_err(|error| Error::input(name, error.to_string()))
}

/// The part of the scale that has something on it, in %.
fn scale(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) = values.fold((100.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    ((low / 5.0).floor() * 5.0 - 5.0).max(0.0)..(high + 2.0).clamp(10.0, 100.0)
}

fn draw_renaming(bars: &[Bars]) -> Result<String, DrawingError> {
    picture(SIZE, |root| {
        let ours = bars.iter().flat_map(|bars| bars.ours).flatten().map(|share| 100.0 * share);
        let range = scale(ours.chain(bars.iter().flat_map(|bars| bars.paper)));
        let floor = range.start;
        let mut chart = ChartBuilder::on(root)
            .caption("accuracy in % on held-out conjectures", ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(30)
            .y_label_area_size(44)
            // Room for the names of the colours on the right.
            .build_cartesian_2d(0.0..bars.len() as f64 + 1.3, range)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(WHITE)
            .label_style(("sans-serif", 12))
            .draw()?;
        let parts = [("ours, original names", BLUE, 0.12), ("ours, renamed variables", ORANGE, 0.5)];
        for (i, (label, colour, left)) in parts.into_iter().enumerate() {
            let places = bars.iter().zip(0u8..).map(|(bars, place)| (bars, f64::from(place) + left));
            let found = places.clone().filter_map(|(bars, x)| Some((x, 100.0 * bars.ours[i]?)));
            chart
                .draw_series(
                    found.map(|(x, y)| Rectangle::new([(x, floor), (x + 0.36, y)], colour.filled())),
                )?
                .label(label)
                .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 14, y + 4)], colour.filled()));
            let paper = chart.draw_series(places.map(|(bars, x)| {
                PathElement::new([(x, bars.paper[i]), (x + 0.36, bars.paper[i])], BLACK.stroke_width(2))
            }))?;
            if i == 0 {
                paper
                    .label("paper")
                    .legend(|(x, y)| PathElement::new([(x, y), (x + 14, y)], BLACK.stroke_width(2)));
            }
        }
        for (bars, place) in bars.iter().zip(0u8..) {
            let (x, y) = chart.backend_coord(&(f64::from(place) + 0.5, floor));
            let style =
                TextStyle::from(("sans-serif", 13).into_font()).pos(Pos::new(HPos::Center, VPos::Top));
            root.draw_text(bars.name, &style, (x, y + 8))?;
        }
        legend(&mut chart, SeriesLabelPosition::UpperRight, 0.9)
    })
}

fn draw_steps(curves: &[Curve]) -> Result<String, DrawingError> {
    picture(SIZE, |root| {
        let ours = curves.iter().flat_map(|curve| &curve.ours).flatten().map(|share| 100.0 * share);
        let range = scale(ours.chain(curves.iter().flat_map(|curve| curve.paper.iter().copied())));
        let most = curves.iter().map(|curve| curve.paper.len()).max().unwrap_or(1).max(2) - 1;
        let mut chart = ChartBuilder::on(root)
            .caption("accuracy in % on held-out conjectures", ("sans-serif", 16))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(36)
            .y_label_area_size(44)
            .build_cartesian_2d(0.0..most as f64, range)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc("steps")
            .x_labels(most + 1)
            .x_label_formatter(&|steps| format!("{steps:.0}"))
            .label_style(("sans-serif", 12))
            .draw()?;
        for (curve, colour) in curves.iter().zip([BLUE, ORANGE]) {
            let numbered = || (0u8..).map(f64::from);
            let paper = numbered().zip(curve.paper.iter().copied());
            line(&mut chart, paper, colour.mix(0.4).stroke_width(2), &format!("{}, paper", curve.name))?;
            let ours =
                numbered().zip(&curve.ours).filter_map(|(steps, share)| Some((steps, 100.0 * (*share)?)));
            let ours: Vec<(f64, f64)> = ours.collect();
            let name = format!("{}, ours", curve.name);
            line(&mut chart, ours.iter().copied(), colour.stroke_width(2), &name)?;
            chart.draw_series(ours.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        }
        legend(&mut chart, SeriesLabelPosition::LowerRight, 0.9)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_names_and_leave_out_what_is_missing() {
        let picture = |ours| renaming(&[Bars { name: "tree", paper: [84.7, 84.7], ours }]).unwrap();
        let (whole, half) = (picture([Some(0.8), Some(0.8)]), picture([Some(0.8), None]));
        assert!(whole.starts_with("<svg") && whole.contains("tree"));
        assert!(half.len() < whole.len());
        let curve = Curve { name: "FormulaNet", paper: vec![81.5, 90.4], ours: vec![None, None] };
        let picture = steps(&[curve]).unwrap();
        assert!(picture.starts_with("<svg") && picture.contains("FormulaNet, ours"));
    }
}
