//! The methods of today's hammers, by their own formulas.

use crate::policy::TUNING;
use crate::proofs::{IndexedGoal, ProofIndex, SignalBlend};

use crate::proofs::{bayes, familiar, mepo, neighbors};

/// A way to rank the facts of a index for a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Everything that is known, blended as was learned on other libraries.
    Auto,
    /// What proofs of similar facts used, and similar facts themselves.
    Knn,
    /// Naive Bayes: how much more often a fact was used for what has the goal's features.
    NaiveBayes,
    /// Neighbours and Bayes, half and half by rank.
    Mesh,
    /// Facts that share rare symbols with the goal, then those that share some with these, and so on.
    MePo,
    /// What most proofs used.
    Popularity,
}

impl Method {
    /// All methods by name.
    pub const ALL: [(&'static str, Method); 6] = [
        ("auto", Method::Auto),
        ("knn", Method::Knn),
        ("nbayes", Method::NaiveBayes),
        ("mesh", Method::Mesh),
        ("mepo", Method::MePo),
        ("popularity", Method::Popularity),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// A fact's number and its score.
pub(crate) type Scored = (u32, f32);

/// The highest scores first; of equal ones the latest fact, which is the nearest to the goal.
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
    /// The best facts before a place in the library, with their scores, by one of the methods.
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

    /// Facts that speak of nothing but what the goal and the facts that were found for it speak of, which come the best first:
    /// so many, the most familiar first.
    pub(crate) fn by_familiar_symbols(
        &self,
        goal: &IndexedGoal,
        found: &[usize],
        number: usize,
    ) -> Vec<usize> {
        let scored = familiar::by_familiar_symbols(self, goal, found, number);
        scored.into_iter().map(|(fact, _)| fact as usize).collect()
    }

    /// The best of all facts by [`Method::Auto`], for a goal that need not stand behind them: what is close to the fact that is
    /// most like it is close to the goal.
    pub(crate) fn rank_anywhere(&self, goal: &IndexedGoal, number: usize) -> Vec<(usize, f32)> {
        if self.len() < TUNING.learned_from {
            return self.rank_plainly(goal, self.len(), Method::Mesh, number);
        }
        finish(self.blended_anywhere(goal, SignalBlend::built_in()), number)
    }

    /// The best facts before a place in the library, with their scores, by a blend of all that speaks for them.
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

/// How many proofs used each fact.
pub(super) fn popularity(index: &ProofIndex, before: usize) -> Vec<Scored> {
    let used = index.facts[..before].iter().map(|fact| fact.uses.len() as f32);
    (0..).zip(used).collect()
}

/// Both ranks, half and half.
pub(crate) fn mesh(one: &[Scored], other: &[Scored]) -> Vec<Scored> {
    let mut scores = std::collections::BTreeMap::new();
    for list in [one, other] {
        for (rank, &(fact, _)) in (1..).zip(list) {
            *scores.entry(fact).or_insert(0.0) += 0.5 * 0.62f32.powf((rank as f32 + 1.0).log2());
        }
    }
    scores.into_iter().collect()
}
