//! Configurations in JSON, as expressions of HCL: objects, lists and strings with templates, byte for byte where the JSON has them.
//!
//! Reference: hashicorp/hcl `json/spec.md` and `json/structure.go`; "JSON Configuration Syntax" in the documentation of the Terraform
//! language.

use std::collections::BTreeSet;
use std::sync::Arc;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Object, ObjectKey};
use manifest::json;
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::tree::Node;

use super::{BodySyntax, Declaration, Located, SyntaxProblem};
use crate::place::{TextNumber, TextPlace};

/// Key of a comment in a body.
pub(crate) const COMMENT: &str = "//";

/// Blocks with labels, and the number of the labels. Another block has none.
///
/// Source: hashicorp/terraform `internal/configs/parser_config.go`, `configFileSchema`.
const LABELS: [(&str, usize); 8] = [
    ("check", 1),
    ("data", 2),
    ("ephemeral", 2),
    ("module", 1),
    ("output", 1),
    ("provider", 1),
    ("resource", 2),
    ("variable", 1),
];

/// The blocks of a file.
pub(super) fn declarations(
    source: &Arc<Source>,
    text: TextNumber,
) -> Result<Vec<Declaration>, SyntaxProblem> {
    let problem = |at: usize, reason: &str| SyntaxProblem {
        place: TextPlace::new(text, Span::new(at, at)),
        message: format!("The file is {reason}"),
    };
    let content = source.text();
    let tree = json::read(source, Span::whole(content), &Limits::DEFAULT)
        .map_err(|error| problem(error.at, &error.problem.to_string()))?;
    let Some((tree, end)) = tree else { return Ok(Vec::new()) };
    if let Some(rest) = content.get(end..).filter(|rest| !rest.trim_ascii().is_empty()) {
        return Err(problem(
            content.len() - rest.trim_ascii_start().len(),
            "not valid JSON: it has more than one value",
        ));
    }
    if let Some(at) = ["\\u0024", "\\u0025"].iter().find_map(|escape| content.find(escape)) {
        return Err(problem(at, "not evaluated: an escape of `$` or `%` may start a template"));
    }
    let words = Words::of(tree.root());
    let mut native = Rewriter::new(content, &words).rewrite();
    // Spaces around an expression are for parentheses only.
    if native.starts_with(' ') {
        native.replace_range(..1, "(");
        native.push(')');
    }
    let expression = native.trim_end().parse::<Expression>().map_err(|error| {
        let at = content.floor_char_boundary(error.location().offset());
        problem(at, &format!("not valid: {}", error.message()))
    })?;
    let expression = match expression {
        Expression::Parenthesis(inner) => inner.into_inner(),
        other => other,
    };
    let mut file = FileBlocks { source, text, words: &words, blocks: Vec::new() };
    for (kind, _, value) in members(expression) {
        file.add(kind.clone(), label_count(&kind), Vec::new(), Span::default(), value);
    }
    Ok(file.blocks)
}

fn label_count(kind: &str) -> usize {
    LABELS.iter().find(|(known, _)| *known == kind).map_or(0, |(_, count)| *count)
}

/// Strings that are no templates.
///
/// Source: "JSON Configuration Syntax" in the documentation of the Terraform language, "Block-type-specific Exceptions".
#[derive(Default)]
struct Words {
    /// The starts of the types of variables, which are expressions.
    types: BTreeSet<usize>,
    /// The starts of the strings with a `${` or `%{` that starts no template.
    literals: BTreeSet<usize>,
    /// The starts of the defaults of variables that have such strings.
    defaults: BTreeSet<usize>,
}

impl Words {
    fn of(root: Node<'_>) -> Self {
        let mut words = Self::default();
        for file in objects(root) {
            let bodies = |kind: &str| {
                let labels = file.get(kind).into_iter().flat_map(objects);
                labels.flat_map(Node::children).flat_map(objects)
            };
            for body in bodies("variable") {
                let of = body.get("type").filter(|of| of.as_str().is_some());
                words.types.extend(of.map(|of| of.span().start));
                if let Some(default) = body.get("default") {
                    let before = words.literals.len();
                    words.add_literals(default);
                    words.defaults.extend((words.literals.len() > before).then_some(default.span().start));
                }
            }
            let described = bodies("variable").chain(bodies("output"));
            described.filter_map(|body| body.get("description")).for_each(|text| words.add_literals(text));
            file.get("terraform").into_iter().for_each(|settings| words.add_literals(settings));
        }
        words
    }

    fn add_literals(&mut self, node: Node<'_>) {
        let text = node.source().slice(node.span());
        if text.contains("${") || text.contains("%{") {
            self.literals.extend(node.as_str().map(|_| node.span().start));
            node.children().for_each(|child| self.add_literals(child));
        }
    }
}

/// An object, or the objects of a list.
fn objects(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let items = node.children().filter(move |_| node.is_sequence());
    core::iter::once(node).chain(items).filter(|node| node.is_mapping())
}

/// The blocks of a file so far.
struct FileBlocks<'f> {
    source: &'f Arc<Source>,
    text: TextNumber,
    words: &'f Words,
    blocks: Vec<Declaration>,
}

impl FileBlocks<'_> {
    /// Adds the blocks in a value: one for each object behind the labels.
    fn add(&mut self, kind: String, labels_left: usize, labels: Vec<String>, key: Span, value: Expression) {
        if labels_left > 0 {
            for (label, key, value) in members(value) {
                let labels = [labels.as_slice(), &[label]].concat();
                self.add(kind.clone(), labels_left - 1, labels, key, value);
            }
            return;
        }
        match value {
            Expression::Object(mut object) => {
                let span = object.span().map_or(key, |span| Span::new(span.start, span.end));
                let header = if key.is_empty() { Span::new(span.start, span.start) } else { key };
                let is_literal = |(_, value): &(&ObjectKey, &hcl_edit::expr::ObjectValue)| {
                    value.expr().span().is_some_and(|span| self.words.defaults.contains(&span.start))
                };
                let literal = object.iter().find(is_literal).filter(|_| kind == "variable");
                if let Some(key) = literal.map(|(key, _)| key.clone()) {
                    object.remove(&key);
                }
                let body = Located {
                    text: self.text,
                    source: Arc::clone(self.source),
                    node: BodySyntax::Json(object),
                };
                self.blocks.push(Declaration {
                    kind,
                    labels,
                    header: TextPlace::new(self.text, header),
                    whole: TextPlace::new(self.text, header.to(span)),
                    parts: vec![body],
                });
            }
            Expression::Array(items) => {
                for item in items {
                    if item.is_object() {
                        self.add(kind.clone(), 0, labels.clone(), key, item);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The members of an object, or of the objects of a list, with the places of their keys. Comments are left out.
fn members(value: Expression) -> Vec<(String, Span, Expression)> {
    match value {
        Expression::Object(object) => {
            let member = |(key, value): (ObjectKey, hcl_edit::expr::ObjectValue)| {
                let name = name_of(&key).filter(|name| *name != COMMENT)?.to_owned();
                let span = key.span().map_or(Span::default(), |span| Span::new(span.start, span.end));
                Some((name, span, value.into_expr()))
            };
            object.into_iter().filter_map(member).collect()
        }
        Expression::Array(items) => {
            items.into_iter().filter(Expression::is_object).flat_map(members).collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a member, if it is a word.
pub(crate) fn name_of(key: &ObjectKey) -> Option<&str> {
    key.as_expr()?.as_str()
}

/// The value of a member.
pub(super) fn member<'o>(object: &'o Object, name: &str) -> Option<&'o Expression> {
    object.iter().find(|(key, _)| name_of(key) == Some(name)).map(|(_, value)| value.expr())
}

/// Part of a JSON text to which a byte belongs.
enum Within {
    /// A string: literals, and templates.
    Template,
    /// A string without templates.
    Literal,
    /// An expression, with the number of its open braces.
    Code(usize),
    /// A string in an expression.
    Inner,
}

/// Writes a JSON text as an expression of HCL. Each value stays at its bytes; only the parser sees the text, and the literals of strings are
/// read from the JSON.
struct Rewriter<'t> {
    bytes: &'t [u8],
    words: &'t Words,
    written: Vec<u8>,
    within: Vec<Within>,
    at: usize,
}

impl<'t> Rewriter<'t> {
    fn new(text: &'t str, words: &'t Words) -> Self {
        Self {
            bytes: text.as_bytes(),
            words,
            written: Vec::with_capacity(text.len()),
            within: Vec::new(),
            at: 0,
        }
    }

    fn rewrite(mut self) -> String {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            match self.within.last() {
                None => self.structure(byte),
                Some(Within::Template | Within::Literal | Within::Inner) => self.string(byte),
                Some(Within::Code(braces)) => self.code(byte, *braces),
            }
        }
        String::from_utf8(self.written).unwrap_or_default()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Writes some bytes in the place of as many.
    fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Keeps some bytes.
    fn keep(&mut self, count: usize) {
        let kept = self.bytes.get(self.at..self.bytes.len().min(self.at + count)).unwrap_or_default();
        self.write(kept);
    }

    /// The length of the character at a byte of a string: an escape, or a byte.
    fn length(&self, at: usize) -> usize {
        match (self.bytes.get(at), self.bytes.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), Some(_)) => 2,
            _ => 1,
        }
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' if self.words.types.contains(&self.at) => {
                self.within.push(Within::Code(1));
                self.write(b" ");
            }
            b'"' => {
                let is_literal = self.words.literals.contains(&self.at);
                self.within.push(if is_literal { Within::Literal } else { Within::Template });
                self.keep(1);
            }
            // A line break ends a member of an object of HCL.
            b'\n' | b'\r' | b'\t' => self.write(b" "),
            _ => self.keep(1),
        }
    }

    fn string(&mut self, byte: u8) {
        let is_inner = matches!(self.within.last(), Some(Within::Inner));
        let is_literal = matches!(self.within.last(), Some(Within::Literal));
        if is_literal && b"$%".contains(&byte) {
            self.write(b"x");
        } else if self.starts_with("$${") || self.starts_with("%%{") {
            self.keep(3);
        } else if self.starts_with("${") || self.starts_with("%{") {
            self.within.push(Within::Code(1));
            self.keep(2);
        } else if byte == b'"' {
            self.within.clear();
            self.keep(1);
        } else if is_inner && self.starts_with("\\\"") {
            self.within.pop();
            self.write(b"\" ");
        } else if byte == b'\\' {
            let escape = self.length(self.at);
            let is_pair = is_inner && self.starts_with("\\\\");
            let whole = if is_pair { escape + self.length(self.at + escape) } else { escape };
            // The literal is read from the JSON.
            let left = self.bytes.len() - self.at;
            self.write(&vec![b'x'; whole.min(left)]);
        } else {
            self.keep(1);
        }
    }

    fn code(&mut self, byte: u8, braces: usize) {
        match byte {
            b'"' => {
                self.within.clear();
                self.write(b" ");
            }
            b'{' => self.brace(braces + 1),
            b'}' => self.brace(braces.saturating_sub(1)),
            b'\\' if self.starts_with("\\\"") => {
                self.within.push(Within::Inner);
                self.write(b" \"");
            }
            b'\\' if self.starts_with("\\n") && braces > 1 => self.write(b" \n"),
            b'\\' if self.bytes.get(self.at + 1).is_some_and(|next| b"nrt".contains(next)) => {
                self.write(b"  ");
            }
            _ if self.operator(self.at).is_some() => self.operators(),
            _ => self.keep(1),
        }
    }

    fn brace(&mut self, braces: usize) {
        self.within.pop();
        if braces > 0 {
            self.within.push(Within::Code(braces));
        }
        self.keep(1);
    }

    /// The character of an operator at a byte, which may be an escape.
    fn operator(&self, at: usize) -> Option<u8> {
        let byte = *self.bytes.get(at)?;
        let escaped = || {
            let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
            u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
        };
        let char = if byte == b'\\' { escaped()? } else { byte };
        b"=<>!&|".contains(&char).then_some(char)
    }

    /// Writes operators that follow each other next to each other. Go writes `=>` as `=\u003e`.
    fn operators(&mut self) {
        let (mut end, mut operators) = (self.at, Vec::new());
        while let Some(operator) = self.operator(end) {
            operators.push(operator);
            end += self.length(end);
        }
        let spaces = vec![b' '; end - self.at - operators.len()];
        self.write(&spaces);
        self.write(&operators);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_at_their_bytes() {
        for (json, native) in [
            ("{\"a\":\n [1, null]}", "{\"a\":  [1, null]}"),
            (r#""a\n\/$${b} ${var.c}""#, r#""axxxx$${b} ${var.c}""#),
            (r#""${m[\"k\"].a}""#, r#""${m[ "k" ].a}""#),
            (
                r#""${join(\"\\n\\\"\", [a \u0026\u0026 b])}""#,
                r#""${join( "xxxxxxx" , [a           && b])}""#,
            ),
            (r#""${f(\"a${g(\"b\")}c\")}d""#, r#""${f( "a${g( "b" )}c" )}d""#),
            (
                r#""${{ for k in x : k =\u003e {\n a = k } }}""#,
                r#""${{ for k in x : k      => {
 a = k } }}""#,
            ),
        ] {
            let written = Rewriter::new(json, &Words::default()).rewrite();
            assert_eq!(written.len(), json.len());
            let same = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(same(&written), same(native), "{json}");
        }
    }
}
