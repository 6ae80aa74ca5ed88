//! From an input to a prepared folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::thread;

use formulanet::logic::{Limits, View};
use serde::{Deserialize, Serialize};

use super::checksums::Checksums;
use super::collect::Collection;
use super::parse::Worker;
use super::source::{Layout, Source};
use super::split::HoldOut;
use super::store;
use super::store::{FORMAT, Meta};
use super::write;
use crate::{Error, Progress, Silent, Stage};
use formulanet::error::shown;
use formulanet::read::SkippedStatements;

/// How data is prepared; two runs with the same input and options write the same bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Options {
    /// The graph that formulas become.
    #[serde(with = "formulanet::model::serde_view")]
    pub view: View,
    /// Which conjectures are held out for validation.
    pub validation: HoldOut,
    /// Chooses them, if only their number is given.
    pub seed: u64,
    /// Rename variables at random, by this seed.
    pub rename_variables: Option<u64>,
    /// Which statements give the vocabulary its labels.
    #[serde(default)]
    pub labels: Labels,
    /// Labels that training has less often become unknown symbols, told apart by place and number of arguments. So
    /// training teaches what an unknown symbol means.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub min_count: u64,
    /// Also make parts of problem graphs of all statements, for networks that read a conjecture and its statements together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// Leave out statements that cannot be read, instead of failing.
    pub keep_going: bool,
    /// How large a statement may be.
    #[serde(with = "LimitsForm")]
    pub limits: Limits,
}

/// Which statements give the vocabulary its labels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Labels {
    /// Those of training: a network learns no others.
    #[default]
    Training,
    /// All: for a network trained elsewhere, which brings its own vocabulary.
    All,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            view: View::Graph,
            validation: HoldOut::Number(700),
            seed: 0,
            rename_variables: None,
            labels: Labels::Training,
            min_count: 1,
            together: false,
            keep_going: false,
            limits: Limits::default(),
        }
    }
}

fn one() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_one(number: &u64) -> bool {
    *number == 1
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Limits")]
struct LimitsForm {
    bytes: usize,
    depth: usize,
    nodes: usize,
    treelets: u64,
}

/// The result of preparing a data set.
#[derive(Debug)]
pub enum Preparation {
    /// The folder was written, without some statements.
    Written(Meta, SkippedStatements),
    /// The directory existed already.
    AlreadyThere(Meta),
}

/// Prepares a data set: HolStep, DeepMath or JSON Lines, as a directory, an archive or a file.
///
/// The folder is written under another name and renamed at the end: it is there as a whole or not at all.
///
/// # Errors
///
/// If the input cannot be read, the folder is there with other content or cannot be written, or `progress` stops the
/// work.
pub fn prepare(
    input: &Path,
    output: &Path,
    layout: Option<Layout>,
    options: &Options,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Preparation, Error> {
    let source = Source::open(input)?;
    let fingerprint = source.fingerprint(progress)?;
    if output.join(store::META).exists() {
        let found = store::read_meta(output)?;
        if found.fingerprint == fingerprint && found.options == *options && found.program == version() {
            return Ok(Preparation::AlreadyThere(found));
        }
        let message = "expected a new folder, found one that was prepared from other input or with other \
                       options; remove it or choose another";
        return Err(Error::input(output, message));
    }
    write::check_output(output)?;
    let layout = match layout {
        Some(layout) => layout,
        None => recognise(&source, input, options.limits.bytes)?,
    };
    progress.begin(Stage { name: "reading", done: 0, of: source.bytes, unit: "bytes" });
    let collection = collect(&source, layout, options, threads.clamp(1, WINDOW), progress)?;
    let name = input.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
    let skipped = collection.skipped.clone();
    let meta = Meta {
        format: FORMAT,
        program: version().to_owned(),
        input: name,
        layout,
        fingerprint,
        options: options.clone(),
        counts: store::Counts::default(),
        checksums: Checksums::default(),
    };
    progress.begin(Stage { name: "writing", done: 0, of: 0, unit: "bytes" });
    let meta = write::write(collection, meta, output, progress)?;
    Ok(Preparation::Written(meta, skipped))
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The layout of the first file.
pub(super) fn recognise(source: &Source, input: &Path, longest: usize) -> Result<Layout, Error> {
    let mut found = None;
    let result = source.for_each(longest, &Silent, &mut |file| {
        let layout = if file.is_cut { Some(Layout::Jsonl) } else { Layout::of(&file.content) };
        found = Some((layout, file.name));
        Err(Error::Interrupted) // one file is enough
    });
    match (found, result) {
        (Some((Some(layout), _)), _) => Ok(layout),
        (Some((None, file)), _) => Err(Error::UnknownLayout { input: shown(input), file }),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(Error::input(input, "expected files, found none")),
    }
}

/// The most files in progress: they are kept until all files before them are done. More threads have nothing to do.
const WINDOW: usize = 64;

/// Reads, parses and puts together all files: one thread reads, `threads` parse, this one puts together.
pub(super) fn collect(
    source: &Source,
    layout: Layout,
    options: &Options,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Collection, Error> {
    // The reader needs a permit for every file; it gets no more after a failure.
    let (permit_sender, permits) = mpsc::channel();
    (0..WINDOW).for_each(|_| _ = permit_sender.send(()));
    let mut permit_sender = Some(permit_sender);
    let (file_sender, file_receiver) = mpsc::sync_channel(WINDOW);
    let file_receiver = Mutex::new(file_receiver);
    let (parsed_sender, parsed_receiver) = mpsc::channel();
    thread::scope(|scope| {
        for id in 0..threads {
            let (files, parsed) = (&file_receiver, parsed_sender.clone());
            scope.spawn(move || {
                let mut worker = Worker::new(id, layout, options, progress);
                loop {
                    let next = files.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
                    let Ok((index, file)) = next else { break };
                    let _ = parsed.send((index, worker.parse(file)));
                }
            });
        }
        drop(parsed_sender);
        let reader = scope.spawn(move || {
            let (mut index, sender) = (0, file_sender);
            source.for_each(options.limits.bytes, progress, &mut |file| {
                if progress.is_stopped() || permits.recv().is_err() {
                    return Err(Error::Interrupted);
                }
                sender.send((index, file)).map_err(|_| Error::Interrupted)?;
                index += 1;
                Ok(())
            })
        });
        let mut collection = Collection::new(threads);
        let (mut waiting, mut next, mut failure) = (BTreeMap::new(), 0, None);
        for (index, parsed) in parsed_receiver {
            waiting.insert(index, parsed);
            while failure.is_none()
                && let Some(parsed) = waiting.remove(&next)
            {
                match parsed {
                    Ok(parsed) => collection.add(parsed),
                    Err(error) => {
                        failure = Some(error);
                        permit_sender = None;
                    }
                }
                next += 1;
                permit_sender.iter().for_each(|sender| _ = sender.send(()));
            }
        }
        let read = reader.join().unwrap_or(Err(Error::Interrupted));
        match failure {
            Some(error) => Err(error),
            None => read.map(|()| collection),
        }
    })
}
