//! Benchmarks whose results are ratios.
//!
//! Both sides of a ratio run alternately in one process, so that other load on the machine affects both. Every program
//! prints rows of one table, which `cargo xtask bench` collects.

use std::fmt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Rows of the table.
#[derive(Debug, Default)]
pub struct Table {
    is_over_budget: bool,
}

/// A measured value beside the value that it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The measured thing.
    pub title: &'a str,
    /// The measured value.
    pub value: Quantity,
    /// The thing that it is compared with.
    pub reference: &'a str,
    /// The value of the reference.
    pub of_reference: Quantity,
    /// The most that the ratio may be, if it has a budget.
    pub budget: Option<f64>,
}

/// A time or a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A time.
    Time(Duration),
    /// A number of bytes.
    Bytes(usize),
}

impl Table {
    /// Prints a row. A ratio above its budget is marked, and [`finish`](Self::finish) returns a failure.
    pub fn row(&mut self, row: Row<'_>) {
        let ratio = row.value.number() / row.of_reference.number();
        let is_over = row.budget.is_some_and(|budget| ratio > budget);
        self.is_over_budget |= is_over;
        let budget = row.budget.map_or_else(String::new, |budget| format!("≤ {budget}"));
        let mark = if is_over { " OVER" } else { "" };
        println!(
            "| {} | {} | {} {} | {ratio:.3} | {budget}{mark} |",
            row.title, row.value, row.reference, row.of_reference
        );
    }

    /// The exit status: 1 if a row exceeds its budget.
    pub fn finish(self) -> ExitCode {
        ExitCode::from(u8::from(self.is_over_budget))
    }
}

impl Quantity {
    #[expect(clippy::cast_precision_loss, reason = "sizes of files, for a ratio of two digits")]
    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Bytes(bytes) => bytes as f64,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) if time.as_millis() < 10 => write!(f, "{:.1} µs", time.as_secs_f64() * 1e6),
            Self::Time(time) => write!(f, "{:.1} ms", time.as_secs_f64() * 1e3),
            Self::Bytes(_) => write!(f, "{:.1} KiB", self.number() / 1024.0),
        }
    }
}

/// The shortest time of each function. The functions run alternately, `rounds` times; the shortest time is the one that other
/// programs disturbed least.
pub fn best<const N: usize>(rounds: usize, mut functions: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (best, function) in best.iter_mut().zip(&mut functions) {
            let start = Instant::now();
            function();
            *best = start.elapsed().min(*best);
        }
    }
    best
}
