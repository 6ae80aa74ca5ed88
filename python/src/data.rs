//! Prepared folders.

use std::path::PathBuf;

use formulanet::Error;
use formulanet::logic::View;
use formulanet::net::Alone;
use formulanet_train::dataset::{self as data, HoldOut, Labels, Layout, Options, Preparation, Prepared};
use formulanet_train::processes;
use pyo3::prelude::*;

use crate::input::{maybe_one_of, one_of};
use crate::interrupt::{OnInterrupt, interruptible};

/// Which conjectures are held out.
#[derive(FromPyObject)]
pub(crate) enum Held {
    Number(usize),
    Share(f64),
    Names(Vec<String>),
}

impl From<Held> for HoldOut {
    fn from(held: Held) -> Self {
        match held {
            Held::Number(number) => HoldOut::Number(number),
            Held::Share(share) => HoldOut::Fraction(share),
            Held::Names(names) => HoldOut::Names(names),
        }
    }
}

/// How data is prepared.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    input: PathBuf,
    out: PathBuf,
    input_format: Option<String>,
    view: String,
    validation: Held,
    seed: u64,
    min_count: u64,
    rename_variables: Option<u64>,
    together: bool,
    keep_going: bool,
    /// Whether labels of held-out statements count, too: for a model that was trained elsewhere.
    all_labels: bool,
    threads: Option<usize>,
}

/// Prepares a data set, and says which statements were left out.
#[pyfunction]
pub(crate) fn prepare(py: Python<'_>, asked: Asked) -> PyResult<(usize, Vec<String>)> {
    let layout = maybe_one_of(py, &Layout::ALL, "input_format", asked.input_format.as_deref())?;
    let options = Options {
        view: one_of(py, &View::ALL, "view", &asked.view)?,
        validation: asked.validation.into(),
        seed: asked.seed,
        rename_variables: asked.rename_variables,
        labels: if asked.all_labels { Labels::All } else { Labels::Training },
        min_count: asked.min_count,
        together: asked.together,
        keep_going: asked.keep_going,
        ..Options::default()
    };
    let threads = asked.threads.unwrap_or_else(|| processes::threads(&Alone)).max(1);
    let (input, out) = (asked.input, asked.out);
    interruptible(py, OnInterrupt::Wait, move |stop| {
        match data::prepare(&input, &out, layout, &options, threads, stop)? {
            Preparation::Written(_, skipped) => Ok((skipped.count, skipped.first)),
            Preparation::AlreadyThere(_) => Ok((0, Vec::new())),
        }
    })
}

/// A prepared folder for programs that map its arrays themselves.
#[derive(IntoPyObject)]
pub(crate) struct Arrays {
    /// The description of the directory, as JSON.
    meta: String,
    vocabulary: Vec<String>,
    /// The file that has the arrays.
    file: PathBuf,
    /// Name, type as numpy writes it, first byte and number of entries.
    places: Vec<(&'static str, &'static str, usize, usize)>,
}

/// Checks a prepared folder, and says where its arrays lie.
#[pyfunction]
pub(crate) fn arrays(py: Python<'_>, path: PathBuf) -> PyResult<Arrays> {
    interruptible(py, OnInterrupt::Leave, move |_| -> Result<Arrays, Error> {
        let prepared = Prepared::open(&path)?;
        let place = |place: data::Place| {
            let (kind, width) = match place.width {
                1 => ("<u1", 1),
                2 => ("<u2", 2),
                4 => ("<u4", 4),
                _ => ("<u8", 8),
            };
            (place.name, kind, place.bytes.start, place.bytes.len() / width)
        };
        Ok(Arrays {
            meta: serde_json::to_string(prepared.meta()).expect("what a folder says of itself is plain data"),
            vocabulary: prepared.vocabulary().to_vec(),
            file: prepared.arrays_file(),
            places: prepared.places().into_iter().map(place).collect(),
        })
    })
}
