//! Premise selection for theorem provers by graph neural networks.
//!
//! Given a goal and known statements, an [`Engine`] ranks the statements by how much they help to prove the goal:
//!
//! ```
//! use formulanet::{Engine, Query, Statement};
//!
//! let engine = Engine::new()?;
//! let known = [Statement::hol("ADD_ZERO", "!m. m + 0 = m"), Statement::hol("REFL", "!x. x = x")];
//! let corpus = engine.corpus().statements(known).build()?;
//! for hit in engine.rank(&corpus, &Query::new("!m n. m + n = n + m").k(5))?.hits {
//!     println!("{:.3} {}", hit.score, hit.statement.name);
//! }
//! # Ok::<(), formulanet::Error>(())
//! ```
//!
//! - An [`Engine`] has the models. It is cheap to clone, and threads share it.
//! - A [`Corpus`] is an immutable snapshot of the statements that may be used: of lists, files, a [`Problem`] and a [`Library`].
//! - A [`Query`] has the goals, which statements are eligible, how many are returned, and a [`Policy`].
//! - A [`Plan`] follows from the corpus and the policy: [`Engine::plan`] returns it, and each [`Ranking`] has it.
//!
//! A [`Library`] keeps statements, their vectors and the dependencies of their proofs in a file:
//!
//! ```
//! # use formulanet::{Engine, Query, Residency, Statement};
//! # #[cfg(feature = "sqlite")] {
//! use formulanet::Library;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("lemmas.db");
//! # let engine = Engine::new()?;
//!
//! let mut library = Library::create(&path, &engine, formulanet::Language::Hol)?;
//! library.add(&engine, [Statement::hol("ADD_COMM", "!m n. m + n = n + m")])?;
//! let corpus = engine.corpus().library(&path, Residency::Streamed).build()?;
//! let ranking = engine.rank(&corpus, &Query::new("!a. a + 1 = 1 + a"))?;
//! assert_eq!(ranking.hits[0].statement.name, "ADD_COMM");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! `sqlite` has [`Library`] and builds SQLite with a C compiler. `models` has the models that the default ranking uses, 18 MB:
//! without it, give [`EngineBuilder::model`] a model file. Both are on by default.

#[doc(hidden)]
pub mod analyze;
mod cancel;
#[doc(hidden)]
pub mod corpus;
#[doc(hidden)]
pub mod embed;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod explain;
pub mod hammer;
#[doc(hidden)]
pub mod lean;
#[cfg(feature = "sqlite")]
pub mod library;
#[doc(hidden)]
pub mod model;
mod pipeline;
pub mod policy;
pub mod problem;
#[doc(hidden)]
pub mod proofs;
mod query;
mod ranking;
#[doc(hidden)]
pub mod read;
#[doc(hidden)]
pub mod rerank;
#[doc(hidden)]
pub mod retrieve;
#[doc(hidden)]
pub mod statement;
mod take;
#[doc(hidden)]
pub mod util;

pub use cancel::Cancel;
pub use corpus::{Corpus, CorpusBuilder, Residency};
pub use engine::{Engine, EngineBuilder};
pub use error::Error;
pub use explain::Evidence;
#[doc(hidden)]
pub use formulanet_logic as logic;
#[doc(hidden)]
pub use formulanet_net as net;
#[cfg(feature = "sqlite")]
pub use library::Library;
pub use policy::{Order, Plan, Policy, Rerank, Symbols};
pub use problem::Problem;
pub use query::{Duplicates, Goal, GoalFormula, Query, Scope};
pub use ranking::{Hit, Id, Ranking};
pub use statement::{Language, Statement};
pub use take::Take;
