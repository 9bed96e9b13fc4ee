//! 1.15, which was not recorded: values computed apart from the text of the source between 1.14.1 and 1.15.0.

use serde_json::{Value as Json, json};

use super::hash_at;

fn class(more: &Json) -> Json {
    let mut spec = json!({"role": "r", "amiSelectorTerms": [{"alias": "al2023@latest"}]});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn the_text_of_the_kubelet_configuration_is_a_part_of_the_hash() {
    let whole = class(&json!({
        "enclaveOptions": {"enabled": true},
        "kubelet": {
            "systemReserved": {"cpu": "100m"},
            "maxPods": "min(110, < 3)",
            "evictionHard": {"memory.available": "5%"},
        },
    }));
    for (class, release, expected) in [
        (&whole, "1.15", "4002608821904387624"),
        (&class(&json!({"enclaveOptions": {"enabled": true}})), "1.15", "6538196532857316071"),
        (&class(&json!({})), "1.15", "16664176375993651535"),
        // An empty configuration counts as no configuration: pkg/apis/v1/kubeletconfiguration.go at 1d927085.
        (&class(&json!({"kubelet": {}})), "1.15", "16664176375993651535"),
        (&class(&json!({})), "1.11", "10535197735019369516"),
    ] {
        assert_eq!(hash_at(class, release, false, "").as_deref(), Ok(expected), "{class} {release}");
    }
}

#[test]
fn no_edit_of_a_passed_on_field_escapes_the_hash() {
    let one = class(&json!({"kubelet": {"topologyManagerPolicy": "none"}}));
    let other = class(&json!({"kubelet": {"topologyManagerPolicy": "best-effort"}}));
    assert_ne!(hash_at(&one, "1.15", false, ""), hash_at(&other, "1.15", false, ""));
    assert_eq!(hash_at(&one, "1.14", false, ""), hash_at(&other, "1.14", false, ""));
}
