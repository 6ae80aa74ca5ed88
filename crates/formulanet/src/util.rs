//! What every room needs, one copy each.

pub(crate) mod date;
pub(crate) mod distinct;
pub(crate) mod files;
pub(crate) mod hash;
#[cfg(feature = "plots")]
pub(crate) mod plot;
pub(crate) mod progress;
pub(crate) mod random;
pub(crate) mod temporary;
pub(crate) mod vector;
