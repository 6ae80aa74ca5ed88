//! Fitting the learned retriever: facts of libraries are queried, and their recorded dependencies are what has to be found.
//!
//! Users have libraries of all kinds, so queries differ in how many proofs are known, how large the library is, whether its
//! order means something, where the goal is in it, and whether a model knows the symbols.

use std::collections::HashSet;

use formulanet::corpus::VectorColumn;
use formulanet::logic::Interner;
use formulanet::model::encode::Encoded;
use formulanet::proofs::{Context, Features, GoalPosition, ModelScores, ProofIndex, SignalTable};
use formulanet::read::ProofCorpusFile;
use formulanet::retrieve::VectorRetriever;
use formulanet::util::random::{Random, falls_in, sample, scramble};
use formulanet_train::{Error, Progress, Stage};

use super::boost::{Examples, Phase};

/// A facts file to learn from.
pub struct Source {
    file: ProofCorpusFile,
    shown: String,
    features: Vec<Features>,
    encoded: Vec<Encoded>,
    rows: VectorColumn,
    retriever: VectorRetriever,
    /// Facts with proofs that are queried, in order.
    proved: Vec<usize>,
    /// Facts whose proofs the model was not trained on; `None` if that is so for all.
    unseen: Option<HashSet<String>>,
}

/// The number of known proofs.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Known {
    None,
    Some(usize),
    All,
}

/// One kind of query.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Episode {
    known: Known,
    position: GoalPosition,
    /// About how many facts a library has that is only a part of the file.
    part: Option<usize>,
    /// The share of all queries.
    share: f32,
}

const fn whole(known: Known, position: GoalPosition, share: f32) -> Episode {
    Episode { known, position, part: None, share }
}

/// The kinds of queries, and how often each occurs.
const EPISODES: &[Episode] = &[
    whole(Known::None, GoalPosition::End, 0.18),
    whole(Known::None, GoalPosition::NearestFact, 0.06),
    whole(Known::None, GoalPosition::Unordered, 0.10),
    Episode { known: Known::None, position: GoalPosition::Unordered, part: Some(60), share: 0.04 },
    Episode { known: Known::None, position: GoalPosition::End, part: Some(400), share: 0.04 },
    whole(Known::Some(50), GoalPosition::End, 0.04),
    whole(Known::Some(300), GoalPosition::NearestFact, 0.04),
    whole(Known::Some(1000), GoalPosition::End, 0.08),
    whole(Known::Some(1000), GoalPosition::Unordered, 0.02),
    whole(Known::Some(usize::MAX), GoalPosition::NearestFact, 0.06),
    Episode { known: Known::All, position: GoalPosition::Unordered, part: Some(40), share: 0.06 },
    Episode { known: Known::All, position: GoalPosition::End, part: Some(200), share: 0.04 },
    whole(Known::All, GoalPosition::End, 0.24),
];

/// The share of useless candidates that is learned from, each counting for several.
const KEPT: f32 = 0.2;
/// How much less a premise of a long proof counts: every proof counts the same at 1, every premise at 0.
const EVENNESS: f32 = 0.75;
/// One query of this many is kept to calibrate by.
const CALIBRATION: u64 = 10;

/// The results of queries: to fit trees to, and to calibrate them by.
pub struct Lessons {
    /// For trees.
    pub trees: Examples,
    /// For the calibration.
    pub calibration: Examples,
}

impl Default for Lessons {
    fn default() -> Self {
        Lessons { trees: Examples::new(SignalTable::COUNT), calibration: Examples::new(SignalTable::COUNT) }
    }
}

impl Source {
    /// Reads a facts file, as a model sees it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn read(
        shown: &str,
        retriever: VectorRetriever,
        unseen: Option<HashSet<String>>,
    ) -> Result<Self, Error> {
        let (mut features, mut encoded, mut too_large) = (Vec::new(), Vec::new(), None);
        let mut encoder = retriever.encoder();
        let options = retriever.hol_options();
        let file =
            ProofCorpusFile::read(shown, &options, false, &mut Interner::new(), &mut |_, formula, names| {
                features.push(Features::of(formula, names));
                match encoder.encode(formula, names) {
                    Ok(graph) => encoded.push(graph),
                    Err(cause) => too_large = Some(format!("fact {}: {cause}", encoded.len())),
                }
            })?;
        if let Some(message) = too_large {
            return Err(Error::input(shown, message));
        }
        drop(encoder);
        let named: Vec<_> = file.facts.iter().map(|fact| fact.name.as_str()).zip(&encoded).collect();
        let rows = retriever.rows(&named);
        let proved = (0..features.len()).filter(|&fact| !used(&file, fact).is_empty()).collect();
        Ok(Source { file, shown: shown.to_owned(), features, encoded, rows, retriever, proved, unseen })
    }

    /// Queries only facts of this share of the library, the first ones, and none of these names.
    pub fn limit(&mut self, share: f64, excluded: &HashSet<String>) {
        let end = (self.features.len() as f64 * share) as usize;
        let file = &self.file;
        self.proved.retain(|&fact| fact < end && !excluded.contains(&file.facts[fact].name));
    }

    fn is_unseen(&self, fact: usize) -> bool {
        self.unseen.as_ref().is_none_or(|names| names.contains(&self.file.facts[fact].name))
    }
}

/// The dependencies of a fact's recorded proof, ascending.
fn used(file: &ProofCorpusFile, fact: usize) -> Vec<usize> {
    file.facts[fact].proof.iter().flatten().map(|&used| used as usize).collect()
}

/// Makes about this many queries to a library, and keeps the signals of their candidates.
///
/// # Errors
///
/// Returns an error if `progress` stops it.
pub fn add_lessons(
    source: &Source,
    queries: usize,
    lessons: &mut Lessons,
    progress: &dyn Progress,
) -> Result<(), Error> {
    progress.begin(Stage { name: &source.shown, done: 0, of: queries as u64, unit: "queries" });
    let (unseen, seen): (Vec<usize>, Vec<usize>) =
        source.proved.iter().partition(|&&fact| source.is_unseen(fact));
    for (number, episode) in (0u64..).zip(EPISODES) {
        let wanted = (queries as f32 * episode.share).round() as usize;
        // Half of the facts are new to the model, or as many as there are.
        let new = if seen.is_empty() { wanted } else { wanted.div_ceil(2) };
        let mut facts = sample(unseen.clone(), new, 10 + number);
        let rest = wanted - facts.len();
        facts.extend(sample(seen.clone(), rest, 40 + number));
        facts.sort_unstable();
        let mut library = Library::new(source, *episode, &facts, number);
        for fact in facts {
            if progress.is_stopped() {
                return Err(Error::Interrupted);
            }
            let lessons = match scramble(scramble(fact as u64) ^ number) % CALIBRATION {
                0 => &mut lessons.calibration,
                _ => &mut lessons.trees,
            };
            library.query(fact, lessons);
            progress.advance(1);
        }
    }
    Ok(())
}

/// The library of an episode.
struct Library<'a> {
    source: &'a Source,
    episode: Episode,
    theory: ProofIndex,
    /// The proofs of the facts before this one are known.
    grown: usize,
}

impl<'a> Library<'a> {
    fn new(source: &'a Source, episode: Episode, queried: &[usize], seed: u64) -> Self {
        let mut theory = ProofIndex::default();
        if episode.part.is_none() {
            for features in &source.features {
                theory.add_fact(features);
            }
        }
        if let (None, Known::Some(number)) = (episode.part, episode.known) {
            let queried: HashSet<usize> = queried.iter().copied().collect();
            let others = source.proved.iter().copied().filter(|fact| !queried.contains(fact)).collect();
            for fact in sample(others, number, 70 + seed) {
                theory.add_proof(fact, &used(&source.file, fact));
            }
        }
        Library { source, episode, theory, grown: 0 }
    }

    fn query(&mut self, fact: usize, examples: &mut Examples) {
        let (source, position) = (self.source, self.episode.position);
        if let Some(size) = self.episode.part {
            return self.query_part(fact, size, examples);
        }
        if self.episode.known == Known::All {
            for earlier in self.grown..fact {
                if source.file.facts[earlier].proof.is_some() {
                    self.theory.add_proof(earlier, &used(&source.file, earlier));
                }
            }
            self.grown = fact;
        }
        let scores = Scores::of(source, fact, &source.rows);
        let context = Context { position, model: scores.as_ref().map(Scores::view) };
        let goal = self.theory.goal(&source.features[fact]);
        let before = if position == GoalPosition::End { fact } else { self.theory.len() };
        let signals = self.theory.signals_in(&goal, before, context, |other| other != fact);
        let wanted = used(&source.file, fact);
        add_group(
            &signals,
            (fact, wanted.len(), scores.is_some()),
            |other| wanted.binary_search(&other).is_ok(),
            examples,
        );
    }

    /// Queries a small library: what the proof used, and others, half of them from the same part of the file.
    fn query_part(&self, fact: usize, size: usize, examples: &mut Examples) {
        let (source, position) = (self.source, self.episode.position);
        let wanted = used(&source.file, fact);
        let mut random = Random(scramble(fact as u64 ^ size as u64));
        let size = (size as f32 * (0.4 + 1.6 * random.unit())) as usize;
        let total = if position == GoalPosition::End { fact } else { source.features.len() };
        let mut facts: HashSet<usize> = wanted.iter().copied().take(size / 2).collect();
        for _ in 0..4 * size {
            if facts.len() >= size.min(total / 2) {
                break;
            }
            let other = match random.unit() < 0.5 {
                true => fact.saturating_sub(1 + random.below(2 * size)),
                false => random.below(total.max(1)),
            };
            if other != fact {
                facts.insert(other);
            }
        }
        let mut facts: Vec<usize> = facts.into_iter().collect();
        facts.sort_unstable();
        let mut theory = ProofIndex::default();
        for &other in &facts {
            theory.add_fact(&source.features[other]);
        }
        if self.episode.known == Known::All {
            for (place, &other) in facts.iter().enumerate() {
                let used =
                    used(&source.file, other).into_iter().filter_map(|used| facts.binary_search(&used).ok());
                let used: Vec<usize> = used.collect();
                if !used.is_empty() {
                    theory.add_proof(place, &used);
                }
            }
        }
        let mut rows = VectorColumn::new(source.retriever.width());
        facts.iter().for_each(|&other| rows.push(source.rows.get(other)));
        let scores = Scores::of(source, fact, &rows);
        let context = Context { position, model: scores.as_ref().map(Scores::view) };
        let signals =
            theory.signals_in(&theory.goal(&source.features[fact]), theory.len(), context, |_| true);
        let is_wanted = |place: usize| wanted.binary_search(&facts[place]).is_ok();
        add_group(&signals, (fact, wanted.len(), scores.is_some()), is_wanted, examples);
    }
}

/// A model's scores of facts, unless it was trained on the goal's proof.
struct Scores {
    scores: Vec<f32>,
    base_rates: Option<Vec<f32>>,
    known: f32,
}

impl Scores {
    fn of(source: &Source, fact: usize, rows: &VectorColumn) -> Option<Self> {
        let (retriever, goal) = (&source.retriever, &source.encoded[fact]);
        source.is_unseen(fact).then(|| Scores {
            scores: retriever.scores(&retriever.goal_vector(goal), rows),
            base_rates: retriever.typical_goal_vector().map(|usual| retriever.scores(&usual, rows)),
            known: 1.0 - goal.unknown_share(),
        })
    }

    fn view(&self) -> ModelScores<'_> {
        ModelScores { scores: &self.scores, base_rates: self.base_rates.as_deref(), known: self.known }
    }
}

/// Adds all candidates that were used and some of the others. What a model says of proofs that it has not seen is for the second
/// phase, which also has to learn that there may be no model.
fn add_group(
    signals: &SignalTable,
    (fact, used, has_model): (usize, usize, bool),
    is_wanted: impl Fn(usize) -> bool,
    examples: &mut Examples,
) {
    let weight = (8.0 / used.max(1) as f32).powf(EVENNESS);
    let mut add = |hides_model: bool, phase: Phase| {
        for (candidate, row) in signals.facts().zip(signals.rows()) {
            let is_wanted = is_wanted(candidate);
            if !is_wanted && !falls_in(scramble(scramble(fact as u64) ^ candidate as u64), KEPT) {
                continue;
            }
            let mut row = row.to_vec();
            if hides_model {
                SignalTable::of_model().for_each(|place| row[place] = 0.0);
            }
            examples.push(&row, is_wanted, if is_wanted { weight } else { weight / KEPT });
        }
        examples.end_group(phase);
    };
    match has_model {
        false => add(false, Phase::First),
        true => {
            add(false, Phase::Both);
            add(true, Phase::Second);
        }
    }
}

/// The slope and intercept that turn scores into log-odds, by Newton's method. Of candidates that were not used, a share is
/// there, and counts for all.
pub fn calibrate(scored: &[(f32, bool)]) -> [f32; 2] {
    let (mut slope, mut intercept) = (1.0f64, 0.0f64);
    for _ in 0..50 {
        let (mut gradient, mut curvature) = ([0.0f64; 2], [1e-6f64, 0.0, 1e-6]);
        for &(score, is_used) in scored {
            let (score, weight) = (f64::from(score), if is_used { 1.0 } else { 1.0 / f64::from(KEPT) });
            let share = 1.0 / (1.0 + (-(slope * score + intercept)).exp());
            let (error, bend) =
                (weight * (share - f64::from(u8::from(is_used))), weight * share * (1.0 - share));
            gradient = [gradient[0] + error * score, gradient[1] + error];
            curvature =
                [curvature[0] + bend * score * score, curvature[1] + bend * score, curvature[2] + bend];
        }
        let [a, b, c] = curvature;
        let determinant = (a * c - b * b).max(1e-12);
        // Bounded steps: from far away, Newton's method overshoots.
        slope -= ((c * gradient[0] - b * gradient[1]) / determinant).clamp(-1.0, 1.0);
        intercept -= ((a * gradient[1] - b * gradient[0]) / determinant).clamp(-1.0, 1.0);
    }
    [slope as f32, intercept as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_become_log_odds() {
        // Of candidates with score 2, one of eleven is used; of those with score 0, one of 101: unused ones count five times.
        let scored = |score: f32, used: usize, unused: usize| {
            let used = std::iter::repeat_n((score, true), used);
            used.chain(std::iter::repeat_n((score, false), unused))
        };
        let rows: Vec<(f32, bool)> = scored(2.0, 10, 20).chain(scored(0.0, 10, 200)).collect();
        let [slope, intercept] = calibrate(&rows);
        let odds = |score: f32| (slope * score + intercept).exp();
        assert!((odds(2.0) - 0.1).abs() < 1e-3 && (odds(0.0) - 0.01).abs() < 1e-4, "{slope} {intercept}");
    }
}
