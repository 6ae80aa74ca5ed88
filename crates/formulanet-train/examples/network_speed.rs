//! Pairs per second of training and classification, for `bench/network.py`.
//!
//! `cargo run --release -p formulanet --example network_speed -- FOLDER PAIRS basic|full f32|bf16 SECONDS THREADS`
//! where the file PAIRS has the numbers of pairs of the prepared folder, a batch per line. Each line of the result is
//! what was measured, pairs a second, and GFLOP/s in products; at the end, the GFLOP/s of the `gemm` crate on a large
//! square product, as a measure of what the machine can do.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use formulanet::net::{
    Batch, Compute, Config, GraphInput, Kind, Model, Network, Optimiser, Pair, Precision, Rule,
};
use formulanet_train::dataset::Prepared;

/// Graphs of a micro-batch: few, as the norm looks at one graph and caches are small.
const MICRO_BATCH: usize = 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, pairs, kind, precision, seconds, threads] = arguments.as_slice() else {
        return Err("expected FOLDER PAIRS KIND PRECISION SECONDS THREADS".into());
    };
    let (seconds, threads): (f64, usize) = (seconds.parse()?, threads.parse()?);
    let precision = if precision == "bf16" { Precision::Bf16 } else { Precision::F32 };
    let prepared = Prepared::open(Path::new(folder))?;
    let kind = if kind == "basic" { Kind::Basic } else { Kind::Full };
    let mut model = Model::new(Config { kind, ..Config::paper(prepared.vocabulary().len()) }, 1);
    let lines = std::fs::read_to_string(pairs)?;
    let sets: Vec<Graphs<'_>> =
        lines.lines().map(|line| graphs(&prepared, line)).collect::<Result<_, _>>()?;
    let config = *model.config();
    let batch = |set: &Graphs<'_>| Batch::new(&set.graphs, set.pairs.clone(), MICRO_BATCH, &config);
    let work: f64 = sets.iter().map(|set| batch(set).products(model.config()) as f64).sum::<f64>() * 2e-9
        / sets.iter().map(|set| set.pairs.len() as f64).sum::<f64>();
    let trained = model.layout().trained();
    let mut optimiser = Optimiser::new(Rule::RmsProp { alpha: 0.99 }, 1e-4, trained);
    let compute = Compute::new(precision, threads);
    writeln!(std::io::stderr(), "{}", compute.describe())?;
    let mut train = |set: &Graphs<'_>| {
        let gradients = model.gradients(&batch(set), &compute);
        optimiser.step(&mut model.values_mut()[..trained], &gradients.values, 1e-3);
        model.follow_statistics(&gradients);
        gradients.recycle(&compute);
    };
    let speed = median_speed(&sets, seconds, &mut train);
    writeln!(std::io::stdout(), "train {speed:.1} {:.1}", 3.0 * work * speed)?;
    let network = Network::new(model, compute);
    let mut forward = |set: &Graphs<'_>| {
        let vectors = network.embed_all(&set.graphs);
        let pairs =
            set.pairs.iter().map(|pair| (&vectors[pair.statement], &vectors[pair.conjecture], pair.hints));
        drop(network.score_all(&pairs.collect::<Vec<_>>()));
    };
    let speed = median_speed(&sets, seconds, &mut forward);
    writeln!(std::io::stdout(), "forward {speed:.1} {:.1}", work * speed)?;
    writeln!(std::io::stdout(), "gemm 0 {:.1}", gemm_peak(threads))?;
    Ok(())
}

/// The distinct graphs of a batch, and its pairs.
struct Graphs<'a> {
    graphs: Vec<GraphInput<'a>>,
    pairs: Vec<Pair>,
}

fn graphs<'a>(prepared: &'a Prepared, line: &str) -> Result<Graphs<'a>, Box<dyn std::error::Error>> {
    let mut set = Graphs { graphs: Vec::new(), pairs: Vec::new() };
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    for number in line.split_whitespace() {
        let pair = prepared.pair(number.parse()?);
        let mut place = |graph: u32| {
            *numbers.entry(graph).or_insert_with(|| {
                let graph = prepared.graph(graph);
                set.graphs.push(GraphInput {
                    tokens: graph.tokens,
                    degrees: graph.degrees,
                    targets: graph.targets,
                });
                set.graphs.len() - 1
            })
        };
        let statement = place(pair.statement);
        let conjecture = place(prepared.conjecture(pair.conjecture as usize).graph);
        set.pairs.push(Pair { statement, conjecture, is_useful: pair.useful, hints: Default::default() });
    }
    Ok(set)
}

/// Goes through the batches for a while; the median of pairs a second.
fn median_speed(sets: &[Graphs<'_>], seconds: f64, step: &mut dyn FnMut(&Graphs<'_>)) -> f64 {
    step(&sets[0]);
    let (start, mut speeds) = (Instant::now(), Vec::new());
    while start.elapsed().as_secs_f64() < seconds || speeds.len() < 3 {
        let set = &sets[speeds.len() % sets.len()];
        let begin = Instant::now();
        step(set);
        speeds.push(set.pairs.len() as f64 / begin.elapsed().as_secs_f64());
    }
    speeds.sort_by(f64::total_cmp);
    speeds[speeds.len() / 2]
}

/// GFLOP/s of a product of two square matrices in f32: the best of a few.
#[allow(unsafe_code)]
fn gemm_peak(threads: usize) -> f64 {
    let n = 1536;
    let (a, b, mut c) = (vec![0.5f32; n * n], vec![0.25f32; n * n], vec![0f32; n * n]);
    let mut best = 0f64;
    for _ in 0..7 {
        let begin = Instant::now();
        let row = n as isize;
        // SAFETY: three matrices of n by n, the rows of each one after the other.
        unsafe {
            gemm::gemm(
                n,
                n,
                n,
                c.as_mut_ptr(),
                1,
                row,
                false,
                a.as_ptr(),
                1,
                row,
                b.as_ptr(),
                1,
                row,
                0.0,
                1.0,
                false,
                false,
                false,
                gemm::Parallelism::Rayon(threads),
            );
        }
        best = best.max(2e-9 * (n * n * n) as f64 / begin.elapsed().as_secs_f64());
    }
    best
}
