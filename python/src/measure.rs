//! How good a model is: what `formulanet eval` does.

use std::path::PathBuf;

use formulanet::Error;
use formulanet::model::{JointModelFile, ModelFile};
use formulanet::net::Network;
use formulanet_train::dataset::{HoldOut, Prepared, ProblemOptions, Problems, Split};
use formulanet_train::eval::{
    Company, Reader, TokenMap, evaluate, pairs_of, pool_ranking, predict, predict_together, rank_premises,
    retriever_ranking,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::refused;
use crate::input::one_of;
use crate::interrupt::{OnInterrupt, Stop, interruptible};
use crate::models::{Kind, Loaded, Model};

const SPLITS: [(&str, &[Split]); 4] = [
    ("train", &[Split::Train]),
    ("validation", &[Split::Validation]),
    ("test", &[Split::Test]),
    ("all", &Split::ALL),
];

/// Measures a model, and answers with JSON. Models that read statements one by one need a prepared folder; one that reads
/// them together takes raw data, too.
#[pyfunction]
pub(crate) fn eval(
    py: Python<'_>,
    model: Py<Model>,
    data: PathBuf,
    split: &str,
    limit_pairs: Option<usize>,
) -> PyResult<String> {
    let splits = one_of(py, &SPLITS, "split", split)?;
    let model = model.get().0.clone();
    if limit_pairs.is_some() && model.trained().is_some_and(ModelFile::ranks) {
        return Err(refused(py, "`limit_pairs` has no effect with a model that ranks premises"));
    }
    let report = interruptible(py, OnInterrupt::Leave, move |stop| match (&model.kind, model.trained()) {
        (Kind::Together(file, _), _) => together(file, &model, &data, (splits, limit_pairs), stop),
        (_, Some(trained)) => one_by_one(trained, &model, &data, (splits, limit_pairs), stop),
        (_, None) => Err(Error::ReadsTogether { model: model.name.clone() }),
    })?;
    Ok(report.to_string())
}

fn nothing(counts: [usize; 3], what: &str) -> Error {
    let [train, validation, test] = counts;
    let message = format!(
        "expected {what} to measure, found none: there are {train} for training, {validation} for validation and {test} \
         for test; choose others with `split`"
    );
    Error::Input { place: "data".to_owned(), message }
}

fn one_by_one(
    trained: &ModelFile,
    model: &Loaded,
    data: &std::path::Path,
    (splits, limit): (&[Split], Option<usize>),
    stop: &Stop,
) -> Result<Value, Error> {
    let prepared = Prepared::open(data)?;
    prepared.verify()?;
    let view = trained.origin.view;
    if prepared.meta().options.view != view {
        let [expected, found] = [view, prepared.meta().options.view].map(formulanet::logic::View::name);
        let message = format!(
            "expected the model's view '{expected}', found '{found}'; prepare it with `view='{expected}'`"
        );
        return Err(Error::Input { place: data.display().to_string(), message });
    }
    let map = TokenMap::new(prepared.vocabulary(), &trained.vocabulary, &model.name)?;
    let network = Network::new(trained.model.clone(), model.compute());
    if trained.ranks() {
        let ranking = rank_premises(&network, &trained.prior_knowledge(), &prepared, &map, splits, stop)?;
        return Ok(json!(ranking));
    }
    let mut pairs: Vec<u32> = splits.iter().flat_map(|&split| pairs_of(&prepared, split, limit, 0)).collect();
    pairs.truncate(limit.unwrap_or(usize::MAX));
    if pairs.is_empty() {
        return Err(nothing(Split::ALL.map(|split| pairs_of(&prepared, split, None, 0).len()), "pairs"));
    }
    let predictions = predict(&network, &trained.seen, &prepared, &map, &pairs, stop)?;
    Ok(json!(evaluate(&predictions.last, &predictions.steps)?))
}

fn together(
    file: &JointModelFile,
    model: &Loaded,
    data: &std::path::Path,
    (splits, limit): (&'static [Split], Option<usize>),
    stop: &Stop,
) -> Result<Value, Error> {
    // Raw data is split as it is for training, if a split is asked for.
    let held_out = if splits.contains(&Split::Test) { 0 } else { 700 };
    let options = ProblemOptions {
        validation: HoldOut::Number(held_out),
        seed: 0,
        keep_going: false,
        threads: model.threads(),
    };
    let problems = Problems::open(data, &options, stop)?;
    let company = Company { splits, present: None, most: limit };
    let mut reader = Reader::new(file, &problems, false, model.compute())?;
    let predictions = predict_together(&mut reader, &problems, &company, stop)?;
    if predictions.last.is_empty() {
        let counts = Split::ALL.map(|split| problems.of_split(split).count());
        return Err(nothing(counts, "conjectures with statements"));
    }
    if !problems.features().is_empty() {
        let read = pool_ranking(&problems, &predictions)?;
        return Ok(json!({ "retrieved": retriever_ranking(&problems, splits)?, "read": read }));
    }
    let mut report = json!(evaluate(&predictions.last, &predictions.steps)?);
    report["together"] = json!(true);
    Ok(report)
}
