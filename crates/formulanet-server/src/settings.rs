//! The settings of a server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use formulanet::logic::Limits;
use formulanet::net::Precision;
use thiserror::Error;

/// Models, libraries, access and limits of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Where it listens; port 0 is any free one.
    pub listen: SocketAddr,
    /// Files of premise libraries. A library's name is its file's, without the extension.
    pub libraries: Vec<PathBuf>,
    /// A model file or a built-in model for statements of requests; by default, the built-in one for their language.
    pub model: Option<String>,
    /// Whether it answers the paths that Lean's premise selection asks.
    pub lean: bool,
    /// A dump of Lean's declarations that clients need not send; with one, it answers Lean.
    pub lean_index: Option<PathBuf>,
    /// How exact the networks' products are.
    pub precision: Precision,
    /// Bytes of a request's body.
    pub max_body: usize,
    /// Statements of a request.
    pub max_premises: usize,
    /// Time for a request, from its first line to its answer.
    pub timeout: Duration,
    /// Requests that are computed at once.
    pub workers: usize,
    /// Requests that wait to be computed; more are refused. One that waits costs no more memory than its body.
    pub queue: usize,
    /// Connections that are open at once; more wait to be accepted.
    pub max_connections: usize,
    /// Bounds on one formula.
    pub limits: Limits,
    /// The token for requests that change a library; without one, no request may.
    pub token: Option<String>,
    /// Other sites whose pages may ask, such as `https://example.org`.
    pub origins: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8017)),
            libraries: Vec::new(),
            model: None,
            lean: false,
            lean_index: None,
            precision: Precision::Auto,
            max_body: 1 << 20,
            max_premises: 10_000,
            timeout: Duration::from_secs(10),
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            // Some hundreds of clients that ask one thing at a time are all answered. What they take is bounded by
            // `queue * max_body`, 256 MiB, and by the time, after which they are not waited for.
            queue: 256,
            max_connections: 1024,
            limits: Limits { bytes: 64 << 10, depth: 1_000, nodes: 4_096, treelets: 50_000 },
            token: None,
            origins: Vec::new(),
        }
    }
}

/// Why a server does not start, or stops.
#[derive(Debug, Error)]
pub enum StartError {
    /// A model or a library cannot be read.
    #[error(transparent)]
    Data(#[from] formulanet::Error),
    /// The address cannot be had.
    #[error("cannot listen on {address}: {cause}; choose another address with --listen")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// Two libraries, which requests tell apart by name, have the same one.
    #[error(
        "expected libraries with names of their own, found two that are called `{name}`; rename one of the files"
    )]
    SameName {
        /// Their name.
        name: String,
    },
    /// The system gives no threads or no signals.
    #[error("cannot run the server: {0}")]
    System(#[from] io::Error),
}
