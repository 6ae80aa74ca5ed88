//! Bytes to named formulas, whatever the format: the only reader of statements.
//!
//! A [`Source`] is opened once. It looks at its first bytes, keeps them, and says what format and language it is in;
//! [`Source::items`] then reads one statement after the other, so that memory does not grow with the input.

mod format;
mod items;
mod lines;
mod newlines;
mod proof_corpus;
mod proofs;
mod skipped;
mod source;
mod toplevel;
mod tptp;

pub use format::Format;
pub use items::{SourceItem, SourceItems, is_goal};
pub use newlines::{has_returns_alone, without_mark};
pub use proof_corpus::{JsonLines, ProofCorpusFact, ProofCorpusFile, ProofWarnings};
pub use proofs::{Proof, derivations_of, read_proofs};
pub use skipped::SkippedStatements;
pub(crate) use source::not_utf8;
pub use source::{Source, read_text};
pub use tptp::{AnnotatedFormula, TptpReader, UnreadableStatement};
