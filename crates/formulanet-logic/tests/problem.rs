//! Properties of problem graphs, on formulas that proptest makes.

use std::collections::BTreeSet;

use formulanet_logic::problem::{
    NodeLabel, ProblemBuilder, ProblemGraph, ProblemLimits, StatementBuilder, StatementGraph,
};
use formulanet_logic::{Formula, Interner, Limits};
use proptest::prelude::*;

#[allow(dead_code)]
mod terms;

use terms::{CONSTANTS, Naming, Term, sequent, write};

/// [`CONSTANTS`] with other names for non-connectives.
const RENAMED: [&str; 11] = ["T", "zz", "name_", "=", "~", "ab", "cd", "<=>", "/\\", "\\/", "==>"];

fn problem() -> impl Strategy<Value = Vec<Vec<Term>>> {
    prop::collection::vec(sequent(), 1..6)
}

fn build(
    problem: &[Vec<Term>],
    naming: Naming,
    constants: &'static [&'static str],
    names: &mut Interner,
) -> Vec<StatementGraph> {
    let mut builder = StatementBuilder::new(Limits::default());
    let formulas: Vec<Formula> = problem.iter().map(|parts| write(parts, naming, constants, names)).collect();
    formulas.iter().map(|formula| builder.build(formula).unwrap()).collect()
}

fn merge<'a>(statements: impl IntoIterator<Item = &'a StatementGraph>) -> ProblemGraph {
    let mut builder = ProblemBuilder::new(ProblemLimits::default());
    for (number, statement) in statements.into_iter().enumerate() {
        assert_eq!(builder.add(statement.view()), Ok(number));
    }
    builder.finish()
}

/// Every array but the names.
fn arrays(graph: &ProblemGraph) -> [Vec<u32>; 7] {
    let wide = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).collect();
    [
        wide(graph.labels()),
        graph.symbol_of().to_vec(),
        graph.edge_starts().to_vec(),
        graph.edge_targets().to_vec(),
        wide(graph.edge_classes()),
        graph.segment_starts().to_vec(),
        graph.segments().to_vec(),
    ]
}

/// The identity of a node of a problem: label, name of the symbol, and edges in any order.
fn node(graph: &ProblemGraph, node: u32) -> (u8, Option<u32>, Vec<(u32, u8)>) {
    let edges = graph.edge_starts()[node as usize] as usize..graph.edge_starts()[node as usize + 1] as usize;
    let mut edges: Vec<(u32, u8)> =
        edges.map(|e| (graph.edge_targets()[e], graph.edge_classes()[e])).collect();
    edges.sort_unstable();
    let name = graph.symbol_names().get(graph.symbol_of()[node as usize] as usize).copied();
    (graph.labels()[node as usize], name, edges)
}

/// A statement in a problem is what it is alone.
fn is_part(graph: &ProblemGraph, number: usize, statement: &StatementGraph) {
    let (alone, place) = (merge([statement]), graph.statement(number));
    assert_eq!(place.len(), alone.node_count());
    assert_eq!(place.iter().collect::<BTreeSet<_>>().len(), place.len());
    for local in 0..alone.node_count() as u32 {
        let (label, name, edges) = node(&alone, local);
        let mut edges: Vec<(u32, u8)> =
            edges.iter().map(|&(target, class)| (place[target as usize], class)).collect();
        edges.sort_unstable();
        assert_eq!((label, name, edges), node(graph, place[local as usize]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_do_not_matter(problem in problem(), start in 0..8usize) {
        let mut names = Interner::new();
        let plain = merge(&build(&problem, Naming::Distinct, &CONSTANTS, &mut names));
        // Other numbers for other names, and much shadowing.
        let mut names = Interner::new();
        RENAMED.iter().rev().for_each(|name| { names.intern(name); });
        let renamed = merge(&build(&problem, Naming::Crowded(start), &RENAMED, &mut names));
        prop_assert_eq!(arrays(&plain), arrays(&renamed));
        let used: BTreeSet<u32> = plain.symbol_of().iter().copied().filter(|&s| s != u32::MAX).collect();
        prop_assert!(used.into_iter().eq(0..plain.symbol_count() as u32));
    }

    #[test]
    fn what_is_there_keeps_its_numbers(problem in problem()) {
        let mut names = Interner::new();
        let statements = build(&problem, Naming::Distinct, &CONSTANTS, &mut names);
        let mut builder = ProblemBuilder::new(ProblemLimits::default());
        let mut before = arrays(builder.graph());
        for statement in &statements {
            builder.add(statement.view()).unwrap();
            let after = arrays(builder.graph());
            for (before, after) in before.iter().zip(&after) {
                prop_assert!(after.starts_with(before));
            }
            before = after;
        }
        // A builder that is used again makes the same.
        let first = builder.finish();
        statements.iter().for_each(|statement| { builder.add(statement.view()).unwrap(); });
        prop_assert_eq!(first, builder.finish());
    }

    #[test]
    fn the_order_of_statements_changes_numbers_only(problem in problem(), turn in 0..6usize) {
        let mut names = Interner::new();
        let statements = build(&problem, Naming::Distinct, &CONSTANTS, &mut names);
        let graph = merge(&statements);
        let mut order: Vec<usize> = (0..statements.len()).rev().collect();
        order.rotate_left(turn % statements.len());
        let turned = merge(order.iter().map(|&number| &statements[number]));
        prop_assert_eq!(graph.node_count(), turned.node_count());
        prop_assert_eq!(graph.edge_count(), turned.edge_count());
        prop_assert_eq!(graph.symbol_count(), turned.symbol_count());
        for (place, &number) in order.iter().enumerate() {
            is_part(&graph, number, &statements[number]);
            is_part(&turned, place, &statements[number]);
        }
    }

    #[test]
    fn everything_equal_is_shared(problem in problem()) {
        let mut names = Interner::new();
        let graph = merge(&build(&problem, Naming::Distinct, &CONSTANTS, &mut names));
        let mut seen = BTreeSet::new();
        for number in 0..graph.node_count() as u32 {
            let variables = [NodeLabel::Universal, NodeLabel::Existential, NodeLabel::Abstracted];
            prop_assert!(variables.contains(&graph.label(number)) || seen.insert(node(&graph, number)));
            prop_assert!(graph.edges(number).all(|(target, ..)| target < number), "children come first");
        }
    }
}
