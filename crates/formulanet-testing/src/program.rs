//! Runs the built program.

use std::io::Write;
use std::process::{Command, Stdio};

/// The result of a run of the program.
pub struct Run {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Run {
    /// Its standard output; panics unless it succeeded.
    #[track_caller]
    pub fn output(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }
}

/// Runs a program in the root of the repository. Only its own package knows where cargo put it: pass
/// `env!("CARGO_BIN_EXE_formulanet")`.
pub fn run(program: &str, arguments: &[&str], input: &[u8]) -> Run {
    run_with(
        Command::new(program).args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
        input,
    )
}

/// Runs a command as it is set up.
pub fn run_with(command: &mut Command, input: &[u8]) -> Run {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
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
