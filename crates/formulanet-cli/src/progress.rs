//! Progress bars on standard error, and Ctrl-C.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use formulanet::data;
use indicatif::{ProgressBar, ProgressStyle};

use crate::processes::speaks;

/// Whether the user has pressed Ctrl-C, from now on.
pub(crate) fn stopped() -> &'static AtomicBool {
    static STOPPED: OnceLock<&'static AtomicBool> = OnceLock::new();
    STOPPED.get_or_init(|| {
        let flag: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        // Without a handler Ctrl-C ends the program at once, which is what it did before.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst));
        flag
    })
}

/// A bar with rate and time left; hidden where standard error is no terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
    stopped: &'static AtomicBool,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template(
            "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
        );
        let bar = if speaks() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let bar = bar.with_message("reading");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Bar { bar, stopped: stopped() }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl data::Progress for Bar {
    fn start(&self, bytes: u64) {
        self.bar.set_length(bytes);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn writing(&self) {
        self.bar.set_message("writing");
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}
