//! What the lines of the controller's log tell. Only those that correlations need are looked into.
//!
//! Sources of the words: kubernetes-sigs/karpenter, pkg/controllers/{provisioning,nodeclaim,disruption,node}, and
//! aws/karpenter-provider-aws, pkg/controllers/{interruption,nodeclaim}, at v1.0.0 to v1.14.0.

use std::borrow::Cow;

use serde::Deserialize;

use super::life::{Cause, Maker};
use super::said::Said;
use super::{Collected, Drift, History, Refusal, Told, Writer, put_few};
use crate::entry::{Entry, Fields};

/// How many reasons of drift are kept of one NodeClaim.
const MOST_DRIFTS: usize = 8;
/// How many batches are kept of one refusal.
const MOST_BATCHES: usize = 10;

impl History {
    pub(super) fn observe_line(&mut self, entry: &Entry<'_>) {
        match &*entry.message {
            "found provisionable pod(s)" => self.found(entry),
            "created nodeclaim" => self.created(entry),
            "launched nodeclaim" => self.launched(entry),
            "registered nodeclaim" => {
                self.with_claim(entry, |life, entry| Said::keep_first(&mut life.registered, entry));
            }
            "initialized nodeclaim" => {
                self.with_claim(entry, |life, entry| Said::keep_first(&mut life.initialised, entry));
            }
            "deleted nodeclaim" => {
                self.with_claim(entry, |life, entry| Said::keep_first(&mut life.deleted, entry));
            }
            "failed launching nodeclaim" => {
                self.with_claim(entry, |life, entry| Said::keep_first(&mut life.launch_failed, entry));
            }
            "node claim registration error" => self.taint_missing(entry, false),
            "terminating due to registration ttl" | "terminating due to timeout" => self.timed_out(entry),
            "Reconciler error" => self.failed(entry),
            "ignoring nodepool, not ready" => self.unready(entry),
            "marking drifted" => self.drifted(entry),
            "disrupting node(s)" => self.disrupted(entry),
            "garbage collected cloudprovider instance" => self.collected(entry),
            "garbage collected node" => self.collected_node(entry),
            "garbage collecting nodeclaim with no cloudprovider representation" => {
                self.with_claim(entry, |life, entry| Said::keep_first(&mut life.lost, entry));
            }
            "initiating delete from interruption message" => self.interrupted(entry),
            // Node repair also removes nodes that drain normally otherwise.
            "deleting expired nodeclaim" | "deleting unhealthy node" => self.ended(entry),
            "hydrated launch template cache" => {
                let name = entry.fields.text("tag-value").unwrap_or_default();
                if !name.is_empty() {
                    put_few(&mut self.cluster_names, &name, || Said::of(entry));
                }
            }
            message if message.starts_with("computed ") => self.computed(entry, message),
            message if message.starts_with("ignoring pod") => self.ignoring(entry, message),
            message if message.starts_with("disrupting nodeclaim(s) via") => {
                self.disrupted_in_words(entry, message);
            }
            _ => self.observe_words(entry),
        }
    }

    /// What may stand in a line of any form.
    pub(super) fn observe_words(&mut self, entry: &Entry<'_>) {
        self.refused_in(&entry.message, entry, "");
        self.observe_lease(entry);
    }

    /// What the library of Kubernetes says when a controller begins to lead; in old set-ups as a line of its own form.
    /// Source: tools/leaderelection/leaderelection.go of k8s.io/client-go.
    fn observe_lease(&mut self, entry: &Entry<'_>) {
        if let Some((_, lease)) = entry.message.split_once("successfully acquired lease ") {
            let lease = lease.trim_matches(|letter: char| letter.is_whitespace() || letter == '"');
            put_few(&mut self.leases, lease, || Said::of(entry));
        }
    }

    /// Which process wrote a line: its pod, or else its file, and the build it is of.
    fn writer(&mut self, entry: &Entry<'_>) -> usize {
        let commit = entry.fields.text("commit").unwrap_or_default();
        let is_same =
            |last: &&Writer| last.file == entry.at.file && *last.pod == *entry.pod && *last.commit == *commit;
        if let Some(last) = self.writer.as_ref().filter(is_same) {
            return last.position;
        }
        let name = if entry.pod.is_empty() {
            format!("{}@{commit}", entry.at.file)
        } else {
            format!("{}@{commit}", entry.pod)
        };
        let known = self.writers.iter().position(|writer| **writer == *name);
        let position = known.unwrap_or_else(|| {
            if self.writers.len() < super::FEW {
                self.writers.push(name.into());
            }
            self.writers.len() - 1
        });
        let (pod, commit) = ((&*entry.pod).into(), commit.into());
        self.writer = Some(Writer { file: entry.at.file, pod, commit, position });
        position
    }

    fn with_claim(&mut self, entry: &Entry<'_>, note: impl FnOnce(&mut super::Life, &Entry<'_>)) {
        let Some(claim) = claim(entry) else { return };
        let life = self.lives.of(&claim);
        note(life, entry);
        if life.provider_id.is_empty()
            && let Some(id) = entry.fields.text("provider-id")
        {
            life.provider_id = (&*id).into();
        }
        if let Some(node) = entry.fields.name("Node").or_else(|| entry.fields.name("node")) {
            self.lives.set_node(&claim, &node);
        }
    }

    fn found(&mut self, entry: &Entry<'_>) {
        let writer = self.writer(entry);
        let list = entry.fields.text("Pods").or_else(|| entry.fields.text("pods")).unwrap_or_default();
        let batch = self.batches.of(entry, writer, true);
        batch.found = Some(Said::of(entry));
        batch.read_pods(&list);
    }

    /// `computed new nodeclaim(s) to fit pod(s)`, and how many pods wait for nodes on their way: up to 1.2 the numbers
    /// are in the words. Source: pkg/controllers/provisioning/scheduling/scheduler.go at v1.2.0 and v1.3.0.
    fn computed(&mut self, entry: &Entry<'_>, message: &str) {
        let number = |key| entry.fields.text(key).and_then(|text| text.parse::<u64>().ok());
        let writer = self.writer(entry);
        if message.starts_with("computed new nodeclaim") {
            self.batches.of(entry, writer, false).on_new = number("pods");
        } else if message.contains("unready node(s) will fit") {
            let in_words = || message.split(' ').filter_map(|word| word.parse().ok()).nth(1);
            self.batches.of(entry, writer, false).on_others =
                number("pods").or_else(in_words).unwrap_or_default();
        }
    }

    fn created(&mut self, entry: &Entry<'_>) {
        let Some(claim) = claim(entry) else { return };
        let writer = self.writer(entry);
        let life = self.lives.of(&claim);
        if let Some(pool) = entry.fields.name("NodePool").or_else(|| entry.fields.name("nodepool")) {
            life.set_pool(&pool);
        }
        life.set_born(entry.time);
        life.writer = Some(writer);
        Said::keep_first(&mut life.created, entry);
        if entry.controller.starts_with("disruption") {
            life.maker = Maker::Disruption;
        } else if entry.controller == "provisioner" || entry.controller.is_empty() {
            life.maker = Maker::Provisioner;
            self.batches.of(entry, writer, false).claims.push((&*claim).into());
        }
    }

    fn launched(&mut self, entry: &Entry<'_>) {
        let writer = self.writer(entry);
        self.with_claim(entry, |life, entry| {
            let text = |key| entry.fields.text(key).unwrap_or_default();
            life.set_born(entry.time);
            life.launcher = Some(writer);
            life.provider_id = (&*text("provider-id")).into();
            life.zone = (&*text("zone")).into();
            life.instance_type = (&*text("instance-type")).into();
            life.capacity_type = (&*text("capacity-type")).into();
            Said::keep_first(&mut life.launched, entry);
        });
    }

    pub(super) fn taint_missing(&mut self, entry: &Entry<'_>, needed: bool) {
        // The line is also that of other errors at registration in releases to come.
        let names = |text: &str| text.contains("karpenter.sh/unregistered");
        let field = entry.fields.text("taint");
        if !names(&entry.error) && !names(&entry.message) && !field.is_some_and(|field| names(&field)) {
            return;
        }
        self.with_claim(entry, |life, entry| {
            life.taint_needed |= needed;
            let said = Said::of(entry);
            life.taint_missing = Some(match life.taint_missing.take() {
                Some((first, count)) if first.key() <= said.key() => (first, count + entry.count),
                Some((_, count)) => (said, count + entry.count),
                None => (said, entry.count),
            });
        });
    }

    /// Up to 1.6 the one timeout is that of registration; from 1.7 on there is one for the launch, of five minutes.
    /// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go at v1.6.0 and v1.7.0.
    fn timed_out(&mut self, entry: &Entry<'_>) {
        let reason = entry.fields.text("reason");
        self.with_claim(entry, |life, entry| {
            if reason.is_some_and(|reason| reason == "launch_timeout") {
                Said::keep_first(&mut life.launch_failed, entry);
            } else {
                Said::keep_first(&mut life.timed_out, entry);
            }
        });
    }

    fn failed(&mut self, entry: &Entry<'_>) {
        let error = &*entry.error;
        if error.contains("missing required startup taint") {
            self.taint_missing(entry, true);
        }
        // `NodeClass` up to 1.6, `nodeclass` from 1.7 on: pkg/cloudprovider/cloudprovider.go of the provider.
        if error.contains("is in Ready=Unknown, ValidationSucceeded=Unknown") {
            Said::keep_first(&mut self.undecided, entry);
        }
        if error.contains("launching nodeclaim") {
            self.with_claim(entry, |life, entry| Said::keep_first(&mut life.launch_failed, entry));
        }
        let makes = entry.controller == "provisioner" || entry.controller.starts_with("disruption");
        if makes && error.contains("creating node claim") {
            let writer = self.writer(entry);
            let id = self.batches.id_of(entry, writer, false);
            if entry.controller == "provisioner" {
                self.batches.of(entry, writer, false).failed = true;
            }
            self.refused_in(error, entry, &id);
        } else {
            self.refused_in(error, entry, "");
        }
    }

    /// What the API server says of a NodeClaim that it refuses, wherever it is quoted.
    pub(super) fn refused_in(&mut self, words: &str, entry: &Entry<'_>, batch: &str) {
        if words.contains("NodeClaim.karpenter.sh") {
            for label in refused_labels(words) {
                self.refuse(&label, entry, batch);
            }
        }
    }

    fn unready(&mut self, entry: &Entry<'_>) {
        let Some(pool) = entry.fields.name("NodePool") else { return };
        let said = Said::of(entry);
        put_few(&mut self.unready_pools, &pool, || Told {
            count: 0,
            first: said.clone(),
            last: said.clone(),
        });
        if let Some(told) = self.unready_pools.get_mut(&*pool) {
            told.count += entry.count;
            if said.key() < told.first.key() {
                told.first = said;
            } else if said.key() > told.last.key() {
                told.last = said;
            }
        }
    }

    fn refuse(&mut self, label: &str, entry: &Entry<'_>, batch: &str) {
        let said = Said::of(entry);
        let new = || Refusal {
            count: 0,
            first: said.clone(),
            last: said.clone(),
            batches: Vec::new(),
            by_disruption: false,
        };
        put_few(&mut self.refused, label, new);
        let Some(refusal) = self.refused.get_mut(label) else { return };
        refusal.count += entry.count;
        refusal.by_disruption |= entry.controller.starts_with("disruption");
        if refusal.batches.len() < MOST_BATCHES {
            refusal.batches.push(batch.into());
        }
        if said.key() < refusal.first.key() {
            refusal.first = said;
        } else if said.key() > refusal.last.key() {
            refusal.last = said;
        }
    }

    fn drifted(&mut self, entry: &Entry<'_>) {
        let reason = entry.fields.text("reason").unwrap_or_default();
        self.with_claim(entry, |life, entry| drift(life, &reason, Said::of(entry)));
    }

    /// From 1.3 on the nodes are in a field; from 1.9 on the reason is at the head of another, in capitals.
    /// Source: pkg/controllers/disruption/{controller,queue,types}.go at v1.2.0, v1.4.0, v1.8.0, v1.9.0, v1.14.0.
    fn disrupted(&mut self, entry: &Entry<'_>) {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        #[derive(Deserialize)]
        struct Disrupted {
            #[serde(rename = "NodeClaim")]
            claim: Option<Named>,
            #[serde(rename = "Node")]
            node: Option<Named>,
        }
        let command = entry.fields.text("command");
        let reason = entry.fields.text("reason").or_else(|| {
            let (reason, _) = command.as_deref()?.split_once('/')?;
            Some(reason.to_ascii_lowercase().into())
        });
        let reason = reason.unwrap_or_default();
        let Some(raw) = entry.fields.raw("disrupted-nodes") else { return };
        let Ok(nodes) = serde_json::from_str::<Vec<Disrupted>>(raw) else { return };
        for node in nodes {
            let (claim, node) = (node.claim.map(|named| named.name), node.node.map(|named| named.name));
            if let (Some(claim), Some(node)) = (&claim, &node) {
                self.lives.set_node(claim, node);
            }
            if let Some(claim) = claim {
                disrupt(self.lives.of(&claim), &reason, entry);
            }
        }
    }

    /// Up to 1.2: `disrupting nodeclaim(s) via replace, terminating 1 nodes (3 pods) ip-10-0-1-2.ec2.internal/c5.large/spot and
    /// replacing with …`. Source: pkg/controllers/disruption/types.go at v1.0.0 and v1.2.0.
    fn disrupted_in_words(&mut self, entry: &Entry<'_>, message: &str) {
        let reason = entry.fields.text("reason").unwrap_or_default();
        let list = message.split_once(" pods) ").map_or("", |(_, list)| list);
        let list = list.split_once(" and replacing with").map_or(list, |(list, _)| list);
        for node in list.split(", ").filter_map(|node| node.split('/').next()) {
            if let Some(life) = self.lives.of_node(node.trim()) {
                disrupt(life, &reason, entry);
            }
        }
    }

    fn collected(&mut self, entry: &Entry<'_>) {
        let Some(id) = entry.fields.text("provider-id") else { return };
        if self.collected.len() < super::FEW * 20 && !self.collected.contains_key(&*id) {
            self.collected.insert((&*id).into(), Collected { said: Said::of(entry), had_node: false });
        }
    }

    fn collected_node(&mut self, entry: &Entry<'_>) {
        let Some(id) = entry.fields.text("provider-id") else { return };
        self.collected(entry);
        if let Some(collected) = self.collected.get_mut(&*id) {
            collected.had_node = true;
        }
    }

    /// What EC2 says of an instance. A NodeClaim that is being deleted already is passed over in silence, so that an instance
    /// that stops or terminates here was not ended by this controller.
    /// Source: pkg/controllers/interruption/controller.go of the provider at v1.0.6 and v1.8.0.
    fn interrupted(&mut self, entry: &Entry<'_>) {
        let kind = entry.fields.text("messageKind").unwrap_or_default();
        self.with_claim(entry, |life, entry| match &*kind {
            "instance_stopped" | "instance_terminated" => Said::keep_first(&mut life.lost, entry),
            _ => keep_cause(life, Cause::Interrupted, entry),
        });
    }

    fn ended(&mut self, entry: &Entry<'_>) {
        self.with_claim(entry, |life, entry| keep_cause(life, Cause::Ended, entry));
    }

    /// Up to 1.9 the reason is in the message, then in the error. Source: provisioner.go at v1.9.0 and v1.10.0.
    fn ignoring(&mut self, entry: &Entry<'_>, message: &str) {
        let reason = message.strip_prefix("ignoring pod").unwrap_or_default().trim_start_matches(", ");
        let reason = if reason.is_empty() { &*entry.error } else { reason };
        let Some(pod) = pod(entry) else { return };
        self.ignored.skip(&pod, reason, entry);
    }
}

/// Takes note of a reason for drift; each counts once in a life.
pub(super) fn drift(life: &mut super::Life, reason: &str, said: Said) {
    // That a node is replaced for drift follows on the reason, if that was told.
    let known = life.drifts.iter().any(|drift| reason.is_empty() || &*drift.reason == reason);
    if known || life.drifts.len() >= MOST_DRIFTS {
        return;
    }
    life.drifts.retain(|drift| !drift.reason.is_empty());
    life.drifts.push(Drift { reason: reason.into(), said });
}

pub(super) fn disrupt(life: &mut super::Life, reason: &str, entry: &Entry<'_>) {
    let is_drift = reason.starts_with("drift");
    if is_drift {
        drift(life, "", Said::of(entry));
    }
    keep_cause(life, if is_drift { Cause::Drifted } else { Cause::Consolidated }, entry);
}

pub(super) fn keep_cause(life: &mut super::Life, cause: Cause, entry: &Entry<'_>) {
    if life.cause.is_none() {
        life.cause = Some((cause, Said::of(entry)));
    }
}

/// The NodeClaim that a line is about.
pub(super) fn claim<'e>(entry: &'e Entry<'_>) -> Option<Cow<'e, str>> {
    if entry.object.kind == "NodeClaim" && !entry.object.name.is_empty() {
        return Some(Cow::Borrowed(&entry.object.name));
    }
    let named = entry.fields.name("NodeClaim").or_else(|| entry.fields.name("nodeclaim"));
    let reconciled = || entry.fields.text("name").filter(|_| entry.controller.starts_with("nodeclaim"));
    named.or_else(reconciled).filter(|name| !name.is_empty())
}

/// The pod that a line is about, as `namespace/name`.
fn pod(entry: &Entry<'_>) -> Option<String> {
    if entry.object.kind == "Pod" && !entry.object.name.is_empty() {
        return Some(qualified(&entry.object.namespace, &entry.object.name));
    }
    named_pod(&entry.fields)
}

fn named_pod(fields: &Fields<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
        #[serde(default)]
        namespace: String,
    }
    let raw = fields.raw("Pod").or_else(|| fields.raw("pod"))?;
    match serde_json::from_str::<Named>(raw) {
        Ok(named) => Some(qualified(&named.namespace, &named.name)),
        Err(_) => serde_json::from_str(raw).ok(),
    }
}

/// `namespace/name`, or the name alone.
pub(super) fn qualified(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// The labels and domains that the API server says are restricted, each once.
///
/// `spec.requirements[3].key: Invalid value: "string": label domain "kubernetes.io" is restricted`. Source: the CEL rules in
/// `pkg/apis/crds/karpenter.sh_nodeclaims.yaml` of the provider at v1.0.0 and v1.14.0.
pub(super) fn refused_labels(error: &str) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for start in ["label domain \"", "label \""] {
        for (at, _) in error.match_indices(start) {
            let rest = error.get(at + start.len()..).unwrap_or_default();
            let Some((label, rest)) = rest.split_once('"') else { continue };
            if rest.starts_with(" is restricted") && !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
    }
    labels
}
