//! Reading the best candidates together with the goal: the last step of a ranking.

mod told;

use std::borrow::Cow;
use std::collections::HashMap;

use formulanet_logic::problem::{StatementBuilder, StatementGraph};
use formulanet_logic::{Formula, Interner, Limits, hol};
use formulanet_net::Compute;
use formulanet_net::together::{Loss, ProblemInput, TogetherNetwork};

use crate::error::Artefact;
use crate::model::JointModelFile;
use crate::model::joint::{JointRecipe, Standardizer, problem_input};
use crate::policy::{Fuse, Stage2, TUNING};
use crate::proofs::{Features, SignalTable};
use crate::statement::parse;
use crate::{Error, Statement};

pub use told::ToldFeatures;

/// A network that reads a goal and candidates together, at work.
pub struct JointReranker {
    network: TogetherNetwork,
    recipe: JointRecipe,
    /// The numbers of the names that it knows.
    names: HashMap<String, u32>,
    /// The ranking features of a candidate: the scale of each, and its place among the retriever's features.
    scales: Vec<(Standardizer, usize)>,
}

/// The most nodes of all candidates before sharing, about ten times the usual number. Later candidates are not scored, so that
/// time and memory are bounded.
const MOST_NODES: usize = 60_000;

/// A statement as it is read.
struct RerankerInput {
    graph: StatementGraph,
    features: Features,
}

impl JointReranker {
    /// Lays a network out.
    ///
    /// # Errors
    ///
    /// If it was trained with other signals than this program has.
    pub fn new(file: JointModelFile, compute: Compute) -> Result<Self, Error> {
        let JointModelFile { model, origin, names, scales } = file;
        let with_place = |scale: Standardizer| {
            let place =
                ToldFeatures::FEATURES.iter().position(|&name| name == scale.name).ok_or_else(|| {
                    let message =
                        format!("expected this program's signals, found `{}`; train it again", scale.name);
                    Error::corrupt(Artefact::Reranker, "reader", message)
                })?;
            Ok((scale, place))
        };
        let scales = scales.into_iter().map(with_place).collect::<Result<_, Error>>()?;
        Ok(JointReranker {
            network: TogetherNetwork::new(model, compute),
            recipe: origin.recipe,
            names: names.into_iter().zip(1..).collect(),
            scales,
        })
    }

    /// The reader that is built in.
    ///
    /// # Errors
    ///
    /// If the program was built without.
    pub fn built_in(compute: Compute) -> Result<Self, Error> {
        Self::new(JointModelFile::named("reader")?, compute)
    }

    /// Lets go of memory that waits for the next question.
    pub fn forget_buffers(&self) {
        self.network.compute().forget_buffers();
    }

    /// Whether its scores order candidates without saying how likely each is.
    fn is_ranking(&self) -> bool {
        self.network.model().config().loss == Loss::Pool
    }

    /// Scores candidates, given in the retriever's order, jointly with a goal. A score is a probability, or `None` if the
    /// candidate cannot be read. `names` has the symbols of the goal.
    ///
    /// # Errors
    ///
    /// If goal and candidates are too large together.
    pub fn read(
        &self,
        goal: &Formula,
        candidates: &[Statement],
        options: &hol::Options,
        names: &mut Interner,
    ) -> Result<Vec<Option<f32>>, Error> {
        let formula = |number: usize, names: &mut Interner| {
            let Statement { text, language, .. } = &candidates[number];
            parse(text, *language, options, names).ok()
        };
        self.read_formulas(goal, candidates.len(), formula, options.limits, names)
    }

    /// Scores `count` candidates, which a function returns one after the other if they can be read.
    pub(crate) fn read_formulas(
        &self,
        goal: &Formula,
        count: usize,
        mut formula: impl FnMut(usize, &mut Interner) -> Option<Formula>,
        limits: Limits,
        names: &mut Interner,
    ) -> Result<Vec<Option<f32>>, Error> {
        let mut statements = StatementBuilder::new(limits);
        let mut analyze = |formula: &Formula, names: &Interner| {
            let graph = statements.build(formula).ok()?;
            Some(RerankerInput { graph, features: Features::of(formula, names) })
        };
        let goal = analyze(goal, names).ok_or_else(|| {
            Error::input("conjecture", "expected a smaller one to read together with others")
        })?;
        let mut room = MOST_NODES.saturating_sub(nodes(&goal.graph));
        let mut read: Vec<Option<RerankerInput>> = Vec::with_capacity(count);
        for number in 0..count {
            let formula = formula(number, names).filter(|_| room > 0);
            let statement = formula.and_then(|formula| analyze(&formula, names));
            room = room.saturating_sub(statement.as_ref().map_or(0, |statement| nodes(&statement.graph)));
            read.push(statement);
        }
        let mut told = Vec::new();
        if !self.scales.is_empty() {
            let found: Vec<&Features> = read.iter().flatten().map(|statement| &statement.features).collect();
            let told_features = ToldFeatures::of_found(&goal.features, &found);
            told = told_features.rows().flat_map(|(_, row)| self.scaled(row)).collect();
        }
        let graphs = read.iter().flatten().map(|statement| &statement.graph);
        let mut scores = self
            .probabilities(self.scores(&goal.graph, graphs, told, |symbol| self.name(symbol, names))?)
            .into_iter();
        Ok(read.iter().map(|statement| statement.as_ref().and_then(|_| scores.next())).collect())
    }

    /// The network's scores of candidates, given their graphs and features.
    fn scores<'a>(
        &self,
        goal: &'a StatementGraph,
        candidates: impl Iterator<Item = &'a StatementGraph>,
        told: Vec<f32>,
        name: impl FnMut(u32) -> u32,
    ) -> Result<Vec<f32>, Error> {
        let mut builder = self.recipe.builder();
        for statement in std::iter::once(goal).chain(candidates) {
            let added = builder.add(statement.view());
            added.map_err(|cause| Error::input("candidates", format!("{cause}")))?;
        }
        let input = ProblemInput { features: told, ..problem_input(builder.graph(), name) };
        Ok(self.network.score(&input))
    }

    /// The number by which it knows a symbol; 0 if it does not.
    pub(crate) fn name(&self, symbol: u32, names: &Interner) -> u32 {
        let text = names.symbol(symbol).map(|symbol| names.name(symbol));
        text.and_then(|text| self.names.get(text)).copied().unwrap_or(0)
    }

    /// The features of a candidate for the network.
    fn scaled<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        self.scales.iter().map(|(scale, place)| scale.apply(row[*place]))
    }

    /// Reads the first of a library's facts, which come with their log-odds, the best first, and adds what that says to these.
    /// Signals say what is known of each fact; `graph` gives its graph, if it can be read, and `name` the number of a symbol's
    /// name.
    ///
    /// # Errors
    ///
    /// If goal and facts are too large together.
    pub(crate) fn weigh<'a>(
        &self,
        signals: &SignalTable,
        odds: &mut [(usize, f32)],
        goal: &'a StatementGraph,
        mut graph: impl FnMut(usize) -> Option<Cow<'a, StatementGraph>>,
        name: impl FnMut(u32) -> u32,
    ) -> Result<(), Error> {
        let told_features = ToldFeatures::all(signals, true);
        let rows: HashMap<usize, &[f32]> = told_features.rows().collect();
        let mut room = MOST_NODES.saturating_sub(nodes(goal));
        let (mut places, mut graphs, mut told) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (fact, _)) in odds.iter().enumerate().take(TUNING.depth) {
            if room == 0 {
                break;
            }
            let Some(graph) = graph(*fact) else { continue };
            room = room.saturating_sub(nodes(&graph));
            told.extend(self.scaled(rows[fact]));
            places.push(place);
            graphs.push(graph);
        }
        let read = self.scores(goal, graphs.iter().map(|graph| &**graph), told, name)?;
        // Beside a network that finds all candidates equally good.
        let largest = read.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mean = read.iter().map(|score| (score - largest).exp()).sum::<f32>() / read.len().max(1) as f32;
        let usual = largest + mean.ln();
        let lowest = read.iter().map(|score| score - usual).fold(0.0, f32::min);
        let mut said = vec![lowest; odds.len()];
        for (place, score) in places.into_iter().zip(read) {
            said[place] = score - usual;
        }
        odds.iter_mut().zip(said).for_each(|((_, odds), said)| *odds += TUNING.reranker_weight * said);
        Ok(())
    }

    /// Scores as probabilities. Where a network orders candidates against each other, that is the chance to be among a few
    /// that are drawn.
    fn probabilities(&self, scores: Vec<f32>) -> Vec<f32> {
        if !self.is_ranking() {
            return scores.into_iter().map(probability).collect();
        }
        let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f32 = scores.iter().map(|score| (score - largest).exp()).sum();
        let odds = |score: f32| DRAWN * (score - largest).exp() / total;
        scores.into_iter().map(|score| odds(score) / (1.0 + odds(score))).collect()
    }

    /// Re-ranks the best of scored candidates above all others, which keep their order.
    ///
    /// # Errors
    ///
    /// As [`JointReranker::read`], or if a statement cannot be had.
    pub fn rescore(
        &self,
        (scores, stage): (&mut [f32], Stage2),
        statement: impl Fn(usize) -> Result<Statement, Error>,
        goal: &Formula,
        options: &hol::Options,
        names: &mut Interner,
    ) -> Result<(), Error> {
        // What has a negative score is not asked for.
        let mut best: Vec<usize> = (0..scores.len()).filter(|&number| scores[number] >= 0.0).collect();
        let order = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
        let most = stage.depth;
        if best.len() > most {
            best.select_nth_unstable_by(most, order);
            best.truncate(most);
        }
        best.sort_unstable_by(order);
        let texts = best.iter().map(|&number| statement(number)).collect::<Result<Vec<_>, _>>()?;
        let mut read = self.read(goal, &texts, options, names)?;
        // A network that says how likely each candidate is needs nobody beside it.
        if let (Fuse::OddsToPower(power), true) = (stage.fuse, self.is_ranking()) {
            for (&number, score) in best.iter().zip(&mut read) {
                *score = score.map(|score| probability(log_odds(scores[number]) + power * log_odds(score)));
            }
        }
        let lowest = read.iter().flatten().copied().fold(1.0, f32::min);
        // What was not read is behind what was.
        scores.iter_mut().for_each(|score| *score *= lowest);
        for (&number, score) in best.iter().zip(read) {
            if let Some(score) = score {
                scores[number] = score;
            }
        }
        separate_ties(scores);
        Ok(())
    }
}

fn nodes(statement: &StatementGraph) -> usize {
    statement.view().labels().len()
}

pub(crate) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

pub(crate) fn log_odds(probability: f32) -> f32 {
    let probability = probability.clamp(1e-6, 1.0 - 1e-6);
    (probability / (1.0 - probability)).ln()
}

/// Lowers the later of equal scores slightly, so that ties are not broken by name.
fn separate_ties(scores: &mut [f32]) {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&number| scores[number] > 0.0).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut last = f32::INFINITY;
    for number in order {
        if scores[number] >= last {
            scores[number] = last.next_down().max(0.0);
        }
        last = scores[number];
    }
}

/// The expected number of useful candidates in a list.
const DRAWN: f32 = 8.0;
