//! Inputs that are large, deep or damaged in order to do harm.

use super::*;

const MILLION: usize = 1_000_000;

/// Limits that a million of anything stays below.
const WIDE: Limits = Limits { bytes: usize::MAX, depth: usize::MAX, nodes: usize::MAX, treelets: u64::MAX };

#[track_caller]
fn refused(text: &str, limits: Limits, expected: &str) {
    let mut names = Interner::new();
    let error = parse_formula(text, Language::Fof, limits, &mut names).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.limit.is_some(), expected.contains("at most"), "{expected}");
}

fn size(text: &str, language: Language) -> usize {
    parse_formula(text, language, WIDE, &mut Interner::new()).unwrap().len()
}

#[test]
fn a_million_levels_are_refused() {
    let deep =
        |column: usize| format!("1:{column}: expected at most 20000 nested brackets and binders, found more");
    refused(&"(".repeat(MILLION), Limits::default(), &deep(20_001));
    refused(&"~".repeat(MILLION), Limits::default(), &deep(20_002));
    refused(&"![X]:".repeat(MILLION), Limits::default(), &deep(100_003));
    refused(&"f(".repeat(MILLION), Limits::default(), &deep(40_002));
    let list = format!("![{}X]:p", "X,".repeat(MILLION));
    refused(&list, Limits::default(), &deep(40_003));
    let annotation = format!("fof(a,axiom,p,{}", "[".repeat(MILLION));
    refused(&annotation, Limits::default(), &deep(20_015));
}

#[test]
fn a_million_levels_are_read_if_allowed() {
    assert_eq!(size(&format!("{}p{}", "(".repeat(MILLION), ")".repeat(MILLION)), Language::Fof), 1);
    assert_eq!(size(&format!("{}p", "~".repeat(MILLION)), Language::Fof), MILLION + 1);
    assert_eq!(size(&format!("{}p(X)", "![X]:".repeat(MILLION)), Language::Fof), MILLION + 2);
    assert_eq!(
        size(&format!("p({}a{})", "f(".repeat(MILLION), ")".repeat(MILLION)), Language::Fof),
        MILLION + 2
    );
    assert_eq!(
        size(&format!("{}a{}", "f @ (".repeat(MILLION), ")".repeat(MILLION)), Language::Thf),
        MILLION + 1
    );
    assert_eq!(size(&format!("{}$o", "$i > ".repeat(MILLION)), Language::Thf), 2 * MILLION + 1);
    let brackets = format!("fof(a,axiom,p,{}{}).", "[".repeat(MILLION), "]".repeat(MILLION));
    assert_eq!(size(&brackets, Language::Fof), 1);
}

#[test]
fn a_million_unclosed_levels_are_one_error() {
    let end = "expected a formula, found the end of the text";
    refused(&"(".repeat(MILLION), WIDE, &format!("1:{}: {end}", MILLION + 1));
    refused(&"~".repeat(MILLION), WIDE, &format!("1:{}: {end}", MILLION + 1));
    refused(&"![X]:".repeat(MILLION), WIDE, &format!("1:{}: {end}", 5 * MILLION + 1));
}

/// Quadratic work per name would take minutes here.
#[test]
fn many_variables_take_linear_time() {
    let names: Vec<String> = (0..100_000).map(|i| format!("X{i}")).collect();
    let nested: String = names.iter().map(|x| format!("![{x}]:")).collect();
    let arguments = names.join(",");
    assert_eq!(size(&format!("{nested}p({arguments})"), Language::Fof), 200_001);
    assert_eq!(size(&format!("![{arguments}]:p({arguments})"), Language::Fof), 200_001);
    assert_eq!(size(&format!("p({arguments})"), Language::Cnf), 100_001);
    let scopes: Vec<String> = names.iter().map(|x| format!("![{x}]:p({x})")).collect();
    assert_eq!(size(&scopes.join("&"), Language::Fof), 400_000 - 1);
}

#[test]
fn limits_count_one_statement() {
    let limits = Limits { nodes: 4, bytes: 30, ..Limits::default() };
    refused("p(a,b,c,d)", limits, "1:11: expected at most 4 nodes, found more");
    refused("a != b & p", limits, "1:11: expected at most 4 nodes, found more");
    refused(&"(".repeat(100), limits, "1:31: expected at most 30 bytes in one formula, found more");
    refused(
        &format!("p & '{}'", "q".repeat(100)),
        limits,
        "1:5: expected at most 30 bytes in one formula, found more",
    );
    let mut names = Interner::new();
    // Each statement fits, and so does a long comment between them.
    let text = format!("fof(a,axiom,p). /* {} */ fof(b,axiom,q(c)).", "x".repeat(100));
    let mut reader = Reader::new(&text, limits);
    assert!(reader.next(&mut names).unwrap().is_some());
    assert!(reader.next(&mut names).unwrap().is_some());
    assert!(reader.next(&mut names).unwrap().is_none());
    let mut reader = Reader::new("fof(a,axiom,p,/* and why it is so */x).", limits);
    assert!(reader.next(&mut names).is_err());
    assert!(reader.next(&mut names).unwrap().is_none(), "nothing comes after an error");
}

/// Every prefix of a text, and every text with one byte replaced, is read or refused; nothing panics.
#[test]
fn damage_is_an_error() {
    let text = concat!(
        "fof('a\\'b',axiom,![X,Y]:(p(X)&~q|a!=1.5E-3<=>\"d\"=f(X)),file('x',y)).% c\n",
        "thf(t,axiom,(^[X:$i>$o]:(X@'é')@@+[Y]:Y= /* c */ $ite(p,$$q,!!))).include('f',[a]).",
    );
    let read = |text: &str| {
        let mut names = Interner::new();
        for language in [Language::Fof, Language::Cnf, Language::Tff, Language::Thf] {
            let _ = parse_formula(text, language, Limits::default(), &mut names);
        }
        let mut reader = Reader::new(text, Limits::default());
        while let Ok(Some(_)) = reader.next(&mut names) {}
    };
    for (at, c) in text.char_indices() {
        read(&text[..at]);
        read(&text[at..]);
        for other in "\0'\"()[]{}.,:~!?@^$%/*\\-+<>=&|Xx0é\n".chars() {
            read(&format!("{}{other}{}", &text[..at], &text[at + c.len_utf8()..]));
        }
    }
}
