//! What speaks for a fact, as numbers that mean the same in any library: shares, ranks, odds and rarities, never names.

use std::collections::HashMap;

use crate::proofs::index::IndexedFact;
use crate::proofs::methods::{Scored, best};
use crate::proofs::neighbors::{self, Neighbors};
use crate::proofs::{IndexedGoal, ProofIndex, bayes, context};

/// Declares the signals, so that a name and a place cannot get apart.
macro_rules! signals {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types)]
        enum Signal { $($name),* }

        impl SignalTable {
            /// The names of the signals, in order. A blend says which it was made for.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        }
    };
}

signals! {
    // What proofs of similar facts used: shares of the nearest, by whole parts, by pairs, and by the formula of hammers.
    parts_4, parts_16, parts_64, parts_256, parts_first, pairs_8, pairs_64, rare_32, local, hammer_score,
    hammer_rank, votes, vote,
    // The same, of what is used by what is used; and facts that proofs use together with the most distinctive of these.
    indirect, together, own_proof, users,
    // Naive Bayes, and how often facts with the goal's features are proved with it.
    bayes_score, bayes_rank, bayes_gap, given_mean, given_best, given_rarest, lift,
    // How often it is used at all, and close to the goal's place.
    uses, use_share, use_rank, close_10, close_100, close_1000, close_rank, last_use,
    // Where it stands.
    distance, place,
    // How much it is like the goal.
    like_symbols, like_pairs, like_parts, like_rank, goal_covered, fact_covered, parts_covered, wider_covered, rarest_common,
    rarest_foreign, mean_foreign, introduces, mention,
    // What it is itself.
    size, symbols, is_proved, proof_size,
    // What is asked, and what is known.
    goal_unknown, nearest, proof_sizes,
}

/// The facts that are worth a look for a goal, each with what speaks for it.
#[derive(Clone, Debug, Default)]
pub struct SignalTable {
    facts: Vec<u32>,
    rows: Vec<f32>,
}

/// How many candidates each source may name.
const CANDIDATES: usize = 320;

impl SignalTable {
    /// How many signals a fact has.
    pub const COUNT: usize = Self::NAMES.len();

    /// The facts, ascending.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = usize> {
        self.facts.iter().map(|&fact| fact as usize)
    }

    /// Leaves facts out.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let kept: Vec<bool> = self.facts().map(keep).collect();
        let mut row = kept.iter().flat_map(|&kept| std::iter::repeat_n(kept, Self::COUNT));
        self.rows.retain(|_| row.next().unwrap_or(false));
        let mut fact = kept.iter();
        self.facts.retain(|_| fact.next().copied().unwrap_or(false));
    }

    /// What speaks for each fact, in the order of [`SignalTable::NAMES`].
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.rows.chunks_exact(Self::COUNT)
    }
}

impl ProofIndex {
    /// The candidates for a goal among the facts before a place, and what speaks for each.
    pub fn signals(&self, goal: &IndexedGoal, before: usize) -> SignalTable {
        let before = before.min(self.len());
        if before == 0 {
            return SignalTable::default();
        }
        self.signals_from(goal, before, GoalPosition::End)
    }

    /// The same for a goal that stands somewhere in the library.
    pub(super) fn signals_from(&self, goal: &IndexedGoal, before: usize, place: GoalPosition) -> SignalTable {
        let context = SignalContext::new(self, goal, before, place);
        let candidates = context.candidates();
        context.signals(candidates)
    }

    /// What speaks for given facts, ascending, for a goal that stands at a place.
    pub fn signals_among(&self, goal: &IndexedGoal, before: usize, facts: Vec<u32>) -> SignalTable {
        let before = before.min(self.len());
        if before == 0 {
            return SignalTable::default();
        }
        let facts = facts.into_iter().filter(|&fact| (fact as usize) < before).collect();
        SignalContext::new(self, goal, before, GoalPosition::End).signals(facts)
    }

    /// What speaks for all facts, where there are few.
    pub fn signals_of_all(&self, goal: &IndexedGoal) -> SignalTable {
        self.signals_among(goal, self.len(), (0..self.len() as u32).collect())
    }
}

/// Where in a library a goal stands, which says what is close to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GoalPosition {
    /// Behind all candidates.
    End,
    /// Behind the fact that is most like it.
    NearestFact,
}

/// All that is computed once for a goal.
struct SignalContext<'a> {
    index: &'a ProofIndex,
    goal: &'a IndexedGoal,
    before: usize,
    /// Where the goal stands.
    place: usize,
    near: Neighbors,
    shares: [Vec<f32>; 8],
    votes: [Vec<f32>; 2],
    /// How relevant symbols are.
    relevance: HashMap<u32, f32>,
    /// The place of the first neighbour that used a fact, by fact; 0 if none did.
    first: Vec<u32>,
    hammer: Vec<Scored>,
    close: [Vec<f32>; 3],
    indirect: Vec<f32>,
    together: Vec<f32>,
}

impl<'a> SignalContext<'a> {
    fn new(index: &'a ProofIndex, goal: &'a IndexedGoal, before: usize, place: GoalPosition) -> Self {
        let near = Neighbors::new(index, goal);
        let place = match place {
            GoalPosition::End => before,
            GoalPosition::NearestFact => {
                let mut alike =
                    near.alike.iter().map(|&(fact, _)| fact as usize).filter(|&fact| fact < before);
                alike.next().map_or(before, |fact| fact + 1)
            }
        };
        let (parts, pairs, rare) = (&near.by_parts, &near.by_pairs, &near.by_rarity);
        let share = |list: &[Scored], number: usize, power: i32| {
            let list = &list[..list.len().min(number)];
            let first = list.first().map_or(1.0, |&(_, near)| near);
            neighbors::shares(index, list, |_, near| (near / first).powi(power))
        };
        let local =
            |fact: u32, near: f32| near.powi(2) * (-(place.abs_diff(fact as usize) as f32) / 400.0).exp();
        let shares = [
            share(parts, 4, 1),
            share(parts, 16, 2),
            share(parts, 64, 3),
            share(parts, 256, 3),
            share(pairs, 8, 1),
            share(pairs, 64, 3),
            share(rare, 32, 1),
            neighbors::shares(index, parts, local),
        ];
        let mut first = vec![0; index.len()];
        for (place, &(fact, _)) in (1..).zip(parts.iter()) {
            for &used in index.facts[fact as usize].proofs.iter().flatten() {
                if first[used as usize] == 0 {
                    first[used as usize] = place;
                }
            }
        }
        let close = context::close(index, place);
        let indirect = context::indirect(index, &parts[..parts.len().min(24)]);
        let together = context::together(index, &shares[1], place);
        let hammer = best(neighbors::down(index, &near.hammer, before, 1024), 1024);
        let votes = context::votes(index, goal);
        let relevance = context::relevance(index, goal, &shares[1]);
        SignalContext {
            index,
            goal,
            before,
            place,
            near,
            shares,
            votes,
            relevance,
            first,
            hammer,
            close,
            indirect,
            together,
        }
    }

    /// The best of each source.
    fn candidates(&self) -> Vec<u32> {
        let before = self.before;
        let top = |scores: &[f32], number: usize| {
            let positive = (0..).zip(&scores[..before]).filter(|(_, score)| **score > 0.0);
            best(positive.map(|(fact, &score)| (fact, score)).collect(), number)
                .into_iter()
                .map(|(fact, _)| fact)
        };
        let mut is_candidate = vec![false; before];
        let mut take = |fact: u32| is_candidate[fact as usize] = true;
        self.hammer.iter().take(CANDIDATES).for_each(|&(fact, _)| take(fact));
        [2, 3, 5, 7].iter().for_each(|&list: &usize| top(&self.shares[list], CANDIDATES).for_each(&mut take));
        [0, 1, 2]
            .iter()
            .for_each(|&scale: &usize| top(&self.close[scale], CANDIDATES / 2).for_each(&mut take));
        top(&self.votes[0], CANDIDATES).for_each(&mut take);
        top(&self.together, CANDIDATES / 2).for_each(&mut take);
        top(&self.indirect, CANDIDATES / 2).for_each(&mut take);
        let popular = super::methods::popularity(self.index, before);
        best(popular, CANDIDATES / 2).into_iter().for_each(|(fact, _)| take(fact));
        let alike = self.near.alike.iter().filter(|(fact, _)| (*fact as usize) < before);
        alike.take(CANDIDATES / 2).for_each(|&(fact, _)| take(fact));
        (before.saturating_sub(CANDIDATES / 10)..before).for_each(|fact| take(fact as u32));
        (0..before as u32).filter(|&fact| is_candidate[fact as usize]).collect()
    }

    fn signals(&self, facts: Vec<u32>) -> SignalTable {
        let mut rows = vec![0.0f32; facts.len() * SignalTable::COUNT];
        let common = Common::new(self.index, self.goal);
        for (&fact, row) in facts.iter().zip(rows.chunks_exact_mut(SignalTable::COUNT)) {
            self.fill_use(fact, row);
            self.fill_likeness(fact, &common, row);
            self.fill_odds(fact, row);
            self.fill_goal(row);
        }
        let mut signals = SignalTable { facts, rows };
        self.fill_ranks(&mut signals);
        signals
    }

    /// What proofs say about a fact.
    fn fill_use(&self, fact: u32, row: &mut [f32]) {
        let (number, known) = (fact as usize, &self.index.facts[fact as usize]);
        let mut set = |at: Signal, value: f32| row[at as usize] = value;
        let shares = [
            Signal::parts_4,
            Signal::parts_16,
            Signal::parts_64,
            Signal::parts_256,
            Signal::pairs_8,
            Signal::pairs_64,
            Signal::rare_32,
            Signal::local,
        ];
        for (at, share) in shares.into_iter().zip(&self.shares) {
            set(at, share[number]);
        }
        set(
            Signal::parts_first,
            if self.first[number] == 0 { 7.0 } else { (self.first[number] as f32).ln() },
        );
        set(Signal::votes, self.votes[0][number]);
        set(Signal::vote, self.votes[1][number]);
        set(Signal::indirect, self.indirect[number]);
        set(Signal::together, self.together[number]);
        let distinctive = &self.shares[1];
        let of_own = known.proofs.first().map_or(0.0, |used| {
            used.iter().map(|&used| distinctive[used as usize]).sum::<f32>() / used.len().max(1) as f32
        });
        set(Signal::own_proof, of_own);
        let close_users = context::nearest_users(known, self.place, 64);
        set(Signal::users, close_users.iter().map(|&user| distinctive[user as usize]).sum());
        let proofs = self.index.proofs as f32;
        set(Signal::uses, (1.0 + known.uses.len() as f32).ln());
        set(Signal::use_share, known.uses.len() as f32 / proofs.max(1.0));
        for (at, close) in
            [Signal::close_10, Signal::close_100, Signal::close_1000].into_iter().zip(&self.close)
        {
            set(at, close[number]);
        }
        let last = context::last_use(known, self.place);
        set(Signal::last_use, last.map_or(14.0, |distance| (1.0 + distance as f32).ln()));
        set(
            Signal::lift,
            ((self.shares[2][number] + 1e-3) / (known.uses.len() as f32 / proofs.max(1.0) + 1e-3)).ln(),
        );
        set(Signal::distance, (1.0 + self.place.abs_diff(number) as f32).ln());
        set(Signal::place, number as f32 / self.before as f32);
        set(Signal::is_proved, f32::from(u8::from(known.is_proved())));
        set(Signal::proof_size, (1.0 + known.proofs.first().map_or(0, Vec::len) as f32).ln());
    }

    /// What a fact says, beside what the goal says.
    fn fill_likeness(&self, fact: u32, common: &Common, row: &mut [f32]) {
        let index = self.index;
        let known = &index.facts[fact as usize];
        let mut set = |at: Signal, value: f32| row[at as usize] = value;
        let most = (index.len() as f32).ln().max(1.0);
        let mut sums = [Sums::default(); 3];
        let (mut rarest_common, mut rarest_foreign, mut foreign) = (0.0f32, 0.0f32, 0.0f32);
        let (mut relevant, mut all) = (0.0f32, 0.0f32);
        let (mut introduces, mut mention) = (0.0f32, f32::INFINITY);
        for (place, &feature) in known.features.iter().enumerate() {
            let kind = known.ends.partition_point(|&end| end <= place);
            let idf = index.idf(feature);
            let is_common = common.has(feature);
            sums[kind].add(idf, is_common);
            if kind == 0 {
                relevant += idf * self.relevance.get(&feature).copied().unwrap_or(0.0);
                all += idf;
            }
            if kind == 0 && is_common {
                rarest_common = rarest_common.max(idf);
                let mentions = &index.postings[feature as usize];
                let place = mentions.partition_point(|&other| other < fact);
                if place == 0 {
                    introduces = introduces.max(idf);
                }
                mention = mention.min(place as f32 / (0.1 + idf));
            } else if kind == 0 {
                rarest_foreign = rarest_foreign.max(idf);
                foreign += idf;
            }
        }
        let [symbols, pairs, parts] = sums;
        let pairs = symbols.and(pairs);
        let parts = pairs.and(parts);
        set(Signal::like_symbols, symbols.cosine(common.lengths[0]));
        set(Signal::like_pairs, pairs.cosine(common.lengths[1]));
        set(Signal::like_parts, parts.cosine(common.lengths[2]));
        set(Signal::goal_covered, symbols.common / common.lengths[0].max(1e-6));
        set(Signal::fact_covered, symbols.common / symbols.all.max(1e-6));
        set(Signal::parts_covered, parts.common / parts.all.max(1e-6));
        set(Signal::wider_covered, relevant / all.max(1e-6));
        set(Signal::rarest_common, rarest_common / most);
        set(Signal::rarest_foreign, rarest_foreign / most);
        let foreigners = (known.symbols().len() as f32 - symbols.number).max(1.0);
        set(Signal::mean_foreign, foreign / foreigners / most);
        set(Signal::introduces, introduces / most);
        set(Signal::mention, if mention.is_finite() { (1.0 + mention).ln() } else { 14.0 });
        set(Signal::size, (1.0 + known.size as f32).ln());
        set(Signal::symbols, (1.0 + known.symbols().len() as f32).ln());
    }

    /// How often proofs of facts with the goal's features use a fact.
    fn fill_odds(&self, fact: u32, row: &mut [f32]) {
        let index = self.index;
        let known: &IndexedFact = &index.facts[fact as usize];
        let (mut mean, mut weights, mut highest, mut rarest) = (0.0f32, 0.0f32, 0.0f32, (0.0f32, 0.0f32));
        for &feature in self.goal.symbol_and_pair_features() {
            let proved = index.proved[feature as usize] as f32;
            if proved == 0.0 {
                continue;
            }
            let count = known.counts.binary_search_by_key(&feature, |&(other, _)| other);
            let count = count.map_or(0, |place| known.used_for(place)) as f32;
            let (share, idf) = (count / (proved + 1.0), index.idf(feature));
            mean += idf * share;
            weights += idf;
            highest = highest.max(share * idf);
            if idf > rarest.0 {
                rarest = (idf, share);
            }
        }
        row[Signal::given_mean as usize] = mean / weights.max(1e-6);
        row[Signal::given_best as usize] = highest;
        row[Signal::given_rarest as usize] = rarest.1;
    }

    /// What is the same for all candidates.
    fn fill_goal(&self, row: &mut [f32]) {
        let mut set = |at: Signal, value: f32| row[at as usize] = value;
        set(Signal::goal_unknown, self.goal.unknown);
        let nearest = &self.near.by_parts[..self.near.by_parts.len().min(16)];
        set(Signal::nearest, nearest.first().map_or(0.0, |&(_, near)| near));
        let size =
            |&(fact, _): &Scored| self.index.facts[fact as usize].proofs.first().map_or(0, Vec::len) as f32;
        let total: f32 = nearest.iter().map(size).sum();
        set(Signal::proof_sizes, (1.0 + total / nearest.len().max(1) as f32).ln());
    }

    /// Scores that mean something beside those of other candidates only.
    fn fill_ranks(&self, signals: &mut SignalTable) {
        let SignalTable { facts, rows } = signals;
        let highest = self.hammer.first().map_or(1.0, |&(_, score)| score.max(1e-12));
        for (rank, &(fact, score)) in self.hammer.iter().enumerate() {
            if let Ok(place) = facts.binary_search(&fact) {
                let row = &mut rows[place * SignalTable::COUNT..][..SignalTable::COUNT];
                row[Signal::hammer_score as usize] = score / highest;
                row[Signal::hammer_rank as usize] = -(1.0 + rank as f32).ln();
            }
        }
        for row in rows.chunks_exact_mut(SignalTable::COUNT) {
            if row[Signal::hammer_score as usize] == 0.0 {
                row[Signal::hammer_rank as usize] = -8.0;
            }
        }
        let weighted = bayes::Weighted::new(self.index, self.goal);
        let mut scores: Vec<f32> =
            facts.iter().map(|&fact| bayes::score(self.index, &weighted, fact)).collect();
        let mean = scores.iter().sum::<f32>() / scores.len().max(1) as f32;
        let spread =
            scores.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / scores.len().max(1) as f32;
        let spread = spread.sqrt().max(1e-6);
        scores.iter_mut().for_each(|score| *score = (*score - mean) / spread);
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        for (row, &score) in rows.chunks_exact_mut(SignalTable::COUNT).zip(&scores) {
            row[Signal::bayes_score as usize] = score;
            row[Signal::bayes_gap as usize] = score - highest;
        }
        for (from, to) in [
            (Signal::bayes_score, Signal::bayes_rank),
            (Signal::uses, Signal::use_rank),
            (Signal::close_100, Signal::close_rank),
            (Signal::like_parts, Signal::like_rank),
        ] {
            let column = rows.chunks_exact(SignalTable::COUNT).map(|row| row[from as usize]);
            let ordered = best((0..).zip(column).collect(), facts.len());
            for (rank, (place, _)) in ordered.into_iter().enumerate() {
                rows[place as usize * SignalTable::COUNT + to as usize] = -(1.0 + rank as f32).ln();
            }
        }
    }
}

/// Which features the goal has.
struct Common {
    /// Ascending.
    features: Vec<u32>,
    /// Sums of squared rarities of symbols, of symbols and pairs, and of all features.
    lengths: [f32; 3],
}

impl Common {
    fn new(index: &ProofIndex, goal: &IndexedGoal) -> Self {
        let sum = |features: &[u32]| features.iter().map(|&feature| index.idf(feature).powi(2)).sum();
        let lengths = [sum(goal.symbols()), sum(goal.symbol_and_pair_features()), sum(&goal.features)];
        let mut features = goal.features.clone();
        features.sort_unstable();
        Common { features, lengths }
    }

    fn has(&self, feature: u32) -> bool {
        self.features.binary_search(&feature).is_ok()
    }
}

/// Squared rarities of a fact's features, added up.
#[derive(Clone, Copy, Default)]
struct Sums {
    all: f32,
    common: f32,
    number: f32,
}

impl Sums {
    fn add(&mut self, idf: f32, is_common: bool) {
        self.all += idf * idf;
        if is_common {
            self.common += idf * idf;
            self.number += 1.0;
        }
    }

    fn and(self, other: Sums) -> Sums {
        Sums {
            all: self.all + other.all,
            common: self.common + other.common,
            number: self.number + other.number,
        }
    }

    fn cosine(self, goal: f32) -> f32 {
        self.common / (self.all * goal).sqrt().max(1e-6)
    }
}
