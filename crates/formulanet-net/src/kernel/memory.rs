//! Memory: what the system should know about it.

/// Gives memory that nobody uses back to the system. The C library keeps what threads have freed, for each thread apart, so
/// that a process that answers for days would hold the most that each of them ever needed. Does nothing where the C library
/// is not GNU's. It takes some milliseconds: call it once in a while.
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function has no arguments but how much to keep, may be called from any thread at any time, and touches
    // nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Lets what is large go back to the system as soon as it is freed. By itself, the C library takes the size of what was freed
/// for a reason to keep the next of that size, and small pieces between large ones hold these. Does nothing where the C library
/// is not GNU's.
pub fn return_large_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function sets a number of the allocator, which may be done at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_PIECE);
    }
}

/// From so many bytes on, a piece of memory is large.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_PIECE: i32 = 1 << 16;

/// An empty vector with room for so many numbers, in large pages where the system has them: a model's numbers are thousands of
/// small ones, each of which takes the system a microsecond when it is first touched.
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
            assert!(numbers.iter().zip(0..count).all(|(&number, place)| number == place as f32));
        }
    }
}
