//! A TPTP problem, and the smaller one with the best axioms alone.

mod coverage;
mod render;

use formulanet_logic::Interner;

pub use coverage::SymbolCoverage;
pub use render::{annotated, as_axiom};

use crate::analyze::AnalyzedStatement;
use crate::proofs::Features;
use crate::read::{AnnotatedFormula, SkippedStatements, Source, UnreadableStatement, is_goal};
use crate::retrieve::VectorRetriever;
use crate::{Error, Goal, GoalFormula, Language, Query};

/// A TPTP problem with its includes: axioms, conjectures, statements that are always kept, and declarations.
pub struct Problem {
    items: Vec<Item>,
    axioms: Vec<AnalyzedStatement>,
    skipped: SkippedStatements,
    file: String,
}

/// How a problem is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemOptions {
    /// Roles of statements that are always kept, and do not count among the selected axioms.
    pub keep_roles: Vec<String>,
    /// Treatment of a statement that cannot be read.
    pub on_unreadable: OnUnreadable,
}

impl Default for ProblemOptions {
    fn default() -> Self {
        let keep_roles = ["hypothesis", "assumption"].map(str::to_owned).to_vec();
        ProblemOptions { keep_roles, on_unreadable: OnUnreadable::Fail }
    }
}

/// Treatment of a statement that cannot be read. An unreadable conjecture is always an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnUnreadable {
    /// The problem is refused.
    Fail,
    /// The statement is left out.
    Skip,
    /// The statement stays as it is written, in addition to the selected axioms: a prover may know how to read it.
    Keep,
}

/// The part that a statement plays in a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// The declaration of a type or a logic: without it, others cannot be read.
    Declaration,
    Conjecture,
    /// A role that is kept.
    Included,
    /// By its number among the axioms.
    Axiom(usize),
    /// Not readable, but kept.
    Unreadable,
}

struct Item {
    part: Part,
    role: String,
    name: String,
    text: String,
    /// Symbols that the model does not know.
    unknown: Vec<String>,
}

impl Problem {
    /// Reads a problem for a model.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, with the place, or has nothing to prove.
    pub fn read(
        source: Source,
        retriever: &VectorRetriever,
        options: &ProblemOptions,
    ) -> Result<Self, Error> {
        let file = source.name().to_owned();
        let mut problem =
            Problem { items: Vec::new(), axioms: Vec::new(), skipped: SkippedStatements::default(), file };
        let (mut names, mut encoder) = (Interner::new(), retriever.encoder());
        let mut reader = source.problem(retriever.limits())?;
        loop {
            let AnnotatedFormula { annotated, text, file } = match reader.next(&mut names) {
                Ok(None) => break,
                Ok(Some(next)) => next,
                Err(error) => {
                    let Some(UnreadableStatement { header, text, .. }) = reader.recover() else {
                        return Err(error);
                    };
                    problem.pass(header.unwrap_or_default(), text, error, options)?;
                    continue;
                }
            };
            let (role, name, text) = (annotated.role.clone(), annotated.name.clone(), text.to_owned());
            let Some(formula) = &annotated.formula else {
                problem.push(Part::Declaration, role, name, text, Vec::new());
                continue;
            };
            let encoded = encoder.encode(formula, &names).map_err(|cause| {
                let position = annotated.position;
                Error::TooLarge { file: file.to_owned(), position, cause }
            });
            let encoded = match encoded {
                Ok(encoded) => encoded,
                Err(error) => {
                    problem.pass((name, role), &text, error, options)?;
                    continue;
                }
            };
            let unknown = encoded.unknown().to_vec();
            let part = match role.as_str() {
                role if is_goal(role) => Part::Conjecture,
                role if options.keep_roles.iter().any(|kept| kept == role) => Part::Included,
                _ => {
                    let features = Features::of(formula, &names);
                    let (name, text, language) = (name.clone(), text.clone(), Language::Tptp);
                    problem.axioms.push(AnalyzedStatement {
                        name,
                        text,
                        language,
                        encoded,
                        features,
                        ..AnalyzedStatement::default()
                    });
                    Part::Axiom(problem.axioms.len() - 1)
                }
            };
            problem.push(part, role, name, text, unknown);
        }
        if problem.of(Part::Conjecture).next().is_none() {
            return Err(Error::NoConjecture { file: problem.file });
        }
        Ok(problem)
    }

    fn push(&mut self, part: Part, role: String, name: String, text: String, unknown: Vec<String>) {
        self.items.push(Item { part, role, name, text, unknown });
    }

    /// Skips or keeps a statement that cannot be read.
    fn pass(
        &mut self,
        (name, role): (String, String),
        text: &str,
        error: Error,
        options: &ProblemOptions,
    ) -> Result<(), Error> {
        if options.on_unreadable == OnUnreadable::Fail || is_goal(&role) {
            return Err(error);
        }
        self.skipped.note(&error);
        if options.on_unreadable == OnUnreadable::Keep {
            self.push(Part::Unreadable, role, name, text.to_owned(), Vec::new());
        }
        Ok(())
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.part == part)
    }

    /// Statements that could not be read.
    pub fn skipped(&self) -> &SkippedStatements {
        &self.skipped
    }

    /// Whether some statement has a role.
    pub fn has_role(&self, role: &str) -> bool {
        self.items.iter().any(|item| item.role == role)
    }

    /// The axioms, in order.
    #[doc(hidden)]
    pub fn axioms(&self) -> &[AnalyzedStatement] {
        &self.axioms
    }

    /// Moves the axioms out, for a corpus that has them alone.
    #[doc(hidden)]
    pub fn take_axioms(&mut self) -> Vec<AnalyzedStatement> {
        std::mem::take(&mut self.axioms)
    }

    /// The names of the formulas to prove.
    pub fn conjecture_names(&self) -> Vec<&str> {
        self.of(Part::Conjecture).map(|item| item.name.as_str()).collect()
    }

    /// A query for its conjectures, with the policy for provers.
    pub fn query(&self) -> Query {
        let goal = |item: &Item| {
            Goal::from(GoalFormula {
                text: item.text.clone(),
                language: Some(Language::Tptp),
                source: item.name.clone(),
                ..GoalFormula::default()
            })
        };
        Query::for_goals(self.of(Part::Conjecture).map(goal).collect())
    }
}
