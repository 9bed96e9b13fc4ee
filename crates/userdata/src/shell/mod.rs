//! Shell scripts: commands, words and here-documents, read as a POSIX shell or bash reads them, without
//! running them.
//!
//! Function bodies, branches and loops are read as if everything in them ran. What a `case` pattern matches
//! looks like a command of one word; nothing is called like that.

mod invocation;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;

pub use invocation::{Invocation, is_shell};

use manifest::source::Span;
use super::word::Word;

/// What a script says, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command, also those inside substitutions, groups and branches.
    pub commands: Vec<Command>,
    /// Every here-document.
    pub heredocs: Vec<Heredoc>,
    /// What makes the shell read it otherwise than its author meant.
    pub problems: Vec<Problem>,
}

impl Script {
    /// Reads the part of the text that is a script. Spans count from the start of the text.
    pub fn read(text: &str, within: Span) -> Self {
        parser::read(text, within)
    }
}

/// A simple command: `NAME=value word word > file`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// From its first word to its last.
    pub span: Span,
    /// Assignments before the first word.
    pub assignments: Vec<Word>,
    /// The words, prefixes such as `sudo` included.
    pub words: Vec<Word>,
    /// Where its input comes from and its output goes.
    pub redirections: Vec<Redirection>,
    /// Whether it reads another command's output through `|`.
    pub piped: bool,
}

/// `> file`, `<<EOF` and their like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The operator, without the number of the descriptor: `>`, `>>`, `<`, `<<-`, `&>`.
    pub operator: Span,
    /// The file, the descriptor or the here-document's delimiter.
    pub target: Word,
    /// Which of [`Script::heredocs`] it opens.
    pub heredoc: Option<usize>,
}

/// The lines after a command with `<<`, up to the delimiter: data, not commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heredoc {
    /// The lines, without the one that ends them.
    pub body: Span,
    /// Whether the delimiter is quoted, so that `$` and back-ticks mean nothing in the body.
    pub literal: bool,
    /// Whether leading tabs are taken away (`<<-`).
    pub strips_tabs: bool,
}

impl Heredoc {
    /// Whether the shell replaces something in the body.
    pub fn expands(&self, text: &str) -> bool {
        !self.literal && self.body.text(text).contains(['$', '`'])
    }
}

/// Something that makes the shell read the text otherwise than it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Blanks after the backslash that should join two lines: the command ends here.
    BrokenContinuation,
    /// A quote that is never closed; the span is the opening one.
    UnterminatedQuote,
    /// `${`, `$(` or a back-tick that is never closed; the span is the opening.
    UnterminatedExpansion,
    /// A here-document whose delimiter never comes; the span is the delimiter after `<<`.
    UnterminatedHeredoc,
    /// Windows line endings; the span is the first one. The kernel looks for an interpreter called `bash\r`.
    CarriageReturns,
    /// Substitutions nested deeper than this reader follows; nothing after this was read.
    TooDeep,
}

/// Which separator of the text a word may end at, besides blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    End,
    Parenthesis,
    Backtick,
}

/// The most substitutions and groups inside one another that are followed.
const MAX_DEPTH: u8 = 48;

/// The reader's state; `lexer` reads words with it, `parser` commands.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    close: Close,
    depth: u8,
    pending: Vec<(usize, Word)>,
    script: Script,
}

impl Reader<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    fn rest(&self) -> &str {
        Span::new(self.at, self.end).text(self.text)
    }

    fn problem(&mut self, kind: ProblemKind, span: Span) {
        self.script.problems.push(Problem { kind, span });
    }
}
