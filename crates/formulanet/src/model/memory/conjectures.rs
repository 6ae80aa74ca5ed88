//! The conjectures of training, and which of them are like another.

use std::sync::OnceLock;

use formulanet_net::GraphInput;

use crate::model::memory::tfidf::{TfIdfIndex, weight};
use crate::model::memory::varint::{self, Reader};
use crate::util::lists::Lists;
use crate::util::random::scramble;
use crate::util::vector::sorted;

/// The conjectures of training by features of their graphs, in order. Features are known by hashes, never by names.
#[derive(Clone, Debug, Default)]
pub struct Conjectures {
    /// All features, ascending.
    features: Vec<u32>,
    /// The features of each conjecture, ascending, by their places among all, and how often it has them.
    counts: Lists<(u32, u32)>,
    /// Made for the first question: who only adds to a library asks none.
    index: OnceLock<TfIdfIndex<u32>>,
}

impl PartialEq for Conjectures {
    fn eq(&self, other: &Self) -> bool {
        (&self.features, &self.counts) == (&other.features, &other.counts)
    }
}

impl Conjectures {
    fn new(conjectures: &[Vec<(u32, u32)>]) -> Self {
        let features = sorted(conjectures.iter().flatten().map(|(feature, _)| *feature));
        let place = |&(feature, count): &(u32, u32)| {
            (features.partition_point(|other| *other < feature) as u32, count)
        };
        let counts = conjectures.iter().map(|own| own.iter().map(place).collect()).collect();
        Conjectures { features, counts, index: OnceLock::new() }
    }

    fn index(&self) -> &TfIdfIndex<u32> {
        self.index.get_or_init(|| {
            // Logarithms take long, and nearly all counts are small.
            let weights: Vec<f32> = (0..64).map(weight).collect();
            let weigh = |&(place, count): &(u32, u32)| {
                (place, weights.get(count as usize).copied().unwrap_or_else(|| weight(count as usize)))
            };
            TfIdfIndex::of_places(self.features.clone(), self.counts.iter().map(|own| own.iter().map(weigh)))
        })
    }

    /// Indexes conjectures by their graphs, in order.
    pub fn from_graphs<'a>(graphs: impl Iterator<Item = GraphInput<'a>>) -> Self {
        Conjectures::new(&graphs.map(counted).collect::<Vec<_>>())
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How like each of them a conjecture is, from 0 to 1.
    pub fn similarities(&self, conjecture: GraphInput<'_>) -> Vec<f32> {
        self.index().similarities(&weighed(&counted(conjecture)))
    }

    /// The most similar conjectures, with their similarity.
    pub fn nearest(&self, conjecture: GraphInput<'_>, number: usize) -> Vec<(usize, f32)> {
        self.index().nearest(&weighed(&counted(conjecture)), number)
    }

    /// How rare a token is among them; infinite if none has it.
    pub fn rarity(&self, token: u16) -> f32 {
        self.index().weight(feature(TOKEN, [token])).unwrap_or(f32::INFINITY)
    }

    /// As model files keep them.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        // Features are given by their places in a list of all, which are smaller numbers.
        varint::write_ascending(bytes, self.features.iter().map(|&feature| u64::from(feature)));
        varint::write(bytes, self.len() as u64);
        for own in self.counts.iter() {
            varint::write(bytes, own.len() as u64);
            // The difference of places, and below it whether a count follows: most are 1.
            let mut last = 0;
            for &(place, count) in own {
                varint::write(bytes, u64::from(place - last) << 1 | u64::from(count > 1));
                if count > 1 {
                    varint::write(bytes, u64::from(count));
                }
                last = place;
            }
        }
    }

    /// Reads the output of [`Conjectures::write`]; `None` for other bytes.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut features = Vec::new();
        reader.each_ascending(1 << 32, |feature| features.push(feature as u32))?;
        let conjectures = reader.count()?;
        // Most counts take a byte or two.
        let mut counts = Lists::with_room(reader.bytes.len());
        for _ in 0..conjectures {
            counts.push(|counts| {
                let (number, mut last) = (reader.count()?, 0u64);
                for i in 0..number {
                    let difference = reader.number()?;
                    last = last.checked_add(difference >> 1)?;
                    let count =
                        if difference & 1 == 1 { reader.number().filter(|&count| count > 1)? } else { 1 };
                    if last >= features.len() as u64 || i > 0 && difference >> 1 == 0 {
                        return None;
                    }
                    counts.push((last as u32, u32::try_from(count).ok()?));
                }
                Some(())
            })?;
        }
        counts.shrink();
        Some(Conjectures { features, counts, index: OnceLock::new() })
    }
}

/// The features of a graph, as similarity wants them.
fn weighed(features: &[(u32, u32)]) -> Vec<(u32, f32)> {
    features.iter().map(|&(feature, count)| (feature, weight(count as usize))).collect()
}

/// Kinds of features: a token, the tokens of the two ends of an edge, and those of a node with its children in order.
const TOKEN: u64 = 1;
const EDGE: u64 = 2;
const CHILDREN: u64 = 3;

fn feature(kind: u64, tokens: impl IntoIterator<Item = u16>) -> u32 {
    let hash = tokens.into_iter().fold(scramble(kind), |hash, token| scramble(hash ^ u64::from(token)));
    (hash >> 32) as u32
}

/// The features of a graph and how often it has them.
fn counted(graph: GraphInput<'_>) -> Vec<(u32, u32)> {
    let mut features = Vec::with_capacity(2 * graph.tokens.len() + graph.targets.len());
    let mut targets = graph.targets;
    for (&token, &degree) in graph.tokens.iter().zip(graph.degrees) {
        features.push(feature(TOKEN, [token]));
        let (own, others) = targets.split_at(usize::from(degree));
        targets = others;
        let children = || own.iter().map(|&target| graph.tokens[usize::from(target)]);
        features.extend(children().map(|child| feature(EDGE, [token, child])));
        if degree > 0 {
            features.push(feature(CHILDREN, [token].into_iter().chain(children())));
        }
    }
    features.sort_unstable();
    features.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Calls `look` with a chain of nodes that have these tokens.
    pub fn with<T>(tokens: &[u16], look: impl FnOnce(GraphInput<'_>) -> T) -> T {
        let last = tokens.len().saturating_sub(1);
        let degrees: Vec<u16> = (0..tokens.len()).map(|i| u16::from(i < last)).collect();
        let targets: Vec<u16> = (1..tokens.len()).map(|i| i as u16).collect();
        look(GraphInput { tokens, degrees: &degrees, targets: &targets })
    }

    /// Conjectures that are chains.
    pub fn chains(chains: &[&[u16]]) -> Conjectures {
        Conjectures::new(&chains.iter().map(|tokens| with(tokens, counted)).collect::<Vec<_>>())
    }

    #[test]
    fn features_are_tokens_edges_and_nodes_with_children() {
        assert_eq!(with(&[], counted), []);
        let counts =
            |tokens: &[u16]| with(tokens, counted).into_iter().map(|(_, count)| count).collect::<Vec<_>>();
        assert_eq!(counts(&[7]), [1]);
        // Two tokens, an edge, a node with a child.
        assert_eq!(counts(&[7, 8]), [1, 1, 1, 1]);
        let mut repeated = counts(&[7, 7, 7]);
        repeated.sort_unstable();
        assert_eq!(repeated, [2, 2, 3]);
    }

    #[test]
    fn what_shares_more_is_more_alike() {
        let conjectures = chains(&[&[1, 2, 3], &[1, 2, 4], &[9]]);
        let found = with(&[1, 2, 3], |graph| conjectures.similarities(graph));
        assert!(found[0] > 0.999 && found[1] > 0.1 && found[1] < 0.9 && found[2] == 0.0, "{found:?}");
        assert_eq!(with(&[1, 2, 3], |graph| conjectures.nearest(graph, 1))[0].0, 0);
    }

    proptest! {
        #[test]
        fn bytes_are_read_back(
            tokens in proptest::collection::vec(proptest::collection::vec(0u16..50, 0..9), 0..9),
        ) {
            let conjectures = chains(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let mut bytes = Vec::new();
            conjectures.write(&mut bytes);
            let mut reader = Reader { bytes: &bytes };
            prop_assert_eq!(Conjectures::read(&mut reader), Some(conjectures));
            prop_assert!(reader.bytes.is_empty());
            // Cut short, it is nothing.
            for length in 0..bytes.len() {
                prop_assert_eq!(Conjectures::read(&mut Reader { bytes: &bytes[..length] }), None);
            }
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Conjectures::read(&mut Reader { bytes: &bytes });
        }
    }
}
