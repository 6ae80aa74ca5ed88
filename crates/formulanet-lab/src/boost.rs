//! Gradient boosting: trees that are fitted one after the other to what those before them got wrong.
//!
//! Numbers are sorted into bins once; a tree is grown level by level from histograms of first and second derivatives of the
//! loss. All sums have a fixed order, so that the result does not depend on the number of threads.

use formulanet::proofs::TreeEnsemble;
use formulanet::util::random::{falls_in, scramble};
use formulanet_train::{Error, Progress, Stage};

/// How trees are grown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoostOptions {
    /// Levels of a tree.
    pub depth: usize,
    /// Which part of a tree's step is taken.
    pub rate: f32,
    /// The regularization of second derivatives, against leaves of a few rows.
    pub smoothing: f32,
    /// The least sum of second derivatives of a leaf.
    pub least: f32,
    /// The weight of the pairwise loss relative to the pointwise one.
    pub pairwise: f32,
    /// Which share of the columns each tree looks at, and which share of the groups.
    pub shares: Shares,
    /// Threads.
    pub threads: usize,
}

/// The random sample for a tree: trees on different samples make different errors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shares {
    /// Which share of the numbers of a row.
    pub columns: f32,
    /// Which share of the groups.
    pub groups: f32,
}

impl Default for BoostOptions {
    fn default() -> Self {
        BoostOptions {
            depth: 5,
            rate: 0.15,
            smoothing: 5.0,
            least: 5.0,
            pairwise: 0.5,
            shares: Shares { columns: 1.0, groups: 1.0 },
            threads: 2,
        }
    }
}

/// Bins of a signal.
const BINS: usize = 64;

/// Training data: rows of numbers in groups, some of which are wanted.
#[derive(Clone, Debug, Default)]
pub struct Examples {
    width: usize,
    rows: Vec<f32>,
    labels: Vec<bool>,
    weights: Vec<f32>,
    /// Where each group ends.
    ends: Vec<usize>,
    /// Which phase of the fitting looks at each group.
    phases: Vec<Phase>,
}

/// Which trees a group of rows is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// The first ones.
    First,
    /// Those that are fitted after them, to what they got wrong.
    Second,
    /// All.
    #[default]
    Both,
}

impl Examples {
    /// Creates an empty table with rows of this length.
    pub fn new(width: usize) -> Self {
        Examples { width, ..Examples::default() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.ends.len()
    }

    /// All rows, each with whether it is wanted.
    pub fn rows(&self) -> impl Iterator<Item = (&[f32], bool)> {
        self.rows.chunks_exact(self.width.max(1)).zip(self.labels.iter().copied())
    }

    /// Adds a row to the last group.
    pub fn push(&mut self, row: &[f32], is_wanted: bool, weight: f32) {
        debug_assert_eq!(row.len(), self.width);
        self.rows.extend_from_slice(row);
        self.labels.push(is_wanted);
        self.weights.push(weight);
    }

    /// Ends the last group, which trees of a phase look at.
    pub fn end_group(&mut self, phase: Phase) {
        self.ends.push(self.labels.len());
        self.phases.push(phase);
    }
}

/// A column of bins, and where bins begin.
struct Column {
    bins: Vec<u8>,
    /// Bin b + 1 begins above the b-th.
    edges: Vec<f32>,
}

impl Column {
    fn new(examples: &Examples, at: usize) -> Self {
        let values = || examples.rows.iter().skip(at).step_by(examples.width).copied();
        let step = (examples.len() / 50_000).max(1);
        let mut sample: Vec<f32> = values().step_by(step).collect();
        sample.sort_unstable_by(f32::total_cmp);
        let edges = edges(&sample);
        let bins = values().map(|value| edges.partition_point(|&edge| edge < value) as u8).collect();
        Column { bins, edges }
    }
}

/// Where bins end, given a sample of values in order. Of a few values, each has a bin; of many, those that are frequent,
/// and the others are spread evenly.
fn edges(sample: &[f32]) -> Vec<f32> {
    let most = sample.len() / BINS + 1;
    let runs = || sample.chunk_by(|a, b| a == b);
    let mut edges: Vec<f32> = if runs().count() <= BINS {
        runs().map(|run| run[0]).collect()
    } else {
        let capped: Vec<f32> = runs().flat_map(|run| &run[..run.len().min(most)]).copied().collect();
        (1..BINS).map(|bin| capped[bin * (capped.len() - 1) / BINS]).collect()
    };
    edges.truncate(BINS - 1);
    edges.dedup();
    edges
}

/// The best way to split a node.
#[derive(Clone, Copy)]
struct Split {
    gain: f32,
    column: usize,
    bin: u8,
}

/// Fits trees, phase by phase: in each, this many trees that look at these columns of the groups for that phase.
///
/// # Errors
///
/// If `progress` stops it.
pub fn boost(
    examples: &Examples,
    options: &BoostOptions,
    phases: &[(Phase, usize, Vec<usize>)],
    progress: &dyn Progress,
) -> Result<TreeEnsemble, Error> {
    let total: usize = phases.iter().map(|(_, trees, _)| trees).sum();
    progress.begin(Stage { name: "fitting", done: 0, of: total as u64, unit: "trees" });
    let columns = make_columns(examples, options.threads);
    let mut forest = TreeEnsemble::new(examples.width, options.depth);
    let mut scores = vec![0.0f32; examples.len()];
    let plan = phases.iter().flat_map(|(phase, trees, usable)| (0..*trees).map(move |_| (*phase, usable)));
    for (tree, (phase, usable)) in (0u64..).zip(plan) {
        if progress.is_stopped() {
            return Err(Error::Interrupted);
        }
        let mut slopes = slopes(examples, &scores, options);
        leave_out(examples, (tree, phase), options.shares.groups, &mut slopes);
        let drawn =
            |column: &usize| falls_in(scramble(scramble(tree) ^ *column as u64), options.shares.columns);
        let drawn: Vec<usize> = usable.iter().copied().filter(drawn).collect();
        let mut nodes = vec![0u32; examples.len()];
        let mut splits: Vec<(u8, f32)> = Vec::new();
        for level in 0..options.depth {
            let best = best_splits((&columns, &drawn), &nodes, &slopes, 1 << level, options);
            for split in &best {
                splits.push(match split {
                    Some(split) => (split.column as u8, columns[split.column].edges[split.bin as usize]),
                    None => (0, f32::INFINITY),
                });
            }
            for (row, node) in nodes.iter_mut().enumerate() {
                let goes_right =
                    best[*node as usize].is_some_and(|split| columns[split.column].bins[row] > split.bin);
                *node = *node * 2 + u32::from(goes_right);
            }
        }
        let mut sums = vec![(0.0f64, 0.0f64); 1 << options.depth];
        for (&node, &(slope, bend)) in nodes.iter().zip(&slopes) {
            let sum = &mut sums[node as usize];
            *sum = (sum.0 + f64::from(slope), sum.1 + f64::from(bend));
        }
        let leaf = |&(slope, bend): &(f64, f64)| {
            -options.rate * (slope / (bend + f64::from(options.smoothing))) as f32
        };
        let leaves: Vec<f32> = sums.iter().map(leaf).collect();
        for (score, &node) in scores.iter_mut().zip(&nodes) {
            *score += leaves[node as usize];
        }
        forest.push(&splits, &leaves);
        progress.advance(1);
    }
    Ok(forest)
}

/// Takes the slopes away from groups that a tree does not look at.
fn leave_out(examples: &Examples, (tree, phase): (u64, Phase), share: f32, slopes: &mut [(f32, f32)]) {
    let mut start = 0;
    for (group, &end) in examples.ends.iter().enumerate() {
        let is_for_phase = [phase, Phase::Both].contains(&examples.phases[group]);
        if !is_for_phase || !falls_in(scramble(scramble(!tree) ^ group as u64), share) {
            slopes[start..end].fill((0.0, 0.0));
        }
        start = end;
    }
}

fn make_columns(examples: &Examples, threads: usize) -> Vec<Column> {
    in_threads(examples.width, threads, |at| Column::new(examples, at))
}

/// Computes something for every number below an end, on threads, in order.
pub(super) fn in_threads<T: Send>(end: usize, threads: usize, compute: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.clamp(1, end.max(1));
    let compute = &compute;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || (first..end).step_by(threads).map(compute).collect::<Vec<T>>()))
            .collect();
        let mut found: Vec<_> =
            workers.into_iter().map(|worker| worker.join().expect("no worker panics").into_iter()).collect();
        (0..end).filter_map(|number| found[number % threads].next()).collect()
    })
}

/// First and second derivatives of the loss by the score of each row.
fn slopes(examples: &Examples, scores: &[f32], options: &BoostOptions) -> Vec<(f32, f32)> {
    let mut slopes: Vec<(f32, f32)> = scores
        .iter()
        .zip(&examples.labels)
        .zip(&examples.weights)
        .map(|((&score, &is_wanted), &weight)| {
            let share = 1.0 / (1.0 + (-score).exp());
            let slope = share - f32::from(u8::from(is_wanted));
            let part = weight * (1.0 - options.pairwise);
            (part * slope, part * share * (1.0 - share))
        })
        .collect();
    if options.pairwise > 0.0 {
        let mut start = 0;
        for &end in &examples.ends {
            add_pairs(examples, scores, start..end, options.pairwise, &mut slopes);
            start = end;
        }
    }
    slopes
}

/// The slopes of pairs of a wanted and an unwanted row of one group, each as important as what swapping the two would change
/// in how early wanted rows come (LambdaRank).
fn add_pairs(
    examples: &Examples,
    scores: &[f32],
    group: std::ops::Range<usize>,
    part: f32,
    slopes: &mut [(f32, f32)],
) {
    let mut order: Vec<usize> = group.clone().collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let wanted = group.clone().filter(|&row| examples.labels[row]).count();
    if wanted == 0 {
        return;
    }
    let mut discounts = vec![0.0f32; group.len()];
    // A sampled row stands for as many as its weight says.
    let mut rank = 0.0;
    for &row in &order {
        discounts[row - group.start] = discount(rank);
        rank += examples.weights[row].max(1.0);
    }
    let ideal: f32 = (0..wanted).map(|rank| discount(rank as f32)).sum();
    let (yes, no): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&row| examples.labels[row]);
    for &high in &yes {
        for &low in &no {
            let change = (discounts[high - group.start] - discounts[low - group.start]).abs() / ideal;
            let share = 1.0 / (1.0 + (scores[high] - scores[low]).exp());
            let weight = part * change * examples.weights[low] * wanted as f32;
            let (slope, bend) = (weight * share, weight * share * (1.0 - share));
            slopes[high] = (slopes[high].0 - slope, slopes[high].1 + bend);
            slopes[low] = (slopes[low].0 + slope, slopes[low].1 + bend);
        }
    }
}

/// The value of a place in a ranking: early ones more, and a good deal more before the 64th, where provers stop reading, than
/// after it.
fn discount(rank: f32) -> f32 {
    0.5 / (2.0 + rank).log2() + 1.0 / (1.0 + ((rank - 64.0) / 16.0).exp())
}

/// The best split of every node of a level, if any gains something.
fn best_splits(
    (columns, drawn): (&[Column], &[usize]),
    nodes: &[u32],
    slopes: &[(f32, f32)],
    number: usize,
    options: &BoostOptions,
) -> Vec<Option<Split>> {
    let of_columns = in_threads(drawn.len(), options.threads, |place| {
        let at = drawn[place];
        let mut sums = vec![(0.0f32, 0.0f32); number * BINS];
        for ((&bin, &node), &(slope, bend)) in columns[at].bins.iter().zip(nodes).zip(slopes) {
            // Rows that the tree does not look at.
            if bend == 0.0 {
                continue;
            }
            let sum = &mut sums[node as usize * BINS + usize::from(bin)];
            *sum = (sum.0 + slope, sum.1 + bend);
        }
        let edges = columns[at].edges.len();
        sums.chunks_exact(BINS).map(|bins| best_bin(bins, edges, at, options)).collect::<Vec<_>>()
    });
    let best = |node: usize| {
        let found = of_columns.iter().filter_map(|column| column[node]);
        found.reduce(|best, other| if other.gain > best.gain { other } else { best })
    };
    (0..number).map(best).collect()
}

fn best_bin(bins: &[(f32, f32)], edges: usize, column: usize, options: &BoostOptions) -> Option<Split> {
    let all = bins.iter().fold((0.0, 0.0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
    let worth = |(slope, bend): (f32, f32)| slope * slope / (bend + options.smoothing);
    let (mut left, mut best) = ((0.0, 0.0), None::<Split>);
    for (bin, sum) in bins[..edges].iter().enumerate() {
        left = (left.0 + sum.0, left.1 + sum.1);
        let right = (all.0 - left.0, all.1 - left.1);
        if left.1 < options.least || right.1 < options.least {
            continue;
        }
        let gain = worth(left) + worth(right) - worth(all);
        if gain > best.map_or(1e-3, |best| best.gain) {
            best = Some(Split { gain, column, bin: bin as u8 });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use formulanet::util::random::Random;
    use formulanet_train::Silent;

    /// Groups of rows of which those are wanted whose first two numbers are both high or both low.
    fn examples() -> Examples {
        let (mut examples, mut random) = (Examples::new(3), Random(7));
        for _ in 0..60 {
            for _ in 0..20 {
                let row = [random.unit(), random.unit(), random.unit()];
                examples.push(&row, (row[0] > 0.5) == (row[1] > 0.5), 1.0);
            }
            examples.end_group(Phase::Both);
        }
        examples
    }

    #[test]
    fn trees_learn_what_no_single_number_says() {
        let examples = examples();
        for pairwise in [0.0, 0.5] {
            let options = BoostOptions { depth: 3, rate: 0.3, pairwise, ..BoostOptions::default() };
            let phases = [(Phase::First, 20, vec![0, 1, 2]), (Phase::Second, 20, vec![0, 1])];
            let forest = boost(&examples, &options, &phases, &Silent).unwrap();
            assert_eq!(forest.len(), 40);
            let check = |row: [f32; 3], is_wanted: bool| {
                assert_eq!(forest.score(&row) > 0.0, is_wanted, "{row:?} with {pairwise}");
            };
            check([0.9, 0.8, 0.1], true);
            check([0.1, 0.2, 0.9], true);
            check([0.1, 0.8, 0.5], false);
            check([0.9, 0.2, 0.5], false);
        }
    }

    #[test]
    fn bins_end_where_values_do() {
        let check = |sample: &[f32], expected: &[f32]| assert_eq!(edges(sample), expected);
        check(&[1.0, 1.0, 2.0, 7.0], &[1.0, 2.0, 7.0]);
        check(&[], &[]);
        // Half of the values are 0, and the others have most of the bins all the same.
        let sample: Vec<f32> = (0..2000).map(|i| (i - 1000).max(0) as f32).collect();
        let found = edges(&sample);
        assert!(found.len() > 55 && found[0] == 0.0 && found.is_sorted(), "{found:?}");
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let fit = |threads: usize| {
            let options = BoostOptions { threads, pairwise: 0.5, ..BoostOptions::default() };
            boost(&examples(), &options, &[(Phase::First, 5, vec![0, 1, 2])], &Silent).unwrap()
        };
        assert_eq!(fit(1), fit(3));
    }
}
