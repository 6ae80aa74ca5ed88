//! When a computation gives up.

use std::sync::Arc;
use std::time::Instant;

use crate::Error;
use crate::model::encode::Encoded;

/// When a computation gives up: never, at a moment, or when a condition holds.
#[derive(Clone, Default)]
pub struct Cancel(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Cancel {
    /// Never gives up.
    pub fn never() -> Self {
        Cancel(None)
    }

    /// Gives up at a moment.
    pub fn at(deadline: Instant) -> Self {
        Self::when(move || Instant::now() >= deadline)
    }

    /// Gives up once a condition holds, which is checked every few milliseconds.
    pub fn when(stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Cancel(Some(Arc::new(stop)))
    }

    /// Returns an error if it is time to give up.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Interrupted`] then.
    pub fn check(&self) -> Result<(), Error> {
        match &self.0 {
            Some(stop) if stop() => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }

    /// Splits formulas into runs to embed between two checks: all at once if nothing cancels, else runs of about the same cost.
    #[doc(hidden)]
    pub fn batches<'i, T>(
        &self,
        items: &'i [T],
        of: impl Fn(&T) -> &Encoded,
    ) -> impl Iterator<Item = &'i [T]> {
        /// Edges and treelets between two checks.
        const MOST: usize = 4096;
        let most = if self.0.is_some() { MOST } else { usize::MAX };
        let mut rest = items;
        std::iter::from_fn(move || {
            let mut sum = 0usize;
            let fitting = rest.iter().take_while(|item| {
                sum = sum.saturating_add(of(item).cost());
                sum <= most
            });
            let count = fitting.count().max(1).min(rest.len());
            let (batch, after) = rest.split_at(count);
            rest = after;
            (!batch.is_empty()).then_some(batch)
        })
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Cancel(..)" } else { "Cancel(never)" })
    }
}
