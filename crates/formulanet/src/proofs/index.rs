//! Facts in library order, their features, and the dependencies of their proofs.

use std::collections::HashMap;

use crate::proofs::Features;

/// Number of uses that a fact counts for its own features: until it is used, only its statement describes it.
pub(super) const OWN: u32 = 1000;

/// A library in memory: facts in order, and proofs. Both can be added at any time, and affect the next query.
///
/// ```
/// use formulanet::logic::{Interner, hol};
/// use formulanet::proofs::{Features, Method, ProofIndex};
///
/// let (mut index, mut names) = (ProofIndex::default(), Interner::new());
/// let mut add = |text: &str| {
///     let formula = hol::parse(text, &hol::Options::default(), &mut names)?;
///     Ok::<_, formulanet::logic::ParseError>(Features::of(&formula, &names))
/// };
/// let definition = index.add_fact(&add("!n. double n = plus n n")?);
/// let unit = index.add_fact(&add("!n. plus n zero = n")?);
/// let first = index.add_fact(&add("double zero = zero")?);
/// index.add_proof(first, &[definition, unit]);
/// let goal = index.goal(&add("double (double zero) = zero")?);
/// let best = index.rank(&goal, index.len(), Method::Knn, 3);
/// assert_eq!(best.len(), 3);
/// # Ok::<(), formulanet::logic::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProofIndex {
    pub(super) numbers: HashMap<u64, u32>,
    /// By feature: the facts that have it, ascending.
    pub(super) postings: Vec<Vec<u32>>,
    /// By feature: the logarithm of the number of facts that have it.
    pub(super) log_df: Vec<f32>,
    /// By feature: the number of proofs of facts that have it.
    pub(super) proved: Vec<u32>,
    pub(super) facts: Vec<IndexedFact>,
    /// Logarithm of the number of facts.
    pub(super) size: f32,
    /// Number of proofs.
    pub(super) proofs: usize,
}

/// A fact of the index.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexedFact {
    /// Symbols, pairs, other subterms: each kind in the order of occurrence.
    pub(super) features: Vec<u32>,
    /// Ends of the symbols and of the pairs.
    pub(super) ends: [usize; 2],
    pub(super) size: u32,
    /// Dependencies of each of its proofs, ascending.
    pub(super) proofs: Vec<Vec<u32>>,
    /// Facts whose proofs used it, ascending; once for each proof.
    pub(super) uses: Vec<u32>,
    /// By symbol and pair, ascending: the number of proofs that used the fact and are of facts with that
    /// feature. The fact's own features count [`OWN`] uses more.
    pub(super) counts: Vec<(u32, u32)>,
}

impl IndexedFact {
    /// Returns the symbols and pairs.
    pub(super) fn symbol_and_pair_features(&self) -> &[u32] {
        &self.features[..self.ends[1]]
    }

    pub(super) fn symbols(&self) -> &[u32] {
        &self.features[..self.ends[0]]
    }

    /// Whether it has a recorded proof.
    pub(super) fn is_proved(&self) -> bool {
        !self.proofs.is_empty()
    }

    /// Returns the number of proofs that used the fact and are of facts with the feature at a place of the
    /// counts.
    pub(super) fn used_for(&self, place: usize) -> u32 {
        let (feature, count) = self.counts[place];
        let is_own = count >= OWN && self.symbol_and_pair_features().contains(&feature);
        if is_own { count - OWN } else { count }
    }

    fn count(&mut self, features: &[u32], more: impl Fn(&mut u32)) {
        for &feature in features {
            match self.counts.binary_search_by_key(&feature, |&(known, _)| known) {
                Ok(place) => {
                    more(&mut self.counts[place].1);
                    if self.counts[place].1 == 0 {
                        self.counts.remove(place);
                    }
                }
                Err(place) => {
                    let mut count = 0;
                    more(&mut count);
                    if count > 0 {
                        self.counts.insert(place, (feature, count));
                    }
                }
            }
        }
    }
}

/// A goal in the feature numbers of an index. Features that no fact has are left out.
#[derive(Clone, Debug, Default)]
pub struct IndexedGoal {
    pub(super) features: Vec<u32>,
    pub(super) ends: [usize; 2],
    /// Share of its symbols that no fact has.
    pub(super) unknown: f32,
}

impl IndexedGoal {
    pub(super) fn symbol_and_pair_features(&self) -> &[u32] {
        &self.features[..self.ends[1]]
    }

    pub(super) fn symbols(&self) -> &[u32] {
        &self.features[..self.ends[0]]
    }
}

impl ProofIndex {
    /// Returns the number of facts.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Returns the number of proofs.
    pub fn proof_count(&self) -> usize {
        self.proofs
    }

    /// Appends a fact, and returns its number.
    pub fn add_fact(&mut self, features: &Features) -> usize {
        let number = self.facts.len() as u32;
        let mut fact = IndexedFact { size: features.size, ..IndexedFact::default() };
        for (kind, hashes) in [&features.symbols, &features.pairs, &features.subterms].into_iter().enumerate()
        {
            for &hash in hashes {
                let next = self.postings.len() as u32;
                let feature = *self.numbers.entry(hash).or_insert(next);
                if feature == next {
                    self.postings.push(Vec::new());
                    self.log_df.push(0.0);
                    self.proved.push(0);
                }
                let postings = &mut self.postings[feature as usize];
                postings.push(number);
                self.log_df[feature as usize] = (postings.len() as f32).ln();
                fact.features.push(feature);
            }
            if let Some(end) = fact.ends.get_mut(kind) {
                *end = fact.features.len();
            }
        }
        let own = fact.symbol_and_pair_features().to_vec();
        fact.count(&own, |count| *count += OWN);
        self.facts.push(fact);
        self.size = (self.facts.len() as f32).ln();
        number as usize
    }

    /// Adds a proof of a fact. Numbers that no fact has, and the fact itself, are ignored.
    pub fn add_proof(&mut self, fact: usize, used: &[usize]) {
        if fact >= self.facts.len() {
            return;
        }
        let is_known = |&&number: &&usize| number < self.facts.len() && number != fact;
        let mut used: Vec<u32> = used.iter().filter(is_known).map(|&number| number as u32).collect();
        used.sort_unstable();
        used.dedup();
        self.proofs += 1;
        let features = std::mem::take(&mut self.facts[fact].features);
        for &feature in &features {
            self.proved[feature as usize] += 1;
        }
        let near = &features[..self.facts[fact].ends[1]];
        for &premise in &used {
            let premise = &mut self.facts[premise as usize];
            let place = premise.uses.partition_point(|&user| user <= fact as u32);
            premise.uses.insert(place, fact as u32);
            premise.count(near, |count| *count += 1);
        }
        self.facts[fact].features = features;
        self.facts[fact].proofs.push(used);
    }

    /// Estimates the share of proofs that use each fact.
    pub fn use_shares(&self) -> Vec<f32> {
        // Smoothed by a hundred more proofs, which use none of them.
        let proofs = (self.proofs + 100) as f32;
        self.facts.iter().map(|fact| fact.uses.len() as f32 / proofs).collect()
    }

    /// Whether a fact has a recorded proof.
    pub fn is_proved(&self, fact: usize) -> bool {
        self.facts.get(fact).is_some_and(IndexedFact::is_proved)
    }

    /// Removes a fact's proofs, and returns their dependencies.
    pub fn take_proofs(&mut self, fact: usize) -> Vec<Vec<usize>> {
        let Some(known) = self.facts.get_mut(fact) else { return Vec::new() };
        let proofs = std::mem::take(&mut known.proofs);
        let features = std::mem::take(&mut known.features);
        let near = &features[..known.ends[1]];
        self.proofs -= proofs.len();
        for used in &proofs {
            for &feature in &features {
                self.proved[feature as usize] -= 1;
            }
            for &premise in used {
                let premise = &mut self.facts[premise as usize];
                if let Ok(place) = premise.uses.binary_search(&(fact as u32)) {
                    premise.uses.remove(place);
                }
                premise.count(near, |count| *count = count.saturating_sub(1));
            }
        }
        self.facts[fact].features = features;
        proofs.into_iter().map(|used| used.into_iter().map(|number| number as usize).collect()).collect()
    }

    /// Returns the number of proofs that used a fact, and the facts with such proofs that are most similar to
    /// a goal, best first.
    pub fn users(&self, fact: usize, goal: &IndexedGoal, most: usize) -> (usize, Vec<usize>) {
        let uses = &self.facts[fact].uses;
        let likeness = |user: u32| -> f32 {
            let features = self.facts[user as usize].symbol_and_pair_features().iter();
            features
                .filter(|feature| goal.symbol_and_pair_features().contains(feature))
                .map(|&f| self.idf(f).powi(2))
                .sum()
        };
        let mut users: Vec<(usize, f32)> = uses.iter().map(|&user| (user as usize, likeness(user))).collect();
        users.dedup_by_key(|(user, _)| *user);
        users.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(b.cmp(a)));
        (uses.len(), users.into_iter().take(most).map(|(user, _)| user).collect())
    }

    /// Returns a goal with some features.
    pub fn goal(&self, features: &Features) -> IndexedGoal {
        let mut goal = IndexedGoal::default();
        for (kind, hashes) in [&features.symbols, &features.pairs, &features.subterms].into_iter().enumerate()
        {
            goal.features.extend(hashes.iter().filter_map(|hash| self.numbers.get(hash)));
            if let Some(end) = goal.ends.get_mut(kind) {
                *end = goal.features.len();
            }
        }
        let symbols = features.symbols.len();
        goal.unknown = (symbols - goal.ends[0]) as f32 / symbols.max(1) as f32;
        goal
    }

    /// Returns the rarity of a feature: the logarithm of the inverse share of facts that have it.
    pub(super) fn idf(&self, feature: u32) -> f32 {
        self.size - self.log_df[feature as usize]
    }
}
