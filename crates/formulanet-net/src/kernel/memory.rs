//! Memory that is free and should be the system's again.

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
