//! Operators: which of those that wait for their right side are applied first.

use super::{Fault, Id, Node, Open, Parser};
use crate::symbol::Symbol;
use crate::syntax::{self, Associativity};

/// An operator whose right side is being read.
pub(super) enum Operator {
    Prefix(Symbol),
    Infix { left: Id, name: Symbol, precedence: u8 },
}

impl Parser<'_> {
    /// `~` and `--` apply to the whole application that follows; as an argument, to the next atom.
    pub(super) fn prefix(&mut self, name: &str) -> Result<(), Fault> {
        let context = self.context();
        if context.application.is_some() || self.tight.len() > context.tight {
            return self.push_tight(name);
        }
        if self.expects_variables() {
            return Err(self.fault("a variable"));
        }
        let name = self.interner.intern(name);
        self.push_operator(Operator::Prefix(name))?;
        self.at += 1;
        Ok(())
    }

    pub(super) fn push_tight(&mut self, name: &str) -> Result<(), Fault> {
        if self.expects_variables() || self.context().is_typed {
            return Err(self.fault(self.expectation()));
        }
        let name = self.interner.intern(name);
        self.tight.push(name);
        self.at += 1;
        self.check_size(self.tight.len())
    }

    fn push_operator(&mut self, operator: Operator) -> Result<(), Fault> {
        self.operators.push(operator);
        self.check_size(self.operators.len())
    }

    pub(super) fn infix(&mut self, name: &str) -> Result<(), Fault> {
        let (precedence, associativity) = syntax::infix(name).expect("the caller looked it up");
        if let Open::LetPattern(_) = self.context().open
            && matches!(name, "=" | "<=>")
        {
            return self.let_value();
        }
        if let Open::BinderVariables(_, variables) = &self.context().open {
            return if variables.is_empty() { self.name(name) } else { Err(self.fault("a variable or `.`")) };
        }
        if self.expects_variables() {
            return Err(self.fault("a variable"));
        }
        let context = self.context();
        // HolStep writes `(+ x)`, `(f +)` and `(f = +)` for an operator that is an ordinary function there.
        let in_brackets = matches!(context.open, Open::Bracket);
        let is_first = self.operators.len() == context.operators;
        let leads = is_first && self.previous() == Some("(");
        let trails =
            self.is_before_bracket() && (context.application.is_none() || (is_first && context.length == 1));
        // HOL Light prints `hreal_add x y` once a library has given up the infix.
        let is_function = context.application.is_none()
            && name.chars().all(syntax::is_word_character)
            && self.is_before_atom();
        if (in_brackets && (leads || trails)) || is_function {
            return self.name(name);
        }
        let mut left = self.operand()?;
        let base = self.context().operators;
        while self.operators.len() > base
            && let Some(Operator::Infix { precedence: before, .. }) = self.operators.last()
            && (*before > precedence || (*before == precedence && associativity == Associativity::Left))
        {
            left = self.reduce(left)?;
        }
        let name = self.interner.intern(name);
        self.push_operator(Operator::Infix { left, name, precedence })?;
        self.at += 1;
        Ok(())
    }

    /// Ends the current application and applies the prefixes before it.
    pub(super) fn operand(&mut self) -> Result<Id, Fault> {
        if self.tight.len() > self.context().tight {
            return Err(self.fault("a term"));
        }
        let Some(mut operand) = self.context_mut().application.take() else {
            return Err(self.fault("a term"));
        };
        let base = self.context().operators;
        while self.operators.len() > base
            && let Some(&Operator::Prefix(name)) = self.operators.last()
        {
            self.operators.pop();
            let prefix = self.push(Node::Name(name))?;
            operand = self.apply(prefix, operand);
        }
        let context = self.context_mut();
        (context.length, context.is_typed) = (0, false);
        Ok(operand)
    }

    /// Applies the last operator, an infix one, to what stands left and right of it.
    fn reduce(&mut self, right: Id) -> Result<Id, Fault> {
        let Some(Operator::Infix { left, name, .. }) = self.operators.pop() else {
            unreachable!("prefixes are applied before infixes")
        };
        let operator = self.push(Node::Name(name))?;
        let partial = self.apply(operator, left);
        Ok(self.apply(partial, right))
    }

    /// The term that the innermost context has read.
    pub(super) fn finish(&mut self) -> Result<Id, Fault> {
        let mut term = self.operand()?;
        let base = self.context().operators;
        while self.operators.len() > base {
            term = self.reduce(term)?;
        }
        Ok(term)
    }
}
