//! Resources of the provider `kubernetes`, which have the fields of an object in snake case, and a block for each object and for each item
//! of a list.
//!
//! Source: `kubernetes/provider.go`, `kubernetes/schema_*.go`, `kubernetes/structures_*.go` and `kubernetes/resource_kubernetes_*.go` of
//! hashicorp/terraform-provider-kubernetes at v3.2.1.

use std::sync::Arc;

use terraform::{BlockBody, Data, EvaluatedAttribute, EvaluatedMember, EvaluatedValue, NestedBlock};

use super::ResourceInstance;
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// Type of a resource with the object that it makes.
struct ResourceKind {
    name: &'static str,
    api_version: &'static str,
    kind: &'static str,
}

const fn resource(name: &'static str, api_version: &'static str, kind: &'static str) -> ResourceKind {
    ResourceKind { name, api_version, kind }
}

/// The types of resources.
const KINDS: [ResourceKind; 30] = [
    resource("kubernetes_config_map", "v1", "ConfigMap"),
    resource("kubernetes_config_map_v1", "v1", "ConfigMap"),
    resource("kubernetes_cron_job", "batch/v1beta1", "CronJob"),
    resource("kubernetes_cron_job_v1", "batch/v1", "CronJob"),
    resource("kubernetes_daemon_set_v1", "apps/v1", "DaemonSet"),
    resource("kubernetes_daemonset", "apps/v1", "DaemonSet"),
    resource("kubernetes_deployment", "apps/v1", "Deployment"),
    resource("kubernetes_deployment_v1", "apps/v1", "Deployment"),
    resource("kubernetes_job", "batch/v1", "Job"),
    resource("kubernetes_job_v1", "batch/v1", "Job"),
    resource("kubernetes_namespace", "v1", "Namespace"),
    resource("kubernetes_namespace_v1", "v1", "Namespace"),
    resource("kubernetes_persistent_volume", "v1", "PersistentVolume"),
    resource("kubernetes_persistent_volume_claim", "v1", "PersistentVolumeClaim"),
    resource("kubernetes_persistent_volume_claim_v1", "v1", "PersistentVolumeClaim"),
    resource("kubernetes_persistent_volume_v1", "v1", "PersistentVolume"),
    resource("kubernetes_pod", "v1", "Pod"),
    resource("kubernetes_pod_disruption_budget", "policy/v1beta1", "PodDisruptionBudget"),
    resource("kubernetes_pod_disruption_budget_v1", "policy/v1", "PodDisruptionBudget"),
    resource("kubernetes_pod_v1", "v1", "Pod"),
    resource("kubernetes_priority_class", "scheduling.k8s.io/v1", "PriorityClass"),
    resource("kubernetes_priority_class_v1", "scheduling.k8s.io/v1", "PriorityClass"),
    resource("kubernetes_replication_controller", "v1", "ReplicationController"),
    resource("kubernetes_replication_controller_v1", "v1", "ReplicationController"),
    resource("kubernetes_service_account", "v1", "ServiceAccount"),
    resource("kubernetes_service_account_v1", "v1", "ServiceAccount"),
    resource("kubernetes_stateful_set", "apps/v1", "StatefulSet"),
    resource("kubernetes_stateful_set_v1", "apps/v1", "StatefulSet"),
    resource("kubernetes_storage_class", "storage.k8s.io/v1", "StorageClass"),
    resource("kubernetes_storage_class_v1", "storage.k8s.io/v1", "StorageClass"),
];

/// Blocks and attributes of a resource that are no fields of its object. `lifecycle` and the others without a comment are Terraform's own.
const NOT_FIELDS: [&str; 12] = [
    "connection",
    "count",
    "depends_on",
    "for_each",
    "lifecycle",
    "provider",
    "provisioner",
    "timeouts",
    // Of the provider: whether Terraform waits for the object.
    "wait_for_completion",
    "wait_for_default_service_account",
    "wait_for_rollout",
    "wait_until_bound",
];

/// Blocks that are the items of a list, with the name of the list. A block in another block than the one that is named, or in any if none is
/// named, is no item.
const LISTS: [(&str, Option<&str>, &str); 32] = [
    ("allowed_topologies", None, "allowedTopologies"),
    ("container", None, "containers"),
    ("env", None, "env"),
    ("env_from", None, "envFrom"),
    ("host_aliases", None, "hostAliases"),
    ("http_header", None, "httpHeaders"),
    ("image_pull_secret", None, "imagePullSecrets"),
    ("image_pull_secrets", None, "imagePullSecrets"),
    ("init_container", None, "initContainers"),
    ("items", None, "items"),
    ("match_expressions", None, "matchExpressions"),
    ("match_fields", None, "matchFields"),
    ("match_label_expressions", None, "matchLabelExpressions"),
    ("node_selector_term", None, "nodeSelectorTerms"),
    ("on_pod_condition", None, "onPodConditions"),
    ("option", None, "options"),
    ("port", Some("container"), "ports"),
    ("port", Some("init_container"), "ports"),
    (
        "preferred_during_scheduling_ignored_during_execution",
        None,
        "preferredDuringSchedulingIgnoredDuringExecution",
    ),
    ("readiness_gate", None, "readinessGates"),
    (
        "required_during_scheduling_ignored_during_execution",
        Some("pod_affinity"),
        "requiredDuringSchedulingIgnoredDuringExecution",
    ),
    (
        "required_during_scheduling_ignored_during_execution",
        Some("pod_anti_affinity"),
        "requiredDuringSchedulingIgnoredDuringExecution",
    ),
    ("rule", Some("pod_failure_policy"), "rules"),
    ("secret", Some(ROOT), "secrets"),
    ("sources", Some("projected"), "sources"),
    ("sysctl", None, "sysctls"),
    ("toleration", None, "tolerations"),
    ("topology_spread_constraint", None, "topologySpreadConstraints"),
    ("volume", None, "volumes"),
    ("volume_claim_template", Some("spec"), "volumeClaimTemplates"),
    ("volume_device", None, "volumeDevices"),
    ("volume_mount", None, "volumeMounts"),
];
/// The block of a resource itself, as the block around others.
const ROOT: &str = "";

/// Names that are not the name of the field in snake case.
const RENAMED: [(&str, &str); 9] = [
    ("ceph_fs", "cephfs"),
    ("data_disk_uri", "diskURI"),
    ("host_ip", "hostIP"),
    ("host_ipc", "hostIPC"),
    ("host_pid", "hostPID"),
    ("storage_provisioner", "provisioner"),
    ("target_ww_ns", "targetWWNs"),
    ("timezone", "timeZone"),
    ("volume_id", "volumeID"),
];

/// Attributes with keys of the user, and values that are strings.
const MAPS: [&str; 13] = [
    "annotations",
    "binary_data",
    "capacity",
    "data",
    "labels",
    "limits",
    "match_labels",
    "node_selector",
    "options",
    "parameters",
    "requests",
    "string_data",
    "volume_attributes",
];

/// Attributes that are strings in the provider, and numbers in the object if they have only digits.
const NUMBERS: [&str; 11] = [
    "fs_group",
    "max_surge",
    "max_unavailable",
    "min_available",
    "port",
    "replicas",
    "run_as_group",
    "run_as_user",
    "target_port",
    "toleration_seconds",
    "ttl_seconds_after_finished",
];

/// Blocks whose `value` is a string, and may be written as a number or a boolean.
const WITH_STRING: [&str; 5] = ["env", "http_header", "option", "sysctl", "toleration"];

/// The object of a resource, if its type makes one.
pub(super) fn object(kind: &str, resource: &ResourceInstance<'_>) -> Option<DocumentDraft> {
    let ResourceKind { api_version, kind, .. } = kind_of(kind)?;
    let at = resource.block.place;
    let member = |key, value| DraftMember::new(key, at, DraftPart::word(value, at));
    let mut members = vec![member("apiVersion", *api_version), member("kind", *kind)];
    let context = BlockContext { kind, name: ROOT };
    members.extend(context.members(&resource.block.body));
    Some(DocumentDraft::Document(DraftPart::object(members, at)))
}

/// Whether a type of resources makes an object.
pub(super) fn is_kind(name: &str) -> bool {
    kind_of(name).is_some()
}

fn kind_of(name: &str) -> Option<&'static ResourceKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// A block, for what its blocks and attributes are.
#[derive(Clone, Copy)]
struct BlockContext<'b> {
    /// The kind of the object.
    kind: &'static str,
    /// The word that starts the block.
    name: &'b str,
}

impl BlockContext<'_> {
    /// The fields of an object.
    fn members(self, body: &BlockBody) -> Vec<DraftMember> {
        // The provider refuses names in camel case.
        let is_snake_case = |name: &str| !name.contains(|char: char| char.is_ascii_uppercase());
        let is_field = |name: &str| is_snake_case(name) && (self.name != ROOT || !NOT_FIELDS.contains(&name));
        // In JSON, an attribute with an object may be a block, too.
        let is_attribute = |name: &str| self.is_map(name) && body.get(name).is_some();
        let is_block = |name: &str| !is_attribute(name) && body.blocks.iter().any(|block| block.kind == name);
        let present = body.attributes.iter().filter(|attribute| !attribute.value.is_null());
        let attributes = present.filter(|attribute| is_field(&attribute.name) && !is_block(&attribute.name));
        let mut members: Vec<DraftMember> = attributes.map(|one| self.attribute(one)).collect();
        let blocks = body.blocks.iter().filter(|block| is_field(&block.kind) && !is_attribute(&block.kind));
        for block in blocks {
            self.add_block(block, &mut members);
        }
        members
    }

    fn add_block(self, block: &NestedBlock, members: &mut Vec<DraftMember>) {
        let name = block.kind.as_str();
        let inner = BlockContext { kind: self.kind, name };
        if name == "persistent_volume_source" {
            members.extend(inner.members(&block.body));
            return;
        }
        let object = DraftPart::object(inner.members(&block.body), block.place);
        let mut lists = LISTS
            .iter()
            .filter(|(item, around, _)| *item == name && around.is_none_or(|around| around == self.name));
        let list = lists.next().map(|(_, _, list)| *list);
        let key = list.map_or_else(|| self.field(name), str::to_owned);
        match (members.iter_mut().find(|member| *member.key == *key), list) {
            (Some(DraftMember { value: DraftPart::List(items, _), .. }), Some(_)) => items.push(object),
            // The provider reads the first of several blocks for one object.
            (Some(_), _) => {}
            (None, list) => {
                let at = block.place;
                let value = if list.is_some() { DraftPart::List(vec![object], at) } else { object };
                members.push(DraftMember::new(&key, at, value));
            }
        }
    }

    fn attribute(self, attribute: &EvaluatedAttribute) -> DraftMember {
        let EvaluatedAttribute { name, key, value } = attribute;
        let part = if self.is_map(name) {
            strings(value)
        } else if NUMBERS.contains(&name.as_str()) {
            number(value)
        } else if name == "value" && WITH_STRING.contains(&self.name) {
            string(value)
        } else {
            fields(value)
        };
        DraftMember::new(&self.field(name), *key, part)
    }

    /// Whether an attribute has keys of the user.
    fn is_map(self, name: &str) -> bool {
        MAPS.contains(&name) || (name == "selector" && self.kind == "ReplicationController")
    }

    /// The name of a field.
    fn field(self, name: &str) -> String {
        if name == "strategy" && self.kind == "DaemonSet" {
            return "updateStrategy".to_owned();
        }
        camel_case(name)
    }
}

/// The name of a field whose name in snake case is given.
fn camel_case(name: &str) -> String {
    if let Some((_, field)) = RENAMED.iter().find(|(renamed, _)| *renamed == name) {
        return (*field).to_owned();
    }
    let mut words = name.split('_');
    let mut field = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        field.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        field.push_str(letters.as_str());
    }
    field
}

/// A map whose values are strings.
fn strings(map: &EvaluatedValue) -> DraftPart {
    let Some(members) = map.members() else { return DraftPart::Value(map.clone()) };
    let present = members.as_map().iter().filter(|(_, member)| !member.value.is_null());
    let member = |(key, EvaluatedMember { key: at, value }): (&Arc<str>, &EvaluatedMember)| {
        DraftMember::new(key, *at, string(value))
    };
    DraftPart::object(present.map(member), map.place)
}

/// A string that may be written as a number or a boolean.
fn string(value: &EvaluatedValue) -> DraftPart {
    match &value.data {
        Data::Bool(known) => DraftPart::word(if *known { "true" } else { "false" }, value.place),
        Data::Number(number) => DraftPart::word(number.text(), value.place),
        _ => DraftPart::Value(value.clone()),
    }
}

/// A number that may be written as a string.
fn number(value: &EvaluatedValue) -> DraftPart {
    match value.as_str().and_then(|text| text.parse().ok()) {
        Some(number) => DraftPart::Int(number, value.place),
        None => DraftPart::Value(value.clone()),
    }
}

/// A value, whose objects have fields: an attribute may have a list of objects instead of blocks.
fn fields(value: &EvaluatedValue) -> DraftPart {
    if let Some(members) = value.members() {
        let member = |(key, EvaluatedMember { key: at, value }): (&Arc<str>, &EvaluatedMember)| {
            DraftMember::new(&camel_case(key), *at, fields(value))
        };
        return DraftPart::object(members.as_map().iter().map(member), value.place);
    }
    match value.items().filter(|items| items.iter().any(|item| item.members().is_some())) {
        Some(items) => DraftPart::List(items.iter().map(fields).collect(), value.place),
        None => DraftPart::Value(value.clone()),
    }
}
