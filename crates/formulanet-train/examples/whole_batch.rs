//! The part of a training step that every process does for itself: classifiers look at the whole batch, and the optimiser
//! at all weights.
//!
//!     target/release/examples/whole_batch VOCABULARY DIMENSION PAIRS
//!
//! Prints one JSON object: the seconds that PAIRS pairs of a few tiny graphs take, which is nearly all classifiers, those of
//! a step of the optimiser, and how many weights there are.

use std::error::Error;
use std::io::{Write, stdout};
use std::time::Instant;

use formulanet::net::{Batch, Compute, Config, GraphInput, Model, Optimiser, Pair, Precision, Rule};

fn best(mut work: impl FnMut()) -> f64 {
    let times = (0..5).map(|_| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [vocabulary, dimension, count] = numbers[..] else {
        return Err("expected VOCABULARY DIMENSION PAIRS".into());
    };
    let mut model = Model::new(Config { dimension, ..Config::paper(vocabulary) }, 1);
    let graphs: Vec<[u16; 2]> = (0..8).map(|i| [i, i + 1].map(|token| token % vocabulary as u16)).collect();
    let inputs: Vec<GraphInput<'_>> =
        graphs.iter().map(|tokens| GraphInput { tokens, degrees: &[1, 0], targets: &[1] }).collect();
    let pair = |i: usize| Pair {
        statement: i % 8,
        conjecture: i / 8 % 8,
        is_useful: i.is_multiple_of(3),
        hints: Default::default(),
    };
    let compute = Compute::new(Precision::Auto, 1);
    let of_pairs = |count: usize| {
        let batch = Batch::new(&inputs, (0..count).map(pair).collect(), 8, model.config());
        best(|| model.gradients(&batch, &compute).recycle(&compute))
    };
    let (few, many) = (of_pairs(2), of_pairs(count));
    let trained = model.layout().trained();
    let mut optimiser = Optimiser::new(Rule::RmsProp { alpha: 0.99 }, 1e-4, trained);
    let gradients = vec![1e-3; trained];
    let step = best(|| optimiser.step(&mut model.values_mut()[..trained], &gradients, 1e-3));
    let line = serde_json::json!({
        "dimension": dimension,
        "weights": trained,
        "pairs": count,
        "classifiers": many - few,
        "optimiser": step,
        "compute": compute.describe(),
    });
    writeln!(stdout(), "{line}")?;
    Ok(())
}
