//! Threads that act as a group of processes would, for tests.

use std::sync::{Arc, Barrier, Mutex, PoisonError};

use crate::group::Group;

/// One of several threads of a process, each of which acts as if it were a process.
#[derive(Debug)]
pub struct Member {
    rank: usize,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    barrier: Barrier,
    /// The message of each member.
    said: Mutex<Vec<Vec<u8>>>,
}

/// Runs `work` on this many threads, each with its place in a group, and returns the results. The memory of the group is never
/// released.
pub fn team<T: Send>(size: usize, work: impl Fn(&'static Member) -> T + Sync) -> Vec<T> {
    let shared = Arc::new(Shared { barrier: Barrier::new(size), said: Mutex::new(vec![Vec::new(); size]) });
    let work = &work;
    std::thread::scope(|scope| {
        let member =
            |rank| -> &'static Member { Box::leak(Box::new(Member { rank, shared: shared.clone() })) };
        let threads: Vec<_> = (0..size).map(member).map(|member| scope.spawn(move || work(member))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a member of the team")).collect()
    })
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

impl Group for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.said.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn gather(&self, mine: &[f32], counts: &[usize], all: &mut [f32]) {
        assert_eq!(mine.len(), counts[self.rank], "a count of one's own");
        let said = self.gather_bytes(&mine.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        assert!(said.iter().zip(counts).all(|(said, &count)| said.len() == 4 * count), "counts of others");
        all.iter_mut().zip(said.iter().flat_map(|said| numbers(said))).for_each(|(all, x)| *all = x);
    }

    fn exchange(&self, mine: &[f32], send_counts: &[usize], received: &mut [f32], receive_counts: &[usize]) {
        assert_eq!(mine.len(), send_counts.iter().sum::<usize>(), "something for everybody");
        let start = |to: usize| send_counts[..to].iter().sum::<usize>() as u64;
        let starts: Vec<u8> = (0..send_counts.len()).flat_map(|to| start(to).to_le_bytes()).collect();
        let starts = self.gather_bytes(&starts);
        let said = self.gather_bytes(&mine.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        let mut received = received.iter_mut();
        for ((starts, said), &count) in starts.iter().zip(&said).zip(receive_counts) {
            let start = starts[8 * self.rank..][..8].try_into().expect("eight bytes");
            let start = u64::from_le_bytes(start) as usize;
            numbers(&said[4 * start..][..4 * count])
                .zip(&mut received)
                .for_each(|(x, received)| *received = x);
        }
    }

    fn gather_bytes(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let Shared { barrier, said } = &*self.shared;
        said.lock().unwrap_or_else(PoisonError::into_inner)[self.rank] = mine.to_vec();
        barrier.wait();
        let all = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        barrier.wait();
        all
    }
}
