//! How statements are ranked: what may be asked for, and the one place that decides what is done.

use serde::{Deserialize, Serialize};

/// How a query is answered. Every program lowers its flags or fields into this, and into nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Policy {
    /// Whether the names of symbols count.
    pub symbols: Symbols,
    /// Whether the best candidates are scored a second time, together with the goal.
    pub rerank: Rerank,
    /// Which statements rank highest.
    pub order: Order,
}

/// Whether the names of symbols count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Symbols {
    /// The model knows symbols by their names.
    #[default]
    Named,
    /// Renaming all symbols changes nothing.
    Anonymous,
    /// Both rankings, fused by rank.
    Both,
}

/// Whether the best candidates are scored a second time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rerank {
    /// Where it was measured to help.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Which statements rank highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Those that are most likely to be used.
    #[default]
    Probability,
    /// Those that the goal makes likelier than usual: a statement that every other proof uses has to be likelier still.
    Lift,
}

impl Order {
    /// All orders by name.
    pub const ALL: [(&'static str, Order); 2] = [("probability", Order::Probability), ("lift", Order::Lift)];
}

impl Symbols {
    /// All choices by name.
    pub const ALL: [(&'static str, Symbols); 3] =
        [("named", Symbols::Named), ("anonymous", Symbols::Anonymous), ("both", Symbols::Both)];
}

impl Rerank {
    /// All choices by name.
    pub const ALL: [(&'static str, Rerank); 3] =
        [("auto", Rerank::Auto), ("on", Rerank::On), ("off", Rerank::Off)];
}

impl Policy {
    /// Sets whether the names of symbols count.
    #[must_use]
    pub const fn symbols(self, symbols: Symbols) -> Self {
        Policy { symbols, ..self }
    }

    /// Sets whether the best candidates are scored a second time.
    #[must_use]
    pub const fn rerank(self, rerank: Rerank) -> Self {
        Policy { rerank, ..self }
    }

    /// Sets which statements rank highest.
    #[must_use]
    pub const fn order(self, order: Order) -> Self {
        Policy { order, ..self }
    }
}

/// The stages of a ranking, decided once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// The first stage, which scores every candidate.
    pub retrieve: Stage1,
    /// The second stage, which scores the best once more.
    pub rerank: Option<Stage2>,
    /// Which statements rank highest.
    pub order: Order,
    /// The order of the statements after those that the second stage has scored.
    pub tail: Tail,
}

/// The first stage of a ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage1 {
    /// The learned ranker: trees over what statements say, what the library's recorded proofs used and what the model says.
    Learned {
        /// Whether there are recorded proofs.
        with_proofs: bool,
    },
    /// The model's vectors alone, where there are too many statements for an index.
    Model,
    /// The symbols that goal and statements share, whatever their names.
    Symbols,
    /// Model and symbols, each with its second stage, fused by rank.
    ModelAndSymbols,
}

/// The second stage of a ranking.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stage2 {
    /// The number of candidates that it scores.
    pub depth: usize,
    /// How both scores become one.
    pub fuse: Fuse,
    /// Which re-ranker.
    pub reranker: RerankerSource,
}

/// How the scores of both stages become one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fuse {
    /// The second replaces the first.
    Replace,
    /// The odds of the second, to a power, multiply those of the first.
    OddsToPower(f32),
    /// The log-odds of the second, weighted, are added to those of the first.
    AddOdds(f32),
}

/// Which re-ranker is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RerankerSource {
    /// The one that was given.
    Given,
    /// The one that was fitted to the library.
    Fitted,
    /// The built-in one.
    BuiltIn,
}

/// The order of the statements after those that the second stage has scored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tail {
    /// The others in the order of the first stage.
    Retrieved,
    /// Statements whose symbols are all familiar, after the best few.
    Familiar,
}

/// The facts that a plan depends on, in addition to the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Facts {
    /// Whether there is a library.
    pub has_library: bool,
    /// Whether statements are indexed by what they are recognised by.
    pub has_index: bool,
    /// Whether the library has recorded proofs.
    pub has_proofs: bool,
    /// Whether there are only a few statements.
    pub is_small: bool,
    /// Whether statements are in TPTP.
    pub is_tptp: bool,
    /// Whether a model has vectors of the statements.
    pub has_model: bool,
    /// Whether a re-ranker was given.
    pub has_given: bool,
    /// Whether one was fitted to the library.
    pub has_fitted: bool,
    /// Whether one is built in.
    pub has_built_in: bool,
}

/// Numbers that were chosen by measurement. Changing one changes rankings: measure again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tuning {
    /// Statements up to which a corpus without proofs is indexed: an index takes about half a kilobyte of memory each.
    pub index_up_to: usize,
    /// Statements from which on the learned ranker ranks; of fewer, the model and the proofs of similar statements.
    pub learned_from: usize,
    /// Weight of the model's log-odds next to such proofs.
    pub model_weight: f32,
    /// Statements from which on their order counts, unless they are sorted by name: shorter lists come in any order.
    pub ordered_from: usize,
    /// Candidates that the second stage scores (`results/problem-graph.md`).
    pub depth: usize,
    /// Candidates that the second stage scores if names are ignored: the first stage knows less then
    /// (`results/problem-graph.md`).
    pub depth_anonymous: usize,
    /// Power of the second stage's odds (200 held-out conjectures of Mizar).
    pub power: f32,
    /// Weight of the second stage's log-odds next to recorded proofs.
    pub reranker_weight: f32,
    /// Goals that have a second stage; each takes the time of a whole one.
    pub reranked_goals: usize,
    /// Constant of the reciprocal ranks that fuse named and anonymous orders (`results/provers.md`).
    pub fusion_k: f32,
    /// Weight of the anonymous order in that sum (`results/provers.md`).
    pub anonymous_weight: f32,
}

/// The numbers in use.
pub const TUNING: Tuning = Tuning {
    index_up_to: 200_000,
    learned_from: 100,
    model_weight: 0.5,
    ordered_from: 200,
    depth: 256,
    depth_anonymous: 1024,
    power: 0.5,
    reranker_weight: 1.0,
    reranked_goals: 4,
    fusion_k: 16.0,
    anonymous_weight: 0.5,
};

impl Plan {
    /// Decides what a ranking does.
    pub fn decide(policy: Policy, facts: Facts, tuning: &Tuning) -> Plan {
        let model_suffices = facts.is_small && facts.has_model;
        let retrieve = match policy.symbols {
            Symbols::Anonymous => Stage1::Symbols,
            // Symbols alone were never measured on a library.
            Symbols::Both if !facts.has_library => Stage1::ModelAndSymbols,
            // The learned ranker was fitted to libraries; of a few statements, the model and similar proofs say more.
            Symbols::Named | Symbols::Both if facts.has_index && (facts.has_proofs || !model_suffices) => {
                Stage1::Learned { with_proofs: facts.has_proofs }
            }
            Symbols::Named | Symbols::Both => Stage1::Model,
        };
        let reranker = match facts {
            Facts { has_given: true, .. } => Some(RerankerSource::Given),
            Facts { has_fitted: true, .. } => Some(RerankerSource::Fitted),
            Facts { has_built_in: true, .. } => Some(RerankerSource::BuiltIn),
            _ => None,
        };
        // Measured (results/ranker.md): after the learned ranker, a second stage ranks better in TPTP, and worse in HOL Light's
        // libraries.
        let helps = facts.is_tptp || matches!(retrieve, Stage1::Symbols | Stage1::ModelAndSymbols);
        let is_wanted = match policy.rerank {
            Rerank::On => true,
            Rerank::Off => false,
            Rerank::Auto => helps || facts.has_given,
        };
        let rerank = reranker.filter(|_| is_wanted).map(|reranker| match retrieve {
            Stage1::Learned { with_proofs: true } => {
                Stage2 { depth: tuning.depth, fuse: Fuse::AddOdds(tuning.reranker_weight), reranker }
            }
            Stage1::Symbols => Stage2 { depth: tuning.depth_anonymous, fuse: Fuse::Replace, reranker },
            Stage1::Learned { with_proofs: false } | Stage1::Model | Stage1::ModelAndSymbols => {
                Stage2 { depth: tuning.depth, fuse: Fuse::OddsToPower(tuning.power), reranker }
            }
        });
        let tail = match (retrieve, rerank) {
            (Stage1::Symbols, Some(_)) => Tail::Familiar,
            _ => Tail::Retrieved,
        };
        // Odds that the library's proofs give are compared with how often each fact is used; symbols say nothing of that.
        let order = if retrieve == Stage1::Symbols { Order::Probability } else { policy.order };
        Plan { retrieve, rerank, order, tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of the table in `docs`: what a corpus and a policy lead to.
    #[test]
    fn every_row_of_the_table() {
        let hol = Facts { has_built_in: true, has_index: true, has_model: true, ..Facts::default() };
        let tptp = Facts { is_tptp: true, ..hol };
        let proved = Facts { has_proofs: true, has_library: true, ..hol };
        let people = Policy::default();
        let check = |policy: Policy, facts: Facts, retrieve: Stage1, depth: Option<usize>, tail: Tail| {
            let plan = Plan::decide(policy, facts, &TUNING);
            let found = (plan.retrieve, plan.rerank.map(|stage| stage.depth), plan.tail);
            assert_eq!(found, (retrieve, depth, tail), "{policy:?} {facts:?}");
        };
        let learned = |with_proofs| Stage1::Learned { with_proofs };
        check(people, hol, learned(false), None, Tail::Retrieved);
        check(people.rerank(Rerank::On), hol, learned(false), Some(256), Tail::Retrieved);
        check(people, Facts { has_given: true, ..hol }, learned(false), Some(256), Tail::Retrieved);
        check(people, tptp, learned(false), Some(256), Tail::Retrieved);
        check(people.rerank(Rerank::Off), tptp, learned(false), None, Tail::Retrieved);
        check(people, proved, learned(true), None, Tail::Retrieved);
        check(people, Facts { is_tptp: true, ..proved }, learned(true), Some(256), Tail::Retrieved);
        check(people, Facts { has_index: false, ..hol }, Stage1::Model, None, Tail::Retrieved);
        check(people.symbols(Symbols::Anonymous), tptp, Stage1::Symbols, Some(1024), Tail::Familiar);
        let off = people.symbols(Symbols::Anonymous).rerank(Rerank::Off);
        check(off, tptp, Stage1::Symbols, None, Tail::Retrieved);
        check(people.symbols(Symbols::Both), tptp, Stage1::ModelAndSymbols, Some(256), Tail::Retrieved);
        let stored = Facts { has_library: true, ..tptp };
        check(people.symbols(Symbols::Both), stored, learned(false), Some(256), Tail::Retrieved);
        let lean = Facts { has_model: false, has_library: true, ..hol };
        check(people, lean, learned(false), None, Tail::Retrieved);
        let small = Facts { is_small: true, ..hol };
        check(people, small, Stage1::Model, None, Tail::Retrieved);
        check(people, Facts { is_tptp: true, ..small }, Stage1::Model, Some(256), Tail::Retrieved);
        check(people, Facts { has_proofs: true, ..small }, learned(true), None, Tail::Retrieved);
        check(people, Facts { has_model: false, ..small }, learned(false), None, Tail::Retrieved);
        let none = Facts { has_built_in: false, ..tptp };
        check(people, none, learned(false), None, Tail::Retrieved);
    }

    #[test]
    fn the_nearest_reranker_is_taken() {
        let all = Facts {
            is_tptp: true,
            has_given: true,
            has_fitted: true,
            has_built_in: true,
            ..Facts::default()
        };
        let check = |facts: Facts, expected: RerankerSource| {
            let plan = Plan::decide(Policy::default().rerank(Rerank::On), facts, &TUNING);
            assert_eq!(plan.rerank.map(|stage| stage.reranker), Some(expected));
        };
        check(all, RerankerSource::Given);
        check(Facts { has_given: false, ..all }, RerankerSource::Fitted);
        check(Facts { has_given: false, has_fitted: false, ..all }, RerankerSource::BuiltIn);
    }
}
