//! Tags of selector terms, and tags that Karpenter sets on the resources that it creates.

use super::super::stored::members;
use super::relation::{CheckedValue, Relation, Violations, always};

/// The tags of a selector term.
pub(in super::super) const OF_TERM: &[Relation] = &[always(no_empty_tag)];

/// `spec.tags` of an EC2NodeClass.
pub(in super::super) const OF_NODE_CLASS: &[Relation] = &[always(no_restricted_tag)];

/// The API server's message about a selector with an empty tag.
const EMPTY: &str = "empty tag keys or values aren't supported";

fn no_empty_tag<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for (key, value) in members(checked.node) {
        if key.is_empty() {
            violations
                .add_key(value, "a tag of a selector has an empty key", "write the key of the tag")
                .says(EMPTY);
        } else if value.as_str() == Some("") {
            violations
                .add(
                    value,
                    format!("the tag `{key}` of a selector has an empty value"),
                    "write the value of the tag, or `\"*\"` for any value",
                )
                .says(EMPTY);
        }
    }
}

fn no_restricted_tag<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for (key, value) in members(checked.node) {
        if key.is_empty() {
            violations
                .add_key(value, "a tag has an empty key", "write the key of the tag, or remove it")
                .says("empty tag keys aren't supported");
            continue;
        }
        // The server compares the prefix without the following slash.
        let of_cluster = key.starts_with("kubernetes.io/cluster");
        let is_restricted = of_cluster
            || matches!(
                key,
                "eks:eks-cluster-name"
                    | "karpenter.sh/nodepool"
                    | "karpenter.sh/nodeclaim"
                    | "karpenter.k8s.aws/ec2nodeclass"
            );
        if is_restricted {
            let matching = if of_cluster { "kubernetes.io/cluster/" } else { key };
            violations
                .add_key(
                    value,
                    format!("the tag `{key}` is reserved: Karpenter sets it to find its instances again"),
                    format!("remove `{key}` from `spec.tags`"),
                )
                .says(format!("tag contains a restricted tag matching {matching}"));
        }
    }
}
