//! History of a cluster in bounded memory: lives of NodeClaims, the pods they were created for, collected instances. The
//! oldest entries are forgotten first and counted.

mod batch;
mod ignored;
mod life;
mod nodeclaims;
mod objects;
mod observe;
mod provisioning;
mod record;
mod status;
mod termination;

use std::collections::{BTreeMap, BTreeSet};

use ids::{Id, IdVec, ids};

pub use batch::{Batch, Batches};
pub use ignored::{IgnoreReason, Ignored, IgnoredPods, SkippedPeriod};
pub use life::{DeletionCause, Drift, Life, Lives, Maker};
pub use record::{Record, gap};
pub use status::{UnmetCondition, UnmetConditions, tolerated};
pub use termination::{Attachment, RepairSetting};

use super::entry::{Entry, LogFileId, Time};
use super::time::TimeSpan;

/// Bound on each map of the history, except lives and batches.
const FEW: usize = 1_000;

/// History of one cluster.
#[derive(Debug, Default)]
pub struct History {
    /// Number of lives and batches that were forgotten to stay within bounds.
    pub forgotten: u64,
    /// The lives of NodeClaims.
    pub lives: Lives,
    /// The batches of the provisioner.
    pub batches: Batches,
    /// Pods that the provisioner skipped.
    pub ignored: IgnoredPods,
    /// Refusals of NodeClaims by the API server, by the label or domain in the error.
    pub refused: BTreeMap<Box<str>, RefusedClaim>,
    /// Instances that the controller of this cluster collected, by their provider id.
    pub collected: BTreeMap<Box<str>, CollectedInstance>,
    /// The NodeClaims to which a pod was nominated, from events. The pod is empty if the events do not name it.
    pub nominations: BTreeMap<Box<str>, Vec<Nomination>>,
    /// Pods that the scheduler does not bind because of their volume.
    pub volume_waits: BTreeMap<Box<str>, VolumeWait>,
    /// The cluster names of the controllers.
    pub cluster_names: BTreeMap<Box<str>, Record>,
    /// The leases that were acquired.
    pub leases: BTreeMap<Box<str>, Record>,
    /// NodePools whose status says that their nodes do not register.
    pub unhealthy_pools: BTreeMap<Box<str>, Record>,
    /// The processes that write to this cluster's log, in the order of their first line.
    pub writers: IdVec<WriterId, Box<str>>,
    /// The process that wrote the last line.
    writer: Option<Writer>,
    /// Labels of workloads that a NodeClaim must not have in some release.
    pub restricted: Vec<Labelled>,
    /// NodePools that the log ignores because they are not ready.
    pub unready_pools: BTreeMap<Box<str>, Repeated>,
    /// The first error about a node class of which only the validation is undecided.
    pub undecided: Option<Record>,
    /// Node classes of which only the validation is undecided according to `kubectl describe`, with their instance profiles.
    pub described_undecided: BTreeMap<Box<str>, Profile>,
    /// Node classes whose instance profile is an ARN.
    pub profiles: BTreeMap<Box<str>, Profile>,
    /// Each StorageClass that binds volumes immediately.
    pub immediate: Vec<Box<str>>,
    /// The node classes of NodePools.
    pub classes: BTreeMap<Box<str>, Box<str>>,
    /// Node objects, by their provider id.
    pub nodes: BTreeMap<Box<str>, NodeObject>,
    /// Conditions that are not met.
    pub unmet: UnmetConditions,
    /// VolumeAttachments, by the Node.
    pub attachments: BTreeMap<Box<str>, Vec<Attachment>>,
    /// NodePools of the Nodes, by the name of the Node; empty for a Node that Karpenter does not manage.
    pub pools_of_nodes: BTreeMap<Box<str>, Box<str>>,
    /// Nodes with the label `karpenter.sh/initialized`.
    pub initialized_nodes: BTreeSet<Box<str>>,
    /// Nodes that must not be repaired.
    pub unrepairable: BTreeSet<Box<str>>,
    /// The setting of node repair that the input shows.
    pub repair: RepairSetting,
    /// The last heartbeat or deletion of an object.
    latest: Option<Time>,
    /// First and last time of all entries.
    pub span: TimeSpan,
    /// Whether the log has a line at `DEBUG`. Without such lines many messages are missing.
    pub has_debug: bool,
    /// Whether there is any log line.
    pub has_log: bool,
}

ids! {
    /// Process that writes to the log of a cluster.
    pub WriterId;
}

impl Default for WriterId {
    fn default() -> Self {
        Self::from_position(0)
    }
}

/// A process that writes to a log.
#[derive(Debug)]
struct Writer {
    file: LogFileId,
    pod: Box<str>,
    commit: Box<str>,
    id: WriterId,
}

/// Refusals of NodeClaims for one label.
#[derive(Clone, Debug)]
pub struct RefusedClaim {
    /// The refusals.
    pub repeated: Repeated,
    /// The batches of the refused NodeClaims.
    pub batches: Vec<Box<str>>,
    /// Whether the controller `disruption` was refused: it was to move a running pod.
    pub by_disruption: bool,
}

/// A message that came more than once.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// Number of messages.
    pub count: u64,
    /// The first one.
    pub first: Record,
    /// The last one.
    pub last: Record,
}

impl Repeated {
    fn add(&mut self, entry: &Entry<'_>) {
        self.count += entry.count;
        let record = Record::of(entry);
        if record.key() < self.first.key() {
            self.first = record;
        } else if record.key() > self.last.key() {
            self.last = record;
        }
    }
}

/// A pod that waits for its volume.
#[derive(Clone, Debug)]
pub struct VolumeWait {
    /// Whether the volume is in another zone than the nodes; otherwise it is not bound.
    pub in_other_zone: bool,
    /// The event.
    pub record: Record,
}

/// An instance profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name, or an ARN in place of the name; may be empty.
    pub value: Box<str>,
    /// The object that names it.
    pub record: Record,
}

/// An instance that was garbage-collected.
#[derive(Clone, Debug)]
pub struct CollectedInstance {
    /// The log line.
    pub record: Record,
    /// Whether its Node was in this cluster, and therefore its NodeClaim too.
    pub had_node: bool,
    /// Whether a forgotten NodeClaim of this cluster launched it.
    pub is_own: bool,
}

/// A nomination of a pod to the node of a NodeClaim.
#[derive(Clone, Debug)]
pub struct Nomination {
    /// The NodeClaim.
    pub claim: Box<str>,
    /// The event.
    pub record: Record,
}

/// A workload with a label that a NodeClaim must not have in some release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// The kind.
    pub kind: Box<str>,
    /// The namespace.
    pub namespace: Box<str>,
    /// The name.
    pub name: Box<str>,
    /// The label.
    pub key: Box<str>,
}

/// A Node object.
#[derive(Clone, Debug)]
pub struct NodeObject {
    /// Its name.
    pub name: Box<str>,
    /// Whether it has the label `karpenter.sh/registered`.
    pub is_registered: bool,
    /// Whether it has the registration taint.
    pub has_registration_taint: bool,
    /// The object as a quote.
    pub record: Record,
}

impl History {
    /// Whether there are more NodeClaims or batches than may be remembered.
    pub fn is_full(&self) -> bool {
        self.lives.is_full() || self.batches.is_full()
    }

    /// Forgets the oldest NodeClaims and batches, the least interesting first. `evidence` are NodeClaims to be kept.
    pub fn forget(&mut self, evidence: &BTreeSet<String>) {
        let collected = &mut self.collected;
        let lives = self.lives.forget(evidence, |life| {
            if let Some(collected) = collected.get_mut(&*life.provider_id) {
                collected.is_own = true;
            }
        });
        self.forgotten += lives + self.batches.forget(evidence);
    }

    /// Returns the milliseconds from a time to the last entry.
    pub fn since(&self, time: Option<Time>) -> Option<i64> {
        self.span.since(time?)
    }

    /// Returns the milliseconds from a time to the last time in the input.
    pub fn lasted(&self, since: Option<Time>) -> Option<i64> {
        let latest = self.latest.max(self.span.dated().map(|(_, last)| last));
        latest?.since(since?)
    }

    /// Returns the node classes of some NodePools, each once, if the input has the NodePools.
    pub fn classes_of<'h>(&'h self, pools: impl IntoIterator<Item = &'h str>) -> Vec<&'h str> {
        let mut classes: Vec<_> =
            pools.into_iter().filter_map(|pool| self.classes.get(pool).map(|class| &**class)).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Returns the pairs of controllers that wrote at the same time: one wrote before and after the other, within minutes.
    pub fn interleaved(&self) -> BTreeSet<(WriterId, WriterId)> {
        const WITHIN: i64 = 10 * 60_000;
        let mut lines: Vec<_> = self.lives.all().flat_map(Life::written).collect();
        lines.sort_unstable();
        lines.dedup_by_key(|(_, writer)| *writer);
        let mut pairs = BTreeSet::new();
        for window in lines.windows(3) {
            if let [(start, one), (_, other), (end, again)] = window
                && one == again
                && end.0 - start.0 <= WITHIN
            {
                pairs.extend([(*one, *other), (*other, *one)]);
            }
        }
        pairs
    }
}

/// Inserts into a bounded map unless the key exists; returns whether the map has the key.
fn put_few<V>(map: &mut BTreeMap<Box<str>, V>, key: &str, value: impl FnOnce() -> V) -> bool {
    if map.contains_key(key) || map.len() >= FEW {
        return map.contains_key(key);
    }
    map.insert(key.into(), value());
    true
}
