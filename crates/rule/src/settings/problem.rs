//! Problems in the settings.

use core::fmt;

use manifest::source::Span;

/// A problem in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The path of the key, such as `rules.storage`; empty for the settings as a whole.
    pub path: String,
    /// The problem and what to write instead.
    pub message: String,
    /// The position in the text.
    pub span: Span,
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}
