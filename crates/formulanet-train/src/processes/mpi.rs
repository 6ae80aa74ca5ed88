//! Processes of MPI.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mpi::Count;
use mpi::Threading;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Universe, initialize_with_threading};
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::Equivalence;

use super::Group;

/// The processes of a job. MPI does not like to be called from several threads, and here it is called from one.
#[derive(Debug)]
struct Job {
    rank: usize,
    size: usize,
    /// Nanoseconds in MPI.
    waited: AtomicU64,
}

/// MPI, from its beginning to its end.
pub struct Session {
    /// Ends MPI when it is dropped, once all processes have come so far.
    _universe: Universe,
    group: &'static dyn Group,
}

impl Session {
    /// Begins; nothing if MPI has begun already. An error of MPI ends the job from then on, and so does a panic: the
    /// other processes would wait for this one for ever.
    pub fn start() -> Option<Self> {
        let (universe, _) = initialize_with_threading(Threading::Funneled)?;
        let world = SimpleCommunicator::world();
        let job = Job { rank: world.rank() as usize, size: world.size() as usize, waited: AtomicU64::new(0) };
        if job.size > 1 {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                before(panic);
                SimpleCommunicator::world().abort(101);
            }));
        }
        // There is one job, and it lasts as long as the program.
        Some(Session { _universe: universe, group: Box::leak(Box::new(job)) })
    }

    /// The processes.
    pub fn group(&self) -> &'static dyn Group {
        self.group
    }

    /// Ends the whole job with an exit code.
    pub fn abort(&self, code: u8) -> ! {
        SimpleCommunicator::world().abort(i32::from(code))
    }
}

fn counts(counts: &[usize]) -> Vec<Count> {
    let fit = |&count: &usize| Count::try_from(count).expect("MPI counts in 32 bits");
    counts.iter().map(fit).collect()
}

fn starts(counts: &[Count]) -> Vec<Count> {
    let before = |sum: &mut Count, &count: &Count| {
        let start = *sum;
        *sum = start.checked_add(count).expect("MPI counts in 32 bits");
        Some(start)
    };
    counts.iter().scan(0, before).collect()
}

impl Job {
    /// Calls MPI and looks at the clock.
    fn timed<T>(&self, call: impl FnOnce(&SimpleCommunicator) -> T) -> T {
        let begin = Instant::now();
        let result = call(&SimpleCommunicator::world());
        self.waited.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    fn gather_all<T: Equivalence>(&self, mine: &[T], lengths: &[usize], all: &mut [T]) {
        let lengths = counts(lengths);
        let starts = starts(&lengths);
        let mut parts = PartitionMut::new(all, lengths, starts);
        self.timed(|world| world.all_gather_varcount_into(mine, &mut parts));
    }
}

impl Group for Job {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, mine: &[f32], counts: &[usize], all: &mut [f32]) {
        self.gather_all(mine, counts, all);
    }

    fn exchange(&self, mine: &[f32], send_counts: &[usize], received: &mut [f32], receive_counts: &[usize]) {
        let (send_counts, receive_counts) = (counts(send_counts), counts(receive_counts));
        let (send_starts, receive_starts) = (starts(&send_counts), starts(&receive_counts));
        let sent = Partition::new(mine, send_counts, send_starts);
        let mut received = PartitionMut::new(received, receive_counts, receive_starts);
        self.timed(|world| world.all_to_all_varcount_into(&sent, &mut received));
    }

    fn gather_bytes(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let mut lengths = vec![0u64; self.size];
        self.gather_all(&[mine.len() as u64], &vec![1; self.size], &mut lengths);
        let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
        let mut all = vec![0; lengths.iter().sum()];
        self.gather_all(mine, &lengths, &mut all);
        let mut rest = all.as_slice();
        let mut take = |length: &usize| {
            let (front, back) = rest.split_at(*length);
            rest = back;
            front.to_vec()
        };
        lengths.iter().map(&mut take).collect()
    }

    fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }
}
