#![doc = include_str!("README.md")]

/// The model file: a re-ranker for any language.
pub static MODEL: &[u8] = include_bytes!("model.safetensors");
/// The model card.
pub static CARD: &str = include_str!("README.md");
