//! The result for a problem, and its output.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::answer;
use super::search::{Found, Made};
use super::szs::Status;
use super::task::{Part, Task};
use super::tokens::quoted_name;
use crate::input::counted;
use crate::output::shown;

/// The result for a problem.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) problem: String,
    /// Status in the SZS ontology.
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prover: Option<String>,
    /// Number of axioms that the prover had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) axioms: Option<usize>,
    /// Seconds until the result.
    pub(crate) seconds: f64,
    /// Seconds for `--minimize`.
    #[serde(skip_serializing_if = "Option::is_none", rename = "minimize_seconds")]
    pub(crate) minimizing: Option<f64>,
    /// Statements that the proof used; null if they are not known.
    pub(crate) premises: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    pub(crate) check: Option<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<String>,
    /// Attempts that were made.
    #[serde(skip)]
    pub(crate) made: Vec<Made>,
}

/// The result of a second proof from the used premises alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Check {
    #[serde(rename = "check_prover")]
    pub(crate) prover: String,
    #[serde(skip)]
    pub(crate) is_same: bool,
    #[serde(rename = "checked")]
    pub(crate) is_proved: bool,
}

impl Outcome {
    /// Makes a result without a proof.
    pub(crate) fn undecided(problem: &str, status: Status, seconds: f64) -> Self {
        Outcome {
            problem: problem.to_owned(),
            status,
            prover: None,
            axioms: None,
            seconds,
            minimizing: None,
            premises: None,
            check: None,
            proof: None,
            made: Vec::new(),
        }
    }

    /// Adds a proof, and the statements that it used if they are known.
    pub(crate) fn add_proof(&mut self, task: &Task, found: &Found) {
        let answer = &found.answer;
        self.premises = found.is_confirmed.then(|| {
            let mut premises: Vec<String> = match &answer.used {
                Some(used) => used
                    .tags
                    .iter()
                    .filter_map(|tag| task.tagged(tag))
                    .map(|found| found.name.clone())
                    .collect(),
                // Each prover gets the hypotheses.
                None => {
                    let kept = task.statements().iter().filter(|statement| statement.part == Part::Kept);
                    let axioms = found.axioms.iter().map(|&axiom| task.axiom(axiom));
                    axioms.chain(kept).map(|statement| statement.name.clone()).collect()
                }
            };
            premises.sort_unstable();
            premises
        });
        let proof = answer::proof(task, &answer.output, answer.used.as_ref(), &answer.file);
        let problem = shown(&self.problem);
        self.proof = proof.map(|answer::Proof { kind, text }| {
            format!("% SZS output start {kind} for {problem}\n{text}\n% SZS output end {kind} for {problem}")
        });
    }

    /// Writes the result for people.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "% SZS status {} for {}", self.status, shown(&self.problem))?;
        if let (Some(prover), Some(axioms)) = (&self.prover, self.axioms) {
            let (what, axioms) =
                (if self.status.is_proved() { "proof" } else { "model" }, counted(axioms, "axiom"));
            writeln!(out, "% {} with {axioms}: {what} found in {:.1} s", shown(prover), self.seconds)?;
        }
        if let Some(seconds) = self.minimizing {
            writeln!(out, "% minimized in {seconds:.1} s")?;
        }
        if let (true, Some(prover)) = (self.status.is_proved(), &self.prover) {
            match &self.premises {
                Some(premises) if premises.is_empty() => writeln!(out, "% premises used: none")?,
                Some(premises) => {
                    let names: Vec<String> =
                        premises.iter().map(|name| shown(&quoted_name(name)).into_owned()).collect();
                    writeln!(out, "% premises used: {}", names.join(" "))?;
                }
                None => writeln!(out, "% premises used: not reported by {}", shown(prover))?,
            }
        }
        if let Some(Check { prover, is_same, is_proved }) = &self.check {
            let (prover, same) = (shown(prover), if *is_same { " (the same prover)" } else { "" });
            let from = if self.premises.is_some() { "these premises alone" } else { "the same axioms" };
            match is_proved {
                true => writeln!(out, "% checked: {prover}{same} proves it from {from}")?,
                false => writeln!(out, "% not checked: {prover}{same} does not prove it from {from}")?,
            }
        }
        self.proof.iter().try_for_each(|proof| writeln!(out, "{proof}"))
    }
}
