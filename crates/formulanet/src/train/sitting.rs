//! One sitting of a run: from where the run stands to its end, or to where it is stopped.

use std::sync::mpsc;
use std::time::Instant;

use formulanet_net::Batch;
use serde::{Deserialize, Serialize};

use super::trainer::{Sums, Trainer};
use super::{Event, Line, RunEnd, RunFolder, RunOptions, shared};
use crate::{Error, Progress};

/// How far a run is: what a checkpoint has beside the numbers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reached {
    pub(super) step: u64,
    seconds: f64,
    /// The best accuracy of a validation so far.
    best: Option<f64>,
}

pub(super) struct Sitting<'a> {
    pub(super) trainer: Trainer<'a>,
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

impl Sitting<'_> {
    /// Takes steps with batches as they come.
    pub(super) fn run(mut self, batches: &mpsc::Receiver<Batch>) -> Result<RunEnd, Error> {
        let (begin, earlier) = (Instant::now(), self.reached.seconds);
        let (mut saved, mut last_line, mut sums) = (begin, begin, Sums::default());
        let (group, recipe) = (self.trainer.compute.group(), self.trainer.recipe);
        let mut waited = group.waited();
        let validate_every = recipe.validate_every.div_ceil(recipe.batch as u64).max(1);
        while self.reached.step < self.total {
            let batch = batches.recv().expect("batches are made until the last one");
            let (step, rate) = (self.reached.step, self.rate());
            let gradient = self.trainer.step(&batch, rate, step, &mut sums)?;
            self.reached.step += 1;
            self.reached.seconds = earlier + begin.elapsed().as_secs_f64();
            self.progress.advance(1);
            let (step, is_last) = (self.reached.step, self.reached.step == self.total);
            let validates =
                !self.trainer.validation.is_empty() && (is_last || step.is_multiple_of(validate_every));
            if step.is_multiple_of(self.options.log_every) || validates || is_last {
                let speed = sums.pairs as f64 / last_line.elapsed().as_secs_f64().max(1e-9);
                let validation = if validates { Some(self.trainer.validate(is_last)?) } else { None };
                let line = Line {
                    step,
                    pairs: step * batch.examples() as u64,
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

    /// The learning rate of the next step.
    fn rate(&self) -> f32 {
        let recipe = self.trainer.recipe;
        let epochs = recipe.epochs.min(self.total.div_ceil(self.batches).max(1) as u32);
        recipe.schedule().rate(self.reached.step, self.total, epochs)
    }

    /// Writes and tells a line of the log; after a validation, keeps the model if it is the best so far.
    fn log(&mut self, line: &Line) -> Result<(), Error> {
        if let Some(folder) = &mut self.folder {
            folder.log(line)?;
        }
        (self.listen)(Event::Logged(line));
        let Some(validation) = &line.validation else { return Ok(()) };
        shared::same_weights(self.trainer.compute.group(), &self.trainer.state)?;
        if self.reached.best.is_none_or(|best| validation.accuracy > best) {
            self.reached.best = Some(validation.accuracy);
            self.trainer.save_model(self.folder.as_ref(), "best.safetensors", line)?;
        }
        self.folder.as_ref().map_or(Ok(()), RunFolder::draw)
    }

    /// Writes a checkpoint.
    fn save(&self) -> Result<(), Error> {
        self.folder.as_ref().map_or(Ok(()), |folder| folder.save(&self.trainer.state, &self.reached))
    }

    /// Writes the model.
    fn finish(self, line: Line) -> Result<RunEnd, Error> {
        self.trainer.save_model(self.folder.as_ref(), "model.safetensors", &line)?;
        self.save()?;
        Ok(RunEnd::Finished(line.validation))
    }
}
