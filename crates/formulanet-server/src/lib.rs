//! Premise selection over HTTP, with a web page.
//!
//! The only crate that knows HTTP. [`Server::new`] reads models and libraries and takes the address,
//! [`Server::run`] answers until it is told to stop. What is answered is described by `/openapi.json`.
//!
//! Everything that comes over the network is bounded: bytes, time, connections, and how much is computed at once. A
//! request never makes the server read a file, and a request that makes it panic is answered and forgotten.
//!
//! ```no_run
//! use formulanet_server::{Server, Settings};
//!
//! let server = Server::new(Settings::default())?;
//! println!("listening on http://{}", server.address());
//! server.run_until_signal()?;
//! # Ok::<(), formulanet_server::StartError>(())
//! ```

#![forbid(unsafe_code)]

mod body;
mod catalog;
mod connection;
mod embed;
mod facts;
mod given;
mod graph;
mod guard;
mod lean;
mod listing;
mod metrics;
mod neighbors;
mod page;
mod pool;
mod problem;
mod rank;
mod rest;
mod router;
mod select;
mod server;
mod settings;
mod signals;
mod watch;

pub use lean::LeanSummary;
pub use server::Server;
pub use settings::{Settings, StartError};

/// Writes a line to standard error. A log that cannot be written is no reason to stop, nor to say that something failed.
#[doc(hidden)]
pub fn tell(message: std::fmt::Arguments<'_>) {
    use std::io::Write;
    // At once, so that lines of several threads do not mix.
    let line = format!("{message}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
