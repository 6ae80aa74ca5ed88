//! How large an input may be.

use std::fmt;

use thiserror::Error;

/// Bounds on one statement. They keep hostile or damaged input from taking memory and time without bound; the
/// defaults are far above anything in HolStep or Mizar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes in one line or one formula.
    pub bytes: usize,
    /// Depth of nested brackets and binders.
    pub depth: usize,
    /// Nodes of a formula and of its graph.
    pub nodes: usize,
    /// Treelets of a graph, which grow with the square of a node's children.
    pub treelets: u64,
}

/// One of the [`Limits`], or of a problem's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Limit {
    /// [`Limits::bytes`]
    Bytes,
    /// [`Limits::depth`]
    Depth,
    /// [`Limits::nodes`]
    Nodes,
    /// [`Limits::treelets`]
    Treelets,
    /// [`ProblemLimits::edges`](crate::problem::ProblemLimits::edges)
    Edges,
    /// [`ProblemLimits::statements`](crate::problem::ProblemLimits::statements)
    Statements,
}

impl Limit {
    /// The counted quantity: `bytes`, `depth`, `nodes`, ...
    pub fn name(self) -> &'static str {
        match self {
            Limit::Bytes => "bytes",
            Limit::Depth => "depth",
            Limit::Nodes => "nodes",
            Limit::Treelets => "treelets",
            Limit::Edges => "edges",
            Limit::Statements => "statements",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 16 << 20, depth: 20_000, nodes: 200_000, treelets: 5_000_000 }
    }
}

/// A formula whose graph would be larger than [`Limits`] allow.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("expected at most {limit} {what}, found {found}")]
pub struct TooLarge {
    /// The limit that is exceeded.
    pub what: Limit,
    /// How much is allowed.
    pub limit: u64,
    /// How much there is, at least.
    pub found: u64,
}

impl TooLarge {
    /// An error if there is more than a limit allows.
    pub(crate) fn check(what: Limit, found: u64, limit: u64) -> Result<(), TooLarge> {
        if found > limit { Err(TooLarge { what, limit, found }) } else { Ok(()) }
    }
}
