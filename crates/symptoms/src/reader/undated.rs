//! Lines that name a day and no year, at the head of a file: they wait for a line that tells it.

use super::LONGEST;
use crate::entry::At;
use crate::log::Year;

/// What is known of the year, and the lines that wait for it.
#[derive(Debug, Default)]
pub(super) struct Undated {
    /// What tells the year of the next line.
    pub(super) year: Year,
    waiting: Vec<(At, String)>,
    bytes: usize,
}

impl Undated {
    /// A line waits. Gives all that do where there are too many.
    pub(super) fn wait(&mut self, at: At, line: &str) -> Vec<(At, String)> {
        self.bytes += line.len();
        self.waiting.push((at, line.to_owned()));
        if self.bytes > LONGEST { self.give_up() } else { Vec::new() }
    }

    /// The year is now known: gives the lines that have waited for it.
    pub(super) fn tell(&mut self, year: Year) -> Vec<(At, String)> {
        self.year = year;
        std::mem::take(&mut self.waiting)
    }

    /// Nothing tells the year: what waits has no time.
    pub(super) fn give_up(&mut self) -> Vec<(At, String)> {
        self.tell(Year::Unknown)
    }
}
