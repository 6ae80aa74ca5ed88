//! A tally: how often statements that look alike were useful in training, and trees that make one score of it.
//!
//! It is no network: it knows a statement by keys that many share (`tally/keys.rs`), each with a table of counts
//! (`tally/table.rs`), and by what a memory has of the statement itself. Where a network errs, it often does not; so the two
//! decide together.

mod file;
mod goal;
mod keys;
mod symbols;
mod table;
mod terms;

use formulanet_logic::View;
use formulanet_net::{GraphInput, Hints};
use serde::{Deserialize, Serialize};

pub(crate) use goal::Goal;
pub(crate) use keys::{Described, describe, names};
pub(crate) use symbols::Symbols;
pub(crate) use table::{Code, Table};

use crate::data::named_view;
use crate::model::Forest;
use crate::model::knowledge::memory::{Asked, Seen};

/// Counts of training with trees that judge by them.
#[derive(Clone, PartialEq, Debug)]
pub struct Tally {
    /// What it was made of, and how.
    pub origin: TallyOrigin,
    /// The label of every token.
    pub vocabulary: Vec<String>,
    pub(crate) symbols: Symbols,
    /// A table for every key.
    pub(crate) tables: Vec<Table>,
    pub(crate) forest: Forest,
    /// What statements were for the conjectures of training.
    pub(crate) seen: Seen,
}

/// Where a tally comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TallyOrigin {
    /// Which graph is made of a formula.
    #[serde(with = "named_view")]
    pub view: View,
    /// Whether it looks at the conjecture.
    pub is_conditional: bool,
    /// Name of the data set.
    pub data: String,
    /// Tells one data set from another.
    pub fingerprint: String,
    /// Pairs that it counts.
    pub pairs: u64,
    /// The shipped model that has the memory of this one, if the file has none: it was made of the same data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_of: Option<String>,
    /// Version of the program.
    pub program: String,
}

/// What is known of a conjecture, whatever the statement; nothing if it does not matter.
pub(crate) struct TallyGoal {
    goal: Option<Goal>,
    asked: Asked,
}

impl Tally {
    /// What is known of a conjecture.
    pub(crate) fn goal(&self, conjecture: GraphInput<'_>) -> TallyGoal {
        if !self.origin.is_conditional {
            return TallyGoal { goal: None, asked: Asked::default() };
        }
        TallyGoal {
            goal: Some(Goal::new(conjecture, &self.symbols)),
            asked: self.seen.conjecture(conjecture),
        }
    }

    /// The logarithm of the odds that a statement is useful for a conjecture.
    pub(crate) fn score(&self, statement: GraphInput<'_>, conjecture: &TallyGoal) -> f32 {
        let described = describe(&self.symbols, statement, conjecture.goal.as_ref());
        let codes = self.tables.iter().zip(&described.keys).map(|(table, &key)| table.get(key));
        let hints = self.seen.hints(&self.seen.statement(statement), &conjecture.asked);
        self.forest.score(&row(codes, &described.numbers, &hints, self.origin.is_conditional))
    }

    /// How many keys its tables have.
    pub fn entries(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }

    /// How many trees it has.
    pub fn trees(&self) -> usize {
        self.forest.len()
    }
}

/// What trees look at: the counts of every key, numbers, and what is remembered of the statement.
pub(crate) fn row(
    codes: impl Iterator<Item = Code>,
    numbers: &[f32],
    hints: &Hints,
    is_conditional: bool,
) -> Vec<f32> {
    let mut row: Vec<f32> = codes.flat_map(Code::numbers).collect();
    row.extend(numbers);
    row.extend(&hints[..remembered(is_conditional)]);
    row
}

/// How many numbers a row has.
pub(crate) fn width(is_conditional: bool) -> usize {
    2 * names(is_conditional).count() + keys::numbers(is_conditional) + remembered(is_conditional)
}

/// How many hints are looked at. Without a conjecture, the first two say all.
fn remembered(is_conditional: bool) -> usize {
    if is_conditional { Hints::default().len() } else { 2 }
}
