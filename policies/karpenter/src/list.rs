//! A list of objects that the host returned, parsed only as far as a request needs it.

use std::cell::OnceCell;
use std::sync::Arc;

use karpwarden::karpenter::operator::Operator;
use karpwarden::manifest::json;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::{Source, Span};
use karpwarden::manifest::tree::{Node, Tree};
use karpwarden::objects::object::Object;
use karpwarden::objects::pod::{ExpressionOrigin, Pod};

/// Number of items that are parsed first.
const FEW: usize = 8;

/// A list of the host: the JSON of a Kubernetes list, whose items may lack their kind.
#[derive(Debug)]
pub(crate) struct List {
    source: Arc<Source>,
    whole: OnceCell<Option<Tree>>,
    few: Vec<Tree>,
}

impl List {
    /// Reads the host's answer. `object` is the object of the request: the items that mention the labels it selects are
    /// parsed first.
    pub(crate) fn read(bytes: &[u8], object: Object<'_>) -> Result<Self, String> {
        let text = core::str::from_utf8(bytes).map_err(|_| "the answer is not UTF-8".to_owned())?;
        let list =
            Self { source: Arc::new(Source::new("list", text)), whole: OnceCell::new(), few: Vec::new() };
        let few = list.likely_items(object);
        if few.is_empty() {
            let tree = list.parse(Span::new(0, text.len()))?;
            if !tree.root().get("items").is_some_and(Node::is_sequence) {
                return Err("the answer is not a list".to_owned());
            }
            let _ = list.whole.set(Some(tree));
        }
        Ok(Self { few, ..list })
    }

    /// All items.
    pub(crate) fn whole(&self) -> Option<&Tree> {
        let parse = || self.parse(Span::new(0, self.source.text().len())).ok();
        self.whole.get_or_init(parse).as_ref()
    }

    /// Some of the items; empty if the list is short, or if the object selects nothing.
    pub(crate) fn few(&self) -> &[Tree] {
        &self.few
    }

    fn parse(&self, span: Span) -> Result<Tree, String> {
        let read =
            json::read(&self.source, span, &Limits::DEFAULT).map_err(|error| error.problem.to_string())?;
        read.map(|(tree, _)| tree).ok_or_else(|| "the answer is empty".to_owned())
    }

    /// The first items that mention a value of each label that the pods select.
    fn likely_items(&self, object: Object<'_>) -> Vec<Tree> {
        let selected: Vec<Vec<String>> = Pod::all(object).into_iter().flat_map(selected).collect();
        let text = self.source.text();
        let spans = items(text);
        if selected.is_empty() || spans.len() <= FEW {
            return Vec::new();
        }
        let mentions = |span: &Span| {
            let item = text.get(span.start..span.end).unwrap_or_default();
            selected.iter().all(|values| values.iter().any(|value| item.contains(value.as_str())))
        };
        spans.into_iter().filter(mentions).take(FEW).filter_map(|span| self.parse(span).ok()).collect()
    }
}

/// The values of each label that a pod must find on its node, as JSON strings.
fn selected(pod: Pod<'_>) -> Vec<Vec<String>> {
    let required = pod.expressions().filter(|expression| {
        expression.operator == Operator::In
            && !matches!(expression.origin, ExpressionOrigin::Preferred { .. })
    });
    let quoted = |value: Node<'_>| value.as_str().map(|text| format!("\"{text}\""));
    required.map(|expression| expression.values().filter_map(quoted).collect()).collect()
}

/// The spans of the objects in the member `items` of a JSON object; empty if the text has another form.
fn items(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let (mut depth, mut start, mut string, mut key) = (0_usize, 0, None, "");
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(from) = string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    if depth == 1 {
                        key = text.get(from..at).unwrap_or_default();
                    }
                    string = None;
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string = Some(at + 1),
            b'{' | b'[' => {
                depth += 1;
                if depth == 3 && byte == b'{' {
                    start = at;
                }
            }
            b'}' | b']' => {
                if depth == 3 && byte == b'}' && key == "items" {
                    spans.push(Span::new(start, at + 1));
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    // A text that breaks off is no list.
    if depth == 0 && string.is_none() { spans } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<&str> {
        items(list).into_iter().map(|span| list.get(span.start..span.end).unwrap()).collect()
    }

    #[test]
    fn finds_the_items_of_a_list() {
        let list = r#"{"apiVersion":"v1","items":[{"a":{"b":[1,{}]}}, {"c":"}]\"{"},{}],"kind":"items","metadata":{"x":[{}]}}"#;
        assert_eq!(texts(list), [r#"{"a":{"b":[1,{}]}}"#, r#"{"c":"}]\"{"}"#, "{}"]);
        assert_eq!(texts(r#"{"metadata":{"items":[{"a":1}]},"items":[]}"#), [] as [&str; 0]);
    }

    #[test]
    fn broken_lists_have_no_items_that_end() {
        for text in ["", "[", "}}}]]]", r#"{"items":[{"#, r#"{"items":"x"}"#, r#"{"items":[{}]"#, "null"] {
            assert_eq!(texts(text), [] as [&str; 0], "{text}");
        }
    }
}
