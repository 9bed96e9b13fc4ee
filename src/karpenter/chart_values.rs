//! The values of Karpenter's Helm chart: where they are given, and which keys the chart of a release reads.

use crate::karpenter::release::Releases;
use crate::manifest::tree::Node;
use crate::object::{Form, Object};

/// The values of an object: a document of values, a HelmRelease of Flux or an Application of Argo CD that installs the
/// chart `karpenter`.
pub fn of(object: Object<'_>) -> Option<Node<'_>> {
    let names_chart = |source: Node<'_>| {
        let chart = source.str_at(&["chart"]).unwrap_or_default();
        let url = source.str_at(&["repoURL"]).unwrap_or_default();
        chart.rsplit('/').next() == Some("karpenter")
            || (chart.is_empty() && url.ends_with("/karpenter/karpenter"))
    };
    match (object.form(), object.group(), object.kind()) {
        (Form::ChartValues, ..) => Some(object.root()),
        (Form::Api, "helm.toolkit.fluxcd.io", "HelmRelease") => {
            let chart = object.str_at(&["spec", "chart", "spec", "chart"]);
            let reference = object.str_at(&["spec", "chartRef", "name"]);
            let values = object.at(&["spec", "values"]).filter(|values| values.is_mapping());
            values.filter(|_| chart.or(reference) == Some("karpenter"))
        }
        (Form::Api, "argoproj.io", "Application") => {
            let one = object.at(&["spec", "source"]).into_iter();
            let several = object.items_at(&["spec", "sources"]);
            let mut values = one.chain(several).filter(|source| names_chart(*source));
            values.find_map(|source| source.at_path(&["helm", "valuesObject"]))
        }
        _ => None,
    }
}

/// The values of an object that installs the chart into the cluster it is applied to. A HelmRelease with `kubeConfig` and
/// an Application with another destination stand in a hub and say nothing of its own cluster.
///
/// Source: `spec.kubeConfig` of Flux's HelmRelease v2; `spec.destination` of Argo CD's Application, where `in-cluster` and
/// `https://kubernetes.default.svc` are the cluster that Argo CD runs in.
pub fn of_this_cluster(object: Object<'_>) -> Option<Node<'_>> {
    let destination = |key| object.str_at(&["spec", "destination", key]);
    let is_remote = object.at(&["spec", "kubeConfig"]).is_some()
        || destination("name").is_some_and(|name| name != "in-cluster")
        || destination("server").is_some_and(|server| server != "https://kubernetes.default.svc");
    of(object).filter(|_| object.form() != Form::Api || !is_remote)
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
    ("disableDryRun", Releases::patches(6, 2, 8).or(Releases::since(7))),
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
