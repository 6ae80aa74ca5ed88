//! Ranking for Lean: declarations of modules that are known, and such that come with the query.
//!
//! No model knows Lean's symbols, so that nothing but what declarations say counts: which rare symbols and parts they have in
//! common with the goal, or with what has some in common with it, and what the reader makes of the best. It knows no symbol's
//! name either. Renaming all symbols changes no ranking.

use formulanet_logic::{Formula, Interner, Limits, lean};

use crate::policy::TUNING;
use crate::proofs::{Features, Method};
use crate::rerank::{JointReranker, log_odds, probability};
use crate::retrieve::SymbolRetriever;
use crate::{Cancel, Error};

mod cache;
mod dump;
mod index;

use cache::{Cache, Entry};
pub use dump::{LeanDump, LeanLine};
pub use index::LeanIndex;

/// Declarations of the index that each way to find them gives at most; the others are not looked at.
const FOUND: usize = 2048;

/// Declarations that are read between two looks at the clock.
const PIECE: usize = 64;

/// A goal, and which declarations may be used for it.
pub struct LeanQuery<'a> {
    /// The goal with its hypotheses. Of one that cannot be read, nothing but the name counts.
    pub state: &'a str,
    /// Modules of the index, by their places.
    pub modules: &'a [usize],
    /// More declarations of the index, by their places.
    pub local: &'a [usize],
    /// Declarations that are not in the index: names and texts. One that cannot be read is left out.
    pub new: &'a [(&'a str, &'a str)],
}

/// A declaration and how likely it is to be useful.
#[derive(Clone, PartialEq, Debug)]
pub struct LeanHit {
    /// Its name.
    pub name: String,
    /// Its score, from 0 to 1.
    pub score: f32,
}

/// Ranks declarations of Lean.
pub struct LeanSelector {
    index: LeanIndex,
    cache: Cache,
    limits: Limits,
}

impl LeanSelector {
    /// Creates the state for an index, which may be empty, with a cache of at most this many bytes.
    pub fn new(index: LeanIndex, limits: Limits, cache_bytes: usize) -> Self {
        LeanSelector { index, cache: Cache::new(cache_bytes), limits }
    }

    /// The declarations that need not come with a query.
    pub fn index(&self) -> &LeanIndex {
        &self.index
    }

    /// The best `k` declarations. Positions after the end of the index are ignored.
    ///
    /// # Errors
    ///
    /// If the goal cannot be read, with the place, or the time is over.
    pub fn best(
        &self,
        reranker: Option<&JointReranker>,
        query: &LeanQuery<'_>,
        number: usize,
        cancel: &Cancel,
    ) -> Result<Vec<LeanHit>, Error> {
        let mut names = Interner::new();
        let goal = lean::parse_goal_leniently(query.state, self.limits, &mut names);
        let goal = goal.map_err(|error| Error::parse("state", error))?;
        let features = Features::of(&goal, &names);
        let found = self.found(&features, &self.allowed(query));
        cancel.check()?;
        let stored = found.iter().map(|&place| {
            let premise = &self.index.premises[place];
            (&*premise.name, &*premise.decl)
        });
        let mut candidates: Vec<((&str, &str), Features)> = Vec::new();
        for (place, written) in stored.chain(query.new.iter().copied()).enumerate() {
            if place % PIECE == 0 {
                cancel.check()?;
            }
            if let Some(read) = self.read(written.1, &mut names) {
                candidates.push((written, Features::clone(&read)));
            }
        }
        let (written, read): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
        let mut scores = SymbolRetriever::new(&features, &read).scores;
        cancel.check()?;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        // Of what is equally good, what comes later is nearer to the goal.
        let by_score = |scores: &[f32], order: &mut Vec<usize>| {
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(b.cmp(&a)));
        };
        by_score(&scores, &mut order);
        if let Some(reranker) = reranker {
            self.rerank(reranker, &goal, &order, &mut scores, &written, &mut names)?;
            by_score(&scores, &mut order);
        }
        order.truncate(number);
        let ranked = |place: usize| LeanHit { name: written[place].0.to_owned(), score: scores[place] };
        Ok(order.into_iter().map(ranked).collect())
    }

    /// Which declarations of the index may be used.
    fn allowed(&self, query: &LeanQuery<'_>) -> Vec<bool> {
        let mut is_imported = vec![false; self.index.modules().len()];
        mark(&mut is_imported, query.modules);
        let premises = self.index.premises.iter();
        let mut allowed: Vec<bool> = premises.map(|premise| is_imported[premise.module as usize]).collect();
        mark(&mut allowed, query.local);
        allowed
    }

    /// The places of declarations that may be useful, in the order of the index: all, or those that share most with the goal.
    fn found(&self, goal: &Features, allowed: &[bool]) -> Vec<usize> {
        let count = allowed.iter().filter(|is_allowed| **is_allowed).count();
        let mut found: Vec<usize> = if count <= FOUND {
            (0..allowed.len()).filter(|&place| allowed[place]).collect()
        } else {
            let proofs = &self.index.proofs;
            let goal = proofs.goal(goal);
            let by = |method| proofs.rank(&goal, proofs.len(), method, proofs.len());
            let best = [Method::MePo, Method::Knn].into_iter().flat_map(|method| {
                let ranked = by(method).into_iter().map(|(place, _)| place);
                ranked.filter(|&place| allowed[place]).take(FOUND)
            });
            best.collect()
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The features of a declaration; `None` if it cannot be read.
    fn read(&self, decl: &str, names: &mut Interner) -> Entry {
        self.cache.get(decl, || {
            let declared = lean::parse_declaration(decl, self.limits, names).ok()?;
            Some(Features::of(&declared.formula, names))
        })
    }

    /// Re-ranks the best declarations above all others.
    fn rerank(
        &self,
        reranker: &JointReranker,
        goal: &Formula,
        order: &[usize],
        scores: &mut [f32],
        written: &[(&str, &str)],
        names: &mut Interner,
    ) -> Result<(), Error> {
        let best = &order[..order.len().min(TUNING.depth)];
        let formula = |place: usize, names: &mut Interner| {
            let declared = lean::parse_declaration(written[best[place]].1, self.limits, names).ok()?;
            Some(declared.formula)
        };
        let mut read = reranker.read_formulas(goal, best.len(), formula, self.limits, names)?;
        // On the goals of our own tests, both together are better than either.
        for (&place, score) in best.iter().zip(&mut read) {
            *score = score.map(|score| probability(log_odds(scores[place]) + TUNING.power * log_odds(score)));
        }
        let lowest = read.iter().flatten().copied().fold(1.0, f32::min);
        scores.iter_mut().for_each(|score| *score *= lowest);
        for (&place, score) in best.iter().zip(read) {
            if let Some(score) = score {
                scores[place] = score;
            }
        }
        Ok(())
    }
}

/// Marks positions, as far as they exist.
fn mark(marks: &mut [bool], places: &[usize]) {
    for &place in places {
        if let Some(mark) = marks.get_mut(place) {
            *mark = true;
        }
    }
}

#[cfg(test)]
mod tests;
