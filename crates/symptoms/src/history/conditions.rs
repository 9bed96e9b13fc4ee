//! What events and the conditions of a status tell.

use super::life::Cause;
use super::log::{disrupt, drift, keep_cause, qualified};
use super::said::Said;
use super::{History, Nomination, Profile, put_few};
use crate::entry::{Entry, Time};

/// How many nominations are kept of one pod.
const MOST_NOMINATIONS: usize = 8;

impl History {
    pub(super) fn observe_condition(&mut self, entry: &Entry<'_>) {
        match (&*entry.object.kind, &*entry.condition.kind) {
            ("NodeClaim", _) => self.condition_of_claim(entry),
            ("NodePool", "NodeRegistrationHealthy") if entry.reason == "RegistrationFailed" => {
                put_few(&mut self.unhealthy_pools, &entry.object.name, || Said::of(entry));
            }
            // Of an object the rule `status-contradiction` judges it.
            ("EC2NodeClass", "Ready") if entry.message == "ValidationSucceeded=Unknown" => {
                if let Some(profile) = entry.fields.text("instanceProfile") {
                    let undecided = || Profile { value: (&*profile).into(), said: Said::of(entry) };
                    put_few(&mut self.described_undecided, &entry.object.name, undecided);
                }
            }
            _ => {}
        }
    }

    /// Sources: pkg/events and pkg/controllers/*/events.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0, the
    /// provider's pkg/controllers/interruption/events at v1.8.0. An event that a condition changed is handed on as a condition too.
    pub(super) fn observe_event(&mut self, entry: &Entry<'_>) {
        match (&*entry.object.kind, &*entry.reason) {
            ("Pod", "Nominated") => self.nominated(entry),
            ("Pod", "FailedScheduling") => self.unscheduled(entry),
            ("NodeClaim", reason) => self.event_of_claim(entry, reason),
            _ => self.refused_in(&entry.message, entry, ""),
        }
    }

    fn event_of_claim(&mut self, entry: &Entry<'_>, reason: &str) {
        if reason == "UnregisteredTaintMissing" {
            self.taint_missing(entry, false);
            return;
        }
        let life = self.lives.of(&entry.object.name);
        match reason {
            "InsufficientCapacityError" | "NodeClassNotReady" => {
                Said::keep_first(&mut life.launch_failed, entry);
            }
            // `InstanceTerminating` is also said of instances that this controller ends itself; this is not.
            "TerminatingOnInterruption" => Said::keep_first(&mut life.lost, entry),
            "SpotInterrupted" | "InstanceUnhealthy" => keep_cause(life, Cause::Interrupted, entry),
            "DisruptionTerminating" => {
                let reason = entry.message.rsplit_once(": ").map_or("", |(_, reason)| reason);
                disrupt(life, &reason.to_ascii_lowercase(), entry);
            }
            _ => {}
        }
    }

    fn nominated(&mut self, entry: &Entry<'_>) {
        let Some((_, claim)) = entry.message.split_once("nodeclaim/") else { return };
        let claim = claim.split([',', ' ']).next().unwrap_or_default();
        let pod = qualified(&entry.object.namespace, &entry.object.name);
        self.lives.of(claim);
        if self.nominations.len() >= super::FEW * 20 && !self.nominations.contains_key(&*pod) {
            return;
        }
        let known = self.nominations.entry(pod.into()).or_default();
        if known.len() < MOST_NOMINATIONS && !known.iter().any(|nomination| &*nomination.claim == claim) {
            known.push(Nomination { claim: claim.into(), said: Said::of(entry) });
        }
    }

    /// From 1.7 on a pod that is skipped gets an event in the words of one that fits nowhere; what tells them apart are
    /// the reasons. Source: pkg/controllers/provisioning/provisioner.go at v1.6.4 and v1.7.0.
    fn unscheduled(&mut self, entry: &Entry<'_>) {
        let pod = qualified(&entry.object.namespace, &entry.object.name);
        if entry.message.contains("had volume node affinity conflict") {
            self.waits_for_volume.remove(&*pod);
            put_few(&mut self.waits_for_volume, &pod, || Said::of(entry));
        } else if entry.message.contains("pod has unbound immediate PersistentVolumeClaims") {
            put_few(&mut self.waits_for_volume, &pod, || Said::of(entry));
        }
        if let Some(reason) = entry.message.strip_prefix("Failed to schedule pod, ")
            && crate::correlations::pod_ignored::is_reason(reason)
        {
            self.ignored.skip(&pod, reason, entry);
        }
        self.refused_in(&entry.message, entry, "");
    }

    fn condition_of_claim(&mut self, entry: &Entry<'_>) {
        if entry.condition.kind == "Registered" && entry.reason == "UnregisteredTaintNotFound" {
            self.taint_missing(entry, true);
        }
        let life = self.lives.of(&entry.object.name);
        match (&*entry.condition.kind, &*entry.condition.status) {
            ("Ready", status) if entry.fields.raw("AGE").is_some() => self.row_of_claim(entry, status),
            ("Launched", "True") => {
                life.set_born(entry.time);
                Said::keep_first(&mut life.launched, entry);
            }
            ("Registered", "True") => Said::keep_first(&mut life.registered, entry),
            ("Registered", "Unknown") if entry.reason == "NodeNotFound" => {
                Said::keep_first(&mut life.node_not_found, entry);
            }
            ("Initialized", "True") => Said::keep_first(&mut life.initialised, entry),
            ("Drifted", "True") => drift(life, &entry.reason, Said::of(entry)),
            _ => {}
        }
    }

    /// A row of `kubectl get nodeclaims`. Type and zone are there once it was launched, the node once it is registered.
    fn row_of_claim(&mut self, entry: &Entry<'_>, status: &str) {
        let cell = |name| entry.fields.text(name).unwrap_or_default();
        let born = Time::of_age(&cell("AGE"));
        let row = Said { time: born, ..Said::of(entry) };
        let life = self.lives.of(&entry.object.name);
        life.set_born(born);
        life.set_pool(&cell("NODEPOOL"));
        let (node, id) = (cell("NODE"), cell("ID"));
        for (slot, told) in [
            (&mut life.zone, cell("ZONE")),
            (&mut life.instance_type, cell("TYPE")),
            (&mut life.capacity_type, cell("CAPACITY")),
            (&mut life.provider_id, id),
        ] {
            if slot.is_empty() {
                *slot = (&*told).into();
            }
        }
        if !life.zone.is_empty() && life.launched.is_none() {
            life.launched = Some(row.clone());
        }
        if status == "True" {
            life.initialised.get_or_insert(row);
        } else if node.is_empty() && !life.zone.is_empty() {
            life.node_not_found.get_or_insert(row);
        }
        self.set_class(&cell("NODEPOOL"), &cell("NODECLASS"));
        self.lives.set_node(&entry.object.name, &node);
    }
}
