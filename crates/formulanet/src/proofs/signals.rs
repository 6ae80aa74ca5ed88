//! Signals, the ranking features of a fact: numbers with the same meaning in any library, such as shares,
//! ranks, odds and rarities, but never names.

use std::collections::HashMap;

use crate::proofs::index::IndexedFact;
use crate::proofs::methods::{Scored, best};
use crate::proofs::neighbors::{self, Neighbors};
use crate::proofs::{IndexedGoal, ProofIndex, bayes, context, mepo};
use crate::rerank::log_odds;

/// Declares the signals, so that names and places always agree.
macro_rules! signals {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types)]
        enum Signal { $($name),* }

        impl SignalTable {
            /// Names of the signals, in order. A blend lists those that it was made for.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        }
    };
}

signals! {
    // Shares of the nearest facts' proofs that used it: by whole parts, by pairs, and by the formula of
    // hammers.
    parts_4, parts_16, parts_64, parts_256, parts_first, pairs_8, pairs_64, rare_32, local, hammer_score,
    hammer_rank, votes, vote,
    // Uses in the proofs of what those proofs used; uses together with the most distinctive of these.
    indirect, together, own_proof, users,
    // Naive Bayes, and how often facts with the goal's features are proved with it.
    bayes_score, bayes_rank, bayes_gap, given_mean, given_best, given_rarest, lift,
    // Uses in all proofs, and in those close to the goal's place.
    uses, use_share, use_rank, close_10, close_100, close_1000, close_rank, last_use,
    // Place in the library.
    distance, place,
    // Similarity to the goal.
    like_symbols, like_pairs, like_parts, like_rank, goal_covered, fact_covered, parts_covered, wider_covered, rarest_common,
    rarest_foreign, mean_foreign, introduces, mention,
    // Properties of the fact itself.
    size, symbols, is_proved, proof_size,
    // Properties of the goal and its neighbors.
    goal_unknown, nearest, proof_sizes,
    // Reached from the goal's symbols, round by round, as in MePo.
    reach_score, reach_rank,
    // A model's log-odds, how far they exceed its odds without a goal, the rank, the distance to the best;
    // the share of the goal's symbols in the model's vocabulary, 0 without a model.
    model_odds, model_lift, model_rank, model_gap, model_known,
    // Rarity of its symbols.
    rarest_own, mean_own,
    // Properties of the library.
    alike_nearest, is_ordered, log_proofs, log_facts,
}

/// Position of a goal in a library, which decides which facts are close to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GoalPosition {
    /// After all candidates.
    #[default]
    End,
    /// Unknown: after the fact most similar to it.
    NearestFact,
    /// None: the order of the facts has no meaning.
    Unordered,
}

/// A model's scores of all facts.
#[derive(Clone, Copy, Debug)]
pub struct ModelScores<'a> {
    /// Probabilities, by fact.
    pub scores: &'a [f32],
    /// Probabilities without a goal, if the model has them.
    pub base_rates: Option<&'a [f32]>,
    /// Share of the goal's symbols in the model's vocabulary.
    pub known: f32,
}

/// Position of the goal, and the scores of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// Position of the goal.
    pub position: GoalPosition,
    /// Scores of a model, if there is one.
    pub model: Option<ModelScores<'a>>,
}

/// Signals from a model.
const OF_MODEL: [&str; 5] = ["model_odds", "model_lift", "model_rank", "model_gap", "model_known"];

/// Signals that decide how far a model's scores are trusted.
const NEXT_TO_MODEL: [&str; 8] = [
    "log_proofs",
    "log_facts",
    "like_rank",
    "like_symbols",
    "reach_rank",
    "hammer_rank",
    "goal_unknown",
    "rarest_own",
];

/// Signals that have a meaning only if the order of the library has one.
pub(crate) const OF_ORDER: [&str; 10] = [
    "local",
    "close_10",
    "close_100",
    "close_1000",
    "close_rank",
    "last_use",
    "distance",
    "place",
    "introduces",
    "mention",
];

/// Candidates for a goal, each with its signals.
#[derive(Clone, Debug, Default)]
pub struct SignalTable {
    facts: Vec<u32>,
    rows: Vec<f32>,
}

/// Maximum number of candidates from each source.
const CANDIDATES: usize = 320;
/// Number of facts up to which each of them is a candidate.
const ALL: usize = 2048;
/// Number of facts reached from a goal's symbols.
const REACHED: usize = 2048;

impl SignalTable {
    /// Number of signals of a fact.
    pub const COUNT: usize = Self::NAMES.len();

    /// Returns the facts, ascending.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = usize> {
        self.facts.iter().map(|&fact| fact as usize)
    }

    /// Returns the places of the signals from a model.
    pub fn of_model() -> impl Iterator<Item = usize> {
        places(&OF_MODEL)
    }

    /// Returns the places of the signals that decide how far a model's scores are trusted.
    pub fn next_to_model() -> impl Iterator<Item = usize> {
        places(&NEXT_TO_MODEL)
    }

    /// Whether a row was made with recorded proofs.
    pub fn has_proofs(row: &[f32]) -> bool {
        row[Signal::log_proofs as usize] > 0.0
    }

    /// Returns the signals of each fact, in the order of [`SignalTable::NAMES`].
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.rows.chunks_exact(Self::COUNT)
    }
}

impl ProofIndex {
    /// Returns the candidates for a goal among the facts before a place, with their signals.
    pub fn signals(&self, goal: &IndexedGoal, before: usize) -> SignalTable {
        self.signals_in(goal, before, Context::default(), |_| true)
    }

    /// Returns the candidates among the eligible facts before a place, with their signals in a context.
    pub fn signals_in(
        &self,
        goal: &IndexedGoal,
        before: usize,
        context: Context<'_>,
        is_eligible: impl Fn(usize) -> bool,
    ) -> SignalTable {
        let before = before.min(self.len());
        if before == 0 {
            return SignalTable::default();
        }
        let context = SignalContext::new(self, goal, before, context);
        let eligible = (0..before as u32).filter(|&fact| is_eligible(fact as usize));
        let few: Vec<u32> = eligible.take(ALL + 1).collect();
        if few.len() <= ALL {
            return context.signals(few);
        }
        let mut candidates = context.candidates();
        candidates.retain(|&fact| is_eligible(fact as usize));
        context.signals(candidates)
    }

    /// Returns the signals of given facts, ascending, for a goal at a place.
    pub fn signals_among(&self, goal: &IndexedGoal, before: usize, facts: Vec<u32>) -> SignalTable {
        let before = before.min(self.len());
        if before == 0 {
            return SignalTable::default();
        }
        let facts = facts.into_iter().filter(|&fact| (fact as usize) < before).collect();
        SignalContext::new(self, goal, before, Context::default()).signals(facts)
    }

    /// Returns the signals of all facts of a small library.
    pub fn signals_of_all(&self, goal: &IndexedGoal) -> SignalTable {
        self.signals_among(goal, self.len(), (0..self.len() as u32).collect())
    }
}

/// Everything that is computed once for a goal.
struct SignalContext<'a> {
    index: &'a ProofIndex,
    goal: &'a IndexedGoal,
    before: usize,
    /// Place of the goal.
    place: usize,
    near: Neighbors,
    shares: [Vec<f32>; 8],
    votes: [Vec<f32>; 2],
    /// Relevance of symbols.
    relevance: HashMap<u32, f32>,
    /// Place of the first neighbor that used a fact, by fact; 0 if none did.
    first: Vec<u32>,
    hammer: Vec<Scored>,
    close: [Vec<f32>; 3],
    indirect: Vec<f32>,
    together: Vec<f32>,
    reached: Vec<Scored>,
    context: Context<'a>,
}

impl<'a> SignalContext<'a> {
    fn new(index: &'a ProofIndex, goal: &'a IndexedGoal, before: usize, context: Context<'a>) -> Self {
        let near = Neighbors::new(index, goal);
        let place = match context.position {
            GoalPosition::End | GoalPosition::Unordered => before,
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
        let reached = mepo::mepo(index, goal, before, before.min(REACHED));
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
            reached,
            context,
        }
    }

    /// Returns the best facts of each source.
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
        self.reached.iter().take(CANDIDATES).for_each(|&(fact, _)| take(fact));
        // Facts whose symbols are all common are used everywhere; without proofs, no other source finds them.
        best(self.general(), CANDIDATES).into_iter().for_each(|(fact, _)| take(fact));
        (0..before.min(CANDIDATES / 2)).for_each(|fact| take(fact as u32));
        if let Some(model) = self.context.model {
            top(model.scores, CANDIDATES).for_each(&mut take);
        }
        (before.saturating_sub(CANDIDATES / 10)..before).for_each(|fact| take(fact as u32));
        (0..before as u32).filter(|&fact| is_candidate[fact as usize]).collect()
    }

    /// Scores each fact by how common its rarest symbol is.
    fn general(&self) -> Vec<Scored> {
        let index = self.index;
        let rarest =
            |fact: &IndexedFact| fact.symbols().iter().map(|&symbol| index.idf(symbol)).fold(0.0, f32::max);
        (0..).zip(&index.facts[..self.before]).map(|(number, fact)| (number, -rarest(fact))).collect()
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
        self.fill_reach(&mut signals);
        self.fill_model(&mut signals);
        if self.context.position == GoalPosition::Unordered {
            for row in signals.rows.chunks_exact_mut(SignalTable::COUNT) {
                places(&OF_ORDER).for_each(|place| row[place] = 0.0);
            }
        }
        signals
    }

    /// Fills in the signals of the facts reached from the goal's symbols.
    fn fill_reach(&self, signals: &mut SignalTable) {
        for row in signals.rows.chunks_exact_mut(SignalTable::COUNT) {
            row[Signal::reach_rank as usize] = -9.0;
        }
        for (rank, &(fact, score)) in self.reached.iter().enumerate() {
            if let Ok(place) = signals.facts.binary_search(&fact) {
                let row = &mut signals.rows[place * SignalTable::COUNT..][..SignalTable::COUNT];
                row[Signal::reach_score as usize] = score;
                row[Signal::reach_rank as usize] = -(1.0 + rank as f32).ln();
            }
        }
    }

    /// Fills in the signals from a model.
    fn fill_model(&self, signals: &mut SignalTable) {
        let Some(ModelScores { scores, base_rates, known }) = self.context.model else { return };
        let SignalTable { facts, rows } = signals;
        let odds = |scores: &[f32], fact: u32| log_odds(scores[fact as usize]);
        let highest = facts.iter().map(|&fact| odds(scores, fact)).fold(f32::MIN, f32::max);
        for (&fact, row) in facts.iter().zip(rows.chunks_exact_mut(SignalTable::COUNT)) {
            let odds = odds(scores, fact);
            row[Signal::model_odds as usize] = odds;
            row[Signal::model_lift as usize] =
                base_rates.map_or(0.0, |rates| odds - log_odds(rates[fact as usize]));
            row[Signal::model_gap as usize] = odds - highest;
            row[Signal::model_known as usize] = known;
        }
        fill_rank(rows, facts.len(), Signal::model_odds, Signal::model_rank);
    }

    /// Fills in the signals of a fact from proofs.
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

    /// Fills in the similarity of a fact to the goal.
    fn fill_likeness(&self, fact: u32, common: &Common, row: &mut [f32]) {
        let index = self.index;
        let known = &index.facts[fact as usize];
        let mut set = |at: Signal, value: f32| row[at as usize] = value;
        let most = (index.len() as f32).ln().max(1.0);
        let mut sums = [Sums::default(); 3];
        let (mut rarest_common, mut rarest_foreign, mut foreign) = (0.0f32, 0.0f32, 0.0f32);
        let (mut relevant, mut all) = (0.0f32, 0.0f32);
        let (mut introduces, mut mention) = (0.0f32, f32::INFINITY);
        let mut rarest_own = 0.0f32;
        for (place, &feature) in known.features.iter().enumerate() {
            let kind = known.ends.partition_point(|&end| end <= place);
            let idf = index.idf(feature);
            let is_common = common.has(feature);
            sums[kind].add(idf, is_common);
            if kind == 0 {
                relevant += idf * self.relevance.get(&feature).copied().unwrap_or(0.0);
                all += idf;
                rarest_own = rarest_own.max(idf);
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
        set(Signal::rarest_own, rarest_own / most);
        set(Signal::mean_own, all / (known.symbols().len() as f32).max(1.0) / most);
        set(Signal::size, (1.0 + known.size as f32).ln());
        set(Signal::symbols, (1.0 + known.symbols().len() as f32).ln());
    }

    /// Fills in how often proofs of facts with the goal's features use a fact.
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

    /// Fills in the signals that are equal for all candidates.
    fn fill_goal(&self, row: &mut [f32]) {
        let mut set = |at: Signal, value: f32| row[at as usize] = value;
        set(Signal::goal_unknown, self.goal.unknown);
        let nearest = &self.near.by_parts[..self.near.by_parts.len().min(16)];
        set(Signal::nearest, nearest.first().map_or(0.0, |&(_, near)| near));
        let size =
            |&(fact, _): &Scored| self.index.facts[fact as usize].proofs.first().map_or(0, Vec::len) as f32;
        let total: f32 = nearest.iter().map(size).sum();
        set(Signal::proof_sizes, (1.0 + total / nearest.len().max(1) as f32).ln());
        set(Signal::alike_nearest, self.near.alike.first().map_or(0.0, |&(_, near)| near));
        set(Signal::is_ordered, f32::from(u8::from(self.context.position != GoalPosition::Unordered)));
        set(Signal::log_proofs, (1.0 + self.index.proofs as f32).ln());
        set(Signal::log_facts, (1.0 + self.before as f32).ln());
    }

    /// Fills in the signals that only compare candidates with each other.
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
            fill_rank(rows, facts.len(), from, to);
        }
    }
}

/// Ranks candidates by one of their signals.
fn fill_rank(rows: &mut [f32], number: usize, from: Signal, to: Signal) {
    let column = rows.chunks_exact(SignalTable::COUNT).map(|row| row[from as usize]);
    let ordered = best((0..).zip(column).collect(), number);
    for (rank, (place, _)) in ordered.into_iter().enumerate() {
        rows[place as usize * SignalTable::COUNT + to as usize] = -(1.0 + rank as f32).ln();
    }
}

/// Returns the places of some signals.
fn places(names: &'static [&str]) -> impl Iterator<Item = usize> {
    (0..).zip(SignalTable::NAMES).filter(move |(_, name)| names.contains(name)).map(|(place, _)| place)
}

/// Features of the goal, for comparison with those of facts.
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

/// Sums of squared rarities of a fact's features.
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
