//! Loss and gradients of a mini-batch, on several threads, with the same result on any number of them.

use std::sync::{Mutex, PoisonError};

use crate::batch::Batch;
use crate::compute::Compute;
use crate::config::NormKind;
use crate::kernel::norm::Statistics;
use crate::kernel::rows;
use crate::layer::Pass;
use crate::model::{Model, Trace};
use crate::parameters::{Norm, Weights};

/// What a mini-batch teaches.
#[derive(Clone, PartialEq, Debug)]
pub struct Gradients {
    /// The gradient of every number that is trained.
    pub values: Vec<f32>,
    /// The mean cross-entropy of every classifier; their sum is the loss.
    pub losses: Vec<f64>,
    /// How many pairs every classifier is right about.
    pub correct: Vec<usize>,
    /// What running statistics move towards: where they lie, and the new mean and variance.
    followed: Vec<(usize, Vec<f32>)>,
}

/// Micro-batches are dealt out to so many lanes, whatever the number of threads. A lane adds its gradients up in the
/// order of its micro-batches, and the lanes are added up in order, so that rounding is the same on any number of
/// threads.
const LANES: usize = 8;

/// How much of the running statistics a mini-batch or micro-batch replaces.
const MOMENTUM: f32 = 0.1;

impl Model {
    /// Loss and gradients of a mini-batch.
    pub fn gradients(&self, batch: &Batch, compute: &Compute) -> Gradients {
        let weights = Weights::new(&self.layout, &self.values, compute.kernel, true);
        let pass = Pass {
            config: &self.config,
            values: &self.values,
            weights: &weights,
            compute,
            is_training: true,
            keeps_trace: true,
        };
        let traces = compute.map(batch.unions.len(), |i| pass.forward(&self.layout, &batch.unions[i]));
        let mut gradients = Gradients {
            values: compute.zeros(self.layout.trained()),
            losses: Vec::new(),
            correct: Vec::new(),
            followed: Vec::new(),
        };
        if self.config.norm == NormKind::Batch {
            for (norm, statistics, count) in traces.iter().flat_map(|trace| trace.statistics(&self.layout)) {
                gradients.followed.extend(follow(norm, statistics, count));
            }
        }
        let pooled = self.heads_backward(&pass, batch, &traces, &mut gradients);
        let traces: Vec<Mutex<Option<Trace>>> =
            traces.into_iter().map(|trace| Mutex::new(Some(trace))).collect();
        let sums = compute.map(LANES.min(batch.unions.len()), |lane| {
            let mut sum = compute.zeros(self.layout.trained());
            for i in (lane..batch.unions.len()).step_by(LANES) {
                let trace = traces[i].lock().unwrap_or_else(PoisonError::into_inner).take();
                let trace = trace.expect("a micro-batch is in one lane");
                pass.backward(&self.layout, &batch.unions[i], trace, &pooled[i], &mut sum);
            }
            sum
        });
        for sum in sums {
            rows::add(&mut gradients.values, &sum);
            compute.give(sum);
        }
        gradients
    }

    /// Lets running statistics follow a mini-batch, once its gradients are applied.
    pub fn follow_statistics(&mut self, gradients: &Gradients) {
        for (start, new) in &gradients.followed {
            for (old, new) in self.values[*start..].iter_mut().zip(new) {
                *old += MOMENTUM * (new - *old);
            }
        }
    }

    /// Runs the classifiers and returns, for every micro-batch and step, the gradients of its graphs' vectors.
    fn heads_backward(
        &self,
        pass: &Pass<'_>,
        batch: &Batch,
        traces: &[Trace],
        gradients: &mut Gradients,
    ) -> Vec<Vec<Vec<f32>>> {
        let (width, is_conditional) = (self.config.width(), self.config.is_conditional);
        let labels: Vec<bool> = batch.pairs.iter().map(|pair| pair.is_useful).collect();
        let zeros = |trace: &Trace| trace.pools.iter().map(|pool| vec![0.0; pool.vectors.len()]).collect();
        let mut pooled: Vec<Vec<Vec<f32>>> = traces.iter().map(zeros).collect();
        for (t, head) in self.layout.heads.iter().enumerate() {
            let mut inputs = Vec::with_capacity(labels.len() * self.config.classifier_input());
            for pair in &batch.pairs {
                for graph in
                    [Some(pair.statement), is_conditional.then_some(pair.conjecture)].into_iter().flatten()
                {
                    let (part, number) = batch.places[graph];
                    inputs.extend_from_slice(&traces[part].pools[t].vectors[number * width..][..width]);
                }
            }
            let result = pass.head_gradients(head, &inputs, &labels, &mut gradients.values);
            for (pair, row) in
                batch.pairs.iter().zip(result.input_gradient.chunks_exact(inputs.len() / labels.len()))
            {
                for (graph, gradient) in
                    [pair.statement, pair.conjecture].into_iter().zip(row.chunks_exact(width))
                {
                    let (part, number) = batch.places[graph];
                    rows::add(&mut pooled[part][t][number * width..][..width], gradient);
                }
            }
            gradients.losses.push(result.loss);
            gradients.correct.push(result.correct);
            gradients.followed.extend(follow(&head.norm, &result.statistics, labels.len() as f32));
            pass.compute.give(result.input_gradient);
        }
        pooled
    }
}

impl Gradients {
    /// Gives the memory back for the next mini-batch.
    pub fn recycle(self, compute: &Compute) {
        compute.give(self.values);
    }
}

/// What the running statistics of a norm move towards.
fn follow(norm: &Norm, statistics: &Statistics, count: f32) -> Option<(usize, Vec<f32>)> {
    let running = norm.running.clone()?;
    // The variance of a sample underestimates that of what it is drawn from.
    let correction = count / (count - 1.0).max(1.0);
    let mut new = statistics.mean.clone();
    new.extend(statistics.variance().map(|variance| correction * variance));
    Some((running.start, new))
}
