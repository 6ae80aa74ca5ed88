//! Processes that compute together: what they tell each other.
//!
//! Everything here is collective: every process of a group calls the same functions in the same order, from one thread
//! each, or they wait for each other for ever.

use std::fmt::Debug;
use std::time::Duration;

/// A group of processes. All have the same program, the same data and the same kind of CPU.
pub trait Group: Debug + Send + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// Everybody's numbers, one process after the other; `counts` says how many are whose.
    fn gather(&self, mine: &[f32], counts: &[usize], all: &mut [f32]);

    /// Sends to each process its part of `mine`, one after the other, and receives what each of them has for this one.
    fn exchange(&self, mine: &[f32], send_counts: &[usize], received: &mut [f32], receive_counts: &[usize]);

    /// Everybody's bytes, which need not be equally many.
    fn gather_bytes(&self, mine: &[u8]) -> Vec<Vec<u8>>;

    /// How long this process has waited for the others, and for numbers on their way, so far.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether any process says yes.
    fn any(&self, is_so: bool) -> bool {
        if self.size() == 1 {
            return is_so;
        }
        let mut all = vec![0.0; self.size()];
        self.gather(&[f32::from(is_so)], &vec![1; self.size()], &mut all);
        all.contains(&1.0)
    }

    /// Whether this is the process that writes files and speaks to people.
    fn is_first(&self) -> bool {
        self.rank() == 0
    }
}

/// A single process.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Group for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, mine: &[f32], _: &[usize], all: &mut [f32]) {
        all.copy_from_slice(mine);
    }

    fn exchange(&self, mine: &[f32], _: &[usize], received: &mut [f32], _: &[usize]) {
        received.copy_from_slice(mine);
    }

    fn gather_bytes(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        vec![mine.to_vec()]
    }
}
