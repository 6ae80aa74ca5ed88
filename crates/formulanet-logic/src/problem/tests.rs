use super::*;
use crate::formula::{Binder, Formula};
use crate::limits::{Limit, Limits, TooLarge};
use crate::symbol::Interner;
use crate::{hol, tptp};

fn fof(text: &str, names: &mut Interner) -> Formula {
    tptp::parse_formula(text, tptp::Language::Fof, Limits::default(), names)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn graph_of(formulas: &[Formula]) -> ProblemGraph {
    let mut statements = StatementBuilder::new(Limits::default());
    let mut problem = ProblemBuilder::new(ProblemLimits::default());
    for formula in formulas {
        let statement = statements.build(formula).unwrap();
        let view = statement.view();
        let again = StatementView::new(
            view.labels(),
            view.symbol_of(),
            view.edge_starts(),
            view.edge_targets(),
            view.edge_classes(),
            view.blocks(),
            view.symbols(),
        );
        problem.add(again.expect("its own arrays fit together")).unwrap();
    }
    problem.finish()
}

/// The text of a problem of first-order formulas, the conjecture first.
#[track_caller]
fn check(formulas: &[&str], expected: &str) {
    let mut names = Interner::new();
    let formulas: Vec<Formula> = formulas.iter().map(|text| fof(text, &mut names)).collect();
    let text = graph_of(&formulas).text(Some(&names));
    let lines =
        |text: &str| text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    assert_eq!(lines(&text), lines(expected), "{text}");
}

#[track_caller]
fn check_hol(text: &str, expected: &str) {
    let mut names = Interner::new();
    let formula = hol::parse(text, &hol::Options::default(), &mut names).unwrap();
    let text = graph_of(&[formula]).text(Some(&names));
    let lines =
        |text: &str| text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    let mut found = lines(&text);
    found.pop();
    assert_eq!(found, lines(expected), "{text}");
}

/// Formulas that are one graph, up to the names of variables and symbols.
#[track_caller]
fn check_same(left: &str, right: &str) {
    let [left, right] = [left, right].map(|text| graph_of(&[fof(text, &mut Interner::new())]).text(None));
    assert_eq!(left, right);
}

#[test]
fn connectives_are_flat_and_negation_is_on_edges() {
    check(
        &["(p & ~ q) & (r & p)"],
        "0 predicate p
         1 predicate q
         2 predicate r
         3 and operand 0 operand ~1 operand 2
         statement 0 root 3 nodes 0 1 2 3",
    );
    check(
        &["p | (q & ~ (r | s))"],
        "0 predicate p
         1 predicate q
         2 predicate r
         3 predicate s
         4 or operand 2 operand 3
         5 and operand 1 operand ~4
         6 or operand 0 operand 5
         statement 0 root 6 nodes 0 1 2 3 4 5 6",
    );
    check(
        &["~ p(a, b, c, a, a)"],
        "0 constant a
         1 constant b
         2 constant c
         3 predicate p first 0 second 1 third 2 later 0 later 0
         4 not body ~3
         statement 0 root 4 nodes 0 1 2 3 4",
    );
    check(&["~ ~ $false"], "0 true\n1 not body ~0\nstatement 0 root 1 nodes 0 1");
    check(&["$true"], "0 true\nstatement 0 root 0 nodes 0");
}

#[test]
fn rules_are_merged() {
    check(
        &["! [X] : (p(X) => ! [Y] : ((q(Y) & r) => (s(X,Y) & ~ p(Y))))"],
        "0 predicate r
         1 universal
         2 predicate p first 1
         3 universal
         4 predicate q first 3
         5 predicate s first 1 second 3
         6 predicate p first 3
         7 rule binds 1 binds 3 guard 2 guard 4 guard 0 body 5 body ~6
         statement 0 root 7 nodes 0 1 2 3 4 5 6 7",
    );
    check(
        &["p => (q => p)"],
        "0 predicate p
         1 predicate q
         2 rule guard 0 guard 1 body 0
         statement 0 root 2 nodes 0 1 2",
    );
    check(
        &["? [X] : ? [Y] : (p(X) & p(Y) & p(X))"],
        "0 existential
         1 predicate p first 0
         2 existential
         3 predicate p first 2
         4 exists binds 0 binds 2 body 1 body 3
         statement 0 root 4 nodes 0 1 2 3 4",
    );
    check_same("! [X] : (p(X) => q)", "p(X) => q");
    check_same("! [X, Y] : p(Y, X)", "! [Y] : ! [X] : p(Y, X)");
    check_same("! [X] : p", "! [X, Y] : p");
}

#[test]
fn equality_and_equivalence() {
    let label = |text: &str| {
        let graph = graph_of(&[fof(text, &mut Interner::new())]);
        graph.label(graph.root(0)).name()
    };
    for (text, expected) in [
        ("a = f(a)", "equality"),
        ("(p <=> q)", "equivalence"),
        ("(p <=> ~ q)", "equivalence"),
        ("(p <=> (q & r))", "equivalence"),
        ("(p <=> (a = b))", "equivalence"),
        ("(p <=> ? [X] : q(X))", "equivalence"),
    ] {
        assert_eq!(label(text), expected, "{text}");
    }
    // In HOL Light the guard tells that `pp` is a predicate, though it comes last.
    check_hol(
        "!x. (pp x = qq x) /\\ (pp x ==> rr)",
        "0 predicate rr
         1 universal
         2 predicate pp first 1
         3 predicate qq first 1
         4 equivalence operand 2 operand 3
         5 rule guard 2 body 0
         6 rule binds 1 body 4 body 5",
    );
}

#[test]
fn statements_share_symbols_and_formulas() {
    check(
        &[
            "p(f(a))",
            "f(a) = g(a)",
            "! [X] : (p(X) | p(f(a)))",
            "g(a) = f(a)",
            "! [Y] : (p(Y) | p(f(a)))",
            "p(f(a))",
        ],
        "0 constant a
         1 function f first 0
         2 predicate p first 1
         3 function g first 0
         4 equality operand 1 operand 3
         5 universal
         6 predicate p first 5
         7 or operand 6 operand 2
         8 rule binds 5 body 7
         statement 0 root 2 nodes 0 1 2
         statement 1 root 4 nodes 0 1 3 4
         statement 2 root 8 nodes 0 1 2 5 6 7 8
         statement 3 root 4 nodes 0 3 1 4
         statement 4 root 8 nodes 0 1 2 5 6 7 8
         statement 5 root 2 nodes 0 1 2",
    );
    // Inside of one statement, too: the same closed formula with other variables.
    check(
        &["(! [X] : p(X)) => ((? [Z] : ! [Y] : p(Y)) | ! [Y] : p(Y))"],
        "0 universal
         1 predicate p first 0
         2 rule binds 0 body 1
         3 exists body 2
         4 or operand 3 operand 2
         5 rule guard 2 body 4
         statement 0 root 5 nodes 0 1 2 3 4 5",
    );
}

#[test]
fn without_shared_formulas_only_symbols_are_shared() {
    let mut names = Interner::new();
    let mut statements = StatementBuilder::new(Limits::default());
    let mut problem = ProblemBuilder::new(ProblemLimits::default()).without_shared_formulas();
    for text in ["p(f(a))", "! [X] : p(X) | p(f(a))"] {
        problem.add(statements.build(&fof(text, &mut names)).unwrap().view()).unwrap();
    }
    let graph = problem.graph();
    assert_eq!((graph.node_count(), graph.symbol_count(), graph.segments().len()), (10, 3, 10));
}

#[test]
fn higher_order_formulas() {
    check_hol(
        "!P. P x /\\ (\\y. foo y) x = bar",
        "0 abstracted
         1 function foo first 0
         2 lambda binds 0 body 1
         3 constant bar
         4 universal
         5 universal
         6 application head 4 first 5
         7 application head 2 first 5
         8 equality operand 7 operand 3
         9 rule binds 4 binds 5 body 6 body 8",
    );
    check_hol(
        "lemma, one ==> two |- foo (~one) (if two then one else T) /\\ ?!x. bar (+) x",
        "0 predicate lemma
         1 predicate one
         2 predicate two
         3 rule guard 1 body 2
         4 constant two
         5 constant one
         6 true
         7 function COND first 4 second 5 third 6
         8 predicate foo first ~1 second 7
         9 constant +
         10 existential
         11 predicate bar first 9 second 10
         12 exists-unique binds 10 body 11
         13 rule guard 0 guard 3 body 8 body 12",
    );
    // Abstractions are not merged, because their order matters; equal ones are shared.
    check_hol(
        "foo (\\x. \\y. y) (\\x y. x) (@z. T) = foo (\\a. \\b. b)",
        "0 abstracted
         1 lambda binds 0 body 0
         2 lambda body 1
         3 abstracted
         4 lambda body 3
         5 lambda binds 3 body 4
         6 true
         7 choice body 6
         8 function foo first 2 second 5 third 7
         9 function foo first 2
         10 equality operand 8 operand 9",
    );
}

#[test]
fn odd_formulas_do_no_harm() {
    let mut names = Interner::new();
    let (p, x) = (names.intern("p"), names.intern("x"));
    // A variable before, in and after its binder, twice.
    let mut formula = Formula::new();
    let var = formula.bind(Binder::Forall, x);
    for _ in 0..2 {
        let outside = formula.variable(var);
        formula.push(outside);
        let (head, inside) = (formula.constant(p), formula.variable(var));
        let body = formula.apply(head, inside);
        let inner = formula.abstraction(var, body);
        let all = formula.abstraction(var, inner);
        formula.push(all);
    }
    let outside = formula.variable(var);
    formula.push(outside);
    let graph = graph_of(&[formula, Formula::new()]);
    assert!(graph.edge_targets().iter().all(|&target| (target as usize) < graph.node_count()));
    assert_eq!(graph.label(graph.root(1)), NodeLabel::True);
}

#[test]
fn damaged_views_are_refused() {
    let mut names = Interner::new();
    let graph =
        StatementBuilder::new(Limits::default()).build(&fof("! [X] : p(X, f(a))", &mut names)).unwrap();
    let refused = |damage: &dyn Fn(&mut StatementGraph)| {
        let mut graph = graph.clone();
        damage(&mut graph);
        let view = graph.view();
        let (edges, classes) = (view.edge_targets(), view.edge_classes());
        StatementView::new(
            view.labels(),
            view.symbol_of(),
            view.edge_starts(),
            edges,
            classes,
            view.blocks(),
            view.symbols(),
        )
        .is_none()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|graph| graph.nodes.labels[0] = 200));
    assert!(refused(&|graph| graph.nodes.classes[0] = 200));
    assert!(refused(&|graph| graph.nodes.targets[0] = 1));
    assert!(refused(&|graph| graph.nodes.symbols[0] = 7));
    assert!(refused(&|graph| graph.nodes.starts[1] = 9));
    assert!(refused(&|graph| graph.blocks[0] = 0));
    assert!(refused(&|graph| graph.blocks.truncate(1)));
    assert!(refused(&|graph| graph.symbols.truncate(1)));
    assert!(refused(&|graph| *graph = StatementGraph::default()));
}

#[test]
fn hostile_problems_are_bounded() {
    let mut names = Interner::new();
    let mut builder = StatementBuilder::new(Limits { nodes: 3_000_000, ..Limits::default() });
    // A symbol with a million occurrences, in one statement and in many.
    let (f, a) = (names.intern("f"), names.intern("a"));
    let mut deep = Formula::new();
    let mut term = deep.constant(a);
    for _ in 0..1_000_000 {
        let head = deep.constant(f);
        term = deep.apply(head, term);
    }
    deep.push(term);
    let deep = builder.build(&deep).unwrap();
    let mut problem = ProblemBuilder::new(ProblemLimits::default());
    assert_eq!(problem.add(deep.view()), Ok(0));
    let error = problem.add(deep.view()).unwrap_err();
    assert_eq!(error.to_string(), "expected at most 2000000 nodes, found 2000002");
    assert_eq!(problem.graph().statement_count(), 1, "what is too much changes nothing");
    let wide = format!("p({})", vec!["a"; 100_000].join(","));
    let wide = builder.build(&fof(&wide, &mut names)).unwrap();
    problem.clear();
    let refused = (0..).find_map(|_| problem.add(wide.view()).err());
    assert_eq!(refused, Some(TooLarge { what: Limit::Edges, limit: 8_000_000, found: 8_100_000 }));
    problem.clear();
    let small = builder.build(&fof("p(a)", &mut names)).unwrap();
    let refused = (0..).find_map(|_| problem.add(small.view()).err());
    assert_eq!(refused, Some(TooLarge { what: Limit::Statements, limit: 100_000, found: 100_001 }));
    assert_eq!(problem.graph().node_count(), 2);
    let mut strict = StatementBuilder::new(Limits { nodes: 3, ..Limits::default() });
    let error = strict.build(&fof("p(a,b,c)", &mut names)).unwrap_err();
    assert_eq!(error, TooLarge { what: Limit::Nodes, limit: 3, found: 4 });
}

/// Quadratic work would take minutes here.
#[test]
fn large_formulas_take_linear_time() {
    let mut builder =
        StatementBuilder::new(Limits { nodes: 2_000_000, depth: 2_000_000, ..Limits::default() });
    let limits = Limits { nodes: 2_000_000, depth: 2_000_000, ..Limits::default() };
    let many = 100_000;
    let conjunction = vec!["p"; many].join("&");
    let different = (0..many).map(|i| format!("p{i}")).collect::<Vec<_>>().join("|");
    let closed = format!("{}q{}", "? [X] : (p(X) | ".repeat(many), ")".repeat(many));
    let open = format!("![Y]: ({}q(Y){})", "? [X] : (p(X) | ".repeat(many), ")".repeat(many));
    let nots = format!("{}p", "~".repeat(many));
    let binders = format!("{}p", "![X]:?[X]:".repeat(many));
    for (text, nodes) in [
        (&conjunction, 2),
        (&different, many + 1),
        (&closed, 4 * many + 1),
        (&open, 4 * many + 3),
        (&nots, 1),
        (&binders, 2 * many + 1),
    ] {
        let formula = tptp::parse_formula(text, tptp::Language::Fof, limits, &mut Interner::new()).unwrap();
        assert_eq!(builder.build(&formula).unwrap().view().labels().len(), nodes, "{}", &text[..20]);
    }
}
