//! Idle servers: request memory is released to the operating system.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use formulanet::net::{apart, give_all_memory_back, give_memory_back};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::router::App;
use crate::settings::Settings;

/// The interval between two checks, after which a server without requests is idle.
const PAUSE: Duration = Duration::from_secs(1);
/// How often memory is given back after the last request: threads that end then leave some more.
const ROUNDS: u32 = 3;
/// Threads that read requests and write answers.
pub(crate) const READERS: usize = 2;

/// From how many places threads take memory: as many as there are threads, but not hundreds.
pub(crate) fn places(settings: &Settings) -> usize {
    READERS + 2 * settings.workers.clamp(1, 31)
}

/// Waits for a connection while no thread can answer. Returns false if the process is asked to end.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn until_asked(listener: &TcpListener, told: &watch::Receiver<u32>) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    /// Time between two looks whether the process is asked to end.
    const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while *told.borrow() == 0 {
        match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Waits until the server is idle.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) async fn until_quiet(app: &App) {
    let mut before = app.metrics.accepted();
    loop {
        sleep(PAUSE).await;
        let now = app.metrics.accepted();
        let was_quiet = std::mem::replace(&mut before, now) == now;
        if was_quiet && app.metrics.open() == 0 && app.pool.is_idle() {
            return;
        }
    }
}

/// Without malloc_trim, threads keep running.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn until_asked(_: &TcpListener, told: &watch::Receiver<u32>) -> io::Result<bool> {
    Ok(*told.borrow() == 0)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) async fn until_quiet(_: &App) {
    std::future::pending().await
}

/// Gives memory back as long as there are requests.
pub(crate) async fn tidy(app: Arc<App>) {
    let (mut answered, mut rounds) = (0, 0);
    loop {
        sleep(PAUSE).await;
        if std::mem::replace(&mut answered, app.metrics.total()) != answered {
            rounds = ROUNDS;
        }
        if rounds > 0 {
            rounds -= 1;
            let app = Arc::clone(&app);
            let work = move || {
                app.catalog.forget_buffers();
                give_memory_back();
            };
            // If there is no thread for it, there may be one the next time.
            let _ = tokio::task::spawn_blocking(work).await;
        }
    }
}

/// Gives all memory back, when the threads that answer have ended.
pub(crate) fn give_all_back(app: &App) {
    // If there is no thread, there is still the rest.
    let _ = apart(|| app.catalog.forget_buffers());
    give_all_memory_back(places(&app.settings));
}
