//! The labels of instance types.

use super::{Column, InstanceType};

/// The values of `karpenter.k8s.aws/instance-tenancy` that every type has.
pub const MULTIPLE_TENANCIES: [&str; 2] = ["dedicated", "default"];

/// Source of the value of a label.
#[derive(Clone, Copy, Debug)]
enum LabelSource {
    Column(Column),
    Category,
    Generation,
    Family,
    Size,
    Flex,
}

/// Label that has at most one value per instance type.
#[derive(Clone, Copy, Debug)]
pub struct TypeLabel {
    /// The key.
    pub key: &'static str,
    source: LabelSource,
}

const fn of_column(key: &'static str, column: Column) -> TypeLabel {
    TypeLabel { key, source: LabelSource::Column(column) }
}

const fn of_name(key: &'static str, source: LabelSource) -> TypeLabel {
    TypeLabel { key, source }
}

/// Source: `computeRequirements` in pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.14.1.
const LABELS: [TypeLabel; 23] = [
    of_column("node.kubernetes.io/instance-type", Column::Name),
    of_column("kubernetes.io/arch", Column::Arch),
    of_name("karpenter.k8s.aws/instance-category", LabelSource::Category),
    of_name("karpenter.k8s.aws/instance-family", LabelSource::Family),
    of_name("karpenter.k8s.aws/instance-generation", LabelSource::Generation),
    of_name("karpenter.k8s.aws/instance-size", LabelSource::Size),
    of_name("karpenter.k8s.aws/instance-capability-flex", LabelSource::Flex),
    of_column("karpenter.k8s.aws/instance-cpu", Column::Cpu),
    of_column("karpenter.k8s.aws/instance-cpu-manufacturer", Column::CpuManufacturer),
    of_column("karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz", Column::ClockSpeed),
    of_column("karpenter.k8s.aws/instance-memory", Column::Memory),
    of_column("karpenter.k8s.aws/instance-ebs-bandwidth", Column::EbsBandwidth),
    of_column("karpenter.k8s.aws/instance-network-bandwidth", Column::NetworkBandwidth),
    of_column("karpenter.k8s.aws/instance-hypervisor", Column::Hypervisor),
    of_column("karpenter.k8s.aws/instance-encryption-in-transit-supported", Column::EncryptionInTransit),
    of_column("karpenter.k8s.aws/instance-local-nvme", Column::LocalNvme),
    of_column("karpenter.k8s.aws/instance-gpu-manufacturer", Column::GpuManufacturer),
    of_column("karpenter.k8s.aws/instance-gpu-name", Column::GpuName),
    of_column("karpenter.k8s.aws/instance-gpu-count", Column::GpuCount),
    of_column("karpenter.k8s.aws/instance-gpu-memory", Column::GpuMemory),
    of_column("karpenter.k8s.aws/instance-accelerator-manufacturer", Column::AcceleratorManufacturer),
    of_column("karpenter.k8s.aws/instance-accelerator-name", Column::AcceleratorName),
    of_column("karpenter.k8s.aws/instance-accelerator-count", Column::AcceleratorCount),
];

impl TypeLabel {
    /// Every label.
    pub fn all() -> impl Iterator<Item = Self> {
        LABELS.into_iter()
    }

    /// The label with a key.
    pub fn of_key(key: &str) -> Option<Self> {
        LABELS.into_iter().find(|label| label.key == key)
    }

    /// Whether the values are numbers.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self.source,
            LabelSource::Generation
                | LabelSource::Column(
                    Column::Cpu
                        | Column::Memory
                        | Column::ClockSpeed
                        | Column::EbsBandwidth
                        | Column::NetworkBandwidth
                        | Column::LocalNvme
                        | Column::GpuCount
                        | Column::GpuMemory
                        | Column::AcceleratorCount
                )
        )
    }

    /// Whether no instance type ever has another value.
    pub(super) fn is_closed(self) -> bool {
        matches!(
            self.source,
            LabelSource::Flex
                | LabelSource::Column(Column::Arch | Column::Hypervisor | Column::EncryptionInTransit)
        )
    }

    /// The value for an instance type; `None` if the type does not have the label.
    pub fn value(self, kind: &InstanceType) -> Option<&'static str> {
        let parts = || family_and_size(kind.name());
        let of_family = || category_and_generation_of_family(parts()?.0);
        match self.source {
            LabelSource::Column(column) => kind.text(column),
            LabelSource::Category => of_family().map(|(category, _)| category),
            LabelSource::Generation => of_family().map(|(_, generation)| generation),
            LabelSource::Family => parts().map(|(family, _)| family),
            LabelSource::Size => parts().map(|(_, size)| size),
            LabelSource::Flex => {
                let is_flex = parts().map_or(kind.name(), |(family, _)| family).contains("-flex");
                Some(if is_flex { "true" } else { "false" })
            }
        }
    }
}

/// The family and the size in the name of an instance type. A loop over the bytes of a short name takes less time than a search that is
/// made for long texts.
fn family_and_size(name: &str) -> Option<(&str, &str)> {
    let dot = name.bytes().position(|byte| byte == b'.')?;
    Some((name.get(..dot)?, name.get(dot + 1..)?))
}

/// Returns the letters and the first number of an instance family, without a size such as the `-12tb` of `u-12tb1`.
pub fn category_and_generation_of_family(family: &str) -> Option<(&str, &str)> {
    let letters = family.bytes().position(|byte| !byte.is_ascii_lowercase())?;
    let (category, rest) = family.split_at_checked(letters)?;
    let after_size = rest.strip_prefix('-').and_then(|rest| rest.split_once("tb")).map(|(_, after)| after);
    let rest = after_size.unwrap_or(rest);
    let digits = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let generation = rest.get(..digits).filter(|digits| !digits.is_empty())?;
    Some((category, generation))
}

/// Whether the types of a family have no local disks: the name of a general family shows them with a `d` after the generation.
/// `false` if the name does not show it.
///
/// Source: `InstanceClass` of aws-cdk-lib describes the letter; the table of instance types confirms it for every family since the
/// fourth generation.
pub fn lacks_local_disks(family: &str) -> bool {
    let Some((category, generation)) = category_and_generation_of_family(family) else { return false };
    let options = family.strip_prefix(category).and_then(|rest| rest.strip_prefix(generation));
    let is_general = match category {
        "c" | "m" | "r" => generation.parse().is_ok_and(|generation: u32| generation >= 4),
        "a" | "t" => true,
        _ => false,
    };
    is_general && options.is_some_and(|options| !options.contains('d'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_families_without_local_disks_by_name() {
        for kind in super::super::all() {
            let (family, _) = kind.name().split_once('.').unwrap();
            assert!(!lacks_local_disks(family) || kind.local_nvme().is_none(), "{family}");
        }
        let families = ["m5", "c7gn", "r8ib", "t4g", "c7i-flex", "m5d", "c6gd", "m3", "i4i", "g5", "u-12tb1"];
        let lacking: Vec<_> = families.into_iter().filter(|family| lacks_local_disks(family)).collect();
        assert_eq!(lacking, ["m5", "c7gn", "r8ib", "t4g", "c7i-flex"]);
    }

    #[test]
    fn derives_category_and_generation_from_the_name() {
        for (name, expected) in [
            ("m5.large", Some(("m", "5"))),
            ("u-12tb1.112xlarge", Some(("u", "1"))),
            ("u7i-12tb.224xlarge", Some(("u", "7"))),
            ("inf1.xlarge", Some(("inf", "1"))),
            ("c7i-flex.large", Some(("c", "7"))),
            ("p4de.24xlarge", Some(("p", "4"))),
            ("mac-m4.metal", None),
        ] {
            let (family, _) = family_and_size(name).unwrap();
            assert_eq!(category_and_generation_of_family(family), expected, "{name}");
        }
    }

    #[test]
    fn has_no_value_for_what_the_type_lacks() {
        let kind = super::super::all().iter().find(|kind| kind.name() == "c7i-flex.large").unwrap();
        let value = |key: &str| TypeLabel::all().find(|label| label.key == key).unwrap().value(kind);
        assert_eq!(value("karpenter.k8s.aws/instance-capability-flex"), Some("true"));
        assert_eq!(value("karpenter.k8s.aws/instance-size"), Some("large"));
        assert_eq!(value("karpenter.k8s.aws/instance-gpu-count"), None);
    }
}
