//! A line above each NodePool and workload: the instance types that it leaves, and where its pods go.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::Kind;
use lsp_types::{CodeLens, Command, InlayHint, InlayHintLabel, Position, Range};
use manifest::File;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use objects::workload::Workload;
use scheduling::matching::selected_pools;
use scheduling::other_nodes::is_meant_for_other_nodes;
use scheduling::pool_index::PoolIndex;
use scheduling::simulation::{Placement, Simulation};

use crate::folder::{is_patch, objects, related};
use crate::lines::LinedText;
use crate::navigation::{in_file, objects_in};
use crate::pool_types::{PoolSurroundings, price};
use crate::workspace::FolderView;

/// Maximum number of NodePools of a document whose instance types are counted.
const MAX_POOLS: usize = 50;

/// Maximum number of pods of a document that are placed while somebody types.
const MAX_PODS: i64 = 2_000;

/// The capacity types in the order in which Karpenter tries them.
const CAPACITY_TYPES: [&str; 3] = ["reserved", "spot", "on-demand"];

/// The lines of a document.
pub(crate) fn lenses(folder: &dyn FolderView, file: &File, text: &LinedText) -> Vec<CodeLens> {
    let all = objects(folder, Some(file));
    let own: Vec<Object<'_>> =
        objects_in(file).filter(|object| in_file(object.name_node(), file).is_some()).collect();
    // A patch changes an object that has its own line.
    if is_patch(file) {
        return Vec::new();
    }
    let users: Vec<Object<'_>> = related(folder, file).into_iter().flat_map(objects_in).collect();
    let mut titles = of_pools(folder, &all, &users, &own);
    titles.extend(of_workloads(folder, &all, &own));
    let lens = |(object, title): (Object<'_>, String)| CodeLens {
        range: text.range(object.name_node().span()),
        command: Some(Command { title, command: String::new(), arguments: None }),
        data: None,
    };
    let mut lenses: Vec<CodeLens> = titles.into_iter().map(lens).collect();
    lenses.sort_by_key(|lens| (lens.range.start.line, lens.range.start.character));
    lenses
}

/// `412 instance types · 3 workloads · from $0.02/h`. The price is of the table, or a part of it for spot. `users` are the objects that may have pods for these NodePools.
fn of_pools<'d>(
    folder: &dyn FolderView,
    all: &[Object<'d>],
    users: &[Object<'d>],
    own: &[Object<'d>],
) -> Vec<(Object<'d>, String)> {
    let pools = all.iter().copied().filter(|object| object.is(Kind::NODE_POOL));
    let index = PoolIndex::of(pools);
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    for object in users.iter().filter(|object| is_workload(**object)) {
        let Some(pod) = Pod::of(*object).filter(|pod| !is_meant_for_other_nodes(*pod)) else { continue };
        let selected = selected_pools(pod, &index).unwrap_or_default();
        let names: BTreeSet<&str> =
            selected.iter().filter(|(_, taint)| taint.is_none()).map(|(pool, _)| pool.name()).collect();
        for name in names {
            *taken.entry(name).or_default() += 1;
        }
    }
    let pools: Vec<_> = own.iter().filter_map(|object| NodePool::of(*object)).take(MAX_POOLS).collect();
    if pools.is_empty() {
        return Vec::new();
    }
    let surroundings = PoolSurroundings::of(folder, all);
    let titled = pools.into_iter().filter_map(|pool| {
        let workloads = taken.get(pool.object().name()).copied().unwrap_or_default();
        let types = surroundings.types(pool)?;
        let from = types.cheapest.first().map(|(_, cheapest)| format!(" · from {}", price(*cheapest)));
        let types = counted(types.left, "instance type");
        let title = format!("{types} · {}{}", counted(workloads, "workload"), from.unwrap_or_default());
        Some((pool.object(), title))
    });
    titled.collect()
}

/// Whether an object has pods that Karpenter looks at: a pod, or a controller whose pods are not on every node.
fn is_workload(object: Object<'_>) -> bool {
    Pod::of(object).is_some_and(|pod| !pod.is_daemon())
}

/// `general, spot · 3 nodes`.
fn of_workloads<'d>(
    folder: &dyn FolderView,
    all: &[Object<'d>],
    own: &[Object<'d>],
) -> Vec<(Object<'d>, String)> {
    let workloads: Vec<Object<'d>> = own.iter().copied().filter(|object| is_workload(*object)).collect();
    let replicas = |object: &Object<'_>| Workload::of(*object).replicas().and_then(Node::as_int).unwrap_or(1);
    let pods = workloads.iter().map(replicas).fold(0_i64, |sum, count| sum.saturating_add(count.max(0)));
    let has_pools = all.iter().any(|object| object.is(Kind::NODE_POOL));
    if workloads.is_empty() || pods > MAX_PODS || !has_pools {
        return Vec::new();
    }
    let mut settings = folder.simulation_settings(all);
    settings.without_nodes = true;
    settings.assumes_node_classes |= !all.iter().any(|object| object.is(Kind::NODE_CLASS));
    let is_beside = |object: &&Object<'d>| !is_workload(**object);
    let input: Vec<Object<'d>> =
        all.iter().filter(is_beside).copied().chain(workloads.iter().copied()).collect();
    let Ok(simulation) = Simulation::new(settings, &input) else { return Vec::new() };
    let result = simulation.run();
    let titled = workloads.into_iter().filter_map(|object| {
        let placed = result.pods.iter().filter(|pod| pod.pod.object() == object).map(|pod| &pod.placement);
        let (mut nodes, mut unplaced) = (BTreeSet::new(), 0);
        for placement in placed {
            match placement {
                Placement::New(claim) => _ = nodes.insert(*claim),
                Placement::Unplaced(_) | Placement::Ignored(_) => unplaced += 1,
                _ => {}
            }
        }
        let claims = || nodes.iter().filter_map(|id| result.claims.get(*id));
        let pools: BTreeSet<&str> = claims().map(|claim| claim.pool.name()).collect();
        let types: BTreeSet<&str> = claims().filter_map(|claim| launched(&claim.capacity_types)).collect();
        let mut parts = Vec::new();
        if !nodes.is_empty() {
            let types = CAPACITY_TYPES.into_iter().filter(|name| types.contains(name));
            parts.push(pools.into_iter().chain(types).collect::<Vec<_>>().join(", "));
            parts.push(counted(nodes.len(), "node"));
        }
        if unplaced > 0 {
            parts.push(format!("{} without a node", counted(unplaced, "pod")));
        }
        (!parts.is_empty()).then(|| (object, parts.join(" · ")))
    });
    titled.collect()
}

/// The capacity type in which Karpenter launches a node that may have several.
/// Source: `getCapacityType` in pkg/providers/instance/instance.go of aws/karpenter-provider-aws at v1.14.1.
fn launched(possible: &[&str]) -> Option<&'static str> {
    CAPACITY_TYPES.into_iter().find(|name| possible.contains(name))
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The number of instance types that each requirement of a NodePool leaves, behind its key.
pub(crate) fn hints(folder: &dyn FolderView, file: &File, text: &LinedText, range: Range) -> Vec<InlayHint> {
    let pools: Vec<_> = objects_in(file).filter_map(NodePool::of).take(MAX_POOLS).collect();
    if pools.is_empty() {
        return Vec::new();
    }
    let surroundings = PoolSurroundings::of(folder, &objects(folder, Some(file)));
    let hints = pools.into_iter().filter_map(|pool| {
        let types = surroundings.types(pool)?;
        let counted = types.requirements.iter().filter_map(|one| Some((one.item.key_node()?, one.types?)));
        let own = counted.filter(|(node, _)| in_file(*node, file).is_some());
        Some(own.map(|(node, types)| hint(text.range(node.span()).end, types)).collect::<Vec<_>>())
    });
    hints.flatten().filter(|hint| range.start <= hint.position && hint.position <= range.end).collect()
}

fn hint(position: Position, types: usize) -> InlayHint {
    InlayHint {
        position,
        label: InlayHintLabel::String(format!(" {}", counted(types, "type"))),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: Some(true),
        data: None,
    }
}

#[cfg(test)]
mod tests {
    use karpenter::release::Release;

    use super::*;
    use crate::lines::PositionUnit;
    use crate::testing::TextFolder;

    const OBJECTS: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: other}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {karpenter.sh/nodepool: general}
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: karpenter.sh/capacity-type, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: web, image: web, resources: {requests: {cpu: '1'}}}]
";

    #[test]
    fn names_the_capacity_type_of_each_node_and_asks_the_folder_once_for_each_kind_of_line() {
        let folder = TextFolder::of(&[("a.yaml", OBJECTS)], Release::NEWEST);
        let text = LinedText::of(OBJECTS, PositionUnit::Utf16);
        let lenses = lenses(&folder, &folder.files()[0], &text);
        let titles: Vec<_> = lenses.into_iter().map(|lens| lens.command.unwrap().title).collect();
        assert_eq!(titles[2], "general, spot, on-demand · 2 nodes", "{titles:?}");
        assert_eq!(folder.simulations.get(), 2);
    }
}
