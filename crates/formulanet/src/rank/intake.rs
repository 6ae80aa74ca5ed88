//! Statements on their way to a model: read, named and encoded.

use formulanet_logic::{Formula, Interner, Position, hol};

use super::Ranker;
use crate::Error;
use crate::model::encode::{Encoded, Encoder};
use crate::read::{self, Item, Items, Source, Syntax};

/// A statement as a model reads it.
#[derive(Clone, PartialEq, Debug)]
pub struct Premise {
    /// What it is called.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// The language it is written in.
    pub syntax: Syntax,
    /// As the model reads it.
    pub encoded: Encoded,
}

impl Premise {
    /// Its name and what the model reads.
    pub fn named(&self) -> (&str, &Encoded) {
        (&self.name, &self.encoded)
    }
}

/// Reads statements as a model does, and keeps its working memory between them.
pub struct Intake<'a> {
    names: Interner,
    options: hol::Options,
    encoder: Encoder<'a>,
}

impl<'a> Intake<'a> {
    /// For a model.
    pub fn new(ranker: &'a Ranker) -> Self {
        Intake { names: Interner::new(), options: ranker.hol_options(), encoder: ranker.encoder() }
    }

    /// Reads one statement.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with its name and the place, or is too large.
    pub fn take(&mut self, name: &str, text: &str, syntax: Syntax) -> Result<Premise, Error> {
        let formula = read::parse(text, syntax, &self.options, &mut self.names)
            .map_err(|error| Error::parse(name, error))?;
        let position = Position { line: 1, column: 1 };
        let item = Item { name: Some(name), role: "", file: name, position, text, syntax, formula: &formula };
        encode(&item, &self.names, &mut self.encoder)
    }

    /// Reads a source, one statement after the other. Conjectures are left out: they are what statements are ranked for.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn read<'b>(&'b mut self, source: Source) -> Result<Premises<'b, 'a>, Error> {
        Ok(Premises { items: source.items(self.options.clone())?, intake: self })
    }
}

/// The statements of a source as a model reads them.
pub struct Premises<'b, 'a> {
    items: Items,
    intake: &'b mut Intake<'a>,
}

impl Iterator for Premises<'_, '_> {
    type Item = Result<Premise, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Intake { names, encoder, .. } = &mut *self.intake;
            match self.items.next(names) {
                Ok(Some(item)) if item.is_conjecture() => {}
                Ok(Some(item)) => return Some(encode(&item, names, encoder)),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Encodes a formula that stands somewhere.
pub(super) fn encode_at(
    formula: &Formula,
    names: &Interner,
    encoder: &mut Encoder<'_>,
    file: &str,
    position: Position,
) -> Result<Encoded, Error> {
    encoder.encode(formula, names).map_err(|cause| Error::TooLarge { file: file.to_owned(), position, cause })
}

fn encode(item: &Item<'_>, names: &Interner, encoder: &mut Encoder<'_>) -> Result<Premise, Error> {
    let encoded = encode_at(item.formula, names, encoder, item.file, item.position)?;
    Ok(Premise { name: item.shown_name(), text: item.text.to_owned(), syntax: item.syntax, encoded })
}
