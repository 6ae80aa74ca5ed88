//! How many pairs a second the network trains on and classifies, for `bench/network.py`.
//!
//! `cargo run --release -p formulanet --example network_speed -- FOLDER PAIRS basic|full SECONDS THREADS`
//! where the file PAIRS has the numbers of pairs of the prepared folder, a batch per line.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use formulanet::data::Prepared;
use formulanet_net::{Batch, Config, GraphInput, Kind, Model, Optimiser, Pair, Rule};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, pairs, kind, seconds, threads] = arguments.as_slice() else {
        return Err("expected FOLDER PAIRS KIND SECONDS THREADS".into());
    };
    let (seconds, threads): (f64, usize) = (seconds.parse()?, threads.parse()?);
    let prepared = Prepared::open(Path::new(folder))?;
    let kind = if kind == "basic" { Kind::Basic } else { Kind::Full };
    let mut model = Model::new(Config { kind, ..Config::paper(prepared.vocabulary().len()) }, 1);
    let lines = std::fs::read_to_string(pairs)?;
    let batches: Vec<Batch> = lines.lines().map(|line| batch(&prepared, line)).collect::<Result<_, _>>()?;
    let mut optimiser = Optimiser::new(Rule::RmsProp { alpha: 0.99 }, 1e-4, model.values().len());
    let mut train = |batch: &Batch| {
        let gradients = model.gradients(batch, threads);
        optimiser.step(model.values_mut(), &gradients.values, 1e-3);
        model.follow_statistics(&gradients);
    };
    report("train", &batches, seconds, &mut train)?;
    let mut forward = |batch: &Batch| drop(model.embed_all(&batch.graphs, threads));
    report("forward", &batches, seconds, &mut forward)
}

fn batch(prepared: &Prepared, line: &str) -> Result<Batch, Box<dyn std::error::Error>> {
    let mut batch = Batch::default();
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    for number in line.split_whitespace() {
        let pair = prepared.pair(number.parse()?);
        let mut place = |graph: u32| {
            *numbers.entry(graph).or_insert_with(|| {
                let graph = prepared.graph(graph);
                batch.graphs.push(GraphInput::new(graph.tokens, graph.degrees, graph.targets));
                batch.graphs.len() - 1
            })
        };
        let statement = place(pair.statement);
        let conjecture = place(prepared.conjecture(pair.conjecture as usize).graph);
        batch.pairs.push(Pair { statement, conjecture, is_useful: pair.useful });
    }
    Ok(batch)
}

/// Goes through the batches for a while and prints the median speed.
fn report(
    what: &str,
    batches: &[Batch],
    seconds: f64,
    step: &mut dyn FnMut(&Batch),
) -> Result<(), Box<dyn std::error::Error>> {
    step(&batches[0]);
    let (start, mut speeds) = (Instant::now(), Vec::new());
    while start.elapsed().as_secs_f64() < seconds || speeds.len() < 3 {
        let batch = &batches[speeds.len() % batches.len()];
        let begin = Instant::now();
        step(batch);
        speeds.push(batch.pairs.len() as f64 / begin.elapsed().as_secs_f64());
    }
    speeds.sort_by(f64::total_cmp);
    writeln!(std::io::stdout(), "{what} {:.1}", speeds[speeds.len() / 2])?;
    Ok(())
}
