//! The resources of a network: instructions, threads, other processes, and reused memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::group::{Alone, Group};
use crate::kernel::matmul::Kernel;

/// How exact products are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// bf16 on a CPU that multiplies it, otherwise f32.
    #[default]
    Auto,
    /// f32.
    F32,
    /// Factors rounded to bf16, sums in f32.
    Bf16,
}

/// Memory that waits to be used again. Sizes are counted in numbers.
#[derive(Default)]
struct Buffers {
    /// By capacity.
    free: BTreeMap<usize, Vec<Vec<f32>>>,
    free_size: usize,
    used_size: usize,
    /// The most that was ever in use.
    most_used: usize,
}

impl Buffers {
    /// A buffer with room for `length`, of any content: the smallest that has it and is not much too large, or a new one.
    fn take(&mut self, length: usize) -> Vec<f32> {
        let fitting = self.free.range(length..=2 * length).next().map(|(&capacity, _)| capacity);
        let buffer = match fitting {
            Some(capacity) => self.remove(capacity),
            None => Vec::with_capacity(length),
        };
        self.used_size += buffer.capacity();
        self.most_used = self.most_used.max(self.used_size);
        // Sizes differ from batch to batch: buffers that nobody asks for must not pile up.
        while self.used_size + self.free_size > self.most_used + self.most_used / 8 {
            let Some((&capacity, _)) = self.free.first_key_value() else { break };
            drop(self.remove(capacity));
        }
        buffer
    }

    fn give(&mut self, buffer: Vec<f32>) {
        let capacity = buffer.capacity();
        // Nobody would ask for what has no room, and a list of such would only grow.
        if capacity == 0 {
            return;
        }
        self.used_size = self.used_size.saturating_sub(capacity);
        self.free_size += capacity;
        self.free.entry(capacity).or_default().push(buffer);
    }

    fn remove(&mut self, capacity: usize) -> Vec<f32> {
        let of_capacity = self.free.get_mut(&capacity).expect("a free buffer of this capacity");
        let buffer = of_capacity.pop().expect("no empty lists are kept");
        if of_capacity.is_empty() {
            self.free.remove(&capacity);
        }
        self.free_size -= capacity;
        buffer
    }
}

/// Threads, at most: more than any machine has cores, and fewer than any system refuses.
const MOST_THREADS: usize = 1024;

/// The resources of a network.
pub struct Compute {
    pub(crate) kernel: Kernel,
    pub(crate) threads: usize,
    group: &'static dyn Group,
    buffers: Mutex<Buffers>,
}

impl Compute {
    /// Uses this many threads, with the fastest instructions of this CPU for a precision.
    pub fn new(precision: Precision, threads: usize) -> Self {
        Self::among(&Alone, precision, threads)
    }

    /// Shares the work with other processes. All uses are collective, as [`Group`] is.
    pub fn among(group: &'static dyn Group, precision: Precision, threads: usize) -> Self {
        let kernel = match precision {
            Precision::F32 => Kernel::f32(),
            Precision::Bf16 => Kernel::bf16(),
            Precision::Auto if Kernel::bf16().is_native_bf16() => Kernel::bf16(),
            Precision::Auto => Kernel::f32(),
        };
        Compute { kernel, threads: threads.clamp(1, MOST_THREADS), group, buffers: Mutex::default() }
    }

    /// The instructions in words, for a log.
    pub fn describe(&self) -> String {
        let hint = if self.kernel.rounds() {
            "; this CPU has no bf16 instructions, so f32 would be faster"
        } else if !Kernel::bf16().is_native_bf16() {
            "; this CPU has no bf16 instructions"
        } else {
            ""
        };
        format!("{}{hint}", self.kernel.name())
    }

    /// The instructions alone: with the same ones, products have the same bits on any CPU.
    pub fn instructions(&self) -> &'static str {
        self.kernel.name()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The processes that share the work.
    pub fn group(&self) -> &'static dyn Group {
        self.group
    }

    /// Returns this many numbers of any value. Given back with [`Compute::give`], the memory is reused: fresh memory costs more
    /// than what most loops do with it.
    pub(crate) fn take(&self, length: usize) -> Vec<f32> {
        let mut buffer = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).take(length);
        buffer.resize(length, 0.0);
        buffer
    }

    /// Returns this many zeros.
    pub(crate) fn zeros(&self, length: usize) -> Vec<f32> {
        let mut buffer = self.take(length);
        buffer.fill(0.0);
        buffer
    }

    /// Takes memory back.
    pub(crate) fn give(&self, buffer: Vec<f32>) {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).give(buffer);
    }

    /// Lets go of memory that waits to be used again, and of how much there was. What is in use stays, and may come back.
    pub fn forget_buffers(&self) {
        *self.buffers.lock().unwrap_or_else(PoisonError::into_inner) = Buffers::default();
    }

    /// Calls `work` for every number below `count`, on all threads, and returns the results in order.
    pub fn map<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let run = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return;
                }
                let result = work(number);
                *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(count) {
                scope.spawn(run);
            }
            run();
        });
        let results =
            results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
        results.map(|result| result.expect("every number had its turn")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_does_not_pile_up() {
        let compute = Compute::new(Precision::F32, 1);
        let first = compute.take(1000);
        let place = first.as_ptr();
        compute.give(first);
        let second = compute.take(700);
        assert_eq!(second.as_ptr(), place, "the same memory for fewer numbers");
        for round in 0..200 {
            let buffers: Vec<_> = (0..10).map(|i| compute.zeros(1000 + 37 * i + 13 * round)).collect();
            assert!(buffers.iter().flatten().all(|&x| x == 0.0));
            buffers.into_iter().for_each(|buffer| compute.give(buffer));
        }
        (0..1000).for_each(|_| compute.give(Vec::new()));
        let buffers = compute.buffers.lock().unwrap();
        assert!(buffers.free.values().flatten().all(|buffer| buffer.capacity() > 0));
        assert!(buffers.free.values().flatten().count() < 200, "as many as were of use at once, or few more");
        assert!(buffers.free_size + buffers.used_size <= buffers.most_used + buffers.most_used / 8);
        assert!(buffers.most_used < 2 * 10 * (1000 + 37 * 10 + 13 * 200));
        drop(buffers);
        let used = compute.take(500);
        compute.forget_buffers();
        assert_eq!(compute.buffers.lock().unwrap().free_size, 0);
        compute.give(used);
        assert_eq!(compute.buffers.lock().unwrap().used_size, 0);
    }
}
