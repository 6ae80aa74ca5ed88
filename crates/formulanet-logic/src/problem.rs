//! A conjecture and any number of statements as one graph.
//!
//! Every symbol (function, predicate, constant) is one node that all its occurrences in all formulas share, and equal
//! sub-formulas are one node, too. Neither variables nor symbols have names in it: two problems that differ only in
//! names are the same arrays, byte for byte. What a symbol is called is kept apart, for those who want to know.
//!
//! `&` and `|` are flat; a chain of `!` and `=>` is one rule with edges to the variables it binds, to its guards and
//! to its body; a chain of `?` is one node. A negation is a mark of the edge that leads to what is negated. Free
//! variables belong to a rule around the whole statement.
//!
//! A [`StatementBuilder`] makes the arrays of one statement, which can be kept; a [`ProblemBuilder`] puts statements
//! together and shares what they have in common.
//!
//! ```
//! use formulanet_logic::problem::{ProblemBuilder, ProblemLimits, StatementBuilder};
//! use formulanet_logic::{Interner, Limits, tptp};
//! let mut names = Interner::new();
//! let mut statements = StatementBuilder::new(Limits::default());
//! let mut problem = ProblemBuilder::new(ProblemLimits::default());
//! for text in ["p(f(a))", "![X]: (p(X) => q(X))", "q(f(a)) | ~ p(f(a))"] {
//!     let formula = tptp::parse_formula(text, tptp::Language::Fof, Limits::default(), &mut names)?;
//!     problem.add(statements.build(&formula)?.view())?;
//! }
//! let graph = problem.finish();
//! assert_eq!((graph.statement_count(), graph.node_count(), graph.symbol_count()), (3, 9, 4));
//! // The conjecture is the first statement, and `p(f(a))` in the last one is its root.
//! assert!(graph.statement(2).contains(&graph.root(0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod graph;
mod labels;
mod lower;
mod nodes;
mod statement;
#[cfg(test)]
mod tests;

pub use build::{ProblemBuilder, ProblemLimits};
pub use graph::ProblemGraph;
pub use labels::{EdgeClass, NodeLabel};
pub use lower::StatementBuilder;
pub use statement::{StatementGraph, StatementView};

/// In place of a symbol's number, for a node that is no occurrence of a symbol.
pub const NO_SYMBOL: u32 = u32::MAX;
