//! Random first-order formulas, printed as TPTP with random brackets and blanks, and as HOL Light's text.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Term {
    Variable(&'static str),
    Function(&'static str, Vec<Term>),
}

#[derive(Clone, Debug)]
enum Fof {
    Atom(&'static str, Vec<Term>),
    /// TPTP sign, and the two sides.
    Equation(&'static str, Term, Term),
    Not(Box<Fof>),
    /// TPTP quantifier and its variables.
    Quantified(&'static str, Vec<&'static str>, Box<Fof>),
    Binary(&'static str, Box<Fof>, Box<Fof>),
    /// `&` or `|` between three or more.
    Chain(&'static str, Vec<Fof>),
}

fn term() -> impl Strategy<Value = Term> {
    let variable = prop::sample::select(vec!["X", "Y", "Zeta_1"]).prop_map(Term::Variable);
    variable.prop_recursive(3, 12, 3, |inner| {
        let name = prop::sample::select(vec!["c", "f", "k2_finseq_1"]);
        (name, prop::collection::vec(inner, 0..3))
            .prop_map(|(name, arguments)| Term::Function(name, arguments))
    })
}

fn fof() -> impl Strategy<Value = Fof> {
    let name = prop::sample::select(vec!["p", "q", "r1_hidden"]);
    let atom = (name, prop::collection::vec(term(), 0..3)).prop_map(|(p, t)| Fof::Atom(p, t));
    let sign = prop::sample::select(vec!["=", "!="]);
    let equation = (sign, term(), term()).prop_map(|(sign, a, b)| Fof::Equation(sign, a, b));
    prop_oneof![atom, equation].prop_recursive(6, 60, 4, |inner| {
        let variables = prop::collection::vec(prop::sample::select(vec!["X", "Y", "V"]), 1..3);
        let connective = prop::sample::select(vec!["&", "|", "=>", "<=", "<=>", "<~>", "~|", "~&"]);
        prop_oneof![
            inner.clone().prop_map(|f| Fof::Not(f.into())),
            (prop::sample::select(vec!["!", "?"]), variables, inner.clone())
                .prop_map(|(q, v, f)| Fof::Quantified(q, v, f.into())),
            (connective, inner.clone(), inner.clone()).prop_map(|(c, a, b)| Fof::Binary(
                c,
                a.into(),
                b.into()
            )),
            (prop::sample::select(vec!["&", "|"]), prop::collection::vec(inner, 3..5))
                .prop_map(|(c, parts)| Fof::Chain(c, parts)),
        ]
    })
}

/// Blanks that tokens may have between them; the seed decides which.
fn blank(seed: &mut u64) -> &'static str {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ["", " ", "\n", "/* ( */", " % )\n", "", "", " "][(*seed >> 60) as usize % 8]
}

impl Term {
    fn tptp(&self) -> String {
        match self {
            Term::Variable(name) => (*name).to_owned(),
            Term::Function(name, arguments) => applied(name, arguments),
        }
    }

    fn hol(&self) -> String {
        match self {
            Term::Variable(name) => (*name).to_owned(),
            Term::Function(name, arguments) => curried(name, arguments),
        }
    }
}

fn applied(name: &str, arguments: &[Term]) -> String {
    let inner: Vec<String> = arguments.iter().map(Term::tptp).collect();
    if inner.is_empty() { name.to_owned() } else { format!("{name}({})", inner.join(",")) }
}

fn curried(name: &str, arguments: &[Term]) -> String {
    arguments.iter().fold(name.to_owned(), |f, x| format!("({f} {})", x.hol()))
}

impl Fof {
    fn tptp(&self, seed: &mut u64) -> String {
        match self {
            Fof::Atom(name, arguments) => applied(name, arguments),
            Fof::Equation(sign, a, b) => {
                format!("{}{}{sign}{}{}", a.tptp(), blank(seed), blank(seed), b.tptp())
            }
            Fof::Not(f) => format!("~ {}{}", blank(seed), f.unit(seed)),
            Fof::Quantified(quantifier, variables, f) => {
                let list = variables.join(&format!("{},{}", blank(seed), blank(seed)));
                format!("{quantifier}{}[{list}]{}:{}{}", blank(seed), blank(seed), blank(seed), f.unit(seed))
            }
            Fof::Binary(connective, a, b) => {
                format!("{}{}{connective}{} {}", a.unit(seed), blank(seed), blank(seed), b.unit(seed))
            }
            Fof::Chain(connective, parts) => {
                let parts: Vec<String> = parts.iter().map(|f| f.unit(seed)).collect();
                parts.join(&format!("{} {connective} {}", blank(seed), blank(seed)))
            }
        }
    }

    /// With brackets where the grammar needs them, and sometimes where it does not.
    fn unit(&self, seed: &mut u64) -> String {
        let text = self.tptp(seed);
        if matches!(self, Fof::Binary(..) | Fof::Chain(..)) || blank(seed) == "\n" {
            format!("({}{text}{})", blank(seed), blank(seed))
        } else {
            text
        }
    }

    fn hol(&self) -> String {
        match self {
            Fof::Atom(name, arguments) => curried(name, arguments),
            Fof::Equation("=", a, b) => format!("({} = {})", a.hol(), b.hol()),
            Fof::Equation(_, a, b) => format!("(~ ({} = {}))", a.hol(), b.hol()),
            Fof::Not(f) => format!("(~ {})", f.hol()),
            Fof::Quantified(quantifier, variables, f) => {
                variables.iter().rev().fold(f.hol(), |body, x| format!("({quantifier}{x}. {body})"))
            }
            Fof::Binary(connective, a, b) => joined(connective, a.hol(), b.hol()),
            Fof::Chain(connective, parts) => {
                parts.iter().map(Fof::hol).reduce(|a, b| joined(connective, a, b)).unwrap()
            }
        }
    }
}

fn joined(connective: &str, a: String, b: String) -> String {
    match connective {
        "&" => format!("({a} /\\ {b})"),
        "|" => format!("({a} \\/ {b})"),
        "=>" => format!("({a} ==> {b})"),
        "<=" => format!("({b} ==> {a})"),
        "<=>" => format!("({a} = {b})"),
        "<~>" => format!("(~ ({a} = {b}))"),
        "~|" => format!("(~ ({a} \\/ {b}))"),
        "~&" => format!("(~ ({a} /\\ {b}))"),
        other => panic!("no connective: {other}"),
    }
}

proptest! {
    #[test]
    fn formulas_mean_what_they_say(fof in fof(), mut seed: u64) {
        let text = fof.tptp(&mut seed);
        prop_assert_eq!(outcome(&text, Language::Fof), format!("|- {}", fof.hol()), "for {}", text);
        // First-order formulas mean the same in the typed languages.
        prop_assert_eq!(outcome(&text, Language::Tff), outcome(&text, Language::Fof));
        prop_assert_eq!(outcome(&text, Language::Thf), outcome(&text, Language::Fof));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(fof\\(|[a-zA-Z0-9'\"\\\\()\\[\\]{}.,:~!?@^$%/*+<>=&| \n-]){0,60}|\\PC{0,30}") {
        for language in [Language::Fof, Language::Cnf, Language::Thf] {
            outcome(&text, language);
        }
    }
}
