//! Statements to rank, read from files and encoded for a model.

use formulanet_logic::{Formula, Interner, Position};

use crate::Error;
use crate::model::encode::Encoded;
use crate::processes;
use crate::rank::ranker::Ranker;
use crate::read::{self, Format, Item, Syntax};

/// A statement to rank.
#[derive(Clone, PartialEq, Debug)]
pub struct Premise {
    /// What it is called.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// What it is written in.
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

/// Statements that were read for a model.
pub struct Collection<'a> {
    ranker: &'a Ranker,
    names: Interner,
    /// What was read, in order.
    pub premises: Vec<Premise>,
}

impl<'a> Collection<'a> {
    /// Nothing yet.
    pub fn new(ranker: &'a Ranker) -> Self {
        Collection { ranker, names: Interner::new(), premises: Vec::new() }
    }

    /// Reads a file; `-` is standard input. Conjectures are left out: they are what statements are ranked for.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, with the place.
    pub fn read(&mut self, file: &str, format: Option<Format>) -> Result<(), Error> {
        let mut premises = std::mem::take(&mut self.premises);
        let read = self.read_each(file, format, &mut |premise| {
            premises.push(premise);
            Ok(())
        });
        self.premises = premises;
        read
    }

    /// The same for a caller that keeps the statements itself, or does not keep them.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, with the place; or what the caller says.
    pub fn read_each(
        &mut self,
        file: &str,
        format: Option<Format>,
        visit: &mut impl FnMut(Premise) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Collection { ranker, names, .. } = self;
        let mut encoder = ranker.encoder();
        let mut visit = |statement: &Item<'_>, names: &Interner| {
            premise(statement, names, &mut encoder)?.map_or(Ok(()), &mut *visit)
        };
        let format = match format {
            Some(format) => format,
            // What it is has to be seen before it is read, and it cannot be read twice.
            None if file == "-" => {
                let text = read::read_text("-", MAX_TEXT)?;
                let format = Format::of(text.as_bytes());
                return read::read_str("-", &text, format, &ranker.hol_options(), names, &mut visit);
            }
            None => Format::of_file(file)?,
        };
        read::read(file, format, &ranker.hol_options(), names, &mut visit)
    }

    /// Reads a text; `name` is for messages.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the place.
    pub fn read_str(&mut self, name: &str, text: &str, format: Option<Format>) -> Result<(), Error> {
        let format = format.unwrap_or_else(|| Format::of(text.as_bytes()));
        let Collection { ranker, names, premises } = self;
        let mut encoder = ranker.encoder();
        read::read_str(name, text, format, &ranker.hol_options(), names, &mut |statement, names| {
            premises.extend(premise(statement, names, &mut encoder)?);
            Ok(())
        })
    }

    /// Adds one statement.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with its name and the place.
    pub fn add(&mut self, name: &str, text: &str, syntax: Syntax) -> Result<(), Error> {
        let formula = read::parse(text, syntax, &self.ranker.hol_options(), &mut self.names)
            .map_err(|error| Error::parse(name, error))?;
        self.premises.extend(encode(name, text, syntax, &formula, &self.names, self.ranker)?);
        Ok(())
    }

    /// Adds one statement that was parsed already.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn add_formula(
        &mut self,
        name: &str,
        text: &str,
        syntax: Syntax,
        formula: &Formula,
        names: &Interner,
    ) -> Result<(), Error> {
        self.premises.extend(encode(name, text, syntax, formula, names, self.ranker)?);
        Ok(())
    }

    /// What has to be the same in all processes that share the work: see [`crate::processes::agree`].
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut text = Vec::new();
        for Premise { name, text: statement, .. } in &self.premises {
            [name, statement].iter().for_each(|part| text.extend(part.bytes().chain([0])));
        }
        vec![
            ("program", processes::program().to_owned()),
            ("kind of CPU", self.ranker.network().compute().instructions().to_owned()),
            ("model", self.ranker.model().fingerprint()),
            ("statements", format!("{} with digest {:016x}", self.premises.len(), processes::digest(&text))),
        ]
    }

    /// What is most often the language of what was read.
    pub fn syntax(&self) -> Option<Syntax> {
        let tptp = self.premises.iter().filter(|premise| premise.syntax == Syntax::Tptp).count();
        let is_tptp = 2 * tptp > self.premises.len();
        (!self.premises.is_empty()).then_some(if is_tptp { Syntax::Tptp } else { Syntax::Hol })
    }
}

/// Bytes of a text that is read as a whole.
const MAX_TEXT: usize = 1 << 30;

fn encode(
    name: &str,
    text: &str,
    syntax: Syntax,
    formula: &Formula,
    names: &Interner,
    ranker: &Ranker,
) -> Result<Option<Premise>, Error> {
    let position = Position { line: 1, column: 1 };
    let statement = Item { name: Some(name), role: "", file: name, position, text, syntax, formula };
    premise(&statement, names, &mut ranker.encoder())
}

fn premise(
    statement: &Item<'_>,
    names: &Interner,
    encoder: &mut crate::model::encode::Encoder<'_>,
) -> Result<Option<Premise>, Error> {
    if matches!(statement.role, "conjecture" | "negated_conjecture") {
        return Ok(None);
    }
    let encoded = encoder.encode(statement.formula, names).map_err(|cause| Error::TooLarge {
        file: statement.file.to_owned(),
        position: statement.position,
        cause,
    })?;
    let name = statement.name.map_or_else(|| format!("line {}", statement.position.line), str::to_owned);
    Ok(Some(Premise { name, text: statement.text.to_owned(), syntax: statement.syntax, encoded }))
}
