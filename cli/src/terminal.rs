//! Properties of the terminal (colour and width), and messages on standard error.

use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use render::human::printable;

use super::form::Color;
use super::safe_writer::{Escaping, SafeWriter};

const ERROR: Style = AnsiColor::Red.on_default().bold();

impl Color {
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::AlwaysAnsi,
            Self::Never => ColorChoice::Never,
        }
    }

    /// Whether to use colour on standard output.
    pub(crate) fn on_stdout(self) -> bool {
        AutoStream::new(io::stdout(), self.choice()).current_choice() != ColorChoice::Never
    }

    /// Whether to use colour on standard error.
    pub(crate) fn on_stderr(self) -> bool {
        AutoStream::new(io::stderr(), self.choice()).current_choice() != ColorChoice::Never
    }
}

/// Buffered standard output for people, which drops the styles that it cannot show.
pub(crate) fn stdout(color: Color) -> Box<dyn Write> {
    stdout_as(color, Escaping::Symbol)
}

/// Buffered standard output with the escapes of a format.
pub(crate) fn stdout_as(color: Color, escaping: Escaping) -> Box<dyn Write> {
    let stream = AutoStream::new(io::stdout(), color.choice());
    Box::new(io::BufWriter::new(SafeWriter::new(stream, escaping)))
}

/// Buffered standard error for people, which drops the styles that it cannot show.
pub(crate) fn stderr(color: Color) -> Box<dyn Write> {
    stderr_as(color, Escaping::Symbol)
}

/// Buffered standard error with the escapes of a format.
pub(crate) fn stderr_as(color: Color, escaping: Escaping) -> Box<dyn Write> {
    let stream = AutoStream::new(io::stderr(), color.choice());
    Box::new(io::BufWriter::new(SafeWriter::new(stream, escaping)))
}

/// Prints a text with styles, such as the help.
pub(crate) fn print_styled(text: &str, to_stderr: bool) -> io::Result<()> {
    let mut out = if to_stderr { stderr(Color::Auto) } else { stdout(Color::Auto) };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints an error to standard error.
pub(crate) fn error(color: Color, message: &str) {
    labelled(color, "error", ERROR, message);
}

/// Prints a note to standard error.
pub(crate) fn note(color: Color, message: &str) {
    labelled(color, "note", Style::new().bold(), message);
}

fn labelled(color: Color, label: &str, style: Style, message: &str) {
    let mut stream = stderr(color);
    // One line: a line break in the name of a file could start a workflow command of GitHub. A closed standard error is not an error.
    let _ = writeln!(stream, "{style}{label}{style:#}: {}", printable(message)).and_then(|()| stream.flush());
}

/// Columns to wrap text to: the width of the terminal, limited to a readable length.
pub(crate) fn width() -> usize {
    columns().unwrap_or(100).clamp(40, 100)
}

/// Width of the terminal, if standard output is a terminal.
pub(crate) fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    // The host of a WebAssembly module names the width in `COLUMNS`.
    if cfg!(target_os = "wasi") {
        return std::env::var("COLUMNS").ok()?.parse().ok();
    }
    terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| usize::from(columns))
}
