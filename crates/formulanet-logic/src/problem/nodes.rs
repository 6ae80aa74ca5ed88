//! Nodes as flat arrays, and the table that finds equal ones.
//!
//! What is compared are *blocks*: a node without variables below it, whose edges lead to blocks before it; or a binder
//! together with everything in it that has one of its variables, which only means something as a whole. Two blocks are
//! equal if their arrays are, counted from where each begins. As no names are in them, formulas that differ only in the
//! names of their variables are equal, and comparing all blocks of a formula takes time linear in its size.

use super::labels::NodeLabel;
use crate::hash::{self, mix};

/// In a block's edges, what leads to a node of the same block, counted from the block's first.
pub(super) const INSIDE: u32 = 1 << 31;

/// Nodes with their edges, ordered by source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Nodes {
    pub(super) labels: Vec<u8>,
    pub(super) symbols: Vec<u32>,
    /// Where each node's edges begin, and the end of the last.
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) classes: Vec<u8>,
}

impl Default for Nodes {
    fn default() -> Self {
        Nodes {
            labels: Vec::new(),
            symbols: Vec::new(),
            starts: vec![0],
            targets: Vec::new(),
            classes: Vec::new(),
        }
    }
}

impl Nodes {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Drops all nodes from this number on.
    pub(super) fn truncate(&mut self, nodes: usize) {
        self.labels.truncate(nodes);
        self.symbols.truncate(nodes);
        self.starts.truncate(nodes + 1);
        // Edges of a node that was not ended go, too.
        let edges = self.starts[nodes] as usize;
        self.targets.truncate(edges);
        self.classes.truncate(edges);
    }

    /// Adds an edge of the node that [`Nodes::end_node`] ends.
    #[inline]
    pub(super) fn push_edge(&mut self, target: u32, class: u8) {
        self.targets.push(target);
        self.classes.push(class);
    }

    /// Adds a node with the edges that were added since the last one.
    #[inline]
    pub(super) fn end_node(&mut self, label: u8, symbol: u32) {
        self.labels.push(label);
        self.symbols.push(symbol);
        self.starts.push(self.targets.len() as u32);
    }

    /// The edges of a node, as a range of `targets` and `classes`.
    #[inline]
    pub(super) fn edges(&self, node: usize) -> std::ops::Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }

    /// The edges of a node as pairs of target and class.
    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.edges(node).map(|edge| (self.targets[edge], self.classes[edge]))
    }

    /// Appends a block and returns its first node.
    pub(super) fn append(&mut self, block: &Nodes) -> u32 {
        let (first, edges) = (self.len() as u32, self.targets.len() as u32);
        self.labels.extend_from_slice(&block.labels);
        self.symbols.extend_from_slice(&block.symbols);
        self.starts.extend(block.starts[1..].iter().map(|start| edges + start));
        self.classes.extend_from_slice(&block.classes);
        if block.len() == 1 {
            self.targets.extend_from_slice(&block.targets);
        } else {
            let place = |&target: &u32| if target & INSIDE == 0 { target } else { first + (target ^ INSIDE) };
            self.targets.extend(block.targets.iter().map(place));
        }
        first
    }
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    stamp: u32,
    /// The first node of a block.
    first: u32,
}

const VACANT: Slot = Slot { hash: 0, stamp: 0, first: 0 };

/// Finds blocks by what they are made of.
pub(super) struct Table {
    slots: Vec<Slot>,
    /// Only slots with this stamp count.
    stamp: u32,
    used: usize,
    seed: u64,
    sorted: [Vec<(u32, u8)>; 2],
}

impl Default for Table {
    fn default() -> Self {
        let seed = hash::seed();
        Table { slots: vec![VACANT; 64], stamp: 1, used: 0, seed, sorted: [Vec::new(), Vec::new()] }
    }
}

impl Table {
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.stamp = match self.stamp.checked_add(1) {
            Some(stamp) => stamp,
            None => {
                self.slots.fill(VACANT);
                1
            }
        };
    }

    /// The first node of a block that is equal to the given one: an old one, or the new end of `nodes`.
    ///
    /// A block of one node leads nowhere inside, so its targets are taken as they are. That lets a table hold nodes
    /// whose targets are marked [`INSIDE`] for another reason.
    pub(super) fn find_or_append(&mut self, nodes: &mut Nodes, block: &Nodes) -> u32 {
        let hash = self.hash(block);
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place].stamp == self.stamp {
            let slot = self.slots[place];
            if slot.hash == hash && self.is_equal(nodes, slot.first as usize, block) {
                return slot.first;
            }
            place = (place + 1) & mask;
        }
        let first = nodes.append(block);
        self.slots[place] = Slot { hash, stamp: self.stamp, first };
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            self.grow();
        }
        first
    }

    fn grow(&mut self) {
        let larger = vec![VACANT; self.slots.len() * 2];
        let mask = larger.len() - 1;
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.stamp == self.stamp {
                let mut place = slot.hash as usize & mask;
                while self.slots[place].stamp == self.stamp {
                    place = (place + 1) & mask;
                }
                self.slots[place] = slot;
            }
        }
    }

    fn hash(&self, block: &Nodes) -> u64 {
        let edge = |(target, class): (u32, u8)| u64::from(target) << 8 | u64::from(class);
        let mut hash = mix(self.seed, block.len() as u64);
        for node in 0..block.len() {
            let head = u64::from(block.symbols[node]) << 8 | u64::from(block.labels[node]);
            hash = mix(hash, head);
            hash = if is_unordered(block) {
                block.children(node).fold(hash, |sum, child| sum.wrapping_add(mix(self.seed, edge(child))))
            } else {
                block.children(node).fold(hash, |hash, child| mix(hash, edge(child)))
            };
        }
        hash
    }

    fn is_equal(&mut self, nodes: &Nodes, first: usize, block: &Nodes) -> bool {
        // A node that was dropped is not there, or is another by now.
        if first + block.len() > nodes.len() {
            return false;
        }
        let there = first..first + block.len();
        if nodes.labels[there.clone()] != block.labels || nodes.symbols[there.clone()] != block.symbols {
            return false;
        }
        let (old, new) = (nodes.starts[first], &block.starts);
        let starts = &nodes.starts[first..=there.end];
        if starts.iter().zip(new).any(|(a, b)| a - old != *b) {
            return false;
        }
        if is_unordered(block) {
            for (sorted, (nodes, node)) in self.sorted.iter_mut().zip([(nodes, first), (block, 0)]) {
                sorted.clear();
                sorted.extend(nodes.children(node));
                sorted.sort_unstable();
            }
            return self.sorted[0] == self.sorted[1];
        }
        let edges = old as usize..nodes.starts[there.end] as usize;
        let is_same = |(&there, &here): (&u32, &u32)| match here & INSIDE {
            0 => there == here,
            _ if block.len() == 1 => there == here,
            _ => there == first as u32 + (here ^ INSIDE),
        };
        nodes.classes[edges.clone()] == block.classes
            && nodes.targets[edges].iter().zip(&block.targets).all(is_same)
    }
}

/// Whether a block is one node whose edges can stand in any order.
fn is_unordered(block: &Nodes) -> bool {
    matches!(block.labels[..], [label] if NodeLabel::of(label).is_some_and(NodeLabel::is_unordered))
}
