//! Similarity of graphs by the tokens they have in common.

/// Distinct tokens, each with how much it is there: 1 for one occurrence, and 1 more with every e-fold number.
pub(super) fn bag(tokens: &[u16]) -> Vec<(u16, f32)> {
    let mut sorted = tokens.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], 1.0 + (run.len() as f32).ln())).collect()
}

/// Finds the documents that are most like another, by the cosine of their bags of tokens, where a token weighs the
/// more the fewer documents have it (TF-IDF).
pub(crate) struct Index {
    /// How much a token weighs.
    weights: Vec<f32>,
    /// For every token, the documents that have it, ascending, and its part in their vector of length 1.
    postings: Vec<Vec<(u32, f32)>>,
    documents: usize,
}

impl Index {
    /// An index of documents, which are numbered in their order. Tokens are below `vocabulary`; others are ignored.
    pub(crate) fn new<'a>(documents: impl Iterator<Item = &'a [u16]> + Clone, vocabulary: usize) -> Self {
        let mut having = vec![0u32; vocabulary];
        let mut number = 0;
        let mut last_seen = vec![0; vocabulary];
        for tokens in documents.clone() {
            number += 1;
            for token in tokens.iter().map(|&token| usize::from(token)).filter(|&token| token < vocabulary) {
                having[token] += u32::from(last_seen[token] != number);
                last_seen[token] = number;
            }
        }
        let weights =
            having.iter().map(|&having| ((1.0 + number as f32) / (1.0 + having as f32)).ln()).collect();
        let mut index = Index { weights, postings: vec![Vec::new(); vocabulary], documents: number };
        for (document, tokens) in (0..).zip(documents) {
            for (token, part) in index.vector(tokens) {
                index.postings[usize::from(token)].push((document, part));
            }
        }
        index
    }

    /// A vector of length 1. Tokens that every document has are left out, as they weigh nothing.
    fn vector(&self, tokens: &[u16]) -> Vec<(u16, f32)> {
        let mut vector = bag(tokens);
        for (token, part) in &mut vector {
            *part *= self.weights.get(usize::from(*token)).copied().unwrap_or(0.0);
        }
        vector.retain(|(_, part)| *part > 0.0);
        let length = vector.iter().map(|(_, part)| part * part).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|(_, part)| *part /= length);
        vector
    }

    /// At most `number` documents that have something in common with the tokens, the most similar first, with their
    /// similarity, which is at most 1. Of equally similar documents, the earlier.
    pub(crate) fn nearest(&self, tokens: &[u16], number: usize) -> Vec<(usize, f32)> {
        let mut similarities = vec![0.0f32; self.documents];
        for (token, part) in self.vector(tokens) {
            for &(document, of_document) in &self.postings[usize::from(token)] {
                similarities[document as usize] += part * of_document;
            }
        }
        best(&similarities, number)
    }
}

/// The highest of positive numbers and where they are, the highest first, then the earliest.
fn best(numbers: &[f32], count: usize) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(2 * count);
    let mut bar = 0.0;
    let keep_best = |best: &mut Vec<(usize, f32)>| {
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(count);
    };
    // Most numbers are below the bar and cost a comparison; the others are sorted when as many again have come.
    for (place, &number) in numbers.iter().enumerate() {
        if number > bar {
            best.push((place, number));
            if best.len() >= 2 * count.max(1) {
                keep_best(&mut best);
                bar = best.last().map_or(f32::INFINITY, |&(_, number)| number);
            }
        }
    }
    keep_best(&mut best);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bags_count_slowly() {
        assert_eq!(bag(&[5, 2, 5]), [(2, 1.0), (5, 1.0 + 2f32.ln())]);
        assert_eq!(bag(&[]), []);
    }

    #[test]
    fn rare_tokens_make_documents_similar() {
        // Token 0 is everywhere and weighs nothing; 1 is in two documents, 2 and 3 in one each.
        let documents: [&[u16]; 4] = [&[0, 1], &[0, 1, 2], &[0, 3], &[0]];
        let index = Index::new(documents.into_iter(), 4);
        assert_eq!(index.nearest(&[0], 3), []);
        assert_eq!(index.nearest(&[], 3), []);
        let found = index.nearest(&[0, 2, 1], 3);
        assert_eq!(found.iter().map(|&(document, _)| document).collect::<Vec<_>>(), [1, 0]);
        assert!((found[0].1 - 1.0).abs() < 1e-6);
        // The cosine of (ln 5/3, ln 5/2) and (ln 5/3, 0).
        let (a, b) = ((5f32 / 3.0).ln(), (5f32 / 2.0).ln());
        assert!((found[1].1 - a / a.hypot(b)).abs() < 1e-6);
        assert_eq!(index.nearest(&[3, 900], 1), [(2, 1.0)]);
        assert_eq!(Index::new(documents[..0].iter().copied(), 4).nearest(&[1], 3), []);
    }

    #[test]
    fn the_best_of_many() {
        let numbers: Vec<f32> = (0..1000).map(|i| ((i * 37) % 101) as f32).collect();
        let mut expected: Vec<(usize, f32)> = numbers.iter().copied().enumerate().collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(best(&numbers, 25), expected[..25]);
        assert_eq!(best(&numbers, 0), []);
        assert_eq!(best(&[0.0, -1.0, 2.0], 5), [(2, 2.0)]);
    }
}
