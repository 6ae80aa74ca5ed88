//! Text to tokens.

use std::collections::HashMap;

use super::Fault;
use crate::error::quoted;
use crate::syntax;

/// Kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A word such as `x'`, `real_add` or `let`.
    Word,
    /// Digits.
    Number,
    /// One of `( ) [ ] { }`, `,` and `;`, or symbols that belong together.
    Symbol,
    /// `'name'`: a constant, whatever its name.
    QuotedConstant,
    /// `''name''`: a variable, whatever its name.
    QuotedVariable,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// For an opening bracket, the number of the token that closes it; 0 if there is none.
    pub(super) closing: u32,
}

impl Token {
    pub(super) fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }

    /// The name inside quotes, with escapes resolved; any other token as it is.
    pub(super) fn name(&self, text: &str) -> String {
        let quotes = match self.kind {
            Kind::QuotedConstant => 1,
            Kind::QuotedVariable => 2,
            _ => return self.text(text).to_owned(),
        };
        let mut name = String::new();
        let mut characters = text[self.start + quotes..self.end - quotes].chars();
        while let Some(c) = characters.next() {
            name.extend(if c == '\\' { characters.next() } else { Some(c) });
        }
        name
    }
}

/// All tokens of a text, without comments.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    let comments = comments(text);
    let trimmed = text.trim();
    // HOL Light's own quotation marks around the whole term.
    let quotation = trimmed.len() >= 2 && trimmed.starts_with('`') && trimmed.ends_with('`');
    let last = text.trim_end().len().saturating_sub(1);
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let rest = &text[at..];
        let kind = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '`' if quotation && (tokens.is_empty() || start == last) => {
                at += 1;
                continue;
            }
            '(' if comments.contains_key(&start) => {
                at = comments[&start];
                continue;
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => {
                at += 1;
                Kind::Symbol
            }
            '\'' => {
                let (kind, length) = quotation_at(rest)
                    .ok_or_else(|| Fault::new(start, "`'` after a quoted name", "the end of the formula"))?;
                at += length;
                kind
            }
            _ if c.is_ascii_digit() => {
                at += word_length(rest);
                let digits = text[start..at].bytes().all(|b| b.is_ascii_digit());
                if digits { Kind::Number } else { Kind::Word }
            }
            _ if syntax::is_word_character(c) => {
                at += word_length(rest);
                at += pattern_variable_tail(&text[start..at], &text[at..]);
                Kind::Word
            }
            _ if syntax::is_symbolic(c) => {
                let run = symbol_length(rest);
                let mut lengths = syntax::symbolic_tokens(&rest[..run]);
                let last = lengths.pop().expect("a run has a token");
                for length in lengths {
                    tokens.push(Token { kind: Kind::Symbol, start: at, end: at + length, closing: 0 });
                    at += length;
                }
                let (start, rest) = (at, &text[at..]);
                let (kind, length) = match goal_variable(rest) {
                    Some(length) if last == 1 => (Kind::Word, length),
                    _ => (Kind::Symbol, last + operator_tail(rest, last)),
                };
                at += length;
                tokens.push(Token { kind, start, end: at, closing: 0 });
                continue;
            }
            _ => {
                let shown = match c {
                    '\0' => "a NUL byte".to_owned(),
                    '"' => "a string, which is not supported".to_owned(),
                    c => quoted(&c.to_string()),
                };
                return Err(Fault::new(start, "a term", shown));
            }
        };
        match (c, kind) {
            ('(' | '[' | '{', Kind::Symbol) if at == start + 1 => open.push(tokens.len()),
            (')' | ']' | '}', Kind::Symbol) => {
                if let Some(opening) = open.pop() {
                    tokens[opening].closing = tokens.len() as u32;
                }
            }
            _ => {}
        }
        tokens.push(Token { kind, start, end: at, closing: 0 });
    }
    Ok(tokens)
}

/// The length of the symbols at the beginning of a text. The `?` of an invented type such as `?123` stands alone: `real^?123`.
fn symbol_length(text: &str) -> usize {
    let length = text.len() - text.trim_start_matches(syntax::is_symbolic).len();
    let is_before_digit = text[length..].starts_with(|c: char| c.is_ascii_digit());
    if length > 1 && is_before_digit && text[..length].ends_with('?') { length - 1 } else { length }
}

fn word_length(text: &str) -> usize {
    text.len() - text.trim_start_matches(syntax::is_word_character).len()
}

/// The rest of `GEN%PVAR%123`, which HolStep prints as one name.
fn pattern_variable_tail(word: &str, rest: &str) -> usize {
    match rest.strip_prefix("%PVAR%") {
        Some(tail) if word == "GEN" => "%PVAR%".len() + word_length(tail),
        _ => 0,
    }
}

/// The length of a name such as `$_goal_$`, which tactics left in HolStep's proofs.
fn goal_variable(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("$_")?;
    let length = word_length(rest);
    (rest[..length].ends_with('_') && rest[length..].starts_with('$')).then_some(length + 3)
}

/// The rest of an operator such as `<=_c`: symbols, then a word that begins with `_`.
fn operator_tail(text: &str, length: usize) -> usize {
    let tail = if text[length..].starts_with('_') { word_length(&text[length..]) } else { 0 };
    if syntax::infix(&text[..length + tail]).is_some() { tail } else { 0 }
}

/// Kind and length of the quoted name at the beginning of a text.
fn quotation_at(text: &str) -> Option<(Kind, usize)> {
    let (kind, quotes) = match text.strip_prefix("''") {
        Some(_) => (Kind::QuotedVariable, "''"),
        None => (Kind::QuotedConstant, "'"),
    };
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(quotes.len()) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if text[i..].starts_with(quotes) {
            return Some((kind, i + quotes.len()));
        }
    }
    None
}

/// Where each comment begins and ends. Comments nest.
///
/// HolStep writes `(* x)` and `(f *)` for multiplication as a function, so only a pair of brackets makes a
/// comment.
fn comments(text: &str) -> HashMap<usize, usize> {
    let bytes = text.as_bytes();
    let (mut open, mut found) = (Vec::new(), HashMap::new());
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'(', b'*', b')' | b'_', ..] => at += 3,
            [b'(', b'*', b'*', b')', ..] => at += 4,
            [b'(', b'*', ..] => {
                open.push(at);
                at += 2;
            }
            [b'*', b')', ..] => {
                at += 2;
                if let Some(start) = open.pop() {
                    found.insert(start, at);
                }
            }
            _ => at += 1,
        }
    }
    found
}
