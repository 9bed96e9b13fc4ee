//! The objects of a cluster: from the documents of an input, or looked up in the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Release;
use karpenter::zones::region_of_zone;
use manifest::tree::{Node, members_of};
use objects::chart_values::{self, ChartValues};
use objects::controller::{Controller, PREFERENCE_POLICY};
use objects::conversion::Neighbours;
use objects::device_plugins::DevicePlugins;
use objects::feature_gates::FeatureGates;
use objects::iam_policy::{IamAccess, PassedRoles};
use objects::identity::Identity;
use objects::node_access::NodeAccess;
use objects::node_agents::NodeAgents;
use objects::node_class::{Ec2NodeClass, SelectorField};
use objects::node_overlay::NodeOverlay;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{Pod, PodAffinityTerm, TopologySpreadConstraint, metadata_service};
use objects::priority_class::PriorityClass;
use objects::storage::ClaimIndex;
use objects::zones::{ServedZones, listed_zones};
use scheduling::pool_index::PoolIndex;
use scheduling::simulation::{NodeRoom, SimulationSettings};

use crate::pod_budgets::PodBudgets;
use crate::pod_labels::PodLabels;
use crate::pool_order::{FirstPool, PoolOrder};

/// The objects of a group and kind in the order of the input, as indices into all objects.
#[derive(Debug, Default)]
struct KindIndex<'d> {
    indices: Vec<usize>,
    /// The last object of each name, computed when a rule first looks for an object of the kind.
    by_name: OnceLock<BTreeMap<&'d str, usize>>,
}

/// The objects of one cluster.
#[derive(Debug, Default)]
pub struct Inventory<'d> {
    name: String,
    objects: Vec<Object<'d>>,
    by_kind: BTreeMap<&'d str, BTreeMap<&'d str, KindIndex<'d>>>,
    complete: bool,
    /// The number of NodePools that the front end left out.
    omitted_pools: usize,
    /// The objects of the environment itself, without the objects around it; `None` if the input has no environments.
    own: Option<Vec<Object<'d>>>,
    /// Whether environments lie within the folders of the objects.
    has_environments: bool,
    // The fields below are computed when a rule first needs them, or before the rules run (`ahead`), so that each rule stays
    // linear and a request computes only the fields that it uses.
    pools: OnceLock<PoolIndex<'d>>,
    pool_order: OnceLock<PoolOrder<'d>>,
    /// The EC2NodeClasses by name; `None` for a name that the input repeats.
    node_classes: OnceLock<BTreeMap<&'d str, Option<Ec2NodeClass<'d>>>>,
    pods: OnceLock<Vec<Pod<'d>>>,
    budgets: OnceLock<PodBudgets<'d>>,
    claims: OnceLock<ClaimIndex<'d>>,
    controllers: OnceLock<Vec<Controller<'d>>>,
    identity: OnceLock<Identity<'d>>,
    feature_gates: OnceLock<FeatureGates<'d>>,
    selects_reservations: OnceLock<bool>,
    without_reservations: OnceLock<Option<Object<'d>>>,
    iam_access: OnceLock<IamAccess<'d>>,
    served_zones: OnceLock<ServedZones<'d>>,
    passed_roles: OnceLock<PassedRoles<'d>>,
    neighbours: OnceLock<Neighbours<'d>>,
    spot_pool: OnceLock<Option<Object<'d>>>,
    node_access: OnceLock<NodeAccess<'d>>,
    node_agents: OnceLock<NodeAgents<'d>>,
    has_metadata_consumer: OnceLock<bool>,
    has_default_priority: OnceLock<bool>,
    ignores_preferences: OnceLock<bool>,
    /// By EC2NodeClass: the first zone of a known region that a NodePool lists.
    zones_of_classes: OnceLock<BTreeMap<&'d str, (NodePool<'d>, &'d str, Node<'d>)>>,
    /// The labels of nodes that pods select or spread over.
    selected_labels: OnceLock<BTreeSet<&'d str>>,
    /// By the release of the files that ask.
    node_rooms: Mutex<BTreeMap<Release, Arc<NodeRoom>>>,
    pod_labels: OnceLock<PodLabels<'d>>,
    overlay_resources: OnceLock<BTreeSet<&'d str>>,
    device_plugins: OnceLock<DevicePlugins>,
}

impl<'d> Inventory<'d> {
    /// The inventory of a cluster. `complete` means that an object that is absent here is absent from the cluster.
    pub fn new(name: impl Into<String>, objects: Vec<Object<'d>>, complete: bool) -> Self {
        let mut by_kind = BTreeMap::<_, BTreeMap<_, KindIndex<'d>>>::new();
        for (index, object) in objects.iter().enumerate() {
            let kinds = by_kind.entry(object.group()).or_default();
            kinds.entry(object.kind()).or_default().indices.push(index);
        }
        Self { name: name.into(), objects, by_kind, complete, ..Self::default() }
    }

    /// Turns the inventory into one of an environment: a folder that looks like a cluster. `own` are the objects of the
    /// environment. The identity of its cluster and the IAM policies come from these only, because an object outside can be
    /// for another cluster.
    pub fn of_environment(self, own: Vec<Object<'d>>, has_environments: bool) -> Self {
        Self { own: Some(own), has_environments, ..self }
    }

    /// The same inventory with NodePools that the front end left out.
    pub fn with_omitted_pools(self, omitted_pools: usize) -> Self {
        Self { omitted_pools, ..self }
    }

    /// The objects that identify the cluster.
    fn own(&self) -> &[Object<'d>] {
        self.own.as_deref().unwrap_or(&self.objects)
    }

    /// Whether the input has environments that see these objects, but whose own objects are not among these.
    pub const fn has_environments(&self) -> bool {
        self.has_environments
    }

    /// The name of the cluster; empty if the check has only one cluster.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All objects in the order of the input.
    pub fn objects(&self) -> &[Object<'d>] {
        &self.objects
    }

    /// The objects of a kind.
    pub fn of(&self, kind: Kind) -> OfKind<'_, 'd> {
        let indices = self.indices(kind.group, kind.name).iter();
        OfKind { objects: &self.objects, indices, version: kind.version }
    }

    fn indices(&self, group: &str, kind: &str) -> &[usize] {
        self.of_kind(group, kind).map_or(&[], |of_kind| &of_kind.indices)
    }

    fn of_kind(&self, group: &str, kind: &str) -> Option<&KindIndex<'d>> {
        self.by_kind.get(group)?.get(kind)
    }

    /// The NodePools as the scheduler sees them, including NodePools of version v1beta1.
    pub fn pools(&self) -> &PoolIndex<'d> {
        const BETA: Kind = Kind::of("karpenter.sh", "v1beta1", "NodePool");
        let index = || PoolIndex::of(self.of(Kind::NODE_POOL).chain(self.of(BETA)));
        self.pools.get_or_init(|| index().with_omitted(self.omitted_pools))
    }

    /// The NodePool without taints that Karpenter tries first for a pending pod, of a weight or of all.
    pub fn first_pool(&self, weight: Option<i64>) -> Option<FirstPool<'_, 'd>> {
        let order = self.pool_order.get_or_init(|| PoolOrder::of(self.pools()));
        order.first(self.pools(), weight)
    }

    /// The EC2NodeClass of a NodePool, and the name in the reference. `None` if the input has several of this name, such as those
    /// of several clusters.
    pub fn node_class_of(&self, pool: NodePool<'d>) -> Option<(Ec2NodeClass<'d>, Node<'d>)> {
        let classes = self.node_classes.get_or_init(|| {
            let mut classes = BTreeMap::new();
            for class in self.of(Kind::NODE_CLASS).filter_map(Ec2NodeClass::of) {
                let name = class.object().name();
                classes.entry(name).and_modify(|first| *first = None).or_insert(Some(class));
            }
            classes
        });
        let reference = pool.node_class_ref().filter(|reference| !reference.is_of_auto_mode())?;
        let name = reference.name()?;
        Some(((*classes.get(name.as_str()?)?)?, name))
    }

    /// The first zone of a known region that a NodePool of an EC2NodeClass lists, with the NodePool.
    pub fn zone_of_class(&self, class: &str) -> Option<(NodePool<'d>, &'d str, Node<'d>)> {
        let zones = self.zones_of_classes.get_or_init(|| {
            let mut zones = BTreeMap::new();
            for pool in self.of(Kind::NODE_POOL).filter_map(NodePool::of) {
                let first = listed_zones(pool).find(|(zone, _)| region_of_zone(zone).is_some());
                let class = pool.node_class_ref().and_then(|class| class.name()?.as_str());
                if let (Some(class), Some((zone, node))) = (class, first) {
                    zones.entry(class).or_insert((pool, zone, node));
                }
            }
            zones
        });
        zones.get(class).copied()
    }

    /// The pods, and the pod templates of workloads.
    pub fn pods(&self) -> &[Pod<'d>] {
        self.pods.get_or_init(|| self.objects.iter().copied().flat_map(Pod::all).collect())
    }

    /// The PodDisruptionBudgets.
    pub fn budgets(&self) -> &PodBudgets<'d> {
        self.budgets.get_or_init(|| PodBudgets::of(&self.objects, self.pods()))
    }

    /// The PersistentVolumeClaims, including the claim templates of workloads.
    pub fn claims(&self) -> &ClaimIndex<'d> {
        self.claims.get_or_init(|| ClaimIndex::of(&self.objects))
    }

    /// The Deployments of Karpenter's controller.
    pub fn controllers(&self) -> &[Controller<'d>] {
        let own = || self.own().iter().copied().filter_map(Controller::of).collect();
        self.controllers.get_or_init(own)
    }

    /// The IAM policies and roles.
    pub fn iam_access(&self) -> &IamAccess<'d> {
        self.iam_access.get_or_init(|| IamAccess::of(self.own()))
    }

    /// The roles that the IAM policies let Karpenter's controller pass to instances.
    pub fn passed_roles(&self) -> &PassedRoles<'d> {
        self.passed_roles.get_or_init(|| PassedRoles::of(self.iam_access()))
    }

    /// The objects that the conversion of an object to v1 depends on.
    pub fn neighbours(&self) -> &Neighbours<'d> {
        self.neighbours.get_or_init(|| Neighbours::of(&self.objects))
    }

    /// The object of a cluster-scoped kind with a name, in any version; the last object if the input repeats the name. The
    /// namespace is ignored, as the API server ignores it.
    pub fn find(&self, group: &str, kind: &str, name: &str) -> Option<Object<'d>> {
        let of_kind = self.of_kind(group, kind)?;
        let by_name = of_kind.by_name.get_or_init(|| {
            let named = |index: &usize| Some((self.objects.get(*index)?.name(), *index));
            of_kind.indices.iter().filter_map(named).collect()
        });
        self.objects.get(*by_name.get(name)?).copied()
    }

    /// Number of objects of a group and kind, in any version.
    pub fn count(&self, group: &str, kind: &str) -> usize {
        self.indices(group, kind).len()
    }

    /// The zones that the NodePools serve.
    pub fn served_zones(&self) -> &ServedZones<'d> {
        self.served_zones.get_or_init(|| ServedZones::of(self.of(Kind::NODE_POOL)))
    }

    /// The feature gates of the controller.
    pub fn feature_gates(&self) -> &FeatureGates<'d> {
        self.feature_gates.get_or_init(|| FeatureGates::of(&self.objects, self.controllers()))
    }

    /// Whether any EC2NodeClass selects capacity reservations.
    pub fn selects_reservations(&self) -> bool {
        *self.selects_reservations.get_or_init(|| self.of(Kind::NODE_CLASS).any(selects_reservations))
    }

    /// The first EC2NodeClass that selects no capacity reservations.
    pub fn without_reservations(&self) -> Option<Object<'d>> {
        let first = || self.of(Kind::NODE_CLASS).find(|class| !selects_reservations(*class));
        *self.without_reservations.get_or_init(first)
    }

    /// The first NodePool whose nodes may be spot instances: a NodePool without a requirement on the capacity type is one.
    pub fn spot_pool(&self) -> Option<Object<'d>> {
        let first = || {
            let groups = self.pools().groups().iter();
            let spot = groups.filter(|group| {
                let capacity_types = group.template.requirements.get(labels::CAPACITY_TYPE);
                capacity_types.is_none_or(|types| types.has("spot"))
            });
            let mut pools = spot.flat_map(|group| group.pools.iter().copied());
            pools.find(|pool| NodePool::of(*pool).is_some_and(|pool| !pool.is_of_auto_mode()))
        };
        *self.spot_pool.get_or_init(first)
    }

    /// The roles of the nodes, and what gives them access to the cluster.
    pub fn node_access(&self) -> &NodeAccess<'d> {
        self.node_access.get_or_init(|| NodeAccess::of(&self.objects))
    }

    /// The network plugins and CSI drivers that run on every node.
    pub fn node_agents(&self) -> &NodeAgents<'d> {
        self.node_agents.get_or_init(|| NodeAgents::of(&self.objects, self.pods()))
    }

    /// Whether any pod needs the metadata service of its instance.
    pub fn has_metadata_consumer(&self) -> bool {
        let any = || self.pods().iter().any(|pod| metadata_service::consumer(*pod).is_some());
        *self.has_metadata_consumer.get_or_init(any)
    }

    /// Whether a PriorityClass is the default of all pods.
    pub fn has_default_priority(&self) -> bool {
        let is_default = |class| PriorityClass::of(class).is_some_and(PriorityClass::is_global_default);
        *self.has_default_priority.get_or_init(|| self.of(Kind::PRIORITY_CLASS).any(is_default))
    }

    /// Whether a controller, or values of its chart, ignore the preferences of pods.
    pub fn ignores_preferences(&self) -> bool {
        const IGNORE: &str = "Ignore";
        let is_set = |one: &Controller<'d>| {
            one.setting(PREFERENCE_POLICY).text().is_some_and(|(text, _)| text == IGNORE)
        };
        let in_values = |object: &Object<'d>| {
            let settings = chart_values::of(*object).and_then(ChartValues::settings);
            settings.is_some_and(|settings| settings.node().str_at(&["preferencePolicy"]) == Some(IGNORE))
        };
        let any = || self.controllers().iter().any(is_set) || self.objects.iter().any(in_values);
        *self.ignores_preferences.get_or_init(any)
    }

    /// Whether any pod selects nodes by a label, or has it as a topology.
    pub fn selects_label(&self, key: &str) -> bool {
        let labels = self.selected_labels.get_or_init(|| {
            let mut labels = BTreeSet::new();
            for pod in self.pods() {
                labels.extend(pod.expressions().map(|expression| expression.key));
                let spreads = pod
                    .spec()
                    .topology_spread_constraints()
                    .filter_map(TopologySpreadConstraint::topology_key);
                let affinity = pod.spec().pod_affinity_terms().filter_map(PodAffinityTerm::topology_key);
                labels.extend(spreads.chain(affinity).filter_map(Node::as_str));
            }
            labels
        });
        labels.contains(key)
    }

    /// The pods and DaemonSets that are too large for the instance types of the NodePools, with Karpenter of a release. `settings`
    /// describes the controller.
    pub fn node_room(
        &self,
        release: Release,
        settings: impl FnOnce() -> SimulationSettings,
    ) -> Arc<NodeRoom> {
        let find = || Arc::new(NodeRoom::of(&self.objects, self.pods(), &settings()));
        let mut known = self.node_rooms.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(release).or_insert_with(find))
    }

    /// The labels of the pods.
    pub fn pod_labels(&self) -> &PodLabels<'d> {
        self.pod_labels.get_or_init(|| PodLabels::of(self.pods()))
    }

    /// The resources that NodeOverlays add to instance types.
    pub fn overlay_resources(&self) -> &BTreeSet<&'d str> {
        self.overlay_resources.get_or_init(|| {
            let overlays = self.objects.iter().filter_map(|object| NodeOverlay::of(*object));
            overlays.flat_map(|overlay| members_of(overlay.capacity())).map(|(name, _)| name).collect()
        })
    }

    /// The device plugins.
    pub fn device_plugins(&self) -> &DevicePlugins {
        self.device_plugins.get_or_init(|| DevicePlugins::of(self.pods()))
    }

    /// Known identity of the cluster.
    pub fn identity(&self) -> &Identity<'d> {
        self.identity.get_or_init(|| Identity::of(self.own(), self.controllers()))
    }

    /// The cluster name in the settings of the controller or its chart, and the node of the name; `None` if no object sets
    /// the name, or if two objects set different names.
    pub fn cluster_name(&self) -> Option<(&'d str, Node<'d>)> {
        self.identity().name.map(|mark| (mark.text, mark.node))
    }

    /// Whether an object that is absent here is absent from the cluster.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

fn selects_reservations(class: Object<'_>) -> bool {
    let terms =
        Ec2NodeClass::of(class).and_then(|class| class.terms(SelectorField::CapacityReservations).node());
    terms.is_some_and(|terms| !terms.is_empty())
}

/// Iterator over the objects of a kind, returned by [`Inventory::of`].
#[derive(Clone, Debug)]
pub struct OfKind<'i, 'd> {
    objects: &'i [Object<'d>],
    indices: core::slice::Iter<'i, usize>,
    version: &'static str,
}

impl<'d> Iterator for OfKind<'_, 'd> {
    type Item = Object<'d>;

    fn next(&mut self) -> Option<Object<'d>> {
        loop {
            let object = self.objects.get(*self.indices.next()?)?;
            if object.version() == self.version {
                return Some(*object);
            }
        }
    }
}
