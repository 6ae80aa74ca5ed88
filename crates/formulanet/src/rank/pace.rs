//! How long a computation may take.

use crate::Error;
use crate::model::encode::Encoded;

/// How a computation goes on: as long as it takes, or with a look at the clock from time to time.
#[derive(Clone, Copy)]
pub enum Pace<'a> {
    /// As long as it takes, on all cores.
    Free,
    /// In small pieces. Before each of them this is asked, and its error ends the computation.
    Timed(&'a dyn Fn() -> Result<(), Error>),
}

impl Pace<'_> {
    /// Whether to go on.
    ///
    /// # Errors
    ///
    /// If not.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Pace::Free => Ok(()),
            Pace::Timed(check) => check(),
        }
    }

    /// Consecutive pieces of formulas to embed: all at once, or of about the same cost.
    pub fn pieces<'i, T>(
        &self,
        items: &'i [T],
        of: impl Fn(&T) -> &Encoded,
    ) -> impl Iterator<Item = &'i [T]> {
        /// Edges and treelets between two looks at the clock.
        const MOST: usize = 4096;
        let most = if matches!(self, Pace::Free) { usize::MAX } else { MOST };
        let mut rest = items;
        std::iter::from_fn(move || {
            let mut sum = 0usize;
            let fitting = rest.iter().take_while(|item| {
                sum = sum.saturating_add(of(item).cost());
                sum <= most
            });
            let count = fitting.count().max(1).min(rest.len());
            let (piece, behind) = rest.split_at(count);
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        })
    }
}
