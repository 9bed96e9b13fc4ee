//! Workloads that own the pods of an input.
//!
//! A snapshot may lack the objects between a pod and its workload, so their names are read too: a `ReplicaSet` of a Deployment has
//! the Deployment's name with the label `pod-template-hash` of its pods (`getNewReplicaSet` in pkg/controller/deployment/sync.go),
//! and a Job of a CronJob has the name of the CronJob with a time in minutes (`getJobName` in pkg/controller/cronjob/utils.go of
//! kubernetes/kubernetes at v1.33.0).

use std::collections::{BTreeMap, BTreeSet};

use manifest::tree::items_of;
use objects::object::Object;

use super::selector::namespace_of;
use crate::scalar::{text, text_or_empty};

/// The label that a Deployment gives the pods of one revision.
pub(super) const TEMPLATE_HASH: &str = "pod-template-hash";
/// The label with the hash that Argo Rollouts appends to the name of a `ReplicaSet`.
const ROLLOUT_HASH: &str = "rollouts-pod-template-hash";

/// Digits of a time in minutes, as in the names of the Jobs of a CronJob. Today's times have eight.
const MINUTES_DIGITS: usize = 8;

/// Namespace, kind and name of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkloadKey<'d> {
    /// The namespace.
    pub namespace: &'d str,
    /// The kind.
    pub kind: &'d str,
    /// The name.
    pub name: &'d str,
}

impl<'d> WorkloadKey<'d> {
    /// The key of a workload object.
    pub fn of(object: Object<'d>) -> Self {
        Self { namespace: namespace_of(object), kind: object.kind(), name: object.name() }
    }
}

/// The owners of the pods, `ReplicaSets` and Jobs of an input.
#[derive(Debug, Default)]
pub(super) struct Ownership<'d> {
    /// The owners of `ReplicaSets` and Jobs.
    controllers: BTreeMap<WorkloadKey<'d>, Vec<WorkloadKey<'d>>>,
}

impl<'d> Ownership<'d> {
    /// The ownership among objects.
    pub(super) fn of(objects: &[Object<'d>]) -> Self {
        let between = objects.iter().filter(|object| matches!(object.kind(), "ReplicaSet" | "Job"));
        let owned = between.map(|object| (WorkloadKey::of(*object), references(*object)));
        Self { controllers: owned.filter(|(_, owners)| !owners.is_empty()).collect() }
    }

    /// The workloads that own a pod, a `ReplicaSet` or a Job: its controllers, and their controllers.
    pub(super) fn owners(&self, object: Object<'d>) -> Vec<WorkloadKey<'d>> {
        let mut all = Vec::new();
        for owner in references(object) {
            all.push(owner);
            match self.controllers.get(&owner) {
                Some(further) => all.extend(further),
                None => all.extend(by_name(owner, object)),
            }
        }
        all
    }

    /// The workloads whose pods, `ReplicaSets` or Jobs are among objects.
    pub(super) fn all_owners(&self, objects: &[Object<'d>]) -> BTreeSet<WorkloadKey<'d>> {
        let owned = objects.iter().filter(|object| matches!(object.kind(), "Pod" | "ReplicaSet" | "Job"));
        owned.flat_map(|object| self.owners(*object)).collect()
    }
}

/// The workloads in `ownerReferences`.
fn references(object: Object<'_>) -> Vec<WorkloadKey<'_>> {
    let namespace = namespace_of(object);
    items_of(object.metadata().owner_references())
        .map(|owner| WorkloadKey {
            namespace,
            kind: text_or_empty(owner.get("kind")),
            name: text_or_empty(owner.get("name")),
        })
        .collect()
}

/// The owner of a `ReplicaSet` or a Job that the input lacks, by the name.
fn by_name<'d>(owner: WorkloadKey<'d>, pod: Object<'d>) -> Option<WorkloadKey<'d>> {
    match owner.kind {
        "ReplicaSet" => {
            let rollout = pod.metadata().label(ROLLOUT_HASH).map(text);
            if let Some(name) = rollout.and_then(|hash| owner.name.strip_suffix(hash)?.strip_suffix('-')) {
                return Some(WorkloadKey { kind: "Rollout", name, ..owner });
            }
            let hash = pod.metadata().label(TEMPLATE_HASH).map(text);
            let of_hash = hash.and_then(|hash| owner.name.strip_suffix(hash)?.strip_suffix('-'));
            let name = of_hash.or_else(|| Some(owner.name.rsplit_once('-')?.0))?;
            Some(WorkloadKey { kind: "Deployment", name, ..owner })
        }
        "Job" => {
            let (name, minutes) = owner.name.rsplit_once('-')?;
            let is_time =
                minutes.len() >= MINUTES_DIGITS && minutes.bytes().all(|byte| byte.is_ascii_digit());
            is_time.then_some(WorkloadKey { kind: "CronJob", name, ..owner })
        }
        _ => None,
    }
}
