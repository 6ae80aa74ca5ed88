//! Statements that could not be read, where reading goes on nevertheless.

use crate::Error;

/// Statements that were skipped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SkippedStatements {
    /// The number of statements.
    pub count: usize,
    /// Place and reason of the first of them.
    pub first: Vec<String>,
}

impl SkippedStatements {
    /// Reasons that are kept, at most: of a file that is no file of statements, every line may be one.
    const MOST_REASONS: usize = 20;

    /// Notes a statement.
    pub fn note(&mut self, error: &Error) {
        self.count += 1;
        if self.first.len() < Self::MOST_REASONS {
            self.first.push(error.to_string());
        }
    }

    /// Adds what was passed over later.
    pub fn add(&mut self, other: SkippedStatements) {
        self.count += other.count;
        let free = Self::MOST_REASONS - self.first.len();
        self.first.extend(other.first.into_iter().take(free));
    }
}
