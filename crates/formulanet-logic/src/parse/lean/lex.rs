//! Lean text to tokens. All of them at once, because how `(x y : T)` is meant shows only some names later.

use crate::error::{ParseError, quoted};
use crate::limits::{Limit, Limits};

/// The kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// `Nat.add_comm`, `x✝`, `«two words».z`
    Name,
    /// `fun`, `let`, `then`, ...
    Keyword,
    /// `2`, `0xff`, `1.5e3`
    Number,
    /// `"text"` or `'c'`
    Text,
    /// `?m.12`
    Hole,
    /// `.1` or `.fst`, after something that is not a name
    Field,
    /// Everything else: operators, brackets and single characters.
    Symbol,
}

/// One token of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Whether nothing stands between it and the token before it.
    pub(super) is_glued: bool,
    /// Whether it begins a line that is not indented.
    pub(super) begins_line: bool,
}

/// Words that are never names.
const KEYWORDS: [&str; 26] = [
    "fun",
    "forall",
    "exists",
    "let",
    "have",
    "let_fun",
    "show",
    "from",
    "if",
    "bif",
    "then",
    "else",
    "match",
    "with",
    "by",
    "do",
    "where",
    "at",
    "in",
    "extends",
    "deriving",
    "termination_by",
    "decreasing_by",
    "Type",
    "Sort",
    "Prop",
];

/// Symbols of several characters, longer ones before their beginnings.
const SYMBOLS: [&str; 45] = [
    "<...=", "<:+:", "...=", "<...", "&&&", "|||", "^^^", "<<<", ">>>", "~~~", "<$>", "<*>", "<|>", ">>=",
    "<+:", "<:+", "<->", "#v[", "...", "∃!", "Σ'", "×'", "#'", "^^", "⁻¹", ":=", "=>", "->", "::", "++",
    "&&", "||", "==", "!=", "<=", ">=", "<+", "/\\", "\\/", "//", "#[", "*>", "<*", "<|", "|>",
];

/// A text with its tokens.
pub(super) struct Tokens<'t> {
    pub(super) text: &'t str,
    list: Vec<Token>,
}

impl<'t> Tokens<'t> {
    /// Cuts a text into tokens.
    pub(super) fn new(text: &'t str, limits: Limits) -> Result<Self, ParseError> {
        let most = limits.bytes.min(u32::MAX as usize / 2);
        if text.len() > most {
            let error =
                ParseError::new(text, most, 1, format!("at most {most} bytes in one declaration"), "more");
            return Err(error.over(Limit::Bytes));
        }
        let mut lexer = Lexer { text, at: 0 };
        let mut list = Vec::with_capacity(text.len() / 4);
        let mut end = usize::MAX;
        loop {
            lexer.blanks()?;
            let start = lexer.at;
            let kind = lexer.token()?;
            let begins_line = start == 0 || text.as_bytes()[start - 1] == b'\n';
            let is_glued = start == end;
            end = lexer.at;
            list.push(Token { kind, start: start as u32, end: end as u32, is_glued, begins_line });
            if kind == Kind::End {
                return Ok(Tokens { text, list });
            }
        }
    }

    /// The number of tokens before the end.
    pub(super) fn len(&self) -> usize {
        self.list.len() - 1
    }

    /// A token; after the last one, the end.
    pub(super) fn get(&self, number: usize) -> Token {
        self.list[number.min(self.list.len() - 1)]
    }

    /// The text of a token.
    pub(super) fn word(&self, token: Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// An error at a token.
    #[cold]
    pub(super) fn unexpected<T>(&self, token: Token, expected: impl Into<String>) -> Result<T, ParseError> {
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => quoted(self.word(token)),
        };
        Err(ParseError::new(self.text, token.start as usize, 1, expected, found))
    }

    /// More than a limit allows, at a token.
    #[cold]
    pub(super) fn over<T>(
        &self,
        token: Token,
        limit: Limit,
        most: usize,
        what: &str,
    ) -> Result<T, ParseError> {
        let error =
            ParseError::new(self.text, token.start as usize, 1, format!("at most {most} {what}"), "more");
        Err(error.over(limit))
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, at: usize, expected: &str) -> Result<T, ParseError> {
        Err(ParseError::new(self.text, at, 1, expected, "the end of the text"))
    }

    /// Skips blanks, universe levels such as `.{u, v}`, and comments, those for documentation included. Comments nest.
    fn blanks(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("--") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/-") {
                let (start, mut depth) = (self.at, 0usize);
                loop {
                    let rest = self.rest();
                    let Some(next) = rest.find(['-', '/']) else {
                        return self.fail(start, "a `-/` that closes this comment");
                    };
                    let two = rest.as_bytes().get(next..next + 2);
                    match two {
                        Some(b"/-") => depth += 1,
                        Some(b"-/") => depth -= 1,
                        _ => {}
                    }
                    self.at += next + if matches!(two, Some(b"/-" | b"-/")) { 2 } else { 1 };
                    if depth == 0 {
                        break;
                    }
                }
            } else if rest.starts_with(".{") {
                match rest.find('}') {
                    Some(end) => self.at += end + 1,
                    None => return self.fail(self.at, "a `}` that closes these levels"),
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Reads one token.
    fn token(&mut self) -> Result<Kind, ParseError> {
        let (rest, start) = (self.rest(), self.at);
        let mut characters = rest.chars();
        let Some(first) = characters.next() else { return Ok(Kind::End) };
        let second = characters.next();
        if begins_name(first) {
            self.name()?;
            return Ok(if KEYWORDS.contains(&&self.text[start..self.at]) {
                Kind::Keyword
            } else {
                Kind::Name
            });
        }
        match (first, second) {
            ('0'..='9', _) => {
                self.at += number_end(rest);
                Ok(Kind::Number)
            }
            ('"', _) => self.quotation('"'),
            ('\'', Some('\\')) => self.quotation('\''),
            ('\'', Some(inner)) if rest[1 + inner.len_utf8()..].starts_with('\'') => {
                self.at += 2 + inner.len_utf8();
                Ok(Kind::Text)
            }
            ('?', Some(next)) if begins_name(next) => {
                self.at += 1;
                self.name()?;
                // `?m.12` is one hole.
                while let Some(digits) = self.rest().strip_prefix('.').filter(|rest| begins_digit(rest)) {
                    self.at += 1 + digits_end(digits);
                }
                Ok(Kind::Hole)
            }
            ('.', Some('0'..='9')) => {
                self.at += 1 + digits_end(&rest[1..]);
                Ok(Kind::Field)
            }
            ('.', Some(next)) if begins_name(next) => {
                self.at += 1;
                self.name()?;
                Ok(Kind::Field)
            }
            _ => {
                let known = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
                self.at += known.map_or(first.len_utf8(), str::len);
                Ok(Kind::Symbol)
            }
        }
    }

    /// Reads a name with its components.
    fn name(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        loop {
            let rest = self.rest();
            if let Some(inner) = rest.strip_prefix('«') {
                match inner.find(['»', '\n']) {
                    Some(end) if inner[end..].starts_with('»') => {
                        self.at += '«'.len_utf8() + end + '»'.len_utf8()
                    }
                    _ => {
                        return Err(ParseError::new(
                            self.text,
                            self.at,
                            1,
                            "a `»` that closes this `«`",
                            "none",
                        ));
                    }
                }
            } else {
                let end = rest.char_indices().find(|&(place, c)| !continues_name(c, &rest[..place]));
                self.at += end.map_or(rest.len(), |(place, _)| place);
            }
            // The parts of machine-made names, such as `x._@.Init._hyg.12`, may be numbers.
            let is_made = self.text[start..self.at].contains("_hyg");
            let next = self.rest().strip_prefix('.');
            if !next.is_some_and(|next| next.starts_with(begins_name) || is_made && begins_digit(next)) {
                break;
            }
            self.at += 1;
        }
        Ok(())
    }

    fn quotation(&mut self, quote: char) -> Result<Kind, ParseError> {
        let start = self.at;
        let mut is_escaped = false;
        for (place, c) in self.rest().char_indices().skip(1) {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == quote {
                self.at += place + 1;
                return Ok(Kind::Text);
            }
        }
        self.fail(start, "a quote that closes this one")
    }
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'λ' | 'Π' | 'Σ') || c == '_' || c == '«'
}

/// Whether a character goes on with a name that has begun.
fn continues_name(c: char, before: &str) -> bool {
    c.is_alphanumeric()
        || matches!(c, '_' | '\'' | '!' | '?' | '✝' | '\u{2080}'..='\u{209c}')
        || c == '@' && before == "_"
}

fn begins_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn digits_end(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// The end of a number: natural, in another base, or with a point.
fn number_end(text: &str) -> usize {
    if text.starts_with("0x") || text.starts_with("0b") || text.starts_with("0o") {
        return 2 + text[2..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len() - 2);
    }
    let mut end = digits_end(text);
    if let Some(fraction) = text[end..].strip_prefix('.').filter(|rest| begins_digit(rest)) {
        end += 1 + digits_end(fraction);
    }
    if let Some(exponent) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        if begins_digit(&exponent[sign..]) {
            end += 1 + sign + digits_end(&exponent[sign..]);
        }
    }
    end
}
