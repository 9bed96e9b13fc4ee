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

/// Says how many files are read, until it is dropped.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to watch over the reading of some files.
    pub(crate) fn new(files: usize, quiet: bool) -> Self {
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
                    let read = done.load(Ordering::Relaxed);
                    let text = if read < files {
                        format!("reading: {read} of {files} files")
                    } else {
                        "checking".to_owned()
                    };
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

    /// One file more is read.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
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
