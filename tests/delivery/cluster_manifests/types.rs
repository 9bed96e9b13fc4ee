//! The manifests as types of Kubewarden and Kubernetes, which reject unknown fields.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::batch::v1::CronJob;
use k8s_openapi::api::core::v1::{Affinity, ServiceAccount, Toleration};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use karpwarden_generate::{home, kustomize};
use kubewarden_policy_sdk::crd::policies::ClusterAdmissionPolicy;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The used part of a PolicyServer's `spec`: kubewarden/kubewarden-controller `api/policies/v1/policyserver_types.go`.
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

/// Every object that an installation can contain.
pub(super) fn all() -> Vec<Value> {
    kustomize::render("policies/karpenter/kustomize/overlays/example").unwrap()
}

pub(super) fn policies() -> Vec<Value> {
    of_kind(&all(), "ClusterAdmissionPolicy")
}

#[test]
fn manifests_have_known_kinds_and_fields() {
    for object in all() {
        match object["kind"].as_str().unwrap() {
            "ClusterAdmissionPolicy" => drop(read::<ClusterAdmissionPolicy>(&object)),
            "ClusterRole" => drop(read::<ClusterRole>(&object)),
            "ClusterRoleBinding" => drop(read::<ClusterRoleBinding>(&object)),
            "CronJob" => drop(read::<CronJob>(&object)),
            "ServiceAccount" => drop(read::<ServiceAccount>(&object)),
            "PolicyServer" => drop(read::<PolicyServer>(&object["spec"])),
            other => panic!("no type for the kind {other}"),
        }
    }
}

#[test]
fn component_protect_changes_the_mode_of_every_policy_and_nothing_else() {
    let render = |components: &[&str]| {
        let folder = format!("{}//policies/karpenter/kustomize", home::REPOSITORY);
        let address = |path: &str| format!("{folder}/{path}?ref=v{}", home::VERSION);
        let components: Vec<_> =
            components.iter().map(|name| address(&format!("components/{name}"))).collect();
        let overlay = json!({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
            "resources": [address("base")], "components": components});
        kustomize::render_text(&overlay.to_string()).unwrap()
    };
    let monitored = render(&["node-overlays", "disruption"]);
    let mut protected = render(&["node-overlays", "disruption", "protect"]);
    assert_eq!(of_kind(&monitored, "ClusterAdmissionPolicy").len(), 7);
    for (object, monitored) in protected.iter_mut().zip(&monitored) {
        if object["kind"] == "ClusterAdmissionPolicy" {
            for (object, mode, announces) in [(&*object, "protect", false), (monitored, "monitor", true)] {
                assert_eq!(object["spec"]["mode"], mode, "{object}");
                assert_eq!(object["spec"]["settings"]["announceErrors"], announces, "{object}");
                assert_eq!(object["spec"]["mutating"], false, "{object}");
            }
            object["spec"]["mode"] = "monitor".into();
            object["spec"]["settings"]["announceErrors"] = true.into();
        }
        assert_eq!(object, monitored);
    }
}

#[test]
fn policies_name_this_release_their_server_and_the_resources_of_the_metadata() {
    let metadata: Value =
        serde_saphyr::from_str(&home::text("policies/karpenter/metadata.yml").unwrap()).unwrap();
    let servers: Vec<_> =
        of_kind(&all(), "PolicyServer").iter().map(|one| one["metadata"]["name"].clone()).collect();
    for spec in policies().iter().map(|policy| &policy["spec"]) {
        assert_eq!(spec["module"], home::module());
        assert_eq!(spec["contextAwareResources"], metadata["contextAwareResources"], "{spec}");
    }
    for policy in &policies() {
        assert!(servers.contains(&policy["spec"]["policyServer"]), "{policy}");
    }
}

#[test]
fn roles_grant_exactly_the_looked_up_and_the_audited_resources() {
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
    let looked_up = karpwarden::ADMISSION.looked_up();
    let looked_up =
        looked_up.iter().map(|(kind, _)| (kind.group.to_owned(), karpwarden_admit::kinds::plural(kind.name)));
    assert_eq!(granted("karpwarden-context"), looked_up.collect());
    // The audit scanner's default role does not include cluster-scoped resources.
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
    let labels = roles.iter().filter_map(|role| role["metadata"]["labels"].as_object());
    let aggregated = labels.flat_map(|labels| labels.keys()).find(|key| key.contains("aggregate-to"));
    assert_eq!(aggregated, None, "an aggregated role gives its rights to everybody with the other role");
    for (name, account) in
        [("karpwarden-context", "karpwarden-policy-server"), ("karpwarden-audit", "audit-scanner")]
    {
        let bindings = of_kind(&all(), "ClusterRoleBinding");
        let binding = bindings.iter().find(|binding| binding["metadata"]["name"] == name).unwrap();
        assert_eq!(binding["roleRef"]["name"], name);
        let subject = json!({"kind": "ServiceAccount", "name": account, "namespace": "kubewarden"});
        assert_eq!(binding["subjects"], json!([subject]));
    }
}

#[test]
fn policy_server_does_not_run_on_karpenters_nodes() {
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
fn fixing_policy_sets_every_family_to_info() {
    let fix = policies().into_iter().find(|policy| policy["metadata"]["name"] == "karpwarden-fix").unwrap();
    let levels = fix["spec"]["settings"]["rules"].as_object().unwrap();
    for family in karpwarden::rule::finding::Family::ALL {
        assert_eq!(levels[family.name()], "info", "{}", family.name());
    }
    assert_eq!(fix["spec"]["mutating"], true);
    assert_eq!(fix["spec"]["settings"]["fix"], true);
}

/// Both policies get updates of NodePools and EC2NodeClasses.
#[test]
fn rules_about_disruption_run_in_their_policy_alone() {
    let levels = |name: &str| {
        let policy = policies().into_iter().find(|policy| policy["metadata"]["name"] == name).unwrap();
        policy["spec"]["settings"]["rules"].clone()
    };
    let own = levels("karpwarden-disruption");
    for family in karpwarden::rule::finding::Family::ALL {
        assert_eq!(own[family.name()], "off", "{}", family.name());
    }
    let on: Vec<&str> =
        karpwarden::ADMISSION.rules().map(|rule| rule.name).filter(|name| !own[name].is_null()).collect();
    assert_eq!(
        on,
        [
            "deletion-removes-nodes",
            "update-replaces-nodes",
            "suppression-of-unknown-rule",
            "suppression-without-reason"
        ]
    );
    for other in ["karpwarden-karpenter-objects", "karpwarden-fix"] {
        assert_eq!(levels(other)["update-replaces-nodes"], "off", "{other}");
    }
}

/// `docs/install.md` removes an installation by this label, also what an earlier overlay created.
#[test]
fn every_object_has_the_label_by_which_it_is_removed() {
    for object in all() {
        assert_eq!(object["metadata"]["labels"]["app.kubernetes.io/part-of"], "karpwarden", "{object}");
    }
}
