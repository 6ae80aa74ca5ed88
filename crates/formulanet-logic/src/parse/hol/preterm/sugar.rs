//! The constants that HOL Light's own parser makes of its notations, which are the labels in HolStep.

use std::collections::HashMap;

use super::{Fault, Id, Node, Parser, Quantifier};
use crate::formula::Binder;
use crate::symbol::Symbol;

impl Parser<'_> {
    fn constant(&mut self, name: &str) -> Result<Id, Fault> {
        let name = self.interner.intern(name);
        self.push(Node::Constant(name))
    }

    pub(super) fn call(&mut self, name: &str, arguments: &[Id]) -> Result<Id, Fault> {
        let head = self.constant(name)?;
        Ok(arguments.iter().fold(head, |function, &argument| self.apply(function, argument)))
    }

    /// `12` is `NUMERAL (BIT0 (BIT0 (BIT1 (BIT1 _0))))`.
    pub(super) fn numeral(&mut self, digits: &str) -> Result<Id, Fault> {
        self.check_size(self.atoms.saturating_add(digits.len().saturating_mul(3)))?;
        let mut term = self.constant("_0")?;
        let bits = binary(digits);
        for &bit in bits.iter().rev() {
            term = self.call(if bit { "BIT1" } else { "BIT0" }, &[term])?;
        }
        self.call("NUMERAL", &[term])
    }

    /// `#1.5` is `DECIMAL 15 10`.
    pub(super) fn decimal(&mut self) -> Result<(), Fault> {
        let digits =
            |token: Option<&str>| token.filter(|t| t.bytes().all(|b| b.is_ascii_digit())).map(str::to_owned);
        self.at += 1;
        let Some(mut numerator) = digits(self.peek(0)) else { return Err(self.fault("digits after `#`")) };
        let mut denominator = "1".to_owned();
        if self.peek(1) == Some(".")
            && let Some(fraction) = digits(self.peek(2))
        {
            denominator.extend(std::iter::repeat_n('0', fraction.len()));
            numerator.push_str(&fraction);
            self.at += 2;
        }
        let (numerator, denominator) = (self.numeral(&numerator)?, self.numeral(&denominator)?);
        let decimal = self.call("DECIMAL", &[numerator, denominator])?;
        self.read_atom(decimal)
    }

    pub(super) fn conditional(&mut self, condition: Id, then: Id, otherwise: Id) -> Result<Id, Fault> {
        self.call("COND", &[condition, then, otherwise])
    }

    /// `[a; b]` is `CONS a (CONS b NIL)`.
    pub(super) fn list(&mut self, items: &[Id]) -> Result<Id, Fault> {
        let nil = self.constant("NIL")?;
        items.iter().rev().try_fold(nil, |rest, &item| self.call("CONS", &[item, rest]))
    }

    /// `{a, b}` is `a INSERT (b INSERT EMPTY)`.
    pub(super) fn set(&mut self, items: &[Id]) -> Result<Id, Fault> {
        let empty = self.constant("EMPTY")?;
        items.iter().rev().try_fold(empty, |rest, &item| self.call("INSERT", &[item, rest]))
    }

    /// `a, b, c` is `(a , (b , c))`.
    pub(super) fn tuple(&mut self, items: &[Id]) -> Result<Id, Fault> {
        let (&last, before) = items.split_last().expect("a pattern was read");
        before.iter().rev().try_fold(last, |rest, &item| self.call(",", &[item, rest]))
    }

    /// `{t | p}` is `GSPEC (\v. ?x y. SETSPEC v p t)`, where x, y are the variables that t and p share, or all
    /// of t if there is only one.
    pub(super) fn set_abstraction(
        &mut self,
        pattern: Id,
        variables: Option<Id>,
        condition: Id,
    ) -> Result<Id, Fault> {
        let bound = match variables {
            Some(variables) => self.free_names(variables)?,
            None => {
                let of_pattern = self.free_names(pattern)?;
                let of_condition = self.free_names(condition)?;
                if of_pattern.len() <= 1 || of_condition.is_empty() {
                    of_pattern
                } else {
                    of_pattern.into_iter().filter(|name| of_condition.contains(name)).collect()
                }
            }
        };
        let element = self.fresh("GEN%PVAR%0", &[]);
        let occurrence = self.push(Node::Variable(element))?;
        let mut body = self.call("SETSPEC", &[occurrence, condition, pattern])?;
        for name in bound.into_iter().rev() {
            body = self.push(Node::Bind(Binder::Exists, name, None, body))?;
        }
        let function = self.push(Node::Bind(Binder::Lambda, element, None, body))?;
        self.call("GSPEC", &[function])
    }

    /// `let x = a and y = b in t` is `LET (\x y. LET_END t) a b`.
    pub(super) fn let_in(&mut self, bindings: &[(Id, Id)], body: Id) -> Result<Id, Fault> {
        let mut function = self.call("LET_END", &[body])?;
        for &(pattern, _) in bindings.iter().rev() {
            function = self.abstraction(Binder::Lambda, pattern, function)?;
        }
        let values = bindings.iter().map(|&(_, value)| value);
        let arguments: Vec<Id> = std::iter::once(function).chain(values).collect();
        self.call("LET", &arguments)
    }

    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        variables: &[Id],
        body: Id,
    ) -> Result<Id, Fault> {
        let Quantifier { binder, name } = quantifier;
        // `minimal n. p` is `minimal (\n. p)`.
        let is_applied = binder == Binder::Lambda && self.interner.name(name) == "minimal";
        variables.iter().rev().try_fold(body, |body, &pattern| {
            if !is_applied && (self.is_variable(pattern) || binder == Binder::Lambda) {
                return self.abstraction(binder, pattern, body);
            }
            let function = self.abstraction(Binder::Lambda, pattern, body)?;
            let head = self.push(Node::Constant(name))?;
            Ok(self.apply(head, function))
        })
    }

    /// A binder around its body. `\(x,y). t` is `GABS (\f. !x y. GEQ (f (x,y)) t)`.
    fn abstraction(&mut self, binder: Binder, pattern: Id, body: Id) -> Result<Id, Fault> {
        let (mut inner, mut ty) = (pattern, None);
        while let Node::Typed(term, annotation) = self.out.nodes[inner.index()] {
            (inner, ty) = (term, ty.or(Some(annotation)));
        }
        if let Node::Name(name) | Node::Variable(name) = self.out.nodes[inner.index()] {
            return self.push(Node::Bind(binder, name, ty, body));
        }
        let variables = self.free_names(pattern)?;
        let mut taken = self.free_names(body)?;
        taken.extend(&variables);
        let function = self.fresh("f", &taken);
        let occurrence = self.push(Node::Variable(function))?;
        let applied = self.apply(occurrence, pattern);
        let mut equation = self.call("GEQ", &[applied, body])?;
        for name in variables.into_iter().rev() {
            equation = self.push(Node::Bind(Binder::Forall, name, None, equation))?;
        }
        let choice = self.push(Node::Bind(Binder::Lambda, function, None, equation))?;
        self.call("GABS", &[choice])
    }

    fn is_variable(&self, mut pattern: Id) -> bool {
        while let Node::Typed(term, _) = self.out.nodes[pattern.index()] {
            pattern = term;
        }
        matches!(self.out.nodes[pattern.index()], Node::Name(_) | Node::Variable(_))
    }

    /// A bound pattern: a variable or a tuple of variables, with or without types.
    pub(super) fn check_pattern(&self, pattern: Id) -> Result<(), Fault> {
        let mut pending = vec![pattern];
        while let Some(id) = pending.pop() {
            match self.out.nodes[id.index()] {
                Node::Name(_) | Node::Variable(_) => {}
                Node::Typed(term, _) => pending.push(term),
                Node::Apply(function, right) => match self.out.nodes[function.index()] {
                    Node::Apply(comma, left) if self.is_comma(comma) => pending.extend([left, right]),
                    _ => return Err(self.fault("a variable or a tuple of variables")),
                },
                _ => return Err(self.fault("a variable or a tuple of variables")),
            }
        }
        Ok(())
    }

    fn is_comma(&self, id: Id) -> bool {
        matches!(self.out.nodes[id.index()], Node::Name(name) | Node::Constant(name) if name == Symbol::COMMA)
    }

    /// A name that is not taken: the wish, primed as often as needed.
    pub(super) fn fresh(&mut self, wish: &str, taken: &[Symbol]) -> Symbol {
        let mut name = wish.to_owned();
        loop {
            let symbol = self.interner.intern(&name);
            if !taken.contains(&symbol) {
                return symbol;
            }
            name.push('\'');
        }
    }

    /// The unbound names of a term that are variables, in HOL Light's order: that of their last occurrences.
    pub(super) fn free_names(&mut self, term: Id) -> Result<Vec<Symbol>, Fault> {
        enum Step {
            Enter(Id),
            Leave(Symbol),
        }
        let mut bound: HashMap<Symbol, usize> = HashMap::new();
        let mut found: Vec<Symbol> = Vec::new();
        let mut known: HashMap<Symbol, bool> = HashMap::new();
        let mut pending = vec![Step::Enter(term)];
        while let Some(step) = pending.pop() {
            self.work += 1;
            if self.work > 64 * self.limits.nodes {
                return Err(self.fault("fewer nested sets and tuples"));
            }
            let id = match step {
                Step::Leave(name) => {
                    bound.entry(name).and_modify(|count| *count -= 1);
                    continue;
                }
                Step::Enter(id) => id,
            };
            match self.out.nodes[id.index()] {
                Node::Constant(_) => {}
                node @ (Node::Name(name) | Node::Variable(name)) => {
                    let is_bound = bound.get(&name).is_some_and(|&count| count > 0);
                    let is_constant =
                        || matches!(node, Node::Name(_)) && self.names.is_constant(self.interner.name(name));
                    if !is_bound && !*known.entry(name).or_insert_with(is_constant) {
                        known.insert(name, true);
                        found.push(name);
                    }
                }
                // The stack is last in, first out: the right part is looked at first.
                Node::Apply(function, argument) => {
                    pending.extend([Step::Enter(function), Step::Enter(argument)]);
                }
                Node::Bind(_, name, _, body) => {
                    *bound.entry(name).or_insert(0) += 1;
                    pending.extend([Step::Leave(name), Step::Enter(body)]);
                }
                Node::Typed(term, _) => pending.push(Step::Enter(term)),
            }
        }
        found.reverse();
        Ok(found)
    }
}

/// The bits of a decimal number, the lowest first.
fn binary(digits: &str) -> Vec<bool> {
    let mut limbs: Vec<u32> = Vec::new();
    for chunk in digits.as_bytes().chunks(9) {
        let (mut factor, mut carry) = (1u64, 0u64);
        for digit in chunk {
            carry = carry * 10 + u64::from(digit - b'0');
            factor *= 10;
        }
        for limb in &mut limbs {
            let value = u64::from(*limb) * factor + carry;
            *limb = value as u32;
            carry = value >> 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let mut bits: Vec<bool> =
        limbs.iter().flat_map(|limb| (0..32).map(move |i| limb >> i & 1 == 1)).collect();
    bits.truncate(bits.iter().rposition(|&bit| bit).map_or(0, |last| last + 1));
    bits
}

#[cfg(test)]
mod tests {
    use super::binary;

    #[test]
    fn numbers_become_bits() {
        let check = |digits: &str, bits: &str| {
            let found: String = binary(digits).iter().rev().map(|&b| if b { '1' } else { '0' }).collect();
            assert_eq!(found, bits, "{digits}");
        };
        check("0", "");
        check("000", "");
        check("1", "1");
        check("12", "1100");
        check("4294967296", &format!("1{}", "0".repeat(32)));
        check("340282366920938463463374607431768211456", &format!("1{}", "0".repeat(128)));
    }
}
