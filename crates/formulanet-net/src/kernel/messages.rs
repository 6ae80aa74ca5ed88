//! Messages along edges, and what groups of rows have in common.

use super::wide::wide;

/// The numbers of so many rows that belong to something each: group g has `items[starts[g]..starts[g + 1]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Groups {
    pub(crate) starts: Vec<u32>,
    pub(crate) items: Vec<u32>,
}

impl Groups {
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, group: usize) -> &[u32] {
        &self.items[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

/// The edges of every node in one direction: to whom they lead and of which class they are.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Edges {
    pub(crate) ends: Groups,
    pub(crate) classes: Vec<u8>,
}

/// Rows of `d` numbers, each of which is a part of a wider row.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// How long the wider rows are.
    pub(crate) stride: usize,
    /// Where the part begins in them.
    pub(crate) offset: usize,
    pub(crate) d: usize,
}

impl Part {
    /// Rows that are no part of others.
    pub(crate) fn whole(d: usize) -> Self {
        Part { stride: d, offset: 0, d }
    }

    fn begin(self, row: u32) -> usize {
        row as usize * self.stride + self.offset
    }
}

/// What edges of a class do to what is sent along them: each number of it times a gain, plus a shift, and ReLU.
#[derive(Clone, Copy)]
pub(crate) struct Gates<'a> {
    pub(crate) gains: &'a [f32],
    pub(crate) shifts: &'a [f32],
}

/// The gradients of gains and shifts.
pub(crate) struct GateGradients<'a> {
    pub(crate) gains: &'a mut [f32],
    pub(crate) shifts: &'a mut [f32],
}

/// Stands for no symbol.
const NONE: u32 = u32::MAX;

wide! {
    /// Row r of `out` is a part of row r of `rows`, plus row `indices[r]` of `others` if it has one.
    pub(crate) fn meet(out: &mut [f32], rows: &[f32], part: Part, others: &[f32], indices: &[u32]) {
        let d = part.d;
        for (r, (out, &index)) in out.chunks_exact_mut(d).zip(indices).enumerate() {
            let row = &rows[part.begin(r as u32)..][..d];
            if index == NONE {
                out.copy_from_slice(row);
            } else {
                let other = &others[index as usize * d..][..d];
                for j in 0..d {
                    out[j] = row[j] + other[j];
                }
            }
        }
    }
}

wide! {
    /// The gradient of the parts of `rows`, and adds that of `others`.
    pub(crate) fn meet_backward(rows: &mut [f32], part: Part, others: &mut [f32], gradient: &[f32], indices: &[u32]) {
        let d = part.d;
        for (r, (gradient, &index)) in gradient.chunks_exact(d).zip(indices).enumerate() {
            rows[part.begin(r as u32)..][..d].copy_from_slice(gradient);
            if index != NONE {
                let other = &mut others[index as usize * d..][..d];
                other.iter_mut().zip(gradient).for_each(|(sum, x)| *sum += x);
            }
        }
    }
}

/// Calls a function for a row in blocks of as many numbers as fit, so that sums over edges stay in registers.
macro_rules! for_blocks {
    ($d:expr, |$from:ident| $function:ident($($argument:expr),* $(,)?)) => {
        let mut $from = 0;
        while $from + 64 <= $d {
            $function::<64>($($argument),*);
            $from += 64;
        }
        while $from + 16 <= $d {
            $function::<16>($($argument),*);
            $from += 16;
        }
        while $from < $d {
            $function::<1>($($argument),*);
            $from += 1;
        }
    };
}

#[inline(always)]
fn block<const N: usize>(row: &[f32], from: usize) -> &[f32; N] {
    row[from..].first_chunk().expect("a row does not end within a block")
}

#[inline(always)]
fn block_mut<const N: usize>(row: &mut [f32], from: usize) -> &mut [f32; N] {
    row[from..].first_chunk_mut().expect("a row does not end within a block")
}

impl Edges {
    #[inline(always)]
    fn of(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let edges = self.ends.starts[node] as usize..self.ends.starts[node + 1] as usize;
        let ends = self.ends.items[edges.clone()].iter();
        ends.zip(&self.classes[edges]).map(|(&end, &class)| (end as usize, usize::from(class)))
    }
}

/// What a node receives along its edges, in a block of its row.
#[inline(always)]
fn receive<const N: usize>(
    out: &mut [f32; N],
    rows: &[f32],
    (part, from): (Part, usize),
    edges: impl Iterator<Item = (usize, usize)>,
    factor: f32,
    gates: Gates<'_>,
) {
    let mut sum = [0.0; N];
    for (end, class) in edges {
        let row = block::<N>(rows, end * part.stride + part.offset + from);
        let gate = class * part.d + from;
        let (gain, shift) = (block::<N>(gates.gains, gate), block::<N>(gates.shifts, gate));
        for j in 0..N {
            sum[j] += (row[j] * gain[j] + shift[j]).max(0.0);
        }
    }
    for j in 0..N {
        out[j] += factor * sum[j];
    }
}

wide! {
    /// Adds to every node's row of `out` what the ends of its edges send it, times its factor.
    pub(crate) fn send(
        out: &mut [f32],
        rows: &[f32],
        part: Part,
        edges: &Edges,
        factors: &[f32],
        gates: Gates<'_>,
    ) {
        for (node, (out, &factor)) in out.chunks_exact_mut(part.d).zip(factors).enumerate() {
            for_blocks!(part.d, |from| receive(
                block_mut(out, from),
                rows,
                (part, from),
                edges.of(node),
                factor,
                gates,
            ));
        }
    }
}

/// The gradient of what every node received, and the factor that it was multiplied with.
#[derive(Clone, Copy)]
pub(crate) struct Received<'a> {
    pub(crate) gradient: &'a [f32],
    pub(crate) factors: &'a [f32],
}

/// The gradient of what a node sent along its edges, in a block of its row.
#[inline(always)]
fn give_back<const N: usize>(
    out: &mut [f32; N],
    row: &[f32; N],
    (d, from): (usize, usize),
    edges: impl Iterator<Item = (usize, usize)>,
    received: Received<'_>,
    gates: Gates<'_>,
    gradients: &mut GateGradients<'_>,
) {
    let mut sum = [0.0; N];
    for (end, class) in edges {
        let (factor, gate) = (received.factors[end], class * d + from);
        let gradient = block::<N>(received.gradient, end * d + from);
        let (gain, shift) = (block::<N>(gates.gains, gate), block::<N>(gates.shifts, gate));
        let mut passed = [0.0; N];
        for j in 0..N {
            let is_passed = row[j] * gain[j] + shift[j] > 0.0;
            passed[j] = if is_passed { factor * gradient[j] } else { 0.0 };
            sum[j] += passed[j] * gain[j];
        }
        let gains = block_mut::<N>(gradients.gains, gate);
        for j in 0..N {
            gains[j] += passed[j] * row[j];
        }
        let shifts = block_mut::<N>(gradients.shifts, gate);
        for j in 0..N {
            shifts[j] += passed[j];
        }
    }
    *out = sum;
}

wide! {
    /// The gradient of what every node sends along its edges.
    pub(crate) fn send_backward(
        out: &mut [f32],
        rows: &[f32],
        part: Part,
        edges: &Edges,
        received: Received<'_>,
        gates: Gates<'_>,
        gradients: GateGradients<'_>,
    ) {
        let mut gradients = gradients;
        for node in 0..edges.ends.count() {
            let begin = part.begin(node as u32);
            for_blocks!(part.d, |from| give_back(
                block_mut(out, begin + from),
                block(rows, begin + from),
                (part.d, from),
                edges.of(node),
                received,
                gates,
                &mut gradients,
            ));
        }
    }
}

wide! {
    /// Mean and largest of every number over the rows of each group, the one behind the other in `pooled`, and
    /// which row the largest comes from. A group of no rows has zeros.
    pub(crate) fn pool(
        out: &mut [f32],
        pooled: Part,
        places: &mut [u32],
        rows: &[f32],
        part: Part,
        groups: &Groups,
    ) {
        let d = part.d;
        for (group, (out, places)) in out.chunks_exact_mut(pooled.stride).zip(places.chunks_exact_mut(d)).enumerate() {
            let items = groups.of(group);
            let (mean, largest) = out[pooled.offset..][..2 * d].split_at_mut(d);
            mean.fill(0.0);
            largest.fill(if items.is_empty() { 0.0 } else { f32::NEG_INFINITY });
            for &item in items {
                let row = &rows[part.begin(item)..][..d];
                for j in 0..d {
                    mean[j] += row[j];
                    let is_larger = row[j] > largest[j];
                    largest[j] = if is_larger { row[j] } else { largest[j] };
                    places[j] = if is_larger { item } else { places[j] };
                }
            }
            let share = 1.0 / items.len().max(1) as f32;
            mean.iter_mut().for_each(|mean| *mean *= share);
        }
    }
}

wide! {
    /// Adds the gradients of pooled rows.
    pub(crate) fn pool_backward(
        out: &mut [f32],
        part: Part,
        gradient: &[f32],
        pooled: Part,
        places: &[u32],
        groups: &Groups,
    ) {
        let d = part.d;
        for (group, (gradient, places)) in gradient.chunks_exact(pooled.stride).zip(places.chunks_exact(d)).enumerate() {
            let items = groups.of(group);
            if items.is_empty() {
                continue;
            }
            let (mean, largest) = gradient[pooled.offset..][..2 * d].split_at(d);
            let share = 1.0 / items.len() as f32;
            for &item in items {
                let row = &mut out[part.begin(item)..][..d];
                row.iter_mut().zip(mean).for_each(|(sum, gradient)| *sum += share * gradient);
            }
            for (j, (&place, gradient)) in places.iter().zip(largest).enumerate() {
                out[part.begin(place) + j] += gradient;
            }
        }
    }
}
