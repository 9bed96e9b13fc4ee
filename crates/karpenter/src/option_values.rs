//! The values that the options of the controller, and the fields of its Deployment, accept in the values of the chart.
//!
//! Sources: `Parse` in pkg/operator/options/options.go and pkg/utils/env/env.go of kubernetes-sigs/karpenter, and
//! pkg/operator/options/options.go and `options_validation.go` of aws/karpenter-provider-aws, at v1.0.0 to v1.14.1;
//! charts/karpenter/templates/deployment.yaml of the latter at the same tags.

use crate::release::Releases;

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// A duration of Go, such as `10s`.
    Duration,
    /// A duration of Go of a minute or more.
    LongDuration,
    /// A whole number, which must not be negative.
    Integer,
    /// A part of 1, such as `0.075`.
    Fraction,
    /// A truth value, as Go's `strconv.ParseBool` reads it.
    Boolean,
    /// One of some words.
    OneOf(&'static [&'static str]),
}

/// Effect of a value that does not have its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// The controller exits at start-up.
    Exits,
    /// The controller silently uses this default.
    UsesDefault(&'static str),
    /// The API server refuses the Deployment.
    Refused,
}

/// An option of the controller.
#[derive(Clone, Copy, Debug)]
pub struct OptionForm {
    /// The path in the values of the chart.
    pub path: &'static [&'static str],
    /// The flag, without dashes.
    pub flag: &'static str,
    /// The environment variable.
    pub variable: &'static str,
    /// The form of the value.
    pub form: ValueForm,
    /// Effect of a value without the form in a variable. A flag without the form stops the controller.
    pub consequence: Consequence,
    /// The releases that read the option.
    pub releases: Releases,
}

const fn option(
    path: &'static [&'static str],
    flag: &'static str,
    variable: &'static str,
    form: ValueForm,
    consequence: Consequence,
) -> OptionForm {
    OptionForm { path, flag, variable, form, consequence, releases: Releases::ALL }
}

impl OptionForm {
    const fn since(mut self, releases: Releases) -> Self {
        self.releases = releases;
        self
    }
}

const OFF: Consequence = Consequence::UsesDefault("false");
const MINUTE: Consequence = Consequence::UsesDefault("1m");

/// The options whose values have a form.
pub const OPTIONS: [OptionForm; 17] = [
    option(
        &["logLevel"],
        "log-level",
        "LOG_LEVEL",
        ValueForm::OneOf(&["debug", "info", "error"]),
        Consequence::Exits,
    ),
    option(
        &["settings", "preferencePolicy"],
        "preference-policy",
        "PREFERENCE_POLICY",
        ValueForm::OneOf(&["Respect", "Ignore"]),
        Consequence::Exits,
    )
    .since(Releases::since(4)),
    option(
        &["settings", "minValuesPolicy"],
        "min-values-policy",
        "MIN_VALUES_POLICY",
        ValueForm::OneOf(&["Strict", "BestEffort"]),
        Consequence::Exits,
    )
    .since(Releases::since(6)),
    option(
        &["settings", "batchMaxDuration"],
        "batch-max-duration",
        "BATCH_MAX_DURATION",
        ValueForm::Duration,
        Consequence::UsesDefault("10s"),
    ),
    option(
        &["settings", "batchIdleDuration"],
        "batch-idle-duration",
        "BATCH_IDLE_DURATION",
        ValueForm::Duration,
        Consequence::UsesDefault("1s"),
    ),
    option(
        &["settings", "amiRefreshInterval"],
        "ami-refresh-interval",
        "AMI_REFRESH_INTERVAL",
        ValueForm::LongDuration,
        MINUTE,
    )
    .since(Releases::since(13)),
    option(
        &["settings", "subnetRefreshInterval"],
        "subnet-refresh-interval",
        "SUBNET_REFRESH_INTERVAL",
        ValueForm::LongDuration,
        MINUTE,
    )
    .since(Releases::since(13)),
    option(
        &["settings", "vmMemoryOverheadPercent"],
        "vm-memory-overhead-percent",
        "VM_MEMORY_OVERHEAD_PERCENT",
        ValueForm::Fraction,
        Consequence::UsesDefault("0.075"),
    ),
    option(
        &["settings", "reservedENIs"],
        "reserved-enis",
        "RESERVED_ENIS",
        ValueForm::Integer,
        Consequence::UsesDefault("0"),
    ),
    option(&["settings", "isolatedVPC"], "isolated-vpc", "ISOLATED_VPC", ValueForm::Boolean, OFF),
    option(
        &["settings", "eksControlPlane"],
        "eks-control-plane",
        "EKS_CONTROL_PLANE",
        ValueForm::Boolean,
        OFF,
    )
    .since(Releases::since(1)),
    option(
        &["settings", "ignoreDRARequests"],
        "ignore-dra-requests",
        "IGNORE_DRA_REQUESTS",
        ValueForm::Boolean,
        Consequence::UsesDefault("true"),
    )
    .since(Releases::since(8)),
    option(
        &["settings", "disableClusterStateObservability"],
        "disable-cluster-state-observability",
        "DISABLE_CLUSTER_STATE_OBSERVABILITY",
        ValueForm::Boolean,
        OFF,
    )
    .since(Releases::since(8)),
    option(&["settings", "disableDryRun"], "disable-dry-run", "DISABLE_DRY_RUN", ValueForm::Boolean, OFF)
        .since(Releases::since_patch(6, 2)),
    option(
        &["settings", "enableZonalShift"],
        "enable-zonal-shift",
        "ENABLE_ZONAL_SHIFT",
        ValueForm::Boolean,
        OFF,
    )
    .since(Releases::since(12)),
    option(
        &["controller", "metrics", "port"],
        "metrics-port",
        "METRICS_PORT",
        ValueForm::Integer,
        Consequence::Refused,
    ),
    option(
        &["controller", "healthProbe", "port"],
        "health-probe-port",
        "HEALTH_PROBE_PORT",
        ValueForm::Integer,
        Consequence::Refused,
    ),
];

/// The fields of the Deployment that the chart copies from its values.
pub const FIELDS: [(&[&str], ValueForm); 5] = [
    (&["replicas"], ValueForm::Integer),
    (&["revisionHistoryLimit"], ValueForm::Integer),
    (&["terminationGracePeriodSeconds"], ValueForm::Integer),
    (&["imagePullPolicy"], ValueForm::OneOf(&["Always", "IfNotPresent", "Never"])),
    (&["dnsPolicy"], ValueForm::OneOf(&["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"])),
];

/// The values that the chart reads as `if` does: every text that is not empty turns them on.
pub const SWITCHES: [&[&str]; 3] =
    [&["hostNetwork"], &["serviceAccount", "create"], &["serviceMonitor", "enabled"]];

/// The truth values of Go's `strconv.ParseBool`.
pub const TRUTH_VALUES: [&str; 12] =
    ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::SETTINGS;
    use crate::options::{releases_of_flag, variable_of};

    #[test]
    fn every_option_is_a_flag_and_a_key_of_the_chart() {
        for option in OPTIONS {
            assert_eq!(variable_of(option.flag), option.variable);
            assert!(!releases_of_flag(option.flag).is_empty(), "{}", option.flag);
            if let ["settings", key] = option.path {
                let known = SETTINGS.iter().find(|(known, _)| known == key);
                assert_eq!(known.map(|(_, releases)| *releases), Some(option.releases), "{key}");
            }
        }
    }
}
