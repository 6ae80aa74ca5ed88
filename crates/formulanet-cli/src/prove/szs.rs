//! The words of the SZS ontology: the status that a prover reports for its input, and what it means for the
//! problem.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// The result for a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Status {
    /// The conjecture follows from the axioms.
    Theorem,
    /// There is no conjecture, and the formulas have no model.
    Unsatisfiable,
    /// The axioms have no model, so that any conjecture follows.
    ContradictoryAxioms,
    /// Some model of the axioms is not a model of the conjecture.
    CounterSatisfiable,
    /// The negation of the conjecture follows from the axioms.
    CounterTheorem,
    /// There is no conjecture, and the formulas have a model.
    Satisfiable,
    /// The time is over.
    Timeout,
    /// Provers ran out of their share of the time, or of memory.
    ResourceOut,
    /// The provers ended by themselves, without a result.
    GaveUp,
    /// No prover reads the language of the problem.
    Inappropriate,
    /// The problem cannot be read.
    InputError,
    /// The provers ended without a status.
    Error,
    /// The user stopped the run.
    User,
    /// The problem was not tried.
    NotTried,
}

impl Status {
    /// Whether there is a proof.
    pub(crate) fn is_proved(self) -> bool {
        matches!(self, Status::Theorem | Status::Unsatisfiable | Status::ContradictoryAxioms)
    }

    /// Whether more time changes nothing.
    pub(crate) fn is_final(self) -> bool {
        use Status::{CounterSatisfiable, CounterTheorem, Inappropriate, InputError, Satisfiable};
        self.is_proved()
            || matches!(self, CounterSatisfiable | CounterTheorem | Satisfiable | Inappropriate | InputError)
    }

    /// Returns a status by its word.
    #[cfg(test)]
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.to_string() == word)
    }

    #[cfg(test)]
    const ALL: [Status; 14] = [
        Status::Theorem,
        Status::Unsatisfiable,
        Status::ContradictoryAxioms,
        Status::CounterSatisfiable,
        Status::CounterTheorem,
        Status::Satisfiable,
        Status::Timeout,
        Status::ResourceOut,
        Status::GaveUp,
        Status::Inappropriate,
        Status::InputError,
        Status::Error,
        Status::User,
        Status::NotTried,
    ];
}

impl Display for Status {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The meaning of a prover's status for the text that it was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// A refutation; `is_contradiction` if it did not need the conjecture.
    Proof { is_contradiction: bool },
    /// A model.
    Model,
    /// A proof of the negation of the conjecture.
    CounterProof,
    /// The prover ran out of time or memory.
    ResourceOut,
    /// The prover gave up.
    GaveUp,
    /// The prover does not read the text.
    Inappropriate,
    /// No status.
    Nothing,
}

impl Said {
    /// Returns the meaning of a word of the SZS ontology.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "Theorem" | "Unsatisfiable" | "TautologousConclusion" | "UnsatisfiableConclusion" => {
                Said::Proof { is_contradiction: false }
            }
            "ContradictoryAxioms" => Said::Proof { is_contradiction: true },
            "CounterSatisfiable" | "Satisfiable" | "FiniteSatisfiable" | "FiniteCounterSatisfiable" => {
                Said::Model
            }
            "CounterTheorem" => Said::CounterProof,
            "ResourceOut" | "Timeout" | "MemoryOut" => Said::ResourceOut,
            "Inappropriate" | "InputError" | "SyntaxError" | "TypeError" | "SemanticError" | "UsageError" => {
                Said::Inappropriate
            }
            "" => Said::Nothing,
            _ => Said::GaveUp,
        }
    }

    /// Whether it is a proof.
    pub(crate) fn is_proof(self) -> bool {
        matches!(self, Said::Proof { .. })
    }
}

/// Returns the status of a problem by a prover's answer. `has_conjecture` is about the problem, `uses_goal`
/// about the proof, as far as it is known, and `has_all` tells whether the prover had all axioms. `None`
/// means that the answer decides nothing.
pub(crate) fn status(
    said: Said,
    has_conjecture: bool,
    uses_goal: Option<bool>,
    has_all: bool,
) -> Option<Status> {
    Some(match said {
        Said::Proof { .. } if !has_conjecture => Status::Unsatisfiable,
        Said::Proof { is_contradiction: true } => Status::ContradictoryAxioms,
        Said::Proof { .. } if uses_goal == Some(false) => Status::ContradictoryAxioms,
        Said::Proof { .. } => Status::Theorem,
        // A model of some axioms may not be one of all.
        Said::Model if has_all && has_conjecture => Status::CounterSatisfiable,
        Said::Model if has_all => Status::Satisfiable,
        Said::CounterProof if has_all && has_conjecture => Status::CounterTheorem,
        _ => return None,
    })
}

/// Returns the status of a problem that no attempt has decided.
pub(crate) fn undecided(said: &[Said], is_stopped: bool, is_over: bool) -> Status {
    let all = |kind: Said| said.iter().all(|said| *said == kind);
    match () {
        () if is_stopped => Status::User,
        () if is_over => Status::Timeout,
        () if said.is_empty() => Status::NotTried,
        () if all(Said::Nothing) => Status::Error,
        () if all(Said::Inappropriate) => Status::Inappropriate,
        () if said.contains(&Said::ResourceOut) => Status::ResourceOut,
        () => Status::GaveUp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_the_ontology_says() {
        let check = |word: &str, has_conjecture, uses_goal, has_all, expected: Option<Status>| {
            assert_eq!(status(Said::of(word), has_conjecture, uses_goal, has_all), expected, "{word}");
        };
        check("Unsatisfiable", true, None, false, Some(Status::Theorem));
        check("Unsatisfiable", true, Some(true), true, Some(Status::Theorem));
        check("Theorem", true, Some(false), true, Some(Status::ContradictoryAxioms));
        check("ContradictoryAxioms", true, None, true, Some(Status::ContradictoryAxioms));
        check("Theorem", false, None, false, Some(Status::Unsatisfiable));
        check("ContradictoryAxioms", false, Some(false), false, Some(Status::Unsatisfiable));
        check("Satisfiable", true, None, true, Some(Status::CounterSatisfiable));
        check("Satisfiable", true, None, false, None);
        check("CounterSatisfiable", false, None, true, Some(Status::Satisfiable));
        check("CounterTheorem", true, None, true, Some(Status::CounterTheorem));
        check("CounterTheorem", true, None, false, None);
        for word in ["", "GaveUp", "Timeout", "Unknown", "TypeError"] {
            check(word, true, None, true, None);
        }
    }

    #[test]
    fn what_is_not_decided_has_a_reason() {
        use Said::{GaveUp, Inappropriate, Nothing, ResourceOut};
        assert_eq!(undecided(&[GaveUp], true, true), Status::User);
        assert_eq!(undecided(&[GaveUp], false, true), Status::Timeout);
        assert_eq!(undecided(&[], false, false), Status::NotTried);
        assert_eq!(undecided(&[Nothing, Nothing], false, false), Status::Error);
        assert_eq!(undecided(&[Inappropriate], false, false), Status::Inappropriate);
        assert_eq!(undecided(&[Inappropriate, GaveUp], false, false), Status::GaveUp);
        assert_eq!(undecided(&[ResourceOut, GaveUp, Nothing], false, false), Status::ResourceOut);
    }

    #[test]
    fn words_come_back() {
        for status in Status::ALL {
            assert_eq!(Status::named(&status.to_string()), Some(status));
        }
        assert_eq!(Status::named("Nonsense"), None);
    }
}
