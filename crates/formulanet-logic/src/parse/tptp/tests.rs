//! Tests of accepted and rejected input, and of bounds on size and depth.

use crate::formula::Formula;
use crate::limits::Limits;
use crate::symbol::Interner;

use super::{Cursor, Item, Language, Parser, Reader, parse_formula};

mod hostile;
mod random;
mod statements;

fn outcome(text: &str, language: Language) -> String {
    let mut names = Interner::new();
    match parse_formula(text, language, Limits::default(), &mut names) {
        Ok(formula) => formula.display(&names).to_string(),
        Err(error) => error.to_string(),
    }
}

/// Parses a formula and compares its HOL Light text without the turnstile, or the error.
#[track_caller]
fn check(language: Language, text: &str, expected: &str) {
    let found = outcome(text, language);
    assert_eq!(found.strip_prefix("|- ").unwrap_or(&found), expected, "for {text}");
}

#[track_caller]
fn check_fof(text: &str, expected: &str) {
    check(Language::Fof, text, expected);
}

#[test]
fn connectives() {
    check_fof("p & q", r"(p /\ q)");
    check_fof("p | q", r"(p \/ q)");
    check_fof("p => q", "(p ==> q)");
    check_fof("p <= q", "(q ==> p)");
    check_fof("p <=> q", "(p = q)");
    check_fof("p <~> q", "(~ (p = q))");
    check_fof("p ~| q", r"(~ (p \/ q))");
    check_fof("p ~& q", r"(~ (p /\ q))");
    check_fof("~p", "(~ p)");
    check_fof("~ ~ p", "(~ (~ p))");
    check_fof("$true => $false", "(T ==> F)");
    check_fof("a = b", "(a = b)");
    check_fof("a != b", "(~ (a = b))");
    check_fof("f(a)=g(b,c)", "((f a) = ((g b) c))");
}

#[test]
fn grouping() {
    check_fof("p & q & r", r"((p /\ q) /\ r)");
    check_fof("p | q | r | s", r"(((p \/ q) \/ r) \/ s)");
    check_fof("p & (q & r)", r"(p /\ (q /\ r))");
    check_fof("(p => q) => r", "((p ==> q) ==> r)");
    check_fof("~p & q", r"((~ p) /\ q)");
    check_fof("~ a = b & q", r"((~ (a = b)) /\ q)");
    check_fof("~ a != b", "(~ (~ (a = b)))");
    check_fof("! [X] : p(X) & q", r"((!X. (p X)) /\ q)");
    check_fof("! [X] : X = a | q", r"((!X. (X = a)) \/ q)");
    check_fof("! [X] : ~ ? [Y] : p(X,Y)", "(!X. (~ (?Y. ((p X) Y))))");
    check_fof("((p))", "p");
    check_fof("p & q | r", "1:7: expected brackets between different connectives, found `|`");
    check_fof("p => q & r", "1:8: expected brackets between different connectives, found `&`");
    check_fof("p=>q=>r", "1:5: expected brackets, because this connective is not associative, found `=>`");
    check_fof("a = b = c", "1:7: expected brackets around an equation, found `=`");
}

#[test]
fn variables() {
    check_fof("! [X,Y] : p(X,Y)", "(!X. (!Y. ((p X) Y)))");
    check_fof("? [X] : p(X)", "(?X. (p X))");
    check_fof("![X]:(p(X)&![X]:q(X)&r(X))", r"(!X. (((p X) /\ (!X. (q X))) /\ (r X)))");
    check_fof("p(X) & ! [X] : q(X) & r(X)", r"(((p X) /\ (!X. (q X))) /\ (r X))");
    check_fof("![X]: $true", "(!X. T)");
    check_fof("![T]: (p(T) | $true)", r"(!T. ((p T) \/ 'T'))");
    check(Language::Cnf, "p(X) | ~ q(Y,X) | X != Y", r"(((p X) \/ (~ ((q Y) X))) \/ (~ (X = Y)))");
    check(Language::Cnf, "( p | ~ (q) )", r"(p \/ (~ q))");
}

/// The number of variables of each kind: text alone does not show what an occurrence belongs to.
#[test]
fn occurrences_belong_to_the_innermost_binder() {
    let check = |text: &str, expected: &[(&str, bool)]| {
        let mut names = Interner::new();
        let formula = parse_formula(text, Language::Fof, Limits::default(), &mut names).unwrap();
        let found: Vec<_> =
            formula.variables().iter().map(|v| (names.name(v.name), v.binder.is_some())).collect();
        assert_eq!(found, expected, "for {text}");
    };
    check("p(X,Y,X)", &[("X", false), ("Y", false)]);
    check("p(X) & ![X]: p(X) & p(X)", &[("X", false), ("X", true)]);
    check("![X]: p(X,Y) & p(X) & q(Y)", &[("X", true), ("Y", false), ("X", false)]);
    check("![X]: (p(X) & ?[X]: p(X) & p(X))", &[("X", true), ("X", true)]);
    check("![X,X]: p(X)", &[("X", true), ("X", true)]);
}

#[test]
fn the_innermost_binder_after_an_inner_one_ended() {
    let mut names = Interner::new();
    let text = "![X]: (?[X]: p(X) & q(X))";
    let formula = parse_formula(text, Language::Fof, Limits::default(), &mut names).unwrap();
    let occurrences: Vec<usize> = formula
        .preorder()
        .filter_map(|t| match formula.head(t) {
            crate::Head::Variable(var) => Some(var.index()),
            _ => None,
        })
        .collect();
    assert_eq!(occurrences, [1, 0]);
}

#[test]
fn names() {
    check_fof("'a'(b)", "(a b)");
    check_fof("'a b'", "'a b'");
    check_fof(r"'it\'s \\ '", r"'it\'s \\ '");
    check_fof(r"'\\\\' & '\\\''", r"('\\\\' /\ '\\\'')");
    check_fof("'Größe'", "Größe");
    check_fof(r#"p("a \"b\" c")"#, r#"(p '"a \\"b\\" c"')"#);
    check_fof("p(\"\")", "(p '\"\"')");
    check_fof("p(1,-2,+3,1/2,-1.5,1.0E-3,2e7)", "(((((((p '1') '-2') '+3') '1/2') '-1.5') '1.0E-3') '2e7')");
    check_fof("$less(1,2)", "(('$less' '1') '2')");
    check_fof("$$mine", "'$$mine'");
    check_fof("f(X) = $product(2,X)", "((f X) = (('$product' '2') X))");
    check_fof("p (a , b)", "((p a) b)");
    check_fof("''", "1:1: expected a name inside of the quotes, found `''`");
    check_fof(r"'\n'", r"1:2: expected `\\` or `\'` inside of quotes, found `\`");
}

#[test]
fn comments_and_blanks() {
    check_fof("% one\np %two\n&/* three\n * */q/**/", r"(p /\ q)");
    check_fof("\r\n\tp\u{c}&\u{b}q", r"(p /\ q)");
    check_fof("'%' & '/*'", r"((%) /\ '/*')");
}

#[test]
fn typed_formulas() {
    let check = |text, expected| check(Language::Tff, text, expected);
    check("! [X: $int, Y: list($int)] : $less(X,Y)", "(!X. (!Y. (('$less' X) Y)))");
    check("! [F: ($int * $o) > $o] : p", "(!F. p)");
    check("! [A: $tType, X: A] : p(A,X)", "(!A. (!X. ((p A) X)))");
    check("p($int > $o > $i, a * b)", "((p ((fun '$int') ((fun '$o') '$i'))) ((prod a) b))");
    check("a = $ite(p & q, b, c)", r"(a = (((COND (p /\ q)) b) c))");
    check("f((p | q), ! [X: $i] : r(X))", r"((f (p \/ q)) (!X. (r X)))");
    check("(a) = (b)", "(a = b)");
    check("$let(a: $i, a := b, a)", "1:1: expected a formula without local definitions, found `$let`");
    check("! [X: ] : p", "1:7: expected a type, found `]`");
    check("! [X: (a] : p", "1:9: expected a bracket that closes the last open one, found `]`");
    check("f @ a", "1:3: expected a connective or the end of the text after the formula, found `@`");
    check("[a] --> [b]", "1:1: expected a formula, found `[`");
}

#[test]
fn higher_order_formulas() {
    let check = |text, expected| check(Language::Thf, text, expected);
    check("f @ a @ b", "((f a) b)");
    check("f @ ( g @ a )", "(f (g a))");
    check("! [P: $i > $o, X: $i] : ( P @ X )", r"(!P. (!X. (P X)))");
    check("( ^ [X: $i] : ( p @ X ) ) @ a", r"((\X. (p X)) a)");
    check("( ^ [X,Y] : X ) @ a @ b", r"(((\X. (\Y. X)) a) b)");
    check("f = ( ^ [X: $i] : X )", r"(f = (\X. X))");
    check("p @ ^ [X: $i] : X", r"(p (\X. X))");
    check("@+ [X: $i] : ( p @ X )", "(@X. (p X))");
    check("@- [X: $i] : ( p @ X )", "(@X. (p X))");
    check("!! @ ( ^ [X: $i] : ( p @ X ) )", r"((!) (\X. (p X)))");
    check("?? @ p & ( (@@+) @ p )", r"(((?) p) /\ ((@) p))");
    check("(&) @ p @ q", r"(p /\ q)");
    check("(~) @ p", "(~ p)");
    check("r @ (=>) @ (=)", "((r (==>)) (=))");
    check("( p & q ) @ a", r"((p /\ q) a)");
    check("!> [A: $tType] : ( p @ A @ ( A > $o ) )", "(!A. ((p A) ((fun A) '$o')))");
    check("f(a) @ b", "((f a) b)");
    check("~ ( p @ a ) & q", r"((~ (p a)) /\ q)");
    check("( f @ a ) = ( g @ b )", "((f a) = (g b))");
    check("f @ a = b", "1:7: expected brackets around an application, found `=`");
    check("a = f @ b", "1:7: expected brackets around what `@` applies, found `@`");
    check("~ p @ a", "1:5: expected brackets around what `@` applies, found `@`");
    check("^ [X: a] : ( f @ X ) @ b", r"((\X. (f X)) b)");
    check("^ [X, Y] : c @ a @ b", r"(((\X. (\Y. c)) a) b)");
    check("^ [X] : f @ X", r"((\X. f) X)");
    check("c @ ^ [X: a] : ( f @ X ) @ b", r"((c (\X. (f X))) b)");
    check(
        "c @ ^ [X] : ^ [Y] : ( f @ X ) @ b = d",
        "1:35: expected brackets around an application, found `=`",
    );
    check("c @ ! [X: a] : ( f @ X ) @ b", "((c (!X. (f X))) b)");
    check("@+ [X] : ( p @ X ) @ b", "((@X. (p X)) b)");
    check("! [X] : ( p @ X ) @ b", "1:19: expected brackets around what `@` applies, found `@`");
    check("^ [X] : ~ p @ b", "1:13: expected brackets around what `@` applies, found `@`");
    check("^ [X] : X = a @ b", "1:15: expected brackets around what `@` applies, found `@`");
    check("c @ ^ [X] : ~ p @ b", "1:17: expected brackets around an operand of `@`, found `@`");
    check("f @ ~ p @ q", "1:9: expected brackets around an operand of `@`, found `@`");
    check("p & & q", "1:7: expected `)` or `@` after a connective without operands, found `q`");
    check("(<=) @ p", "1:2: expected a formula, found `<=`");
}

#[test]
fn errors() {
    check_fof("", "1:1: expected a formula, found the end of the text");
    check_fof("  % nothing", "1:12: expected a formula, found the end of the text");
    check_fof("p(a]", "1:4: expected `)` or `,` after an argument, found `]`");
    check_fof("p(a", "1:4: expected `)` or `,` after an argument, found the end of the text");
    check_fof("p()", "1:3: expected a term, found `)`");
    check_fof("p(q & r)", "1:5: expected `)` or `,` after an argument, found `&`");
    check_fof("p(~q)", "1:3: expected a term, found `~`");
    check_fof("a = (b)", "1:5: expected a term, found `(`");
    check_fof("(a) = b", "1:5: expected a connective or the end of the text after the formula, found `=`");
    check_fof("(p\n & q", "2:5: expected `)` or a connective, found the end of the text");
    check_fof("p q", "1:3: expected a connective or the end of the text after the formula, found `q`");
    check_fof("p)", "1:2: expected a connective or the end of the text after the formula, found `)`");
    check_fof("p &", "1:4: expected a formula, found the end of the text");
    check_fof("p & )", "1:5: expected a formula, found `)`");
    check_fof("X", "1:2: expected `=` or `!=` after a term, found the end of the text");
    check_fof("3 & p", "1:3: expected `=` or `!=` after a term, found `&`");
    check_fof("! X : p", "1:3: expected `[` after a binder, found `X`");
    check_fof("! [x] : p", "1:4: expected a variable, found `x`");
    check_fof("! [] : p", "1:4: expected a variable, found `]`");
    check_fof("! [X Y] : p", "1:6: expected `,` or `]` after a variable, found `Y`");
    check_fof("! [X: $i] : p", "1:5: expected `,` or `]` after a variable, found `:`");
    check_fof("! [X] p", "1:7: expected `:` after the variables of a binder, found `p`");
    check_fof("^ [X] : p", "1:1: expected a formula, found `^`");
    check_fof("'ö' & \0", r"1:7: expected a formula, found `\0`");
    check_fof("p & ü", "1:5: expected a formula, found `ü`");
    check_fof("p & $", "1:5: expected a formula, found `$`");
    check_fof("p & /* q", "1:5: expected a `*/` that closes this comment, found the end of the text");
    check_fof("p & 'q", "1:5: expected a `'` that closes this one, found the end of the text");
    check_fof("p(\"q\n\")", "1:3: expected a `\"` that closes this one, found the end of the line");
    check_fof("'q\0'", r"1:3: expected no control character inside of quotes, found `\0`");
    check(
        Language::Cnf,
        "p & q",
        "1:3: expected a connective or the end of the text after the formula, found `&`",
    );
    check(Language::Cnf, "! [X] : p(X)", "1:1: expected a formula, found `!`");
}
