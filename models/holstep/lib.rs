#![doc = include_str!("README.md")]

/// The model file: a classifier of pairs.
pub static MODEL: &[u8] = include_bytes!("model.safetensors");
/// The model card.
pub static CARD: &str = include_str!("README.md");
