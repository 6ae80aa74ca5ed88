//! The trainer, which takes the steps of a run, and the weights that result.

use std::collections::HashMap;

use formulanet::net::{
    Batch, Compute, Config, Meeting, Model, MovingAverage, Network, Optimiser, State, Tensor, clip,
};

use super::sitting::{Extent, Learner, Sums};
use super::{Line, RunFolder, Validation};
use crate::dataset::{Prepared, Split};
use crate::eval::{Questions, TokenMap, pairs_of, predict, rank_premises};
use crate::{Error, Progress, remember};
use formulanet::model::memory::proofs::TrainingProofs;
use formulanet::model::memory::statements::StatementMemory;
use formulanet::model::recipe::Recipe;
use formulanet::model::{ModelFile, Origin, PriorKnowledge, vocabulary};
use formulanet::util::random::sample;

/// The state of training.
pub(super) struct Trainer<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    pub(super) state: State,
    pub(super) compute: Compute,
    /// The pairs of a validation on the way; or, if premises are ranked, the conjectures.
    pub(super) validation: Vec<u32>,
    seen: StatementMemory,
    proofs: TrainingProofs,
    prior: Option<f32>,
}

impl<'a> Trainer<'a> {
    pub(super) fn new(
        prepared: &'a Prepared,
        recipe: &'a Recipe,
        prior: Option<f32>,
        seen: StatementMemory,
        compute: Compute,
    ) -> Self {
        let model = Model::new(recipe.config(prepared.vocabulary().len()), recipe.seed);
        let optimiser = Optimiser::new(recipe.rule(), recipe.weight_decay, model.layout().trained());
        let average = (recipe.average > 0.0).then(|| MovingAverage::new(recipe.average, model.values()));
        let most = Some(recipe.validation_pairs).filter(|&most| most > 0);
        Trainer {
            prepared,
            recipe,
            state: State { model, optimiser, average },
            compute,
            validation: match prior {
                Some(_) => {
                    let asked = Questions::new(prepared, &[Split::Validation]).asked;
                    asked.into_iter().map(|number| number as u32).collect()
                }
                None => pairs_of(prepared, Split::Validation, most, 0),
            },
            seen,
            proofs: if recipe.proofs > 0.0 { remember::proofs(prepared) } else { TrainingProofs::default() },
            prior,
        }
    }

    /// Takes the weights of another model: every tensor that both networks have with as many rows, and that is not wider
    /// there.
    pub(super) fn begin_with(&mut self, first: &ModelFile) -> Result<(), Error> {
        if first.vocabulary != self.prepared.vocabulary() {
            let message =
                "expected a model with the data's labels, found others; train both on the same data";
            return Err(Error::input("first weights", message));
        }
        let theirs: HashMap<&str, &Tensor> =
            first.model.layout().tensors().iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        let (expected, found) = (self.state.model.config(), first.model.config());
        if (expected.dimension, expected.kind, expected.norm) != (found.dimension, found.kind, found.norm) {
            let message = format!("expected a network like {expected:?}, found {found:?}");
            return Err(Error::input("first weights", message));
        }
        let reads = |config: &Config| (config.meeting, config.is_conditional, config.width());
        let reads_alike = reads(expected) == reads(found);
        for tensor in self.state.model.layout().tensors().to_vec() {
            let Some(found) = theirs.get(tensor.name.as_str()) else { continue };
            let ([rows, columns], values) = (found.shape, &first.model.values()[found.range.clone()]);
            let is_like = if reads_alike { columns <= tensor.shape[1] } else { columns == tensor.shape[1] };
            if rows != tensor.shape[0] || !is_like {
                continue;
            }
            // A classifier that reads more than theirs, behind what both read, begins without the rest.
            let own = self.state.model.values_mut()[tensor.range].chunks_exact_mut(tensor.shape[1]);
            for (own, theirs) in own.zip(values.chunks_exact(columns)) {
                own[..columns].copy_from_slice(theirs);
                own[columns..].fill(0.0);
            }
        }
        if let Some(average) = &mut self.state.average {
            *average = MovingAverage::new(self.recipe.average, self.state.model.values());
        }
        Ok(())
    }

    /// The model as it is now: averaged, if the recipe says so.
    fn model(&self) -> Model {
        let mut model = self.state.model.clone();
        if let Some(average) = &self.state.average {
            model.values_mut().copy_from_slice(average.values());
        }
        model
    }

    /// Gives the labels that training never saw, such as `UNKNOWN`, the mean vector of those that it saw least: their own
    /// are as random as they were at first.
    fn fill_unseen(&self, model: &mut Model) {
        let mut counts = vec![0u64; self.prepared.vocabulary().len()];
        for conjecture in self.prepared.of_split(Split::Train) {
            let premises = conjecture.dependencies.iter().map(|&n| self.prepared.premise(n as usize).graph);
            let statements = conjecture.pairs.map(|number| self.prepared.pair(number).statement);
            let graphs: Vec<u32> = match self.prior {
                Some(_) => premises.chain([conjecture.graph]).collect(),
                None => statements.chain([conjecture.graph]).collect(),
            };
            for graph in graphs {
                self.prepared.graph(graph).tokens.iter().for_each(|&token| counts[usize::from(token)] += 1);
            }
        }
        if self.recipe.blur > 0.0 {
            let unknown = self.prepared.vocabulary().iter().position(|label| label == vocabulary::UNKNOWN);
            unknown.into_iter().for_each(|unknown| counts[unknown] = u64::MAX);
        }
        let mut seen: Vec<usize> = (0..counts.len()).filter(|&token| counts[token] > 0).collect();
        seen.sort_by_key(|&token| counts[token]);
        seen.truncate(seen.len().div_ceil(4));
        let d = model.config().dimension;
        let table = &model.layout().tensors()[0];
        debug_assert_eq!((table.name.as_str(), table.range.start), ("embedding", 0));
        let mut mean = vec![0.0; d];
        for &token in &seen {
            let row = &model.values()[token * d..][..d];
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / seen.len() as f32);
        }
        for token in (0..counts.len()).filter(|&token| counts[token] == 0) {
            model.values_mut()[token * d..][..d].copy_from_slice(&mean);
        }
    }

    /// The resources of intermediate networks.
    fn compute_again(&self) -> Compute {
        Compute::among(self.compute.group(), self.recipe.precision, self.compute.threads())
    }

    fn trained_model(&self, line: &Line) -> ModelFile {
        let meta = self.prepared.meta();
        let mut model = self.model();
        self.fill_unseen(&mut model);
        ModelFile {
            model: model.into(),
            origin: Origin {
                memory_of: None,
                view: meta.options.view,
                recipe: self.recipe.clone(),
                data: meta.input.clone(),
                fingerprint: meta.fingerprint.clone(),
                pairs: line.pairs,
                validation_accuracy: line.validation.as_ref().map(|validation| validation.accuracy),
                prior: self.prior,
                program: env!("CARGO_PKG_VERSION").into(),
            },
            vocabulary: self.prepared.vocabulary().to_vec(),
            proofs: self.proofs.clone(),
            seen: self.seen.clone(),
            typical: self.typical(),
            stamp: None,
        }
    }

    /// The mean vector of training conjectures, if premises are ranked.
    fn typical(&self) -> Vec<f32> {
        let length = self.state.model.config().tower();
        if self.recipe.meeting != Meeting::Towers {
            return Vec::new();
        }
        let conjectures = sample(Questions::new(self.prepared, &[Split::Train]).asked, 1000, 0);
        let graph = |&number: &usize| self.prepared.graph(self.prepared.conjecture(number).graph);
        let graphs: Vec<_> = conjectures.iter().map(graph).collect();
        let network = Network::new(self.model(), self.compute_again());
        let embeddings = network.embed_all(&graphs);
        let queries = network.queries(&embeddings.iter().collect::<Vec<_>>());
        let mut mean = vec![0.0; length];
        for query in queries.chunks_exact(length) {
            mean.iter_mut().zip(query).for_each(|(mean, x)| *mean += x / conjectures.len() as f32);
        }
        mean
    }
}

impl Learner for Trainer<'_> {
    type Batch = Batch;
    type Shape = Config;

    fn state(&self) -> &State {
        &self.state
    }

    fn compute(&self) -> &Compute {
        &self.compute
    }

    fn examples(batch: &Batch) -> usize {
        batch.examples()
    }

    fn step(&mut self, batch: &Batch, rate: f32, step: u64, sums: &mut Sums) -> Result<f64, Error> {
        let State { model, optimiser, average } = &mut self.state;
        let mut gradients = model.gradients(batch, &self.compute);
        let most = if self.recipe.clip > 0.0 { self.recipe.clip } else { f32::INFINITY };
        let length = clip(&mut gradients.values, most);
        let loss: f64 = gradients.losses.iter().sum();
        if !loss.is_finite() || !length.is_finite() {
            return Err(Error::Diverged { step, rate });
        }
        let trained = model.layout().trained();
        optimiser.step(&mut model.values_mut()[..trained], &gradients.values, rate);
        model.follow_statistics(&gradients);
        if let Some(average) = average {
            average.follow(model.values());
        }
        sums.add(batch.examples(), &gradients.losses, &gradients.correct);
        gradients.recycle(&self.compute);
        Ok(length)
    }

    fn rate(&self, step: u64, total: u64, batches: u64) -> f32 {
        let epochs = self.recipe.epochs.min(total.div_ceil(batches).max(1) as u32);
        self.recipe.schedule().rate(step, total, epochs)
    }

    fn validate_every(&self) -> Option<u64> {
        let every = self.recipe.validate_every.div_ceil(self.recipe.batch as u64).max(1);
        (!self.validation.is_empty()).then_some(every)
    }

    fn save_model(&self, run: Option<&RunFolder>, name: &str, line: &Line) -> Result<(), Error> {
        let model = self.trained_model(line);
        run.map_or(Ok(()), |run| model.save(&run.path(name), self.recipe.storage))
    }

    fn validate(&self, extent: Extent, progress: &dyn Progress) -> Result<Validation, Error> {
        let network = Network::new(self.model(), self.compute_again());
        let map = TokenMap::new(self.prepared.vocabulary(), self.prepared.vocabulary(), "training")?;
        if self.recipe.meeting == Meeting::Towers {
            let splits = [Split::Validation];
            let known = PriorKnowledge {
                proofs: &self.proofs,
                trust: self.recipe.proofs,
                prior: self.prior.unwrap_or(0.0),
            };
            let ranking = rank_premises(&network, &known, self.prepared, &map, &splits, progress)?;
            return Ok(Validation::of_ranking(ranking));
        }
        let pairs = match extent {
            Extent::Final(most) => &pairs_of(self.prepared, Split::Validation, most, 0),
            Extent::Sample => &self.validation,
        };
        let predictions = predict(&network, &self.seen, self.prepared, &map, pairs, progress)?;
        Ok(Validation::of(&predictions))
    }
}
