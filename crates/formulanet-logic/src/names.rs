//! Which names of a typed formula are constants.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::formula::{Formula, Head};
use crate::symbol::Interner;
use crate::syntax;

/// Decides which unbound names are constants and which are free variables.
///
/// What the user declares comes first, then the known names (a model's vocabulary); an unknown name is a free
/// variable if it looks like one (a letter, then digits or primes) and a constant otherwise.
///
/// ```
/// use formulanet_logic::Names;
/// let names = Names::default().with_variables(["goal"]);
/// assert!(!names.is_constant("goal") && !names.is_constant("x1'") && names.is_constant("convex"));
/// ```
#[derive(Clone, Default)]
pub struct Names {
    constants: HashSet<String>,
    variables: HashSet<String>,
    known: Option<Arc<Known>>,
}

type Known = dyn Fn(&str) -> bool + Send + Sync;

impl Names {
    /// The names of a formula that was parsed before, so that its text is read back to the same formula.
    pub fn of(formula: &Formula, interner: &Interner) -> Self {
        let constants = formula.preorder().filter_map(|term| match formula.head(term) {
            Head::Constant(name) => Some(interner.name(name)),
            _ => None,
        });
        let variables = formula.variables().iter().map(|v| interner.name(v.name));
        Names::default().with_constants(constants).with_variables(variables)
    }

    /// Declares constants.
    pub fn with_constants<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.constants.extend(names.into_iter().map(Into::into));
        self
    }

    /// Declares variables; they win over constants of the same name.
    pub fn with_variables<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.variables.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets which names are known constants, in place of the few that HOL Light's own syntax is made of.
    pub fn with_known(mut self, known: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.known = Some(Arc::new(known));
        self
    }

    /// Whether an unbound name is a constant.
    pub fn is_constant(&self, name: &str) -> bool {
        if self.variables.contains(name) {
            return false;
        }
        let known = || match &self.known {
            Some(known) => known(name),
            None => matches!(name, "T" | "F" | "I"),
        };
        self.constants.contains(name)
            || syntax::is_operator(name)
            || known()
            || !syntax::looks_like_variable(name)
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names")
            .field("constants", &self.constants)
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}
