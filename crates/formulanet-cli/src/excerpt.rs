//! The line that an error is about, with a mark under the place.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Mutex, PoisonError};

use console::measure_text_width;
use formulanet::Error;
use formulanet::logic::Position;
use formulanet_server::StartError;

/// Texts that are in no file: formulas on the command line and on standard input, by what messages call them.
static TYPED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Texts that are remembered, at most, and bytes of each.
const MOST: usize = 8;
const LONGEST: usize = 1 << 20;

/// Characters that are shown of a line, and before the mark.
const SHOWN: usize = 76;
const BEFORE: usize = 50;

/// Remembers a text that is in no file.
pub(crate) fn remember(source: &str, text: &str) {
    let mut typed = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    if typed.len() < MOST && text.len() <= LONGEST {
        typed.push((source.to_owned(), text.to_owned()));
    }
}

/// The line that an error names, with a mark under the place, if it can be had.
pub(crate) fn excerpt(error: &anyhow::Error) -> Option<String> {
    let (file, position) = error.chain().find_map(|cause| match cause.downcast_ref::<StartError>() {
        Some(StartError::Data(error)) => place(error),
        _ => cause.downcast_ref().and_then(place),
    })?;
    let typed = TYPED.lock().unwrap_or_else(PoisonError::into_inner);
    let line = match typed.iter().rev().find(|(source, _)| source == file) {
        Some((_, text)) => text.lines().nth(position.line.checked_sub(1)?)?.to_owned(),
        None => line_of(file, position.line)?,
    };
    Some(marked(&line, position))
}

fn place(error: &Error) -> Option<(&str, Position)> {
    match error {
        Error::Parse { file, cause } => Some((file, cause.position)),
        _ => None,
    }
}

/// A line of a file, if it is text.
fn line_of(file: &str, number: usize) -> Option<String> {
    let file =
        File::open(file).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
    let mut reader = BufReader::new(file);
    for _ in 1..number {
        reader.skip_until(b'\n').ok()?;
    }
    let mut line = Vec::new();
    reader.take(LONGEST as u64).read_until(b'\n', &mut line).ok()?;
    String::from_utf8(line).ok().filter(|line| !line.is_empty())
}

/// A line with a mark, and of a long one what is around the mark.
fn marked(line: &str, Position { line: number, column }: Position) -> String {
    let characters: Vec<char> =
        line.trim_end_matches(['\n', '\r']).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let column = column.saturating_sub(1).min(characters.len());
    let first = if column + 8 < SHOWN { 0 } else { column.saturating_sub(BEFORE) };
    let last = (first + SHOWN).min(characters.len());
    let text = |from: usize, to: usize| characters[from..to].iter().collect::<String>();
    let (head, tail) = (if first > 0 { "…" } else { "" }, if last < characters.len() { "…" } else { "" });
    let before = measure_text_width(&format!("{head}{}", text(first, column)));
    let margin = " ".repeat(number.to_string().len());
    format!("{number} | {head}{}{tail}\n{margin} | {}^", text(first, last), " ".repeat(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_marked() {
        let check = |line: &str, column: usize, expected: &str| {
            assert_eq!(marked(line, Position { line: 12, column }), expected);
        };
        check("m + = n\n", 5, "12 | m + = n\n   |     ^");
        check("m +", 4, "12 | m +\n   |    ^");
        check("", 1, "12 | \n   | ^");
        check("é\tß = ", 4, "12 | é ß = \n   |    ^");
        check("∀∀", 99, "12 | ∀∀\n   |   ^");
        let long = format!("{}!{}", "a".repeat(200), "b".repeat(200));
        let shown = format!("12 | …{}!{}…\n   | {}^", "a".repeat(50), "b".repeat(25), " ".repeat(51));
        check(&long, 201, &shown);
    }
}
