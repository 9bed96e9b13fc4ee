//! Objects whose fields a plan does not compare: of versions of Karpenter's API before v1, and node classes of other controllers: of EKS Auto
//! Mode, which is not public, and of Karpenter's providers for other clouds, such as `AKSNodeClass`.

use std::collections::{BTreeMap, BTreeSet};

use drift::{ConcernedPools, Effect, ObjectChange, ObjectChangeKind, is_written_alike};
use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;

use super::scope::PlanScope;

/// The kinds that became NodePool and EC2NodeClass.
///
/// Source: website/content/en/v0.32/upgrading/v1beta1-migration.md of aws/karpenter-provider-aws.
const FORMER: [&str; 2] = ["Provisioner", "AWSNodeTemplate"];

/// Whether a change of an object may change nodes, and a plan cannot say how.
pub(super) fn is_older(object: Object<'_>) -> bool {
    let is_planned = [Kind::NODE_POOL.name, Kind::NODE_CLASS.name].contains(&object.kind())
        || FORMER.contains(&object.kind());
    (is_planned && object.is_older_than_v1()) || is_of_other_controller(object)
}

/// Whether an object is a node class of another controller than Karpenter's provider for AWS. Their kinds have one ending.
///
/// Sources: pkg/apis/v1beta1/aksnodeclass.go of Azure/karpenter-provider-azure; kwok/apis/v1alpha1/kwoknodeclass.go of
/// kubernetes-sigs/karpenter.
fn is_of_other_controller(object: Object<'_>) -> bool {
    object.kind().ends_with("NodeClass") && !["", Kind::NODE_CLASS.group].contains(&object.group())
}

/// The NodePools whose nodes a changed object concerns.
fn concerned<'d>(
    object: Object<'d>,
    pools: &ConcernedPools<'d>,
    objects: &[Object<'d>],
) -> BTreeSet<&'d str> {
    if is_of_other_controller(object) {
        let uses = |pool: &NodePool<'d>| {
            let reference = pool.node_class_ref();
            reference.is_some_and(|reference| {
                let text = |node: Option<Node<'d>>| node.and_then(Node::as_str);
                text(reference.kind()) == Some(object.kind()) && text(reference.name()) == Some(object.name())
            })
        };
        let own = objects.iter().filter_map(|object| NodePool::of(*object)).filter(uses);
        return own.map(|pool| pool.object().name()).collect();
    }
    let kind = [Kind::NODE_POOL, Kind::NODE_CLASS].into_iter().find(|kind| kind.name == object.kind());
    kind.map(|kind| pools.of_object(kind, object.name())).unwrap_or_default()
}

/// The reason why the fields of an object are not compared.
pub(super) fn reason(change: &ObjectChange<'_>) -> Option<String> {
    let older = [change.old, change.new].into_iter().flatten().find(|object| is_older(*object))?;
    Some(format!("a plan does not compare the fields of {}", older.api_version()))
}

/// The objects of older versions in files that are applied to a cluster.
pub(super) fn of_files<'d>(
    files: impl Iterator<Item = Object<'d>>,
    cluster: &[Object<'d>],
) -> Vec<ObjectChange<'d>> {
    let files: Vec<Object<'d>> = files.filter(|object| is_older(*object)).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let pools = ConcernedPools::of(cluster);
    let mut olds: BTreeMap<(&str, &str), Object<'d>> = BTreeMap::new();
    for object in cluster {
        olds.entry((object.kind(), object.name())).or_insert(*object);
    }
    let is_same = |new: &Object<'d>| {
        let old = olds.get(&(new.kind(), new.name())).filter(|old| old.api_version() == new.api_version());
        let specs = old.and_then(|old| old.at(&["spec"]).zip(new.at(&["spec"])));
        specs.is_some_and(|(old, new)| is_written_alike(old, new))
    };
    let files: Vec<Object<'d>> = files.into_iter().filter(|new| !is_same(new)).collect();
    let applied = files.into_iter().map(|new| {
        let old = olds.get(&(new.kind(), new.name())).copied();
        let (change, effect) = match old {
            Some(_) => (ObjectChangeKind::Changed, Effect::Unknown),
            None => (ObjectChangeKind::Added, Effect::NewNodes),
        };
        let node_pools = concerned(new, &pools, cluster);
        ObjectChange { change, old, new: Some(new), effect, reason: None, node_pools, fields: Vec::new() }
    });
    applied.collect()
}

/// Adds the changed objects of older versions, and corrects the changes of objects that had or get such a version.
pub(super) fn add<'d>(changes: &mut Vec<ObjectChange<'d>>, scope: &PlanScope<'d>) {
    let name = |object: &Object<'d>| (object.kind(), object.name());
    let older = |side: &[Object<'d>]| -> BTreeMap<(&'d str, &'d str), Object<'d>> {
        side.iter().filter(|object| is_older(**object)).map(|object| (name(object), *object)).collect()
    };
    let (olds, news) = (older(&scope.old), older(&scope.new));
    if olds.is_empty() && news.is_empty() {
        return;
    }
    let pools = ConcernedPools::of(scope.old.iter().chain(&scope.new));
    let all: Vec<Object<'d>> = scope.old.iter().chain(&scope.new).copied().collect();
    let mut converted: BTreeSet<(&str, &str)> = BTreeSet::new();
    for change in changes.iter_mut() {
        let Some(key) = change.object().map(|object| name(&object)) else { continue };
        let other = match change.change {
            ObjectChangeKind::Added => olds.get(&key).map(|old| change.old = Some(*old)),
            ObjectChangeKind::Removed => news.get(&key).map(|new| change.new = Some(*new)),
            ObjectChangeKind::Changed => None,
        };
        if other.is_some() {
            (change.change, change.effect) = (ObjectChangeKind::Changed, Effect::Unknown);
            converted.insert(key);
        }
    }
    let names: BTreeSet<(&'d str, &'d str)> = olds.keys().chain(news.keys()).copied().collect();
    for key in names.into_iter().filter(|key| !converted.contains(key)) {
        let (old, new) = (olds.get(&key).copied(), news.get(&key).copied());
        let is_pool = key.0 == Kind::NODE_POOL.name;
        let (change, effect) = match (old, new) {
            (Some(old), Some(new)) if is_written_alike(old.root(), new.root()) => continue,
            (Some(_), Some(_)) => (ObjectChangeKind::Changed, Effect::Unknown),
            (Some(_), None) if is_pool => (ObjectChangeKind::Removed, Effect::RemovesNodes),
            // The finalizer of an EC2NodeClass waits for its nodes.
            (Some(_), None) if key.0 == Kind::NODE_CLASS.name => {
                (ObjectChangeKind::Removed, Effect::ActsAtOnce)
            }
            (Some(_), None) => (ObjectChangeKind::Removed, Effect::Unknown),
            (None, _) => (ObjectChangeKind::Added, Effect::NewNodes),
        };
        let node_pools = new.or(old).map(|object| concerned(object, &pools, &all)).unwrap_or_default();
        changes.push(ObjectChange { change, old, new, effect, reason: None, node_pools, fields: Vec::new() });
    }
}
