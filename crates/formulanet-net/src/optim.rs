//! How weights follow gradients.

use crate::kernel::adam::{self, AdamStep};

/// The rule of an optimiser.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// The paper's: gradients divided by the root of their running mean square. Weight decay is part of the gradient.
    RmsProp {
        /// How much of the running mean is kept.
        alpha: f32,
    },
    /// Adam with weight decay apart from the gradient.
    AdamW {
        /// How much of the running mean of gradients is kept.
        beta_1: f32,
        /// How much of the running mean of their squares is kept.
        beta_2: f32,
    },
}

/// Keeps a division by a root of zero finite.
const EPSILON: f32 = 1e-8;

/// An optimiser and what it remembers.
#[derive(Clone, PartialEq, Debug)]
pub struct Optimiser {
    rule: Rule,
    weight_decay: f32,
    /// Running means of gradients (AdamW alone) and of their squares.
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: u64,
}

impl Optimiser {
    /// An optimizer of this many weights.
    pub fn new(rule: Rule, weight_decay: f32, length: usize) -> Self {
        let mean = match rule {
            Rule::RmsProp { .. } => Vec::new(),
            Rule::AdamW { .. } => vec![0.0; length],
        };
        Optimiser { rule, weight_decay, mean, square: vec![0.0; length], steps: 0 }
    }

    /// The number of steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Its state, by name.
    pub(crate) fn memory(&self) -> Vec<(&'static str, &Vec<f32>)> {
        let all = [("mean", &self.mean), ("square", &self.square)];
        all.into_iter().filter(|(_, values)| !values.is_empty()).collect()
    }

    /// Its state after this many steps, to be filled in.
    pub(crate) fn memory_mut(&mut self, steps: u64) -> Vec<(&'static str, &mut Vec<f32>)> {
        self.steps = steps;
        let all = [("mean", &mut self.mean), ("square", &mut self.square)];
        all.into_iter().filter(|(_, values)| !values.is_empty()).collect()
    }

    /// Moves the weights one step.
    ///
    /// # Panics
    ///
    /// If there are not as many weights and gradients as the optimiser was made for.
    pub fn step(&mut self, values: &mut [f32], gradients: &[f32], rate: f32) {
        assert!(values.len() == self.square.len() && gradients.len() == self.square.len(), "lengths differ");
        self.steps += 1;
        let decay = self.weight_decay;
        match self.rule {
            Rule::RmsProp { alpha } => {
                for ((value, &gradient), square) in values.iter_mut().zip(gradients).zip(&mut self.square) {
                    let gradient = gradient + decay * *value;
                    *square = alpha * *square + (1.0 - alpha) * gradient * gradient;
                    *value -= rate * gradient / (square.sqrt() + EPSILON);
                }
            }
            Rule::AdamW { beta_1, beta_2 } => {
                let power = self.steps.min(i32::MAX as u64) as i32;
                let (unbiased_1, unbiased_2) = (1.0 - beta_1.powi(power), 1.0 - beta_2.powi(power));
                let step = AdamStep { beta_1, beta_2, unbiased_1, unbiased_2, rate, decay, epsilon: EPSILON };
                adam::step(values, gradients, [&mut self.mean, &mut self.square], step);
            }
        }
    }
}

/// Scales gradients down so that their norm is at most `most`, and returns the norm that they had.
pub fn clip(gradients: &mut [f32], most: f32) -> f64 {
    // Sums that do not wait for each other.
    let mut sums = [0.0f64; 8];
    for numbers in gradients.chunks(sums.len()) {
        sums.iter_mut().zip(numbers).for_each(|(sum, &x)| *sum += f64::from(x) * f64::from(x));
    }
    let norm = sums.iter().sum::<f64>().sqrt();
    if norm > f64::from(most) {
        let factor = (f64::from(most) / norm) as f32;
        gradients.iter_mut().for_each(|gradient| *gradient *= factor);
    }
    norm
}

/// Weights averaged over time: each step moves the average a little towards the weights.
#[derive(Clone, PartialEq, Debug)]
pub struct MovingAverage {
    decay: f32,
    steps: u64,
    values: Vec<f32>,
}

impl MovingAverage {
    /// An average that begins with the given weights.
    pub fn new(decay: f32, values: &[f32]) -> Self {
        MovingAverage { decay, steps: 0, values: values.to_vec() }
    }

    /// Follows the weights. The first steps count more, so that the random beginning is soon forgotten.
    pub fn follow(&mut self, values: &[f32]) {
        self.steps += 1;
        let warm = (1.0 + self.steps as f32) / (10.0 + self.steps as f32);
        let decay = self.decay.min(warm);
        for (average, value) in self.values.iter_mut().zip(values) {
            *average += (1.0 - decay) * (value - *average);
        }
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn memory(&self) -> &Vec<f32> {
        &self.values
    }

    /// The average after this many steps, to be filled in.
    pub(crate) fn memory_mut(&mut self, steps: u64) -> &mut Vec<f32> {
        self.steps = steps;
        &mut self.values
    }

    /// The average.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// How the learning rate changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Schedule {
    /// The paper's: divided after every epoch.
    Divide {
        /// The rate of the first epoch.
        rate: f32,
        /// The divisor after each.
        by: f32,
        /// It never falls below this.
        floor: f32,
    },
    /// Rises in a line, then falls like a cosine.
    Cosine {
        /// The highest rate.
        rate: f32,
        /// Share of all steps in which it rises.
        warm_up: f32,
        /// The rate at the end.
        floor: f32,
    },
}

impl Schedule {
    /// The rate of step `step` of `total`, in the given number of epochs.
    pub fn rate(&self, step: u64, total: u64, epochs: u32) -> f32 {
        let progress = step as f64 / total.max(1) as f64;
        match *self {
            Schedule::Divide { rate, by, floor } => {
                let epoch = (progress * f64::from(epochs)).floor().min(f64::from(epochs.max(1) - 1));
                (rate / by.powi(epoch as i32)).max(floor)
            }
            Schedule::Cosine { rate, warm_up, floor } => {
                let warm_up = f64::from(warm_up);
                if progress < warm_up {
                    // The first step already moves.
                    return rate * ((progress + 1.0 / total.max(1) as f64) / warm_up).min(1.0) as f32;
                }
                let fallen = ((progress - warm_up) / (1.0 - warm_up).max(1e-9)).min(1.0);
                floor + (rate - floor) * (0.5 + 0.5 * (std::f64::consts::PI * fallen).cos()) as f32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps from the same weights with the same gradients; the numbers are those of PyTorch 2.15.0.
    fn check(rule: Rule, expected: [f32; 4]) {
        let mut values = [1.0, -2.0, 0.5, 0.0];
        let mut optimiser = Optimiser::new(rule, 0.1, 4);
        for gradients in [[0.1, -0.2, 3.0, 0.0], [0.3, 0.1, -1.0, 0.5], [-0.2, 0.4, 2.0, 0.0]] {
            optimiser.step(&mut values, &gradients, 0.01);
        }
        for (found, expected) in values.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn optimisers_step_as_pytorch_does() {
        check(Rule::RmsProp { alpha: 0.99 }, [0.83725715, -1.9242654, 0.37595186, -0.097990304]);
        let adam = Rule::AdamW { beta_1: 0.9, beta_2: 0.999 };
        check(adam, [0.9752754, -1.9859388, 0.47849247, -0.013186126]);
    }

    #[test]
    fn schedules() {
        let paper = Schedule::Divide { rate: 1e-3, by: 3.0, floor: 1e-5 };
        let at = |step| paper.rate(step, 100, 5);
        assert_eq!((at(0), at(19)), (1e-3, 1e-3));
        assert!((at(20) - 1e-3 / 3.0).abs() < 1e-9 && (at(99) - 1e-3 / 81.0).abs() < 1e-9);
        assert_eq!(Schedule::Divide { rate: 1e-3, by: 3.0, floor: 1e-4 }.rate(99, 100, 5), 1e-4);
        let cosine = Schedule::Cosine { rate: 1.0, warm_up: 0.1, floor: 0.0 };
        let at = |step| cosine.rate(step, 100, 1);
        assert!((at(0) - 0.1).abs() < 1e-6 && (at(9) - 1.0).abs() < 1e-6 && (at(10) - 1.0).abs() < 1e-6);
        assert!((at(55) - 0.5).abs() < 1e-6 && at(99) < 0.01 && at(100) < 1e-6);
    }

    #[test]
    fn clipping_keeps_the_direction() {
        let mut gradients = [3.0, 4.0];
        assert_eq!(clip(&mut gradients, 10.0), 5.0);
        assert_eq!(gradients, [3.0, 4.0]);
        clip(&mut gradients, 1.0);
        assert!((gradients[0] - 0.6).abs() < 1e-6 && (gradients[1] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn averages_follow() {
        let mut average = MovingAverage::new(0.99, &[0.0]);
        for _ in 0..2000 {
            average.follow(&[1.0]);
        }
        assert!((average.values()[0] - 1.0).abs() < 1e-4);
    }
}
