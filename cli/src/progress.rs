//! Progress line on standard error, shown only on a terminal and only in a long run.

use std::fmt;
use std::time::Duration;

use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Time before the line appears.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// Unit of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Files,
    /// Bytes; the total is 0 if it is unknown.
    Bytes,
    /// Time that a plan takes.
    Planning,
}

/// Shows the progress until it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(total: usize, unit: Unit, quiet: bool) -> Self {
        // Draws nothing if standard error is not a terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if !bar.is_hidden() {
            let line = move |state: &ProgressState, out: &mut dyn fmt::Write| {
                if state.elapsed() >= DELAY {
                    // A line that cannot be formatted stays empty.
                    let _ = out.write_str(&line(state.pos(), total as u64, unit, state.elapsed()));
                }
            };
            let style = ProgressStyle::with_template("{line}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("line", line));
            // WebAssembly has no thread that could redraw the line: `step` does so.
            if !cfg!(target_os = "wasi") {
                bar.enable_steady_tick(INTERVAL);
            }
        }
        Self(bar)
    }

    /// Adds to the amount that is done.
    pub(crate) fn step(&self, amount: usize) {
        self.0.inc(amount as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Text of the line.
fn line(done: u64, total: u64, unit: Unit, elapsed: Duration) -> String {
    match unit {
        Unit::Planning => format!("planning: {} s", elapsed.as_secs()),
        _ if done >= total && total > 0 => "checking".to_owned(),
        Unit::Files => format!("reading: {done} of {total} files"),
        Unit::Bytes if total == 0 => format!("reading: {}", DecimalBytes(done)),
        Unit::Bytes => format!("reading: {} of {}", DecimalBytes(done), DecimalBytes(total)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Unit, line};

    #[test]
    fn names_the_amount_that_is_read() {
        let line = |done, total, unit| line(done, total, unit, Duration::from_secs(12));
        assert_eq!(line(3, 10, Unit::Files), "reading: 3 of 10 files");
        assert_eq!(line(5_000_000, 0, Unit::Bytes), "reading: 5.00 MB");
        assert_eq!(line(500_000_000, 1_000_000_000, Unit::Bytes), "reading: 500.00 MB of 1.00 GB");
        assert_eq!(line(10, 10, Unit::Bytes), "checking");
        assert_eq!(line(0, 0, Unit::Planning), "planning: 12 s");
    }
}
