//! The commands of `formulanet-lab`.

mod baseline;
mod blend;
mod eval;
mod plot;
mod reproduce;
mod tally;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use formulanet_cli::processes::Processes;

/// Experiments of formulanet
#[derive(Parser)]
#[command(name = "formulanet-lab", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Baseline(baseline::Arguments),
    Blend(blend::Arguments),
    Eval(eval::Arguments),
    Plot(plot::Arguments),
    Reproduce(reproduce::Arguments),
    Tally(tally::Arguments),
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let processes = match Processes::start(false) {
        Ok(processes) => processes,
        Err(error) => {
            formulanet_cli::tell!("error: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let result = match arguments.command {
        Command::Baseline(arguments) => baseline::run(&arguments),
        Command::Blend(arguments) => blend::run(arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Plot(arguments) => plot::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Tally(arguments) => tally::run(arguments),
    };
    processes.finish(result)
}
