//! The tags that select something, and those that Karpenter puts on what it makes.

use super::super::stored::members;
use super::{Breaches, Held, Relation, always};

/// The tags of a selector term.
pub(in super::super) const OF_TERM: &[Relation] = &[always(no_empty_tag)];

/// `spec.tags` of an EC2NodeClass.
pub(in super::super) const OF_NODE_CLASS: &[Relation] = &[always(no_kept_tag)];

fn no_empty_tag<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (key, value) in members(held.node) {
        if key.is_empty() {
            breaches.add_key(value, "a tag to select by has an empty key", "write the key of the tag");
        } else if value.as_str() == Some("") {
            breaches.add(
                value,
                format!("the tag `{key}` to select by has an empty value"),
                "write the value of the tag, or `\"*\"` for any value",
            );
        }
    }
}

fn no_kept_tag<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (key, value) in members(held.node) {
        if key.is_empty() {
            breaches.add_key(value, "a tag has an empty key", "write the key of the tag, or remove it");
            continue;
        }
        // The prefix is compared without the slash behind it.
        let kept = key.starts_with("kubernetes.io/cluster")
            || matches!(
                key,
                "eks:eks-cluster-name"
                    | "karpenter.sh/nodepool"
                    | "karpenter.sh/nodeclaim"
                    | "karpenter.k8s.aws/ec2nodeclass"
            );
        if kept {
            breaches.add_key(
                value,
                format!("the tag `{key}` is set by Karpenter itself, with the value that finds its instances again"),
                format!("remove `{key}` from `spec.tags`"),
            );
        }
    }
}
