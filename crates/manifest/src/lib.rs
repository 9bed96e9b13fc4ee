//! Text → documents with positions. Knows YAML and JSON, and nothing of Karpenter.
//!
//! A text is cut at its `---` lines and every piece is read on its own, so that a mistake in one document costs no other.

pub mod edit;
pub mod json;
pub mod limits;
pub mod scalar;
pub mod source;
mod text;
pub mod tree;
pub mod yaml;

use std::sync::Arc;

use limits::{Exceeded, Limits};
use source::{Source, Span};
use tree::Tree;

/// A text and the documents in it, in order.
#[derive(Debug)]
pub struct File {
    /// The text.
    pub source: Arc<Source>,
    /// Its documents; an empty one between two separators is none.
    pub documents: Vec<Document>,
    /// What it is known to hold, whatever it looks like.
    pub role: Role,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Role {
    /// Whatever its documents say.
    #[default]
    Unknown,
    /// The values of a chart.
    Values,
    /// Parts of objects, which are whole only where they are applied.
    Patch,
}

/// One document of a file.
#[derive(Debug)]
pub enum Document {
    /// It was read.
    Read(Tree),
    /// It is the text of a template, which has to be rendered first; the span of its first mark.
    Template(Span),
    /// It could not be read.
    Unreadable {
        /// The byte at which reading stopped.
        at: usize,
        /// Why.
        message: String,
    },
}

/// A stretch of a text that is a document, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it stands.
    pub span: Span,
    /// It is JSON; otherwise YAML.
    pub is_json: bool,
}

/// What a text is written in, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// JSON values one after another.
    Json,
    /// A JSON value a line.
    JsonLines,
    /// YAML, unless it starts like JSON.
    Yaml,
}

impl Language {
    fn of(name: &str) -> Self {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if extension.eq_ignore_ascii_case("json") {
            Self::Json
        } else if extension.eq_ignore_ascii_case("jsonl") || extension.eq_ignore_ascii_case("ndjson") {
            Self::JsonLines
        } else {
            Self::Yaml
        }
    }
}

impl File {
    /// Reads bytes under a name, which tells the language where it ends in `.json` or `.jsonl`.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>, limits: &Limits) -> Self {
        let name = name.into();
        if bytes.len() > limits.file_bytes {
            return Self::refused(name, Exceeded::FileBytes(limits.file_bytes).to_string());
        }
        if bytes.contains(&0) {
            return Self::refused(name, "a binary file, not read".to_owned());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self::read(name, text, limits),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text =
                    String::from_utf8_lossy(error.as_bytes().get(..at).unwrap_or_default()).into_owned();
                let source = Arc::new(Source::new(name, text));
                let message = "not UTF-8 from here on; save the file as UTF-8".to_owned();
                Self::of(source, vec![Document::Unreadable { at, message }])
            }
        }
    }

    /// A file that could not be read at all, with the reason.
    pub fn unreadable(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::refused(name.into(), message.into())
    }

    fn refused(name: String, message: String) -> Self {
        let source = Arc::new(Source::new(name, ""));
        Self::of(source, vec![Document::Unreadable { at: 0, message }])
    }

    fn of(source: Arc<Source>, documents: Vec<Document>) -> Self {
        Self { source, documents, role: Role::Unknown }
    }

    /// Reads a text under a name, which tells the language where it ends in `.json` or `.jsonl`.
    pub fn read(name: impl Into<String>, text: impl Into<String>, limits: &Limits) -> Self {
        let name = name.into();
        Self::read_as(Language::of(&name), name, text.into(), limits)
    }

    /// Reads a text that is YAML, unless it starts like JSON, whatever it is called.
    pub fn read_yaml(name: &str, text: &str, limits: &Limits) -> Self {
        Self::read_as(Language::Yaml, name.to_owned(), text.to_owned(), limits)
    }

    fn read_as(language: Language, name: String, text: String, limits: &Limits) -> Self {
        if text.len() > limits.file_bytes {
            return Self::refused(name, Exceeded::FileBytes(limits.file_bytes).to_string());
        }
        // Editors do not count a byte order mark.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let source = Arc::new(Source::new(name, text));
        let documents = match language {
            Language::Json => json_values(&source, Span::new(0, source.text().len()), limits),
            Language::JsonLines => json_lines(&source, limits),
            Language::Yaml => yaml_or_json(&source, Span::new(0, source.text().len()), limits),
        };
        let mut file = Self::of(source, documents);
        file.bound(limits.documents);
        file
    }

    /// Reads some parts of a text, the rest of which is something else.
    pub fn of_parts(
        name: impl Into<String>,
        text: impl Into<String>,
        parts: &[Part],
        limits: &Limits,
    ) -> Self {
        let source = Arc::new(Source::new(name, text));
        let mut documents = Vec::new();
        for part in parts {
            if documents.len() > limits.documents {
                break;
            }
            let read = if part.is_json { json_values } else { yaml_or_json };
            documents.extend(read(&source, part.span, limits));
        }
        let mut file = Self::of(source, documents);
        file.bound(limits.documents);
        file
    }

    fn bound(&mut self, limit: usize) {
        if self.documents.len() > limit {
            let at = self.documents.get(limit).map(Document::start).unwrap_or_default();
            self.documents.truncate(limit);
            let message = Exceeded::Documents(limit).to_string();
            self.documents.push(Document::Unreadable { at, message });
        }
    }
}

impl Document {
    /// The byte at which the document starts, or at which reading it stopped.
    pub fn start(&self) -> usize {
        match self {
            Self::Read(tree) => tree.root().span().start,
            Self::Template(span) => span.start,
            Self::Unreadable { at, .. } => *at,
        }
    }
}

/// JSON values one after another; after a mistake there is no telling where the next one starts.
fn json_values(source: &Arc<Source>, within: Span, limits: &Limits) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut rest = within;
    while documents.len() <= limits.documents {
        match json::read(source, rest, limits) {
            Ok(None) => break,
            Ok(Some((tree, end))) => {
                documents.push(Document::Read(tree));
                rest.start = end;
            }
            Err(error) => {
                documents.push(Document::Unreadable { at: error.at, message: error.problem.to_string() });
                break;
            }
        }
    }
    documents
}

/// JSON values a line; a line that cannot be read costs no other.
fn json_lines(source: &Arc<Source>, limits: &Limits) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        if documents.len() > limits.documents {
            break;
        }
        documents.extend(json_values(source, Span::new(start, start + line.len()), limits));
        start += line.len();
    }
    documents
}

/// The Kubernetes tools read a stream that starts with `{` as JSON, and as YAML where it turns out not to be.
fn yaml_or_json(source: &Arc<Source>, within: Span, limits: &Limits) -> Vec<Document> {
    if source.slice(within).trim_start().starts_with('{') {
        let documents = json_values(source, within, limits);
        if documents.iter().all(|document| matches!(document, Document::Read(_))) {
            return documents;
        }
    }
    let mut documents = Vec::new();
    for piece in pieces(source.slice(within)) {
        let piece = Span::new(within.start + piece.start, within.start + piece.end);
        if documents.len() > limits.documents {
            break;
        }
        for read in yaml::read(source, piece, limits) {
            documents.push(match read {
                Ok(tree) => Document::Read(tree),
                Err(error) => refusal(source, piece, &error),
            });
        }
    }
    documents
}

fn refusal(source: &Source, piece: Span, error: &yaml::YamlError) -> Document {
    if matches!(error.problem, yaml::YamlProblem::Template | yaml::YamlProblem::Syntax(_))
        && let Some(mark) = template_mark(source.slice(piece))
    {
        let start = piece.start + mark;
        return Document::Template(Span::new(start, start + 2));
    }
    Document::Unreadable { at: error.at, message: error.problem.to_string() }
}

/// Where the first `{{` stands that is in no comment.
fn template_mark(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = if line.trim_start().starts_with('#') { "" } else { line };
        let code = code.split(" #").next().unwrap_or_default();
        if let Some(at) = code.find("{{") {
            return Some(start + at);
        }
        start += line.len();
    }
    None
}

/// The parts of a text between its `---` lines, each from its own `---` on; parts without content are left out.
///
/// A line that starts with `---` and white space ends a document wherever it stands, even within a block scalar.
fn pieces(text: &str) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut content = false;
    // Lines such as `%YAML 1.2` belong to the document whose `---` follows.
    let mut directives = true;
    for line in text.split_inclusive('\n') {
        let separator = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if separator {
            if content {
                pieces.push(Span::new(start, at));
                start = at;
            } else if !directives {
                start = at;
            }
            content = false;
            directives = false;
        }
        let body = if separator { line.get(3..).unwrap_or_default() } else { line }.trim();
        let directive = directives && line.starts_with('%');
        let ends = body == "..." || line.starts_with("... ");
        content |= !(body.is_empty() || body.starts_with('#') || directive || ends);
        at += line.len();
    }
    if content {
        pieces.push(Span::new(start, at));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::tree::Node;
    use super::*;
    use insta::assert_snapshot;
    use proptest::prelude::*;

    /// One line a document: its value as JSON, or why it could not be read.
    fn read(name: &str, text: &str) -> String {
        let file = File::read(name, text, &Limits::DEFAULT);
        let lines = file.documents.iter().map(|document| match document {
            Document::Read(tree) => tree.root().to_json().to_string(),
            Document::Template(span) => format!("line {}: template", file.source.position(span.start).line),
            Document::Unreadable { at, message } => {
                let position = file.source.position(*at);
                format!("{}:{}: {message}", position.line, position.column)
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_mistake_in_one_document_costs_no_other() {
        assert_snapshot!(read("-", "---\na: 1\n---\nb: [1\n---\n# nothing\n---\nc: 3\n...\n"), @r#"
        {"a":1}
        4:4: not valid YAML: this `[` is never closed
        {"c":3}
        "#);
    }

    #[test]
    fn directives_belong_to_the_document_that_follows() {
        assert_snapshot!(read("-", "%YAML 1.1\n---\na: on\n"), @r#"{"a":true}"#);
    }

    #[test]
    fn a_template_is_said_to_be_one() {
        let text = "a: {{ .Values.x }}\n---\n{{- if .Values.y }}\nb: 1\n{{- end }}\n---\nc: '{{ kept }}'\n---\nd: [ # {{\n";
        assert_snapshot!(read("-", text), @r#"
        line 1: template
        line 3: template
        {"c":"{{ kept }}"}
        9:4: not valid YAML: this `[` is never closed
        "#);
    }

    #[test]
    fn merge_keys_and_aliases_are_copies_and_later_keys_win() {
        let text = "base: &base {a: 1, b: 2}\nleft: &left {b: 3, c: 4}\none: {<<: *base, b: 9}\ntwo: {b: 9, <<: *base}\n\
                    both:\n  <<: [*base, *left]\nsame: *base\n? on\n: key\n";
        assert_snapshot!(read("-", text), @r#"{"base":{"a":1,"b":2},"both":{"a":1,"b":2,"c":4},"left":{"b":3,"c":4},"one":{"a":1,"b":9},"same":{"a":1,"b":2},"true":"key","two":{"a":1,"b":2}}"#);
    }

    #[test]
    fn merging_what_is_no_mapping_is_refused() {
        assert_snapshot!(read("-", "a: &a 1\nb:\n  <<: *a\n---\nc: &c\n  d: *c\n---\n[a]: b\n---\n~: b\n---\nx: .inf"), @"
        3:7: not valid here: `<<` takes a mapping or a list of mappings
        6:6: not valid here: the value of this anchor contains itself
        8:1: not valid here: a key must be text, this one is a list or an object
        10:1: not valid here: a key is missing before `:`
        12:4: not valid here: an infinite number cannot be sent to the API server
        ");
    }

    #[test]
    fn equal_keys_are_known_unless_a_merge_brought_one() {
        let file = File::read("-", "a: 1\nb: 2\na: 3\nm: &m {x: 1}\nn: {<<: *m, x: 2}\n", &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
        let pairs: Vec<_> = tree
            .duplicate_ids()
            .iter()
            .map(|(one, two)| (tree.node(*one), tree.node(*two)))
            .map(|(one, two)| (one.key(), one.spelling(), two.spelling()))
            .collect();
        assert_eq!(pairs, [("a", "1", "3")]);
    }

    #[test]
    fn spans_end_with_the_last_word_of_a_value() {
        let text = "a:\n  b: [1, 2]\n  c: |\n    text\n\n# comment\n\nd: e # f\n";
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!() };
        let spelling = |path: &[&str]| tree.root().at_path(path).unwrap().spelling();
        assert_eq!(spelling(&["a", "b"]), "[1, 2]");
        assert_eq!(spelling(&["d"]), "e");
        assert!(spelling(&["a"]).starts_with("b: [1, 2]") && spelling(&["a"]).trim_end().ends_with("text"));
    }

    #[test]
    fn json_is_taken_for_json_where_it_is() {
        assert_snapshot!(read("a.json", "{\"a\": 1.0}\n{\"b\": 1}"), @r#"
        {"a":1.0}
        {"b":1}
        "#);
        assert_snapshot!(read("a.jsonl", "{\"a\": 1}\n{\"b\"\n{\"c\": 1}\n"), @r#"
        {"a":1}
        3:1: not valid JSON: the text ends within a value
        {"c":1}
        "#);
        assert_snapshot!(read("-", "{a: 1.0, b: yes}"), @r#"{"a":1,"b":true}"#);
        assert_snapshot!(read("-", "\u{feff}{\"a\": 1.0}"), @r#"{"a":1.0}"#);
    }

    #[test]
    fn every_bound_has_its_own_message() {
        let tight = Limits { file_bytes: 200, documents: 2, depth: 3, nodes: 5 };
        let message = |text: &str| match File::read("-", text, &tight).documents.pop() {
            Some(Document::Unreadable { message, .. }) => message,
            other => format!("{other:?}"),
        };
        assert!(message(&"a: b\n".repeat(99)).contains("--max-file-bytes"));
        assert!(message("a: 1\n---\nb: 1\n---\nc: 1\n").contains("--max-documents"));
        assert!(message("[[[[1]]]]").contains("--max-depth"));
        assert!(message("- - - - 1").contains("--max-depth"));
        assert!(message("a: {b: {c: {d: 1}}}").contains("--max-depth"));
        assert!(message("[1,2,3,4,5,6]").contains("--max-nodes"));
        assert!(message("a: &a [1,2]\nb: *a\nc: *a").contains("--max-nodes"));
    }

    #[test]
    fn a_document_in_a_string_stands_below_it() {
        let values = |text: &str| {
            let file = File::read("-", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { return "unread".to_owned() };
            let string = tree.root().at_path(&["spec", "source", "helm", "values"]).unwrap();
            let inner = string.embedded().map(|inner| inner.to_json().to_string());
            let places = string
                .embedded()
                .into_iter()
                .flat_map(Node::members)
                .map(|(key, node)| format!(" {key}={}", file.source.slice(node.span())));
            inner.unwrap_or_default() + &places.collect::<String>()
        };
        let text = |values: &str| {
            format!("spec:\n  source:\n    helm:\n      values: {values}\n  after: &a {{b: c}}\n")
        };
        assert_snapshot!(values(&text("|\n        a: &x 1 # one\n        b: *x")), @r#"{"a":1,"b":1} a=1 b=*x"#);
        assert_snapshot!(values(&text("|2-\n\n          a: é\n")), @r#"{"a":"é"} a=é"#);
        assert_snapshot!(values(&text("\"a: 1\\nb: [x]\"")), @r#"{"a":1,"b":["x"]} a="a: 1\nb: [x]" b="a: 1\nb: [x]""#);
        let json =
            |values: &str| format!(r#"{{"spec": {{"source": {{"helm": {{"values": {values}, "x": 1}}}}}}}}"#);
        assert_snapshot!(values(&json(r#""a: 1\nb: [é]\n""#)), @r#"{"a":1,"b":["é"]} a="a: 1\nb: [é]\n" b="a: 1\nb: [é]\n""#);
        assert_snapshot!(values(&json(r#""{\"a\": 1}""#)), @r#"{"a":1} a="{\"a\": 1}""#);
        for plain in [r#""a: [""#, r#""a: {{ b }}: c""#, r#""""#, "1", "{}"] {
            assert_eq!(values(&json(plain)), "", "{plain}");
        }
        // What is no document of its own, or holds another, is text.
        for plain in ["plain", "|\n        a: [", "|\n        a: {{ b }}: c", "''", "|\n        *a"] {
            assert_eq!(values(&text(plain)), "", "{plain}");
        }
        let comments = |values: &str| {
            let file = File::read("-", text(values), &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{values}") };
            tree.comments().len()
        };
        assert_eq!(
            comments("| # karpwarden: one\n        a: b # karpwarden: two\n        # karpwarden: three"),
            3
        );
        assert_eq!(comments("| # karpwarden: one\n        a: b # karpwarden: two\n        c: ["), 1);
        let twice = text("|\n        source:\n          helm:\n            values: |\n              a: b");
        assert_snapshot!(values(&twice), @r#"
        {"source":{"helm":{"values":"a: b\n"}}} source=helm:
                    values: |
                      a: b
        "#);
        let tight = Limits { nodes: 8, ..Limits::DEFAULT };
        let file = File::read("-", text("|\n        [1, 2, 3, 4, 5, 6, 7, 8]"), &tight);
        assert!(matches!(file.documents.first(), Some(Document::Read(_))));
    }

    #[test]
    fn deep_nesting_and_alias_bombs_end_with_a_message() {
        for text in ["[".repeat(10_000), "- ".repeat(10_000), "{a: ".repeat(10_000), "{\"a\":".repeat(10_000)]
        {
            assert!(read("-", &text).contains("--max-depth"), "{}", read("-", &text));
        }
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let items = vec![format!("*a{}", level - 1); 10].join(", ");
            let _ = writeln!(bomb, "a{level}: &a{level} [{items}]");
        }
        assert!(read("-", &bomb).contains("--max-nodes"));
    }

    #[test]
    fn bytes_that_are_no_text_are_said_to_be_none() {
        let message =
            |bytes: &[u8]| match File::from_bytes("-", bytes.to_vec(), &Limits::DEFAULT).documents.pop() {
                Some(Document::Unreadable { at, message }) => format!("{at}: {message}"),
                other => format!("{other:?}"),
            };
        assert_eq!(message(b"\x7fELF\0\0"), "0: a binary file, not read");
        assert_eq!(message(b"a: \xff"), "3: not UTF-8 from here on; save the file as UTF-8");
    }

    proptest! {
        #[test]
        fn json_reads_alike_as_yaml(text in "[a-z0-9 .]{0,8}", number in any::<i64>(), truth in any::<bool>()) {
            let value = serde_json::json!({"s": text, "n": [number, truth, null], "o": {"k": {}}});
            prop_assert_eq!(read("a.yaml", &value.to_string()), read("a.json", &value.to_string()));
            prop_assert_eq!(read("-", &format!("# yaml\n{value}")), read("a.json", &value.to_string()));
        }

        #[test]
        fn never_panics(text in any::<String>(), lines in "([ a:\\-|>&*<{}\\[\\]'\"#!%\n\t\\\\]|---\n){0,60}") {
            read("-", &text);
            read("-", &lines);
            let block = lines.replace('\n', "\n      ");
            read("-", &format!("source:\n  helm:\n    values: |\n      {block}\n"));
            read("-", &format!("source: {{helm: {{values: {}}}}}\n", serde_json::Value::String(lines)));
        }
    }
}
