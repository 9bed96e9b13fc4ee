//! Assumptions of a simulation about things that the input does not show.

use core::fmt;

use karpenter::instance_types::PRICED_REGION;
use karpenter::release::Release;

/// Assumption about something that the input does not show. `Display` writes it as a sentence without a capital letter and a full
/// stop, which names no flag: each front end knows how its users replace an assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// Karpenter runs in this release.
    Release(Release),
    /// Karpenter runs in the release that the input pins.
    PinnedRelease {
        /// The release.
        release: Release,
        /// Name of the file with the pin.
        file: String,
        /// Line of the pin.
        line: usize,
    },
    /// The objects of these overlays are left out, because each overlay is a variant of another one.
    OverlaysLeftOut(Vec<String>),
    /// `SCHEDULER_CONFIG` cannot be parsed, so its topology spread constraints do not apply.
    NoDefaultSpreads,
    /// The subnets are in these zones.
    Zones(Vec<String>),
    /// On-demand prices are the list prices of [`PRICED_REGION`], in which the cluster is.
    ListPrices,
    /// Prices are from [`PRICED_REGION`], although the cluster is in this other region.
    OtherRegion(String),
    /// This number of instance types, which the given prices lack, have the list prices of [`PRICED_REGION`].
    BuiltinPrices(usize),
    /// This number of instance types, which the complete price list of the region lacks, are not sold there.
    NotSold(usize, String),
    /// Spot capacity has the default discount.
    SpotDiscount,
    /// The EC2NodeClass of this name, which is not in the input, has default fields.
    DefaultNodeClass(String),
    /// The NodePool of this name occurs several times.
    RepeatedPool(String),
    /// Instance types do not limit volumes.
    AnyNumberOfVolumes,
    /// Pods wait if all capacity reservations are taken.
    NoReservationFallback,
    /// The nodes of these names are being deleted, and this number of their pods look for another place.
    NodesLeave(Vec<String>, usize),
    /// kube-scheduler binds pods to existing nodes before Karpenter looks at them.
    BindsFirst,
    /// Before a further round, the new nodes join the cluster.
    NodesJoin,
    /// The cluster has nothing that the input lacks.
    NothingElse,
    /// Every instance type has capacity in every zone.
    Capacity,
    /// LimitRanges are not applied.
    NoLimitRanges,
    /// Webhooks change no pod.
    NoWebhooks,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release(release) => write!(f, "Karpenter runs in release {release}"),
            Self::PinnedRelease { release, file, line } => {
                write!(f, "Karpenter runs in release {release}, pinned in {file}:{line}")
            }
            Self::OverlaysLeftOut(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "the objects of kustomization {} belong to another cluster", names.join(", "))
            }
            Self::NoDefaultSpreads => f.write_str(
                "the pods have no default topology spread constraints: `SCHEDULER_CONFIG` is not known",
            ),
            Self::Zones(names) => write!(f, "the subnets are in {}", names.join(", ")),
            Self::ListPrices => write!(f, "on-demand prices are the list prices of {PRICED_REGION}"),
            Self::OtherRegion(region) => {
                write!(f, "prices are those of {PRICED_REGION}, and every instance type exists in {region}")
            }
            Self::BuiltinPrices(count) => write!(
                f,
                "{count} of the instance types have no given price, and cost the list prices of {PRICED_REGION}"
            ),
            Self::NotSold(count, region) => write!(
                f,
                "{count} of the instance types are not in the price list, and are not sold in {region}"
            ),
            Self::SpotDiscount => {
                f.write_str("spot capacity costs 40 % of the on-demand price in every zone")
            }
            Self::DefaultNodeClass(name) => {
                write!(f, "EC2NodeClass `{name}`, which is not in the input, has the defaults of AL2023")
            }
            Self::RepeatedPool(name) => {
                write!(f, "NodePool `{name}` occurs several times, as in several clusters")
            }
            Self::AnyNumberOfVolumes => f.write_str(
                "new nodes take any number of volumes, although this release limits them by instance type",
            ),
            Self::NoReservationFallback => f.write_str(
                "pods wait for the next round if all capacity reservations are taken, although this release may relax them",
            ),
            Self::NodesLeave(names, pods) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let (be, they) = if names.len() == 1 { ("is", "it takes") } else { ("are", "they take") };
                let look = if *pods == 1 { "pod looks" } else { "pods look" };
                write!(
                    f,
                    "{} {be} being deleted: {they} no pods, and {pods} {look} for another node",
                    names.join(", ")
                )
            }
            Self::BindsFirst => f.write_str(
                "kube-scheduler first binds the pods that pass its filters on existing nodes: by the preferences of the pod, then to \
                 the node with the largest free part of CPU and memory, then by name, without preemption",
            ),
            Self::NodesJoin => f.write_str(
                "before each further round, the nodes join with their cheapest type in the first of their zones, and run their pods",
            ),
            Self::NothingElse => f.write_str("the cluster has no other NodePool, node or pod than the input"),
            Self::Capacity => f.write_str("every instance type has capacity in every zone"),
            Self::NoLimitRanges => f.write_str("LimitRanges are not applied: requests are as written"),
            Self::NoWebhooks => f.write_str("webhooks change no pod"),
        }
    }
}
