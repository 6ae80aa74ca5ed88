//! `formulanet eval` for a model that reads a conjecture and its statements together.

use anyhow::{Result, bail};
use formulanet::Symbols;
use formulanet::model::JointModelFile;
use formulanet_train::dataset::{HoldOut, ProblemOptions, Problems, Split};
use formulanet_train::eval::{Company, Reader, pool_ranking, predict_together, retriever_ranking};
use serde_json::{Value, json};

use super::{Arguments, Part, report};
use crate::processes::speaks;
use crate::progress::Bar;
use crate::usage::refuse_given;

/// Measures such a model.
pub(super) fn run(file: &JointModelFile, arguments: &Arguments) -> Result<()> {
    let is_prepared = arguments.data()?.join("meta.json").is_file();
    if is_prepared {
        refuse_given(&[("--keep-going", arguments.keep_going)], "a prepared folder")?;
    }
    // Raw data is split as `prepare` does it, if a split is asked for.
    let held_out = if matches!(arguments.split, None | Some(Part::All | Part::Test)) { 0 } else { 700 };
    let options = ProblemOptions {
        validation: HoldOut::Number(held_out),
        seed: 0,
        keep_going: arguments.keep_going,
        threads: arguments.compute.threads(),
    };
    let mut problems = Problems::open(arguments.data()?, &options, &Bar::new())?;
    if let Some(share) = arguments.useful_share {
        problems = problems.with_useful_share(share);
    }
    if problems.origin().skipped.count > 0 && speaks() {
        tell!("skipped {} statements", problems.origin().skipped.count);
    }
    let is_pool = !problems.features().is_empty();
    let usual = if is_prepared || is_pool { Part::Validation } else { Part::All };
    let splits = arguments.split.unwrap_or(usual).splits();
    let company = Company { splits, present: arguments.group_size, most: arguments.limit_pairs };
    let (compute, hides_names) = (arguments.compute.compute(), arguments.symbols == Symbols::Anonymous);
    let mut reader = Reader::new(file, &problems, hides_names, compute)?;
    let predictions = predict_together(&mut reader, &problems, &company, &Bar::new())?;
    if predictions.last.is_empty() {
        let [train, validation, test] = Split::ALL.map(|split| problems.of_split(split).count());
        bail!(
            "expected conjectures with statements to measure, found none: there are {train} for training, {validation} \
             for validation and {test} for test; choose others with --split"
        );
    }
    if !speaks() {
        return Ok(());
    }
    if is_pool {
        let flags =
            [("--report", arguments.report.is_some()), ("--predictions", arguments.predictions.is_some())];
        refuse_given(&flags, "pools of a retriever")?;
        let read = pool_ranking(&problems, &predictions)?;
        let retrieved = retriever_ranking(&problems, splits)?;
        let text = format!("retrieved\n{retrieved}\n\nthen read together\n{read}\n");
        return arguments.format.print(text, &json!({ "retrieved": retrieved, "read": read }));
    }
    let facts = Facts { group_size: arguments.group_size, useful_share: arguments.useful_share, hides_names };
    let name = |conjecture: u32| problems.problem(conjecture as usize).name;
    report(arguments.model(), &predictions, &name, Some(&facts), arguments)
}

/// In which company statements were judged, for the report.
pub(super) struct Facts {
    group_size: Option<usize>,
    useful_share: Option<f32>,
    hides_names: bool,
}

impl Facts {
    /// For people.
    pub(super) fn text(&self) -> String {
        let group = match self.group_size {
            Some(size) => format!("in groups of {size}"),
            None => "all at once".to_owned(),
        };
        let hidden = if self.hides_names { ", names of symbols hidden" } else { "" };
        let useful = match self.useful_share {
            Some(share) => format!(", others left out until a share of {share} is useful"),
            None => String::new(),
        };
        format!("the statements of a conjecture are read together, {group}{hidden}{useful}\n\n")
    }

    /// For programs: what a report says, and this.
    pub(super) fn add_to(&self, report: &mut Value) {
        report["together"] = json!(true);
        report["group_size"] = json!(self.group_size);
        report["useful_share"] = json!(self.useful_share);
        report["names_hidden"] = json!(self.hides_names);
    }
}
