//! The values that some well-known labels have, and what people write for them.

/// A label of which all values are known.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The label.
    pub label: &'static str,
    /// What one of its values is called: `capacity type`.
    pub what: &'static str,
    /// All its values.
    pub values: &'static [&'static str],
    /// Other words for them, in lower case.
    aliases: &'static [(&'static str, &'static str)],
}

/// The labels with a closed set of values.
///
/// Capacity types: kubernetes-sigs/karpenter `pkg/apis/v1/labels.go` `WellKnownValuesForRequirements`, which Karpenter
/// itself checks since 1.5; `reserved` came in 1.3. Tenancies: aws/karpenter-provider-aws `pkg/apis/v1/labels.go`, since
/// 1.9. Architectures and operating systems: `pkg/apis/v1/labels.go` `AWSToKubeArchitectures` and
/// `pkg/providers/instancetype/types.go` `getOS`, 1.0-1.14.
pub const KNOWN: [Known; 4] = [
    Known {
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
    Known {
        label: "karpenter.k8s.aws/instance-tenancy",
        what: "tenancy",
        values: &["default", "dedicated"],
        aliases: &[("shared", "default")],
    },
    Known {
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
    Known {
        label: "kubernetes.io/os",
        what: "operating system",
        values: &["linux", "windows"],
        aliases: &[],
    },
];

/// What is known of a label's values.
pub fn of(label: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.label == label)
}

impl Known {
    /// The value that another word stands for.
    pub fn meant(&self, written: &str) -> Option<&'static str> {
        let lower = written.trim().to_ascii_lowercase();
        let same = self.values.iter().find(|value| **value == lower).copied();
        same.or_else(|| self.aliases.iter().find(|(alias, _)| *alias == lower).map(|(_, value)| *value))
    }

    /// The values in back-ticks, for a sentence.
    pub fn listed(&self) -> String {
        let quoted: Vec<_> = self.values.iter().map(|value| format!("`{value}`")).collect();
        quoted.join(", ")
    }
}

/// What stands for a zone and is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoZone {
    /// A region: `us-east-1`.
    Region,
    /// The id of a zone: `use1-az1`.
    ZoneId,
}

/// Whether a value of `topology.kubernetes.io/zone` is a region or the id of a zone. Names of zones have several forms
/// (`us-east-1a`, `us-west-2-lax-1a`, `us-east-1-wl1-bos-wlz-1`), so nothing else is judged.
pub fn no_zone(value: &str) -> Option<NoZone> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let letters = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if let Some((region, number)) = crate::zones::id_parts(value) {
        let (name, digit) = region.split_at_checked(region.len().saturating_sub(1))?;
        let plain = letters(name) && digits(digit);
        return (plain && digits(number)).then_some(NoZone::ZoneId);
    }
    let (words, number) = value.rsplit_once('-')?;
    let mut words = words.split('-');
    let country = words.next().is_some_and(|word| word.len() == 2 && letters(word));
    let rest: Vec<&str> = words.collect();
    let region = country && !rest.is_empty() && rest.iter().all(|word| letters(word));
    (region && number.len() == 1 && digits(number)).then_some(NoZone::Region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_and_other_cases_are_understood() {
        let capacity = of("karpenter.sh/capacity-type").unwrap();
        assert_eq!(capacity.meant("SPOT"), Some("spot"));
        assert_eq!(capacity.meant("On_Demand"), Some("on-demand"));
        assert_eq!(capacity.meant("preemptible"), None);
        assert_eq!(of("kubernetes.io/arch").unwrap().meant("x86_64"), Some("amd64"));
        assert!(of("karpenter.k8s.aws/instance-family").is_none());
    }

    #[test]
    fn regions_and_ids_are_no_zones() {
        for region in ["us-east-1", "ap-southeast-2", "us-gov-west-1", "cn-north-1", "me-central-1"] {
            assert_eq!(no_zone(region), Some(NoZone::Region), "{region}");
        }
        for id in ["use1-az1", "apne1-az4", "usgw1-az2"] {
            assert_eq!(no_zone(id), Some(NoZone::ZoneId), "{id}");
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
            assert_eq!(no_zone(zone), None, "{zone}");
        }
    }
}
