//! Explanation of rejections in Karpenter's words.

use karpenter::release::Release;

use super::behaviour::SchedulerBehaviour;
use super::claim::Rejection;
use super::filter::FilterFailure;
use super::pool::Pool;
use super::reason::{PoolReason, ReasonKind};
use super::resources::{CPU, ResourceNames, Resources};
use super::variant::Variant;
use crate::requirements::{EffectiveOperator, Mismatch, Requirements};
use crate::taints::PoolTaint;
use crate::template::Obstacle;

/// The parts of a simulation that messages need.
#[derive(Clone, Copy)]
pub(crate) struct Explainer<'e, 'd> {
    /// The names of resources.
    pub(crate) names: &'e ResourceNames<'d>,
    /// The release of Karpenter.
    pub(crate) release: Release,
}

impl<'d> Explainer<'_, 'd> {
    /// Explains a rejection by a NodePool.
    pub(crate) fn explain(
        self,
        pool: &Pool<'d>,
        pod: &Variant<'d>,
        rejection: &Rejection<'d>,
    ) -> PoolReason<'d> {
        let (kind, text) = self.parts(pool, pod, rejection);
        let message = self.with_prefix(pool, rejection, text);
        let is_open = matches!(rejection, Rejection::Types(failure, _) if failure.leaves_kind_open());
        PoolReason { is_open, ..PoolReason::unusable(pool.object, kind, &message) }
    }

    fn parts(self, pool: &Pool<'d>, pod: &Variant<'d>, rejection: &Rejection<'d>) -> (ReasonKind, String) {
        let name = pool.object.name();
        match rejection {
            Rejection::Obstacle(Obstacle::Taint(taint)) => (ReasonKind::Taint, self.taint(taint)),
            Rejection::HostPort(asked, taken) => {
                (ReasonKind::HostPort, self.host_port(pod, &asked.to_string(), &taken.to_string()))
            }
            Rejection::Obstacle(Obstacle::Label(mismatch)) => {
                let text = mismatch_text(*mismatch, &pool.requirements, &pod.requirements);
                (ReasonKind::Requirements, format!("incompatible requirements, {text}"))
            }
            Rejection::Volume(mismatch, asked) => {
                let text = mismatch_text(*mismatch, &pool.requirements, asked);
                (ReasonKind::Volume, format!("incompatible volume requirements, {text}"))
            }
            Rejection::Topology(failure) => (ReasonKind::Topology, failure.message.clone()),
            Rejection::Domains(mismatch, asked) => {
                (ReasonKind::Topology, mismatch_text(*mismatch, &pool.requirements, asked))
            }
            Rejection::Types(failure, requirements) => self.types(pod, failure, requirements),
            Rejection::Reservation(text) => (ReasonKind::Reservation, (*text).to_owned()),
            Rejection::Limits => (
                ReasonKind::Limits,
                format!("all available instance types exceed limits for nodepool (NodePool={name})"),
            ),
            Rejection::NodeLimit => (
                ReasonKind::Limits,
                format!("node limits have been exhausted for nodepool (NodePool={name})"),
            ),
            Rejection::Full => (ReasonKind::Resources, "exceeds node resources".to_owned()),
        }
    }

    fn taint(self, taint: &PoolTaint<'_>) -> String {
        let text = format!("{}={}:{}", taint.key, taint.value, taint.effect);
        if SchedulerBehaviour::SHORT_MESSAGES.holds_in(self.release) {
            format!("did not tolerate taint (taint={text})")
        } else {
            format!("did not tolerate {text}")
        }
    }

    fn host_port(self, pod: &Variant<'d>, asked: &str, taken: &str) -> String {
        if SchedulerBehaviour::DAEMONS_BY_TYPE.holds_in(self.release) {
            let requests = pod.shape.requests.text(self.names);
            return format!(
                "no instance type met the scheduling requirements or had enough resources or had a required offering, \
                 requirements={}, resources={requests}",
                pod.requirements.text()
            );
        }
        if SchedulerBehaviour::SHORT_MESSAGES.holds_in(self.release) {
            return format!(
                "checking host port usage, pod hostport conflicts with existing hostport configuration \
                 (hostport=({asked}), existing-hostport=({taken}))"
            );
        }
        format!("checking host port usage, {asked} conflicts with existing HostPort configuration {taken}")
    }

    fn types(
        self,
        pod: &Variant<'d>,
        failure: &FilterFailure<'d>,
        requirements: &Requirements<'d>,
    ) -> (ReasonKind, String) {
        let flags = failure.flags;
        let resources = self.resources(pod, failure);
        let details = format!("requirements={}, resources={resources}", requirements.text());
        if flags.is_min_values() {
            let keys: Vec<&str> = failure.min_values.iter().map(|(key, _)| *key).collect();
            let keys = keys.join(" ");
            let text =
                format!("minValues requirement is not met for label(s) (label(s)=[{keys}]), {details}");
            return (ReasonKind::MinValues, text);
        }
        let mut text = format!("{}, {details}", flags.message());
        if flags.requirements
            && !flags.resources
            && flags.offering
            && pod.shape.requests.get(CPU).units() >= 1_000_000
        {
            text.push_str(" (CPU request >= 1 Million, m vs M typo?)");
        }
        let kind = match (flags.requirements, flags.resources, flags.offering) {
            _ if failure.host_ports => ReasonKind::HostPort,
            (true, false, _) => ReasonKind::Resources,
            (true, true, false) => ReasonKind::Offering,
            (false, ..) | (true, true, true) => ReasonKind::Requirements,
        };
        (kind, text)
    }

    fn resources(self, pod: &Variant<'d>, failure: &FilterFailure<'d>) -> String {
        let with = |overhead: &Resources| {
            let mut all = overhead.clone();
            all.add(&pod.shape.requests);
            all.text(self.names)
        };
        match &failure.overhead {
            None => pod.shape.requests.text(self.names),
            Some((least, most)) if least == most => with(least),
            Some((least, most)) => format!("min={}, max={}", with(least), with(most)),
        }
    }

    /// Until 1.4 messages start with the NodePool and its daemons.
    fn with_prefix(self, pool: &Pool<'d>, rejection: &Rejection<'d>, text: String) -> String {
        if SchedulerBehaviour::SHORT_MESSAGES.holds_in(self.release) {
            return text;
        }
        let name = pool.object.name();
        if matches!(rejection, Rejection::Limits) {
            return format!("all available instance types exceed limits for nodepool: \"{name}\"");
        }
        let overhead = pool.groups.first().map(|group| group.overhead.text(self.names)).unwrap_or_default();
        if matches!(rejection, Rejection::Reservation(_)) {
            return format!(
                "compatible with nodepool \"{name}\" but failed to add pod while adhering to reservation fallback policy, {text}"
            );
        }
        format!("incompatible with nodepool \"{name}\", daemonset overhead={overhead}, {text}")
    }
}

fn mismatch_text(mismatch: Mismatch<'_>, present: &Requirements<'_>, asked: &Requirements<'_>) -> String {
    match mismatch {
        Mismatch::Undefined(key) => format!("label \"{key}\" does not have known values"),
        Mismatch::Conflict(key) => {
            let text = |all: &Requirements<'_>| {
                let requirement = all.get(key).map(ToString::to_string);
                format!("{key} {}", requirement.unwrap_or_else(|| format!("{:?}", EffectiveOperator::Exists)))
            };
            format!("key {key}, {} not in {}", text(asked), text(present))
        }
    }
}
