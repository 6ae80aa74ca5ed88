//! Training a network that reads a conjecture and its candidates together.

mod order;

use std::path::Path;

use formulanet::net::together::{Loss, TogetherBatch, TogetherConfig, TogetherModel, Trains};
use formulanet::net::{Compute, Dealing, MovingAverage, Optimiser, State, clip};

use super::folder::{RunData, RunFolder};
use super::sitting::{Extent, Learner, Reached, Sitting, Sums};
use super::{Event, Line, Plan, RunEnd, RunOptions, Validation, shared, sit};
use crate::dataset::{Problems, Split};
use crate::eval::{Company, Reader, pool_ranking, predict_together};
use crate::{Error, Progress};
use formulanet::model::JointModelFile;
use formulanet::model::joint::{JointOrigin, JointRecipe, Standardizer};
use order::{ProblemOrder, common_names};

/// The network, data and directory of a run.
#[derive(Clone, Copy)]
pub struct TogetherRun<'a> {
    /// The data.
    pub problems: &'a Problems,
    /// The recipe.
    pub recipe: &'a JointRecipe,
    /// The run folder: written, or gone on with.
    pub folder: &'a Path,
    /// Settings that do not change the result.
    pub options: RunOptions,
}

/// Trains a network that reads whole problems. `progress` counts batches and may stop the run, to be resumed later;
/// `listen` hears of events.
///
/// # Errors
///
/// If the data has nothing to train on or a problem that is too large, the folder is in use, holds another run or cannot be
/// written, or the loss is no longer a number.
pub fn train_together(
    run: &TogetherRun<'_>,
    progress: &dyn Progress,
    listen: &mut dyn FnMut(Event<'_>),
) -> Result<RunEnd, Error> {
    train_together_from(run, None, progress, listen)
}

/// Initializes with the weights of a network of the same size.
pub(super) fn train_together_from(
    run: &TogetherRun<'_>,
    first: Option<&JointModelFile>,
    progress: &dyn Progress,
    listen: &mut dyn FnMut(Event<'_>),
) -> Result<RunEnd, Error> {
    let TogetherRun { problems, recipe, options, .. } = *run;
    recipe.check().map_err(|message| Error::input("recipe", message))?;
    let group = options.group;
    let compute = Compute::among(group, recipe.precision, options.threads);
    let data = data_of(problems);
    shared::agree(&compute, recipe, || (data.facts.clone(), "random".to_owned()))?;
    let dealing = Dealing { micro_batch: recipe.micro_batch, rank: group.rank(), ranks: group.size() };
    let most = dealing.most_parallel(recipe.batch);
    if group.size() > most {
        return Err(Error::TooManyProcesses { most, processes: group.size() });
    }
    let names = if recipe.min_count > 0 { common_names(problems, recipe.min_count) } else { Vec::new() };
    let mut trainer = TogetherTrainer::new(problems, recipe, names, first, compute);
    let order = ProblemOrder::new(problems, recipe, &trainer.model_file(), dealing)?;
    if order.pairs() < 2 {
        return Err(Error::TooFewPairs { data: problems.origin().path.clone(), found: order.pairs() });
    }
    let open = || RunFolder::open(run.folder, recipe, &data, options.resumes);
    let mut folder = group.is_first().then(open).transpose()?;
    let mut reached = Reached::default();
    if options.resumes {
        reached = shared::restore(group, folder.as_mut(), &mut trainer.state)?;
    }
    let (batches, total) = (order.batches(), order.batches() * u64::from(recipe.epochs));
    if !trainer.scales.is_empty() {
        trainer.features_end = (f64::from(recipe.features_first) * total as f64) as u64;
    }
    listen(Event::Begins(&Plan {
        pairs: order.pairs(),
        validation_pairs: trainer.validation,
        total,
        batch: order.pairs() / batches as usize,
        first: reached.step,
        weights: trainer.state.model.layout().trained(),
        compute: trainer.compute.describe(),
        processes: group.size(),
    }));
    let sitting = Sitting { trainer, folder, options, reached, total, batches, progress, listen };
    let mut maker = order.maker();
    sit(sitting, move |step| maker.batch(step))
}

/// The identity of a data set of problems.
fn data_of(problems: &Problems) -> RunData {
    let origin = problems.origin();
    let facts = serde_json::json!({
        "fingerprint": origin.fingerprint,
        "split": origin.split,
        "conjectures": problems.len(),
        "statements": problems.statement_count(),
    });
    RunData { path: origin.path.clone(), facts: facts.to_string() }
}

/// How what is known of candidates is scaled.
fn scales_of(problems: &Problems) -> Vec<Standardizer> {
    let rows = problems.of_split(Split::Train).flat_map(|number| {
        let problem = problems.problem(number);
        (0..problem.candidates.len()).map(move |candidate| problem.features(candidate).collect::<Vec<f32>>())
    });
    Standardizer::learn(problems.features(), rows.map(Vec::into_iter))
}

/// The state of training.
struct TogetherTrainer<'a> {
    problems: &'a Problems,
    recipe: &'a JointRecipe,
    names: Vec<String>,
    scales: Vec<Standardizer>,
    /// Before this step, only the score by features is trained.
    features_end: u64,
    state: State<TogetherConfig>,
    compute: Compute,
    /// The number of held-out candidates.
    validation: usize,
}

impl<'a> TogetherTrainer<'a> {
    fn new(
        problems: &'a Problems,
        recipe: &'a JointRecipe,
        names: Vec<String>,
        first: Option<&JointModelFile>,
        compute: Compute,
    ) -> Self {
        let scales = first.map_or_else(|| scales_of(problems), |first| first.scales.clone());
        let mut model = TogetherModel::new(recipe.config(names.len(), scales.len()), recipe.seed);
        if let Some(first) = first {
            model.take_over(&first.model);
        }
        let optimiser = Optimiser::new(recipe.rule(), recipe.weight_decay, model.layout().trained());
        let average = (recipe.average > 0.0).then(|| MovingAverage::new(recipe.average, model.values()));
        let held_out = problems.of_split(Split::Validation);
        let validation = held_out.map(|number| problems.problem(number).candidates.len()).sum();
        let state = State { model, optimiser, average };
        TogetherTrainer { problems, recipe, names, scales, features_end: 0, state, compute, validation }
    }

    /// The model as it is now: averaged, if the recipe says so.
    fn model_file(&self) -> JointModelFile {
        let mut model = self.state.model.clone();
        if let Some(average) = &self.state.average {
            model.values_mut().copy_from_slice(average.values());
        }
        let origin = self.problems.origin();
        JointModelFile {
            model,
            origin: JointOrigin {
                recipe: self.recipe.clone(),
                data: origin.input.clone(),
                fingerprint: origin.fingerprint.clone(),
                pairs: 0,
                validation_accuracy: None,
                hidden_accuracy: None,
                program: env!("CARGO_PKG_VERSION").into(),
            },
            names: self.names.clone(),
            scales: self.scales.clone(),
        }
    }
}

impl Learner for TogetherTrainer<'_> {
    type Batch = TogetherBatch;
    type Shape = TogetherConfig;

    fn state(&self) -> &State<TogetherConfig> {
        &self.state
    }

    fn compute(&self) -> &Compute {
        &self.compute
    }

    fn examples(batch: &TogetherBatch) -> usize {
        batch.candidates()
    }

    fn step(&mut self, batch: &TogetherBatch, rate: f32, step: u64, sums: &mut Sums) -> Result<f64, Error> {
        let State { model, optimiser, average } = &mut self.state;
        let trains = if step < self.features_end { Trains::Features } else { Trains::All };
        let mut gradients = model.gradients(batch, trains, &self.compute);
        let most = if self.recipe.clip > 0.0 { self.recipe.clip } else { f32::INFINITY };
        let length = clip(&mut gradients.values, most);
        let outcome = gradients.outcome;
        if !outcome.loss.is_finite() || !length.is_finite() {
            return Err(Error::Diverged { step, rate });
        }
        let trained = model.layout().trained();
        optimiser.step(&mut model.values_mut()[..trained], &gradients.values, rate);
        if let Some(average) = average {
            average.follow(model.values());
        }
        sums.add(batch.candidates(), &[outcome.loss], &[outcome.correct]);
        Ok(length)
    }

    fn rate(&self, step: u64, total: u64, _: u64) -> f32 {
        self.recipe.schedule().rate(step, total, self.recipe.epochs)
    }

    fn validate_every(&self) -> Option<u64> {
        (self.validation > 0).then_some(self.recipe.validate_every)
    }

    fn validate(&self, extent: Extent, progress: &dyn Progress) -> Result<Validation, Error> {
        let most = match extent {
            Extent::Final(most) => most,
            Extent::Sample => None,
        };
        let file = self.model_file();
        let measure = |hides_names: bool| {
            let compute = Compute::among(self.compute.group(), self.recipe.precision, self.compute.threads());
            let mut reader = Reader::new(&file, self.problems, hides_names, compute)?;
            let company = Company { splits: &[Split::Validation], most, ..Company::default() };
            predict_together(&mut reader, self.problems, &company, progress)
        };
        if self.recipe.loss == Loss::Pool {
            let ranking = pool_ranking(self.problems, &measure(false)?)?;
            let accuracy = ranking.mean_average_precision;
            return Ok(Validation { accuracy, ..Validation::of_ranking(ranking) });
        }
        let mut validation = Validation::of(&measure(false)?);
        if !self.names.is_empty() {
            validation.hidden = Some(Validation::of(&measure(true)?).accuracy);
        }
        Ok(validation)
    }

    fn save_model(&self, run: Option<&RunFolder>, name: &str, line: &Line) -> Result<(), Error> {
        let mut file = self.model_file();
        file.origin.pairs = line.pairs;
        file.origin.validation_accuracy = line.validation.as_ref().map(|validation| validation.accuracy);
        file.origin.hidden_accuracy = line.validation.as_ref().and_then(|validation| validation.hidden);
        run.map_or(Ok(()), |run| file.save(&run.path(name), self.recipe.storage()))
    }
}
