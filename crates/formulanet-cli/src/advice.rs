//! What the user can do about an error of the library, in words of the command line.

use formulanet::Error;
use formulanet::logic::{Limit, ParseError};
use formulanet_server::StartError;

/// The flag or command that leads out, if there is one.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<Error>() {
            of_library(error)
        } else if let Some(StartError::Data(error)) = cause.downcast_ref() {
            of_library(error)
        } else {
            cause.downcast_ref::<ParseError>().and_then(|error| error.limit).map(raise)
        }
    })
}

fn of_library(error: &Error) -> Option<String> {
    let advice = match error {
        Error::Parse { cause, .. } => return cause.limit.map(raise),
        // A network counts nodes in sixteen bits, whatever the limits say.
        Error::TooLarge { cause, .. } if cause.what == Limit::Nodes && cause.limit == u64::from(u16::MAX) => {
            "give smaller statements"
        }
        Error::TooLarge { cause, .. } => return Some(raise(cause.what)),
        Error::Exists { found: "a file", .. } => "add to it with `library add`, or choose another name",
        Error::NoSuchLibrary(_) => "make one with `formulanet library build`",
        Error::OtherModel { .. } => "give that one with --model, or build the library again",
        Error::TooManyForced { .. } => "raise -k or name fewer with --include",
        Error::NoProblems { .. } => "prepare it again with --together, or give the raw data",
        Error::NotPrepared(_) => "make one with `formulanet prepare`",
        Error::UnknownLayout { .. } => "name the format with --input-format",
        Error::TooFewPairs { .. } => "hold out fewer conjectures with --validation",
        Error::NothingHeldOut { training, .. } => {
            let most = training.saturating_sub(1).max(1);
            return Some(format!("give --validation a number from 1 to {most}, and choose another folder"));
        }
        Error::NothingToRank(_) => "choose others with --split, or other data",
        Error::ForeignModel { .. } => "choose one that was trained on such data with --model",
        Error::RunExists(_) => "go on with --resume, or choose another folder with --out",
        Error::OtherData { .. } => "give the same --data",
        Error::OtherWork { .. } => "remove it, or choose another folder with --work",
        Error::Diverged { .. } => "try a lower --rate or a smaller --clip",
        Error::TooManyProcesses { .. } => "start fewer, raise --batch or lower --micro-batch",
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
