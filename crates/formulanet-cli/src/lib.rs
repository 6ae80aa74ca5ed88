//! The `formulanet` command as a library, so that `formulanet-lab` shares its progress bars and messages.
//!
//! Results go to standard output, everything else to standard error.

#![forbid(unsafe_code)]

/// Writes a line to standard error, like `eprintln!`, but ignores that it cannot be written: a full disk under a log must
/// neither end the program nor make it report a failure.
#[doc(hidden)]
#[macro_export]
macro_rules! tell {
    ($($message:tt)*) => {
        $crate::output::tell(::std::format_args!($($message)*))
    };
}

mod advice;
mod embed;
mod eval;
mod excerpt;
mod graph;
mod input;
mod library;
mod lines;
mod mcp;
mod models;
mod neighbors;
#[doc(hidden)]
pub mod output;
mod predict;
#[doc(hidden)]
pub mod prepare;
#[doc(hidden)]
pub mod processes;
#[doc(hidden)]
pub mod progress;
mod project;
mod prove;
mod rank;
mod select;
mod serve;
mod shell;
mod smtlib;
mod stats;
mod train;
#[doc(hidden)]
pub mod usage;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use processes::{Processes, exit_usage};
#[doc(hidden)]
pub use train::parse_word;

/// Premise selection for theorem provers
#[derive(Parser)]
#[command(
    name = "formulanet",
    version,
    propagate_version = true,
    after_help = "Examples:\n  \
        formulanet rank '!m n. m + n = n + m' --premises arithmetic.hol -k 5\n  \
        formulanet select problem.p -k 64 | eprover --auto -s -\n\n\
        Run `formulanet COMMAND --help` for details and examples."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Completions(shell::CompletionArguments),
    Embed(embed::Arguments),
    Eval(eval::Arguments),
    Graph(graph::Arguments),
    Library(library::Arguments),
    Man(shell::ManArguments),
    Mcp(mcp::Arguments),
    Models(models::Arguments),
    Neighbors(neighbors::Arguments),
    Predict(predict::Arguments),
    Prepare(prepare::Arguments),
    Prove(prove::Arguments),
    ProverGuard(prove::GuardArguments),
    Rank(rank::Arguments),
    Select(select::Arguments),
    Serve(serve::Arguments),
    Stats(stats::Arguments),
    Train(train::Arguments),
}

impl Command {
    /// Whether the processes of `mpirun` share its work.
    fn is_shared(&self) -> bool {
        match self {
            Command::Embed(_) | Command::Eval(_) | Command::Train(_) => true,
            Command::Library(arguments) => arguments.is_shared(),
            _ => false,
        }
    }
}

/// The commands in the order of `--help`, by task.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Use", &["rank", "select", "prove", "library"]),
    ("Inspect", &["graph", "embed", "neighbors", "models"]),
    ("Integrate", &["serve", "mcp", "predict", "completions", "man"]),
    ("Develop models", &["prepare", "stats", "train", "eval"]),
];

/// The command line, whose help lists the commands by task.
fn command() -> clap::Command {
    let command = Arguments::command();
    let (heading, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut list = String::new();
    for (title, names) in GROUPS {
        list += &format!("{heading}{title}:{heading:#}\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or_else(String::new, ToString::to_string);
            list += &format!("  {literal}{name:<12}{literal:#} {about}\n");
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Parses the arguments of a call.
fn parse(called: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(called)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let called = predict::called(std::env::args_os());
    let arguments = parse(&called).unwrap_or_else(|error| {
        predict::log_usage(&called, &error);
        exit_usage(&error)
    });
    let processes = match Processes::start(arguments.command.is_shared()) {
        Ok(processes) => processes,
        Err(error) => {
            tell!("error: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let result = match arguments.command {
        Command::Completions(arguments) => shell::completions(&arguments, Arguments::command()),
        Command::Embed(arguments) => embed::run(arguments),
        Command::Eval(arguments) => eval::run(arguments),
        Command::Graph(arguments) => graph::run(arguments),
        Command::Library(arguments) => library::run(arguments),
        Command::Man(arguments) => shell::man(&arguments, Arguments::command()),
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Models(arguments) => models::run(arguments),
        Command::Neighbors(arguments) => neighbors::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Prepare(arguments) => prepare::run(arguments),
        Command::Prove(arguments) => prove::run(arguments),
        Command::ProverGuard(arguments) => prove::guard(arguments),
        Command::Rank(arguments) => rank::run(arguments),
        Command::Select(arguments) => select::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Stats(arguments) => stats::run(arguments),
        Command::Train(arguments) => train::run(arguments),
    };
    processes.finish(result.or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) }))
}

/// Whether the error is a broken pipe, as in `formulanet graph ... | head`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut names: Vec<&str> = shown.map(clap::Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }
}
