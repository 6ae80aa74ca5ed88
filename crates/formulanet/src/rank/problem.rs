//! A TPTP problem, and the smaller one that is left when only the best axioms are kept.

use formulanet_logic::Interner;

use super::intake::encode_at;
use super::ranker::{Ranked, Ranker};
use crate::Error;
use crate::model::encode::Encoded;
use crate::read::{Annotated, Source};

/// What a statement is in a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// The declaration of a type or a logic: without it, others cannot be read.
    Declaration,
    /// What is to be proved.
    Conjecture,
    /// A role that is kept.
    Kept,
    /// What is selected from.
    Axiom,
}

struct Item {
    part: Part,
    role: String,
    name: String,
    text: String,
    encoded: Encoded,
}

/// A problem that was read for a model.
pub struct Problem {
    items: Vec<Item>,
    /// The numbers of its axioms.
    axioms: Vec<usize>,
}

/// Whether a role in TPTP is that of what is to be proved.
pub fn is_goal(role: &str) -> bool {
    ["conjecture", "negated_conjecture", "question"].contains(&role)
}

impl Problem {
    /// Reads a problem with its includes. Statements with one of the roles in `kept` are always in, and not selected from.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place, or has nothing to prove.
    pub fn read(source: Source, ranker: &Ranker, kept: &[String]) -> Result<Self, Error> {
        let (mut names, mut items) = (Interner::new(), Vec::new());
        let mut encoder = ranker.encoder();
        let file = source.name().to_owned();
        let mut reader = source.problem(ranker.limits())?;
        while let Some(Annotated { annotated, text, file }) = reader.next(&mut names)? {
            let (role, name, text) = (annotated.role.clone(), annotated.name.clone(), text.to_owned());
            let Some(formula) = &annotated.formula else {
                items.push(Item { part: Part::Declaration, role, name, text, encoded: Encoded::default() });
                continue;
            };
            let part = match role.as_str() {
                role if is_goal(role) => Part::Conjecture,
                role if kept.iter().any(|kept| kept == role) => Part::Kept,
                _ => Part::Axiom,
            };
            let encoded = encode_at(formula, &names, &mut encoder, file, annotated.position)?;
            items.push(Item { part, role, name, text, encoded });
        }
        let problem =
            Problem { axioms: (0..items.len()).filter(|&i| items[i].part == Part::Axiom).collect(), items };
        if problem.of(Part::Conjecture).next().is_none() {
            return Err(Error::NoConjecture { file });
        }
        Ok(problem)
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.part == part)
    }

    /// Whether some statement has a role.
    pub fn has_role(&self, role: &str) -> bool {
        self.items.iter().any(|item| item.role == role)
    }

    /// The name of an axiom by its number.
    pub fn axiom_name(&self, number: usize) -> &str {
        &self.items[self.axioms[number]].name
    }

    /// An axiom by its number, as it is written.
    pub fn axiom_text(&self, number: usize) -> &str {
        &self.items[self.axioms[number]].text
    }

    /// The names of what is to be proved.
    pub fn conjecture_names(&self) -> Vec<&str> {
        self.of(Part::Conjecture).map(|item| item.name.as_str()).collect()
    }

    /// The scores of all axioms. Where there are several conjectures, an axiom has the best of its scores.
    pub fn scores(&self, ranker: &Ranker) -> Vec<f32> {
        let named = self.axioms.iter().map(|&i| (self.items[i].name.as_str(), &self.items[i].encoded));
        let rows = ranker.rows(&named.collect::<Vec<_>>());
        let mut best = vec![0.0f32; self.axioms.len()];
        for conjecture in self.of(Part::Conjecture) {
            let scores = ranker.scores(&ranker.query(&conjecture.encoded), &rows);
            best.iter_mut().zip(scores).for_each(|(best, score)| *best = best.max(score));
        }
        best
    }

    /// The problem with these axioms alone, by rank: declarations, what is kept, axioms, and the conjecture last.
    pub fn reduced(&self, taken: &[Ranked]) -> String {
        let (taken_count, all, version) = (taken.len(), self.axioms.len(), env!("CARGO_PKG_VERSION"));
        let mut text = format!("% {taken_count} of {all} axioms, selected by formulanet {version}\n");
        let of = |part| self.of(part).map(|item| item.text.as_str());
        let axioms = taken.iter().map(|ranked| self.axiom_text(ranked.statement));
        let kept = of(Part::Declaration).chain(of(Part::Kept));
        text.extend(kept.chain(axioms).chain(of(Part::Conjecture)).flat_map(|statement| [statement, "\n"]));
        text
    }
}
