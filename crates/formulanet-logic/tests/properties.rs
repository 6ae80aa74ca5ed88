//! Properties of formulas that proptest makes.

use formulanet_logic::{Binder, Formula, Graph, GraphBuilder, Interner, Limits, Names, View, hol, holstep};
use proptest::prelude::*;

mod terms;

use terms::{CONSTANTS, Naming, ODD_CONSTANTS, PLAIN_CONSTANTS, sequent, write};

fn graph(formula: &Formula, view: View, names: &Interner) -> Graph {
    let mut graph = Graph::new();
    GraphBuilder::new(view, Limits::default()).build(formula, names, &mut graph).unwrap();
    graph
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn renaming_leaves_graphs_unchanged(parts in sequent(), start in 0..8usize) {
        let mut names = Interner::new();
        let plain = write(&parts, Naming::Distinct, &CONSTANTS, &mut names);
        let crowded = write(&parts, Naming::Crowded(start), &CONSTANTS, &mut names);
        // Through the text, where a name is all there is of a variable.
        let text = crowded.display(&names).to_string();
        let parsed = hol::parse(&text, &hol::Options::to_read_back(&crowded, &names), &mut names).unwrap();
        for view in [View::Graph, View::Tree, View::Dag] {
            let expected = graph(&plain, view, &names);
            prop_assert_eq!(&graph(&crowded, view, &names), &expected);
            prop_assert_eq!(&graph(&parsed, view, &names), &expected, "{}", text);
        }
    }

    #[test]
    fn print_then_parse_is_the_identity(parts in sequent(), start in 0..8usize, odd: bool) {
        let mut names = Interner::new();
        let formula = write(&parts, Naming::Crowded(start), if odd { &ODD_CONSTANTS } else { &CONSTANTS }, &mut names);
        let text = formula.display(&names).to_string();
        let options = hol::Options::to_read_back(&formula, &names);
        let back = match hol::parse(&text, &options, &mut names) {
            Ok(back) => back,
            Err(error) => return Err(TestCaseError::fail(format!("{text}: {error}"))),
        };
        prop_assert!(back == formula, "{} became {}", text, back.display(&names));
    }

    /// Where no name is overloaded, what people are shown says the same.
    #[test]
    fn what_people_are_shown_can_be_read(parts in sequent(), start in 0..8usize) {
        let mut names = Interner::new();
        let formula = write(&parts, Naming::Crowded(start), &PLAIN_CONSTANTS, &mut names);
        let text = formula.pretty(&names).to_string();
        let options = hol::Options::to_read_back(&formula, &names);
        let back = match hol::parse(&text, &options, &mut names) {
            Ok(back) => back,
            Err(error) => return Err(TestCaseError::fail(format!("{text}: {error}"))),
        };
        prop_assert!(back == formula, "{} became {}, not {}", text, back.display(&names), formula.display(&names));
    }

    #[test]
    fn holstep_and_hol_light_give_the_same_graph(parts in sequent()) {
        let mut names = Interner::new();
        let formula = write(&parts, Naming::Distinct, &CONSTANTS, &mut names);
        let text = formula.display(&names).to_string();
        let tokens = tokens(&formula, &names);
        let mut parsed = Formula::new();
        let statement = holstep::Tokenized::new(&text, &tokens);
        if let Err(error) = holstep::Parser::new(Limits::default()).parse(&statement, &mut names, &mut parsed) {
            return Err(TestCaseError::fail(format!("{text}\n{tokens}\n{error}")));
        }
        for (_, view) in View::ALL {
            prop_assert_eq!(graph(&parsed, view, &names), graph(&formula, view, &names));
        }
    }

    #[test]
    fn a_dag_is_the_graph_folded(parts in sequent()) {
        let mut names = Interner::new();
        let formula = write(&parts, Naming::Distinct, &CONSTANTS, &mut names);
        let (whole, dag) = (graph(&formula, View::Graph, &names), graph(&formula, View::Dag, &names));
        prop_assert!(dag.node_count() <= whole.node_count());
        // No two function nodes of a dag are the same, and unfolding it gives the graph's tree again.
        let size = |graph: &Graph| unfolded(graph);
        prop_assert_eq!(size(&whole), size(&dag));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", tokens in "[cfb*/ a-z0-9]{0,30}") {
        let mut names = Interner::new();
        let _ = hol::parse(&text, &hol::Options::default(), &mut names);
        let mut formula = Formula::new();
        let statement = holstep::Tokenized::new(&text, &tokens);
        let _ = holstep::Parser::new(Limits::default()).parse(&statement, &mut names, &mut formula);
    }

    #[test]
    fn texts_of_operators_are_read_or_refused(
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40),
    ) {
        let mut names = Interner::new();
        let text = words.concat();
        if let Ok(formula) = hol::parse(&text, &hol::Options::default(), &mut names) {
            graph(&formula, View::Dag, &names);
            let shown = formula.display(&names).to_string();
            let back = hol::parse(&shown, &hol::Options::to_read_back(&formula, &names), &mut names);
            prop_assert!(back.as_ref() == Ok(&formula), "{} {}", text, shown);
        }
    }
}

const WORDS: [&str; 40] = [
    "(", ")", "[", "]", "{", "}", ",", ";", "|", ".", ":", "!", "?", "?!", "@", "\\", "~", "--", "&", "+",
    "*", "=", "==>", " IN ", " x ", " y ", " f ", "'", "''", "12", "#", " if ", " then ", " else ", " let ",
    " in ", " and ", "|-", " lambda ", "(*",
];

/// The `T` line of a formula, as far as the parser looks at it.
fn tokens(formula: &Formula, names: &Interner) -> String {
    use formulanet_logic::Head;
    let mut tokens: Vec<String> = vec!["c==>".to_owned(); formula.part_count() - 1];
    for term in formula.preorder() {
        match formula.head(term) {
            Head::Constant(name) => tokens.push(format!("c{}", names.name(name))),
            Head::Variable(_) => tokens.push("f0".to_owned()),
            Head::Binder(var) => match formula.variables()[var.index()].binder {
                Some(Binder::Forall) => tokens.push("!".to_owned()),
                Some(Binder::Lambda) | None => tokens.push("/".to_owned()),
                Some(binder) => tokens.push(format!("c{}", names.name(binder.symbol()))),
            },
        }
    }
    tokens.join(" ")
}

/// The number of paths down from the turnstile through functions, not counting edges of binders to variables.
fn unfolded(graph: &Graph) -> Vec<(usize, usize)> {
    use formulanet_logic::NodeKind;
    let mut paths = vec![0usize; graph.node_count()];
    let mut pending = vec![graph.nodes().next().unwrap()];
    while let Some(node) = pending.pop() {
        paths[node.index()] += 1;
        let children = graph.children(node);
        let count = match graph.kinds()[node.index()] {
            NodeKind::Binder => 1,
            _ => children.len(),
        };
        pending.extend(&children[..count]);
    }
    let mut per_label: Vec<(usize, usize)> = Vec::new();
    for (node, &count) in graph.nodes().zip(&paths) {
        per_label.push((graph.labels()[node.index()].index(), count));
    }
    per_label.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (label, count) in per_label {
        match merged.last_mut() {
            Some(last) if last.0 == label => last.1 += count,
            _ => merged.push((label, count)),
        }
    }
    merged
}

#[test]
fn declared_names_decide() {
    let check = |text: &str, constants: &[&str], variables: &[&str], expected: &str| {
        let names = Names::default().with_constants(constants.to_vec()).with_variables(variables.to_vec());
        let mut interner = Interner::new();
        let options = hol::Options { names, ..hol::Options::default() };
        let formula = hol::parse(text, &options, &mut interner).unwrap();
        let free: Vec<&str> = formula.variables().iter().map(|v| interner.name(v.name)).collect();
        assert_eq!(free.join(" "), expected);
    };
    check("f x = convex", &[], &[], "f x");
    check("f x = convex", &["f"], &[], "x");
    check("f x = convex", &[], &["convex"], "f x convex");
    check("f x = convex", &["f", "x"], &["x"], "x");
    check("T = x1' + I", &[], &[], "x1'");
}
