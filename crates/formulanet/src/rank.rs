//! Which statements are worth using for a conjecture.
//!
//! The stages of [`crate::Engine`]: an [`Intake`] analyses statements, a [`Ranker`] has vectors of them and scores these,
//! [`Learned`] what recorded proofs say, [`Nameless`] what symbols say, and a [`Reading`] re-ranks the best.

mod intake;
mod lean;
#[doc(hidden)]
pub mod learned;
#[cfg(feature = "sqlite")]
mod library;
mod nameless;
mod overlap;
mod pool;
mod predict;
mod question;
mod ranker;
mod reading;
#[doc(hidden)]
pub mod reasons;
mod row;
mod scorer;
mod embedded;
mod shelf;
mod selection;
mod theory;
mod vectors;

pub use shelf::{Entry, Shelf};
pub use intake::{Intake, Premise, Premises};
pub use lean::{LeanIndex, LeanQuestion, LeanRanked, LeanSelector};
pub use learned::Learned;
#[cfg(feature = "sqlite")]
pub use library::{Added, Addition, Additions, Bookmark, Change, Learnt, Library, Made, Repaired, library_reader};
pub use pool::Pool;
pub use predict::{Choice, Predictor, Stock};
pub use embedded::EmbeddedAxioms;
pub use question::Question;
pub use nameless::Nameless;
pub use ranker::{Ranked, Ranker, order};
pub use reading::Reading;
pub use reasons::Reasons;
pub use row::{Row, Rows};
pub use scorer::{Query, Scoring};
pub use selection::{Marks, Selection, matches};
pub use theory::{Blend, Features, Goal, Method, Signals, Theory};
pub use vectors::Vectors;
