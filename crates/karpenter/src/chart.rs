//! Karpenter's Helm chart: recognition of its values, and the keys that the chart of each release reads.

use manifest::tree::Node;

use crate::release::Releases;

/// The name of a chart, from its name, its path, its address or its archive: `karpenter` for `charts/karpenter-1.8.0.tgz`.
///
/// Source: "helm package" in docs/helm of helm/helm-www: the name of an archive ends in the version.
pub fn name_of(chart: &str) -> &str {
    let last = chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let Some(archive) = last.strip_suffix(".tgz") else { return last };
    let is_version =
        |rest: &str| rest.trim_start_matches('v').starts_with(|char: char| char.is_ascii_digit());
    let mut versions =
        archive.match_indices('-').filter(|(at, _)| archive.get(at + 1..).is_some_and(is_version));
    versions.next().and_then(|(at, _)| archive.get(..at)).unwrap_or(archive)
}

/// The values of Karpenter's chart in a mapping: the mapping itself, or its value under `karpenter`.
pub fn values_in(root: Node<'_>) -> Option<Node<'_>> {
    let is_own =
        |root: &Node<'_>| is_chart_values(*root) || (is_named_for_chart(*root) && has_old_depth(*root));
    Some(root).filter(is_own).or_else(|| values_handed_on(root))
}

/// Whether the name of the file says that it has values of Karpenter's chart: `karpenter-values.yaml`, `karpenter/values.yaml`.
fn is_named_for_chart(root: Node<'_>) -> bool {
    let name = root.source().name().to_ascii_lowercase();
    let mut parts = name.rsplit(['/', '\\']);
    let file = parts.next().unwrap_or_default();
    file.contains("values") && (file.contains("karpenter") || parts.next() == Some("karpenter"))
}

/// Whether values have settings of the controller where the charts before 0.33 had them, and only keys of the chart.
///
/// Source: charts/karpenter/values.yaml at v0.16.3 (`clusterName`, `aws`) and v0.27.0 (`settings.aws`).
fn has_old_depth(root: Node<'_>) -> bool {
    const AT_TOP: [&str; 3] = ["clusterName", "clusterEndpoint", "aws"];
    let is_old = |key: &str| AT_TOP.contains(&key);
    let has_aws = root.at_path(&["settings", "aws"]).is_some_and(Node::is_mapping);
    let is_of_chart = |key: &str| is_old(key) || is_key_of_chart(key) || CONTROLLER_KEYS.contains(&key);
    (has_aws || root.members().any(|(key, _)| is_old(key))) && root.members().all(|(key, _)| is_of_chart(key))
}

/// The values that a parent chart passes to Karpenter's chart, under the key `karpenter`.
pub fn values_handed_on(root: Node<'_>) -> Option<Node<'_>> {
    let values = root.get("karpenter")?;
    (is_chart_values(values) || has_shared_settings(values)).then_some(values)
}

/// Whether a mapping has keys that only the chart of the provider for AWS has. Source: charts/karpenter/values.yaml at v1.0.0
/// to v1.14.1, and at v0.32.0 for earlier keys.
fn is_chart_values(node: Node<'_>) -> bool {
    const OF_AWS: [&str; 4] = ["interruptionQueue", "interruptionQueueName", "isolatedVPC", "reservedENIs"];
    const GLOBAL: [&str; 4] =
        ["clusterName", "clusterEndpoint", "interruptionQueueName", "defaultInstanceProfile"];
    let has = |path: &[&str], keys: &[&str]| {
        let settings = node.at_path(path);
        settings.is_some_and(|settings| keys.iter().any(|key| settings.get(key).is_some()))
    };
    let image = node.str_at(&["controller", "image", "repository"]);
    has(&["settings"], &OF_AWS)
        || has(&["settings", "aws"], &GLOBAL)
        || (has_shared_settings(node) && has_only_keys_of_chart(node))
        || image
            .is_some_and(|image| image.ends_with("karpenter/controller") && !image.ends_with(IMAGE_OF_AZURE))
}

/// Image of the provider for Azure: charts/karpenter/values.yaml of Azure/karpenter-provider-azure.
const IMAGE_OF_AZURE: &str = "aks/karpenter/controller";

/// Whether a mapping has settings that the charts of several providers have, and none that only another provider has.
///
/// Source: charts/karpenter/values.yaml of Azure/karpenter-provider-azure, linode/karpenter-provider-linode and
/// zoom/karpenter-oci; charts/karpenter-provider-proxmox/values.yaml of sergelogvinov/karpenter-provider-proxmox.
fn has_shared_settings(node: Node<'_>) -> bool {
    const SHARED: [&str; 4] =
        ["clusterName", "batchMaxDuration", "batchIdleDuration", "vmMemoryOverheadPercent"];
    // Azure, Linode and Oracle.
    const OF_OTHERS: [&str; 3] = ["tags", "mode", "compartmentId"];
    let settings = node.get("settings");
    let has = |keys: &[&str]| keys.iter().any(|key| settings.is_some_and(|node| node.get(key).is_some()));
    has(&SHARED) && !has(&OF_OTHERS)
}

/// Whether every top-level key is a key of the chart for AWS. Beside the name of a cluster, a key of `controller` is a mistake in
/// values for AWS; the chart for Proxmox, which has such keys, names no cluster.
fn has_only_keys_of_chart(node: Node<'_>) -> bool {
    let names_cluster = node.at_path(&["settings", "clusterName"]).is_some();
    let is_of_chart = |key: &str| is_key_of_chart(key) || (names_cluster && CONTROLLER_KEYS.contains(&key));
    node.members().all(|(key, _)| is_of_chart(key))
}

/// Whether a key is a top-level key of Karpenter's chart, in any release.
fn is_key_of_chart(key: &str) -> bool {
    KEYS.iter().any(|(known, _)| *known == key)
        || REMOVED_KEYS.iter().any(|removed| removed.path.first() == Some(&key))
}

/// The top-level keys, and the releases whose chart reads them.
///
/// Source: charts/karpenter/templates at the tags v1.0.0 to v1.14.1.
pub const KEYS: [(&str, Releases); 34] = [
    ("additionalAnnotations", Releases::ALL),
    ("additionalClusterRoleRules", Releases::ALL),
    ("additionalLabels", Releases::ALL),
    ("affinity", Releases::ALL),
    ("controller", Releases::ALL),
    ("dnsConfig", Releases::ALL),
    ("dnsPolicy", Releases::ALL),
    ("extraVolumes", Releases::ALL),
    ("fullnameOverride", Releases::ALL),
    ("hostNetwork", Releases::ALL),
    ("imagePullPolicy", Releases::ALL),
    ("imagePullSecrets", Releases::ALL),
    ("initContainers", Releases::since(4)),
    ("logErrorOutputPaths", Releases::ALL),
    ("logLevel", Releases::ALL),
    ("logOutputPaths", Releases::ALL),
    ("nameOverride", Releases::ALL),
    ("nodeSelector", Releases::ALL),
    ("podAnnotations", Releases::ALL),
    ("podDisruptionBudget", Releases::ALL),
    ("podLabels", Releases::ALL),
    ("podSecurityContext", Releases::ALL),
    ("priorityClassName", Releases::ALL),
    ("replicas", Releases::ALL),
    ("revisionHistoryLimit", Releases::ALL),
    ("schedulerName", Releases::since_patch(1, 1)),
    ("service", Releases::since(1)),
    ("serviceAccount", Releases::ALL),
    ("serviceMonitor", Releases::ALL),
    ("settings", Releases::ALL),
    ("strategy", Releases::ALL),
    ("terminationGracePeriodSeconds", Releases::ALL),
    ("tolerations", Releases::ALL),
    ("topologySpreadConstraints", Releases::ALL),
];

/// Keys of `controller`, which other charts have at their top level. Source: as above.
pub const CONTROLLER_KEYS: [&str; 10] = [
    "containerName",
    "env",
    "envFrom",
    "extraVolumeMounts",
    "healthProbe",
    "image",
    "metrics",
    "resources",
    "securityContext",
    "sidecarContainer",
];

/// Other keys of `controller`. Source: charts/karpenter/templates/deployment.yaml at v1.14.1.
pub const MORE_CONTROLLER_KEYS: [&str; 1] = ["sidecarVolumeMounts"];

/// The keys of further mappings, of which the templates read no other keys. Source: charts/karpenter/templates at v1.0.0 to
/// v1.14.1.
pub const NESTED_KEYS: [(&[&str], &[&str]); 8] = [
    (&["podDisruptionBudget"], &["name", "maxUnavailable"]),
    (&["serviceAccount"], &["create", "name", "annotations"]),
    (&["service"], &["annotations"]),
    (
        &["serviceMonitor"],
        &["enabled", "additionalLabels", "relabelings", "metricRelabelings", "endpointConfig", "sampleLimit"],
    ),
    (&["controller", "image"], &["repository", "tag", "digest"]),
    (&["controller", "metrics"], &["port"]),
    (&["controller", "healthProbe"], &["port"]),
    (&["controller", "securityContext"], &["appArmorProfile", "seLinuxOptions", "seccompProfile"]),
];

/// The keys of `settings`, and the releases whose chart reads them.
///
/// Source: charts/karpenter/values.yaml at v1.0.0 to v1.14.1, and at d77d1a3 with the version 1.15.0.
pub const SETTINGS: [(&str, Releases); 23] = [
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
    ("securityGroupRefreshInterval", Releases::since(15)),
    ("enableDRA", Releases::since(15)),
    ("legacyNodeRepair", Releases::since(15)),
    ("featureGates", Releases::ALL),
    ("awsFeatureGates", Releases::since(15)),
];

/// A feature gate.
#[derive(Clone, Copy, Debug)]
pub struct FeatureGate {
    /// The key in `settings.featureGates` of the values.
    pub key: &'static str,
    /// The name in the environment variable `FEATURE_GATES`.
    pub name: &'static str,
    /// The releases that support it.
    pub releases: Releases,
}

/// The feature gates. Source: as above, and `ParseFeatureGates` of kubernetes-sigs/karpenter at v1.0.0 to v1.14.0.
pub const GATES: [FeatureGate; 9] = [
    FeatureGate { key: "spotToSpotConsolidation", name: "SpotToSpotConsolidation", releases: Releases::ALL },
    FeatureGate { key: "nodeRepair", name: "NodeRepair", releases: Releases::since(1) },
    FeatureGate { key: "reservedCapacity", name: "ReservedCapacity", releases: Releases::since(3) },
    FeatureGate { key: "nodeOverlay", name: "NodeOverlay", releases: Releases::since(7) },
    // values.yaml at v1.8.0 has `StaticCapacity`, but templates/deployment.yaml reads `staticCapacity`.
    FeatureGate { key: "staticCapacity", name: "StaticCapacity", releases: Releases::since(8) },
    FeatureGate { key: "capacityBuffer", name: "CapacityBuffer", releases: Releases::since(14) },
    FeatureGate { key: "terminateFirstDrift", name: "TerminateFirstDrift", releases: Releases::since(15) },
    FeatureGate { key: "terminateFirstRepair", name: "TerminateFirstRepair", releases: Releases::since(15) },
    FeatureGate {
        key: "podDeletionCostManagement",
        name: "PodDeletionCostManagement",
        releases: Releases::since(15),
    },
];

/// The feature gates of the provider: `settings.awsFeatureGates` of the values, and `AWS_FEATURE_GATES`. All are off by
/// default. Source: charts/karpenter/values.yaml and website/content/en/v1.15/reference/settings.md of
/// aws/karpenter-provider-aws at d77d1a3.
pub const AWS_GATES: [FeatureGate; 4] = [
    FeatureGate { key: "nodeClassCEL", name: "NodeClassCEL", releases: Releases::since(15) },
    FeatureGate { key: "draNVIDIAGPU", name: "DRANVIDIAGPU", releases: Releases::since(15) },
    FeatureGate { key: "draEFA", name: "DRAEFA", releases: Releases::since(15) },
    FeatureGate { key: "rebootForRepair", name: "RebootForRepair", releases: Releases::since(15) },
];

/// A key that a chart no longer reads.
#[derive(Clone, Copy, Debug)]
pub struct RemovedKey {
    /// The path of the key.
    pub path: &'static [&'static str],
    /// The releases whose chart does not read the key.
    pub releases: Releases,
    /// The help: what to do instead.
    pub instead: &'static str,
}

/// The removed keys. Source: charts/karpenter/values.yaml at v0.16.3, v0.27.0, v0.32.0, v0.37.0, v1.0.0 and v1.1.0.
pub const REMOVED_KEYS: [RemovedKey; 13] = [
    removed(
        &["aws"],
        "write its settings in `settings`; an instance profile belongs in `spec.instanceProfile` of the EC2NodeClass",
    ),
    removed(&["settings", "aws"], "since 0.33 its keys are in `settings`, such as `settings.clusterName`"),
    removed(&["settings", "featureGates", "drift"], "drift is always on since 1.0; remove the key"),
    removed(&["settings", "featureGates", "driftEnabled"], "drift is always on since 1.0; remove the key"),
    removed(&["settings", "assumeRoleARN"], "give the controller's service account the role it needs"),
    removed(&["settings", "assumeRoleDuration"], "give the controller's service account the role it needs"),
    removed(&["logConfig"], "write `logLevel`, `logOutputPaths` and `logErrorOutputPaths`"),
    removed(&["logEncoding"], "the log is JSON since 1.0; remove the key"),
    removed(&["controller", "logLevel"], "write the top-level key `logLevel`"),
    removed(&["controller", "batchMaxDuration"], "write `settings.batchMaxDuration`"),
    removed(&["controller", "batchIdleDuration"], "write `settings.batchIdleDuration`"),
    RemovedKey {
        path: &["webhook"],
        releases: Releases::since(1),
        instead: "there is no webhook since 1.1; remove the key",
    },
    RemovedKey {
        path: &["postInstallHook"],
        releases: Releases::since(1),
        instead: "there is no conversion since 1.1; remove the key",
    },
];

const fn removed(path: &'static [&'static str], instead: &'static str) -> RemovedKey {
    RemovedKey { path, releases: Releases::ALL, instead }
}

#[cfg(test)]
mod tests {
    use super::values_in;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    fn is_for_aws(text: &str) -> bool {
        let file = File::read("values.yaml", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        values_in(tree.root()).is_some()
    }

    #[test]
    fn values_for_the_charts_of_other_providers_are_not_for_aws() {
        for text in [
            "settings: {clusterName: a, batchMaxDuration: 10s, tags: {}}\nwebhook: {enabled: true}\n",
            "controller: {image: {repository: mcr.microsoft.com/aks/karpenter/controller}, port: 1}\n",
            r"settings: {batchMaxDuration: 10s}
replicaCount: 1
image: {tag: a}
resources: {}
",
            "settings: {clusterName: a, batchMaxDuration: 5m, mode: lke}\nregion: us-east\n",
        ] {
            assert!(!is_for_aws(text), "{text}");
        }
    }

    #[test]
    fn the_name_of_a_file_shows_values_at_an_old_depth() {
        let is_values = |name: &str, text: &str| {
            let file = File::read(name, text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            values_in(tree.root()).is_some()
        };
        for text in [
            "clusterName: prod\nclusterEndpoint: https://a\naws: {defaultInstanceProfile: a}\n",
            "clusterName: prod\nserviceAccount: {create: false}\n",
            "settings: {aws: {vmMemoryOverheadPercent: 0.1}}\n",
        ] {
            assert!(
                is_values("karpenter-values.yaml", text) && is_values("apps/karpenter/values.yaml", text),
                "{text}"
            );
            assert!(
                !is_values("values.yaml", text) && !is_values("karpenter-pools/values.yaml", text),
                "{text}"
            );
        }
        assert!(!is_values("karpenter/values.yaml", "clusterName: prod\nnodePools: []\n"));
        assert!(!is_values("karpenter/values.yaml", "replicas: 2\n"));
    }

    #[test]
    fn values_with_mistakes_are_still_for_aws() {
        for text in [
            "settings: {clusterName: a, batchMaxDuration: 10s}\nwebhook: {enabled: true}\n",
            "settings: {clusterName: a}\nresources: {}\n",
            "settings: {clusterName: a, batchMaxDurations: 10s}\n",
            "settings: {batchMaxDuration: 10s}\nlogEncoding: console\n",
            "settings: {interruptionQueue: a}\nreplicaCount: 1\n",
            "controller: {image: {repository: a.example.com/karpenter/controller}, port: 1}\n",
            "karpenter: {settings: {batchMaxDuration: 10s}, securityContext: {}}\n",
        ] {
            assert!(is_for_aws(text), "{text}");
        }
    }
}
