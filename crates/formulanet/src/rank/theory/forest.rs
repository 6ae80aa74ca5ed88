//! Decision trees whose leaves are added up.

/// Trees of one depth over rows of one width.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Forest {
    pub(super) width: usize,
    pub(super) depth: usize,
    /// For every tree, its inner nodes level by level: which number of a row, and above what to go right.
    pub(super) columns: Vec<u8>,
    pub(super) thresholds: Vec<f32>,
    /// For every tree, its leaves from left to right.
    pub(super) leaves: Vec<f32>,
}

/// Levels of a tree, at most.
pub(super) const DEEPEST: usize = 12;

impl Forest {
    /// No tree yet. Rows have at most 256 numbers.
    pub fn new(width: usize, depth: usize) -> Self {
        Forest { width: width.min(256), depth: depth.clamp(1, DEEPEST), ..Forest::default() }
    }

    /// How many trees there are.
    pub fn len(&self) -> usize {
        self.leaves.len() >> self.depth
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Adds a tree: its inner nodes level by level, each with the number of a row that it looks at and above what it goes
    /// right, and its leaves.
    pub fn push(&mut self, splits: &[(u8, f32)], leaves: &[f32]) {
        debug_assert!(splits.len() + 1 == 1 << self.depth && leaves.len() == 1 << self.depth);
        self.columns.extend(splits.iter().map(|(column, _)| *column));
        self.thresholds.extend(splits.iter().map(|(_, threshold)| *threshold));
        self.leaves.extend_from_slice(leaves);
    }

    /// The score of a row.
    pub fn score(&self, row: &[f32]) -> f32 {
        (0..self.len()).map(|tree| self.score_by(tree, row)).sum()
    }

    /// What one tree adds to the score of a row.
    pub fn score_by(&self, tree: usize, row: &[f32]) -> f32 {
        let inner = (1 << self.depth) - 1;
        let columns = &self.columns[tree * inner..][..inner];
        let thresholds = &self.thresholds[tree * inner..][..inner];
        let mut node = 0;
        for _ in 0..self.depth {
            node = 2 * node + 1 + usize::from(row[usize::from(columns[node])] > thresholds[node]);
        }
        self.leaves[(tree << self.depth) + node - inner]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fall_to_leaves() {
        let mut forest = Forest::new(2, 2);
        forest.push(&[(0, 0.5), (1, 1.0), (1, f32::INFINITY)], &[1.0, 2.0, 3.0, 4.0]);
        let check = |row: [f32; 2], expected: f32| assert_eq!(forest.score(&row), expected, "{row:?}");
        check([0.0, 1.0], 1.0);
        check([0.5, 1.5], 2.0);
        check([0.6, 9.0], 3.0);
        let mut two = forest.clone();
        two.push(&[(1, 0.0), (0, 0.0), (0, 0.0)], &[0.0, 10.0, 20.0, 30.0]);
        assert_eq!((two.len(), two.score(&[1.0, -1.0]), two.score_by(1, &[-1.0, 1.0])), (2, 13.0, 20.0));
    }
}
