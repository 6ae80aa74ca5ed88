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
    /// Those that the goal makes likelier than usual: a statement that every other proof uses has to be likelier still.
    #[default]
    #[serde(rename = "goal")]
    Lift,
    /// Those that are most likely to be used.
    Probability,
}

impl Order {
    /// All orders by name.
    pub const ALL: [(&'static str, Order); 2] = [("goal", Order::Lift), ("probability", Order::Probability)];
}

impl Policy {
    /// For lists that people read.
    pub const fn for_people() -> Self {
        Policy { symbols: Symbols::Named, rerank: Rerank::Auto, order: Order::Lift }
    }

    /// For lists that provers read.
    pub const fn for_provers() -> Self {
        Policy { order: Order::Probability, ..Policy::for_people() }
    }

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

/// What a ranking does, decided once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// The first stage, which scores every candidate.
    pub retrieve: Stage1,
    /// The second stage, which scores the best once more.
    pub rerank: Option<Stage2>,
    /// Which statements rank highest.
    pub order: Order,
    /// What follows the statements that the second stage has scored.
    pub tail: Tail,
}

/// The first stage of a ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage1 {
    /// A model's vectors.
    Model,
    /// The recorded proofs of the library, and the model as far as it knows the goal's symbols.
    Proofs {
        /// Whether trees blend the ranking features; the methods of hammers do otherwise.
        blend: bool,
    },
    /// The symbols that goal and statements share, whatever their names.
    Symbols,
    /// Model and symbols, each with its second stage, fused by rank.
    ModelAndSymbols,
}

/// The second stage of a ranking.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stage2 {
    /// How many candidates it scores.
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

/// What follows the statements that the second stage has scored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tail {
    /// The others in the order of the first stage.
    Retrieved,
    /// Statements whose symbols are all familiar, after the best few.
    Familiar,
}

/// What a plan depends on, besides the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Facts {
    /// How many statements the library has.
    pub stored: usize,
    /// Whether the library has recorded proofs.
    pub has_proofs: bool,
    /// Whether statements are in TPTP.
    pub is_tptp: bool,
    /// Whether a re-ranker was given.
    pub has_given: bool,
    /// Whether one was fitted to the library.
    pub has_fitted: bool,
    /// Whether one is built in.
    pub has_built_in: bool,
    /// Whether trees that blend ranking features are built in.
    pub has_blend: bool,
}

/// Numbers that were chosen by measurement. Changing one changes rankings: measure again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tuning {
    /// Facts from which trees blend the ranking features; they were fitted to larger libraries.
    pub blend_from: usize,
    /// Candidates that the second stage scores (`results/problem-graph.md`).
    pub depth: usize,
    /// The same where names do not count: the first stage knows less then (`results/problem-graph.md`).
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
    blend_from: 100,
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
        let retrieve = match policy.symbols {
            Symbols::Anonymous => Stage1::Symbols,
            _ if facts.has_proofs => {
                Stage1::Proofs { blend: facts.has_blend && facts.stored >= tuning.blend_from }
            }
            // Symbols alone were never measured on a library.
            Symbols::Both if facts.stored == 0 => Stage1::ModelAndSymbols,
            Symbols::Named | Symbols::Both => Stage1::Model,
        };
        let reranker = match facts {
            Facts { has_given: true, .. } => Some(RerankerSource::Given),
            Facts { has_fitted: true, .. } => Some(RerankerSource::Fitted),
            Facts { has_built_in: true, .. } => Some(RerankerSource::BuiltIn),
            _ => None,
        };
        // Measured (results/problem-graph.md): a second stage helps TPTP, anonymous symbols and libraries with proofs.
        let helps = facts.is_tptp || facts.has_proofs || retrieve == Stage1::Symbols;
        let is_wanted = match policy.rerank {
            Rerank::On => true,
            Rerank::Off => false,
            Rerank::Auto => helps || facts.has_given,
        };
        let rerank = reranker.filter(|_| is_wanted).map(|reranker| match retrieve {
            Stage1::Proofs { .. } => {
                Stage2 { depth: tuning.depth, fuse: Fuse::AddOdds(tuning.reranker_weight), reranker }
            }
            Stage1::Symbols => Stage2 { depth: tuning.depth_anonymous, fuse: Fuse::Replace, reranker },
            Stage1::Model | Stage1::ModelAndSymbols => {
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
        let hol = Facts { has_built_in: true, has_blend: true, ..Facts::default() };
        let tptp = Facts { is_tptp: true, ..hol };
        let learned = Facts { has_proofs: true, stored: 1000, ..hol };
        let people = Policy::for_people();
        let check = |policy: Policy, facts: Facts, retrieve: Stage1, depth: Option<usize>, tail: Tail| {
            let plan = Plan::decide(policy, facts, &TUNING);
            let found = (plan.retrieve, plan.rerank.map(|stage| stage.depth), plan.tail);
            assert_eq!(found, (retrieve, depth, tail), "{policy:?} {facts:?}");
        };
        let proofs = |blend| Stage1::Proofs { blend };
        check(people, hol, Stage1::Model, None, Tail::Retrieved);
        check(people.rerank(Rerank::On), hol, Stage1::Model, Some(256), Tail::Retrieved);
        check(people, Facts { has_given: true, ..hol }, Stage1::Model, Some(256), Tail::Retrieved);
        check(people, tptp, Stage1::Model, Some(256), Tail::Retrieved);
        check(people.rerank(Rerank::Off), tptp, Stage1::Model, None, Tail::Retrieved);
        check(people, learned, proofs(true), Some(256), Tail::Retrieved);
        check(people, Facts { stored: 99, ..learned }, proofs(false), Some(256), Tail::Retrieved);
        check(people.symbols(Symbols::Anonymous), tptp, Stage1::Symbols, Some(1024), Tail::Familiar);
        let off = people.symbols(Symbols::Anonymous).rerank(Rerank::Off);
        check(off, tptp, Stage1::Symbols, None, Tail::Retrieved);
        check(people.symbols(Symbols::Both), tptp, Stage1::ModelAndSymbols, Some(256), Tail::Retrieved);
        let stored = Facts { stored: 5, ..tptp };
        check(people.symbols(Symbols::Both), stored, Stage1::Model, Some(256), Tail::Retrieved);
        let none = Facts { has_built_in: false, ..tptp };
        check(people, none, Stage1::Model, None, Tail::Retrieved);
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
            let plan = Plan::decide(Policy::default(), facts, &TUNING);
            assert_eq!(plan.rerank.map(|stage| stage.reranker), Some(expected));
        };
        check(all, RerankerSource::Given);
        check(Facts { has_given: false, ..all }, RerankerSource::Fitted);
        check(Facts { has_given: false, has_fitted: false, ..all }, RerankerSource::BuiltIn);
    }
}
