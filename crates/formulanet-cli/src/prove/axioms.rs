//! Which axioms to try for a problem: all that `prove` takes from the ranking crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use formulanet::logic::Limits;
use formulanet::model::shipped;
use formulanet::rank::{
    EmbeddedAxioms, Library, Order, Pace, Problem, Ranked, Ranker, Reading, Selection, Stored, Wishes,
    annotated, order,
};
use formulanet::read::{Proof, Source, Statement, Syntax};

use super::task::{Part, Task};
use crate::input::{ComputeArguments, ModelArgument, ReadingArguments};

/// What to prove.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// The problem of a file; `-` is standard input.
    File(String),
    /// A formula, with the facts of the library.
    Formula(String),
    /// A fact of the library, with those before it.
    Fact(String),
}

/// How axioms are ranked.
pub(crate) struct Choice<'a> {
    pub(crate) library: Option<&'a Path>,
    pub(crate) model: &'a ModelArgument,
    pub(crate) reading: &'a ReadingArguments,
    pub(crate) compute: &'a ComputeArguments,
    pub(crate) limits: Limits,
    /// The number of facts that are taken from the library, at most.
    pub(crate) most: usize,
}

/// Ranks the axioms of problems.
pub(crate) struct Axioms {
    library: Option<(PathBuf, Library)>,
    ranker: Ranker,
    reading: Option<Reading>,
    embedded: EmbeddedAxioms,
    limits: Limits,
    most: usize,
}

impl Axioms {
    /// Opens the library and loads the models.
    ///
    /// # Errors
    ///
    /// Returns an error if either cannot be read.
    pub(crate) fn open(choice: &Choice<'_>) -> Result<Self> {
        let library = choice.library.map(Library::open).transpose()?;
        let reads = (choice.reading, shipped::reads(Syntax::Tptp));
        let computing = (choice.compute, choice.limits);
        let model = shipped::for_syntax(Syntax::Tptp);
        let (ranker, reading) = choice.model.selector(model, library.as_ref(), reads, computing)?;
        let embedded = EmbeddedAxioms::new(&ranker);
        let library = choice.library.map(Path::to_owned).zip(library);
        Ok(Axioms { library, ranker, reading, embedded, limits: choice.limits, most: choice.most })
    }

    /// Reads a problem and ranks its axioms.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, with the place.
    pub(crate) fn task(&mut self, target: &Target) -> Result<Task> {
        let formula = |name: &str, text: &str| {
            (name.to_owned(), Source::text("conjecture", annotated(name, "conjecture", text)))
        };
        let (name, source) = match (target, &self.library) {
            (Target::File(file), _) => (file.clone(), Source::open(file)?),
            (Target::Fact(name), Some((_, library))) => formula(name, &library.statement(name)?.text),
            (Target::Formula(text) | Target::Fact(text), _) => formula("conjecture", text),
        };
        let mut task = Task::read(&name, source, self.limits)?;
        if task.goals().next().is_none() {
            return Ok(task);
        }
        let (text, kept) = (self_contained(&task), ["hypothesis", "assumption"].map(str::to_owned));
        let mut problem = Problem::read(Source::text(&name, text), &self.ranker, &kept)?;
        match &self.library {
            Some(_) => self.add_facts(&mut task, &mut problem, target)?,
            None => task.orders = self.orders(&problem)?,
        }
        Ok(task)
    }

    /// The axioms of a problem, the best first: by all that is known, and by what formulas say alone.
    fn orders(&mut self, problem: &Problem) -> Result<Vec<Vec<usize>>> {
        let Axioms { ranker, reading, embedded, .. } = self;
        let mut scores = problem.scores_with(ranker, embedded);
        if let Some(reading) = reading {
            problem.rescore(reading, ranker, &mut scores)?;
        }
        let nameless = problem.nameless_scores(ranker, reading.as_ref(), &Pace::Free)?;
        let [known, nameless] = [scores, nameless].map(|scores| order(&scores, |i| problem.axiom_name(i)));
        let both = order(&by_ranks(&known, &nameless), |i| problem.axiom_name(i));
        Ok(vec![numbers(&both), numbers(&nameless)])
    }

    /// Makes the best facts of the library axioms of a problem.
    fn add_facts(&self, task: &mut Task, problem: &mut Problem, target: &Target) -> Result<()> {
        let Some((path, library)) = &self.library else { return Ok(()) };
        let own_name = match target {
            Target::Fact(name) => Some(name.clone()),
            _ => None,
        };
        let wishes = Wishes {
            reading: self.reading.as_ref(),
            own_name: own_name.clone(),
            order: Order::Probability,
            ..Wishes::default()
        };
        let selection = Selection { most: self.most, ..Selection::default() };
        let from = (Stored::OnDisk(library), library.syntax()?);
        let own = problem.axiom_count();
        let found = problem.rank_axioms(Some(from), &self.ranker, &wishes, &selection, &Pace::Free)?;
        let file: Arc<str> = path.display().to_string().into();
        for number in own..problem.axiom_count() {
            task.push_axiom(problem.axiom_name(number), problem.axiom_text(number).to_owned(), &file);
        }
        let allowed = match own_name {
            Some(name) => {
                let is_goal = |statement: &Statement| statement.name == name;
                library.statements()?.iter().position(is_goal).unwrap_or(usize::MAX)
            }
            None => library.count()?,
        };
        // A fact that has the name of an axiom is left out, so it counts as missing.
        task.is_complete = problem.axiom_count() - own == allowed;
        task.orders = vec![numbers(&order(&found.scores, |i| problem.axiom_name(i)))];
        Ok(())
    }

    /// Records the premises of a proof of a fact in the library.
    ///
    /// # Errors
    ///
    /// Returns an error if the library cannot be written.
    pub(crate) fn learn(&mut self, name: &str, premises: &[String]) -> Result<()> {
        if let Some((_, library)) = &mut self.library {
            let proof = Proof { name: name.to_owned(), used: premises.to_vec(), place: "proof".to_owned() };
            library.learn(&[proof], false)?;
        }
        Ok(())
    }
}

/// A problem with all that it includes, as one text. Declarations come first: others cannot be read without them.
fn self_contained(task: &Task) -> String {
    let mut text = String::new();
    for declares in [true, false] {
        for statement in task.statements() {
            if (statement.part == Part::Declaration) == declares {
                text.push_str(&statement.text);
                text.push('\n');
            }
        }
    }
    text
}

fn numbers(ranked: &[Ranked]) -> Vec<usize> {
    ranked.iter().map(|axiom| axiom.statement).collect()
}

/// Scores of axioms by their ranks in two orders. The model knows which axioms were useful elsewhere, the second order which
/// symbols lead to which: on problems of other conjectures, more of what a proof needs is among the first of both than of either.
fn by_ranks(known: &[Ranked], nameless: &[Ranked]) -> Vec<f32> {
    let mut scores = vec![0.0; known.len()];
    for (order, weight) in [(known, 1.0), (nameless, 0.5)] {
        for (rank, axiom) in order.iter().enumerate() {
            scores[axiom.statement] += weight / (16.0 + rank as f32);
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_count() {
        let ranked = |order: &[usize]| -> Vec<Ranked> {
            order.iter().map(|&statement| Ranked { statement, score: 0.0 }).collect()
        };
        let check = |known: &[usize], nameless: &[usize], expected: &[usize]| {
            let scores = by_ranks(&ranked(known), &ranked(nameless));
            assert_eq!(numbers(&order(&scores, |_| "")), expected);
        };
        check(&[2, 0, 1], &[2, 0, 1], &[2, 0, 1]);
        // Of two neighbors by the first, the second decides; but not of those that are far apart.
        check(&[0, 1, 2, 3], &[3, 2, 1, 0], &[0, 1, 2, 3]);
        check(&[0, 1, 2, 3], &[1, 2, 3, 0], &[1, 0, 2, 3]);
        check(&[], &[], &[]);
    }
}
