//! Our own ranking of a hammer's library: all that speaks for a fact, blended, and what the goal is made of.

use super::table::{Lists, NOBODY, Table};
use crate::rank::theory::{Features, Method, Theory};

/// Whether proofs of this library use the facts that their statements are made of. CoqHammer says so of every constant in a
/// statement; Isabelle's features name no facts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habit {
    /// Facts that are named by features of facts with a proof, and how many of them the proof used.
    named: usize,
    used: usize,
}

impl Habit {
    pub(super) fn add(&mut self, table: &Table, fact: usize) {
        let dependencies = table.dependencies.get(fact);
        if dependencies.is_empty() {
            return;
        }
        let features = table.features.get(fact).iter().map(|&feature| table.named[feature as usize]);
        for named in features.filter(|&named| named != NOBODY && named as usize != fact) {
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

/// Where a goal stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stand {
    /// Behind all facts.
    Last,
    /// Nobody knows: a hammer puts files in the order of their names, and the goal's file last.
    Unknown,
}

/// The best facts of a theory for a goal: its own first, then by all that speaks for them. Those that nothing speaks for come
/// last, by naive Bayes.
pub(super) fn best(
    theory: &Theory,
    features: &Features,
    stand: Stand,
    own: Vec<u32>,
    number: usize,
) -> Vec<u32> {
    let (number, goal) = (number.min(theory.len()), theory.goal(features));
    let ranked = match stand {
        Stand::Last => theory.rank(&goal, theory.len(), Method::Auto, number),
        Stand::Unknown => theory.rank_anywhere(&goal, number),
    };
    let numbers = |list: Vec<(usize, f32)>| list.into_iter().map(|(fact, _)| fact as u32);
    let mut best: Vec<u32> = numbers(ranked).chain(own.iter().copied()).collect();
    let mut is_own = vec![false; theory.len()];
    own.iter().for_each(|&fact| is_own[fact as usize] = true);
    let mut is_new = vec![true; theory.len()];
    best.retain(|&fact| std::mem::take(&mut is_new[fact as usize]));
    best.sort_by_key(|&fact| !is_own[fact as usize]);
    if best.len() < number {
        let others = numbers(theory.rank(&goal, theory.len(), Method::Bayes, theory.len()));
        best.extend(others.filter(|&fact| is_new[fact as usize]));
    }
    best.truncate(number);
    best
}

/// A theory that grows to the next question.
pub(super) struct Growing<'a> {
    table: &'a Table,
    pub(super) theory: Theory,
    /// By fact: which depend on it.
    users: Lists,
    pub(super) habit: Habit,
}

impl<'a> Growing<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let users = table.dependencies.turned(table.len());
        Growing { table, theory: Theory::default(), users, habit: Habit::default() }
    }

    pub(super) fn grow(&mut self, before: usize) {
        let used = |fact: usize| -> Vec<usize> {
            self.table.dependencies.get(fact).iter().map(|&fact| fact as usize).collect()
        };
        for fact in self.theory.len()..before {
            self.theory.add_fact(&self.table.features_of(fact));
            self.habit.add(self.table, fact);
            // An earlier fact may depend on this one, of which nothing was known when that was learned.
            let waiting =
                self.users.get(fact).iter().map(|&user| user as usize).take_while(|&user| user < fact);
            for user in waiting {
                self.theory.take_proofs(user);
                self.theory.add_proof(user, &used(user));
            }
            if !self.table.dependencies.get(fact).is_empty() {
                self.theory.add_proof(fact, &used(fact));
            }
        }
    }
}
