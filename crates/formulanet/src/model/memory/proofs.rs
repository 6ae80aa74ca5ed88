//! The dependencies of proofs of similar conjectures.
//!
//! A model that ranks may know the conjectures of training and which premises their proofs used. Asked for a conjecture,
//! it finds the most similar ones and says which share of their proofs used a premise.
//!
//! A premise is known by a hash of its graph. Of theorems that say the same, proofs use one and not the other, so that
//! there is also a hash of graph and name; a theorem of another name counts as any that says the same.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use formulanet_net::GraphInput;

use crate::model::memory::conjectures::Conjectures;
use crate::model::memory::statements::key;
use crate::model::memory::varint::{Reader, write_ascending};
use crate::util::lists::Lists;
use crate::util::random::scramble;
use crate::util::vector::sorted;

/// The number of conjectures that are considered.
const NUMBER: usize = 40;
/// The share of a conjecture is its similarity to this power, so that the closest count most.
const POWER: i32 = 4;

/// Conjectures of training and what their proofs used.
#[derive(Clone, Debug, Default)]
pub struct TrainingProofs {
    /// The keys of premises' graphs, and of those with their names, ascending. A premise is known by its number here.
    premises: Vec<u64>,
    /// Unpacked for the first question: who only adds to a library asks none.
    past: OnceLock<Past>,
    /// All this as the file has it that it was read from, and where in it the past begins; nothing if there was none.
    packed: Cow<'static, [u8]>,
    past_from: usize,
}

#[derive(Clone, PartialEq, Debug, Default)]
struct Past {
    conjectures: Conjectures,
    /// For every conjecture, the premises that its proof used and itself, ascending.
    uses: Lists<u32>,
}

impl Past {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.conjectures.write(bytes);
        for uses in self.uses.iter() {
            write_ascending(bytes, uses.iter().map(|&premise| u64::from(premise)));
        }
    }

    /// Reads the output of [`Past::write`] for this number of premises; `None` for other bytes.
    fn read(bytes: &[u8], premises: usize) -> Option<Self> {
        let mut reader = Reader { bytes };
        let conjectures = Conjectures::read(&mut reader)?;
        let mut uses = Lists::default();
        for _ in 0..conjectures.len() {
            uses.push(|uses| reader.each_ascending(premises as u64, |premise| uses.push(premise as u32)))?;
        }
        reader.bytes.is_empty().then_some(Past { conjectures, uses })
    }
}

impl PartialEq for TrainingProofs {
    fn eq(&self, other: &Self) -> bool {
        self.premises == other.premises && self.past() == other.past()
    }
}

/// Which share of the proofs of some conjectures used each premise.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NeighborVotes {
    /// By the premises' numbers; empty if no conjecture is similar.
    shares: Vec<f32>,
}

impl NeighborVotes {
    /// The share of a premise; of one that no proof used, 0.
    pub fn of(&self, premise: Option<u32>) -> f32 {
        premise.and_then(|number| self.shares.get(number as usize)).copied().unwrap_or(0.0)
    }

    /// How much to trust the shares, given how much to trust any.
    pub fn trust(&self, any: f32) -> f32 {
        if self.shares.is_empty() { 0.0 } else { any }
    }
}

impl TrainingProofs {
    /// Builds the index from the conjectures of training and, for each, the keys of the premises that its proof used.
    pub fn from_uses(conjectures: Conjectures, uses: &[Vec<u64>]) -> Self {
        let premises: Vec<u64> = sorted(uses.iter().flatten().copied());
        let numbers: HashMap<u64, u32> = premises.iter().copied().zip(0..).collect();
        let uses = uses.iter().map(|keys| sorted(keys.iter().map(|key| numbers[key]))).collect();
        TrainingProofs::new(premises, Past { conjectures, uses })
    }

    fn new(premises: Vec<u64>, past: Past) -> Self {
        TrainingProofs { premises, past: past.into(), packed: Cow::default(), past_from: 0 }
    }

    fn past(&self) -> &Past {
        self.past.get_or_init(|| self.unpacked().unwrap_or_default())
    }

    fn unpacked(&self) -> Option<Past> {
        Past::read(&self.packed[self.past_from..], self.premises.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.premises.is_empty()
    }

    /// The number of a premise, if some proof used it, or another that says the same.
    pub fn number(&self, name: &str, premise: GraphInput<'_>) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let key = key(premise);
        let number = |key: u64| self.premises.binary_search(&key).ok().map(|number| number as u32);
        number(named(key, name)).or_else(|| number(key))
    }

    /// Which share of the proofs of similar conjectures used each premise.
    pub fn shares(&self, conjecture: GraphInput<'_>) -> NeighborVotes {
        if self.is_empty() {
            return NeighborVotes::default();
        }
        let mut nearest = self.past().conjectures.nearest(conjecture, NUMBER);
        nearest.iter_mut().for_each(|(_, similarity)| *similarity = similarity.powi(POWER));
        self.add_up(nearest)
    }

    /// Which share of all proofs used each premise.
    pub fn popularity(&self) -> NeighborVotes {
        self.add_up((0..self.past().uses.len()).map(|conjecture| (conjecture, 1.0)).collect())
    }

    fn add_up(&self, conjectures: Vec<(usize, f32)>) -> NeighborVotes {
        if conjectures.is_empty() {
            return NeighborVotes::default();
        }
        let mut shares = vec![0.0; self.premises.len()];
        let total: f32 = conjectures.iter().map(|(_, weight)| weight).sum();
        let Past { uses, .. } = self.past();
        for (conjecture, weight) in conjectures {
            for &premise in uses.get(conjecture) {
                // Sums of parts may be above the whole by a rounding.
                let share: &mut f32 = &mut shares[premise as usize];
                *share = (*share + weight / total).min(1.0);
            }
        }
        NeighborVotes { shares }
    }

    /// As model files keep them; nothing if there are none.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        if self.is_empty() || !self.packed.is_empty() {
            return Cow::Borrowed(&self.packed);
        }
        let mut bytes = Vec::new();
        write_ascending(&mut bytes, self.premises.iter().copied());
        self.past().write(&mut bytes);
        Cow::Owned(bytes)
    }

    /// Reads the output of [`TrainingProofs::to_bytes`]; `None` for other bytes. Verified bytes are not checked closely; forged
    /// content counts as nothing.
    pub fn from_bytes(packed: Cow<'static, [u8]>, are_as_written: bool) -> Option<Self> {
        if packed.is_empty() {
            return Some(TrainingProofs::default());
        }
        let mut reader = Reader { bytes: &packed };
        let premises = reader.ascending(1 << 48)?;
        let past_from = packed.len() - reader.bytes.len();
        let proofs = TrainingProofs { premises, past: OnceLock::new(), packed, past_from };
        if !are_as_written {
            proofs.past.set(proofs.unpacked()?).expect("nobody asked for it yet");
        }
        Some(proofs)
    }
}

/// 48 bits that tell a graph with a name from others.
pub fn named(key: u64, name: &str) -> u64 {
    name.bytes().fold(scramble(key), |hash, byte| scramble(hash ^ u64::from(byte))) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::memory::conjectures::tests::{chains, with};

    /// Conjectures that are chains, with the premises that they use.
    fn known(known: &[(&[u16], &[u32])], premises: Vec<u64>) -> TrainingProofs {
        let conjectures = chains(&known.iter().map(|(tokens, _)| *tokens).collect::<Vec<_>>());
        let uses = known.iter().map(|(_, uses)| uses.to_vec()).collect();
        TrainingProofs::new(premises, Past { conjectures, uses })
    }

    #[test]
    fn similar_conjectures_decide_more() {
        let conjectures: [(&[u16], &[u32]); 4] =
            [(&[1, 2, 3], &[0, 1]), (&[1, 2, 4], &[1]), (&[9], &[2]), (&[8], &[])];
        let neighbours = known(&conjectures, vec![5, 6, 7]);
        let shares = with(&[1, 2, 3], |graph| neighbours.shares(graph)).shares;
        assert!(
            shares[1] > 0.999 && shares[0] > 0.5 && shares[0] < shares[1] && shares[2] == 0.0,
            "{shares:?}"
        );
        assert_eq!(neighbours.popularity().shares, [0.25, 0.5, 0.25]);
        let none = with(&[100], |graph| neighbours.shares(graph));
        assert_eq!((none.of(Some(1)), none.of(None), none.trust(0.5)), (0.0, 0.0, 0.0));
        assert_eq!(neighbours.popularity().trust(0.5), 0.5);
    }

    #[test]
    fn premises_are_found_by_their_graphs() {
        let graph = with(&[1, 2], key);
        let mut keys = vec![graph, named(graph, "A"), named(graph, "B")];
        keys.sort_unstable();
        let number = |key: u64| keys.iter().position(|&other| other == key).map(|number| number as u32);
        let neighbours = known(&[(&[1], &[0])], keys.clone());
        let check = |name: &str, tokens: &[u16], expected: Option<u32>| {
            assert_eq!(with(tokens, |graph| neighbours.number(name, graph)), expected);
        };
        check("A", &[1, 2], number(named(graph, "A")));
        check("B", &[1, 2], number(named(graph, "B")));
        check("C", &[1, 2], number(graph));
        check("A", &[1, 3], None);
        assert_eq!(with(&[1, 2], |graph| TrainingProofs::default().number("A", graph)), None);
    }

    #[test]
    fn bytes_are_read_back() {
        let read =
            |bytes: &[u8], are_as_written| TrainingProofs::from_bytes(bytes.to_vec().into(), are_as_written);
        for neighbours in
            [TrainingProofs::default(), known(&[(&[1, 2], &[0, 2]), (&[], &[])], vec![3, 1 << 40, 1 << 47])]
        {
            let bytes = neighbours.to_bytes().into_owned();
            for are_as_written in [true, false] {
                let read = read(&bytes, are_as_written).unwrap();
                assert_eq!(read.to_bytes(), bytes);
                assert_eq!(read, neighbours);
            }
            for length in 1..bytes.len() {
                assert_eq!(read(&bytes[..length], false), None);
                // Forged, it says nothing.
                if let Some(forged) = read(&bytes[..length], true) {
                    assert_eq!(with(&[1, 2], |graph| forged.shares(graph)), NeighborVotes::default());
                }
            }
        }
    }
}
