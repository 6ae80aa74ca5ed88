//! Ranking of axioms for a problem: the only use that `prove` makes of the engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use formulanet::engine::Model;
use formulanet::library::ProofOrigin;
use formulanet::logic::Limits;
use formulanet::problem::{ProblemOptions, annotated, as_axiom};
use formulanet::read::{Proof, Source};
use formulanet::{
    Corpus, Engine, Goal, Language, Library, Policy, Problem, Query, Rerank, Residency, Statement, Symbols,
    Take,
};

use super::folder::Memory;
use super::outcome::Outcome;
use super::task::{Part, Task};
use crate::input::{ComputeArguments, ModelArgument, RerankArguments};

/// A problem to prove.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A problem in a file; `-` is standard input.
    File(String),
    /// A problem without includes.
    Text(String),
    /// A formula, with the facts of the library.
    Formula(String),
    /// A fact of the library, with those before it.
    Fact(String),
}

/// The settings of a ranking of axioms.
pub(crate) struct Choice<'a> {
    pub(crate) library: Option<&'a Path>,
    pub(crate) model: &'a ModelArgument,
    pub(crate) reading: &'a RerankArguments,
    pub(crate) compute: &'a ComputeArguments,
    pub(crate) limits: Limits,
    /// Maximum number of facts from the library.
    pub(crate) most: usize,
}

/// A ranker for the axioms of problems.
pub(crate) struct Axioms {
    engine: Engine,
    model: Arc<Model>,
    rerank: Rerank,
    library: Option<PathBuf>,
    limits: Limits,
    most: usize,
    /// Axioms and proofs of all problems so far, if problems learn from each other.
    memory: Option<Memory>,
}

impl Axioms {
    /// Opens the library and loads the models.
    ///
    /// # Errors
    ///
    /// Returns an error if either cannot be read.
    pub(crate) fn open(choice: &Choice<'_>) -> Result<Self> {
        let engine = choice.model.engine(choice.reading, choice.compute, choice.limits)?;
        let axioms = Self::new(engine, choice.library, choice.most)?;
        Ok(Axioms { rerank: choice.reading.rerank(), limits: choice.limits, ..axioms })
    }

    /// Opens the library, with an engine and default settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the library cannot be read.
    pub(crate) fn new(engine: Engine, library: Option<&Path>, most: usize) -> Result<Self> {
        let model = match library {
            Some(path) => engine.model_of(&Library::open(path)?)?,
            None => engine.model_for(Language::Tptp)?,
        };
        let library = library.map(Path::to_owned);
        Ok(Axioms {
            engine,
            model,
            rerank: Rerank::Auto,
            library,
            limits: Limits::default(),
            most,
            memory: None,
        })
    }

    /// Enables learning from proofs of problems.
    pub(crate) fn remember(&mut self) {
        self.memory = Some(Memory::new(&self.model));
    }

    /// Returns the library's statements without a recorded proof, in order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no library in TPTP's syntax.
    pub(crate) fn unproved(&self) -> Result<Vec<String>> {
        let Some(path) = &self.library else { return Ok(Vec::new()) };
        let library = Library::open(path)?;
        if library.language()? != Language::Tptp {
            return Err(formulanet::Error::NotTptp.into());
        }
        let mut names = Vec::new();
        for Statement { name, .. } in library.statements()? {
            if library.proofs_of(&name)?.is_empty() {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Reads a problem and ranks its axioms.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, with the place.
    pub(crate) fn task(&self, target: &Target) -> Result<Task> {
        let formula = |name: &str, text: &str| {
            (name.to_owned(), Source::text("conjecture", annotated(name, "conjecture", text)))
        };
        let (name, source) = match (target, &self.library) {
            (Target::File(file), _) => (file.clone(), Source::open(file)?),
            (Target::Text(text), _) => ("problem".to_owned(), Source::text("problem", text.clone())),
            (Target::Fact(name), Some(path)) => formula(name, &Library::open(path)?.statement(name)?.text),
            (Target::Formula(text) | Target::Fact(text), _) => formula("conjecture", text),
        };
        let mut task = Task::read(&name, source, self.limits)?;
        if task.goals().next().is_none() {
            return Ok(task);
        }
        let text = Source::text(&name, self_contained(&task));
        let mut problem = Problem::read(text, &self.model.retriever, &ProblemOptions::default())?;
        let axioms = problem.take_axioms();
        let query = match target {
            Target::Fact(name) if self.library.is_some() => Query::new(Goal::Stored(name.clone())),
            _ => problem.query(),
        };
        let query = query.policy(Policy::default().rerank(self.rerank));
        match &self.library {
            Some(library) => {
                let stored = self.engine.corpus().library(library, Residency::Streamed).build()?;
                if stored.language() != Language::Tptp {
                    return Err(formulanet::Error::NotTptp.into());
                }
                let corpus = stored.with_local(axioms, None, true);
                self.add_facts(&mut task, library, (&corpus, query), target)?;
            }
            None => {
                if let Some(memory) = &self.memory {
                    task.orders = memory.orders(&self.engine, &self.model, (&task, axioms), &query)?;
                    return Ok(task);
                }
                let corpus = Corpus::of_local(Arc::clone(&self.model), axioms, Language::Tptp, true);
                let query = query.take(Take::at_most(usize::MAX));
                let order = |symbols: Symbols| order(&self.engine, &corpus, &query, symbols);
                task.orders = vec![order(Symbols::Both)?, order(Symbols::Anonymous)?];
            }
        }
        Ok(task)
    }

    /// Adds the best facts of the library to the axioms of a problem.
    fn add_facts(
        &self,
        task: &mut Task,
        path: &Path,
        (corpus, query): (&Corpus, Query),
        target: &Target,
    ) -> Result<()> {
        let own = task.axiom_count();
        let ranking = self.engine.rank(corpus, &query.take(Take::at_most(self.most + own)))?;
        let file: Arc<str> = path.display().to_string().into();
        let (mut order, mut facts) = (Vec::new(), 0);
        for hit in &ranking.hits {
            order.push(match hit.local {
                Some(number) => number,
                None => {
                    facts += 1;
                    task.push_axiom(&hit.statement.name, as_axiom(hit), &file);
                    task.axiom_count() - 1
                }
            });
        }
        // Every axiom of the problem itself can be tried; those that are not ranked come last.
        let left: Vec<usize> = (0..own).filter(|number| !order.contains(number)).collect();
        order.extend(left);
        let library = Library::open(path)?;
        let allowed = match target {
            Target::Fact(name) => {
                let is_goal = |statement: &Statement| statement.name == *name;
                library.statements()?.iter().position(is_goal).unwrap_or(usize::MAX)
            }
            _ => library.count()?,
        };
        // A fact with the name of an axiom is left out, so it counts as missing.
        task.is_complete = facts == allowed;
        task.orders = vec![order];
        Ok(())
    }

    /// Learns again from a proof of a problem that an earlier process found. A library already has its
    /// proofs.
    ///
    /// # Errors
    ///
    /// Returns an error if the problem can no longer be read.
    pub(crate) fn recall(&self, target: &Target, proved: &Outcome) -> Result<()> {
        let (Some(memory), Target::File(file)) = (&self.memory, target) else { return Ok(()) };
        let Some(premises) = &proved.premises else { return Ok(()) };
        let task = Task::read(file, Source::open(file)?, self.limits)?;
        let text = Source::text(file, self_contained(&task));
        let mut problem = Problem::read(text, &self.model.retriever, &ProblemOptions::default())?;
        memory.add(&self.model, &problem.take_axioms());
        memory.learn(&self.model, &task, premises)
    }

    /// Records the premises of a proof: in the library for a fact, for the remaining problems for a problem.
    ///
    /// # Errors
    ///
    /// Returns an error if the library cannot be written.
    pub(crate) fn learn(&self, target: &Target, task: &Task, proved: &Outcome) -> Result<()> {
        let Some(premises) = &proved.premises else { return Ok(()) };
        match (target, &self.library, &self.memory) {
            (Target::Fact(name), Some(path), _) => {
                let proof = Proof { name: name.clone(), used: premises.clone(), place: "proof".to_owned() };
                let origin = ProofOrigin {
                    prover: proved.prover.clone().unwrap_or_default(),
                    seconds: proved.seconds,
                    time: formulanet_train::now(),
                };
                Library::open(path)?.learn_found(&proof, &origin)?;
                Ok(())
            }
            (_, _, Some(memory)) => memory.learn(&self.model, task, premises),
            _ => Ok(()),
        }
    }
}

/// Returns the numbers of a problem's axioms, best first.
pub(crate) fn order(engine: &Engine, corpus: &Corpus, query: &Query, symbols: Symbols) -> Result<Vec<usize>> {
    let query = query.clone();
    let policy = query.policy.symbols(symbols);
    let ranking = engine.rank(corpus, &query.policy(policy))?;
    Ok(ranking.hits.iter().filter_map(|hit| hit.local).collect())
}

/// Returns a problem with all its includes as one text. Declarations come first, because other statements
/// cannot be read without them.
fn self_contained(task: &Task) -> String {
    let mut text = String::new();
    for declares in [true, false] {
        for statement in task.statements() {
            if (statement.part == Part::Declaration) == declares {
                text.push_str(&statement.text);
                text.push('\n');
            }
        }
    }
    text
}
