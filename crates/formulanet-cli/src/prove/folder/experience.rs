//! Choice of the attempts at a problem: those with the most expected proofs per second, by all attempts of
//! this run.
//!
//! An arm is a prover with some of the best axioms of an order. How often it proves a problem is estimated
//! from its attempts at problems that were unproved then, together with a guess from the schedule of a single
//! problem. How long a proof takes is estimated for each prover from all of its proofs. Arms are then chosen
//! greedily: each choice makes similar ones less promising, because an arm rarely proves what a similar one
//! does not.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::prove::prover::Prover;
use crate::prove::schedule::{Planned, Slice, slice};
use crate::prove::task::Task;

/// Time limits of attempts in seconds.
const LIMITS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Guess of the share of proofs that take at most these times.
const WITHIN: [f64; 7] = [0.5, 0.65, 0.78, 0.88, 0.94, 0.98, 1.0];
/// Number of proofs that this guess counts as.
const WITHIN_WEIGHT: f64 = 8.0;
/// Number of attempts that the guess of an arm counts as.
const ARM_WEIGHT: f64 = 6.0;
/// Share of proofs that two arms of one prover have in common if their numbers of axioms differ by a factor
/// of two.
const SIMILAR: f64 = 0.7;
/// Share of proofs that arms of two provers, or with two orders, have in common.
const LESS_SIMILAR: f64 = 0.5;

/// A prover with some of the best axioms.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Arm {
    pub(crate) prover: String,
    /// Maximum number of axioms.
    pub(crate) most: usize,
    /// The order of axioms, of which it has the best.
    pub(crate) order: usize,
}

/// An attempt that was made at a problem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Tried {
    #[serde(flatten)]
    pub(crate) arm: Arm,
    /// Time limit in seconds.
    pub(crate) limit: f64,
    pub(crate) seconds: f64,
    pub(crate) proves: bool,
    /// Digest of the names of the axioms.
    pub(crate) axioms: u64,
}

impl Tried {
    /// Returns the seconds up to which it need not be repeated: all, if the prover gave up long before its
    /// time was over.
    fn excluded(&self) -> f64 {
        if self.seconds < self.limit / 2.0 { f64::INFINITY } else { self.limit }
    }
}

/// The attempts of a run.
pub(crate) struct Experience {
    /// Arms in the order of the guess, each with the guess of how often it proves a problem.
    arms: Vec<(Arm, f64)>,
    /// For each arm, its attempts, each with the share of proofs that would have been found in its time, and
    /// its proofs.
    counts: HashMap<Arm, (f64, f64)>,
    /// For each prover, the number of proofs that took at most each limit, and no less than the one before.
    times: HashMap<String, [f64; LIMITS.len()]>,
}

impl Experience {
    /// Makes the experience of a new run with some provers and slices, the most promising slice first.
    /// `orders` is the number of orders.
    pub(crate) fn new(provers: &[Prover], slices: &[Slice], orders: usize) -> Self {
        let most = provers.iter().map(|prover| prover.share).fold(0.0, f64::max).max(1e-9);
        let mut distinct: Vec<Slice> = Vec::new();
        for found in slices {
            if !distinct.iter().any(|known| (known.most, known.order) == (found.most, found.order)) {
                distinct.push(*found);
            }
        }
        // An order that the schedule lacks is tried with the sizes of the first one.
        for order in 2..orders {
            let sizes: Vec<usize> =
                distinct.iter().filter(|slice| slice.order == 0).map(|slice| slice.most).collect();
            distinct.extend(sizes.into_iter().map(|most| slice(most, order, 1.0)));
        }
        let mut arms = Vec::new();
        for (place, found) in distinct.iter().enumerate() {
            for prover in provers {
                let guess = 0.3 / (1.0 + place as f64 / 6.0) * prover.share / most;
                let arm = Arm { prover: prover.name.clone(), most: found.most, order: found.order };
                arms.push((arm, guess));
            }
        }
        Experience { arms, counts: HashMap::new(), times: HashMap::new() }
    }

    /// Adds an attempt.
    pub(crate) fn add(&mut self, tried: &Tried) {
        let within = self.within(&tried.arm.prover, tried.limit.min(tried.seconds.max(1.0)).max(1.0));
        let (attempts, proofs) = self.counts.entry(tried.arm.clone()).or_default();
        *attempts += if tried.proves { 1.0 } else { within };
        if tried.proves {
            *proofs += 1.0;
            let place = LIMITS.iter().position(|&limit| tried.seconds <= limit as f64);
            let times = self.times.entry(tried.arm.prover.clone()).or_default();
            times[place.unwrap_or(LIMITS.len() - 1)] += 1.0;
        }
    }

    /// Returns the share of a prover's proofs that take at most some seconds.
    fn within(&self, prover: &str, seconds: f64) -> f64 {
        let times = self.times.get(prover).copied().unwrap_or_default();
        let place = LIMITS.iter().rposition(|&limit| limit as f64 <= seconds + 1e-9).unwrap_or(0);
        let known: f64 = times[..=place].iter().sum();
        let all: f64 = times.iter().sum();
        (known + WITHIN_WEIGHT * WITHIN[place]) / (all + WITHIN_WEIGHT)
    }

    /// Returns how often an arm proves a problem, given enough time.
    fn share(&self, arm: &Arm, guess: f64) -> f64 {
        let (attempts, proofs) = self.counts.get(arm).copied().unwrap_or_default();
        (proofs + ARM_WEIGHT * guess) / (attempts + ARM_WEIGHT)
    }

    /// Returns the attempts to make at a problem in some seconds of one core, the most promising first.
    /// `tried` has the earlier attempts.
    pub(crate) fn plan(
        &self,
        task: &Task,
        provers: &[Prover],
        tried: &[Tried],
        seconds: f64,
    ) -> Vec<Planned> {
        let mut open: Vec<Open<'_>> = Vec::new();
        for (arm, guess) in &self.arms {
            let Some(prover) = provers.iter().position(|prover| prover.name == arm.prover) else { continue };
            if arm.order >= task.orders.len() || !provers[prover].reads(task.languages()) {
                continue;
            }
            let digest = digest(task, arm);
            if open.iter().any(|known| known.prover == prover && known.digest == digest) {
                continue;
            }
            let done = tried.iter().filter(|tried| tried.arm.prover == arm.prover && tried.axioms == digest);
            let done = done.map(Tried::excluded).fold(0.0, f64::max);
            // An attempt with other axioms is weaker evidence.
            let before = tried.iter().filter(|tried| tried.axioms != digest);
            let doubt =
                before.fold(1.0, |doubt: f64, tried| doubt * (1.0 - 0.5 * similarity(arm, &tried.arm)));
            let share = self.share(arm, *guess) * doubt;
            open.push(Open { arm, prover, digest, share, done });
        }
        let (mut planned, mut left) = (Vec::new(), seconds);
        while left > 0.0 {
            let mut best: Option<(f64, usize, u64)> = None;
            for (number, found) in open.iter().enumerate() {
                for limit in LIMITS {
                    let rate = self.gain(found, limit as f64) / limit as f64;
                    let fits = limit as f64 <= left.ceil() && limit as f64 > found.done;
                    if fits && best.is_none_or(|(known, ..)| rate > known) {
                        best = Some((rate, number, limit));
                    }
                }
            }
            let Some((_, number, limit)) = best else { break };
            let (arm, prover) = (open[number].arm, open[number].prover);
            let slice = slice(arm.most, arm.order, 1.0);
            planned.push(Planned { prover, slice, time: Duration::from_secs(limit) });
            left -= limit as f64;
            open[number].done = limit as f64;
            for other in open.iter_mut().filter(|other| other.arm != arm) {
                other.share *= 1.0 - similarity(arm, other.arm) * self.within(&arm.prover, limit as f64);
            }
        }
        planned
    }

    /// Returns the chance that an arm proves in some seconds a problem that it did not prove in the time that
    /// it had.
    fn gain(&self, open: &Open<'_>, limit: f64) -> f64 {
        let within = |seconds: f64| if seconds < 1.0 { 0.0 } else { self.within(&open.arm.prover, seconds) };
        let missed = 1.0 - open.share * within(open.done);
        open.share * (within(limit) - within(open.done)) / missed.max(1e-9)
    }
}

/// An arm that can be tried.
struct Open<'a> {
    arm: &'a Arm,
    prover: usize,
    digest: u64,
    share: f64,
    /// Seconds that it had with these axioms.
    done: f64,
}

/// Returns the share of proofs that two arms have in common.
fn similarity(one: &Arm, other: &Arm) -> f64 {
    let octaves = (one.most.max(1) as f64 / other.most.max(1) as f64).log2().abs();
    let provers = if one.prover == other.prover { 1.0 } else { LESS_SIMILAR };
    let orders = if one.order == other.order { 1.0 } else { LESS_SIMILAR };
    SIMILAR.powf(octaves) * provers * orders
}

/// Returns a digest of the axioms that an arm has of a problem, whatever their order.
pub(crate) fn digest(task: &Task, arm: &Arm) -> u64 {
    let order = &task.orders[arm.order];
    let axioms = &order[..arm.most.min(order.len())];
    axioms.iter().fold(axioms.len() as u64, |sum, &axiom| {
        sum.wrapping_add(formulanet::util::hash::hash_text(&task.axiom(axiom).text))
    })
}

#[cfg(test)]
mod tests {
    use formulanet::logic::Limits;
    use formulanet::read::Source;

    use super::*;
    use crate::prove::schedule::SCHEDULE;

    fn task() -> Task {
        let axioms: String = (0..300).map(|i| format!("fof(ax{i}, axiom, p{i}).\n")).collect();
        let text = axioms + "fof(goal, conjecture, p).";
        Task::read("p", Source::text("p", text), Limits::default()).unwrap()
    }

    fn provers() -> Vec<Prover> {
        ["eprover", "spass"].iter().flat_map(|name| Prover::named(name).unwrap()).collect()
    }

    fn tried(prover: &str, most: usize, proves: bool, task: &Task) -> Tried {
        let arm = Arm { prover: prover.to_owned(), most, order: 0 };
        Tried { limit: 1.0, seconds: if proves { 0.1 } else { 1.0 }, proves, axioms: digest(task, &arm), arm }
    }

    #[test]
    fn plans_fill_the_time_and_repeat_nothing() {
        let (task, provers) = (task(), provers());
        let experience = Experience::new(&provers, &SCHEDULE, 1);
        let planned = experience.plan(&task, &provers, &[], 20.0);
        let seconds: u64 = planned.iter().map(|planned| planned.time.as_secs()).sum();
        assert!((20..=21).contains(&seconds), "{planned:?}");
        assert_eq!((planned[0].prover, planned[0].slice.most), (0, 96));
        for (number, one) in planned.iter().enumerate() {
            let is_same = |other: &Planned| {
                (other.prover, other.slice, other.time) == (one.prover, one.slice, one.time)
            };
            assert!(!planned[..number].iter().any(is_same), "{planned:?}");
        }
        // Attempts with the same axioms get more time; there are none if the prover gave up.
        let before = [tried("eprover", 96, false, &task)];
        let again = experience.plan(&task, &provers, &before, 20.0);
        assert!(
            again
                .iter()
                .all(|planned| planned.slice.most != 96 || planned.prover != 0 || planned.time.as_secs() > 1),
            "{again:?}"
        );
        let before = [Tried { seconds: 0.2, ..tried("eprover", 96, false, &task) }];
        let again = experience.plan(&task, &provers, &before, 200.0);
        assert!(again.iter().all(|planned| planned.slice.most != 96 || planned.prover != 0), "{again:?}");
    }

    #[test]
    fn arms_that_prove_are_tried_sooner() {
        let (task, provers) = (task(), provers());
        let mut experience = Experience::new(&provers, &SCHEDULE, 1);
        for _ in 0..40 {
            experience.add(&tried("spass", 16, true, &task));
            experience.add(&tried("eprover", 96, false, &task));
        }
        let first = experience.plan(&task, &provers, &[], 4.0)[0];
        assert_eq!((first.prover, first.slice.most), (1, 16));
        let last = experience.plan(&task, &provers, &[], 30.0);
        let place = |prover: usize, most: usize| {
            last.iter().position(|planned| planned.prover == prover && planned.slice.most == most)
        };
        assert!(place(1, 16) < place(0, 96) || place(0, 96).is_none(), "{last:?}");
    }

    #[test]
    fn few_axioms_have_few_attempts() {
        let text = "fof(a, axiom, p).\nfof(goal, conjecture, p).";
        let task = Task::read("p", Source::text("p", text), Limits::default()).unwrap();
        let provers = Prover::named("eprover").unwrap();
        let planned = Experience::new(&provers, &SCHEDULE, 1).plan(&task, &provers, &[], 1000.0);
        assert_eq!(planned.len(), LIMITS.len());
        assert!(planned.iter().all(|planned| planned.slice.most == 96));
    }
}
