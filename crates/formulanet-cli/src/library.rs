//! `formulanet library`: a premise library in one file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use formulanet::analyze::Analyzer;
use formulanet::corpus::LibraryEntry;
use formulanet::library::{Added, LibraryWriter, ProofOrigin, RecordedProof, Repaired};
use formulanet::logic::Limits;
use formulanet::model::JointModelFile;
use formulanet::net::Alone;
use formulanet::read::{ProofWarnings, Source, read_proofs};
use formulanet::retrieve::VectorRetriever;
use formulanet::{Error, Language, Library, Statement};
use formulanet_train::processes;
use formulanet_train::train::{LibraryTrained, LibraryTraining, train_library};
use serde::Serialize;

use crate::input::{
    ComputeArguments, FormatArgument, KeepGoingArgument, LimitArguments, ModelArgument, counted, language_of,
    model_for, refuse_stdin_twice, report_skipped, writing,
};
use crate::output::{Output, shown};
use crate::processes::{facts, group, refuse_stdin, speaks};
use crate::progress::Bar;

/// Build and maintain a premise library
///
/// A library is one SQLite file with statements, their embeddings and the dependencies of their proofs, so that a query only
/// embeds the conjecture. New proofs take effect at the next query. Other processes may read a library while it changes; an
/// interrupted change has no effect.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet library build lemmas.db arithmetic.hol\n  \
    formulanet library add lemmas.db more.hol\n  \
    formulanet library remove lemmas.db 'OLD_*'\n  \
    formulanet library build lists.db theory.jsonl\n  \
    formulanet library learn lists.db proofs.txt\n  \
    formulanet library list lists.db --proofs\n  \
    formulanet rank '!m n. m + n = n + m' --library lemmas.db -k 5")]
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
    /// Build a library from files of statements
    Build(BuildArguments),
    /// Add statements, replacing those with the same name
    Add(AddArguments),
    /// Remove statements and their proofs by name or pattern
    Remove(RemoveArguments),
    /// Record the dependencies of proofs
    Learn(LearnArguments),
    /// Delete the recorded proofs of statements
    Forget(ForgetArguments),
    /// Fine-tune the re-ranker on the library's proofs
    Train(TrainArguments),
    /// List the statements
    List(ListArguments),
    /// Check the file and recompute every embedding
    Verify(VerifyArguments),
}

#[derive(Args)]
struct BuildArguments {
    /// Library to create
    library: PathBuf,
    #[command(flatten)]
    statements: StatementArguments,
}

#[derive(Args)]
struct AddArguments {
    /// Library to change
    library: PathBuf,
    #[command(flatten)]
    statements: StatementArguments,
}

#[derive(Args)]
struct StatementArguments {
    /// Files of statements, as `formulanet rank --premises` reads them; `-` is standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Treat circular and forward references in proofs as errors
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    input: FormatArgument,
    #[command(flatten)]
    going: KeepGoingArgument,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    compute: ComputeArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Args)]
struct RemoveArguments {
    /// Library to change
    library: PathBuf,
    /// Names, or patterns with `*` and `?`; an existing name is not a pattern, and `\*` and `\?` match the characters
    #[arg(required = true)]
    names: Vec<String>,
}

#[derive(Args)]
struct LearnArguments {
    /// Library to change
    library: PathBuf,
    /// Files of proofs: lines `name: name name`, JSON Lines with `name` and `proof`, Isabelle's `mash_state`, or TSTP
    /// derivations; `-` is standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// Treat circular and forward references in proofs as errors
    #[arg(long)]
    strict: bool,
}

#[derive(Args)]
struct ForgetArguments {
    /// Library to change
    library: PathBuf,
    /// Names of statements
    #[arg(required = true)]
    names: Vec<String>,
    /// Delete only the latest proof
    #[arg(long)]
    last: bool,
}

#[derive(Args)]
struct TrainArguments {
    /// Library to train on, which keeps the result
    library: PathBuf,
    /// Time to train, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_time)]
    budget: Duration,
    /// Start from this re-ranker
    #[arg(long, value_name = "MODEL", default_value = "reader")]
    reader: String,
    /// Seed that selects the held-out proofs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Use N threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Reads `90s`, `10m` or `1h`.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let expected = || format!("expected a time such as 90s, 10m or 1h, found `{text}`");
    let unit = text.chars().last().ok_or_else(expected)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    if !(number > 0.0 && number * seconds <= 1e7) {
        return Err(expected());
    }
    Ok(Duration::from_secs_f64(number * seconds))
}

#[derive(Args)]
struct ListArguments {
    /// Library
    library: PathBuf,
    /// Output format: `name: statement` lines, or objects that `library add` reads
    #[arg(long, value_enum, default_value_t = Output::Text)]
    format: Output,
    /// List recorded proofs instead of statements: the premises, and the prover, the seconds and the time of those that `prove` found
    #[arg(long)]
    proofs: bool,
}

#[derive(Args)]
struct VerifyArguments {
    /// Library
    library: PathBuf,
    /// Rebuild a damaged library from what can be read, and keep the damaged file as `NAME.damaged`
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    compute: ComputeArguments,
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
            tell!("removed {}", counted(removed, "statement"));
            Ok(())
        }
        Command::Learn(arguments) => learn(&arguments),
        Command::Forget(arguments) => forget(&arguments),
        Command::Train(arguments) => fit(&arguments),
        Command::List(arguments) => list(&arguments),
        Command::Verify(arguments) => verify(&arguments),
    }
}

fn verify(arguments: &VerifyArguments) -> Result<()> {
    let VerifyArguments { library: path, repair, model, compute } = arguments;
    let checked = Library::open(path).map_err(anyhow::Error::from).and_then(|library| {
        let retriever = model.retriever_of(&library, compute, Limits::default())?;
        Ok(library.verify(&retriever)?)
    });
    let is_damage = |error: &anyhow::Error| {
        matches!(error.downcast_ref(), Some(Error::Corrupt { .. } | Error::WrongKind { .. }))
    };
    match checked {
        Ok(count) => writing(writeln!(io::stdout(), "{}, nothing wrong", counted(count, "statement"))),
        Err(error) if *repair && is_damage(&error) => {
            tell!("damaged: {error}");
            let made = Library::made_by(path)?;
            let name = model.name(&made.model);
            let retriever = model.retriever(name, compute, Limits::default())?;
            report_repaired(&Library::repair(path, &retriever, name)?)
        }
        Err(error) => Err(error),
    }
}

/// Reports the statements and proofs that a repair kept and lost.
fn report_repaired(repaired: &Repaired) -> Result<()> {
    for name in &repaired.embedded {
        tell!("computed again: {}", shown(name));
    }
    for name in &repaired.lost {
        tell!("lost: {}", shown(name));
    }
    if repaired.lost_proofs > 0 {
        tell!("lost {}", counted(repaired.lost_proofs, "proof"));
    }
    if repaired.is_reader_lost {
        tell!("lost the network that was fitted to the library; `formulanet library train` makes another");
    }
    let (statements, proofs) = (counted(repaired.statements, "statement"), counted(repaired.proofs, "proof"));
    let kept = shown(&repaired.kept.display().to_string()).into_owned();
    writing(writeln!(io::stdout(), "saved {statements} and {proofs}; the damaged file is {kept}"))
}

fn build(arguments: BuildArguments) -> Result<()> {
    let BuildArguments { library: path, statements } = arguments;
    refuse_stdin(statements.files.iter().map(String::as_str))?;
    let sources = statements.open()?;
    let is_strict = statements.strict;
    let (language, _) = language_of(None, sources.first().map(Source::language));
    let model = statements.model.name(model_for(language)).to_owned();
    let retriever = statements.model.retriever(&model, &statements.compute, statements.limits.limits())?;
    processes::agree(group(), &facts(&retriever, &[]))?;
    if !speaks() {
        // This process embeds its share, and the first one has the library.
        let mut library = Library::in_memory(&retriever)?;
        let mut addition = library.writer(&retriever)?.without_writing();
        read(sources, &retriever, &statements.going, &mut addition)?;
        addition.commit()?;
        return Ok(());
    }
    let added = Library::build(&path, &retriever, &model, |addition| {
        addition.set_strict(is_strict);
        read(sources, &retriever, &statements.going, addition)
    })?;
    report(&added);
    let proofs =
        if added.proofs == 0 { String::new() } else { format!(" and {}", counted(added.proofs, "proof")) };
    tell!("{}{proofs} in {}", counted(added.new, "statement"), path.display());
    Ok(())
}

fn add(arguments: AddArguments) -> Result<()> {
    let AddArguments { library: path, statements } = arguments;
    let mut library = Library::open(&path)?;
    let sources = statements.open()?;
    let retriever =
        statements.model.retriever_of(&library, &statements.compute, statements.limits.limits())?;
    let mut addition = library.writer(&retriever)?;
    addition.set_strict(statements.strict);
    read(sources, &retriever, &statements.going, &mut addition)?;
    let added = addition.commit()?;
    // The system takes memory back at once, and much faster than we could give it.
    std::mem::forget(retriever);
    report(&added);
    let proofs =
        if added.proofs == 0 { String::new() } else { format!(", {} new", counted(added.proofs, "proof")) };
    tell!("{} new, {} changed, {} as before{proofs}", added.new, added.replaced, added.same);
    Ok(())
}

impl StatementArguments {
    fn open(&self) -> Result<Vec<Source>> {
        refuse_stdin_twice(self.files.iter().map(String::as_str))?;
        self.input.open(&self.files)
    }
}

/// Reads sources into a library. Of statements with the same name, the last counts.
fn read(
    sources: Vec<Source>,
    retriever: &VectorRetriever,
    going: &KeepGoingArgument,
    addition: &mut LibraryWriter<'_>,
) -> Result<(), Error> {
    let (mut analyzer, mut count, mut digest) = (going.analyzer(Analyzer::new(retriever)), 0, 0);
    for source in sources {
        for premise in analyzer.read(source)? {
            let premise = premise?;
            count += 1;
            digest = processes::digest(format!("{digest} {} {}", premise.name, premise.text).as_bytes());
            addition.push(premise)?;
        }
    }
    report_skipped(&analyzer.skipped());
    if count == 0 {
        return Err(Error::NoStatements);
    }
    processes::agree(group(), &[("statements", format!("{count} with digest {digest:016x}"))])
}

fn report(added: &Added) {
    if added.repeated > 0 {
        let statements = counted(added.repeated, "statement");
        tell!("left out {statements} with the name of a later one");
    }
    warn(&added.warnings);
}

/// Warns about references of proofs that are ignored.
fn warn(oddities: &ProofWarnings) {
    if let Some(report) = oddities.report() {
        tell!("warning: {}", shown(&report));
    }
}

fn learn(arguments: &LearnArguments) -> Result<()> {
    refuse_stdin_twice(arguments.files.iter().map(String::as_str))?;
    let mut library = Library::open(&arguments.library)?;
    let mut proofs = Vec::new();
    for file in &arguments.files {
        proofs.extend(read_proofs(file)?);
    }
    let learnt = library.learn(&proofs, arguments.strict)?;
    warn(&learnt.warnings);
    if let Some(first) = &learnt.first_unknown {
        let proofs = counted(learnt.of_unknown, "proof");
        tell!(
            "warning: left out {proofs} of statements that are not in the library (first {}); add these first",
            shown(first)
        );
    }
    if learnt.new + learnt.same == 0 {
        bail!("nothing was learned: the library has none of the statements");
    }
    tell!("learned {}, knew {}", counted(learnt.new, "proof"), learnt.same);
    Ok(())
}

fn fit(arguments: &TrainArguments) -> Result<()> {
    let mut library = Library::open(&arguments.library)?;
    let threads = arguments.threads.unwrap_or_else(|| processes::threads(&Alone)).max(1);
    let training = LibraryTraining { budget: arguments.budget, seed: arguments.seed, threads };
    let trained = train_library(
        &mut library,
        &JointModelFile::named(&arguments.reader)?,
        &training,
        &Bar::new(),
        &mut |_| {},
    )?;
    let LibraryTrained { proofs, held_out, before, after, is_kept } = trained;
    tell!("trained on {}, measured on {held_out} that were held out", counted(proofs, "proof"));
    let told = if is_kept { "better: the library keeps it" } else { "not better: it is not used" };
    let text = format!("MAP {before:.3} before, {after:.3} with the fitted network; {told}\n");
    writing(io::stdout().write_all(text.as_bytes()))
}

fn forget(arguments: &ForgetArguments) -> Result<()> {
    let mut library = Library::open(&arguments.library)?;
    let mut forgotten = 0;
    for name in &arguments.names {
        forgotten += library.forget(name, arguments.last)?;
    }
    if forgotten == 0 {
        bail!(
            "no statement with such a name has a proof; `formulanet library list --format json` shows them"
        );
    }
    tell!("forgot {}", counted(forgotten, "proof"));
    Ok(())
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    statement: &'a str,
    syntax: Language,
    module: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proofs: Vec<Vec<String>>,
}

/// A proof as it is listed.
#[derive(Serialize)]
struct ProofRow<'a> {
    name: &'a str,
    proof: &'a [String],
    #[serde(flatten)]
    origin: Option<&'a ProofOrigin>,
}

fn list_proofs(library: &Library, format: Output) -> Result<()> {
    let mut out = Vec::new();
    for Statement { name, .. } in library.statements()? {
        for RecordedProof { used, origin } in library.recorded_proofs_of(&name)? {
            match format {
                Output::Json => {
                    let row = ProofRow { name: &name, proof: &used, origin: origin.as_ref() };
                    serde_json::to_writer(&mut out, &row)?;
                }
                Output::Text => {
                    let found = origin.as_ref().map(|origin| {
                        let (prover, time) = (shown(&origin.prover), shown(&origin.time));
                        format!(" ({prover} in {:.1} s, {time})", origin.seconds)
                    });
                    let used: Vec<_> = used.iter().map(|name| shown(name)).collect();
                    let found = found.unwrap_or_default();
                    write!(out, "{}: {}{found}", shown(&name), used.join(" "))?;
                }
            }
            out.push(b'\n');
        }
    }
    writing(io::stdout().write_all(&out))
}

fn list(arguments: &ListArguments) -> Result<()> {
    let library = Library::open(&arguments.library)?;
    if arguments.proofs {
        return list_proofs(&library, arguments.format);
    }
    // Read before any of it is written: who reads our output may be slow, and nobody should wait for that with a change.
    let mut out = Vec::new();
    library.scan(|entries, _| {
        for LibraryEntry { statement, module, .. } in &entries {
            let (mut proof, mut proofs) = (None, Vec::new());
            if arguments.format == Output::Json {
                proofs = library.proofs_of(&statement.name)?;
            }
            if proofs.len() == 1 {
                proof = proofs.pop();
            }
            let Statement { name, text, language: syntax } = statement;
            let row = Row { name, statement: text, syntax: *syntax, module, proof, proofs };
            match arguments.format {
                Output::Json => serde_json::to_writer(&mut out, &row).expect("a row is plain data"),
                Output::Text => {
                    let text: Vec<&str> = row.statement.split_whitespace().collect();
                    out.extend_from_slice(shown(row.name).as_bytes());
                    out.extend_from_slice(b": ");
                    out.extend_from_slice(shown(&text.join(" ")).as_bytes());
                }
            }
            out.push(b'\n');
        }
        Ok(())
    })?;
    drop(library);
    writing(io::stdout().write_all(&out))
}
