//! How the numbers that are known of candidates become numbers of about the same size.

use serde::{Deserialize, Serialize};

/// The name, shift and scale of a feature.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Standardizer {
    /// The name of the feature.
    pub name: String,
    /// Its mean in training.
    pub mean: f32,
    /// One over how far it usually is from there.
    pub factor: f32,
}

/// The largest distance from the mean, in standard deviations.
const CLIP: f32 = 8.0;

impl Standardizer {
    /// Scales by rows of numbers, one for each name.
    pub fn learn(names: &[String], rows: impl Iterator<Item = impl Iterator<Item = f32>>) -> Vec<Self> {
        let mut sums = vec![(0.0f64, 0.0f64); names.len()];
        let mut count = 0.0f64;
        for row in rows {
            count += 1.0;
            for ((sum, squares), value) in sums.iter_mut().zip(row) {
                *sum += f64::from(value);
                *squares += f64::from(value).powi(2);
            }
        }
        let count = count.max(1.0);
        let scale = |(name, (sum, squares)): (&String, (f64, f64))| {
            let mean = sum / count;
            let deviation = (squares / count - mean * mean).max(0.0).sqrt();
            let factor = if deviation > 1e-6 { 1.0 / deviation } else { 0.0 };
            Standardizer { name: name.clone(), mean: mean as f32, factor: factor as f32 }
        };
        names.iter().zip(sums).map(scale).collect()
    }

    /// The number as the network reads it.
    pub fn apply(&self, value: f32) -> f32 {
        ((value - self.mean) * self.factor).clamp(-CLIP, CLIP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_moved_to_zero_and_stretched() {
        let rows = [[1.0, 5.0], [3.0, 5.0]];
        let names = ["near".to_owned(), "same".to_owned()];
        let scales = Standardizer::learn(&names, rows.iter().map(|row| row.iter().copied()));
        let applied = |value: f32| -> Vec<f32> { scales.iter().map(|scale| scale.apply(value)).collect() };
        assert_eq!(applied(3.0), [1.0, 0.0]);
        assert_eq!(applied(1000.0), [CLIP, 0.0]);
    }
}
