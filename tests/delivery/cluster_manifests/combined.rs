//! The examples of a group and of a policy in a namespace: known fields, and the answers of the module with their settings.

use cel::{Context, Program, Value as Cel};
use karpwarden_admit::FakeCluster;
use karpwarden_generate::{home, yaml};
use kubewarden_policy_sdk::crd::policies::{AdmissionPolicy, ClusterAdmissionPolicyGroup};
use serde_json::{Value, json};

use super::matched::{cluster, module, policy, request};
use super::samples::{bad, good};

fn documents(name: &str) -> Vec<Value> {
    yaml::documents(&home::text(&format!("policies/karpenter/examples/{name}")).unwrap()).unwrap()
}

/// Whether the expression of a group accepts, with the verdicts of its members.
fn accepts(group: &Value, correct: bool, exempt: bool) -> bool {
    let mut context = Context::default();
    context.add_function("correct", move || correct);
    context.add_function("exempt", move || exempt);
    let program = Program::compile(group["spec"]["expression"].as_str().unwrap()).unwrap();
    match program.execute(&context) {
        Ok(Cel::Bool(accepts)) => accepts,
        other => panic!("{other:?}"),
    }
}

#[test]
fn group_rejects_errors_without_the_label() {
    let [group] = &documents("group.yaml")[..] else { panic!("one document") };
    let _: ClusterAdmissionPolicyGroup = serde_json::from_value(group.clone()).unwrap();
    let spec = &group["spec"];
    let member = &spec["policies"]["correct"];
    assert_eq!(member["module"], home::module());
    let exemption = &spec["policies"]["exempt"]["settings"]["mandatory_labels"][0];
    assert!(spec["message"].as_str().unwrap().contains(exemption.as_str().unwrap()));
    let manifest = json!({"mode": "protect", "mutating": false, "settings": member["settings"]});
    let policy = policy(module(), &manifest);
    for kind in ["NodePool", "EC2NodeClass"] {
        let (good, (bad, _)) = (good(kind), bad(kind).unwrap());
        for (object, is_good) in [(&good, true), (&bad, false)] {
            let answer = policy.review(&request("CREATE", object, object), &cluster(member));
            assert_eq!(answer.allowed, is_good, "{kind}: {}", answer.message());
            assert_eq!(accepts(group, answer.allowed, false), is_good);
            assert!(accepts(group, answer.allowed, true));
        }
    }
}

/// The server grants a policy of a namespace nothing, so the policy must not ask.
#[test]
fn policy_of_a_namespace_asks_for_nothing() {
    let [server, manifest] = &documents("namespaced.yaml")[..] else { panic!("two documents") };
    let _: AdmissionPolicy = serde_json::from_value(manifest.clone()).unwrap();
    assert_eq!(server["spec"]["namespacedPoliciesCapabilities"], json!([]));
    assert_eq!(manifest["spec"]["policyServer"], server["metadata"]["name"]);
    assert_eq!(manifest["spec"]["module"], home::module());
    let base = yaml::documents(&home::text("policies/karpenter/kustomize/base/policy-server.yaml").unwrap());
    assert_eq!(server["spec"]["image"], base.unwrap()[0]["spec"]["image"]);
    let policy = policy(module(), &manifest["spec"]);
    let nothing = FakeCluster::holding([] as [Value; 0]);
    for kind in ["Deployment", "StatefulSet", "CronJob"] {
        let (good, (bad, rule)) = (good(kind), bad(kind).unwrap());
        for (object, is_good) in [(&good, true), (&bad, false)] {
            let answer = policy.review(&request("CREATE", object, object), &nothing);
            assert_eq!(answer.allowed, is_good, "{kind}: {}", answer.message());
            assert!(is_good || answer.message().contains(rule), "{}", answer.message());
            assert_eq!(answer.warnings.unwrap_or_default(), [] as [String; 0], "{kind}");
        }
    }
    assert!(nothing.calls().is_empty());
}
