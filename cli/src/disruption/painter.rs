//! Styled text.

use anstyle::{AnsiColor, Style};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();

/// Prints styled text.
#[derive(Clone, Copy)]
pub(super) struct Painter {
    pub(super) color: bool,
}

impl Painter {
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
