//! Whether Karpenter marks a node as drifted: the reasons in Karpenter's order, from the objects and what EC2 says of the instance.
//!
//! Source: kubernetes-sigs/karpenter pkg/controllers/nodeclaim/disruption/drift.go, v1.0.6 to v1.14.1; aws/karpenter-provider-aws
//! pkg/cloudprovider/drift.go, v1.0.9 to v1.14.1.

use std::collections::BTreeSet;

use karpenter::labels;
use karpenter::release::{Release, Releases};
use manifest::File;
use manifest::limits::Limits;
use manifest::tree::{Node, Tree, items_of};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::RequirementList;
use objects::status::StatusCondition;
use scheduling::requirements::{Requirement, Requirements};
use values::duration::Duration;
use values::timestamp::Timestamp;

use crate::elements::{HashedKind, kubelet_hash_of_1_0};

/// A NodeClaim, and what decides about its drift.
#[derive(Clone, Debug)]
pub struct DriftQuestion<'q, 'd> {
    /// The NodeClaim.
    pub node_claim: Object<'d>,
    /// Its NodePool.
    pub node_pool: Object<'d>,
    /// The EC2NodeClass of the NodePool; `None` if it does not exist.
    pub node_class: Option<Object<'d>>,
    /// The instance types that EC2 offers; `None` if they are not known.
    pub instance_types: Option<&'q [OfferedType<'q>]>,
    /// The instance.
    pub instance: KnownInstance<'q>,
    /// The ID of the placement group that the EC2NodeClass resolves to, empty for none; `None` if it is not known.
    pub placement_group: Option<&'q str>,
    /// The time of the decision.
    pub now: Timestamp,
    /// Karpenter's release.
    pub release: Release,
}

/// An instance type with its offerings.
#[derive(Clone, Debug)]
pub struct OfferedType<'t> {
    /// The name.
    pub name: &'t str,
    /// Its labels.
    pub requirements: Requirements<'t>,
    /// The labels of each offering.
    pub offerings: Vec<Requirements<'t>>,
}

/// Facts that EC2 has about an instance; `None` if a fact is not known.
#[derive(Clone, Debug, Default)]
pub struct KnownInstance<'t> {
    /// The ID of the image.
    pub image: Option<&'t str>,
    /// The ID of the subnet.
    pub subnet: Option<&'t str>,
    /// The IDs of the security groups.
    pub security_groups: Option<Vec<&'t str>>,
    /// The ID of the capacity reservation, empty for none.
    pub capacity_reservation: Option<&'t str>,
}

/// Reason of drift, as in the condition `Drifted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum DriftReason {
    /// The hash of the NodePool has changed.
    NodePoolDrifted,
    /// The labels of the NodeClaim do not meet the NodePool's requirements.
    RequirementsDrifted,
    /// EC2 does not offer the instance type any more.
    InstanceTypeNotFound,
    /// The hash of the EC2NodeClass has changed.
    NodeClassDrift,
    /// The image is not the first that fits.
    #[cfg_attr(feature = "serde", serde(rename = "AMIDrift"))]
    AmiDrift,
    /// The security groups differ.
    SecurityGroupDrift,
    /// The subnet is not among the subnets of the EC2NodeClass.
    SubnetDrift,
    /// The capacity reservation is not in the status of the EC2NodeClass.
    CapacityReservationDrift,
    /// The placement group is another one.
    PlacementGroupDrift,
}

/// Whether Karpenter marks a node as drifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriftDecision {
    /// Karpenter marks the node, for the first reason.
    Drifted(DriftReason),
    /// Karpenter removes the mark.
    NotDrifted,
    /// Karpenter cannot decide, and leaves the mark as it is.
    Undecided(DriftObstacle),
    /// No known reason applies, and some facts are missing.
    Unknown(BTreeSet<MissingFact>),
}

/// Reason why Karpenter cannot decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftObstacle {
    /// EC2 does not offer the instance type.
    InstanceType,
    /// The status of the EC2NodeClass has no images.
    Images,
    /// The status of the NodeClaim has no image.
    Image,
    /// The status of the EC2NodeClass has no security groups.
    SecurityGroups,
    /// The status of the EC2NodeClass has no subnets.
    Subnets,
}

/// Fact that decides about drift and is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingFact {
    /// The instance types that EC2 offers.
    InstanceTypes,
    /// The instance's image.
    Image,
    /// The instance's subnet.
    Subnet,
    /// The instance's security groups.
    SecurityGroups,
    /// The instance's capacity reservation.
    CapacityReservation,
    /// The placement group of the EC2NodeClass.
    PlacementGroup,
}

impl DriftReason {
    /// The reason as Karpenter writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NodePoolDrifted => "NodePoolDrifted",
            Self::RequirementsDrifted => "RequirementsDrifted",
            Self::InstanceTypeNotFound => "InstanceTypeNotFound",
            Self::NodeClassDrift => "NodeClassDrift",
            Self::AmiDrift => "AMIDrift",
            Self::SecurityGroupDrift => "SecurityGroupDrift",
            Self::SubnetDrift => "SubnetDrift",
            Self::CapacityReservationDrift => "CapacityReservationDrift",
            Self::PlacementGroupDrift => "PlacementGroupDrift",
        }
    }
}

/// Why a check says neither yes nor no.
enum Open {
    Obstacle(DriftObstacle),
    Missing(MissingFact),
}

/// The answer of a check: whether the reason applies.
type Check = Result<bool, Open>;

/// The releases in which a young NodeClaim keeps an instance type that EC2 does not offer.
const SPARES_YOUNG: Releases = Releases::since(6);
/// The releases in which the image decides before the checks of the network run.
const IMAGE_FIRST: Releases = Releases::since(7);

/// Whether the hashes of a NodeClaim differ from the hashes of its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticDrift {
    /// Whether the hash of the NodePool differs.
    pub node_pool: bool,
    /// Whether the hash of the EC2NodeClass differs.
    pub node_class: bool,
}

impl StaticDrift {
    /// Compares the annotations.
    fn of(question: &DriftQuestion<'_, '_>) -> Self {
        let claim = question.node_claim;
        let class = question.node_class;
        Self {
            node_pool: has_other_hash(HashedKind::NodePool, question.node_pool, claim),
            node_class: class.is_some_and(|class| has_other_hash(HashedKind::NodeClass, class, claim)),
        }
    }
}

/// Decides as Karpenter's controllers do.
pub fn decide(question: &DriftQuestion<'_, '_>) -> DriftDecision {
    decide_with(question, StaticDrift::of(question))
}

/// Decides like [`decide`] about objects whose annotations are not up to date: the caller compares the hashes.
pub fn decide_with(question: &DriftQuestion<'_, '_>, hashes: StaticDrift) -> DriftDecision {
    let claim = question.node_claim;
    if condition(claim, "Launched").is_none_or(|launched| launched.status != "True") {
        return DriftDecision::NotDrifted;
    }
    if hashes.node_pool {
        return DriftDecision::Drifted(DriftReason::NodePoolDrifted);
    }
    if !question.meets_requirements() {
        return DriftDecision::Drifted(DriftReason::RequirementsDrifted);
    }
    let mut missing = BTreeSet::new();
    match question.lost_its_type() {
        Ok(false) | Err(Open::Obstacle(_)) => {}
        Ok(true) => return DriftDecision::Drifted(DriftReason::InstanceTypeNotFound),
        Err(Open::Missing(fact)) => {
            missing.insert(fact);
        }
    }
    let Some(class) = question.node_class else { return open(missing) };
    if hashes.node_class {
        return DriftDecision::Drifted(DriftReason::NodeClassDrift);
    }
    let image = question.has_other_image(class);
    if IMAGE_FIRST.contains(question.release) {
        match image {
            Ok(true) => return DriftDecision::Drifted(DriftReason::AmiDrift),
            Err(Open::Obstacle(obstacle)) => return undecided(obstacle, missing),
            Ok(false) | Err(Open::Missing(_)) => {}
        }
    }
    let checks = [
        (DriftReason::AmiDrift, image),
        (DriftReason::SecurityGroupDrift, question.has_other_groups(class)),
        (DriftReason::SubnetDrift, question.has_other_subnet(class)),
        (DriftReason::CapacityReservationDrift, question.lost_its_reservation(class)),
        (DriftReason::PlacementGroupDrift, question.has_other_placement_group()),
    ];
    let mut first = None;
    for (reason, check) in checks {
        match check {
            Ok(true) => first = first.or(Some(reason)),
            Ok(false) => {}
            Err(Open::Obstacle(obstacle)) => return undecided(obstacle, missing),
            Err(Open::Missing(fact)) => {
                missing.insert(fact);
            }
        }
    }
    if let Some(reason) = first {
        return DriftDecision::Drifted(reason);
    }
    if Releases::until(0).contains(question.release) && question.has_other_kubelet(class) {
        return DriftDecision::Drifted(DriftReason::NodeClassDrift);
    }
    open(missing)
}

/// No reason applies, as far as the facts are known.
fn open(missing: BTreeSet<MissingFact>) -> DriftDecision {
    if missing.is_empty() { DriftDecision::NotDrifted } else { DriftDecision::Unknown(missing) }
}

/// A missing fact may decide before Karpenter meets the obstacle.
fn undecided(obstacle: DriftObstacle, missing: BTreeSet<MissingFact>) -> DriftDecision {
    if missing.is_empty() { DriftDecision::Undecided(obstacle) } else { DriftDecision::Unknown(missing) }
}

/// Whether the annotations of the NodeClaim have another hash of the object, in the same version.
fn has_other_hash(kind: HashedKind, object: Object<'_>, claim: Object<'_>) -> bool {
    let annotation = |object: Object<'_>, key: &str| {
        object.annotation(key).map(|node| node.as_str().unwrap_or_default().to_owned())
    };
    let both = |key: &str| Some((annotation(object, key)?, annotation(claim, key)?));
    let (Some((version, of_claim)), Some((hash, own))) =
        (both(kind.version_annotation()), both(kind.annotation()))
    else {
        return false;
    };
    version == of_claim && hash != own
}

fn condition<'d>(object: Object<'d>, kind: &str) -> Option<StatusCondition<'d>> {
    let conditions = items_of(object.at(&["status", "conditions"])).filter_map(StatusCondition::parse);
    conditions.into_iter().find(|condition| condition.kind == kind)
}

/// The requirements of a list. Karpenter reads none that the API server would have refused.
pub(crate) fn requirements_of(list: RequirementList<'_>) -> Requirements<'_> {
    let mut all = Requirements::default();
    for item in list.items() {
        let (Some(key), Some(operator)) = (item.key(), item.operator()) else { continue };
        let values = item.values().map(|value| value.as_str().unwrap_or_default());
        let least = item.min_values_node().and_then(Node::as_int);
        if let Some(requirement) = Requirement::new(operator, values) {
            all.add(key, requirement.with_min_values(least));
        }
    }
    all
}

/// The strings under a key of the items of a list in the status.
fn listed<'d>(object: Object<'d>, list: &str, key: &'static str) -> impl Iterator<Item = &'d str> {
    items_of(object.at(&["status", list])).filter_map(move |item| item.get(key)?.as_str())
}

fn labels(object: Object<'_>) -> impl Iterator<Item = (&str, &str)> {
    let labels = object.at(&["metadata", "labels"]);
    labels.into_iter().flat_map(Node::members).filter_map(|(key, value)| Some((key, value.as_str()?)))
}

/// Whether the labels of a NodeClaim meet the requirements of a NodePool. If they do not, the node is drifted.
pub fn meets_requirements(node_pool: Object<'_>, node_claim: Object<'_>) -> bool {
    let Some(pool) = NodePool::of(node_pool) else { return true };
    let asked = requirements_of(pool.requirements());
    Requirements::of_labels(labels(node_claim)).compatible_strictly(&asked).is_ok()
}

/// The image that an EC2NodeClass selects for the instance type of a NodeClaim: the first one in the status whose requirements the labels of
/// the NodeClaim meet. `None` if none fits, or if the labels lack the architecture.
///
/// Source: `MapToInstanceTypes` in pkg/providers/amifamily/ami.go of aws/karpenter-provider-aws at v1.14.1.
pub fn selected_image<'d>(node_class: Object<'d>, node_claim: Object<'d>) -> Option<&'d str> {
    let own = Requirements::of_labels(labels(node_claim));
    own.get("kubernetes.io/arch")?;
    let fits = |ami: &Node<'d>| {
        own.compatible_strictly(&requirements_of(RequirementList::new(ami.get("requirements")))).is_ok()
    };
    items_of(node_class.at(&["status", "amis"])).find(fits)?.get("id")?.as_str()
}

impl<'q> DriftQuestion<'q, '_> {
    /// The labels of the NodeClaim.
    fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        labels(self.node_claim)
    }

    fn label(&self, key: &str) -> Option<&str> {
        self.labels().find(|(other, _)| *other == key).map(|(_, value)| value)
    }

    fn meets_requirements(&self) -> bool {
        meets_requirements(self.node_pool, self.node_claim)
    }

    fn offered_type(&self) -> Result<Option<&'q OfferedType<'q>>, Open> {
        let types = self.instance_types.ok_or(Open::Missing(MissingFact::InstanceTypes))?;
        let name = self.label(INSTANCE_TYPE).unwrap_or_default();
        Ok(types.iter().find(|offered| offered.name == name))
    }

    fn lost_its_type(&self) -> Check {
        const ASKS: Releases = Releases::since(1);
        const HOUR: Duration = Duration::from_minutes(60);
        if !ASKS.contains(self.release) {
            return Ok(false);
        }
        let created = self.node_claim.str_at(&["metadata", "creationTimestamp"]).and_then(Timestamp::parse);
        let is_young = created.is_some_and(|created| self.now.since(created) <= HOUR);
        if SPARES_YOUNG.contains(self.release) && is_young {
            return Ok(false);
        }
        let Some(offered) = self.offered_type()? else { return Ok(true) };
        let mut labels = Requirements::of_labels(self.labels());
        if Releases::since(3).contains(self.release) && self.label(labels::CAPACITY_TYPE) == Some("reserved")
        {
            labels.replace(labels::CAPACITY_TYPE, Requirement::one_of(["reserved", "on-demand"]));
            for key in RESERVATION_LABELS {
                labels.remove(key);
            }
        }
        Ok(!offered.offerings.iter().any(|offering| labels.compatible(offering).is_ok()))
    }

    fn has_other_image(&self, class: Object<'_>) -> Check {
        let Some(offered) = self.offered_type()? else {
            return Err(Open::Obstacle(DriftObstacle::InstanceType));
        };
        let mut amis = items_of(class.at(&["status", "amis"])).peekable();
        if amis.peek().is_none() {
            return Err(Open::Obstacle(DriftObstacle::Images));
        }
        let image = if IMAGE_FIRST.contains(self.release) {
            let image = self.node_claim.str_at(&["status", "imageID"]).unwrap_or_default();
            if image.is_empty() {
                return Err(Open::Obstacle(DriftObstacle::Image));
            }
            image
        } else {
            self.instance.image.ok_or(Open::Missing(MissingFact::Image))?
        };
        let first = amis.find(|ami| {
            let asked = requirements_of(RequirementList::new(ami.get("requirements")));
            offered.requirements.compatible(&asked).is_ok()
        });
        Ok(first.and_then(|ami| ami.get("id")?.as_str()) != Some(image))
    }

    fn has_other_groups(&self, class: Object<'_>) -> Check {
        let wanted: BTreeSet<&str> = listed(class, "securityGroups", "id").collect();
        if wanted.is_empty() {
            return Err(Open::Obstacle(DriftObstacle::SecurityGroups));
        }
        let groups = self.instance.security_groups.as_ref();
        let groups = groups.ok_or(Open::Missing(MissingFact::SecurityGroups))?;
        Ok(groups.iter().copied().collect::<BTreeSet<&str>>() != wanted)
    }

    fn has_other_subnet(&self, class: Object<'_>) -> Check {
        let mut subnets = listed(class, "subnets", "id").peekable();
        if subnets.peek().is_none() {
            return Err(Open::Obstacle(DriftObstacle::Subnets));
        }
        let own = self.instance.subnet.ok_or(Open::Missing(MissingFact::Subnet))?;
        Ok(!subnets.any(|subnet| subnet == own))
    }

    fn lost_its_reservation(&self, class: Object<'_>) -> Check {
        if !Releases::since(3).contains(self.release) {
            return Ok(false);
        }
        let own =
            self.instance.capacity_reservation.ok_or(Open::Missing(MissingFact::CapacityReservation))?;
        Ok(!own.is_empty() && !listed(class, "capacityReservations", "id").any(|id| id == own))
    }

    fn has_other_placement_group(&self) -> Check {
        if !Releases::since(11).contains(self.release) {
            return Ok(false);
        }
        let wanted = self.placement_group.ok_or(Open::Missing(MissingFact::PlacementGroup))?;
        Ok(self.label("karpenter.k8s.aws/placement-group-id").unwrap_or_default() != wanted)
    }

    /// 1.0 keeps the hash of the kubelet configuration in a further annotation. A NodePool that was converted from v1beta1 has
    /// the configuration in an annotation, as JSON.
    fn has_other_kubelet(&self, class: Object<'_>) -> bool {
        let annotation = |object: Object<'_>, key: &str| {
            object.annotation(key).map(|node| node.as_str().unwrap_or_default().to_owned())
        };
        let Some(own) = annotation(self.node_claim, "compatibility.karpenter.k8s.aws/kubelet-drift-hash")
        else {
            return false;
        };
        let version = HashedKind::NodeClass.version_annotation();
        if annotation(class, version) != annotation(self.node_claim, version) {
            return false;
        }
        let converted = annotation(self.node_pool, "compatibility.karpenter.sh/v1beta1-kubelet-conversion");
        let hash = match converted {
            Some(json) => {
                let file = File::read("kubelet", json, &Limits::DEFAULT);
                let root = file.trees().next().map(Tree::root);
                kubelet_hash_of_1_0(root).ok()
            }
            None => kubelet_hash_of_1_0(class.at(&["spec", "kubelet"])).ok(),
        };
        hash.is_some_and(|hash| hash.to_string() != own)
    }
}

const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// Labels of the capacity reservation of a node.
const RESERVATION_LABELS: [&str; 3] = [
    "karpenter.k8s.aws/capacity-reservation-id",
    "karpenter.k8s.aws/capacity-reservation-type",
    "karpenter.k8s.aws/capacity-reservation-interruptible",
];
