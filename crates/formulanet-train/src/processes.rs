//! Several processes that work as one, such as those of `mpirun`: how they begin, what they agree on, how they end.
//!
//! Whatever is done with a [`Group`] of more than one is collective. The first process, rank 0, writes files and speaks to
//! people; results are the same in all of them, to the last bit.

#[cfg(feature = "mpi")]
mod mpi;

use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;
use std::{env, fs, io};

pub use formulanet::net::{Alone, Group};
use serde::{Deserialize, Serialize};

#[cfg(feature = "mpi")]
pub use mpi::Session;

pub use formulanet::util::hash::digest;

use crate::Error;
use formulanet::util::hash::mix;

/// The number of processes that a launcher has started as one job, by its environment variables; 1 without a launcher.
pub fn launched() -> usize {
    let number = |name: &str| env::var(name).ok()?.parse::<usize>().ok();
    // Open MPI, MPICH and its relatives; Slurm with PMIx names no size of its own.
    let of_slurm = || env::var_os("PMIX_RANK").and_then(|_| number("SLURM_STEP_NUM_TASKS"));
    number("OMPI_COMM_WORLD_SIZE").or_else(|| number("PMI_SIZE")).or_else(of_slurm).unwrap_or(1)
}

/// The number of this process in the job of a launcher, before the job has begun.
pub fn launched_rank() -> usize {
    let names = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];
    names.iter().find_map(|name| env::var(name).ok()?.parse().ok()).unwrap_or(0)
}

/// A process in words, for messages.
#[derive(Serialize, Deserialize)]
struct Introduction {
    host: String,
    /// The cores that it may run on.
    cores: String,
    facts: Vec<String>,
}

impl Introduction {
    fn new(facts: Vec<String>) -> Self {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let cores = status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap_or_default();
        Introduction { host: host.trim().to_owned(), cores: cores.to_owned(), facts }
    }

    /// Everybody's, by rank.
    fn exchange(self, group: &dyn Group) -> Vec<Self> {
        let bytes = serde_json::to_vec(&self).expect("an introduction is plain data");
        let all = group.gather_bytes(&bytes);
        all.iter().map(|bytes| serde_json::from_slice(bytes).unwrap_or_else(|_| Self::new(vec![]))).collect()
    }
}

/// Refuses processes that differ. Each of the facts has a name, and a value that has to be the same everywhere.
///
/// # Errors
///
/// In all processes, the same: the first process and the first fact that differ from rank 0.
pub fn agree(group: &dyn Group, facts: &[(&str, String)]) -> Result<(), Error> {
    if group.size() == 1 {
        return Ok(());
    }
    let all = Introduction::new(facts.iter().map(|(_, value)| value.clone()).collect()).exchange(group);
    for (rank, other) in all.iter().enumerate() {
        for (i, (name, _)) in facts.iter().enumerate() {
            let [expected, found] = [&all[0], other].map(|one| one.facts.get(i).map_or("nothing", |f| f));
            if expected != found {
                let message = format!(
                    "expected the {name} of rank 0 on {}, which is {expected}, found {found}; all processes need the \
                     same program, data and kind of CPU",
                    all[0].host
                );
                return Err(Error::input(format!("rank {rank} on {}", other.host), message));
            }
        }
    }
    Ok(())
}

/// The number of threads for this process: as many as there are cores for it, shared evenly among the processes that may run on
/// the same cores.
pub fn threads(group: &dyn Group) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if group.size() == 1 {
        return cores;
    }
    let all = Introduction::new(Vec::new()).exchange(group);
    let own = &all[group.rank()];
    let beside = all.iter().filter(|other| (&other.host, &other.cores) == (&own.host, &own.cores)).count();
    (cores / beside.max(1)).max(1)
}

/// Sends a value of the first process to all.
pub fn from_first(group: &dyn Group, bytes: Vec<u8>) -> Vec<u8> {
    if group.size() == 1 {
        return bytes;
    }
    group.gather_bytes(if group.is_first() { &bytes } else { &[] }).swap_remove(0)
}

/// The version of this program, and a hash of its file, which tells one build from another.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let build = env::current_exe().and_then(File::open).and_then(digest_of_file).unwrap_or_default();
        format!("version {}, build {build:016x}", env!("CARGO_PKG_VERSION"))
    })
}

/// A hash of a file, of which only a piece is in memory.
fn digest_of_file(mut file: File) -> io::Result<u64> {
    let (mut piece, mut sum) = (Vec::new(), 0);
    while (&mut file).take(1 << 20).read_to_end(&mut piece)? > 0 {
        sum = mix(sum, digest(&piece));
        piece.clear();
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use formulanet::net::team;

    use super::*;

    #[test]
    fn the_one_that_differs_is_named() {
        let facts = |rank: usize| {
            let kernel = if rank == 2 { "f32 with AVX2" } else { "bf16 with AMX" };
            [("program", "version 1".to_owned()), ("kind of CPU", kernel.to_owned())]
        };
        let messages = team(4, |member| agree(member, &facts(member.rank())).unwrap_err().to_string());
        assert!(messages.iter().all(|message| *message == messages[0]));
        assert!(messages[0].starts_with("rank 2 on "), "{}", messages[0]);
        assert!(messages[0].contains("expected the kind of CPU of rank 0"), "{}", messages[0]);
        assert!(messages[0].contains("found f32 with AVX2"), "{}", messages[0]);
        assert!(team(3, |member| agree(member, &facts(0))).into_iter().all(|agreed| agreed.is_ok()));
    }

    #[test]
    fn the_first_is_heard_and_cores_are_shared() {
        let heard = team(3, |member| from_first(member, vec![member.rank() as u8 + 7; 5]));
        assert_eq!(heard, vec![vec![7; 5]; 3]);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(team(2, |member| threads(member)), [(cores / 2).max(1); 2]);
        assert_eq!(threads(&Alone), cores);
    }
}
