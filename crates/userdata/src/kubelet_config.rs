//! Taints in a kubelet configuration and in other text that is not read as commands.
//!
//! This is a scan, not a parser: it takes what is plain and says where it gave up.

use super::taint_list::{Taint, parse_taints};
use manifest::source::Span;

use super::Placed;
use core::ops::Range;

/// The taints of a `registerWithTaints` list in a kubelet configuration, and whether all of it was
/// understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredTaints {
    /// What was read.
    pub taints: Vec<Taint>,
    /// Where the list starts that could not be read to its end.
    pub unread: Option<Span>,
}

/// The name of the list, in `KubeletConfiguration` and so in a NodeConfig's `spec.kubelet.config`.
pub const FIELD: &str = "registerWithTaints";

/// Finds `registerWithTaints` in JSON, in a jq program or in YAML, and reads the list where its shape is
/// plain: `[{"key": "k", "effect": "NoExecute"}]`, or block items one field a line. Anything else is
/// `unread`, never wrong.
pub fn configured_taints(body: &str) -> ConfiguredTaints {
    let mut found = ConfiguredTaints::default();
    let mut search = Search { body, mark: FIELD, from: 0, line: Line::default() };
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

/// Finds `--register-with-taints` in text that is no command line of ours: a NodeConfig's `flags`, a systemd
/// unit, the argument of `echo` or `sed`.
pub fn mentioned_flags(body: &str) -> ConfiguredTaints {
    const FLAG: &str = "--register-with-taints";
    let mut found = ConfiguredTaints::default();
    let mut search = Search { body, mark: FLAG, from: 0, line: Line::default() };
    while let Some(at) = search.next() {
        let mut list = List { body, at: search.from, taints: Vec::new() };
        list.skip(b"\"'\\ \t=");
        let start = list.at;
        list.skip_name(b"-_./:=,");
        let value = Span::new(start, list.at).text(body).trim_end_matches(',');
        if value.is_empty() || matches!(list.peek(), Some(b'$' | b'{' | b'`')) {
            found.unread.get_or_insert(Span::new(at, search.from));
        }
        let place = |range: Range<usize>| Span::new(start + range.start, start + range.end);
        found.taints.append(&mut parse_taints(value, &place));
        search.from = list.at;
    }
    found
}

/// A search for a mark, comments left out.
struct Search<'t> {
    body: &'t str,
    mark: &'t str,
    /// Where it goes on.
    from: usize,
    line: Line,
}

impl Search<'_> {
    fn next(&mut self) -> Option<usize> {
        loop {
            let at = self.from + self.body.get(self.from..)?.find(self.mark)?;
            self.line.advance(self.body, self.from, at);
            self.from = at + self.mark.len();
            if !self.line.comment {
                return Some(at);
            }
        }
    }
}

/// The line that a search has come to.
#[derive(Default)]
struct Line {
    indent: usize,
    comment: bool,
    started: bool,
}

impl Line {
    /// Goes on from one place to the next; the text between is looked at once.
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

struct List<'t> {
    body: &'t str,
    at: usize,
    taints: Vec<Taint>,
}

#[derive(Default)]
struct Fields {
    key: Option<Placed>,
    value: Option<Placed>,
    effect: Option<Placed>,
}

impl Fields {
    fn set(&mut self, name: &str, placed: Placed) -> Option<()> {
        match name {
            "key" => self.key = Some(placed),
            "value" => self.value = Some(placed),
            "effect" => self.effect = Some(placed),
            "timeAdded" => {}
            _ => return None,
        }
        Some(())
    }

    fn taint(self) -> Option<Taint> {
        Some(Taint::covering(self.key?, self.value, self.effect?))
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

    /// Skips letters, digits and these.
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

    /// A plain or quoted scalar; nothing that an expansion or an escape could change.
    fn scalar(&mut self) -> Option<Placed> {
        self.skip(b"\"'\\");
        let start = self.at;
        self.skip_name(b"-_./");
        let span = Span::new(start, self.at);
        self.skip(b"\"'\\");
        let plain =
            matches!(self.peek(), None | Some(b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\r' | b'\n'));
        plain.then(|| Placed { value: span.text(self.body).to_owned(), span })
    }

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

    fn block(&mut self, indent: usize) -> Option<()> {
        let mut fields: Option<Fields> = None;
        loop {
            let rest = self.body.get(self.at..).unwrap_or("");
            self.at += rest.find('\n').unwrap_or(rest.len());
            let (line, start) = (self.at, self.at + 1);
            let rest = self.body.get(start..).unwrap_or("");
            let content = rest.lines().next().unwrap_or("");
            let depth = content.bytes().take_while(|byte| *byte == b' ').count();
            let trimmed = content.trim();
            let item = trimmed.starts_with("- ");
            let ends = self.peek().is_none()
                || (!trimmed.is_empty() && (depth < indent || (depth == indent && !item)));
            if ends {
                self.at = line;
                if let Some(fields) = fields {
                    self.taints.push(fields.taint()?);
                }
                return Some(());
            }
            self.at = start + depth;
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            if item {
                if let Some(fields) = fields.replace(Fields::default()) {
                    self.taints.push(fields.taint()?);
                }
                self.at += 2;
                self.skip(b" ");
            }
            if self.peek() == Some(b'{') {
                // `- {key: k, effect: E}`
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
    }

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
    fn json_jq_and_yaml_are_read_where_they_are_plain() {
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
    fn what_is_not_plain_is_said_and_not_guessed() {
        assert_eq!(read("registerWithTaints: $TAINTS"), ["unread registerWithTaints"]);
        assert_eq!(
            read("registerWithTaints: [{key: ${K}, effect: NoExecute}]"),
            ["unread registerWithTaints"]
        );
        assert_eq!(read("registerWithTaints: *anchor"), ["unread registerWithTaints"]);
        assert_eq!(read("# registerWithTaints: [{key: a, effect: b}]"), [""; 0]);
    }
}
