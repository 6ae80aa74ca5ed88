//! Stops long work.

use std::sync::atomic::{AtomicU64, Ordering};

use formulanet_train::Progress;

/// Stops after a number of units.
pub struct Stopper(AtomicU64);

impl Stopper {
    /// Lets a number of units pass.
    pub fn after(units: u64) -> Self {
        Stopper(units.into())
    }
}

impl Progress for Stopper {
    fn advance(&self, units: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).saturating_sub(units), Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}
