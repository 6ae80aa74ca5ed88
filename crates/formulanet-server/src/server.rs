//! Starting, accepting connections, and stopping without cutting anybody off.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use formulanet::net::return_large_memory;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::catalog::Catalog;
use crate::connection;
use crate::lean::{Lean, LeanSummary};
use crate::metrics::Metrics;
use crate::page::Page;
use crate::pool::Pool;
use crate::router::{App, router};
use crate::settings::{Settings, StartError};

/// A server that has its models, its libraries and its address.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
}

impl Server {
    /// Reads models and libraries, and takes the address.
    ///
    /// # Errors
    ///
    /// If one of them cannot be had.
    pub fn new(settings: Settings) -> Result<Self, StartError> {
        return_large_memory();
        let fail = |cause| StartError::Listen { address: settings.listen, cause };
        // First, because this is what fails most often, and reading takes a while.
        let listener = TcpListener::bind(settings.listen).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let catalog = Catalog::open(&settings)?;
        let lean = Lean::open(&settings)?;
        let pool = Pool::new(settings.workers, settings.queue);
        let (metrics, page) = (Metrics::default(), Page::new());
        Ok(Server { app: Arc::new(App { address, settings, catalog, pool, metrics, page, lean }), listener })
    }

    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// Names of the libraries, with how many statements each has.
    pub fn libraries(&self) -> impl Iterator<Item = (&str, usize)> {
        self.app.catalog.shelves.iter().map(|shelf| (shelf.name.as_str(), shelf.read().shelf.entries.len()))
    }

    /// What there is for Lean, if the server answers it.
    pub fn lean(&self) -> Option<LeanSummary> {
        self.app.lean.as_ref().map(Lean::summary)
    }

    /// Answers until `stop` is there, then finishes what has begun, as long as the time of a request at most.
    ///
    /// # Errors
    ///
    /// If the system takes the address away.
    pub async fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Server { app, listener } = self;
        crate::watch::begin(Arc::downgrade(&app));
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (tell, told) = watch::channel(false);
        let connections = Arc::new(Semaphore::new(app.settings.max_connections.clamp(1, MOST_CONNECTIONS)));
        let router = router(Arc::clone(&app));
        let mut stop = std::pin::pin!(stop);
        loop {
            // More connections wait in the system's own queue.
            let accepted = async {
                let place = Arc::clone(&connections).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (app, router, told) = (Arc::clone(&app), router.clone(), told.clone());
                    tokio::spawn(async move {
                        let _place = place;
                        connection::serve(stream, router, app.settings.timeout, told, &app.metrics).await;
                    });
                }
                // The client has gone, or there are no file descriptors left for a moment.
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
        drop((listener, told));
        // Fails only if no connection is open.
        let _ = tell.send(true);
        // Every connection holds a receiver until it ends.
        let _ = timeout(app.settings.timeout + GRACE, tell.closed()).await;
        Ok(())
    }

    /// The same on threads of its own, until the process is asked to end: by Ctrl-C or a signal to terminate. A second
    /// signal ends it at once.
    ///
    /// # Errors
    ///
    /// If the system gives no threads or no signals.
    pub fn run_until_signal(self) -> Result<(), StartError> {
        let workers = self.app.settings.workers.clamp(1, 512);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(workers + 4)
            .thread_keep_alive(IDLE)
            .enable_all()
            .build()?;
        let result = runtime.block_on(async {
            let (mut first, mut second) = (Signals::new()?, Signals::new()?);
            tokio::select! {
                result = self.run(async move { first.next().await }) => result,
                () = async { second.next().await; second.next().await } => Ok(()),
            }
        });
        // What still computes has looked at the clock, or will in a moment.
        runtime.shutdown_timeout(GRACE);
        Ok(result?)
    }
}

/// More than any system allows.
const MOST_CONNECTIONS: usize = 1 << 20;
/// Time beyond that of a request to write answers and notice that the time is over.
const GRACE: Duration = Duration::from_secs(1);
/// A thread that has had nothing to compute for so long ends: each keeps memory that it may need again.
const IDLE: Duration = Duration::from_secs(1);

/// The signals that ask a process to end.
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
