//! Shell scripts: commands, words and here-documents, parsed as by a POSIX shell or bash, without running anything.
//!
//! Function bodies, branches and loops are parsed as if all of them ran. A pattern of `case` is parsed as a command of
//! one word; no program has such a name.

mod invocation;
mod lexer;
mod parser;
mod script;
mod state;
#[cfg(test)]
mod tests;

pub use invocation::{Invocation, is_shell};
pub use script::{Heredoc, HeredocId, Redirection, Script, ShellCommand, ShellProblem, ShellProblemKind};
