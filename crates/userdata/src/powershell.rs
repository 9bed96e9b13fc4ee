//! Windows user data: the parameters of `Start-EKSBootstrap.ps1` that affect registration.
//!
//! Karpenter calls the script as `& $EKSBootstrapScriptFile -EKSClusterName '…' … -KubeletExtraArgs '…'`
//! (aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/windows.go at v1.14.1). Parameters are found by name,
//! whatever the command before them; the rest of the language is not parsed.

use manifest::source::Span;

use crate::word::SourceWord;

/// Parameter with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerShellParameter {
    /// Span of the name, including the dash.
    pub name: Span,
    /// Value; empty if there is no value.
    pub value: SourceWord,
}

/// Finds every `-name value` in a script, outside comments and strings. Names are case-insensitive, as in PowerShell.
pub fn parameters(text: &str, within: Span, name: &str) -> Vec<PowerShellParameter> {
    let mut scanner = Scanner { text, at: within.start, end: within.end.min(text.len()) };
    let mut found = Vec::new();
    while let Some(character) = scanner.peek() {
        let start = scanner.at;
        match character {
            '#' => scanner.until("\n"),
            '<' if scanner.rest().starts_with("<#") => scanner.until("#>"),
            '\'' | '"' => {
                scanner.string(character, &mut SourceWord::default());
            }
            '`' => {
                scanner.bump();
                scanner.bump();
            }
            '-' => {
                scanner.bump();
                let read = scanner.name();
                if read.eq_ignore_ascii_case(name) {
                    let name = Span::new(start, scanner.at);
                    found.push(PowerShellParameter { name, value: scanner.value() });
                }
            }
            _ => {
                scanner.bump();
            }
        }
    }
    found
}

/// Position in a PowerShell script.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        Span::new(self.at, self.end).text(self.text)
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn until(&mut self, mark: &str) {
        self.at = self.rest().find(mark).map_or(self.end, |at| self.at + at + mark.len());
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(next) = self.peek().filter(char::is_ascii_alphanumeric) {
            name.push(next);
            self.at += 1;
        }
        name
    }

    /// Parses the value of a parameter: `'…'`, `"…"` or bare, also in `-Name:value` and on the next line after a
    /// back-tick.
    fn value(&mut self) -> SourceWord {
        if self.peek() == Some(':') {
            self.at += 1;
        }
        loop {
            let rest = self.rest();
            match rest.chars().next() {
                Some(' ' | '\t') => self.at += 1,
                Some('`') if rest.starts_with("`\n") => self.at += 2,
                Some('`') if rest.starts_with("`\r\n") => self.at += 3,
                _ => break,
            }
        }
        let start = self.at;
        let mut word = SourceWord::starting(Span::new(start, start));
        while let Some(next) = self.peek() {
            match next {
                '\'' | '"' => self.string(next, &mut word),
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | ')' | '}' => break,
                _ => self.character(&mut word, true),
            }
        }
        word.span = Span::new(start, self.at);
        word
    }

    /// Parses a string. A doubled quote is a quote. In double quotes `$` expands and a back-tick escapes.
    fn string(&mut self, quote: char, word: &mut SourceWord) {
        word.quoted = true;
        self.at += 1;
        while let Some(next) = self.peek() {
            if next == quote {
                let start = self.at;
                self.at += 1;
                if self.peek() != Some(quote) {
                    return;
                }
                self.at += 1;
                word.push(Span::new(start, start + 1).text(self.text), Span::new(start, self.at), false);
            } else {
                self.character(word, quote == '"');
            }
        }
    }

    fn character(&mut self, word: &mut SourceWord, expands: bool) {
        let start = self.at;
        let Some(next) = self.bump() else { return };
        let expansion =
            expands && matches!(next, '$' | '@') && self.peek().is_some_and(|next| !" \t\"".contains(next));
        if expands && next == '`' {
            let from = self.at;
            self.bump();
            word.push(Span::new(from, self.at).text(self.text), Span::new(start, self.at), false);
            return;
        }
        if expansion && next == '$' {
            let name = |next: &char| next.is_alphanumeric() || "_:{}()".contains(*next);
            while let Some(next) = self.peek().filter(name) {
                self.at += next.len_utf8();
            }
        }
        let span = Span::new(start, self.at);
        word.push(span.text(self.text), span, expansion && next == '$');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, bool)> {
        parameters(text, Span::whole(text), "KubeletExtraArgs")
            .into_iter()
            .map(|parameter| (parameter.value.value.clone(), parameter.value.is_dynamic()))
            .collect()
    }

    #[test]
    fn finds_parameters_with_their_values() {
        assert_eq!(
            values("& $f -kubeletextraargs '--a=\"b\" it''s' -X 'y'"),
            [("--a=\"b\" it's".into(), false)]
        );
        assert_eq!(values("f -KubeletExtraArgs `\n  \"--a=`\"b`\" $c\""), [("--a=\"b\" $c".into(), true)]);
        assert_eq!(values("f -KubeletExtraArgs $args"), [("$args".into(), true)]);
        assert_eq!(values("# -KubeletExtraArgs 'x'\n'-KubeletExtraArgs y' <# -KubeletExtraArgs z #>"), []);
    }
}
