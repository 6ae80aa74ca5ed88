//! Errors, with the values that a caller may want to inspect.

use std::path::Path;
use std::{fmt, io};

use formulanet_logic::{Limit, ParseError, Position, ReadError, TooLarge};
use thiserror::Error;

/// Why something could not be read, written or done.
///
/// Messages say what was expected, what was found and, where the library can know it, the way out. How a program's user
/// gets there (a flag, a field of a request) is for the program to add: variants carry what that takes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot read or write `{file}`")]
    Io {
        /// The file's name as the user gave it.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A text is not what it should be.
    #[error("{file}:{cause}")]
    Parse {
        /// The file's name as the user gave it.
        file: String,
        /// Where and why.
        cause: ParseError,
    },
    /// A statement's graph is larger than the limits allow.
    #[error("{file}:{position}: {cause}")]
    TooLarge {
        /// The file's name as the user gave it.
        file: String,
        /// Where the statement begins.
        position: Position,
        /// The limit that is exceeded.
        cause: TooLarge,
    },
    /// A line of a file, or a value, is not what it should be.
    #[error("{place}: {message}")]
    Input {
        /// The file with the line, or the name of the value.
        place: String,
        /// A description of the expected and the found input.
        message: String,
    },
    /// A file that this program writes is damaged.
    #[error("{file}: {message}")]
    Corrupt {
        /// Its kind.
        artefact: Artefact,
        /// Its name as the user gave it.
        file: String,
        /// A description of the expected and the found input.
        message: String,
    },
    /// A file of a format that this program does not read.
    #[error(
        "{file}: expected a {artefact} of format {supported}, found {found}; make it again with this program"
    )]
    Unsupported {
        /// Its kind.
        artefact: Artefact,
        /// Its name as the user gave it.
        file: String,
        /// The format that was found.
        found: i64,
        /// The format that this program reads.
        supported: i64,
    },
    /// A file of another kind than the one that is needed.
    #[error("{file}: expected a {expected}, found {found}")]
    WrongKind {
        /// The file's name as the user gave it.
        file: String,
        /// The kind that is needed.
        expected: Artefact,
        /// The kind that was found.
        found: String,
    },
    /// Another process is changing a library.
    #[error("{0}: another process is writing; try again")]
    Busy(String),
    /// Another file took the place of a library that was being changed.
    #[error(
        "{0}: another file took its place while it was being changed, and has nothing of the change; try again"
    )]
    Replaced(String),
    /// A file or folder is there already, and would be lost.
    #[error("{path}: expected nothing there, found {found}")]
    Exists {
        /// Where it is.
        path: String,
        /// Its kind.
        found: &'static str,
    },
    /// There is neither a model file nor a built-in model of this name.
    #[error("expected a model file or one of the built-in models ({built_in}), found neither: `{name}`")]
    NoSuchModel {
        /// The requested name.
        name: String,
        /// The names of the built-in models.
        built_in: String,
    },
    /// There is no library at a path.
    #[error("{0}: expected a library, found no such file")]
    NoSuchLibrary(String),
    /// A library was made with another model.
    #[error("{library}: expected the model that made its vectors ({made_with}), found another")]
    ModelMismatch {
        /// The library.
        library: String,
        /// The model that made its vectors.
        made_with: String,
    },
    /// A library has no statement of a name.
    #[error("{library}: expected a statement `{name}`, found none")]
    NoSuchStatement {
        /// The library.
        library: String,
        /// The name.
        name: String,
    },
    /// Two re-rankers were given.
    #[error("expected one re-ranker, found two: the model re-ranks, too")]
    TwoRerankers,
    /// A library in another language than that of a TPTP problem.
    #[error("library: expected one in TPTP's language, found one in another: no prover reads both")]
    NotTptp,
    /// Vectors were asked for where there is no model.
    #[error("expected a model that makes vectors, found none: no model was trained on Lean's statements")]
    NoVectors,
    /// There are no statements to rank.
    #[error("expected statements to rank, found none")]
    NoStatements,
    /// More statements must be selected than may be.
    #[error("expected at most {k} statements that must be selected, found {included}")]
    TooManyIncluded {
        /// The most statements that may be selected.
        k: usize,
        /// The number of statements that must be selected.
        included: usize,
    },
    /// A folder was not prepared.
    #[error("{0}: expected a prepared folder, found no meta.json")]
    NotPrepared(String),
    /// A data set is not in a format that is known.
    #[error(
        "{input}: expected HolStep (`N ...`), DeepMath (`C fof(...)`) or JSON Lines (`{{...}}`), found none of them in `{file}`"
    )]
    UnknownLayout {
        /// The data set.
        input: String,
        /// Its first file.
        file: String,
    },
    /// A problem has nothing to prove.
    #[error("{file}: expected a conjecture to select for, found none; give one the role `conjecture`")]
    NoConjecture {
        /// The file.
        file: String,
    },
    /// Too little is left to train on.
    #[error("{data}: expected pairs or dependencies to train on, found {found}")]
    TooFewPairs {
        /// The prepared folder, or what it is made of.
        data: String,
        /// Their number.
        found: usize,
    },
    /// Nothing is held out for validation.
    #[error(
        "{data}: expected conjectures with statements held out for validation, found none and {training} for training"
    )]
    NothingHeldOut {
        /// The prepared folder, or what it is made of.
        data: String,
        /// The number of conjectures for training.
        training: usize,
    },
    /// No conjecture of the chosen splits depends on a named premise.
    #[error("{0}: expected conjectures that depend on named premises, found none")]
    NothingToRank(String),
    /// A folder was prepared without what networks that read problems need.
    #[error(
        "{folder}: expected a folder that was prepared for reading statements together, found one that was not"
    )]
    NoProblems {
        /// The prepared folder.
        folder: String,
    },
    /// A model reads a conjecture and its candidates together, where one is needed that reads statements one by one.
    #[error("{model}: expected a model that reads statements one by one, found one that reads them together")]
    ReadsTogether {
        /// The model.
        model: String,
    },
    /// A tally, where a network is needed.
    #[error(
        "{model}: expected a network, found a count-based classifier, which cannot rank: only `formulanet-lab eval` reads it"
    )]
    OnlyCounts {
        /// The model.
        model: String,
    },
    /// A model knows too few labels of some data.
    #[error("{model}: expected a model for this data, found one that knows {known} of its {labels} labels")]
    ForeignModel {
        /// The model.
        model: String,
        /// The number of labels of the model.
        known: usize,
        /// The number of labels of the data.
        labels: usize,
    },
    /// A folder holds a run already.
    #[error("{0}: expected a new folder, found one with a run")]
    RunExists(String),
    /// A run is resumed with other data.
    #[error(
        "{data}: expected the data that the run in {run} began with, found other data or another preparation"
    )]
    OtherData {
        /// The data.
        data: String,
        /// The run folder.
        run: String,
    },
    /// A work folder has results of other work.
    #[error("{path}: expected {expected}, found {found}")]
    OtherWork {
        /// The file or folder.
        path: String,
        /// The expected value.
        expected: String,
        /// The value that was found.
        found: String,
    },
    /// Training diverged.
    #[error("the loss is no longer a number after batch {step} (rate {rate}); the last checkpoint is good")]
    Diverged {
        /// The batch.
        step: u64,
        /// The learning rate of its step.
        rate: f32,
    },
    /// More processes share a run than a batch has work for.
    #[error("expected at most {most} processes, which is what a batch has work for, found {processes}")]
    TooManyProcesses {
        /// The most that can share a batch.
        most: usize,
        /// Their number.
        processes: usize,
    },
    /// Another process is at work in a folder.
    #[error("{0}: another process is at work in this folder; wait for it or choose another folder")]
    InUse(String),
    /// The user stopped the work.
    #[error("stopped before the end; nothing was written")]
    Interrupted,
}

impl Error {
    pub fn io(file: impl AsRef<Path>, source: io::Error) -> Self {
        Error::Io { file: shown(file), source }
    }

    pub fn input(place: impl AsRef<Path>, message: impl ToString) -> Self {
        Error::Input { place: shown(place), message: message.to_string() }
    }

    pub fn corrupt(artefact: Artefact, file: impl AsRef<Path>, message: impl ToString) -> Self {
        Error::Corrupt { artefact, file: shown(file), message: message.to_string() }
    }

    pub fn parse(file: impl AsRef<Path>, cause: ParseError) -> Self {
        Error::Parse { file: shown(file), cause }
    }

    pub fn read(file: impl AsRef<Path>, error: ReadError) -> Self {
        match error {
            ReadError::Io(source) => Error::io(file, source),
            ReadError::Parse(source) => Error::parse(file, source),
        }
    }

    pub fn other_work(path: &Path, expected: impl ToString, found: impl ToString) -> Self {
        Error::OtherWork { path: shown(path), expected: expected.to_string(), found: found.to_string() }
    }
}

/// A kind of file that this program writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Artefact {
    /// A network that scores statements one by one.
    Model,
    /// A network that makes a vector of each statement.
    Retriever,
    /// A network that scores the best candidates together with the goal.
    Reranker,
    /// Trees that combine ranking features.
    Blend,
    /// A premise library.
    Library,
    /// The cached index of a hammer's files.
    HammerCache,
    /// A data set prepared for training.
    Dataset,
    /// A compiled module of Lean.
    LeanModule,
    /// A checkpoint of a training run.
    Checkpoint,
}

impl fmt::Display for Artefact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Artefact::Model => "model",
            Artefact::Retriever => "model that makes a vector of each statement",
            Artefact::Reranker => "re-ranker",
            Artefact::Blend => "blend of ranking features",
            Artefact::Library => "premise library",
            Artefact::HammerCache => "cached index",
            Artefact::Dataset => "prepared data set",
            Artefact::LeanModule => "compiled Lean module",
            Artefact::Checkpoint => "checkpoint",
        })
    }
}

/// The way out of an error. Each door words it in its own flags, fields or calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Hint {
    /// Raise a limit.
    RaiseLimit(Limit),
    /// Give fewer or smaller statements: no setting raises this limit.
    SmallerStatements,
    /// Add to the file that is there, or choose another name.
    AddToLibrary,
    /// Make a library first.
    MakeLibrary,
    /// Repair the library, as far as it can be read.
    RepairLibrary,
    /// Use the model that made the library, or make the library again.
    ModelOfLibrary,
    /// Return more statements, or require fewer.
    RequireFewer,
    /// Prepare the data with problems, or give the raw data.
    PrepareProblems,
    /// Prepare the data first.
    Prepare,
    /// Name the format.
    NameFormat,
    /// Hold out fewer conjectures.
    HoldOutFewer,
    /// Hold out from one conjecture to this number.
    HoldOut(usize),
    /// Choose other parts of the data, or other data.
    OtherSplit,
    /// Choose a model that was trained on such data.
    OtherModel,
    /// Resume the run, or choose another folder.
    Resume,
    /// Give the data that the run began with.
    SameData,
    /// Remove what is there, or choose another folder.
    OtherFolder,
    /// Try a lower learning rate, or shorter gradients.
    LowerRate,
    /// Start fewer processes, or make batches larger.
    FewerProcesses,
}

impl Error {
    /// Returns the way out, if there is one.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            Error::Parse { cause, .. } => return cause.limit.map(of_limit),
            // A network counts nodes in sixteen bits, whatever the limits say.
            Error::TooLarge { cause, .. }
                if cause.what == Limit::Nodes && cause.limit == u64::from(u16::MAX) =>
            {
                Hint::SmallerStatements
            }
            Error::TooLarge { cause, .. } => of_limit(cause.what),
            Error::Exists { found: "a file", .. } => Hint::AddToLibrary,
            Error::NoSuchLibrary(_) => Hint::MakeLibrary,
            Error::Corrupt { artefact: Artefact::Library, .. } => Hint::RepairLibrary,
            Error::ModelMismatch { .. } => Hint::ModelOfLibrary,
            Error::TooManyIncluded { .. } => Hint::RequireFewer,
            Error::NoProblems { .. } => Hint::PrepareProblems,
            Error::NotPrepared(_) => Hint::Prepare,
            Error::UnknownLayout { .. } => Hint::NameFormat,
            Error::TooFewPairs { .. } => Hint::HoldOutFewer,
            Error::NothingHeldOut { training, .. } => Hint::HoldOut(training.saturating_sub(1).max(1)),
            Error::NothingToRank(_) => Hint::OtherSplit,
            Error::ForeignModel { .. } => Hint::OtherModel,
            Error::RunExists(_) => Hint::Resume,
            Error::OtherData { .. } => Hint::SameData,
            Error::OtherWork { .. } => Hint::OtherFolder,
            Error::Diverged { .. } => Hint::LowerRate,
            Error::TooManyProcesses { .. } => Hint::FewerProcesses,
            _ => return None,
        })
    }
}

/// The way out of a limit.
pub fn of_limit(limit: Limit) -> Hint {
    match limit {
        Limit::Edges | Limit::Statements => Hint::SmallerStatements,
        limit => Hint::RaiseLimit(limit),
    }
}

/// A path as messages show it.
pub fn shown(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}
