//! The tokens of a term to a [`Term`].
//!
//! A machine with an explicit stack: what is open (brackets, binders, left operands, functions) lies in [`Frame`]s, so
//! that a million nested brackets take memory on the heap and end at [`Limits::depth`].
//!
//! [`Limits::depth`]: crate::Limits::depth

use crate::error::ParseError;
use crate::limits::{Limit, Limits};
use crate::symbol::{Interner, Symbol};

use super::lex::{Kind, Token, Tokens};
use super::operators::{self, Infix};
use super::preterm::{self, Binding, Term, Terms, Written};

/// Something that waits for the term that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// `left +`
    Infix { left: Written, operator: Infix },
    /// `¬`
    Prefix { head: &'static str, power: u8 },
    /// `f`, which has one more argument
    Apply { function: Written },
    /// `∀ x y,`: the variables from a place of [`Machine::bindings`] on; `Σ x,` has a head that is applied to all
    Body { kind: preterm::Kind, first: usize, head: Option<&'static str> },
    /// `∀ x`, more variables to come; those from `run` on have no type yet
    Binders { kind: Option<preterm::Kind>, first: usize, run: usize, head: Option<&'static str> },
    /// `∀ (x y :`, with the places of the names' tokens and the closing bracket
    BinderType { names: (usize, usize), close: &'static str },
    /// `∀ x y :`
    BinderTail,
    /// `∀ x ∈`
    BinderBound { operator: Infix },
    /// `(`
    Group,
    /// `(term :`
    Ascription { term: Written },
    /// `(x :=`
    Named,
    /// `(x y :`, which may turn out to bind
    Typed { names: (usize, usize), close: &'static str },
    /// `⟨a,` or `[a,` or `(a,` or `{a,`: the elements from a place of [`Machine::elements`] on
    Elements { open: &'static str, first: usize },
    /// `{ x := a,`: values from a place of [`Machine::elements`] on, names from a place of [`Machine::fields`] on
    Fields { first: usize, named: usize },
    /// `{x : T |` or `{x : T //`, with the variables from a place of [`Machine::bindings`] on
    Comprehension { head: &'static str, first: usize },
    /// `xs[`
    Index { object: Written },
    /// `let x :`
    LetType { name: Symbol },
    /// `let x : T :=`
    LetValue { name: Symbol, typed: Option<Written> },
    /// `let x : T := v;`
    Let { name: Symbol, typed: Option<Written>, value: Written },
    /// `if`, what it means, and the name of a proof of the condition
    If { head: &'static str, proof: Option<Symbol> },
    /// `if c then`
    Then { head: &'static str, proof: Option<Symbol>, condition: Written },
    /// `if c then a else`
    Else { head: &'static str, proof: Option<Symbol>, condition: Written, yes: Written },
    /// `match a,`: what is matched, and later the alternatives, from a place of [`Machine::elements`] on
    Match { first: usize },
    /// `match a with | p,`: the patterns of an alternative from another place on
    Pattern { first: usize, patterns: usize },
    /// `match a with | p =>`
    Alternative { first: usize, patterns: usize },
}

/// The next step after a term.
enum Next {
    /// Another term, or more of a binder.
    Read,
    /// This larger term.
    Term(Written),
    /// Nothing: this is all.
    Done(Written),
}

/// Reads terms from some tokens.
pub(super) struct Machine<'r, 't> {
    pub(super) tokens: &'r Tokens<'t>,
    pub(super) names: &'r mut Interner,
    pub(super) terms: &'r mut Terms,
    pub(super) limits: Limits,
    /// The next token, and where to stop.
    pub(super) at: usize,
    pub(super) end: usize,
    frames: Vec<Frame>,
    pub(super) bindings: Vec<Binding>,
    elements: Vec<Written>,
    fields: Vec<Symbol>,
}

impl<'r, 't> Machine<'r, 't> {
    /// A machine that stands before a token, and stops at another.
    pub(super) fn new(
        tokens: &'r Tokens<'t>,
        (at, end): (usize, usize),
        limits: Limits,
        names: &'r mut Interner,
        terms: &'r mut Terms,
    ) -> Self {
        let (frames, bindings, elements, fields) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Machine { tokens, names, terms, limits, at, end, frames, bindings, elements, fields }
    }

    /// Reads a term, up to the first token that cannot be part of it.
    pub(super) fn term(&mut self) -> Result<Written, ParseError> {
        self.frames.clear();
        loop {
            if matches!(self.frames.last(), Some(Frame::Binders { .. })) {
                self.binders()?;
                continue;
            }
            let Some(mut term) = self.operand()? else { continue };
            loop {
                self.check_size()?;
                match self.after(term)? {
                    Next::Read => break,
                    Next::Term(larger) => term = larger,
                    Next::Done(whole) => return Ok(whole),
                }
            }
        }
    }

    /// Reads the variables of a declaration into [`Machine::bindings`].
    pub(super) fn signature(&mut self) -> Result<(), ParseError> {
        self.frames.clear();
        let run = self.bindings.len();
        self.push(Frame::Binders { kind: None, first: run, run, head: None })?;
        while !self.frames.is_empty() {
            if matches!(self.frames.last(), Some(Frame::Binders { .. })) {
                self.binders()?;
                continue;
            }
            let Some(mut term) = self.operand()? else { continue };
            loop {
                self.check_size()?;
                match self.after(term)? {
                    Next::Term(larger) => term = larger,
                    Next::Read | Next::Done(_) => break,
                }
            }
        }
        Ok(())
    }

    /// The next token; after the last one of ours, the end.
    pub(super) fn token(&self) -> Token {
        self.peek(0)
    }

    fn peek(&self, more: usize) -> Token {
        let number = self.at + more;
        let token = self.tokens.get(number);
        if number < self.end { token } else { Token { kind: Kind::End, ..token } }
    }

    pub(super) fn word(&self) -> &'t str {
        self.word_at(0)
    }

    fn word_at(&self, more: usize) -> &'t str {
        let token = self.peek(more);
        if token.kind == Kind::End { "" } else { self.tokens.word(token) }
    }

    pub(super) fn unexpected<T>(&self, expected: impl Into<String>) -> Result<T, ParseError> {
        self.tokens.unexpected(self.tokens.get(self.at), expected)
    }

    pub(super) fn expect(&mut self, word: &str, expected: &str) -> Result<(), ParseError> {
        if self.word() != word {
            return self.unexpected(expected);
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn check_size(&self) -> Result<(), ParseError> {
        // An application of several arguments is several terms here and one in a formula.
        let most = self.limits.nodes;
        if self.terms.len() > most.saturating_mul(4) {
            return self.tokens.over(self.token(), Limit::Nodes, most, "nodes");
        }
        Ok(())
    }

    fn push(&mut self, frame: Frame) -> Result<(), ParseError> {
        let most = self.limits.depth;
        if self.frames.len() >= most {
            return self.tokens.over(self.token(), Limit::Depth, most, "nested brackets and binders");
        }
        self.frames.push(frame);
        Ok(())
    }

    /// The constant of a name that is known here.
    fn known(&mut self, name: &str) -> Written {
        let name = self.names.intern(name);
        self.terms.constant(name)
    }

    fn name_at(&mut self, number: usize) -> Symbol {
        let word = self.tokens.word(self.tokens.get(number));
        self.names.intern(word)
    }

    /// The number of names before a word, if there is nothing else.
    fn names_before(&self, from: usize, word: &str) -> Option<usize> {
        let mut count = 0;
        while self.peek(from + count).kind == Kind::Name {
            count += 1;
        }
        (count > 0 && self.word_at(from + count) == word).then_some(count)
    }

    /// Reads the beginning of a term: all of it, or something that waits for another term.
    fn operand(&mut self) -> Result<Option<Written>, ParseError> {
        let token = self.token();
        let word = self.word();
        match token.kind {
            Kind::Name if word == "_" => {
                self.at += 1;
                Ok(Some(self.known("_")))
            }
            Kind::Name => {
                let name = self.name_at(self.at);
                self.at += 1;
                Ok(Some(self.terms.add(Term::Name { name, is_explicit: false })))
            }
            Kind::Number | Kind::Text | Kind::Field => {
                self.at += 1;
                Ok(Some(self.known(word)))
            }
            Kind::Hole => {
                self.at += 1;
                Ok(Some(self.known("_")))
            }
            Kind::Keyword => self.keyword(word),
            Kind::Symbol => self.symbol(word),
            Kind::End => self.unexpected("a term"),
        }
    }

    fn keyword(&mut self, word: &str) -> Result<Option<Written>, ParseError> {
        match word {
            "fun" => self.begin_binders(preterm::Kind::Fun, None),
            "forall" => self.begin_binders(preterm::Kind::Pi, None),
            "exists" => self.begin_binders(preterm::Kind::Exists, None),
            "Type" | "Sort" | "Prop" => {
                self.at += 1;
                let is_argument = matches!(self.frames.last(), Some(Frame::Apply { .. }));
                if word != "Prop" && !is_argument {
                    self.skip_level()?;
                }
                Ok(Some(self.known(word)))
            }
            "let" | "have" | "let_fun" => {
                self.at += 1;
                let name = if self.token().kind == Kind::Name {
                    self.at += 1;
                    self.name_at(self.at - 1)
                } else {
                    self.names.intern("this")
                };
                let frame = match self.word() {
                    ":" => Frame::LetType { name },
                    ":=" => Frame::LetValue { name, typed: None },
                    _ => return self.unexpected(format!("`:` or `:=` after the name that `{word}` binds")),
                };
                self.at += 1;
                self.push(frame)?;
                Ok(None)
            }
            "if" | "bif" => {
                self.at += 1;
                let mut proof = None;
                if self.names_before(0, ":") == Some(1) {
                    proof = Some(self.name_at(self.at));
                    self.at += 2;
                }
                self.push(Frame::If { head: if word == "if" { "ite" } else { "cond" }, proof })?;
                Ok(None)
            }
            "match" => self.begin_match(),
            _ => self.unexpected("a term without `by`, `do` and `show`"),
        }
    }

    fn symbol(&mut self, word: &'t str) -> Result<Option<Written>, ParseError> {
        match word {
            "λ" => return self.begin_binders(preterm::Kind::Fun, None),
            "∀" | "Π" => return self.begin_binders(preterm::Kind::Pi, None),
            "∃" => return self.begin_binders(preterm::Kind::Exists, None),
            "∃!" => return self.begin_binders(preterm::Kind::ExistsUnique, None),
            "@" => {
                self.at += 1;
                if self.token().kind == Kind::Name && self.token().is_glued && self.word() != "_" {
                    let name = self.name_at(self.at);
                    self.at += 1;
                    return Ok(Some(self.terms.add(Term::Name { name, is_explicit: true })));
                }
                return match self.word() {
                    "(" => self.symbol("("),
                    _ => self.unexpected("a name after `@`"),
                };
            }
            "(" if self.word_at(1) == ")" => {
                self.at += 2;
                return Ok(Some(self.known("Unit.unit")));
            }
            "(" if self.peek(1).kind == Kind::Name && self.word_at(2) == ":=" => {
                self.at += 3;
                self.push(Frame::Named)?;
                return Ok(None);
            }
            "(" | "{" | "⦃" | "[" => {
                if let Some(count) = self.names_before(1, ":") {
                    let names = (self.at + 1, self.at + 1 + count);
                    self.push(Frame::Typed { names, close: closing(word) })?;
                    self.at = names.1 + 1;
                    return Ok(None);
                }
            }
            _ => {}
        }
        match word {
            "(" => {
                self.at += 1;
                self.push(Frame::Group)?;
                Ok(None)
            }
            "{" => self.open_brace(),
            "⟨" | "[" | "#[" | "#v[" | "⌊" | "⌈" | "⟦" | "‹" => {
                let open = opening(word);
                self.at += 1;
                if self.word() == closing(open) {
                    self.at += 1;
                    return Ok(Some(self.finish_elements(open, self.elements.len())));
                }
                self.push(Frame::Elements { open, first: self.elements.len() })?;
                Ok(None)
            }
            _ => {
                if let Some(head) = operators::binding(word) {
                    return self.begin_binders(preterm::Kind::Fun, Some(head));
                }
                let is_end = || {
                    let begins = operators::tight(self.word_at(1)).is_some();
                    begins
                        || matches!(self.frames.last(), Some(Frame::Infix { operator, .. }) if operator.power == operators::TIGHTEST)
                };
                let constant = operators::constant(word);
                if let Some(name) = constant.filter(|name| *name != operators::UNBOUNDED || is_end()) {
                    self.at += 1;
                    return Ok(Some(self.known(name)));
                }
                let Some((head, power)) = operators::prefix(word) else { return self.unexpected("a term") };
                self.at += 1;
                self.push(Frame::Prefix { head, power })?;
                Ok(None)
            }
        }
    }

    fn begin_binders(
        &mut self,
        kind: preterm::Kind,
        head: Option<&'static str>,
    ) -> Result<Option<Written>, ParseError> {
        self.at += 1;
        let run = self.bindings.len();
        self.push(Frame::Binders { kind: Some(kind), first: run, run, head })?;
        Ok(None)
    }

    /// The universe after `Type` or `Sort`.
    fn skip_level(&mut self) -> Result<(), ParseError> {
        let token = self.token();
        match (token.kind, self.word()) {
            (Kind::Name | Kind::Number | Kind::Hole, _) => self.at += 1,
            (_, "*") if token.is_glued => self.at += 1,
            (_, "(") => self.skip_group()?,
            _ => {}
        }
        Ok(())
    }

    /// Skips from an opening bracket past the one that closes it.
    pub(super) fn skip_group(&mut self) -> Result<(), ParseError> {
        let opening = self.token();
        let mut depth = 0usize;
        loop {
            match self.word() {
                "(" | "[" | "{" | "⦃" | "⟨" | "#[" | "#v[" => depth += 1,
                ")" | "]" | "}" | "⦄" | "⟩" => depth -= 1,
                "" => return self.tokens.unexpected(opening, "a bracket that is closed"),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips to the bracket that closes what is open here.
    fn skip_to_close(&mut self) -> Result<(), ParseError> {
        loop {
            match self.word() {
                "(" | "[" | "{" | "⦃" | "⟨" | "#[" | "#v[" => self.skip_group()?,
                ")" | "]" | "}" | "⦄" | "⟩" => return Ok(()),
                "" => return self.unexpected("a closing bracket"),
                _ => self.at += 1,
            }
        }
    }

    /// Reads more of what a binder binds: one name, the beginning of a group, or the end of all.
    fn binders(&mut self) -> Result<(), ParseError> {
        let Some(&Frame::Binders { kind, first, run, head }) = self.frames.last() else { return Ok(()) };
        let (token, word) = (self.token(), self.word());
        let here = self.frames.len() - 1;
        let is_bound = self.bindings.len() > first;
        let ends = match kind {
            Some(preterm::Kind::Fun) if head.is_none() => matches!(word, "=>" | "↦"),
            Some(_) => word == ",",
            None => false,
        };
        match (kind, word) {
            _ if token.kind == Kind::Name => {
                let name = self.name_at(self.at);
                self.bindings.push(Binding { name: named(word, name), typed: None, is_explicit: true });
                self.at += 1;
            }
            (Some(kind), _) if ends && is_bound => {
                self.at += 1;
                self.frames[here] = Frame::Body { kind, first, head };
            }
            (_, "(" | "{" | "⦃" | "[") => {
                self.at += 1;
                let close = closing(word);
                // `fun {x} => b`: what is in square brackets is a type.
                if let Some(count) = self.names_before(0, close).filter(|_| word != "[") {
                    for number in self.at..self.at + count {
                        let name = named(self.tokens.word(self.tokens.get(number)), self.name_at(number));
                        self.bindings.push(Binding { name, typed: None, is_explicit: word == "(" });
                    }
                    self.at += count + 1;
                    self.frames[here] = Frame::Binders { kind, first, run: self.bindings.len(), head };
                    return Ok(());
                }
                let count = match self.names_before(0, ":") {
                    Some(count) => count,
                    None if word == "[" => 0,
                    None => return self.unexpected("names and `:` in the brackets of a binder"),
                };
                let names = (self.at, self.at + count);
                self.at = names.1 + usize::from(count > 0);
                self.frames[here] = Frame::Binders { kind, first, run: self.bindings.len(), head };
                self.push(Frame::BinderType { names, close })?;
            }
            (Some(_), ":") if self.bindings.len() > run => {
                self.at += 1;
                self.push(Frame::BinderTail)?;
            }
            (Some(kind), _)
                if (kind != preterm::Kind::Fun || head.is_some())
                    && self.bindings.len() == run + 1
                    && operators::infix(word).is_some_and(|o| o.power == 50) =>
            {
                let Some(operator) = operators::infix(word) else { return Ok(()) };
                self.at += 1;
                self.push(Frame::BinderBound { operator })?;
            }
            (None, _) => {
                self.frames.pop();
            }
            (Some(preterm::Kind::Fun), _) if head.is_none() => return self.unexpected("a variable or `=>`"),
            (Some(_), _) => return self.unexpected("a variable or `,`"),
        }
        Ok(())
    }
}

/// The name that a binder gives; `_` is none.
fn named(word: &str, name: Symbol) -> Option<Symbol> {
    (word != "_").then_some(name)
}

/// The bracket that closes what another opens.
fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "{" => "}",
        "⦃" => "⦄",
        "⟨" => "⟩",
        "⌊" => "⌋",
        "⌈" => "⌉",
        "⟦" => "⟧",
        "‹" => "›",
        _ => "]",
    }
}

/// A bracket that opens a list of elements.
fn opening(word: &str) -> &'static str {
    ["⟨", "#[", "#v[", "⌊", "⌈", "⟦", "‹"].into_iter().find(|open| *open == word).unwrap_or("[")
}

mod braces;
mod matching;
mod reduce;
