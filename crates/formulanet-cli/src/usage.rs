//! Wrong usage: flags that do not fit together, or have no effect where they stand.

use anyhow::Result;

/// Wrong usage in words; the program ends with 2.
#[derive(Debug)]
pub(crate) struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n\nFor more information, try '--help'.", self.0)
    }
}

impl std::error::Error for Usage {}

/// Refuses a command line.
pub(crate) fn refuse<T>(message: impl Into<String>) -> Result<T> {
    Err(Usage(message.into()).into())
}

/// Refuses flags that were given although they have no effect, because of something else that was given.
pub(crate) fn refuse_idle(flags: &[(&str, bool)], because: &str) -> Result<()> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => refuse(format!("{flag} has no effect {because}: leave it out")),
        None => Ok(()),
    }
}
