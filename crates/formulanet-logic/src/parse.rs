//! Text to formula, one module per language.

pub mod hol;
pub mod holstep;
pub mod tptp;
