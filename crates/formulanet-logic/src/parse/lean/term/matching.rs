//! `match a, b with | p, q => c | ...`: the constant `match`, applied to what is matched and to a function for each alternative.

use std::collections::HashSet;

use super::{Frame, Machine, Next};
use crate::error::ParseError;
use crate::parse::lean::preterm::{self, Binding, Term, Written, components};
use crate::symbol::Symbol;

/// Constructors that patterns have without a point and without arguments.
const CONSTRUCTORS: [&str; 4] = ["none", "true", "false", "nil"];

impl Machine<'_, '_> {
    /// Reads `match`, up to the first term that is matched.
    pub(super) fn begin_match(&mut self) -> Result<Option<Written>, ParseError> {
        self.at += 1;
        if self.word() == "(" && self.word_at(1) == "motive" {
            self.skip_group()?;
        }
        self.push(Frame::Match { first: self.elements.len() })?;
        self.skip_equation();
        Ok(None)
    }

    /// Skips the name of an equation, as in `match h : a with`.
    fn skip_equation(&mut self) {
        if self.names_before(0, ":") == Some(1) {
            self.at += 2;
        }
    }

    /// Decides what follows a term that is matched, or a pattern.
    pub(super) fn matched(&mut self, frame: Frame, term: Written) -> Result<Next, ParseError> {
        let (word, top) = (self.word(), self.frames.len() - 1);
        self.elements.push(term);
        match (frame, word) {
            (Frame::Match { .. }, ",") => {
                self.at += 1;
                self.skip_equation();
                return Ok(Next::Read);
            }
            (Frame::Match { first }, "with") => {
                self.at += 1;
                if self.word() != "|" {
                    return Ok(Next::Term(self.finish_match(first)));
                }
                self.frames[top] = Frame::Pattern { first, patterns: self.elements.len() };
            }
            (Frame::Match { .. }, _) => return self.unexpected("an operator, `,` or `with`"),
            (Frame::Pattern { first, patterns }, "=>" | "↦") => {
                self.frames[top] = Frame::Alternative { first, patterns };
            }
            (_, ",") => {}
            _ => return self.unexpected("an operator, `,` or `=>`"),
        }
        self.at += 1;
        Ok(Next::Read)
    }

    /// Ends an alternative whose right side was read.
    pub(super) fn end_alternative(
        &mut self,
        first: usize,
        patterns: usize,
        term: Written,
    ) -> Result<Next, ParseError> {
        let read = self.elements.split_off(patterns);
        let (mut bindings, mut seen) = (Vec::new(), HashSet::new());
        for &pattern in &read {
            for name in self.variables(pattern).into_iter().filter(|name| seen.insert(*name)) {
                bindings.push(Binding { name: Some(name), typed: None, is_explicit: true });
            }
        }
        let head = self.known("=>");
        let head = read.into_iter().fold(head, |head, pattern| self.terms.apply(head, pattern));
        let body = self.terms.apply(head, term);
        let alternative = self.terms.bind(preterm::Kind::Fun, &bindings, body);
        self.elements.push(alternative);
        if self.word() == "|" {
            let top = self.frames.len() - 1;
            self.frames[top] = Frame::Pattern { first, patterns: self.elements.len() };
            self.at += 1;
            return Ok(Next::Read);
        }
        Ok(Next::Term(self.finish_match(first)))
    }

    fn finish_match(&mut self, first: usize) -> Written {
        self.frames.pop();
        let parts = self.elements.split_off(first);
        let head = self.known("match");
        parts.into_iter().fold(head, |head, part| self.terms.apply(head, part))
    }

    /// The variables of a pattern: names without a point that are applied to nothing, and what has fields as in `n.succ`.
    fn variables(&mut self, pattern: Written) -> Vec<Symbol> {
        let (mut stack, mut found) = (vec![(pattern, false)], Vec::new());
        while let Some((term, is_applied)) = stack.pop() {
            match self.terms.get(term) {
                Term::Name { name, .. } if !is_applied => found.extend(self.variable(name)),
                Term::Apply(function, argument) => stack.extend([(argument, false), (function, true)]),
                Term::Field { object, .. } => stack.push((object, false)),
                _ => {}
            }
        }
        found
    }

    /// The variable that a name in a pattern is, or that its fields belong to.
    fn variable(&mut self, name: Symbol) -> Option<Symbol> {
        let text = self.names.name(name).to_owned();
        let first = components(&text).next().unwrap_or_default();
        let has_fields = first.len() < text.len();
        if CONSTRUCTORS.contains(&first) || has_fields && !first.starts_with(char::is_lowercase) {
            return None;
        }
        Some(if has_fields { self.names.intern(first) } else { name })
    }
}
