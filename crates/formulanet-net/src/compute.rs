//! What a network runs on: instructions, threads, and memory that is used again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde::{Deserialize, Serialize};

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

/// What a network runs on.
pub struct Compute {
    pub(crate) kernel: Kernel,
    pub(crate) threads: usize,
    buffers: Mutex<Vec<Vec<Vec<f32>>>>,
}

impl Compute {
    /// So many threads, with the fastest instructions of this CPU for a precision.
    pub fn new(precision: Precision, threads: usize) -> Self {
        let kernel = match precision {
            Precision::F32 => Kernel::f32(),
            Precision::Bf16 => Kernel::bf16(),
            Precision::Auto if Kernel::bf16().is_native_bf16() => Kernel::bf16(),
            Precision::Auto => Kernel::f32(),
        };
        Compute { kernel, threads: threads.max(1), buffers: Mutex::default() }
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

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// So many numbers of any value. Given back with [`Compute::give`], the memory is used again: fresh memory costs
    /// more than what most loops do with it.
    pub(crate) fn take(&self, length: usize) -> Vec<f32> {
        let class = length.next_power_of_two().trailing_zeros() as usize;
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = buffers.get_mut(class).and_then(Vec::pop);
        drop(buffers);
        let mut buffer = buffer.unwrap_or_else(|| Vec::with_capacity(1 << class));
        buffer.resize(length, 0.0);
        buffer
    }

    /// So many zeros.
    pub(crate) fn zeros(&self, length: usize) -> Vec<f32> {
        let mut buffer = self.take(length);
        buffer.fill(0.0);
        buffer
    }

    /// Takes memory back.
    pub(crate) fn give(&self, buffer: Vec<f32>) {
        let class = buffer.capacity().max(1).ilog2() as usize;
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() <= class {
            buffers.resize_with(class + 1, Vec::new);
        }
        buffers[class].push(buffer);
    }

    /// Calls `work` for every number below `count`, on all threads, and returns the results in order.
    pub(crate) fn map<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
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
