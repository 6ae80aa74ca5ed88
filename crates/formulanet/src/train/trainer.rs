//! What takes the steps of a training run, and what becomes of the weights.

use std::collections::HashMap;
use std::sync::mpsc;
use std::time::Instant;

use formulanet_net::{
    Batch, Compute, Config, Meeting, Model, MovingAverage, Network, Optimiser, State, Tensor, clip,
};
use serde::{Deserialize, Serialize};

use super::{Line, Outcome, RunFolder, RunOptions, Validation, Watcher, shared};
use crate::Error;
use crate::data::vocabulary;
use crate::data::{Prepared, Split};
use crate::measure::evaluate::{self, TokenMap, Unwatched};
use crate::measure::premises::{Questions, rank_premises};
use crate::model::Known;
use crate::model::knowledge::memory::Seen;
use crate::model::knowledge::proofs::Neighbours;
use crate::model::recipe::Recipe;
use crate::model::{Origin, TrainedModel};
use crate::util::random::sample;

/// What a checkpoint knows beside the numbers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) step: u64,
    seconds: f64,
    best: Option<f64>,
}

/// What training works with.
pub(super) struct Trainer<'a> {
    prepared: &'a Prepared,
    recipe: &'a Recipe,
    pub(super) state: State,
    pub(super) compute: Compute,
    /// The pairs of a validation on the way; or, if premises are ranked, the conjectures.
    pub(super) validation: Vec<u32>,
    seen: Seen,
    neighbours: Neighbours,
    prior: Option<f32>,
}

/// Sums since the last line of the log.
#[derive(Default)]
struct Sums {
    batches: usize,
    pairs: usize,
    loss: Vec<f64>,
    correct: Vec<usize>,
}

impl<'a> Trainer<'a> {
    pub(super) fn new(
        prepared: &'a Prepared,
        recipe: &'a Recipe,
        prior: Option<f32>,
        seen: Seen,
        compute: Compute,
    ) -> Self {
        let model = Model::new(recipe.config(prepared.vocabulary().len()), recipe.seed);
        let optimiser = Optimiser::new(recipe.rule(), recipe.weight_decay, model.layout().trained());
        let average = (recipe.average > 0.0).then(|| MovingAverage::new(recipe.average, model.values()));
        let most = if recipe.validation_pairs == 0 { None } else { Some(recipe.validation_pairs) };
        Trainer {
            prepared,
            recipe,
            state: State { model, optimiser, average },
            compute,
            validation: match prior {
                Some(_) => Questions::new(prepared, &[Split::Validation])
                    .asked
                    .into_iter()
                    .map(|n| n as u32)
                    .collect(),
                None => evaluate::pairs_of(prepared, Split::Validation, most, 0),
            },
            seen,
            neighbours: match recipe.neighbours > 0.0 {
                true => Neighbours::of(prepared),
                false => Neighbours::default(),
            },
            prior,
        }
    }

    /// Takes the weights of another model: every tensor that both networks have with as many rows, and that is not wider
    /// there.
    pub(super) fn begin_with(&mut self, first: &TrainedModel) -> Result<(), Error> {
        if first.vocabulary != self.prepared.vocabulary() {
            let message =
                "expected a model with the data's labels, found others; train both on the same data";
            return Err(Error::data("first weights", message));
        }
        let theirs: HashMap<&str, &Tensor> =
            first.model.layout().tensors().iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        let (expected, found) = (self.state.model.config(), first.model.config());
        if (expected.dimension, expected.kind, expected.norm) != (found.dimension, found.kind, found.norm) {
            let message = format!("expected a network like {expected:?}, found {found:?}");
            return Err(Error::data("first weights", message));
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

    #[allow(clippy::too_many_arguments)] // they are the run
    pub(super) fn run(
        &mut self,
        mut run: Option<&mut RunFolder>,
        mut progress: Progress,
        options: &RunOptions,
        watcher: &mut dyn Watcher,
        batches: &mpsc::Receiver<Batch>,
        (total, batches_per_epoch): (u64, u64),
        rate: &dyn Fn(u64) -> f32,
    ) -> Result<Outcome, Error> {
        let (begin, earlier) = (Instant::now(), progress.seconds);
        let (mut saved, mut last_line, mut sums) = (Instant::now(), Instant::now(), Sums::default());
        let group = self.compute.group();
        let mut waited = group.waited();
        let batch_pairs = self.recipe.batch as u64;
        let validate_every = self.recipe.validate_every.div_ceil(batch_pairs).max(1);
        while progress.step < total {
            let step = progress.step;
            let batch = batches.recv().expect("batches are made until the last one");
            let gradient = self.step(&batch, rate(step), step, &mut sums)?;
            progress.step += 1;
            progress.seconds = earlier + begin.elapsed().as_secs_f64();
            watcher.step(progress.step);
            let is_last = progress.step == total;
            let validates =
                !self.validation.is_empty() && (is_last || progress.step.is_multiple_of(validate_every));
            if progress.step.is_multiple_of(options.log_every) || validates || is_last {
                let speed = sums.pairs as f64 / last_line.elapsed().as_secs_f64().max(1e-9);
                let validation = if validates { Some(self.validate(is_last)?) } else { None };
                let line = Line {
                    step: progress.step,
                    pairs: progress.step * batch.examples() as u64,
                    epoch: progress.step as f64 / batches_per_epoch as f64,
                    seconds: progress.seconds,
                    speed,
                    waited: (group.waited() - waited).as_secs_f64(),
                    rate: rate(step),
                    gradient,
                    loss: sums.loss.iter().map(|loss| loss / sums.batches as f64).collect(),
                    accuracy: sums.correct.iter().map(|&n| n as f64 / sums.pairs as f64).collect(),
                    validation,
                };
                if let Some(run) = &mut run {
                    run.log(&line)?;
                }
                watcher.line(&line);
                if let Some(validation) = &line.validation {
                    shared::same_weights(group, &self.state)?;
                    if progress.best.is_none_or(|best| validation.accuracy > best) {
                        progress.best = Some(validation.accuracy);
                        self.save_model(run.as_deref(), "best.safetensors", &line)?;
                    }
                    if let Some(run) = &run {
                        run.draw()?;
                    }
                }
                if is_last {
                    self.save_model(run.as_deref(), "model.safetensors", &line)?;
                    if let Some(run) = &run {
                        run.save(&self.state, &progress)?;
                    }
                    return Ok(Outcome::Finished(line.validation));
                }
                (sums, last_line, waited) = (Sums::default(), Instant::now(), group.waited());
            }
            let is_over =
                watcher.is_stopped() || options.most_time.is_some_and(|most| begin.elapsed() >= most);
            // Processes are told to stop at different moments.
            let is_over = group.any(is_over);
            if let Some(run) = &run
                && (is_over || saved.elapsed() >= options.checkpoint_every)
            {
                run.save(&self.state, &progress)?;
                saved = Instant::now();
            }
            if is_over {
                return Ok(Outcome::Stopped(progress.step));
            }
        }
        // The run was at its end already.
        Ok(Outcome::Finished(None))
    }

    /// One step; returns the length of the gradient.
    fn step(&mut self, batch: &Batch, rate: f32, step: u64, sums: &mut Sums) -> Result<f64, Error> {
        let State { model, optimiser, average } = &mut self.state;
        let mut gradients = model.gradients(batch, &self.compute);
        let most = if self.recipe.clip > 0.0 { self.recipe.clip } else { f32::INFINITY };
        let length = clip(&mut gradients.values, most);
        let loss: f64 = gradients.losses.iter().sum();
        if !loss.is_finite() || !length.is_finite() {
            return Err(Error::data(
                "training",
                format!(
                    "the loss is no longer a number after batch {step} (rate {rate}); the last checkpoint is good: \
                     try a lower --rate or a smaller --clip"
                ),
            ));
        }
        let trained = model.layout().trained();
        optimiser.step(&mut model.values_mut()[..trained], &gradients.values, rate);
        model.follow_statistics(&gradients);
        if let Some(average) = average {
            average.follow(model.values());
        }
        sums.batches += 1;
        sums.pairs += batch.examples();
        sums.loss.resize(gradients.losses.len(), 0.0);
        sums.correct.resize(gradients.correct.len(), 0);
        sums.loss.iter_mut().zip(&gradients.losses).for_each(|(sum, loss)| *sum += loss);
        sums.correct.iter_mut().zip(&gradients.correct).for_each(|(sum, n)| *sum += n);
        gradients.recycle(&self.compute);
        Ok(length)
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
        for conjecture in self.prepared.conjectures().filter(|conjecture| conjecture.split == Split::Train) {
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

    /// Writes the model as it is now, in the first process. All take part, because a model is more than its weights.
    fn save_model(&self, run: Option<&RunFolder>, name: &str, line: &Line) -> Result<(), Error> {
        let model = self.trained_model(line);
        run.map_or(Ok(()), |run| model.save(&run.path(name), self.recipe.storage()))
    }

    /// What networks run on that are made in between.
    fn compute_again(&self) -> Compute {
        Compute::among(self.compute.group(), self.recipe.precision, self.compute.threads())
    }

    fn trained_model(&self, line: &Line) -> TrainedModel {
        let meta = self.prepared.meta();
        let mut model = self.model();
        self.fill_unseen(&mut model);
        TrainedModel {
            model,
            origin: Origin {
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
            neighbours: self.neighbours.clone(),
            seen: self.seen.clone(),
            typical: self.typical(),
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
        let embeddings = network.embed_all(&graphs.iter().map(|graph| graph.input()).collect::<Vec<_>>());
        let queries = network.queries(&embeddings.iter().collect::<Vec<_>>());
        let mut mean = vec![0.0; length];
        for query in queries.chunks_exact(length) {
            mean.iter_mut().zip(query).for_each(|(mean, x)| *mean += x / conjectures.len() as f32);
        }
        mean
    }

    fn validate(&self, takes_all: bool) -> Result<Validation, Error> {
        let network = Network::new(self.model(), self.compute_again());
        let map = TokenMap::new(self.prepared.vocabulary(), self.prepared.vocabulary(), "training")?;
        if self.recipe.meeting == Meeting::Towers {
            let splits = [Split::Validation];
            let known = Known {
                neighbours: &self.neighbours,
                trust: self.recipe.neighbours,
                prior: self.prior.unwrap_or(0.0),
            };
            let ranking = rank_premises(&network, &known, self.prepared, &map, &splits, &Unwatched)?;
            return Ok(Validation::of_ranking(ranking));
        }
        let all;
        let pairs = if takes_all {
            all = evaluate::pairs_of(self.prepared, Split::Validation, None, 0);
            &all
        } else {
            &self.validation
        };
        let predictions = evaluate::predict(&network, &self.seen, self.prepared, &map, pairs, &Unwatched)?;
        Ok(Validation::of(&predictions))
    }
}
