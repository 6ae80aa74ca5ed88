//! Text to formula, one module per language.

pub mod deepmath;
pub mod hol;
pub mod holstep;
pub mod lean;
mod lines;
pub mod tptp;

pub(crate) use hol::operator_of;
pub use lines::{ReadError, pass_line};
