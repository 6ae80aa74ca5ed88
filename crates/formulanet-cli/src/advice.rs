//! What the user can do about an error of the library, in words of the command line.

use formulanet::Error;

/// The flag or command that leads out, if there is one.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    let advice = match error.downcast_ref::<Error>()? {
        Error::Exists { found: "a file", .. } => "add to it with `library add`, or choose another name",
        Error::NoSuchLibrary { .. } => "make one with `formulanet library build`",
        Error::OtherModel { .. } => "give that one with --model, or build the library again",
        Error::TooManyForced { .. } => "raise -k or name fewer with --include",
        _ => return None,
    };
    Some(advice.to_owned())
}
