//! `formulanet library`: a premise library in one file.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use formulanet::model::TrainedModel;
use formulanet::model::shipped;
use formulanet::processes;
use formulanet::rank::collection::Collection;
use formulanet::rank::library::{Added, Library};
use formulanet::rank::ranker::Ranker;
use formulanet::read::Syntax;
use serde::Serialize;

use crate::input::{ComputeArguments, FormatArgument, LimitArguments, language, writing};
use crate::processes::{group, refuse_stdin, speaks};

/// Keep statements and their vectors in a file, for ranking without embedding them anew
///
/// One SQLite file with names, statements, vectors and the model they were made with. Other processes may read it while
/// it changes; a change that is interrupted leaves it as it was.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet library build lemmas.db arithmetic.hol\n  \
    formulanet library add lemmas.db more.hol\n  \
    formulanet library remove lemmas.db 'OLD_*'\n  \
    formulanet rank --conjecture '!m n. m + n = n + m' --library lemmas.db -k 5")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    /// Whether the processes of `mpirun` share its work.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.command, Command::Build(_))
    }
}

#[derive(Subcommand)]
enum Command {
    /// Make a library of files of statements
    Build(BuildArguments),
    /// Add statements, or change those whose names are there
    Add(AddArguments),
    /// Remove statements by name or pattern
    Remove(RemoveArguments),
    /// Show the statements
    List(ListArguments),
    /// Check the file, and every vector against a new one
    Verify(VerifyArguments),
}

#[derive(Args)]
struct BuildArguments {
    /// The library to make
    library: PathBuf,
    #[command(flatten)]
    statements: StatementArguments,
    /// A model file or a shipped model; by default the one that ranks libraries of the statements' language
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

#[derive(Args)]
struct AddArguments {
    /// The library to change
    library: PathBuf,
    #[command(flatten)]
    statements: StatementArguments,
    /// The model file that the library was made with, unless it is a shipped one
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

#[derive(Args)]
struct StatementArguments {
    /// Files of statements, as `formulanet rank --premises` reads them; `-` is standard input
    #[arg(required = true)]
    files: Vec<String>,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Args)]
struct RemoveArguments {
    /// The library to change
    library: PathBuf,
    /// Names, or patterns with `*` and `?`
    #[arg(required = true)]
    names: Vec<String>,
}

#[derive(Args)]
struct ListArguments {
    /// The library
    library: PathBuf,
    /// How to show the statements
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
}

#[derive(Args)]
struct VerifyArguments {
    /// The library
    library: PathBuf,
    /// The model file that it was made with, unless it is a shipped one
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    compute: ComputeArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// `name: statement` lines.
    Text,
    /// One object per line, which `library add` reads.
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Build(arguments) => build(arguments),
        Command::Add(arguments) => add(arguments),
        Command::Remove(arguments) => {
            let removed = Library::open(&arguments.library)?.remove(&arguments.names)?;
            if removed == 0 {
                bail!("no statement has such a name; `formulanet library list` shows them");
            }
            eprintln!("removed {removed} statements");
            Ok(())
        }
        Command::List(arguments) => list(&arguments),
        Command::Verify(arguments) => {
            let library = Library::open(&arguments.library)?;
            let ranker = ranker_of(&library, arguments.model.as_deref(), &arguments.compute)?;
            let count = library.verify(&ranker)?;
            writing(writeln!(io::stdout(), "{count} statements, all as they should be"))
        }
    }
}

fn build(arguments: BuildArguments) -> Result<()> {
    let statements = &arguments.statements;
    let format = statements.input.format();
    let model = match &arguments.model {
        Some(model) => model.clone(),
        None => shipped::for_syntax(language(&statements.files, format)?).to_owned(),
    };
    let ranker = Ranker::new(TrainedModel::named(&model)?, statements.compute.compute())?
        .with_limits(statements.limits.limits());
    if speaks() && arguments.library.exists() {
        bail!(
            "{}: there is a file already; add to it with `library add`, or choose another name",
            arguments.library.display()
        );
    }
    refuse_stdin(statements.files.iter().map(String::as_str))?;
    processes::agree(group(), &Collection::new(&ranker).facts())?;
    if !speaks() {
        // This process embeds its share, and the first one has the library.
        read(statements, &ranker, &mut Library::create(Path::new(":memory:"), &ranker, &model)?)?;
        return Ok(());
    }
    // Under another name until it is whole.
    let folder = arguments.library.parent().filter(|parent| !parent.as_os_str().is_empty());
    let place =
        tempfile::Builder::new().prefix(".formulanet-").tempdir_in(folder.unwrap_or(Path::new(".")))?;
    let unfinished = place.path().join("library");
    let mut library = Library::create(&unfinished, &ranker, &model)?;
    let added = read(statements, &ranker, &mut library)?;
    drop(library);
    std::fs::rename(&unfinished, &arguments.library)?;
    eprintln!("{} statements in {}", added.new, arguments.library.display());
    Ok(())
}

fn add(arguments: AddArguments) -> Result<()> {
    let statements = &arguments.statements;
    let mut library = Library::open(&arguments.library)?;
    let ranker = ranker_of(&library, arguments.model.as_deref(), &statements.compute)?
        .with_limits(statements.limits.limits());
    let added = read(statements, &ranker, &mut library)?;
    eprintln!("{} new, {} changed, {} as before", added.new, added.replaced, added.same);
    Ok(())
}

/// Reads files of statements into a library, all or nothing. Of statements with the same name, the last counts.
fn read(statements: &StatementArguments, ranker: &Ranker, library: &mut Library) -> Result<Added> {
    let format = statements.input.format();
    let mut collection = Collection::new(ranker);
    let (mut addition, mut count, mut digest) = (library.addition(ranker)?, 0, 0);
    if !speaks() {
        addition = addition.without_writing();
    }
    for file in &statements.files {
        collection.read_each(file, format, &mut |premise| {
            count += 1;
            digest = processes::digest(format!("{digest} {} {}", premise.name, premise.text).as_bytes());
            addition.push(premise)
        })?;
    }
    if count == 0 {
        bail!("expected statements, found none");
    }
    processes::agree(group(), &[("statements", format!("{count} with digest {digest:016x}"))])?;
    let added = addition.commit()?;
    if added.repeated > 0 && speaks() {
        eprintln!("{} statements share a name with a later one and were left out", added.repeated);
    }
    Ok(added)
}

/// The model that a library was made with: the given one, or the shipped one whose name it has.
pub(crate) fn ranker_of(
    library: &Library,
    model: Option<&str>,
    compute: &ComputeArguments,
) -> Result<Ranker> {
    let made = library.made()?;
    let ranker = Ranker::new(TrainedModel::named(model.unwrap_or(&made.model))?, compute.compute())?;
    library.check(&ranker)?;
    Ok(ranker)
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    statement: &'a str,
    syntax: Syntax,
}

fn list(arguments: &ListArguments) -> Result<()> {
    let library = Library::open(&arguments.library)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for entry in library.entries()? {
        let row = Row { name: &entry.name, statement: &entry.text, syntax: entry.syntax };
        writing(match arguments.format {
            Output::Json => writeln!(out, "{}", serde_json::to_string(&row)?),
            Output::Text => {
                let text: Vec<&str> = row.statement.split_whitespace().collect();
                writeln!(out, "{}: {}", row.name, text.join(" "))
            }
        })?;
    }
    writing(out.flush())
}
