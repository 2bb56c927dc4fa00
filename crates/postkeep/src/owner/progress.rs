//! A bar on stderr for a person who waits, and nothing at all when stderr is no terminal. Lines that are told meanwhile
//! stand above it.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const COUNTED: &str = "{msg:<10} {bar:30} {human_pos} of {human_len}  {eta} left";
const BYTES: &str = "{msg:<10} {bar:30} {decimal_bytes} of {decimal_total_bytes}  {eta} left";
const COUNTING: &str = "{msg:<10} {spinner} {human_pos}  {elapsed}";
const WAITING: &str = "{msg:<10} {spinner} {elapsed}";
const TICK: Duration = Duration::from_millis(120);

/// What the steps are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Steps {
    /// Things, such as messages.
    Things,
    /// Bytes.
    Bytes,
    /// Nobody tells.
    Untold,
}

/// A bar, or none.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Begin; how many steps are ahead may not be known.
    pub(super) fn begin(what: &'static str, steps: Steps, ahead: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(ahead, ProgressDrawTarget::stderr());
        let template = match (ahead, steps) {
            (_, Steps::Untold) => WAITING,
            (None, _) => COUNTING,
            (Some(_), Steps::Things) => COUNTED,
            (Some(_), Steps::Bytes) => BYTES,
        };
        // The templates are ours and sound; a bar without one would do as well.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
        }
        bar.set_message(what);
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// So many more steps are done.
    pub(super) fn add(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// So many steps are done.
    pub(super) fn set(&self, steps: u64) {
        self.0.set_position(steps);
    }

    /// Tell a line on stderr.
    pub(super) fn tell(&self, line: &str) {
        // If that fails, nobody is there to be told.
        self.0.suspend(|| drop(writeln!(io::stderr().lock(), "{line}")));
    }

    /// Tell a line on stdout.
    pub(super) fn say(&self, line: &str) {
        self.0.suspend(|| drop(writeln!(io::stdout().lock(), "{line}")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
