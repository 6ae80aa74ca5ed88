//! The statements that a request ranks: a library, its own statements, or both; and their model.

use std::sync::Arc;

use axum::http::StatusCode;
use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::engine::Model;
use formulanet::logic::hol::Overload;
use formulanet::model::encode::Encoded;
use formulanet::read::Source;
use formulanet::retrieve::VectorRetriever;
use formulanet::{Corpus, Language};

use crate::body::{Arithmetic, NamedStatement, Premises};
use crate::catalog::{Catalog, Shelf};
use crate::pool::Deadline;
use crate::problem::Problem;

/// The statements of a request.
pub(crate) struct Given<'a> {
    shelf: Option<&'a Shelf>,
    /// The library that the request names, as it was when the request came.
    pub(crate) library: Option<Corpus>,
    /// The request's own statements.
    pub(crate) own: Option<Own>,
    /// The language of the statements.
    pub(crate) language: Language,
}

impl<'a> Given<'a> {
    /// Looks for the library that a request names, and decides on the language.
    pub(crate) fn find(
        catalog: &'a Catalog,
        library: Option<&str>,
        premises: Option<Premises>,
        syntax: Option<Language>,
    ) -> Result<Self, Problem> {
        let shelf = library.map(|name| catalog.shelf(name)).transpose()?;
        let library = shelf.map(Shelf::corpus);
        let own = premises.map(Own::new);
        let own_syntax = own.as_ref().map(|own| own.syntax(syntax));
        let stored = library.as_ref().map(Corpus::language);
        let language = own_syntax.or(stored).or(syntax).unwrap_or_default();
        Ok(Given { shelf, library, own, language })
    }

    /// The library's model, the one that the request names, or the one for the statements' language.
    pub(crate) fn model(&self, catalog: &Catalog, named: Option<&str>) -> Result<Arc<Model>, Problem> {
        let named = named.map(|name| catalog.model(name)).transpose()?;
        match (self.shelf, named) {
            (Some(shelf), Some(named)) if !Arc::ptr_eq(&shelf.model, &named) => {
                let message = format!(
                    "expected `{}`, which the library `{}` was made with, found `{}`; leave `model` out",
                    shelf.model.name, shelf.name, named.name
                );
                Err(Problem::senseless("model", message))
            }
            (Some(shelf), _) => Ok(Arc::clone(&shelf.model)),
            (None, Some(named)) => Ok(named),
            (None, None) => catalog.default_model(self.language),
        }
    }

    /// The statements to rank: those of the library, if there is one, and those that came with the request.
    pub(crate) fn corpus(self, model: Arc<Model>, local: Vec<AnalyzedStatement>, is_problem: bool) -> Corpus {
        match &self.library {
            Some(library) => library.with_local(local, Some(self.language), is_problem),
            None => Corpus::of_local(model, local, self.language, is_problem),
        }
    }
}

/// Reads one formula as a model does.
pub(crate) fn encode(
    field: &str,
    (text, syntax): (&str, Language),
    overload: Option<Arithmetic>,
    retriever: &VectorRetriever,
) -> Result<Encoded, Problem> {
    let Arithmetic(overload) = overload.unwrap_or(Arithmetic(Overload::default()));
    let read = Analyzer::new(retriever).with_overload(overload).analyze(field, text, syntax);
    read.map(|premise| premise.encoded).map_err(|error| Problem::of(error, field))
}

/// The statements of a request.
pub(crate) enum Own {
    List(Vec<NamedStatement>),
    /// A text that must not include files: a request must not make us read any.
    Text(Source),
}

impl Own {
    fn new(premises: Premises) -> Self {
        match premises {
            Premises::List(list) => Own::List(list),
            Premises::Text(text) => Own::Text(Source::text("premises", text)),
        }
    }

    /// The language of the first. Those of a list are in the request's language unless they say otherwise.
    fn syntax(&self, asked: Option<Language>) -> Language {
        match self {
            Own::List(list) => list.first().and_then(|first| first.syntax).or(asked).unwrap_or_default(),
            Own::Text(source) => source.language(),
        }
    }

    /// Reads them, and looks at their number and at the clock on the way.
    pub(crate) fn read(
        self,
        mut analyzer: Analyzer<'_>,
        asked: Option<Language>,
        most: usize,
        deadline: &Deadline,
    ) -> Result<Vec<AnalyzedStatement>, Problem> {
        let mut premises = Vec::new();
        match self {
            Own::List(list) => {
                check_count(list.len(), most)?;
                for (i, item) in list.iter().enumerate() {
                    if i % 64 == 0 {
                        deadline.check()?;
                    }
                    if item.name.is_empty() {
                        let field = format!("premises[{i}].name");
                        return Err(Problem::senseless(field, "expected a name, found nothing"));
                    }
                    let syntax = item.syntax.or(asked).unwrap_or_default();
                    let read = analyzer.analyze(&item.name, &item.statement, syntax);
                    let field = || format!("premises[{i}].statement");
                    premises.push(read.map_err(|error| Problem::of(error, field()))?);
                }
            }
            Own::Text(source) => {
                let read = analyzer.read(source).map_err(|error| Problem::of(error, "premises"))?;
                for premise in read {
                    if premises.len() % 64 == 0 {
                        deadline.check()?;
                    }
                    check_count(premises.len() + 1, most)?;
                    premises.push(premise.map_err(|error| Problem::of(error, "premises"))?);
                }
            }
        }
        Ok(premises)
    }
}

pub(crate) fn check_count(count: usize, most: usize) -> Result<(), Problem> {
    if count <= most {
        return Ok(());
    }
    let message = format!(
        "expected at most {most} statements, found more; make a library of them with `formulanet library build`, or \
         start the server with a larger --max-premises"
    );
    Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).in_field("premises"))
}

/// Patterns of one kind in a request, and characters of each.
const MOST_PATTERNS: usize = 1000;
const LONGEST_PATTERN: usize = 256;

pub(crate) fn check_patterns(field: &str, patterns: &[String]) -> Result<(), Problem> {
    if patterns.len() > MOST_PATTERNS {
        let message = format!("expected at most {MOST_PATTERNS} names or patterns, found {}", patterns.len());
        return Err(Problem::senseless(field, message));
    }
    if let Some(i) = patterns.iter().position(|pattern| pattern.len() > LONGEST_PATTERN) {
        let message = format!("expected at most {LONGEST_PATTERN} bytes, found {}", patterns[i].len());
        return Err(Problem::senseless(format!("{field}[{i}]"), message));
    }
    Ok(())
}
