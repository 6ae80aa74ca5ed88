//! How fast problems are built on one core: statements to graphs, and graphs of statements to problems.
//!
//! Reads DeepMath files, one problem each, and keeps the graph of every different statement, as a library does.
//! `cargo run --release -p formulanet-logic --example problem_speed -- FOLDER`

use std::collections::HashMap;
use std::io::Write;
use std::time::Instant;

use formulanet_logic::problem::{NodeLabel, ProblemBuilder, ProblemLimits, StatementBuilder, StatementGraph};
use formulanet_logic::{Formula, Interner, Limits, deepmath};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder of DeepMath files")?;
    let (mut names, mut formula) = (Interner::new(), Formula::new());
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let (mut formulas, mut problems): (Vec<Formula>, Vec<Vec<usize>>) = Default::default();
    for file in std::fs::read_dir(folder)? {
        let text = std::fs::read(file?.path())?;
        let mut reader = deepmath::Reader::new(text.as_slice(), Limits::default());
        let mut problem = Vec::new();
        while let Some(entry) = reader.next(&mut names, &mut formula)? {
            let number = *numbers.entry(entry.text.to_owned()).or_insert_with(|| {
                formulas.push(formula.clone());
                formulas.len() - 1
            });
            problem.push(number);
        }
        problems.push(problem);
    }
    let mut out = std::io::stdout();
    for _ in 0..3 {
        let start = Instant::now();
        let mut builder = StatementBuilder::new(Limits::default());
        let graphs: Vec<StatementGraph> =
            formulas.iter().map(|formula| builder.build(formula)).collect::<Result<_, _>>()?;
        let nodes: usize = graphs.iter().map(|graph| graph.view().labels().len()).sum();
        let seconds = start.elapsed().as_secs_f64();
        writeln!(
            out,
            "statements: {} of {nodes} nodes, {:.2} million nodes/s",
            graphs.len(),
            nodes as f64 / seconds / 1e6
        )?;
        for is_shared in [true, false] {
            let mut builder = ProblemBuilder::new(ProblemLimits::default());
            if !is_shared {
                builder = builder.without_shared_formulas();
            }
            let (start, mut read, mut built) = (Instant::now(), 0, [0; 4]);
            let mut labels = [0_usize; NodeLabel::COUNT];
            for problem in &problems {
                builder.clear();
                for &number in problem {
                    builder.add(graphs[number].view())?;
                }
                let graph = builder.graph();
                read += graph.segments().len();
                let sizes =
                    [graph.node_count(), graph.edge_count(), graph.symbol_count(), graph.statement_count()];
                built.iter_mut().zip(sizes).for_each(|(total, size)| *total += size);
                graph.labels().iter().for_each(|&label| labels[usize::from(label)] += 1);
            }
            let seconds = start.elapsed().as_secs_f64();
            let mean = built.map(|total| total as f64 / problems.len() as f64);
            writeln!(
                out,
                "{} problems, formulas shared: {is_shared}: {:.2} million nodes read/s, {:.0} problems/s; \
                 a problem has {:.1} nodes, {:.1} edges, {:.1} symbols, {:.1} statements",
                problems.len(),
                read as f64 / seconds / 1e6,
                problems.len() as f64 / seconds,
                mean[0],
                mean[1],
                mean[2],
                mean[3]
            )?;
            for (&(name, _), count) in NodeLabel::ALL.iter().zip(labels).filter(|(_, count)| *count > 0) {
                write!(out, " {name} {count}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
