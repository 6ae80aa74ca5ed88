//! Tokens of HolStep text: whatever stands between spaces and brackets.
//!
//! Sixteen bytes are looked at together: where a token ends, and its first bytes for the interner, come from a
//! few operations on two words instead of a loop over bytes.

use crate::formula::Binder;
use crate::symbol::Interner;

/// Where a token stands in its line.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    length: usize,
    /// The first sixteen bytes of the token, padded with zeros.
    prefix: u128,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The lowest top bit marks the first byte that ends a token: a space or control character, `(` or `)`.
#[inline]
fn delimiters(word: u64) -> u64 {
    let space = word.wrapping_sub(ONES * 0x21) & !word;
    let bracket = (word & (ONES * 0xfe)) ^ (ONES * 0x28);
    (space | (bracket.wrapping_sub(ONES) & !bracket)) & TOPS
}

#[inline(always)]
fn load(bytes: &[u8], at: usize) -> u128 {
    match bytes.get(at..at + 16) {
        Some(window) => u128::from_le_bytes(window.try_into().expect("sixteen bytes")),
        None => {
            let mut window = [0; 16];
            let rest = &bytes[at.min(bytes.len())..];
            window[..rest.len()].copy_from_slice(rest);
            u128::from_le_bytes(window)
        }
    }
}

impl Token {
    /// The token that begins at a byte which is no delimiter.
    #[inline(always)]
    pub(super) fn at(bytes: &[u8], start: usize) -> Token {
        let window = load(bytes, start);
        let low = delimiters(window as u64);
        if low != 0 {
            let length = low.trailing_zeros() as usize / 8;
            return Token { start, length, prefix: u128::from(window as u64 & ((1 << (8 * length)) - 1)) };
        }
        let high = delimiters((window >> 64) as u64);
        if high != 0 {
            let length = 8 + high.trailing_zeros() as usize / 8;
            return Token { start, length, prefix: window & ((1 << (8 * length)) - 1) };
        }
        Token { start, length: long_length(bytes, start), prefix: window }
    }

    #[inline]
    pub(super) fn end(self) -> usize {
        self.start + self.length
    }

    #[inline]
    pub(super) fn text(self, line: &str) -> &str {
        &line[self.start..self.end()]
    }

    #[inline(always)]
    pub(super) fn intern(self, line: &str, names: &mut Interner) -> crate::Symbol {
        names.intern_prefixed(self.prefix, &line.as_bytes()[self.start..self.end()], || self.text(line))
    }

    /// The symbol of the token without its first byte, which must be a character of its own.
    #[inline(always)]
    pub(super) fn intern_after_first(self, line: &str, names: &mut Interner) -> crate::Symbol {
        let name = || &line[self.start + 1..self.end()];
        if self.length <= 16 {
            names.intern_prefixed(self.prefix >> 8, &line.as_bytes()[self.start + 1..self.end()], name)
        } else {
            names.intern(name())
        }
    }

    /// Whether the token separates parts of a sequent when it stands outside of all brackets.
    pub(super) fn ends_with_comma_or_turnstile(self, bytes: &[u8]) -> bool {
        bytes[self.end() - 1] == b',' || &bytes[self.start..self.end()] == b"|-"
    }

    /// If the token is a binder and its variable, such as `!x.`: the two, and how many constants the tokens of the
    /// `T` line write for it.
    #[inline]
    pub(super) fn binder(self, line: &str) -> Option<(Binder, &str, u32)> {
        if line.as_bytes()[self.end() - 1] != b'.' || self.length < 3 {
            return None;
        }
        let token = self.text(line);
        let (binder, rest, constants) = match token.as_bytes() {
            [b'!', ..] => (Binder::Forall, &token[1..], 0),
            [b'\\', ..] => (Binder::Lambda, &token[1..], 0),
            [b'?', b'!', _, _, ..] => (Binder::ExistsUnique, &token[2..], 1),
            [b'?', ..] => (Binder::Exists, &token[1..], 1),
            [b'@', ..] => (Binder::Choice, &token[1..], 1),
            _ => (Binder::Lambda, token.strip_prefix("lambda")?, 1),
        };
        let name = &rest[..rest.len() - 1];
        (!name.is_empty() && !name.starts_with('.')).then_some((binder, name, constants))
    }
}

/// The length of a token of at least sixteen bytes.
#[cold]
fn long_length(bytes: &[u8], start: usize) -> usize {
    let mut length = 16;
    loop {
        let found = delimiters(load(bytes, start + length) as u64);
        if found != 0 {
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
}

/// The tokens of a line without brackets.
pub(super) fn tokens(line: &str) -> impl Iterator<Item = Token> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        if at >= bytes.len() {
            return None;
        }
        // A bracket or control character is a token of its own, which no reader accepts.
        let mut token = Token::at(bytes, at);
        if token.length == 0 {
            token.length = 1;
        }
        at = token.end();
        Some(token)
    })
}
