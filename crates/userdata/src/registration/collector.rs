//! Collector of taints and joins.

use manifest::source::Span;

use super::model::{FoundTaint, Join, Registration, TaintSource, Unresolved, UnresolvedReason};
use crate::kubelet::KubeletFlags;
use crate::kubelet_config::ConfiguredTaints;
use crate::node_config;
use crate::parts::ParsedParts;
use crate::taint_list::SpannedTaint;

/// User data and the parts of it found so far.
pub(super) struct Collector<'t> {
    pub(super) text: &'t str,
    pub(super) parts: &'t ParsedParts,
    pub(super) found: Registration,
}

impl Collector<'_> {
    pub(super) fn unresolved(&mut self, reason: UnresolvedReason, span: Span) {
        self.found.unresolved.push(Unresolved { reason, span });
    }

    pub(super) fn taint(&mut self, taint: SpannedTaint, source: TaintSource) {
        self.found.taints.push(FoundTaint { taint, source });
    }

    pub(super) fn join(&mut self, join: Join) {
        self.found.joins.push(join);
    }

    /// Adds the taints of a part of the text. `to_text` maps spans of the part to spans of the text.
    pub(super) fn configured(
        &mut self,
        found: ConfiguredTaints,
        source: TaintSource,
        to_text: &dyn Fn(Span) -> Span,
    ) {
        for taint in found.taints {
            self.taint(taint.moved(to_text), source);
        }
        if let Some(span) = found.unread {
            self.unresolved(UnresolvedReason::UnreadList, to_text(span));
        }
    }

    /// Adds the taints of flags. `whole` is the span to report if an expansion may add others.
    pub(super) fn flags(&mut self, flags: &KubeletFlags, whole: Span) {
        for taint in flags.taints() {
            self.taint(taint, TaintSource::Flag);
        }
        if flags.may_hide_taints() {
            self.unresolved(UnresolvedReason::Expansion, whole);
        }
    }

    /// Adds the taints of a NodeConfig.
    pub(super) fn node_config(&mut self, body: Span) {
        self.found.node_configs.push(body);
        self.join(Join::NodeConfig(body.first_line(self.text)));
        let found = self.taints_in_yaml(body);
        self.configured(found, TaintSource::NodeConfig, &|span| span.shifted(body.start));
    }

    /// The taints in a part of the text that is YAML.
    pub(super) fn taints_in_yaml(&self, body: Span) -> ConfiguredTaints {
        node_config::taints(body.text(self.text), &self.parts.yaml(self.text, body))
    }
}
