//! Uses of changed metrics in a query.

use karpenter::metrics::{MetricChange, MetricReplacement};
use karpenter::release::{ReleaseSet, Releases};
use manifest::source::{Span, certain};
use manifest::tree::Node;
use rule::Rule;
use rule::finding::{Finding, Place};

/// Use of a metric, label or value that some releases do not have.
pub(super) struct MetricUse<'d> {
    query: Node<'d>,
    at: usize,
    word: &'static str,
    /// The word to write in these releases; `None` if nothing replaces it.
    instead: Option<&'static str>,
    /// A second word that counts a part of the cases.
    also: Option<&'static str>,
    is_label: bool,
    releases: ReleaseSet,
}

/// Returns the uses of the old name in a query, and of the new name in releases before the change.
pub(super) fn uses<'d>(query: Node<'d>, change: &MetricChange) -> Vec<MetricUse<'d>> {
    let Some(text) = query.as_str() else { return Vec::new() };
    if !change.of.is_empty() && change.of.iter().all(|metric| words(text, metric).next().is_none()) {
        return Vec::new();
    }
    let (instead, also, is_new) = match change.now {
        MetricReplacement::Name(name) => (Some(name), None, true),
        MetricReplacement::Split(name, other) => (Some(name), Some(other), true),
        MetricReplacement::Merged(name) => (Some(name), None, false),
        MetricReplacement::Dropped | MetricReplacement::LabelDropped => (None, None, false),
    };
    let is_label = matches!(change.now, MetricReplacement::LabelDropped);
    let use_of = |word: &'static str, instead, also, releases: ReleaseSet| {
        words(text, word)
            .map(|at| MetricUse { query, at, word, instead, also, is_label, releases: releases.clone() })
            .collect::<Vec<_>>()
    };
    let mut found = use_of(change.was, instead, also, change.releases().set());
    let before = Releases::ALL.without(change.releases());
    if is_new && !before.is_empty() {
        for name in instead.into_iter().chain(also) {
            found.extend(use_of(name, Some(change.was), None, before.clone()));
        }
    }
    found
}

impl<'d> MetricUse<'d> {
    /// Whether the query also has the name to write instead, so that it works before and after the change.
    pub(super) fn matches_both(&self) -> bool {
        let text = self.query.as_str().unwrap_or_default();
        self.instead.is_some_and(|instead| words(text, instead).next().is_some())
    }

    pub(super) fn place(&self) -> Place<'d> {
        Place::within(self.query, Span::new(self.at, self.at + self.word.len()))
    }

    pub(super) fn finding(self, rule: &'static Rule) -> Finding<'d> {
        let (word, place) = (self.word, self.place());
        let (message, help) = match self.instead {
            Some(instead) if let Some(also) = self.also => (
                format!(
                    "Karpenter exports `{instead}` and `{also}` instead of `{word}`: this part of the expression matches no series"
                ),
                format!(
                    "match both `{instead}` and `{also}`, and `{word}` while you still query older series"
                ),
            ),
            Some(instead) => (
                format!(
                    "Karpenter exports `{instead}` instead of `{word}`: this part of the expression matches no series"
                ),
                format!("write `{instead}`, or match both names while you still query older series"),
            ),
            None if self.is_label => (
                format!(
                    "the metric has no label `{word}` any more: this part of the expression matches no series"
                ),
                format!("remove `{word}` from the expression"),
            ),
            None => (
                format!(
                    "Karpenter does not export `{word}` any more: this part of the expression matches no series"
                ),
                "remove the expression; no metric replaces it".to_owned(),
            ),
        };
        Finding::new(rule, place, message).releases(self.releases).help(help)
    }
}

/// Returns the byte offsets at which a text contains a whole word. The name of a histogram is followed by the suffix of one
/// of its series.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    const SERIES: [&str; 3] = ["_bucket", "_count", "_sum"];
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':');
    let ends = move |rest: &str| !rest.chars().next().is_some_and(is_part);
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let rest = certain(text.get(at + word.len()..));
        let of_series = || SERIES.iter().filter_map(|suffix| rest.strip_prefix(suffix)).any(ends);
        !before.is_some_and(is_part) && (ends(rest) || (word.ends_with("_seconds") && of_series()))
    })
}
