//! How micro-batches are shared out, and in which order their gradients are added up.
//!
//! Micro-batches are dealt out to lanes. A lane adds its gradients up in the order of its micro-batches, and lanes are
//! added up in a binary tree: 0 + 1, 2 + 3, then the sums of these, and so on. Both depend on the number of micro-batches
//! alone, so that rounding is the same on any number of threads and processes. A process has neighbouring lanes, so that
//! what it can add up by itself is, for 2, 4 or 8 processes, one sum.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::compute::Compute;
use crate::group::Group;
use crate::kernel::rows;

/// The least number of lanes, if there are as many micro-batches.
const LEAST: usize = 8;
/// Micro-batches of a lane, at least, if there are more lanes than that: each lane costs an array of gradients.
const OF_LANE: usize = 4;

/// The lanes of a mini-batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    micro_batches: usize,
    pub(crate) count: usize,
}

impl Lanes {
    pub(crate) fn new(micro_batches: usize) -> Self {
        let many = (micro_batches / OF_LANE + 1).next_power_of_two() / 2;
        Lanes { micro_batches, count: many.max(LEAST).min(micro_batches) }
    }

    /// The lanes of a process.
    pub(crate) fn of_rank(self, rank: usize, ranks: usize) -> Range<usize> {
        cut(self.count, rank, ranks)
    }

    /// The micro-batches of a lane.
    pub(crate) fn micro_batches(self, lane: usize) -> impl Iterator<Item = usize> {
        (lane..self.micro_batches).step_by(self.count)
    }

    /// Whether a process has a micro-batch.
    pub(crate) fn has(self, rank: usize, ranks: usize, micro_batch: usize) -> bool {
        self.of_rank(rank, ranks).contains(&(micro_batch % self.count))
    }

    /// The sums that a process is left with, once it has added up what it can.
    fn sums_of(self, rank: usize, ranks: usize) -> Vec<Node> {
        let within = self.of_rank(rank, ranks);
        let mut sums: Vec<Node> = Vec::new();
        for lane in within.clone() {
            let mut node = Node { level: 0, index: lane };
            while let Some(parent) = self.parent(node).filter(|&parent| self.is_within(parent, &within)) {
                node = parent;
            }
            if sums.last() != Some(&node) {
                sums.push(node);
            }
        }
        sums
    }

    /// The lanes that a sum is of.
    fn covered(self, node: Node) -> Range<usize> {
        node.index << node.level..((node.index + 1) << node.level).min(self.count)
    }

    fn is_within(self, node: Node, lanes: &Range<usize>) -> bool {
        let covered = self.covered(node);
        lanes.start <= covered.start && covered.end <= lanes.end
    }

    /// The sum that a sum is part of; nothing for that of all lanes.
    fn parent(self, node: Node) -> Option<Node> {
        let is_all = self.covered(node) == (0..self.count);
        (!is_all).then_some(Node { level: node.level + 1, index: node.index / 2 })
    }
}

/// The `number`th of `parts` about equal parts of `0..length`.
pub(crate) fn cut(length: usize, number: usize, parts: usize) -> Range<usize> {
    number * length / parts..(number + 1) * length / parts
}

/// A sum in the tree: level 0 is lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Node {
    level: u32,
    index: usize,
}

/// Adds up sums as they come, from any thread.
pub(crate) struct Sums<'a> {
    lanes: Lanes,
    compute: &'a Compute,
    /// Sums that wait for their sibling.
    waiting: Mutex<BTreeMap<Node, Vec<f32>>>,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(lanes: Lanes, compute: &'a Compute) -> Self {
        Sums { lanes, compute, waiting: Mutex::default() }
    }

    /// Adds what a lane has come to.
    pub(crate) fn add_lane(&self, lane: usize, sum: Vec<f32>) {
        self.add(Node { level: 0, index: lane }, sum);
    }

    fn add(&self, mut node: Node, mut sum: Vec<f32>) {
        while let Some(parent) = self.lanes.parent(node) {
            let beside = Node { index: node.index ^ 1, ..node };
            if !self.lanes.covered(beside).is_empty() {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(other) = waiting.remove(&beside) else {
                    waiting.insert(node, sum);
                    return;
                };
                drop(waiting);
                // Which of the two came last does not matter: a + b is b + a to the last bit.
                rows::add(&mut sum, &other);
                self.compute.give(other);
            }
            node = parent;
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(node, sum);
    }

    /// Adds the sum of all lanes to `total`, which is the same in all processes before and after.
    ///
    /// Every process adds up a part of all numbers: it gets that part of everybody's sums, and gives everybody the
    /// result. That is as much on the wires as the best all-reduce, and no process adds in another order.
    pub(crate) fn add_to(self, total: &mut [f32], group: &dyn Group) {
        let (lanes, compute) = (self.lanes, self.compute);
        let mut waiting = self.waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ranks = group.size();
        if ranks == 1 {
            for sum in waiting.into_values() {
                rows::add(total, &sum);
                compute.give(sum);
            }
            return;
        }
        let nodes: Vec<Vec<Node>> = (0..ranks).map(|rank| lanes.sums_of(rank, ranks)).collect();
        let lengths: Vec<usize> = (0..ranks).map(|rank| cut(total.len(), rank, ranks).len()).collect();
        let own = cut(total.len(), group.rank(), ranks);
        let sums = Sums::new(lanes, compute);
        for round in 0..nodes.iter().map(Vec::len).max().unwrap_or(0) {
            let mine = nodes[group.rank()].get(round).and_then(|node| waiting.remove(node));
            let send_counts = if mine.is_some() { lengths.clone() } else { vec![0; ranks] };
            let receive_counts: Vec<usize> =
                nodes.iter().map(|nodes| if nodes.len() > round { own.len() } else { 0 }).collect();
            let mut received = compute.take(receive_counts.iter().sum());
            group.exchange(mine.as_deref().unwrap_or(&[]), &send_counts, &mut received, &receive_counts);
            let mut rest = received.as_slice();
            for node in nodes.iter().filter_map(|nodes| nodes.get(round)) {
                let (part, behind) = rest.split_at(own.len());
                let mut sum = compute.take(own.len());
                sum.copy_from_slice(part);
                sums.add(*node, sum);
                rest = behind;
            }
            compute.give(received);
            mine.into_iter().for_each(|sum| compute.give(sum));
        }
        let mut part = compute.take(own.len());
        part.copy_from_slice(&total[own]);
        for sum in sums.waiting.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
            rows::add(&mut part, &sum);
            compute.give(sum);
        }
        group.gather(&part, &lengths, total);
        compute.give(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::Precision;

    #[test]
    fn every_micro_batch_is_in_one_lane_of_one_process() {
        for micro_batches in [1, 2, 3, 7, 8, 40, 63, 64, 100, 1000] {
            let lanes = Lanes::new(micro_batches);
            let mut dealt: Vec<usize> = (0..lanes.count).flat_map(|lane| lanes.micro_batches(lane)).collect();
            dealt.sort_unstable();
            assert_eq!(dealt, (0..micro_batches).collect::<Vec<_>>());
            for ranks in [1, 2, 3, 4, 9] {
                for i in 0..micro_batches {
                    assert_eq!((0..ranks).filter(|&rank| lanes.has(rank, ranks, i)).count(), 1);
                }
                let covered = |rank| lanes.sums_of(rank, ranks).into_iter().flat_map(|n| lanes.covered(n));
                assert_eq!(
                    (0..ranks).flat_map(covered).collect::<Vec<_>>(),
                    (0..lanes.count).collect::<Vec<_>>()
                );
            }
        }
        assert_eq!([4, 8, 40, 63, 64, 128, 1000].map(|n| Lanes::new(n).count), [4, 8, 8, 8, 16, 32, 128]);
    }

    #[test]
    fn aligned_processes_are_left_with_one_sum() {
        for (lanes, ranks) in [(4, 2), (4, 4), (8, 2), (8, 4), (8, 8), (64, 16)] {
            let lanes = Lanes { micro_batches: lanes, count: lanes };
            assert!((0..ranks).all(|rank| lanes.sums_of(rank, ranks).len() == 1), "{lanes:?} {ranks}");
        }
    }

    /// Sums that come in another order are added in the same one.
    #[test]
    fn the_order_of_coming_does_not_matter() {
        let compute = Compute::new(Precision::F32, 1);
        for count in 1..=9 {
            let lanes = Lanes { micro_batches: count, count };
            let sum = |order: &mut dyn Iterator<Item = usize>| {
                let sums = Sums::new(lanes, &compute);
                order.for_each(|lane| sums.add_lane(lane, vec![0.1f32.powi(lane as i32)]));
                let mut total = [0.0];
                sums.add_to(&mut total, &crate::group::Alone);
                total[0]
            };
            let expected = sum(&mut (0..count));
            assert_eq!(sum(&mut (0..count).rev()), expected);
            assert_eq!(sum(&mut (0..count).step_by(2).chain((1..count).step_by(2))), expected);
        }
    }
}
