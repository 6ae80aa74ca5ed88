//! Exact t-SNE: points of a high-dimensional space in a plane, near ones near (van der Maaten and Hinton, 2008).
//!
//! Time and memory grow with the square of the number of points, so this is for up to a few thousand of them.

use formulanet::util::random::scramble;

/// How points are embedded.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Settings {
    /// About how many neighbours a point has; less if there are few points.
    pub perplexity: f64,
    /// How often the points move.
    pub iterations: usize,
    /// Decides where they start.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { perplexity: 30.0, iterations: 750, seed: 0 }
    }
}

/// At first attraction counts more by this factor, so that clusters form before there is space between them.
const EXAGGERATION: f64 = 12.0;
/// The share of the iterations in which it does.
const EXAGGERATED: f64 = 0.3;
/// Momentum in that phase and afterwards.
const MOMENTUM: [f64; 2] = [0.5, 0.8];
/// Bounds of what multiplies the rate of each coordinate.
const GAINS: (f64, f64) = (0.01, 20.0);
/// Bisections of a point's precision: enough for the last bit that matters.
const BISECTIONS: usize = 60;

/// The places of points in a plane, around the origin. The same points, settings and seed give the same places.
///
/// `points` are vectors of length `width`, one after the other.
///
/// # Panics
///
/// If `points` is not made of whole vectors.
pub(super) fn tsne(points: &[f32], width: usize, settings: &Settings) -> Vec<[f64; 2]> {
    assert!(points.len().is_multiple_of(width.max(1)), "vectors must be whole");
    let count = points.len() / width.max(1);
    let affinities = affinities(&squared_distances(points, width, count), count, settings.perplexity);
    let mut places = Places::new(count, settings.seed);
    let exaggerated = (settings.iterations as f64 * EXAGGERATED) as usize;
    for iteration in 0..settings.iterations {
        let is_early = iteration < exaggerated;
        let exaggeration = if is_early { EXAGGERATION } else { 1.0 };
        places.step(&affinities, exaggeration, MOMENTUM[usize::from(!is_early)]);
    }
    let [x, y] = places.at;
    x.into_iter().zip(y).map(|(x, y)| [x, y]).collect()
}

/// Squared Euclidean distances, in units of their mean: then the precision 1 is a good guess for every point.
fn squared_distances(points: &[f32], width: usize, count: usize) -> Vec<f64> {
    let mut distances = vec![0.0; count * count];
    let mut sum = 0.0;
    for i in 0..count {
        for j in 0..i {
            let (a, b) = (&points[i * width..][..width], &points[j * width..][..width]);
            let squared: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum();
            distances[i * count + j] = squared;
            distances[j * count + i] = squared;
            sum += 2.0 * squared;
        }
    }
    let mean = sum / (count * count) as f64;
    if mean > 0.0 {
        distances.iter_mut().for_each(|distance| *distance /= mean);
    }
    distances
}

/// The symmetric probability of every two points to be neighbours; all together sum to 1.
fn affinities(distances: &[f64], count: usize, perplexity: f64) -> Vec<f64> {
    let mut conditional = vec![0.0; count * count];
    // More neighbours than a third of the points would make all points the same.
    let entropy = perplexity.min((count.saturating_sub(1)) as f64 / 3.0).max(1.0).ln();
    for i in 0..count {
        calibrate(&distances[i * count..][..count], i, entropy, &mut conditional[i * count..][..count]);
    }
    let mut affinities = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..count {
            let sum = conditional[i * count + j] + conditional[j * count + i];
            affinities[i * count + j] = sum / (2 * count) as f64;
        }
    }
    affinities
}

/// The probabilities of a point's neighbours: a Gaussian whose precision gives them an entropy.
fn calibrate(distances: &[f64], own: usize, entropy: f64, probabilities: &mut [f64]) {
    let others = || distances.iter().enumerate().filter(move |(j, _)| *j != own);
    // Measured from the nearest one, no exponential vanishes in all of them.
    let nearest = others().map(|(_, &distance)| distance).fold(f64::INFINITY, f64::min);
    let (mut low, mut high, mut precision) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..BISECTIONS {
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (j, &distance) in others() {
            let weight = (-precision * (distance - nearest)).exp();
            probabilities[j] = weight;
            sum += weight;
            weighted += weight * (distance - nearest);
        }
        if sum > 0.0 {
            probabilities.iter_mut().for_each(|p| *p /= sum);
        }
        let found = sum.ln() + precision * weighted / sum;
        if (found - entropy).abs() < 1e-9 {
            break;
        }
        if found > entropy {
            low = precision;
            precision = if high.is_finite() { (low + high) / 2.0 } else { precision * 2.0 };
        } else {
            high = precision;
            precision = (low + high) / 2.0;
        }
    }
    probabilities[own] = 0.0;
}

/// Where points are and how they move; each axis by itself.
struct Places {
    at: [Vec<f64>; 2],
    speed: [Vec<f64>; 2],
    gain: [Vec<f64>; 2],
    /// Attraction and repulsion of every point in this step.
    forces: Vec<[[f64; 2]; 2]>,
}

impl Places {
    /// A small normal cloud around the origin, by Box and Muller.
    fn new(count: usize, seed: u64) -> Self {
        let uniform = |number: u64| (scramble(seed ^ scramble(number)) >> 11) as f64 / (1u64 << 53) as f64;
        let place = |point: u64| {
            let radius = 1e-2 * (-2.0 * (1.0 - uniform(2 * point)).ln()).sqrt();
            let (sine, cosine) = (std::f64::consts::TAU * uniform(2 * point + 1)).sin_cos();
            (radius * cosine, radius * sine)
        };
        // A single point has nothing to part from.
        let (x, y) = match count {
            1 => (vec![0.0], vec![0.0]),
            _ => (0..count as u64).map(place).unzip(),
        };
        let all = |value: f64| [vec![value; count], vec![value; count]];
        Places { at: [x, y], speed: all(0.0), gain: all(1.0), forces: vec![[[0.0; 2]; 2]; count] }
    }

    /// A step down the gradient of the divergence between the neighbours here and those of the given affinities.
    fn step(&mut self, affinities: &[f64], exaggeration: f64, momentum: f64) {
        let count = self.forces.len();
        let [x, y] = &self.at;
        let mut total = 0.0;
        for (i, forces) in self.forces.iter_mut().enumerate() {
            let (mut attraction, mut repulsion) = ([0.0; 2], [0.0; 2]);
            for ((&affinity, &x_j), &y_j) in affinities[i * count..][..count].iter().zip(x).zip(y) {
                let (dx, dy) = (x[i] - x_j, y[i] - y_j);
                let closeness = 1.0 / (1.0 + dx * dx + dy * dy);
                total += closeness;
                let pull = affinity * closeness;
                let push = closeness * closeness;
                attraction = [attraction[0] + pull * dx, attraction[1] + pull * dy];
                repulsion = [repulsion[0] + push * dx, repulsion[1] + push * dy];
            }
            *forces = [attraction, repulsion];
        }
        // A point is as close to itself as can be, but is not its own neighbour.
        let total = (total - count as f64).max(f64::MIN_POSITIVE);
        // Attraction of a point sums to about 1 / count, so this is as fast as early exaggeration stays stable.
        let rate = (count as f64 / EXAGGERATION).max(1.0);
        for axis in 0..2 {
            let (at, speed, gain) = (&mut self.at[axis], &mut self.speed[axis], &mut self.gain[axis]);
            for (i, [attraction, repulsion]) in self.forces.iter().enumerate() {
                let gradient = 4.0 * (exaggeration * attraction[axis] - repulsion[axis] / total);
                let keeps_direction = (gradient > 0.0) != (speed[i] > 0.0);
                gain[i] = if keeps_direction { gain[i] + 0.2 } else { gain[i] * 0.8 };
                gain[i] = gain[i].clamp(GAINS.0, GAINS.1);
                speed[i] = momentum * speed[i] - rate * gain[i] * gradient;
                at[i] += speed[i];
            }
            let mean = at.iter().sum::<f64>() / count.max(1) as f64;
            at.iter_mut().for_each(|place| *place -= mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
        (a[0] - b[0]).hypot(a[1] - b[1])
    }

    /// Three clouds of 20 points in 5 dimensions, 10 apart and 1 wide.
    fn clouds() -> Vec<f32> {
        let offset = |i: usize, k: usize| if i / 20 == k { 10.0 } else { 0.0 };
        let noise = |i: usize, k: usize| (scramble((i * 5 + k) as u64) >> 40) as f32 / (1u64 << 24) as f32;
        (0..60).flat_map(|i| (0..5).map(move |k| offset(i, k) + noise(i, k))).collect()
    }

    #[test]
    fn clusters_stay_apart() {
        for seed in 0..3 {
            let places = tsne(&clouds(), 5, &Settings { perplexity: 10.0, seed, ..Settings::default() });
            let of_nearest = |i: usize| {
                let others = (0..60).filter(|&j| j != i);
                others.min_by(|&a, &b| {
                    distance(places[i], places[a]).total_cmp(&distance(places[i], places[b]))
                })
            };
            assert!((0..60).all(|i| of_nearest(i).unwrap() / 20 == i / 20), "seed {seed}");
            let centre = |cloud: usize| {
                let sum = places[cloud * 20..][..20].iter().fold([0.0; 2], |s, p| [s[0] + p[0], s[1] + p[1]]);
                [sum[0] / 20.0, sum[1] / 20.0]
            };
            for cloud in 0..3 {
                let spread = (cloud * 20..cloud * 20 + 20)
                    .map(|i| distance(places[i], centre(cloud)))
                    .fold(0.0, f64::max);
                let gap = distance(centre(cloud), centre((cloud + 1) % 3));
                assert!(gap > 2.0 * spread, "seed {seed}: clouds {gap} apart, {spread} wide");
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        let settings = |seed| Settings { iterations: 100, seed, ..Settings::default() };
        assert_eq!(tsne(&clouds(), 5, &settings(1)), tsne(&clouds(), 5, &settings(1)));
        assert_ne!(tsne(&clouds(), 5, &settings(1)), tsne(&clouds(), 5, &settings(2)));
    }

    #[test]
    fn few_or_equal_points_have_places() {
        let check = |points: &[f32], count: usize| {
            let places = tsne(points, 2, &Settings::default());
            assert_eq!(places.len(), count);
            assert!(places.iter().flatten().all(|place| place.is_finite()), "{places:?}");
            places
        };
        check(&[], 0);
        assert_eq!(check(&[3.0, 4.0], 1), [[0.0, 0.0]]);
        let two = check(&[0.0, 0.0, 1e6, 0.0], 2);
        assert!(distance(two[0], two[1]) > 1e-3);
        check(&[0.0, 0.0, 1.0, 0.0, 0.0, 1e-20], 3);
        check(&[1.5; 80], 40);
        // One far from many that are equal.
        let mut points = [1.5; 80];
        points[7] = 1e9;
        check(&points, 40);
        assert!(tsne(&[], 0, &Settings::default()).is_empty());
    }

    #[test]
    fn perplexity_is_met() {
        let count = 60;
        let distances = squared_distances(&clouds(), 5, count);
        let mut probabilities = vec![0.0; count];
        calibrate(&distances[..count], 0, 10f64.ln(), &mut probabilities);
        let entropy: f64 = probabilities.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum();
        assert!((entropy.exp() - 10.0).abs() < 1e-6 && probabilities[0] == 0.0, "{entropy}");
        let all: f64 = affinities(&distances, count, 10.0).iter().sum();
        assert!((all - 1.0).abs() < 1e-9);
    }
}
