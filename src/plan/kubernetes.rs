//! The change of the version of Kubernetes, which decides about the images of aliases.
//!
//! An alias with a version names an image for each version of Kubernetes, so that another version finds another image, and every node drifts.
//! Sources: website/content/en/docs/tasks/managing-amis.md ("Pinning AMIs") and `resolvePath` in pkg/providers/amifamily/al2023.go of
//! aws/karpenter-provider-aws at v1.14.1.

use answers::plan::ControllerChange;
use drift::Effect;
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};
use objects::eks_cluster::EksCluster;
use objects::node_pool::NodePool;
use objects::object::Object;
use values::placeholder::has_placeholder;

use super::controller::change;
use super::scope::PlanScope;

/// Subject of the change.
pub(super) const SUBJECT: &str = "Kubernetes";

/// The changed versions of the clusters of a scope.
pub(super) fn changes(scope: &PlanScope<'_>) -> Vec<ControllerChange> {
    let (old, new) = (clusters(&scope.old), clusters(&scope.new));
    let is_same = |one: &EksCluster<'_>, other: &EksCluster<'_>| {
        (old.len() == 1 && new.len() == 1) || (one.name().is_some() && one.name() == other.name())
    };
    let mut found = Vec::new();
    for after in &new {
        let Some(before) = old.iter().find(|before| is_same(before, after)) else { continue };
        let (one, other) = (before.version(), after.version());
        if one == other {
            continue;
        }
        let is_known = !has_placeholder(one) && !has_placeholder(other);
        let effect = scope.new.iter().filter_map(|object| NodePool::of(*object));
        let effect = effect.map(|pool| effect_on(pool, scope)).max().unwrap_or(Effect::None);
        let (effect, text) = match (effect, is_known) {
            (Effect::None, _) => {
                (Effect::None, "no EC2NodeClass selects its images with an alias, so no node is replaced")
            }
            (_, false) => (
                Effect::Unknown,
                "if the version changes, the aliases select images for another version of Kubernetes, and nodes with the old images drift",
            ),
            (effect, true) => (
                effect,
                "the aliases select images for the new version of Kubernetes, so that nodes with the old images drift",
            ),
        };
        found.push(change(SUBJECT, one, other, effect, text));
    }
    found
}

/// The effect of another version of Kubernetes on the nodes of a NodePool.
pub(super) fn effect_on(pool: NodePool<'_>, scope: &PlanScope<'_>) -> Effect {
    match class_of(pool, scope) {
        Some(class) if aliases(class).next().is_some() => Effect::ReplacesAll,
        Some(_) => Effect::None,
        None => Effect::Unknown,
    }
}

/// The EC2NodeClass of a NodePool after the change.
pub(super) fn class_of<'d>(pool: NodePool<'d>, scope: &PlanScope<'d>) -> Option<Object<'d>> {
    let name = pool.node_class_ref()?.name()?.as_str()?;
    scope.new.iter().copied().find(|object| object.is(Kind::NODE_CLASS) && object.name() == name)
}

/// The aliases of an EC2NodeClass.
pub(super) fn aliases<'d>(class: Object<'d>) -> impl Iterator<Item = &'d str> {
    items_of(class.at(&["spec", "amiSelectorTerms"]))
        .filter_map(|term| term.get("alias").and_then(Node::as_str))
}

fn clusters<'d>(objects: &[Object<'d>]) -> Vec<EksCluster<'d>> {
    objects.iter().filter_map(|object| EksCluster::of(*object)).collect()
}
