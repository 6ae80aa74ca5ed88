//! How far long work is: the one thing that programs watch it by, and stop it.

use crate::Error;

/// A part of some work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stage<'a> {
    /// The activity, such as `reading`.
    pub name: &'a str,
    /// Units that are done already, in work that goes on.
    pub done: u64,
    /// Units in total; 0 if unknown.
    pub of: u64,
    /// The unit: `bytes`, `pairs`, `batches`.
    pub unit: &'static str,
}

/// Watches long work, and may stop it. Every method has a default, which does nothing.
pub trait Progress: Sync {
    /// A stage begins.
    fn begin(&self, _: Stage<'_>) {}
    /// More units of the stage are done.
    fn advance(&self, _units: u64) {}
    /// Something worth a line has happened.
    fn note(&self, _message: &str) {}
    /// Whether to stop as soon as possible.
    fn is_stopped(&self) -> bool {
        false
    }
    /// [`Error::Interrupted`] if it is to stop.
    ///
    /// # Errors
    ///
    /// That one.
    fn check(&self) -> Result<(), Error> {
        if self.is_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
