//! How fast HolStep text becomes graphs on one core, and where the time goes.
//!
//! Reads the given files into memory, then reads, parses and builds every statement again and again.
//! `cargo run --release -p formulanet-logic --example text_to_graph -- FILES...`

use std::time::Instant;

use formulanet_logic::{Formula, Graph, GraphBuilder, Interner, Limits, View, holstep};

#[derive(Clone, Copy)]
enum Stage {
    Read,
    Parse,
    Build(View),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<Vec<u8>> = std::env::args().skip(1).map(std::fs::read).collect::<Result<_, _>>()?;
    let bytes: usize = files.iter().map(Vec::len).sum();
    let stages = [
        ("read", Stage::Read),
        ("read+parse", Stage::Parse),
        ("read+parse+graph", Stage::Build(View::Graph)),
        ("read+parse+dag", Stage::Build(View::Dag)),
    ];
    for round in 0..3 {
        for (name, stage) in stages {
            let start = Instant::now();
            let totals = run(&files, stage)?;
            let seconds = start.elapsed().as_secs_f64();
            writeln(&format!(
                "round {round} {name}: {:.1} MB/s, {:.0} formulas/s ({} formulas, {:.2} nodes {:.2} edges {:.2} treelets)",
                bytes as f64 / 1e6 / seconds,
                totals[0] as f64 / seconds,
                totals[0],
                totals[1] as f64 / totals[0] as f64,
                totals[2] as f64 / totals[0] as f64,
                totals[3] as f64 / totals[0] as f64,
            ));
        }
    }
    Ok(())
}

#[allow(clippy::print_stdout)]
fn writeln(line: &str) {
    println!("{line}");
}

/// Statements, nodes, edges and treelets.
fn run(files: &[Vec<u8>], stage: Stage) -> Result<[u64; 4], Box<dyn std::error::Error>> {
    let (limits, mut names) = (Limits::default(), Interner::new());
    let (mut parser, mut formula, mut graph) = (holstep::Parser::new(limits), Formula::new(), Graph::new());
    let mut builder =
        GraphBuilder::new(if let Stage::Build(view) = stage { view } else { View::Graph }, limits);
    let mut totals = [0; 4];
    for file in files {
        let mut reader = holstep::Reader::new(file.as_slice(), limits);
        while let Some(entry) = reader.next_entry()? {
            totals[0] += 1;
            if let Stage::Read = stage {
                continue;
            }
            parser.parse(&entry.statement, &mut names, &mut formula)?;
            if let Stage::Build(_) = stage {
                builder.build(&formula, &names, &mut graph)?;
                totals[1] += graph.node_count() as u64;
                totals[2] += graph.edge_count() as u64;
                totals[3] += graph.treelet_count();
            }
        }
    }
    Ok(totals)
}
