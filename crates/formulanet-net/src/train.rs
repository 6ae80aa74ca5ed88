//! Loss and gradients of a mini-batch, on several threads, with the same result on any number of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::graph::GraphInput;
use crate::model::{Model, Trace};

/// A labelled pair of graphs of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Number of the statement's graph.
    pub statement: usize,
    /// Number of the conjecture's graph; an unconditional network does not look at it.
    pub conjecture: usize,
    /// Whether the statement is useful.
    pub is_useful: bool,
}

/// A mini-batch: each distinct graph once, and pairs of them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The graphs.
    pub graphs: Vec<GraphInput>,
    /// The pairs.
    pub pairs: Vec<Pair>,
}

/// What a mini-batch teaches.
#[derive(Clone, PartialEq, Debug)]
pub struct Gradients {
    /// The gradient of every weight.
    pub values: Vec<f32>,
    /// The mean cross-entropy of every classifier; their sum is the loss.
    pub losses: Vec<f64>,
    /// How many pairs every classifier is right about.
    pub correct: Vec<usize>,
    /// Mean and variance of every classifier's hidden layer.
    statistics: Vec<[Vec<f32>; 2]>,
    pairs: usize,
}

/// Graphs are dealt out to so many lanes, whatever the number of threads. A lane adds its gradients up in the order
/// of its graphs, and the lanes are added up in order, so that rounding is the same on any number of threads.
const LANES: usize = 8;

impl Model {
    /// Loss and gradients of a mini-batch.
    pub fn gradients(&self, batch: &Batch, threads: usize) -> Gradients {
        let lanes = lanes(&batch.graphs);
        let traces = self.forward_all(&batch.graphs, &lanes, threads);
        let length = self.layout.length();
        let mut gradients = Gradients {
            values: vec![0.0; length],
            losses: Vec::new(),
            correct: Vec::new(),
            statistics: Vec::new(),
            pairs: batch.pairs.len(),
        };
        let pooled = self.head_backward(batch, &traces, &mut gradients);
        let sums: Vec<Mutex<Vec<f32>>> = lanes.iter().map(|_| Mutex::new(Vec::new())).collect();
        for_each_lane(lanes.len(), threads, |lane| {
            let mut sum = vec![0.0; length];
            for &graph in &lanes[lane] {
                self.backward(&batch.graphs[graph], &traces[graph], &pooled[graph], &mut sum);
            }
            *sums[lane].lock().unwrap_or_else(PoisonError::into_inner) = sum;
        });
        for sum in sums {
            let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
            gradients.values.iter_mut().zip(sum).for_each(|(total, value)| *total += value);
        }
        gradients
    }

    /// The vectors of many graphs, as [`Model::embed`] gives them, on so many threads.
    pub fn embed_all(&self, graphs: &[GraphInput], threads: usize) -> Vec<Vec<Vec<f32>>> {
        let traces = self.forward_all(graphs, &lanes(graphs), threads);
        traces.into_iter().map(|trace| trace.pooled).collect()
    }

    /// Lets the classifiers' running statistics follow a mini-batch, once its gradients are applied.
    pub fn follow_statistics(&mut self, gradients: &Gradients) {
        for (t, statistics) in gradients.statistics.iter().enumerate() {
            self.follow(t, statistics, gradients.pairs);
        }
    }

    fn forward_all(&self, graphs: &[GraphInput], lanes: &[Vec<usize>], threads: usize) -> Vec<Trace> {
        let places: Vec<Mutex<Option<Trace>>> = graphs.iter().map(|_| Mutex::new(None)).collect();
        for_each_lane(lanes.len(), threads, |lane| {
            for &graph in &lanes[lane] {
                let trace = self.forward(&graphs[graph]);
                *places[graph].lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
            }
        });
        let traces =
            places.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
        traces.map(|trace| trace.expect("every graph is in a lane")).collect()
    }

    /// Runs the classifiers and returns, for every graph, the gradients of its vectors.
    fn head_backward(
        &self,
        batch: &Batch,
        traces: &[Trace],
        gradients: &mut Gradients,
    ) -> Vec<Vec<Vec<f32>>> {
        let d = self.config.dimension;
        let labels: Vec<bool> = batch.pairs.iter().map(|pair| pair.is_useful).collect();
        let mut pooled: Vec<Vec<Vec<f32>>> =
            batch.graphs.iter().map(|_| vec![vec![0.0; d]; self.config.steps + 1]).collect();
        #[allow(clippy::needless_range_loop)] // it numbers steps, and many arrays are by step
        for t in 0..=self.config.steps {
            let mut inputs = Vec::with_capacity(labels.len() * self.config.classifier_input());
            for pair in &batch.pairs {
                inputs.extend_from_slice(&traces[pair.statement].pooled[t]);
                if self.config.is_conditional {
                    inputs.extend_from_slice(&traces[pair.conjecture].pooled[t]);
                }
            }
            let result = self.head_gradients(t, &inputs, &labels, &mut gradients.values);
            let rows = result.input_gradient.chunks_exact(self.config.classifier_input());
            for (pair, row) in batch.pairs.iter().zip(rows) {
                for (graph, part) in [pair.statement, pair.conjecture].into_iter().zip(row.chunks_exact(d)) {
                    pooled[graph][t].iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
                }
            }
            gradients.losses.push(result.loss);
            gradients.correct.push(result.correct);
            gradients.statistics.push(result.statistics);
        }
        pooled
    }
}

/// Deals graphs out so that lanes have about the same work: the largest first, each to the lane with the least.
fn lanes(graphs: &[GraphInput]) -> Vec<Vec<usize>> {
    let cost =
        |graph: &GraphInput| 14 * graph.tokens.len() + 2 * graph.edges[0].len() + 3 * graph.treelets[0].len();
    let mut order: Vec<usize> = (0..graphs.len()).collect();
    order.sort_by_key(|&graph| std::cmp::Reverse(cost(&graphs[graph])));
    let mut lanes = vec![(0, Vec::new()); LANES];
    for graph in order {
        let lane = lanes.iter_mut().min_by_key(|lane| lane.0).expect("there are lanes");
        lane.0 += cost(&graphs[graph]);
        lane.1.push(graph);
    }
    lanes.into_iter().map(|lane| lane.1).collect()
}

/// Calls `work` for every lane, on so many threads.
fn for_each_lane(lanes: usize, threads: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let lane = next.fetch_add(1, Ordering::Relaxed);
            if lane >= lanes {
                return;
            }
            work(lane);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.clamp(1, lanes) {
            scope.spawn(run);
        }
        run();
    });
}
