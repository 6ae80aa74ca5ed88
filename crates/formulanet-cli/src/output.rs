//! Results on standard output, for people or for programs.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use formulanet::util::files::write_whole;
pub use formulanet_server::tell;
use serde::Serialize;

use crate::input::writing;
use crate::usage::wrong;

/// `--format`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    Text,
    /// For programs: one JSON object a line
    Json,
}

/// A text for people, in one line: control characters, which could do anything to a terminal or look like another line, are
/// shown as such.
pub fn shown(text: &str) -> Cow<'_, str> {
    // Beside control characters, those that change the direction of what follows, or begin a line or a paragraph.
    let is_plain = |c: char| {
        !c.is_control()
            && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.chars().all(is_plain) {
        return text.into();
    }
    let escaped = |c: char| if is_plain(c) { c.to_string() } else { c.escape_default().to_string() };
    text.chars().map(escaped).collect::<String>().into()
}

/// Writes a file that the user asked for, whole or not at all. A pipe or a device is written to as it is.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))
        }
        // What a link leads to is replaced, not the link.
        Ok(_) => Ok(write_whole(&fs::canonicalize(path)?, content.as_ref())?),
        Err(_) => Ok(write_whole(path, content.as_ref())?),
    }
}

/// Refuses to write over what is read.
pub fn refuse_own_input<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let Ok(place) = fs::canonicalize(out) else { return Ok(()) };
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input == place && input.is_file()) {
            return Err(wrong(format!(
                "--out {} would overwrite what is read: name another file",
                out.display()
            )));
        }
    }
    Ok(())
}

impl Output {
    /// Prints a result in one way or the other.
    pub fn print(self, text: impl Display, value: &impl Serialize) -> Result<()> {
        let mut out = io::stdout().lock();
        match self {
            Output::Text => writing(write!(out, "{text}")),
            Output::Json => writing(writeln!(out, "{}", serde_json::to_string(value)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(shown("ADD_SYM ∀x. x"), "ADD_SYM ∀x. x");
        assert_eq!(shown("a\nb: T\u{1b}[31m"), "a\\nb: T\\u{1b}[31m");
        assert_eq!(shown("\u{202e}x\u{9b}"), "\\u{202e}x\\u{9b}");
    }
}
