//! Loss and gradients of a mini-batch, on several threads and processes, with the same result on any number of them.

use std::sync::{Mutex, PoisonError};

use crate::batch::{Batch, Pair, Task};
use crate::compute::Compute;
use crate::config::Meeting;
use crate::kernel::norm::Statistics;
use crate::kernel::rows;
use crate::lanes::{Lanes, Sums};
use crate::layer::Pass;
use crate::model::{Model, Trace};
use crate::tensors::{Norm, Weights};

/// The result of a mini-batch.
#[derive(Clone, PartialEq, Debug)]
pub struct Gradients {
    /// The gradient of every number that is trained.
    pub values: Vec<f32>,
    /// The mean cross-entropy of every classifier, or that of the dot products; their sum is the loss.
    pub losses: Vec<f64>,
    /// The number of pairs that every classifier classifies correctly; with dot products, the number of conjectures with a useful
    /// statement in first place.
    pub correct: Vec<usize>,
    /// The statistics that running statistics move towards.
    pub(crate) followed: Vec<Followed>,
}

/// Where running statistics lie, and the new mean and variance.
pub(crate) type Followed = (usize, Vec<f32>);

/// How much of the running statistics a mini-batch or micro-batch replaces.
const MOMENTUM: f32 = 0.1;

impl Model {
    /// Loss and gradients of a mini-batch, the same in all processes that share the work.
    ///
    /// # Panics
    ///
    /// If the batch is one of pairs and the network has no classifiers, or the other way round; or if it was dealt out
    /// for another process.
    pub fn gradients(&self, batch: &Batch, compute: &Compute) -> Gradients {
        let weights = Weights::new(&self.layout.weights, &self.values, compute.kernel, true);
        let pass = Pass {
            config: &self.config,
            values: &self.values,
            weights: &weights,
            compute,
            is_training: true,
            keeps_trace: true,
        };
        let (group, lanes) = (compute.group(), Lanes::new(batch.unions.len()));
        let own = lanes.of_rank(group.rank(), group.size());
        let is_own = |&i: &usize| lanes.has(group.rank(), group.size(), i);
        let numbers: Vec<usize> = (0..batch.unions.len()).filter(is_own).collect();
        let union = |i: usize| batch.unions[i].as_ref().expect("the batch was dealt out for this process");
        let computed =
            compute.map(numbers.len(), |i| pass.forward(&self.layout.functions, union(numbers[i])));
        let mut traces: Vec<Option<Trace>> = batch.unions.iter().map(|_| None).collect();
        numbers.into_iter().zip(computed).for_each(|(i, trace)| traces[i] = Some(trace));
        let (traces, followed) = self.gather_traces(batch, traces, compute);
        let values = compute.zeros(self.layout.trained());
        let mut gradients = Gradients { values, losses: Vec::new(), correct: Vec::new(), followed };
        let pooled = match &batch.task {
            Task::Pairs(pairs) => {
                assert!(self.config.meeting != Meeting::Towers, "pairs are for classifiers");
                self.heads_backward(&pass, batch, pairs, &traces, &mut gradients)
            }
            Task::Contest(contest) => {
                assert!(self.config.meeting == Meeting::Towers, "contests are for dot products");
                self.towers_backward(&pass, batch, contest, &traces, &mut gradients)
            }
        };
        let traces: Vec<Mutex<Option<Trace>>> =
            traces.into_iter().map(|trace| Mutex::new(Some(trace))).collect();
        let sums = Sums::new(lanes, compute);
        compute.map(own.len(), |number| {
            let lane = own.start + number;
            let mut sum = compute.zeros(self.layout.trained());
            for i in lanes.micro_batches(lane) {
                let trace = traces[i].lock().unwrap_or_else(PoisonError::into_inner).take();
                let trace = trace.expect("a micro-batch is in one lane");
                pass.backward(&self.layout.functions, union(i), trace, &pooled[i], &mut sum);
            }
            sums.add_lane(lane, sum);
        });
        sums.add_to(&mut gradients.values, group);
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
        pairs: &[Pair],
        traces: &[Trace],
        gradients: &mut Gradients,
    ) -> Vec<Vec<Vec<f32>>> {
        let width = self.config.width();
        let labels: Vec<bool> = pairs.iter().map(|pair| pair.is_useful).collect();
        let mut pooled: Vec<Vec<Vec<f32>>> = traces.iter().map(Trace::zero_gradients).collect();
        for (t, head) in self.layout.functions.heads.iter().enumerate() {
            let mut inputs = Vec::with_capacity(labels.len() * self.config.classifier_input());
            let vector = |graph: usize| {
                let (part, number) = batch.places[graph];
                &traces[part].pools[t].vectors[number * width..][..width]
            };
            for pair in pairs {
                self.config.join(vector(pair.statement), vector(pair.conjecture), pair.hints, &mut inputs);
            }
            let dropout = batch.dropout.other(t as u64);
            let result = pass.head_gradients(head, &inputs, &labels, dropout, &mut gradients.values);
            let rows = result.input_gradient.chunks_exact(inputs.len() / labels.len());
            for (pair, row) in pairs.iter().zip(rows) {
                let (statement, conjecture) =
                    self.config.part(row, vector(pair.statement), vector(pair.conjecture));
                for (graph, gradient) in [(pair.statement, statement), (pair.conjecture, conjecture)] {
                    let (part, number) = batch.places[graph];
                    rows::add(&mut pooled[part][t][number * width..][..gradient.len()], &gradient);
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

/// The statistics that the running statistics of a norm move towards.
pub(crate) fn follow(norm: &Norm, statistics: &Statistics, count: f32) -> Option<Followed> {
    let running = norm.running.clone()?;
    // The variance of a sample underestimates that of what it is drawn from.
    let correction = count / (count - 1.0).max(1.0);
    let mut new = statistics.mean.clone();
    new.extend(statistics.variance().map(|variance| correction * variance));
    Some((running.start, new))
}
