//! Fitting the reader to the proofs of one library.

use std::fs;
use std::time::Duration;

use formulanet::logic::Limits;
use formulanet::net::Compute;
use serde::Serialize;

use super::{
    Event, PoolOptions, PoolSource, RunEnd, RunOptions, TogetherRun, make_pools, train_together_from,
};
use crate::dataset::{HoldOut, Problems, Split};
use crate::eval::{Company, Reader, pool_ranking, predict_together};
use crate::{Error, Progress, Silent};
use formulanet::model::JointModelFile;
use formulanet::model::joint::JointRecipe;
use formulanet::util::files;
use formulanet::{Language, Library};

/// How a network is fitted to a library.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LibraryTraining {
    /// About how long it may take.
    pub budget: Duration,
    /// Decides what is held out, and the order of training.
    pub seed: u64,
    /// Threads that compute.
    pub threads: usize,
}

/// Whether that helped.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LibraryTrained {
    /// Proofs that it was trained on.
    pub proofs: usize,
    /// Proofs that were held out, to measure with.
    pub held_out: usize,
    /// Mean average precision for these by the reader that it began with.
    pub before: f64,
    /// The value for the fitted re-ranker.
    pub after: f64,
    /// Whether the fitted reader is better, and now in the library.
    pub is_kept: bool,
}

/// Fewer proofs tell nothing.
const FEWEST: usize = 40;
/// Nodes that a thread reads and learns from in a second, less than measured.
const PACE: f64 = 60_000.0;
/// Candidates of a pool, as many as there is time for.
const POOLS: [usize; 3] = [128, 64, 32];

/// A line of a theory file.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    statement: &'a str,
    syntax: Language,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Vec<String>>,
}

/// Fits a reader to the proofs of a library. It begins with the weights of another, and the symbols of the library get vectors of
/// their own. A tenth of the proofs is held out. The library keeps the new reader if it orders candidates for these better.
///
/// # Errors
///
/// If the library has too few proofs, the time is too short, or `progress` stops it.
pub fn train_library(
    library: &mut Library,
    first: &JointModelFile,
    training: &LibraryTraining,
    progress: &dyn Progress,
    listen: &mut dyn FnMut(Event<'_>),
) -> Result<LibraryTrained, Error> {
    let place = tempfile::tempdir().map_err(|error| Error::io("temporary folder", error))?;
    let theory = place.path().join("theory.jsonl");
    write_theory(library, &theory)?;
    let file = theory.display().to_string();
    let mut pools = None;
    for size in POOLS {
        let options = PoolOptions {
            size,
            validation: HoldOut::Fraction(0.1),
            seed: training.seed,
            without_proofs: 0.0,
            only_held_out: false,
            limits: Limits::default(),
            threads: training.threads,
        };
        let source = PoolSource { file: file.clone(), is_ordered: true };
        let problems = make_pools(&[source], &options, progress)?;
        let passes = passes(&problems, training);
        let is_enough = passes >= 1.0;
        pools = Some((problems, passes));
        if is_enough {
            break;
        }
    }
    let Some((problems, passes)) = pools else { return Err(Error::NoStatements) };
    let count = |split| problems.of_split(split).count();
    let (proofs, held_out) = (count(Split::Train), count(Split::Validation));
    if proofs < FEWEST || held_out == 0 {
        let message =
            format!("expected at least {FEWEST} proofs to learn from, found {proofs}; learn from more first");
        return Err(Error::input("library", message));
    }
    let recipe = JointRecipe {
        min_count: 3,
        hide_names: 0.15,
        hide_each: 0.05,
        features_first: 0.0,
        rate: 3e-4,
        epochs: (passes as u32).clamp(1, 6),
        seed: training.seed,
        validate_every: u64::MAX,
        ..first.origin.recipe.clone()
    };
    let folder = place.path().join("run");
    let run = TogetherRun {
        problems: &problems,
        recipe: &recipe,
        folder: &folder,
        options: RunOptions {
            threads: training.threads,
            most_time: Some(training.budget),
            ..RunOptions::default()
        },
    };
    if let RunEnd::Stopped(_) = train_together_from(&run, Some(first), progress, listen)? {
        let message = "expected more time: training did not come to its end, and nothing was kept";
        return Err(Error::input("library", message));
    }
    let path = folder.join("model.safetensors");
    let bytes = files::read(&path)?;
    let fitted = JointModelFile::from_bytes(&bytes, "the fitted reader")?;
    let measure = |file: &JointModelFile| -> Result<f64, Error> {
        let compute = Compute::new(recipe.precision, training.threads);
        let mut reader = Reader::new(file, &problems, false, compute)?;
        let company = Company { splits: &[Split::Validation], ..Company::default() };
        let predictions = predict_together(&mut reader, &problems, &company, &Silent)?;
        Ok(pool_ranking(&problems, &predictions)?.mean_average_precision)
    };
    let (before, after) = (measure(first)?, measure(&fitted)?);
    let is_kept = after > before;
    library.set_fitted_reranker(is_kept.then_some(bytes.as_slice()))?;
    Ok(LibraryTrained { proofs, held_out, before, after, is_kept })
}

/// How often all problems can be seen in the time that there is.
fn passes(problems: &Problems, training: &LibraryTraining) -> f64 {
    let nodes = |number| {
        let problem = problems.problem(number);
        problem
            .candidates
            .iter()
            .map(|candidate| problems.statement_nodes(candidate.statement))
            .sum::<usize>()
    };
    let nodes: usize = problems.of_split(Split::Train).map(nodes).sum();
    training.budget.as_secs_f64() * training.threads as f64 * PACE / nodes.max(1) as f64
}

fn write_theory(library: &Library, path: &std::path::Path) -> Result<(), Error> {
    let mut text = String::new();
    library.scan(|entries, _| {
        for entry in &entries {
            let proof = library.proofs_of(&entry.statement.name)?.into_iter().next();
            let (name, statement) = (&entry.statement.name, &entry.statement.text);
            let line = Line { name, statement, syntax: entry.statement.language, proof };
            text += &serde_json::to_string(&line).expect("a line is plain data");
            text.push('\n');
        }
        Ok(())
    })?;
    fs::write(path, text).map_err(|error| Error::io(path, error))
}
