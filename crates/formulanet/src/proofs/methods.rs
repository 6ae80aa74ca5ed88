//! The ranking methods of current hammers, by their own formulas.

use crate::policy::TUNING;
use crate::proofs::{IndexedGoal, ProofIndex, SignalBlend};

use crate::proofs::{bayes, familiar, mepo, neighbors};

/// A method that ranks the facts of an index for a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// A blend of all signals, trained on other libraries.
    Auto,
    /// Dependencies of the proofs of similar facts, and similar facts themselves.
    Knn,
    /// Naive Bayes: how much more often a fact was used for facts with the goal's features.
    NaiveBayes,
    /// Neighbors and Bayes, half and half by rank.
    Mesh,
    /// Facts that share rare symbols with the goal, then facts that share some with those, round by round.
    MePo,
    /// The facts that most proofs used.
    Popularity,
}

impl Method {
    /// All methods with their names.
    pub const ALL: [(&'static str, Method); 6] = [
        ("auto", Method::Auto),
        ("knn", Method::Knn),
        ("nbayes", Method::NaiveBayes),
        ("mesh", Method::Mesh),
        ("mepo", Method::MePo),
        ("popularity", Method::Popularity),
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// A fact's number and its score.
pub(crate) type Scored = (u32, f32);

/// Returns the best facts, highest scores first. Of equal scores, the latest fact is first, since it is the
/// nearest to the goal.
pub(crate) fn best(mut scored: Vec<Scored>, number: usize) -> Vec<Scored> {
    let order = |a: &Scored, b: &Scored| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    if number == 0 {
        return Vec::new();
    }
    if scored.len() > number {
        scored.select_nth_unstable_by(number - 1, order);
        scored.truncate(number);
    }
    scored.sort_unstable_by(order);
    scored
}

impl ProofIndex {
    /// Returns the best facts before a place in the library, with their scores, by a method.
    pub fn rank(
        &self,
        goal: &IndexedGoal,
        before: usize,
        method: Method,
        number: usize,
    ) -> Vec<(usize, f32)> {
        match method {
            Method::Auto if self.len() >= TUNING.learned_from => {
                self.rank_by(SignalBlend::built_in(), goal, before, number)
            }
            _ => self.rank_plainly(goal, before, method, number),
        }
    }

    /// Returns the `number` facts with the most familiar symbols, best first: symbols of the goal and of the
    /// facts found for it, which are given best first.
    pub(crate) fn by_familiar_symbols(
        &self,
        goal: &IndexedGoal,
        found: &[usize],
        number: usize,
    ) -> Vec<usize> {
        let scored = familiar::by_familiar_symbols(self, goal, found, number);
        scored.into_iter().map(|(fact, _)| fact as usize).collect()
    }

    /// Returns the best of all facts by [`Method::Auto`], for a goal whose place in the library is unknown:
    /// the place after the fact most similar to it is taken.
    pub(crate) fn rank_anywhere(&self, goal: &IndexedGoal, number: usize) -> Vec<(usize, f32)> {
        if self.len() < TUNING.learned_from {
            return self.rank_plainly(goal, self.len(), Method::Mesh, number);
        }
        finish(self.blended_anywhere(goal, SignalBlend::built_in()), number)
    }

    /// Returns the best facts before a place in the library, with their scores, by a blend of all signals.
    pub fn rank_by(
        &self,
        blend: &SignalBlend,
        goal: &IndexedGoal,
        before: usize,
        number: usize,
    ) -> Vec<(usize, f32)> {
        finish(self.blended(goal, before, blend), number)
    }

    fn rank_plainly(
        &self,
        goal: &IndexedGoal,
        before: usize,
        method: Method,
        number: usize,
    ) -> Vec<(usize, f32)> {
        let before = before.min(self.len());
        let scored = match method {
            Method::Knn => neighbors::knn(self, goal, before, number),
            Method::NaiveBayes => bayes::all(self, goal, before),
            Method::Auto | Method::Mesh => mesh(
                &neighbors::knn(self, goal, before, number),
                &best(bayes::all(self, goal, before), number),
            ),
            Method::MePo => mepo::mepo(self, goal, before, number),
            Method::Popularity => popularity(self, before),
        };
        finish(scored, number)
    }
}

fn finish(scored: Vec<Scored>, number: usize) -> Vec<(usize, f32)> {
    best(scored, number).into_iter().map(|(fact, score)| (fact as usize, score)).collect()
}

/// Returns the number of proofs that used each fact.
pub(super) fn popularity(index: &ProofIndex, before: usize) -> Vec<Scored> {
    let used = index.facts[..before].iter().map(|fact| fact.uses.len() as f32);
    (0..).zip(used).collect()
}

/// Fuses two rankings, half and half by rank.
pub(crate) fn mesh(one: &[Scored], other: &[Scored]) -> Vec<Scored> {
    let mut scores = std::collections::BTreeMap::new();
    for list in [one, other] {
        for (rank, &(fact, _)) in (1..).zip(list) {
            *scores.entry(fact).or_insert(0.0) += 0.5 * 0.62f32.powf((rank as f32 + 1.0).log2());
        }
    }
    scores.into_iter().collect()
}
