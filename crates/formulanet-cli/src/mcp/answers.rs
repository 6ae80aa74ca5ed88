//! The answers of the tools, computed by the same functions as those of other commands.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use formulanet::analyze::Analyzer;
use formulanet::policy::Stage1;
use formulanet::problem::ProblemOptions;
use formulanet::read::{Proof, Source};
use formulanet::util::glob::matches;
use formulanet::{
    Cancel, Corpus, Engine, Language, Library, Problem, Query, Ranking, Residency, Statement, Take,
};
use serde_json::json;

use super::requests::{Add, Explain, Learn, NewStatement, Prove, Rank, Search, Select};
use crate::input::counted;
use crate::prove::{Target, prove_within};
use crate::rank::Row;

/// The most that one call returns: what is longer crowds out a model's context.
const MOST_ROWS: usize = 256;
const LONGEST_STATEMENT: usize = 400;
const LONGEST_TEXT: usize = 60_000;

/// The libraries that tools may name, and the models.
pub(super) struct Libraries {
    engine: Engine,
    shelves: Vec<Shelf>,
}

struct Shelf {
    name: String,
    path: PathBuf,
    /// The last state that was read.
    corpus: Mutex<Corpus>,
}

impl Shelf {
    /// The library as it is now in its file.
    fn corpus(&self, engine: &Engine) -> Result<Corpus> {
        let library = Library::open(&self.path)?;
        let mut corpus = self.corpus.lock().unwrap_or_else(PoisonError::into_inner);
        corpus.refresh(engine, &library)?;
        Ok(corpus.clone())
    }
}

impl Libraries {
    /// Reads libraries.
    pub(super) fn open(engine: Engine, paths: &[PathBuf]) -> Result<Self> {
        let mut shelves: Vec<Shelf> = Vec::new();
        for path in paths {
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            if shelves.iter().any(|shelf| shelf.name == name) {
                bail!("two libraries are called `{name}`: rename one of the files");
            }
            let corpus = Mutex::new(engine.corpus().library(path, Residency::Held).build()?);
            shelves.push(Shelf { name, path: path.clone(), corpus });
        }
        Ok(Libraries { engine, shelves })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.shelves.iter().map(|shelf| shelf.name.as_str())
    }

    /// Names, languages and sizes in one line.
    pub(super) fn describe(&self) -> String {
        let one = |shelf: &Shelf| {
            let corpus = shelf.corpus.lock().unwrap_or_else(PoisonError::into_inner);
            let count = corpus.counts().map_or(0, |(stored, _)| stored);
            format!("`{}` ({}, {})", shelf.name, corpus.language().name(), counted(count, "statement"))
        };
        self.shelves.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The library of a call: the named one, or the only one.
    fn shelf(&self, name: Option<&str>) -> Result<&Shelf> {
        let found = match (name, &self.shelves[..]) {
            (Some(name), shelves) => shelves.iter().find(|shelf| shelf.name == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let Some(shelf) = found else {
            let known = self.names().collect::<Vec<_>>().join(", ");
            bail!(
                "expected `library` to be one of {known}, found {}",
                name.map_or("none".into(), |name| format!("`{name}`"))
            );
        };
        Ok(shelf)
    }

    /// The library of a call that writes, open, and its language.
    fn open_shelf(&self, name: Option<&str>) -> Result<(Library, Language)> {
        let library = Library::open(&self.shelf(name)?.path)?;
        let language = library.language()?;
        Ok((library, language))
    }

    /// A library in the language of provers.
    fn tptp_shelf(&self, name: Option<&str>) -> Result<&Shelf> {
        let shelf = self.shelf(name)?;
        if shelf.corpus(&self.engine)?.language() != Language::Tptp {
            return Err(formulanet::Error::NotTptp.into());
        }
        Ok(shelf)
    }

    pub(super) fn statistics(&self, name: &str, is_writable: bool) -> Result<String> {
        let shelf = self.shelf(Some(name))?;
        let (library, corpus) = (Library::open(&shelf.path)?, shelf.corpus(&self.engine)?);
        let statistics = json!({
            "name": name, "language": corpus.language().name(), "statements": library.count()?,
            "proofs": library.proof_count()?, "model": corpus.model_name(), "writable": is_writable,
        });
        Ok(statistics.to_string())
    }

    pub(super) fn rank(&self, request: Rank, cancel: &Cancel) -> Result<String> {
        let corpus = self.shelf(request.library.as_deref())?.corpus(&self.engine)?;
        let take = Take::new(rows(request.k, 16)?, 0.0, Vec::new(), request.exclude);
        let mut query = Query::new(&*request.goal).take(take);
        if let Some(before) = request.before {
            query = query.before(before);
        }
        let ranking = self.engine.rank_with(&corpus, &query, cancel)?;
        lines(&ranking, LONGEST_STATEMENT)
    }

    pub(super) fn explain(&self, request: Explain, cancel: &Cancel) -> Result<String> {
        let corpus = self.shelf(request.library.as_deref())?.corpus(&self.engine)?;
        let k = if request.names.is_empty() { 5 } else { rows(Some(request.names.len()), 5)? };
        let take = Take::new(k, 0.0, request.names, Vec::new());
        let query = Query::new(&*request.goal).take(take).explain();
        lines(&self.engine.rank_with(&corpus, &query, cancel)?, LONGEST_TEXT)
    }

    pub(super) fn select(&self, request: Select, cancel: &Cancel) -> Result<String> {
        let stored =
            request.library.map(|name| self.tptp_shelf(Some(&name))?.corpus(&self.engine)).transpose()?;
        let model = match &stored {
            Some(corpus) => corpus.model(),
            None => self.engine.model_for(Language::Tptp)?,
        };
        let source = Source::text("problem", request.problem);
        let mut problem = Problem::read(source, &model.retriever, &ProblemOptions::default())?;
        let axioms = problem.take_axioms();
        let corpus = match stored {
            Some(stored) => stored.with_local(axioms, None, true),
            None => Corpus::of_local(model, axioms, Language::Tptp, true),
        };
        let query = problem.query().k(request.k.unwrap_or(64));
        let ranking = self.engine.rank_with(&corpus, &query, cancel)?;
        let text = problem.reduced(&ranking.hits, ranking.considered);
        if text.len() > LONGEST_TEXT {
            bail!(
                "the problem with {} axioms has {} bytes, at most {LONGEST_TEXT} are returned: lower `k`",
                ranking.hits.len(),
                text.len()
            );
        }
        Ok(text)
    }

    pub(super) fn prove(&self, request: Prove, cancel: &Cancel) -> Result<String> {
        let (target, is_stored) = match (request.goal, request.name, request.problem) {
            (Some(goal), None, None) => (Target::Formula(goal), true),
            (None, Some(name), None) => (Target::Fact(name), true),
            (None, None, Some(problem)) => (Target::Text(problem), request.library.is_some()),
            _ => bail!("expected one of `goal`, `name` and `problem`"),
        };
        let shelf = if is_stored { Some(self.tptp_shelf(request.library.as_deref())?) } else { None };
        let seconds = request.seconds.unwrap_or(10.0);
        if !(seconds > 0.0 && seconds <= 3600.0) {
            bail!("expected `seconds` above 0 and at most 3600, found {seconds}");
        }
        let library = shelf.map(|shelf| shelf.path.as_path());
        let mut outcome =
            prove_within(&self.engine, library, &target, Duration::from_secs_f64(seconds), cancel)?;
        cancel.check()?;
        outcome.proof = outcome.proof.filter(|_| request.proof).map(|proof| cut(&proof, LONGEST_TEXT));
        Ok(serde_json::to_string(&outcome)?)
    }

    pub(super) fn search(&self, request: Search, cancel: &Cancel) -> Result<String> {
        let (shelf, k) = (self.shelf(request.library.as_deref())?, rows(request.k, 16)?);
        let fits: Box<dyn Fn(&Statement) -> bool> = match (request.contains, request.pattern, request.formula)
        {
            (Some(part), None, None) => {
                let part = part.to_lowercase();
                Box::new(move |statement| {
                    [&statement.name, &statement.text].iter().any(|text| text.to_lowercase().contains(&part))
                })
            }
            (None, Some(pattern), None) => Box::new(move |statement| matches(&pattern, &statement.name)),
            (None, None, Some(formula)) => {
                let corpus = shelf.corpus(&self.engine)?;
                let formula = Analyzer::new(&corpus.model().retriever).analyze(
                    "formula",
                    &formula,
                    corpus.language(),
                )?;
                let hits = self.engine.neighbors(&corpus, &formula.encoded, k, cancel)?;
                return Ok(joined(hits.iter().map(|hit| {
                    let similarity = (hit.score * 1000.0).round() as f64 / 1000.0;
                    let statement = cut(&hit.statement.text, LONGEST_STATEMENT);
                    json!({"name": hit.statement.name, "similarity": similarity, "statement": statement})
                        .to_string()
                })));
            }
            _ => bail!("expected one of `contains`, `pattern` and `formula`"),
        };
        let mut found = Library::open(&shelf.path)?.statements()?;
        found.retain(fits);
        let count = json!({"found": found.len()}).to_string();
        let shown = found.iter().take(k).map(|Statement { name, text, .. }| {
            json!({"name": name, "statement": cut(text, LONGEST_STATEMENT)}).to_string()
        });
        Ok(joined(std::iter::once(count).chain(shown)))
    }

    pub(super) fn add(&self, request: Add) -> Result<String> {
        let (mut library, language) = self.open_shelf(request.library.as_deref())?;
        let statement = |new: NewStatement| Statement { name: new.name, text: new.statement, language };
        let added = library.add(&self.engine, request.statements.into_iter().map(statement))?;
        Ok(json!({"new": added.new, "changed": added.replaced, "same": added.same}).to_string())
    }

    pub(super) fn learn(&self, request: Learn) -> Result<String> {
        let (mut library, _) = self.open_shelf(request.library.as_deref())?;
        library.statement(&request.name)?;
        let proof = Proof { name: request.name, used: request.premises, place: "premises".to_owned() };
        let learnt = library.learn(&[proof], false)?;
        Ok(json!({"new": learnt.new, "same": learnt.same, "warning": learnt.warnings.report()}).to_string())
    }
}

/// The number of rows that a call asks for.
fn rows(k: Option<usize>, default: usize) -> Result<usize> {
    match k.unwrap_or(default) {
        k @ 1..=MOST_ROWS => Ok(k),
        k => bail!("expected a number from 1 to {MOST_ROWS}, found {k}"),
    }
}

/// A ranking, a line for each premise; a line about the query comes first if there is something to say.
fn lines(ranking: &Ranking, longest: usize) -> Result<String> {
    let has_proofs = matches!(ranking.plan.retrieve, Stage1::Learned { with_proofs: true });
    let mut lines = Vec::new();
    if !ranking.unknown_symbols.is_empty() || !ranking.unmatched.is_empty() {
        let notice = json!({"unknown_symbols": ranking.unknown_symbols, "unmatched": ranking.unmatched});
        lines.push(notice.to_string());
    }
    for (hit, rank) in ranking.hits.iter().zip(1..) {
        let statement = cut(&hit.statement.text, longest);
        lines.push(serde_json::to_string(&Row { rank, statement: &statement, ..Row::of(hit, has_proofs) })?);
    }
    Ok(joined(lines.into_iter()))
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// A text of at most this number of bytes.
fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        text.to_owned()
    } else {
        format!("{}…", &text[..text.floor_char_boundary(longest)])
    }
}
