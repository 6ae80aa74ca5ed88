//! The models that are built in.

use crate::Language;

/// A model that is built in: its name, its file, its card.
type BuiltIn = (&'static str, &'static [u8], &'static str);

/// The built-in models, as the features of this crate choose them. They are read from statics when this runs: a constant would be
/// another copy of them in each part of the program that uses it.
fn models() -> impl Iterator<Item = BuiltIn> {
    [
        #[cfg(feature = "model-hol")]
        ("hol-premises", formulanet_model_hol::MODEL, formulanet_model_hol::CARD),
        #[cfg(feature = "model-holstep")]
        ("holstep", formulanet_model_holstep::MODEL, formulanet_model_holstep::CARD),
        #[cfg(feature = "model-mizar-lists")]
        ("mizar", formulanet_model_mizar_lists::MODEL, formulanet_model_mizar_lists::CARD),
        #[cfg(feature = "model-mizar")]
        ("mizar-premises", formulanet_model_mizar::MODEL, formulanet_model_mizar::CARD),
        #[cfg(feature = "model-reranker")]
        ("reader", formulanet_model_reranker::MODEL, formulanet_model_reranker::CARD),
    ]
    .into_iter()
}

/// Those that read statements together.
const JOINT: [&str; 2] = ["mizar", "reader"];

/// The file of a built-in model.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    models().find(|(known, ..)| *known == name).map(|(_, bytes, _)| bytes)
}

/// The card of a built-in model.
pub fn card(name: &str) -> Option<&'static str> {
    models().find(|(known, ..)| *known == name).map(|(.., card)| card)
}

/// All names.
pub fn all() -> impl Iterator<Item = &'static str> {
    models().map(|(name, ..)| name)
}

/// The names of those that make a vector of a statement alone, as libraries need.
pub fn embedding_models() -> impl Iterator<Item = &'static str> {
    all().filter(|name| !JOINT.contains(name))
}

/// All names, for messages.
pub fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}

/// Whether the built-in reader orders the best statements of a language better than what ranks them, as measured on
/// held-out conjectures (`results/problem-graph.md`).
pub fn reads(language: Language) -> bool {
    cfg!(feature = "model-reranker") && language == Language::Tptp
}

/// The name that libraries give for no model at all.
pub const NO_MODEL: &str = "none";

/// The model that ranks libraries of a language: none was trained on Lean's symbols.
pub fn for_language(language: Language) -> &'static str {
    match language {
        Language::Hol | Language::HolWith(_) => "hol-premises",
        Language::Tptp => "mizar-premises",
        Language::Lean => NO_MODEL,
    }
}

#[cfg(all(test, feature = "models"))]
mod tests {
    use super::*;
    use crate::model::ModelKind;

    #[test]
    fn all_can_be_read_and_libraries_get_what_they_need() {
        for name in all() {
            formulanet_net::verify(bytes(name).unwrap()).unwrap();
            let makes_vectors = match ModelKind::named(name).unwrap() {
                ModelKind::Pairwise(model) => !model.model.config().marks && model.origin.memory_of.is_none(),
                ModelKind::Joint(_) => false,
            };
            assert_eq!(embedding_models().any(|other| other == name), makes_vectors, "{name}");
        }
        for language in [Language::Hol, Language::Tptp] {
            assert!(embedding_models().any(|name| name == for_language(language)));
        }
    }
}
