//! Products of bf16 in plain Rust: for CPUs without instructions for them, and to compare those of the others with.

use super::{DEPTH, LINES, Step, Tile, Unit, WIDTH, span};
use crate::kernel::matmul::round_to_bf16;

/// Plain Rust, on any CPU.
pub(crate) struct Plain;

/// Two numbers rounded, the first in the lower half.
fn pair(x: f32, y: f32) -> u32 {
    round_to_bf16(x).to_bits() >> 16 | round_to_bf16(y).to_bits() & 0xffff_0000
}

/// The numbers of a pair.
fn numbers(pair: u32) -> [f32; 2] {
    [f32::from_bits(pair << 16), f32::from_bits(pair & 0xffff_0000)]
}

impl Unit for Plain {
    fn round_rows(&self, to: &mut Tile, from: &[f32], stride: usize) {
        let from = &from[..span(LINES, DEPTH, stride)];
        for (line, row) in to.0.iter_mut().zip(from.chunks(stride)) {
            for (to, from) in line.iter_mut().zip(row[..DEPTH].chunks_exact(2)) {
                *to = pair(from[0], from[1]);
            }
        }
    }

    fn round_pairs(&self, to: &mut Tile, from: &[f32], stride: usize) {
        let from = &from[..span(DEPTH, LINES, stride)];
        for (line, rows) in to.0.iter_mut().zip(from.chunks(2 * stride)) {
            let (even, odd) = rows.split_at(stride);
            for (to, (&x, &y)) in line.iter_mut().zip(even.iter().zip(odd)) {
                *to = pair(x, y);
            }
        }
    }

    fn transpose(&self, to: &mut Tile, from: &Tile) {
        *to = Tile(std::array::from_fn(|i| std::array::from_fn(|j| from.0[j][i])));
    }

    fn multiply(&self, c: &mut [f32], stride: usize, adds: bool, a: &[Step], b: &[Step], rows: usize) {
        for (i, c) in c.chunks_mut(stride).take(rows).enumerate() {
            let c = &mut c[..WIDTH];
            if !adds {
                c.fill(0.0);
            }
            for (Step(a), Step(b)) in a.iter().zip(b) {
                let line = &a[i / LINES].0[i % LINES];
                for (p, &left) in line.iter().enumerate() {
                    let [x, y] = numbers(left);
                    for (c, tile) in c.chunks_exact_mut(LINES).zip(b) {
                        for (c, &right) in c.iter_mut().zip(&tile.0[p]) {
                            let [u, v] = numbers(right);
                            *c += x * u + y * v;
                        }
                    }
                }
            }
        }
    }
}
