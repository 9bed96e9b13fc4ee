//! Recognised entries → steps of stories.

use answers::story::StepKind;
use serde::Deserialize;
use smol_str::SmolStr;

use crate::entry::{At, Entry, EntryOrigin, LogLevel, Time};
use crate::recognise::Recognised;
use crate::recognise::fields::{node, nodeclaim, nodepool, pod};
use crate::vocabulary::{Blocker, MessageId};

/// Step of a story, before the story is known.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    pub(super) first: Option<Time>,
    pub(super) last: Option<Time>,
    pub(super) count: u64,
    pub(super) at: At,
    pub(super) claim: SmolStr,
    pub(super) node: SmolStr,
    pub(super) pod: SmolStr,
    pub(super) pool: SmolStr,
    pub(super) reason: SmolStr,
    pub(super) message: Box<str>,
    pub(super) blocker: Option<Blocker>,
}

impl Step {
    /// A step without names.
    pub(super) fn new(kind: StepKind, time: Option<Time>, at: At) -> Self {
        let name = SmolStr::default;
        Self {
            kind,
            first: time,
            last: time,
            count: 1,
            at,
            claim: name(),
            node: name(),
            pod: name(),
            pool: name(),
            reason: name(),
            message: "".into(),
            blocker: None,
        }
    }

    /// A step with the names in an entry.
    fn of(kind: StepKind, entry: &Entry<'_>) -> Self {
        let is_event = entry.origin != EntryOrigin::Log;
        let of_kind =
            |kind: &str| (is_event && entry.object.kind == kind).then(|| (&*entry.object.name).into());
        let named = |name: Option<std::borrow::Cow<'_, str>>| name.map(|name| SmolStr::from(&*name));
        let reconciled = || {
            let name = entry.fields.text("name").filter(|_| entry.controller.starts_with("node."));
            named(name)
        };
        Self {
            first: entry.first.or(entry.time),
            last: entry.time,
            count: entry.count,
            claim: named(nodeclaim(entry)).unwrap_or_default(),
            node: of_kind("Node").or_else(|| named(node(entry))).or_else(reconciled).unwrap_or_default(),
            pod: pod(entry).map(Into::into).unwrap_or_default(),
            pool: of_kind("NodePool").or_else(|| named(nodepool(entry))).unwrap_or_default(),
            ..Self::new(kind, entry.time, entry.at)
        }
    }

    fn because(self, reason: &str) -> Self {
        Self { reason: reason.into(), ..self }
    }

    fn saying(self, message: &str) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Whether it names an object.
    pub(super) fn is_about_something(&self) -> bool {
        [&self.claim, &self.node, &self.pod, &self.pool].iter().any(|name| !name.is_empty())
    }
}

/// The steps that an entry shows.
pub(super) fn steps(recognised: Recognised<'_, '_>) -> Vec<Step> {
    let entry = recognised.entry;
    let mut found: Vec<Step> = recognised.ids().flat_map(|id| of_message(id, entry)).collect();
    if found.is_empty() {
        found.extend(of_condition(entry).or_else(|| of_other(entry)));
    }
    // The list of pods that the provisioner found is a message.
    found.retain(|step| step.is_about_something() || step.kind == StepKind::Found);
    found
}

fn of_message(id: MessageId, entry: &Entry<'_>) -> Vec<Step> {
    let step = |kind| Step::of(kind, entry);
    let text = |key| entry.fields.text(key).unwrap_or_default();
    let message = plain(&entry.message);
    let one = match id {
        MessageId::NodeClaimCreated => match &*entry.controller {
            controller if controller.starts_with("disruption") => {
                step(StepKind::Created).saying("as a replacement")
            }
            "provisioner" => step(StepKind::Created).saying("for pending pods"),
            _ => step(StepKind::Created),
        },
        MessageId::NodeClaimLaunched => {
            let parts = [text("instance-type"), text("capacity-type"), text("zone")];
            let shown: Vec<&str> = parts.iter().map(|part| &**part).filter(|part| !part.is_empty()).collect();
            step(StepKind::Launched).saying(&shown.join(" "))
        }
        MessageId::LaunchFailed => step(StepKind::LaunchFailed).saying(&words(entry)),
        MessageId::NodeClaimRegistered => step(StepKind::Registered),
        MessageId::NodeClaimInitialized => step(StepKind::Initialized),
        MessageId::NodeClaimTimedOut => step(StepKind::Disrupted).because("not registered in time"),
        MessageId::NodeClaimDrifted => {
            let field = text("reason");
            step(StepKind::Drifted).because(if entry.origin == EntryOrigin::Log {
                &field
            } else {
                &entry.reason
            })
        }
        MessageId::NodesDisrupted => return disrupted(entry),
        MessageId::NodesDisruptedInMessage => return disrupted_in_message(entry),
        MessageId::NodeClaimDisrupted => {
            let reason = entry.message.rsplit_once(": ").map_or("", |(_, reason)| reason);
            step(StepKind::Disrupted).because(reason)
        }
        MessageId::NodeClaimExpired => step(StepKind::Disrupted).because("Expired"),
        MessageId::NodeUnhealthy => step(StepKind::Disrupted).because("Unhealthy"),
        MessageId::Interrupted => step(StepKind::Disrupted).because(&text("messageKind")),
        MessageId::InterruptionAnnounced | MessageId::TerminatingOnInterruption => {
            step(StepKind::Disrupted).because(&entry.reason).saying(message)
        }
        MessageId::InstanceGone => step(StepKind::Disrupted).because("the instance is gone"),
        MessageId::NodeTainted => step(StepKind::Draining),
        MessageId::NodeDeleted => step(StepKind::NodeDeleted),
        MessageId::NodeClaimDeleted => step(StepKind::Terminated),
        MessageId::ReplacementAwaited => step(StepKind::Replacing).saying(message),
        MessageId::PodEvicted => {
            let reason = entry.message.split_once("Evicted pod: ").map_or("", |(_, reason)| reason);
            step(StepKind::Evicted).because(reason)
        }
        MessageId::DrainLimited => step(StepKind::DrainLimited).saying(message),
        MessageId::ConsolidationConsidered => step(StepKind::Considered).saying(message),
        MessageId::PodsFound => step(StepKind::Found).saying(&[text("Pods"), text("pods")].concat()),
        MessageId::PodIgnored | MessageId::PodNotScheduled => {
            step(StepKind::NotScheduled).saying(&words(entry))
        }
        MessageId::PodNominated => {
            let after = |start| entry.message.split_once(start).map_or("", |(_, rest): (_, &str)| rest);
            let name = |rest: &str| SmolStr::from(rest.split_once([',', ' ']).map_or(rest, |(name, _)| name));
            let (claim, node) = (name(after("nodeclaim/")), name(after("node/")));
            Step { claim, node, ..step(StepKind::Nominated) }
        }
        MessageId::PodBound => {
            let node = entry.message.rsplit_once(" to ").map_or("", |(_, node)| node);
            Step { node: node.into(), ..step(StepKind::Bound) }
        }
        MessageId::Blocked(blocker) => {
            Step { blocker: Some(blocker), ..step(StepKind::Blocked).because(blocker.name()).saying(message) }
        }
        _ => return Vec::new(),
    };
    vec![one]
}

/// The message of an event about a Node and its NodeClaim, without the words that differ between the two.
fn plain(message: &str) -> &str {
    const STARTS: [&str; 2] = ["Cannot disrupt NodeClaim: ", "Cannot disrupt Node: "];
    STARTS.iter().find_map(|start| message.strip_prefix(start)).unwrap_or(message)
}

fn words(entry: &Entry<'_>) -> String {
    let (message, error) = (&*entry.message, &*entry.error);
    if error.is_empty() { message.to_owned() } else { format!("{message}: {error}") }
}

/// The NodeClaims in the field `disrupted-nodes`. Source: pkg/controllers/disruption/queue.go of kubernetes-sigs/karpenter at
/// v1.3.0 to v1.14.0.
fn disrupted(entry: &Entry<'_>) -> Vec<Step> {
    #[derive(Deserialize)]
    struct Reference {
        name: String,
    }
    #[derive(Deserialize)]
    struct Disrupted {
        #[serde(rename = "NodeClaim")]
        claim: Option<Reference>,
        #[serde(rename = "Node")]
        node: Option<Reference>,
    }
    let command = entry.fields.text("command").unwrap_or_default();
    let reason = entry.fields.text("reason");
    let reason = reason.as_deref().or_else(|| command.split_once('/').map(|(reason, _)| reason));
    let nodes = entry.fields.raw("disrupted-nodes").unwrap_or_default();
    let nodes: Vec<Disrupted> = serde_json::from_str(nodes).unwrap_or_default();
    let name =
        |reference: Option<Reference>| reference.map(|one| SmolStr::from(one.name)).unwrap_or_default();
    let step = |one: Disrupted| {
        let decision = entry.fields.text("decision").unwrap_or_default();
        let step = Step::of(StepKind::Disrupted, entry).because(reason.unwrap_or_default()).saying(&decision);
        Step { claim: name(one.claim), node: name(one.node), ..step }
    };
    nodes.into_iter().map(step).collect()
}

/// The Nodes in the message, up to 1.2: `… terminating 1 nodes (3 pods) ip-10-0-1-2.ec2.internal/c5.large/spot and replacing`.
/// Source: pkg/controllers/disruption/types.go of kubernetes-sigs/karpenter at v1.0.0 and v1.2.0.
fn disrupted_in_message(entry: &Entry<'_>) -> Vec<Step> {
    let reason = entry.fields.text("reason").unwrap_or_default();
    let list = entry.message.split_once(" pods) ").map_or("", |(_, list)| list);
    let list = list.split_once(" and replacing with").map_or(list, |(list, _)| list);
    let names = list.split(", ").filter_map(|node| node.split('/').next()).map(str::trim);
    let step =
        |name: &str| Step { node: name.into(), ..Step::of(StepKind::Disrupted, entry).because(&reason) };
    names.filter(|name| !name.is_empty()).map(step).collect()
}

/// A condition of a NodeClaim that is a step of its life.
/// Source: `pkg/apis/v1/nodeclaim_status.go` of kubernetes-sigs/karpenter at v1.14.0.
fn of_condition(entry: &Entry<'_>) -> Option<Step> {
    if entry.origin != EntryOrigin::Condition
        || entry.object.kind != "NodeClaim"
        || entry.condition.status != "True"
    {
        return None;
    }
    let step = |kind| Step::of(kind, entry);
    Some(match &*entry.condition.kind {
        "DisruptionReason" => step(StepKind::Disrupted).because(&entry.reason),
        "Drained" => step(StepKind::Drained),
        "VolumesDetached" => step(StepKind::VolumesDetached),
        "Consolidatable" => step(StepKind::Condition).because("Consolidatable"),
        "InstanceTerminating" => step(StepKind::Condition).because("InstanceTerminating"),
        _ => return None,
    })
}

/// An event that the vocabulary does not know, or an error in the log.
fn of_other(entry: &Entry<'_>) -> Option<Step> {
    match entry.origin {
        EntryOrigin::Event => {
            Some(Step::of(StepKind::Event, entry).because(&entry.reason).saying(&entry.message))
        }
        EntryOrigin::Log if entry.level >= LogLevel::Error => {
            Some(Step::of(StepKind::Error, entry).saying(&words(entry)))
        }
        _ => None,
    }
}
