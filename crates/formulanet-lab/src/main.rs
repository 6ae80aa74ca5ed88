//! The `formulanet-lab` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    formulanet_lab::main()
}
