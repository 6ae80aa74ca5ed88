//! Terms in braces: structure instances, sets and subtypes.

use super::{Frame, Machine, Next};
use crate::error::ParseError;
use crate::parse::lean::lex::Kind;
use crate::parse::lean::preterm::{self, Binding, Term, Written};

impl Machine<'_, '_> {
    /// Reads a brace that opens a term, and what tells which.
    pub(super) fn open_brace(&mut self) -> Result<Option<Written>, ParseError> {
        let (first, named) = (self.elements.len(), self.fields.len());
        self.at += 1;
        if self.word() == "}" {
            self.at += 1;
            return Ok(Some(self.known("{}")));
        }
        let token = self.token();
        if token.kind == Kind::Name {
            match self.word_at(1) {
                separator @ ("|" | "//") => {
                    let name = Some(self.name_at(self.at));
                    let head = if separator == "|" { "setOf" } else { "Subtype" };
                    self.push(Frame::Comprehension { head, first: self.bindings.len() })?;
                    self.bindings.push(Binding { name, typed: None, is_explicit: true });
                    self.at += 2;
                    return Ok(None);
                }
                // Lean writes `{ x, y }` for fields called as their values, and `{x, y}` for sets.
                next @ (":=" | "," | "}") if next == ":=" || !token.is_glued => {
                    self.push(Frame::Fields { first, named })?;
                    return self.field_name();
                }
                _ => {}
            }
        }
        self.push(Frame::Elements { open: "{", first })?;
        Ok(None)
    }

    /// Reads the name of a field, and fields whose values are called like them. Returns the whole instance if no other value
    /// is left to read.
    fn field_name(&mut self) -> Result<Option<Written>, ParseError> {
        loop {
            if self.token().kind != Kind::Name {
                return self.unexpected("a field");
            }
            let name = self.name_at(self.at);
            self.at += 1;
            self.fields.push(name);
            let word = self.word();
            if !matches!(word, ":=" | "," | "}") {
                return self.unexpected("`:=` after a field");
            }
            self.at += 1;
            if word == ":=" {
                return Ok(None);
            }
            let value = self.terms.add(Term::Name { name, is_explicit: false });
            self.elements.push(value);
            if word == "}" {
                return Ok(Some(self.finish_fields()));
            }
        }
    }

    /// A structure instance. Its fields name its head, because no text shows which structure it is.
    fn finish_fields(&mut self) -> Written {
        let Some(Frame::Fields { first, named }) = self.frames.pop() else { return self.known("{}") };
        let fields: Vec<&str> = self.fields[named..].iter().map(|&field| self.names.name(field)).collect();
        let head = format!("{{{}}}", fields.join(","));
        self.fields.truncate(named);
        let head = self.known(&head);
        let values = self.elements.split_off(first);
        values.into_iter().fold(head, |head, value| self.terms.apply(head, value))
    }

    /// The end of what a brace opened, or its next part.
    pub(super) fn close_brace(&mut self, frame: Frame, term: Written) -> Result<Next, ParseError> {
        let word = self.word();
        match frame {
            Frame::Fields { .. } => {
                self.elements.push(term);
                if word == ":" {
                    self.skip_to_close()?;
                }
                if self.word() == "," {
                    self.at += 1;
                    return Ok(self.field_name()?.map_or(Next::Read, Next::Term));
                }
                self.expect("}", "an operator, `,` or `}`")?;
                Ok(Next::Term(self.finish_fields()))
            }
            Frame::Comprehension { head, first } => {
                self.expect("}", "an operator or `}`")?;
                self.frames.pop();
                let function = self.terms.bind(preterm::Kind::Fun, &self.bindings[first..], term);
                self.bindings.truncate(first);
                let head = self.known(head);
                Ok(Next::Term(self.terms.apply(head, function)))
            }
            Frame::Elements { first, .. } if word == "with" && self.elements.len() == first => {
                self.at += 1;
                self.elements.push(term);
                self.frames.pop();
                let named = self.fields.len();
                let others = self.names.intern("..");
                self.fields.push(others);
                self.push(Frame::Fields { first, named })?;
                Ok(self.field_name()?.map_or(Next::Read, Next::Term))
            }
            Frame::Elements { first, .. } => {
                if word == "|" {
                    // `{x ∈ s | p}`: what is bound has no sign of its own.
                    self.at += 1;
                    self.elements.push(term);
                    return Ok(Next::Read);
                }
                self.expect("}", "an operator, `,` or `}`")?;
                self.frames.pop();
                let others = self.elements.split_off(first);
                let head = self.known("Singleton.singleton");
                let last = self.terms.apply(head, term);
                let head = self.names.intern("Insert.insert");
                let set = others.into_iter().rev();
                Ok(Next::Term(set.fold(last, |set, element| self.terms.binary(head, element, set))))
            }
            _ => self.unexpected("an operator or the end of the term"),
        }
    }

    /// `xs[i]`, `xs[i]?` and `xs[i]!`. The proof after `'` is left out, as everywhere.
    pub(super) fn indexed(&mut self, object: Written, index: Written) -> Result<Written, ParseError> {
        let mark = if self.token().is_glued { self.word() } else { "" };
        let name = match mark {
            "?" => "GetElem?.getElem?",
            "!" => "GetElem?.getElem!",
            _ => "GetElem.getElem",
        };
        let name = self.names.intern(name);
        let element = self.terms.binary(name, object, index);
        if ["?", "!"].contains(&mark) {
            self.at += 1;
            return Ok(element);
        }
        if mark == "'" {
            self.at += 1;
            if ["(", "⟨"].contains(&self.word()) {
                self.skip_group()?;
            } else if !self.word().is_empty() {
                self.at += 1;
            }
        }
        let proof = self.known("_");
        Ok(self.terms.apply(element, proof))
    }
}
