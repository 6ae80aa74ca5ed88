//! Pattern matching: `match` and `function`.

use super::{Fault, Id, Node, Parser};
use crate::formula::Binder;
use crate::symbol::Symbol;

/// The clauses of a `match` or `function` that have been read.
pub(super) struct Clauses {
    /// The matched term; `function` matches its argument.
    matched: Option<Id>,
    clauses: Vec<Id>,
}

impl Clauses {
    pub(super) fn of_match(matched: Id) -> Self {
        Clauses { matched: Some(matched), clauses: Vec::new() }
    }

    pub(super) fn of_function() -> Self {
        Clauses { matched: None, clauses: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }
}

impl Parser<'_> {
    /// `pattern -> result` is `\x y. ?v. _UNGUARDED_PATTERN (GEQ pattern x) (GEQ result y)` with the pattern's variables `v`.
    pub(super) fn clause(
        &mut self,
        mut clauses: Clauses,
        pattern: Id,
        guard: Option<Id>,
        result: Id,
    ) -> Result<Clauses, Fault> {
        let constructors = self.applied_names(pattern);
        let mut variables = self.free_names(pattern)?;
        variables.retain(|name| !constructors.contains(name));
        let mut taken = variables.clone();
        for part in [pattern, result].into_iter().chain(guard) {
            taken.extend(self.free_names(part)?);
        }
        let value = self.fresh("x", &taken);
        taken.push(value);
        let outcome = self.fresh("y", &taken);
        let value_occurrence = self.push(Node::Variable(value))?;
        let matches = self.call("GEQ", &[pattern, value_occurrence])?;
        let outcome_occurrence = self.push(Node::Variable(outcome))?;
        let gives = self.call("GEQ", &[result, outcome_occurrence])?;
        let mut body = match guard {
            Some(guard) => self.call("_GUARDED_PATTERN", &[matches, guard, gives])?,
            None => self.call("_UNGUARDED_PATTERN", &[matches, gives])?,
        };
        for name in variables.into_iter().rev() {
            body = self.push(Node::Bind(Binder::Exists, name, None, body))?;
        }
        for name in [outcome, value] {
            body = self.push(Node::Bind(Binder::Lambda, name, None, body))?;
        }
        clauses.clauses.push(body);
        Ok(clauses)
    }

    /// The names that are applied to something: a variable that stands for a constructor is bound elsewhere.
    fn applied_names(&self, pattern: Id) -> Vec<Symbol> {
        let (mut found, mut pending) = (Vec::new(), vec![(pattern, false)]);
        while let Some((id, is_applied)) = pending.pop() {
            match self.out.nodes[id.index()] {
                Node::Name(name) | Node::Variable(name) if is_applied => found.push(name),
                Node::Apply(function, argument) => pending.extend([(function, true), (argument, false)]),
                Node::Typed(term, _) => pending.push((term, is_applied)),
                _ => {}
            }
        }
        found
    }

    /// `match e with c1 | c2` is `_MATCH e (_SEQPATTERN c1 c2)`, `function c` is `_FUNCTION c`.
    pub(super) fn matched(&mut self, clauses: Clauses) -> Result<Id, Fault> {
        let Clauses { matched, mut clauses } = clauses;
        let mut all = clauses.pop().expect("a clause ends before its match does");
        while let Some(clause) = clauses.pop() {
            all = self.call("_SEQPATTERN", &[clause, all])?;
        }
        match matched {
            Some(matched) => self.call("_MATCH", &[matched, all]),
            None => self.call("_FUNCTION", &[all]),
        }
    }
}
