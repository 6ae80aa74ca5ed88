//! Premise selection for theorem provers by deep graph embedding.
//!
//! Which of the statements that I know are worth using for this goal? Three lines answer that for a list of statements:
//!
//! ```
//! use formulanet::{Ranker, Statement};
//!
//! let known = [Statement::hol("ADD_ZERO", "!m. m + 0 = m")?, Statement::hol("REFL", "!x. x = x")?];
//! let goal = Statement::hol("goal", "!m n. m + n = n + m")?;
//! for best in Ranker::load_default()?.best(&goal, &known, 5)? {
//!     println!("{:.3} {}", best.score, known[best.statement].name);
//! }
//! # Ok::<(), formulanet::Error>(())
//! ```
//!
//! A [`Library`] keeps statements in a file, embedded once. To add to it and to ask it for the best takes a line each:
//!
//! ```
//! # use formulanet::{Library, Ranker, Statement};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("lemmas.db");
//! # Library::build(&path, &Ranker::load_default()?, "hol-premises", |_| Ok(()))?;
//! let mut library = Library::open(&path)?;
//! library.add([Statement::hol("ADD_COMM", "!m n. m + n = n + m")?])?;
//! let best = library.best(&Statement::hol("goal", "!a. a + 1 = 1 + a")?, 5)?;
//! assert_eq!(best[0].0.name, "ADD_COMM");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The rooms
//!
//! The rest is for programs that do more: the `formulanet` command and the server are made of it. Each room builds on those
//! before it.
//!
//! - [`logic`] turns text into formulas and formulas into graphs, [`net`] computes with graphs of numbers.
//! - [`read`] reads named formulas from files of any format.
//! - [`data`] prepares data sets for training, and maps them.
//! - [`model`] has model files, the models that are built in, and how formulas become what a model reads.
//! - [`rank`] scores and selects statements, and keeps libraries.
//! - [`measure`] says how good a model is, [`train`] makes one, and `paper` repeats the tables of the paper.
//! - [`processes`] shares the work of several processes.
//!
//! # Features
//!
//! All are on by default. `libraries` has [`Library`], and builds SQLite; `plots` draws charts, and has the room `paper`;
//! `shipped` has the models that are built in, 39 MB: without it, give [`Ranker::load`] a model file.

pub mod data;
mod error;
pub mod measure;
pub mod model;
#[cfg(feature = "plots")]
pub mod paper;
pub mod processes;
pub mod rank;
pub mod read;
pub mod train;
mod util;

pub use error::Error;
pub use formulanet_logic as logic;
pub use formulanet_net as net;
#[cfg(feature = "libraries")]
pub use rank::Library;
pub use rank::{Ranked, Ranker};
pub use read::Statement;
pub use util::date::{now, today};
pub use util::files::write_whole;
pub use util::progress::{Progress, Silent, Stage};
pub use util::temporary::temporary_folder;
