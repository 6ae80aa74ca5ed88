//! A run of several processes: the first has the folder, all have the weights.

use formulanet::net::{Compute, Dealing, Group, Meeting, Shape, State};
use serde::Serialize;

use super::folder::RunFolder;
use super::{Reached, folder};
use crate::{Error, processes};
use formulanet::error::Artefact;
use formulanet::model::recipe::Recipe;

/// Refuses processes that would not compute the same; `facts` says what is known of the data and of the first weights.
pub(super) fn agree(
    compute: &Compute,
    recipe: &impl Serialize,
    facts: impl FnOnce() -> (String, String),
) -> Result<(), Error> {
    let group = compute.group();
    if group.size() == 1 {
        return Ok(());
    }
    let recipe = toml::to_string(recipe).expect("a recipe is plain data").replace('\n', ", ");
    let (data, first) = facts();
    let facts = [
        ("program", processes::program().to_owned()),
        ("kind of CPU", compute.instructions().to_owned()),
        ("data", data),
        ("recipe", recipe),
        ("first weights", first),
    ];
    processes::agree(group, &facts)
}

/// Which part of every batch this process has. Refuses more processes than a batch has work for.
pub(super) fn dealing(group: &dyn Group, recipe: &Recipe) -> Result<Dealing, Error> {
    let dealing = Dealing { micro_batch: recipe.micro_batch, rank: group.rank(), ranks: group.size() };
    let graphs = match recipe.meeting {
        Meeting::Towers => recipe.batch * (1 + recipe.useful) + recipe.random,
        _ => recipe.batch * if recipe.conditional { 2 } else { 1 },
    };
    let most = dealing.most_parallel(graphs);
    if group.size() <= most {
        return Ok(dealing);
    }
    Err(Error::TooManyProcesses { most, processes: group.size() })
}

/// Reads the checkpoint in the first process and gives it to the others, who need not see the folder.
pub(super) fn restore<S: Shape>(
    group: &dyn Group,
    run: Option<&mut RunFolder>,
    state: &mut State<S>,
) -> Result<Reached, Error> {
    let mut reached = Reached::default();
    let mut bytes = Vec::new();
    if let Some(run) = run {
        reached = run.restore(state)?;
        if state.optimiser.steps() != reached.step {
            return Err(run.damaged("a checkpoint whose steps disagree"));
        }
        if group.size() > 1 {
            bytes = folder::state_bytes(state, &reached).map_err(|message| run.damaged(&message))?;
        }
    }
    let bytes = processes::from_first(group, bytes);
    if !group.is_first() {
        let wrong = |found: String| {
            Error::corrupt(Artefact::Checkpoint, "rank 0", format!("expected its checkpoint, found {found}"))
        };
        reached = folder::restore_bytes(state, &bytes).map_err(wrong)?;
    }
    Ok(reached)
}

/// Refuses to go on if the processes have come to different weights, which only a faulty machine makes them do.
pub(super) fn same_weights<S: Shape>(group: &dyn Group, state: &State<S>) -> Result<(), Error> {
    if group.size() == 1 {
        return Ok(());
    }
    let mut bytes = Vec::with_capacity(4 * state.model.values().len());
    state.model.values().iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    processes::agree(group, &[("weights", format!("{:016x}", processes::digest(&bytes)))])
}
