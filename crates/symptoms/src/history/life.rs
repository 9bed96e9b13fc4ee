//! Lives of NodeClaims.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::HashMap;
use smol_str::SmolStr;

use super::WriterId;
use super::record::Record;
use crate::entry::{Entry, Time};
use crate::time::TimeSpan;

/// The taint that a Node registers with.
pub(super) const REGISTRATION_TAINT: &str = "karpenter.sh/unregistered";

/// The capacity type of spot instances.
pub(super) const SPOT: &str = "spot";

/// Number of NodeClaims that are remembered.
const MAX_CLAIMS: usize = 20_000;

/// Number of reasons for drift that are remembered of one NodeClaim.
const MAX_DRIFTS: usize = 8;

/// The life of a NodeClaim, as far as the input shows it.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// The name.
    pub name: SmolStr,
    /// The position among all NodeClaims in the input.
    order: u64,
    /// The NodePool, if the input names another one than the name of the NodeClaim shows.
    named_pool: Option<SmolStr>,
    /// The controller that created it.
    pub maker: Maker,
    /// The process that created it.
    pub writer: Option<WriterId>,
    /// Its creation or, if that is unknown, its launch.
    pub born: Option<Time>,
    /// The same, if only the age is known.
    pub aged: Option<Time>,
    /// `created nodeclaim`.
    pub created: Option<Record>,
    /// `launched nodeclaim`, or the condition.
    pub launched: Option<Record>,
    /// The process that launched it.
    pub launcher: Option<WriterId>,
    /// The provider id of the instance.
    pub provider_id: SmolStr,
    /// The zone of the instance.
    pub zone: SmolStr,
    /// Whether the instance is a spot instance.
    pub is_spot: bool,
    /// Whether the input names its Node.
    pub has_node: bool,
    /// `registered nodeclaim`, or the condition.
    pub registered: Option<Record>,
    /// `initialized nodeclaim`, or the condition.
    pub initialised: Option<Record>,
    /// The first message that its Node lacks the registration taint, and the number of such messages.
    pub taint_missing: Option<(Record, u64)>,
    /// Times of these messages.
    pub taint_span: TimeSpan,
    /// Whether the release requires the taint for registration.
    pub taint_needed: bool,
    /// The condition `Registered` says that no Node was found.
    pub node_not_found: Option<Record>,
    /// The launch failed.
    pub launch_failed: Option<Record>,
    /// It was deleted because it did not register in time.
    pub timed_out: Option<Record>,
    /// The first message that its instance no longer exists.
    pub lost: Option<Record>,
    /// The reason of its deletion, if Karpenter gave one.
    pub cause: Option<(DeletionCause, Record)>,
    /// Its drifts, each reason once.
    pub drifts: Vec<Drift>,
    /// `deletionTimestamp` of its object.
    pub deleting: Option<Time>,
    /// `deleted nodeclaim`.
    pub deleted: Option<Record>,
}

/// The controller that created a NodeClaim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maker {
    /// Unknown.
    #[default]
    Unknown,
    /// The provisioner, for pending pods.
    Provisioner,
    /// The disruption controller, as a replacement.
    Disruption,
}

/// Reason for the deletion of a NodeClaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionCause {
    /// Consolidation or emptiness.
    Consolidated,
    /// Drift.
    Drifted,
    /// A spot interruption, a scheduled change of EC2, the end of a reservation.
    Interrupted,
    /// Expiry, or an unhealthy node.
    Ended,
}

/// Drift of a NodeClaim.
#[derive(Clone, Debug)]
pub struct Drift {
    /// The reason, such as `AMIDrift`; empty if only the replacement is known.
    pub reason: Box<str>,
    /// The message.
    pub record: Record,
}

impl Life {
    /// Returns the NodePool. Without a message that names it, the name of the NodeClaim is the NodePool's and five letters.
    pub fn pool(&self) -> &str {
        let derived = || self.name.rsplit_once('-').map_or(&*self.name, |(pool, _)| pool);
        self.named_pool.as_deref().unwrap_or_else(derived)
    }

    /// Notes the NodePool, unless the name of the NodeClaim already shows it.
    pub fn set_pool(&mut self, pool: &str) {
        if !pool.is_empty() && self.named_pool.is_none() && self.pool() != pool {
            self.named_pool = Some(pool.into());
        }
    }

    /// Notes its creation or launch.
    pub fn set_born(&mut self, time: Option<Time>) {
        let Some(time) = time else { return };
        let known = if time.is_age() { &mut self.aged } else { &mut self.born };
        *known = Some(known.map_or(time, |known| known.min(time)));
    }

    /// Notes a reason for drift, each once. The replacement for drift has no reason, and counts if no reason is known.
    pub(super) fn drift(&mut self, reason: &str, record: Record) {
        let known = self.drifts.iter().any(|drift| reason.is_empty() || &*drift.reason == reason);
        if known || self.drifts.len() >= MAX_DRIFTS {
            return;
        }
        self.drifts.retain(|drift| !drift.reason.is_empty());
        self.drifts.push(Drift { reason: reason.into(), record });
    }

    /// Notes that Karpenter disrupts it, for a reason in lower case.
    pub(super) fn disrupt(&mut self, reason: &str, entry: &Entry<'_>) {
        let is_drift = reason.starts_with("drift");
        if is_drift {
            self.drift("", Record::of(entry));
        }
        self.remove(if is_drift { DeletionCause::Drifted } else { DeletionCause::Consolidated }, entry);
    }

    /// Notes why it is removed; the first reason counts.
    pub(super) fn remove(&mut self, cause: DeletionCause, entry: &Entry<'_>) {
        if self.cause.is_none() {
            self.cause = Some((cause, Record::of(entry)));
        }
    }

    /// Returns the first message about its end.
    pub fn end(&self) -> Option<&Record> {
        let cause = self.cause.as_ref().map(|(_, record)| record);
        let ends = [self.lost.as_ref(), self.timed_out.as_ref(), cause, self.deleted.as_ref()];
        ends.into_iter().flatten().min_by_key(|record| record.key())
    }

    /// Returns the times of the messages that only the leader writes, each with its process.
    pub(super) fn written(&self) -> impl Iterator<Item = (Time, WriterId)> {
        let made = self.created.as_ref().and_then(|record| record.time).zip(self.writer);
        let launched = self.launched.as_ref().and_then(|record| record.time).zip(self.launcher);
        made.into_iter().chain(launched)
    }

    /// Sort key for forgetting: NodeClaims that ended without trouble first, then other ended ones, then living ones.
    fn worth(&self) -> (u8, u64) {
        let troubled = self.taint_missing.is_some()
            || self.timed_out.is_some()
            || self.lost.is_some()
            || !self.drifts.is_empty();
        let rank = match (self.deleted.is_some(), troubled) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        };
        (rank, self.order)
    }
}

/// Sets a value that is not known yet.
pub(super) fn set_if_empty(slot: &mut SmolStr, value: &str) {
    if slot.is_empty() {
        *slot = value.into();
    }
}

/// The lives of all NodeClaims, in bounded memory.
///
/// Each line of a log looks one up, while all of them are visited in order only at the end: a map in order of the names
/// makes reading a log of many NodeClaims a quarter slower than a hash map and one sort.
#[derive(Debug, Default)]
pub struct Lives {
    map: HashMap<SmolStr, Box<Life>>,
    /// The names in order, as long as none is added or forgotten.
    names: OnceLock<Vec<SmolStr>>,
    /// The NodeClaims of Nodes.
    nodes: HashMap<SmolStr, SmolStr>,
    met: u64,
}

impl Lives {
    /// Changes the life of a NodeClaim, which begins here if the name is new.
    pub fn update(&mut self, name: &str, change: impl FnOnce(&mut Life)) {
        if let Some(life) = self.map.get_mut(name) {
            change(life);
            return;
        }
        self.met += 1;
        self.names.take();
        let mut life = Box::new(Life { name: name.into(), order: self.met, ..Life::default() });
        change(&mut life);
        self.map.insert(name.into(), life);
    }

    /// Returns the life of a known NodeClaim.
    pub fn get(&self, name: &str) -> Option<&Life> {
        self.map.get(name).map(|life| &**life)
    }

    /// Returns all lives, by name.
    pub fn all(&self) -> impl Iterator<Item = &Life> {
        let names = self.names.get_or_init(|| {
            let mut names: Vec<_> = self.map.keys().cloned().collect();
            names.sort_unstable();
            names
        });
        names.iter().filter_map(|name| self.get(name))
    }

    /// Notes the Node of a NodeClaim.
    pub fn set_node(&mut self, claim: &str, node: &str) {
        if node.is_empty() {
            return;
        }
        self.update(claim, |life| life.has_node = true);
        if self.nodes.get(node).is_none_or(|known| **known != *claim) {
            self.nodes.insert(node.into(), claim.into());
        }
    }

    /// Returns the life of the NodeClaim of a Node.
    pub fn of_node(&mut self, node: &str) -> Option<&mut Life> {
        let claim = self.nodes.get(node)?;
        self.map.get_mut(claim).map(|life| &mut **life)
    }

    /// Returns the name of the NodeClaim of a Node.
    pub fn claim_of(&self, node: &str) -> Option<&str> {
        self.nodes.get(node).map(SmolStr::as_str)
    }

    /// Returns the name of the Node of a NodeClaim.
    pub fn node_of(&self, claim: &str) -> Option<&str> {
        let of_claim = self.nodes.iter().filter(|(_, other)| *other == claim);
        of_claim.map(|(node, _)| node.as_str()).min()
    }

    /// Whether there are too many.
    pub(super) fn is_full(&self) -> bool {
        self.map.len() > MAX_CLAIMS
    }

    /// Forgets a quarter of the lives if there are too many, except some; returns how many. `forgets` gets each of them.
    pub(super) fn forget(&mut self, evidence: &BTreeSet<String>, mut forgets: impl FnMut(&Life)) -> u64 {
        if !self.is_full() {
            return 0;
        }
        let is_evidence = |life: &Life| evidence.contains(&*life.name);
        let mut worth: Vec<_> = self.map.values().map(|life| (is_evidence(life), life.worth())).collect();
        worth.sort_unstable();
        let Some(least) = worth.get(worth.len() / 4).copied() else { return 0 };
        let before = self.map.len();
        self.names.take();
        self.map.retain(|_, life| {
            let is_kept = (is_evidence(life), life.worth()) >= least;
            if !is_kept {
                forgets(life);
            }
            is_kept
        });
        let map = &self.map;
        self.nodes.retain(|_, claim| map.contains_key(claim));
        (before - self.map.len()) as u64
    }
}
