//! Features of a statement: hashes of its symbols and of small subterms of its graph.
//!
//! All variables have one hash, so that renaming them changes nothing. Symbols are hashed by name, but hashes
//! are only compared for equality: renaming all symbols of a library changes no ranking.

use formulanet_logic::{Binder, Formula, Head, Interner, Symbol};

use crate::util::hash::{hash_text, mix};

/// Maximum number of features of one kind; of a huge statement, the first ones are kept.
pub(super) const MOST: usize = 4096;
/// Maximum number of nodes of a whole term that is a feature.
const LARGEST: u32 = 12;

/// The features of a statement, each once, in the order of their first occurrence.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// Constants, without those of the logic.
    pub(super) symbols: Vec<u64>,
    /// A symbol and the head of one of its arguments.
    pub(super) pairs: Vec<u64>,
    /// Larger subterms: a head with the heads of all arguments, a head with all arguments one step deeper,
    /// and whole terms.
    pub(super) subterms: Vec<u64>,
    /// Number of nodes of the statement's tree.
    pub(super) size: u32,
}

/// The kind of a feature, hashed with it so that kinds stay distinct.
#[derive(Clone, Copy)]
enum Kind {
    Symbol = 1,
    Pair = 2,
    Shallow = 3,
    Deep = 4,
    Whole = 5,
    Logic = 6,
}

/// The hash of every variable.
const VARIABLE: u64 = 0x5bd1_e995_7b93_a1e1;

impl Features {
    /// Returns the features of a formula.
    pub fn of(formula: &Formula, names: &Interner) -> Self {
        let nodes = Nodes::of(formula, names);
        let mut features = Features { size: nodes.heads.len() as u32, ..Features::default() };
        for (node, head) in nodes.heads.iter().enumerate() {
            if head.is_symbol {
                features.symbols.push(tag(Kind::Symbol, head.hash));
            }
            if let Some(parent) = nodes.parent(node) {
                let pair = mix(nodes.heads[parent].hash, head.hash);
                if nodes.heads[parent].is_symbol {
                    features.pairs.push(tag(Kind::Pair, pair));
                } else if head.is_symbol {
                    features.subterms.push(tag(Kind::Logic, pair));
                }
            }
            if nodes.sizes[node] > 1 && head.hash != VARIABLE {
                features.subterms.push(tag(Kind::Shallow, nodes.shallow[node]));
                features.subterms.push(tag(Kind::Deep, nodes.deep[node]));
                if nodes.sizes[node] <= LARGEST {
                    features.subterms.push(tag(Kind::Whole, nodes.whole[node]));
                }
            }
        }
        features.tidy()
    }

    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let Features { symbols, pairs, subterms, .. } = self;
        let hashes = [symbols, pairs, subterms].map(|hashes| hashes.capacity() * size_of::<u64>());
        size_of::<Self>() + hashes.iter().sum::<usize>()
    }

    /// Keeps the first of equal features, and at most [`MOST`] of a kind.
    pub(super) fn tidy(mut self) -> Self {
        let Features { symbols, pairs, subterms, .. } = &mut self;
        [symbols, pairs, subterms].into_iter().for_each(keep_first);
        self
    }
}

#[cfg(feature = "sqlite")]
impl Features {
    /// Encodes the features for a file: the statement's size, the numbers of symbols and pairs, and all
    /// hashes, little-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let counts = [self.size, self.symbols.len() as u32, self.pairs.len() as u32];
        let hashes = self.symbols.iter().chain(&self.pairs).chain(&self.subterms);
        let counts = counts.iter().flat_map(|count| count.to_le_bytes());
        counts.chain(hashes.flat_map(|hash| hash.to_le_bytes())).collect()
    }

    /// Decodes the result of [`Features::to_bytes`]; `None` if the bytes are anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (counts, hashes) = bytes.split_at_checked(12)?;
        let count = |i: usize| counts[4 * i..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let (hashes, rest) = hashes.as_chunks();
        let (symbols, others) = hashes.split_at_checked(count(1) as usize)?;
        let (pairs, subterms) = others.split_at_checked(count(2) as usize)?;
        let read = |hashes: &[[u8; 8]]| hashes.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let features =
            Features { symbols: read(symbols), pairs: read(pairs), subterms: read(subterms), size: count(0) };
        rest.is_empty().then_some(features)
    }
}

fn tag(kind: Kind, hash: u64) -> u64 {
    mix(hash, kind as u64)
}

/// Keeps the first of equal hashes, and at most [`MOST`].
fn keep_first(hashes: &mut Vec<u64>) {
    let mut seen = std::collections::HashSet::with_capacity(hashes.len());
    hashes.retain(|&hash| seen.insert(hash));
    hashes.truncate(MOST);
}

#[derive(Clone, Copy)]
struct Node {
    hash: u64,
    /// Whether it is a constant of the library rather than a logical symbol, a variable or a binder.
    is_symbol: bool,
}

/// The terms of a formula, parents first, with hashes of what is below them.
struct Nodes {
    heads: Vec<Node>,
    /// Number of the parent plus 1; 0 for none.
    parents: Vec<u32>,
    sizes: Vec<u32>,
    /// Hashes of the head and its arguments' heads.
    shallow: Vec<u64>,
    /// Hashes of the head and its arguments' shallow hashes.
    deep: Vec<u64>,
    /// Hashes of the whole term.
    whole: Vec<u64>,
}

impl Nodes {
    fn of(formula: &Formula, names: &Interner) -> Self {
        let (mut heads, mut parents) = (Vec::new(), Vec::new());
        let mut stack: Vec<_> = formula.parts().map(|part| (part, 0)).collect();
        stack.reverse();
        let mut children = Vec::new();
        while let Some((term, parent)) = stack.pop() {
            heads.push(head(formula, names, formula.head(term)));
            parents.push(parent);
            children.extend(formula.children(term));
            let number = heads.len() as u32;
            stack.extend(children.drain(..).rev().map(|child| (child, number)));
        }
        let sizes = vec![1; heads.len()];
        let shallow: Vec<u64> = heads.iter().map(|head| head.hash).collect();
        let mut nodes =
            Nodes { heads, parents, sizes, deep: shallow.clone(), whole: shallow.clone(), shallow };
        // Children follow their parents, so going backwards finishes a term before its parent needs it.
        for node in (0..nodes.heads.len()).rev() {
            let Some(parent) = nodes.parent(node) else { continue };
            nodes.sizes[parent] += nodes.sizes[node];
            nodes.shallow[parent] = mix(nodes.shallow[parent], nodes.heads[node].hash);
            nodes.deep[parent] = mix(nodes.deep[parent], nodes.shallow[node]);
            nodes.whole[parent] = mix(nodes.whole[parent], nodes.whole[node]);
        }
        nodes
    }

    fn parent(&self, node: usize) -> Option<usize> {
        (self.parents[node] as usize).checked_sub(1)
    }
}

fn head(formula: &Formula, names: &Interner, head: Head) -> Node {
    match head {
        Head::Constant(name) => {
            Node { hash: hash_text(names.name(names.label(name))), is_symbol: !is_logic(name) }
        }
        Head::Variable(_) => Node { hash: VARIABLE, is_symbol: false },
        Head::Binder(variable) => {
            let binder = formula.variables()[variable.index()].binder.unwrap_or(Binder::Forall);
            Node { hash: hash_text(names.name(binder.symbol())), is_symbol: false }
        }
    }
}

/// Whether a symbol belongs to the logic, and so to every statement.
fn is_logic(symbol: Symbol) -> bool {
    [
        Symbol::FORALL,
        Symbol::EXISTS,
        Symbol::EXISTS_UNIQUE,
        Symbol::EQUAL,
        Symbol::IMPLIES,
        Symbol::AND,
        Symbol::OR,
        Symbol::NOT,
    ]
    .contains(&symbol)
}
