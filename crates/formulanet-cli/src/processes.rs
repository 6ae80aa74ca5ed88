//! The processes of `mpirun`: who speaks, and how a job ends.

use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use formulanet::analyze::AnalyzedStatement;
use formulanet::retrieve::VectorRetriever;
use formulanet_train::processes::{self, Alone, Group};

use crate::advice::advice;
use crate::excerpt::excerpt;
use crate::output::shown;
use crate::usage::exit_code;

/// How long other processes wait before they say what went wrong: mostly, the first has the same to say, and ends the
/// job with it.
const FIRST_SPEAKS: Duration = Duration::from_millis(2500);

static GROUP: OnceLock<&'static dyn Group> = OnceLock::new();

/// The processes that share the work of this command.
pub fn group() -> &'static dyn Group {
    GROUP.get().copied().unwrap_or(&Alone)
}

/// Whether this process is the one that prints and writes.
pub fn speaks() -> bool {
    group().is_first()
}

/// Refuses standard input where several processes would need it: a launcher gives it to the first alone.
pub fn refuse_stdin<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    if group().size() > 1 && names.into_iter().any(|name| name == "-") {
        bail!("standard input reaches one of {} processes: give a file that all can read", group().size());
    }
    Ok(())
}

/// Facts that must agree in all processes that share the work of a model: see [`processes::agree`].
pub fn facts(retriever: &VectorRetriever, premises: &[AnalyzedStatement]) -> Vec<(&'static str, String)> {
    let mut text = Vec::new();
    for AnalyzedStatement { name, text: statement, .. } in premises {
        [name, statement].iter().for_each(|part| text.extend(part.bytes().chain([0])));
    }
    vec![
        ("program", processes::program().to_owned()),
        (
            "kind of CPU",
            retriever.network().map_or("any", |network| network.compute().instructions()).to_owned(),
        ),
        ("model", retriever.fingerprint().to_owned()),
        ("statements", format!("{} with digest {:016x}", premises.len(), processes::digest(&text))),
    ]
}

/// MPI, if there is any.
pub struct Processes {
    #[cfg(feature = "mpi")]
    session: Option<processes::Session>,
}

impl Processes {
    /// Begins. A command that is not shared runs in every process as if it were alone, and so does one that no launcher
    /// has started: MPI takes its time to begin.
    pub fn start(is_shared: bool) -> Result<Self> {
        let number = if is_shared { processes::launched() } else { 1 };
        #[cfg(not(feature = "mpi"))]
        {
            if number > 1 {
                bail!(
                    "started as {number} processes, and built for one: build with `cargo build --release --features mpi`"
                );
            }
            Ok(Processes {})
        }
        #[cfg(feature = "mpi")]
        {
            let session = (number > 1).then(processes::Session::start).flatten();
            if let Some(session) = &session {
                GROUP.get_or_init(|| session.group());
                let known = group().size();
                if known != number {
                    bail!(
                        "the launcher has started {number} processes, and MPI knows of {known}: use the launcher of the \
                         MPI library that this program was built with"
                    );
                }
            }
            Ok(Processes { session })
        }
    }

    /// Ends. An error in one process ends all.
    pub fn finish(self, result: Result<()>) -> ExitCode {
        let Err(error) = result else { return ExitCode::SUCCESS };
        if !speaks() {
            thread::sleep(FIRST_SPEAKS);
        }
        let code = exit_code(&error);
        let line = excerpt(&error).map(|line| format!("\n{line}")).unwrap_or_default();
        let error = match advice(&error) {
            Some(advice) => format!("{error:#}; {advice}{line}"),
            None => format!("{error:#}{line}"),
        };
        // An error may have several lines, of which every one is shown as it is.
        let error = error.split('\n').map(shown).collect::<Vec<_>>().join("\n");
        match (group().rank(), group().size()) {
            (_, 1) | (0, _) => tell!("error: {error}"),
            (rank, size) => tell!("error: rank {rank} of {size}: {error}"),
        }
        #[cfg(feature = "mpi")]
        if let Some(session) = &self.session {
            session.abort(code);
        }
        ExitCode::from(code)
    }
}

/// Ends after wrong usage or a question for help, which all processes have found: one speaks.
pub fn exit_usage(error: &clap::Error) -> ! {
    if processes::launched_rank() > 0 {
        thread::sleep(FIRST_SPEAKS);
        std::process::exit(error.exit_code());
    }
    error.exit()
}
