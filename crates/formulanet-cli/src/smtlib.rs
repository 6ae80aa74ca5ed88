//! TPTP problems in SMT-LIB's notation: FOF and CNF, over one uninterpreted sort.
//!
//! A function `f` of two arguments becomes `|f/2|`, a predicate `p` becomes `|p/2|`, and a statement `a` is named `|name:a|`: no
//! name of SMT-LIB or of a solver's theories looks like these.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use anyhow::{Context, Result, bail};
use formulanet::logic::tptp::Language;
use formulanet::logic::{Binder, Formula, Head, Interner, Limits, Symbol, TermId};
use formulanet::read::{Source, is_goal};

use crate::output::shown;

/// How names of statements begin.
pub(crate) const NAME: &str = "name:";
/// The line after the solver's answer that the names of used statements follow.
const CORE: &str = "; premises";

/// A problem that includes nothing, in SMT-LIB. It is unsatisfiable if the conjecture follows.
///
/// # Errors
///
/// Returns an error if the problem is not in FOF or CNF, or cannot be read, with the place.
pub(crate) fn translate(problem: Source, limits: Limits) -> Result<String> {
    let file = shown(problem.name()).into_owned();
    let (mut reader, mut names) = (problem.problem(limits)?, Interner::new());
    let (mut translation, mut asserted, mut goals) = (Translation::default(), String::new(), Vec::new());
    while let Some(next) = reader.next(&mut names)? {
        let (name, role) = (next.annotated.name.as_str(), next.annotated.role.as_str());
        let place = || format!("{file}: `{}` cannot be written in SMT-LIB", shown(name));
        if !matches!(next.annotated.language, Language::Fof | Language::Cnf) {
            let expected = "expected formulas in FOF or CNF, found one with types";
            return Err(anyhow::anyhow!("{expected}; take --format tptp").context(place()));
        }
        let Some(formula) = &next.annotated.formula else { continue };
        if let Some(quoted) = misleading(next.text) {
            return Err(
                anyhow::anyhow!("a symbol is named `{}`, like a connective", shown(quoted)).context(place())
            );
        }
        let text = translation.formula(formula, &names).with_context(place)?;
        let label = translation.label(name);
        if is_goal(role) && role != "negated_conjecture" {
            goals.push((text, label));
        } else {
            let _ = writeln!(asserted, "(assert (! {text} :named {label}))");
        }
    }
    // Several conjectures are proved together.
    if let [(first, label), more @ ..] = goals.as_slice() {
        let all = match more {
            [] => first.clone(),
            _ => {
                format!("(and {})", goals.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" "))
            }
        };
        let _ = writeln!(asserted, "(assert (! (not {all}) :named {label}))");
    }
    let mut text =
        String::from("(set-option :produce-unsat-cores true)\n(set-logic UF)\n(declare-sort U 0)\n");
    for line in &translation.declared {
        text += line;
    }
    let distinct: Vec<&str> = translation.distinct.iter().map(String::as_str).collect();
    if distinct.len() > 1 {
        let _ = writeln!(text, "(assert (distinct {}))", distinct.join(" "));
    }
    let _ = write!(text, "{asserted}(check-sat)\n(echo \"{CORE}\")\n(get-unsat-core)\n");
    Ok(text)
}

/// A quoted name that the parser does not tell from a connective.
fn misleading(text: &str) -> Option<&str> {
    let connectives =
        [Symbol::AND, Symbol::OR, Symbol::NOT, Symbol::IMPLIES, Symbol::EQUAL, Symbol::TRUE, Symbol::FALSE];
    let names = Interner::new();
    let words = connectives.map(|symbol| names.name(symbol).to_owned());
    let mut rest = text;
    loop {
        let start = rest.find('\'')? + 1;
        let (mut end, mut is_escaped) = (rest.len(), false);
        for (at, c) in rest[start..].char_indices() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '\'' => {
                    end = start + at;
                    break;
                }
                _ => {}
            }
        }
        let quoted = &rest[start..end];
        let content = quoted.replace("\\\\", "\\");
        if words.contains(&content) {
            return Some(quoted);
        }
        rest = rest.get(end + 1..)?;
    }
}

/// The declared symbols.
#[derive(Default)]
struct Translation {
    symbols: HashMap<(String, usize, bool), String>,
    taken: HashSet<String>,
    declared: Vec<String>,
    /// Distinct objects, which TPTP writes in double quotes.
    distinct: Vec<String>,
}

/// The text that remains to be written.
enum Step {
    Term(TermId, bool),
    Text(&'static str),
}

impl Translation {
    /// A formula. Its free variables are bound.
    fn formula(&mut self, formula: &Formula, names: &Interner) -> Result<String> {
        let mut text = String::new();
        let free: Vec<String> = formula
            .variable_ids()
            .filter(|variable| formula.variables()[variable.index()].binder.is_none())
            .map(|variable| format!("(v{} U)", variable.index()))
            .collect();
        if !free.is_empty() {
            let _ = write!(text, "(forall ({}) ", free.join(" "));
        }
        let parts: Vec<TermId> = formula.parts().collect();
        let [whole] = parts.as_slice() else { bail!("expected one formula, found a sequent") };
        let mut steps = vec![Step::Term(*whole, true)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Text(more) => text.push_str(more),
                Step::Term(term, is_formula) => {
                    self.term((formula, names), (term, is_formula), &mut text, &mut steps)?;
                }
            }
        }
        if !free.is_empty() {
            text.push(')');
        }
        Ok(text)
    }

    /// Writes the beginning of a term, and leaves its children to be written.
    fn term(
        &mut self,
        (formula, names): (&Formula, &Interner),
        (term, is_formula): (TermId, bool),
        text: &mut String,
        steps: &mut Vec<Step>,
    ) -> Result<()> {
        let children: Vec<TermId> = formula.children(term).collect();
        let unsupported = "expected first-order logic, found more";
        let are_formulas = match formula.head(term) {
            Head::Variable(variable) => {
                if is_formula || !children.is_empty() {
                    bail!(unsupported);
                }
                let _ = write!(text, "v{}", variable.index());
                return Ok(());
            }
            Head::Binder(variable) => {
                let quantifier = match formula.variables()[variable.index()].binder {
                    Some(Binder::Forall) => "forall",
                    Some(Binder::Exists) => "exists",
                    _ => bail!(unsupported),
                };
                if !is_formula || children.len() != 1 {
                    bail!(unsupported);
                }
                let _ = write!(text, "({quantifier} ((v{} U))", variable.index());
                true
            }
            Head::Constant(symbol) => {
                let connective = match (symbol, children.len()) {
                    (Symbol::AND, 2) => Some("and"),
                    (Symbol::OR, 2) => Some("or"),
                    (Symbol::IMPLIES, 2) => Some("=>"),
                    (Symbol::NOT, 1) => Some("not"),
                    (Symbol::EQUAL, 2) => Some("="),
                    (Symbol::TRUE, 0) => Some("true"),
                    (Symbol::FALSE, 0) => Some("false"),
                    _ => None,
                };
                match connective {
                    Some(_) if !is_formula => bail!(unsupported),
                    Some(word) if children.is_empty() => text.push_str(word),
                    Some(word) => {
                        let _ = write!(text, "({word}");
                    }
                    None => {
                        let name = self.symbol(names.name(symbol), children.len(), is_formula)?;
                        let _ = write!(text, "{}{name}", if children.is_empty() { "" } else { "(" });
                    }
                }
                connective.is_some() && (symbol != Symbol::EQUAL || formula.is_equivalence(term))
            }
        };
        if !children.is_empty() {
            steps.push(Step::Text(")"));
        }
        for child in children.into_iter().rev() {
            steps.push(Step::Term(child, are_formulas));
            steps.push(Step::Text(" "));
        }
        Ok(())
    }

    /// The name of a function or a predicate, which is declared once.
    fn symbol(&mut self, name: &str, arity: usize, is_predicate: bool) -> Result<String> {
        let key = (name.to_owned(), arity, is_predicate);
        if let Some(known) = self.symbols.get(&key) {
            return Ok(known.clone());
        }
        if name.starts_with('$') {
            bail!("`{}` has a meaning that SMT-LIB's UF lacks", shown(name));
        }
        let symbol = self.unused(format!("{}/{arity}", plain(name)));
        let sorts = vec!["U"; arity].join(" ");
        let sort = if is_predicate { "Bool" } else { "U" };
        self.declared.push(format!("(declare-fun {symbol} ({sorts}) {sort})\n"));
        if name.starts_with('"') {
            self.distinct.push(symbol.clone());
        }
        self.symbols.insert(key, symbol.clone());
        Ok(symbol)
    }

    fn label(&mut self, name: &str) -> String {
        self.unused(format!("{NAME}{}", plain(name)))
    }

    fn unused(&mut self, name: String) -> String {
        let mut unused = name;
        while !self.taken.insert(unused.clone()) {
            unused.push('\'');
        }
        format!("|{unused}|")
    }
}

/// A name without what SMT-LIB does not allow between bars.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        match c {
            '|' | '\\' => {
                let _ = write!(plain, "%{:02x}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(plain, "%{:02x}", u32::from(c));
            }
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String> {
        translate(Source::text("p", text), Limits::default())
    }

    #[test]
    fn first_order_problems_are_translated() {
        let text = "fof(a, axiom, ! [X, Y] : (p(X, f(Y)) <=> (q | X != Y))).\ncnf('b|c', axiom, ~ p(X, c) | q).\n\
                    fof(q, axiom, q = \"one\" & q != \"two\").\nfof(goal, conjecture, ? [X] : (p(X, X) <~> $true)).\n";
        let expected = "(set-option :produce-unsat-cores true)\n(set-logic UF)\n(declare-sort U 0)\n\
            (declare-fun |p/2| (U U) Bool)\n(declare-fun |f/1| (U) U)\n(declare-fun |q/0| () Bool)\n(declare-fun |c/0| () U)\n\
            (declare-fun |q/0'| () U)\n(declare-fun |\"one\"/0| () U)\n(declare-fun |\"two\"/0| () U)\n\
            (assert (distinct |\"one\"/0| |\"two\"/0|))\n\
            (assert (! (forall ((v0 U)) (forall ((v1 U)) (= (|p/2| v0 (|f/1| v1)) (or |q/0| (not (= v0 v1)))))) :named |name:a|))\n\
            (assert (! (forall ((v0 U)) (or (not (|p/2| v0 |c/0|)) |q/0|)) :named |name:b%7cc|))\n\
            (assert (! (and (= |q/0'| |\"one\"/0|) (not (= |q/0'| |\"two\"/0|))) :named |name:q|))\n\
            (assert (! (not (exists ((v0 U)) (not (= (|p/2| v0 v0) true)))) :named |name:goal|))\n\
            (check-sat)\n(echo \"; premises\")\n(get-unsat-core)\n";
        assert_eq!(of(text).unwrap(), expected);
    }

    #[test]
    fn what_it_cannot_say_is_refused() {
        let check = |text: &str, expected: &str| {
            let error = format!("{:#}", of(text).unwrap_err());
            assert!(error.contains(expected), "expected {expected}\nfound {error}");
        };
        check(
            "tff(a, axiom, $less(1, 2)).",
            "`a` cannot be written in SMT-LIB: expected formulas in FOF or CNF",
        );
        check("thf(a, axiom, (p @ x)).", "expected formulas in FOF or CNF");
        check("fof(a, axiom, '='(x, y)).", "a symbol is named `=`, like a connective");
        check("fof(a, axiom, $less(x, y)).", "`$less` has a meaning");
        check("fof(a, axiom", "p:1:");
    }

    #[test]
    fn deep_formulas_are_translated() {
        let text = format!("fof(a, axiom, {}p{}).", "~ (".repeat(50_000), ")".repeat(50_000));
        let limits = Limits { depth: 1_000_000, ..Limits::default() };
        let found = translate(Source::text("p", text), limits).unwrap();
        assert_eq!(found.matches("(not").count(), 50_000);
    }
}
