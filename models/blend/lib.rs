#![doc = include_str!("README.md")]

/// The model file: decision trees over ranking features.
pub static MODEL: &[u8] = include_bytes!("blend.safetensors");
/// The model card.
pub static CARD: &str = include_str!("README.md");
