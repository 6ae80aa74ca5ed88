//! Start, connections and graceful shutdown.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use formulanet::net::{apart, return_large_memory};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::body::Bodies;
use crate::catalog::Catalog;
use crate::connection;
use crate::lean::{Lean, LeanSummary};
use crate::metrics::Metrics;
use crate::page::Page;
use crate::pool::Pool;
use crate::rest::{self, READERS};
use crate::router::{App, router};
use crate::settings::{Settings, StartError};
use crate::signals::{self, at_least};

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
        return_large_memory(rest::places(&settings));
        let fail = |cause| StartError::Listen { address: settings.listen, cause };
        // First, because this is what fails most often, and reading takes a while.
        let listener = TcpListener::bind(settings.listen).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let catalog = Catalog::open(&settings)?;
        let lean = Lean::open(&settings)?;
        let pool = Pool::new(settings.workers, settings.queue);
        let bodies = Bodies::new(settings.max_body);
        let (metrics, page) = (Metrics::default(), Page::new());
        Ok(Server {
            app: Arc::new(App { address, settings, catalog, pool, metrics, bodies, page, lean }),
            listener,
        })
    }

    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// Names of the libraries, with how many statements each has.
    pub fn libraries(&self) -> impl Iterator<Item = (&str, usize)> {
        self.app
            .catalog
            .shelves
            .iter()
            .map(|shelf| (shelf.name.as_str(), shelf.contents().shelf.entries.len()))
    }

    /// The summary of Lean's index, if there is one.
    pub fn lean(&self) -> Option<LeanSummary> {
        self.app.lean.as_ref().map(Lean::summary)
    }

    /// Answers until `stop` is there, then finishes what has begun, as long as the time of a request at most.
    ///
    /// # Errors
    ///
    /// If the system takes the address away.
    pub async fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        crate::watch::begin(Arc::downgrade(&self.app));
        self.answer(stop).await
    }

    /// Runs the server on its own threads until Ctrl-C or SIGTERM. A second signal ends it at once.
    ///
    /// When the server is idle, the threads end, and new ones start with the next connection: a thread keeps memory that it may
    /// need again, and a server that runs for days would hold more and more of it.
    ///
    /// # Errors
    ///
    /// If the system gives no threads or no signals.
    pub fn run_until_signal(self) -> Result<(), StartError> {
        let told = signals::count()?;
        crate::watch::begin(Arc::downgrade(&self.app));
        let mut has_answered = false;
        while rest::until_asked(&self.listener, &told)? {
            match apart(|| self.shift(&told)).flatten() {
                Ok(End::Told) => break,
                Ok(End::Rest) => rest::give_all_back(&self.app),
                // There were threads before, so there may be some again; who asks waits so long.
                Err(_) if has_answered => thread::sleep(GRACE),
                Err(error) => return Err(error.into()),
            }
            has_answered = true;
        }
        Ok(())
    }

    /// Answers until the process is asked to end or the server is idle.
    fn shift(&self, told: &watch::Receiver<u32>) -> io::Result<End> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(READERS)
            // Short and long requests, a writer for each library, and a few for what the server does by itself.
            .max_blocking_threads(
                2 * self.app.settings.workers.clamp(1, 512) + self.app.catalog.shelves.len() + 4,
            )
            .thread_keep_alive(IDLE)
            .enable_all()
            .build()?;
        let end = runtime.block_on(async {
            let stop = async {
                tokio::select! {
                    () = at_least(1, told) => End::Told,
                    () = rest::until_quiet(&self.app) => End::Rest,
                }
            };
            tokio::select! {
                end = self.answer(stop) => end,
                () = at_least(2, told) => Ok(End::Told),
            }
        });
        // What still computes has looked at the clock, or will in a moment.
        runtime.shutdown_timeout(GRACE);
        end
    }

    /// Answers until `stop` is there, finishes what has begun, and gives what `stop` said.
    async fn answer<T>(&self, stop: impl Future<Output = T>) -> io::Result<T> {
        let app = &self.app;
        let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?)?;
        let (tell, told) = watch::channel(false);
        let connections = Arc::new(Semaphore::new(app.settings.max_connections.clamp(1, MOST_CONNECTIONS)));
        let router = router(Arc::clone(app));
        let tidying = tokio::spawn(rest::tidy(Arc::clone(app)));
        let mut stop = std::pin::pin!(stop);
        let end = loop {
            // More connections wait in the system's own queue.
            let accepted = async {
                let place = Arc::clone(&connections).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                end = &mut stop => break end,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (app, router, told) = (Arc::clone(app), router.clone(), told.clone());
                    let open = app.metrics.connection();
                    tokio::spawn(async move {
                        let _held = (place, open);
                        connection::serve(stream, router, app.settings.timeout, told, &app.metrics).await;
                    });
                }
                // The client has gone, or there are no file descriptors left for a moment.
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        };
        tidying.abort();
        drop((listener, told));
        // Fails only if no connection is open.
        let _ = tell.send(true);
        // Every connection holds a receiver until it ends.
        let _ = timeout(app.settings.timeout + GRACE, tell.closed()).await;
        Ok(end)
    }
}

/// Why a shift ended.
enum End {
    /// The process was asked to end.
    Told,
    /// The server is idle.
    Rest,
}

/// More than any system allows.
const MOST_CONNECTIONS: usize = 1 << 20;
/// Time beyond that of a request to write answers and notice that the time is over.
const GRACE: Duration = Duration::from_secs(1);
/// A thread that has had nothing to compute for so long ends: each keeps memory that it may need again.
const IDLE: Duration = Duration::from_secs(1);
