//! The text a node boots from, `spec.userData` of an EC2NodeClass: its formats and the tools that are called
//! in it.
//!
//! ```text
//! text ──▶ kind ──▶ mime ──▶ shell ──▶ bootstrap ──▶ kubelet ──▶ taints
//!                       ├──▶ toml (Bottlerocket)        ▲
//!                       ├──▶ powershell ────────────────┤
//!                       └──▶ node_config ───────────────┘
//! ```
//!
//! Nothing here knows of Kubernetes objects, rules or doors; a NodeConfig is read by the YAML loader of
//! [`manifest`](manifest). Every result carries [`Span`]s: byte ranges in the text
//! that was given, always on character boundaries. No reader expands a variable or guesses what a program
//! prints; what only the booting node could tell is marked as such. Each reader takes one pass.

pub mod bootstrap;
pub mod kind;
pub mod kubelet;
pub mod kubelet_config;
pub mod mime;
pub mod node_config;
pub mod powershell;
pub mod registration;
pub mod shell;
pub mod taint_list;
pub mod toml;
pub mod word;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;

use core::ops::Range;

/// A byte range in the user data, on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From a first byte to one past the last.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The whole text.
    pub const fn whole(text: &str) -> Self {
        Self::new(0, text.len())
    }

    /// The words it covers; nothing where it is no range of this text.
    pub fn text(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }

    /// The first line in it that is not blank, from its first character on.
    #[must_use]
    pub fn first_line(self, text: &str) -> Self {
        let within = self.text(text);
        let line = within.trim_start();
        let start = self.start + (within.len() - line.len());
        Self::new(start, start + line.lines().next().map_or(0, str::len))
    }

    /// How many bytes it covers.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether it covers nothing.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// From the start of this one to the end of the other.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        Self::new(self.start, other.end)
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// A piece of text that was read, and where it stands. The two differ where quotes or escapes were taken
/// away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// What it reads as.
    pub value: String,
    /// Where it stands.
    pub span: Span,
}
