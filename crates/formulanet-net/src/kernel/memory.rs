//! Memory: what the system should know about it.

use std::panic::resume_unwind;
use std::sync::Barrier;
use std::{io, thread};

/// Releases unused memory to the system. The C library keeps memory that threads have freed, for each thread apart, so that a
/// long-running process would hold the most that each of them ever needed. Does nothing unless the C library is GNU's. It takes
/// some milliseconds: call it once in a while.
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function has no arguments but how much to keep, may be called from any thread at any time, and touches
    // nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Releases memory while no thread computes, including what is free at the end of each arena, which the C library keeps
/// otherwise. `places` is as many as [`return_large_memory`] was given. The memory that the process holds afterwards depends on
/// what is in use, not on what was in use before.
pub fn give_all_memory_back(places: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        set([(libc::M_TRIM_THRESHOLD, 0), (libc::M_TOP_PAD, 0), (libc::M_MMAP_THRESHOLD, 2 * LARGE_PIECE)]);
        // If there is no thread, there is still the rest.
        drop(apart(|| free_piece_of_each(places)));
        set([(libc::M_TRIM_THRESHOLD, KEPT), (libc::M_TOP_PAD, KEPT), (libc::M_MMAP_THRESHOLD, LARGE_PIECE)]);
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = places;
    give_memory_back();
}

/// Does something on a thread of its own, because a thread may keep what it frees until it ends. Meanwhile this one neither takes
/// memory nor frees any.
///
/// # Errors
///
/// If the system gives no thread.
pub fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let begin = Barrier::new(2);
    thread::scope(|scope| {
        let begin = &begin;
        let work = move || {
            begin.wait();
            work()
        };
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        begin.wait();
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Takes a large piece of each place and frees it, because the C library looks at the end of a place only then. A new thread has a
/// place that no other has, if there is one, and else the next in turn: twice as many threads have them all. A piece is freed when
/// its thread has ended, and has given up the rest of what it had; so this thread's own is left to the caller.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn free_piece_of_each(places: usize) -> Vec<u8> {
    use std::hint::black_box;
    use std::sync::{Arc, Mutex, PoisonError};

    let piece = || Vec::with_capacity(LARGE_PIECE as usize);
    let own = piece();
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let begin = |_| {
        let has_piece = Arc::new(Barrier::new(2));
        let (gate, tell) = (Arc::clone(&gate), Arc::clone(&has_piece));
        let work = move || {
            // The C library keeps the stacks of threads that ended for others, and some of what these touched: now of each the same.
            black_box(&mut [0u8; STACK]);
            let piece = piece();
            tell.wait();
            // It has its place until all have theirs.
            drop(gate.lock());
            piece
        };
        // Without a thread, a place keeps what it has until the next time.
        let thread = thread::Builder::new().spawn(work).ok()?;
        // One after the other: a place that somebody is looking at is left out.
        has_piece.wait();
        Some(thread)
    };
    let threads: Vec<_> = (0..2 * places).filter_map(begin).collect();
    drop(closed);
    let pieces: Vec<_> = threads.into_iter().map(thread::JoinHandle::join).collect();
    drop(pieces);
    own
}

/// Makes the C library release large allocations as soon as they are freed, and limits the number of arenas. By default, it takes
/// a freed size as a reason to keep the next of that size, and small pieces between large ones hold these. Call it before there
/// are threads. Does nothing unless the C library is GNU's.
pub fn return_large_memory(places: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    set([
        (libc::M_MMAP_THRESHOLD, LARGE_PIECE),
        (libc::M_ARENA_MAX, i32::try_from(places.max(1)).unwrap_or(i32::MAX)),
    ]);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = places;
}

/// Sets numbers of the allocator.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn set<const COUNT: usize>(settings: [(i32, i32); COUNT]) {
    for (name, value) in settings {
        // SAFETY: each of them is one word, under a lock of the allocator's; who reads it meanwhile finds the old or the new
        // one, and both are good ones: they say when memory goes back, not where it is.
        unsafe {
            libc::mallopt(name, value);
        }
    }
}

/// The least bytes of a large allocation.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_PIECE: i32 = 1 << 16;
/// More than the C library keeps of a stack.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const STACK: usize = 1 << 15;
/// How much the C library keeps at the end of a place, by itself.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: i32 = 1 << 17;

/// An empty vector with this capacity, in large pages where the system has them: a model's numbers are thousands of small pages,
/// each of which takes the system a microsecond when it is first touched.
pub(crate) fn roomy(count: usize) -> Vec<f32> {
    let mut numbers: Vec<f32> = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 1 << 21;
        let room = numbers.spare_capacity_mut();
        let (start, bytes) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
        let skipped = start.align_offset(LARGE);
        let length = bytes.saturating_sub(skipped) / LARGE * LARGE;
        if length > 0 {
            // SAFETY: the range lies within memory that is ours and holds nothing yet, begins at a page and ends at one. It is
            // advice: what the memory holds stays the same, and whoever does not like it refuses, which does no harm.
            unsafe {
                libc::madvise(start.add(skipped).cast(), length, libc::MADV_HUGEPAGE);
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_works_as_before() {
        for count in [0, 1, 1 << 12, (1 << 21) + 5] {
            let mut numbers = roomy(count);
            assert!(numbers.is_empty() && numbers.capacity() >= count);
            numbers.extend((0..count).map(|number| number as f32));
            give_memory_back();
            give_all_memory_back(3);
            assert!(numbers.iter().zip(0..count).all(|(&number, place)| number == place as f32));
        }
    }
}
