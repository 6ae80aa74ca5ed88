//! Classifiers: FC, norm over the mini-batch, ReLU, FC, cross-entropy.

use crate::kernel::norm::{self, Normalised, Statistics};
use crate::kernel::rows;
use crate::layer::Pass;
use crate::parameters::Head;

/// What a classifier makes of a mini-batch in training.
pub(crate) struct HeadResult {
    /// The mean cross-entropy.
    pub(crate) loss: f64,
    /// How many pairs it is right about.
    pub(crate) correct: usize,
    /// The gradient of what it read.
    pub(crate) input_gradient: Vec<f32>,
    /// Mean and deviation of the hidden layer over the mini-batch.
    pub(crate) statistics: Statistics,
}

impl Pass<'_> {
    /// Loss and gradients of a classifier on a mini-batch; `inputs` has a row for each pair.
    pub(crate) fn head_gradients(
        &self,
        head: &Head,
        inputs: &[f32],
        labels: &[bool],
        gradients: &mut [f32],
    ) -> HeadResult {
        let hidden = head.first.shape[0];
        let affine = head.norm.affine(self.values);
        let mut normalised = self.product(&head.first, inputs);
        let groups = [0, labels.len() as u32];
        let weights = vec![1.0; labels.len()];
        let statistics = Statistics::of_columns(&normalised, &weights, &groups, hidden);
        let mut active = self.compute.take(normalised.len());
        norm::activate(&mut active, &mut normalised, &groups, &statistics, affine);
        let (mut loss, mut correct) = (0.0, 0);
        let mut logit_gradient = Vec::with_capacity(labels.len() * 2);
        for (row, &label) in self.logits(head, &active).chunks_exact(2).zip(labels) {
            let probability = probability(row);
            loss -= f64::from(log_probability(row, label)) / labels.len() as f64;
            correct += usize::from((probability > 0.5) == label);
            let error = (probability - f32::from(label)) / labels.len() as f32;
            logit_gradient.extend([-error, error]);
        }
        for row in logit_gradient.chunks_exact(2) {
            rows::add(&mut gradients[head.bias.clone()], row);
        }
        self.weight_gradient(&head.second, &active, &logit_gradient, gradients);
        let mut gradient = active;
        self.weights.backward(&head.second).multiply(&mut gradient, &logit_gradient);
        let trace = Normalised {
            rows: &normalised,
            weights: &weights,
            groups: &groups,
            statistics: &statistics,
            affine,
        };
        norm::backward(&mut gradient, trace, head.norm.affine_gradient(gradients));
        self.weight_gradient(&head.first, inputs, &gradient, gradients);
        let mut input_gradient = self.compute.take(inputs.len());
        self.weights.backward(&head.first).multiply(&mut input_gradient, &gradient);
        self.compute.give(gradient);
        self.compute.give(normalised);
        HeadResult { loss, correct, input_gradient, statistics }
    }

    /// The probability that a statement is useful, for every row of what a classifier reads.
    pub(crate) fn probabilities(&self, head: &Head, inputs: &[f32]) -> Vec<f32> {
        let mut hidden = self.product(&head.first, inputs);
        let running = head.norm.running.clone().expect("a classifier's norm has running statistics");
        let (mean, variance) = self.values[running].split_at(head.first.shape[0]);
        let statistics = Statistics::fixed(mean, variance);
        let groups = [0, (hidden.len() / head.first.shape[0]) as u32];
        let mut active = self.compute.take(hidden.len());
        norm::activate(&mut active, &mut hidden, &groups, &statistics, head.norm.affine(self.values));
        let logits = self.logits(head, &active);
        self.compute.give(hidden);
        self.compute.give(active);
        logits.chunks_exact(2).map(probability).collect()
    }

    fn logits(&self, head: &Head, active: &[f32]) -> Vec<f32> {
        let count = active.len() / head.second.shape[1];
        let mut logits = self.values[head.bias.clone()].repeat(count);
        self.weights.forward(&head.second).multiply_add(&mut logits, active);
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
