//! One compiled module: its imports, its constants, and what their proofs use.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::objects::{Damage, Object, Objects};
use super::print::Printer;
use super::signature::{Signatures, below, tag};

/// A statement of a module.
pub(super) struct Declared {
    pub(super) name: Rc<str>,
    pub(super) text: String,
}

/// Kinds of constants by their numbers.
mod kind {
    pub(super) const AXIOM: u64 = 0;
    pub(super) const DEFINITION: u64 = 1;
    pub(super) const THEOREM: u64 = 2;
    pub(super) const OPAQUE: u64 = 3;
    pub(super) const INDUCTIVE: u64 = 5;
}

/// Kinds that a module records for constants of which it exports the type alone.
const EXPORTED: [u64; 4] = [kind::DEFINITION, kind::THEOREM, kind::AXIOM, kind::OPAQUE];

/// A constant of a module.
struct Constant {
    name: Rc<str>,
    kind: u64,
    typed: Object,
    /// Its proof or value.
    value: Option<Object>,
}

/// Constants of all modules so far that matter in proofs.
#[derive(Default)]
pub(super) struct Known {
    theorems: HashSet<Rc<str>>,
    /// Constants that users cannot name, and the theorems that they stand for.
    hidden: HashMap<Rc<str>, Rc<[Rc<str>]>>,
}

/// A compiled module whose parts have been read.
pub(super) struct Module {
    objects: Objects,
}

impl Module {
    pub(super) fn new(parts: Vec<Vec<u8>>) -> Result<Self, Damage> {
        Ok(Module { objects: Objects::new(parts)? })
    }

    /// Returns the modules that it imports.
    pub(super) fn imports(&mut self) -> Result<Vec<Rc<str>>, Damage> {
        let imports = self.objects.field(self.objects.root(), 0)?;
        let imports = self.objects.array(imports)?;
        let name = |import| {
            let name = self.objects.field(import, 0)?;
            self.objects.name(name)
        };
        imports.into_iter().map(name).collect()
    }

    /// Returns the entries of an extension.
    fn entries(&mut self, extension: &str) -> Result<Vec<Object>, Damage> {
        let entries = self.objects.field(self.objects.root(), 4)?;
        for entry in self.objects.array(entries)? {
            let name = self.objects.field(entry, 0)?;
            if self.objects.name(name)?.ends_with(extension) {
                let found = self.objects.field(entry, 1)?;
                return self.objects.array(found);
            }
        }
        Ok(Vec::new())
    }

    fn constants(&mut self) -> Result<Vec<Constant>, Damage> {
        let root = self.objects.root();
        let (names, constants) = (self.objects.field(root, 1)?, self.objects.field(root, 2)?);
        let (names, constants) = (self.objects.array(names)?, self.objects.array(constants)?);
        let mut found = Vec::with_capacity(constants.len());
        for (name, constant) in names.into_iter().zip(constants) {
            let name = self.objects.name(name)?;
            let kind = u64::from(self.objects.tag(constant)?);
            let own = self.objects.field(constant, 0)?;
            let shared = self.objects.field(own, 0)?;
            let typed = self.objects.field(shared, 2)?;
            let has_value = [kind::DEFINITION, kind::THEOREM, kind::OPAQUE].contains(&kind);
            let value = if has_value { Some(self.objects.field(own, 1)?) } else { None };
            found.push(Constant { name, kind, typed, value });
        }
        Ok(found)
    }

    /// Returns the statements of the module that users can name, in its order. Statements that are too large
    /// are counted.
    pub(super) fn declared(
        &mut self,
        signatures: &mut Signatures,
        known: &mut Known,
        skipped: &mut usize,
    ) -> Result<Vec<Declared>, Damage> {
        let mut constants = self.constants()?;
        let mut kinds = HashMap::new();
        for entry in self.entries("privateConstKindsExt")? {
            let name = self.objects.field(entry, 0)?;
            let exported = self.objects.field(entry, 1)?.number().unwrap_or(u64::MAX);
            let kind = usize::try_from(exported).ok().and_then(|number| EXPORTED.get(number));
            kinds.insert(self.objects.name(name)?, kind.copied());
        }
        for constant in &mut constants {
            if let Some(Some(kind)) = kinds.get(&constant.name) {
                constant.kind = *kind;
            }
        }
        let typed: Vec<_> =
            constants.iter().map(|constant| (Rc::clone(&constant.name), constant.typed)).collect();
        signatures.add(&mut self.objects, &typed)?;
        self.add_notation(signatures)?;
        let mut declared = Vec::new();
        for Constant { name, kind, typed, .. } in constants {
            let Some(word) = word(kind).filter(|_| is_visible(&name)) else { continue };
            if matches!(kind, kind::THEOREM | kind::AXIOM) {
                known.theorems.insert(Rc::clone(&name));
            }
            match Printer::new(&mut self.objects, signatures).declaration(word, &name, typed)? {
                Some(text) => declared.push(Declared { name, text }),
                None => *skipped += 1,
            }
        }
        Ok(declared)
    }

    /// Records structures, whose values are printed by their fields, and coercions.
    fn add_notation(&mut self, signatures: &mut Signatures) -> Result<(), Damage> {
        for entry in self.entries("Lean.structureExt")? {
            let (name, fields) = (self.objects.field(entry, 0)?, self.objects.field(entry, 1)?);
            let name = self.objects.name(name)?;
            let fields = self.objects.array(fields)?;
            let fields: Vec<Rc<str>> =
                fields.into_iter().map(|field| self.objects.name(field)).collect::<Result<_, _>>()?;
            let constructor: Rc<str> = format!("{name}.mk").into();
            if signatures.get(&constructor).is_some() {
                signatures.entry(&constructor).fields = Some(fields.into());
            }
        }
        for entry in self.entries("ppUsingAnonymousConstructorAttr")? {
            let name = self.objects.name(entry)?;
            signatures.entry(&format!("{name}.mk").into()).is_anonymous = true;
        }
        for entry in self.entries("coeExt")? {
            // The outer object records how the entry is attached to its scope.
            let entry = self.objects.field(entry, 0)?;
            let (name, how) = (self.objects.field(entry, 0)?, self.objects.field(entry, 1)?);
            let coerced = self.objects.field(how, 1)?.number().and_then(|place| usize::try_from(place).ok());
            let name = self.objects.name(name)?;
            signatures.entry(&name).coerces = coerced;
        }
        Ok(())
    }

    /// Returns the theorems that the proof of each theorem uses, if there are proofs. Constants that users
    /// cannot name (`_proof_1`, `match_1`, private lemmas) are replaced by what they use.
    pub(super) fn proofs(&mut self, known: &mut Known) -> Result<HashMap<Rc<str>, Vec<String>>, Damage> {
        let constants = self.constants()?;
        let (mut used, mut own) = (HashMap::new(), Vec::new());
        for Constant { name, kind, value, .. } in constants {
            let is_theorem = kind == kind::THEOREM;
            let Some(value) = value.filter(|_| is_theorem || !is_visible(&name)) else { continue };
            used.insert(Rc::clone(&name), self.used(value)?);
            own.push((name, is_theorem));
        }
        let mut proofs = HashMap::new();
        for (name, is_theorem) in own {
            let found = known.resolve(&name, &used);
            if !is_visible(&name) {
                known.hidden.insert(name, found.into());
            } else if is_theorem {
                proofs.insert(name, found.iter().map(|name| (**name).to_owned()).collect());
            }
        }
        Ok(proofs)
    }

    /// Returns the constants of an expression, each once.
    fn used(&mut self, expression: Object) -> Result<Vec<Rc<str>>, Damage> {
        let (mut stack, mut seen, mut used) = (vec![expression], HashSet::new(), BTreeSet::new());
        while let Some(expression) = stack.pop() {
            if !seen.insert(expression) {
                continue;
            }
            let kind = self.objects.tag(expression)?;
            if kind == tag::CONST {
                let name = self.objects.field(expression, 0)?;
                used.insert(self.objects.name(name)?);
            }
            for &field in below(kind) {
                stack.push(self.objects.field(expression, field)?);
            }
        }
        Ok(used.into_iter().collect())
    }
}

impl Known {
    /// Returns the theorems that a constant stands for, given the constants that those of its module use.
    fn resolve(&self, name: &Rc<str>, used: &HashMap<Rc<str>, Vec<Rc<str>>>) -> Vec<Rc<str>> {
        let (mut stack, mut seen, mut found) = (vec![name], HashSet::new(), BTreeSet::new());
        while let Some(next) = stack.pop() {
            for part in used.get(next).into_iter().flatten() {
                if part == name || !seen.insert(part) {
                    continue;
                }
                if self.theorems.contains(part) {
                    found.insert(Rc::clone(part));
                } else if let Some(theorems) = self.hidden.get(part) {
                    found.extend(theorems.iter().map(Rc::clone));
                } else if !is_visible(part) {
                    stack.push(part);
                }
            }
        }
        found.into_iter().collect()
    }
}

/// Returns the keyword that declares a kind, if its statements can be premises.
fn word(kind: u64) -> Option<&'static str> {
    Some(match kind {
        kind::AXIOM => "axiom",
        kind::DEFINITION => "def",
        kind::THEOREM => "theorem",
        kind::OPAQUE => "opaque",
        kind::INDUCTIVE => "inductive",
        _ => return None,
    })
}

/// Whether a constant was written by a user, not generated by Lean.
pub(super) fn is_visible(name: &str) -> bool {
    const MADE: [&str; 22] = [
        "rec",
        "recOn",
        "casesOn",
        "brecOn",
        "binductionOn",
        "below",
        "ibelow",
        "ndrec",
        "ndrecOn",
        "noConfusion",
        "noConfusionType",
        "injEq",
        "inj",
        "sizeOf_spec",
        "ctorIdx",
        "ctorElim",
        "ctorElimType",
        "toCtorIdx",
        "congr_simp",
        "eq_def",
        "eq_unfold",
        "elim",
    ];
    const NUMBERED: [&str; 5] = ["match_", "proof_", "eq_", "omega_", "hcongr_"];
    let is_made = |part: &str| {
        let is_numbered = NUMBERED.iter().any(|begin| {
            part.strip_prefix(begin)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        });
        part.starts_with(|c: char| c == '_' || c.is_ascii_digit()) || is_numbered
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    !name.is_empty() && !MADE.contains(&last) && !last.contains("induct") && !name.split('.').any(is_made)
}
