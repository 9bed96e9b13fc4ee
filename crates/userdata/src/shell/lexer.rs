//! Words of a shell script: quotes, escapes, expansions. The position never moves back, so that the parser takes linear
//! time.

use manifest::source::Span;

use super::script::ShellProblemKind;
use super::state::{Close, MAX_DEPTH, ShellParser, is_assignment};
use crate::word::SourceWord;

/// Whether a byte ends a run of unquoted text.
fn ends_plain_run(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\r'
            | b'\n'
            | b';'
            | b'&'
            | b'|'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'`'
            | b'\\'
            | b'\''
            | b'"'
            | b'$'
    )
}

impl ShellParser<'_> {
    /// Skips spaces, tabs and joined lines.
    pub(super) fn blanks(&mut self) {
        loop {
            match (self.byte(0), self.byte(1), self.byte(2)) {
                (Some(b' ' | b'\t'), ..) | (Some(b'\r'), Some(b'\n') | None, _) => self.at += 1,
                (Some(b'\\'), Some(b'\n'), _) => self.at += 2,
                (Some(b'\\'), Some(b'\r'), Some(b'\n')) => self.at += 3,
                _ => return,
            }
        }
    }

    /// Parses the word that starts here; `None` if no word starts here.
    pub(super) fn word(&mut self) -> Option<SourceWord> {
        let start = self.at;
        let mut word = SourceWord::starting(Span::new(start, start));
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\r' if matches!(self.byte(1), Some(b'\n') | None) => break,
                b'(' if word.value.ends_with('=') && !word.is_dynamic() && is_assignment(&word) => {
                    self.array(&mut word);
                }
                b'<' | b'>' if self.byte(1) == Some(b'(') => self.substitution(&mut word, 2),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'`' if self.close == Close::Backtick => break,
                b'`' => self.backtick(&mut word),
                b'\\' => self.backslash(&mut word),
                b'\'' => self.single(&mut word),
                b'"' => self.double(&mut word),
                b'$' => self.dollar(&mut word, false),
                _ => self.run(&mut word, ends_plain_run),
            }
        }
        word.span = Span::new(start, self.at);
        (self.at > start).then_some(word)
    }

    /// Copies at least one character, up to the next byte at which a run stops.
    fn run(&mut self, word: &mut SourceWord, stops: impl Fn(u8) -> bool) {
        let start = self.at;
        let first = self.rest().chars().next().map_or(1, char::len_utf8);
        let bytes = self.rest().as_bytes();
        let length = bytes.iter().skip(first).position(|byte| stops(*byte));
        let length = length.map_or(bytes.len(), |at| at + first);
        self.at += length;
        self.copy(word, start, false);
    }

    /// Appends the text since `start` verbatim.
    fn copy(&self, word: &mut SourceWord, start: usize, expanded: bool) {
        let span = Span::new(start, self.at);
        word.push(span.text(self.text), span, expanded);
    }

    fn backslash(&mut self, word: &mut SourceWord) {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.rest().chars().next() else { return self.copy(word, start, false) };
        if next == '\n' || self.rest().starts_with("\r\n") {
            self.at += if next == '\n' { 1 } else { 2 };
            return;
        }
        word.quoted = true;
        if matches!(next, ' ' | '\t') {
            let blanks = self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if matches!(self.byte(blanks), Some(b'\n' | b'\r')) {
                let span = Span::new(start, self.at + blanks);
                self.problem(ShellProblemKind::BrokenContinuation, span);
                // The shell escapes the first space; the others separate words.
                word.push(" ", Span::new(start, self.at + 1), false);
                self.at += blanks;
                return;
            }
        }
        let from = self.at;
        self.at += next.len_utf8();
        word.push(Span::new(from, self.at).text(self.text), Span::new(start, self.at), false);
    }

    fn single(&mut self, word: &mut SourceWord) {
        let open = self.at;
        word.quoted = true;
        self.at += 1;
        let length = self.rest().find('\'');
        let start = self.at;
        self.at = length.map_or(self.end, |length| start + length);
        self.copy(word, start, false);
        if length.is_some() {
            self.at += 1;
        } else {
            self.problem(ShellProblemKind::UnterminatedQuote, Span::new(open, open + 1));
        }
    }

    fn double(&mut self, word: &mut SourceWord) {
        let open = self.at;
        word.quoted = true;
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'"', _) => {
                    self.at += 1;
                    return;
                }
                (b'\\', Some(b'\n')) => self.at += 2,
                (b'\\', Some(b'\r')) if self.byte(2) == Some(b'\n') => self.at += 3,
                (b'\\', Some(b'$' | b'`' | b'"' | b'\\')) => {
                    let start = self.at;
                    self.at += 2;
                    word.push(
                        Span::new(start + 1, self.at).text(self.text),
                        Span::new(start, self.at),
                        false,
                    );
                }
                (b'`', _) => self.backtick(word),
                (b'$', _) => self.dollar(word, true),
                _ => self.run(word, |byte| matches!(byte, b'"' | b'\\' | b'`' | b'$')),
            }
        }
        self.problem(ShellProblemKind::UnterminatedQuote, Span::new(open, open + 1));
    }

    fn dollar(&mut self, word: &mut SourceWord, in_quotes: bool) {
        let start = self.at;
        match self.byte(1) {
            Some(b'\'') if !in_quotes => return self.ansi_c(word),
            Some(b'"') if !in_quotes => {
                self.at += 1;
                return self.double(word);
            }
            Some(b'(') if self.byte(2) == Some(b'(') => {
                self.at += 1;
                self.balanced(b'(', b')');
            }
            Some(b'(') => return self.substitution(word, 2),
            Some(b'{') => {
                self.at += 1;
                self.balanced(b'{', b'}');
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                self.at += 1;
                let name = |byte: &u8| *byte == b'_' || byte.is_ascii_alphanumeric();
                self.at += self.rest().as_bytes().iter().take_while(|byte| name(byte)).count();
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => self.at += 2,
            _ => {
                self.at += 1;
                return self.copy(word, start, false);
            }
        }
        self.copy(word, start, true);
    }

    /// Skips text up to the closing bracket. Brackets in quotes and after a backslash do not count.
    pub(super) fn balanced(&mut self, open: u8, close: u8) {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\\' => self.at += self.rest().chars().nth(1).map_or(0, char::len_utf8),
                b'"' => {
                    self.at += 1;
                    while let Some(byte) = self.byte(0).filter(|byte| *byte != b'"') {
                        let escaped = if byte == b'\\' { self.rest().chars().nth(1) } else { None };
                        self.at += 1 + escaped.map_or(0, char::len_utf8);
                    }
                }
                byte if byte == open => depth += 1,
                byte if byte == close => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at = (self.at + 1).min(self.end);
            if depth == 0 {
                return;
            }
        }
        self.problem(ShellProblemKind::UnterminatedExpansion, Span::new(start, start + 1));
    }

    /// Parses the commands in `$(…)`, `<(…)` or `>(…)`.
    fn substitution(&mut self, word: &mut SourceWord, opening: usize) {
        let start = self.at;
        self.at += opening;
        self.nested(Close::Parenthesis, Span::new(start, start + opening));
        self.copy(word, start, true);
    }

    fn backtick(&mut self, word: &mut SourceWord) {
        let start = self.at;
        self.at += 1;
        self.nested(Close::Backtick, Span::new(start, start + 1));
        self.copy(word, start, true);
    }

    /// Parses commands up to the closing character.
    pub(super) fn nested(&mut self, close: Close, opening: Span) {
        if self.depth >= MAX_DEPTH {
            self.problem(ShellProblemKind::TooDeep, opening);
            self.at = self.end;
            return;
        }
        let outside = core::mem::replace(&mut self.close, close);
        self.depth += 1;
        if !self.list() {
            self.problem(ShellProblemKind::UnterminatedExpansion, opening);
        }
        self.depth -= 1;
        self.close = outside;
    }

    /// Skips the elements of an array, `NAME=(…)`.
    fn array(&mut self, word: &mut SourceWord) {
        let start = self.at;
        self.balanced(b'(', b')');
        self.copy(word, start, true);
    }

    /// Parses `$'…'` with its escapes.
    fn ansi_c(&mut self, word: &mut SourceWord) {
        let open = self.at;
        word.quoted = true;
        self.at += 2;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\'' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.ansi_c_escape(word),
                _ => self.run(word, |byte| matches!(byte, b'\'' | b'\\')),
            }
        }
        self.problem(ShellProblemKind::UnterminatedQuote, Span::new(open, open + 2));
    }

    fn ansi_c_escape(&mut self, word: &mut SourceWord) {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.rest().chars().next() else { return self.copy(word, start, false) };
        self.at += next.len_utf8();
        let code = match next {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\x07'),
            'b' => Some('\x08'),
            'e' | 'E' => Some('\x1b'),
            'f' => Some('\x0c'),
            'v' => Some('\x0b'),
            '\\' | '\'' | '"' | '?' => Some(next),
            'x' => self.code(16, 2),
            'u' => self.code(16, 4),
            'U' => self.code(16, 8),
            '0'..='7' => {
                self.at -= 1;
                self.code(8, 3)
            }
            _ => None,
        };
        match code {
            Some(code) => word.push(code.encode_utf8(&mut [0; 4]), Span::new(start, self.at), false),
            None => self.copy(word, start, false),
        }
    }

    /// Parses a character code of at most `most` digits; `None` if it is not a character.
    fn code(&mut self, radix: u32, most: usize) -> Option<char> {
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.byte(0).and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            code = code.checked_mul(radix)?.checked_add(digit)?;
            self.at += 1;
        }
        char::from_u32(code).filter(|_| code != 0)
    }
}
