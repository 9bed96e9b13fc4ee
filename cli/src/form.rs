//! Forms of the output: colour and formats.

use clap::ValueEnum;

use super::safe_writer::Escaping;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Source lines around each finding
    Human,
    /// One JSON object
    Json,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// GitHub Actions annotations
    Github,
    /// GitLab Code Quality
    Gitlab,
    /// JUnit XML
    Junit,
    /// A checklist for a pull request
    Markdown,
}

impl Format {
    /// Notation of control characters.
    pub(crate) fn escaping(self) -> Escaping {
        match self {
            Self::Json | Self::Sarif | Self::Gitlab => Escaping::Json,
            Self::Junit => Escaping::Xml,
            Self::Human => Escaping::Symbol,
            Self::Github | Self::Markdown => Escaping::Plain,
        }
    }
}

/// Form of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimelineForm {
    /// Aligned columns
    Table,
    /// Comma-separated values, with full times and all pods
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table
    Human,
    /// JSON
    Json,
}
