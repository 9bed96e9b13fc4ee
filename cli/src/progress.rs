//! Progress line on standard error, shown only on a terminal and only in a long run.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

/// Time before the line appears.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// Characters of the bar.
const BAR: usize = 24;

/// Unit of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Files,
    /// Bytes; the total is 0 if it is unknown.
    Bytes,
}

/// Shows the progress until it is dropped.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn new(total: usize, unit: Unit, quiet: bool) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let shown = !quiet && io::stderr().is_terminal();
        let writer = shown.then(|| {
            let (stop, stopped) = channel();
            let done = Arc::clone(&done);
            let thread = spawn(move || {
                let mut wait = DELAY;
                let mut shown = String::new();
                while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = INTERVAL;
                    let text = line(done.load(Ordering::Relaxed), total, unit);
                    if text != shown {
                        overwrite(&text);
                        shown = text;
                    }
                }
                if !shown.is_empty() {
                    overwrite("");
                }
            });
            (stop, thread)
        });
        Self { done, writer }
    }

    /// Adds to the amount that is done.
    pub(crate) fn step(&self, amount: usize) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Text of the line.
fn line(done: usize, total: usize, unit: Unit) -> String {
    let megabytes = |bytes: usize| bytes / 1_000_000;
    match unit {
        _ if done >= total && total > 0 => "checking".to_owned(),
        Unit::Files => format!("reading: {done} of {total} files"),
        Unit::Bytes if total == 0 => format!("reading: {} MB", megabytes(done)),
        Unit::Bytes => {
            let full = BAR * (done / 1024) / (total / 1024).max(1);
            let full = full.min(BAR);
            let bar = format!("{}{}", "#".repeat(full), "-".repeat(BAR - full));
            format!("reading: [{bar}] {} of {} MB", megabytes(done), megabytes(total))
        }
    }
}

/// Replaces the line on the terminal.
fn overwrite(text: &str) {
    // A closed terminal is not an error.
    let _ = write!(io::stderr(), "\r\x1b[K{text}");
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.writer.take() {
            drop(stop);
            // The thread only prints; a panic in it must not fail the run.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Unit, line};

    #[test]
    fn fills_the_bar_in_proportion_to_the_bytes() {
        assert_eq!(line(3, 10, Unit::Files), "reading: 3 of 10 files");
        assert_eq!(line(5_000_000, 0, Unit::Bytes), "reading: 5 MB");
        let half = line(500_000_000, 1_000_000_000, Unit::Bytes);
        assert_eq!(half, "reading: [############------------] 500 of 1000 MB");
        assert_eq!(line(10, 10, Unit::Bytes), "checking");
    }
}
