//! The models that are built in.

use crate::read::Syntax;

/// Their names and files.
#[cfg(feature = "shipped")]
const MODELS: [(&str, &[u8]); 7] = [
    ("holstep", include_bytes!("../../../../models/holstep/model.safetensors")),
    ("holstep-2", include_bytes!("../../../../models/holstep-2/model.safetensors")),
    ("holstep-tally", include_bytes!("../../../../models/holstep-tally/model.safetensors")),
    ("hol-premises", include_bytes!("../../../../models/hol-premises/model.safetensors")),
    ("mizar", include_bytes!("../../../../models/mizar/model.safetensors")),
    ("mizar-premises", include_bytes!("../../../../models/mizar-premises/model.safetensors")),
    ("reader", include_bytes!("../../../../models/reader/model.safetensors")),
];
#[cfg(not(feature = "shipped"))]
const MODELS: [(&str, &[u8]); 0] = [];

/// What each is for, what it was trained on, and how good it is.
const CARDS: [(&str, &str); 7] = [
    ("holstep", include_str!("../../../../models/holstep/README.md")),
    ("holstep-2", include_str!("../../../../models/holstep-2/README.md")),
    ("holstep-tally", include_str!("../../../../models/holstep-tally/README.md")),
    ("hol-premises", include_str!("../../../../models/hol-premises/README.md")),
    ("mizar", include_str!("../../../../models/mizar/README.md")),
    ("mizar-premises", include_str!("../../../../models/mizar-premises/README.md")),
    ("reader", include_str!("../../../../models/reader/README.md")),
];

/// Those that read statements together.
const TOGETHER: [&str; 2] = ["mizar", "reader"];

/// The file of a shipped model.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    MODELS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// The card of a shipped model.
pub fn card(name: &str) -> Option<&'static str> {
    let found = CARDS.iter().find(|(known, _)| *known == name).map(|(_, card)| *card);
    found.filter(|_| bytes(name).is_some())
}

/// The shipped models that judge pairs together with this one, as `formulanet eval` has them do.
pub fn partners(name: &str) -> &'static [&'static str] {
    match name {
        "holstep" if bytes("holstep-2").is_some() => &["holstep-2", "holstep-tally"],
        _ => &[],
    }
}

/// All names.
pub fn all() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// The names of those that make a vector of a statement alone, as libraries need, and judge without a partner.
pub fn for_libraries() -> impl Iterator<Item = &'static str> {
    let is_partner = |name: &str| all().any(|other| partners(other).contains(&name));
    all().filter(move |name| !TOGETHER.contains(name) && !is_partner(name))
}

/// All names, for messages.
pub fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}

/// Whether the built-in reader orders the best statements of a language better than what ranks them, as measured on
/// held-out conjectures (`results/problem-graph.md`).
pub fn reads(syntax: Syntax) -> bool {
    cfg!(feature = "shipped") && syntax == Syntax::Tptp
}

/// The model that ranks libraries of a language.
pub fn for_syntax(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Hol | Syntax::HolWith(_) => "hol-premises",
        Syntax::Tptp => "mizar-premises",
    }
}

#[cfg(all(test, feature = "shipped"))]
mod tests {
    use super::*;
    use crate::model::AnyModel;

    #[test]
    fn all_can_be_read_and_libraries_get_what_they_need() {
        for name in all() {
            formulanet_net::verify(bytes(name).unwrap()).unwrap();
            let makes_vectors = match AnyModel::named(name).unwrap() {
                AnyModel::Single(model) => !model.model.config().marks && model.origin.memory_of.is_none(),
                AnyModel::Together(_) | AnyModel::Tally(_) => false,
            };
            assert_eq!(for_libraries().any(|other| other == name), makes_vectors, "{name}");
        }
        for syntax in [Syntax::Hol, Syntax::Tptp] {
            assert!(for_libraries().any(|name| name == for_syntax(syntax)));
        }
    }
}
