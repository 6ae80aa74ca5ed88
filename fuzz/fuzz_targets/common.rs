//! What every parsed formula has to stand.

use formulanet_logic::problem::{ProblemBuilder, ProblemLimits, StatementBuilder};
use formulanet_logic::{Formula, Graph, GraphBuilder, Interner, Limits, View, draw, hol};

/// Small enough that an input which reaches a limit does so quickly.
pub const LIMITS: Limits = Limits { bytes: 4096, depth: 200, nodes: 2000, treelets: 20_000 };

/// Builds every view, draws one, makes a problem of it, and reads the printed formula back.
#[allow(dead_code, reason = "not every target has formulas that can be read back")]
pub fn check(formula: &Formula, names: &mut Interner) {
    if !check_graphs(formula, names) {
        return;
    }
    let text = formula.display(names).to_string();
    let options = hol::Options::to_read_back(formula, names);
    let back = hol::parse(&text, &options, names).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(back == *formula, "{text} became {}", back.display(names));
}

/// The same without reading it back. False if the formula is too large for graphs.
pub fn check_graphs(formula: &Formula, names: &Interner) -> bool {
    for (_, view) in View::ALL {
        let mut graph = Graph::new();
        if GraphBuilder::new(view, LIMITS).build(formula, names, &mut graph).is_err() {
            return false;
        }
        assert!(graph.targets().iter().all(|target| target.index() < graph.node_count()));
        assert_eq!(graph.treelets().count() as u64, graph.treelet_count());
        if view == View::Graph && graph.node_count() < 200 {
            let _ = draw::svg(&graph, names, &draw::SvgOptions::default());
            draw::dot(&graph, names);
        }
    }
    if let Ok(statement) = StatementBuilder::new(LIMITS).build(formula) {
        let mut problem = ProblemBuilder::new(ProblemLimits::default());
        problem.add(statement.view()).expect("it is small");
        problem.add(statement.view()).expect("it is small");
        assert_eq!(problem.graph().statement(0), problem.graph().statement(1));
        assert_eq!(problem.graph().labels(), statement.view().labels());
    }
    true
}
