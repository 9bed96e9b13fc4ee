//! The pods and DaemonSets that are too large for the instance types of their NodePools, as the simulation judges them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::instance_types::EXTENDED_RESOURCES;
use karpenter::kind::Kind;
use karpenter::release::Release;
use manifest::tree::{Node, items_of};
use objects::node_pool::NodePool;
use objects::placeholders::has_placeholder_below;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{Place, Severity};
use scheduling::other_nodes::{is_critical, is_for_karpenter};
use scheduling::simulation::{Misfit, MissingResource, NodeRoom, Shortage};
use values::quantity::Quantity;

use crate::rules::indexes::{Pods, Pools};
use crate::rules::labels::pod_no_matching_pool::{is_certain, is_probable};
use crate::simulate::DeducedSettings;

/// The room on the nodes of a cluster, as it is with the controller's settings in the input.
pub(crate) fn room_of(inventory: &Inventory<'_>, context: &Context<'_, '_>) -> Arc<NodeRoom> {
    let (_, release) = context.settings.karpenter.ends();
    inventory.index::<NodeRooms>().for_release(release, inventory)
}

/// The room on the nodes by the release of the files that ask.
#[derive(Debug, Default)]
pub(crate) struct NodeRooms(Mutex<BTreeMap<Release, Arc<NodeRoom>>>);

impl Index for NodeRooms {
    type Value<'d> = Self;

    fn compute(_: &Inventory<'_>) -> Self {
        Self::default()
    }
}

impl NodeRooms {
    fn for_release(&self, release: Release, inventory: &Inventory<'_>) -> Arc<NodeRoom> {
        let find = || {
            let settings = DeducedSettings::for_rules(release, inventory.objects());
            Arc::new(NodeRoom::of(inventory.objects(), inventory.index::<Pods>().as_slice(), &settings))
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(release).or_insert_with(find))
    }
}

/// The result for a pod that is too large for every NodePool that takes it, if the input allows a verdict.
pub(crate) fn misfit<'d>(pod: Pod<'d>, context: &Context<'_, 'd>) -> Option<Misfit> {
    let found = room_of(context.inventory, context).misfit(pod)?.clone();
    let may_fit_elsewhere = || context.anywhere(|inventory| room_of(inventory, context).may_take(pod));
    let spec = pod.spec();
    let fields = [spec.node_selector_map(), spec.node_affinity(), spec.toleration_list()];
    let is_decided = is_known(context) && !fields.into_iter().flatten().any(has_placeholder_below);
    (is_decided && !may_fit_elsewhere()).then_some(found)
}

/// Whether the input shows the NodePools of the cluster, and what they are.
pub(crate) fn is_known(context: &Context<'_, '_>) -> bool {
    let pools = context.inventory.index::<Pools>();
    pools.is_known() && !pools.has_placeholder() && !context.may_be_in_environment(Kind::NODE_POOL)
}

/// A NodePool of the cluster.
pub(crate) fn pool<'d>(name: &str, context: &Context<'_, 'd>) -> Option<NodePool<'d>> {
    NodePool::of(context.inventory.find(Kind::NODE_POOL.group, Kind::NODE_POOL.name, name)?)
}

/// The place in a NodePool that decides about its instance types.
pub(crate) fn place_of_types(pool: NodePool<'_>) -> Place<'_> {
    let requirements = pool.requirements().node();
    requirements.map_or_else(|| Place::value(pool.object().name_node()), Place::key)
}

/// Severity of a finding about a shortage: an error only if the pod runs on nodes of Karpenter and the input has all NodePools.
/// `None` for pods that likely run on other nodes.
pub(crate) fn severity(pod: Pod<'_>, shortages: &[Shortage], context: &Context<'_, '_>) -> Option<Severity> {
    if runs_elsewhere(pod, context) {
        return None;
    }
    let is_complete = context.inventory.is_complete();
    let severity = match (is_certain(pod, context), is_probable(pod, context)) {
        (true, _) => Severity::Error,
        (_, true) => Severity::Warning,
        _ => Severity::Info,
    };
    // A sum of DaemonSets is right only if all of them run in the same cluster.
    let is_doubtful = shortages
        .iter()
        .any(|one| is_within_overhead(one, context) || (one.is_due_to_daemons && !is_complete));
    match (severity, is_critical(pod) && !is_for_karpenter(pod)) {
        (Severity::Info, true) => None,
        (_, true) => Some(Severity::Info),
        (Severity::Error, false) if is_doubtful => Some(Severity::Warning),
        (Severity::Warning, false) if is_doubtful && !is_complete => Some(Severity::Info),
        (severity, false) => Some(severity),
    }
}

/// Whether the input shows nodes that Karpenter did not launch, and the pod does not ask for nodes of Karpenter.
pub(crate) fn runs_elsewhere(pod: Pod<'_>, context: &Context<'_, '_>) -> bool {
    !is_for_karpenter(pod) && room_of(context.inventory, context).has_other_nodes()
}

/// Whether a pod needs a toleration for its accelerator: the NodePools that take the pod have none, and a tainted NodePool has.
pub(crate) fn needs_toleration(misfit: &Misfit) -> bool {
    let is_accelerator = |missing: &MissingResource| {
        missing.largest.is_zero() && EXTENDED_RESOURCES.contains(&missing.name.as_str())
    };
    !misfit.tainted.is_empty() && misfit.shortages.iter().all(|one| one.missing.iter().any(is_accelerator))
}

/// Whether only memory is missing, and not more than `vmMemoryOverheadPercent`: Karpenter expects a node to report this much less
/// memory than its instance type has, until it has seen a node of the type (pkg/providers/instancetype/instancetype.go of
/// aws/karpenter-provider-aws at v1.14.1).
pub(crate) fn is_within_overhead(shortage: &Shortage, context: &Context<'_, '_>) -> bool {
    let [missing] = shortage.missing.as_slice() else { return false };
    #[expect(clippy::cast_precision_loss, reason = "only compared")]
    let part = missing.requested.nano() as f64 / missing.largest.nano().max(1) as f64;
    missing.name == "memory" && part * (1.0 - room_of(context.inventory, context).memory_overhead()) <= 1.0
}

/// The comparison of a pod with the instance types of a NodePool.
pub(crate) fn comparison(shortage: &Shortage, missing: Option<&MissingResource>) -> String {
    let pool = &shortage.pool;
    let Some(missing) = missing else {
        return format!(
            "no instance type of the NodePool `{pool}` has enough of all requested resources together"
        );
    };
    let name = &missing.name;
    if missing.largest.is_zero() {
        return format!("no instance type of the NodePool `{pool}` has `{name}`");
    }
    let daemons = if shortage.is_due_to_daemons { " and the DaemonSets" } else { "" };
    format!(
        "it requests {} {name}, and the largest instance type of the NodePool `{pool}` leaves {} after its reservations{daemons}",
        request(name, missing.requested),
        amount(name, missing.largest)
    )
}

/// An amount that can be requested: bytes in Gi, rounded down; everything else as Kubernetes prints it.
pub(crate) fn amount(resource: &str, amount: Quantity) -> String {
    rounded(resource, amount, f64::floor)
}

/// A request, rounded up, so that it differs from an amount that is too small.
pub(crate) fn request(resource: &str, amount: Quantity) -> String {
    rounded(resource, amount, f64::ceil)
}

fn rounded(resource: &str, amount: Quantity, round: fn(f64) -> f64) -> String {
    if !matches!(resource, "memory" | "ephemeral-storage") {
        return amount.to_string();
    }
    #[expect(clippy::cast_precision_loss, reason = "only shown")]
    let tenths = round(amount.units() as f64 * 10.0 / f64::from(1 << 30));
    let text = format!("{:.1}", tenths / 10.0);
    format!("{}Gi", text.strip_suffix(".0").unwrap_or(&text))
}

/// The largest request of a resource among the containers of a pod; the specification if no container requests it.
pub(crate) fn place_of_request<'d>(pod: Pod<'d>, resource: &str) -> Place<'d> {
    let spec = pod.spec().node();
    let containers = ["containers", "initContainers"].into_iter().flat_map(|list| items_of(spec.get(list)));
    let resources = containers.chain([spec]).filter_map(|holder| holder.get("resources"));
    let asked = |resources: Node<'d>| {
        let of = |part: &str| resources.get(part)?.get(resource);
        of("requests").or_else(|| of("limits"))
    };
    let parsed = |node: Node<'d>| node.as_str().and_then(|text| Quantity::parse(text).ok());
    let requests: Vec<_> = resources.filter_map(asked).collect();
    let largest = requests
        .into_iter()
        .rev()
        .max_by_key(|node| parsed(*node).or_else(|| node.as_int().map(Quantity::from_units)));
    largest.map_or_else(|| Place::value(spec), Place::value)
}

#[cfg(test)]
pub(crate) mod fixtures {
    //! Objects for the tests of rules about room on nodes.

    /// An EC2NodeClass with further fields in flow style.
    pub(crate) fn class(name: &str, fields: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: {name}}}\nspec:\n  role: node\n  {fields}\n---\n"
        )
    }

    /// A NodePool of the EC2NodeClass `default` with these instance types and further fields of its template.
    pub(crate) fn pool(name: &str, types: &str, fields: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec:\n      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}\n      requirements: [{{key: node.kubernetes.io/instance-type, operator: In, values: [{types}]}}]\n      {fields}\n---\n"
        )
    }

    /// The EC2NodeClass `default` with AL2023.
    pub(crate) fn al2023() -> String {
        class("default", "amiSelectorTerms: [{alias: al2023@v20250505}]")
    }

    /// A pod with requests and further fields.
    pub(crate) fn pod(requests: &str, fields: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  {fields}\n  containers:\n  - name: a\n    resources: {{requests: {{{requests}}}}}\n---\n"
        )
    }

    /// A DaemonSet with requests and further fields.
    pub(crate) fn daemon(name: &str, requests: &str, fields: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec:\n      {fields}\n      containers:\n      - name: a\n        image: example.com/agent:1\n        resources: {{requests: {{{requests}}}}}\n---\n"
        )
    }
}
