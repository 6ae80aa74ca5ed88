//! Messages along edges, and what groups of rows have in common.

use super::wide::wide;

/// The indices of rows that belong to each group: group g has `items[starts[g]..starts[g + 1]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Groups {
    pub(crate) starts: Vec<u32>,
    pub(crate) items: Vec<u32>,
}

impl Groups {
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

/// The transformation of messages along edges of a class: a gain and a shift for each number, and ReLU.
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

/// The messages that a node receives along its edges, in a block of its row.
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

/// One way for messages: which part of rows is sent along which edges, and what becomes of it.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) part: Part,
    pub(crate) edges: &'a Edges,
    /// The factor of the sum of the messages that a node receives.
    pub(crate) factors: &'a [f32],
    pub(crate) gates: Gates<'a>,
}

/// The rows that some nodes add to their own: a row for each symbol, and the symbol of every node, if any.
#[derive(Clone, Copy)]
pub(crate) struct OfSymbols<'a> {
    pub(crate) rows: &'a [f32],
    pub(crate) symbols: &'a [u32],
}

/// The sum of the messages at a node, in a block of its row.
#[inline(always)]
fn meet_at<const N: usize>(
    out: &mut [f32; N],
    rows: &[f32],
    (kept, from): (Part, usize),
    node: usize,
    of_symbols: OfSymbols<'_>,
    ways: &[Way<'_>; 2],
    bias: &[f32],
) {
    let mut met = *block::<N>(rows, kept.begin(node as u32) + from);
    let symbol = of_symbols.symbols[node];
    if symbol != NONE {
        let row = block::<N>(of_symbols.rows, symbol as usize * kept.d + from);
        for j in 0..N {
            met[j] += row[j];
        }
    }
    for way in ways {
        receive(&mut met, rows, (way.part, from), way.edges.of(node), way.factors[node], way.gates);
    }
    let bias = block::<N>(bias, from);
    for j in 0..N {
        out[j] = (met[j] + bias[j]).max(0.0);
    }
}

wide! {
    /// Every row of `out` is what a node keeps of its row, plus the row of its symbol, plus what it receives on both ways,
    /// plus a bias, and ReLU: all at once, since going over rows costs more than adding to them.
    pub(crate) fn meet(
        out: &mut [f32],
        rows: &[f32],
        kept: Part,
        of_symbols: OfSymbols<'_>,
        ways: &[Way<'_>; 2],
        bias: &[f32],
    ) {
        for (node, out) in out.chunks_exact_mut(kept.d).enumerate() {
            for_blocks!(kept.d, |from| meet_at(
                block_mut(out, from),
                rows,
                (kept, from),
                node,
                of_symbols,
                ways,
                bias,
            ));
        }
    }
}

/// The gradient of what a node sent along its edges, in a block of its row.
#[inline(always)]
fn give_back<const N: usize>(
    out: &mut [f32; N],
    row: &[f32; N],
    (d, from): (usize, usize),
    node: usize,
    way: &Way<'_>,
    received: &[f32],
    gradients: &mut GateGradients<'_>,
) {
    let mut sum = [0.0; N];
    for (end, class) in way.edges.of(node) {
        let (factor, gate) = (way.factors[end], class * d + from);
        let gradient = block::<N>(received, end * d + from);
        let (gain, shift) = (block::<N>(way.gates.gains, gate), block::<N>(way.gates.shifts, gate));
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
    /// The gradient of all parts of `rows`, given that of what meets at the nodes before ReLU; adds those of the symbols' rows
    /// and of the gates. The edges of a way are those that lead back to where its messages went.
    pub(crate) fn meet_backward(
        out: &mut [f32],
        rows: &[f32],
        kept: Part,
        received: &[f32],
        of_symbols: (&mut [f32], &[u32]),
        ways: &[Way<'_>; 2],
        gradients: [GateGradients<'_>; 2],
    ) {
        let (d, (symbol_rows, symbols)) = (kept.d, of_symbols);
        let mut gradients = gradients;
        for (node, gradient) in received.chunks_exact(d).enumerate() {
            out[kept.begin(node as u32)..][..d].copy_from_slice(gradient);
            if symbols[node] != NONE {
                let row = &mut symbol_rows[symbols[node] as usize * d..][..d];
                row.iter_mut().zip(gradient).for_each(|(sum, x)| *sum += x);
            }
            for (way, gradients) in ways.iter().zip(&mut gradients) {
                let begin = way.part.begin(node as u32);
                for_blocks!(d, |from| give_back(
                    block_mut(out, begin + from),
                    block(rows, begin + from),
                    (d, from),
                    node,
                    way,
                    received,
                    gradients,
                ));
            }
        }
    }
}

wide! {
    /// Mean and maximum of every number over the rows of each group, one after the other in `pooled`, and the row of each
    /// maximum. A group of no rows has zeros.
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
