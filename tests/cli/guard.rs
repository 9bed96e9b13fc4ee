//! An end for a process that does not answer: the test that waits for it fails instead of never ending.

use std::process::{Child, Command};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Longest life of a process, far longer than any test takes.
const LIFE: Duration = Duration::from_mins(10);

/// Kills a process that still runs after [`LIFE`], unless the guard is dropped before.
pub(crate) struct Guard {
    _is_dropped: Sender<()>,
}

impl Guard {
    pub(crate) fn of(process: &Child) -> Self {
        let (is_dropped, dropped) = channel();
        let id = process.id().to_string();
        thread::spawn(move || {
            if dropped.recv_timeout(LIFE) == Err(RecvTimeoutError::Timeout) {
                // Where there is no such program, the process stays.
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        Self { _is_dropped: is_dropped }
    }
}
