//! The signals that ask a process to end.

use std::{io, thread};

use tokio::runtime::Builder;
use tokio::sync::watch;

/// How often the process was asked to end, counted on a thread of its own: by Ctrl-C or a signal to terminate.
pub(crate) fn count() -> io::Result<watch::Receiver<u32>> {
    let (tell, told) = watch::channel(0);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut signals = runtime.block_on(async { Signals::new() })?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    () = signals.next() => tell.send_modify(|count| *count += 1),
                    () = tell.closed() => break,
                }
            }
        });
    })?;
    Ok(told)
}

/// Waits until `count` signals have arrived.
pub(crate) async fn at_least(count: u32, told: &watch::Receiver<u32>) {
    let mut told = told.clone();
    if told.wait_for(|found| *found >= count).await.is_err() {
        // Nobody counts any more.
        std::future::pending().await
    }
}

struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(not(unix))]
    fn new() -> io::Result<Self> {
        Ok(Signals {})
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        // Without it, the system ends the process itself.
        let _ = tokio::signal::ctrl_c().await;
    }
}
