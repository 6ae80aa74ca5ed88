//! Work without the interpreter's lock that Ctrl-C can end.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use formulanet::Cancel;
use formulanet_train::{Error, Progress};
use pyo3::prelude::*;

use crate::errors::exception;

/// The interval between two checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// As much as the main thread of a program has.
const STACK: usize = 8 << 20;

/// Tells work to end as soon as it can.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A cancellation for the engine.
    pub(crate) fn cancel(&self) -> Cancel {
        let stop = Arc::clone(&self.0);
        Cancel::when(move || stop.load(Ordering::Relaxed))
    }
}

impl Progress for Stop {
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Treatment of work on Ctrl-C.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnInterrupt {
    /// It writes something: wait until it has stopped, and what it began is undone or in order.
    Wait,
    /// It only reads: return at once. The work ends at its next check, and its result is discarded.
    Leave,
}

/// Works on a thread of its own, while this thread looks for signals, which Python handles on its main thread alone.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    on_interrupt: OnInterrupt,
    work: impl FnOnce(&Stop) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let stop = Stop::default();
    let given = stop.clone();
    let run = move || {
        // Nobody is there to hear of it if the user has gone on.
        let _ = sender.send(work(&given));
    };
    let worker = thread::Builder::new().stack_size(STACK).spawn(run)?;
    let mut signal = None;
    let result = py.detach(|| {
        // Moved in, because only one thread may have it.
        let receiver = receiver;
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if signal.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        stop.0.store(true, Ordering::Relaxed);
                        signal = Some(error);
                        if on_interrupt == OnInterrupt::Leave {
                            return Some(Err(Error::Interrupted));
                        }
                    }
                }
            }
        }
    });
    match (signal, result) {
        (Some(signal), _) => Err(signal),
        (None, Some(result)) => result.map_err(|error| exception(py, &error)),
        // It ended without a word.
        (None, None) => match worker.join() {
            Err(fault) => panic::resume_unwind(fault),
            Ok(()) => Err(exception(py, &Error::Interrupted)),
        },
    }
}
