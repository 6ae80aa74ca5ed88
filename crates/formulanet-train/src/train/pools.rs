//! Pools for a network that reads candidates together: what a retriever finds for the facts of theories.

use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use formulanet::logic::{Interner, Limits, hol};

use crate::dataset::{Candidate, HoldOut, PoolBuilder, ProblemOrigin, Problems, Split, choose_held_out};
use crate::{Error, Progress, Stage};
use formulanet::proofs::{Features, ProofIndex};
use formulanet::read::{ProofCorpusFile, SkippedStatements};
use formulanet::rerank::ToldFeatures;
use formulanet::util::files;
use formulanet::util::hash::{digest, hash_text, mix};

/// A theory file to make pools of.
#[derive(Clone, Debug)]
pub struct PoolSource {
    /// The file.
    pub file: String,
    /// Whether its facts are in the order in which they were proved. If so, a fact's candidates are those before it, and
    /// only their proofs are known. If not, all other facts are candidates, and all other proofs are known.
    pub is_ordered: bool,
}

/// How pools are made.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolOptions {
    /// Candidates of a pool.
    pub size: usize,
    /// The facts with a proof that are held out for validation. Their proofs are hidden.
    pub validation: HoldOut,
    /// Chooses them, and which goals are asked without proofs.
    pub seed: u64,
    /// The share of goals of training for which the retriever knows no proofs, as in a library without any.
    pub without_proofs: f64,
    /// Make pools for facts that are held out alone.
    pub only_held_out: bool,
    /// Bounds on one statement.
    pub limits: Limits,
    /// Threads that retrieve.
    pub threads: usize,
}

/// A fact that becomes a problem.
#[derive(Clone, Copy)]
struct Asked {
    fact: usize,
    split: Split,
    knows_proofs: bool,
}

/// The known part of a facts file.
struct Known {
    file: ProofCorpusFile,
    features: Vec<Features>,
    asked: Vec<Asked>,
    is_ordered: bool,
}

/// Makes a pool for every fact that has a proof.
///
/// # Errors
///
/// If a file cannot be read, has no proofs, or `progress` stops the work.
pub fn make_pools(
    sources: &[PoolSource],
    options: &PoolOptions,
    progress: &dyn Progress,
) -> Result<Problems, Error> {
    let files: Vec<&str> = sources.iter().map(|source| source.file.as_str()).collect();
    let split = format!("{:?} {}", options.validation, options.seed);
    let mut fingerprint = Vec::new();
    for source in sources {
        fingerprint.extend(files::read(Path::new(&source.file))?);
    }
    fingerprint.extend(format!("{options:?}").bytes());
    let mut builder = PoolBuilder::new(ToldFeatures::FEATURES, options.limits);
    let mut names = Interner::new();
    for source in sources {
        let (known, statements) = read(source, options, &mut names, &mut builder)?;
        let of = known.asked.len() as u64;
        progress.begin(Stage { name: "retrieving", done: 0, of, unit: "facts" });
        thread::scope(|scope| {
            let (known, threads) = (&known, options.threads.max(1));
            let channels: Vec<mpsc::Receiver<ToldFeatures>> = (0..threads)
                .map(|first| {
                    let (sender, receiver) = mpsc::sync_channel(64);
                    scope.spawn(move || {
                        let mut asker = Asker::new(known, options);
                        for asked in known.asked.iter().skip(first).step_by(threads) {
                            // Nobody listens any more if the work was stopped.
                            if sender.send(asker.ask(*asked)).is_err() {
                                return;
                            }
                        }
                    });
                    receiver
                })
                .collect();
            for (number, asked) in known.asked.iter().enumerate() {
                if progress.is_stopped() {
                    return Err(Error::Interrupted);
                }
                let pool = channels[number % threads].recv().expect("a pool for every fact that is asked");
                let fact = &known.file.facts[asked.fact];
                let proof = fact.proof.as_deref().unwrap_or_default();
                builder.begin_problem(&fact.name, statements[asked.fact], asked.split, proof.len());
                for (candidate, row) in pool.rows() {
                    let is_useful = proof.binary_search(&(candidate as u32)).is_ok();
                    builder.add_candidate(Candidate { statement: statements[candidate], is_useful }, row);
                }
                progress.advance(1);
            }
            Ok(())
        })?;
    }
    Ok(builder.finish(ProblemOrigin {
        path: files.join(" "),
        input: files.join(" "),
        fingerprint: format!("{:016x}", digest(&fingerprint)),
        split,
        skipped: SkippedStatements::default(),
    }))
}

/// Reads a theory, adds its statements to the builder, and says their numbers.
fn read(
    source: &PoolSource,
    options: &PoolOptions,
    names: &mut Interner,
    builder: &mut PoolBuilder,
) -> Result<(Known, Vec<u32>), Error> {
    let reading = hol::Options { limits: options.limits, ..hol::Options::default() };
    let (mut features, mut statements, mut too_large) = (Vec::new(), Vec::new(), None);
    let file = ProofCorpusFile::read(&source.file, &reading, false, names, &mut |_, formula, names| {
        features.push(Features::of(formula, names));
        match builder.add_statement(formula, names) {
            Ok(number) => statements.push(number),
            Err(cause) => too_large = Some((statements.len(), cause)),
        }
    })?;
    if let Some((fact, cause)) = too_large {
        return Err(Error::input(&source.file, format!("{}: {cause}", file.facts[fact].name)));
    }
    let has_proof = |&fact: &usize| file.facts[fact].proof.as_ref().is_some_and(|proof| !proof.is_empty());
    let proved: Vec<usize> = (0..file.facts.len()).filter(has_proof).collect();
    if proved.is_empty() {
        return Err(Error::input(&source.file, "expected facts with a proof, found none"));
    }
    let proved_names: Vec<&str> = proved.iter().map(|&fact| file.facts[fact].name.as_str()).collect();
    let held_out: HashSet<usize> = choose_held_out(&proved_names, &options.validation, options.seed);
    let asked = proved.iter().enumerate().map(|(place, &fact)| {
        let is_held_out = held_out.contains(&place);
        let split = if is_held_out { Split::Validation } else { Split::Train };
        let chance =
            (mix(hash_text(&file.facts[fact].name), options.seed) >> 11) as f64 / (1u64 << 53) as f64;
        // What is measured is measured one way or the other.
        let forgets =
            if is_held_out { 1.0 <= options.without_proofs } else { chance < options.without_proofs };
        Asked { fact, split, knows_proofs: !forgets }
    });
    let asked = asked.filter(|asked| !options.only_held_out || asked.split == Split::Validation).collect();
    Ok((Known { file, features, asked, is_ordered: source.is_ordered }, statements))
}

/// Asks for pools, one fact after the other in the order of the library.
struct Asker<'a> {
    known: &'a Known,
    options: &'a PoolOptions,
    /// With the proofs of all facts up to here, or of all, and without.
    with_proofs: ProofIndex,
    without_proofs: ProofIndex,
    held_out: HashSet<usize>,
}

impl<'a> Asker<'a> {
    fn new(known: &'a Known, options: &'a PoolOptions) -> Self {
        let held_out = known.asked.iter().filter(|asked| asked.split == Split::Validation);
        let held_out = held_out.map(|asked| asked.fact).collect();
        let (with_proofs, without_proofs) = (ProofIndex::default(), ProofIndex::default());
        let mut asker = Asker { known, options, with_proofs, without_proofs, held_out };
        if !known.is_ordered {
            asker.grow(known.features.len());
            (0..known.features.len()).for_each(|fact| asker.learn(fact));
        }
        asker
    }

    /// Adds facts up to a place; in a library that is in order, with their proofs.
    fn grow(&mut self, end: usize) {
        for fact in self.with_proofs.len()..end {
            self.with_proofs.add_fact(&self.known.features[fact]);
            if self.options.without_proofs > 0.0 {
                self.without_proofs.add_fact(&self.known.features[fact]);
            }
            if self.known.is_ordered {
                self.learn(fact);
            }
        }
    }

    fn learn(&mut self, fact: usize) {
        let Some(proof) = &self.known.file.facts[fact].proof else { return };
        if !self.held_out.contains(&fact) {
            let used: Vec<usize> = proof.iter().map(|&used| used as usize).collect();
            self.with_proofs.add_proof(fact, &used);
        }
    }

    fn ask(&mut self, asked: Asked) -> ToldFeatures {
        let Asked { fact, knows_proofs, .. } = asked;
        let size = self.options.size;
        if self.known.is_ordered {
            self.grow(fact);
        }
        let own = if self.known.is_ordered { Vec::new() } else { self.with_proofs.take_proofs(fact) };
        let theory = if knows_proofs { &self.with_proofs } else { &self.without_proofs };
        let (goal, excluded) = (&self.known.features[fact], (!self.known.is_ordered).then_some(fact));
        let pool = if knows_proofs {
            ToldFeatures::with_proofs(theory, &theory.goal(goal), excluded, size)
        } else {
            let found = ToldFeatures::without_proofs(theory, &theory.goal(goal), excluded, size);
            let features: Vec<&Features> = found.iter().map(|&fact| &self.known.features[fact]).collect();
            ToldFeatures::of_found(goal, &features).renumbered(&found)
        };
        own.iter().for_each(|proof| self.with_proofs.add_proof(fact, proof));
        pool
    }
}
