//! Progress bars on standard error, and Ctrl-C.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use formulanet_train::{Progress, Stage};
use indicatif::{ProgressBar, ProgressStyle};

use crate::processes::speaks;

/// Whether the user has pressed Ctrl-C since the first bar was made.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Asks work to stop; the second time, ends the process. All writes are atomic, so nothing is lost.
fn stop() {
    if STOPPED.swap(true, Ordering::SeqCst) {
        std::process::exit(130);
    }
}

/// A bar with the time left; hidden where standard error is no terminal, and in all processes but the first.
pub struct Bar {
    bar: ProgressBar,
    /// Whether a hidden bar prints a line for every stage.
    has_lines: bool,
}

impl Bar {
    pub fn new() -> Self {
        Self::make(false)
    }

    /// Makes a bar that prints a line for every stage where there is no terminal.
    pub fn with_lines() -> Self {
        Self::make(true)
    }

    fn make(has_lines: bool) -> Self {
        static HANDLER: Once = Once::new();
        // Without a handler Ctrl-C ends the program at once, which is what it did before.
        HANDLER.call_once(|| _ = ctrlc::set_handler(stop));
        Bar { bar: if speaks() { ProgressBar::no_length() } else { ProgressBar::hidden() }, has_lines }
    }

    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Shows text below the bar.
    pub fn show(&self, text: &str) {
        self.bar.set_message(format!("\n{text}"));
    }

    /// Prints something while the bar is away.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar away until the next stage.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for Bar {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Progress for Bar {
    fn begin(&self, stage: Stage<'_>) {
        let template = match (stage.of, stage.unit) {
            (0, _) => "{prefix} {spinner}".to_owned(),
            (_, "bytes") => {
                "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left".to_owned()
            }
            (_, unit) => format!("{{prefix}} {{wide_bar}} {{pos}}/{{len}} {unit}, {{eta}} left{{msg}}"),
        };
        let style = ProgressStyle::with_template(&template);
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        self.bar.set_prefix(stage.name.to_owned());
        self.bar.set_length(stage.of);
        self.bar.set_position(stage.done);
        self.bar.reset_eta();
        if self.has_lines && self.is_hidden() {
            tell!("{}", stage.name);
        }
    }

    fn advance(&self, units: u64) {
        self.bar.inc(units);
    }

    fn note(&self, message: &str) {
        self.suspend(|| tell!("{message}"));
    }

    fn is_stopped(&self) -> bool {
        STOPPED.load(Ordering::SeqCst)
    }
}
