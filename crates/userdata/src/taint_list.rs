//! Taints in the format of the flag `--register-with-taints`.

use core::ops::Range;

use manifest::source::{Span, certain};

use crate::word::SpannedText;

/// Taint that a node registers with, with its spans in the user data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpannedTaint {
    /// Key.
    pub key: SpannedText,
    /// Value, if there is one.
    pub value: Option<SpannedText>,
    /// Effect; empty if omitted.
    pub effect: SpannedText,
    /// Span of the whole taint.
    pub span: Span,
}

impl SpannedTaint {
    /// Taint whose span covers all of its fields, in any order.
    pub(super) fn covering(key: SpannedText, value: Option<SpannedText>, effect: SpannedText) -> Self {
        let mut span = key.span;
        for part in [Some(&effect), value.as_ref()].into_iter().flatten() {
            span = Span::new(span.start.min(part.span.start), span.end.max(part.span.end));
        }
        Self { key, value, effect, span }
    }

    /// Whether the taint has this key and effect. Kubernetes does not compare values (`MatchTaint`,
    /// kubernetes/kubernetes staging/src/k8s.io/api/core/v1/taint.go).
    pub fn matches(&self, key: &str, effect: &str) -> bool {
        self.key.value == key && self.effect.value == effect
    }

    /// The same taint in a larger text. `to_text` maps spans of the parsed part to spans of that text.
    #[must_use]
    pub(super) fn moved(mut self, to_text: &dyn Fn(Span) -> Span) -> Self {
        self.span = to_text(self.span);
        self.key.span = to_text(self.key.span);
        self.effect.span = to_text(self.effect.span);
        if let Some(value) = &mut self.value {
            value.span = to_text(value.span);
        }
        self
    }
}

/// Parses `key=value:effect,key:effect`. `to_text` maps ranges of the list to spans of the user data.
///
/// An item without a colon has an empty effect, which the kubelet rejects.
pub(super) fn parse_taints(list: &str, to_text: &dyn Fn(Range<usize>) -> Span) -> Vec<SpannedTaint> {
    let spanned = |range: Range<usize>| SpannedText {
        value: certain(list.get(range.clone())).to_owned(),
        span: to_text(range),
    };
    let mut taints = Vec::new();
    let mut start = 0;
    for item in list.split(',') {
        let end = start + item.len();
        let colon = item.find(':').map_or(end, |at| start + at);
        let equals = item.find('=').map(|at| start + at).filter(|at| *at < colon);
        if !item.is_empty() {
            taints.push(SpannedTaint {
                key: spanned(start..equals.unwrap_or(colon)),
                value: equals.map(|at| spanned(at + 1..colon)),
                effect: spanned((colon + 1).min(end)..end),
                span: to_text(start..end),
            });
        }
        start = end + 1;
    }
    taints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_taints_between_commas() {
        let list = "a/b:NoExecute,c=d:NoSchedule,e,,f:";
        let taints = parse_taints(list, &Span::from);
        let read: Vec<_> = taints
            .iter()
            .map(|taint| (taint.key.value.as_str(), taint.effect.value.as_str(), taint.span.text(list)))
            .collect();
        let expected = [
            ("a/b", "NoExecute", "a/b:NoExecute"),
            ("c", "NoSchedule", "c=d:NoSchedule"),
            ("e", "", "e"),
            ("f", "", "f:"),
        ];
        assert_eq!(read, expected);
        assert!(taints[0].matches("a/b", "NoExecute") && !taints[0].matches("a/b", "NoSchedule"));
    }
}
