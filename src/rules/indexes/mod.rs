//! Indexes over the objects of a cluster that several rules ask. An index that only one rule asks is in the file of that rule.

pub(crate) mod pod_disruption_budgets;
pub(crate) mod pod_labels;
pub(crate) mod pool_order;

use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use ids::{IdVec, ids};
use karpenter::kind::Kind;
use karpenter::release::Release;
use manifest::tree::Node;
use objects::controller::Controller;
use objects::conversion::Neighbours;
use objects::feature_gates::FeatureGates;
use objects::iam_policy::IamAccess;
use objects::identity::{Identity, ServiceAccountNames};
use objects::node_access::NodeAccess;
use objects::node_agents::NodeAgents;
use objects::node_class::{Ec2NodeClass, SelectorField};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use objects::pod_identity::PodIdentityAssociation;
use objects::priority_class::PriorityClass;
use objects::storage::ClaimIndex;
use objects::terraform_module::KarpenterModule;
use objects::zones::ServedZones;
use rule::LookUp;
use rule::context::Context;
use rule::settings::Target;
use scheduling::pool_index::PoolIndex;
use values::placeholder::has_placeholder;

use super::access::iam_passrole_mismatch::RolesToPass;
use super::capacity::zone_outside_nodeclass::ZonesOfClasses;
use pod_disruption_budgets::PodDisruptionBudgets;
use pool_order::PoolOrder;

/// Functions that compute the largest indexes at the same time. Only the identity of the cluster needs an index of another function,
/// the controllers.
pub(super) const LARGE: [fn(&Inventory<'_>); 4] = [
    |inventory| {
        inventory.index::<Pools>().has_placeholder();
        inventory.index::<PoolOrder>();
    },
    |inventory| {
        inventory.index::<PodDisruptionBudgets>();
    },
    |inventory| {
        inventory.index::<ZonesOfClasses>();
        inventory.index::<Controllers>();
    },
    |inventory| {
        inventory.index::<ClusterIdentity>();
        inventory.index::<RolesToPass>();
    },
];

/// The NodePools of a cluster, with the fields that the indexes of this file read. A rule that asks [`Pools`] or [`ZonesOfPools`] in
/// an admission request has it in its `inventory`.
pub(crate) const POOLS: LookUp = LookUp::InCluster(
    Kind::NODE_POOL,
    &[
        "spec.template.metadata.labels",
        "spec.template.spec.nodeClassRef",
        "spec.template.spec.requirements",
        "spec.template.spec.taints",
    ],
);

/// The NodePools as the scheduler sees them, including NodePools of version v1beta1.
pub(crate) struct Pools;

impl Index for Pools {
    type Value<'d> = PoolIndex<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> PoolIndex<'d> {
        const BETA: Kind = Kind::of("karpenter.sh", "v1beta1", "NodePool");
        let pools = inventory.objects_of(Kind::NODE_POOL).chain(inventory.objects_of(BETA));
        PoolIndex::of(pools).with_omitted(inventory.omitted_pools())
    }
}

/// The EC2NodeClasses by name, and by file and name; `None` for a name that the input or the file repeats, as the input of several
/// clusters does.
pub(crate) struct NodeClasses<'d> {
    by_name: BTreeMap<&'d str, Option<Ec2NodeClass<'d>>>,
    in_file: BTreeMap<(&'d str, &'d str), Option<Ec2NodeClass<'d>>>,
}

impl Index for NodeClasses<'static> {
    type Value<'d> = NodeClasses<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> NodeClasses<'d> {
        let (mut by_name, mut in_file) = (BTreeMap::new(), BTreeMap::new());
        for class in inventory.objects_of(Kind::NODE_CLASS).filter_map(Ec2NodeClass::of) {
            let (name, file) = (class.object().name(), file_of(class.object()));
            by_name.entry(name).and_modify(|first| *first = None).or_insert(Some(class));
            in_file.entry((file, name)).and_modify(|first| *first = None).or_insert(Some(class));
        }
        NodeClasses { by_name, in_file }
    }
}

impl<'d> NodeClasses<'d> {
    /// The EC2NodeClass of a NodePool, and the name in the reference. If the input repeats the name, the file of the NodePool has
    /// its EC2NodeClass.
    pub(crate) fn of_pool(&self, pool: NodePool<'d>) -> Option<(Ec2NodeClass<'d>, Node<'d>)> {
        let reference = pool.node_class_ref().filter(|reference| !reference.is_of_auto_mode())?;
        let name = reference.name()?;
        let text = name.as_str()?;
        let of_name = self.by_name.get(text)?;
        let in_file = || *self.in_file.get(&(file_of(pool.object()), text))?;
        Some((of_name.or_else(in_file)?, name))
    }
}

/// The name of the file that has an object.
fn file_of(object: Object<'_>) -> &str {
    object.root().source().name()
}

ids! {
    /// Pod or pod template of an inventory.
    pub(crate) InventoryPodId;
}

/// The pods, and the pod templates of workloads.
pub(crate) struct Pods;

impl Index for Pods {
    type Value<'d> = IdVec<InventoryPodId, Pod<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> IdVec<InventoryPodId, Pod<'d>> {
        inventory.objects().iter().copied().flat_map(Pod::all).collect()
    }
}

/// The PersistentVolumeClaims, including the claim templates of workloads.
pub(crate) struct Claims;

impl Index for Claims {
    type Value<'d> = ClaimIndex<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> ClaimIndex<'d> {
        ClaimIndex::of(inventory.objects())
    }
}

/// The Deployments of Karpenter's controller.
pub(crate) struct Controllers;

impl Index for Controllers {
    type Value<'d> = Vec<Controller<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Vec<Controller<'d>> {
        inventory.own().iter().copied().filter_map(Controller::of).collect()
    }
}

/// The feature gates of the controller.
pub(crate) struct Gates;

impl Index for Gates {
    type Value<'d> = FeatureGates<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> FeatureGates<'d> {
        FeatureGates::of(inventory.objects(), inventory.index::<Controllers>())
    }
}

/// Known identity of the cluster.
pub(crate) struct ClusterIdentity;

impl Index for ClusterIdentity {
    type Value<'d> = Identity<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Identity<'d> {
        Identity::of(inventory.own(), inventory.index::<Controllers>())
    }
}

/// The names of the roles of Karpenter's controller, each with the node that names the role.
pub(crate) struct ControllerRoles;

impl Index for ControllerRoles {
    type Value<'d> = Vec<(String, Node<'d>)>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Vec<(String, Node<'d>)> {
        let mut roles = Vec::new();
        let name = |text: &str| {
            let name = text.rsplit('/').next().unwrap_or_default();
            (!name.is_empty() && !has_placeholder(name)).then(|| name.to_owned())
        };
        if let Some(role) = inventory.index::<ClusterIdentity>().role {
            roles.extend(name(role.text).map(|name| (name, role.node)));
        }
        let accounts = &inventory.index::<ServiceAccounts>().names;
        let associations = inventory.own().iter().copied().flat_map(PodIdentityAssociation::all);
        for association in associations.filter(|association| association.is_of_controller(accounts)) {
            let named = association.role_name().and_then(|text| name(&text));
            roles.extend(named.zip(association.role));
        }
        roles
    }
}

/// The modules of Terraform that create what Karpenter needs.
pub(crate) struct KarpenterModules;

impl Index for KarpenterModules {
    type Value<'d> = Vec<KarpenterModule<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Vec<KarpenterModule<'d>> {
        inventory.own().iter().copied().filter_map(KarpenterModule::of).collect()
    }
}

/// The service accounts of Karpenter's controller.
pub(crate) struct ServiceAccounts<'d> {
    pub(crate) names: ServiceAccountNames<'d>,
    /// The service accounts in the input, as `namespace:name`, each with the node that names it.
    pub(crate) known: Vec<(String, Node<'d>)>,
}

impl ServiceAccounts<'_> {
    /// Whether the controller of a cluster may run as a service account: the input has it, or a service account of this name is the
    /// controller's, and the input does not show its namespace.
    pub(crate) fn may_have(&self, namespace: &str, name: &str) -> bool {
        let of_name = |(known, _): &&(String, Node<'_>)| known.rsplit(':').next() == Some(name);
        let mut of_name = self.known.iter().filter(of_name).peekable();
        match of_name.peek() {
            Some(_) => of_name.any(|(known, _)| *known == format!("{namespace}:{name}")),
            None => self.names.contains(name),
        }
    }
}

impl Index for ServiceAccounts<'static> {
    type Value<'d> = ServiceAccounts<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> ServiceAccounts<'d> {
        let names = ServiceAccountNames::of(inventory.own(), inventory.index::<Controllers>());
        let known = names.among(inventory.own()).filter_map(|object| {
            let node = object.at(&["metadata", "name"])?;
            let namespace = object.namespace();
            let is_known =
                !namespace.is_empty() && !has_placeholder(namespace) && !has_placeholder(object.name());
            is_known.then(|| (format!("{namespace}:{}", object.name()), node))
        });
        let known = known.collect();
        ServiceAccounts { names, known }
    }
}

/// The cluster name in the settings of the controller or its chart, and the node of the name; `None` if no object sets the name,
/// or if two objects set different names.
pub(crate) fn cluster_name<'d>(inventory: &Inventory<'d>) -> Option<(&'d str, Node<'d>)> {
    inventory.index::<ClusterIdentity>().name.map(|mark| (mark.text, mark.node))
}

/// The zones that the NodePools serve.
pub(crate) struct ZonesOfPools;

impl Index for ZonesOfPools {
    type Value<'d> = ServedZones<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> ServedZones<'d> {
        ServedZones::of(inventory.objects_of(Kind::NODE_POOL))
    }
}

/// The objects that the conversion of an object to v1 depends on.
pub(crate) struct ConversionNeighbours;

impl Index for ConversionNeighbours {
    type Value<'d> = Neighbours<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Neighbours<'d> {
        Neighbours::of(inventory.objects())
    }
}

/// Whether there are objects of Karpenter, and all of them are from before 0.32.
struct AreAllAlpha;

impl Index for AreAllAlpha {
    type Value<'d> = bool;

    fn compute(inventory: &Inventory<'_>) -> bool {
        let has_old = inventory.objects().iter().any(|object| object.is_older_than_v1());
        has_old && inventory.index::<ConversionNeighbours>().are_all_alpha()
    }
}

/// Whether the files are for a release below 1.0: the input pins one, or nothing names a release and every object of Karpenter is from
/// before 0.32.
pub(crate) fn is_before_v1(context: &Context<'_, '_>) -> bool {
    let settings = context.settings;
    let is_guessed =
        !settings.is_karpenter_version_set && settings.karpenter == Target::only(Release::NEWEST);
    context.version_before_v1.is_some() || (is_guessed && *context.inventory.index::<AreAllAlpha>())
}

/// The IAM policies and roles.
pub(crate) struct Iam;

impl Index for Iam {
    type Value<'d> = IamAccess<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> IamAccess<'d> {
        IamAccess::of(inventory.own())
    }
}

/// The roles of the nodes, and what gives them access to the cluster.
pub(crate) struct AccessOfNodes;

impl Index for AccessOfNodes {
    type Value<'d> = NodeAccess<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> NodeAccess<'d> {
        NodeAccess::of(inventory.objects())
    }
}

/// The network plugins and CSI drivers that run on every node.
pub(crate) struct Agents;

impl Index for Agents {
    type Value<'d> = NodeAgents<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> NodeAgents<'d> {
        NodeAgents::of(inventory.objects(), inventory.index::<Pods>().as_slice())
    }
}

/// Whether any EC2NodeClass selects capacity reservations.
pub(crate) struct AnyReservations;

impl Index for AnyReservations {
    type Value<'d> = bool;

    fn compute(inventory: &Inventory<'_>) -> bool {
        inventory.objects_of(Kind::NODE_CLASS).any(selects_reservations)
    }
}

/// Whether an EC2NodeClass selects capacity reservations.
pub(crate) fn selects_reservations(class: Object<'_>) -> bool {
    let terms =
        Ec2NodeClass::of(class).and_then(|class| class.terms(SelectorField::CapacityReservations).node());
    terms.is_some_and(|terms| !terms.is_empty())
}

/// Whether a PriorityClass is the default of all pods.
pub(crate) struct AnyDefaultPriority;

impl Index for AnyDefaultPriority {
    type Value<'d> = bool;

    fn compute(inventory: &Inventory<'_>) -> bool {
        let is_default = |class| PriorityClass::of(class).is_some_and(PriorityClass::is_global_default);
        inventory.objects_of(Kind::PRIORITY_CLASS).any(is_default)
    }
}
