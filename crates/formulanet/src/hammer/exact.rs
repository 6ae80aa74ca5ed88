//! The rankings of CoqHammer's own program, to the last tie: its formulas, in the precision and the order in which it
//! computes them.

use crate::hammer::gnu_hash_map::{FOR_A_HUNDRED, FOR_ANY, GnuHashMap};
use crate::hammer::gnu_sort::{Scored, gnu_partial_sort};
use crate::hammer::table::{Csr, Table};

/// A method of CoqHammer's own program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VendorMethod {
    /// `knn`: what similar facts depend on, and these facts.
    Knn,
    /// `nbayes`: how much more often a fact was used for what has the goal's features.
    NaiveBayes,
    /// `mepo`: what is like the goal, then what is like the goal and these, a hundred at a time.
    MePo,
}

/// The weight of a fact's own features, in uses.
const OWN: f64 = 1000.0;
/// The number of facts that a round of `mepo` takes.
const ROUND: usize = 100;

/// The facts before a place, as the methods know them.
pub(super) struct ExactIndex<'a> {
    table: &'a Table,
    postings: Csr,
    /// The number of facts before the position that have a feature.
    frequency: Vec<u32>,
    learned: usize,
    /// By fact, for naive Bayes: how often it was used, and for how many uses the user has a feature.
    used: Vec<f64>,
    counts: Vec<GnuHashMap>,
}

impl<'a> ExactIndex<'a> {
    /// Knows nothing yet.
    pub(super) fn new(table: &'a Table, method: VendorMethod) -> Self {
        let counted = if method == VendorMethod::NaiveBayes { table.len() } else { 0 };
        ExactIndex {
            table,
            postings: table.features.transpose(table.hashes.len()),
            frequency: vec![0; table.hashes.len()],
            learned: 0,
            used: vec![0.0; counted],
            counts: vec![GnuHashMap::new(FOR_A_HUNDRED); counted],
        }
    }

    /// Learns the facts before a place, from where it stopped.
    pub(super) fn learn(&mut self, before: usize) {
        let new = self.learned..before.max(self.learned);
        self.learned = new.end;
        for fact in new {
            let features = self.table.features.get(fact);
            features.iter().for_each(|&feature| self.frequency[feature as usize] += 1);
            if self.counts.is_empty() {
                continue;
            }
            let dependencies = self.table.dependencies.get(fact).iter().map(|&used| (used as usize, 1.0));
            for (used, weight) in [(fact, OWN)].into_iter().chain(dependencies) {
                self.used[used] += weight;
                features.iter().for_each(|&feature| self.counts[used].add(feature, weight));
            }
        }
    }

    /// The best of the facts before a place for a goal.
    pub(super) fn rank(&self, goal: &[u32], method: VendorMethod, before: usize, number: usize) -> Vec<u32> {
        let number = number.min(before);
        let zeros: Vec<Scored> = (0..before as u32).map(|fact| (fact, 0.0)).collect();
        let mut list = match method {
            VendorMethod::Knn => self.knn(goal, &zeros, number),
            VendorMethod::NaiveBayes => self.naive_bayes(goal, zeros, number),
            VendorMethod::MePo => self.mepo(goal, zeros, number),
        };
        list.truncate(number);
        list.into_iter().map(|(fact, _)| fact).collect()
    }

    /// How rare a feature is.
    fn weight(&self, feature: u32) -> f64 {
        (self.learned as f64).ln() - f64::from(self.frequency[feature as usize].max(1)).ln()
    }

    fn knn(&self, goal: &[u32], zeros: &[Scored], number: usize) -> Vec<Scored> {
        let mut near = zeros.to_vec();
        for &feature in goal {
            let weight = self.weight(feature).powf(6.0);
            for &fact in self.postings.get(feature as usize) {
                if let Some((_, near)) = near.get_mut(fact as usize) {
                    *near += weight;
                }
            }
        }
        gnu_partial_sort(&mut near, zeros.len());
        let mut list = zeros.to_vec();
        let mut recommended = 0;
        // What a nearer fact recommends comes before what a farther one does: the first number says that.
        let gain = |list: &mut [Scored], fact: u32, rank: usize, more: f64| {
            let Some((_, score)) = list.get_mut(fact as usize) else { return 0 };
            let is_new = *score <= 0.0;
            *score = if is_new { (500_000_000.0 - 100.0 * rank as f64) + more } else { *score + more };
            usize::from(is_new)
        };
        for (rank, (fact, nearness)) in near.into_iter().enumerate() {
            if recommended >= number {
                break;
            }
            recommended += gain(&mut list, fact, rank, nearness);
            let dependencies = self.table.dependencies.get(fact as usize);
            let each = 2.7 * nearness / dependencies.len() as f64;
            for &used in dependencies {
                recommended += gain(&mut list, used, rank, each);
            }
        }
        gnu_partial_sort(&mut list, number);
        list
    }

    fn naive_bayes(&self, goal: &[u32], mut list: Vec<Scored>, number: usize) -> Vec<Scored> {
        let mut goal = goal.to_vec();
        goal.sort_unstable();
        goal.dedup();
        let score = |fact: u32| {
            let (used, counts) = (self.used[fact as usize], &self.counts[fact as usize]);
            let mut score = 30.0 * used.ln();
            for (feature, count) in counts.iter() {
                let weight = self.weight(feature);
                score += match goal.binary_search(&feature) {
                    Ok(_) => weight * (5.0 * count / used).ln(),
                    Err(_) => weight * 0.2 * (1.0 + (1.0 - count) / used).ln(),
                };
            }
            let missing = goal.iter().filter(|feature| counts.get(**feature).is_none());
            missing.fold(score, |score, &feature| score - self.weight(feature) * 18.0)
        };
        list.iter_mut().for_each(|(fact, known)| *known = score(*fact));
        gnu_partial_sort(&mut list, number);
        list
    }

    fn mepo(&self, goal: &[u32], mut list: Vec<Scored>, number: usize) -> Vec<Scored> {
        // How relevant features are.
        let mut relevant = GnuHashMap::new(FOR_ANY);
        goal.iter().for_each(|&feature| *relevant.count(feature) = 1.0);
        for start in (0..number).step_by(ROUND) {
            let square = |feature: u32| self.weight(feature).powi(2);
            let asked: f64 = relevant.iter().map(|(feature, share)| square(feature) * (share * share)).sum();
            for (fact, score) in &mut list[start..] {
                let (mut own, mut common) = (0.0, 0.0);
                for &feature in self.table.features.get(*fact as usize) {
                    let weight = square(feature);
                    own += weight;
                    if let Some(share) = relevant.get(feature) {
                        common += weight * share;
                    }
                }
                *score = common * common / (asked * own);
            }
            let end = (start + ROUND).min(number);
            gnu_partial_sort(&mut list[start..], end - start);
            if end >= list.len() {
                break;
            }
            for &(fact, score) in &list[start..end] {
                for &feature in self.table.features.get(fact as usize) {
                    let share = relevant.count(feature);
                    *share = if *share < score { score } else { *share };
                }
            }
        }
        list
    }
}
