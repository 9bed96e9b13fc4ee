//! Messages about pods, batches, pools and controllers → history.
//!
//! Sources: kubernetes-sigs/karpenter, pkg/controllers/{provisioning,nodepool} and pkg/events, at v1.0.0 to v1.14.0.

use super::WriterId;
use super::record::Record;
use super::{FEW, History, Nomination, Profile, RefusedClaim, Repeated, VolumeWait, Writer, put_few};
use crate::entry::{Entry, EntryOrigin};
use crate::recognise::Recognised;
use crate::recognise::fields::{nodepool, pod, pod_of_event, restricted_labels};
use crate::vocabulary::MessageId;
use ids::Id;

/// Number of batches that are kept of one refusal.
const MAX_BATCHES: usize = 10;

/// Number of nominations that are kept of one pod.
const MAX_NOMINATIONS: usize = 8;

impl History {
    /// The process that wrote a line: its pod, or else its file, and its build.
    pub(super) fn writer(&mut self, entry: &Entry<'_>) -> WriterId {
        let commit = entry.fields.text("commit").unwrap_or_default();
        let is_same =
            |last: &&Writer| last.file == entry.at.file && *last.pod == *entry.pod && *last.commit == *commit;
        if let Some(last) = self.writer.as_ref().filter(is_same) {
            return last.id;
        }
        let name = if entry.pod.is_empty() {
            format!("{}@{commit}", entry.at.file.position())
        } else {
            format!("{}@{commit}", entry.pod)
        };
        let known = self.writers.enumerate().find(|(_, writer)| ***writer == *name).map(|(id, _)| id);
        let id = match known {
            Some(id) => id,
            None if self.writers.len() < FEW => self.writers.push(name.into()),
            None => WriterId::from_position(self.writers.len() - 1),
        };
        let (pod, commit) = ((&*entry.pod).into(), commit.into());
        self.writer = Some(Writer { file: entry.at.file, pod, commit, id });
        id
    }

    /// The client library says it when a controller begins to lead.
    /// Source: tools/leaderelection/leaderelection.go of k8s.io/client-go.
    pub(super) fn lease_acquired(&mut self, entry: &Entry<'_>) {
        if let Some((_, lease)) = entry.message.split_once(" lease ") {
            let lease = lease.trim_matches(|letter: char| letter.is_whitespace() || letter == '"');
            put_few(&mut self.leases, lease, || Record::of(entry));
        }
    }

    pub(super) fn launch_templates_hydrated(&mut self, entry: &Entry<'_>) {
        let name = entry.fields.text("tag-value").unwrap_or_default();
        if !name.is_empty() {
            put_few(&mut self.cluster_names, &name, || Record::of(entry));
        }
    }

    pub(super) fn nodepool_not_ready(&mut self, entry: &Entry<'_>) {
        let Some(pool) = nodepool(entry) else { return };
        let record = Record::of(entry);
        let new = || Repeated { count: 0, first: record.clone(), last: record.clone() };
        put_few(&mut self.unready_pools, &pool, new);
        if let Some(repeated) = self.unready_pools.get_mut(&*pool) {
            repeated.add(entry);
        }
    }

    pub(super) fn nodepool_unhealthy(&mut self, entry: &Entry<'_>) {
        put_few(&mut self.unhealthy_pools, &entry.object.name, || Record::of(entry));
    }

    /// Only log lines and descriptions count: the rule `status-contradiction` judges the condition of an object.
    pub(super) fn nodeclass_undecided(&mut self, entry: &Entry<'_>) {
        if entry.origin == EntryOrigin::Log {
            Record::keep_first(&mut self.undecided, entry);
        } else if let Some(profile) = entry.fields.text("instanceProfile") {
            let undecided = || Profile { value: (&*profile).into(), record: Record::of(entry) };
            put_few(&mut self.described_undecided, &entry.object.name, undecided);
        }
    }

    pub(super) fn pods_found(&mut self, entry: &Entry<'_>) {
        let writer = self.writer(entry);
        let list = entry.fields.text("Pods").or_else(|| entry.fields.text("pods")).unwrap_or_default();
        self.batches.update(entry, writer, true, |batch| {
            batch.found = Some(Record::of(entry));
            batch.read_pods(&list);
        });
    }

    pub(super) fn nodeclaims_computed(&mut self, entry: &Entry<'_>) {
        let writer = self.writer(entry);
        self.batches.update(entry, writer, false, |batch| batch.on_new = number(entry, "pods"));
    }

    /// Up to 1.2 the numbers are in the message: `computed 1 unready node(s) will fit 2 pod(s)`.
    /// Source: pkg/controllers/provisioning/scheduling/scheduler.go at v1.2.0 and v1.3.0.
    pub(super) fn pods_fit_unready_nodes(&mut self, entry: &Entry<'_>) {
        let in_message = || entry.message.split(' ').filter_map(|word| word.parse().ok()).nth(1);
        let writer = self.writer(entry);
        let pods = number(entry, "pods").or_else(in_message).unwrap_or_default();
        self.batches.update(entry, writer, false, |batch| batch.on_others = pods);
    }

    /// Up to 1.9 the reason is in the message, then in the error. Source: provisioner.go at v1.9.0 and v1.10.0.
    pub(super) fn pod_ignored(&mut self, entry: &Entry<'_>) {
        let reason = entry.message.split_once(", ").map_or(&*entry.error, |(_, reason)| reason);
        if let Some(pod) = pod(entry) {
            self.ignored.skip(&pod, reason, entry);
        }
    }

    /// From 1.7 on a pod that is skipped gets the same event as a pod that fits nowhere; only the reason distinguishes them.
    /// Source: pkg/controllers/provisioning/provisioner.go at v1.6.4 and v1.7.0.
    pub(super) fn pod_not_scheduled(&mut self, entry: &Entry<'_>) {
        let Some((_, reason)) = entry.message.split_once(", ") else { return };
        if let Some(pod) = pod_of_event(entry) {
            self.ignored.skip_if_known(&pod, reason, entry);
        }
    }

    pub(super) fn pod_nominated(&mut self, entry: &Entry<'_>) {
        let Some((_, claim)) = entry.message.split_once("nodeclaim/") else { return };
        let claim = claim.split_once([',', ' ']).map_or(claim, |(claim, _)| claim);
        let Some(pod) = pod(entry).or_else(|| pod_of_event(entry)) else { return };
        self.lives.update(claim, |_| {});
        if self.nominations.len() >= FEW * 20 && !self.nominations.contains_key(&*pod) {
            self.forgotten += 1;
            return;
        }
        let known = self.nominations.entry(pod.into()).or_default();
        if known.len() < MAX_NOMINATIONS && !known.iter().any(|nomination| &*nomination.claim == claim) {
            known.push(Nomination { claim: claim.into(), record: Record::of(entry) });
        }
    }

    /// A volume in another zone is the stronger evidence, and its last event counts.
    pub(super) fn waits_for_volume(&mut self, entry: &Entry<'_>, in_other_zone: bool) {
        let Some(pod) = pod(entry) else { return };
        let wait = || VolumeWait { in_other_zone, record: Record::of(entry) };
        if !put_few(&mut self.volume_waits, &pod, wait) {
            return;
        }
        if let Some(known) = self.volume_waits.get_mut(&*pod).filter(|_| in_other_zone) {
            *known = wait();
        }
    }

    pub(super) fn nodeclaim_not_created(&mut self, entry: &Entry<'_>) {
        if entry.controller == "provisioner" {
            let writer = self.writer(entry);
            self.batches.update(entry, writer, false, |batch| batch.failed = true);
        }
    }

    /// The error of the API server may be quoted in any entry. Only a controller that creates the NodeClaim has a batch.
    pub(super) fn label_restricted(&mut self, recognised: Recognised<'_, '_>) {
        let entry = recognised.entry;
        let creates = entry.controller == "provisioner" || entry.controller.starts_with("disruption");
        let batch = if creates && recognised.is(MessageId::NodeClaimNotCreated) {
            let writer = self.writer(entry);
            self.batches.id_of(entry, writer, false)
        } else {
            "".into()
        };
        for label in [&entry.error, &entry.message].into_iter().flat_map(|text| restricted_labels(text)) {
            self.refuse(&label, entry, &batch);
        }
    }

    fn refuse(&mut self, label: &str, entry: &Entry<'_>, batch: &str) {
        let record = Record::of(entry);
        let repeated = || Repeated { count: 0, first: record.clone(), last: record.clone() };
        let new = || RefusedClaim { repeated: repeated(), batches: Vec::new(), by_disruption: false };
        put_few(&mut self.refused, label, new);
        let Some(refusal) = self.refused.get_mut(label) else { return };
        refusal.repeated.add(entry);
        refusal.by_disruption |= entry.controller.starts_with("disruption");
        if refusal.batches.len() < MAX_BATCHES {
            refusal.batches.push(batch.into());
        }
    }
}

fn number(entry: &Entry<'_>, key: &str) -> Option<u64> {
    entry.fields.text(key).and_then(|text| text.parse().ok())
}
