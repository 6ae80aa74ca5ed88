//! A step of Adam.

use super::wide::wide;

/// The parameters of a step.
#[derive(Clone, Copy)]
pub(crate) struct AdamStep {
    /// How much of the running means of gradients and of their squares is kept.
    pub(crate) beta_1: f32,
    pub(crate) beta_2: f32,
    /// The share of a true mean that the running means have after this many steps.
    pub(crate) unbiased_1: f32,
    pub(crate) unbiased_2: f32,
    pub(crate) rate: f32,
    pub(crate) decay: f32,
    pub(crate) epsilon: f32,
}

wide! {
    /// Moves the running means of gradients and of their squares, and the values.
    pub(crate) fn step(values: &mut [f32], gradients: &[f32], means: [&mut [f32]; 2], step: AdamStep) {
        let [mean, square] = means;
        for (((value, &gradient), mean), square) in values.iter_mut().zip(gradients).zip(mean).zip(square) {
            *mean = step.beta_1 * *mean + (1.0 - step.beta_1) * gradient;
            *square = step.beta_2 * *square + (1.0 - step.beta_2) * gradient * gradient;
            *value *= 1.0 - step.rate * step.decay;
            *value -= step.rate * (*mean / step.unbiased_1) / ((*square / step.unbiased_2).sqrt() + step.epsilon);
        }
    }
}
