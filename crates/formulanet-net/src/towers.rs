//! Dot products: conjectures and statements as vectors of one space, so that a whole library is ranked by one product.
//!
//! What a conjecture's vector and a statement's vector are made of is what pooling gave before the first step and
//! after every step, one behind the other: the first of them knows the symbols, the last the structure.

use crate::batch::{Batch, Contest};
use crate::kernel::matmul::{Packed, Read, add_outer};
use crate::kernel::rows;
use crate::layer::Pass;
use crate::model::{Model, Trace};
use crate::network::{Embedding, Network};
use crate::train::{Gradients, follow};

/// The number that dot products are multiplied with, so that they do not grow with the length of vectors.
fn scale(length: usize) -> f32 {
    1.0 / (length as f32).sqrt()
}

/// What training makes of the scores of a contest.
struct Judged {
    /// The gradient of every score.
    errors: Vec<f32>,
    loss: f64,
    /// How many conjectures have a useful statement in the first place.
    correct: usize,
}

/// The cross-entropy of every conjecture with every statement, for each useful one of them.
fn judge(contest: &Contest, scores: &[f32]) -> Judged {
    let useful: usize = contest.useful.iter().map(Vec::len).sum();
    let share = 1.0 / useful.max(1) as f32;
    let (mut errors, mut loss, mut correct) = (Vec::with_capacity(scores.len()), 0.0, 0);
    let mut is_useful = vec![false; contest.statements.len()];
    for (i, (scores, useful)) in
        scores.chunks_exact(contest.statements.len().max(1)).zip(&contest.useful).enumerate()
    {
        useful.iter().for_each(|&number| is_useful[number as usize] = true);
        let mut best = (f32::NEG_INFINITY, false);
        for (j, (&score, &is_useful)) in scores.iter().zip(&is_useful).enumerate() {
            if score > best.0 {
                best = (score, is_useful);
            }
            let logit = score + contest.shift(i, j);
            let wrong = if is_useful { -logit } else { logit };
            loss += f64::from(share * (wrong.max(0.0) + (-wrong.abs()).exp().ln_1p()));
            errors.push(share * (1.0 / (1.0 + (-logit).exp()) - f32::from(is_useful)));
        }
        correct += usize::from(best.1);
        useful.iter().for_each(|&number| is_useful[number as usize] = false);
    }
    Judged { errors, loss, correct }
}

impl Model {
    /// Scores a contest and returns, for every micro-batch and step, the gradients of its graphs' vectors.
    pub(crate) fn towers_backward(
        &self,
        pass: &Pass<'_>,
        batch: &Batch,
        contest: &Contest,
        traces: &[Trace],
        gradients: &mut Gradients,
    ) -> Vec<Vec<Vec<f32>>> {
        let (width, length) = (self.config.width(), self.config.tower());
        let read = |graphs: &[usize]| -> Vec<f32> {
            let vectors = graphs.iter().flat_map(|&graph| {
                let (part, number) = batch.places[graph];
                traces[part].pools.iter().flat_map(move |pool| &pool.vectors[number * width..][..width])
            });
            vectors.copied().collect()
        };
        let statements: Vec<usize> = contest.statements.iter().map(|statement| statement.graph).collect();
        let graphs = [&contest.conjectures, &statements];
        let mut inputs = graphs.map(|graphs| read(graphs));
        inputs.iter_mut().zip(0..).for_each(|(inputs, i)| batch.dropout.other(i).apply(inputs));
        let [of_conjectures, of_statements] = [0, 1].map(|i| &self.layout.heads[i]);
        let (conjecture_trace, queries) =
            pass.head_forward(of_conjectures, &inputs[0], batch.dropout.other(2));
        let (statement_trace, keys) = pass.head_forward(of_statements, &inputs[1], batch.dropout.other(3));
        let [count, number] = [contest.conjectures.len(), contest.statements.len()];
        let kernel = pass.compute.kernel;
        let mut scores = vec![0.0; count * number];
        let scaled: Vec<f32> = queries.iter().map(|x| x * scale(length)).collect();
        Packed::new(kernel, &keys, [number, length], Read::Transposed).multiply(&mut scores, &scaled);
        let judged = judge(contest, &scores);
        let mut query_gradient = vec![0.0; queries.len()];
        Packed::new(kernel, &keys, [number, length], Read::Plain)
            .multiply(&mut query_gradient, &judged.errors);
        query_gradient.iter_mut().for_each(|gradient| *gradient *= scale(length));
        let mut key_gradient = vec![0.0; keys.len()];
        add_outer(kernel, &mut key_gradient, &judged.errors, &scaled, [number, length]);
        for (head, trace, inputs) in
            [(of_conjectures, &conjecture_trace, &inputs[0]), (of_statements, &statement_trace, &inputs[1])]
        {
            let count = inputs.len() / head.first.shape[1];
            gradients.followed.extend(follow(&head.norm, &trace.statistics, count as f32));
        }
        let input_gradients = [
            pass.head_backward(
                of_conjectures,
                conjecture_trace,
                &inputs[0],
                &query_gradient,
                &mut gradients.values,
            ),
            pass.head_backward(
                of_statements,
                statement_trace,
                &inputs[1],
                &key_gradient,
                &mut gradients.values,
            ),
        ];
        gradients.losses.push(judged.loss);
        gradients.correct.push(judged.correct);
        let zeros = |trace: &Trace| trace.pools.iter().map(|pool| vec![0.0; pool.vectors.len()]).collect();
        let mut pooled: Vec<Vec<Vec<f32>>> = traces.iter().map(zeros).collect();
        for (i, (graphs, mut gradient)) in graphs.into_iter().zip(input_gradients).enumerate() {
            batch.dropout.other(i as u64).apply(&mut gradient);
            for (&graph, row) in graphs.iter().zip(gradient.chunks_exact(self.config.classifier_input())) {
                let (part, number) = batch.places[graph];
                for (pooled, gradient) in pooled[part].iter_mut().zip(row.chunks_exact(width)) {
                    rows::add(&mut pooled[number * width..][..width], gradient);
                }
            }
            pass.compute.give(gradient);
        }
        pooled
    }
}

impl Network {
    /// The vectors of conjectures, one behind the other. Its dot product with a statement's is the statement's score:
    /// the logarithm of how many times likelier than usual it is to be useful.
    ///
    /// # Panics
    ///
    /// If the network has classifiers instead.
    pub fn queries(&self, conjectures: &[&Embedding]) -> Vec<f32> {
        let mut queries = self.towers(0, conjectures);
        let scale = scale(self.model().config.tower());
        queries.iter_mut().for_each(|x| *x *= scale);
        queries
    }

    /// The vectors of statements, one behind the other.
    ///
    /// # Panics
    ///
    /// If the network has classifiers instead.
    pub fn keys(&self, statements: &[&Embedding]) -> Vec<f32> {
        self.towers(1, statements)
    }

    fn towers(&self, which: usize, embeddings: &[&Embedding]) -> Vec<f32> {
        assert!(self.model().config.meeting == crate::Meeting::Towers, "the network has classifiers");
        let inputs: Vec<f32> = embeddings.iter().flat_map(|embedding| embedding.all()).copied().collect();
        self.pass().head_fixed(&self.model().layout.heads[which], &inputs)
    }
}
