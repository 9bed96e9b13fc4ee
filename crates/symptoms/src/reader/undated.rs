//! Lines without a year at the start of a file, which wait for a line with a year.

use super::lines::MAX_LINE_BYTES;
use crate::entry::At;
use crate::log::Year;

/// The known year, and the waiting lines.
#[derive(Debug, Default)]
pub(super) struct Undated {
    /// The year for the next line.
    pub(super) year: Year,
    waiting: Vec<(At, String)>,
    bytes: usize,
}

impl Undated {
    /// Adds a waiting line. Returns all waiting lines if they are too many.
    pub(super) fn wait(&mut self, at: At, line: &str) -> Vec<(At, String)> {
        self.bytes += line.len();
        self.waiting.push((at, line.to_owned()));
        if self.bytes > MAX_LINE_BYTES { self.give_up() } else { Vec::new() }
    }

    /// Sets the year, and returns the waiting lines.
    pub(super) fn resolve(&mut self, year: Year) -> Vec<(At, String)> {
        self.year = year;
        std::mem::take(&mut self.waiting)
    }

    /// Gives up: the waiting lines get no time.
    pub(super) fn give_up(&mut self) -> Vec<(At, String)> {
        self.resolve(Year::Unknown)
    }
}
