//! How fast HolStep text becomes graphs on one core, and where the time goes.
//!
//! Reads the given files into memory, then goes over every statement once per stage and round.
//! `cargo run --release -p formulanet-logic --example text_to_graph -- [--rounds N] [--threads N] FILES...`

use std::io::Write;
use std::time::Instant;

use formulanet_logic::{Formula, Graph, GraphBuilder, Interner, Limits, View, holstep};

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Read,
    Parse,
    Build(View),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut rounds, mut threads) = (3, 1);
    while let Some(flag) = arguments.first().filter(|a| a.starts_with("--")) {
        match flag.as_str() {
            "--rounds" => rounds = arguments[1].parse()?,
            _ => threads = arguments[1].parse()?,
        }
        arguments.drain(..2);
    }
    let files: Vec<Vec<u8>> = arguments.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    let bytes: usize = files.iter().map(Vec::len).sum();
    let stages = [
        ("read", Stage::Read),
        ("read+parse", Stage::Parse),
        ("read+parse+graph", Stage::Build(View::Graph)),
        ("read+parse+dag", Stage::Build(View::Dag)),
    ];
    for _ in 0..rounds {
        for (name, stage) in stages {
            let start = Instant::now();
            let [statements, nodes, edges, treelets] = run_on(&files, stage, threads)?;
            let seconds = start.elapsed().as_secs_f64();
            let mean = |total: u64| total as f64 / statements as f64;
            writeln!(
                std::io::stdout(),
                "{name}: {:.1} MB/s, {:.0} formulas/s, {statements} formulas of {:.1} nodes, {:.1} edges, {:.1} treelets",
                bytes as f64 / 1e6 / seconds,
                statements as f64 / seconds,
                mean(nodes),
                mean(edges),
                mean(treelets),
            )?;
        }
    }
    Ok(())
}

/// [`run`] on shares of the files.
fn run_on(files: &[Vec<u8>], stage: Stage, threads: usize) -> Result<[u64; 4], String> {
    let shares = files.chunks(files.len().div_ceil(threads).max(1));
    std::thread::scope(|scope| {
        let running: Vec<_> = shares
            .map(|share| scope.spawn(move || run(share, stage).map_err(|error| error.to_string())))
            .collect();
        running.into_iter().try_fold([0; 4], |mut totals, thread| {
            let part = thread.join().map_err(|_| "a thread panicked")??;
            totals.iter_mut().zip(part).for_each(|(total, size)| *total += size);
            Ok(totals)
        })
    })
}

/// Statements, nodes, edges and treelets.
fn run(files: &[Vec<u8>], stage: Stage) -> Result<[u64; 4], Box<dyn std::error::Error>> {
    let (limits, mut names) = (Limits::default(), Interner::new());
    let (mut parser, mut formula, mut graph) = (holstep::Parser::new(limits), Formula::new(), Graph::new());
    let view = if let Stage::Build(view) = stage { view } else { View::Graph };
    let mut builder = GraphBuilder::new(view, limits);
    let mut totals = [0; 4];
    for file in files {
        let mut reader = holstep::Reader::new(file.as_slice(), limits);
        while let Some(entry) = reader.next_entry()? {
            totals[0] += 1;
            if stage == Stage::Read {
                continue;
            }
            parser.parse(&entry.statement, &mut names, &mut formula)?;
            if let Stage::Build(_) = stage {
                builder.build(&formula, &names, &mut graph)?;
                let sizes = [graph.node_count() as u64, graph.edge_count() as u64, graph.treelet_count()];
                totals[1..].iter_mut().zip(sizes).for_each(|(total, size)| *total += size);
            }
        }
    }
    Ok(totals)
}
