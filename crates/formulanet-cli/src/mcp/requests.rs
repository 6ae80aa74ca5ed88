//! The arguments of the tools. Their comments are what a model reads of them.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rank {
    /// The formula to prove, in the language of the library
    pub(super) goal: String,
    /// Number of premises, 16 if left out
    pub(super) k: Option<usize>,
    /// Name of the library, if there are several
    pub(super) library: Option<String>,
    /// Rank only statements that come before this one
    pub(super) before: Option<String>,
    /// Names to leave out, or patterns such as `OLD_*`
    #[serde(default)]
    pub(super) exclude: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    /// The text of a TPTP problem with a conjecture; it must not include files
    pub(super) problem: String,
    /// Number of axioms, 64 if left out
    pub(super) k: Option<usize>,
    /// Name of a TPTP library to select from, in addition to the axioms of the problem
    pub(super) library: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Prove {
    /// A TPTP formula to prove from a library. Give one of `goal`, `name` and `problem`
    pub(super) goal: Option<String>,
    /// The name of a statement of a library, to prove from what comes before it
    pub(super) name: Option<String>,
    /// The text of a TPTP problem with a conjecture; it must not include files
    pub(super) problem: Option<String>,
    /// Name of the TPTP library; a problem uses none if it is left out
    pub(super) library: Option<String>,
    /// Time to search for, 10 if left out
    pub(super) seconds: Option<f64>,
    /// Whether to return the proof itself
    #[serde(default)]
    pub(super) proof: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// Part of a name or of a statement, in any case. Give one of `contains`, `pattern` and `formula`
    pub(super) contains: Option<String>,
    /// A whole name, or a pattern of names in which `*` stands for any characters and `?` for one
    pub(super) pattern: Option<String>,
    /// A formula whose closest statements are wanted
    pub(super) formula: Option<String>,
    /// Number of statements, 16 if left out
    pub(super) k: Option<usize>,
    /// Name of the library, if there are several
    pub(super) library: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    /// The formula to prove, in the language of the library
    pub(super) goal: String,
    /// Names of the premises to explain; the 5 best if left out
    #[serde(default)]
    pub(super) names: Vec<String>,
    /// Name of the library, if there are several
    pub(super) library: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    /// The statements, in the language of the library
    pub(super) statements: Vec<NewStatement>,
    /// Name of the library, if there are several
    pub(super) library: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewStatement {
    /// Its name
    pub(super) name: String,
    /// Its formula
    pub(super) statement: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Learn {
    /// Name of the stored statement that was proved
    pub(super) name: String,
    /// Names of the premises that the proof used
    pub(super) premises: Vec<String>,
    /// Name of the library, if there are several
    pub(super) library: Option<String>,
}
