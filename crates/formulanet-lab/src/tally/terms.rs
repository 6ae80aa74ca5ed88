//! Hashes of a graph's terms: of everything below a node, and of a number of levels below it.

use formulanet::net::GraphInput;

use formulanet::util::random::scramble;

/// A graph whose nodes are read as terms: what stands below a node, in order.
pub(super) struct Terms<'a> {
    pub(super) graph: GraphInput<'a>,
    /// Where the edges of every node begin.
    starts: Vec<usize>,
    /// A hash of everything below every node, itself included.
    pub(super) whole: Vec<u64>,
    /// The number of nodes of each term without sharing.
    pub(super) sizes: Vec<u32>,
}

/// The largest size: larger terms count as this.
const LARGEST: u32 = 1_000_000_000;

impl<'a> Terms<'a> {
    pub(super) fn new(graph: GraphInput<'a>) -> Self {
        let mut end = 0;
        let starts = graph.degrees.iter().map(|&degree| {
            let start = end;
            end += usize::from(degree);
            start
        });
        let starts = starts.collect();
        let nodes = graph.tokens.len();
        let mut terms = Terms { graph, starts, whole: vec![0; nodes], sizes: vec![0; nodes] };
        terms.close();
        terms
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.graph.tokens.len()
    }

    pub(super) fn children(&self, node: usize) -> &'a [u16] {
        &self.graph.targets[self.starts[node]..][..usize::from(self.graph.degrees[node])]
    }

    pub(super) fn child(&self, node: usize, place: usize) -> Option<usize> {
        self.children(node).get(place).copied().map(usize::from)
    }

    /// Hashes and sizes of whole terms, children first. An edge that leads back to where it came from is as if it led
    /// nowhere, so that this ends for every graph.
    fn close(&mut self) {
        let mut is_open = vec![false; self.len()];
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for first in 0..self.len() {
            stack.push((first, 0));
            while let Some((node, place)) = stack.pop() {
                if self.sizes[node] > 0 {
                    continue;
                }
                is_open[node] = true;
                let unread = self.children(node)[place..].iter().position(|&child| {
                    let child = usize::from(child);
                    self.sizes[child] == 0 && !is_open[child]
                });
                match unread {
                    Some(more) => {
                        stack.push((node, place + more + 1));
                        stack.push((usize::from(self.children(node)[place + more]), 0));
                    }
                    None => self.finish(node),
                }
            }
        }
    }

    fn finish(&mut self, node: usize) {
        let (mut hash, mut size) = (labelled(self.graph.tokens[node].into()), 1u32);
        for &child in self.children(node) {
            hash = scramble(hash ^ self.whole[usize::from(child)]);
            size = size.saturating_add(self.sizes[usize::from(child)]).min(LARGEST);
        }
        (self.whole[node], self.sizes[node]) = (hash, size);
    }

    /// For every number of levels up to `deepest`, a hash of that many levels below every node. Nothing below a leaf is
    /// looked at. Labels are tokens or others.
    pub(super) fn levels(&self, labels: &[u32], is_leaf: &[bool], deepest: usize) -> Vec<Vec<u64>> {
        let own: Vec<u64> = labels.iter().map(|&label| labelled(label)).collect();
        let mut levels = vec![own];
        for level in 1..=deepest {
            let below = &levels[level - 1];
            let hash = |node: usize| {
                let first = scramble(levels[0][node] ^ level as u64);
                let children = if is_leaf[node] { &[] } else { self.children(node) };
                children.iter().fold(first, |hash, &child| scramble(hash ^ below[usize::from(child)]))
            };
            let next = (0..self.len()).map(hash).collect();
            levels.push(next);
        }
        levels
    }
}

/// The hash of a node with a label and nothing below it.
fn labelled(label: u32) -> u64 {
    scramble(u64::from(label) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph<'a>(tokens: &'a [u16], degrees: &'a [u16], targets: &'a [u16]) -> GraphInput<'a> {
        GraphInput { tokens, degrees, targets }
    }

    #[test]
    fn equal_terms_have_equal_hashes() {
        // f (g x) (g y) where x and y have the same token, and g is there twice.
        let terms = Terms::new(graph(&[5, 6, 0, 6, 0], &[2, 1, 0, 1, 0], &[1, 3, 2, 4]));
        assert_eq!(terms.whole[1], terms.whole[3]);
        assert_ne!(terms.whole[1], terms.whole[2]);
        assert_eq!(terms.sizes, [5, 2, 1, 2, 1]);
        // f (g x) (g x) with one g.
        let shared = Terms::new(graph(&[5, 6, 0], &[2, 1, 0], &[1, 1, 2]));
        assert_eq!((shared.whole[0], shared.sizes[0]), (terms.whole[0], 5));
    }

    #[test]
    fn levels_look_so_far_and_no_further() {
        let levels = |tokens: [u16; 3], is_leaf: [bool; 3]| {
            let terms = Terms::new(graph(&tokens, &[1, 1, 0], &[1, 2]));
            terms.levels(&tokens.map(u32::from), &is_leaf, 2)
        };
        let (one, other) = (levels([1, 2, 3], [false; 3]), levels([1, 2, 4], [false; 3]));
        assert_eq!((one[0][0], one[1][0]), (other[0][0], other[1][0]));
        assert_ne!(one[2][0], other[2][0]);
        let (one, other) = (levels([1, 2, 3], [false, true, false]), levels([1, 2, 4], [false, true, false]));
        assert_eq!(one[2][0], other[2][0]);
    }

    #[test]
    fn deep_and_circular_graphs_have_an_end() {
        let nodes = 60_000u16;
        let targets: Vec<u16> = (1..nodes).chain([0]).collect();
        let (tokens, degrees) = (vec![7; nodes.into()], vec![1; nodes.into()]);
        let terms = Terms::new(graph(&tokens, &degrees, &targets));
        assert_eq!(terms.sizes[0], u32::from(nodes));
        // Each node has the next one twice: as a tree, this is larger than any number here.
        let targets: Vec<u16> = (1..100).flat_map(|node| [node, node]).collect();
        let degrees: Vec<u16> = (0..100).map(|node| if node < 99 { 2 } else { 0 }).collect();
        assert_eq!(Terms::new(graph(&[7; 100], &degrees, &targets)).sizes[0], LARGEST);
        assert_eq!(Terms::new(graph(&[], &[], &[])).len(), 0);
    }
}
