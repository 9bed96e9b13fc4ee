//! Values that a change writes: new text, and copies of other nodes with their comments.

use std::fmt::Write as _;

use super::append::in_block;
use super::lines::{dash_before, last_line_end, line_start, move_lines, written_end};
use super::spelling::spell;
use super::text_edit::TextEdit;
use crate::source::{Source, Span};
use crate::tree::{Node, Style};

/// A value that a change writes.
#[derive(Clone, Debug)]
pub enum Composed<'d> {
    /// A string.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A boolean.
    Bool(bool),
    /// A copy of a member of an object, or of an item of a list, with its comments.
    Copy(Node<'d>),
    /// The same as [`Composed::Copy`], with another string as the value of the member.
    CopyWith(Node<'d>, String),
    /// An object: its keys and values in order.
    Object(Vec<(String, Composed<'d>)>),
    /// A list.
    List(Vec<Composed<'d>>),
}

/// Columns from the key of a value to the keys and dashes within the value.
const INDENT: usize = 2;

/// Replaces the value of a member of an object.
pub(super) fn write(member: Node<'_>, source: &Source, value: &Composed<'_>) -> Option<TextEdit> {
    let parent = member.parent().filter(|parent| parent.is_mapping())?;
    if parent.style() == Style::Flow {
        let text = in_flow(value, is_json(member, source))?;
        return Some(TextEdit { span: member.span(), text });
    }
    let key = member.key_span();
    let column = key.start - line_start(source, key.start);
    let header = header(member, source)?;
    let end = if member.style() == Style::Block && !member.is_empty() {
        line_end(source, deep_end(member, source)?)
    } else {
        deep_end(member, source)?
    };
    let text = format!("{header}{}", in_block_at(value, column)?);
    Some(TextEdit { span: Span::new(key.end, end), text })
}

/// Adds a member after another member of the same object.
pub(super) fn add_after(
    member: Node<'_>,
    source: &Source,
    key: &str,
    value: &Composed<'_>,
) -> Option<TextEdit> {
    let parent = member.parent().filter(|parent| parent.is_mapping())?;
    if parent.style() == Style::Flow {
        let json = is_json(member, source);
        let name = spell(key, if json { Style::DoubleQuoted } else { Style::Plain });
        let end = written_end(member, source);
        let text = format!(", {name}: {}", in_flow(value, json)?);
        return Some(TextEdit { span: Span::new(end, end), text });
    }
    let start = member.key_span().start;
    let column = start - line_start(source, start);
    let end = line_end(source, deep_end(member, source)?);
    let text = member_in_block(key, value, column, true)?;
    Some(TextEdit { span: Span::new(end, end), text })
}

fn is_json(member: Node<'_>, source: &Source) -> bool {
    source.slice(member.key_span()).starts_with('"')
}

/// The text between the key and the lines of a value in block style, with a comment after the key; otherwise the colon.
/// `None` if the value has an anchor or a tag, which would be lost.
fn header<'s>(member: Node<'_>, source: &'s Source) -> Option<&'s str> {
    let key = member.key_span().end;
    let value = member.span();
    let between = source.slice(Span::new(key, value.start.max(key)));
    if between.split_once('#').map_or(between, |(before, _)| before).contains(['&', '!', '?']) {
        return None;
    }
    let is_below = member.style() == Style::Block && !member.is_empty();
    if !is_below {
        return Some(":");
    }
    Some(between.lines().next().unwrap_or(":").trim_end())
}

/// Renders a value after its key and colon, whose key is in a column.
fn in_block_at(value: &Composed<'_>, column: usize) -> Option<String> {
    match value {
        Composed::Text(text) => Some(format!(" {}", spell(text, Style::Plain))),
        Composed::Number(number) => Some(format!(" {number}")),
        Composed::Bool(value) => Some(format!(" {value}")),
        Composed::Object(members) if members.is_empty() => Some(" {}".to_owned()),
        Composed::Object(members) => {
            let mut text = String::new();
            for (key, value) in members {
                text.push_str(&member_in_block(key, value, column + INDENT, true)?);
            }
            Some(text)
        }
        Composed::List(items) if items.iter().all(is_scalar) => Some(format!(" {}", in_flow(value, false)?)),
        Composed::List(items) => {
            let mut text = String::new();
            for item in items {
                text.push_str(&item_in_block(item, column + INDENT)?);
            }
            Some(text)
        }
        Composed::Copy(member) => copied(*member, column, None),
        Composed::CopyWith(member, value) => copied(*member, column, Some(value)),
    }
}

/// Whether a value fits on one line. A list of such values is written in brackets.
fn is_scalar(value: &Composed<'_>) -> bool {
    matches!(value, Composed::Text(_) | Composed::Number(_) | Composed::Bool(_))
}

/// Renders a member on a new line, below the comments of the member that it copies.
fn member_in_block(key: &str, value: &Composed<'_>, column: usize, with_comments: bool) -> Option<String> {
    let pad = " ".repeat(column);
    let mut text = String::new();
    let copy = match value {
        // The comments of a copied item stay above the item.
        Composed::List(items) => {
            items.first().filter(|item| matches!(item, Composed::Object(_))).and_then(first_copy)
        }
        Composed::Copy(node) | Composed::CopyWith(node, _) => Some(*node),
        _ => None,
    };
    for comment in copy.filter(|_| with_comments).map(comments_above).unwrap_or_default() {
        let _ = write!(text, "\n{pad}{comment}");
    }
    let rest = in_block_at(value, column)?;
    let colon = if matches!(value, Composed::Copy(_) | Composed::CopyWith(..)) { "" } else { ":" };
    let _ = write!(text, "\n{pad}{}{colon}{rest}", spell(key, Style::Plain));
    Some(text)
}

/// Renders an item on a new line, with its dash in a column.
fn item_in_block(item: &Composed<'_>, column: usize) -> Option<String> {
    let pad = " ".repeat(column);
    match item {
        Composed::Object(members) if !members.is_empty() => {
            let mut text = String::new();
            for (at, (key, value)) in members.iter().enumerate() {
                // The comments of the first member are above the list.
                text.push_str(&member_in_block(key, value, column + INDENT, at > 0)?);
            }
            // The first member is on the line of the dash.
            let first = text.get(1 + column + INDENT..)?;
            Some(format!("\n{pad}- {first}"))
        }
        Composed::Copy(node) => {
            let mut text = String::new();
            for comment in comments_above(*node) {
                let _ = write!(text, "\n{pad}{comment}");
            }
            let copy = in_block(*node, node.source(), column + INDENT)?;
            let _ = write!(text, "\n{pad}- {copy}");
            Some(text)
        }
        Composed::CopyWith(..) => None,
        other => Some(format!("\n{pad}-{}", in_block_at(other, column)?)),
    }
}

/// The node that a value copies first.
fn first_copy<'d>(value: &Composed<'d>) -> Option<Node<'d>> {
    match value {
        Composed::Copy(node) | Composed::CopyWith(node, _) => Some(*node),
        Composed::Object(members) => members.first().and_then(|(_, value)| first_copy(value)),
        Composed::List(_) | Composed::Text(_) | Composed::Number(_) | Composed::Bool(_) => None,
    }
}

/// The text of a member after its key, with its comments, moved to a column. The value of a scalar is replaced by `instead`.
fn copied(member: Node<'_>, column: usize, instead: Option<&String>) -> Option<String> {
    let source = member.source();
    let key = member.key_span();
    if key.is_empty() || member.style() == Style::Alias || !member.is_verbatim() {
        return None;
    }
    if member.parent()?.style() == Style::Flow {
        let text = source.slice(member.span());
        return match instead {
            Some(value) => Some(format!(": {}", spell(value, Style::Plain))),
            None if text.is_empty() || text.contains('\n') => None,
            None => Some(format!(": {text}")),
        };
    }
    let end = line_end(source, deep_end(member, source)?);
    let whole = match instead {
        None => source.slice(Span::new(key.end, end)).to_owned(),
        Some(_) if matches!(member.style(), Style::Literal | Style::Folded | Style::Block) => return None,
        Some(_) if member.span().is_empty() => return None,
        Some(value) => {
            let before = source.slice(Span::new(key.end, member.span().start));
            let after = source.slice(Span::new(member.span().end, end));
            format!("{before}{}{after}", spell(value, member.style()))
        }
    };
    let from = key.start - line_start(source, key.start);
    move_lines(&whole, from, column)
}

/// The lines of comments directly above a member or an item in block style.
fn comments_above(node: Node<'_>) -> Vec<&str> {
    let source = node.source();
    let is_item = node.key_span().is_empty();
    let start = if is_item { dash_before(source, node.span().start) } else { Some(node.key_span().start) };
    let Some(start) = start else { return Vec::new() };
    let line = line_start(source, start);
    let lead = source.slice(Span::new(line, start));
    if !lead.trim().is_empty() {
        return Vec::new();
    }
    let above = source.slice(Span::new(0, line)).lines().rev();
    let mut comments: Vec<&str> = above.map(str::trim).take_while(|line| line.starts_with('#')).collect();
    comments.reverse();
    comments
}

/// The end of the last value within a node. `None` if that value is elsewhere in the text, behind a merge key.
fn deep_end(node: Node<'_>, source: &Source) -> Option<usize> {
    let last = node.children().last().filter(|_| node.style() == Style::Block);
    let end = match last {
        Some(last) => deep_end(last, source)?,
        None => last_line_end(source, written_end(node, source)),
    };
    (end >= node.span().start.max(node.key_span().end)).then_some(end)
}

/// The end of the line of a byte, without its line break.
fn line_end(source: &Source, byte: usize) -> usize {
    byte + source.after(byte).lines().next().map_or(0, str::len)
}

/// Renders a value in braces. `None` if a copy is in block style.
fn in_flow(value: &Composed<'_>, json: bool) -> Option<String> {
    let style = if json { Style::DoubleQuoted } else { Style::Plain };
    let all = |values: Option<Vec<String>>| values.map(|values| values.join(", "));
    match value {
        Composed::Text(text) | Composed::CopyWith(_, text) => Some(spell(text, style)),
        Composed::Number(number) => Some(number.to_string()),
        Composed::Bool(value) => Some(value.to_string()),
        Composed::Copy(node) => {
            let is_inline = matches!(
                node.style(),
                Style::Plain | Style::SingleQuoted | Style::DoubleQuoted | Style::Flow
            );
            let text = node.source().slice(node.span());
            // A plain string may end at a comma or bracket in braces.
            let is_safe = node.parent().is_some_and(|parent| parent.style() == Style::Flow);
            (is_inline && is_safe && !text.is_empty()).then(|| text.to_owned())
        }
        Composed::Object(members) => {
            let member = |(key, value): &(String, Composed<'_>)| {
                Some(format!("{}: {}", spell(key, style), in_flow(value, json)?))
            };
            all(members.iter().map(member).collect()).map(|members| format!("{{{members}}}"))
        }
        Composed::List(items) => {
            all(items.iter().map(|item| in_flow(item, json)).collect()).map(|items| format!("[{items}]"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Composed;
    use crate::edit::{Change, apply, rewrite};
    use crate::limits::Limits;
    use crate::tree::Node;
    use crate::{Document, File};

    /// Applies the changes, in the text and in JSON, and checks that both results agree.
    fn changed(text: &str, changes: fn(Node<'_>) -> Vec<Change<'_>>) -> String {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        let changes = changes(tree.root());
        let edits: Vec<_> = changes.iter().map(|change| change.edit().unwrap()).collect();
        let edited = apply(text, &edits);
        assert_eq!(as_json(&edited), as_json(&rewrite(tree.root(), changes.iter().collect())), "{edited}");
        edited
    }

    fn as_json(text: &str) -> serde_json::Value {
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        tree.root().to_json()
    }

    fn text(text: &str) -> Composed<'static> {
        Composed::Text(text.to_owned())
    }

    fn object<'d>(members: impl IntoIterator<Item = (&'static str, Composed<'d>)>) -> Composed<'d> {
        Composed::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    #[test]
    fn writes_list_in_place_of_scalar() {
        fn changes(root: Node<'_>) -> Vec<Change<'_>> {
            let family = Node::get(root, "amiFamily").unwrap();
            vec![
                Change::Rename(family, "terms".to_owned()),
                Change::Write(family, Composed::List(vec![object([("alias", text("al2@latest"))])])),
            ]
        }
        insta::assert_snapshot!(changed("amiFamily: AL2 # old\nrole: a\n", changes), @"
        terms:
          - alias: al2@latest # old
        role: a
        ");
        insta::assert_snapshot!(changed("{amiFamily: AL2, role: a}\n", changes), @"{terms: [{alias: al2@latest}], role: a}");
        insta::assert_snapshot!(changed(r#"{"amiFamily": "AL2"}"#, changes), @r#"{"terms": [{"alias": "al2@latest"}]}"#);
        assert_eq!(
            changed("amiFamily: AL2\r\nrole: a\r\n", changes),
            "terms:\r\n  - alias: al2@latest\r\nrole: a\r\n"
        );
    }

    const BEFORE: &str = "\
spec:
  # Only spot.
  requirements: # why
  - key: a # first
    values: [b]
    # second
  - key: c
  limits:
    resources:
      # half
      cpu: 100 # cores

      memory: |
        a
          b
  ttl: 30 # seconds
status: {}
";

    #[test]
    fn moves_members_with_their_comments() {
        fn changes(root: Node<'_>) -> Vec<Change<'_>> {
            let spec = Node::get(root, "spec").unwrap();
            let at = |path: &[&str]| Composed::Copy(spec.at_path(path).unwrap());
            let inner = object([("requirements", at(&["requirements"]))]);
            let after = Composed::CopyWith(spec.get("ttl").unwrap(), "30s".to_owned());
            let new = object([
                ("template", object([("spec", inner)])),
                ("disruption", object([("after", after), ("count", Composed::Number(2))])),
                ("limits", at(&["limits", "resources"])),
                ("none", Composed::List(Vec::new())),
            ]);
            vec![Change::Write(spec, new)]
        }
        insta::assert_snapshot!(changed(BEFORE, changes), @"
        spec:
          template:
            spec:
              # Only spot.
              requirements: # why
              - key: a # first
                values: [b]
                # second
              - key: c
          disruption:
            after: 30s # seconds
            count: 2
          limits:
            # half
            cpu: 100 # cores

            memory: |
              a
                b
          none: []
        status: {}
        ");
    }

    #[test]
    fn wraps_member_in_list() {
        fn changes(root: Node<'_>) -> Vec<Change<'_>> {
            let selector = Node::get(root, "selector").unwrap();
            let terms = Composed::List(vec![object([("tags", Composed::Copy(selector))])]);
            vec![Change::Rename(selector, "terms".to_owned()), Change::Write(selector, terms)]
        }
        insta::assert_snapshot!(changed("selector:\n  a/b: c # why\n  # d\n  e: f\nz: y\n", changes), @"
        terms:
          - tags:
              a/b: c # why
              # d
              e: f
        z: y
        ");
        insta::assert_snapshot!(changed("selector: {a: b}\nz: y\n", changes), @"
        terms:
          - tags: {a: b}
        z: y
        ");
    }

    #[test]
    fn adds_members_after_another_member() {
        fn changes(root: Node<'_>) -> Vec<Change<'_>> {
            let list = Node::get(root, "list").unwrap();
            let end = Node::get(root, "last").unwrap();
            vec![
                Change::AddAfter(end, "n".to_owned(), Composed::Number(2)),
                Change::AddAfter(
                    end,
                    "m".to_owned(),
                    object([("k", Composed::Copy(list.items().next().unwrap().get("a").unwrap()))]),
                ),
            ]
        }
        insta::assert_snapshot!(changed("list:\n- a: b # c\n  d: e\nlast:\n  x:\n    y: |\n      z\n# end\n", changes), @r#"
        list:
        - a: b # c
          d: e
        last:
          x:
            y: |
              z
        "n": 2
        m:
          k: b # c
        # end
        "#);
    }

    #[test]
    fn keeps_comments_of_copied_items() {
        fn changes(root: Node<'_>) -> Vec<Change<'_>> {
            let list = Node::get(root, "list").unwrap();
            let mut items: Vec<_> = list.items().map(Composed::Copy).collect();
            items.push(object([("key", text("new")), ("values", Composed::List(vec![text("true")]))]));
            vec![Change::Write(list, Composed::List(items))]
        }
        insta::assert_snapshot!(changed("list: # all\n# one\n- key: a\n  values: [b] # why\n# two\n- {key: c}\n", changes), @r#"
        list: # all
          # one
          - key: a
            values: [b] # why
          # two
          - {key: c}
          - key: new
            values: ["true"]
        "#);
    }

    #[test]
    fn keeps_blank_lines_of_copied_block_scalars() {
        fn changes(root: Node<'_>) -> Vec<Change<'_>> {
            let member = Node::get(root, "a").unwrap();
            vec![Change::Write(member, object([("copy", Composed::Copy(member))]))]
        }
        assert_eq!(
            changed("a: |\n  b\n\n  c\n    \nd: e\n", changes),
            "a:\n  copy: |\n    b\n\n    c\n      \nd: e\n"
        );
    }

    #[test]
    fn refuses_copies_that_would_lose_an_anchor() {
        for (before, key) in [("a: &x\n  b: c\nd: *x\n", "a"), ("b: &x {c: d}\na: *x\n", "a")] {
            let file = File::read("-", before, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{before}") };
            let node = tree.root().get(key).unwrap();
            assert_eq!(Change::Write(node, object([("k", Composed::Copy(node))])).edit(), None, "{before}");
        }
    }
}
