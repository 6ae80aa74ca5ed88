//! Views by name, for files.

use formulanet_logic::View;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the name of a view.
#[allow(clippy::trivially_copy_pass_by_ref, clippy::missing_errors_doc)] // the signature that serde expects
pub fn serialize<S: Serializer>(view: &View, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(view.name())
}

/// Reads a view by its name.
#[allow(clippy::missing_errors_doc)]
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<View, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = View::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, view)| *view).ok_or_else(|| D::Error::custom(format!("unknown view `{name}`")))
}
