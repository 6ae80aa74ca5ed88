//! Comparison of a conjecture and statements by symbols that the model has never seen.
//!
//! To the network, all symbols outside its training data are alike. But a theory with its own symbols uses
//! them in axioms and conjecture alike, which is informative. So statements are compared by their unknown
//! symbols, rare ones counting more, and symbols of the statements most similar to the conjecture lead to
//! others.

use std::collections::HashMap;

use crate::util::hash::digest;

/// Maximum number of symbols of a statement that are compared.
const MOST: usize = 12;

/// Returns the numbers of a statement's unknown symbols, at most [`MOST`], in an order that is the same for
/// all statements.
pub(crate) fn rare_symbol_ids(unknown: &[String]) -> Vec<u32> {
    let mut numbers = symbol_ids(unknown);
    numbers.sort_unstable();
    numbers.truncate(MOST);
    numbers
}

/// Returns the number of every symbol.
pub(crate) fn symbol_ids(unknown: &[String]) -> Vec<u32> {
    unknown.iter().map(|label| 1 + (digest(label.as_bytes()) % ((1 << 24) - 1)) as u32).collect()
}

/// Number of statements whose symbols lead to others, and the factor by which such symbols count less.
const LEADERS: usize = 10;
const DECAY: f32 = 0.5;

/// Returns the similarity of each statement to a conjecture with unknown symbols, from 0 to 1: the cosine of
/// their symbols, each weighted by its rarity.
pub(crate) fn overlap_cosine(conjecture: &[u32], statements: &[Vec<u32>]) -> Vec<f32> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for &number in statements.iter().flatten() {
        *counts.entry(number).or_default() += 1;
    }
    let of = statements.len() as f32 + 1.0;
    let idf = |number: u32| (of / (counts.get(&number).copied().unwrap_or(0) as f32 + 1.0)).ln_1p();
    let length = |symbols: &Vec<u32>| symbols.iter().map(|&number| idf(number).powi(2)).sum::<f32>().sqrt();
    let lengths: Vec<f32> = statements.iter().map(length).collect();
    let compare = |wanted: &HashMap<u32, f32>| -> Vec<f32> {
        // In the order of their numbers, so that sums are the same in every run.
        let mut parts: Vec<(u32, f32)> =
            wanted.iter().map(|(&number, weight)| (number, weight * idf(number))).collect();
        parts.sort_unstable_by_key(|&(number, _)| number);
        let length = parts.iter().map(|(_, part)| part * part).sum::<f32>().sqrt();
        let likeness = |(symbols, own): (&Vec<u32>, &f32)| {
            let common = symbols.iter().filter_map(|number| Some(wanted.get(number)? * idf(*number).powi(2)));
            let product = common.sum::<f32>();
            if product > 0.0 { (product / (own * length)).min(1.0) } else { 0.0 }
        };
        statements.iter().zip(&lengths).map(likeness).collect()
    };
    let mut wanted: HashMap<u32, f32> = conjecture.iter().map(|&number| (number, 1.0)).collect();
    let first = compare(&wanted);
    let mut leaders: Vec<usize> = (0..statements.len()).filter(|&i| first[i] > 0.0).collect();
    leaders.sort_by(|&a, &b| first[b].total_cmp(&first[a]));
    for leader in leaders.into_iter().take(LEADERS) {
        for &number in &statements[leader] {
            let weight = wanted.entry(number).or_default();
            *weight = weight.max(DECAY * first[leader]);
        }
    }
    compare(&wanted)
}

/// Returns the approximate probability that a statement of some similarity is useful: measured on Mizar's
/// theorems, among a thousand statements.
pub(crate) fn probability(likeness: f32) -> f32 {
    likeness * likeness.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Returns the statements from the most to the least similar to a conjecture.
    fn order(conjecture: &str, statements: &[&str]) -> Vec<usize> {
        let rows: Vec<_> = statements.iter().map(|text| rare_symbol_ids(&labels(text))).collect();
        let likeness = overlap_cosine(&symbol_ids(&labels(conjecture)), &rows);
        assert!(likeness.iter().all(|x| (0.0..=1.0).contains(x)), "{likeness:?}");
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| likeness[b].total_cmp(&likeness[a]));
        order
    }

    #[test]
    fn symbols_in_common_count() {
        let check = |conjecture: &str, statements: &[&str], expected: &[usize]| {
            assert_eq!(order(conjecture, statements), expected, "{conjecture}: {statements:?}");
        };
        check("a b", &["c", "a c", "a b"], &[2, 1, 0]);
        // `a` is everywhere, `b` is rare
        check("a b", &["a c", "a d", "b e", "a"], &[2, 3, 0, 1]);
        // `c` occurs only in a statement that has a symbol of the conjecture
        check("a", &["d e", "c d", "a c", "f"], &[2, 1, 0, 3]);
        check("", &["a", "b"], &[0, 1]);
        check("a", &["", "a"], &[1, 0]);
    }

    #[test]
    fn of_many_symbols_the_same_are_kept_in_any_order() {
        let many = labels("a b c d e f g h i j k l m n o p q r s t u v w x y z");
        let mut backwards = many.clone();
        backwards.reverse();
        assert_eq!(rare_symbol_ids(&many), rare_symbol_ids(&backwards));
        assert_eq!(rare_symbol_ids(&many).len(), MOST);
        assert_eq!(rare_symbol_ids(&labels("a")), symbol_ids(&labels("a")));
    }
}
