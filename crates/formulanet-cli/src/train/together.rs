//! `formulanet train --together`: a network learns to read a conjecture and its statements together.

use anyhow::{Context, Result};
use formulanet::model::joint::JointRecipe;
use formulanet_train::dataset::{HoldOut, ProblemOptions, Problems};
use formulanet_train::processes;
use formulanet_train::train::{TogetherRun, train_together};

use super::{Arguments, read_recipe, recipe_of};
use crate::processes::group;
use crate::progress::Bar;
use crate::usage::refuse_given;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let (folder, recipe): (_, JointRecipe) = match &arguments.resume {
        Some(folder) => (folder, recipe_of(folder)?),
        None => {
            let recipe = match &arguments.recipe {
                Some(file) => read_recipe(file)?,
                None => JointRecipe::default(),
            };
            let folder = arguments.out.as_ref().context("expected --out")?;
            (folder, arguments.changes.apply_together(&recipe)?)
        }
    };
    if arguments.data.join("meta.json").is_file() {
        refuse_given(&[("--validation", arguments.validation.is_some())], "a prepared folder")?;
    }
    let options = ProblemOptions {
        validation: arguments.validation.clone().unwrap_or(HoldOut::Number(700)),
        seed: 0,
        keep_going: false,
        threads: arguments.threads.unwrap_or_else(|| processes::threads(group())),
    };
    let mut problems = Problems::open(&arguments.data, &options, &Bar::new())?;
    for more in &arguments.also {
        problems.append(Problems::open(more, &options, &Bar::new())?)?;
    }
    let run = TogetherRun { problems: &problems, recipe: &recipe, folder, options: arguments.options() };
    arguments.watch(folder, |progress, listen| train_together(&run, progress, listen))
}
