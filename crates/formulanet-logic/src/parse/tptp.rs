//! TPTP: problems of first-order and higher-order logic.
//!
//! Reads FOF and CNF whole, and TFF, TCF and THF with their types dropped: type declarations are recognised, but
//! `! [X: $int] : p(X)` is the same formula as `! [X] : p(X)`. What a polymorphic formula passes as type
//! arguments stays an argument.
//!
//! All languages end in the one syntax tree of this crate, under the names that HOL Light has for the
//! connectives: `&` is `/\`, `|` is `\/`, `=>` is `==>`, both `=` and `<=>` are `=`, `$true` is `T`, `$ite` is
//! `COND`; `<=` is `==>` with its sides exchanged, and `!=`, `<~>`, `~|`, `~&` are negations. Names in single
//! quotes lose them, as `'a'` and `a` are the same; names in double quotes keep them. Variables that nothing
//! binds, as in CNF, are free.
//!
//! Not read: sequents and tuples, local definitions (`$let`), non-classical connectives, TPI.
//!
//! ```
//! use formulanet_logic::{tptp, Interner, Limits};
//! let mut names = Interner::new();
//! let text = "fof(subset, axiom, ! [A,B] : (subset(A,B) <=> ! [X] : (in(X,A) => in(X,B)))).";
//! let mut reader = tptp::Reader::new(text, Limits::default());
//! while let Some(item) = reader.next(&mut names)? {
//!     let tptp::Item::Annotated(statement) = item else { continue };
//!     assert_eq!((statement.name.as_str(), statement.role.as_str()), ("subset", "axiom"));
//! }
//! let formula = tptp::parse_formula("p(X) | ~ q", tptp::Language::Cnf, Limits::default(), &mut names)?;
//! assert_eq!(formula.display(&names).to_string(), r"|- ((p X) \/ (~ q))");
//! # Ok::<(), formulanet_logic::ParseError>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::error::{ParseError, Position};
use crate::formula::Formula;
use crate::limits::{Limit, Limits};
use crate::symbol::Interner;

pub use damage::Damaged;
use lex::{Kind, Lexer};
use term::{Binding, Frame, Machine};

mod damage;
mod lex;
mod term;
#[cfg(test)]
mod tests;

/// The languages of TPTP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Language {
    /// First-order formulas.
    Fof,
    /// First-order clauses.
    Cnf,
    /// Typed first-order formulas.
    Tff,
    /// Typed first-order clauses.
    Tcf,
    /// Typed higher-order formulas.
    Thf,
}

impl Language {
    /// All languages, with the words that their statements begin with.
    pub const ALL: [(&'static str, Language); 5] = [
        ("fof", Language::Fof),
        ("cnf", Language::Cnf),
        ("tff", Language::Tff),
        ("tcf", Language::Tcf),
        ("thf", Language::Thf),
    ];

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|&(name, _)| name == word).map(|(_, language)| language)
    }

    /// Whether a statement with this role is about names and not a formula.
    fn declares(self, role: &str) -> bool {
        matches!(self, Language::Tff | Language::Tcf | Language::Thf) && matches!(role, "type" | "logic")
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.into_iter().find(|(_, language)| language == self).map_or("", |(name, _)| name))
    }
}

/// An annotated formula: `fof(name, role, formula, source, ...).`
#[derive(Clone, Debug)]
pub struct Annotated {
    /// Its name, without quotes.
    pub name: String,
    /// Its role, such as `axiom` or `conjecture`.
    pub role: String,
    /// The language that it is written in.
    pub language: Language,
    /// The formula; `None` for the declaration of a type or a logic.
    pub formula: Option<Formula>,
    /// The bytes from `fof` to the dot.
    pub span: Range<usize>,
    /// Where it begins.
    pub position: Position,
}

/// A request for the statements of another file: `include('file', [name, ...]).`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Include {
    /// The other file's name.
    pub file: String,
    /// The names of the wanted statements; `None` for all.
    pub selection: Option<Vec<String>>,
    /// The bytes from `include` to the dot.
    pub span: Range<usize>,
    /// Where it begins.
    pub position: Position,
}

/// Items of a TPTP file.
#[derive(Clone, Debug)]
pub enum Item {
    /// An annotated formula.
    Annotated(Annotated),
    /// An include directive.
    Include(Include),
}

/// The part of a statement before its formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header<'t> {
    /// The statement's name, without quotes.
    pub name: Cow<'t, str>,
    /// The statement's role.
    pub role: &'t str,
    /// The language that it is written in.
    pub language: Language,
    /// Whether there is a formula; a declaration of a type or a logic has none.
    pub has_formula: bool,
}

/// Reads the items of a TPTP text one after the other. After an error there is nothing more to read, unless the caller skips the
/// unreadable item.
pub struct Reader<'t> {
    text: &'t str,
    cursor: Cursor,
}

impl<'t> Reader<'t> {
    /// A reader of a whole text.
    pub fn new(text: &'t str, limits: Limits) -> Self {
        Reader { text, cursor: Cursor::new(limits) }
    }

    /// The next item, or `None` at the end of the text.
    pub fn next(&mut self, names: &mut Interner) -> Result<Option<Item>, ParseError> {
        self.cursor.next(self.text, names)
    }

    /// Passes over the statement that could not be read; `None` if there was none.
    pub fn recover(&mut self) -> Option<Damaged> {
        self.cursor.recover(self.text)
    }
}

/// The state of a [`Reader`] between two items, without the text, for callers that keep many texts open.
pub struct Cursor {
    parser: Parser,
    formula: Formula,
    /// The end of the last item.
    offset: usize,
    /// A place that was counted already, in bytes and for people.
    counted: usize,
    position: Position,
    failed: bool,
}

impl Cursor {
    /// A cursor at the beginning of a text.
    pub fn new(limits: Limits) -> Self {
        Cursor {
            parser: Parser::new(limits),
            formula: Formula::new(),
            offset: 0,
            counted: 0,
            position: Position { line: 1, column: 1 },
            failed: false,
        }
    }

    /// The next item of the text, or `None` at its end and after an error. The text has to be the same each time.
    pub fn next(&mut self, text: &str, names: &mut Interner) -> Result<Option<Item>, ParseError> {
        if self.failed {
            return Ok(None);
        }
        let item = self.item(text, names);
        self.failed = item.is_err();
        item
    }

    fn item(&mut self, text: &str, names: &mut Interner) -> Result<Option<Item>, ParseError> {
        let mut lexer = Lexer::new(text, self.offset, 1);
        lexer.advance()?;
        let start = lexer.token.start;
        let position = self.count(text, start);
        let item = if lexer.token.kind == Kind::End {
            None
        } else if lexer.token.kind == Kind::Lower && lexer.word() == "include" {
            let (file, selection) = self.parser.include(&mut lexer)?;
            Some(Item::Include(Include { file, selection, span: start..lexer.token.end, position }))
        } else {
            let header = self.parser.statement(&mut lexer, names, &mut self.formula)?;
            Some(Item::Annotated(Annotated {
                name: header.name.into_owned(),
                role: header.role.to_owned(),
                language: header.language,
                formula: header.has_formula.then(|| self.formula.clone()),
                span: start..lexer.token.end,
                position,
            }))
        };
        self.offset = lexer.token.end;
        Ok(item)
    }

    /// The position of a byte after the last one requested: counting on keeps the whole text linear.
    fn count(&mut self, text: &str, offset: usize) -> Position {
        for byte in &text.as_bytes()[self.counted..offset] {
            if *byte == b'\n' {
                self.position = Position { line: self.position.line + 1, column: 1 };
            } else if byte & 0xc0 != 0x80 {
                self.position.column += 1;
            }
        }
        self.counted = offset;
        self.position
    }
}

/// Parses one formula of a language, without the `fof(...)` around it; or one whole statement in any language.
pub fn parse_formula(
    text: &str,
    language: Language,
    limits: Limits,
    names: &mut Interner,
) -> Result<Formula, ParseError> {
    let mut formula = Formula::new();
    let mut parser = Parser::new(limits);
    let mut lexer = Lexer::new(text, 0, 1);
    lexer.advance()?;
    let is_language = lexer.token.kind == Kind::Lower && Language::of(lexer.word()).is_some();
    lexer.advance()?;
    if is_language && lexer.token.kind == Kind::Open {
        let header = parser.annotated(text, 1, names, &mut formula)?;
        if !header.has_formula {
            return Lexer::new(text, 0, 1).fail(
                0,
                "a formula",
                format!("a declaration of role `{}`", header.role),
            );
        }
    } else {
        parser.formula(text, language, 1, names, &mut formula)?;
    }
    Ok(formula)
}

/// Parses one text after the other into formulas of the caller's, and keeps its working memory between them.
///
/// ```
/// use formulanet_logic::{tptp::Parser, Formula, Interner, Limits};
/// let (mut names, mut formula) = (Interner::new(), Formula::new());
/// let mut parser = Parser::new(Limits::default());
/// for text in ["fof(a, axiom, p(c)).", "fof(b, lemma, ~ q).  % why not"] {
///     let header = parser.annotated(text, 1, &mut names, &mut formula)?;
///     assert!(matches!((&*header.name, header.role), ("a", "axiom") | ("b", "lemma")));
/// }
/// assert_eq!(formula.display(&names).to_string(), "|- (~ q)");
/// # Ok::<(), formulanet_logic::ParseError>(())
/// ```
pub struct Parser {
    limits: Limits,
    frames: Vec<Frame>,
    /// By the number of a name; only those with the current formula's stamp count.
    bindings: Vec<Binding>,
    stamp: u32,
    /// The brackets that are open in a text that is skipped.
    brackets: Vec<Kind>,
}

impl Parser {
    /// A parser of statements within the given limits.
    pub fn new(mut limits: Limits) -> Self {
        // Terms have 32-bit numbers, and prefixes that wait make their terms only after the count.
        limits.nodes = limits.nodes.min(u32::MAX as usize / 2);
        limits.depth = limits.depth.min(u32::MAX as usize / 2);
        Parser { limits, frames: Vec::new(), bindings: Vec::new(), stamp: 0, brackets: Vec::new() }
    }

    /// Parses a text that is one statement, and fills `formula` with its formula.
    pub fn annotated<'t>(
        &mut self,
        text: &'t str,
        first_line: usize,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<Header<'t>, ParseError> {
        self.annotated_from(text, 0, first_line, names, formula)
    }

    /// [`Parser::annotated`] for a text that has something else before the given byte.
    pub(crate) fn annotated_from<'t>(
        &mut self,
        text: &'t str,
        offset: usize,
        first_line: usize,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<Header<'t>, ParseError> {
        let mut lexer = Lexer::new(text, offset, first_line);
        lexer.advance()?;
        let header = self.statement(&mut lexer, names, formula)?;
        lexer.limit(None);
        lexer.advance()?;
        lexer.expect(Kind::End, "the end of the text after the statement")?;
        Ok(header)
    }

    /// Parses a text that is one formula without the `fof(...)` around it.
    pub fn formula(
        &mut self,
        text: &str,
        language: Language,
        first_line: usize,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<(), ParseError> {
        let mut lexer = Lexer::new(text, 0, first_line);
        lexer.advance()?;
        lexer.limit(Some(self.limits.bytes));
        formula.clear();
        Machine { parser: self, lexer: &mut lexer, names, formula, language }.run()?;
        lexer.expect(Kind::End, "a connective or the end of the text after the formula")
    }

    /// Reads from the first word of a statement to its dot, where the lexer stays.
    fn statement<'t>(
        &mut self,
        lexer: &mut Lexer<'t>,
        names: &mut Interner,
        formula: &mut Formula,
    ) -> Result<Header<'t>, ParseError> {
        formula.clear();
        lexer.limit(Some(self.limits.bytes));
        let header = self.header(lexer)?;
        if header.has_formula {
            Machine { parser: self, lexer, names, formula, language: header.language }.run()?;
        } else {
            self.skip(lexer, "a declaration")?;
        }
        let after =
            if header.has_formula { "a connective, `,` or `)` after the formula" } else { "`,` or `)`" };
        if lexer.token.kind == Kind::Comma {
            self.annotations(lexer)?;
        }
        self.end(lexer, after)?;
        Ok(header)
    }

    /// Reads from the first word of a statement to its formula.
    fn header<'t>(&mut self, lexer: &mut Lexer<'t>) -> Result<Header<'t>, ParseError> {
        let header = self.title(lexer)?;
        lexer.advance()?;
        if lexer.token.kind == Kind::Minus {
            // A role may say more, as in `axiom-local`.
            self.skip(lexer, "more about the role")?;
        }
        lexer.expect(Kind::Comma, "`,` after the statement's role")?;
        Ok(header)
    }

    /// Reads from the first word of a statement to its role, where the lexer stays.
    fn title<'t>(&mut self, lexer: &mut Lexer<'t>) -> Result<Header<'t>, ParseError> {
        let language = match lexer.token.kind {
            Kind::Lower => Language::of(lexer.word()),
            _ => None,
        };
        let Some(language) = language else {
            return lexer.unexpected("`fof`, `cnf`, `tff`, `tcf`, `thf` or `include`");
        };
        lexer.advance()?;
        lexer.expect(Kind::Open, &format!("`(` after `{language}`"))?;
        let name = self.name(lexer, "the statement's name")?;
        lexer.expect(Kind::Comma, "`,` after the statement's name")?;
        if lexer.token.kind != Kind::Lower {
            return lexer.unexpected("the statement's role");
        }
        let role = lexer.word();
        Ok(Header { name, role, language, has_formula: !language.declares(role) })
    }

    /// Reads from `include` to the dot.
    fn include(&mut self, lexer: &mut Lexer<'_>) -> Result<(String, Option<Vec<String>>), ParseError> {
        lexer.limit(Some(self.limits.bytes));
        lexer.advance()?;
        lexer.expect(Kind::Open, "`(` after `include`")?;
        if !matches!(lexer.token.kind, Kind::Quoted | Kind::Lower) {
            return lexer.unexpected("a file name in single quotes");
        }
        let file = lexer.content().into_owned();
        lexer.advance()?;
        let mut selection = None;
        if lexer.token.kind == Kind::Comma {
            lexer.advance()?;
            match lexer.token.kind {
                Kind::OpenBracket => selection = Some(self.selection(lexer)?),
                Kind::Star => lexer.advance()?,
                _ => return lexer.unexpected("`[` before the names of statements"),
            }
        }
        if lexer.token.kind == Kind::Comma {
            self.annotations(lexer)?;
        }
        self.end(lexer, "`,` or `)`")?;
        Ok((file, selection))
    }

    /// A list of statements' names: `[a, 'b c', 3]`.
    fn selection(&mut self, lexer: &mut Lexer<'_>) -> Result<Vec<String>, ParseError> {
        let mut selection = Vec::new();
        lexer.advance()?;
        while lexer.token.kind != Kind::CloseBracket {
            selection.push(self.name(lexer, "the name of a statement")?.into_owned());
            match lexer.token.kind {
                Kind::Comma => lexer.advance()?,
                Kind::CloseBracket => {}
                _ => return lexer.unexpected("`,` or `]` after the name of a statement"),
            }
        }
        lexer.advance()?;
        Ok(selection)
    }

    fn name<'t>(&mut self, lexer: &mut Lexer<'t>, expected: &str) -> Result<Cow<'t, str>, ParseError> {
        let is_integer = |word: &str| !word.contains(['.', '/', 'E', 'e']);
        match lexer.token.kind {
            Kind::Lower | Kind::Quoted => {}
            Kind::Number if is_integer(lexer.word()) => {}
            _ => return lexer.unexpected(expected),
        }
        let name = lexer.content();
        lexer.advance()?;
        Ok(name)
    }

    /// Skips what stands after the formula: where it comes from, and anything else.
    fn annotations(&mut self, lexer: &mut Lexer<'_>) -> Result<(), ParseError> {
        while lexer.token.kind == Kind::Comma {
            lexer.advance()?;
            self.skip(lexer, "an annotation")?;
        }
        Ok(())
    }

    /// The `).` of a statement.
    fn end(&self, lexer: &mut Lexer<'_>, expected: &str) -> Result<(), ParseError> {
        lexer.expect(Kind::Close, expected)?;
        if lexer.token.kind != Kind::Dot {
            return lexer.unexpected("`.` after `)`");
        }
        Ok(())
    }

    /// Skips tokens to the next comma or closing bracket that is not inside of brackets.
    fn skip(&mut self, lexer: &mut Lexer<'_>, expected: &str) -> Result<(), ParseError> {
        self.brackets.clear();
        let start = lexer.token.start;
        loop {
            let kind = lexer.token.kind;
            match kind {
                Kind::Open => self.brackets.push(Kind::Close),
                Kind::OpenBracket => self.brackets.push(Kind::CloseBracket),
                Kind::OpenBrace => self.brackets.push(Kind::CloseBrace),
                Kind::Comma | Kind::Close | Kind::CloseBracket | Kind::CloseBrace
                    if self.brackets.is_empty() =>
                {
                    return if lexer.token.start == start { lexer.unexpected(expected) } else { Ok(()) };
                }
                Kind::Close | Kind::CloseBracket | Kind::CloseBrace if self.brackets.pop() != Some(kind) => {
                    return lexer.unexpected("a bracket that closes the last open one");
                }
                Kind::Dot | Kind::End | Kind::Unknown if lexer.token.start == start => {
                    return lexer.unexpected(expected);
                }
                Kind::Dot | Kind::End | Kind::Unknown if self.brackets.is_empty() => {
                    return lexer.unexpected("`,` or a closing bracket");
                }
                Kind::Dot | Kind::End | Kind::Unknown => {
                    return lexer.unexpected("a bracket that closes the last open one");
                }
                _ => {}
            }
            if self.brackets.len() > self.limits.depth {
                return lexer.over(Limit::Depth, self.limits.depth, "nested brackets and binders");
            }
            lexer.advance()?;
        }
    }
}
