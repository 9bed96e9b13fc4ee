//! Field masks: which parts of an object the host sends.
//!
//! Source: kubewarden/kubewarden-controller
//! `crates/policy-evaluator/src/callback_handler/kubernetes/field_mask.rs`, and `reflector.rs` for what a mask never
//! reaches: the host holds `apiVersion`, `kind` and `metadata` apart from the rest, and prunes only the rest.

use std::collections::BTreeMap;

use serde_json::Value;

/// A tree of the paths to keep. A node without children keeps everything below it.
#[derive(Debug, Default)]
pub(super) struct Mask(BTreeMap<String, Mask>);

impl Mask {
    /// Paths are separated by dots; a key that has a dot in it cannot be named.
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut root = Self::default();
        for path in paths {
            let mut node = &mut root;
            for part in path.split('.') {
                node = node.0.entry(part.to_owned()).or_default();
            }
        }
        root
    }

    /// Prunes an object of the cluster, sparing what identifies it.
    pub(super) fn prune_object(&self, object: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        let Some(fields) = object.as_object_mut() else { return };
        fields.retain(|key, value| {
            if matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                return true;
            }
            self.keep(key, value)
        });
    }

    fn prune(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::Object(fields) => fields.retain(|key, value| self.keep(key, value)),
            // A path goes through a list as if it were not there.
            Value::Array(items) => items.iter_mut().for_each(|item| self.prune(item)),
            _ => {}
        }
    }

    fn keep(&self, key: &str, value: &mut Value) -> bool {
        let Some(child) = self.0.get(key) else { return false };
        child.prune(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pruned(paths: &[&str]) -> Value {
        let mut object = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "default", "labels": {"karpenter.sh/team": "a"}},
            "spec": {
                "weight": 10,
                "template": {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "value": "c"}]}},
            },
            "status": {"conditions": []},
        });
        Mask::new(paths.iter().copied()).prune_object(&mut object);
        object.as_object_mut().unwrap().remove("metadata").expect("no mask reaches metadata");
        object
    }

    #[test]
    fn an_empty_mask_keeps_everything() {
        assert!(pruned(&[])["spec"].get("template").is_some());
    }

    #[test]
    fn a_path_goes_through_lists_and_keeps_all_below_its_end() {
        assert_eq!(
            pruned(&["spec.template.spec.taints.key", "status"]),
            json!({
                "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
                "spec": {"template": {"spec": {"taints": [{"key": "a"}, {"key": "b"}]}}},
                "status": {"conditions": []},
            })
        );
    }

    #[test]
    fn a_longer_path_narrows_a_shorter_one() {
        assert_eq!(pruned(&["spec", "spec.weight"])["spec"], json!({"weight": 10}));
    }

    #[test]
    fn a_mask_of_metadata_alone_drops_spec_and_status() {
        let bare = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool"});
        assert_eq!(pruned(&["metadata.name"]), bare);
    }
}
