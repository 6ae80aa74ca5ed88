//! The process between `prove` and a prover, which ends all processes that the prover started: on request,
//! when the prover ends, and when `prove` is killed. A prover's children that leave its process group become
//! children of the guard (Linux), so that it finds and ends them, too.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

/// Exit code if the program could not be started.
pub(crate) const NOT_STARTED: i32 = 254;

/// Start a prover, and end all that it started when standard input ends
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct GuardArguments {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs the hidden command, and does not return.
pub(crate) fn guard(arguments: GuardArguments) -> Result<()> {
    let mut words = arguments.command.into_iter();
    let program = words.next().unwrap_or_default();
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let mut command = Command::new(&program);
    command.args(words).stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            tell!("cannot run `{}`: {error}", program.to_string_lossy());
            std::process::exit(NOT_STARTED);
        }
    };
    let process = child.id();
    thread::spawn(move || {
        // Nothing is written to it: it ends when `prove` closes it or dies.
        let _ = io::stdin().lock().read(&mut [0]);
        end_all(process);
        std::process::exit(1);
    });
    let code = child.wait().ok().and_then(|status| status.code()).unwrap_or(1);
    end_all(process);
    std::process::exit(if code == NOT_STARTED { 1 } else { code })
}

/// Ends a process group, and all children that this process has or gets.
fn end_all(group: u32) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
        if let Some(group) = Pid::from_raw(group as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Children of an ended process become children of this process, so it takes several rounds. A process
        // that does not end at once, because the kernel works for it, is not waited for.
        for _ in 0..100 {
            let mut is_last = true;
            for child in children() {
                is_last = false;
                let _ = kill_process(child, Signal::KILL);
            }
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            if is_last {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
    #[cfg(not(unix))]
    let _ = group;
}

/// Returns the children of this process.
#[cfg(target_os = "linux")]
fn children() -> Vec<rustix::process::Pid> {
    let own = std::process::id();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |number: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The name is in brackets and may contain brackets; state and parent follow it.
        let mut after = stat.rsplit_once(')').map_or("", |(_, after)| after).split_whitespace();
        let state = after.next();
        state.is_some_and(|state| state != "Z")
            && after.next().and_then(|parent| parent.parse().ok()) == Some(own)
    };
    numbers.filter(is_child).filter_map(rustix::process::Pid::from_raw).collect()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn children() -> Vec<rustix::process::Pid> {
    Vec::new()
}

/// A prover that runs under a guard.
pub(crate) struct Guarded {
    child: Child,
}

impl Guarded {
    /// Starts a program. Its output can be read; its input is empty.
    pub(crate) fn start(program: &OsString, arguments: Vec<OsString>) -> io::Result<Self> {
        // The running program, even if its file has been replaced.
        let own = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
        let mut command = Command::new(own);
        command.arg("prover-guard").arg("--").arg(program).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Guarded { child: command.spawn()? })
    }

    /// Returns the pipes of standard output and standard error; they can be taken once.
    pub(crate) fn pipes(&mut self) -> [Option<Box<dyn Read + Send>>; 2] {
        let output = self.child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let errors = self.child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        [output, errors]
    }

    /// Returns the exit code, if the program has ended; a signal counts as 1.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        match self.child.try_wait() {
            Ok(status) => status.map(|status| status.code().unwrap_or(1)),
            Err(_) => Some(1),
        }
    }

    /// Ends the program and everything that it started.
    pub(crate) fn end(&mut self) {
        const PATIENCE: u32 = 200;
        drop(self.child.stdin.take());
        for _ in 0..PATIENCE {
            if self.ended().is_some() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}
