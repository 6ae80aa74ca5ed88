//! One ranking request, as plain data.

use crate::take::Take;
use crate::{Language, Policy, Statement};

/// The statement to prove.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Goal {
    /// A formula.
    Formula(GoalFormula),
    /// A statement of the library, by its name: its own proofs are hidden, and only what comes before it is eligible.
    Stored(String),
}

/// A formula to prove, as it was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GoalFormula {
    /// The formula.
    pub text: String,
    /// The language that it is written in [default: that of the corpus].
    pub language: Option<Language>,
    /// Names that are constants, whatever the model knows.
    pub constants: Vec<String>,
    /// Names that are variables.
    pub variables: Vec<String>,
    /// The place that messages name: a file, or a field of a request.
    pub source: String,
}

impl From<&str> for Goal {
    fn from(text: &str) -> Self {
        Goal::Formula(GoalFormula {
            text: text.to_owned(),
            source: "goal".to_owned(),
            ..GoalFormula::default()
        })
    }
}

impl From<GoalFormula> for Goal {
    fn from(formula: GoalFormula) -> Self {
        Goal::Formula(formula)
    }
}

impl From<Statement> for Goal {
    fn from(statement: Statement) -> Self {
        let Statement { name, text, language } = statement;
        GoalFormula { text, language: Some(language), source: name, ..GoalFormula::default() }.into()
    }
}

/// Which statements may be used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Scope {
    /// Only statements of the library before this one.
    pub before: Option<String>,
    /// Only statements of the library in modules or files that match one of these patterns; all if there is none.
    pub modules: Vec<String>,
    /// Treatment of statements that equal the goal.
    pub duplicates: Duplicates,
}

/// Treatment of statements that equal the goal. A problem's own axioms are always kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Duplicates {
    /// They are left out.
    #[default]
    Drop,
    /// They are ranked like others.
    Keep,
}

/// One ranking request.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Query {
    /// The goals; with several, each statement has its best score.
    pub goals: Vec<Goal>,
    /// Which statements may be used.
    pub scope: Scope,
    /// Which of the ranked statements are returned.
    pub take: Take,
    /// How they are ranked.
    pub policy: Policy,
    /// Whether hits come with their evidence and base rate.
    pub explain: bool,
}

impl Query {
    /// A query for one goal.
    pub fn new(goal: impl Into<Goal>) -> Self {
        Query { goals: vec![goal.into()], ..Query::default() }
    }

    /// A query for several goals.
    pub fn for_goals(goals: Vec<Goal>) -> Self {
        Query { goals, ..Query::default() }
    }

    /// Replaces the goals.
    #[must_use]
    pub fn goals(mut self, goals: Vec<Goal>) -> Self {
        self.goals = goals;
        self
    }

    /// Returns at most `k` statements.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.take.k = k;
        self
    }

    /// Restricts the library to what comes before a statement.
    #[must_use]
    pub fn before(mut self, name: impl Into<String>) -> Self {
        self.scope.before = Some(name.into());
        self
    }

    /// Restricts the library to modules or files that match one of some patterns.
    #[must_use]
    pub fn modules(mut self, patterns: Vec<String>) -> Self {
        self.scope.modules = patterns;
        self
    }

    /// Sets what happens to statements that say the same as the goal.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.scope.duplicates = duplicates;
        self
    }

    /// Sets which of the ranked statements are returned.
    #[must_use]
    pub fn take(mut self, take: Take) -> Self {
        self.take = take;
        self
    }

    /// Sets how statements are ranked.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Asks for evidence.
    #[must_use]
    pub fn explain(mut self) -> Self {
        self.explain = true;
        self
    }
}
