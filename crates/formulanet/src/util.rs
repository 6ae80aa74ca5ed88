//! What every room needs: numbers that look random, files that are written whole, rows of numbers.

pub(crate) mod files;
pub(crate) mod random;
pub(crate) mod vector;
