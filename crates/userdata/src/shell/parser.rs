//! Commands of a shell script: separators, keywords, groups, redirections, here-documents.

use manifest::source::Span;

use super::script::{Heredoc, Redirection, Script, ShellCommand, ShellProblemKind};
use super::state::{Close, ShellParser, is_assignment};
use crate::word::SourceWord;

impl Script {
    /// Parses the part of a text that is a script. Spans refer to the whole text.
    pub fn parse(text: &str, within: Span) -> Self {
        if text.get(within.start..within.end).is_none() {
            return Self::default();
        }
        let mut parser = ShellParser {
            text,
            at: within.start,
            end: within.end,
            close: Close::End,
            depth: 0,
            pending: Vec::new(),
            script: Script::default(),
        };
        if let Some(at) = within.text(text).find("\r\n") {
            let start = within.start + at;
            parser.problem(ShellProblemKind::CarriageReturns, Span::new(start, start + 2));
        }
        parser.list();
        for (_, delimiter) in core::mem::take(&mut parser.pending) {
            parser.problem(ShellProblemKind::UnterminatedHeredoc, delimiter.span);
        }
        // Commands in a substitution are finished before the command that contains it.
        parser.script.commands.sort_by_key(|command| command.span.start);
        parser.script.problems.sort_by_key(|problem| problem.span);
        parser.script
    }
}

/// Command that is being parsed.
#[derive(Default)]
struct CommandDraft {
    command: ShellCommand,
    /// Whether the position is in `[[ … ]]`, where operators do not separate commands.
    test: bool,
}

impl CommandDraft {
    fn is_empty(&self) -> bool {
        let command = &self.command;
        command.words.is_empty() && command.assignments.is_empty() && command.redirections.is_empty()
    }
}

/// Words that another command follows, or that only end a block.
const KEYWORDS: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "esac"];

impl ShellParser<'_> {
    /// Parses commands up to the character that closes this list. Returns false if the text ends before it.
    pub(super) fn list(&mut self) -> bool {
        let mut draft = CommandDraft::default();
        let mut cases = 0_usize;
        loop {
            self.blanks();
            let Some(byte) = self.byte(0) else {
                self.finish(&mut draft);
                return self.close == Close::End;
            };
            match byte {
                b'\n' => {
                    self.finish(&mut draft);
                    self.at += 1;
                    self.heredoc_bodies();
                }
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.end - self.at),
                b'&' | b'|' | b'<' | b'>' | b'(' | b')' if draft.test => self.at += 1,
                b'<' | b'>' if self.byte(1) != Some(b'(') => self.redirection(&mut draft),
                b'&' if self.byte(1) == Some(b'>') => self.redirection(&mut draft),
                b';' | b'&' | b'|' => self.separator(&mut draft, byte),
                b'(' if draft.is_empty() && self.byte(1) == Some(b'(') => self.balanced(b'(', b')'),
                b'(' => {
                    self.finish(&mut draft);
                    let opening = Span::new(self.at, self.at + 1);
                    self.at += 1;
                    self.nested(Close::Parenthesis, opening);
                }
                b')' => {
                    self.finish(&mut draft);
                    self.at += 1;
                    // In `case`, a parenthesis ends a pattern.
                    if cases == 0 && self.close == Close::Parenthesis {
                        return true;
                    }
                }
                b'`' if self.close == Close::Backtick => {
                    self.finish(&mut draft);
                    self.at += 1;
                    return true;
                }
                _ => match self.word() {
                    Some(word) => self.take(&mut draft, word, &mut cases),
                    None => self.at += 1,
                },
            }
        }
    }

    fn separator(&mut self, draft: &mut CommandDraft, byte: u8) {
        self.finish(draft);
        self.at += 1;
        let doubled = self.byte(0) == Some(byte);
        if doubled || (byte == b'|' && self.byte(0) == Some(b'&')) {
            self.at += 1;
        }
        draft.command.piped = byte == b'|' && !doubled;
    }

    fn finish(&mut self, draft: &mut CommandDraft) {
        let empty = draft.is_empty();
        let draft = core::mem::take(draft);
        if !empty {
            self.script.commands.push(draft.command);
        }
    }

    fn take(&mut self, draft: &mut CommandDraft, word: SourceWord, cases: &mut usize) {
        // The number before `>` in `2>` is a descriptor.
        let number = !word.value.is_empty() && word.value.bytes().all(|byte| byte.is_ascii_digit());
        if number && !word.quoted && matches!(self.byte(0), Some(b'<' | b'>')) {
            return;
        }
        let first = draft.command.words.is_empty();
        if first && !word.quoted && KEYWORDS.contains(&word.value.as_str()) {
            if word.value == "esac" {
                *cases = cases.saturating_sub(1);
            }
            return;
        }
        if draft.is_empty() {
            draft.command.span = word.span;
        }
        draft.command.span.end = word.span.end;
        if first && is_assignment(&word) {
            draft.command.assignments.push(word);
            return;
        }
        if first && word.is_bare("case") {
            *cases += 1;
        }
        // A pattern follows `case WORD in`.
        let words = &draft.command.words;
        let head =
            word.is_bare("in") && words.len() == 2 && words.first().is_some_and(|word| word.is_bare("case"));
        draft.test = (draft.test || (first && word.is_bare("[["))) && !word.is_bare("]]");
        draft.command.words.push(word);
        if head {
            self.finish(draft);
        }
    }

    fn redirection(&mut self, draft: &mut CommandDraft) {
        const OPERATORS: [&str; 11] = ["<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<"];
        let operator = OPERATORS.iter().find(|operator| self.rest().starts_with(**operator)).unwrap_or(&">");
        let start = self.at;
        self.at += operator.len();
        let operator_span = Span::new(start, self.at);
        self.blanks();
        let Some(target) = self.word() else { return };
        if draft.is_empty() {
            draft.command.span = operator_span;
        }
        draft.command.span.end = target.span.end;
        let heredoc = matches!(*operator, "<<" | "<<-").then(|| {
            let strips_tabs = *operator == "<<-";
            let nowhere = Span::new(self.end, self.end);
            let id =
                self.script.heredocs.push(Heredoc { body: nowhere, literal: target.quoted, strips_tabs });
            self.pending.push((id, target.clone()));
            id
        });
        draft.command.redirections.push(Redirection { operator: operator_span, target, heredoc });
    }

    /// Parses the here-documents that start on this line, in the order of their operators.
    fn heredoc_bodies(&mut self) {
        for (id, delimiter) in core::mem::take(&mut self.pending) {
            let start = self.at;
            let mut end = None;
            while end.is_none() && self.at < self.end {
                let from = self.at;
                let length = self.rest().find('\n').map_or(self.end - from, |at| at + 1);
                self.at += length;
                let line = Span::new(from, self.at).text(self.text);
                let line = line.strip_suffix('\n').unwrap_or(line);
                let line = line.strip_suffix('\r').unwrap_or(line);
                let strips = self.script.heredocs.get(id).is_some_and(|heredoc| heredoc.strips_tabs);
                let line = if strips { line.trim_start_matches('\t') } else { line };
                end = (line == delimiter.value).then_some(from);
            }
            if end.is_none() {
                self.problem(ShellProblemKind::UnterminatedHeredoc, delimiter.span);
            }
            let body = Span::new(start, end.unwrap_or(self.at));
            if let Some(heredoc) = self.script.heredocs.get_mut(id) {
                heredoc.body = body;
            }
        }
    }
}
