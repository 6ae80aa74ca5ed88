//! Our own ranking of a hammer's library: all ranking features, blended, and the goal's own symbols.

use crate::hammer::VendorMethod;
use crate::hammer::table::{Csr, NO_FACT, Table};
use crate::proofs::{Features, GoalPosition, Method, ProofIndex, best_of, mesh};

/// Whether proofs of this library use the facts that their statements are made of. CoqHammer says so of every constant in a
/// statement; Isabelle's features name no facts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConstantUse {
    /// Facts that are named by features of facts with a proof, and how many of them the proof used.
    named: usize,
    used: usize,
}

impl ConstantUse {
    pub(super) fn add(&mut self, table: &Table, fact: usize) {
        let dependencies = table.dependencies.get(fact);
        if dependencies.is_empty() {
            return;
        }
        let features = table.features.get(fact).iter().map(|&feature| table.named[feature as usize]);
        for named in features.filter(|&named| named != NO_FACT && named as usize != fact) {
            self.named += 1;
            self.used += usize::from(dependencies.contains(&named));
        }
    }

    /// The facts before a place that are named by a goal's features, if it is usual that proofs use them.
    pub(super) fn own(self, named: impl Iterator<Item = u32>, before: usize) -> Vec<u32> {
        let is_usual = 2 * self.used > self.named;
        named.filter(|&named| is_usual && (named as usize) < before).collect()
    }
}

/// A goal, and how to rank for it.
pub(super) struct HammerGoal<'a> {
    pub(super) features: &'a Features,
    pub(super) position: GoalPosition,
    /// The facts that it is made of.
    pub(super) own: Vec<u32>,
    /// The method that counts half.
    pub(super) vendor: Option<VendorMethod>,
}

/// The least number of facts that are ranked, so that the first names do not depend on how many are requested.
const RANKED: usize = 1024;

/// The best facts of an index for a goal: its own first, then by the blend, meshed with the hammer's own method. Facts without
/// evidence come last, by naive Bayes.
pub(super) fn best(index: &ProofIndex, asked: &HammerGoal<'_>, number: usize) -> Vec<u32> {
    let (number, goal) = (number.min(index.len()), index.goal(asked.features));
    let ranked = number.max(RANKED);
    let numbers = |list: Vec<(usize, f32)>| list.into_iter().map(|(fact, _)| fact as u32);
    let mut best: Vec<u32> = numbers(match asked.position {
        GoalPosition::End => index.rank(&goal, index.len(), Method::Auto, ranked),
        GoalPosition::NearestFact | GoalPosition::Unordered => index.rank_anywhere(&goal, ranked),
    })
    .chain(asked.own.iter().copied())
    .collect();
    let mut is_own = vec![false; index.len()];
    asked.own.iter().for_each(|&fact| is_own[fact as usize] = true);
    let mut is_new = vec![true; index.len()];
    best.retain(|&fact| std::mem::take(&mut is_new[fact as usize]));
    best.sort_by_key(|&fact| !is_own[fact as usize]);
    let method = asked.vendor.map(|method| match method {
        VendorMethod::Knn => Method::Knn,
        VendorMethod::NaiveBayes => Method::NaiveBayes,
        VendorMethod::MePo => Method::MePo,
    });
    if let Some(method) = method {
        let list = |facts: &mut dyn Iterator<Item = u32>| facts.map(|fact| (fact, 0.0)).collect::<Vec<_>>();
        let other = list(&mut numbers(index.rank(&goal, index.len(), method, ranked)));
        let meshed = mesh(&list(&mut best.into_iter()), &other);
        best = best_of(meshed, number).into_iter().map(|(fact, _)| fact).collect();
        best.iter().for_each(|&fact| is_new[fact as usize] = false);
    }
    if best.len() < number {
        let others = numbers(index.rank(&goal, index.len(), Method::NaiveBayes, index.len()));
        best.extend(others.filter(|&fact| is_new[fact as usize]));
    }
    best.truncate(number);
    best
}

/// A index that grows to the next question.
pub(super) struct GrowingIndex<'a> {
    table: &'a Table,
    pub(super) index: ProofIndex,
    /// By fact: which depend on it.
    users: Csr,
    pub(super) constant_use: ConstantUse,
}

impl<'a> GrowingIndex<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let users = table.dependencies.transpose(table.len());
        GrowingIndex { table, index: ProofIndex::default(), users, constant_use: ConstantUse::default() }
    }

    pub(super) fn grow(&mut self, before: usize) {
        let used = |fact: usize| -> Vec<usize> {
            self.table.dependencies.get(fact).iter().map(|&fact| fact as usize).collect()
        };
        for fact in self.index.len()..before {
            self.index.add_fact(&self.table.features_of(fact));
            self.constant_use.add(self.table, fact);
            // An earlier fact may depend on this one, of which nothing was known when that was learned.
            let waiting =
                self.users.get(fact).iter().map(|&user| user as usize).take_while(|&user| user < fact);
            for user in waiting {
                self.index.take_proofs(user);
                self.index.add_proof(user, &used(user));
            }
            if !self.table.dependencies.get(fact).is_empty() {
                self.index.add_proof(fact, &used(fact));
            }
        }
    }
}
