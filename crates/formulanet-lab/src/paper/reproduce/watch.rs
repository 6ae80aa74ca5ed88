//! Progress of the parts of the work, as progress of the whole.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use formulanet_train::{Progress, Stage};

/// A part under a name of its own.
pub(super) struct Named<'a> {
    pub(super) progress: &'a dyn Progress,
    pub(super) name: String,
}

impl Progress for Named<'_> {
    fn begin(&self, stage: Stage<'_>) {
        // A stage of unknown length belongs to the one before it.
        if stage.of > 0 {
            self.progress.begin(Stage { name: &self.name, ..stage });
        }
    }

    fn advance(&self, units: u64) {
        self.progress.advance(units);
    }

    fn is_stopped(&self) -> bool {
        self.progress.is_stopped()
    }
}

/// Stops training after a while, and tells how fast it was.
pub(super) struct Probe<'a> {
    progress: &'a dyn Progress,
    time: Duration,
    /// When training began, and when each batch was done.
    times: Mutex<Vec<Instant>>,
}

impl<'a> Probe<'a> {
    pub(super) fn new(progress: &'a dyn Progress, time: Duration) -> Self {
        Probe { progress, time, times: Mutex::default() }
    }

    pub(super) fn batches_per_second(&self) -> f64 {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        // The first batch also pays for what is done once.
        let first = usize::from(times.len() > 2);
        match times.get(first..) {
            Some([begin, .., end]) => {
                let batches = times.len() - 1 - first;
                batches as f64 / end.duration_since(*begin).as_secs_f64().max(1e-6)
            }
            _ => 0.0,
        }
    }
}

impl Progress for Probe<'_> {
    fn begin(&self, _: Stage<'_>) {
        self.advance(1);
    }

    fn advance(&self, _: u64) {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
    }

    fn is_stopped(&self) -> bool {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        self.progress.is_stopped() || times.first().is_some_and(|begin| begin.elapsed() >= self.time)
    }
}
