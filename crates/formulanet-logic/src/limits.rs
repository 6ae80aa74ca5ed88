//! How large an input may be.

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

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 16 << 20, depth: 20_000, nodes: 200_000, treelets: 5_000_000 }
    }
}

/// A formula whose graph would be larger than [`Limits`] allow.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("expected at most {limit} {what}, found {found}; raise the limit with --max-{what}")]
pub struct TooLarge {
    /// What there is too much of.
    pub what: &'static str,
    /// How much is allowed.
    pub limit: u64,
    /// How much there is, at least.
    pub found: u64,
}
