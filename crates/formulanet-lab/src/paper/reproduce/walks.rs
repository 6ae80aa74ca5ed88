//! The DeepWalk rows of Table 1: vectors of all graphs, learned once and kept on the way, then two classifiers.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::workshop::{Accuracy, LOCK, Workshop, kept};
use super::{Budget, announce, budget};
use crate::paper::deepwalk::{self, Example, Features, Options};
use formulanet::error::shown;
use formulanet::util::files::{lock, write_whole};
use formulanet::util::random::{sample, scramble};
use formulanet_train::dataset::{Prepared, Split};
use formulanet_train::distinct::Distinct;
use formulanet_train::eval::{self, pairs_of};
use formulanet_train::{Error, Stage};

/// The accuracy of DeepWalk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Walked {
    /// Pairs that the classifier saw.
    pub(super) pairs: u64,
    /// Seconds of walking, which both classifiers share, and of training this one.
    pub(super) seconds: f64,
    pub(super) validation: Option<Accuracy>,
    pub(super) test: Option<Accuracy>,
}

/// Pairs that accuracy is measured on at most, unless the budget is full: walking takes as long for them as for those
/// of training.
const ASKED: usize = 10_000;
/// The most pairs for training classifiers, if the budget is in pairs: by then they stop improving, while walking over so large a
/// number of graphs takes longer than training a network.
const TAUGHT: u64 = 100_000;
/// Graphs between two times that vectors are put on the disk.
const CHUNK: usize = 512;

/// How vectors are learned with the settings.
pub(super) fn options(workshop: &Workshop<'_>) -> Options {
    let defaults = Options::default();
    let dimension = workshop.settings.dimension.unwrap_or(defaults.dimension).min(defaults.dimension);
    Options { dimension, seed: workshop.settings.seed, ..defaults }
}

/// DeepWalk without and with the conjecture.
pub(super) fn deepwalk(workshop: &Workshop<'_>) -> Result<[Walked; 2], Error> {
    let prepared = workshop.data(workshop.settings.view())?;
    let held_out = workshop.held_out_pairs(&prepared)?;
    let folder = workshop.run_folder("deepwalk");
    let _lock = lock(&folder, LOCK)?;
    let walked = kept(&folder.join("results.json"), &prepared, || {
        Walk { workshop, prepared: &prepared, folder: &folder, options: options(workshop) }.run(held_out)
    })?;
    // Large, and of no more use.
    for name in [VECTORS, PROGRESS] {
        let _ = fs::remove_file(folder.join(name));
    }
    Ok(walked)
}

struct Walk<'a> {
    workshop: &'a Workshop<'a>,
    prepared: &'a Prepared,
    folder: &'a Path,
    options: Options,
}

const VECTORS: &str = "vectors.f32";
const PROGRESS: &str = "vectors.json";

/// How far the vectors on the disk go.
#[derive(Serialize, Deserialize)]
struct Progress {
    options: Options,
    /// Tells one list of graphs from another.
    list: u64,
    graphs: usize,
    seconds: f64,
}

impl Walk<'_> {
    fn run(&self, held_out: Vec<u32>) -> Result<[Walked; 2], Error> {
        let settings = self.workshop.settings;
        let all = pairs_of(self.prepared, Split::Train, None, 0);
        if all.len() < 2 {
            return Err(Error::TooFewPairs { data: shown(&settings.source), found: all.len() });
        }
        let limit =
            budget::pairs(settings.budget, self.folder, |time| self.probe(&all, time))?.unwrap_or(u64::MAX);
        let limit = if matches!(settings.budget, Budget::Pairs(_)) { limit.min(TAUGHT) } else { limit };
        let training = self.training_order(&all, limit);
        let most = if settings.budget == Budget::Full { usize::MAX } else { ASKED };
        let in_order = |pairs: Vec<u32>| {
            let mut chosen = sample(pairs, most, 0);
            chosen.sort_unstable();
            chosen
        };
        let validation = in_order(held_out);
        let test = in_order(pairs_of(self.prepared, Split::Test, None, 0));
        let mut graphs = Distinct::default();
        let mut examples = |pairs: &[u32]| -> Vec<Example> {
            let pairs = pairs.iter().map(|&pair| self.prepared.pair(pair as usize));
            let example = pairs.map(|pair| Example {
                statement: graphs.number(pair.statement),
                conjecture: graphs.number(self.prepared.conjecture(pair.conjecture as usize).graph),
                is_useful: pair.useful,
            });
            example.collect()
        };
        let (training, validation, test) = (examples(&training), examples(&validation), examples(&test));
        let (vectors, walking) = self.vectors(&graphs.items)?;
        let asked = [validation.as_slice(), &test].concat();
        let results = [false, true].map(|is_conditional| {
            let begin = Instant::now();
            announce(self.workshop.progress, "training the classifier of DeepWalk");
            let features = Features::new(vectors.clone(), self.options.dimension, is_conditional, &training);
            let progress = self.workshop.progress;
            let scores = deepwalk::classify(&features, &training, &asked, settings.seed, progress)?;
            let (of_validation, of_test) = scores.split_at(validation.len());
            Ok(Walked {
                pairs: training.len() as u64,
                seconds: walking + begin.elapsed().as_secs_f64(),
                validation: accuracy(of_validation, &validation),
                test: accuracy(of_test, &test),
            })
        });
        let [without, with]: [Result<Walked, Error>; 2] = results;
        Ok([without?, with?])
    }

    /// The pairs that training sees: every epoch has an order of its own.
    fn training_order(&self, all: &[u32], limit: u64) -> Vec<u32> {
        let recipe = self.workshop.settings.recipe();
        let total = limit.min(all.len() as u64 * u64::from(recipe.epochs)) as usize;
        let mut order = Vec::with_capacity(total);
        for epoch in 0.. {
            if order.len() >= total {
                break;
            }
            order.extend(sample(all.to_vec(), total - order.len(), scramble(recipe.seed ^ scramble(epoch))));
        }
        order
    }

    /// Pairs a second, tried for about this time. Walking is nearly all of the work.
    fn probe(&self, all: &[u32], time: Duration) -> Result<f64, Error> {
        announce(self.workshop.progress, "measuring the speed of DeepWalk");
        let begin = Instant::now();
        let chosen = sample(all.to_vec(), 100_000, self.options.seed);
        let mut done = 0;
        for pairs in chosen.chunks(64) {
            self.workshop.progress.check()?;
            let graphs: Vec<u32> = pairs.iter().map(|&p| self.prepared.pair(p as usize).statement).collect();
            deepwalk::graph_vectors(self.prepared, &graphs, &self.options, self.workshop.settings.threads);
            done += pairs.len();
            if begin.elapsed() >= time {
                break;
            }
        }
        Ok(done as f64 / begin.elapsed().as_secs_f64().max(1e-6))
    }

    /// The vectors of graphs, and how many seconds they took. Those that an earlier sitting left on the disk are read.
    fn vectors(&self, graphs: &[u32]) -> Result<(Vec<f32>, f64), Error> {
        let (path, dimension) = (self.folder.join(VECTORS), self.options.dimension);
        let failed = |error| Error::io(&path, error);
        let list = graphs.iter().fold(graphs.len() as u64, |hash, &graph| scramble(hash ^ u64::from(graph)));
        let mut progress = Progress { options: self.options.clone(), list, graphs: 0, seconds: 0.0 };
        let mut vectors: Vec<f32> = Vec::with_capacity(graphs.len() * dimension);
        let earlier = fs::read(self.folder.join(PROGRESS)).ok();
        let earlier = earlier.and_then(|text| serde_json::from_slice::<Progress>(&text).ok());
        if let Some(earlier) = earlier.filter(|e| e.options == self.options && e.list == list)
            && let Ok(bytes) = fs::read(&path)
            && bytes.len() >= 4 * dimension * earlier.graphs
        {
            let words = bytes[..4 * dimension * earlier.graphs].chunks_exact(4);
            vectors.extend(words.map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])));
            progress = earlier;
        }
        let mut file: File =
            OpenOptions::new().create(true).write(true).truncate(false).open(&path).map_err(failed)?;
        file.set_len(4 * vectors.len() as u64).map_err(failed)?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).map_err(failed)?;
        let (begin, before) = (Instant::now(), progress.seconds);
        let name = "walking over graphs (DeepWalk)";
        let (done, of) = (progress.graphs as u64, graphs.len() as u64);
        self.workshop.progress.begin(Stage { name, done, of, unit: "graphs" });
        for chunk in graphs[progress.graphs..].chunks(CHUNK) {
            self.workshop.progress.check()?;
            let threads = self.workshop.settings.threads;
            let found = deepwalk::graph_vectors(self.prepared, chunk, &self.options, threads);
            let bytes: Vec<u8> = found.iter().flat_map(|value| value.to_le_bytes()).collect();
            file.write_all(&bytes).map_err(failed)?;
            file.sync_data().map_err(failed)?;
            vectors.extend(found);
            progress.graphs += chunk.len();
            progress.seconds = before + begin.elapsed().as_secs_f64();
            let text = serde_json::to_vec(&progress).expect("progress is plain data");
            write_whole(&self.folder.join(PROGRESS), &text)?;
            self.workshop.progress.advance(chunk.len() as u64);
        }
        Ok((vectors, progress.seconds))
    }
}

fn accuracy(scores: &[f32], examples: &[Example]) -> Option<Accuracy> {
    let scored = scores.iter().zip(examples).map(|(&score, example)| (f64::from(score), example.is_useful));
    let pairs = examples.len();
    (pairs > 0).then(|| Accuracy { share: eval::accuracy(scored), pairs })
}
