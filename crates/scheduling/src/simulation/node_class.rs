//! Capacity and overhead of an instance type under a node class.
//!
//! Source: pkg/providers/instancetype/types.go and pkg/providers/amifamily of aws/karpenter-provider-aws at v1.14.1.

use karpenter::instance_types::InstanceType;
use manifest::tree::{Node, members_of};
use objects::node_class::{BlockDeviceMapping, EbsBlockDevice, Ec2NodeClass};
use objects::placeholders::has_placeholder_below;
use values::quantity::{Notation, Quantity};

use super::behaviour::SchedulerBehaviour;
use super::resources::{CPU, MEMORY, PODS, ResourceNames, Resources, STORAGE, mebibytes, quantity};
use super::settings::SimulationSettings;
use crate::scalar::text;

const NANO: i128 = 1_000_000_000;

/// AMI family of a node class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AmiFamily {
    /// Amazon Linux 2.
    Al2,
    /// Amazon Linux 2023.
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
    /// Windows, with the build that its nodes have as a label.
    Windows(&'static str),
    /// A custom image.
    Custom,
}

impl AmiFamily {
    fn of(class: Ec2NodeClass<'_>) -> Self {
        let field = class.ami_family().map(text);
        let alias =
            class.ami_aliases().next().map(text).map(|alias| alias.split('@').next().unwrap_or(alias));
        match field.or(alias).unwrap_or_default().to_ascii_lowercase().as_str() {
            "al2" => Self::Al2,
            "al2023" => Self::Al2023,
            "bottlerocket" => Self::Bottlerocket,
            "windows2019" => Self::Windows("10.0.17763"),
            "windows2022" => Self::Windows("10.0.20348"),
            "windows2025" => Self::Windows("10.0.26100"),
            _ => Self::Custom,
        }
    }

    fn device(self) -> Option<&'static str> {
        match self {
            Self::Al2 | Self::Al2023 => Some("/dev/xvda"),
            Self::Bottlerocket => Some("/dev/xvdb"),
            Self::Windows(_) => Some("/dev/sda1"),
            Self::Custom => None,
        }
    }

    fn is_windows(self) -> bool {
        matches!(self, Self::Windows(_))
    }

    /// Whether kube-reserved memory is computed from the pods that the interfaces allow, whatever the kubelet allows.
    fn reserves_by_interfaces(self) -> bool {
        !self.is_windows() && self != Self::Bottlerocket
    }
}

/// The fields of a node class, and the settings, that decide about resources.
#[derive(Clone, Debug)]
pub(crate) struct NodeClassModel<'d> {
    /// The AMI family.
    pub(crate) family: AmiFamily,
    max_pods: Option<i64>,
    pods_per_core: i64,
    kube_reserved: Resources,
    system_reserved: Resources,
    /// The maps of thresholds that apply, with the node of each map.
    eviction: Vec<Node<'d>>,
    volume: Quantity,
    raid0: bool,
    /// Interfaces of the first network card that are for EFA only.
    efa_only_on_card_0: i64,
    efa_only: Option<i64>,
    needs_nitro: bool,
    checks_compatibility: bool,
    /// The part of the memory that Karpenter keeps for the hypervisor.
    memory_overhead: f64,
    /// Interfaces that pods do not use.
    reserved_interfaces: i64,
    /// Of these, the interfaces that lower the kube-reserved memory.
    reserved_interfaces_of_overhead: i64,
}

impl<'d> NodeClassModel<'d> {
    /// Reads a node class. A class that the input lacks has the defaults of AL2023.
    pub(crate) fn read(
        class: Option<Ec2NodeClass<'d>>,
        names: &ResourceNames<'d>,
        settings: &SimulationSettings,
    ) -> Self {
        let spec = class.and_then(|class| class.object().at(&["spec"]));
        let kubelet = spec.and_then(|spec| spec.get("kubelet"));
        let of_kubelet = |field: &str| kubelet.and_then(|kubelet| kubelet.get(field));
        let family = class.map_or(AmiFamily::Al2023, AmiFamily::of);
        let mut eviction: Vec<Node<'d>> = of_kubelet("evictionHard").into_iter().collect();
        let counts_soft = !SchedulerBehaviour::IGNORES_EVICTION_SOFT.holds_in(settings.release);
        if counts_soft && family != AmiFamily::Bottlerocket {
            eviction.extend(of_kubelet("evictionSoft"));
        }
        let counts_reserved =
            SchedulerBehaviour::RESERVED_INTERFACES_LOWER_OVERHEAD.holds_in(settings.release);
        let interfaces = spec.and_then(|spec| spec.get("networkInterfaces"));
        let (efa_only, efa_only_on_card_0) = efa_only(interfaces);
        Self {
            family,
            max_pods: of_kubelet("maxPods").and_then(Node::as_int),
            pods_per_core: if family == AmiFamily::Bottlerocket {
                0
            } else {
                of_kubelet("podsPerCore").and_then(Node::as_int).unwrap_or_default()
            },
            kube_reserved: names.parse(members_of(of_kubelet("kubeReserved"))),
            system_reserved: names.parse(members_of(of_kubelet("systemReserved"))),
            eviction,
            volume: class.map_or(mebibytes(20 * 1024), |class| volume(class, family)),
            raid0: class.and_then(Ec2NodeClass::instance_store_policy).map(text) == Some("RAID0"),
            efa_only_on_card_0,
            efa_only,
            checks_compatibility: SchedulerBehaviour::NODE_CLASS_COMPATIBILITY.holds_in(settings.release),
            needs_nitro: spec.is_some_and(|spec| spec.get("connectionTracking").is_some()),
            memory_overhead: settings.vm_memory_overhead,
            reserved_interfaces: settings.reserved_enis,
            reserved_interfaces_of_overhead: if counts_reserved { settings.reserved_enis } else { 0 },
        }
    }

    /// Whether instances of a type work with the node class; the type stays known, but has no offering otherwise.
    pub(crate) fn is_compatible(&self, kind: &InstanceType) -> bool {
        let is_a1 = kind.name().starts_with("a1.");
        let works = !(is_a1 && self.family == AmiFamily::Al2023) && (kind.is_nitro() || !self.needs_nitro);
        works || !self.checks_compatibility
    }

    fn pods_by_interfaces(&self, kind: &InstanceType, reserved: i64) -> i64 {
        let (interfaces, addresses) = kind.interfaces();
        let usable = interfaces.saturating_sub(reserved).saturating_sub(self.efa_only_on_card_0);
        if usable <= 0 { 0 } else { usable.saturating_mul(addresses - 1).saturating_add(2) }
    }

    fn pods(&self, kind: &InstanceType) -> i64 {
        let count = match self.max_pods {
            Some(count) => count,
            None if self.family.is_windows() => 110,
            None => self.pods_by_interfaces(kind, self.reserved_interfaces),
        };
        if self.pods_per_core > 0 { count.min(self.pods_per_core.saturating_mul(kind.cpu())) } else { count }
    }

    /// The capacity of a type.
    pub(crate) fn capacity(&self, kind: &InstanceType, names: &ResourceNames<'d>) -> Resources {
        let of_every_type = [
            (CPU, Quantity::from_units(kind.cpu())),
            (MEMORY, mebibytes(memory(kind, self.memory_overhead))),
            (PODS, Quantity::from_units(self.pods(kind))),
            (STORAGE, self.storage(kind)),
        ];
        let (_, addresses) = kind.interfaces();
        let has_addresses = self.family.is_windows() && !kind.is_arm();
        let extended = kind
            .extended_resources()
            .chain(self.efa_only.map(|count| ("vpc.amazonaws.com/efa", count)))
            .chain(has_addresses.then_some(("vpc.amazonaws.com/PrivateIPv4Address", addresses - 1)));
        let extended = extended.map(|(name, count)| (names.id(name), Quantity::from_units(count)));
        of_every_type.into_iter().chain(extended).collect()
    }

    fn storage(&self, kind: &InstanceType) -> Quantity {
        let disks = kind.local_nvme().filter(|_| self.raid0);
        disks.map_or(self.volume, |size| Quantity::from_units(size * 1_000_000_000))
    }

    /// The resources that a type keeps back: kube-reserved, system-reserved and eviction thresholds.
    pub(crate) fn overhead(&self, kind: &InstanceType, capacity: &Resources) -> Resources {
        let reserved = self.reserved_interfaces_of_overhead;
        let pods = if self.family.reserves_by_interfaces() {
            self.pods_by_interfaces(kind, reserved)
        } else {
            self.pods(kind)
        };
        let thresholds = self.eviction_thresholds(capacity);
        let cpu = i128::from(reserved_cpu(kind.cpu())) * (NANO / 1000);
        let by_default = [
            (CPU, Quantity::from_nano(cpu, Notation::Decimal)),
            (MEMORY, mebibytes(pods.saturating_mul(11).saturating_add(255))),
            (STORAGE, mebibytes(1024)),
        ];
        let mut overhead: Resources = by_default.into_iter().chain(self.kube_reserved.iter()).collect();
        overhead.add(&self.system_reserved);
        overhead.add(&thresholds);
        overhead
    }

    fn eviction_thresholds(&self, capacity: &Resources) -> Resources {
        let mut configured = Resources::default();
        for map in &self.eviction {
            for (id, signal) in [(MEMORY, "memory.available"), (STORAGE, "nodefs.available")] {
                if let Some(amount) = map.get(signal).and_then(|node| threshold(text(node), capacity.get(id)))
                {
                    configured.raise(&[(id, amount)].into_iter().collect());
                }
            }
        }
        let storage = percentage(capacity.get(STORAGE), 10.0);
        let by_default = [(MEMORY, mebibytes(100)), (STORAGE, storage)];
        by_default.into_iter().chain(configured.iter()).collect()
    }
}

/// Whether no field that decides about resources has a placeholder, or an expression that Karpenter evaluates for each instance
/// type (since 1.15).
pub(crate) fn is_decided(class: Ec2NodeClass<'_>) -> bool {
    const FIELDS: [&str; 5] =
        ["amiFamily", "kubelet", "blockDeviceMappings", "instanceStorePolicy", "networkInterfaces"];
    let spec = class.object().at(&["spec"]);
    let fields = FIELDS.into_iter().filter_map(|field| spec?.get(field));
    !fields.chain(class.ami_aliases()).any(has_placeholder_below) && !has_expression(class)
}

fn has_expression(class: Ec2NodeClass<'_>) -> bool {
    let Some(kubelet) = class.object().at(&["spec", "kubelet"]) else { return false };
    let amounts =
        ["kubeReserved", "systemReserved"].into_iter().flat_map(|field| members_of(kubelet.get(field)));
    let mut numbers = ["maxPods", "podsPerCore"].into_iter().filter_map(|field| kubelet.get(field));
    numbers.any(|number| number.as_int().is_none())
        || amounts.filter(|(_, amount)| !amount.is_null()).any(|(_, amount)| quantity(amount).is_none())
}

/// Whether the size of the volume for pods is known: the root volume of a custom image is known only if it is marked.
pub(crate) fn has_known_volume(class: Ec2NodeClass<'_>) -> bool {
    let is_marked = class.block_device_mappings().any(BlockDeviceMapping::is_root_volume);
    is_marked || AmiFamily::of(class) != AmiFamily::Custom
}

/// Numbers of interfaces for EFA only: on all cards, where the node class lists interfaces, and on the first card.
fn efa_only(interfaces: Option<Node<'_>>) -> (Option<i64>, i64) {
    let Some(list) = interfaces.filter(|list| !list.is_empty()) else { return (None, 0) };
    let is_efa_only = |item: &Node<'_>| item.str_at(&["interfaceType"]) == Some("efa-only");
    let on_card_0 = |item: &Node<'_>| item.get("networkCardIndex").and_then(Node::as_int).unwrap_or(0) == 0;
    let count = |all: usize| i64::try_from(all).unwrap_or(i64::MAX);
    let all = list.items().filter(is_efa_only).count();
    (Some(count(all)), count(list.items().filter(is_efa_only).filter(on_card_0).count()))
}

/// The size of the volume for pods.
fn volume(class: Ec2NodeClass<'_>, family: AmiFamily) -> Quantity {
    let default = mebibytes(if family.is_windows() { 50 * 1024 } else { 20 * 1024 });
    let mappings: Vec<_> = class.block_device_mappings().collect();
    let size = |mapping: &BlockDeviceMapping<'_>| {
        mapping.ebs().and_then(EbsBlockDevice::volume_size).and_then(quantity)
    };
    if let Some(size) = mappings.iter().find(|mapping| mapping.is_root_volume()).and_then(size) {
        return size;
    }
    if family == AmiFamily::Custom {
        return mappings.last().and_then(size).unwrap_or(default);
    }
    let of_family = mappings.iter().find(|mapping| mapping.device_name().map(text) == family.device());
    of_family.and_then(size).unwrap_or(default)
}

/// Memory in MiB that a node of a type reports.
fn memory(kind: &InstanceType, overhead: f64) -> i64 {
    let size = kind.memory() - if kind.is_arm() { 64 } else { 0 };
    #[expect(clippy::cast_precision_loss, reason = "Karpenter computes in floats")]
    #[expect(clippy::cast_possible_truncation, reason = "a size in MiB is small")]
    let lost = ((size * (1 << 20)) as f64 * overhead / 1024.0 / 1024.0).ceil() as i64;
    size.saturating_sub(lost)
}

/// Reserved CPU in thousandths: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest.
fn reserved_cpu(cores: i64) -> i64 {
    const RANGES: [(i64, i64, i64); 4] =
        [(0, 1_000, 600), (1_000, 2_000, 100), (2_000, 4_000, 50), (4_000, i64::MAX, 25)];
    let cores = cores * 1_000;
    RANGES.iter().map(|(start, end, share)| (cores.min(*end) - start).max(0) * share / 10_000).sum()
}

/// Parses a threshold: a quantity or a percentage of the capacity, where 100 % means none.
fn threshold(text: &str, capacity: Quantity) -> Option<Quantity> {
    let Some(percent) = text.strip_suffix('%') else { return Quantity::parse(text).ok() };
    let percent: f64 = percent.trim_matches('%').parse().ok()?;
    Some(percentage(capacity, if percent >= 100.0 { 0.0 } else { percent }))
}

#[expect(clippy::cast_precision_loss, reason = "Karpenter computes in floats")]
#[expect(clippy::cast_possible_truncation, reason = "an amount of bytes is below 2^63")]
fn percentage(capacity: Quantity, percent: f64) -> Quantity {
    Quantity::from_units((capacity.units() as f64 / 100.0 * percent).ceil() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_cpu_in_steps() {
        assert_eq!([1, 2, 4, 8, 192].map(reserved_cpu), [60, 70, 80, 90, 550]);
    }

    #[test]
    fn parses_thresholds_as_quantities_and_percentages() {
        let capacity = mebibytes(7577);
        let text = |text: &str| threshold(text, capacity).map(Quantity::units);
        assert_eq!(text("100Mi"), Some(100 << 20));
        assert_eq!(text("100%"), Some(0));
        assert_eq!(text("10%"), Some(794_506_036));
        assert_eq!(text("x%"), None);
    }
}
