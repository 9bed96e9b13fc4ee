//! From choices and the input to the settings of a simulation, with what had to be assumed.

use std::collections::{BTreeMap, BTreeSet};

use engine::pins::{PlacedPin, pins_of_files};
use karpenter::instance_types::{self, PRICED_REGION};
use karpenter::kind::Kind;
use karpenter::operator::Operator;
use karpenter::release::{PinnedRelease, Release, Releases};
use karpenter::zones::{is_region, nearest_region};
use manifest::File;
use manifest::tree::{Node, items_of};
use objects::controller::{Controller, ControllerOption};
use objects::feature_gates::FeatureGates;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::settings::Settings;
use scheduling::simulation::{Prices, ReplicaCount, SimulationSettings, Zone};
use thiserror::Error;

use super::assumption::Assumption;
use super::prices::{self, PriceList, PricesError};
use super::scheduler_config;

/// The releases in which the gate `ReservedCapacity` is on unless it is set.
const RESERVED_CAPACITY_BY_DEFAULT: Releases = Releases::since(6);

/// The releases that read `SCHEDULER_CONFIG` (kubernetes-sigs/karpenter#3205).
const SCHEDULER_CONFIG: Releases = Releases::since(15);

/// The releases in which instance types limit the volumes of new nodes (kubernetes-sigs/karpenter#3202). The limits that the AWS
/// provider sets are not among the sources of this code.
const TYPE_VOLUME_LIMITS: Releases = Releases::since(15);

/// The releases in which a pod does not always wait if all capacity reservations are taken (kubernetes-sigs/karpenter#3456).
const RESERVATION_FALLBACK: Releases = Releases::since_patch(15, 1);

/// The world of a simulation as the user describes it. What is absent follows from the input, or is assumed.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Replica counts.
    pub replicas: Vec<ReplicaCount>,
    /// Whether existing nodes are left out.
    pub without_nodes: bool,
    /// Whether kube-scheduler binds no pod to an existing node, so that the result is Karpenter's view alone.
    pub without_binding: bool,
    /// Largest number of rounds of the provisioner; `None` for rounds until nothing changes.
    pub rounds: Option<usize>,
    /// The region.
    pub region: Option<String>,
    /// The zones of the subnets.
    pub zones: Vec<Zone>,
    /// Text with on-demand prices: an AWS price list, or an object of instance types and numbers.
    pub prices: Option<String>,
    /// The part of the on-demand price that spot capacity saves.
    pub spot_discount: Option<f64>,
    /// Feature gates of the controller.
    pub feature_gates: BTreeMap<String, bool>,
    /// Whether the scheduler ignores preferences.
    pub ignores_preferences: Option<bool>,
    /// Whether the scheduler relaxes minimum values.
    pub min_values_best_effort: Option<bool>,
    /// The part of the memory that the hypervisor takes.
    pub vm_memory_overhead: Option<f64>,
    /// Network interfaces that pods do not use.
    pub reserved_enis: Option<i64>,
    /// Instances left in capacity reservations, by ID.
    pub reservation_capacity: BTreeMap<String, u32>,
}

/// Choice that no simulation can use.
#[derive(Debug, Error)]
pub enum ChoiceError {
    /// A zone is not in the region, or has no name of a zone.
    #[error("`{0}` is not the name of a zone of the region")]
    Zone(String),
    /// The text is not the name of a region. The second text is a suggestion, or empty.
    #[error("`{0}` is not the name of a region{1}")]
    Region(String, String),
    /// The prices cannot be read.
    #[error(transparent)]
    Prices(#[from] PricesError),
}

/// Settings of a simulation, with what had to be assumed.
#[derive(Clone, Debug)]
pub struct DeducedSettings {
    /// The settings.
    pub settings: SimulationSettings,
    /// Assumptions about things that the input does not show.
    pub assumptions: Vec<Assumption>,
}

impl DeducedSettings {
    /// Combines the choices of the user with what the input shows.
    pub fn new(
        choices: &Choices,
        config: &Settings,
        files: &[File],
        objects: &[Object<'_>],
    ) -> Result<Self, ChoiceError> {
        let (release, assumption) = release_of(config, files);
        let mut settings = SimulationSettings::new(release);
        settings.reserved_capacity = RESERVED_CAPACITY_BY_DEFAULT.contains(release);
        let mut deduced = Self { settings, assumptions: assumption.into_iter().collect() };
        deduced.apply_controller(objects);
        deduced.apply_zones(choices, objects)?;
        deduced.apply_choices(choices);
        deduced.apply_prices(choices)?;
        deduced.assume_the_rest(objects);
        Ok(deduced)
    }

    /// Settings for rules: what the objects of a cluster show. Every instance type can be bought, and existing nodes do not count.
    /// A NodeOverlay counts unless the gate is off.
    pub(crate) fn for_rules(release: Release, objects: &[Object<'_>]) -> SimulationSettings {
        let mut settings = SimulationSettings::with_prices(release, Prices::Equal);
        settings.reserved_capacity = RESERVED_CAPACITY_BY_DEFAULT.contains(release);
        settings.node_overlays = true;
        settings.without_nodes = true;
        let mut deduced = Self { settings, assumptions: Vec::new() };
        deduced.apply_controller(objects);
        // Without choices nothing can be refused.
        let _ = deduced.apply_zones(&Choices::default(), objects);
        deduced.settings
    }

    /// Tells that overlays are left out, because each is a variant of another one.
    #[must_use]
    pub fn with_overlays(mut self, left_out: &[&str]) -> Self {
        if !left_out.is_empty() {
            let names = left_out.iter().map(|name| (*name).to_owned()).collect();
            self.assume(Assumption::OverlaysLeftOut(names));
        }
        self
    }

    /// Assumes the EC2NodeClasses that two states of an input both lack, and no others: a class that only one state has was removed or
    /// added.
    pub(crate) fn assume_classes_of_neither(
        (old, old_objects): (&mut Self, &[Object<'_>]),
        (new, new_objects): (&mut Self, &[Object<'_>]),
    ) {
        let present = |objects: &[Object<'_>], name: &str| {
            objects.iter().any(|object| object.is(Kind::NODE_CLASS) && object.name() == name)
        };
        let missing = [missing_node_classes(old_objects), missing_node_classes(new_objects)];
        let is_in_one = missing[0].iter().any(|name| present(new_objects, name))
            || missing[1].iter().any(|name| present(old_objects, name));
        for (deduced, missing) in [(old, &missing[0]), (new, &missing[1])] {
            deduced.settings.assumes_node_classes = !is_in_one;
            for name in missing {
                let assumption = Assumption::DefaultNodeClass((*name).to_owned());
                deduced.assumptions.retain(|known| *known != assumption);
                if !is_in_one {
                    deduced.assume(assumption);
                }
            }
        }
    }

    /// Applies the choices about binding and rounds, which only a simulation of pending pods has.
    pub fn with_rounds(mut self, choices: &Choices, objects: &[Object<'_>]) -> Self {
        self.settings.binds = !choices.without_binding;
        self.settings.rounds = choices.rounds;
        let has_nodes = objects.iter().any(|object| object.kind() == "Node" && object.group().is_empty());
        if self.settings.binds && has_nodes && !choices.without_nodes {
            self.assume(Assumption::BindsFirst);
        }
        self
    }

    fn assume(&mut self, assumption: Assumption) {
        self.assumptions.push(assumption);
    }

    /// Applies the options of the controller in the input.
    fn apply_controller(&mut self, objects: &[Object<'_>]) {
        let controllers: Vec<Controller<'_>> =
            objects.iter().filter_map(|object| Controller::of(*object)).collect();
        let gates = FeatureGates::of(objects, &controllers);
        let release = self.settings.release;
        let settings = &mut self.settings;
        let is_on = settings.reserved_capacity || has_reservations(objects);
        settings.reserved_capacity = gates.get("ReservedCapacity").unwrap_or(is_on);
        settings.node_overlays = gates.get("NodeOverlay").unwrap_or(settings.node_overlays);
        for controller in &controllers {
            let text = |flag: &'static str, variable: &'static str| {
                controller.setting(ControllerOption { flag, variable }).text().map(|(text, _)| text)
            };
            if let Some(policy) = text("preference-policy", "PREFERENCE_POLICY") {
                settings.ignores_preferences = policy == "Ignore";
            }
            if let Some(policy) = text("min-values-policy", "MIN_VALUES_POLICY") {
                settings.min_values_best_effort = policy == "BestEffort";
            }
            let scheduler =
                text("scheduler-config", "SCHEDULER_CONFIG").filter(|_| SCHEDULER_CONFIG.contains(release));
            if let Some(config) = scheduler.filter(|text| !text.trim().is_empty()) {
                match scheduler_config::parse(config) {
                    Some(spreads) => settings.default_spreads = spreads,
                    None => self.assumptions.push(Assumption::NoDefaultSpreads),
                }
            }
            let overhead = text("vm-memory-overhead-percent", "VM_MEMORY_OVERHEAD_PERCENT");
            let overhead = overhead.and_then(|text| text.parse().ok());
            if let Some(overhead) = overhead.filter(|part| (0.0..=1.0).contains(part)) {
                settings.vm_memory_overhead = overhead;
            }
            if let Some(enis) = text("reserved-enis", "RESERVED_ENIS").and_then(|text| text.parse().ok()) {
                settings.reserved_enis = enis;
            }
        }
    }

    /// Takes the zones from the choices, or else three zones of the region and the zones that the input shows.
    fn apply_zones(&mut self, choices: &Choices, objects: &[Object<'_>]) -> Result<(), ChoiceError> {
        if let Some(region) = choices.region.as_ref().filter(|region| !is_region(region)) {
            let meant = nearest_region(region).map(|meant| format!(" (did you mean `{meant}`?)"));
            return Err(ChoiceError::Region(region.clone(), meant.unwrap_or_default()));
        }
        if choices.zones.is_empty() {
            let shown = zones_of(objects);
            let region = choices.region.clone().or_else(|| most_common_region(&shown));
            if let Some(region) = region.filter(|region| *region != self.settings.region) {
                let zone = |letter| Zone { name: format!("{region}{letter}"), id: String::new() };
                self.settings.zones = ["a", "b", "c"].map(zone).into();
                self.settings.region = region;
            }
            let region = self.settings.region.clone();
            let own = shown.into_iter().filter(|zone| region_of(&zone.name).as_ref() == Some(&region));
            for zone in own {
                match self.settings.zones.iter_mut().find(|present| present.name == zone.name) {
                    Some(present) if !zone.id.is_empty() => present.id = zone.id,
                    Some(_) => {}
                    None => self.settings.zones.push(zone),
                }
            }
            if !have_subnets(objects) {
                let names = self.settings.zones.iter().map(|zone| zone.name.clone()).collect();
                self.assume(Assumption::Zones(names));
            }
            return Ok(());
        }
        self.settings.zones.clone_from(&choices.zones);
        for zone in &self.settings.zones {
            let region = region_of(&zone.name);
            let region = region.filter(|region| choices.region.as_ref().is_none_or(|own| own == region));
            self.settings.region = region.ok_or_else(|| ChoiceError::Zone(zone.name.clone()))?;
        }
        Ok(())
    }

    fn apply_choices(&mut self, choices: &Choices) {
        let settings = &mut self.settings;
        settings.without_nodes = choices.without_nodes;
        settings.vm_memory_overhead = choices.vm_memory_overhead.unwrap_or(settings.vm_memory_overhead);
        settings.reserved_enis = choices.reserved_enis.unwrap_or(settings.reserved_enis);
        settings.ignores_preferences = choices.ignores_preferences.unwrap_or(settings.ignores_preferences);
        settings.min_values_best_effort =
            choices.min_values_best_effort.unwrap_or(settings.min_values_best_effort);
        let gate = |name: &str| choices.feature_gates.get(name).copied();
        settings.node_overlays = gate("NodeOverlay").unwrap_or(settings.node_overlays);
        settings.reserved_capacity = gate("ReservedCapacity").unwrap_or(settings.reserved_capacity);
        settings.reservation_capacity.clone_from(&choices.reservation_capacity);
        settings.replicas.clone_from(&choices.replicas);
    }

    fn apply_prices(&mut self, choices: &Choices) -> Result<(), PricesError> {
        if let Some(text) = &choices.prices {
            self.apply_price_list(prices::parse(text, &self.settings.region)?);
        } else if self.settings.region == PRICED_REGION {
            self.assume(Assumption::ListPrices);
        } else {
            self.assume(Assumption::OtherRegion(self.settings.region.clone()));
        }
        if let Some(discount) = choices.spot_discount {
            self.settings.spot_discount = discount;
        } else {
            self.assume(Assumption::SpotDiscount);
        }
        Ok(())
    }

    /// Applies a list of prices. Instance types that it lacks keep the built-in price, unless the list has all types of the region.
    fn apply_price_list(&mut self, list: PriceList) {
        let mut builtin: BTreeMap<String, f64> =
            instance_types::prices().map(|(name, price)| (name.to_owned(), price)).collect();
        let missing = builtin.keys().filter(|name| !list.prices.contains_key(*name)).count();
        if list.is_complete {
            self.settings.prices = Prices::Listed(list.prices);
        } else {
            builtin.extend(list.prices);
            self.settings.prices = Prices::Listed(builtin);
        }
        if missing > 0 {
            self.assume(if list.is_complete {
                Assumption::NotSold(missing, self.settings.region.clone())
            } else {
                Assumption::BuiltinPrices(missing)
            });
        }
    }

    fn assume_the_rest(&mut self, objects: &[Object<'_>]) {
        // An input with node classes shows all of them.
        let assumes = !objects.iter().any(|object| object.is(Kind::NODE_CLASS));
        self.settings.assumes_node_classes = assumes;
        for name in missing_node_classes(objects).into_iter().filter(|_| assumes) {
            self.assume(Assumption::DefaultNodeClass(name.to_owned()));
        }
        for name in repeated_pools(objects) {
            self.assume(Assumption::RepeatedPool(name.to_owned()));
        }
        let has_claims = objects.iter().any(|object| {
            object.kind() == "PersistentVolumeClaim" || object.at(&["spec", "volumeClaimTemplates"]).is_some()
        });
        if has_claims && TYPE_VOLUME_LIMITS.contains(self.settings.release) {
            self.assume(Assumption::AnyNumberOfVolumes);
        }
        if has_reservations(objects) && RESERVATION_FALLBACK.contains(self.settings.release) {
            self.assume(Assumption::NoReservationFallback);
        }
        self.assume(Assumption::NothingElse);
        self.assume(Assumption::Capacity);
        let has_limit_range = objects.iter().any(|object| object.kind() == "LimitRange");
        if has_limit_range {
            self.assume(Assumption::NoLimitRanges);
        }
        self.assume(Assumption::NoWebhooks);
    }
}

/// Whether the status of a node class has capacity reservations. The controller writes them only while the gate `ReservedCapacity`
/// is on (pkg/controllers/nodeclass/controller.go of aws/karpenter-provider-aws at v1.4.1).
fn has_reservations(objects: &[Object<'_>]) -> bool {
    let classes = objects.iter().filter(|object| object.is(Kind::NODE_CLASS));
    let mut reservations = classes.flat_map(|class| items_of(class.at(&["status", "capacityReservations"])));
    reservations.next().is_some()
}

/// The names of NodePools that occur more than once.
fn repeated_pools<'d>(objects: &[Object<'d>]) -> BTreeSet<&'d str> {
    let mut seen = BTreeSet::new();
    let pools = objects.iter().filter(|object| object.is(Kind::NODE_POOL));
    pools.map(|pool| pool.name()).filter(|name| !seen.insert(*name)).collect()
}

/// The names of node classes that NodePools refer to and the input lacks.
fn missing_node_classes<'d>(objects: &[Object<'d>]) -> BTreeSet<&'d str> {
    let classes = objects.iter().filter(|object| object.is(Kind::NODE_CLASS)).map(|class| class.name());
    let present: BTreeSet<&str> = classes.collect();
    let pools = objects.iter().filter_map(|object| NodePool::of(*object));
    let pools = pools.filter(|pool| !pool.is_of_auto_mode());
    let names = pools.filter_map(|pool| pool.node_class_ref()?.name()?.as_str());
    names.filter(|name| !present.contains(name)).collect()
}

/// The release of the settings, or else the newest that the input pins, or else the newest. What the settings do not say is an assumption.
pub fn release_of(config: &Settings, files: &[File]) -> (Release, Option<Assumption>) {
    let (_, chosen) = config.karpenter.ends();
    if config.is_karpenter_version_set {
        return (chosen, None);
    }
    let known = pins_of_files(&files.iter()).into_iter().filter_map(|pin| match pin.version.release() {
        PinnedRelease::Known(release) => Some((release, pin)),
        _ => None,
    });
    // The first of several pins of the newest release.
    match known.reduce(|newest, pin| if pin.0 > newest.0 { pin } else { newest }) {
        Some((release, PlacedPin { file, line, .. })) => {
            (release, Some(Assumption::PinnedRelease { release, file, line }))
        }
        None => (chosen, Some(Assumption::Release(chosen))),
    }
}

/// Whether the status of the EC2NodeClass of each NodePool has its subnets.
fn have_subnets(objects: &[Object<'_>]) -> bool {
    let is_known = |class: &&Object<'_>| items_of(class.at(&["status", "subnets"])).next().is_some();
    let classes = objects.iter().filter(|object| object.is(Kind::NODE_CLASS)).filter(is_known);
    let classes: BTreeSet<&str> = classes.map(|class| class.name()).collect();
    let mut pools = objects.iter().filter_map(|object| NodePool::of(*object)).peekable();
    pools.peek().is_some()
        && pools.all(|pool| {
            let name = pool.node_class_ref().and_then(|class| class.name()?.as_str());
            name.is_some_and(|name| classes.contains(name))
        })
}

/// The zones that the input shows: of subnets, nodes and NodePools.
fn zones_of(objects: &[Object<'_>]) -> BTreeSet<Zone> {
    let mut zones = BTreeSet::new();
    let mut add = |name: Option<&str>, id: Option<&str>| {
        if let Some(name) = name.filter(|name| region_of(name).is_some()) {
            zones.insert(Zone { name: name.to_owned(), id: id.unwrap_or_default().to_owned() });
        }
    };
    for object in objects {
        match object.kind() {
            "EC2NodeClass" => {
                for subnet in items_of(object.at(&["status", "subnets"])) {
                    add(subnet.str_at(&["zone"]), subnet.str_at(&["zoneID"]));
                }
            }
            "NodePool" => {
                let pool = NodePool::of(*object);
                let items = pool.into_iter().flat_map(|pool| pool.requirements().items());
                let items = items.filter(|item| item.key() == Some("topology.kubernetes.io/zone"));
                for item in items.filter(|item| item.operator() == Some(Operator::In)) {
                    item.values().for_each(|value| add(value.as_str(), None));
                }
            }
            "Node" => {
                let label = |key: &str| object.metadata().label(key).and_then(Node::as_str);
                let id = label("topology.k8s.aws/zone-id");
                // The provider takes the ID from a subnet of the node class: no subnet is in a zone with an empty ID
                // (`instanceToNodeClaim` in pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.14.1).
                if id != Some("") {
                    add(label("topology.kubernetes.io/zone"), id);
                }
            }
            _ => {}
        }
    }
    // A zone may occur with and without its ID.
    let known: BTreeSet<String> =
        zones.iter().filter(|zone| !zone.id.is_empty()).map(|zone| zone.name.clone()).collect();
    zones.retain(|zone| !zone.id.is_empty() || !known.contains(&zone.name));
    zones
}

/// The region of most zones.
fn most_common_region(zones: &BTreeSet<Zone>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for region in zones.iter().filter_map(|zone| region_of(&zone.name)) {
        *counts.entry(region).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(region, _)| region)
}

/// The region of a zone such as `us-east-1a`.
pub(crate) fn region_of(zone: &str) -> Option<String> {
    let region = zone.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let has_number = region.ends_with(|c: char| c.is_ascii_digit()) && region.contains('-');
    (has_number && region.len() + 1 == zone.len()).then(|| region.to_owned())
}

#[cfg(test)]
mod tests {
    use manifest::Document;

    use super::*;

    fn shown(text: &str) -> String {
        let file = File::read("-", text.to_owned(), &manifest::limits::Limits::DEFAULT);
        let trees = file.trees();
        let objects: Vec<Object<'_>> = trees.flat_map(Object::all).collect();
        let zones = zones_of(&objects).into_iter().map(|zone| format!("{} {}", zone.name, zone.id));
        zones.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn deduces_the_gate_for_reservations_from_a_status() {
        let gate = |release: &str, status: &str| {
            let text = format!(
                "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: c}}\nstatus: {status}\n"
            );
            let file = File::read("-", text, &manifest::limits::Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("not read") };
            DeducedSettings::for_rules(Release::parse(release).unwrap(), &Object::all(tree)).reserved_capacity
        };
        let reserved = "{capacityReservations: [{id: cr-12345678901234567}]}";
        assert!(!gate("1.4.1", "{}"));
        assert!(!gate("1.4.1", "{capacityReservations: []}"));
        assert!(gate("1.4.1", reserved));
        assert!(gate("1.6.0", "{}"));
    }

    #[test]
    fn takes_zones_with_subnets_from_nodes_and_pools() {
        let node = |labels: &str| {
            format!("apiVersion: v1\nkind: Node\nmetadata: {{name: n, labels: {{{labels}}}}}\n")
        };
        let zone = "topology.kubernetes.io/zone: us-east-1f";
        assert_eq!(shown(&node(zone)), "us-east-1f ");
        assert_eq!(
            shown(&node(&format!("{zone}, topology.k8s.aws/zone-id: use1-az5"))),
            "us-east-1f use1-az5"
        );
        assert_eq!(shown(&node(&format!("{zone}, topology.k8s.aws/zone-id: ''"))), "");
        let pool = |operator: &str| {
            format!(
                "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p}}\nspec: {{template: {{spec: {{requirements: [\
                 {{key: topology.kubernetes.io/zone, operator: {operator}, values: [us-east-1e]}}]}}}}}}\n"
            )
        };
        assert_eq!(shown(&pool("In")), "us-east-1e ");
        assert_eq!(shown(&pool("NotIn")), "");
    }

    #[test]
    fn reads_the_region_from_a_zone() {
        assert_eq!(region_of("us-east-1a").as_deref(), Some("us-east-1"));
        assert_eq!(region_of("ap-southeast-2c").as_deref(), Some("ap-southeast-2"));
        for text in ["us-east-1", "zone", "use1-az1", "us-east-1ab", ""] {
            assert_eq!(region_of(text), None, "{text}");
        }
    }
}
