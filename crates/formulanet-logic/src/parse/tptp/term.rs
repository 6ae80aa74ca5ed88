//! The tokens of one TPTP formula to a [`Formula`].
//!
//! A machine with an explicit stack: what is open (brackets, arguments, prefixes, left operands) lies in
//! [`Frame`]s, so that a million nested brackets take memory on the heap and end at [`Limits::depth`].
//!
//! How tightly things bind is that of the TPTP grammar: equations, then `~` and quantifiers, then chains of one
//! of `&` and `|`, or one other connective. Where tools disagree about a text without brackets (`f @ a = b`,
//! `~ p @ a`), brackets are demanded.
//!
//! The body of a binder is one unit, so that `@` after it applies the binder: `^ [X] : ( f @ X ) @ a` is `f @ a`.
//!
//! [`Limits::depth`]: crate::Limits::depth

use crate::error::ParseError;
use crate::formula::{Binder, Formula, TermId, VarId};
use crate::limits::Limit;
use crate::symbol::{Interner, Symbol};

use super::lex::{Kind, Lexer};
use super::{Language, Parser};

/// The binding of a name in the formula with the given stamp.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    stamp: u32,
    var: VarId,
}

impl Binding {
    pub(super) const NONE: Binding = Binding { stamp: 0, var: VarId(0) };
}

/// Something that waits for the operand that is being read.
#[derive(Clone, Copy)]
pub(super) enum Frame {
    /// `(`
    Group,
    /// `f(` and the arguments so far
    Arguments { function: TermId },
    /// `~`
    Not,
    /// A binder of one variable, and what its name was bound to before.
    Binder { var: VarId, name: Symbol, before: Binding },
    /// `left =` or `left !=`
    Equation { left: TermId, negated: bool },
    /// `function @`
    Apply { function: TermId },
    /// `left` and a connective
    Binary { left: TermId, connective: Kind },
}

/// The kind of the last operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A name, perhaps with arguments: a formula or a term.
    Atom,
    /// A variable, number or distinct object: only a term.
    Value,
    /// Something in brackets: only a formula.
    Group,
}

/// The context before an operand: whether `@` may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefixes {
    None,
    /// Binders alone, the outermost a quantifier: a formula, which can be an argument.
    Quantifier,
    /// Binders alone, the outermost `^` or a choice: a value, which can be an argument or a function.
    Abstraction,
    /// `~` or an equation.
    Others,
}

/// The next step after an operand.
enum Next {
    /// The next operand.
    Operand,
    /// A connective after this larger operand.
    After(TermId, Shape),
    /// Nothing: this is the whole formula.
    Done(TermId),
}

pub(super) struct Machine<'r, 't> {
    pub(super) parser: &'r mut Parser,
    pub(super) lexer: &'r mut Lexer<'t>,
    pub(super) names: &'r mut Interner,
    pub(super) formula: &'r mut Formula,
    pub(super) language: Language,
}

impl Machine<'_, '_> {
    /// Reads a formula up to the first token that cannot be part of it.
    pub(super) fn run(&mut self) -> Result<(), ParseError> {
        self.parser.frames.clear();
        if self.parser.stamp == u32::MAX {
            self.parser.bindings.clear();
            self.parser.stamp = 0;
        }
        self.parser.stamp += 1;
        loop {
            self.check_size()?;
            let Some((mut term, mut shape)) = self.operand()? else { continue };
            loop {
                match self.after(term, shape)? {
                    Next::Operand => break,
                    Next::After(larger, its_shape) => (term, shape) = (larger, its_shape),
                    Next::Done(whole) => {
                        self.formula.push(whole);
                        return self.check_size();
                    }
                }
            }
        }
    }

    #[inline]
    fn check_size(&self) -> Result<(), ParseError> {
        let limit = self.parser.limits.nodes;
        if self.formula.len() > limit {
            return self.lexer.over(Limit::Nodes, limit, "nodes");
        }
        Ok(())
    }

    /// Whether terms and formulas are different things.
    #[inline]
    fn is_first_order(&self) -> bool {
        matches!(self.language, Language::Fof | Language::Cnf)
    }

    #[inline]
    fn push(&mut self, frame: Frame) -> Result<(), ParseError> {
        let limit = self.parser.limits.depth;
        if self.parser.frames.len() >= limit {
            return self.lexer.over(Limit::Depth, limit, "nested brackets and binders");
        }
        self.parser.frames.push(frame);
        Ok(())
    }

    /// Reads the beginning of an operand: all of it, or something that waits for another operand.
    #[inline]
    fn operand(&mut self) -> Result<Option<(TermId, Shape)>, ParseError> {
        let (term, shape) = match self.lexer.token.kind {
            Kind::Upper => {
                let name = self.lexer.intern(self.names);
                let var = self.resolve(name);
                (self.formula.variable(var), Shape::Value)
            }
            Kind::Lower | Kind::Quoted | Kind::Dollar => {
                let name = self.constant()?;
                let function = self.formula.constant(name);
                self.lexer.advance()?;
                if self.lexer.token.kind != Kind::Open {
                    return Ok(Some((function, Shape::Atom)));
                }
                self.push(Frame::Arguments { function })?;
                self.lexer.advance()?;
                return Ok(None);
            }
            Kind::Number | Kind::Distinct => {
                let name = self.lexer.intern(self.names);
                (self.formula.constant(name), Shape::Value)
            }
            _ => return self.prefix(),
        };
        self.lexer.advance()?;
        Ok(Some((term, shape)))
    }

    /// An operand that begins with a symbol.
    fn prefix(&mut self) -> Result<Option<(TermId, Shape)>, ParseError> {
        let top = self.parser.frames.last();
        if self.is_first_order() && matches!(top, Some(Frame::Arguments { .. } | Frame::Equation { .. })) {
            return self.lexer.unexpected("a term");
        }
        let typed = !self.is_first_order();
        let higher_order = self.language == Language::Thf;
        let binder = match self.lexer.token.kind {
            Kind::Open => {
                self.push(Frame::Group)?;
                self.lexer.advance()?;
                return Ok(None);
            }
            Kind::Not => {
                self.lexer.advance()?;
                if higher_order && matches!(self.lexer.token.kind, Kind::Close | Kind::At) {
                    return Ok(Some((self.formula.constant(Symbol::NOT), Shape::Atom)));
                }
                self.push(Frame::Not)?;
                return Ok(None);
            }
            Kind::Forall if self.language != Language::Cnf => Binder::Forall,
            Kind::Exists if self.language != Language::Cnf => Binder::Exists,
            Kind::TypeForall if typed => Binder::Forall,
            Kind::TypeExists if typed => Binder::Exists,
            Kind::Lambda if higher_order => Binder::Lambda,
            Kind::Choice | Kind::Description if higher_order => Binder::Choice,
            _ if higher_order => return self.connective_as_constant().map(Some),
            _ => return self.lexer.unexpected("a formula"),
        };
        self.variables(binder)?;
        Ok(None)
    }

    /// A connective that is not applied, as in `(&) @ p @ q`.
    fn connective_as_constant(&mut self) -> Result<(TermId, Shape), ParseError> {
        let name = match self.lexer.token.kind {
            Kind::And => Symbol::AND,
            Kind::Or => Symbol::OR,
            Kind::Implies => Symbol::IMPLIES,
            Kind::Iff | Kind::Equal | Kind::EqualConstant => Symbol::EQUAL,
            Kind::ForallConstant => Symbol::FORALL,
            Kind::ExistsConstant => Symbol::EXISTS,
            Kind::ChoiceConstant => Symbol::CHOICE,
            _ => return self.lexer.unexpected("a formula"),
        };
        self.lexer.advance()?;
        if !matches!(self.lexer.token.kind, Kind::Close | Kind::At) {
            return self.lexer.unexpected("`)` or `@` after a connective without operands");
        }
        Ok((self.formula.constant(name), Shape::Atom))
    }

    /// The name of the constant that the token stands for.
    #[inline]
    fn constant(&mut self) -> Result<Symbol, ParseError> {
        match self.lexer.token.kind {
            Kind::Lower => Ok(self.lexer.intern(self.names)),
            Kind::Quoted => Ok(self.names.intern(&self.lexer.content())),
            _ => match self.lexer.word() {
                "$true" => Ok(Symbol::TRUE),
                "$false" => Ok(Symbol::FALSE),
                "$ite" | "$ite_f" | "$ite_t" => Ok(self.names.intern("COND")),
                "$let" | "$let_tt" | "$let_tf" | "$let_ft" | "$let_ff" => {
                    self.lexer.unexpected("a formula without local definitions")
                }
                word => Ok(self.names.intern(word)),
            },
        }
    }

    /// The variable that a name stands for here; a name that nothing binds is one free variable.
    #[inline]
    fn resolve(&mut self, name: Symbol) -> VarId {
        let stamp = self.parser.stamp;
        let binding = self.binding(name);
        if binding.stamp == stamp {
            return binding.var;
        }
        let var = self.formula.free(name);
        *self.binding(name) = Binding { stamp, var };
        var
    }

    #[inline]
    fn binding(&mut self, name: Symbol) -> &mut Binding {
        if self.parser.bindings.len() <= name.index() {
            self.parser.bindings.resize(self.names.len(), Binding::NONE);
        }
        &mut self.parser.bindings[name.index()]
    }

    /// A binder with its variables: `! [X, Y: t] :`.
    fn variables(&mut self, binder: Binder) -> Result<(), ParseError> {
        self.lexer.advance()?;
        self.lexer.expect(Kind::OpenBracket, "`[` after a binder")?;
        loop {
            if self.lexer.token.kind != Kind::Upper {
                return self.lexer.unexpected("a variable");
            }
            let name = self.lexer.intern(self.names);
            let var = self.formula.bind(binder, name);
            let bound = Binding { stamp: self.parser.stamp, var };
            let before = std::mem::replace(self.binding(name), bound);
            self.push(Frame::Binder { var, name, before })?;
            self.lexer.advance()?;
            if self.lexer.token.kind == Kind::Colon && !self.is_first_order() {
                self.lexer.advance()?;
                self.parser.skip(self.lexer, "a type")?;
            }
            match self.lexer.token.kind {
                Kind::Comma => self.lexer.advance()?,
                Kind::CloseBracket => break,
                _ => return self.lexer.unexpected("`,` or `]` after a variable"),
            }
        }
        self.lexer.advance()?;
        self.lexer.expect(Kind::Colon, "`:` after the variables of a binder")
    }

    /// Decides what to do with an operand by the token that follows it.
    #[inline]
    fn after(&mut self, mut term: TermId, shape: Shape) -> Result<Next, ParseError> {
        let first_order = self.is_first_order();
        if first_order && matches!(self.parser.frames.last(), Some(Frame::Arguments { .. })) {
            return self.close(term);
        }
        let kind = self.lexer.token.kind;
        if matches!(kind, Kind::Equal | Kind::NotEqual) && !(first_order && shape == Shape::Group) {
            match self.parser.frames.last() {
                Some(Frame::Equation { .. }) => return self.lexer.unexpected("brackets around an equation"),
                Some(Frame::Apply { .. }) => return self.lexer.unexpected("brackets around an application"),
                _ => {}
            }
            self.push(Frame::Equation { left: term, negated: kind == Kind::NotEqual })?;
            self.lexer.advance()?;
            return Ok(Next::Operand);
        }
        let in_equation = matches!(self.parser.frames.last(), Some(Frame::Equation { .. }));
        if first_order && shape == Shape::Value && !in_equation {
            return self.lexer.unexpected("`=` or `!=` after a term");
        }
        let applies = kind == Kind::At && self.language == Language::Thf;
        let prefixes;
        (term, prefixes) = self.reduce_prefixes(term);
        if let Some(&Frame::Apply { function }) = self.parser.frames.last() {
            self.parser.frames.pop();
            self.formula.apply(function, term);
            if applies && prefixes == Prefixes::Others {
                return self.lexer.unexpected("brackets around an operand of `@`");
            }
            term = function;
        } else if applies && !matches!(prefixes, Prefixes::None | Prefixes::Abstraction) {
            return self.lexer.unexpected("brackets around what `@` applies");
        }
        if applies {
            self.push(Frame::Apply { function: term })?;
            self.lexer.advance()?;
            return Ok(Next::Operand);
        }
        if self.is_connective(kind) {
            return self.connective(term, kind);
        }
        while let Some(&Frame::Binary { left, connective }) = self.parser.frames.last() {
            self.parser.frames.pop();
            term = self.combine(connective, left, term);
        }
        self.close(term)
    }

    /// Applies the equation and the prefixes that wait for an operand, and says which there were.
    #[inline]
    fn reduce_prefixes(&mut self, mut term: TermId) -> (TermId, Prefixes) {
        let mut prefixes = Prefixes::None;
        while let Some(&frame) = self.parser.frames.last() {
            term = match frame {
                Frame::Not => {
                    prefixes = Prefixes::Others;
                    self.not(term)
                }
                Frame::Binder { var, name, before } => {
                    *self.binding(name) = before;
                    prefixes = match (prefixes, self.formula.variables()[var.index()].binder) {
                        (Prefixes::Others, _) => Prefixes::Others,
                        (_, Some(Binder::Forall | Binder::Exists)) => Prefixes::Quantifier,
                        _ => Prefixes::Abstraction,
                    };
                    self.formula.abstraction(var, term)
                }
                Frame::Equation { left, negated } => {
                    prefixes = Prefixes::Others;
                    let equation = self.binary(Symbol::EQUAL, left, term);
                    if negated { self.not(equation) } else { equation }
                }
                _ => break,
            };
            self.parser.frames.pop();
        }
        (term, prefixes)
    }

    /// A connective after its left operand: of several equal ones, `&` and `|` group to the left.
    fn connective(&mut self, term: TermId, kind: Kind) -> Result<Next, ParseError> {
        let mut left = term;
        if let Some(&Frame::Binary { left: first, connective }) = self.parser.frames.last() {
            match kind {
                _ if kind != connective => {
                    return self.lexer.unexpected("brackets between different connectives");
                }
                Kind::And | Kind::Or | Kind::Star => {
                    self.parser.frames.pop();
                    left = self.combine(kind, first, term);
                }
                // A function type groups to the right, so its frames wait.
                Kind::Arrow => {}
                _ => {
                    return self.lexer.unexpected("brackets, because this connective is not associative");
                }
            }
        }
        self.push(Frame::Binary { left, connective: kind })?;
        self.lexer.advance()?;
        Ok(Next::Operand)
    }

    /// The end of what a bracket opened.
    #[inline]
    fn close(&mut self, term: TermId) -> Result<Next, ParseError> {
        let kind = self.lexer.token.kind;
        match self.parser.frames.last() {
            Some(&Frame::Arguments { function }) => {
                self.formula.apply(function, term);
                if kind == Kind::Comma {
                    self.lexer.advance()?;
                    return Ok(Next::Operand);
                }
                if kind != Kind::Close {
                    return self.lexer.unexpected("`)` or `,` after an argument");
                }
                self.parser.frames.pop();
                self.lexer.advance()?;
                Ok(Next::After(function, Shape::Atom))
            }
            Some(_) => {
                self.lexer.expect(Kind::Close, "`)` or a connective")?;
                self.parser.frames.pop();
                Ok(Next::After(term, Shape::Group))
            }
            None => Ok(Next::Done(term)),
        }
    }

    /// Whether a token joins two formulas (or types, which polymorphic formulas have as arguments).
    #[inline]
    fn is_connective(&self, kind: Kind) -> bool {
        match kind {
            Kind::Or => true,
            Kind::And | Kind::Implies | Kind::ImpliedBy | Kind::Iff => self.language != Language::Cnf,
            Kind::Xor | Kind::Nor | Kind::Nand => self.language != Language::Cnf,
            Kind::Arrow | Kind::Star => !self.is_first_order(),
            _ => false,
        }
    }

    fn combine(&mut self, connective: Kind, left: TermId, right: TermId) -> TermId {
        match connective {
            Kind::And => self.binary(Symbol::AND, left, right),
            Kind::Or => self.binary(Symbol::OR, left, right),
            Kind::Implies => self.binary(Symbol::IMPLIES, left, right),
            Kind::ImpliedBy => self.binary(Symbol::IMPLIES, right, left),
            Kind::Xor => {
                let equivalence = self.equivalence(left, right);
                self.not(equivalence)
            }
            Kind::Nor => {
                let disjunction = self.binary(Symbol::OR, left, right);
                self.not(disjunction)
            }
            Kind::Nand => {
                let conjunction = self.binary(Symbol::AND, left, right);
                self.not(conjunction)
            }
            // The names of HOL Light's type constructors.
            Kind::Arrow | Kind::Star => {
                let name = self.names.intern(if connective == Kind::Arrow { "fun" } else { "prod" });
                self.binary(name, left, right)
            }
            _ => self.equivalence(left, right),
        }
    }

    fn equivalence(&mut self, left: TermId, right: TermId) -> TermId {
        let term = self.binary(Symbol::EQUAL, left, right);
        self.formula.mark_equivalence();
        term
    }

    #[inline]
    fn binary(&mut self, name: Symbol, left: TermId, right: TermId) -> TermId {
        let head = self.formula.constant(name);
        self.formula.apply(head, left);
        self.formula.apply(head, right)
    }

    #[inline]
    fn not(&mut self, term: TermId) -> TermId {
        let head = self.formula.constant(Symbol::NOT);
        self.formula.apply(head, term)
    }
}
