//! TPTP text to tokens.
//!
//! A [`Lexer`] holds one token and moves to the next on demand. A character that no token begins with is a token
//! of its own kind, so that the parser can say what it expected in its place.

use std::borrow::Cow;

use crate::error::{ParseError, quoted};
use crate::limits::Limit;
use crate::symbol::{Interner, Symbol};

/// The kinds of tokens, in the spelling of the TPTP grammar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// A character that begins no token.
    Unknown,
    /// `lower_word`
    Lower,
    /// `upper_word`, a variable
    Upper,
    /// `'single quoted'`
    Quoted,
    /// `"distinct object"`
    Distinct,
    /// An integer, rational or real.
    Number,
    /// `$defined` or `$$system`
    Dollar,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `:`
    Colon,
    /// `~`
    Not,
    /// `&`
    And,
    /// `|`
    Or,
    /// `=>`
    Implies,
    /// `<=`
    ImpliedBy,
    /// `<=>`
    Iff,
    /// `<~>`
    Xor,
    /// `~|`
    Nor,
    /// `~&`
    Nand,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `!`
    Forall,
    /// `?`
    Exists,
    /// `^`
    Lambda,
    /// `@+`
    Choice,
    /// `@-`
    Description,
    /// `!>`
    TypeForall,
    /// `?*`
    TypeExists,
    /// `!!`
    ForallConstant,
    /// `??`
    ExistsConstant,
    /// `@@+` or `@@-`
    ChoiceConstant,
    /// `@=`
    EqualConstant,
    /// `@`
    At,
    /// `>`
    Arrow,
    /// `*`
    Star,
    /// `-`
    Minus,
    /// Operators of types and annotations only: `+`, `:=`, `==`, `<<`, `-->`.
    Other,
}

/// A token and the bytes it is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A place in a text, and the token there.
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) token: Token,
    first_line: usize,
    /// The position that no token may end after, and its distance from the beginning of the formula.
    stop: usize,
    limit: usize,
}

/// Whether a byte continues a word.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

impl<'t> Lexer<'t> {
    /// A lexer before the first token; [`Lexer::advance`] moves to it.
    pub(super) fn new(text: &'t str, offset: usize, first_line: usize) -> Self {
        let token = Token { kind: Kind::Unknown, start: offset, end: offset };
        Lexer { text, token, first_line, stop: usize::MAX, limit: usize::MAX }
    }

    /// Allows the formula that begins at this token as many bytes, or any number of them.
    pub(super) fn limit(&mut self, bytes: Option<usize>) {
        self.limit = bytes.unwrap_or(usize::MAX);
        self.stop = self.token.start.saturating_add(self.limit);
    }

    /// The text of the token.
    #[inline]
    pub(super) fn word(&self) -> &'t str {
        &self.text[self.token.start..self.token.end]
    }

    /// The text of the token as a name. The interner compares sixteen bytes at once, and reading them from the
    /// text at once, to cut off what is too much, is faster than copying the few that a name has.
    #[inline]
    pub(super) fn intern(&self, names: &mut Interner) -> Symbol {
        let word = self.word();
        match self.text.as_bytes()[self.token.start..].first_chunk::<16>() {
            Some(&bytes) if (1..=16).contains(&word.len()) => {
                let too_much = 8 * (16 - word.len() as u32);
                let prefix = u128::from_le_bytes(bytes) << too_much >> too_much;
                names.intern_prefixed(prefix, word.as_bytes(), || word)
            }
            _ => names.intern(word),
        }
    }

    /// The content of a quoted token, or the text of any other.
    pub(super) fn content(&self) -> Cow<'t, str> {
        let word = self.word();
        if self.token.kind != Kind::Quoted {
            return Cow::Borrowed(word);
        }
        let inner = &word[1..word.len() - 1];
        if !inner.contains('\\') {
            return Cow::Borrowed(inner);
        }
        let mut escaped = false;
        let plain = |&c: &char| {
            escaped = c == '\\' && !escaped;
            !escaped
        };
        Cow::Owned(inner.chars().filter(plain).collect())
    }

    /// An error at the token.
    #[cold]
    pub(super) fn unexpected<T>(&self, expected: impl Into<String>) -> Result<T, ParseError> {
        let found = match self.token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => quoted(self.word()),
        };
        self.fail(self.token.start, expected, found)
    }

    /// More than a limit allows, at the current token.
    #[cold]
    pub(super) fn over<T>(&self, limit: Limit, most: usize, what: &str) -> Result<T, ParseError> {
        let offset = self.token.start;
        self.fail(offset, format!("at most {most} {what}"), "more").map_err(|error| error.over(limit))
    }

    /// An error at any place.
    #[cold]
    pub(super) fn fail<T>(
        &self,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Result<T, ParseError> {
        Err(ParseError::new(self.text, offset, self.first_line, expected, found))
    }

    /// Moves past a token that must be of one kind.
    #[inline]
    pub(super) fn expect(&mut self, kind: Kind, expected: &str) -> Result<(), ParseError> {
        if self.token.kind != kind {
            return self.unexpected(expected);
        }
        self.advance()
    }

    /// Moves to the next token.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<(), ParseError> {
        let start = self.blanks(self.token.end)?;
        let bytes = self.text.as_bytes();
        let (kind, end) = match bytes.get(start) {
            None => (Kind::End, start),
            Some(b'a'..=b'z') => (Kind::Lower, word_end(bytes, start + 1)),
            Some(b'A'..=b'Z') => (Kind::Upper, word_end(bytes, start + 1)),
            Some(b'(') => (Kind::Open, start + 1),
            Some(b')') => (Kind::Close, start + 1),
            Some(b',') => (Kind::Comma, start + 1),
            Some(b'0'..=b'9') => (Kind::Number, number_end(bytes, start)),
            Some(&quote @ (b'\'' | b'"')) => self.quotation(start, quote)?,
            Some(&first) => self.symbol(start, first),
        };
        self.token = Token { kind, start, end };
        if end > self.stop {
            return self.over(Limit::Bytes, self.limit, "bytes in one formula");
        }
        Ok(())
    }

    /// The end of the blanks and comments that begin at a place.
    #[inline]
    fn blanks(&self, mut at: usize) -> Result<usize, ParseError> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c) => at += 1,
                Some(b'%') => {
                    at = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n + 1);
                }
                Some(b'/') if bytes.get(at + 1) == Some(&b'*') => match self.text[at + 2..].find("*/") {
                    Some(n) => at += n + 4,
                    None => return self.fail(at, "a `*/` that closes this comment", "the end of the text"),
                },
                _ => return Ok(at),
            }
        }
    }

    /// A quoted token: on one line, without control characters, with `\` only before itself and the quote.
    fn quotation(&self, start: usize, quote: u8) -> Result<(Kind, usize), ParseError> {
        let bytes = self.text.as_bytes();
        let name = char::from(quote);
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(&b) if b == quote => break,
                Some(b'\\') => match bytes.get(at + 1) {
                    Some(&b) if b == quote || b == b'\\' => at += 2,
                    _ => return self.fail(at, format!("`\\\\` or `\\{name}` inside of quotes"), "`\\`"),
                },
                end @ (None | Some(b'\n' | b'\r')) => {
                    let found = if end.is_none() { "the end of the text" } else { "the end of the line" };
                    return self.fail(start, format!("a `{name}` that closes this one"), found);
                }
                Some(&b) if b.is_ascii_control() => {
                    let found = quoted(&self.text[at..at + 1]);
                    return self.fail(at, "no control character inside of quotes", found);
                }
                Some(_) => at += 1,
            }
        }
        if quote == b'\'' && at == start + 1 {
            return self.fail(start, "a name inside of the quotes", "`''`");
        }
        Ok((if quote == b'\'' { Kind::Quoted } else { Kind::Distinct }, at + 1))
    }

    /// A token of other characters than letters, digits and quotes: the longest that there is.
    fn symbol(&self, start: usize, first: u8) -> (Kind, usize) {
        let bytes = self.text.as_bytes();
        let next = |n: usize| bytes.get(start + n).copied().unwrap_or(0);
        let (kind, length) = match (first, next(1), next(2)) {
            (b'[', ..) => (Kind::OpenBracket, 1),
            (b']', ..) => (Kind::CloseBracket, 1),
            (b'{', ..) => (Kind::OpenBrace, 1),
            (b'}', ..) => (Kind::CloseBrace, 1),
            (b'.', ..) => (Kind::Dot, 1),
            (b':', b'=', _) => (Kind::Other, 2),
            (b':', ..) => (Kind::Colon, 1),
            (b'&', ..) => (Kind::And, 1),
            (b'|', ..) => (Kind::Or, 1),
            (b'~', b'|', _) => (Kind::Nor, 2),
            (b'~', b'&', _) => (Kind::Nand, 2),
            (b'~', ..) => (Kind::Not, 1),
            (b'=', b'>', _) => (Kind::Implies, 2),
            (b'=', b'=', _) => (Kind::Other, 2),
            (b'=', ..) => (Kind::Equal, 1),
            (b'!', b'=', _) => (Kind::NotEqual, 2),
            (b'!', b'>', _) => (Kind::TypeForall, 2),
            (b'!', b'!', _) => (Kind::ForallConstant, 2),
            (b'!', ..) => (Kind::Forall, 1),
            (b'?', b'*', _) => (Kind::TypeExists, 2),
            (b'?', b'?', _) => (Kind::ExistsConstant, 2),
            (b'?', ..) => (Kind::Exists, 1),
            (b'<', b'=', b'>') => (Kind::Iff, 3),
            (b'<', b'~', b'>') => (Kind::Xor, 3),
            (b'<', b'=', _) => (Kind::ImpliedBy, 2),
            (b'<', b'<', _) => (Kind::Other, 2),
            (b'^', ..) => (Kind::Lambda, 1),
            (b'@', b'+', _) => (Kind::Choice, 2),
            (b'@', b'-', _) => (Kind::Description, 2),
            (b'@', b'=', _) => (Kind::EqualConstant, 2),
            (b'@', b'@', b'+' | b'-') => (Kind::ChoiceConstant, 3),
            (b'@', ..) => (Kind::At, 1),
            (b'>', ..) => (Kind::Arrow, 1),
            (b'*', ..) => (Kind::Star, 1),
            (b'+' | b'-', b'0'..=b'9', _) => (Kind::Number, number_end(bytes, start + 1) - start),
            (b'-', b'-', b'>') => (Kind::Other, 3),
            (b'-', ..) => (Kind::Minus, 1),
            (b'+', ..) => (Kind::Other, 1),
            (b'$', b'a'..=b'z', _) => (Kind::Dollar, word_end(bytes, start + 1) - start),
            (b'$', b'$', b'a'..=b'z') => (Kind::Dollar, word_end(bytes, start + 2) - start),
            _ => (Kind::Unknown, self.text[start..].chars().next().map_or(1, char::len_utf8)),
        };
        (kind, start + length)
    }
}

#[inline]
fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && IN_WORD[bytes[at] as usize] {
        at += 1;
    }
    at
}

fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at].is_ascii_digit() {
        at += 1;
    }
    at
}

/// The end of an unsigned number: an integer, a rational `1/2` or a real `1.5E-3`.
fn number_end(bytes: &[u8], start: usize) -> usize {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = digits_end(bytes, start);
    if bytes.get(at) == Some(&b'/') && is_digit(at + 1) {
        return digits_end(bytes, at + 1);
    }
    if bytes.get(at) == Some(&b'.') && is_digit(at + 1) {
        at = digits_end(bytes, at + 1);
    }
    if matches!(bytes.get(at), Some(b'E' | b'e')) {
        let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if is_digit(exponent) {
            at = digits_end(bytes, exponent);
        }
    }
    at
}
