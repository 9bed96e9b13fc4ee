//! Selectors of patch targets.
//!
//! Source: api/types/selector.go and `Select` in api/resmap/reswrangler.go of kustomize v5.5.0; the syntax of label
//! selectors is in staging/src/k8s.io/apimachinery/pkg/labels/selector.go of kubernetes v1.32.

use manifest::tree::Node;
use regex_lite::Regex;

use crate::resource::Resource;
use crate::value::scalar_text;

/// The target of a patch.
#[derive(Debug)]
pub(crate) struct TargetSelector {
    group: WholeTextPattern,
    version: WholeTextPattern,
    kind: WholeTextPattern,
    name: WholeTextPattern,
    namespace: WholeTextPattern,
    labels: Vec<Term>,
    annotations: Vec<Term>,
}

/// An expression that has to match a whole text. An absent expression matches every text.
#[derive(Debug)]
struct WholeTextPattern(Option<Regex>);

impl WholeTextPattern {
    fn parse(selector: Node<'_>, key: &str) -> Option<Self> {
        let text = selector.get(key).and_then(scalar_text).filter(|text| !text.is_empty());
        match text {
            None => Some(Self(None)),
            Some(text) => Regex::new(&format!("^(?:{text})$")).ok().map(|regex| Self(Some(regex))),
        }
    }

    fn matches(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// A condition on a label or annotation.
#[derive(Debug, PartialEq, Eq)]
enum Term {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl Term {
    fn holds(&self, value_of: &impl Fn(&str) -> Option<String>) -> bool {
        match self {
            Self::In(key, values) => value_of(key).is_some_and(|value| values.contains(&value)),
            Self::NotIn(key, values) => value_of(key).is_none_or(|value| !values.contains(&value)),
            Self::Exists(key) => value_of(key).is_some(),
            Self::Absent(key) => value_of(key).is_none(),
        }
    }
}

impl TargetSelector {
    /// Reads a target. `None` if an expression is not valid.
    pub(crate) fn parse(target: Node<'_>) -> Option<Self> {
        let terms = |key| terms(target.str_at(&[key]).unwrap_or_default());
        Some(Self {
            group: WholeTextPattern::parse(target, "group")?,
            version: WholeTextPattern::parse(target, "version")?,
            kind: WholeTextPattern::parse(target, "kind")?,
            name: WholeTextPattern::parse(target, "name")?,
            namespace: WholeTextPattern::parse(target, "namespace")?,
            labels: terms("labelSelector")?,
            annotations: terms("annotationSelector")?,
        })
    }

    /// Whether the selector selects an object. The name and the namespace may be the original or the current ones.
    pub(crate) fn selects(&self, resource: &Resource<'_>) -> bool {
        let current = resource.id();
        let original = resource.previous.first().unwrap_or(&current);
        let holds = |terms: &[Term], map: &str| {
            terms.is_empty()
                || terms.iter().all(|term| term.holds(&|key| resource.value.text_at(&["metadata", map, key])))
        };
        self.kind.matches(&current.kind)
            && self.group.matches(&current.group)
            && self.version.matches(&current.version)
            && (self.name.matches(&original.name) || self.name.matches(&current.name))
            && (self.namespace.matches(&original.namespace) || self.namespace.matches(&current.namespace))
            && holds(&self.labels, "labels")
            && holds(&self.annotations, "annotations")
    }
}

/// The conditions of a label selector such as `a=b,c in (d, e),!f`.
fn terms(text: &str) -> Option<Vec<Term>> {
    let mut terms = Vec::new();
    for part in split_at_commas(text) {
        let part = part.trim();
        if !part.is_empty() {
            terms.push(term(part)?);
        }
    }
    Some(terms)
}

/// The parts of a text between the commas that are not in parentheses.
fn split_at_commas(text: &str) -> Vec<&str> {
    let mut is_inside = false;
    text.split(|char| {
        is_inside = match char {
            '(' => true,
            ')' => false,
            _ => is_inside,
        };
        char == ',' && !is_inside
    })
    .collect()
}

fn term(text: &str) -> Option<Term> {
    let own = |text: &str| text.trim().to_owned();
    if let Some((key, value)) = text.split_once("!=") {
        return Some(Term::NotIn(own(key), vec![own(value)]));
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Some(Term::In(own(key), vec![own(value)]));
    }
    if let Some((head, list)) = text.split_once('(') {
        let values = list.strip_suffix(')')?.split(',').map(own).collect();
        let (key, operator) = head.trim().rsplit_once(' ')?;
        return match operator {
            "in" => Some(Term::In(own(key), values)),
            "notin" => Some(Term::NotIn(own(key), values)),
            _ => None,
        };
    }
    match text.strip_prefix('!') {
        Some(key) => Some(Term::Absent(own(key))),
        None if text.contains(' ') => None,
        None => Some(Term::Exists(own(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_label_selectors() {
        let own = |text: &str| text.to_owned();
        let expected = vec![
            Term::In(own("a"), vec![own("b")]),
            Term::NotIn(own("c"), vec![own("d")]),
            Term::In(own("e"), vec![own("f"), own("g")]),
            Term::NotIn(own("h"), vec![own("i")]),
            Term::Exists(own("j")),
            Term::Absent(own("k")),
        ];
        assert_eq!(terms("a==b, c!=d,e in (f, g),h notin (i),j,!k"), Some(expected));
        assert_eq!(terms(""), Some(Vec::new()));
        assert_eq!(terms("a b"), None);
        assert_eq!(terms("a like (b)"), None);
    }
}
