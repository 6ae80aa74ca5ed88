//! One sitting of a run: from where the run stands to its end, or to where it is stopped.

use std::sync::mpsc;
use std::time::Instant;

use formulanet::net::{Compute, Shape, State};
use serde::{Deserialize, Serialize};

use super::{Event, Line, RunEnd, RunFolder, RunOptions, Validation, shared};
use crate::{Error, Progress, Silent};

/// The progress of a run: the part of a checkpoint that is not weights.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reached {
    pub(super) step: u64,
    seconds: f64,
    /// The best accuracy of a validation so far.
    best: Option<f64>,
    /// Examples so far; if nothing is said, all batches have as many.
    #[serde(default)]
    pairs: Option<u64>,
}

/// The network that a run trains.
pub(super) trait Learner {
    /// The batch of a step.
    type Batch: Send;
    /// The shape of its network.
    type Shape: Shape;

    /// Everything that training changes.
    fn state(&self) -> &State<Self::Shape>;
    /// Its resources.
    fn compute(&self) -> &Compute;
    /// The number of examples in a batch.
    fn examples(batch: &Self::Batch) -> usize;
    /// Takes a step; returns the length of the gradient.
    fn step(&mut self, batch: &Self::Batch, rate: f32, step: u64, sums: &mut Sums) -> Result<f64, Error>;
    /// The learning rate of a step, given the number of all steps and of steps in an epoch.
    fn rate(&self, step: u64, total: u64, batches: u64) -> f32;
    /// Batches between two validations, if anything is held out.
    fn validate_every(&self) -> Option<u64>;
    /// Looks at held-out conjectures, as many as `extent` says.
    fn validate(&self, extent: Extent, progress: &dyn Progress) -> Result<Validation, Error>;
    /// Writes the model as it is now, in the first process. All take part, because a model is more than its weights.
    fn save_model(&self, run: Option<&RunFolder>, name: &str, line: &Line) -> Result<(), Error>;
}

/// How much of what is held out a validation looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// As much as on the way.
    Sample,
    /// As many pairs as this, or all.
    Final(Option<usize>),
}

/// Sums since the last line of the log.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) batches: usize,
    pub(super) pairs: usize,
    pub(super) loss: Vec<f64>,
    pub(super) correct: Vec<usize>,
}

impl Sums {
    pub(super) fn add(&mut self, examples: usize, losses: &[f64], correct: &[usize]) {
        self.batches += 1;
        self.pairs += examples;
        self.loss.resize(losses.len(), 0.0);
        self.correct.resize(correct.len(), 0);
        self.loss.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
        self.correct.iter_mut().zip(correct).for_each(|(sum, n)| *sum += n);
    }
}

pub(super) struct Sitting<'a, L> {
    pub(super) trainer: L,
    /// In the first process.
    pub(super) folder: Option<RunFolder>,
    pub(super) options: RunOptions,
    pub(super) reached: Reached,
    /// Batches of the whole training, and of an epoch.
    pub(super) total: u64,
    pub(super) batches: u64,
    pub(super) progress: &'a dyn Progress,
    pub(super) listen: &'a mut dyn FnMut(Event<'_>),
}

impl<L: Learner> Sitting<'_, L> {
    /// Takes steps with batches as they come.
    pub(super) fn run(mut self, batches: &mpsc::Receiver<L::Batch>) -> Result<RunEnd, Error> {
        let (begin, earlier) = (Instant::now(), self.reached.seconds);
        let (mut saved, mut last_line, mut sums) = (begin, begin, Sums::default());
        let group = self.trainer.compute().group();
        let mut waited = group.waited();
        let validate_every = self.trainer.validate_every();
        while self.reached.step < self.total {
            let batch = batches.recv().expect("batches are made until the last one");
            let (step, examples) = (self.reached.step, L::examples(&batch) as u64);
            let rate = self.trainer.rate(step, self.total, self.batches);
            let gradient = self.trainer.step(&batch, rate, step, &mut sums)?;
            self.reached.step += 1;
            let pairs = self.reached.pairs.unwrap_or(step * examples) + examples;
            self.reached.pairs = Some(pairs);
            self.reached.seconds = earlier + begin.elapsed().as_secs_f64();
            self.progress.advance(1);
            let (step, is_last) = (self.reached.step, self.reached.step == self.total);
            let validates = validate_every.is_some_and(|every| is_last || step.is_multiple_of(every));
            if step.is_multiple_of(self.options.log_every) || validates || is_last {
                let speed = sums.pairs as f64 / last_line.elapsed().as_secs_f64().max(1e-9);
                let validation = if validates { self.validate(is_last)? } else { None };
                let line = Line {
                    step,
                    pairs,
                    epoch: step as f64 / self.batches as f64,
                    seconds: self.reached.seconds,
                    speed,
                    waited: (group.waited() - waited).as_secs_f64(),
                    rate,
                    gradient,
                    loss: sums.loss.iter().map(|loss| loss / sums.batches as f64).collect(),
                    accuracy: sums.correct.iter().map(|&n| n as f64 / sums.pairs as f64).collect(),
                    validation,
                };
                self.log(&line)?;
                if is_last {
                    return self.finish(line);
                }
                (sums, last_line, waited) = (Sums::default(), Instant::now(), group.waited());
            }
            let is_over = self.progress.is_stopped()
                || self.options.most_time.is_some_and(|most| begin.elapsed() >= most);
            // Processes are told to stop at different moments.
            let is_over = group.any(is_over);
            if is_over || saved.elapsed() >= self.options.checkpoint_every {
                self.save()?;
                saved = Instant::now();
            }
            if is_over {
                return Ok(RunEnd::Stopped(step));
            }
        }
        // The run was at its end already.
        Ok(RunEnd::Finished(None))
    }

    /// Validates. The last validation takes long, so it has a bar of its own; who stops it goes without.
    fn validate(&self, is_last: bool) -> Result<Option<Validation>, Error> {
        if !is_last {
            return self.trainer.validate(Extent::Sample, &Silent).map(Some);
        }
        // Several processes go through it together.
        let is_alone = self.trainer.compute().group().size() == 1;
        let progress = if is_alone && self.options.shows_validation { self.progress } else { &Silent };
        match self.trainer.validate(Extent::Final(self.options.final_validation), progress) {
            Err(Error::Interrupted) => Ok(None),
            validated => validated.map(Some),
        }
    }

    /// Writes and tells a line of the log; after a validation, keeps the model if it is the best so far.
    fn log(&mut self, line: &Line) -> Result<(), Error> {
        if let Some(folder) = &mut self.folder {
            folder.log(line)?;
        }
        (self.listen)(Event::Logged(line));
        let Some(validation) = &line.validation else { return Ok(()) };
        shared::same_weights(self.trainer.compute().group(), self.trainer.state())?;
        if self.reached.best.is_none_or(|best| validation.accuracy > best) {
            self.reached.best = Some(validation.accuracy);
            self.trainer.save_model(self.folder.as_ref(), "best.safetensors", line)?;
        }
        self.folder.as_ref().map_or(Ok(()), RunFolder::draw)
    }

    /// Writes a checkpoint.
    fn save(&self) -> Result<(), Error> {
        self.folder.as_ref().map_or(Ok(()), |folder| folder.save(self.trainer.state(), &self.reached))
    }

    /// Writes the model.
    fn finish(self, line: Line) -> Result<RunEnd, Error> {
        self.trainer.save_model(self.folder.as_ref(), "model.safetensors", &line)?;
        self.save()?;
        Ok(RunEnd::Finished(line.validation))
    }
}
