//! Attempts at a proof, as many at once as there are cores, until one succeeds. No process is left behind.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::prover::{Prover, is_proved, status};

/// Bytes of a prover's output that are kept.
const MOST_OUTPUT: u64 = 64 << 20;
/// Time between two looks at a process.
const PAUSE: Duration = Duration::from_millis(5);
/// A prover may take so much longer than it was told.
const GRACE: Duration = Duration::from_secs(2);

/// What came of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The prover said something with this status.
    Said {
        /// By SZS; empty if it has none.
        status: String,
        /// All that it printed.
        output: String,
    },
    /// It could not be started.
    Missing(String),
    /// It was stopped, because the time was over or another was faster.
    Stopped,
}

/// An attempt that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Attempted {
    pub(crate) end: End,
    pub(crate) took: Duration,
}

/// Lets a prover try, until the time is over or `is_over` says so.
pub(crate) fn attempt(
    prover: &Prover,
    file: &Path,
    time: Duration,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Attempted {
    let start = Instant::now();
    let ended = |end| Attempted { end, took: start.elapsed() };
    let (program, arguments) = prover.call(file, time.as_secs_f64().ceil().max(1.0) as u64);
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return ended(End::Missing(format!("cannot run `{}`: {error}", program.to_string_lossy())));
        }
    };
    let reader = child.stdout.take().map(|mut output| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            // What comes behind is thrown away, so that the prover does not wait for a reader.
            let _ = std::io::copy(&mut output, &mut std::io::sink());
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let mut is_stopped = false;
    while let Ok(None) = child.try_wait() {
        if start.elapsed() > time + GRACE || is_over() {
            is_stopped = true;
            break;
        }
        thread::sleep(PAUSE);
    }
    // Also if it has ended: what it started may still run, and hold its output open.
    kill(&mut child);
    let output = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let found = status(&output).unwrap_or_default().to_owned();
    if is_stopped && !is_proved(&found) {
        return ended(End::Stopped);
    }
    ended(End::Said { status: found, output })
}

/// Ends a process and all that it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Runs attempts in their order, `threads` at once, until one is proved or `is_over` says so. `begin` makes the file of an
/// attempt; `ended` hears of all that have ended. Says which was the first to prove it, and what came of that.
pub(crate) fn race<A: Sync>(
    attempts: &[A],
    threads: usize,
    is_over: &(dyn Fn() -> bool + Sync),
    run: impl Fn(&A, &(dyn Fn() -> bool + Sync)) -> Attempted + Sync,
    ended: impl Fn(&A, &Attempted) + Sync,
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
                    ended(attempt, &attempted);
                    let is_proof = matches!(&attempted.end, End::Said { status, .. } if is_proved(status));
                    if let (true, Ok(mut winner)) = (is_proof, winner.lock()) {
                        winner.get_or_insert((number, attempted));
                    }
                }
            });
        }
    });
    winner.into_inner().unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn check(command: &str, time: f64, expected: impl Fn(&End) -> bool) -> Duration {
        let prover = Prover::of_command(command).unwrap();
        let attempted = attempt(&prover, Path::new("/dev/null"), Duration::from_secs_f64(time), &|| false);
        assert!(expected(&attempted.end), "{command} {:?}", attempted.end);
        attempted.took
    }

    #[test]
    fn provers_that_are_strange_do_no_harm() {
        let said =
            |word: &'static str| move |end: &End| matches!(end, End::Said { status, .. } if status == word);
        check(
            "/no/such/prover {file}",
            1.0,
            |end| matches!(end, End::Missing(text) if text.contains("/no/such/prover")),
        );
        check("cat {file}", 1.0, said(""));
        check("false {file}", 1.0, said(""));
        let folder = formulanet_testing::Folder::new();
        let script = |text: &str| format!("sh {} {{file}}", folder.write("prover.sh", text));
        check(&script("echo SZS status Theorem; kill -9 $$"), 1.0, said("Theorem"));
        check(&script("head -c 1000 /dev/urandom"), 1.0, said(""));
        // One that never ends, and its child: both are gone afterwards.
        let mark = format!("{}", folder.path("mark").display());
        check(&script(&format!("sh -c 'sleep 5; touch {mark}' & sleep 100")), 0.1, |end| {
            *end == End::Stopped
        });
        thread::sleep(Duration::from_secs(4));
        assert!(!Path::new(&mark).exists());
        // One whose child keeps the output open.
        check(&script("sleep 100 & echo SZS status Theorem"), 1.0, said("Theorem"));
    }

    #[test]
    fn the_first_proof_ends_the_race() {
        let folder = formulanet_testing::Folder::new();
        let sleeps = folder.write("sleeps.sh", "sleep 100");
        let proves = folder.write("proves.sh", "echo SZS status Theorem");
        let attempts = [&sleeps, &proves, &sleeps, &sleeps].map(|script| format!("sh {script} {{file}}"));
        let run = |command: &String, is_over: &(dyn Fn() -> bool + Sync)| {
            let prover = Prover::of_command(command).unwrap();
            attempt(&prover, Path::new("/dev/null"), Duration::from_secs(60), is_over)
        };
        let start = Instant::now();
        let (winner, _) = race(&attempts, 2, &|| false, run, |_, _| {}).unwrap();
        assert!(winner == 1 && start.elapsed() < Duration::from_secs(30));
        assert_eq!(
            race(&attempts[..1], 2, &|| start.elapsed() > Duration::from_millis(200), run, |_, _| {}),
            None
        );
    }
}
