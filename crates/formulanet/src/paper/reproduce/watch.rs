//! One watcher for everything: the work has parts that each tell their progress in their own way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Watcher;
use crate::data;
use crate::measure::evaluate::Watch;
use crate::train::{self, Line, Plan};

/// Of preparing data.
pub(super) struct Reading<'a> {
    watcher: &'a dyn Watcher,
    task: String,
    bytes: AtomicU64,
}

impl<'a> Reading<'a> {
    pub(super) fn new(watcher: &'a dyn Watcher, task: String) -> Self {
        Reading { watcher, task, bytes: AtomicU64::new(0) }
    }
}

impl data::Progress for Reading<'_> {
    fn start(&self, bytes: u64) {
        self.watcher.begin(&self.task, bytes);
    }

    fn advance(&self, bytes: u64) {
        self.watcher.done(self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes);
    }

    fn is_stopped(&self) -> bool {
        self.watcher.is_stopped()
    }
}

/// Of training.
pub(super) struct Training<'a> {
    pub(super) watcher: &'a dyn Watcher,
    pub(super) name: &'a str,
}

impl train::Watcher for Training<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.watcher.begin(&format!("training {}", self.name), plan.total);
        self.watcher.done(plan.first);
    }

    fn step(&mut self, step: u64) {
        self.watcher.done(step);
    }

    fn line(&mut self, line: &Line) {
        if let Some(validation) = &line.validation {
            let (name, accuracy) = (self.name, 100.0 * validation.accuracy);
            self.watcher.note(&format!("{name}: {accuracy:.1} % after {} pairs", line.pairs));
        }
    }

    fn is_stopped(&self) -> bool {
        self.watcher.is_stopped()
    }
}

/// Of evaluating.
pub(super) struct Evaluating<'a> {
    pub(super) watcher: &'a dyn Watcher,
}

impl Watch for Evaluating<'_> {
    fn done(&self, pairs: usize, _: usize) {
        self.watcher.done(pairs as u64);
    }

    fn is_stopped(&self) -> bool {
        self.watcher.is_stopped()
    }
}

/// Watches training for a while, and counts.
pub(super) struct Probe<'a> {
    watcher: &'a dyn Watcher,
    time: Duration,
    batch: usize,
    begin: Instant,
    /// When the first batch was done: it also pays for what is done once.
    first: Option<Instant>,
    /// The last batch, and when it was done.
    last: Option<(u64, Instant)>,
}

impl<'a> Probe<'a> {
    pub(super) fn new(watcher: &'a dyn Watcher, time: Duration) -> Self {
        Probe { watcher, time, batch: 0, begin: Instant::now(), first: None, last: None }
    }

    pub(super) fn pairs_per_second(&self) -> f64 {
        let Some((steps, last)) = self.last else { return 0.0 };
        let (steps, begin) = match self.first {
            Some(first) if steps > 1 => (steps - 1, first),
            _ => (steps, self.begin),
        };
        (steps * self.batch as u64) as f64 / last.duration_since(begin).as_secs_f64().max(1e-6)
    }
}

impl train::Watcher for Probe<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.batch = plan.batch;
        self.begin = Instant::now();
    }

    fn step(&mut self, step: u64) {
        let now = Instant::now();
        self.first.get_or_insert(now);
        self.last = Some((step, now));
    }

    fn line(&mut self, _: &Line) {}

    fn is_stopped(&self) -> bool {
        self.watcher.is_stopped() || self.begin.elapsed() >= self.time
    }
}
