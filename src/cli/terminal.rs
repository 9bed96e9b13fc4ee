//! What the terminal can show: colour, width, and where messages go that are no output.

use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use super::arguments::Color;

const ERROR: Style = AnsiColor::Red.on_default().bold();

impl Color {
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::AlwaysAnsi,
            Self::Never => ColorChoice::Never,
        }
    }

    /// Whether to write in colour to standard output.
    pub(crate) fn on_stdout(self) -> bool {
        AutoStream::new(io::stdout(), self.choice()).current_choice() != ColorChoice::Never
    }

    /// Whether to write in colour to standard error.
    pub(crate) fn on_stderr(self) -> bool {
        AutoStream::new(io::stderr(), self.choice()).current_choice() != ColorChoice::Never
    }
}

/// Standard output, buffered; colours written to it are shown as far as it can.
pub(crate) fn stdout(color: Color) -> Box<dyn Write> {
    Box::new(io::BufWriter::new(AutoStream::new(io::stdout(), color.choice())))
}

/// Standard error, buffered.
pub(crate) fn stderr(color: Color) -> Box<dyn Write> {
    Box::new(io::BufWriter::new(AutoStream::new(io::stderr(), color.choice())))
}

/// Says on standard error what went wrong.
pub(crate) fn error(color: Color, message: &str) {
    labelled(color, "error", ERROR, message);
}

/// Says on standard error what to know.
pub(crate) fn note(color: Color, message: &str) {
    labelled(color, "note", Style::new().bold(), message);
}

fn labelled(color: Color, label: &str, style: Style, message: &str) {
    let mut stream = AutoStream::new(io::stderr(), color.choice());
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(stream, "{style}{label}{style:#}: {message}");
}

/// The columns to wrap text to: those of the terminal, within what reads well.
pub(crate) fn width() -> usize {
    columns().unwrap_or(100).clamp(40, 100)
}

/// The columns of the terminal, where standard output is one.
pub(crate) fn columns() -> Option<usize> {
    let size = if io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    size.map(|(terminal_size::Width(columns), _)| usize::from(columns))
}
