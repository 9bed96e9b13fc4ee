//! Text search for taints in a kubelet configuration and in other text that is not parsed.
//!
//! The search reads lists in a plain form and reports the others as unread.

use core::ops::Range;

use manifest::source::{Span, certain};

use crate::taint_list::{SpannedTaint, parse_taints};
use crate::word::SpannedText;

/// Taints found in a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredTaints {
    /// Taints that were read.
    pub taints: Vec<SpannedTaint>,
    /// Name of the first list that could not be read to its end.
    pub unread: Option<Span>,
}

/// Name of the list of taints in a `KubeletConfiguration`, and in `spec.kubelet.config` of a NodeConfig.
pub const FIELD: &str = "registerWithTaints";

/// Finds `registerWithTaints` and `--register-with-taints` in a text that is not parsed.
pub fn search_taints(body: &str) -> ConfiguredTaints {
    let mut found = configured_taints(body);
    let flags = mentioned_flags(body);
    found.taints.extend(flags.taints);
    found.unread = found.unread.or(flags.unread);
    found
}

/// Finds `registerWithTaints` in JSON, in a jq program or in YAML, and reads the list if it has a plain form:
/// `[{"key": "k", "effect": "NoExecute"}]`, or block items with one field per line. Any other form is `unread`.
fn configured_taints(body: &str) -> ConfiguredTaints {
    let mut found = ConfiguredTaints::default();
    let mut search = Search { body, pattern: FIELD, from: 0, line: Line::default() };
    while let Some(at) = search.next() {
        let mut list = List { body, at: search.from, taints: Vec::new() };
        list.skip(b"\"'\\ \t:=|+");
        let read = match list.peek() {
            Some(b'[') => list.flow(),
            Some(b'\n' | b'\r' | b'#') => list.block(search.line.indent),
            _ => None,
        };
        if read.is_none() {
            found.unread.get_or_insert(Span::new(at, search.from));
        }
        search.from = list.at.max(search.from);
        found.taints.append(&mut list.taints);
    }
    found
}

/// Finds `--register-with-taints` in text other than a command line: `flags` of a NodeConfig, a systemd unit, an
/// argument of `echo` or `sed`.
fn mentioned_flags(body: &str) -> ConfiguredTaints {
    const FLAG: &str = "--register-with-taints";
    let mut found = ConfiguredTaints::default();
    let mut search = Search { body, pattern: FLAG, from: 0, line: Line::default() };
    while let Some(at) = search.next() {
        let mut list = List { body, at: search.from, taints: Vec::new() };
        list.skip(b"\"'\\ \t=");
        let start = list.at;
        list.skip_name(b"-_./:=,");
        let value = Span::new(start, list.at).text(body).trim_end_matches(',');
        if value.is_empty() || matches!(list.peek(), Some(b'$' | b'{' | b'`')) {
            found.unread.get_or_insert(Span::new(at, search.from));
        }
        let to_text = |range: Range<usize>| Span::from(range).shifted(start);
        found.taints.append(&mut parse_taints(value, &to_text));
        search.from = list.at;
    }
    found
}

/// Search for a pattern outside comments.
struct Search<'t> {
    body: &'t str,
    pattern: &'t str,
    /// Position at which the search continues.
    from: usize,
    line: Line,
}

impl Search<'_> {
    fn next(&mut self) -> Option<usize> {
        loop {
            let rest = self.body.get(self.from..).filter(|rest| rest.len() >= self.pattern.len())?;
            let at = self.from + rest.find(self.pattern)?;
            self.line.advance(self.body, self.from, at);
            self.from = at + self.pattern.len();
            if !self.line.comment {
                return Some(at);
            }
        }
    }
}

/// Current line of a search.
#[derive(Default)]
struct Line {
    indent: usize,
    comment: bool,
    started: bool,
}

impl Line {
    /// Moves from one position to the next. Each byte is read once.
    fn advance(&mut self, body: &str, from: usize, to: usize) {
        let passed = Span::new(from, to).text(body);
        let start = match passed.rfind('\n') {
            Some(at) => from + at + 1,
            None if self.started => return,
            None => from,
        };
        let content = Span::new(start, to).text(body);
        self.started = true;
        self.indent = content.bytes().take_while(|byte| *byte == b' ').count();
        self.comment = content.trim_start().starts_with('#');
    }
}

/// Position in a list of taints.
struct List<'t> {
    body: &'t str,
    at: usize,
    taints: Vec<SpannedTaint>,
}

/// Fields of a taint that is being read.
#[derive(Default)]
struct Fields {
    key: Option<SpannedText>,
    value: Option<SpannedText>,
    effect: Option<SpannedText>,
}

impl Fields {
    fn set(&mut self, name: &str, text: SpannedText) -> Option<()> {
        match name {
            "key" => self.key = Some(text),
            "value" => self.value = Some(text),
            "effect" => self.effect = Some(text),
            "timeAdded" => {}
            _ => return None,
        }
        Some(())
    }

    fn taint(self) -> Option<SpannedTaint> {
        Some(SpannedTaint::covering(self.key?, self.value, self.effect?))
    }
}

impl List<'_> {
    fn peek(&self) -> Option<u8> {
        self.body.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, skipped: &[u8]) {
        while self.peek().is_some_and(|byte| skipped.contains(&byte)) {
            self.at += 1;
        }
    }

    /// Skips letters, digits and some other characters.
    fn skip_name(&mut self, others: &[u8]) {
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte)) {
            self.at += 1;
        }
    }

    fn blanks(&mut self) {
        self.skip(b" \t\n\r\x0c");
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Reads a plain or quoted scalar without expansions and escapes.
    fn scalar(&mut self) -> Option<SpannedText> {
        self.skip(b"\"'\\");
        let start = self.at;
        self.skip_name(b"-_./");
        let span = Span::new(start, self.at);
        self.skip(b"\"'\\");
        let plain =
            matches!(self.peek(), None | Some(b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\r' | b'\n'));
        plain.then(|| SpannedText { value: span.text(self.body).to_owned(), span })
    }

    /// Reads a list in brackets.
    fn flow(&mut self) -> Option<()> {
        self.take(b'[')?;
        loop {
            self.blanks();
            if self.take(b']').is_some() {
                return Some(());
            }
            self.braces()?;
            self.blanks();
            let _ = self.take(b',');
        }
    }

    /// Reads a list in block style. The list ends at the first line that is indented less than its name, or as much
    /// without being an item.
    fn block(&mut self, indent: usize) -> Option<()> {
        let mut fields: Option<Fields> = None;
        while let Some(is_item) = self.next_line(indent) {
            if is_item {
                if let Some(fields) = fields.replace(Fields::default()) {
                    self.taints.push(fields.taint()?);
                }
                self.at += 2;
                self.skip(b" ");
            }
            if self.peek() == Some(b'{') {
                // Item in braces: `- {key: k, effect: E}`.
                self.braces()?;
                fields = None;
                continue;
            }
            let name = self.scalar()?;
            self.take(b':')?;
            self.skip(b" ");
            let value = self.scalar()?;
            fields.as_mut()?.set(&name.value, value)?;
        }
        if let Some(fields) = fields {
            self.taints.push(fields.taint()?);
        }
        Some(())
    }

    /// Moves to the content of the next line of a block list, past blank lines and comments. Returns whether the line
    /// starts an item; `None` at the end of the list, whose last line break is not skipped.
    fn next_line(&mut self, indent: usize) -> Option<bool> {
        loop {
            let rest = certain(self.body.get(self.at..));
            let end = self.at + rest.find('\n').unwrap_or(rest.len());
            self.at = end;
            self.peek()?;
            let start = end + 1;
            let content = certain(self.body.get(start..)).lines().next().unwrap_or("");
            let depth = content.bytes().take_while(|byte| *byte == b' ').count();
            let trimmed = content.trim();
            let is_item = trimmed.starts_with("- ");
            if !trimmed.is_empty() && (depth < indent || (depth == indent && !is_item)) {
                return None;
            }
            self.at = start + depth;
            if !trimmed.is_empty() && !trimmed.starts_with('#') {
                return Some(is_item);
            }
        }
    }

    /// Reads a taint in braces.
    fn braces(&mut self) -> Option<()> {
        self.take(b'{')?;
        let mut fields = Fields::default();
        loop {
            self.blanks();
            if self.take(b'}').is_some() {
                self.taints.push(fields.taint()?);
                return Some(());
            }
            let name = self.scalar()?;
            self.blanks();
            self.take(b':')?;
            self.blanks();
            let value = self.scalar()?;
            fields.set(&name.value, value)?;
            self.blanks();
            let _ = self.take(b',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Vec<String> {
        let found = configured_taints(body);
        let mut lines: Vec<_> = found
            .taints
            .iter()
            .map(|taint| {
                assert_eq!(taint.key.span.text(body), taint.key.value);
                let value = taint.value.as_ref().map_or("-", |value| value.value.as_str());
                format!("{} {value} {}", taint.key.value, taint.effect.value)
            })
            .collect();
        lines.extend(found.unread.map(|span| format!("unread {}", span.text(body))));
        lines
    }

    #[test]
    fn reads_plain_lists_in_json_jq_and_yaml() {
        let one = ["a.b/c - NoExecute"];
        assert_eq!(read(r#"{"registerWithTaints": [{"key": "a.b/c", "effect": "NoExecute"}], "x": 1}"#), one);
        assert_eq!(read(r#".registerWithTaints += [{key: "a.b/c", effect: "NoExecute"}]"#), one);
        assert_eq!(read(r#"{\"registerWithTaints\":[{\"key\":\"a.b/c\",\"effect\":\"NoExecute\"}]}"#), one);
        assert_eq!(read("registerWithTaints: [{key: a.b/c, effect: NoExecute}]"), one);
        assert_eq!(
            read(
                "  registerWithTaints:\n  - {key: a.b/c, effect: NoExecute}\n  - key: d\n    value: \"e\"\n    effect: NoSchedule\n  other: 1"
            ),
            ["a.b/c - NoExecute", "d e NoSchedule"]
        );
        assert_eq!(read("registerWithTaints:\n    - effect: NoExecute\n      key: 'a.b/c'\n"), one);
    }

    #[test]
    fn reports_other_lists_as_unread() {
        assert_eq!(read("registerWithTaints: $TAINTS"), ["unread registerWithTaints"]);
        assert_eq!(
            read("registerWithTaints: [{key: ${K}, effect: NoExecute}]"),
            ["unread registerWithTaints"]
        );
        assert_eq!(read("registerWithTaints: *anchor"), ["unread registerWithTaints"]);
        assert_eq!(read("# registerWithTaints: [{key: a, effect: b}]"), [""; 0]);
    }
}
