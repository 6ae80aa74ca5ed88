//! Counts by feature, in the order in which GNU's C++ hash tables are walked.
//!
//! Sums of floating-point numbers depend on the order of their terms by a rounding, and that decides between facts that
//! would be equal. CoqHammer's program adds up what such a table has, so the table is laid out here in the same way: nodes are
//! in one chain, those of a bucket side by side, and a new bucket begins at the front.

/// The numbers of buckets of a growing table that was made for a hundred entries.
pub(super) const FOR_A_HUNDRED: &[usize] = &[
    103, 211, 439, 887, 1879, 4027, 8123, 16_411, 33_223, 67_307, 136_607, 277_261, 562_841, 1_142_821,
    2_320_627, 4_712_381,
];
/// The numbers of buckets of a growing table that was made without a size.
pub(super) const FOR_ANY: &[usize] = &[
    13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10_273, 20_753, 42_043, 85_229, 172_933, 351_061, 712_697,
    1_447_153, 2_938_679, 5_967_347,
];
/// No node.
const NONE: u32 = u32::MAX;
/// The sentinel before the first node.
const START: u32 = u32::MAX - 1;

#[derive(Clone, Debug)]
pub(super) struct GnuHashMap {
    sizes: &'static [usize],
    /// By bucket: the node before its first one.
    buckets: Vec<u32>,
    nodes: Vec<Node>,
    first: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    feature: u32,
    count: f64,
    next: u32,
}

impl GnuHashMap {
    /// No counts yet, in a table that grows like this.
    pub(super) fn new(sizes: &'static [usize]) -> Self {
        GnuHashMap { sizes, buckets: Vec::new(), nodes: Vec::new(), first: NONE }
    }

    /// Adds to the count of a feature.
    pub(super) fn add(&mut self, feature: u32, more: f64) {
        *self.count(feature) += more;
    }

    /// The count of a feature, which is 0 if it is new.
    pub(super) fn count(&mut self, feature: u32) -> &mut f64 {
        let node = self.find(feature).unwrap_or_else(|| self.insert(feature));
        &mut self.nodes[node].count
    }

    /// The count of a feature that is there.
    pub(super) fn get(&self, feature: u32) -> Option<f64> {
        self.find(feature).map(|node| self.nodes[node].count)
    }

    fn insert(&mut self, feature: u32) -> usize {
        if self.nodes.len() + 1 > self.buckets.len() {
            let larger = self.sizes.iter().find(|size| **size > self.nodes.len());
            larger.into_iter().for_each(|&size| self.spread(size));
        }
        let node = self.nodes.len();
        self.nodes.push(Node { feature, count: 0.0, next: NONE });
        let bucket = self.bucket(feature);
        match self.buckets[bucket] {
            NONE => self.begin(bucket, node, self.first),
            before => self.link(before, node),
        }
        node
    }

    /// Features and their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        let node = |number: u32| self.nodes.get(number as usize);
        std::iter::successors(node(self.first), move |last| node(last.next))
            .map(|node| (node.feature, node.count))
    }

    fn bucket(&self, feature: u32) -> usize {
        feature as usize % self.buckets.len()
    }

    fn find(&self, feature: u32) -> Option<usize> {
        if self.buckets.is_empty() {
            return None;
        }
        let bucket = self.bucket(feature);
        let mut at = match self.buckets[bucket] {
            NONE => return None,
            before => self.behind(before),
        };
        while let Some(node) = self.nodes.get(at as usize) {
            if node.feature == feature {
                return Some(at as usize);
            }
            if self.bucket(node.feature) != bucket {
                return None;
            }
            at = node.next;
        }
        None
    }

    fn behind(&self, before: u32) -> u32 {
        if before == START { self.first } else { self.nodes[before as usize].next }
    }

    /// Inserts a node after another, or at the start.
    fn link(&mut self, before: u32, node: usize) {
        self.nodes[node].next = self.behind(before);
        if before == START {
            self.first = node as u32;
        } else {
            self.nodes[before as usize].next = node as u32;
        }
    }

    /// Begins a bucket at the front, before the node that was the first.
    fn begin(&mut self, bucket: usize, node: usize, first: u32) {
        self.link(START, node);
        if let Some(moved) = self.nodes.get(first as usize) {
            let moved = self.bucket(moved.feature);
            self.buckets[moved] = node as u32;
        }
        self.buckets[bucket] = START;
    }

    /// Goes over to more buckets.
    fn spread(&mut self, size: usize) {
        self.buckets = vec![NONE; size];
        let mut at = std::mem::replace(&mut self.first, NONE);
        while let Some(&Node { feature, next, .. }) = self.nodes.get(at as usize) {
            let bucket = self.bucket(feature);
            match self.buckets[bucket] {
                NONE => self.begin(bucket, at as usize, self.first),
                before => self.link(before, at as usize),
            }
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of iteration over a `std::unordered_map<long, long> (100)` of GNU's library, printed by a short program.
    #[test]
    fn walks_as_gnu_does() {
        let mut chain = GnuHashMap::new(FOR_A_HUNDRED);
        let walked = |chain: &GnuHashMap, number: usize| {
            chain.iter().take(number).map(|(feature, _)| feature).collect::<Vec<_>>()
        };
        [5, 108, 211, 7, 314, 6, 110, 3].into_iter().for_each(|feature| chain.add(feature, 1.0));
        assert_eq!(walked(&chain, 9), [3, 6, 110, 7, 314, 211, 108, 5]);
        (0..150).for_each(|number| chain.add(number * number, 1.0));
        let expected = [
            11236, 11025, 11449, 10816, 11664, 10609, 11881, 10404, 12100, 10201, 12321, 10000, 12544, 9801,
            12769, 9604, 12996, 9409, 13225, 9216, 13456, 9025, 108, 7, 110, 625, 17689, 6084, 3, 211,
        ];
        assert_eq!(walked(&chain, 30), expected);
        let hash =
            chain.iter().fold(0u64, |hash, (feature, _)| hash.wrapping_mul(31).wrapping_add(feature.into()));
        assert_eq!((hash, chain.buckets.len()), (13_365_392_019_340_855_573, 211));
    }

    #[test]
    fn counts_add_up() {
        let mut chain = GnuHashMap::new(FOR_A_HUNDRED);
        for feature in 0..1000u32 {
            chain.add(feature % 300, 1.0);
        }
        assert_eq!((chain.get(299), chain.get(300)), (Some(3.0), None));
        let mut counts: Vec<(u32, f64)> = chain.iter().collect();
        counts.sort_by_key(|(feature, _)| *feature);
        assert_eq!(counts.len(), 300);
        assert!(counts.iter().all(|&(feature, count)| count == if feature < 100 { 4.0 } else { 3.0 }));
    }
}
