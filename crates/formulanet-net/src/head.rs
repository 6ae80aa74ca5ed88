//! Classifiers: FC, norm over the mini-batch, ReLU, FC, cross-entropy.

use crate::batch::Dropout;
use crate::kernel::norm::{self, Normalised, Statistics};
use crate::kernel::rows;
use crate::layer::Pass;
use crate::parameters::Head;

/// The output of a classifier for a mini-batch in training.
pub(crate) struct HeadResult {
    /// The mean cross-entropy.
    pub(crate) loss: f64,
    /// The number of pairs that it classifies correctly.
    pub(crate) correct: usize,
    /// The gradient of what it read.
    pub(crate) input_gradient: Vec<f32>,
    /// Mean and deviation of the hidden layer over the mini-batch.
    pub(crate) statistics: Statistics,
}

/// The values that the backward pass of a head needs.
pub(crate) struct HeadTrace {
    normalised: Vec<f32>,
    active: Vec<f32>,
    pub(crate) statistics: Statistics,
    dropout: Dropout,
}

impl Pass<'_> {
    /// Loss and gradients of a classifier on a mini-batch; `inputs` has a row for each pair.
    pub(crate) fn head_gradients(
        &self,
        head: &Head,
        inputs: &[f32],
        labels: &[bool],
        dropout: Dropout,
        gradients: &mut [f32],
    ) -> HeadResult {
        let (trace, logits) = self.head_forward(head, inputs, dropout);
        let statistics = trace.statistics.clone();
        let (mut loss, mut correct) = (0.0, 0);
        let mut logit_gradient = Vec::with_capacity(labels.len() * 2);
        for (row, &label) in logits.chunks_exact(2).zip(labels) {
            let probability = probability(row);
            loss -= f64::from(log_probability(row, label)) / labels.len() as f64;
            correct += usize::from((probability > 0.5) == label);
            let error = (probability - f32::from(label)) / labels.len() as f32;
            logit_gradient.extend([-error, error]);
        }
        let input_gradient = self.head_backward(head, trace, inputs, &logit_gradient, gradients);
        HeadResult { loss, correct, input_gradient, statistics }
    }

    /// Applies a head to rows in training.
    pub(crate) fn head_forward(
        &self,
        head: &Head,
        inputs: &[f32],
        dropout: Dropout,
    ) -> (HeadTrace, Vec<f32>) {
        let hidden = head.first.shape[0];
        let mut normalised = self.product(&head.first, inputs);
        let groups = [0, (normalised.len() / hidden) as u32];
        let weights = vec![1.0; normalised.len() / hidden];
        let statistics = Statistics::of_columns(&normalised, &weights, &groups, hidden);
        let mut active = self.compute.take(normalised.len());
        norm::activate(&mut active, &mut normalised, &groups, &statistics, head.norm.affine(self.values));
        dropout.apply(&mut active);
        let outputs = self.outputs(head, &active);
        (HeadTrace { normalised, active, statistics, dropout }, outputs)
    }

    /// The gradient of what a head read, given that of its outputs.
    pub(crate) fn head_backward(
        &self,
        head: &Head,
        trace: HeadTrace,
        inputs: &[f32],
        output_gradient: &[f32],
        gradients: &mut [f32],
    ) -> Vec<f32> {
        for row in output_gradient.chunks_exact(head.second.shape[0]) {
            rows::add(&mut gradients[head.bias.clone()], row);
        }
        let HeadTrace { normalised, active, statistics, dropout } = trace;
        self.weight_gradient(&head.second, &active, output_gradient, gradients);
        let mut gradient = active;
        self.weights.backward(&head.second).multiply(&mut gradient, output_gradient);
        dropout.apply(&mut gradient);
        let count = normalised.len() / head.first.shape[0];
        let trace = Normalised {
            rows: &normalised,
            weights: &vec![1.0; count],
            groups: &[0, count as u32],
            statistics: &statistics,
            affine: head.norm.affine(self.values),
        };
        norm::backward(&mut gradient, trace, head.norm.affine_gradient(gradients));
        self.weight_gradient(&head.first, inputs, &gradient, gradients);
        let mut input_gradient = self.compute.take(inputs.len());
        self.weights.backward(&head.first).multiply(&mut input_gradient, &gradient);
        self.compute.give(gradient);
        self.compute.give(normalised);
        input_gradient
    }

    /// The probability that a statement is useful, for every row of what a classifier reads.
    pub(crate) fn probabilities(&self, head: &Head, inputs: &[f32]) -> Vec<f32> {
        self.head_fixed(head, inputs).chunks_exact(2).map(probability).collect()
    }

    /// Applies a trained head to rows.
    pub(crate) fn head_fixed(&self, head: &Head, inputs: &[f32]) -> Vec<f32> {
        let mut hidden = self.product(&head.first, inputs);
        let running = head.norm.running.clone().expect("a head's norm has running statistics");
        let (mean, variance) = self.values[running].split_at(head.first.shape[0]);
        let statistics = Statistics::fixed(mean, variance);
        let groups = [0, (hidden.len() / head.first.shape[0]) as u32];
        let mut active = self.compute.take(hidden.len());
        norm::activate(&mut active, &mut hidden, &groups, &statistics, head.norm.affine(self.values));
        let outputs = self.outputs(head, &active);
        self.compute.give(hidden);
        self.compute.give(active);
        outputs
    }

    fn outputs(&self, head: &Head, active: &[f32]) -> Vec<f32> {
        let count = active.len() / head.second.shape[1];
        let mut outputs = self.values[head.bias.clone()].repeat(count);
        self.weights.forward(&head.second).multiply_add(&mut outputs, active);
        outputs
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
