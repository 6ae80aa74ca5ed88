//! Tokens to terms whose names mean nothing yet.
//!
//! HOL Light's grammar, with a stack of open contexts (a bracket, the body of a binder, a branch of `if`) in place
//! of recursion. A context without a closing token of its own, such as a binder's body, ends where its
//! surroundings do.

mod clauses;
mod context;
mod operators;
mod sugar;

use self::clauses::Clauses;
use self::operators::Operator;
use super::lex::{Kind, Token};
use super::types::{Constructor, Type, Types};
use super::{Fault, type_syntax};
use crate::error::quoted;
use crate::formula::Binder;
use crate::limits::{Limit, Limits};
use crate::names::Names;
use crate::symbol::{Interner, Symbol};
use crate::syntax;

/// A term; its parts always have smaller numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Id(u32);

impl Id {
    pub(super) fn new(index: usize) -> Self {
        Id(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// A name that is a constant or a variable, depending on where it stands.
    Name(Symbol),
    Constant(Symbol),
    Variable(Symbol),
    Apply(Id, Id),
    Bind(Binder, Symbol, Option<Type>, Id),
    Typed(Id, Type),
}

/// The parts of a sequent as terms.
pub(super) struct Preterms {
    pub(super) nodes: Vec<Node>,
    pub(super) types: Types,
    pub(super) parts: Vec<Id>,
}

/// Reads the tokens of a formula or sequent.
pub(super) fn parse(
    text: &str,
    tokens: &[Token],
    limits: &Limits,
    names: &Names,
    interner: &mut Interner,
) -> Result<Preterms, Fault> {
    let mut parser = Parser {
        text,
        tokens,
        limits,
        names,
        interner,
        at: 0,
        out: Preterms { nodes: Vec::new(), types: Types::default(), parts: Vec::new() },
        contexts: Vec::new(),
        operators: Vec::new(),
        tight: Vec::new(),
        atoms: 0,
        work: 0,
    };
    parser.run()?;
    Ok(parser.out)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    limits: &'a Limits,
    names: &'a Names,
    interner: &'a mut Interner,
    /// The token that is looked at.
    at: usize,
    out: Preterms,
    contexts: Vec<Context>,
    operators: Vec<Operator>,
    /// Prefixes that apply to the next atom alone.
    tight: Vec<Symbol>,
    atoms: usize,
    /// Steps spent on looking for the variables of set comprehensions.
    work: usize,
}

/// An open construct and the parts collected so far.
enum Open {
    Sequent,
    Bracket,
    List(Vec<Id>),
    Set(Vec<Id>),
    /// `{pattern | ...`
    SetCondition(Id),
    /// `{pattern | variables | ...`
    SetVariables(Id, Id),
    If,
    Then(Id),
    Else(Id, Id),
    BinderVariables(Quantifier, Vec<Id>),
    BinderBody(Quantifier, Vec<Id>),
    LetPattern(Vec<(Id, Id)>),
    LetValue(Vec<(Id, Id)>, Id),
    LetBody(Vec<(Id, Id)>),
    /// `match ...`, what is matched.
    Match,
    /// `... with ...` or `| ...`
    ClausePattern(Clauses),
    ClauseGuard(Clauses, Id),
    ClauseResult(Clauses, Id, Option<Id>),
}

#[derive(Clone, Copy)]
struct Quantifier {
    binder: Binder,
    name: Symbol,
}

struct Context {
    open: Open,
    /// The application that is being read: `f a b`.
    application: Option<Id>,
    /// The number of its atoms.
    length: usize,
    /// Whether a type follows it, so that no further argument can.
    is_typed: bool,
    /// Whether a comma separates here; elsewhere it makes a pair.
    comma_separates: bool,
    operators: usize,
    tight: usize,
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), Fault> {
        let has_turnstile = self.find_turnstile()?;
        self.open(Open::Sequent, has_turnstile)?;
        while self.at < self.tokens.len() {
            self.token()?;
        }
        self.close_implicit()?;
        let Open::Sequent = self.context().open else {
            return Err(self.fault(self.expectation()));
        };
        let conclusion = self.finish()?;
        self.out.parts.push(conclusion);
        Ok(())
    }

    /// Whether a turnstile stands outside of all brackets.
    fn find_turnstile(&self) -> Result<bool, Fault> {
        let (mut at, mut found) = (0, false);
        while let Some(token) = self.tokens.get(at) {
            if matches!(token.text(self.text), "|-" | "?-") && token.kind == Kind::Symbol {
                if found {
                    return Err(Fault::new(token.start, "one turnstile", "another"));
                }
                found = true;
            }
            at = at.max(token.closing as usize) + 1;
        }
        Ok(found)
    }

    fn token(&mut self) -> Result<(), Fault> {
        let token = self.tokens[self.at];
        let text = token.text(self.text);
        match token.kind {
            Kind::QuotedConstant | Kind::QuotedVariable => {
                let name = self.interner.intern(&token.name(self.text));
                let constant = token.kind == Kind::QuotedConstant;
                self.leaf(if constant { Node::Constant(name) } else { Node::Variable(name) })
            }
            Kind::Number => {
                let numeral = self.numeral(text)?;
                self.read_atom(numeral)
            }
            Kind::Word => self.word(text),
            Kind::Symbol => self.symbol(text),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        match word {
            "if" => self.open_after(Open::If),
            "let" => self.open_after(Open::LetPattern(Vec::new())),
            "match" => self.open_after(Open::Match),
            "function" => self.open_after(Open::ClausePattern(Clauses::of_function())),
            "then" | "else" | "in" | "and" | "with" | "when" => self.terminator(word),
            _ if self.expects_variables() => self.name(word),
            "lambda" | "minimal" if self.is_binder_here() => {
                // HolStep has no constant `lambda`: there it is the abstraction itself.
                let name = if word == "minimal" { word } else { "\\" };
                let quantifier = self.quantifier(name, Binder::Lambda);
                self.open_after(Open::BinderVariables(quantifier, Vec::new()))
            }
            // HolStep writes the binder and its variable as one word.
            _ if word.starts_with("lambda") && word.len() > 6 && self.peek(1) == Some(".") => {
                let name = self.interner.intern(&word[6..]);
                let variable = self.push(Node::Variable(name))?;
                let quantifier = self.quantifier("\\", Binder::Lambda);
                self.at += 1;
                self.open_after(Open::BinderBody(quantifier, vec![variable]))
            }
            _ if syntax::infix(word).is_some() => self.infix(word),
            _ => self.name(word),
        }
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), Fault> {
        match symbol {
            "(" => match (self.peek(1), self.peek(2)) {
                (Some(":"), _) => self.universe(),
                (Some(operator), Some(")")) if syntax::is_operator(operator) => {
                    self.at += 1;
                    self.name(operator)?;
                    self.at += 1;
                    Ok(())
                }
                _ => self.open_after(Open::Bracket),
            },
            "[" => self.open_after(Open::List(Vec::new())),
            "{" => self.open_after(Open::Set(Vec::new())),
            ":" => self.annotation(),
            "," if !self.context().comma_separates => self.infix(","),
            ")" | "]" | "}" | ";" | "," | "|" | "." | "|-" | "?-" | "->" => self.terminator(symbol),
            "#" => self.decimal(),
            "&" => self.push_tight(symbol),
            _ if syntax::is_prefix(symbol) => self.prefix(symbol),
            _ if syntax::is_binder(symbol) => self.binder(symbol),
            _ if syntax::infix(symbol).is_some() => self.infix(symbol),
            _ => self.name(symbol),
        }
    }

    fn name(&mut self, name: &str) -> Result<(), Fault> {
        let name = self.interner.intern(name);
        self.leaf(Node::Name(name))
    }

    fn leaf(&mut self, node: Node) -> Result<(), Fault> {
        let id = self.push(node)?;
        self.read_atom(id)
    }

    /// Takes in an atom that ends with the current token.
    fn read_atom(&mut self, atom: Id) -> Result<(), Fault> {
        self.atom(atom)?;
        self.at += 1;
        Ok(())
    }

    /// Takes in an atom: the head of an application or an argument.
    fn atom(&mut self, mut atom: Id) -> Result<(), Fault> {
        let base = self.context().tight;
        while self.tight.len() > base {
            let prefix = self.tight.pop().expect("longer than its base");
            let prefix = self.push(Node::Name(prefix))?;
            atom = self.apply(prefix, atom);
        }
        if self.context().is_typed {
            return Err(self.fault("an operator or the end of the term after a type"));
        }
        if matches!(self.context().open, Open::BinderVariables(..) | Open::LetPattern(_)) {
            self.check_pattern(atom)?;
        }
        let context = self.contexts.last_mut().expect("the sequent is always open");
        match &mut context.open {
            Open::BinderVariables(_, variables) => {
                variables.push(atom);
                return Ok(());
            }
            Open::LetPattern(_) if context.application.is_some() => {
                return Err(self.fault("`=` after the variable of `let`"));
            }
            _ => {}
        }
        context.length += 1;
        let application = match context.application {
            Some(function) => self.apply(function, atom),
            None => atom,
        };
        self.context_mut().application = Some(application);
        Ok(())
    }

    fn expects_variables(&self) -> bool {
        matches!(self.context().open, Open::BinderVariables(..) | Open::LetPattern(_))
    }

    fn binder(&mut self, name: &str) -> Result<(), Fault> {
        if self.expects_variables() {
            return Err(self.fault("a variable"));
        }
        if !self.is_binder_here() {
            // `(? P)`: the binder as an ordinary function.
            let trails = self.context().length == 1 && self.is_before_bracket();
            return if self.previous() == Some("(") || trails {
                self.name(name)
            } else {
                self.at += 1;
                Err(self.fault("variables and `.` after a binder"))
            };
        }
        let binder = match name {
            "!" => Binder::Forall,
            "?" => Binder::Exists,
            "?!" => Binder::ExistsUnique,
            "@" => Binder::Choice,
            _ => Binder::Lambda,
        };
        let quantifier = self.quantifier(name, binder);
        self.open_after(Open::BinderVariables(quantifier, Vec::new()))
    }

    fn quantifier(&mut self, name: &str, binder: Binder) -> Quantifier {
        Quantifier { binder, name: self.interner.intern(name) }
    }

    /// Whether variables and a dot follow the current token.
    fn is_binder_here(&self) -> bool {
        let mut at = self.at + 1;
        while let Some(token) = self.tokens.get(at) {
            let text = token.text(self.text);
            match (token.kind, text) {
                (Kind::Symbol, ".") => return at > self.at + 1,
                (Kind::Symbol, "(") if token.closing > 0 => at = token.closing as usize,
                (Kind::Symbol, ":" | "->" | "#" | "^" | "+") => {}
                // HolStep has variables such as `<<` and `<<<`.
                (Kind::Symbol, name)
                    if at == self.at + 1
                        && (syntax::infix(name).is_some() || syntax::is_identifier(name)) => {}
                (Kind::Symbol, _) | (Kind::QuotedConstant, _) => return false,
                (Kind::Word, word) if syntax::is_reserved(word) => return false,
                _ => {}
            }
            at += 1;
        }
        false
    }

    fn parse_type(&mut self) -> Result<Type, Fault> {
        type_syntax::parse(self.text, self.tokens, &mut self.at, &mut self.out.types, None)
    }

    /// `: type` after a variable or an application.
    fn annotation(&mut self) -> Result<(), Fault> {
        let context = self.context();
        let is_variable =
            matches!(&context.open, Open::BinderVariables(_, variables) if !variables.is_empty());
        if !is_variable && (context.application.is_none() || context.is_typed) {
            return Err(self.fault(self.expectation()));
        }
        self.at += 1;
        let ty = self.parse_type()?;
        let context = self.contexts.last_mut().expect("the sequent is always open");
        if let Open::BinderVariables(_, variables) = &mut context.open {
            let variable = variables.last_mut().expect("looked at above");
            self.out.nodes.push(Node::Typed(*variable, ty));
            *variable = Id::new(self.out.nodes.len() - 1);
            return Ok(());
        }
        let term = self.operand()?;
        let typed = self.add(Node::Typed(term, ty));
        let context = self.context_mut();
        (context.application, context.length, context.is_typed) = (Some(typed), 1, true);
        Ok(())
    }

    /// `(:A)`, the set of everything of a type.
    fn universe(&mut self) -> Result<(), Fault> {
        self.at += 2;
        let element = self.parse_type()?;
        if self.peek(0) != Some(")") {
            return Err(self.fault("`)` after a type"));
        }
        let truth = self.out.types.base(Constructor::Bool);
        let ty = self.out.types.function(element, truth);
        let universe = self.interner.intern("UNIV");
        let universe = self.push(Node::Constant(universe))?;
        let typed = self.add(Node::Typed(universe, ty));
        self.read_atom(typed)
    }

    fn context(&self) -> &Context {
        self.contexts.last().expect("the sequent is always open")
    }

    fn context_mut(&mut self) -> &mut Context {
        self.contexts.last_mut().expect("the sequent is always open")
    }

    fn push(&mut self, node: Node) -> Result<Id, Fault> {
        self.atoms += 1;
        self.check_size(self.atoms)?;
        Ok(self.add(node))
    }

    fn check_size(&self, size: usize) -> Result<(), Fault> {
        if size > self.limits.nodes {
            return Err(Fault::over(self.offset(), Limit::Nodes, self.limits.nodes, "terms in a formula"));
        }
        Ok(())
    }

    fn add(&mut self, node: Node) -> Id {
        self.out.nodes.push(node);
        Id::new(self.out.nodes.len() - 1)
    }

    /// Does not count towards the limit, because a formula's terms are its names and binders.
    fn apply(&mut self, function: Id, argument: Id) -> Id {
        self.add(Node::Apply(function, argument))
    }

    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.tokens.get(self.at + ahead).map(|t| t.text(self.text))
    }

    /// Whether `)` follows the current token without a space: in `(a + )` a term was forgotten.
    fn is_before_bracket(&self) -> bool {
        self.peek(1) == Some(")") && self.tokens[self.at].end == self.tokens[self.at + 1].start
    }

    /// Whether what follows the current token can be an argument.
    fn is_before_atom(&self) -> bool {
        let Some(next) = self.tokens.get(self.at + 1) else { return false };
        let text = next.text(self.text);
        match next.kind {
            Kind::Word => !syntax::is_reserved(text) && syntax::infix(text).is_none(),
            Kind::Symbol => matches!(text, "(" | "[" | "{" | "&" | "#"),
            Kind::Number | Kind::QuotedConstant | Kind::QuotedVariable => true,
        }
    }

    fn previous(&self) -> Option<&'a str> {
        self.at.checked_sub(1).map(|i| self.tokens[i].text(self.text))
    }

    /// Where the current token stands.
    fn offset(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.trim_end().len(), |token| token.start)
    }

    /// An error at the current token.
    fn fault(&self, expected: &str) -> Fault {
        let found = match self.tokens.get(self.at) {
            Some(token) => quoted(token.text(self.text)),
            None => "the end of the formula".to_owned(),
        };
        Fault::new(self.offset(), expected, found)
    }
}
