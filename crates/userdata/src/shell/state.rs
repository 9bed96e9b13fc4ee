//! State of the shell parser, shared by words and commands.

use manifest::source::Span;

use super::script::{HeredocId, Script, ShellProblem, ShellProblemKind};
use crate::word::SourceWord;

/// Character that closes the current list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    End,
    Parenthesis,
    Backtick,
}

/// Maximum depth of nested substitutions and groups.
pub(super) const MAX_DEPTH: u8 = 48;

/// Position in a script and the parts found so far.
pub(super) struct ShellParser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) close: Close,
    pub(super) depth: u8,
    /// Here-documents announced on the current line, each with its delimiter.
    pub(super) pending: Vec<(HeredocId, SourceWord)>,
    pub(super) script: Script,
}

impl ShellParser<'_> {
    /// Byte at a distance from the current position.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub(super) fn rest(&self) -> &str {
        Span::new(self.at, self.end).text(self.text)
    }

    pub(super) fn problem(&mut self, kind: ShellProblemKind, span: Span) {
        self.script.problems.push(ShellProblem { kind, span });
    }
}

/// Whether a word is `NAME=…` or `NAME+=…` with an unquoted name.
pub(super) fn is_assignment(word: &SourceWord) -> bool {
    let Some((name, _)) = word.value.split_once('=') else { return false };
    let bare = word.span_of(&(0..name.len() + 1)).len() == name.len() + 1;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let named = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    bare && !name.is_empty()
        && name.bytes().all(named)
        && !name.starts_with(|first: char| first.is_ascii_digit())
}
