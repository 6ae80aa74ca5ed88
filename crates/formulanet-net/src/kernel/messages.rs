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
        let d = part.d;
        for (node, (out, &factor)) in out.chunks_exact_mut(d).zip(factors).enumerate() {
            for edge in edges.ends.starts[node] as usize..edges.ends.starts[node + 1] as usize {
                let row = &rows[part.begin(edges.ends.items[edge])..][..d];
                let class = usize::from(edges.classes[edge]) * d;
                let (gain, shift) = (&gates.gains[class..][..d], &gates.shifts[class..][..d]);
                for j in 0..d {
                    out[j] += factor * (row[j] * gain[j] + shift[j]).max(0.0);
                }
            }
        }
    }
}

/// The gradient of what every node received, and the factor that it was multiplied with.
#[derive(Clone, Copy)]
pub(crate) struct Received<'a> {
    pub(crate) gradient: &'a [f32],
    pub(crate) factors: &'a [f32],
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
        let d = part.d;
        for node in 0..edges.ends.count() {
            let begin = part.begin(node as u32);
            let (row, out) = (&rows[begin..][..d], &mut out[begin..][..d]);
            out.fill(0.0);
            for edge in edges.ends.starts[node] as usize..edges.ends.starts[node + 1] as usize {
                let receiver = edges.ends.items[edge] as usize;
                let (factor, received) = (received.factors[receiver], &received.gradient[receiver * d..][..d]);
                let class = usize::from(edges.classes[edge]) * d;
                let (gain, shift) = (&gates.gains[class..][..d], &gates.shifts[class..][..d]);
                let gain_gradient = &mut gradients.gains[class..][..d];
                let shift_gradient = &mut gradients.shifts[class..][..d];
                for j in 0..d {
                    let sent = row[j] * gain[j] + shift[j];
                    let gradient = if sent > 0.0 { factor * received[j] } else { 0.0 };
                    out[j] += gradient * gain[j];
                    gain_gradient[j] += gradient * row[j];
                    shift_gradient[j] += gradient;
                }
            }
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
