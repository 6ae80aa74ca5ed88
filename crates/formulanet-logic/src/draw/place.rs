//! Coordinates: how far to the right each item stands.
//!
//! Every item wants to stand at the mean of its neighbours in the next layer. The nearest positions that keep
//! the order and the distances of a layer are a weighted isotonic regression, solved exactly in linear time by
//! pooling adjacent violators; sweeping down and up a few times brings all layers together. At last the bends of
//! each long edge are lined up as far as their neighbours leave room, so that it has few corners.

use std::ops::Range;

use super::layout::{ABOVE, BELOW, Items};

/// Sweeps over a small graph; larger ones get fewer, so that the time stays bounded.
const MAX_SWEEPS: usize = 60;
/// Pieces of edges that all sweeps together may look at.
const WORK: usize = 4_000_000;

/// The centre of every item; `chains` are the bends of each long edge.
pub(super) fn coordinates(items: &Items, chains: &mut [Range<usize>]) -> Vec<f64> {
    let mut x = vec![0.0; items.width.len()];
    for line in &items.layers {
        let mut right = 0.0;
        for (i, &item) in line.iter().enumerate() {
            if i > 0 {
                right += distance(items, line[i - 1], item);
            }
            x[item] = right;
        }
    }
    let sweeps = (WORK / items.piece_count().max(1)).clamp(6, MAX_SWEEPS);
    let mut pool = Vec::new();
    for sweep in 0..sweeps {
        // The last sweeps look both ways, to settle between what the two sides want.
        let sides: &[usize] = match sweep {
            s if s + sweeps / 3 >= sweeps => &[ABOVE, BELOW],
            s if s % 2 == 0 => &[BELOW],
            _ => &[ABOVE],
        };
        if sides[0] == ABOVE {
            items.layers.iter().for_each(|line| settle(items, line, sides, &mut x, &mut pool));
        } else {
            items.layers.iter().rev().for_each(|line| settle(items, line, sides, &mut x, &mut pool));
        }
    }
    // From the left and from the right: in a bundle of edges only the outermost has room to become straight, and
    // then the next one has. At last the longest first, since they would be the ugliest.
    let middle = |x: &[f64], chain: &Range<usize>| x[chain.start + chain.len() / 2];
    chains.sort_by(|a, b| middle(&x, a).total_cmp(&middle(&x, b)));
    chains.iter().for_each(|chain| straighten(items, chain.clone(), &mut x));
    chains.iter().rev().for_each(|chain| straighten(items, chain.clone(), &mut x));
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    chains.iter().for_each(|chain| straighten(items, chain.clone(), &mut x));
    x
}

/// Lines up the bends of one edge, in as few straight pieces as its neighbours allow.
fn straighten(items: &Items, chain: Range<usize>, x: &mut [f64]) {
    let room = |x: &[f64], item: usize| {
        let (line, position) = (&items.layers[items.layer[item]], items.position[item]);
        let left = position.checked_sub(1).map(|p| line[p]);
        let right = line.get(position + 1).copied();
        (
            left.map_or(f64::NEG_INFINITY, |l| x[l] + distance(items, l, item)),
            right.map_or(f64::INFINITY, |r| x[r] - distance(items, item, r)),
        )
    };
    let mut from = chain.start;
    while from < chain.end {
        let (mut least, mut most) = room(x, from);
        let mut until = from + 1;
        while until < chain.end {
            let (left, right) = room(x, until);
            if left.max(least) > right.min(most) {
                break;
            }
            (least, most) = (left.max(least), right.min(most));
            until += 1;
        }
        let mean = x[from..until].iter().sum::<f64>() / (until - from) as f64;
        // Rounding can leave a hair's breadth less than no room, where `clamp` would panic.
        let place = mean.min(most).max(least);
        x[from..until].fill(place);
        from = until;
    }
}

/// The least distance between the centres of two neighbours in a layer.
fn distance(items: &Items, left: usize, right: usize) -> f64 {
    let gap = match (left < items.nodes, right < items.nodes) {
        (true, true) => 14.0,
        (false, false) => 8.0,
        _ => 11.0,
    };
    (items.width[left] + items.width[right]) / 2.0 + gap
}

/// How hard a piece of an edge pulls at its ends. Bends pull each other hard, which makes long edges straight;
/// a shared leaf pulls little, so that the tree above it keeps its form.
fn pull(items: &Items, a: usize, b: usize) -> f64 {
    let is_shared = |item: usize| item < items.nodes && items.links[ABOVE].of(item).len() > 1;
    match (a < items.nodes, b < items.nodes) {
        _ if is_shared(a) || is_shared(b) => 0.2,
        (true, true) => 1.0,
        (false, false) => 6.0,
        _ => 1.5,
    }
}

/// Items that touch each other and move as one.
struct Block {
    weight: f64,
    weighted_sum: f64,
    end: usize,
}

impl Block {
    fn mean(&self) -> f64 {
        self.weighted_sum / self.weight
    }
}

/// Moves the items of one layer as near to their neighbours on the given sides as the order allows.
fn settle(items: &Items, line: &[usize], sides: &[usize], x: &mut [f64], pool: &mut Vec<Block>) {
    pool.clear();
    let mut offset = 0.0;
    for (i, &item) in line.iter().enumerate() {
        if i > 0 {
            offset += distance(items, line[i - 1], item);
        }
        // Without neighbours it stays, unless others push it.
        let (mut weight, mut weighted_sum) = (0.01, 0.01 * x[item]);
        for &side in sides {
            for &neighbour in items.links[side].of(item) {
                let pull = pull(items, item, neighbour);
                weight += pull;
                weighted_sum += pull * x[neighbour];
            }
        }
        let mut block = Block { weight, weighted_sum: weighted_sum - weight * offset, end: i + 1 };
        while pool.last().is_some_and(|before| before.mean() > block.mean()) {
            let before = pool.pop().expect("just looked at");
            block.weight += before.weight;
            block.weighted_sum += before.weighted_sum;
        }
        pool.push(block);
    }
    let (mut i, mut offset) = (0, 0.0);
    for block in pool.iter() {
        while i < block.end {
            if i > 0 {
                offset += distance(items, line[i - 1], line[i]);
            }
            x[line[i]] = block.mean() + offset;
            i += 1;
        }
    }
}
