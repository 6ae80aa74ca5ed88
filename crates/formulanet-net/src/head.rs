//! Classifiers: FC, norm over the mini-batch, ReLU, FC, cross-entropy.

use crate::kernel::matmul::Read::{Plain, Transposed};
use crate::kernel::matmul::multiply;
use crate::kernel::norm;
use crate::layer;
use crate::model::Model;
use crate::parameters::Head;

/// How much of the running statistics a mini-batch replaces.
const MOMENTUM: f32 = 0.1;

/// What a classifier makes of a mini-batch in training.
pub(crate) struct HeadResult {
    /// The mean cross-entropy.
    pub(crate) loss: f64,
    /// How many pairs it is right about.
    pub(crate) correct: usize,
    /// The gradient of what it read.
    pub(crate) input_gradient: Vec<f32>,
    /// Mean and variance of the hidden layer over the mini-batch.
    pub(crate) statistics: [Vec<f32>; 2],
}

impl Model {
    /// Loss and gradients of the classifier after step `t` on a mini-batch; `inputs` has a row for each pair.
    pub(crate) fn head_gradients(
        &self,
        t: usize,
        inputs: &[f32],
        labels: &[bool],
        gradients: &mut [f32],
    ) -> HeadResult {
        let (head, count) = (&self.layout.heads[t], labels.len());
        let (width, hidden) = (self.config.classifier_input(), self.config.classifier_hidden());
        let product = self.hidden(head, inputs, count);
        let statistics = statistics(&product, hidden);
        let saved = norm::normalise(product, hidden);
        let (scale, shift) = layer::affine(&self.values, &head.norm);
        let active = norm::activate(&saved.normalised, scale, shift);
        let logits = self.logits(head, &active, count);
        let (mut loss, mut correct) = (0.0, 0);
        let mut logit_gradient = vec![0.0; count * 2];
        for ((row, gradient), &label) in
            logits.chunks_exact(2).zip(logit_gradient.chunks_exact_mut(2)).zip(labels)
        {
            let probability = probability(row);
            let of_label = if label { probability } else { 1.0 - probability };
            loss -= f64::from(log_probability(row, label)) / count as f64;
            correct += usize::from(of_label > 0.5);
            let error = (probability - f32::from(label)) / count as f32;
            gradient.copy_from_slice(&[-error, error]);
        }
        let (second, bias) = (head.second.clone(), head.bias.clone());
        for row in logit_gradient.chunks_exact(2) {
            gradients[bias.clone()].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        let shape = [2, hidden, count];
        multiply(&mut gradients[second.clone()], 1.0, (&logit_gradient, Transposed), (&active, Plain), shape);
        let mut active_gradient = vec![0.0; count * hidden];
        let weight = &self.values[second];
        multiply(&mut active_gradient, 0.0, (&logit_gradient, Plain), (weight, Plain), [count, hidden, 2]);
        let gradient = norm::backward(
            &saved,
            active_gradient,
            (scale, shift),
            layer::affine_gradients(gradients, &head.norm),
        );
        let first = head.first.clone();
        let shape = [hidden, width, count];
        multiply(&mut gradients[first.clone()], 1.0, (&gradient, Transposed), (inputs, Plain), shape);
        let mut input_gradient = vec![0.0; count * width];
        let weight = &self.values[first];
        multiply(&mut input_gradient, 0.0, (&gradient, Plain), (weight, Plain), [count, width, hidden]);
        HeadResult { loss, correct, input_gradient, statistics }
    }

    /// Lets the running statistics of every classifier follow a mini-batch.
    pub(crate) fn follow(&mut self, t: usize, statistics: &[Vec<f32>; 2], count: usize) {
        // The variance of a sample underestimates that of what it is drawn from.
        let correction = count as f32 / (count as f32 - 1.0).max(1.0);
        for ((running, new), factor) in self.running[t].iter_mut().zip(statistics).zip([1.0, correction]) {
            for (old, new) in running.iter_mut().zip(new) {
                *old += MOMENTUM * (factor * new - *old);
            }
        }
    }

    /// The probability that a statement is useful, by the classifier after step `t`. Without a conjecture, the
    /// network must be unconditional.
    ///
    /// # Panics
    ///
    /// If a vector does not have the network's dimension, or a conjecture is missing or not wanted.
    pub fn score(&self, t: usize, statement: &[f32], conjecture: Option<&[f32]>) -> f32 {
        let mut input = statement.to_vec();
        input.extend(conjecture.into_iter().flatten());
        assert_eq!(input.len(), self.config.classifier_input(), "vectors do not fit the network");
        let head = &self.layout.heads[t];
        let mut hidden = self.hidden(head, &input, 1);
        let (scale, shift) = layer::affine(&self.values, &head.norm);
        let [mean, variance] = &self.running[t];
        for (j, value) in hidden.iter_mut().enumerate() {
            let normalised = (*value - mean[j]) / (variance[j] + norm::EPSILON).sqrt();
            *value = (normalised * scale[j] + shift[j]).max(0.0);
        }
        probability(&self.logits(head, &hidden, 1))
    }

    fn hidden(&self, head: &Head, inputs: &[f32], count: usize) -> Vec<f32> {
        let (width, hidden) = (self.config.classifier_input(), self.config.classifier_hidden());
        let mut product = vec![0.0; count * hidden];
        let weight = &self.values[head.first.clone()];
        multiply(&mut product, 0.0, (inputs, Plain), (weight, Transposed), [count, hidden, width]);
        product
    }

    fn logits(&self, head: &Head, active: &[f32], count: usize) -> Vec<f32> {
        let mut logits = self.values[head.bias.clone()].repeat(count);
        let weight = &self.values[head.second.clone()];
        let shape = [count, 2, self.config.classifier_hidden()];
        multiply(&mut logits, 1.0, (active, Plain), (weight, Transposed), shape);
        logits
    }
}

/// The probability of the second of two logits.
fn probability(logits: &[f32]) -> f32 {
    1.0 / (1.0 + (logits[0] - logits[1]).exp())
}

/// The logarithm of the probability of a label, exact also where the probability is nearly 0.
fn log_probability(logits: &[f32], label: bool) -> f32 {
    let difference = if label { logits[0] - logits[1] } else { logits[1] - logits[0] };
    -(difference.max(0.0) + (-difference.abs()).exp().ln_1p())
}

/// Mean and variance of every column.
fn statistics(rows: &[f32], d: usize) -> [Vec<f32>; 2] {
    let count = (rows.len() / d).max(1) as f32;
    let (mut mean, mut variance) = (vec![0.0; d], vec![0.0; d]);
    for row in rows.chunks_exact(d) {
        mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / count);
    }
    for row in rows.chunks_exact(d) {
        for j in 0..d {
            variance[j] += (row[j] - mean[j]).powi(2) / count;
        }
    }
    [mean, variance]
}
