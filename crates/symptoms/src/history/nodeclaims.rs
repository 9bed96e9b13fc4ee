//! Messages about NodeClaims and their instances → lives.
//!
//! Sources: kubernetes-sigs/karpenter, pkg/controllers/{nodeclaim,disruption,node}, and aws/karpenter-provider-aws,
//! pkg/controllers/{interruption,nodeclaim}, at v1.0.0 to v1.14.0.

use serde::Deserialize;

use super::life::{DeletionCause, Life, Maker, REGISTRATION_TAINT, SPOT, set_if_empty};
use super::record::Record;
use super::{CollectedInstance, FEW, History};
use crate::entry::{Entry, EntryOrigin, Time};
use crate::recognise::fields::{node, nodeclaim, nodepool};

impl History {
    /// Adds to the life of the NodeClaim that an entry names, if it names one.
    pub(super) fn with_nodeclaim(&mut self, entry: &Entry<'_>, add: impl FnOnce(&mut Life, &Entry<'_>)) {
        let Some(claim) = nodeclaim(entry) else { return };
        self.lives.update(&claim, |life| {
            add(life, entry);
            if life.provider_id.is_empty()
                && let Some(id) = entry.fields.text("provider-id")
            {
                life.provider_id = (&*id).into();
            }
        });
        if let Some(node) = node(entry) {
            self.lives.set_node(&claim, &node);
        }
    }

    pub(super) fn nodeclaim_created(&mut self, entry: &Entry<'_>) {
        let Some(claim) = nodeclaim(entry) else { return };
        let writer = self.writer(entry);
        let maker = match &*entry.controller {
            controller if controller.starts_with("disruption") => Some(Maker::Disruption),
            "provisioner" | "" => Some(Maker::Provisioner),
            _ => None,
        };
        self.lives.update(&claim, |life| {
            if let Some(pool) = nodepool(entry) {
                life.set_pool(&pool);
            }
            life.set_born(entry.time);
            life.writer = Some(writer);
            life.maker = maker.unwrap_or(life.maker);
            Record::keep_first(&mut life.created, entry);
        });
        if maker == Some(Maker::Provisioner) {
            self.batches.update(entry, writer, false, |batch| batch.claims.push((&*claim).into()));
        }
    }

    /// A log line names the instance; a condition does not.
    pub(super) fn nodeclaim_launched(&mut self, entry: &Entry<'_>) {
        let writer = (entry.origin == EntryOrigin::Log).then(|| self.writer(entry));
        self.with_nodeclaim(entry, |life, entry| {
            life.set_born(entry.time);
            if let Some(writer) = writer {
                let text = |key| entry.fields.text(key).unwrap_or_default();
                life.launcher = Some(writer);
                life.provider_id = (&*text("provider-id")).into();
                life.zone = (&*text("zone")).into();
                life.is_spot = text("capacity-type") == SPOT;
            }
            Record::keep_first(&mut life.launched, entry);
        });
    }

    /// From 1.5 on the taint is in a field.
    pub(super) fn registration_taint_missing(&mut self, entry: &Entry<'_>, needed: bool) {
        if entry.fields.text("taint").is_some_and(|taint| taint != REGISTRATION_TAINT) {
            return;
        }
        self.with_nodeclaim(entry, |life, entry| {
            life.taint_needed |= needed;
            if let Some(time) = entry.time {
                life.taint_span.take(time);
            }
            if let Some(first) = entry.first {
                life.taint_span.take(first);
            }
            let record = Record::of(entry);
            life.taint_missing = Some(match life.taint_missing.take() {
                Some((first, count)) if first.key() <= record.key() => (first, count + entry.count),
                Some((_, count)) => (record, count + entry.count),
                None => (record, entry.count),
            });
        });
    }

    /// Up to 1.6 the only timeout is for registration; from 1.7 on there is one of five minutes for the launch.
    /// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go at v1.6.0 and v1.7.0.
    pub(super) fn nodeclaim_timed_out(&mut self, entry: &Entry<'_>) {
        let reason = entry.fields.text("reason");
        self.with_nodeclaim(entry, |life, entry| {
            if reason.is_some_and(|reason| reason == "launch_timeout") {
                Record::keep_first(&mut life.launch_failed, entry);
            } else {
                Record::keep_first(&mut life.timed_out, entry);
            }
        });
    }

    /// A log line has the reason in a field, a condition has its own.
    pub(super) fn nodeclaim_drifted(&mut self, entry: &Entry<'_>) {
        let field = entry.fields.text("reason").unwrap_or_default();
        let reason = if entry.origin == EntryOrigin::Log { &*field } else { &*entry.reason };
        self.with_nodeclaim(entry, |life, entry| life.drift(reason, Record::of(entry)));
    }

    /// From 1.3 on the nodes are in a field; from 1.9 on the reason is at the start of another one, in capitals.
    /// Source: pkg/controllers/disruption/{controller,queue,types}.go at v1.2.0, v1.4.0, v1.8.0, v1.9.0, v1.14.0.
    pub(super) fn nodes_disrupted(&mut self, entry: &Entry<'_>) {
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
        let command = entry.fields.text("command");
        let reason = entry.fields.text("reason").or_else(|| {
            let (reason, _) = command.as_deref()?.split_once('/')?;
            Some(reason.to_ascii_lowercase().into())
        });
        let reason = reason.unwrap_or_default();
        let Some(raw) = entry.fields.raw("disrupted-nodes") else { return };
        let Ok(nodes) = serde_json::from_str::<Vec<Disrupted>>(raw) else { return };
        for Disrupted { claim, node } in nodes {
            let Some(claim) = claim else { continue };
            if let Some(node) = node {
                self.lives.set_node(&claim.name, &node.name);
            }
            self.lives.update(&claim.name, |life| life.disrupt(&reason, entry));
        }
    }

    /// `disrupting nodeclaim(s) via replace, terminating 1 nodes (3 pods) ip-10-0-1-2.ec2.internal/c5.large/spot and replacing
    /// with …`. Source: pkg/controllers/disruption/types.go at v1.0.0 and v1.2.0.
    pub(super) fn nodes_disrupted_in_message(&mut self, entry: &Entry<'_>) {
        let reason = entry.fields.text("reason").unwrap_or_default();
        let list = entry.message.split_once(" pods) ").map_or("", |(_, list)| list);
        let list = list.split_once(" and replacing with").map_or(list, |(list, _)| list);
        for node in list.split(", ").filter_map(|node| node.split('/').next()) {
            if let Some(life) = self.lives.of_node(node.trim()) {
                life.disrupt(&reason, entry);
            }
        }
    }

    /// `Disrupting NodeClaim: Drifted`, or the same without a reason.
    pub(super) fn nodeclaim_disrupted(&mut self, entry: &Entry<'_>) {
        let reason = entry.message.rsplit_once(": ").map_or("", |(_, reason)| reason).to_ascii_lowercase();
        self.with_nodeclaim(entry, |life, entry| life.disrupt(&reason, entry));
    }

    /// The controller says nothing of a NodeClaim that is being deleted already. An instance that stops or terminates here was
    /// therefore not ended by this controller.
    /// Source: pkg/controllers/interruption/controller.go of the provider at v1.0.6 and v1.8.0.
    pub(super) fn interrupted(&mut self, entry: &Entry<'_>) {
        let kind = entry.fields.text("messageKind").unwrap_or_default();
        self.with_nodeclaim(entry, |life, entry| match &*kind {
            "instance_stopped" | "instance_terminated" => Record::keep_first(&mut life.lost, entry),
            _ => life.remove(DeletionCause::Interrupted, entry),
        });
    }

    pub(super) fn instance_collected(&mut self, entry: &Entry<'_>, had_node: bool) {
        let Some(id) = entry.fields.text("provider-id") else { return };
        if self.collected.len() < FEW * 20 || self.collected.contains_key(&*id) {
            let new = || CollectedInstance { record: Record::of(entry), had_node: false, is_own: false };
            self.collected.entry((&*id).into()).or_insert_with(new).had_node |= had_node;
        } else {
            self.forgotten += 1;
        }
    }

    /// A row of `kubectl get nodeclaims`. Type and zone are known after the launch, the node after the registration.
    pub(super) fn row_of_nodeclaim(&mut self, entry: &Entry<'_>) {
        if entry.condition.kind != "Ready" || entry.fields.raw("AGE").is_none() {
            return;
        }
        let cell = |name| entry.fields.text(name).unwrap_or_default();
        let born = Time::of_age(&cell("AGE"));
        let row = Record { time: born, ..Record::of(entry) };
        let node = cell("NODE");
        self.lives.update(&entry.object.name, |life| {
            life.set_born(born);
            life.set_pool(&cell("NODEPOOL"));
            set_if_empty(&mut life.zone, &cell("ZONE"));
            set_if_empty(&mut life.provider_id, &cell("ID"));
            life.is_spot |= cell("CAPACITY") == SPOT;
            if !life.zone.is_empty() && life.launched.is_none() {
                life.launched = Some(row.clone());
            }
            if entry.condition.status == "True" {
                life.initialised.get_or_insert(row);
            } else if node.is_empty() && !life.zone.is_empty() {
                life.node_not_found.get_or_insert(row);
            }
        });
        self.set_class(&cell("NODEPOOL"), &cell("NODECLASS"));
        self.lives.set_node(&entry.object.name, &node);
    }
}
