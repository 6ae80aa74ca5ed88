//! Random terms: what their variables are called, and whether they are written with notation, does not matter.

use super::*;
use crate::graph::{Graph, GraphBuilder, View};
use crate::problem::StatementBuilder;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Random {
    /// A variable, by the number of binders between it and its own; a constant where there are fewer.
    Variable(usize),
    Constant(&'static str),
    Apply(&'static str, Vec<Random>),
    /// A binder and whether the variable has a type.
    Bind(&'static str, Option<Box<Random>>, Box<Random>),
    Arrow(Box<Random>, Box<Random>),
    /// The full form's head and the operator.
    Binary((&'static str, &'static str), Box<Random>, Box<Random>),
}

fn random() -> impl Strategy<Value = Random> {
    let leaf = prop_oneof![
        (0usize..4).prop_map(Random::Variable),
        prop::sample::select(vec!["c", "Nat", "Nat.zero"]).prop_map(Random::Constant),
    ];
    leaf.prop_recursive(6, 60, 3, |inner| {
        let binder = prop::sample::select(vec!["∀", "∃", "fun"]);
        let operator = prop::sample::select(vec![
            ("Eq", "="),
            ("And", "∧"),
            ("HAdd.hAdd", "+"),
            ("HMul.hMul", "*"),
            ("LE.le", "≤"),
            ("HPow.hPow", "^"),
            ("Iff", "↔"),
        ]);
        prop_oneof![
            (prop::sample::select(vec!["f", "List.map"]), prop::collection::vec(inner.clone(), 1..3))
                .prop_map(|(head, arguments)| Random::Apply(head, arguments)),
            (binder, prop::option::of(inner.clone()), inner.clone())
                .prop_map(|(binder, typed, body)| Random::Bind(binder, typed.map(Box::new), body.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Random::Arrow(a.into(), b.into())),
            (operator, inner.clone(), inner).prop_map(|(o, a, b)| Random::Binary(o, a.into(), b.into())),
        ]
    })
}

impl Random {
    /// Writes the term, with names that a function gives to binders by their depth.
    fn write(&self, name: &dyn Fn(usize) -> String, depth: usize, with_notation: bool) -> String {
        let inner = |term: &Random, depth| format!("({})", term.write(name, depth, with_notation));
        match self {
            Random::Variable(back) if *back < depth => name(depth - 1 - back),
            Random::Variable(_) => "d".to_owned(),
            Random::Constant(constant) => (*constant).to_owned(),
            Random::Apply(head, arguments) => arguments
                .iter()
                .fold((*head).to_owned(), |text, argument| format!("{text} {}", inner(argument, depth))),
            Random::Bind(binder, typed, body) => {
                let variable = match typed {
                    Some(typed) => format!("({} : {})", name(depth), typed.write(name, depth, with_notation)),
                    None => name(depth),
                };
                let sign = if *binder == "fun" { " =>" } else { "," };
                format!("{binder} {variable}{sign} {}", body.write(name, depth + 1, with_notation))
            }
            Random::Arrow(left, right) => format!("{} → {}", inner(left, depth), inner(right, depth)),
            Random::Binary((_, sign), left, right) if with_notation => {
                format!("{} {sign} {}", inner(left, depth), inner(right, depth))
            }
            Random::Binary((head, _), left, right) => {
                format!("{head} {} {}", inner(left, depth), inner(right, depth))
            }
        }
    }
}

/// The graphs of a text, of which all that does not show names has to be the same.
fn graphs(text: &str, names: &mut Interner) -> (Vec<Graph>, Vec<u8>) {
    let formula = parse(text, Limits::default(), names).unwrap_or_else(|error| panic!("{text}: {error}"));
    let graph = |view| {
        let mut graph = Graph::new();
        GraphBuilder::new(view, Limits::default()).build(&formula, names, &mut graph).unwrap();
        graph
    };
    let statement = StatementBuilder::default().build(&formula).unwrap();
    ([View::Graph, View::Tree, View::Dag].map(graph).to_vec(), statement.view().labels().to_vec())
}

proptest! {
    #[test]
    fn renaming_variables_changes_nothing(term in random(), seed in 0usize..100) {
        let mut names = Interner::new();
        let plain = graphs(&term.write(&|depth| format!("x{depth}"), 0, false), &mut names);
        let others: [&dyn Fn(usize) -> String; 2] =
            [&|depth| format!("y✝{}", depth * 7 + seed), &|depth| format!("«z {}»", depth + seed)];
        for other in others {
            prop_assert_eq!(&graphs(&term.write(other, 0, false), &mut names), &plain);
        }
        // With notation, in a declaration and as a goal it is the same.
        let written = term.write(&|depth| format!("x{depth}"), 0, true);
        prop_assert_eq!(&graphs(&written, &mut names), &plain);
        prop_assert_eq!(&graphs(&format!("theorem t : {written}"), &mut names), &plain);
        prop_assert_eq!(&graphs(&format!("⊢ {written}"), &mut names), &plain);
    }
}
