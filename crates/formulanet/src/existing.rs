//! Statements that already say what a goal says.

use formulanet_logic::is_instance;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::pipeline::{GoalTask, Run};
use crate::statement::parse;

/// A statement that makes a proof of the goal unnecessary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Existing {
    /// Its name.
    pub name: String,
    /// How it says what the goal says.
    pub relation: Relation,
}

/// How a statement says what a goal says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// It is the goal, but perhaps for the names of variables.
    Same,
    /// The goal is an instance of it.
    Instance,
}

impl Relation {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Same => "same",
            Relation::Instance => "instance",
        }
    }
}

/// The number of best statements that are compared with the goal.
const COMPARED: usize = 64;
/// This many are named.
const NAMED: usize = 8;

impl Run<'_> {
    /// The statements that already say what a goal says, those that are the goal first.
    pub(crate) fn existing(
        &self,
        task: &mut GoalTask,
        scores: &[f32],
        ineligible: &[bool],
    ) -> Result<Vec<Existing>, Error> {
        // A statement of the library is not new to begin with, and a problem's axioms are no library.
        if task.stored.is_some() || self.corpus.is_problem && self.stored_count() == 0 {
            return Ok(Vec::new());
        }
        let graph = task.goal.encoded.fingerprint();
        let same: Vec<usize> =
            self.graphs().filter(|(_, other)| *other == graph).map(|(number, _)| number).collect();
        let mut best: Vec<usize> =
            (0..scores.len()).filter(|&number| !ineligible[number] && !same.contains(&number)).collect();
        let order = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
        if best.len() > COMPARED {
            best.select_nth_unstable_by(COMPARED, order);
            best.truncate(COMPARED);
        }
        best.sort_unstable_by(order);
        let options = self.corpus.model.retriever.hol_options();
        let mut found: Vec<Existing> = Vec::new();
        for number in same {
            found.push(Existing { name: self.name(number).to_owned(), relation: Relation::Same });
        }
        for number in best {
            self.cancel.check()?;
            let statement = self.statement(number)?;
            let formula = parse(&statement.text, statement.language, &options, &mut task.goal.names);
            if formula.is_ok_and(|formula| is_instance(&formula, &task.goal.formula)) {
                found.push(Existing { name: statement.name, relation: Relation::Instance });
            }
        }
        found.truncate(NAMED);
        Ok(found)
    }
}
