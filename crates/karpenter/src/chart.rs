//! Karpenter's Helm chart by release: how its values are recognised, and which keys the chart of a release reads.

use manifest::tree::Node;

use crate::release::Releases;

/// The values of Karpenter's chart that a mapping holds: the mapping itself, or what it has below `karpenter`.
pub fn values_in(root: Node<'_>) -> Option<Node<'_>> {
    Some(root).filter(|root| is_chart_values(*root)).or_else(|| values_handed_on(root))
}

/// The values that a chart around Karpenter's hands on to it: those below the key `karpenter`.
pub fn values_handed_on(root: Node<'_>) -> Option<Node<'_>> {
    let values = root.get("karpenter")?;
    (is_chart_values(values) || values.at_path(&["settings", "clusterName"]).is_some()).then_some(values)
}

/// Whether a mapping has keys that only Karpenter's chart has. Source: charts/karpenter/values.yaml at v1.0.0 to v1.14.1,
/// and at v0.32.0 for what it had before.
fn is_chart_values(node: Node<'_>) -> bool {
    const SETTINGS: [&str; 7] = [
        "interruptionQueue",
        "interruptionQueueName",
        "batchMaxDuration",
        "batchIdleDuration",
        "isolatedVPC",
        "vmMemoryOverheadPercent",
        "reservedENIs",
    ];
    const GLOBAL: [&str; 4] =
        ["clusterName", "clusterEndpoint", "interruptionQueueName", "defaultInstanceProfile"];
    let has = |path: &[&str], keys: &[&str]| {
        let settings = node.at_path(path);
        settings.is_some_and(|settings| keys.iter().any(|key| settings.get(key).is_some()))
    };
    let image = node.str_at(&["controller", "image", "repository"]);
    has(&["settings"], &SETTINGS)
        || has(&["settings", "aws"], &GLOBAL)
        || (has(&["settings"], &["clusterName"]) && node.members().all(|(key, _)| is_key_of_chart(key)))
        || image.is_some_and(|image| image.ends_with("karpenter/controller"))
}

/// Whether Karpenter's chart has a key at its top: `settings.clusterName` alone is a key of other charts as well.
fn is_key_of_chart(key: &str) -> bool {
    const KEYS: &str = " additionalAnnotations additionalClusterRoleRules additionalLabels affinity controller dnsConfig \
        dnsPolicy extraVolumes fullnameOverride hostNetwork imagePullPolicy imagePullSecrets initContainers logConfig \
        logEncoding logErrorOutputPaths logLevel logOutputPaths nameOverride nodeSelector podAnnotations \
        podDisruptionBudget podLabels podSecurityContext postInstallHook priorityClassName replicas revisionHistoryLimit \
        schedulerName service serviceAccount serviceMonitor settings strategy terminationGracePeriodSeconds tolerations \
        topologySpreadConstraints webhook ";
    KEYS.split(' ').any(|known| known == key)
}

/// The keys below `settings`, with the releases whose chart reads them.
///
/// Source: charts/karpenter/values.yaml at v1.0.0 to v1.14.1.
pub const SETTINGS: [(&str, Releases); 20] = [
    ("batchMaxDuration", Releases::ALL),
    ("batchIdleDuration", Releases::ALL),
    ("preferencePolicy", Releases::since(4)),
    ("minValuesPolicy", Releases::since(6)),
    ("clusterCABundle", Releases::ALL),
    ("clusterName", Releases::ALL),
    ("clusterEndpoint", Releases::ALL),
    ("isolatedVPC", Releases::ALL),
    ("eksControlPlane", Releases::since(1)),
    ("vmMemoryOverheadPercent", Releases::ALL),
    ("interruptionQueue", Releases::ALL),
    ("enableZonalShift", Releases::since(12)),
    ("reservedENIs", Releases::ALL),
    ("ignoreDRARequests", Releases::since(8)),
    ("disableClusterStateObservability", Releases::since(8)),
    ("disableDryRun", Releases::since_patch(6, 2)),
    ("amiRefreshInterval", Releases::since(13)),
    ("subnetRefreshInterval", Releases::since(13)),
    ("featureGates", Releases::ALL),
    ("awsFeatureGates", Releases::ALL),
];

/// A feature gate: its key below `settings.featureGates`, its name in `FEATURE_GATES`, and the releases that know it.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// In the values.
    pub key: &'static str,
    /// In the variable.
    pub name: &'static str,
    /// The releases that know it.
    pub releases: Releases,
}

/// The feature gates. Source: as above, and `ParseFeatureGates` of kubernetes-sigs/karpenter at v1.0.0 to v1.14.0.
pub const GATES: [Gate; 7] = [
    Gate { key: "spotToSpotConsolidation", name: "SpotToSpotConsolidation", releases: Releases::ALL },
    Gate { key: "nodeRepair", name: "NodeRepair", releases: Releases::since(1) },
    Gate { key: "reservedCapacity", name: "ReservedCapacity", releases: Releases::since(3) },
    Gate { key: "nodeOverlay", name: "NodeOverlay", releases: Releases::since(7) },
    Gate { key: "staticCapacity", name: "StaticCapacity", releases: Releases::since(9) },
    Gate { key: "StaticCapacity", name: "StaticCapacity", releases: Releases::between(8, 8) },
    Gate { key: "capacityBuffer", name: "CapacityBuffer", releases: Releases::since(14) },
];

/// A key that a chart had once, the releases whose chart reads it no more, and what took its place.
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    /// The path of the key.
    pub path: &'static [&'static str],
    /// The releases without it.
    pub releases: Releases,
    /// What to do instead.
    pub instead: &'static str,
}

/// The keys that are gone. Source: charts/karpenter/values.yaml at v0.27.0, v0.32.0, v0.37.0, v1.0.0 and v1.1.0.
pub const REMOVED: [Removed; 12] = [
    removed(
        &["settings", "aws"],
        "its keys stand in `settings` itself since 0.33, such as `settings.clusterName`",
    ),
    removed(&["settings", "featureGates", "drift"], "drift is always on since 1.0; remove the key"),
    removed(&["settings", "featureGates", "driftEnabled"], "drift is always on since 1.0; remove the key"),
    removed(&["settings", "assumeRoleARN"], "give the controller's service account the role it needs"),
    removed(&["settings", "assumeRoleDuration"], "give the controller's service account the role it needs"),
    removed(&["logConfig"], "write `logLevel`, `logOutputPaths` and `logErrorOutputPaths`"),
    removed(&["logEncoding"], "the log is JSON since 1.0; remove the key"),
    removed(&["controller", "logLevel"], "write `logLevel` at the top"),
    removed(&["controller", "batchMaxDuration"], "write `settings.batchMaxDuration`"),
    removed(&["controller", "batchIdleDuration"], "write `settings.batchIdleDuration`"),
    Removed {
        path: &["webhook"],
        releases: Releases::since(1),
        instead: "there is no webhook since 1.1; remove the key",
    },
    Removed {
        path: &["postInstallHook"],
        releases: Releases::since(1),
        instead: "there is no conversion since 1.1; remove the key",
    },
];

const fn removed(path: &'static [&'static str], instead: &'static str) -> Removed {
    Removed { path, releases: Releases::ALL, instead }
}
