//! Combination of a term that was read with the open contexts, by the next token.

use super::{Frame, Machine, Next, closing, named};
use crate::error::ParseError;
use crate::parse::lean::lex::Kind;
use crate::parse::lean::operators::{self, Infix, Meaning};
use crate::parse::lean::preterm::{self, Binding, Term, Written, components};

impl Machine<'_, '_> {
    /// Decides what to do with a term by the token that follows it.
    pub(super) fn after(&mut self, term: Written) -> Result<Next, ParseError> {
        let (token, word) = (self.token(), self.word());
        if token.kind == Kind::Field && token.is_glued {
            self.at += 1;
            return Ok(Next::Term(self.field(word, term)));
        }
        if word == "[" && token.is_glued {
            self.at += 1;
            self.push(Frame::Index { object: term })?;
            return Ok(Next::Read);
        }
        if word == "⁻¹" {
            self.at += 1;
            let inverse = self.known("Inv.inv");
            return Ok(Next::Term(self.terms.apply(inverse, term)));
        }
        if let Some(operator) = operators::tight(word).filter(|_| token.is_glued) {
            self.push(Frame::Infix { left: term, operator })?;
            self.at += 1;
            return Ok(Next::Read);
        }
        if let Some(&Frame::Apply { function }) = self.frames.last() {
            self.frames.pop();
            return Ok(Next::Term(self.terms.apply(function, term)));
        }
        if let Some(
            Frame::Prefix { power: operators::TIGHTEST, .. }
            | Frame::Infix { operator: Infix { power: operators::TIGHTEST, .. }, .. },
        ) = self.frames.last()
        {
            return self.reduce(term);
        }
        if self.begins_argument() {
            self.push(Frame::Apply { function: term })?;
            return Ok(Next::Read);
        }
        if let Some(operator) = self.infix() {
            let ends = match self.frames.last() {
                Some(Frame::Infix { operator: before, .. }) => operator.power < before.right,
                Some(Frame::Prefix { power, .. }) => operator.power < *power,
                _ => false,
            };
            if ends {
                return self.reduce(term);
            }
            self.push(Frame::Infix { left: term, operator })?;
            self.at += 1;
            return Ok(Next::Read);
        }
        match self.frames.last() {
            Some(
                Frame::Infix { .. }
                | Frame::Prefix { .. }
                | Frame::Body { .. }
                | Frame::Let { .. }
                | Frame::Else { .. },
            ) => self.reduce(term),
            Some(&Frame::Alternative { first, patterns }) => self.end_alternative(first, patterns, term),
            None => Ok(Next::Done(term)),
            Some(&frame) => self.close(frame, term),
        }
    }

    /// Whether the next token begins an argument of the term before it.
    fn begins_argument(&self) -> bool {
        let word = self.word();
        match self.token().kind {
            Kind::Name | Kind::Number | Kind::Text | Kind::Hole | Kind::Field => true,
            Kind::Keyword => {
                matches!(word, "fun" | "forall" | "exists" | "let" | "have" | "Type" | "Sort" | "Prop")
            }
            Kind::Symbol => {
                const OPENING: [&str; 18] = [
                    "(", "{", "⟨", "[", "#[", "#v[", "⌊", "⌈", "⟦", "‹", "@", "λ", "∀", "∃", "∃!", "¬", "↑",
                    "⇑",
                ];
                let is_range = || operators::tight(self.word_at(1)).is_some();
                OPENING.contains(&word)
                    || operators::constant(word)
                        .is_some_and(|name| name != operators::UNBOUNDED || is_range())
                    || operators::binding(word).is_some()
            }
            Kind::End => false,
        }
    }

    /// The operator that the next token is. A symbol that is not known is one, too: no goal should be lost for its notation.
    fn infix(&mut self) -> Option<Infix> {
        let word = self.word();
        if self.token().kind != Kind::Symbol {
            return None;
        }
        operators::infix(word).or_else(|| {
            let meaning = operators::may_be_infix(word).then(|| Meaning::Unknown(self.names.intern(word)))?;
            Some(Infix { power: 65, right: 66, meaning })
        })
    }

    /// Field notation of one or more fields, as in `.fst.val`.
    fn field(&mut self, fields: &str, object: Written) -> Written {
        components(fields).fold(object, |object, field| {
            let name = self.names.intern(field);
            self.terms.add(Term::Field { name, object })
        })
    }

    /// Ends what stands before a term and needs no closing token.
    fn reduce(&mut self, term: Written) -> Result<Next, ParseError> {
        let Some(frame) = self.frames.pop() else { return Ok(Next::Done(term)) };
        Ok(Next::Term(match frame {
            Frame::Infix { left, operator } => self.combine(operator, left, term),
            Frame::Prefix { head, .. } => {
                let head = self.known(head);
                self.terms.apply(head, term)
            }
            Frame::Body { kind, first, head } => {
                let bound = self.terms.bind(kind, &self.bindings[first..], term);
                self.bindings.truncate(first);
                match head {
                    Some(head) => {
                        let head = self.known(head);
                        self.terms.apply(head, bound)
                    }
                    None => bound,
                }
            }
            Frame::Let { name, typed, value } => self.terms.add(Term::Let { name, typed, value, body: term }),
            Frame::Else { head, proof, condition, yes } => {
                let head = self.known(if proof.is_some() { "dite" } else { head });
                let [yes, term] = [yes, term].map(|branch| match proof {
                    Some(name) => {
                        let binding = Binding { name: Some(name), typed: None, is_explicit: true };
                        self.terms.bind(preterm::Kind::Fun, &[binding], branch)
                    }
                    None => branch,
                });
                let head = self.terms.apply(head, condition);
                let head = self.terms.apply(head, yes);
                self.terms.apply(head, term)
            }
            _ => term,
        }))
    }

    fn combine(&mut self, Infix { meaning, .. }: Infix, left: Written, right: Written) -> Written {
        match meaning {
            Meaning::Arrow => self.terms.add(Term::Bind {
                kind: preterm::Kind::Pi,
                name: None,
                typed: Some(left),
                body: right,
                is_explicit: true,
            }),
            Meaning::Head(head) => self.applied(head, left, right),
            Meaning::Turned(head) => self.applied(head, right, left),
            Meaning::Not(head) => {
                let holds = self.applied(head, left, right);
                let not = self.known("Not");
                self.terms.apply(not, holds)
            }
            Meaning::NotTurned(head) => {
                self.combine(Infix { meaning: Meaning::Not(head), power: 0, right: 0 }, right, left)
            }
            Meaning::Apply => self.terms.apply(left, right),
            Meaning::Pipe => self.terms.apply(right, left),
            Meaning::Range => self.range(left, right),
            Meaning::Unknown(head) => self.terms.binary(head, left, right),
        }
    }

    /// A range is the structure of the ends that it has.
    fn range(&mut self, lower: Written, upper: Written) -> Written {
        let ends =
            [("lower", lower), ("upper", upper)].into_iter().filter(|(_, end)| match self.terms.get(*end) {
                Term::Constant(name) => self.names.name(name) != operators::UNBOUNDED,
                _ => true,
            });
        let (names, ends): (Vec<&str>, Vec<Written>) = ends.unzip();
        let head = self.known(&format!("{{{}}}", names.join(",")));
        ends.into_iter().fold(head, |head, end| self.terms.apply(head, end))
    }

    fn applied(&mut self, head: &str, left: Written, right: Written) -> Written {
        let head = self.names.intern(head);
        self.terms.binary(head, left, right)
    }

    /// Adds variables whose names are tokens, with one type.
    fn add_bindings(&mut self, (from, to): (usize, usize), typed: Written, is_explicit: bool) {
        if from == to {
            self.bindings.push(Binding { name: None, typed: Some(typed), is_explicit });
        }
        for number in from..to {
            let word = self.tokens.word(self.tokens.get(number));
            let name = self.names.intern(word);
            self.bindings.push(Binding { name: named(word, name), typed: Some(typed), is_explicit });
        }
    }

    /// The end of what something opened, or its next part.
    fn close(&mut self, frame: Frame, term: Written) -> Result<Next, ParseError> {
        let word = self.word();
        let top = self.frames.len() - 1;
        match frame {
            Frame::Group if word == "," => {
                self.elements.push(term);
                self.frames[top] = Frame::Elements { open: "(", first: self.elements.len() - 1 };
            }
            Frame::Group if word == ":" => self.frames[top] = Frame::Ascription { term },
            Frame::Group | Frame::Named | Frame::Ascription { .. } => {
                self.expect(")", "an operator or `)`")?;
                self.frames.pop();
                return Ok(Next::Term(if let Frame::Ascription { term } = frame { term } else { term }));
            }
            Frame::Typed { names, close: "}" } if ["|", "//"].contains(&word) => {
                let first = self.bindings.len();
                self.add_bindings(names, term, true);
                let head = if word == "|" { "setOf" } else { "Subtype" };
                self.frames[top] = Frame::Comprehension { head, first };
            }
            Frame::Typed { names, close } => {
                if word == ":=" {
                    self.skip_to_close()?;
                }
                self.expect(close, &format!("an operator or `{close}`"))?;
                self.frames.pop();
                if let Some((kind, head)) = dependent(self.word()) {
                    self.at += 1;
                    let first = self.bindings.len();
                    self.add_bindings(names, term, close == ")");
                    self.push(Frame::Body { kind, first, head })?;
                    return Ok(Next::Read);
                }
                if close != ")" {
                    return self.unexpected("`→` after a binder");
                }
                return Ok(Next::Term(self.names_applied(names)));
            }
            Frame::Elements { .. } if word == "," => self.elements.push(term),
            Frame::Elements { open: "{", .. } | Frame::Fields { .. } | Frame::Comprehension { .. } => {
                return self.close_brace(frame, term);
            }
            Frame::Index { object } => {
                self.expect("]", "an operator or `]`")?;
                self.frames.pop();
                return self.indexed(object, term).map(Next::Term);
            }
            Frame::Match { .. } | Frame::Pattern { .. } => return self.matched(frame, term),
            Frame::Elements { open, first } => {
                let close = closing(open);
                self.expect(close, &format!("an operator, `,` or `{close}`"))?;
                self.frames.pop();
                if open == "[" && first == self.elements.len() && matches!(self.word(), "→" | "->") {
                    self.at += 1;
                    let first = self.bindings.len();
                    self.add_bindings((0, 0), term, false);
                    self.push(Frame::Body { kind: preterm::Kind::Pi, first, head: None })?;
                    return Ok(Next::Read);
                }
                self.elements.push(term);
                return Ok(Next::Term(self.finish_elements(open, first)));
            }
            Frame::BinderType { names, close } => {
                if word == ":=" {
                    self.skip_to_close()?;
                }
                self.expect(close, &format!("an operator or `{close}`"))?;
                self.frames.pop();
                self.add_bindings(names, term, close == closing("("));
                if let Some(Frame::Binders { run, .. }) = self.frames.last_mut() {
                    *run = self.bindings.len();
                }
                return Ok(Next::Read);
            }
            Frame::BinderTail => {
                self.frames.pop();
                if let Some(Frame::Binders { run, .. }) = self.frames.last_mut() {
                    let from = std::mem::replace(run, self.bindings.len());
                    self.bindings[from..].iter_mut().for_each(|binding| binding.typed = Some(term));
                }
                return Ok(Next::Read);
            }
            Frame::BinderBound { operator } => {
                self.frames.pop();
                if let Some(name) = self.bindings.last().and_then(|binding| binding.name) {
                    let variable = self.terms.add(Term::Name { name, is_explicit: false });
                    let bound = self.combine(operator, variable, term);
                    self.bindings.push(Binding { name: None, typed: Some(bound), is_explicit: true });
                }
                if let Some(Frame::Binders { run, .. }) = self.frames.last_mut() {
                    *run = self.bindings.len();
                }
                return Ok(Next::Read);
            }
            Frame::LetType { name } => {
                self.expect(":=", "an operator or `:=`")?;
                self.frames[top] = Frame::LetValue { name, typed: Some(term) };
                return Ok(Next::Read);
            }
            Frame::LetValue { name, typed } => {
                self.expect(";", "an operator or `;`")?;
                self.frames[top] = Frame::Let { name, typed, value: term };
                return Ok(Next::Read);
            }
            Frame::If { head, proof } => {
                self.expect("then", "an operator or `then`")?;
                self.frames[top] = Frame::Then { head, proof, condition: term };
                return Ok(Next::Read);
            }
            Frame::Then { head, proof, condition } => {
                self.expect("else", "an operator or `else`")?;
                self.frames[top] = Frame::Else { head, proof, condition, yes: term };
                return Ok(Next::Read);
            }
            _ => return self.unexpected("an operator or the end of the term"),
        }
        self.at += 1;
        Ok(Next::Read)
    }

    /// The names of `(f x : T)`, which turned out to be a term.
    fn names_applied(&mut self, (from, to): (usize, usize)) -> Written {
        let mut names = (from..to).map(|number| self.tokens.word(self.tokens.get(number)));
        let first = names.next().unwrap_or_default();
        let mut term = {
            let name = self.names.intern(first);
            self.terms.add(Term::Name { name, is_explicit: false })
        };
        for word in names {
            let name = self.names.intern(word);
            let argument = self.terms.add(Term::Name { name, is_explicit: false });
            term = self.terms.apply(term, argument);
        }
        term
    }

    /// A list, an array, a tuple or an anonymous constructor of the elements from a place on.
    pub(super) fn finish_elements(&mut self, open: &str, first: usize) -> Written {
        let elements = self.elements.split_off(first);
        match open {
            "[" | "#[" | "#v[" => {
                let nil = self.known("List.nil");
                let list = elements.into_iter().rev();
                let list = list.fold(nil, |list, element| self.applied("List.cons", element, list));
                if open == "[" {
                    return list;
                }
                let head = self.known("List.toArray");
                let array = self.terms.apply(head, list);
                if open == "#[" {
                    return array;
                }
                let head = self.known("Vector.mk");
                self.terms.apply(head, array)
            }
            "(" => {
                let pair = |machine: &mut Self, second, first| machine.applied("Prod.mk", first, second);
                let mut backwards = elements.into_iter().rev();
                match backwards.next() {
                    Some(last) => backwards.fold(last, |second, first| pair(self, second, first)),
                    None => self.known("Unit.unit"),
                }
            }
            _ => {
                let head = self.known(&format!("{open}{}", closing(open)));
                elements.into_iter().fold(head, |head, element| self.terms.apply(head, element))
            }
        }
    }
}

/// The meaning of `→` after `(x : T)`, and of similar symbols.
fn dependent(word: &str) -> Option<(preterm::Kind, Option<&'static str>)> {
    Some(match word {
        "→" | "->" => (preterm::Kind::Pi, None),
        "×" => (preterm::Kind::Fun, Some("Sigma")),
        "×'" => (preterm::Kind::Fun, Some("PSigma")),
        _ => return None,
    })
}
