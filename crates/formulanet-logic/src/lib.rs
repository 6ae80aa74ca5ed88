//! Formulas of higher-order logic, and the graphs that FormulaNet reads.
//!
//! The first arrow of the system: text → [`Formula`] → [`Graph`]. Parsers for HOL Light ([`hol`]), HolStep
//! ([`holstep`]), TPTP ([`tptp`]), DeepMath ([`deepmath`]) and Lean ([`lean`]) make one syntax tree; a [`GraphBuilder`] makes one of
//! five graph views of it, and [`problem`] makes one graph of many formulas; [`draw`] shows graphs as DOT or SVG.
//! Nothing here reads files, knows a vocabulary or sees a tensor.

pub mod draw;
mod error;
mod formula;
mod graph;
mod hash;
mod limits;
mod matching;
mod names;
mod parse;
pub mod problem;
mod subformula;
mod symbol;
pub mod syntax;

pub use error::{ParseError, Position};
pub use formula::{Binder, Children, Display, Formula, Head, Preorder, Pretty, TermId, VarId, Variable};
pub use graph::{Graph, GraphBuilder, NodeId, NodeKind, View};
pub use limits::{Limit, Limits, TooLarge};
pub use matching::is_instance;
pub use names::Names;
pub use parse::{ReadError, deepmath, hol, holstep, lean, pass_line, tptp};
pub use symbol::{Interner, Symbol};
