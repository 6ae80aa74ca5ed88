//! Statements that were seen in training, by a hash of their graphs.

use formulanet_net::{GraphInput, Hints};

use crate::random::scramble;

/// How often statements were useful and how often useless in training.
///
/// A statement is known by 32 bits of its graph's hash: of statements never seen, about one in 4 billion divided by the
/// number of entries is taken for a seen one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    /// In order.
    keys: Vec<u32>,
    /// Useful and useless, scaled down if there are many.
    counts: Vec<[u8; 2]>,
}

impl Seen {
    /// Of graphs' keys and how often each was useful and useless. Keys that share their 32 bits are added up.
    pub fn new(entries: impl IntoIterator<Item = (u64, [u32; 2])>) -> Self {
        let mut entries: Vec<(u32, [u32; 2])> =
            entries.into_iter().map(|(key, counts)| ((key >> 16) as u32, counts)).collect();
        entries.sort_unstable();
        let mut seen = Seen::default();
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let sum = same.iter().fold([0; 2], |sum: [u32; 2], (_, [useful, useless])| {
                [sum[0].saturating_add(*useful), sum[1].saturating_add(*useless)]
            });
            seen.keys.push(same[0].0);
            seen.counts.push(scaled(sum));
        }
        seen
    }

    /// How many statements are known.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// What is known of a statement.
    pub fn hints(&self, graph: GraphInput<'_>) -> Hints {
        if self.is_empty() {
            return Hints::default();
        }
        let found = self.keys.binary_search(&((key(graph) >> 16) as u32));
        found.map_or_else(|_| Hints::default(), |place| of_scaled(self.counts[place]))
    }

    /// As model files keep it: all keys, then all counts.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.keys
            .iter()
            .flat_map(|key| key.to_le_bytes())
            .chain(self.counts.iter().copied().flatten())
            .collect()
    }

    /// What [`Seen::to_bytes`] wrote; nothing if it is something else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if !bytes.len().is_multiple_of(6) {
            return None;
        }
        let (keys, counts) = bytes.split_at(bytes.len() / 6 * 4);
        let keys: Vec<u32> =
            keys.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let counts = counts.chunks_exact(2).map(|b| [b[0], b[1]]).collect();
        keys.is_sorted().then_some(Seen { keys, counts })
    }
}

/// What is known of a statement that was so often useful and so often useless.
pub(crate) fn hints_of(counts: [u32; 2]) -> Hints {
    of_scaled(scaled(counts))
}

/// Both counts divided by the same number, so that they fit a byte; what was there stays there.
fn scaled(counts: [u32; 2]) -> [u8; 2] {
    let divisor = (f64::from(counts[0].max(counts[1])) / 255.0).max(1.0);
    counts.map(|count| (f64::from(count) / divisor).ceil() as u8)
}

fn of_scaled([useful, useless]: [u8; 2]) -> Hints {
    if useful == 0 && useless == 0 {
        return Hints::default();
    }
    let [useful, useless] = [f32::from(useful), f32::from(useless)];
    [0.5 * ((useful + 0.5) / (useless + 0.5)).ln(), 0.5 * (useful + useless).ln_1p()]
}

/// 48 bits that tell a graph from others. Tokens are the model's, so that names of variables make no difference.
pub fn key(graph: GraphInput<'_>) -> u64 {
    let mut hash = 0u64;
    for part in [graph.tokens, graph.degrees, graph.targets] {
        hash = scramble(hash ^ part.len() as u64);
        part.iter().for_each(|&number| hash = scramble(hash ^ u64::from(number)));
    }
    hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph<'a>(tokens: &'a [u16], degrees: &'a [u16], targets: &'a [u16]) -> GraphInput<'a> {
        GraphInput { tokens, degrees, targets }
    }

    #[test]
    fn a_graph_is_told_by_all_of_its_arrays() {
        let seen = Seen::new([(key(graph(&[3, 4], &[1, 0], &[1])), [1, 0])]);
        let check = |graph, expected| assert_eq!(seen.hints(graph) != Hints::default(), expected);
        check(graph(&[3, 4], &[1, 0], &[1]), true);
        check(graph(&[3, 5], &[1, 0], &[1]), false);
        check(graph(&[3, 4], &[0, 1], &[1]), false);
        check(graph(&[3, 4], &[1, 0], &[0]), false);
        check(graph(&[3], &[4], &[1, 0, 1]), false);
    }

    #[test]
    fn hints_say_how_useful_a_statement_was() {
        let (often, rarely, never) = (graph(&[1], &[0], &[]), graph(&[2], &[0], &[]), graph(&[3], &[0], &[]));
        let seen = Seen::new([(key(often), [3, 1]), (key(rarely), [0, 2]), (key(often), [2, 0])]);
        assert_eq!(seen.len(), 2);
        // The compiler's logarithm may differ from the machine's in the last bit.
        let is_close = |a: Hints, b: Hints| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(is_close(seen.hints(often), hints_of([5, 1])));
        assert_eq!(seen.hints(never), [0.0, 0.0]);
        assert!(seen.hints(often)[0] > 0.0 && seen.hints(rarely)[0] < 0.0);
        assert!(is_close(hints_of([10_000, 1]), hints_of([255, 1])));
        assert_eq!(Seen::default().hints(often), [0.0, 0.0]);
        assert_eq!(Seen::from_bytes(&seen.to_bytes()), Some(seen));
        assert_eq!(Seen::from_bytes(&[1, 2, 3]), None);
        assert_eq!(Seen::from_bytes(&[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
