//! Results on standard output, for people or for programs.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Result;
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
