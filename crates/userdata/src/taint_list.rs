//! Taints, as a flag lists them.

use manifest::source::Span;

use super::Placed;
use core::ops::Range;

/// A taint that a node registers with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// The key.
    pub key: Placed,
    /// The value, where one is given.
    pub value: Option<Placed>,
    /// The effect; empty where it is left out.
    pub effect: Placed,
    /// The whole taint.
    pub span: Span,
}

impl Taint {
    /// A taint that covers all that is said of it, in whatever order.
    pub(super) fn covering(key: Placed, value: Option<Placed>, effect: Placed) -> Self {
        let mut span = key.span;
        for part in [Some(&effect), value.as_ref()].into_iter().flatten() {
            span = Span::new(span.start.min(part.span.start), span.end.max(part.span.end));
        }
        Self { key, value, effect, span }
    }

    /// Whether key and effect are these. Kubernetes compares no more (`MatchTaint`, kubernetes/kubernetes
    /// staging/src/k8s.io/api/core/v1/taint.go).
    pub fn matches(&self, key: &str, effect: &str) -> bool {
        self.key.value == key && self.effect.value == effect
    }

    /// The same taint, read from a piece of a larger text: `place` tells where the piece's ranges stand in
    /// it.
    #[must_use]
    pub(super) fn moved(mut self, place: &dyn Fn(Span) -> Span) -> Self {
        self.span = place(self.span);
        self.key.span = place(self.key.span);
        self.effect.span = place(self.effect.span);
        if let Some(value) = &mut self.value {
            value.span = place(value.span);
        }
        self
    }
}

/// Reads `key=value:effect,key:effect`; `place` tells where a range of the list stands in the text.
///
/// What has no colon has no effect, which the kubelet refuses.
pub(super) fn parse_taints(list: &str, place: &dyn Fn(Range<usize>) -> Span) -> Vec<Taint> {
    let placed = |range: Range<usize>| Placed {
        value: list.get(range.clone()).unwrap_or("").to_owned(),
        span: place(range),
    };
    let mut taints = Vec::new();
    let mut start = 0;
    for item in list.split(',') {
        let end = start + item.len();
        let colon = item.find(':').map_or(end, |at| start + at);
        let equals = item.find('=').map(|at| start + at).filter(|at| *at < colon);
        if !item.is_empty() {
            taints.push(Taint {
                key: placed(start..equals.unwrap_or(colon)),
                value: equals.map(|at| placed(at + 1..colon)),
                effect: placed((colon + 1).min(end)..end),
                span: place(start..end),
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
    fn a_flag_lists_taints_between_commas() {
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
