//! The syntax of types: annotations in formulas, and the types of known constants in [`super::signature`].

use std::collections::HashMap;

use super::Fault;
use super::lex::{Kind, Token};
use super::types::{Constructor, Type, Types};
use crate::error::quoted;

/// Types are short; a limit of their own lets their parser be an ordinary recursive one.
const MAX_DEPTH: usize = 64;

/// Reads one type from the tokens at `at`, which is moved past it.
///
/// With `variables`, a name in capitals is a type variable that may become anything; without, it is a type of
/// which nothing is known.
pub(super) fn parse(
    text: &str,
    tokens: &[Token],
    at: &mut usize,
    types: &mut Types,
    variables: Option<&mut HashMap<String, Type>>,
) -> Result<Type, Fault> {
    let mut parser = Parser { text, tokens, at: *at, types, variables, depth: 0, brackets: 0 };
    let ty = parser.function();
    *at = parser.at;
    ty
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    types: &'a mut Types,
    variables: Option<&'a mut HashMap<String, Type>>,
    depth: usize,
    /// Brackets of the type itself that are open.
    brackets: usize,
}

impl<'a> Parser<'a> {
    /// Type operators from the weakest: `->`, `+` and `#` group to the right, `^` to the left.
    fn function(&mut self) -> Result<Type, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault("a type that is nested less deeply"));
        }
        self.depth += 1;
        let mut ty = self.sum()?;
        if self.skip("->") {
            let to = self.function()?;
            ty = self.types.function(ty, to);
        }
        self.depth -= 1;
        Ok(ty)
    }

    fn sum(&mut self) -> Result<Type, Fault> {
        let mut ty = self.product()?;
        while self.skip("+") {
            self.product()?;
            ty = self.types.by_name("sum");
        }
        Ok(ty)
    }

    fn product(&mut self) -> Result<Type, Fault> {
        let mut parts = vec![self.power()?];
        while self.skip("#") {
            parts.push(self.power()?);
        }
        let last = parts.pop().expect("one part was read");
        let pair = |right, left| self.types.build(Constructor::Product, [Some(left), Some(right)]);
        Ok(parts.into_iter().rev().fold(last, pair))
    }

    fn power(&mut self) -> Result<Type, Fault> {
        let mut ty = self.applied()?;
        while self.skip("^") {
            let index = self.applied()?;
            ty = self.types.build(Constructor::Cartesian, [Some(ty), Some(index)]);
        }
        Ok(ty)
    }

    /// `A list`, `(A,B)dict`
    fn applied(&mut self) -> Result<Type, Fault> {
        let mut ty = self.atomic()?;
        // Behind a type whose end cannot be seen, as in `!x:real y. p`, an unknown word is a variable.
        let is_closed = self.brackets > 0 || self.is_before_more_type();
        while let Some(name) = self.peek(Kind::Word).filter(|name| is_type_constructor(name) || is_closed) {
            ty = match name {
                "list" => self.types.build(Constructor::List, [Some(ty), None]),
                name => self.types.by_name(name),
            };
            self.at += 1;
        }
        Ok(ty)
    }

    fn atomic(&mut self) -> Result<Type, Fault> {
        // HOL Light calls the type variables that it invents `?123`.
        if self.peek(Kind::Symbol) == Some("?") {
            self.at += 1;
            let Some(number) = self.peek(Kind::Number) else {
                return Err(self.fault("a number after the `?` of a type"));
            };
            self.at += 1;
            return Ok(self.types.by_name(&format!("?{number}")));
        }
        if let Some(name) = self.peek(Kind::Word).or(self.peek(Kind::Number)) {
            let ty = match &mut self.variables {
                Some(variables) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    *variables.entry(name.to_owned()).or_insert_with(|| self.types.unknown())
                }
                _ => self.types.by_name(name),
            };
            self.at += 1;
            return Ok(ty);
        }
        if !self.skip("(") {
            return Err(self.fault("a type"));
        }
        self.brackets += 1;
        let mut ty = self.function()?;
        while self.skip(",") {
            self.function()?;
            ty = self.types.unknown();
        }
        self.brackets -= 1;
        if self.skip(")") { Ok(ty) } else { Err(self.fault("`)` in a type")) }
    }

    /// Whether what follows the words here shows that they are part of a type: `(x:A tree)`, `f:A tree->B`.
    fn is_before_more_type(&self) -> bool {
        let next = self.tokens[self.at..].iter().find(|token| token.kind != Kind::Word);
        let next = next.map(|token| token.text(self.text));
        next.is_some_and(|next| matches!(next, ")" | "->" | "#" | "^" | "+"))
    }

    fn skip(&mut self, symbol: &str) -> bool {
        let is_there = self.peek(Kind::Symbol) == Some(symbol);
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self, kind: Kind) -> Option<&'a str> {
        self.tokens.get(self.at).filter(|token| token.kind == kind).map(|token| token.text(self.text))
    }

    fn fault(&self, expected: &str) -> Fault {
        match self.tokens.get(self.at) {
            Some(token) => Fault::new(token.start, expected, quoted(token.text(self.text))),
            None => Fault::new(self.text.trim_end().len(), expected, "the end of the formula"),
        }
    }
}

/// Type constructors of one or more arguments in HOL Light's libraries.
fn is_type_constructor(name: &str) -> bool {
    const CONSTRUCTORS: &str = "list option net topology metric finite_image finite_sum finite_diff finite_prod \
                                hypermap tybit0 tybit1 recspace word group ring multivector stream";
    CONSTRUCTORS.split_whitespace().any(|constructor| constructor == name)
}
