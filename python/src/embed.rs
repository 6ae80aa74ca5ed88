//! Statements as vectors, and statements as they stand in files.

use formulanet::Language;
use formulanet::analyze::Analyzer;
use formulanet::embed::Embeddings;
use formulanet::logic::{Interner, hol};
use formulanet::model::encode::Encoded;
use formulanet::model::registry;
use formulanet::read::{Format, Source};
use formulanet_train::{Error, Progress};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

use crate::input::{Part, maybe_one_of, open, read_each};
use crate::interrupt::{OnInterrupt, interruptible};
use crate::models::{Loaded, Model};

/// Statements that are embedded between two looks at whether to stop; the library takes as many at once.
const CHUNK: usize = 4096;

/// A row for each statement. The numbers are made once: Python gets the memory that they are in.
#[pyfunction]
pub(crate) fn embed<'py>(
    py: Python<'py>,
    parts: Vec<Part>,
    syntax: Option<&str>,
    input_format: Option<&str>,
    model: Option<Py<Model>>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let syntax = maybe_one_of(py, &Language::ALL, "syntax", syntax)?;
    let format = maybe_one_of(py, &Format::ALL, "input_format", input_format)?;
    let model = model.map(|model| model.get().0.clone());
    let (values, width) = interruptible(py, OnInterrupt::Leave, move |stop| {
        let parts = open(parts, format)?;
        let own = parts.first().map(|part| part.syntax(syntax));
        let model = match model {
            Some(model) => model,
            None => Loaded::named(registry::for_language(own.or(syntax).unwrap_or_default()))?,
        };
        let retriever = model.retriever()?;
        let mut encoded: Vec<Encoded> = Vec::new();
        read_each(Analyzer::new(retriever).without_features(), parts, syntax, stop, |premise| {
            encoded.push(premise.encoded);
            Ok(())
        })?;
        let width = retriever.network().model().config().width();
        let mut values = Vec::with_capacity(encoded.len() * width);
        for chunk in encoded.chunks(CHUNK) {
            stop.check()?;
            let vectors = Embeddings::of_encoded(retriever, &chunk.iter().collect::<Vec<_>>());
            vectors.rows().for_each(|row| values.extend_from_slice(row));
        }
        Ok((values, width))
    })?;
    let rows = values.len().checked_div(width).unwrap_or(0);
    let array = Array2::from_shape_vec((rows, width), values).expect("a row for each statement");
    Ok(array.into_pyarray(py))
}

/// Name, statement, syntax, role, file, line.
type Row = (String, String, &'static str, String, String, usize);

/// The statements of a file, conjectures included.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, file: String, input_format: Option<&str>) -> PyResult<Vec<Row>> {
    let format = maybe_one_of(py, &Format::ALL, "input_format", input_format)?;
    interruptible(py, OnInterrupt::Leave, move |stop| -> Result<Vec<Row>, Error> {
        let mut items = Source::open(&file)?.in_format(format).items(hol::Options::default())?;
        let (mut names, mut rows) = (Interner::new(), Vec::new());
        while let Some(item) = items.next(&mut names)? {
            stop.check()?;
            let (text, role, file) = (item.text.to_owned(), item.role.to_owned(), item.file.to_owned());
            rows.push((item.shown_name(), text, item.language.name(), role, file, item.position.line));
        }
        Ok(rows)
    })
}
