//! Names as small integers.
//!
//! Every name of a formula is interned once; after the parsers, everything compares and stores [`Symbol`]s. Looking a name up is
//! the most frequent operation of the HolStep parser, so the table keeps the first sixteen bytes of each name next to its number:
//! a short name is found with one load and one comparison.

use std::fmt;

use crate::hash::{self, mix};

/// A name, as its number in an [`Interner`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

macro_rules! predefined {
    ($($(#[$doc:meta])* $constant:ident = $name:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Predefined { $($constant),* }

        impl Symbol {
            $($(#[$doc])* pub const $constant: Symbol = Symbol(Predefined::$constant as u32);)*
        }

        /// Names that every interner knows, in the order of their numbers.
        const PREDEFINED: &[&str] = &[$($name),*];
    };
}

predefined! {
    /// Label of a variable that stands as a value.
    VAR = "VAR",
    /// Label of a variable that is applied to arguments.
    VARFUNC = "VARFUNC",
    /// Universal quantifier.
    FORALL = "!",
    /// Existential quantifier.
    EXISTS = "?",
    /// Unique existence.
    EXISTS_UNIQUE = "?!",
    /// Hilbert's choice.
    CHOICE = "@",
    /// Abstraction.
    LAMBDA = "\\",
    /// The turnstile between hypotheses and conclusion.
    TURNSTILE = "|-",
    /// The one label of machine-made names `_123`.
    MACHINE = "_",
    /// The one label of machine-made names `GEN%PVAR%123`.
    PATTERN_VARIABLE = "GEN%PVAR%",
    /// Equality; between truth values, equivalence.
    EQUAL = "=",
    /// Implication.
    IMPLIES = "==>",
    /// Conjunction.
    AND = "/\\",
    /// Disjunction.
    OR = "\\/",
    /// Negation.
    NOT = "~",
    /// Truth.
    TRUE = "T",
    /// Falsehood.
    FALSE = "F",
    /// The pair constructor.
    COMMA = ",",
}

impl Symbol {
    /// The symbol's number: dense, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PREDEFINED.get(self.index()) {
            Some(name) => write!(f, "Symbol({name})"),
            None => write!(f, "Symbol(#{})", self.0),
        }
    }
}

const PREFIX: usize = 16;
const VACANT: u32 = u32::MAX;
const RECENT: usize = 1024;

/// One place of the hash table.
#[derive(Clone, Copy)]
struct Slot {
    prefix: u128,
    length: u32,
    symbol: u32,
}

/// The table of all names, and of the label that each name has in a graph.
///
/// ```
/// use formulanet_logic::{Interner, Symbol};
/// let mut names = Interner::new();
/// let a = names.intern("real_add");
/// assert_eq!(names.intern("real_add"), a);
/// assert_eq!(names.name(a), "real_add");
/// let generated = names.intern("GEN%PVAR%17");
/// assert_eq!(names.label(generated), Symbol::PATTERN_VARIABLE);
/// ```
#[derive(Clone)]
pub struct Interner {
    slots: Vec<Slot>,
    /// The names of the last look-ups by hash: few names make up most of a text, and machine-made ones most of the
    /// table, which is too large for a processor's caches.
    recent: Box<[Slot; RECENT]>,
    text: String,
    /// End of each name in `text`.
    ends: Vec<u32>,
    labels: Vec<Symbol>,
    seed: u64,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// An interner that knows only the predefined names.
    pub fn new() -> Self {
        let vacant = Slot { prefix: 0, length: 0, symbol: VACANT };
        let mut interner = Interner {
            slots: vec![vacant; 4096],
            // No name has this length: it would not match.
            recent: Box::new([Slot { length: u32::MAX, ..vacant }; RECENT]),
            text: String::new(),
            ends: Vec::new(),
            labels: Vec::new(),
            seed: hash::seed(),
        };
        for name in PREDEFINED {
            interner.intern(name);
        }
        interner
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the predefined names are always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All symbols, in the order of their numbers.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.len() as u32).map(Symbol)
    }

    /// The symbol with a number.
    pub fn symbol(&self, number: u32) -> Option<Symbol> {
        ((number as usize) < self.len()).then_some(Symbol(number))
    }

    /// The number of a name, which is added if it is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        self.intern_prefixed(prefix_of(name.as_bytes()), name.as_bytes(), || name)
    }

    /// [`Interner::intern`] for a caller that has the first sixteen bytes already, padded with zeros, and has
    /// to cut the name out of its text only if it is new.
    #[inline(always)]
    pub(crate) fn intern_prefixed<'a>(
        &mut self,
        prefix: u128,
        bytes: &[u8],
        name: impl FnOnce() -> &'a str,
    ) -> Symbol {
        let hash = self.hash(prefix, bytes);
        let recent = self.recent[hash % RECENT];
        if recent.prefix == prefix && recent.length as usize == bytes.len() && bytes.len() <= PREFIX {
            return Symbol(recent.symbol);
        }
        let symbol = match self.find(hash, prefix, bytes) {
            Ok(symbol) => symbol,
            Err(place) => self.add(place, hash, prefix, name()),
        };
        self.recent[hash % RECENT] = Slot { prefix, length: bytes.len() as u32, symbol: symbol.0 };
        symbol
    }

    /// The number of a name, if it is known.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        let prefix = prefix_of(name.as_bytes());
        self.find(self.hash(prefix, name.as_bytes()), prefix, name.as_bytes()).ok()
    }

    /// The name of a symbol of this interner.
    pub fn name(&self, symbol: Symbol) -> &str {
        let start = match symbol.index() {
            0 => 0,
            i => self.ends[i - 1],
        };
        &self.text[start as usize..self.ends[symbol.index()] as usize]
    }

    /// The label of a node with this name: machine-made names fold into one label each.
    #[inline]
    pub fn label(&self, symbol: Symbol) -> Symbol {
        self.labels[symbol.index()]
    }

    #[inline(always)]
    fn find(&self, hash: usize, prefix: u128, name: &[u8]) -> Result<Symbol, usize> {
        let mask = self.slots.len() - 1;
        let mut place = hash & mask;
        loop {
            let slot = &self.slots[place];
            if slot.symbol == VACANT {
                return Err(place);
            }
            if slot.prefix == prefix
                && slot.length as usize == name.len()
                && (name.len() <= PREFIX || self.name(Symbol(slot.symbol)).as_bytes() == name)
            {
                return Ok(Symbol(slot.symbol));
            }
            place = (place + 1) & mask;
        }
    }

    #[inline]
    fn hash(&self, prefix: u128, name: &[u8]) -> usize {
        let mut hash = mix(prefix as u64 ^ self.seed, (prefix >> 64) as u64 ^ name.len() as u64);
        if name.len() > PREFIX {
            for chunk in name[PREFIX..].chunks(PREFIX) {
                let word = prefix_of(chunk);
                hash = mix(hash ^ word as u64, (word >> 64) as u64 ^ self.seed);
            }
        }
        hash as usize
    }

    #[cold]
    fn add(&mut self, mut place: usize, hash: usize, prefix: u128, name: &str) -> Symbol {
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
            place = self.find(hash, prefix, name.as_bytes()).expect_err("a new name is in no place");
        }
        let symbol = Symbol(u32::try_from(self.len()).expect("fewer than 2^32 names"));
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("less than 4 GiB of names"));
        self.slots[place] = Slot { prefix, length: name.len() as u32, symbol: symbol.0 };
        self.labels.push(folded(name).unwrap_or(symbol));
        symbol
    }

    fn grow(&mut self) {
        let vacant = Slot { prefix: 0, length: 0, symbol: VACANT };
        self.slots = vec![vacant; self.slots.len() * 2];
        for i in 0..self.len() {
            let symbol = Symbol(i as u32);
            let name = self.name(symbol).as_bytes();
            let (prefix, length) = (prefix_of(name), name.len() as u32);
            let place = self.find(self.hash(prefix, name), prefix, name).expect_err("names are distinct");
            self.slots[place] = Slot { prefix, length, symbol: symbol.0 };
        }
    }
}

/// The label of a machine-made name: `_123` and `GEN%PVAR%123` differ from run to run of the prover.
fn folded(name: &str) -> Option<Symbol> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if name.strip_prefix('_').is_some_and(is_number) {
        Some(Symbol::MACHINE)
    } else if name.strip_prefix("GEN%PVAR%").is_some_and(is_number) {
        Some(Symbol::PATTERN_VARIABLE)
    } else {
        None
    }
}

/// The first sixteen bytes, padded with zeros.
fn prefix_of(name: &[u8]) -> u128 {
    let mut bytes = [0; PREFIX];
    let n = name.len().min(PREFIX);
    bytes[..n].copy_from_slice(&name[..n]);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let mut names = Interner::new();
        let texts: Vec<String> = (0..20_000)
            .map(|i| match i % 3 {
                0 => format!("x{i}"),
                1 => format!("a_rather_long_name_{i}"),
                _ => format!("{i}_{}", "long ".repeat(i % 40)),
            })
            .collect();
        let symbols: Vec<Symbol> = texts.iter().map(|t| names.intern(t)).collect();
        for (text, &symbol) in texts.iter().zip(&symbols) {
            assert_eq!(names.name(symbol), text);
            assert_eq!(names.get(text), Some(symbol));
        }
        assert_eq!(names.len(), PREDEFINED.len() + texts.len());
    }

    #[test]
    fn a_zero_byte_is_part_of_a_name() {
        let mut names = Interner::new();
        assert_ne!(names.intern("a"), names.intern("a\0"));
        assert_ne!(names.intern(""), names.intern("\0"));
    }

    #[test]
    fn machine_made_names_fold() {
        let check = |name: &str, label: &str| {
            let mut names = Interner::new();
            let symbol = names.intern(name);
            assert_eq!(names.name(names.label(symbol)), label);
        };
        check("_123", "_");
        check("_0", "_");
        check("GEN%PVAR%1497", "GEN%PVAR%");
        check("GEN%PVAR%1497'", "GEN%PVAR%1497'");
        check("_", "_");
        check("_a1", "_a1");
        check("real_add", "real_add");
    }
}
