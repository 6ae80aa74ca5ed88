//! The models that are built in.

use crate::read::Syntax;

/// A model that is built in: its name, its file, its card.
type BuiltIn = (&'static str, &'static [u8], &'static str);

/// The built-in models, as the features of this crate choose them.
const MODELS: &[BuiltIn] = &[
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
];

/// Those that read statements together.
const TOGETHER: [&str; 2] = ["mizar", "reader"];

/// The file of a shipped model.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    MODELS.iter().find(|(known, ..)| *known == name).map(|(_, bytes, _)| *bytes)
}

/// The card of a shipped model.
pub fn card(name: &str) -> Option<&'static str> {
    MODELS.iter().find(|(known, ..)| *known == name).map(|(.., card)| *card)
}

/// All names.
pub fn all() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, ..)| *name)
}

/// The names of those that make a vector of a statement alone, as libraries need.
pub fn for_libraries() -> impl Iterator<Item = &'static str> {
    all().filter(|name| !TOGETHER.contains(name))
}

/// All names, for messages.
pub fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}

/// Whether the built-in reader orders the best statements of a language better than what ranks them, as measured on
/// held-out conjectures (`results/problem-graph.md`).
pub fn reads(syntax: Syntax) -> bool {
    cfg!(feature = "model-reranker") && syntax == Syntax::Tptp
}

/// The name that libraries give for no model at all.
pub const NO_MODEL: &str = "none";

/// The model that ranks libraries of a language: none was trained on Lean's symbols.
pub fn for_syntax(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Hol | Syntax::HolWith(_) => "hol-premises",
        Syntax::Tptp => "mizar-premises",
        Syntax::Lean => NO_MODEL,
    }
}

#[cfg(all(test, feature = "models"))]
mod tests {
    use super::*;
    use crate::model::AnyModel;

    #[test]
    fn all_can_be_read_and_libraries_get_what_they_need() {
        for name in all() {
            formulanet_net::verify(bytes(name).unwrap()).unwrap();
            let makes_vectors = match AnyModel::named(name).unwrap() {
                AnyModel::Single(model) => !model.model.config().marks && model.origin.memory_of.is_none(),
                AnyModel::Together(_) => false,
            };
            assert_eq!(for_libraries().any(|other| other == name), makes_vectors, "{name}");
        }
        for syntax in [Syntax::Hol, Syntax::Tptp] {
            assert!(for_libraries().any(|name| name == for_syntax(syntax)));
        }
    }
}
