//! Contexts: what opens them, and which token closes which.

use super::clauses::Clauses;
use super::{Context, Fault, Id, Limit, Open, Parser};

impl Parser<'_> {
    pub(super) fn open_after(&mut self, open: Open) -> Result<(), Fault> {
        let separates = match open {
            Open::Bracket | Open::List(_) => false,
            Open::Set(_) => true,
            _ => self.context().comma_separates,
        };
        if self.context().is_typed {
            return Err(self.fault("an operator or the end of the term after a type"));
        }
        if self.expects_variables() && !matches!(open, Open::Bracket) {
            return Err(self.fault("a variable"));
        }
        self.open(open, separates)?;
        self.at += 1;
        Ok(())
    }

    pub(super) fn open(&mut self, open: Open, comma_separates: bool) -> Result<(), Fault> {
        if self.contexts.len() > self.limits.depth {
            return Err(Fault::over(self.offset(), Limit::Depth, self.limits.depth, "nested terms"));
        }
        self.contexts.push(Context {
            open,
            application: None,
            length: 0,
            is_typed: false,
            comma_separates,
            operators: self.operators.len(),
            tight: self.tight.len(),
        });
        Ok(())
    }

    /// A token that ends a term: closes contexts until one is found that it belongs to.
    pub(super) fn terminator(&mut self, token: &str) -> Result<(), Fault> {
        loop {
            if self.accept(token)? {
                self.at += 1;
                return Ok(());
            }
            if !self.close_one_implicit()? {
                return Err(self.fault(self.expectation()));
            }
        }
    }

    /// Closes contexts that have no closing token of their own.
    pub(super) fn close_implicit(&mut self) -> Result<(), Fault> {
        while self.close_one_implicit()? {}
        Ok(())
    }

    fn close_one_implicit(&mut self) -> Result<bool, Fault> {
        if !matches!(
            self.context().open,
            Open::BinderBody(..) | Open::Else(..) | Open::LetBody(_) | Open::ClauseResult(..)
        ) {
            return Ok(false);
        }
        let body = self.finish()?;
        let term = match self.contexts.pop().expect("looked at above").open {
            Open::BinderBody(quantifier, variables) => self.quantified(quantifier, &variables, body)?,
            Open::Else(condition, then) => self.conditional(condition, then, body)?,
            Open::LetBody(bindings) => self.let_in(&bindings, body)?,
            Open::ClauseResult(clauses, pattern, guard) => {
                let clauses = self.clause(clauses, pattern, guard, body)?;
                self.matched(clauses)?
            }
            _ => unreachable!("looked at above"),
        };
        self.atom(term)?;
        Ok(true)
    }

    /// Gives a terminator to the innermost context, if it belongs there.
    fn accept(&mut self, token: &str) -> Result<bool, Fault> {
        let is_empty = self.is_empty();
        let value = match (&self.context().open, token) {
            (Open::BinderVariables(_, variables), ".") if !variables.is_empty() => None,
            (Open::List(items), "]") if items.is_empty() && is_empty => None,
            (Open::Set(items), "}") if items.is_empty() && is_empty => None,
            // A bar may stand before the first clause.
            (Open::ClausePattern(clauses), "|") if clauses.is_empty() && is_empty => None,
            (Open::Sequent, "|-" | "?-") if self.out.parts.is_empty() && is_empty => None,
            (Open::Bracket, ")")
            | (Open::List(_), ";" | "]")
            | (Open::Set(_), "," | "}" | "|")
            | (Open::SetCondition(_), "}" | "|")
            | (Open::SetVariables(..), "}")
            | (Open::If, "then")
            | (Open::Then(_), "else")
            | (Open::LetValue(..), "and" | "in")
            | (Open::Match, "with")
            | (Open::ClausePattern(_), "when" | "->")
            | (Open::ClauseGuard(..), "->")
            | (Open::ClauseResult(..), "|") => Some(self.finish()?),
            (Open::Sequent, "," | "|-" | "?-") if self.context().comma_separates => Some(self.finish()?),
            _ => return Ok(false),
        };
        let context = self.contexts.pop().expect("the sequent is always open");
        self.advance(context, token, value)?;
        Ok(true)
    }

    /// The next state of a context that has accepted a terminator.
    fn advance(&mut self, context: Context, token: &str, value: Option<Id>) -> Result<(), Fault> {
        let commas = context.comma_separates;
        let next = match (context.open, value) {
            (Open::Sequent, value) => {
                self.out.parts.extend(value);
                return self.open(Open::Sequent, token == ",");
            }
            (Open::BinderVariables(quantifier, variables), _) => Open::BinderBody(quantifier, variables),
            (Open::List(mut items), value) => {
                items.extend(value);
                if token == ";" {
                    Open::List(items)
                } else {
                    let list = self.list(&items)?;
                    return self.atom(list);
                }
            }
            (Open::Set(mut items), value) => {
                items.extend(value);
                match token {
                    "," => Open::Set(items),
                    "|" => {
                        let pattern = self.tuple(&items)?;
                        return self.open(Open::SetCondition(pattern), false);
                    }
                    _ => {
                        let set = self.set(&items)?;
                        return self.atom(set);
                    }
                }
            }
            (Open::Bracket, Some(value)) => return self.atom(value),
            (Open::SetCondition(pattern), Some(value)) => {
                if token == "|" {
                    Open::SetVariables(pattern, value)
                } else {
                    let set = self.set_abstraction(pattern, None, value)?;
                    return self.atom(set);
                }
            }
            (Open::SetVariables(pattern, variables), Some(value)) => {
                let set = self.set_abstraction(pattern, Some(variables), value)?;
                return self.atom(set);
            }
            (Open::Match, Some(matched)) => Open::ClausePattern(Clauses::of_match(matched)),
            (Open::ClausePattern(clauses), None) => Open::ClausePattern(clauses),
            (Open::ClausePattern(clauses), Some(pattern)) if token == "when" => {
                Open::ClauseGuard(clauses, pattern)
            }
            (Open::ClausePattern(clauses), Some(pattern)) => Open::ClauseResult(clauses, pattern, None),
            (Open::ClauseGuard(clauses, pattern), Some(guard)) => {
                Open::ClauseResult(clauses, pattern, Some(guard))
            }
            (Open::ClauseResult(clauses, pattern, guard), Some(result)) => {
                Open::ClausePattern(self.clause(clauses, pattern, guard, result)?)
            }
            (Open::If, Some(condition)) => Open::Then(condition),
            (Open::Then(condition), Some(value)) => Open::Else(condition, value),
            (Open::LetValue(mut bindings, pattern), Some(value)) => {
                bindings.push((pattern, value));
                if token == "and" { Open::LetPattern(bindings) } else { Open::LetBody(bindings) }
            }
            _ => unreachable!("only these contexts accept a terminator"),
        };
        self.open(next, commas)
    }

    /// `=` after the variable of a `let`.
    pub(super) fn let_value(&mut self) -> Result<(), Fault> {
        let pattern = self.operand().map_err(|fault| Fault { expected: "a variable".into(), ..fault })?;
        let context = self.contexts.pop().expect("the caller looked at it");
        let Open::LetPattern(bindings) = context.open else { unreachable!("the caller looked at it") };
        self.open(Open::LetValue(bindings, pattern), context.comma_separates)?;
        self.at += 1;
        Ok(())
    }

    /// Whether the innermost context has read nothing.
    fn is_empty(&self) -> bool {
        let context = self.context();
        context.application.is_none()
            && self.operators.len() == context.operators
            && self.tight.len() == context.tight
    }

    pub(super) fn expectation(&self) -> &'static str {
        if !self.expects_variables() && self.context().application.is_none() {
            return "a term";
        }
        match &self.context().open {
            Open::Sequent => "an operator or the end of the formula",
            Open::Bracket => "an operator or `)`",
            Open::List(_) => "an operator, `;` or `]`",
            Open::Set(_) => "an operator, `,`, `|` or `}`",
            Open::SetCondition(_) => "an operator, `|` or `}`",
            Open::SetVariables(..) => "an operator or `}`",
            Open::If => "an operator or `then`",
            Open::Then(_) => "an operator or `else`",
            Open::Match => "an operator or `with`",
            Open::ClausePattern(_) => "an operator, `when` or `->`",
            Open::ClauseGuard(..) => "an operator or `->`",
            Open::ClauseResult(..) => "an operator, `|` or the end of the term",
            Open::BinderVariables(..) => "a variable or `.`",
            Open::LetPattern(_) => "`=` after the variable of `let`",
            Open::LetValue(..) => "an operator, `and` or `in`",
            Open::Else(..) | Open::BinderBody(..) | Open::LetBody(_) => "an operator or the end of the term",
        }
    }
}
