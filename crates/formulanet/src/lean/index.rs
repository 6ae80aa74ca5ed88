//! The declarations of modules that a client need not send.

use std::collections::HashMap;

use formulanet_logic::{Interner, Limits, lean};

use crate::Error;
use crate::lean::{LeanDump, LeanLine};
use crate::proofs::{Features, ProofIndex};

/// Declarations of an index, at most: several times Mathlib.
const MOST: usize = 2_000_000;

/// Names that an interner learns before it is replaced: those of variables are never needed again.
const MOST_NAMES: usize = 1 << 20;

/// A declaration of an index.
pub(super) struct Indexed {
    pub(super) name: Box<str>,
    pub(super) decl: Box<str>,
    pub(super) module: u32,
}

/// Declarations of Lean modules, in order.
#[derive(Default)]
pub struct LeanIndex {
    modules: Vec<String>,
    module_places: HashMap<String, u32>,
    pub(super) premises: Vec<Indexed>,
    places: HashMap<Box<str>, u32>,
    pub(super) proofs: ProofIndex,
    skipped: usize,
    first_skipped: Option<String>,
}

impl LeanIndex {
    /// Reads a dump. A declaration that cannot be read is left out, and counted.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, a line is no declaration, or there are too many.
    pub fn read(file: &str, limits: Limits) -> Result<Self, Error> {
        let (mut index, mut dump, mut names) = (LeanIndex::default(), LeanDump::open(file)?, Interner::new());
        while let Some((number, line)) = dump.next()? {
            let LeanLine { module, name, decl } = line;
            let next = index.modules.len() as u32;
            let module = *index.module_places.entry(module).or_insert_with_key(|module| {
                index.modules.push(module.clone());
                next
            });
            if names.len() > MOST_NAMES {
                names = Interner::new();
            }
            match lean::parse_declaration(&decl, limits, &mut names) {
                Ok(declared) => {
                    if index.premises.len() >= MOST {
                        return Err(Error::input(
                            file,
                            format!("expected at most {MOST} declarations, found more"),
                        ));
                    }
                    let place = index.proofs.add_fact(&Features::of(&declared.formula, &names)) as u32;
                    let (name, decl): (Box<str>, Box<str>) = (name.into(), decl.into());
                    index.places.entry(name.clone()).or_insert(place);
                    index.premises.push(Indexed { name, decl, module });
                }
                Err(error) => {
                    index.skipped += 1;
                    index.first_skipped.get_or_insert_with(|| format!("{file}:{number}: `{name}`: {error}"));
                }
            }
        }
        Ok(index)
    }

    /// The modules, in the order of the dump.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// The place of a module.
    pub fn module(&self, name: &str) -> Option<usize> {
        self.module_places.get(name).map(|&place| place as usize)
    }

    /// The number of declarations.
    pub fn len(&self) -> usize {
        self.premises.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.premises.is_empty()
    }

    /// The names of the declarations, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.premises.iter().map(|premise| &*premise.name)
    }

    /// The place of a declaration.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).map(|&place| place as usize)
    }

    /// The number of unreadable declarations of the dump, and the first error.
    pub fn skipped(&self) -> (usize, Option<&str>) {
        (self.skipped, self.first_skipped.as_deref())
    }
}
