//! The options of the controller: its flags, each with an environment variable of the same name in capitals.

use crate::release::Releases;

/// The flags, without dashes, and the releases whose controller has them.
///
/// Source: `AddFlags` in pkg/operator/options/options.go of the provider at the tags v1.0.0 to v1.14.1, and in
/// pkg/operator/options/options.go of kubernetes-sigs/karpenter at the version in the go.mod of each tag; for 1.15
/// website/content/en/v1.15/reference/settings.md, and options.go of kubernetes-sigs/karpenter at 120c77e.
const FLAGS: [(&str, Releases); 41] = [
    ("ami-refresh-interval", Releases::since(13)),
    ("aws-feature-gates", Releases::since(15)),
    ("batch-idle-duration", Releases::ALL),
    ("batch-max-duration", Releases::ALL),
    ("cluster-ca-bundle", Releases::ALL),
    ("cluster-endpoint", Releases::ALL),
    ("cluster-name", Releases::ALL),
    ("cpu-requests", Releases::since(5)),
    ("disable-cluster-state-observability", Releases::since(7)),
    ("disable-controller-warmup", Releases::since(9)),
    ("disable-dry-run", Releases::since_patch(6, 2)),
    ("disable-leader-election", Releases::ALL),
    ("disable-webhook", Releases::until(0)),
    ("eks-control-plane", Releases::since(1)),
    ("enable-profiling", Releases::ALL),
    ("enable-zonal-shift", Releases::since(12)),
    ("feature-gates", Releases::ALL),
    ("health-probe-port", Releases::ALL),
    ("ignore-dra-requests", Releases::since(7)),
    ("interruption-queue", Releases::ALL),
    ("isolated-vpc", Releases::ALL),
    ("karpenter-service", Releases::ALL),
    ("kube-client-burst", Releases::ALL),
    ("kube-client-qps", Releases::ALL),
    ("leader-election-name", Releases::since(1)),
    ("leader-election-namespace", Releases::since(1)),
    ("legacy-node-repair", Releases::since(15)),
    ("log-error-output-paths", Releases::ALL),
    ("log-level", Releases::ALL),
    ("log-output-paths", Releases::ALL),
    ("memory-limit", Releases::ALL),
    ("metrics-port", Releases::ALL),
    ("min-values-policy", Releases::since(6)),
    ("preference-policy", Releases::since(4)),
    ("reserved-enis", Releases::ALL),
    ("scheduler-config", Releases::since(15)),
    ("security-group-refresh-interval", Releases::since(15)),
    ("subnet-refresh-interval", Releases::since(13)),
    ("vm-memory-overhead-percent", Releases::ALL),
    ("webhook-metrics-port", Releases::until(0)),
    ("webhook-port", Releases::until(0)),
];

/// The names of all flags.
pub fn flags() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().map(|(name, _)| *name)
}

/// The releases whose controller has a flag.
pub fn releases_of_flag(name: &str) -> Releases {
    FLAGS.iter().find(|(known, _)| *known == name).map_or(Releases::NONE, |(_, releases)| *releases)
}

/// Whether a flag needs no value: `--isolated-vpc` alone turns it on.
pub fn is_boolean(name: &str) -> bool {
    const OTHERS: [&str; 4] =
        ["isolated-vpc", "eks-control-plane", "ignore-dra-requests", "legacy-node-repair"];
    name.starts_with("disable-") || name.starts_with("enable-") || OTHERS.contains(&name)
}

/// The environment variable of a flag.
pub fn variable_of(flag: &str) -> String {
    flag.replace('-', "_").to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_the_flag_in_capitals() {
        assert_eq!(variable_of("vm-memory-overhead-percent"), "VM_MEMORY_OVERHEAD_PERCENT");
    }

    #[test]
    fn knows_which_releases_have_a_flag() {
        assert_eq!(releases_of_flag("cluster-name"), Releases::ALL);
        assert_eq!(releases_of_flag("webhook-port"), Releases::until(0));
        assert_eq!(releases_of_flag("scheduler-config"), Releases::since(15));
        assert_eq!(releases_of_flag("leader-elect"), Releases::NONE);
        assert!(is_boolean("disable-dry-run") && !is_boolean("cluster-name"));
    }

    #[test]
    fn knows_the_flags_without_a_value() {
        for flag in ["isolated-vpc", "disable-webhook", "enable-profiling"] {
            assert!(is_boolean(flag), "{flag}");
        }
        assert!(!is_boolean("cluster-name"));
    }
}
