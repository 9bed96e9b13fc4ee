//! Field masks, which select the parts of an object that the host sends.
//!
//! Source: kubewarden/kubewarden-controller
//! `crates/policy-evaluator/src/callback_handler/kubernetes/field_mask.rs`. A mask does not apply to `apiVersion`, `kind` and
//! `metadata`, which the host stores separately (`reflector.rs`).

use std::collections::BTreeMap;

use serde_json::Value;

/// Tree of the paths to keep. A leaf keeps everything below it.
#[derive(Debug, Default)]
pub(super) struct Mask(BTreeMap<String, Mask>);

impl Mask {
    /// Parses paths with dots between the keys. There is no notation for a key that contains a dot.
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

    /// Prunes an object, except for `apiVersion`, `kind` and `metadata`.
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
            // A path does not name the index of a list: it applies to every item.
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
        object.as_object_mut().unwrap().remove("metadata").expect("masks do not apply to metadata");
        object
    }

    #[test]
    fn empty_mask_keeps_everything() {
        assert!(pruned(&[])["spec"].get("template").is_some());
    }

    #[test]
    fn path_applies_to_every_item_of_a_list() {
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
    fn longer_path_narrows_a_shorter_one() {
        assert_eq!(pruned(&["spec", "spec.weight"])["spec"], json!({"weight": 10}));
    }

    #[test]
    fn mask_of_metadata_drops_spec_and_status() {
        let bare = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool"});
        assert_eq!(pruned(&["metadata.name"]), bare);
    }
}
