//! Places of rendered objects in their template.
//!
//! A value is at the line of the template that is equal to its line in the output, if only one is. Otherwise it is at the only line with
//! its key, or at the place of the value around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use manifest::source::{Source, Span};
use manifest::tree::{Assembly, Node, NodeId, NodePlace, Tree, Value};
use objects::embedded::READ_OPTIONS;

use super::first_line;

/// Maximum number of bytes of a line whose values have exact places.
const MAX_LINE: usize = 4_096;

/// The lines of a template.
pub(super) struct TemplateLines<'s> {
    /// The lines without their indentation that occur once, and the byte at which each starts; `None` for several.
    whole: BTreeMap<&'s str, Option<usize>>,
    /// The keys that occur once, and the line of each; `None` for several.
    keys: BTreeMap<&'s str, Option<Span>>,
}

impl<'s> TemplateLines<'s> {
    pub(super) fn of(text: &'s str) -> Self {
        let mut lines = Self { whole: BTreeMap::new(), keys: BTreeMap::new() };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let words = line.trim();
            let start = at + line.len() - line.trim_start().len();
            lines.whole.entry(words).and_modify(|known| *known = None).or_insert(Some(start));
            if let Some(key) = key_of(words) {
                let span = Span::new(start, start + words.len());
                lines.keys.entry(key).and_modify(|known| *known = None).or_insert(Some(span));
            }
            at += line.len();
        }
        lines
    }
}

/// The key of a line, such as `name` of `- name: {{ .Values.name }}`.
fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("- ").trim_start();
    let (key, rest) = line.split_once(':')?;
    let is_key = !key.is_empty() && !key.contains([' ', '{', '}', '#']);
    (is_key && (rest.is_empty() || rest.starts_with(' '))).then_some(key.trim_matches(['"', '\'']))
}

/// The tree with the places of the template. `None` if it would be too large.
pub(super) fn placed(
    tree: &Tree,
    template: &Arc<Source>,
    lines: &TemplateLines<'_>,
    limit: usize,
) -> Option<Tree> {
    let mut assembly = Assembly::of_text(template, &READ_OPTIONS, limit);
    let mut copy = Copy { lines, template, assembly: &mut assembly };
    copy.node(tree.root(), None, first_line(template))?;
    Some(assembly.finish())
}

struct Copy<'c> {
    lines: &'c TemplateLines<'c>,
    template: &'c Arc<Source>,
    assembly: &'c mut Assembly,
}

impl Copy<'_> {
    /// Copies a node; `around` is the place of the node around it.
    fn node(&mut self, node: Node<'_>, parent: Option<NodeId>, around: Span) -> Option<()> {
        let is_member = node.parent().is_some_and(Node::is_mapping);
        let is_scalar = !matches!(node.value(), Value::Mapping | Value::Sequence);
        let exact = |span: Span| self.exact(node.source(), span);
        let key = exact(node.key_span()).filter(|_| is_member);
        let by_key = || self.lines.keys.get(node.key()).copied().flatten().filter(|_| is_member);
        let own = if is_scalar { exact(node.span()) } else { key };
        let value = own.or_else(by_key).unwrap_or(around);
        let spelling = node.spelling();
        let is_exact = is_scalar && own.is_some_and(|span| self.template.slice(span) == spelling);
        let place = NodePlace {
            source: self.template,
            key: key.or_else(by_key).filter(|_| is_member).unwrap_or_default(),
            value,
            style: node.style(),
            derived: (is_scalar && !is_exact).then_some(spelling),
        };
        let id = self.assembly.place(parent, is_member.then(|| node.key()), node.value(), &place)?;
        for child in node.children() {
            self.node(child, Some(id), value)?;
        }
        self.assembly.complete(id);
        Some(())
    }

    /// The place of some bytes of the output on the equal line of the template, if only one line is equal.
    fn exact(&self, output: &Source, span: Span) -> Option<Span> {
        let (start, line) = line_around(output.text(), span.start)?;
        let indent = line.len() - line.trim_start().len();
        let in_line = span.start.checked_sub(start + indent)?;
        let is_within = !span.is_empty() && span.end <= start + line.len();
        let at = self.lines.whole.get(line.trim()).copied().flatten().filter(|_| is_within)?;
        Some(Span::new(at + in_line, at + in_line + span.len()))
    }
}

/// The line around a byte, and the byte at which the line starts. `None` if the line is long: looking for the line of each of its values would
/// take too much time.
fn line_around(text: &str, at: usize) -> Option<(usize, &str)> {
    let bytes = text.as_bytes();
    let first = at.saturating_sub(MAX_LINE);
    let before = bytes.get(first..at)?.iter().rposition(|byte| *byte == b'\n');
    let start = match before {
        Some(index) => first + index + 1,
        None if first == 0 => 0,
        None => return None,
    };
    let last = bytes.len().min(at + MAX_LINE);
    let after = bytes.get(at..last)?.iter().position(|byte| *byte == b'\n');
    let end = match after {
        Some(index) => at + index,
        None if last == bytes.len() => last,
        None => return None,
    };
    Some((start, text.get(start..end)?.trim_end_matches('\r')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::{Document, File};

    #[test]
    fn finds_the_line_around_a_byte_unless_it_is_long() {
        assert_eq!(line_around("a\nbc\nd", 3), Some((2, "bc")));
        assert_eq!(line_around("abc", 0), Some((0, "abc")));
        let long = "x".repeat(3 * MAX_LINE);
        assert_eq!(line_around(&long, 10), None);
        assert_eq!(line_around(&long, 2 * MAX_LINE), None);
    }

    #[test]
    fn places_values_at_equal_lines_or_at_their_key() {
        let template = "{{- range .Values.pools }}\nspec:\n    role: a # why\n    name: {{ .name }}\n    list:\n    - {{ .b }}\n    x: 1\n{{- end }}\nx: 1\n";
        let output = "spec:\n  role: a # why\n  name: pool\n  list:\n  - b\n  x: 1\n";
        let file = File::read("a.yaml", output, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
        let source = Arc::new(Source::new("t.yaml", template));
        let tree = placed(tree, &source, &TemplateLines::of(source.text()), 1000).unwrap();
        let at = |path: &[&str]| {
            let node = tree.root().at_path(path).unwrap();
            (source.position(node.span().start).line, source.slice(node.span()), node.is_derived())
        };
        assert_eq!(at(&["spec", "role"]), (3, "a", false));
        assert_eq!(at(&["spec", "name"]), (4, "name: {{ .name }}", true));
        assert_eq!(at(&["spec", "list"]), (5, "list", false));
        // Two lines have the key.
        assert_eq!(at(&["spec", "x"]), (2, "spec", true));
        let item = tree.root().at_path(&["spec", "list"]).and_then(|list| list.items().next()).unwrap();
        assert_eq!((item.as_str(), source.slice(item.span())), (Some("b"), "list"));
        assert_eq!(
            tree.root().to_json(),
            serde_json::json!({"spec": {"role": "a", "name": "pool", "list": ["b"], "x": 1}})
        );
    }
}
