//! A formula as people write it: infix operators, as few brackets as possible, numerals and sets.

use std::collections::HashSet;
use std::fmt;

use super::print::{is_plain, write_name};
use super::{Binder, Formula, Head, TermId, VarId};
use crate::parse::operator_of;
use crate::symbol::{Interner, Symbol};
use crate::syntax::{self, Associativity};

/// Shows a formula to people; see [`Formula::pretty`].
pub struct Pretty<'a> {
    formula: &'a Formula,
    names: &'a Interner,
}

impl<'a> Pretty<'a> {
    pub(super) fn new(formula: &'a Formula, names: &'a Interner) -> Self {
        Pretty { formula, names }
    }
}

/// How tightly a term has to hold together: precedences of operators are between these.
const LOOSE: u8 = 0;
const APPLICATION: u8 = 100;
const ATOM: u8 = 101;

/// The pieces that are still to be shown, the next piece on top.
enum Piece {
    Text(&'static str),
    Own(String),
    Constant(Symbol),
    Variable(VarId),
    Term(TermId, u8),
}

impl fmt::Display for Pretty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.formula.variables.iter().map(|variable| variable.name).collect();
        let mut printer = Printer { formula: self.formula, names: self.names, taken, stack: Vec::new() };
        printer.sequent();
        while let Some(piece) = printer.stack.pop() {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Own(text) => f.write_str(&text)?,
                Piece::Constant(symbol) => printer.write_constant(f, symbol)?,
                Piece::Variable(var) => {
                    let name = self.names.name(self.formula.variables[var.index()].name);
                    write_name(f, name, syntax::is_word(name), "''")?;
                }
                Piece::Term(term, level) => printer.term(term, level),
            }
        }
        Ok(())
    }
}

struct Printer<'a> {
    formula: &'a Formula,
    names: &'a Interner,
    /// Names of variables, which no constant may be shown as.
    taken: HashSet<Symbol>,
    stack: Vec<Piece>,
}

impl Printer<'_> {
    fn sequent(&mut self) {
        let parts: Vec<TermId> = self.formula.parts().collect();
        let Some((&conclusion, hypotheses)) = parts.split_last() else { return };
        let mut pieces = Vec::new();
        for (i, &hypothesis) in hypotheses.iter().enumerate() {
            pieces.extend((i > 0).then_some(Piece::Text(", ")));
            // A comma is an operator, too.
            pieces.push(Piece::Term(hypothesis, 15));
        }
        pieces.extend((!hypotheses.is_empty()).then_some(Piece::Text(" |- ")));
        pieces.push(Piece::Term(conclusion, LOOSE));
        self.push(pieces);
    }

    /// Shows pieces before all others.
    fn push(&mut self, pieces: Vec<Piece>) {
        self.stack.extend(pieces.into_iter().rev());
    }

    /// Shows a term, in brackets if it binds less tightly than required.
    fn push_at(&mut self, own: u8, level: u8, pieces: Vec<Piece>) {
        if own < level {
            self.stack.push(Piece::Text(")"));
        }
        self.push(pieces);
        if own < level {
            self.stack.push(Piece::Text("("));
        }
    }

    fn term(&mut self, term: TermId, level: u8) {
        let children: Vec<TermId> = self.formula.children(term).collect();
        let head = self.formula.head(term);
        if let Some(pieces) = self.sugar(term, &children) {
            return self.push(pieces);
        }
        match (head, &children[..]) {
            (Head::Binder(var), &[body]) => self.bound(var, body, level),
            (Head::Constant(constant), &[condition, then, other]) if self.is(constant, "COND") => {
                let pieces = vec![
                    Piece::Text("if "),
                    Piece::Term(condition, LOOSE),
                    Piece::Text(" then "),
                    Piece::Term(then, LOOSE),
                    Piece::Text(" else "),
                    Piece::Term(other, LOOSE),
                ];
                self.push_at(LOOSE, level, pieces);
            }
            (Head::Constant(constant), &[left, right]) if self.infix(term, constant).is_some() => {
                let (operator, precedence, associativity) =
                    self.infix(term, constant).unwrap_or(("", 0, Associativity::Right));
                let (of_left, of_right) = match associativity {
                    Associativity::Left => (precedence, precedence + 1),
                    Associativity::Right => (precedence + 1, precedence),
                };
                // Pairs stand in brackets wherever they are part of something else.
                let is_part = operator == "," && level != precedence;
                let own = if is_part { LOOSE } else { precedence };
                let operator = if operator == "," { ", ".to_owned() } else { format!(" {operator} ") };
                let pieces =
                    vec![Piece::Term(left, of_left), Piece::Own(operator), Piece::Term(right, of_right)];
                self.push_at(own, level, pieces);
            }
            (Head::Constant(constant), &[operand]) if self.prefix(constant).is_some() => {
                let operator = self.prefix(constant).unwrap_or_default();
                let of_operand = if operator == "&" { ATOM } else { APPLICATION };
                self.push_at(
                    APPLICATION,
                    level,
                    vec![Piece::Text(operator), Piece::Term(operand, of_operand)],
                );
            }
            _ => self.application(term, head, &children, level),
        }
    }

    /// `f a b`; of operators and binders that are applied to more than they need, `(x + y) a`.
    fn application(&mut self, term: TermId, head: Head, children: &[TermId], level: u8) {
        let mut pieces = Vec::new();
        let in_base = match head {
            Head::Binder(var) => {
                let body = children.first().copied();
                pieces.extend([Piece::Text("("), Piece::Text(self.binder(var)), Piece::Variable(var)]);
                pieces.push(Piece::Text(". "));
                pieces.extend(body.map(|body| Piece::Term(body, LOOSE)));
                pieces.push(Piece::Text(")"));
                1
            }
            Head::Variable(var) => {
                pieces.push(Piece::Variable(var));
                0
            }
            Head::Constant(constant) => {
                let infix = self.infix(term, constant).filter(|_| children.len() > 2);
                let prefix = self.prefix(constant).filter(|_| children.len() > 1);
                match (infix, prefix) {
                    (Some((operator, precedence, _)), _) => {
                        pieces.extend([Piece::Text("("), Piece::Term(children[0], precedence + 1)]);
                        pieces.push(Piece::Own(format!(" {operator} ")));
                        pieces.extend([Piece::Term(children[1], precedence + 1), Piece::Text(")")]);
                        2
                    }
                    (None, Some(operator)) => {
                        let operand = Piece::Term(children[0], ATOM);
                        pieces.extend([Piece::Text("("), Piece::Text(operator), operand, Piece::Text(")")]);
                        1
                    }
                    (None, None) => {
                        pieces.push(Piece::Constant(constant));
                        0
                    }
                }
            }
        };
        for &argument in children.get(in_base..).unwrap_or(&[]) {
            pieces.extend([Piece::Text(" "), Piece::Term(argument, ATOM)]);
        }
        let own = if children.len() > in_base { APPLICATION } else { ATOM };
        self.push_at(own, level, pieces);
    }

    /// `!x y. body`, where one binder follows another of its kind.
    fn bound(&mut self, var: VarId, mut body: TermId, level: u8) {
        let kind = self.binder(var);
        let mut pieces = vec![Piece::Text(kind), Piece::Variable(var)];
        while let Head::Binder(next) = self.formula.head(body) {
            if self.binder(next) != kind || self.formula.arity(body) != 1 {
                break;
            }
            pieces.extend([Piece::Text(" "), Piece::Variable(next)]);
            let Some(inner) = self.formula.children(body).next() else { break };
            body = inner;
        }
        pieces.extend([Piece::Text(". "), Piece::Term(body, LOOSE)]);
        self.push_at(LOOSE, level, pieces);
    }

    fn binder(&self, var: VarId) -> &'static str {
        match self.formula.variables[var.index()].binder {
            Some(Binder::Forall) | None => "!",
            Some(Binder::Exists) => "?",
            Some(Binder::ExistsUnique) => "?!",
            Some(Binder::Choice) => "@",
            Some(Binder::Lambda) => "\\",
        }
    }

    /// Numerals, lists and sets, which hold together whatever is around them.
    fn sugar(&self, term: TermId, children: &[TermId]) -> Option<Vec<Piece>> {
        let Head::Constant(constant) = self.formula.head(term) else { return None };
        match (self.names.name(constant), children) {
            ("NUMERAL", &[bits]) => Some(vec![Piece::Own(self.numeral(bits)?)]),
            ("NIL", []) if self.is(constant, "NIL") => Some(vec![Piece::Text("[]")]),
            ("CONS", [_, _]) => self.listed(term, ("CONS", "NIL"), ["[", "; ", "]"]),
            ("EMPTY", []) if self.is(constant, "EMPTY") => Some(vec![Piece::Text("{}")]),
            ("INSERT", [_, _]) => self.listed(term, ("INSERT", "EMPTY"), ["{", ", ", "}"]),
            ("GSPEC", &[described]) => self.described(described),
            _ => None,
        }
    }

    /// The number that bits stand for, from the lowest.
    fn numeral(&self, mut bits: TermId) -> Option<String> {
        let (mut number, mut place) = (0u128, 0u32);
        loop {
            let Head::Constant(constant) = self.formula.head(bits) else { return None };
            let children: Vec<TermId> = self.formula.children(bits).collect();
            match (self.names.name(constant), &children[..]) {
                ("_0", []) => return Some(number.to_string()),
                (name @ ("BIT0" | "BIT1"), &[higher]) if place < 128 => {
                    number |= u128::from(name == "BIT1") << place;
                    place += 1;
                    bits = higher;
                }
                _ => return None,
            }
        }
    }

    /// `[a; b]` or `{a, b}`, if it ends as it should.
    fn listed(
        &self,
        mut term: TermId,
        (more, end): (&str, &str),
        [open, between, close]: [&'static str; 3],
    ) -> Option<Vec<Piece>> {
        let mut pieces = vec![Piece::Text(open)];
        loop {
            let Head::Constant(constant) = self.formula.head(term) else { return None };
            let children: Vec<TermId> = self.formula.children(term).collect();
            match children[..] {
                [element, rest] if self.is(constant, more) => {
                    pieces.extend((pieces.len() > 1).then_some(Piece::Text(between)));
                    pieces.push(Piece::Term(element, 15));
                    term = rest;
                }
                [] if self.is(constant, end) => break,
                _ => return None,
            }
        }
        pieces.push(Piece::Text(close));
        Some(pieces)
    }

    /// `{t | p}`: what `GSPEC (\v. ?x. SETSPEC v p t)` stands for.
    fn described(&self, described: TermId) -> Option<Vec<Piece>> {
        let Head::Binder(var) = self.formula.head(described) else { return None };
        let only = |term: TermId| {
            let mut children = self.formula.children(term);
            children.next().filter(|_| self.formula.arity(term) == 1)
        };
        if self.binder(var) != "\\" {
            return None;
        }
        let mut body = only(described)?;
        while let Head::Binder(exists) = self.formula.head(body) {
            if self.binder(exists) != "?" {
                return None;
            }
            body = only(body)?;
        }
        let Head::Constant(constant) = self.formula.head(body) else { return None };
        let children: Vec<TermId> = self.formula.children(body).collect();
        let &[_, condition, element] = &children[..] else { return None };
        self.is(constant, "SETSPEC").then(|| {
            vec![
                Piece::Text("{"),
                Piece::Term(element, LOOSE),
                Piece::Text(" | "),
                Piece::Term(condition, LOOSE),
                Piece::Text("}"),
            ]
        })
    }

    fn is(&self, constant: Symbol, name: &str) -> bool {
        self.names.name(constant) == name && !self.taken.contains(&constant)
    }

    /// The text of a constant, if it can be shown without quotes.
    fn shown(&self, constant: Symbol) -> Option<&str> {
        let name = self.names.name(constant);
        let is_plain = is_plain(name, self.taken.contains(&constant));
        is_plain.then(|| operator_of(name).unwrap_or(name))
    }

    fn infix(&self, term: TermId, constant: Symbol) -> Option<(&str, u8, Associativity)> {
        let mut operator = self.shown(constant)?;
        if operator == "=" && self.formula.children(term).any(|operand| self.is_truth(operand)) {
            operator = "<=>";
        }
        syntax::infix(operator).map(|(precedence, associativity)| (operator, precedence, associativity))
    }

    /// Whether a term is seen to be a truth value.
    fn is_truth(&self, term: TermId) -> bool {
        match self.formula.head(term) {
            Head::Binder(var) => ["!", "?", "?!"].contains(&self.binder(var)),
            Head::Variable(_) => false,
            Head::Constant(constant) => self.shown(constant).is_some_and(|name| {
                let is_applied = self.formula.arity(term) == 2;
                let is_relation = syntax::infix(name).is_some_and(|(precedence, _)| precedence <= 12);
                is_applied && is_relation || matches!(name, "~" | "T" | "F")
            }),
        }
    }

    fn prefix(&self, constant: Symbol) -> Option<&'static str> {
        let operator = self.shown(constant)?;
        ["~", "--", "&"].into_iter().find(|known| *known == operator)
    }

    fn write_constant(&self, f: &mut fmt::Formatter<'_>, constant: Symbol) -> fmt::Result {
        match self.shown(constant) {
            Some(operator) if syntax::is_operator(operator) => write!(f, "({operator})"),
            Some(name) => f.write_str(name),
            None => write_name(f, self.names.name(constant), false, "'"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Interner, hol};

    /// Typed text is shown as it was, without superfluous brackets.
    #[test]
    fn formulas_are_shown_as_people_write_them() {
        let check = |text: &str, expected: &str| {
            let mut names = Interner::new();
            let formula = hol::parse(text, &hol::Options::default(), &mut names).unwrap();
            assert_eq!(formula.pretty(&names).to_string(), expected, "{text}");
        };
        let same = |text: &str| check(text, text);
        same("!m n. m + n = n + m");
        same("!m n p. m * (n + p) = m * n + m * p");
        same("a - (b - c) = a - b - c");
        same("(p ==> q) ==> p ==> q");
        same("!x. ~(x = 0) /\\ EVEN x ==> (?y. x = 2 * y)");
        same("~p /\\ ~ ~q".replace("~ ~", "~~").as_str());
        same("m < n <=> ~(n <= m)");
        same("(!x. p x) <=> q");
        // Nothing tells that these are truth values.
        check("EVEN m <=> ODD (SUC m)", "EVEN m = ODD (SUC m)");
        same("x + &1 <= --y");
        same("--(x + &1) pow 2 = abs (x - &3)");
        same("(\\x. x + 1) 2 = 3");
        same("(f o g) x = f (g x)");
        same("if x = 0 then 1 else x");
        check("(if p then q else r) x", "COND p q r x");
        same("(+) = f");
        same("x IN {1, 2} UNION {}");
        same("[1; 2] = CONS 1 [2]".replace("CONS 1 [2]", "[1; 2]").as_str());
        same("f (x, y) = (y, x)");
        same("{x | x > 3} SUBSET s");
        same("p, q |- p /\\ q");
        same("(!x. p x) /\\ q");
        check("((!x:num. (p x)))", "!x. p x");
        check("12345678901234567890", "12345678901234567890");
    }

    #[test]
    fn what_holstep_prints_is_shown_in_infix() {
        let check = |text: &str, expected: &str| {
            let mut names = Interner::new();
            let options = hol::Options { overload: hol::Overload::Resolved, ..hol::Options::default() };
            let formula = hol::parse(text, &options, &mut names).unwrap();
            assert_eq!(formula.pretty(&names).to_string(), expected, "{text}");
        };
        check("(!x. (((real_add (real_neg x)) x) = (real_of_num (NUMERAL _0))))", "!x. --x + x = &0");
        check("((real_le ((real_mul x) y)) (real_abs (real_of_num n)))", "x * y <= abs (&n)");
        check("(real_add x)", "(+) x");
        check("(!P. ((P (NUMERAL (BIT0 (BIT1 _0)))) ==> (?n. (P n))))", "!P. P 2 ==> (?n. P n)");
    }
}
