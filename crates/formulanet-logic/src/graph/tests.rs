use super::*;
use crate::hol;

fn graph(text: &str, view: View) -> (Graph, Interner) {
    let mut names = Interner::new();
    let options = hol::Options {
        names: crate::Names::default().with_constants(["P", "Q", "c"]),
        ..hol::Options::default()
    };
    let formula = hol::parse(text, &options, &mut names).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut graph = Graph::new();
    GraphBuilder::new(view, Limits::default()).build(&formula, &names, &mut graph).unwrap();
    (graph, names)
}

/// The graph as text: every node as `label(children)`, in order.
fn show(text: &str, view: View) -> String {
    let (graph, names) = graph(text, view);
    let nodes = graph.nodes().map(|node| {
        let children: Vec<String> = graph.children(node).iter().map(|c| c.0.to_string()).collect();
        let label = names.name(graph.labels()[node.index()]);
        if children.is_empty() { label.to_owned() } else { format!("{label}({})", children.join(",")) }
    });
    nodes.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_view(view: View, text: &str, expected: &str) {
    assert_eq!(show(text, view), expected, "{text}");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    check_view(View::Graph, text, expected);
}

#[test]
fn application_is_flat() {
    check("((c c) c)", "|-(1) c(2,2) c");
    check("(P /\\ Q)", "|-(1) /\\(2,3) P Q");
    check("!x. (P + Q) x", "|-(1) !(2,5) +(3,4,5) P Q VAR");
    check("!x. (\\y. P y) x", "|-(1) !(2,5) \\(3,5,4) P(4) VAR VAR");
}

#[test]
fn hypotheses_hang_below_the_turnstile() {
    check("P, Q |- c", "|-(1,2,3) P Q c");
    check("|- c", "|-(1) c");
    check("P, P |- P", "|-(1,1,1) P");
}

#[test]
fn free_variables_are_closed_above_the_turnstile() {
    check("x = y", "|-(1) =(2,3) VAR VAR !(0,3) !(4,2)");
    check("f x", "|-(1) VARFUNC(2) VAR !(0,2) !(3,1)");
    check("x |- x", "|-(1,1) VAR !(0,1)");
}

#[test]
fn constants_merge_only_as_leaves() {
    check("P c (P c)", "|-(1) P(2,3) c P(2)");
    check("P /\\ P c", "|-(1) /\\(2,3) P P(4) c");
}

#[test]
fn variables_merge_as_values_and_not_as_functions() {
    check("!x. P x x", "|-(1) !(2,3) P(3,3) VAR");
    check("!f. P (f c) (f c) f", "|-(1) !(2,3,5,6) P(3,5,6) VARFUNC(4) c VARFUNC(4) VAR");
    check("!x. c", "|-(1) !(2) c");
    check("!x. (!x. P x) /\\ Q x", "|-(1) !(2,7) /\\(3,6) !(4,5) P(5) VAR Q(7) VAR");
    check("?!x. P (@y. Q x y)", "|-(1) ?!(2,5) P(3) @(4,6) Q(5,6) VAR VAR");
}

#[test]
fn names_stay_in_views_with_names() {
    check_view(View::GraphNames, "!x. P x x y", "|-(1) !(2,3) P(3,3,4) x y !(0,4)");
    check_view(View::GraphNames, "!f. f c", "|-(1) !(2,2) f(3) c");
    check_view(View::GraphNames, "!GEN%PVAR%7. P GEN%PVAR%7", "|-(1) !(2,3) P(3) GEN%PVAR%");
}

#[test]
fn trees_merge_nothing() {
    check_view(View::Tree, "!x. P x x c c", "|-(1) !(2) P(3,4,5,6) VAR VAR c c");
    check_view(View::TreeNames, "!x. P x (f x)", "|-(1) !(2) P(3,4) x f(5) x !(0)");
    check_view(View::Tree, "(\\x. x) c", "|-(1) \\(2,3) VAR c");
}

#[test]
fn equal_sub_formulas_are_shared_in_a_dag() {
    check_view(View::Dag, "P (Q c) (Q c)", "|-(1) P(2,2) Q(3) c");
    check_view(View::Dag, "!f. P (f c) (f c) f", "|-(1) !(2,3,5) P(3,3,5) VARFUNC(4) c VAR");
    check_view(View::Dag, "!f g. P (f c) (g c)", "|-(1) !(2,4) !(3,6) P(4,6) VARFUNC(5) c VARFUNC(5)");
    check_view(View::Dag, "P (!x. Q x) (!x. Q x)", "|-(1) P(2,5) !(3,4) Q(4) VAR !(6,7) Q(7) VAR");
    check_view(View::Dag, "P (Q (Q c)) (Q c)", "|-(1) P(2,3) Q(3) Q(4) c");
    check_view(View::Dag, "P c /\\ Q (P c) (P c c)", "|-(1) /\\(2,4) P(3) c Q(2,5) P(3,3)");
}

#[test]
fn treelets_and_degrees() {
    let (graph, _) = graph("!x. P x x", View::Graph);
    let treelets: Vec<(u32, u32, u32)> = graph.treelets().map(|(l, h, r)| (l.0, h.0, r.0)).collect();
    assert_eq!(treelets, [(2, 1, 3), (3, 2, 3)]);
    assert_eq!(graph.treelet_count(), 2);
    assert_eq!(graph.degrees(), [1, 3, 3, 3]);
    assert_eq!(graph.treelet_degrees(), [0, 1, 2, 3]);
}

#[test]
fn too_many_nodes_or_treelets_are_refused() {
    let check = |text: &str, limits: Limits, expected: &str| {
        let mut names = Interner::new();
        let formula = hol::parse(text, &hol::Options::default(), &mut names).unwrap();
        let result = GraphBuilder::new(View::Graph, limits).build(&formula, &names, &mut Graph::new());
        assert_eq!(result.unwrap_err().to_string(), expected);
    };
    let wide = format!("P {}", "x ".repeat(4000));
    check(&wide, Limits::default(), "expected at most 5000000 treelets, found 7998002");
    let limits = Limits { nodes: 3, ..Limits::default() };
    check("P a b c", limits, "expected at most 3 nodes, found 9");
}

#[test]
fn a_builder_forgets_the_graph_before() {
    let mut names = Interner::new();
    let mut builder = GraphBuilder::new(View::Dag, Limits::default());
    let texts = ["P (f x) (f x) T", "x", "!x. P x", "P (f x) (f x) T"];
    let graphs: Vec<Graph> = texts
        .iter()
        .map(|text| {
            let formula = hol::parse(text, &hol::Options::default(), &mut names).unwrap();
            let mut graph = Graph::new();
            builder.build(&formula, &names, &mut graph).unwrap();
            graph
        })
        .collect();
    assert_eq!(graphs[0], graphs[3]);
    assert_ne!(graphs[0], graphs[1]);
}
