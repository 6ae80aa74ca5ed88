//! Pictures as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

pub(crate) type DrawingError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(crate) const BLUE: RGBColor = RGBColor(44, 110, 170);

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
