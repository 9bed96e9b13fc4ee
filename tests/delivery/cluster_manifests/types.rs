//! Kubewarden's and Kubernetes' types, which refuse what they do not know.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Affinity, ServiceAccount, Toleration};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use karpwarden_generate::{home, kustomize, yaml};
use kubewarden_policy_sdk::crd::policies::{ClusterAdmissionPolicy, ClusterAdmissionPolicyGroup};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// `spec` of a PolicyServer, as far as it is used: kubewarden/kubewarden-controller `api/policies/v1/policyserver_types.go`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PolicyServer {
    image: String,
    service_account_name: String,
    replicas: i32,
    min_available: i32,
    priority_class_name: String,
    affinity: Affinity,
    tolerations: Vec<Toleration>,
    requests: BTreeMap<String, Quantity>,
    limits: BTreeMap<String, Quantity>,
}

fn read<T: DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{error}: {object}"))
}

fn of_kind(objects: &[Value], kind: &str) -> Vec<Value> {
    objects.iter().filter(|object| object["kind"] == kind).cloned().collect()
}

/// Everything that an installation can consist of.
pub(super) fn all() -> Vec<Value> {
    kustomize::render("policies/karpenter/kustomize/overlays/example").unwrap()
}

pub(super) fn policies() -> Vec<Value> {
    of_kind(&all(), "ClusterAdmissionPolicy")
}

pub(super) fn group() -> Value {
    yaml::documents(&home::text("policies/karpenter/examples/group.yaml").unwrap()).unwrap().remove(0)
}

#[test]
fn every_manifest_is_of_a_kind_that_exists_and_says_nothing_unknown() {
    for object in all() {
        match object["kind"].as_str().unwrap() {
            "ClusterAdmissionPolicy" => drop(read::<ClusterAdmissionPolicy>(&object)),
            "ClusterRole" => drop(read::<ClusterRole>(&object)),
            "ClusterRoleBinding" => drop(read::<ClusterRoleBinding>(&object)),
            "ServiceAccount" => drop(read::<ServiceAccount>(&object)),
            "PolicyServer" => drop(read::<PolicyServer>(&object["spec"])),
            other => panic!("no type for the kind {other}"),
        }
    }
    let mut group: ClusterAdmissionPolicyGroup = read(&group());
    let members: BTreeSet<String> = group.spec.take().unwrap().policies.into_keys().collect();
    assert_eq!(members, ["new_name", "old_name", "sound"].map(str::to_owned).into());
}

#[test]
fn the_modes_are_those_of_the_overlays() {
    for (overlay, mode) in [("monitor", "monitor"), ("protect", "protect")] {
        let objects = kustomize::render(&format!("policies/karpenter/kustomize/overlays/{overlay}")).unwrap();
        let policies = of_kind(&objects, "ClusterAdmissionPolicy");
        assert_eq!(policies.len(), 4);
        assert!(
            policies
                .iter()
                .all(|policy| policy["spec"]["mode"] == mode && policy["spec"]["mutating"] == false)
        );
    }
}

#[test]
fn every_policy_runs_this_release_on_its_own_server_and_may_look_up_what_the_metadata_says() {
    let metadata: Value =
        serde_saphyr::from_str(&home::text("policies/karpenter/metadata.yml").unwrap()).unwrap();
    let servers: Vec<_> =
        of_kind(&all(), "PolicyServer").iter().map(|one| one["metadata"]["name"].clone()).collect();
    let group = group();
    let members = group["spec"]["policies"].as_object().unwrap().values();
    for spec in policies().iter().map(|policy| &policy["spec"]).chain(members) {
        assert_eq!(spec["module"], home::module());
        assert_eq!(spec["contextAwareResources"], metadata["contextAwareResources"], "{spec}");
    }
    for policy in policies().iter().chain([&group]) {
        assert!(servers.contains(&policy["spec"]["policyServer"]), "{policy}");
    }
}

#[test]
fn the_rights_are_those_to_read_what_is_looked_up_and_what_is_audited() {
    let roles = of_kind(&all(), "ClusterRole");
    let granted = |name: &str| -> BTreeSet<(String, String)> {
        let role = roles.iter().find(|role| role["metadata"]["name"] == name).unwrap();
        let role: ClusterRole = read(role);
        let mut granted = BTreeSet::new();
        for rule in role.rules.unwrap() {
            assert_eq!(rule.verbs, ["get", "list", "watch"]);
            for group in rule.api_groups.unwrap() {
                granted.extend(
                    rule.resources.iter().flatten().map(|resource| (group.clone(), resource.clone())),
                );
            }
        }
        granted
    };
    let looked_up = karpwarden_policy::inventory::LOOKED_UP
        .iter()
        .map(|(kind, _)| (kind.group.to_owned(), karpwarden_admit::kinds::plural(kind.name)));
    assert_eq!(granted("karpwarden-context"), looked_up.collect());
    // What has no namespace, the scanner's own role does not reach.
    let audited: BTreeSet<_> = policies()
        .iter()
        .filter(|policy| policy["spec"]["backgroundAudit"] == true)
        .flat_map(|policy| policy["spec"]["rules"].as_array().unwrap().clone())
        .flat_map(|rule| {
            let group = rule["apiGroups"][0].as_str().unwrap().to_owned();
            let resources = rule["resources"].as_array().unwrap().clone();
            resources.into_iter().map(move |resource| (group.clone(), resource.as_str().unwrap().to_owned()))
        })
        .filter(|(group, resource)| {
            let kind = super::samples::kind(group, resource);
            !karpwarden_admit::kinds::is_namespaced(group, kind)
        })
        .collect();
    assert_eq!(granted("karpwarden-audit"), audited);
    let audit = roles.iter().find(|role| role["metadata"]["name"] == "karpwarden-audit").unwrap();
    assert_eq!(audit["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"], "true");
}

#[test]
fn the_server_never_waits_for_nodes_that_wait_for_it() {
    let server: PolicyServer = read(&of_kind(&all(), "PolicyServer")[0]["spec"]);
    let nodes =
        server.affinity.node_affinity.unwrap().required_during_scheduling_ignored_during_execution.unwrap();
    for term in nodes.node_selector_terms {
        let expressions = term.match_expressions.unwrap();
        assert!(
            expressions
                .iter()
                .any(|one| one.key == "karpenter.sh/nodepool" && one.operator == "DoesNotExist")
        );
    }
    assert!(server.replicas > server.min_available && server.min_available > 0);
    assert_eq!(server.priority_class_name, "system-cluster-critical");
    assert_eq!(server.service_account_name, "karpwarden-policy-server");
    assert!(server.image.starts_with("ghcr.io/kubewarden/") && !server.image.ends_with(":latest"));
    assert!(server.requests.contains_key("cpu") && server.limits.contains_key("memory"));
    assert!(server.tolerations.iter().any(|one| one.key.as_deref() == Some("CriticalAddonsOnly")));
}

#[test]
fn the_mending_policy_only_warns_whatever_the_family() {
    let fix = policies().into_iter().find(|policy| policy["metadata"]["name"] == "karpwarden-fix").unwrap();
    let levels = fix["spec"]["settings"]["rules"].as_object().unwrap();
    for family in karpwarden::finding::Family::ALL {
        assert_eq!(levels[family.name()], "warn", "{}", family.name());
    }
    assert_eq!(fix["spec"]["mutating"], true);
    assert_eq!(fix["spec"]["settings"]["fix"], true);
}
