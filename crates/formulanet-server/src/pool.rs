//! The thread pool for computations, with a bounded queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use formulanet::Cancel;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::problem::Problem;

/// Until when an answer is wanted. Long computations ask it from time to time whether to go on.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    until: Instant,
    is_heavy: bool,
    is_abandoned: Arc<AtomicBool>,
}

impl Deadline {
    pub(crate) fn at(until: Instant) -> Self {
        Deadline { until, is_heavy: false, is_abandoned: Arc::default() }
    }

    /// Sets the size of the body: long requests have their own queue, so that short ones do not wait for them.
    pub(crate) fn of_body(self, bytes: usize) -> Self {
        Deadline { is_heavy: self.is_heavy || bytes > MOST_LIGHT, ..self }
    }

    /// Sets the number of pairs that the request compares, because a short request may be expensive.
    pub(crate) fn of_comparisons(self, comparisons: usize) -> Self {
        Deadline { is_heavy: self.is_heavy || comparisons > MOST_COMPARED, ..self }
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// The deadline for a computation of the engine.
    pub(crate) fn cancel(&self) -> Cancel {
        let deadline = self.clone();
        Cancel::when(move || deadline.check().is_err())
    }

    /// When the time is over.
    pub(crate) fn until(&self) -> tokio::time::Instant {
        self.until.into()
    }

    /// Returns an error if the deadline has passed or the client is gone.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.is_abandoned.load(Ordering::Relaxed) || Instant::now() >= self.until {
            return Err(Problem::time_over());
        }
        Ok(())
    }
}

/// Bytes of a request that is computed among short ones.
pub(crate) const MOST_LIGHT: usize = 1 << 14;
/// Comparisons of a request that is computed among short ones: about a tenth of a second.
const MOST_COMPARED: usize = 250_000;

/// Tells a computation that its client has gone.
struct Abandon(Deadline);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.is_abandoned.store(true, Ordering::Relaxed);
    }
}

/// Where those stand who want to change one library. They do not wait among those who only ask: a writer waits for other
/// processes, too.
pub(crate) struct Line {
    turn: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// Writers that wait for one library; more are refused.
const WRITERS: usize = 32;

impl Default for Line {
    fn default() -> Self {
        Line { turn: Arc::new(Semaphore::new(1)), places: Arc::new(Semaphore::new(1 + WRITERS)) }
    }
}

impl Line {
    /// Does something when it is its turn, or says why not. Work that has begun is awaited, because only it knows whether
    /// something was written; it looks at the deadline itself.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        deadline: Deadline,
        work: impl FnOnce(&Deadline) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Problem::too_many(WRITERS))?;
        let turn = timeout_at(deadline.until(), Arc::clone(&self.turn).acquire_owned());
        let turn = turn.await.map_err(|_| Problem::not_written())?.map_err(|_| Problem::fault())?;
        let _abandon = Abandon(deadline.clone());
        let working = tokio::task::spawn_blocking(move || {
            let (_place, _turn) = (place, turn);
            work(&deadline)
        });
        working.await.map_err(|_| Problem::fault())?
    }
}

/// Threads for computing.
pub(crate) struct Pool {
    /// One for each thread that computes short requests, and as many for long ones. A computation cannot be interrupted, but
    /// the system shares the cores between the two, so that a short request does not wait until a long one is over.
    light: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
    /// One for each request that is computed or waits.
    places: Arc<Semaphore>,
    workers: usize,
    queue: usize,
}

impl Pool {
    pub(crate) fn new(workers: usize, queue: usize) -> Self {
        let (workers, queue) = (workers.clamp(1, MOST), queue.min(MOST));
        let places = Arc::new(Semaphore::new(workers + queue));
        let [light, heavy] = [(); 2].map(|()| Arc::new(Semaphore::new(workers)));
        Pool { light, heavy, places, workers, queue }
    }

    /// Whether no job is running or waiting.
    pub(crate) fn is_idle(&self) -> bool {
        self.places.available_permits() == self.workers + self.queue
    }

    /// Computes something, or says why not: too many are waiting, the time is over, or it panicked.
    ///
    /// A thread that is computing cannot be stopped from outside. It keeps its place until it asks the deadline.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        deadline: Deadline,
        work: impl FnOnce(&Deadline) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let too_many = |_| Problem::too_many(self.queue);
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(too_many)?;
        let workers = if deadline.is_heavy { &self.heavy } else { &self.light };
        let worker = timeout_at(deadline.until(), Arc::clone(workers).acquire_owned());
        let worker = worker.await.map_err(|_| Problem::time_over())?.map_err(|_| Problem::fault())?;
        let abandon = Abandon(deadline.clone());
        let until = deadline.until();
        let computing = tokio::task::spawn_blocking(move || {
            let (_place, _worker) = (place, worker);
            deadline.check()?;
            work(&deadline)
        });
        let computed = timeout_at(until, computing).await;
        drop(abandon);
        // A panic has printed its message; the thread and its places are free again.
        computed.map_err(|_| Problem::time_over())?.map_err(|_| Problem::fault())?
    }
}

/// A bound on threads and queue places.
const MOST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn soon(milliseconds: u64) -> Deadline {
        Deadline::at(Instant::now() + Duration::from_millis(milliseconds))
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let pool = Pool::new(1, 0);
        for _ in 0..3 {
            let found = pool.run(soon(10_000), |_| -> Result<(), Problem> { panic!("on purpose") }).await;
            assert_eq!(found, Err(Problem::fault()));
        }
        assert_eq!(pool.run(soon(10_000), |_| Ok(7)).await, Ok(7));
    }

    #[tokio::test]
    async fn places_are_counted() {
        let pool = Arc::new(Pool::new(1, 1));
        let (release, wait) = mpsc::channel::<()>();
        let long = |pool: Arc<Pool>, work: Box<dyn FnOnce() + Send>| {
            tokio::spawn(async move {
                let work = move |_: &Deadline| {
                    work();
                    Ok(())
                };
                pool.run(soon(10_000), work).await
            })
        };
        let first = long(Arc::clone(&pool), Box::new(move || wait.recv().unwrap()));
        let second = long(Arc::clone(&pool), Box::new(|| ()));
        while pool.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(soon(10_000), |_| Ok(())).await, Err(Problem::too_many(1)));
        release.send(()).unwrap();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (Ok(()), Ok(())));
        assert_eq!(pool.run(soon(10_000), |_| Ok(())).await, Ok(()));
    }

    #[tokio::test]
    async fn short_requests_do_not_wait_for_long_ones() {
        let pool = Arc::new(Pool::new(1, 8));
        let (release, wait) = mpsc::channel::<()>();
        let long = soon(10_000).of_body(1 << 20);
        let first = tokio::spawn({
            let (pool, long) = (Arc::clone(&pool), long.clone());
            async move { pool.run(long, move |_| wait.recv().map_err(|_| Problem::fault())).await }
        });
        while pool.heavy.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(soon(10_000), |_| Ok(7)).await, Ok(7));
        // Long ones wait for each other.
        assert_eq!(pool.run(soon(30).of_body(1 << 20), |_| Ok(7)).await, Err(Problem::time_over()));
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(()));
    }

    #[test]
    fn few_bytes_may_ask_for_much() {
        assert!(!soon(0).of_body(100).of_comparisons(62_000).is_heavy);
        assert!(soon(0).of_body(100).of_comparisons(600 * 62_000).is_heavy);
        assert!(soon(0).of_body(1 << 20).of_comparisons(1).is_heavy);
    }

    /// Who does not get a turn has written nothing; who has begun to write is told how it ended, however late.
    #[tokio::test]
    async fn writers_stand_in_a_line() {
        let line = Arc::new(Line::default());
        let (begun, has_begun) = mpsc::channel();
        let first = tokio::spawn({
            let line = Arc::clone(&line);
            async move {
                let work = move |deadline: &Deadline| {
                    begun.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(200));
                    assert!(deadline.check().is_err());
                    Ok("written")
                };
                line.run(soon(50), work).await
            }
        });
        tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
        assert_eq!(line.run(soon(20), |_| Ok("never")).await, Err(Problem::not_written()));
        assert_eq!(first.await.unwrap(), Ok("written"));
        assert_eq!(line.run(soon(10_000), |_| Ok("next")).await, Ok("next"));
    }

    #[tokio::test]
    async fn time_is_over_for_who_waits_and_for_who_computes() {
        let pool = Arc::new(Pool::new(1, 1));
        let (tell, told) = mpsc::channel();
        let busy = move |deadline: &Deadline| loop {
            if let Err(problem) = deadline.check() {
                tell.send(()).unwrap();
                return Err::<(), _>(problem);
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let (first, second) =
            tokio::join!(pool.run(soon(60), busy), async { pool.run(soon(30), |_| Ok(())).await });
        assert_eq!((first, second), (Err(Problem::time_over()), Err(Problem::time_over())));
        told.recv().unwrap();
        assert_eq!(pool.run(soon(10_000), |_| Ok(())).await, Ok(()));
    }
}
