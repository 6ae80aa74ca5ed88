//! Statements that were seen in training, by a hash of their graphs, and for which conjectures they were useful.
//!
//! Theorems that are proved together tend to be used together. A conjecture that occurred as a training statement is therefore
//! also described by the statements that occurred with it.

use std::ops::Range;

use formulanet_net::{GraphInput, Hints};

use crate::model::memory::conjectures::Conjectures;
use crate::model::memory::marks::SymbolMarker;
use crate::model::memory::symbols::{OVERLAP_FEATURES, RareSymbols};
use crate::model::memory::varint::{self, Reader};
use crate::util::random::scramble;

/// For which conjectures of training statements were useful and for which useless.
///
/// A statement is known by 32 bits of its graph's hash: of statements never seen, about one in 4 billion divided by the
/// number of entries is taken for a seen one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StatementMemory {
    /// In order. A statement is known by its number here.
    keys: Vec<u32>,
    /// Where the labels of each statement end.
    ends: Vec<u32>,
    /// The labels of all statements, those of one in the order of conjectures.
    labels: Vec<UseLabel>,
    conjectures: Conjectures,
    /// How rare every token is among the conjectures; empty if nothing is known.
    rarities: Vec<f32>,
}

/// Statistics of a statement over all conjectures.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StatementKey {
    /// Its number, if it was seen.
    pub number: Option<u32>,
    pub signature: RareSymbols,
}

/// Statistics of a conjecture over all statements.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConjectureContext {
    /// How like each conjecture of training it is.
    similarities: Vec<f32>,
    signature: RareSymbols,
    /// Its own labels for other conjectures, in their order.
    labels: Vec<UseLabel>,
}

/// A conjecture's number and whether the statement was useful for it, in one number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct UseLabel(u32);

impl UseLabel {
    fn new(conjecture: u32, is_useful: bool) -> Self {
        UseLabel(conjecture << 1 | u32::from(is_useful))
    }

    fn conjecture(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_useful(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The most labels of a statement that are kept, drawn at random.
const MOST: usize = 255;
/// Labels of similar conjectures count by their similarity to these powers.
const POWERS: [i32; 4] = [2, 8, 1, 4];
/// The smoothing of the odds for each power, so that few labels have little effect.
const MORE: [f32; 4] = [0.1, 0.1, 0.3, 0.03];
/// About the rarity of a token that half of the conjectures have.
const HALF: f32 = 0.7;
/// The number of leading hints about a statement's labels for other conjectures. They are followed by hints about shared symbols,
/// [`MEMORIES`], and hints about the conjecture.
pub const REMEMBERED: usize = 4;
/// The number of hints about a statement's labels for similar conjectures.
pub const LIKENESS: usize = POWERS.len();
/// The other hints on what a statement was for other conjectures.
pub const MEMORIES: Range<usize> = REMEMBERED + OVERLAP_FEATURES..REMEMBERED + OVERLAP_FEATURES + 8;

impl StatementMemory {
    /// Builds the memory from the key of each labelled statement, the number of its conjecture, and whether it was useful.
    pub fn from_labels(labels: impl IntoIterator<Item = (u64, u32, bool)>, conjectures: Conjectures) -> Self {
        let entries = labels.into_iter();
        let entries =
            entries.map(|(key, conjecture, is_useful)| (short(key), UseLabel::new(conjecture, is_useful)));
        StatementMemory::new(entries.collect(), conjectures)
    }

    /// Builds a memory from keys with labels. Statements that share a key are one.
    fn new(mut entries: Vec<(u32, UseLabel)>, conjectures: Conjectures) -> Self {
        entries.sort_unstable();
        let mut seen = StatementMemory::with(conjectures);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let mut labels: Vec<UseLabel> = same.iter().map(|(_, label)| *label).collect();
            if labels.len() > MOST {
                labels.sort_by_cached_key(|label| scramble(u64::from(label.0)));
                labels.truncate(MOST);
                labels.sort_unstable();
            }
            seen.keys.push(same[0].0);
            seen.labels.extend(labels);
            seen.ends.push(seen.labels.len() as u32);
        }
        seen
    }

    /// Nothing but conjectures.
    fn with(conjectures: Conjectures) -> Self {
        let rarities = (0..=u16::MAX).map(|token| conjectures.rarity(token)).collect();
        StatementMemory { conjectures, rarities, ..StatementMemory::default() }
    }

    /// The number of statements.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Statistics of a statement.
    pub fn statement(&self, statement: GraphInput<'_>) -> StatementKey {
        if self.is_empty() {
            return StatementKey::default();
        }
        StatementKey {
            number: self.number(statement),
            signature: self.signature(statement.tokens.iter().copied()),
        }
    }

    /// Statistics of a conjecture.
    pub fn conjecture(&self, conjecture: GraphInput<'_>) -> ConjectureContext {
        if self.is_empty() {
            return ConjectureContext::default();
        }
        ConjectureContext {
            similarities: self.conjectures.similarities(conjecture),
            signature: self.signature(conjecture.tokens.iter().copied()),
            labels: self.labels(self.number(conjecture)).to_vec(),
        }
    }

    /// The number of a statement, if it was seen.
    fn number(&self, statement: GraphInput<'_>) -> Option<u32> {
        self.keys.binary_search(&short(key(statement))).ok().map(|number| number as u32)
    }

    /// The labels of a statement; none if it was not seen.
    fn labels(&self, statement: Option<u32>) -> &[UseLabel] {
        let Some(number) = statement.map(|number| number as usize).filter(|&n| n < self.len()) else {
            return &[];
        };
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.labels[start as usize..self.ends[number] as usize]
    }

    pub fn signature(&self, tokens: impl Iterator<Item = u16>) -> RareSymbols {
        let rarity = |token: u16| self.rarities.get(usize::from(token)).copied().unwrap_or(0.0);
        RareSymbols::new(tokens, |token| {
            Some(rarity(token)).filter(|rarity| rarity.is_finite()).unwrap_or(0.0)
        })
    }

    /// Marks tokens that fewer than half of the conjectures have.
    pub fn marker(&self, mark: u16) -> SymbolMarker {
        SymbolMarker::new(self.rarities.iter().map(|&rarity| rarity > HALF).collect(), mark)
    }

    /// Statistics of a statement for a conjecture; over all conjectures if the conjecture is unknown.
    pub fn hints(&self, statement: &StatementKey, conjecture: &ConjectureContext) -> Hints {
        self.hints_without(None, statement, conjecture)
    }

    /// Statistics of a statement without one of the conjectures.
    pub fn hints_without(
        &self,
        without: Option<usize>,
        statement: &StatementKey,
        conjecture: &ConjectureContext,
    ) -> Hints {
        let labels = self.labels(statement.number).iter().copied();
        let labels = labels.filter(|label| Some(label.conjecture()) != without);
        let (remembered, more) = remembered(labels.clone(), &conjecture.similarities);
        let matches = statement.signature.compare(&conjecture.signature);
        let together = together(labels, &conjecture.labels);
        let all = remembered.into_iter().chain(matches).chain(more).chain(together);
        let mut hints = Hints::default();
        hints.iter_mut().zip(all).for_each(|(hint, x)| *hint = x);
        hints
    }

    /// As model files keep it; nothing if it is empty.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.is_empty() {
            return bytes;
        }
        self.conjectures.write(&mut bytes);
        varint::write_ascending(&mut bytes, self.keys.iter().map(|&key| u64::from(key)));
        let mut start = 0;
        for &end in &self.ends {
            let labels = &self.labels[start..end as usize];
            varint::write(&mut bytes, labels.len() as u64);
            // The difference of conjectures, and the label below it.
            let mut last = 0;
            for label in labels {
                let number = label.conjecture() as u64;
                varint::write(&mut bytes, (number - last) << 1 | u64::from(label.is_useful()));
                last = number;
            }
            start = end as usize;
        }
        bytes
    }

    /// Reads the output of [`StatementMemory::to_bytes`]; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(StatementMemory::default());
        }
        let mut reader = Reader { bytes };
        let conjectures = Conjectures::read(&mut reader)?;
        let keys = reader.ascending(1 << 32)?;
        let mut seen = StatementMemory::with(conjectures);
        for key in keys {
            let count = reader.count()?;
            let mut last = 0u64;
            for _ in 0..count {
                let number = reader.number()?;
                last = last.checked_add(number >> 1).filter(|&n| n < seen.conjectures.len() as u64)?;
                seen.labels.push(UseLabel::new(last as u32, number & 1 == 1));
            }
            seen.keys.push(key as u32);
            seen.ends.push(u32::try_from(seen.labels.len()).ok()?);
        }
        reader.bytes.is_empty().then_some(seen)
    }
}

/// The labels of a statement for other conjectures, in two parts; all 0 for an unseen statement.
fn remembered(
    labels: impl Iterator<Item = UseLabel>,
    similarities: &[f32],
) -> ([f32; REMEMBERED], [f32; POWERS.len()]) {
    let mut counts = [0.0f32; 2];
    let mut weights = [[0.0f32; 2]; POWERS.len()];
    let mut most = [0.0f32; 2];
    for label in labels {
        let side = usize::from(!label.is_useful());
        counts[side] += 1.0;
        let similarity = similarities.get(label.conjecture()).copied().unwrap_or(0.0);
        most[side] = most[side].max(similarity);
        for (weights, power) in weights.iter_mut().zip(POWERS) {
            weights[side] += similarity.powi(power);
        }
    }
    if counts == [0.0; 2] {
        return Default::default();
    }
    // Half of the logarithms, so that they are about as large as the numbers beside them.
    let odds = |[useful, useless]: [f32; 2], more: f32| 0.5 * ((useful + more) / (useless + more)).ln();
    let size = 0.5 * (counts[0] + counts[1]).ln_1p();
    let weighed: [f32; POWERS.len()] = std::array::from_fn(|i| odds(weights[i], MORE[i]));
    ([odds(counts, 0.5), size, weighed[0], weighed[1]], [weighed[2], weighed[3], most[0], most[1]])
}

/// For how many conjectures both a statement and this conjecture itself were useful, only the statement was, only the
/// conjecture, and neither; then, for how many the conjecture was useful and useless.
fn together(statement: impl Iterator<Item = UseLabel>, conjecture: &[UseLabel]) -> [f32; 6] {
    let mut counts = [0.0f32; 6];
    let mut others = statement.peekable();
    for own in conjecture {
        counts[4 + usize::from(!own.is_useful())] += 1.0;
        while others.next_if(|other| other.conjecture() < own.conjecture()).is_some() {}
        while let Some(other) = others.next_if(|other| other.conjecture() == own.conjecture()) {
            counts[2 * usize::from(!other.is_useful()) + usize::from(!own.is_useful())] += 1.0;
        }
    }
    counts.map(|count| 0.5 * count.ln_1p())
}

/// The bits of a key that a statement is known by.
fn short(key: u64) -> u32 {
    (key >> 16) as u32
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
    use crate::model::memory::conjectures::tests::{chains, with};

    fn graph<'a>(tokens: &'a [u16], degrees: &'a [u16], targets: &'a [u16]) -> GraphInput<'a> {
        GraphInput { tokens, degrees, targets }
    }

    fn entry(statement: &[u16], conjecture: u32, is_useful: bool) -> (u32, UseLabel) {
        (short(with(statement, key)), UseLabel::new(conjecture, is_useful))
    }

    #[test]
    fn a_graph_is_told_by_all_of_its_arrays() {
        let entries = vec![entry(&[3, 4], 0, true)];
        let seen = StatementMemory::new(entries, chains(&[&[1]]));
        let check = |graph, expected| assert_eq!(seen.statement(graph).number.is_some(), expected);
        check(graph(&[3, 4], &[1, 0], &[1]), true);
        check(graph(&[3, 5], &[1, 0], &[1]), false);
        check(graph(&[3, 4], &[0, 1], &[1]), false);
        check(graph(&[3, 4], &[1, 0], &[0]), false);
        check(graph(&[3], &[4], &[1, 0, 1]), false);
    }

    #[test]
    fn hints_say_how_useful_a_statement_was_and_for_what() {
        let conjectures = chains(&[&[1, 2, 3], &[7, 8, 9], &[1, 2, 5]]);
        let entries = vec![
            entry(&[20], 0, true),
            entry(&[20], 1, false),
            entry(&[20], 2, true),
            entry(&[21], 1, false),
        ];
        let seen = StatementMemory::new(entries, conjectures);
        assert_eq!(seen.len(), 2);
        let [both, useless, never] =
            [[20], [21], [22]].map(|statement| with(&statement, |graph| seen.statement(graph)));
        let near = |tokens: &[u16]| with(tokens, |graph| seen.conjecture(graph));
        let (like_0, like_1) = (near(&[1, 2, 3]), near(&[7, 8, 9]));
        let (for_0, for_1) = (seen.hints(&both, &like_0), seen.hints(&both, &like_1));
        // Useful twice and useless once, whatever the conjecture.
        assert!((for_0[0] - 0.5 * (2.5f32 / 1.5).ln()).abs() < 1e-6 && for_0[..2] == for_1[..2]);
        assert!(for_0[2] > 0.0 && for_0[3] > 0.0 && for_1[2] < 0.0 && for_1[3] < 0.0, "{for_0:?} {for_1:?}");
        assert!(seen.hints(&useless, &like_1)[0] < 0.0);
        assert_eq!(seen.hints(&never, &like_0), Hints::default());
        assert!(seen.hints(&both, &ConjectureContext::default())[2..].iter().all(|&hint| hint == 0.0));
        // The most similar conjecture that it was useful for, and the most similar of the others.
        let most = |hints: Hints| [hints[MEMORIES.start + 2], hints[MEMORIES.start + 3]];
        assert!(most(for_0)[0] > 0.99 && most(for_0)[1] < 0.5, "{for_0:?}");
        assert!(most(for_1)[0] < 0.5 && most(for_1)[1] > 0.99, "{for_1:?}");
        // As if a conjecture had not been there.
        assert_eq!(seen.hints_without(Some(1), &useless, &like_1), Hints::default());
        assert!(seen.hints_without(Some(1), &both, &like_1)[0] > for_1[0]);
        assert_eq!(with(&[20], |graph| StatementMemory::default().statement(graph)), StatementKey::default());
        let bytes = seen.to_bytes();
        assert_eq!(StatementMemory::from_bytes(&bytes), Some(seen));
        (1..bytes.len()).for_each(|length| assert_eq!(StatementMemory::from_bytes(&bytes[..length]), None));
    }

    #[test]
    fn hints_say_what_is_in_common() {
        let seen = StatementMemory::new(vec![entry(&[20], 0, true)], chains(&[&[1, 2], &[1, 3]]));
        let hints = |statement: &[u16], conjecture: &[u16]| {
            let known = with(statement, |graph| seen.statement(graph));
            seen.hints(&known, &with(conjecture, |graph| seen.conjecture(graph)))[REMEMBERED..MEMORIES.start]
                .to_vec()
        };
        // Token 1 is in all conjectures, 4 in none.
        assert_eq!(hints(&[2, 1], &[1, 2])[..3], [1.0, 1.0, 1.0]);
        assert_eq!(hints(&[3], &[2])[..3], [0.0; 3]);
        assert_eq!(hints(&[1, 4], &[1, 4]), [0.0; 6]);
    }

    #[test]
    fn hints_say_in_what_company_a_conjecture_was() {
        let entries = vec![
            entry(&[20], 0, true),
            entry(&[20], 1, true),
            entry(&[20], 2, false),
            entry(&[20], 3, false),
            entry(&[20], 5, false),
            entry(&[21], 0, true),
            entry(&[21], 1, false),
            entry(&[21], 2, true),
            entry(&[21], 3, false),
            entry(&[21], 4, true),
        ];
        let seen = StatementMemory::new(entries, chains(&[&[1], &[2], &[3], &[4], &[5], &[6]]));
        let company = |statement: u16, conjecture: u16, without: Option<usize>| {
            let known = with(&[statement], |graph| seen.statement(graph));
            let asked = with(&[conjecture], |graph| seen.conjecture(graph));
            let hints = seen.hints_without(without, &known, &asked);
            // Counts, from half of their logarithms.
            hints[MEMORIES.end - 4..]
                .iter()
                .map(|hint| (2.0 * hint).exp_m1().round() as u32)
                .collect::<Vec<_>>()
        };
        let check = |statement, conjecture, without, expected: [u32; 6]| {
            assert_eq!(company(statement, conjecture, without), expected);
        };
        check(20, 21, None, [1, 1, 1, 1, 3, 2]);
        check(21, 20, None, [1, 1, 1, 1, 2, 3]);
        check(20, 21, Some(0), [0, 1, 1, 1, 3, 2]);
        check(22, 21, None, [0, 0, 0, 0, 3, 2]);
        check(20, 22, None, [0; 6]);
    }

    #[test]
    fn many_labels_are_a_sample() {
        let conjectures = chains(&vec![&[1u16][..]; 1000]);
        let entries = (0..1000).map(|i| entry(&[20], i, i % 4 == 0)).collect();
        let seen = StatementMemory::new(entries, conjectures);
        assert_eq!(seen.labels.len(), MOST);
        assert!(seen.labels.is_sorted());
        let known = with(&[20], |graph| seen.statement(graph));
        let [odds, size, ..] = seen.hints(&known, &ConjectureContext::default());
        assert!((-0.8..-0.3).contains(&odds) && (2.7..2.8).contains(&size), "{odds} {size}");
    }
}
