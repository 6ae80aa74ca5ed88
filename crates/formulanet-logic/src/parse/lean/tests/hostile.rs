//! Texts that are wrong, huge or deep.

use super::*;
use crate::error::ParseError;
use crate::limits::Limit;
use proptest::prelude::*;

#[track_caller]
fn check_error(text: &str, expected: &str) {
    check(text, expected);
}

fn error_of(text: &str) -> ParseError {
    parse(text, Limits::default(), &mut Interner::new()).unwrap_err()
}

#[test]
fn errors_say_where() {
    check_error("", "1:1: expected a term, found the end of the text");
    check_error("theorem", "1:8: expected a name after `theorem`, found the end of the text");
    check_error("theorem t", "1:10: expected `:` and what the theorem says, found the end of the text");
    check_error("theorem t (x : Nat : p", "1:20: expected an operator or `)`, found `:`");
    check_error(
        "theorem t (x = 1) : p",
        "1:12: expected names and `:` in the brackets of a binder, found `x`",
    );
    check_error(
        "theorem t : p )",
        "1:15: expected an operator, `:=`, `where` or the end of the declaration, found `)`",
    );
    check_error("f (a", "1:5: expected an operator or `)`, found the end of the text");
    check_error("a\n  = = b", "2:5: expected a term, found `=`");
    check_error("∀ , p", "1:3: expected a variable or `,`, found `,`");
    check_error("fun x, p", "1:6: expected a variable or `=>`, found `,`");
    check_error("do x", "1:1: expected a term without `by`, `do` and `show`, found `do`");
    check_error("match x, y", "1:11: expected an operator, `,` or `with`, found the end of the text");
    check_error("match x with | 0, 1", "1:20: expected an operator, `,` or `=>`, found the end of the text");
    check_error("{ a := 1, 2 }", "1:11: expected a field, found `2`");
    check_error("{ a := 1, b c }", "1:13: expected `:=` after a field, found `c`");
    check_error("{ a := 1", "1:9: expected an operator, `,` or `}`, found the end of the text");
    check_error("xs[i", "1:5: expected an operator or `]`, found the end of the text");
    check_error(
        "/- never closed",
        "1:1: expected a `-/` that closes this comment, found the end of the text",
    );
    check_error("\"never closed", "1:1: expected a quote that closes this one, found the end of the text");
    check_error("«never closed", "1:1: expected a `»` that closes this `«`, found none");
    check_error("a.{u", "1:2: expected a `}` that closes these levels, found the end of the text");
    check_error("let x 5; x", "1:7: expected `:` or `:=` after the name that `let` binds, found `5`");
    check_error("{x : T} ∧ p", "1:9: expected `→` after a binder, found `∧`");
    let goal =
        |text: &str| parse_goal(text, Limits::default(), &mut Interner::new()).unwrap_err().to_string();
    assert_eq!(goal("a : Nat"), "1:8: expected a hypothesis, or `⊢` and the goal, found the end of the text");
    assert_eq!(
        goal("a : Nat\n: p\n⊢ q"),
        "2:1: expected the name of a hypothesis, or `⊢` and the goal, found `:`"
    );
    assert_eq!(goal("a : Nat\nb c\n⊢ q"), "3:1: expected `:` after the name of a hypothesis, found `⊢`");
    assert_eq!(goal("h : f a )\n⊢ q"), "1:9: expected an operator or the end of the hypothesis, found `)`");
}

#[test]
fn depth_is_bounded_and_never_on_the_stack() {
    let many = 200_000;
    for (open, close) in [
        ("(", ")"),
        ("⟨", "⟩"),
        ("[", "]"),
        ("f (", ")"),
        ("¬", ""),
        ("∀ x, ", ""),
        ("fun x => ", ""),
        ("(x : ", ")"),
        ("{x : p} → ", ""),
        ("p → ", ""),
        ("a + (", ")"),
        ("let x := ", "; x"),
        ("if p then ", " else q"),
        ("if ", " then p else q"),
        ("∃ x < (", "), p"),
        ("f fun x => ", ""),
        ("a ^ ", ""),
        ("↑", ""),
        ("{ a := ", " }"),
        ("{x // ", "}"),
        ("{", "}"),
        ("xs[", "]"),
        ("match ", " with | x => x"),
        ("match x with | x => ", ""),
        ("∑ x, ", ""),
        ("(x : a) × ", ""),
        ("1...", ""),
    ] {
        for count in [many, 5_000] {
            let text = format!("{}a{}", open.repeat(count), close.repeat(count));
            match parse(&text, Limits::default(), &mut Interner::new()) {
                Ok(formula) => assert!(formula.len() <= Limits::default().nodes, "{open}"),
                Err(error) => {
                    assert!(
                        count == many && matches!(error.limit, Some(Limit::Depth | Limit::Nodes)),
                        "{open}: {error}"
                    );
                }
            }
        }
        // What was never closed, or never opened.
        assert!(parse(&open.repeat(many), Limits::default(), &mut Interner::new()).is_err());
        if !close.is_empty() {
            error_of(&close.repeat(many));
        }
    }
    let long = format!("f{}", " a".repeat(100_000));
    assert_eq!(parse(&long, Limits::default(), &mut Interner::new()).unwrap().len(), 100_001);
}

#[test]
fn what_grows_without_bound_ends_at_a_limit() {
    // Every type stands twice, and has the next one twice.
    let mut text = "p".to_owned();
    for _ in 0..40 {
        text = format!("∀ (x y : {text}), q x y");
    }
    assert_eq!(error_of(&text).limit, Some(Limit::Nodes));
    let limits = Limits { bytes: 100, ..Limits::default() };
    let error = parse(&"a ".repeat(51), limits, &mut Interner::new()).unwrap_err();
    assert_eq!(error.limit, Some(Limit::Bytes));
}

proptest! {
    /// Any characters, and those that mean something in any order.
    #[test]
    fn nothing_panics(text in "\\PC{0,60}", pieces in prop::collection::vec(prop::sample::select(vec![
        "(", ")", "[", "]", "{", "}", "⦃", "⦄", "⟨", "⟩", ",", ":", ":=", ";", "=>", "→", "∀ ", "∃ ", "fun ", "let ", "if ", "then ",
        "else ", "x", "y ", "Nat ", "x.1", ".fst", "@", "_", "?m", "Type ", "= ", "¬", "-", "⁻¹", "|", "\n", "theorem t ", "def d ",
        "⊢ ", "case ", "instance ", "∈", "1", "\"s\"", "where ", ".{u}", "/-", "-/", "--", "match ", "with ", "⋯", "↑", "{ a := ", "//", "...", "#", "[", "x.a.b ", "∑ ", "⊗",
    ]), 0..40)) {
        let pieces = pieces.concat();
        for text in [text.as_str(), pieces.as_str(), &format!("theorem t {pieces}"), &format!("h : {pieces}\n⊢ {text}")] {
            let mut names = Interner::new();
            let _ = parse(text, Limits::default(), &mut names);
            let _ = parse_goal(text, Limits::default(), &mut names);
            let _ = parse_declaration(text, Limits::default(), &mut names);
        }
    }
}
