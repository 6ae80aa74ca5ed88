//! A trained network for whole problems at work.

use crate::compute::Compute;
use crate::model::Model;
use crate::tensors::Weights;
use crate::together::config::TogetherConfig;
use crate::together::input::{Company, ProblemInput};
use crate::together::round::Pass;

/// A trained network for whole problems, laid out for a CPU.
pub struct TogetherNetwork {
    model: Model<TogetherConfig>,
    weights: Weights,
    compute: Compute,
}

impl TogetherNetwork {
    /// Lays a network out.
    pub fn new(model: Model<TogetherConfig>, compute: Compute) -> Self {
        let weights = Weights::new(&model.layout.weights, &model.values, compute.kernel, false);
        TogetherNetwork { model, weights, compute }
    }

    /// The network's numbers.
    pub fn model(&self) -> &Model<TogetherConfig> {
        &self.model
    }

    /// The resources that it runs on.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// The score of every candidate of a problem: above 0 if it is likelier useful than not, where the network judges
    /// every candidate by itself; comparable within the problem alone, where it judges them against each other.
    ///
    /// # Panics
    ///
    /// If the problem is not one, or has something that the network does not know.
    pub fn score(&self, problem: &ProblemInput) -> Vec<f32> {
        let pass = Pass {
            config: &self.model.config,
            functions: &self.model.layout.functions,
            values: &self.model.values,
            weights: &self.weights,
            compute: &self.compute,
        };
        let company = Company::new([problem], &self.model.config);
        let (vectors, _) = pass.rounds_forward(&company, false);
        let (mut scores, trace) = pass.readout_forward(&company, &vectors.nodes, &[]);
        vectors.recycle(&self.compute);
        trace.recycle(&pass);
        if let Some(scorer) = &self.model.layout.functions.by_features {
            let (added, hidden) = pass.features_forward(scorer, &company);
            scores.iter_mut().zip(added).for_each(|(score, added)| *score += added);
            self.compute.give(hidden);
        }
        scores
    }

    /// The scores of many problems, on all threads, each the same as if it were alone.
    ///
    /// # Panics
    ///
    /// As [`TogetherNetwork::score`].
    pub fn score_all(&self, problems: &[&ProblemInput]) -> Vec<Vec<f32>> {
        self.compute.map(problems.len(), |i| self.score(problems[i]))
    }
}
