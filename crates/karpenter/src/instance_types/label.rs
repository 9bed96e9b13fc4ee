//! The labels of instance types.

use super::{Column, InstanceType};

/// The values of `karpenter.k8s.aws/instance-tenancy` that every type has.
pub const MULTIPLE_TENANCIES: [&str; 2] = ["dedicated", "default"];

/// The labels that have one value per type, each with its column. Labels made from the name have the column of the name.
const LABELS: [(&str, Column); 23] = [
    ("node.kubernetes.io/instance-type", Column::Name),
    ("kubernetes.io/arch", Column::Arch),
    ("karpenter.k8s.aws/instance-category", Column::Name),
    ("karpenter.k8s.aws/instance-family", Column::Name),
    ("karpenter.k8s.aws/instance-generation", Column::Name),
    ("karpenter.k8s.aws/instance-size", Column::Name),
    ("karpenter.k8s.aws/instance-capability-flex", Column::Name),
    ("karpenter.k8s.aws/instance-cpu", Column::Cpu),
    ("karpenter.k8s.aws/instance-cpu-manufacturer", Column::CpuManufacturer),
    ("karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz", Column::ClockSpeed),
    ("karpenter.k8s.aws/instance-memory", Column::Memory),
    ("karpenter.k8s.aws/instance-ebs-bandwidth", Column::EbsBandwidth),
    ("karpenter.k8s.aws/instance-network-bandwidth", Column::NetworkBandwidth),
    ("karpenter.k8s.aws/instance-hypervisor", Column::Hypervisor),
    ("karpenter.k8s.aws/instance-encryption-in-transit-supported", Column::EncryptionInTransit),
    ("karpenter.k8s.aws/instance-local-nvme", Column::LocalNvme),
    ("karpenter.k8s.aws/instance-gpu-manufacturer", Column::GpuManufacturer),
    ("karpenter.k8s.aws/instance-gpu-name", Column::GpuName),
    ("karpenter.k8s.aws/instance-gpu-count", Column::GpuCount),
    ("karpenter.k8s.aws/instance-gpu-memory", Column::GpuMemory),
    ("karpenter.k8s.aws/instance-accelerator-manufacturer", Column::AcceleratorManufacturer),
    ("karpenter.k8s.aws/instance-accelerator-name", Column::AcceleratorName),
    ("karpenter.k8s.aws/instance-accelerator-count", Column::AcceleratorCount),
];

impl InstanceType {
    /// The keys of the labels that [`Self::label`] knows.
    pub fn label_keys() -> impl Iterator<Item = &'static str> {
        LABELS.iter().map(|(key, _)| *key)
    }

    /// The value of a label; `None` if the type does not have the label.
    ///
    /// Source: `computeRequirements` in pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.14.1.
    pub fn label(&self, key: &str) -> Option<&'static str> {
        let (_, column) = LABELS.iter().find(|(name, _)| *name == key)?;
        let text = self.text(*column)?;
        match key {
            "karpenter.k8s.aws/instance-category" => {
                category_and_generation(text).map(|(category, _)| category)
            }
            "karpenter.k8s.aws/instance-generation" => {
                category_and_generation(text).map(|(_, generation)| generation)
            }
            "karpenter.k8s.aws/instance-family" => text.split_once('.').map(|(family, _)| family),
            "karpenter.k8s.aws/instance-size" => text.split_once('.').map(|(_, size)| size),
            "karpenter.k8s.aws/instance-capability-flex" => {
                let family = text.split_once('.').map_or(text, |(family, _)| family);
                Some(if family.contains("-flex") { "true" } else { "false" })
            }
            _ => Some(text),
        }
    }
}

/// Returns the letters and the first number of a name, without a size such as the `-12tb` of `u-12tb1.metal`.
fn category_and_generation(name: &'static str) -> Option<(&'static str, &'static str)> {
    let (family, _) = name.split_once('.')?;
    let letters = family.find(|c: char| !c.is_ascii_lowercase())?;
    let (category, rest) = family.split_at_checked(letters)?;
    let after_size = rest.strip_prefix('-').and_then(|rest| rest.split_once("tb")).map(|(_, after)| after);
    let rest = after_size.unwrap_or(rest);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let generation = rest.get(..digits).filter(|digits| !digits.is_empty())?;
    Some((category, generation))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(category_and_generation(name), expected, "{name}");
        }
    }

    #[test]
    fn has_no_label_for_what_the_type_lacks() {
        let kind = super::super::all().find(|kind| kind.name() == "c7i-flex.large").unwrap();
        assert_eq!(kind.label("karpenter.k8s.aws/instance-capability-flex"), Some("true"));
        assert_eq!(kind.label("karpenter.k8s.aws/instance-size"), Some("large"));
        assert_eq!(kind.label("karpenter.k8s.aws/instance-gpu-count"), None);
        assert_eq!(kind.label("team"), None);
    }
}
