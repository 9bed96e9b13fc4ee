//! A line that says how far a run is: on a terminal only, and only once it takes long.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

/// How long a run is left alone.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is written anew.
const STEP: Duration = Duration::from_millis(100);

/// The letters of the bar.
const BAR: usize = 24;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Files,
    /// Bytes; none in all where nobody knows how many there are.
    Bytes,
}

/// Says how much is read, until it is dropped.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to watch over the reading of so much in all.
    pub(crate) fn new(all: usize, unit: Unit, quiet: bool) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let shown = !quiet && io::stderr().is_terminal();
        let writer = shown.then(|| {
            let (stop, stopped) = channel();
            let done = Arc::clone(&done);
            let thread = spawn(move || {
                let mut wait = PATIENCE;
                let mut shown = String::new();
                while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = STEP;
                    let text = line(done.load(Ordering::Relaxed), all, unit);
                    if text != shown {
                        write_over(&text);
                        shown = text;
                    }
                }
                if !shown.is_empty() {
                    write_over("");
                }
            });
            (stop, thread)
        });
        Self { done, writer }
    }

    /// So much more is read.
    pub(crate) fn step(&self, more: usize) {
        self.done.fetch_add(more, Ordering::Relaxed);
    }
}

/// What the line says.
fn line(done: usize, all: usize, unit: Unit) -> String {
    let megabytes = |bytes: usize| bytes / 1_000_000;
    match unit {
        _ if done >= all && all > 0 => "checking".to_owned(),
        Unit::Files => format!("reading: {done} of {all} files"),
        Unit::Bytes if all == 0 => format!("reading: {} MB", megabytes(done)),
        Unit::Bytes => {
            let full = BAR * (done / 1024) / (all / 1024).max(1);
            let full = full.min(BAR);
            let bar = format!("{}{}", "#".repeat(full), "-".repeat(BAR - full));
            format!("reading: [{bar}] {} of {} MB", megabytes(done), megabytes(all))
        }
    }
}

/// Writes a text in the place of the line that is there.
fn write_over(text: &str) {
    // A terminal that is closed needs no progress.
    let _ = write!(io::stderr(), "\r\x1b[K{text}");
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.writer.take() {
            drop(stop);
            // The thread only writes; where it failed, the run did not.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Unit, line};

    #[test]
    fn the_bar_fills_with_the_bytes() {
        assert_eq!(line(3, 10, Unit::Files), "reading: 3 of 10 files");
        assert_eq!(line(5_000_000, 0, Unit::Bytes), "reading: 5 MB");
        let half = line(500_000_000, 1_000_000_000, Unit::Bytes);
        assert_eq!(half, "reading: [############------------] 500 of 1000 MB");
        assert_eq!(line(10, 10, Unit::Bytes), "checking");
    }
}
