//! Which statements are worth using for a conjecture.
//!
//! An [`Intake`] reads statements as a model does, a [`Ranker`] makes rows of them and scores these for a conjecture,
//! [`Candidates`] are what a question is about, and a [`Selection`] says which of them to take. A [`Library`] keeps
//! statements with their rows in a file, a [`Problem`] is a TPTP problem to cut down.

mod candidates;
mod intake;
mod language;
mod lean;
#[doc(hidden)]
pub mod learned;
#[cfg(feature = "sqlite")]
mod library;
mod nameless;
mod overlap;
mod pace;
mod pool;
mod predict;
mod problem;
mod question;
mod ranker;
mod reading;
mod reasons;
mod row;
mod scorer;
mod selection;
mod theory;
mod vectors;

pub use candidates::{Candidates, Entry, Scores, Shelf, Stored};
pub use intake::{Intake, Premise, Premises};
pub use language::Languages;
pub use lean::{LeanIndex, LeanQuestion, LeanRanked, LeanSelector};
pub use learned::Learned;
#[cfg(feature = "sqlite")]
pub use library::{Added, Addition, Learnt, Library, Made, News};
pub use pace::Pace;
pub use pool::Pool;
pub use predict::{Choice, Predictor, Stock};
pub use problem::{EmbeddedAxioms, Knowledge, Problem, Unreadable, WithFacts, annotated, is_goal};
pub use question::{Order, Question, Wishes};
pub use ranker::{Ranked, Ranker, order};
pub use reading::{READ, Reading, Trust};
pub use reasons::Reasons;
pub use row::{Row, Rows};
pub use scorer::{Query, Scoring};
pub use selection::{Marks, Selection, matches};
pub use theory::{Blend, FEW, Features, Goal, Method, Signals, Theory};
pub use vectors::Vectors;
