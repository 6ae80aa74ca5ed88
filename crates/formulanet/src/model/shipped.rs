//! The models that are built in.

use crate::read::Syntax;

/// Their names and files.
#[cfg(feature = "shipped")]
const MODELS: [(&str, &[u8]); 4] = [
    ("holstep", include_bytes!("../../../../models/holstep/model.safetensors")),
    ("hol-premises", include_bytes!("../../../../models/hol-premises/model.safetensors")),
    ("mizar", include_bytes!("../../../../models/mizar/model.safetensors")),
    ("mizar-premises", include_bytes!("../../../../models/mizar-premises/model.safetensors")),
];
#[cfg(not(feature = "shipped"))]
const MODELS: [(&str, &[u8]); 0] = [];

/// The file of a shipped model.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    MODELS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// All names.
pub fn all() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// The names of those that make a vector of a statement alone, as libraries need.
pub fn for_libraries() -> impl Iterator<Item = &'static str> {
    all().filter(|&name| name != "mizar")
}

/// All names, for messages.
pub fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}

/// Whether the built-in reader orders the best statements of a language better than what ranks them.
pub fn reads(_: Syntax) -> bool {
    false
}

/// The model that ranks libraries of a language.
pub fn for_syntax(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Hol => "hol-premises",
        Syntax::Tptp => "mizar-premises",
    }
}

#[cfg(all(test, feature = "shipped"))]
mod tests {
    use super::*;
    use crate::model::TrainedModel;

    #[test]
    fn all_can_be_read_and_libraries_get_what_they_need() {
        for name in all() {
            let model = TrainedModel::named(name).unwrap();
            assert_eq!(for_libraries().any(|other| other == name), !model.model.config().marks, "{name}");
        }
        for syntax in [Syntax::Hol, Syntax::Tptp] {
            assert!(for_libraries().any(|name| name == for_syntax(syntax)));
        }
    }
}
