//! The values of some well-known labels, and other spellings of them.

use values::placeholder::has_placeholder;

use crate::labels;
use crate::release::{Release, Releases};

/// A capacity type that some releases lack, and the releases that have it.
const RESERVED: (&str, Releases) = ("reserved", Releases::since(3));

/// The values of a label with a closed set of values.
#[derive(Clone, Copy, Debug)]
pub struct KnownValues {
    /// The label.
    pub label: &'static str,
    /// The name of a value: `capacity type`.
    pub what: &'static str,
    /// All values.
    pub values: &'static [&'static str],
    /// Other spellings of the values, in lower case.
    aliases: &'static [(&'static str, &'static str)],
}

/// The labels with a closed set of values.
///
/// Capacity types: kubernetes-sigs/karpenter `pkg/apis/v1/labels.go` `WellKnownValuesForRequirements`, which Karpenter
/// checks since 1.5; `reserved` exists since 1.3. Tenancies: aws/karpenter-provider-aws `pkg/apis/v1/labels.go`, since
/// 1.9. Architectures and operating systems: `pkg/apis/v1/labels.go` `AWSToKubeArchitectures` and
/// `pkg/providers/instancetype/types.go` `getOS`, 1.0-1.14.
pub const KNOWN: [KnownValues; 4] = [
    KnownValues {
        label: "karpenter.sh/capacity-type",
        what: "capacity type",
        values: &["spot", "on-demand", "reserved"],
        aliases: &[
            ("ondemand", "on-demand"),
            ("on_demand", "on-demand"),
            ("on demand", "on-demand"),
            ("demand", "on-demand"),
            ("spotinstance", "spot"),
            ("spotinstances", "spot"),
            ("spot-instance", "spot"),
            ("spot-instances", "spot"),
            ("spots", "spot"),
            ("reservation", "reserved"),
            ("capacity-reservation", "reserved"),
            ("odcr", "reserved"),
        ],
    },
    KnownValues {
        label: "karpenter.k8s.aws/instance-tenancy",
        what: "tenancy",
        values: &["default", "dedicated"],
        aliases: &[("shared", "default")],
    },
    KnownValues {
        label: "kubernetes.io/arch",
        what: "architecture",
        values: &["amd64", "arm64"],
        aliases: &[
            ("x86_64", "amd64"),
            ("x86-64", "amd64"),
            ("x64", "amd64"),
            ("x86", "amd64"),
            ("aarch64", "arm64"),
            ("arm", "arm64"),
            ("arm64v8", "arm64"),
            ("arm64/v8", "arm64"),
            ("graviton", "arm64"),
        ],
    },
    KnownValues {
        label: "kubernetes.io/os",
        what: "operating system",
        values: &["linux", "windows"],
        aliases: &[],
    },
];

/// The values of a label, if the label has a closed set of values.
pub fn of_label(label: &str) -> Option<&'static KnownValues> {
    KNOWN.iter().find(|known| known.label == label)
}

impl KnownValues {
    /// The values that a release has.
    pub fn values_in(&self, release: Release) -> impl Iterator<Item = &'static str> {
        let (reserved, releases) = RESERVED;
        self.values.iter().copied().filter(move |value| *value != reserved || releases.contains(release))
    }

    /// The value that a spelling means.
    pub fn meant(&self, written: &str) -> Option<&'static str> {
        let lower = written.trim().to_ascii_lowercase();
        let same = self.values.iter().find(|value| **value == lower).copied();
        same.or_else(|| self.aliases.iter().find(|(alias, _)| *alias == lower).map(|(_, value)| *value))
    }

    /// The values that a release has in back-ticks, for messages.
    pub fn listed_in(&self, release: Release) -> String {
        let quoted: Vec<_> = self.values_in(release).map(|value| format!("`{value}`")).collect();
        quoted.join(", ")
    }

    /// The values in back-ticks, for messages.
    pub fn listed(&self) -> String {
        let quoted: Vec<_> = self.values.iter().map(|value| format!("`{value}`")).collect();
        quoted.join(", ")
    }
}

/// Whether a tool, a script or a person replaces a value of a label before the object is applied: the value has a placeholder, or it
/// is the name of a variable, such as `ARCH` or `INSTANCE_TYPE`.
pub fn is_replaced(label: &str, value: &str) -> bool {
    has_placeholder(value) || is_variable(label, value)
}

/// Whether a value is the name of a variable: a word in capitals that says what the label holds. The labels of Kubernetes, Karpenter and
/// AWS have values in lower case. A known value in capitals, such as `SPOT` or `AMD64`, is a mistake.
pub fn is_variable(label: &str, value: &str) -> bool {
    /// Domains whose labels have values in lower case.
    const DOMAINS: [&str; 4] = ["kubernetes.io", "karpenter.sh", "k8s.aws", "eks.amazonaws.com"];
    /// Words for the zone, beside the word in the name of the label.
    const OF_ZONES: [&str; 1] = ["az"];
    let is_in_capitals = value.bytes().any(|byte| byte.is_ascii_uppercase())
        && !value.bytes().any(|byte| byte.is_ascii_lowercase());
    if !is_in_capitals {
        return false;
    }
    let label = labels::normalised(label);
    let Some((domain, name)) = label.split_once('/') else { return false };
    if !DOMAINS.iter().any(|known| labels::is_within(domain, known)) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let words = || lower.split(|char: char| !char.is_ascii_alphanumeric());
    let known = of_label(label);
    if known.is_some_and(|known| words().chain([lower.as_str()]).any(|word| known.meant(word).is_some())) {
        return false;
    }
    // `ARCHITECTURE` has the word `arch`, but only a whole word is `os`.
    let is_named = |word: &str| match word.len() {
        0..4 => words().any(|one| one.trim_end_matches(|char: char| char.is_ascii_digit()) == word),
        _ => lower.contains(word),
    };
    let of_zones: &[&str] = if label == labels::ZONE { &OF_ZONES } else { &[] };
    let of_known = known.map(|known| known.what.split(' ')).into_iter().flatten();
    name.split('-').chain(of_known).chain(of_zones.iter().copied()).any(is_named)
}

/// A value that is not the name of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneMistake {
    /// The name of a region: `us-east-1`.
    Region,
    /// The ID of a zone: `use1-az1`.
    ZoneId,
}

/// Recognises a region or the ID of a zone as the value of `topology.kubernetes.io/zone`. Other values are not checked,
/// because names of zones have several forms (`us-east-1a`, `us-west-2-lax-1a`, `us-east-1-wl1-bos-wlz-1`).
pub fn zone_mistake(value: &str) -> Option<ZoneMistake> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let letters = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if let Some((region, number)) = crate::zones::id_parts(value) {
        let (name, digit) = region.split_at_checked(region.len().saturating_sub(1))?;
        let plain = letters(name) && digits(digit);
        return (plain && digits(number)).then_some(ZoneMistake::ZoneId);
    }
    let (words, number) = value.rsplit_once('-')?;
    let mut words = words.split('-');
    let country = words.next().is_some_and(|word| word.len() == 2 && letters(word));
    let rest: Vec<&str> = words.collect();
    let region = country && !rest.is_empty() && rest.iter().all(|word| letters(word));
    (region && number.len() == 1 && digits(number)).then_some(ZoneMistake::Region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_other_spellings_and_cases() {
        let capacity = of_label("karpenter.sh/capacity-type").unwrap();
        assert_eq!(capacity.meant("SPOT"), Some("spot"));
        assert_eq!(capacity.meant("On_Demand"), Some("on-demand"));
        assert_eq!(capacity.meant("preemptible"), None);
        assert_eq!(of_label("kubernetes.io/arch").unwrap().meant("x86_64"), Some("amd64"));
        assert!(of_label("karpenter.k8s.aws/instance-family").is_none());
    }

    #[test]
    fn words_in_capitals_that_name_the_label_are_variables() {
        const OS: &str = "kubernetes.io/os";
        const ARCH: &str = "kubernetes.io/arch";
        const CAPACITY: &str = "karpenter.sh/capacity-type";
        const FAMILY: &str = "karpenter.k8s.aws/instance-family";
        const ZONE: &str = "topology.kubernetes.io/zone";
        for (label, value) in [
            (OS, "OS"),
            (OS, "NODE_OS"),
            (OS, "OPERATING_SYSTEM"),
            (ARCH, "ARCH"),
            ("beta.kubernetes.io/arch", "TARGET_ARCHITECTURE"),
            (CAPACITY, "CAPACITY_TYPE"),
            (CAPACITY, "CAPACITYTYPE"),
            ("karpenter.k8s.aws/instance-tenancy", "TENANCY"),
            (FAMILY, "FAMILY"),
            (FAMILY, "INSTANCE_FAMILY_1"),
            ("eks.amazonaws.com/instance-category", "CATEGORY"),
            ("karpenter.k8s.aws/instance-cpu", "MIN_CPU"),
            ("node.kubernetes.io/instance-type", "INSTANCE_TYPE"),
            (ZONE, "ZONE_A"),
            (ZONE, "AZ1"),
            ("topology.kubernetes.io/region", "AWS_REGION"),
            (ARCH, "${X}"),
            ("example.com/team", "<team>"),
        ] {
            assert!(is_replaced(label, value), "{label} {value}");
        }
        for (label, value) in [
            (OS, "LINUX"),
            (OS, "MACOS"),
            (OS, "os"),
            (OS, ""),
            (ARCH, "AMD64"),
            (ARCH, "X86_64"),
            (ARCH, "arch"),
            (CAPACITY, "SPOT"),
            (CAPACITY, "ON_DEMAND"),
            (CAPACITY, "SPOT_TYPE"),
            (CAPACITY, "CAPACITY_RESERVATION"),
            (FAMILY, "M5"),
            (FAMILY, "GENERAL_PURPOSE"),
            ("example.com/tier", "TIER"),
            ("os", "OS"),
        ] {
            assert!(!is_replaced(label, value), "{label} {value}");
        }
    }

    #[test]
    fn recognises_regions_and_zone_ids() {
        for region in ["us-east-1", "ap-southeast-2", "us-gov-west-1", "cn-north-1", "me-central-1"] {
            assert_eq!(zone_mistake(region), Some(ZoneMistake::Region), "{region}");
        }
        for id in ["use1-az1", "apne1-az4", "usgw1-az2"] {
            assert_eq!(zone_mistake(id), Some(ZoneMistake::ZoneId), "{id}");
        }
        for zone in [
            "us-east-1a",
            "us-gov-west-1b",
            "us-west-2-lax-1a",
            "us-east-1-wl1-bos-wlz-1",
            "eastus-1",
            "us-east1-b",
            "test-zone-1",
            "",
            "1",
            "-az1",
        ] {
            assert_eq!(zone_mistake(zone), None, "{zone}");
        }
    }

    #[test]
    fn ignores_text_that_resembles_a_region_or_a_zone_id() {
        for other in [
            "us-east-1a",
            "us-west-2-lax-1a",
            "us--1",
            "us-1",
            "usa-east-1",
            "us-east-12",
            "use-az1",
            "1-az1",
            "use1-az",
        ] {
            assert_eq!(zone_mistake(other), None, "{other}");
        }
    }
}
