//! How fast HolStep text becomes graphs on one core, and where the time goes.
//!
//! Reads the given files into memory, then goes over every statement once per stage and round.
//! `cargo run --release -p formulanet-logic --example text_to_graph -- [--rounds N] FILES...`

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
    let mut rounds = 3;
    if arguments.first().is_some_and(|a| a == "--rounds") {
        rounds = arguments[1].parse()?;
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
            let [statements, nodes, edges, treelets] = run(&files, stage)?;
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
