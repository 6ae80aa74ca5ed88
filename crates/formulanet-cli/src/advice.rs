//! What the user can do about an error of the library, in words of the command line.

use formulanet::Error;

/// The flag or command that leads out, if there is one.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    let advice = match error.downcast_ref::<Error>()? {
        Error::OtherModel { .. } => "give that one with --model, or build the library again",
        Error::TooManyForced { .. } => "raise -k or name fewer with --include",
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
