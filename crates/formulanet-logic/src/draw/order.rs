//! Fewer crossings: which items of a layer stand left of which.
//!
//! The usual heuristic: sort each layer by the mean position of its neighbours in the layer before, sweep over
//! all layers down and up in turn, exchange neighbours where that helps, and keep the best order ever seen.

use super::layout::{ABOVE, BELOW, Items};

/// Sweeps over a small graph; larger ones get fewer, so that the time stays bounded.
const MAX_SWEEPS: usize = 24;
/// Pieces of edges that all sweeps together may look at.
const WORK: usize = 2_000_000;

/// Orders the items of every layer.
pub(super) fn reduce_crossings(items: &mut Items) {
    let mut best = items.layers.clone();
    let mut fewest = crossings(items);
    let sweeps = (WORK / items.piece_count().max(1)).clamp(4, MAX_SWEEPS);
    for sweep in 0..sweeps {
        if fewest == 0 {
            break;
        }
        if sweep % 2 == 0 {
            for layer in 1..items.layers.len() {
                sort_by_mean(items, layer, ABOVE);
            }
        } else {
            for layer in (0..items.layers.len().saturating_sub(1)).rev() {
                sort_by_mean(items, layer, BELOW);
            }
        }
        for _ in 0..4 {
            if !exchange(items) {
                break;
            }
        }
        let count = crossings(items);
        if count < fewest {
            fewest = count;
            best.clone_from(&items.layers);
        }
    }
    items.layers = best;
    for layer in 0..items.layers.len() {
        number(items, layer);
    }
}

fn number(items: &mut Items, layer: usize) {
    for (position, &item) in items.layers[layer].iter().enumerate() {
        items.position[item] = position;
    }
}

/// Sorts a layer by the mean position of the neighbours on one side. Items without any stay where they are.
fn sort_by_mean(items: &mut Items, layer: usize, side: usize) {
    let mut line = std::mem::take(&mut items.layers[layer]);
    let links = &items.links[side];
    let mut moving: Vec<(f64, usize)> = Vec::with_capacity(line.len());
    for &item in line.iter().filter(|&&item| !links.of(item).is_empty()) {
        let neighbours = links.of(item);
        let sum: usize = neighbours.iter().map(|&n| items.position[n]).sum();
        moving.push((sum as f64 / neighbours.len() as f64, item));
    }
    moving.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sorted = moving.into_iter();
    for place in line.iter_mut().filter(|item| !links.of(**item).is_empty()) {
        *place = sorted.next().expect("as many items as places").1;
    }
    items.layers[layer] = line;
    number(items, layer);
}

/// Exchanges neighbours in a layer wherever that removes crossings; says whether it did.
fn exchange(items: &mut Items) -> bool {
    let mut improved = false;
    let (mut left, mut right) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for layer in 0..items.layers.len() {
        let Some(&first) = items.layers[layer].first() else { continue };
        neighbour_positions(items, first, &mut left);
        for place in 1..items.layers[layer].len() {
            neighbour_positions(items, items.layers[layer][place], &mut right);
            let gain =
                |side: usize| inversions(&left[side], &right[side]) - inversions(&right[side], &left[side]);
            if gain(ABOVE) + gain(BELOW) > 0 {
                items.layers[layer].swap(place - 1, place);
                improved = true;
            } else {
                std::mem::swap(&mut left, &mut right);
            }
        }
        number(items, layer);
    }
    improved
}

fn neighbour_positions(items: &Items, item: usize, into: &mut [Vec<usize>; 2]) {
    for side in [ABOVE, BELOW] {
        into[side].clear();
        into[side].extend(items.links[side].of(item).iter().map(|&n| items.position[n]));
        into[side].sort_unstable();
    }
}

/// The number of crossings if the item with the first list is left of the one with the second.
fn inversions(left: &[usize], right: &[usize]) -> i64 {
    let (mut smaller, mut count) = (0, 0);
    for position in left {
        while smaller < right.len() && right[smaller] < *position {
            smaller += 1;
        }
        count += smaller as i64;
    }
    count
}

/// The number of crossings in the whole drawing.
pub(super) fn crossings(items: &Items) -> u64 {
    let mut total = 0;
    let mut ends: Vec<usize> = Vec::new();
    // A Fenwick tree over the lower layer counts the pieces that ended right of the present one.
    let mut tree: Vec<u32> = Vec::new();
    for pair in items.layers.windows(2) {
        tree.clear();
        tree.resize(pair[1].len() + 1, 0);
        let mut seen = 0_u64;
        for &item in &pair[0] {
            ends.clear();
            ends.extend(items.links[BELOW].of(item).iter().map(|&n| items.position[n]));
            for &end in &ends {
                let mut at_most = 0_u64;
                let mut i = end + 1;
                while i > 0 {
                    at_most += u64::from(tree[i]);
                    i &= i - 1;
                }
                total += seen - at_most;
            }
            // Added only now, because pieces of one item do not cross each other.
            for &end in &ends {
                let mut i = end + 1;
                while i < tree.len() {
                    tree[i] += 1;
                    i += i & i.wrapping_neg();
                }
            }
            seen += ends.len() as u64;
        }
    }
    total
}
