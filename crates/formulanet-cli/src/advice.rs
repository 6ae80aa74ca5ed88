//! Hints of the library in flags and commands of the command line.

use formulanet::Error;
use formulanet::error::{Hint, of_limit};
use formulanet::logic::ParseError;
use formulanet_server::StartError;

/// The flag or command that leads out, if there is one.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    let hint = error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<Error>() {
            error.hint()
        } else if let Some(StartError::Data(error)) = cause.downcast_ref() {
            error.hint()
        } else {
            cause.downcast_ref::<ParseError>().and_then(|error| error.limit).map(of_limit)
        }
    })?;
    let words = match hint {
        Hint::RaiseLimit(limit) => return Some(format!("raise the limit with --max-{limit}")),
        Hint::HoldOut(most) => {
            return Some(format!("give --validation a number from 1 to {most}, and choose another folder"));
        }
        Hint::SmallerStatements => "give fewer or smaller statements",
        Hint::AddToLibrary => "add to it with `library add`, or choose another name",
        Hint::MakeLibrary => "make one with `formulanet library build`",
        Hint::RepairLibrary => "save what can be read with `formulanet library verify --repair`",
        Hint::ModelOfLibrary => "give that one with --model, or build the library again",
        Hint::RequireFewer => "raise -k or name fewer with --include",
        Hint::PrepareProblems => "prepare it again with --problems, or give the raw data",
        Hint::Prepare => "make one with `formulanet prepare`",
        Hint::NameFormat => "name the format with --input-format",
        Hint::HoldOutFewer => "hold out fewer conjectures with --validation",
        Hint::OtherSplit => "choose others with --split, or other data",
        Hint::OtherModel => "choose one that was trained on such data with --model",
        Hint::Resume => "go on with --resume, or choose another folder with --out",
        Hint::SameData => "give the same --data",
        Hint::OtherFolder => "remove it, or choose another folder with --work",
        Hint::LowerRate => "try a lower --rate or a smaller --clip",
        Hint::FewerProcesses => "start fewer, raise --batch or lower --micro-batch",
        _ => return None,
    };
    Some(words.to_owned())
}
