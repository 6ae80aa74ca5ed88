//! Helpers for the tests of several crates. Only integration tests can use it, because it depends on the library.

mod folder;
pub mod golden;
mod holstep;
mod model;
mod pairs;
mod program;
mod shell;
mod snapshot;
mod stopper;

pub use folder::Folder;
pub use holstep::write_holstep;
pub use model::tiny;
pub use pairs::pairs;
pub use program::{Run, run, run_with};
pub use shell::{Typed, shell};
pub use snapshot::{numbers, rounded};
pub use stopper::Stopper;

/// The Rust blocks of the pages for users, compiled and run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guides/rust.md")]
    struct Rust;
}
