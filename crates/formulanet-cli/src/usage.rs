//! Wrong usage that shows only after the arguments were parsed. It ends like what clap finds: exit code 2.

use std::fmt::{self, Display, Formatter};

use anyhow::Result;

/// A wrong use of arguments.
#[derive(Debug)]
struct Usage(String);

impl Display for Usage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\nFor more information, try '--help'.", self.0)
    }
}

impl std::error::Error for Usage {}

/// Wrong usage, in words.
pub fn wrong(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// Refuses a flag that has no effect.
pub fn refuse(flag: &str, with: &str) -> anyhow::Error {
    wrong(format!("the argument '{flag}' cannot be used with {with}"))
}

/// Refuses the first of some flags that was given.
pub fn refuse_given(flags: &[(&str, bool)], with: &str) -> Result<()> {
    flags.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(flag, _)| Err(refuse(flag, with)))
}

/// The exit code of an error.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() { 2 } else { 1 }
}
