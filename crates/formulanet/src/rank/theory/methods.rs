//! The methods of today's hammers, by their own formulas.

use super::blend::Blend;
use super::facts::{Goal, Theory};
use crate::policy::TUNING;

use super::{bayes, familiar, neighbours, reach};

/// A way to rank the facts of a theory for a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Everything that is known, blended as was learned on other libraries.
    Auto,
    /// What proofs of similar facts used, and similar facts themselves.
    Neighbours,
    /// Naive Bayes: how much more often a fact was used for what has the goal's features.
    Bayes,
    /// Neighbours and Bayes, half and half by rank.
    Mesh,
    /// Facts that share rare symbols with the goal, then those that share some with these, and so on.
    Reach,
    /// What most proofs used.
    Popularity,
}

impl Method {
    /// All methods by name.
    pub const ALL: [(&'static str, Method); 6] = [
        ("auto", Method::Auto),
        ("knn", Method::Neighbours),
        ("nbayes", Method::Bayes),
        ("mesh", Method::Mesh),
        ("mepo", Method::Reach),
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

impl Theory {
    /// The best facts before a place in the library, with their scores, by one of the methods. Without a blend that is built
    /// in, and for a choice among few facts, which no blend was trained on, [`Method::Auto`] is [`Method::Mesh`].
    pub fn rank(&self, goal: &Goal, before: usize, method: Method, number: usize) -> Vec<(usize, f32)> {
        match (method, Blend::shipped()) {
            (Method::Auto, Some(blend)) if before.min(self.len()) >= TUNING.blend_from => {
                self.rank_by(blend, goal, before, number)
            }
            (Method::Auto, _) => self.rank_plainly(goal, before, Method::Mesh, number),
            _ => self.rank_plainly(goal, before, method, number),
        }
    }

    /// Facts that speak of nothing but what the goal and the facts that were found for it speak of, which come the best first:
    /// so many, the most familiar first.
    pub(crate) fn familiar(&self, goal: &Goal, found: &[usize], number: usize) -> Vec<usize> {
        let scored = familiar::familiar(self, goal, found, number);
        scored.into_iter().map(|(fact, _)| fact as usize).collect()
    }

    /// The best of all facts by [`Method::Auto`], for a goal that need not stand behind them: what is close to the fact that is
    /// most like it is close to the goal.
    pub(crate) fn rank_anywhere(&self, goal: &Goal, number: usize) -> Vec<(usize, f32)> {
        match Blend::shipped() {
            Some(blend) if self.len() >= TUNING.blend_from => {
                finish(self.blended_anywhere(goal, blend), number)
            }
            _ => self.rank(goal, self.len(), Method::Auto, number),
        }
    }

    /// The best facts before a place in the library, with their scores, by a blend of all that speaks for them.
    pub fn rank_by(&self, blend: &Blend, goal: &Goal, before: usize, number: usize) -> Vec<(usize, f32)> {
        finish(self.blended(goal, before, blend), number)
    }

    fn rank_plainly(&self, goal: &Goal, before: usize, method: Method, number: usize) -> Vec<(usize, f32)> {
        let before = before.min(self.len());
        let scored = match method {
            Method::Neighbours => neighbours::plain(self, goal, before, number),
            Method::Bayes => bayes::all(self, goal, before),
            Method::Auto | Method::Mesh => mesh(
                &neighbours::plain(self, goal, before, number),
                &best(bayes::all(self, goal, before), number),
            ),
            Method::Reach => reach::reach(self, goal, before, number),
            Method::Popularity => popularity(self, before),
        };
        finish(scored, number)
    }
}

fn finish(scored: Vec<Scored>, number: usize) -> Vec<(usize, f32)> {
    best(scored, number).into_iter().map(|(fact, score)| (fact as usize, score)).collect()
}

/// How many proofs used each fact.
pub(super) fn popularity(theory: &Theory, before: usize) -> Vec<Scored> {
    let used = theory.facts[..before].iter().map(|fact| fact.uses.len() as f32);
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
