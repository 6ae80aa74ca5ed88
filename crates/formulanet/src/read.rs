//! Bytes to named formulas, whatever the format: the only reader of statements.
//!
//! A [`Source`] is opened once. It looks at its first bytes, keeps them, and says what format and language it is in;
//! [`Source::items`] then reads one statement after the other, so that memory does not grow with the input.

mod format;
mod items;
mod lean;
mod named;
mod olean;
mod predict;
mod proofs;
mod skipped;
mod source;
mod statement;
mod text;
mod theory;
mod toplevel;
mod tptp;

pub use format::Format;
pub use items::{Item, Items, is_goal};
pub use lean::{LeanDump, LeanLine};
pub use olean::{LeanFact, LeanModules};
pub use predict::{HammerFiles, HammerLibrary, question};
pub use proofs::{Proof, derivations_of, read_proofs};
pub use skipped::Skipped;
pub use source::{Source, read_text};
pub use statement::{Statement, Syntax, parse};
pub use text::{has_returns_alone, without_mark};
pub use theory::Lines;
pub use theory::{Oddities, TheoryFact, TheoryFile};
pub use tptp::{Annotated, Damaged, Problem};
