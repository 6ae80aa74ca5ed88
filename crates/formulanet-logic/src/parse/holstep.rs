//! HolStep.
