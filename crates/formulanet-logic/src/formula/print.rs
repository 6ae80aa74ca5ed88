//! A formula as text.

use std::collections::HashSet;
use std::fmt;

use super::{Binder, Formula, Head, TermId};
use crate::symbol::{Interner, Symbol};
use crate::syntax;

/// Prints a formula; see [`Formula::display`].
///
/// The HOL Light parser reads the text back to an equal formula if it is told which names are constants and that
/// operators are not overloaded ([`crate::hol::Options::to_read_back`] does both). A name that the syntax cannot express stands in quotes: `'odd name'` is a
/// constant, `''odd name''` a variable; so does a constant that shares its name with a variable.
pub struct Display<'a> {
    formula: &'a Formula,
    names: &'a Interner,
}

impl<'a> Display<'a> {
    pub(super) fn new(formula: &'a Formula, names: &'a Interner) -> Self {
        Display { formula, names }
    }
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.formula.variables.iter().map(|v| v.name).collect();
        let mut printer = Printer { formula: self.formula, names: self.names, taken, stack: Vec::new() };
        printer.sequent();
        while let Some(piece) = printer.stack.pop() {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Open(count) => (0..count).try_for_each(|_| f.write_str("("))?,
                Piece::Head(head) => printer.write_head(f, head)?,
                Piece::Term(term) => printer.term(term),
            }
        }
        Ok(())
    }
}

/// The pieces that are still to be printed, the next piece on top.
struct Printer<'a> {
    formula: &'a Formula,
    names: &'a Interner,
    /// Names of variables, which no constant may be printed as.
    taken: HashSet<Symbol>,
    stack: Vec<Piece>,
}

enum Piece {
    Text(&'static str),
    Open(usize),
    Head(Head),
    Term(TermId),
}

impl Printer<'_> {
    fn sequent(&mut self) {
        let parts: Vec<TermId> = self.formula.parts().collect();
        let Some((&conclusion, hypotheses)) = parts.split_last() else { return };
        self.stack.extend([Piece::Term(conclusion), Piece::Text("|- ")]);
        for (i, &hypothesis) in hypotheses.iter().enumerate().rev() {
            let separator = if i + 1 == hypotheses.len() { " " } else { ", " };
            self.stack.extend([Piece::Text(separator), Piece::Term(hypothesis)]);
        }
    }

    /// Replaces a term by its pieces: `(((base) a) b)`, where the base takes the children that its syntax needs.
    fn term(&mut self, term: TermId) {
        let head = self.formula.head(term);
        let children: Vec<TermId> = self.formula.children(term).collect();
        let in_base = match head {
            Head::Binder(_) => 1,
            Head::Constant(c) if self.is_plain(c) => {
                let name = self.names.name(c);
                if children.len() >= 2 && syntax::infix(name).is_some() {
                    2
                } else {
                    usize::from(!children.is_empty() && syntax::is_prefix(name))
                }
            }
            _ => 0,
        };
        let (base, further) = children.split_at(in_base);
        for &argument in further.iter().rev() {
            self.stack.extend([Piece::Text(")"), Piece::Term(argument), Piece::Text(" ")]);
        }
        match (head, base) {
            (Head::Binder(var), &[body]) => {
                let binder = match self.formula.variables[var.index()].binder {
                    Some(Binder::Forall) | None => "(!",
                    Some(Binder::Exists) => "(?",
                    Some(Binder::ExistsUnique) => "(?!",
                    Some(Binder::Choice) => "(@",
                    Some(Binder::Lambda) => "(\\",
                };
                let pieces = [Piece::Text(")"), Piece::Term(body), Piece::Text(". "), Piece::Head(head)];
                self.stack.extend(pieces);
                self.stack.push(Piece::Text(binder));
            }
            (_, &[argument]) => {
                self.stack.extend([Piece::Text(")"), Piece::Term(argument), Piece::Text(" ")]);
                self.stack.extend([Piece::Head(head), Piece::Text("(")]);
            }
            (_, &[left, right]) => {
                let pieces = [Piece::Text(")"), Piece::Term(right), Piece::Text(" "), Piece::Head(head)];
                self.stack.extend(pieces);
                self.stack.extend([Piece::Text(" "), Piece::Term(left), Piece::Text("(")]);
            }
            (Head::Constant(c), _) if self.is_plain(c) && syntax::is_operator(self.names.name(c)) => {
                self.stack.extend([Piece::Text(")"), Piece::Head(head), Piece::Text("(")]);
            }
            _ => self.stack.push(Piece::Head(head)),
        }
        self.stack.push(Piece::Open(further.len()));
    }

    /// Whether a constant can be printed without quotes.
    fn is_plain(&self, constant: Symbol) -> bool {
        is_plain(self.names.name(constant), self.taken.contains(&constant))
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>, head: Head) -> fmt::Result {
        let (symbol, plain, quote) = match head {
            Head::Constant(c) => (c, self.is_plain(c), "'"),
            Head::Variable(var) | Head::Binder(var) => {
                let name = self.formula.variables[var.index()].name;
                (name, syntax::is_word(self.names.name(name)), "''")
            }
        };
        write_name(f, self.names.name(symbol), plain, quote)
    }
}

/// Whether a constant can be printed without quotes; none can that is called like a variable.
pub(super) fn is_plain(name: &str, is_taken: bool) -> bool {
    !is_taken
        && (syntax::is_identifier(name) || syntax::is_operator(name))
        && syntax::stands_for(name).is_none()
}

/// Writes a name, in quotes unless it is plain.
pub(super) fn write_name(f: &mut fmt::Formatter<'_>, name: &str, is_plain: bool, quote: &str) -> fmt::Result {
    if is_plain {
        return f.write_str(name);
    }
    f.write_str(quote)?;
    for c in name.chars() {
        if matches!(c, '\'' | '\\') {
            f.write_str("\\")?;
        }
        fmt::Write::write_char(f, c)?;
    }
    f.write_str(quote)
}
