//! The attempts at a problem, and their order.

use std::time::{Duration, Instant};

use super::prover::Prover;
use super::task::Task;

/// Some of the best axioms, and a share of the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Slice {
    pub(crate) most: usize,
    /// Order of the axioms, of which it has the best: 0 by models and proofs, 1 by formulas alone.
    pub(crate) order: usize,
    /// Weight of its share of the time.
    pub(crate) weight: f64,
}

/// Makes a slice.
pub(crate) const fn slice(most: usize, order: usize, weight: f64) -> Slice {
    Slice { most, order, weight }
}

/// The slices in order. Most proofs that are found at all are found in a second, with the right number of
/// axioms. So there are many slices, and none is long. Those that prove the most further problems come first,
/// as `bench/schedule.py` found on other problems than those of the published results.
pub(crate) const SCHEDULE: [Slice; 16] = [
    slice(96, 0, 2.0),
    slice(256, 0, 3.0),
    slice(32, 0, 2.0),
    slice(192, 0, 3.0),
    slice(24, 0, 2.0),
    slice(64, 0, 2.0),
    slice(16, 0, 1.0),
    slice(128, 0, 3.0),
    slice(64, 1, 2.0),
    slice(48, 0, 2.0),
    slice(8, 0, 1.0),
    slice(256, 1, 4.0),
    slice(512, 0, 5.0),
    slice(16, 1, 1.0),
    slice(1024, 0, 7.0),
    slice(64, 0, 9.0),
];

/// An attempt of one prover with some axioms.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) number: usize,
    pub(crate) prover: &'a Prover,
    /// Slice that it came from.
    pub(crate) slice: Slice,
    /// Axioms by their numbers.
    pub(crate) axioms: &'a [usize],
    pub(crate) time: Duration,
}

/// An attempt that was chosen in advance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Planned {
    /// Number of the prover.
    pub(crate) prover: usize,
    pub(crate) slice: Slice,
    pub(crate) time: Duration,
}

/// Returns the attempts that were chosen in advance.
pub(crate) fn chosen<'a>(task: &'a Task, planned: &[Planned], provers: &'a [Prover]) -> Vec<Attempt<'a>> {
    let attempt = |(number, planned): (usize, &Planned)| {
        let order = &task.orders[planned.slice.order.min(task.orders.len() - 1)];
        let axioms = &order[..planned.slice.most.min(order.len())];
        Attempt { number, prover: &provers[planned.prover], slice: planned.slice, axioms, time: planned.time }
    };
    planned.iter().enumerate().map(attempt).collect()
}

/// Returns all attempts in order. The slices share the time left for `threads` at once, by their weights.
pub(crate) fn attempts<'a>(
    task: &'a Task,
    schedule: &[Slice],
    provers: &'a [Prover],
    (end, threads): (Instant, usize),
) -> Vec<Attempt<'a>> {
    let able: Vec<&Prover> = provers.iter().filter(|prover| prover.reads(task.languages())).collect();
    // A prover that is the only one tries all slices.
    let most = able.iter().map(|prover| prover.share).fold(0.0, f64::max);
    let mut tried: Vec<Slice> = Vec::new();
    let mut due = vec![0.0; able.len()];
    let mut attempts: Vec<Attempt<'a>> = Vec::new();
    for slice in schedule {
        let order = &task.orders[slice.order.min(task.orders.len() - 1)];
        let axioms = &order[..slice.most.min(order.len())];
        let found = Slice { most: axioms.len(), order: slice.order, weight: slice.weight };
        // A problem with few axioms has fewer slices, and the last one gets more time.
        let is_all = axioms.len() == task.axiom_count();
        let is_known = |known: &Slice| {
            known.most == found.most && (known.order == found.order || is_all) && known.weight >= found.weight
        };
        if tried.iter().any(is_known) {
            continue;
        }
        tried.push(found);
        for (prover, due) in able.iter().zip(&mut due) {
            *due += prover.share / most;
            let is_first = attempts.iter().all(|attempt| !std::ptr::eq(attempt.prover, *prover));
            if *due >= 1.0 - 1e-9 || is_first {
                *due = (*due - 1.0).max(0.0);
                attempts.push(Attempt {
                    number: attempts.len(),
                    prover,
                    slice: found,
                    axioms,
                    time: Duration::ZERO,
                });
            }
        }
    }
    let total: f64 = attempts.iter().map(|attempt| attempt.slice.weight).sum();
    let left = end.saturating_duration_since(Instant::now()).as_secs_f64() * threads as f64;
    for attempt in &mut attempts {
        let seconds = (left * attempt.slice.weight / total.max(1e-9)).max(1.0);
        attempt.time = Duration::from_secs_f64(seconds);
    }
    attempts
}

#[cfg(test)]
mod tests {
    use formulanet::logic::Limits;
    use formulanet::read::Source;

    use super::*;

    fn shown(task: &Task, provers: &[Prover]) -> Vec<String> {
        let end = Instant::now() + Duration::from_secs(10);
        let attempts = attempts(task, &SCHEDULE, provers, (end, 1));
        attempts.iter().map(|attempt| format!("{} {}", attempt.prover.name, attempt.axioms.len())).collect()
    }

    #[test]
    fn every_prover_has_its_share() {
        let axioms: String = (0..300).map(|i| format!("fof(ax{i}, axiom, p{i}).\n")).collect();
        let text = axioms + "fof(goal, conjecture, p).";
        let task = Task::read("p", Source::text("p", text), Limits::default()).unwrap();
        let provers: Vec<Prover> =
            ["eprover", "spass"].iter().flat_map(|name| Prover::named(name).unwrap()).collect();
        let both = shown(&task, &provers);
        assert_eq!(both[..3], ["eprover 96", "spass 96", "eprover 256"]);
        let count = |name: &str| both.iter().filter(|line| line.starts_with(name)).count();
        assert!(count("eprover") > 10 && count("spass").abs_diff(count("eprover") / 2) <= 1, "{both:?}");
        assert_eq!(shown(&task, &provers[1..]).len(), count("eprover"));
    }

    #[test]
    fn few_axioms_have_few_slices() {
        let task = |text: &str| Task::read("p", Source::text("p", text), Limits::default()).unwrap();
        let provers = Prover::named("eprover").unwrap();
        let small = shown(&task("fof(a, axiom, p).\nfof(goal, conjecture, p)."), &provers);
        assert!(small.len() <= 6 && small.iter().all(|line| line == "eprover 1"), "{small:?}");
        // A prover that does not read the problem is not tried.
        let typed = task("tff(a, axiom, $less(1, 2)).\ntff(goal, conjecture, $less(1, 2)).");
        assert_eq!(shown(&typed, &provers), Vec::<String>::new());
    }
}
