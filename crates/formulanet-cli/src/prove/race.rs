//! A race of attempts at a proof, as many at once as there are cores, until one succeeds. No process outlives
//! its attempt.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::guard::{Guarded, NOT_STARTED};
use super::prover::Prover;

/// Maximum number of bytes kept of a prover's output.
const MAX_OUTPUT: u64 = 64 << 20;
/// Maximum number of bytes kept of its messages.
const MAX_MESSAGES: u64 = 1 << 16;
/// Time between two checks of a process.
const PAUSE: Duration = Duration::from_millis(5);
/// Time that a prover may take in addition to its limit, which is in whole seconds.
const GRACE: Duration = Duration::from_millis(500);

/// The end of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The prover ended with this output, messages last.
    Ended(String),
    /// It could not be started.
    NotStarted(String),
    /// It was ended because its time was over; this is its output until then.
    OutOfTime(String),
    /// It was ended because another was faster, or the user stopped the program.
    Stopped,
    /// It was not started, because its result is known.
    Skipped,
}

/// An attempt that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Attempted {
    pub(crate) end: End,
    pub(crate) took: Duration,
}

/// Runs a prover until the time is over or `is_over` returns true.
pub(crate) fn attempt(
    prover: &Prover,
    file: &Path,
    time: Duration,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Attempted {
    let start = Instant::now();
    let seconds = time.as_secs_f64().ceil().max(1.0);
    let (program, arguments) = prover.call(file, seconds as u64);
    let ended = |end| Attempted { end, took: start.elapsed() };
    let mut child = match Guarded::start(&program, arguments) {
        Ok(child) => child,
        Err(error) => return ended(End::NotStarted(format!("cannot run `{}`: {error}", prover.program()))),
    };
    let [output, messages] = child.pipes();
    let (output, messages) = (Reader::of(output, MAX_OUTPUT), Reader::of(messages, MAX_MESSAGES));
    let limit = Duration::from_secs_f64(seconds) + GRACE;
    let (mut is_late, mut is_stopped) = (false, false);
    let code = loop {
        if let Some(code) = child.ended() {
            break Some(code);
        }
        (is_late, is_stopped) = (start.elapsed() > limit, is_over());
        if is_late || is_stopped {
            break None;
        }
        thread::sleep(PAUSE);
    };
    child.end();
    let (mut said, messages) = (output.finish(), messages.finish());
    if code == Some(NOT_STARTED) {
        return ended(End::NotStarted(messages.trim().to_owned()));
    }
    said.push('\n');
    said.push_str(&messages);
    ended(match () {
        () if is_stopped => End::Stopped,
        () if is_late => End::OutOfTime(said),
        () => End::Ended(said),
    })
}

/// A reader of a pipe, to its end or for as long as its text is wanted.
struct Reader {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: mpsc::Receiver<()>,
}

impl Reader {
    fn of(pipe: Option<Box<dyn Read + Send>>, most: u64) -> Self {
        let (bytes, (sender, end)) = (Arc::new(Mutex::new(Vec::new())), mpsc::channel());
        if let Some(mut pipe) = pipe {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                let mut piece = vec![0; 1 << 16];
                // Everything is read, so that the prover never waits, but only some is kept.
                while let Ok(count @ 1..) = pipe.read(&mut piece) {
                    let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                    let left = (most as usize).saturating_sub(bytes.len());
                    bytes.extend_from_slice(&piece[..count.min(left)]);
                }
                let _ = sender.send(());
            });
        }
        Reader { bytes, end }
    }

    /// Returns the text so far. A process that outlived its prover may hold the pipe, so its end is not
    /// waited for.
    fn finish(self) -> String {
        let _ = self.end.recv_timeout(GRACE);
        let bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// Runs attempts in their order, `threads` at once, until one wins or `is_over` returns true. `ended` is
/// called with each attempt that has ended, and returns whether that ends the race. Returns the first attempt
/// that ended the race, and its result.
pub(crate) fn race<A: Sync>(
    attempts: &[A],
    threads: usize,
    is_over: &(dyn Fn() -> bool + Sync),
    run: impl Fn(&A, &(dyn Fn() -> bool + Sync)) -> Attempted + Sync,
    ended: impl Fn(&A, &Attempted) -> bool + Sync,
) -> Option<(usize, Attempted)> {
    let (next, winner) = (AtomicUsize::new(0), Mutex::new(None::<(usize, Attempted)>));
    let has_winner = || winner.lock().is_ok_and(|winner| winner.is_some());
    let is_over = || is_over() || has_winner();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while !is_over() {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let Some(attempt) = attempts.get(number) else { return };
                    let attempted = run(attempt, &is_over);
                    if let (true, Ok(mut winner)) = (ended(attempt, &attempted), winner.lock()) {
                        winner.get_or_insert((number, attempted));
                    }
                }
            });
        }
    });
    winner.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_proof_ends_the_race() {
        // An attempt that never wins, and waits until it is told to end.
        let run = |wins: &bool, is_over: &(dyn Fn() -> bool + Sync)| {
            while !wins && !is_over() {
                thread::sleep(PAUSE);
            }
            Attempted {
                end: if *wins { End::Ended(String::new()) } else { End::Stopped },
                took: Duration::ZERO,
            }
        };
        let ended = |wins: &bool, _: &Attempted| *wins;
        let start = Instant::now();
        let (winner, _) = race(&[false, true, false, false], 2, &|| false, run, ended).unwrap();
        assert!(winner == 1 && start.elapsed() < Duration::from_secs(30));
        let is_late = || start.elapsed() > Duration::from_millis(200);
        assert_eq!(race(&[false], 2, &is_late, run, ended), None);
    }
}
