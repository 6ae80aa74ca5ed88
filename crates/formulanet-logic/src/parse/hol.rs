//! HOL.
