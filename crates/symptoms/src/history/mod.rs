//! What happened over time, as far as it is remembered: the lives of NodeClaims, the pods they were made for, the
//! instances that were collected. Bounded: the oldest is forgotten first, and how much was is counted.

mod batch;
mod by_name;
mod conditions;
mod ignored;
mod life;
mod log;
mod name;
mod objects;
mod said;

use std::collections::{BTreeMap, BTreeSet};

pub use batch::{Batch, Batches};
pub use ignored::{Ignored, IgnoredPods};
pub use life::{Cause, Drift, Life, Lives, Maker};
pub use name::Name;
pub use said::{Said, gap};

use super::entry::{At, Entry, Level, Origin, Time};
use super::time::Span;
use ::objects::object::Object;

/// How many different things of a kind are remembered beside lives and batches.
const FEW: usize = 1_000;

/// What is remembered of one cluster.
#[derive(Debug, Default)]
pub struct History {
    /// How many lives were forgotten to stay within bounds.
    pub forgotten: u64,
    /// The lives of NodeClaims.
    pub lives: Lives,
    /// What the provisioner decided, batch by batch.
    pub batches: Batches,
    /// Pods that the provisioner skipped.
    pub ignored: IgnoredPods,
    /// NodeClaims that the API server refused, by the label or domain that it named.
    pub refused: BTreeMap<Box<str>, Refusal>,
    /// Instances that the controller of this cluster collected, by their provider id.
    pub collected: BTreeMap<Box<str>, Collected>,
    /// Which NodeClaims a pod was nominated to, in events.
    pub nominations: BTreeMap<Box<str>, Vec<Nomination>>,
    /// Pods of which the scheduler says that their volume stands in the way.
    pub waits_for_volume: BTreeMap<Box<str>, Said>,
    /// The names under which the controllers know their cluster.
    pub cluster_names: BTreeMap<Box<str>, Said>,
    /// The leases that were acquired.
    pub leases: BTreeMap<Box<str>, Said>,
    /// NodePools whose nodes do not register, as their status says.
    pub unhealthy_pools: BTreeMap<Box<str>, Said>,
    /// What writes to this cluster's log, in the order of its first line.
    pub writers: Vec<Box<str>>,
    /// What wrote the line before.
    writer: Option<Writer>,
    /// Labels of workloads that a NodeClaim may not carry in some release.
    pub restricted: Vec<Labelled>,
    /// NodePools that were passed over for not being ready, in a log.
    pub unready_pools: BTreeMap<Box<str>, Told>,
    /// That of a node class only its validation is not decided.
    pub undecided: Option<Said>,
    /// Node classes of which only the validation is not decided, as their description says, with their instance profiles.
    pub described_undecided: BTreeMap<Box<str>, Profile>,
    /// Node classes whose instance profile is an ARN.
    pub profiles: BTreeMap<Box<str>, Profile>,
    /// Each StorageClass that binds at once.
    pub immediate: Vec<Box<str>>,
    /// The node classes of NodePools.
    pub classes: BTreeMap<Box<str>, Box<str>>,
    /// Nodes as objects, by their provider id.
    pub nodes: BTreeMap<Box<str>, NodeObject>,
    /// From when to when anything was said.
    pub span: Span,
    /// Whether a line of the level `DEBUG` was read: where none was, the log is silent about much.
    pub has_debug: bool,
    /// Whether any line of a log was read.
    pub has_log: bool,
}

/// A process that writes to a log, as its lines have it.
#[derive(Debug)]
struct Writer {
    file: usize,
    pod: Box<str>,
    commit: Box<str>,
    /// Its position among all of them.
    position: usize,
}

/// Refusals of NodeClaims for one label.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// How often.
    pub count: u64,
    /// The first time.
    pub first: Said,
    /// The last time.
    pub last: Said,
    /// The batches that they were in.
    pub batches: Vec<Box<str>>,
    /// Whether a running pod was to be moved: the refusal is told by the controller `disruption`.
    pub by_disruption: bool,
}

/// Something that was said more than once.
#[derive(Clone, Debug)]
pub struct Told {
    /// How often.
    pub count: u64,
    /// The first time.
    pub first: Said,
    /// The last time.
    pub last: Said,
}

/// An instance profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name, or the ARN that stands in its place; empty where there is none.
    pub value: Box<str>,
    /// Where it stands.
    pub said: Said,
}

/// An instance that was collected.
#[derive(Clone, Debug)]
pub struct Collected {
    /// The line that says so.
    pub said: Said,
    /// Whether its Node was in this cluster: then so was its NodeClaim.
    pub had_node: bool,
}

/// That a pod is to run on the node of a NodeClaim.
#[derive(Clone, Debug)]
pub struct Nomination {
    /// The NodeClaim.
    pub claim: Box<str>,
    /// The event that says so.
    pub said: Said,
}

/// A workload with a label that a NodeClaim may not carry in some release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// The kind of the workload.
    pub kind: Box<str>,
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The label.
    pub key: Box<str>,
}

/// A Node as it stands in the input.
#[derive(Clone, Debug)]
pub struct NodeObject {
    /// Its name.
    pub name: Box<str>,
    /// Whether Karpenter has registered it.
    pub is_registered: bool,
    /// Whether it carries the taint that it has to register with.
    pub has_registration_taint: bool,
    /// Where it stands.
    pub said: Said,
}

impl History {
    /// Takes in what an entry tells.
    pub fn observe(&mut self, entry: &Entry<'_>) {
        if let Some(time) = entry.time {
            self.span.take(time);
        }
        match entry.origin {
            Origin::Log => {
                self.has_log = true;
                self.has_debug |= entry.level == Level::Debug;
                self.observe_line(entry);
            }
            Origin::Text => self.observe_words(entry),
            Origin::Event => self.observe_event(entry),
            Origin::Condition => self.observe_condition(entry),
        }
        self.forgotten += self.lives.forget() + self.batches.forget();
    }

    /// Takes in what an object tells beyond its conditions, such as a NodeClaim's labels or a Node's taints.
    pub fn object(&mut self, object: Object<'_>, at: At) {
        self.observe_object(object, at);
        self.forgotten += self.lives.forget();
    }

    /// How many milliseconds passed from something to the last thing that was said.
    pub fn since(&self, time: Option<Time>) -> Option<i64> {
        self.span.since(time?)
    }

    /// The node classes of some NodePools, each once, as far as they are in the input.
    pub fn classes_of<'h>(&'h self, pools: impl IntoIterator<Item = &'h str>) -> Vec<&'h str> {
        let mut classes: Vec<_> =
            pools.into_iter().filter_map(|pool| self.classes.get(pool).map(|class| &**class)).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// The pairs of controllers that wrote at the same time: one of them before and after the other, within minutes.
    pub fn interleaved(&self) -> BTreeSet<(usize, usize)> {
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

/// Puts something into a map that holds few; whether there was room.
fn put_few<V>(map: &mut BTreeMap<Box<str>, V>, key: &str, value: impl FnOnce() -> V) -> bool {
    if map.contains_key(key) || map.len() >= FEW {
        return map.contains_key(key);
    }
    map.insert(key.into(), value());
    true
}
