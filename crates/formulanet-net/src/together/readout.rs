//! From the vectors of nodes to scores of candidates, and back.

use crate::batch::Dropout;
use crate::kernel::messages::{self, Part};
use crate::kernel::{residual, rows};
use crate::together::config::{Loss, Scorer};
use crate::together::input::Company;
use crate::together::round::Pass;

/// The values that the backward pass of the readout needs.
pub(crate) struct ReadoutTrace {
    /// Root, mean and largest of every statement's nodes.
    vectors: Vec<f32>,
    places: Vec<u32>,
    /// For every problem the vectors of its conjecture, and the mean of those of its candidates.
    of_problems: Vec<f32>,
    inputs: Vec<f32>,
    hidden: Vec<f32>,
}

/// The loss and gradients of the scores of a micro-batch.
pub(crate) struct Judged {
    /// The gradient of every score.
    pub(crate) errors: Vec<f32>,
    pub(crate) loss: f64,
    /// The number of correctly classified candidates; with a listwise loss, the number of problems with a useful candidate in
    /// first place.
    pub(crate) correct: usize,
}

/// Judges the scores of a company's candidates; `share` is what each candidate, or each problem, counts.
pub(crate) fn judge(company: &Company, scores: &[f32], useful: &[bool], loss: Loss, share: f32) -> Judged {
    let mut judged = Judged { errors: Vec::with_capacity(scores.len()), loss: 0.0, correct: 0 };
    match loss {
        Loss::Each => scores.iter().zip(useful).for_each(|(&score, &is_useful)| {
            let wrong = if is_useful { -score } else { score };
            judged.loss += f64::from(share * (wrong.max(0.0) + (-wrong.abs()).exp().ln_1p()));
            judged.correct += usize::from((score > 0.0) == is_useful);
            judged.errors.push(share * (1.0 / (1.0 + (-score).exp()) - f32::from(is_useful)));
        }),
        Loss::Pool => {
            let mut begin = 0;
            for problem in company.problems.chunk_by(|a, b| a == b) {
                let range = begin..begin + problem.len();
                begin = range.end;
                judge_pool(&mut judged, &scores[range.clone()], &useful[range], share);
            }
        }
    }
    judged
}

/// Judges candidates against each other.
fn judge_pool(judged: &mut Judged, scores: &[f32], useful: &[bool], share: f32) {
    let count = useful.iter().filter(|&&is_useful| is_useful).count();
    if count == 0 {
        judged.errors.resize(judged.errors.len() + scores.len(), 0.0);
        return;
    }
    let (mut best, mut largest) = (false, f32::NEG_INFINITY);
    for (&score, &is_useful) in scores.iter().zip(useful) {
        (best, largest) = if score > largest { (is_useful, score) } else { (best, largest) };
    }
    let total: f32 = scores.iter().map(|score| (score - largest).exp()).sum();
    for (score, &is_useful) in scores.iter().zip(useful) {
        let target = if is_useful { 1.0 / count as f32 } else { 0.0 };
        let logarithm = score - largest - total.ln();
        judged.loss -= f64::from(share * target * logarithm);
        judged.errors.push(share * (logarithm.exp() - target));
    }
    judged.correct += usize::from(best);
}

impl Pass<'_> {
    /// The score of every candidate by its nodes, and what the backward pass needs. `dropout` has one for each problem.
    pub(crate) fn readout_forward(
        &self,
        company: &Company,
        nodes: &[f32],
        dropout: &[Dropout],
    ) -> (Vec<f32>, ReadoutTrace) {
        let (d, width) = (self.config.dimension, 3 * self.config.dimension);
        let (readout, of_problem) = (&self.functions.readout, &self.functions.of_problem);
        let mut vectors = self.compute.take(company.roots.len() * width);
        let mut places = vec![0; company.roots.len() * d];
        for (vector, &root) in vectors.chunks_exact_mut(width).zip(&company.roots) {
            vector[..d].copy_from_slice(&nodes[root as usize * d..][..d]);
        }
        messages::pool(
            &mut vectors,
            Part { stride: width, offset: d, d },
            &mut places,
            nodes,
            Part::whole(d),
            &company.statements,
        );
        let of_problems = self.of_problems(company, &vectors);
        let added = self.product(of_problem, &of_problems);
        let mut inputs = self.compute.take(company.candidates.len() * (width + self.config.features));
        let features = self.config.features;
        for (number, input) in inputs.chunks_exact_mut(width + features).enumerate() {
            let statement = company.candidates[number] as usize;
            input[..width].copy_from_slice(&vectors[statement * width..][..width]);
            input[width..].copy_from_slice(&company.features[number * features..][..features]);
        }
        let mut hidden = self.product(&readout.first, &inputs);
        let length = self.config.hidden;
        for (row, &problem) in hidden.chunks_exact_mut(length).zip(&company.problems) {
            rows::add(row, &added[problem as usize * length..][..length]);
        }
        self.compute.give(added);
        residual::activate(&mut hidden, &self.values[readout.first_bias.clone()]);
        drop_out(&mut hidden, length, company, dropout);
        let scores = self.outputs(readout, &hidden);
        (scores, ReadoutTrace { vectors, places, of_problems, inputs, hidden })
    }

    /// For every problem the vectors of its conjecture, and the mean of those of its candidates: how a candidate compares
    /// with the others says more than how it looks.
    fn of_problems(&self, company: &Company, vectors: &[f32]) -> Vec<f32> {
        let width = 3 * self.config.dimension;
        let mut of_problems = self.compute.zeros(company.conjectures.len() * 2 * width);
        for (of_problem, &conjecture) in of_problems.chunks_exact_mut(2 * width).zip(&company.conjectures) {
            of_problem[..width].copy_from_slice(&vectors[conjecture as usize * width..][..width]);
        }
        let candidates = company.candidates.iter().zip(&company.problems).zip(shares(company));
        for ((&statement, &problem), share) in candidates {
            let mean = &mut of_problems[(2 * problem as usize + 1) * width..][..width];
            rows::add_scaled(mean, &vectors[statement as usize * width..][..width], share);
        }
        of_problems
    }

    /// Adds the gradients of the readout and returns that of the nodes, given that of the scores.
    pub(crate) fn readout_backward(
        &self,
        company: &Company,
        trace: ReadoutTrace,
        errors: &[f32],
        dropout: &[Dropout],
        gradients: &mut [f32],
    ) -> Vec<f32> {
        let (d, width) = (self.config.dimension, 3 * self.config.dimension);
        let (readout, of_problem) = (&self.functions.readout, &self.functions.of_problem);
        let mut hidden = self.outputs_backward(readout, &trace.hidden, errors, gradients);
        let length = self.config.hidden;
        // Numbers that were left out are 0 in the trace, so that they get no gradient; the others were made larger.
        drop_out(&mut hidden, length, company, dropout);
        residual::activate_backward(&mut hidden, &trace.hidden, &mut gradients[readout.first_bias.clone()]);
        self.weight_gradient(&readout.first, &trace.inputs, &hidden, gradients);
        let mut inputs = self.compute.take(trace.inputs.len());
        self.weights.backward(&readout.first).multiply(&mut inputs, &hidden);
        let mut added = self.compute.zeros(company.conjectures.len() * length);
        rows::add_rows(&mut added, &hidden, &company.problems, length);
        self.weight_gradient(of_problem, &trace.of_problems, &added, gradients);
        let mut of_problems = self.compute.take(trace.of_problems.len());
        self.weights.backward(of_problem).multiply(&mut of_problems, &added);
        let mut vectors = self.compute.zeros(trace.vectors.len());
        let candidates = company.candidates.iter().zip(&company.problems).zip(shares(company));
        for (input, ((&statement, &problem), share)) in
            inputs.chunks_exact(width + self.config.features).zip(candidates)
        {
            let vector = &mut vectors[statement as usize * width..][..width];
            rows::add(vector, &input[..width]);
            rows::add_scaled(vector, &of_problems[(2 * problem as usize + 1) * width..][..width], share);
        }
        for (of_problem, &conjecture) in of_problems.chunks_exact(2 * width).zip(&company.conjectures) {
            rows::add(&mut vectors[conjecture as usize * width..][..width], &of_problem[..width]);
        }
        let mut nodes = self.compute.zeros(company.beginnings.len() * d);
        for (vector, &root) in vectors.chunks_exact(width).zip(&company.roots) {
            rows::add(&mut nodes[root as usize * d..][..d], &vector[..d]);
        }
        let statements = &company.statements;
        messages::pool_backward(
            &mut nodes,
            Part::whole(d),
            &vectors,
            Part { stride: width, offset: d, d },
            &trace.places,
            statements,
        );
        for buffer in [hidden, inputs, added, of_problems, vectors] {
            self.compute.give(buffer);
        }
        trace.recycle(self);
        nodes
    }

    /// Scores by the numbers that are known of candidates alone, and the hidden layer.
    pub(crate) fn features_forward(&self, scorer: &Scorer, company: &Company) -> (Vec<f32>, Vec<f32>) {
        let mut hidden = self.product(&scorer.first, &company.features);
        residual::activate(&mut hidden, &self.values[scorer.first_bias.clone()]);
        (self.outputs(scorer, &hidden), hidden)
    }

    /// Adds the gradients of what scores by features alone.
    pub(crate) fn features_backward(
        &self,
        scorer: &Scorer,
        company: &Company,
        hidden: Vec<f32>,
        errors: &[f32],
        gradients: &mut [f32],
    ) {
        let mut gradient = self.outputs_backward(scorer, &hidden, errors, gradients);
        residual::activate_backward(&mut gradient, &hidden, &mut gradients[scorer.first_bias.clone()]);
        self.weight_gradient(&scorer.first, &company.features, &gradient, gradients);
        self.compute.give(hidden);
        self.compute.give(gradient);
    }

    fn outputs(&self, scorer: &Scorer, hidden: &[f32]) -> Vec<f32> {
        let mut scores = vec![self.values[scorer.second_bias.start]; hidden.len() / scorer.second.shape[1]];
        self.weights.forward(&scorer.second).multiply_add(&mut scores, hidden);
        scores
    }

    fn outputs_backward(
        &self,
        scorer: &Scorer,
        hidden: &[f32],
        errors: &[f32],
        gradients: &mut [f32],
    ) -> Vec<f32> {
        gradients[scorer.second_bias.start] += errors.iter().sum::<f32>();
        self.weight_gradient(&scorer.second, hidden, errors, gradients);
        let mut gradient = self.compute.take(hidden.len());
        self.weights.backward(&scorer.second).multiply(&mut gradient, errors);
        gradient
    }
}

impl ReadoutTrace {
    pub(crate) fn recycle(self, pass: &Pass<'_>) {
        for buffer in [self.vectors, self.of_problems, self.inputs, self.hidden] {
            pass.compute.give(buffer);
        }
    }
}

/// For every candidate one over the number of candidates of its problem.
fn shares(company: &Company) -> impl Iterator<Item = f32> + '_ {
    let problems = company.problems.chunk_by(|a, b| a == b);
    problems.flat_map(|problem| std::iter::repeat_n(1.0 / problem.len() as f32, problem.len()))
}

/// Leaves numbers out at random, of every problem others.
fn drop_out(hidden: &mut [f32], length: usize, company: &Company, dropout: &[Dropout]) {
    let mut rest = hidden;
    for problem in company.problems.chunk_by(|a, b| a == b) {
        let (rows, behind) = rest.split_at_mut(problem.len() * length);
        if let Some(dropout) = dropout.get(problem[0] as usize) {
            dropout.apply(rows);
        }
        rest = behind;
    }
}
