//! HolStep: statements in fully parenthesised HOL Light with a line of tokens under each, and files of them.
//!
//! ```text
//! N name of the conjecture
//! C text of the conjecture          T its tokens
//! D name of a theorem               A its text        T its tokens      (any number of these)
//! + text of a useful step           T its tokens                        (any number, mixed with)
//! - text of a useless step          T its tokens
//! ```
//!
//! The tokens say which names of the text are constants: `cNAME` is a constant, `f0` a free variable, `b0` a bound
//! one; `*`, `/`, `part` and `!` mark structure that the text shows as well.

mod file;
mod token;

pub use file::{Entry, Kind, Reader};

use crate::error::{ParseError, Position, quoted};
use crate::formula::{Binder, Formula, TermId, VarId};
use crate::limits::{Limit, Limits};
use crate::symbol::{Interner, Symbol};

/// A statement of a HolStep file: its text, the tokens under it, and where the text begins.
#[derive(Clone, Copy, Debug)]
pub struct Tokenized<'a> {
    /// The formula, with `|-`.
    pub text: &'a str,
    /// The tokens of the `T` line.
    pub tokens: &'a str,
    /// Where the text begins; the tokens begin in the same column of the next line.
    pub position: Position,
}

impl<'a> Tokenized<'a> {
    /// A statement that comes from no file.
    pub fn new(text: &'a str, tokens: &'a str) -> Self {
        Tokenized { text, tokens, position: Position { line: 1, column: 1 } }
    }
}

/// Parses statements one after the other and keeps its working memory between them.
///
/// ```
/// use formulanet_logic::{holstep, Formula, Interner, Limits};
/// let statement = holstep::Tokenized::new("|- (!m. ((SUC m) = (m + n)))", "c= cSUC f0 c+ f0 f1");
/// let (mut names, mut formula) = (Interner::new(), Formula::new());
/// holstep::Parser::new(Limits::default()).parse(&statement, &mut names, &mut formula)?;
/// assert_eq!(formula.display(&names).to_string(), statement.text);
/// # Ok::<(), formulanet_logic::ParseError>(())
/// ```
pub struct Parser {
    limits: Limits,
    /// The meaning of each symbol in the statement with the given stamp.
    meanings: Vec<Meaning>,
    stamp: u32,
    /// The lists that are open; the first is the sequent itself, which has no brackets.
    lists: Vec<List>,
    /// For each open list that binds, its variable and what the variable's name meant outside.
    scopes: Vec<(VarId, u32)>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Meaning {
    stamp: u32,
    is_constant: bool,
    bound: u32,
    free: u32,
}

/// A list `( ... )` under construction: `(t)`, `(f a)`, `(a op b)` or `(!x. body)`. Every bracket makes one, so it is
/// kept small; what a list binds lies on a stack of its own.
#[derive(Clone, Copy)]
struct List {
    items: [TermId; 3],
    /// The number of items, and `BINDS` if the list begins with a binder.
    state: u32,
}

const BINDS: u32 = 1 << 31;

/// How often things occur in a statement; text and tokens must agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Census {
    constants: u32,
    variables: u32,
}

/// An error in one of the two lines of a statement; boxed, so that the common case passes in a register.
struct Fault {
    in_tokens: bool,
    offset: usize,
    expected: String,
    found: String,
    limit: Option<Limit>,
}

impl Fault {
    #[cold]
    fn text(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Box<Self> {
        let (expected, found) = (expected.into(), found.into());
        Box::new(Fault { in_tokens: false, offset, expected, found, limit: None })
    }

    /// More than a limit allows.
    #[cold]
    fn over(offset: usize, limit: Limit, most: usize, what: &str) -> Box<Self> {
        let fault = *Self::text(offset, format!("at most {most} {what}"), "more");
        Box::new(Fault { limit: Some(limit), ..fault })
    }

    #[cold]
    fn tokens(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Box<Self> {
        Box::new(Fault { in_tokens: true, ..*Self::text(offset, expected, found) })
    }
}

impl Parser {
    /// A parser with limits on depth and nodes.
    pub fn new(limits: Limits) -> Self {
        Parser { limits, meanings: Vec::new(), stamp: 0, lists: Vec::new(), scopes: Vec::new() }
    }

    /// Fills `formula` with a statement's formula.
    pub fn parse(
        &mut self,
        statement: &Tokenized<'_>,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<(), ParseError> {
        self.sequent(statement, names, formula).map_err(|fault| {
            let line = if fault.in_tokens { statement.tokens } else { statement.text };
            let place = Position::in_text(line, fault.offset, 1);
            let position = Position {
                line: statement.position.line + usize::from(fault.in_tokens),
                column: statement.position.column + place.column - 1,
            };
            ParseError { position, expected: fault.expected, found: fault.found, limit: fault.limit }
        })
    }

    fn sequent(
        &mut self,
        statement: &Tokenized<'_>,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<(), Box<Fault>> {
        formula.clear();
        if self.stamp == u32::MAX {
            self.meanings.clear();
            self.stamp = 0;
        }
        self.stamp += 1;
        let expected = self.read_tokens(statement.tokens, names)?;
        let mut counted = self.read_text(statement.text, names, formula)?;
        // The tokens write each hypothesis as an implication.
        counted.constants += formula.part_count() as u32 - 1;
        if counted != expected {
            let shown =
                |Census { constants, variables }| format!("{constants} constants and {variables} variables");
            let of_text = format!("tokens of the text above, with {}", shown(counted));
            return Err(Fault::tokens(0, of_text, shown(expected)));
        }
        Ok(())
    }

    /// Notes which names are constants.
    fn read_tokens(&mut self, line: &str, names: &mut Interner) -> Result<Census, Box<Fault>> {
        let mut census = Census::default();
        for token in token::tokens(line) {
            match token.text(line).as_bytes() {
                [b'c', _, ..] => {
                    let symbol = token.intern_after_first(line, names);
                    self.meaning(symbol).is_constant = true;
                    census.constants += 1;
                }
                [b'f' | b'b', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                    census.variables += 1;
                }
                b"*" | b"/" | b"!" | b"part" => {}
                _ => {
                    let found = quoted(token.text(line));
                    let expected = "a token (`cNAME`, `f0`, `b0`, `*`, `/`, `!` or `part`)";
                    return Err(Fault::tokens(token.start, expected, found));
                }
            }
        }
        Ok(census)
    }

    fn read_text(
        &mut self,
        text: &str,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<Census, Box<Fault>> {
        let bytes = text.as_bytes();
        let mut census = Census::default();
        let mut turnstile = None;
        self.lists.clear();
        self.scopes.clear();
        self.lists.push(List::EMPTY);
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b' ' => at += 1,
                b'(' => {
                    if self.lists.len() > self.limits.depth {
                        return Err(Fault::over(at, Limit::Depth, self.limits.depth, "nested brackets"));
                    }
                    self.lists.push(List::EMPTY);
                    at += 1;
                }
                b')' => {
                    if self.lists.len() == 1 {
                        return Err(Fault::text(at, "the end of the formula or a term", "`)`"));
                    }
                    let list = self.lists.pop().expect("there are at least two lists");
                    let term = self.close(list, at, formula)?;
                    self.item(term, at)?;
                    at += 1;
                }
                0..b' ' => {
                    let found = format!("the control character 0x{byte:02x}");
                    return Err(Fault::text(at, "a term", found));
                }
                _ => {
                    let token = token::Token::at(bytes, at);
                    at = token.end();
                    if self.lists.len() == 1 && token.ends_with_comma_or_turnstile(bytes) {
                        self.separator(token, text, names, formula, &mut turnstile, &mut census)?;
                    } else {
                        self.atom(token, text, names, formula, &mut census)?;
                    }
                    if formula.len() > self.limits.nodes {
                        let (limit, most) = (Limit::Nodes, self.limits.nodes);
                        return Err(Fault::over(token.start, limit, most, "terms in a formula"));
                    }
                }
            }
        }
        let list = self.lists.pop().expect("the sequent's own list is never closed");
        if !self.lists.is_empty() {
            let column = innermost_open(bytes) + 1;
            let found = format!("the end of the line, with the `(` of column {column} open");
            return Err(Fault::text(bytes.len(), "`)`", found));
        }
        if turnstile.is_none() {
            return Err(Fault::text(bytes.len(), "`|-` and a conclusion", "the end of the line"));
        }
        let conclusion = self.close(list, bytes.len(), formula)?;
        formula.push(conclusion);
        Ok(census)
    }

    /// `,` or `|-` between the parts of the sequent; a comma may stick to a name.
    #[cold]
    fn separator(
        &mut self,
        token: token::Token,
        text: &str,
        names: &mut Interner,
        formula: &mut Formula,
        turnstile: &mut Option<usize>,
        census: &mut Census,
    ) -> Result<(), Box<Fault>> {
        let name = token.text(text);
        if turnstile.is_some() {
            return Err(Fault::text(token.start, "one conclusion after `|-`", quoted(name)));
        }
        if let Some(name) = name.strip_suffix(',').filter(|name| !name.is_empty()) {
            let symbol = names.intern(name);
            let term = self.occurrence(symbol, formula, census);
            self.item(term, token.start)?;
        }
        let list = self.lists[0];
        if name == "|-" {
            *turnstile = Some(token.start);
            if formula.part_count() == 0 && list.state == 0 {
                return Ok(());
            }
        }
        let hypothesis = self.close(list, token.start, formula)?;
        formula.push(hypothesis);
        self.lists[0] = List::EMPTY;
        Ok(())
    }

    #[inline(always)]
    fn atom(
        &mut self,
        token: token::Token,
        text: &str,
        names: &mut Interner,
        formula: &mut Formula,
        census: &mut Census,
    ) -> Result<(), Box<Fault>> {
        let list = self.lists.last().expect("the sequent's own list is open");
        if list.state == 0
            && let Some((binder, name, counts)) = token.binder(text)
        {
            census.constants += counts;
            return self.open_binder(binder, name, token.start, names, formula);
        }
        let symbol = token.intern(text, names);
        let term = self.occurrence(symbol, formula, census);
        self.item(term, token.start)
    }

    fn open_binder(
        &mut self,
        binder: Binder,
        name: &str,
        offset: usize,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<(), Box<Fault>> {
        if self.lists.len() == 1 {
            return Err(Fault::text(offset, "`(` before a binder", "a binder without brackets"));
        }
        let symbol = names.intern(name);
        let var = formula.bind(binder, symbol);
        let shadowed = std::mem::replace(&mut self.meaning(symbol).bound, var.0);
        self.scopes.push((var, shadowed));
        self.lists.last_mut().expect("a list is open").state = BINDS;
        Ok(())
    }

    #[inline(always)]
    fn occurrence(&mut self, symbol: Symbol, formula: &mut Formula, census: &mut Census) -> TermId {
        let meaning = self.meaning(symbol);
        let var = if meaning.bound != NONE {
            meaning.bound
        } else if meaning.is_constant {
            census.constants += 1;
            return formula.constant(symbol);
        } else {
            if meaning.free == NONE {
                meaning.free = formula.free(symbol).0;
            }
            meaning.free
        };
        census.variables += 1;
        formula.variable(VarId(var))
    }

    #[inline(always)]
    fn meaning(&mut self, symbol: Symbol) -> &mut Meaning {
        if symbol.index() >= self.meanings.len() {
            let unknown = Meaning { stamp: 0, is_constant: false, bound: NONE, free: NONE };
            self.meanings.resize((symbol.index() + 1).next_power_of_two(), unknown);
        }
        let meaning = &mut self.meanings[symbol.index()];
        if meaning.stamp != self.stamp {
            *meaning = Meaning { stamp: self.stamp, is_constant: false, bound: NONE, free: NONE };
        }
        meaning
    }

    /// Adds a term to the innermost open list.
    #[inline(always)]
    fn item(&mut self, term: TermId, offset: usize) -> Result<(), Box<Fault>> {
        let list = self.lists.last_mut().expect("the sequent's own list is open");
        match list.state {
            0..3 => list.items[list.state as usize] = term,
            BINDS => list.items[0] = term,
            state => {
                let expected = if state < BINDS {
                    "`)` after three terms: `(f x)` or `(a op b)`"
                } else {
                    "`)` after the body of a binder"
                };
                return Err(Fault::text(offset, expected, "another term"));
            }
        }
        list.state += 1;
        Ok(())
    }

    /// The term of a list.
    #[inline(always)]
    fn close(&mut self, list: List, offset: usize, formula: &mut Formula) -> Result<TermId, Box<Fault>> {
        const BODY: u32 = BINDS + 1;
        let [first, second, third] = list.items;
        match list.state {
            2 => Ok(formula.apply(first, second)),
            3 => {
                formula.apply(second, first);
                Ok(formula.apply(second, third))
            }
            1 => Ok(first),
            BODY => {
                let (var, shadowed) = self.scopes.pop().expect("a list that binds has a scope");
                let name = formula.variables()[var.index()].name;
                self.meaning(name).bound = shadowed;
                Ok(formula.abstraction(var, first))
            }
            BINDS => Err(Fault::text(offset, "the body of a binder", "nothing")),
            _ => Err(Fault::text(offset, "a term", "nothing")),
        }
    }
}

impl List {
    const EMPTY: List = List { items: [TermId(NONE); 3], state: 0 };
}

/// Where the last bracket stands that is not closed.
#[cold]
fn innermost_open(bytes: &[u8]) -> usize {
    let mut open = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => drop(open.pop()),
            _ => {}
        }
    }
    open.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests;
