//! Sorting the beginning of a list by a heap, as the C++ standard library of GNU does it.
//!
//! CoqHammer's program sorts with it and leaves the order of equal scores to it, and equal scores are common: facts that have
//! nothing in common with a goal all have the same. To give the same answers, this has to make the same moves.

/// A fact and its score.
pub(super) type Scored = (u32, f64);

fn is_before(one: Scored, other: Scored) -> bool {
    one.1 > other.1
}

/// Puts the best `number` in order at the beginning; the others follow in any order.
pub(super) fn gnu_partial_sort(list: &mut [Scored], number: usize) {
    let number = number.min(list.len());
    if number == 0 {
        return;
    }
    let (heap, rest) = list.split_at_mut(number);
    make_heap(heap);
    for entry in rest {
        if is_before(*entry, heap[0]) {
            let value = std::mem::replace(entry, heap[0]);
            sift(heap, 0, value);
        }
    }
    for end in (1..number).rev() {
        let value = heap[end];
        heap[end] = heap[0];
        sift(&mut heap[..end], 0, value);
    }
}

/// Makes a heap with the worst on top.
fn make_heap(heap: &mut [Scored]) {
    for parent in (0..heap.len() / 2).rev() {
        sift(heap, parent, heap[parent]);
    }
}

/// Puts a value in place of the top of a part: the hole moves down to a leaf, and the value from there up.
fn sift(heap: &mut [Scored], top: usize, value: Scored) {
    let (length, mut hole) = (heap.len(), top);
    loop {
        let (left, right) = (2 * hole + 1, 2 * hole + 2);
        let child = match () {
            _ if right < length && is_before(heap[right], heap[left]) => left,
            _ if right < length => right,
            _ if left < length => left,
            _ => break,
        };
        heap[hole] = heap[child];
        hole = child;
    }
    while hole > top {
        let parent = (hole - 1) / 2;
        if !is_before(heap[parent], value) {
            break;
        }
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of GNU's `std::partial_sort` on these scores, printed by a program of three lines.
    #[test]
    fn equal_scores_come_in_the_order_of_gnu() {
        let check = |scores: &[f64], number: usize, expected: &[u32]| {
            let mut list: Vec<Scored> = (0..).zip(scores.iter().copied()).collect();
            gnu_partial_sort(&mut list, number);
            let found: Vec<u32> = list.iter().take(number).map(|(fact, _)| *fact).collect();
            assert_eq!(found, expected, "{scores:?}");
        };
        check(&[0.0; 8], 8, &[7, 4, 1, 3, 5, 0, 2, 6]);
        check(&[0.0; 20], 20, &[18, 10, 4, 16, 12, 8, 19, 1, 11, 5, 15, 13, 7, 17, 3, 9, 0, 2, 6, 14]);
        check(&[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 0.0, 2.0], 5, &[3, 6, 7, 9, 2]);
        check(&[5.0, 5.0, 5.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0], 4, &[11, 0, 1, 4]);
        check(&[1.0, 3.0, 2.0], 3, &[1, 2, 0]);
        check(&[], 3, &[]);
        check(&[1.0, 2.0], 0, &[]);
    }
}
