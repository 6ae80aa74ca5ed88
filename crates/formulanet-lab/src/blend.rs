//! Learning how to blend signals: what proofs of a library used, asked in its order.

use formulanet::logic::{Interner, hol};

use super::boost::Examples;
use formulanet::proofs::{Features, ProofIndex, SignalTable};
use formulanet::read::ProofCorpusFile;
use formulanet::util::random::{falls_in, sample, scramble};
use formulanet_train::{Error, Progress, Stage};

/// What is asked of a library to learn from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lesson {
    /// As if the library had just grown to the fact: earlier proofs are known. Only so large a share of the facts from the
    /// first one on is looked at.
    Growing {
        /// The share.
        first: f64,
    },
    /// All facts are there, and so many proofs, drawn at random, are known.
    Open {
        /// The number of known proofs.
        known: usize,
    },
}

/// The share of useless candidates that is learned from, each counting as many.
const KEPT: f32 = 0.2;
/// Proofs that must be known before something is asked; of a small library, a quarter.
const LEAST_KNOWN: usize = 100;
/// How much less a premise of a long proof counts: every proof counts the same at 1, every premise at 0.
const EVENNESS: f32 = 0.75;

/// Asks at most so many questions about a library, and adds what spoke for the candidates.
///
/// # Errors
///
/// If the file cannot be read, or `progress` stops it.
pub fn add_examples(
    file: &str,
    lesson: Lesson,
    questions: usize,
    examples: &mut Examples,
    progress: &dyn Progress,
) -> Result<usize, Error> {
    let mut features = Vec::new();
    let options = hol::Options::default();
    let theory_file =
        ProofCorpusFile::read(file, &options, false, &mut Interner::new(), &mut |_, formula, names| {
            features.push(Features::of(formula, names));
        })?;
    let proof = |fact: usize| theory_file.facts[fact].proof.as_deref().filter(|used| !used.is_empty());
    let numbers = |used: &[u32]| used.iter().map(|&fact| fact as usize).collect::<Vec<usize>>();
    let proved: Vec<usize> = (0..features.len()).filter(|&fact| proof(fact).is_some()).collect();
    let mut theory = ProofIndex::default();
    let asked: Vec<usize> = match lesson {
        Lesson::Growing { first } => {
            let end = (features.len() as f64 * first) as usize;
            let known = LEAST_KNOWN.min(proved.len() / 4);
            proved.iter().copied().skip(known).filter(|&fact| fact < end).collect()
        }
        Lesson::Open { known } => {
            for features in &features {
                theory.add_fact(features);
            }
            let shuffled = sample(proved.clone(), proved.len(), 1);
            let (known, rest) = shuffled.split_at(known.min(shuffled.len()));
            let mut known = known.to_vec();
            known.sort_unstable();
            known.iter().for_each(|&fact| theory.add_proof(fact, &numbers(proof(fact).unwrap_or_default())));
            rest.to_vec()
        }
    };
    let mut asked = sample(asked, questions, 2);
    asked.sort_unstable();
    progress.begin(Stage { name: file, done: 0, of: asked.len() as u64, unit: "facts" });
    for &fact in &asked {
        if progress.is_stopped() {
            return Err(Error::Interrupted);
        }
        if matches!(lesson, Lesson::Growing { .. }) {
            for (earlier, features) in features.iter().enumerate().take(fact).skip(theory.len()) {
                theory.add_fact(features);
                proof(earlier).into_iter().for_each(|used| theory.add_proof(earlier, &numbers(used)));
            }
        }
        let signals = theory.signals(&theory.goal(&features[fact]), fact);
        add_group(&signals, fact, proof(fact).unwrap_or_default(), examples);
        progress.advance(1);
    }
    Ok(asked.len())
}

/// Adds all candidates that were used and some of the others.
fn add_group(signals: &SignalTable, fact: usize, used: &[u32], examples: &mut Examples) {
    let weight = (8.0 / used.len().max(1) as f32).powf(EVENNESS);
    for (candidate, row) in signals.facts().zip(signals.rows()) {
        let is_used = used.binary_search(&(candidate as u32)).is_ok();
        if is_used {
            examples.push(row, true, weight);
        } else if falls_in(scramble(scramble(fact as u64) ^ candidate as u64), KEPT) {
            examples.push(row, false, weight / KEPT);
        }
    }
    examples.end_group();
}
