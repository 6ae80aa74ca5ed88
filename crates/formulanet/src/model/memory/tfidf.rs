//! Similarity of documents by the features they have in common, such as graphs by their tokens.

use crate::util::vector::sorted;

/// Distinct features, each with how much it is there: 1 for one occurrence, and 1 more with every e-fold number.
pub fn bag<T: Ord + Copy>(features: &[T]) -> Vec<(T, f32)> {
    let mut sorted = features.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], weight(run.len()))).collect()
}

/// How much a feature is there that occurs so often.
pub fn weight(count: usize) -> f32 {
    1.0 + (count as f32).ln()
}

/// Finds the documents that are most like another, by the cosine of their bags of features, where a feature weighs the
/// more the fewer documents have it (TF-IDF).
#[derive(Clone, PartialEq, Debug)]
pub struct TfIdfIndex<T> {
    /// All features of documents, in order.
    features: Vec<T>,
    /// How much each weighs.
    weights: Vec<f32>,
    /// The documents that have a feature, ascending, each with the feature's part in its vector of length 1: those of the first
    /// feature, then those of the next.
    postings: Vec<(u32, f32)>,
    /// Where the postings of each feature begin, and where the last end.
    starts: Vec<usize>,
    documents: usize,
}

impl<T: Ord + Copy> TfIdfIndex<T> {
    /// An index of documents, which are numbered in their order. A document is a bag.
    pub fn new(documents: impl Iterator<Item = Vec<(T, f32)>> + Clone) -> Self {
        let features = sorted(documents.clone().flatten().map(|(feature, _)| feature));
        let place =
            |(feature, part)| (features.binary_search(&feature).map_or(0, |place| place as u32), part);
        let placed: Vec<Vec<(u32, f32)>> =
            documents.map(|bag| bag.into_iter().map(place).collect()).collect();
        TfIdfIndex::of_places(features, placed.iter().map(|bag| bag.iter().copied()))
    }

    /// An index of documents whose features are given by their places among all features, which are in order. Every feature is in
    /// a document.
    pub fn of_places<I>(features: Vec<T>, documents: impl Iterator<Item = I> + Clone) -> Self
    where
        I: Iterator<Item = (u32, f32)>,
    {
        let mut having = vec![0; features.len()];
        let mut number = 0;
        for document in documents.clone() {
            document.for_each(|(place, _)| having[place as usize] += 1);
            number += 1;
        }
        let weights: Vec<f32> = having.iter().map(|&having| rarity(having, number)).collect();
        let sums = having.iter().scan(0, |sum, having| {
            *sum += having;
            Some(*sum)
        });
        let starts: Vec<usize> = std::iter::once(0).chain(sums).collect();
        let mut ends = starts.clone();
        let mut postings = vec![(0, 0.0); starts[features.len()]];
        let mut vector = Vec::new();
        for (document, bag) in (0..).zip(documents) {
            vector.clear();
            vector.extend(bag.map(|(place, part)| (place, part * weights[place as usize])));
            normalize(&mut vector);
            for &(place, part) in &vector {
                let end = &mut ends[place as usize];
                postings[*end] = (document, part);
                *end += 1;
            }
        }
        TfIdfIndex { features, weights, postings, starts, documents: number }
    }

    /// A vector of length 1: places of features, if there are such, and their parts.
    fn vector(&self, bag: &[(T, f32)]) -> Vec<(Option<usize>, f32)> {
        let weigh = |&(feature, part): &(T, f32)| {
            let place = self.features.binary_search(&feature).ok();
            (place, part * place.map_or_else(|| rarity(0, self.documents), |place| self.weights[place]))
        };
        let mut vector: Vec<_> = bag.iter().map(weigh).collect();
        normalize(&mut vector);
        vector
    }

    /// The weight of a feature that this many of all documents have; 0 if all have it.
    pub fn weight(&self, feature: T) -> Option<f32> {
        self.features.binary_search(&feature).ok().map(|place| self.weights[place])
    }

    /// At most `number` documents that have something in common with a bag, the most similar first, with their
    /// similarity, which is at most 1. Of equally similar documents, the earlier.
    pub fn nearest(&self, bag: &[(T, f32)], number: usize) -> Vec<(usize, f32)> {
        best(&self.similarities(bag), number)
    }

    /// How like every document a bag is, from 0 to 1.
    pub fn similarities(&self, bag: &[(T, f32)]) -> Vec<f32> {
        let mut similarities = vec![0.0f32; self.documents];
        for (place, part) in self.vector(bag) {
            let postings = place.map_or(0..0, |place| self.starts[place]..self.starts[place + 1]);
            for &(document, of_document) in &self.postings[postings] {
                similarities[document as usize] += part * of_document;
            }
        }
        similarities
    }
}

/// Makes a vector's length 1. Features that all documents have, which weigh nothing, are 0; so are all of an empty vector.
fn normalize<P>(vector: &mut [(P, f32)]) {
    let length = vector.iter().map(|(_, part)| part * part).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|(_, part)| *part /= length);
    }
}

/// The weight of a feature that this many of all documents have; 0 if all have it.
fn rarity(having: usize, documents: usize) -> f32 {
    ((1.0 + documents as f32) / (1.0 + having as f32)).ln()
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
        assert_eq!(bag::<u16>(&[]), []);
    }

    #[test]
    fn rare_tokens_make_documents_similar() {
        // Token 0 is everywhere and weighs nothing; 1 is in two documents, 2 and 3 in one each.
        let documents: [&[u16]; 4] = [&[0, 1], &[0, 1, 2], &[0, 3], &[0]];
        let index = TfIdfIndex::new(documents.into_iter().map(bag));
        let nearest = |tokens: &[u16], number| index.nearest(&bag(tokens), number);
        assert_eq!(nearest(&[0], 3), []);
        assert_eq!(nearest(&[], 3), []);
        let found = nearest(&[0, 2, 1], 3);
        assert_eq!(found.iter().map(|&(document, _)| document).collect::<Vec<_>>(), [1, 0]);
        assert!((found[0].1 - 1.0).abs() < 1e-6);
        // The cosine of (ln 5/3, ln 5/2) and (ln 5/3, 0).
        let (a, b) = ((5f32 / 3.0).ln(), (5f32 / 2.0).ln());
        assert!((found[1].1 - a / a.hypot(b)).abs() < 1e-6);
        // A token that no document has makes all less similar.
        let found = nearest(&[3, 900], 1);
        let (a, b) = ((5f32 / 2.0).ln(), 5f32.ln());
        assert!(found[0].0 == 2 && (found[0].1 - a / a.hypot(b)).abs() < 1e-6);
        assert_eq!(
            TfIdfIndex::new(documents[..0].iter().map(|tokens| bag(tokens))).nearest(&bag(&[1]), 3),
            []
        );
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
