//! Dot products: conjectures and statements as vectors of one space, so that a whole library is ranked by one product.
//!
//! A conjecture's vector and a statement's vector are made from the pooled vectors before the first step and after every step,
//! concatenated: the first has the symbols, the last the structure.

use crate::batch::{Batch, Contest};
use crate::head::HeadTrace;
use crate::kernel::matmul::{Packed, Read, add_outer};
use crate::kernel::rows;
use crate::layer::Pass;
use crate::model::{Model, Trace};
use crate::network::{Embedding, Network};
use crate::parameters::Head;
use crate::train::{Followed, Gradients, follow};

/// The number that dot products are multiplied with, so that they do not grow with the length of vectors.
fn scale(length: usize) -> f32 {
    1.0 / (length as f32).sqrt()
}

/// The loss and gradients of the scores of a contest.
struct Judged {
    /// The gradient of every score.
    errors: Vec<f32>,
    loss: f64,
    /// The number of conjectures with a useful statement in first place.
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

/// One side of a contest, conjectures or statements, on its way through its head.
struct Tower<'a> {
    /// The values of both sides.
    number: usize,
    head: &'a Head,
    graphs: &'a [usize],
    inputs: Vec<f32>,
    trace: HeadTrace,
    vectors: Vec<f32>,
}

impl<'a> Tower<'a> {
    fn forward(
        pass: &Pass<'_>,
        batch: &Batch,
        traces: &[Trace],
        (number, head): (usize, &'a Head),
        graphs: &'a [usize],
    ) -> Self {
        let width = pass.config.width();
        let vectors = graphs.iter().flat_map(|&graph| {
            let (part, number) = batch.places[graph];
            traces[part].pools.iter().flat_map(move |pool| &pool.vectors[number * width..][..width])
        });
        let mut inputs: Vec<f32> = vectors.copied().collect();
        batch.dropout.other(number as u64).apply(&mut inputs);
        let (trace, vectors) = pass.head_forward(head, &inputs, batch.dropout.other(2 + number as u64));
        Tower { number, head, graphs, inputs, trace, vectors }
    }

    /// The statistics that its head's running statistics move towards.
    fn followed(&self) -> Option<Followed> {
        follow(&self.head.norm, &self.trace.statistics, self.graphs.len() as f32)
    }

    /// Adds the gradients of the head and, to `pooled`, those of the graphs' vectors at every step, given the gradient of
    /// its own vectors.
    fn backward(
        self,
        pass: &Pass<'_>,
        batch: &Batch,
        vector_gradient: &[f32],
        gradients: &mut [f32],
        pooled: &mut [Vec<Vec<f32>>],
    ) {
        let (width, length) = (pass.config.width(), pass.config.classifier_input());
        let mut gradient =
            pass.head_backward(self.head, self.trace, &self.inputs, vector_gradient, gradients);
        batch.dropout.other(self.number as u64).apply(&mut gradient);
        for (&graph, row) in self.graphs.iter().zip(gradient.chunks_exact(length)) {
            let (part, number) = batch.places[graph];
            for (pooled, gradient) in pooled[part].iter_mut().zip(row.chunks_exact(width)) {
                rows::add(&mut pooled[number * width..][..width], gradient);
            }
        }
        pass.compute.give(gradient);
    }
}

/// Scores a contest, and returns what training makes of the scores and the gradients of queries and keys.
fn compare(
    pass: &Pass<'_>,
    contest: &Contest,
    queries: &[f32],
    keys: &[f32],
) -> (Judged, Vec<f32>, Vec<f32>) {
    let [conjectures, statements] = [contest.conjectures.len(), contest.statements.len()];
    let (kernel, length) = (pass.compute.kernel, pass.config.tower());
    let packed = |read| Packed::new(kernel, keys, [statements, length], read);
    let scaled: Vec<f32> = queries.iter().map(|x| x * scale(length)).collect();
    let mut scores = vec![0.0; conjectures * statements];
    packed(Read::Transposed).multiply(&mut scores, &scaled);
    let judged = judge(contest, &scores);
    let mut query_gradient = vec![0.0; queries.len()];
    packed(Read::Plain).multiply(&mut query_gradient, &judged.errors);
    query_gradient.iter_mut().for_each(|gradient| *gradient *= scale(length));
    let mut key_gradient = vec![0.0; keys.len()];
    add_outer(kernel, &mut key_gradient, &judged.errors, &scaled, [statements, length]);
    (judged, query_gradient, key_gradient)
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
        let heads = &self.layout.functions.heads;
        let statements: Vec<usize> = contest.statements.iter().map(|statement| statement.graph).collect();
        let tower =
            |number: usize, graphs| Tower::forward(pass, batch, traces, (number, &heads[number]), graphs);
        let (of_conjectures, of_statements) = (tower(0, &contest.conjectures), tower(1, &statements));
        let (judged, query_gradient, key_gradient) =
            compare(pass, contest, &of_conjectures.vectors, &of_statements.vectors);
        gradients.followed.extend([&of_conjectures, &of_statements].into_iter().filter_map(Tower::followed));
        gradients.losses.push(judged.loss);
        gradients.correct.push(judged.correct);
        let mut pooled: Vec<Vec<Vec<f32>>> = traces.iter().map(Trace::zero_gradients).collect();
        for (tower, gradient) in [(of_conjectures, query_gradient), (of_statements, key_gradient)] {
            tower.backward(pass, batch, &gradient, &mut gradients.values, &mut pooled);
        }
        pooled
    }
}

impl Network {
    /// The concatenated vectors of conjectures. Its dot product with a statement's is the statement's score: the logarithm of how
    /// many times likelier than usual it is to be useful.
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

    /// The concatenated vectors of statements.
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
        self.pass().head_fixed(&self.model().layout.functions.heads[which], &inputs)
    }
}
