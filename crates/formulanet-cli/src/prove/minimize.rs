//! Minimization of the axioms of a proof.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::prover::Prover;
use super::search::{Found, Provers};
use super::task::Task;

/// Tries the axioms of a proof alone, and then without some of them: first without half of them, at last
/// without each by itself. The result is confirmed if the prover has proved it from exactly these axioms.
pub(crate) fn minimize(
    task: &Task,
    prover: &Prover,
    mut found: Found,
    took: Duration,
    provers: &Provers,
    most_time: Duration,
) -> Result<Found> {
    let end = Instant::now() + most_time;
    let is_over = || Instant::now() >= end || provers.is_stopped();
    // A proof that takes much longer with fewer axioms is no gain.
    let time = (2 * took).max(Duration::from_secs(1));
    let file = format!("{}-fewer.p", task.number());
    let proves = |axioms: &[usize]| -> Result<Option<Found>> {
        let left = time.min(end.saturating_duration_since(Instant::now()));
        let (_, answer) = provers.attempt((task, prover, axioms), &file, left, &is_over)?;
        let answer = answer.filter(|answer| answer.said.is_proof());
        // From these axioms alone, whether the prover reports them or not.
        Ok(answer.map(|answer| Found { is_confirmed: true, ..Found::of(task, answer, axioms) }))
    };
    if let Some(fewer) = proves(&found.axioms.clone())? {
        found = fewer;
    }
    let mut step = if found.answer.used.is_some() { 1 } else { found.axioms.len().div_ceil(2) };
    while step > 0 && !is_over() {
        // The least likely first.
        let mut place = found.axioms.len();
        while place > 0 && !is_over() {
            let from = place.saturating_sub(step);
            let mut fewer = found.axioms.clone();
            fewer.drain(from..place);
            place = from;
            if let Some(fewer) = proves(&fewer)? {
                found = fewer;
                place = place.min(found.axioms.len());
            }
        }
        step = if step == 1 { 0 } else { step / 2 };
    }
    Ok(found)
}
