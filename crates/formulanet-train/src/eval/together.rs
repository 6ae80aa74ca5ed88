//! Predictions of a network that reads whole problems.

use formulanet::logic::problem::ProblemBuilder;
use formulanet::net::Compute;
use formulanet::net::together::{Loss, ProblemInput, TogetherNetwork};

use super::predict::Predictions;
use crate::dataset::{Candidate, Problems, Split, scaled};
use crate::eval::metrics::{Prediction, RankedList, Ranking, ranking};
use crate::{Error, Progress, Stage};
use formulanet::model::JointModelFile;
use formulanet::model::joint::{Standardizer, problem_input, scales_of};
use formulanet::util::random::{sample, scramble};

/// In which company candidates are judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Company<'a> {
    /// The conjectures of these splits.
    pub splits: &'a [Split],
    /// The number of candidates of a conjecture that are scored jointly, in random groups, or the first of a pool; all by
    /// default.
    pub present: Option<usize>,
    /// Ends after this many candidates at the latest, with the problem that has the last of them.
    pub most: Option<usize>,
}

/// Problems that are scored together: enough for all threads.
const PROBLEMS: usize = 64;

/// A conjecture with some of its candidates, by the places that they have among all predictions.
struct Group {
    input: ProblemInput,
    places: Vec<usize>,
}

/// A re-ranker under evaluation.
pub struct Reader {
    network: TogetherNetwork,
    builder: ProblemBuilder,
    /// The number of each symbol's name, 0 for those that are hidden.
    names: Vec<u32>,
    scales: Vec<(Standardizer, usize)>,
    /// Whether scores are comparable within a problem alone.
    is_ranking: bool,
}

impl Reader {
    /// A model that is to read problems with these symbols, with their names or without.
    ///
    /// # Errors
    ///
    /// If it needs to know something of candidates that these problems do not say.
    pub fn new(
        file: &JointModelFile,
        problems: &Problems,
        hides_names: bool,
        compute: Compute,
    ) -> Result<Self, Error> {
        let symbols = problems.symbols();
        let scales = scales_of(&file.scales, problems.features()).ok_or_else(|| {
            let message =
                "expected pools with the signals that the model was trained with; prepare them again";
            Error::input(&problems.origin().path, message)
        })?;
        Ok(Reader {
            network: TogetherNetwork::new(file.model.clone(), compute),
            builder: file.origin.recipe.builder(),
            names: if hides_names { vec![0; symbols.len()] } else { file.name_numbers(symbols) },
            scales,
            is_ranking: file.model.config().loss == Loss::Pool,
        })
    }
}

/// Scores the candidates of conjectures with a model that reads them together.
///
/// # Errors
///
/// If a problem is too large, or `progress` stops it.
pub fn predict_together(
    reader: &mut Reader,
    problems: &Problems,
    company: &Company<'_>,
    progress: &dyn Progress,
) -> Result<Predictions, Error> {
    let asked: Vec<usize> = company.splits.iter().flat_map(|&split| problems.of_split(split)).collect();
    let pairs: usize = asked.iter().map(|&number| problems.problem(number).candidates.len()).sum();
    progress.begin(Stage { name: "evaluating", done: 0, of: pairs as u64, unit: "pairs" });
    let Reader { network, builder, names, scales, is_ranking } = reader;
    let mut last: Vec<Prediction> = Vec::with_capacity(pairs);
    for chunk in asked.chunks(PROBLEMS) {
        if progress.is_stopped() {
            return Err(Error::Interrupted);
        }
        let (begin, mut groups) = (last.len(), Vec::new());
        for &number in chunk.iter().filter(|_| company.most.is_none_or(|most| begin < most)) {
            let problem = problems.problem(number);
            let first = last.len();
            last.extend(problem.candidates.iter().map(|candidate| Prediction {
                conjecture: number as u32,
                score: 0.0,
                is_useful: candidate.is_useful,
            }));
            let shown = match company.present {
                Some(most) if *is_ranking => {
                    // What is not read stays behind what is, in the retriever's order.
                    let rest = last[first..].iter_mut().enumerate().skip(most);
                    rest.for_each(|(place, prediction)| prediction.score = -1e6 - place as f32);
                    vec![(0..problem.candidates.len().min(most)).collect()]
                }
                present => in_groups(problem.candidates.len(), present, number),
            };
            for places in shown {
                let of = |&place: &usize| -> &Candidate { &problem.candidates[place] };
                let statements = places.iter().map(|place| of(place).statement);
                problems.build(problem.conjecture, statements, builder).map_err(|cause| {
                    Error::input(&problems.origin().path, format!("{}: {cause}", problem.name))
                })?;
                let mut input = problem_input(builder.graph(), |symbol| names[symbol as usize]);
                input.features = scaled(scales, &problem, &places);
                groups.push(Group { input, places: places.iter().map(|place| first + place).collect() });
            }
        }
        let inputs: Vec<&ProblemInput> = groups.iter().map(|group| &group.input).collect();
        for (group, scores) in groups.iter().zip(network.score_all(&inputs)) {
            for (&place, score) in group.places.iter().zip(scores) {
                last[place].score = if *is_ranking { score } else { 1.0 / (1.0 + (-score).exp()) };
            }
        }
        progress.advance((last.len() - begin) as u64);
    }
    let steps = last.iter().map(|prediction| prediction.score).collect();
    Ok(Predictions { last, steps })
}

/// How early the retriever of pools puts what is useful.
///
/// # Errors
///
/// Never: places are numbers.
pub fn retriever_ranking(problems: &Problems, splits: &[Split]) -> Result<Ranking, Error> {
    let asked = splits.iter().flat_map(|&split| problems.of_split(split));
    let predictions = asked.flat_map(|number| {
        let candidates = problems.problem(number).candidates.iter().enumerate();
        candidates.map(move |(place, candidate)| Prediction {
            conjecture: number as u32,
            score: -(place as f32),
            is_useful: candidate.is_useful,
        })
    });
    pool_ranking(problems, &Predictions { last: predictions.collect(), steps: Vec::new() })
}

/// How early predictions put what is useful, where what is useful and no candidate counts as never found.
///
/// # Errors
///
/// If a score is not a number.
pub fn pool_ranking(problems: &Problems, predictions: &Predictions) -> Result<Ranking, Error> {
    let lists = predictions.last.chunk_by(|a, b| a.conjecture == b.conjecture).map(|list| {
        let scores: Vec<f32> = list.iter().map(|prediction| prediction.score).collect();
        let is_useful: Vec<bool> = list.iter().map(|prediction| prediction.is_useful).collect();
        RankedList::from_scores(&scores, &is_useful, problems.problem(list[0].conjecture as usize).relevant)
    });
    Ok(ranking(&lists.collect::<Result<Vec<_>, _>>()?))
}

/// The positions of candidates in groups of this size, the same groups in every run.
fn in_groups(count: usize, present: Option<usize>, number: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..count).collect();
    match present {
        Some(size) if size < count => {
            let mixed = sample(all, usize::MAX, scramble(number as u64 ^ 0x636f_6d70));
            mixed.chunks(size.max(1)).map(<[usize]>::to_vec).collect()
        }
        _ => vec![all],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_is_in_one_group() {
        for present in [None, Some(1), Some(3), Some(7), Some(100)] {
            let groups = in_groups(10, present, 5);
            assert!(groups.iter().all(|group| group.len() <= present.unwrap_or(10)));
            let mut all = groups.concat();
            all.sort_unstable();
            assert_eq!(all, (0..10).collect::<Vec<_>>());
        }
    }
}
