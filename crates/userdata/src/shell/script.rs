//! Parts of a shell script.

use ids::{IdVec, ids};
use manifest::source::Span;

use crate::word::SourceWord;

ids! {
    /// Here-document of a script.
    pub HeredocId;
}

/// Parsed script. Its parts are in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// All simple commands, including those in substitutions, groups and branches.
    pub commands: Vec<ShellCommand>,
    /// All here-documents.
    pub heredocs: IdVec<HeredocId, Heredoc>,
    /// Problems that make the shell parse the script differently than the author meant.
    pub problems: Vec<ShellProblem>,
}

/// Simple command: `NAME=value word word > file`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// Span from the first word to the last.
    pub span: Span,
    /// Assignments before the first word.
    pub assignments: Vec<SourceWord>,
    /// Words, including prefixes such as `sudo`.
    pub words: Vec<SourceWord>,
    /// Redirections of input and output.
    pub redirections: Vec<Redirection>,
    /// Whether the command reads the output of another command through `|`.
    pub piped: bool,
}

/// Redirection such as `> file` or `<<EOF`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// Span of the operator without the number of the descriptor: `>`, `>>`, `<`, `<<-`, `&>`.
    pub operator: Span,
    /// File, descriptor or delimiter of the here-document.
    pub target: SourceWord,
    /// The here-document, one of [`Script::heredocs`].
    pub heredoc: Option<HeredocId>,
}

/// Here-document: the lines after a command with `<<`, up to the delimiter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heredoc {
    /// Span of the lines, without the delimiter.
    pub body: Span,
    /// Whether the delimiter is quoted, which turns off expansions in the body.
    pub literal: bool,
    /// Whether the shell removes leading tabs (`<<-`).
    pub strips_tabs: bool,
}

impl Heredoc {
    /// Whether the body contains expansions.
    pub fn expands(&self, text: &str) -> bool {
        !self.literal && self.body.text(text).contains(['$', '`'])
    }
}

/// Problem that makes the shell parse the text differently than it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellProblem {
    /// Kind of problem.
    pub kind: ShellProblemKind,
    /// Span of the problem.
    pub span: Span,
}

/// Kinds of [`ShellProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellProblemKind {
    /// Spaces after a backslash that should join two lines. The command ends here.
    BrokenContinuation,
    /// Quote that is never closed; the span is the opening quote.
    UnterminatedQuote,
    /// `${`, `$(` or a back-tick that is never closed; the span is the opening.
    UnterminatedExpansion,
    /// Here-document without an end; the span is the delimiter after `<<`.
    UnterminatedHeredoc,
    /// Windows line endings; the span is the first of them. The kernel looks for an interpreter called `bash\r`.
    CarriageReturns,
    /// Substitutions nested too deeply. The parser stops here.
    TooDeep,
}
