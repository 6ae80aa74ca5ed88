//! What the user can do about an error of the library, in words of the command line.

use formulanet::Error;
use formulanet::logic::{Limit, ParseError};

/// The flag or command that leads out, if there is one.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| match cause.downcast_ref::<Error>() {
        Some(error) => of_library(error),
        None => cause.downcast_ref::<ParseError>().and_then(|error| error.limit).map(raise),
    })
}

fn of_library(error: &Error) -> Option<String> {
    let advice = match error {
        Error::Parse { cause, .. } => return cause.limit.map(raise),
        Error::TooLarge { cause, .. } => return Some(raise(cause.what)),
        Error::OtherModel { .. } => "give that one with --model, or build the library again",
        Error::TooManyForced { .. } => "raise -k or name fewer with --include",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn raise(limit: Limit) -> String {
    match limit {
        Limit::Edges | Limit::Statements => "give fewer or smaller statements".to_owned(),
        limit => format!("raise the limit with --max-{limit}"),
    }
}
