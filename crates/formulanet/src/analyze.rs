//! Statements on their way to a model: read, named and encoded.

mod goal;

use std::path::Path;

use formulanet_logic::{Formula, Interner, Position, hol};

use crate::model::encode::{Encoded, Encoder};
use crate::proofs::Features;
use crate::read::{Proof, SkippedStatements, Source, SourceItem, SourceItems};
use crate::retrieve::VectorRetriever;
use crate::statement::parse;
use crate::{Error, Language};

pub use goal::GoalAnalysis;

/// A statement as a model reads it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AnalyzedStatement {
    /// Its name.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// The language it is written in.
    pub language: Language,
    /// As the model reads it.
    pub encoded: Encoded,
    /// Its features; empty if it is only embedded.
    pub features: Features,
    /// The dependencies of its proofs, if its file has them.
    pub proofs: Vec<Proof>,
    /// The module that its file says it belongs to, or else the file.
    pub module: String,
}

impl AnalyzedStatement {
    /// Its name and what the model reads.
    pub fn named(&self) -> (&str, &Encoded) {
        (&self.name, &self.encoded)
    }
}

/// Reads statements as a model does, and keeps its working memory between them.
pub struct Analyzer<'a> {
    names: Interner,
    options: hol::Options,
    encoder: Encoder<'a>,
    with_features: bool,
    /// The statements that were skipped, with `keep_going`.
    skipped: Option<SkippedStatements>,
}

impl<'a> Analyzer<'a> {
    /// For a model.
    pub fn new(retriever: &'a VectorRetriever) -> Self {
        let (options, encoder) = (retriever.hol_options(), retriever.encoder());
        Analyzer { names: Interner::new(), options, encoder, with_features: true, skipped: None }
    }

    /// Leaves out what statements are recognised by, which embedding them does not need.
    #[must_use]
    pub fn without_features(mut self) -> Self {
        self.with_features = false;
        self
    }

    /// Resolves ambiguous operators of HOL Light to this arithmetic.
    #[must_use]
    pub fn with_overload(mut self, overload: hol::Overload) -> Self {
        self.options.overload = overload;
        self
    }

    /// Skips statements of files that cannot be read or are too large.
    #[must_use]
    pub fn keep_going(mut self) -> Self {
        self.skipped = Some(SkippedStatements::default());
        self
    }

    /// The statements that were skipped so far.
    pub fn skipped(&self) -> SkippedStatements {
        self.skipped.clone().unwrap_or_default()
    }

    /// Reads one statement.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with its name and the place, or is too large.
    pub fn analyze(
        &mut self,
        name: &str,
        text: &str,
        language: Language,
    ) -> Result<AnalyzedStatement, Error> {
        let is_open = self.options.overload == hol::Overload::default();
        let language = if is_open { language.guessed_by(name) } else { language };
        let formula = parse(text, language, &self.options, &mut self.names)
            .map_err(|error| Error::parse(name, error))?;
        let position = Position { line: 1, column: 1 };
        let item = SourceItem::new((Some(name), ""), (name, position), (text, language), &formula);
        encode(&item, &self.names, &mut self.encoder, self.with_features)
    }

    /// Reads a source, one statement after the other. Conjectures are left out: they are what statements are ranked for.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn read<'b>(&'b mut self, source: Source) -> Result<AnalyzedStatements<'b, 'a>, Error> {
        Ok(AnalyzedStatements { items: source.items(self.options.clone())?, analyzer: self })
    }
}

/// The statements of a source as a model reads them.
pub struct AnalyzedStatements<'b, 'a> {
    items: SourceItems,
    analyzer: &'b mut Analyzer<'a>,
}

impl Iterator for AnalyzedStatements<'_, '_> {
    type Item = Result<AnalyzedStatement, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Analyzer { names, encoder, with_features, skipped, .. } = &mut *self.analyzer;
            let (read, is_damaged) = match self.items.next(names) {
                Ok(None) => return None,
                Ok(Some(item)) if item.is_conjecture() => continue,
                Ok(Some(item)) => (encode(&item, names, encoder, *with_features), false),
                Err(error) => (Err(error), true),
            };
            match (read, skipped) {
                (Err(error), Some(skipped)) if !is_damaged || self.items.recover(&error) => {
                    skipped.note(&error);
                }
                (read, _) => return Some(read),
            }
        }
    }
}

/// Encodes a formula that stands somewhere.
pub(crate) fn encode_at(
    formula: &Formula,
    names: &Interner,
    encoder: &mut Encoder<'_>,
    file: &str,
    position: Position,
) -> Result<Encoded, Error> {
    encoder.encode(formula, names).map_err(|cause| Error::TooLarge { file: file.to_owned(), position, cause })
}

fn encode(
    item: &SourceItem<'_>,
    names: &Interner,
    encoder: &mut Encoder<'_>,
    with_features: bool,
) -> Result<AnalyzedStatement, Error> {
    let encoded = encode_at(item.formula, names, encoder, item.file, item.position)?;
    let (name, Position { line, .. }) = (item.shown_name(), item.position);
    let place = || format!("{}:{line}", item.file);
    let proofs =
        item.proofs.iter().map(|used| Proof { name: name.clone(), used: used.clone(), place: place() });
    let proofs = proofs.collect();
    let features = if with_features { Features::of(item.formula, names) } else { Features::default() };
    Ok(AnalyzedStatement {
        name,
        text: item.text.to_owned(),
        language: item.language,
        encoded,
        features,
        proofs,
        module: item.module.map_or_else(|| module(item.file), str::to_owned),
    })
}

/// The default module of a file's statements: its name without directory and extension.
fn module(file: &str) -> String {
    Path::new(file).file_stem().filter(|_| file != "-").unwrap_or_default().to_string_lossy().into_owned()
}
