//! Runs the built program.

use std::io::Write;
use std::process::{Command, Stdio};

/// What a run of the program left.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program in the root of the repository.
pub(crate) fn formulanet(arguments: &[&str], input: &[u8]) -> Run {
    formulanet_with(arguments, input, &[])
}

/// The same, with environment variables.
pub(crate) fn formulanet_with(arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may have seen enough before it has read everything.
            let _ = stdin.write_all(input);
        });
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    })
}
