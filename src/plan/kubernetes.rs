//! The change of the version of Kubernetes, which decides about the images of aliases.
//!
//! An alias with a version names an image for each version of Kubernetes, so that another version finds another image, and every node drifts.
//! Sources: website/content/en/docs/tasks/managing-amis.md ("Pinning AMIs") and `resolvePath` in pkg/providers/amifamily/al2023.go of
//! aws/karpenter-provider-aws at v1.14.1.

use std::collections::BTreeMap;

use answers::plan::ControllerChange;
use drift::Effect;
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};
use objects::eks_cluster::EksCluster;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use values::placeholder::has_placeholder;

use super::controller::change;
use super::scope::PlanScope;

/// Subject of the change.
pub(super) const SUBJECT: &str = "Kubernetes";

/// The changed versions of the clusters of a scope.
pub(super) fn changes(scope: &PlanScope<'_>) -> Vec<ControllerChange> {
    let (old, new) = (clusters(&scope.old), clusters(&scope.new));
    let is_alone = old.len() == 1 && new.len() == 1;
    let versions = |side: &[EksCluster<'_>], name: Option<&str>| -> Vec<String> {
        let own = side.iter().filter(|one| is_alone || one.name() == name);
        let mut versions: Vec<String> = own.map(|one| one.version()).collect();
        versions.sort_unstable();
        versions
    };
    let mut found: Vec<ControllerChange> = Vec::new();
    for after in &new {
        let (before, now) = (versions(&old, after.name()), versions(&new, after.name()));
        let Some((before, now)) = before.into_iter().zip(now).find(|(one, other)| one != other) else {
            continue;
        };
        if found.iter().any(|change| change.old == before && change.new == now) {
            continue;
        }
        let is_known = is_alone && !has_placeholder(&before) && !has_placeholder(&now);
        let (effect, text) = match (effect(scope), is_known) {
            (Effect::None, _) => {
                (Effect::None, "no EC2NodeClass selects its images with an alias, so no node is replaced")
            }
            // Which of several clusters has the NodePools is not known.
            (_, false) => (
                Effect::Unknown,
                "if it is the version of this cluster and changes, the aliases select images for another version of Kubernetes, and nodes with the old \
                 images drift",
            ),
            (effect, true) => (
                effect,
                "aliases select images for the new version of Kubernetes, so that nodes with the old images drift",
            ),
        };
        found.push(change(SUBJECT, &before, &now, effect, text));
    }
    found
}

/// The strongest effect of another version on the nodes of a scope.
fn effect(scope: &PlanScope<'_>) -> Effect {
    let classes = ClassesByName::of(&scope.new);
    let mut pools = scope.new.iter().filter_map(|object| NodePool::of(*object)).peekable();
    // The NodePools that use an EC2NodeClass may be outside of the input, and so may the EC2NodeClasses.
    let is_open = if classes.0.is_empty() {
        pools.peek().is_none()
    } else {
        classes.0.values().any(|class| of_class(*class) != Effect::None)
    };
    let open = if is_open { Effect::Unknown } else { Effect::None };
    pools.map(|pool| effect_on(pool, &classes)).max().unwrap_or(Effect::None).max(open)
}

/// The effect of another version of Kubernetes on the nodes of a NodePool.
pub(super) fn effect_on(pool: NodePool<'_>, classes: &ClassesByName<'_>) -> Effect {
    classes.of_pool(pool).map_or(Effect::Unknown, of_class)
}

fn of_class(class: Object<'_>) -> Effect {
    if aliases(class).next().is_some() {
        Effect::ReplacesAll
    } else if class.at(&["spec", "amiSelectorTerms"]).is_some_and(has_placeholder_below) {
        Effect::Unknown
    } else {
        Effect::None
    }
}

/// The EC2NodeClasses among objects, by name.
#[derive(Debug, Default)]
pub(super) struct ClassesByName<'d>(BTreeMap<&'d str, Object<'d>>);

impl<'d> ClassesByName<'d> {
    pub(super) fn of(objects: &[Object<'d>]) -> Self {
        let classes = objects.iter().copied().filter(|object| object.is(Kind::NODE_CLASS));
        Self(classes.map(|class| (class.name(), class)).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<Object<'d>> {
        self.0.get(name).copied()
    }

    /// The EC2NodeClass of a NodePool.
    pub(super) fn of_pool(&self, pool: NodePool<'_>) -> Option<Object<'d>> {
        let reference = pool.node_class_ref()?;
        let kind = reference.kind().and_then(Node::as_str);
        let is_of_kind = kind.is_none_or(|kind| kind == Kind::NODE_CLASS.name);
        self.get(reference.name()?.as_str()?).filter(|_| is_of_kind)
    }
}

/// The aliases of an EC2NodeClass.
pub(super) fn aliases(class: Object<'_>) -> impl Iterator<Item = &str> {
    items_of(class.at(&["spec", "amiSelectorTerms"]))
        .filter_map(|term| term.get("alias").and_then(Node::as_str))
}

fn clusters<'d>(objects: &[Object<'d>]) -> Vec<EksCluster<'d>> {
    objects.iter().filter_map(|object| EksCluster::of(*object)).collect()
}
