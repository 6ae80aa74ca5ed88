//! Small tools that stand in one place each.

pub mod files;
pub mod glob;
pub mod hash;
pub mod map;
pub mod random;
pub mod temporary;
pub mod vector;
