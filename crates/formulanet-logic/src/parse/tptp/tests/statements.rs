//! Whole files: statements, includes, annotations.

use super::*;

/// Lists the items of a text, and the error that ended it.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let mut names = Interner::new();
    let mut reader = Reader::new(text, Limits::default());
    let mut found = Vec::new();
    loop {
        match reader.next(&mut names) {
            Ok(None) => break,
            Ok(Some(Item::Annotated(s))) => {
                let formula = s.formula.map_or("-".to_owned(), |f| f.display(&names).to_string());
                assert!(
                    text[s.span.clone()].starts_with(&s.language.to_string()) && text[s.span].ends_with('.')
                );
                found.push(format!("{} {} {} {} {formula}", s.position, s.language, s.name, s.role));
            }
            Ok(Some(Item::Include(i))) => {
                assert!(text[i.span.clone()].starts_with("include") && text[i.span].ends_with('.'));
                found.push(format!("{} include {} {:?}", i.position, i.file, i.selection));
            }
            Err(error) => found.push(error.to_string()),
        }
    }
    assert_eq!(found, expected, "for {text}");
}

#[test]
fn files() {
    check("", &[]);
    check(" % only a comment", &[]);
    check(
        "fof(a,axiom,p).cnf(b,negated_conjecture,~q).",
        &["1:1 fof a axiom |- p", "1:16 cnf b negated_conjecture |- (~ q)"],
    );
    check(
        "% Ä\n /* ö */ fof(\n 'n 1', conjecture,\n p ) .\ninclude('x').",
        &["2:10 fof n 1 conjecture |- p", "5:1 include x None"],
    );
    check(
        "fof(12,axiom,p). fof(-3,axiom-local(x,[y]),p).",
        &["1:1 fof 12 axiom |- p", "1:18 fof -3 axiom |- p"],
    );
    check(
        "tff(t,type,f: ($i * $i) > $o). tff(a,axiom,f(a,b)).",
        &["1:1 tff t type -", "1:32 tff a axiom |- ((f a) b)"],
    );
    check("thf(l,type,( list: !>[A: $tType] : ( A > $tType ) ),source).", &["1:1 thf l type -"]);
    check("thf(s,logic,( $modal == [ $constants == $rigid ] )).", &["1:1 thf s logic -"]);
    check("tcf(c,axiom,![X: $i]: (p(X) | ~ q)).", &[r"1:1 tcf c axiom |- (!X. ((p X) \/ (~ q)))"]);
}

#[test]
fn annotations() {
    check("fof(a,axiom,p,file('x.p',a)).", &["1:1 fof a axiom |- p"]);
    check(
        "cnf(7,plain,p,inference(sr,[status(thm)],[c_0,theory(equality,[symmetry])]),['proof',$fof(![X]:q(X))]).",
        &["1:1 cnf 7 plain |- p"],
    );
    check("fof(a,axiom,p,unknown,[bind(X,$fot(\")\"))]).", &["1:1 fof a axiom |- p"]);
    check("fof(a,axiom,p,).", &["1:15: expected an annotation, found `)`"]);
    check("fof(a,axiom,p,[x).", &["1:17: expected a bracket that closes the last open one, found `)`"]);
    check("fof(a,axiom,p,x]).", &["1:16: expected a connective, `,` or `)` after the formula, found `]`"]);
    check(
        "fof(a,axiom,p,f(x.\nfof(b,axiom,q).",
        &["1:18: expected a bracket that closes the last open one, found `.`"],
    );
}

#[test]
fn includes() {
    check(
        "include('Axioms/SET001+0.ax',[a,'b c',3]).",
        &[r#"1:1 include Axioms/SET001+0.ax Some(["a", "b c", "3"])"#],
    );
    check(
        "include('x',[]). include('y',*). include('z',[a],space).",
        &["1:1 include x Some([])", "1:18 include y None", r#"1:34 include z Some(["a"])"#],
    );
    check("include(X).", &["1:9: expected a file name in single quotes, found `X`"]);
    check("include('x',a).", &["1:13: expected `[` before the names of statements, found `a`"]);
    check("include('x',[a b]).", &["1:16: expected `,` or `]` after the name of a statement, found `b`"]);
    check("include('x',[X]).", &["1:14: expected the name of a statement, found `X`"]);
    check("include('x'", &["1:12: expected `,` or `)`, found the end of the text"]);
}

#[test]
fn damaged_statements() {
    check(
        "fof(a,axiom,p",
        &["1:14: expected a connective, `,` or `)` after the formula, found the end of the text"],
    );
    check("fof(a,axiom,p)", &["1:15: expected `.` after `)`, found the end of the text"]);
    check("fof(a,axiom,\n\n  p(b]).", &["3:6: expected `)` or `,` after an argument, found `]`"]);
    check("fof(a,axiom", &["1:12: expected `,` after the statement's role, found the end of the text"]);
    check("fof(a,", &["1:7: expected the statement's role, found the end of the text"]);
    check("fof(a p)", &["1:7: expected `,` after the statement's name, found `p`"]);
    check("fof(A,axiom,p).", &["1:5: expected the statement's name, found `A`"]);
    check("fof(1.5,axiom,p).", &["1:5: expected the statement's name, found `1.5`"]);
    check("fof", &["1:4: expected `(` after `fof`, found the end of the text"]);
    check(
        "fof(a,axiom,p).\nfoo(b).",
        &[
            "1:1 fof a axiom |- p",
            "2:1: expected `fof`, `cnf`, `tff`, `tcf`, `thf` or `include`, found `foo`",
        ],
    );
    check("tff(t,type,).", &["1:12: expected a declaration, found `)`"]);
    check("tff(t,type,f: $i", &["1:17: expected `,` or a closing bracket, found the end of the text"]);
    check("\0", &[r"1:1: expected `fof`, `cnf`, `tff`, `tcf`, `thf` or `include`, found `\0`"]);
}

#[test]
fn one_statement_as_a_formula() {
    let text = "cnf(a, axiom, p(X) | q, file(x)). % c";
    assert_eq!(outcome(text, Language::Fof), r"|- ((p X) \/ q)");
    assert_eq!(outcome("fof & p", Language::Fof), r"|- (fof /\ p)");
    let text = "tff(a, type, p: $o).";
    assert_eq!(outcome(text, Language::Fof), "1:1: expected a formula, found a declaration of role `type`");
    let text = "fof(a,axiom,p). fof(b,axiom,q).";
    let expected = "1:17: expected the end of the text after the statement, found `fof`";
    assert_eq!(outcome(text, Language::Fof), expected);
}

#[test]
fn a_parser_is_used_again_after_an_error() {
    let (mut names, mut formula) = (Interner::new(), Formula::new());
    let mut parser = Parser::new(Limits::default());
    let mut run = |text: &str| match parser.annotated(text, 7, &mut names, &mut formula) {
        Ok(header) => format!("{} {} {}", header.name, header.role, formula.display(&names)),
        Err(error) => error.to_string(),
    };
    assert_eq!(run("fof(a,axiom,![X]:p(X))."), "a axiom |- (!X. (p X))");
    assert_eq!(run("fof(b,axiom,![X]:(p(X) &"), "7:25: expected a formula, found the end of the text");
    assert_eq!(run(r"fof('it\'s',axiom,p(X))."), "it's axiom |- (p X)");
}

/// A cursor borrows no text, so that many can be open, as an include inside of an include needs them.
#[test]
fn cursors_take_turns() {
    let texts = ["fof(a,axiom,p). fof(b,axiom,", "% ä\ncnf(c,axiom,q).\ninclude('x').cnf(d,axiom,r)."];
    let mut names = Interner::new();
    let mut open = texts.map(|text| (text, Cursor::new(Limits::default())));
    let mut found = Vec::new();
    for _ in 0..5 {
        for (text, cursor) in &mut open {
            found.push(match cursor.next(text, &mut names) {
                Ok(Some(Item::Annotated(item))) => format!("{} {}", item.position, item.name),
                Ok(Some(Item::Include(include))) => format!("{} {}", include.position, include.file),
                Ok(None) => "-".to_owned(),
                Err(error) => error.to_string(),
            });
        }
    }
    let error = "1:29: expected a formula, found the end of the text";
    assert_eq!(found, ["1:1 a", "2:1 c", error, "3:1 x", "-", "3:14 d", "-", "-", "-", "-"]);
}
