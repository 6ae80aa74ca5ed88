//! Where a statement that cannot be read ends.

use std::ops::Range;

use super::{Cursor, Language, Lexer};
use crate::error::Position;

/// A statement that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damaged {
    /// Its name and role, if these could be read.
    pub header: Option<(String, String)>,
    /// Its bytes: up to the dot after a closing bracket, or to the line where the next statement begins.
    pub span: Range<usize>,
    /// Where it begins.
    pub position: Position,
}

impl Cursor {
    /// Passes over the statement that could not be read, so that the next can be; `None` if there was none.
    pub fn recover(&mut self, text: &str) -> Option<Damaged> {
        if !std::mem::take(&mut self.failed) {
            return None;
        }
        let mut lexer = Lexer::new(text, self.offset, 1);
        let header = match lexer.advance() {
            Ok(()) => self.parser.title(&mut lexer).ok(),
            Err(_) => None,
        };
        let header = header.map(|header| (header.name.into_owned(), header.role.to_owned()));
        let mut lexer = Lexer::new(text, self.offset, 1);
        let start = match lexer.advance() {
            Ok(()) => lexer.token.start,
            Err(_) => text.len() - text[self.offset..].trim_start().len(),
        };
        let position = self.count(text, start);
        let end = end(text.as_bytes(), start);
        self.offset = end;
        let span = start..start + text[start..end].trim_end().len();
        Some(Damaged { header, span, position })
    }
}

/// Where the next statement may begin.
fn end(text: &[u8], start: usize) -> usize {
    let (mut at, mut line_with_open_quote, mut has_comments) = (start, start, true);
    let mut last = b' ';
    while let Some(&byte) = text.get(at) {
        let mut next = at + 1;
        match byte {
            b'\n' if begins(&text[next..]) => return next,
            b'.' if last == b')' && text.get(next).is_none_or(|&after| is_between(after)) => return next,
            b'%' => next = find(text, at, b'\n').unwrap_or(text.len()),
            b'/' if has_comments && text.get(next) == Some(&b'*') => {
                match memchr::memmem::find(&text[next..], b"*/") {
                    Some(found) => next += found + 2,
                    None => has_comments = false,
                }
            }
            // A quotation is within one line; what looks like the beginning of one that never ends is none.
            b'\'' | b'"' if at >= line_with_open_quote => match quotation(text, at) {
                Ok(end) => next = end,
                Err(line_end) => line_with_open_quote = line_end,
            },
            _ => {}
        }
        if !byte.is_ascii_whitespace() && byte != b'%' {
            last = byte;
        }
        at = next;
    }
    text.len()
}

/// Whether a character after a dot shows that a statement ends there.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'%' | b'/') || byte.is_ascii_lowercase()
}

/// Whether a line begins with a word that begins statements, and a bracket.
fn begins(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let words = Language::ALL.iter().map(|(word, _)| *word).chain(["include"]);
    words.filter_map(|word| line.strip_prefix(word.as_bytes())).any(|rest| {
        let blanks = rest.iter().take(16).take_while(|byte| byte.is_ascii_whitespace()).count();
        rest.get(blanks) == Some(&b'(')
    })
}

fn find(text: &[u8], from: usize, byte: u8) -> Option<usize> {
    memchr::memchr(byte, &text[from..]).map(|found| from + found)
}

/// The end of a quotation, or else of its line.
fn quotation(text: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start + 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\n' => break,
            b'\\' => at += 1,
            _ if byte == text[start] => return Ok(at + 1),
            _ => {}
        }
        at += 1;
    }
    Err(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use crate::tptp::{Item, Reader};
    use crate::{Interner, Limits};

    /// Lists what is read, and what is passed over.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let (mut reader, mut names) = (Reader::new(text, Limits::default()), Interner::new());
        let mut found = Vec::new();
        loop {
            match reader.next(&mut names) {
                Ok(None) => break,
                Ok(Some(Item::Annotated(statement))) => found.push(statement.name),
                Ok(Some(Item::Include(include))) => found.push(format!("include {}", include.file)),
                Err(_) => {
                    let damaged = reader.recover().expect("a statement was damaged");
                    let header =
                        damaged.header.map_or("?".to_owned(), |(name, role)| format!("{name} {role}"));
                    found.push(format!("({header} {} {})", damaged.position, &text[damaged.span]));
                }
            }
        }
        assert_eq!(found, expected, "for {text}");
    }

    #[test]
    fn one_damaged_statement_is_passed_over() {
        check(
            "fof(a, axiom, p).\nfof(b, axiom, $let(x, y)).\nfof(c, axiom, q).",
            &["a", "(b axiom 2:1 fof(b, axiom, $let(x, y)).)", "c"],
        );
        check("fof(a, axiom, ((p).  fof(b, axiom, q).", &["(a axiom 1:1 fof(a, axiom, ((p).)", "b"]);
        check("fof(a, axiom, p)\nfof(b, axiom, q).", &["(a axiom 1:1 fof(a, axiom, p))", "b"]);
        check("fof(a, axiom, & ).fof(b, axiom, q).", &["(a axiom 1:1 fof(a, axiom, & ).)", "b"]);
        check("fof(A, axiom, p).\nfof(b, axiom, q).", &["(? 1:1 fof(A, axiom, p).)", "b"]);
        check("nonsense\n\ninclude('x').", &["(? 1:1 nonsense)", "include x"]);
    }

    #[test]
    fn dots_and_words_inside_of_quotations_and_comments_end_nothing() {
        check(
            "fof(a, axiom, p & & 'x). fof(' ). fof(b, axiom, q).",
            &["(a axiom 1:1 fof(a, axiom, p & & 'x). fof(' ).)", "b"],
        );
        check(
            "fof(a, axiom, & % ). fof(\n/* \nfof( ). */ ).\nfof(b, axiom, q).",
            &["(a axiom 1:1 fof(a, axiom, & % ). fof(\n/* \nfof( ). */ ).)", "b"],
        );
        check("fof(a, axiom, 'p ).\nfof(b, axiom, q).", &["(a axiom 1:1 fof(a, axiom, 'p ).)", "b"]);
        check("fof(a, axiom, p). /* open", &["a", "(? 1:19 /* open)"]);
    }

    #[test]
    fn hostile_damage_takes_linear_time() {
        for piece in ["'\\", "/*", "\"", "%\n", "\nfof", ")."] {
            let text = format!("fof(a, axiom, & {}", piece.repeat(300_000));
            let (mut reader, mut names) = (Reader::new(&text, Limits::default()), Interner::new());
            assert!(reader.next(&mut names).is_err());
            assert!(reader.recover().is_some());
        }
    }
}
