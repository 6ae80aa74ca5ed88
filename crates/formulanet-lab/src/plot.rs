//! Pictures as SVG.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

pub(crate) type DrawingError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(crate) const BLUE: RGBColor = RGBColor(31, 98, 168);
/// The colors of text and of grid lines.
pub(crate) const INK: RGBColor = RGBColor(38, 44, 54);
pub(crate) const GRID: RGBColor = RGBColor(222, 226, 232);

/// Text of a size, in the colour of ink.
pub(crate) fn text(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// A chart of two numbers.
pub(crate) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws a line that the legend names.
pub(crate) fn line(
    chart: &mut Chart<'_, '_>,
    points: impl IntoIterator<Item = (f64, f64)>,
    style: ShapeStyle,
    name: &str,
) -> Result<(), DrawingError> {
    let drawn = chart.draw_series(LineSeries::new(points, style))?.label(name);
    drawn.legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], style.stroke_width(3)));
    Ok(())
}

/// Draws the legend in a corner, on paper of some opacity.
pub(crate) fn legend<'a, 'b: 'a>(
    chart: &mut Chart<'a, 'b>,
    corner: SeriesLabelPosition,
    opacity: f64,
) -> Result<(), DrawingError> {
    let mut labels = chart.configure_series_labels();
    labels.position(corner).background_style(WHITE.mix(opacity)).border_style(GRID);
    labels.margin(12).legend_area_size(34).label_font(text(16)).draw()?;
    Ok(())
}

/// A picture on white.
pub(crate) fn picture(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), DrawingError>,
) -> Result<String, DrawingError> {
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        root.present()?;
    }
    Ok(picture)
}
