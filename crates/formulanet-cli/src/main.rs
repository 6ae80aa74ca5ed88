//! The `formulanet` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    formulanet_cli::main()
}
