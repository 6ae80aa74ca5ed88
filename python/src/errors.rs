//! Errors as exceptions of Python.

use formulanet::Error;
use formulanet::error::Hint;
use formulanet::logic::TooLarge;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;

/// The exception for an error: `formulanet.ParseError` if it has a place in a text, what Python raises for files itself, or
/// `formulanet.Error`.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let mut message = error.to_string();
    if let Some(advice) = error.hint().and_then(advice) {
        message += &format!("; {advice}");
    }
    match error {
        Error::Parse { file, cause } => {
            let (line, column) = (cause.position.line, cause.position.column);
            raise(py, "ParseError", (message, file, line, column, &cause.expected, &cause.found))
        }
        Error::TooLarge { file, position, cause: TooLarge { what, limit, found } } => {
            let (expected, found) = (format!("at most {limit} {what}"), found.to_string());
            raise(py, "ParseError", (message, file, position.line, position.column, expected, found))
        }
        Error::Io { file, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, system_text(source), file.clone())),
            None => raise(py, "Error", (format!("{message}: {source}"),)),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => raise(py, "Error", (message,)),
    }
}

/// `formulanet.Error` with a message.
pub(crate) fn refused(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, "Error", (message.into(),))
}

/// An exception of the package. If it cannot be made, that is the exception.
fn raise<'py, A>(py: Python<'py>, name: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let made = || py.import("formulanet._errors")?.getattr(name)?.call1(arguments);
    made().map_or_else(|error| error, PyErr::from_value)
}

/// The error of the operating system, without the number that Rust adds.
fn system_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The way out, in words of the package.
fn advice(hint: Hint) -> Option<&'static str> {
    Some(match hint {
        Hint::AddToLibrary => "add to it with `Library.add`, or choose another name",
        Hint::MakeLibrary => "make one with `Library.build`",
        Hint::RepairLibrary => "save what can be read with the command `formulanet library verify --repair`",
        Hint::ModelOfLibrary => "build the library again",
        Hint::RequireFewer => "raise `k` or name fewer in `include`",
        Hint::PrepareProblems => "prepare it again with `together=True`, or give the raw data",
        Hint::Prepare => "make one with `formulanet.prepare`",
        Hint::NameFormat => "name the format with `input_format`",
        Hint::HoldOutFewer => "hold out fewer conjectures with `validation`",
        Hint::OtherSplit => "choose others with `split`, or other data",
        Hint::Resume => "go on with `resume=True`, or choose another folder",
        Hint::LowerRate => "try a lower `rate` or a smaller `clip`",
        _ => return None,
    })
}
