//! Results on standard output, for people or for programs.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;

use crate::input::writing;

/// `--format`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Text,
    /// For programs: one JSON object a line
    Json,
}

/// Writes a file that the user asked for.
pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))
}

impl Output {
    /// Prints a result in one way or the other.
    pub(crate) fn print(self, text: impl Display, value: &impl Serialize) -> Result<()> {
        let mut out = io::stdout().lock();
        match self {
            Output::Text => writing(write!(out, "{text}")),
            Output::Json => writing(writeln!(out, "{}", serde_json::to_string(value)?)),
        }
    }
}
