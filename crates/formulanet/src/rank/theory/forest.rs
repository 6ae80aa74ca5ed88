//! Decision trees whose leaves are added up.

/// Trees of one depth over rows of one width.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Forest {
    width: usize,
    depth: usize,
    /// For every tree, its inner nodes level by level: which number of a row, and above what to go right.
    columns: Vec<u8>,
    thresholds: Vec<f32>,
    /// For every tree, its leaves from left to right.
    leaves: Vec<f32>,
}

impl Forest {
    /// No tree yet.
    pub fn new(width: usize, depth: usize) -> Self {
        Forest { width, depth, ..Forest::default() }
    }

    /// How many trees there are.
    pub fn len(&self) -> usize {
        self.leaves.len() >> self.depth
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Adds a tree: its inner nodes level by level, and its leaves.
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

impl Forest {
    /// The numbers of rows that inner nodes look at.
    pub fn columns_used(&self) -> impl Iterator<Item = u8> {
        let splits = self.columns.iter().zip(&self.thresholds);
        splits.filter(|(_, threshold)| threshold.is_finite()).map(|(&column, _)| column)
    }
}
