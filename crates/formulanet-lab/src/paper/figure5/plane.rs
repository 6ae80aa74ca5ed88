//! The colour of every label: its place in a t-SNE of first vectors, read as a place in a plane of colours.

use std::collections::BTreeMap;

use super::nodes::Nodes;
use crate::paper::tsne::{Settings, tsne};

/// The places of labels in a square around the origin, from -1 to 1.
pub(super) struct Plane {
    places: BTreeMap<u16, [f64; 2]>,
}

/// More labels than these are not embedded: time and memory grow with their square.
const MOST: usize = 1500;
/// The lightness of all colours in OKLab: black text is easily read on it, and enough of other colours is left.
const LIGHTNESS: f64 = 0.8;
/// How colourful the edge of the plane is: about what every hue of that lightness allows on a screen.
const CHROMA: f64 = 0.135;
/// Exponent of the distance from the middle in its colourfulness.
const OUTWARDS: f64 = 0.65;

impl Plane {
    /// A place for every label that occurs.
    pub(super) fn new(nodes: &Nodes<'_>, seed: u64) -> Self {
        let known = (0..=u16::MAX).zip(&nodes.counts).filter(|(_, count)| **count > 0);
        let mut tokens: Vec<u16> = known.map(|(token, _)| token).collect();
        tokens.sort_by_key(|&token| (std::cmp::Reverse(nodes.counts[usize::from(token)]), token));
        let rare = tokens.split_off(tokens.len().min(MOST));
        let points: Vec<f32> = tokens.iter().flat_map(|&token| nodes.first_vector(token)).copied().collect();
        let places = fit(&tsne(&points, nodes.width, &Settings { seed, ..Settings::default() }));
        // A rare label stands with the most similar one.
        let distance = |a: u16, b: u16| -> f32 {
            let (a, b) = (nodes.first_vector(a), nodes.first_vector(b));
            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let nearest = |rare: u16| {
            let order =
                |&a: &usize, &b: &usize| distance(rare, tokens[a]).total_cmp(&distance(rare, tokens[b]));
            (0..tokens.len()).min_by(order).map(|i| (rare, places[i]))
        };
        let rare: Vec<_> = rare.into_iter().filter_map(nearest).collect();
        Plane { places: tokens.iter().copied().zip(places.iter().copied()).chain(rare).collect() }
    }

    /// The place of a label.
    pub(super) fn place(&self, token: u16) -> [f64; 2] {
        self.places.get(&token).copied().unwrap_or_default()
    }

    /// All labels that have a place.
    pub(super) fn tokens(&self) -> impl Iterator<Item = u16> {
        self.places.keys().copied()
    }

    /// The colour of a label.
    pub(super) fn colour(&self, token: u16) -> String {
        colour(self.place(token))
    }
}

/// Scales both axes alike, so that colours are as far from each other as places.
fn fit(places: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let bounds = |axis: usize| {
        let values = places.iter().map(move |place| place[axis]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let [(left, right), (low, high)] = [bounds(0), bounds(1)];
    let half = ((right - left).max(high - low) / 2.0).max(f64::MIN_POSITIVE);
    let centre = [(left + right) / 2.0, (low + high) / 2.0];
    let fit = |place: &[f64; 2]| [0, 1].map(|axis| ((place[axis] - centre[axis]) / half).clamp(-1.0, 1.0));
    places.iter().map(fit).collect()
}

/// The colour of a place, for SVG. In OKLab, colours look as different as they are far apart.
fn colour(place: [f64; 2]) -> String {
    // Most places are around the middle, where colours are all grey: they move outwards, in the same directions.
    let radius = place[0].hypot(place[1]);
    let outwards = if radius > 0.0 { radius.powf(OUTWARDS - 1.0) } else { 1.0 };
    let place = place.map(|axis| axis * outwards);
    // A place in a corner may be more colourful than a screen can be; then it is as colourful as it can.
    let mut scale = CHROMA;
    loop {
        let [r, g, b] = screen(LIGHTNESS, place[0] * scale, place[1] * scale);
        let fits = [r, g, b].iter().all(|part| (0.0..=1.0).contains(part));
        if fits || scale < 1e-3 {
            let [r, g, b] = [r, g, b].map(|part| (encode(part.clamp(0.0, 1.0)) * 255.0).round() as u8);
            return format!("#{r:02x}{g:02x}{b:02x}");
        }
        scale *= 0.97;
    }
}

/// OKLab as linear sRGB (Björn Ottosson's matrices).
fn screen(lightness: f64, a: f64, b: f64) -> [f64; 3] {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ]
}

/// Linear sRGB as it is stored.
fn encode(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_known_places() {
        // OKLab (1, 0, 0) is white; sRGB red is (0.62796, 0.22486, 0.12585).
        let close = |found: [f64; 3], expected: [f64; 3]| {
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3)
        };
        assert!(close(screen(1.0, 0.0, 0.0), [1.0; 3]));
        assert!(close(screen(0.62796, 0.22486, 0.12585), [1.0, 0.0, 0.0]));
        assert_eq!(colour([0.0, 0.0]), "#bebebe");
        assert_ne!(colour([1.0, 1.0]), colour([-1.0, 1.0]));
        assert_eq!(colour([f64::NAN, 0.0]), "#000000");
    }

    #[test]
    fn places_fill_a_square() {
        assert_eq!(fit(&[[0.0, 5.0], [4.0, 6.0], [2.0, 7.0]]), [[-1.0, -0.5], [1.0, 0.0], [0.0, 0.5]]);
        assert_eq!(fit(&[[3.0, 3.0]]), [[0.0, 0.0]]);
        assert!(fit(&[]).is_empty());
    }
}
