//! Decision trees whose leaves are summed.

use safetensors::tensor::{Dtype, SafeTensors};

/// Trees of equal depth over rows of equal width.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TreeEnsemble {
    pub width: usize,
    pub depth: usize,
    /// For every tree, its inner nodes level by level: the column to test, and the threshold above which to
    /// go right.
    pub columns: Vec<u8>,
    pub thresholds: Vec<f32>,
    /// For every tree, its leaves from left to right.
    pub leaves: Vec<f32>,
}

/// Maximum number of levels of a tree.
pub const DEEPEST: usize = 12;

/// Names of the parts in a file.
const COLUMNS: &str = "columns";
const THRESHOLDS: &str = "thresholds";
const LEAVES: &str = "leaves";

/// A part of a file: its name, number type, shape and bytes.
pub type Part = (&'static str, Dtype, Vec<usize>, Vec<u8>);

impl TreeEnsemble {
    /// Makes an ensemble without trees. Rows have at most 256 numbers.
    pub fn new(width: usize, depth: usize) -> Self {
        TreeEnsemble { width: width.min(256), depth: depth.clamp(1, DEEPEST), ..TreeEnsemble::default() }
    }

    /// Returns the number of trees.
    pub fn len(&self) -> usize {
        self.leaves.len() >> self.depth
    }

    /// Whether there are no trees.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Adds a tree: its inner nodes level by level, each with the column to test and the threshold above
    /// which to go right, and its leaves.
    pub fn push(&mut self, splits: &[(u8, f32)], leaves: &[f32]) {
        debug_assert!(splits.len() + 1 == 1 << self.depth && leaves.len() == 1 << self.depth);
        self.columns.extend(splits.iter().map(|(column, _)| *column));
        self.thresholds.extend(splits.iter().map(|(_, threshold)| *threshold));
        self.leaves.extend_from_slice(leaves);
    }

    /// Returns the score of a row.
    pub fn score(&self, row: &[f32]) -> f32 {
        (0..self.len()).map(|tree| self.score_by(tree, row)).sum()
    }

    /// Returns the score that one tree contributes to a row.
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

    /// Returns the parts of a file.
    pub fn parts(&self) -> [Part; 3] {
        let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let (trees, outer) = (self.len(), 1usize << self.depth);
        [
            (COLUMNS, Dtype::U8, vec![trees, outer - 1], self.columns.clone()),
            (THRESHOLDS, Dtype::F32, vec![trees, outer - 1], bytes(&self.thresholds)),
            (LEAVES, Dtype::F32, vec![trees, outer], bytes(&self.leaves)),
        ]
    }

    /// Reads the trees of a file, for rows of a width; the error says what was found instead.
    pub fn read(tensors: &SafeTensors<'_>, width: usize) -> Result<Self, String> {
        let tensor = |key: &str, dtype: Dtype| {
            let found = tensors.tensor(key).map_err(|error| error.to_string())?;
            match found.shape() {
                &[trees, width] if found.dtype() == dtype => Ok((trees, width, found.data().to_vec())),
                _ => Err(format!("another shape of `{key}`")),
            }
        };
        let floats = |data: Vec<u8>| -> Vec<f32> {
            data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        let (trees, inner, columns) = tensor(COLUMNS, Dtype::U8)?;
        let (thresholds_trees, thresholds_inner, thresholds) = tensor(THRESHOLDS, Dtype::F32)?;
        let (leaves_trees, outer, leaves) = tensor(LEAVES, Dtype::F32)?;
        let (thresholds, leaves) = (floats(thresholds), floats(leaves));
        let depth = outer.checked_ilog2().unwrap_or(0) as usize;
        let is_whole = (thresholds_trees, leaves_trees, thresholds_inner) == (trees, trees, inner)
            && (1..=DEEPEST).contains(&depth)
            && outer == 1 << depth
            && inner + 1 == outer
            && columns.iter().all(|&column| usize::from(column) < width)
            && thresholds.iter().all(|threshold| !threshold.is_nan())
            && leaves.iter().all(|leaf| leaf.is_finite());
        if !is_whole {
            return Err("damaged trees".to_owned());
        }
        Ok(TreeEnsemble { width, depth, columns, thresholds, leaves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fall_to_leaves() {
        let mut forest = TreeEnsemble::new(2, 2);
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
