//! Completions of the language server, written into their documents: the API server accepts each of them, and each has an effect where it is.

use std::collections::BTreeSet;

use karpwarden::cluster::Cluster;
use karpwarden::manifest::File;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::Settings;
use karpwarden_test_properties::language_server::completed;

/// An object with `^` at a place.
struct Place {
    version: &'static str,
    kind: &'static str,
    rest: &'static str,
    /// The value of a chosen key.
    value: &'static str,
}

const fn at(version: &'static str, kind: &'static str, rest: &'static str, value: &'static str) -> Place {
    Place { version, kind, rest, value }
}

const fn pool(rest: &'static str) -> Place {
    at("karpenter.sh/v1", "NodePool", rest, "'1'")
}

const fn class(rest: &'static str) -> Place {
    at("karpenter.k8s.aws/v1", "EC2NodeClass", rest, "'1'")
}

const fn pod(rest: &'static str) -> Place {
    at("v1", "Pod", rest, "'1'")
}

const fn template(kind: &'static str) -> Place {
    at("apps/v1", kind, "spec: {template: {metadata: {annotations: {^}}}}\n", "'true'")
}

const fn own(version: &'static str, kind: &'static str) -> Place {
    at(version, kind, "  annotations:\n    ^\n", "'true'")
}

/// Soft eviction and operators are not here: each of their words needs another field.
const PLACES: &[Place] = &[
    pool("spec: {limits: {^}}\n"),
    pool("spec: {template: {spec: {requirements: [{key: ^, operator: Exists}]}}}\n"),
    pool(
        "spec: {template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [^]}]}}}\n",
    ),
    pool(
        "spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [^]}]}}}\n",
    ),
    pool("spec: {template: {spec: {nodeClassRef: {group: ^}}}}\n"),
    pool("spec: {template: {spec: {nodeClassRef: {kind: ^}}}}\n"),
    pool("spec: {template: {spec: {taints: [{key: a, effect: ^}]}}}\n"),
    pool("spec: {template: {spec: {expireAfter: ^}}}\n"),
    pool("spec: {disruption: {consolidationPolicy: ^}}\n"),
    pool("spec: {disruption: {consolidateAfter: ^}}\n"),
    pool("spec: {disruption: {budgets: [{nodes: '1', reasons: [^]}]}}\n"),
    pool("spec: {template: {metadata: {annotations: {^}}}}\n"),
    at("karpenter.sh/v1alpha1", "NodeOverlay", "spec: {capacity: {^}}\n", "'1'"),
    at(
        "karpenter.sh/v1alpha1",
        "NodeOverlay",
        "spec: {price: '1', requirements: [{key: ^, operator: Exists}]}\n",
        "'1'",
    ),
    class("spec: {amiSelectorTerms: [{alias: ^}]}\n"),
    class("spec: {kubelet: {kubeReserved: {^}}}\n"),
    class("spec: {kubelet: {systemReserved: {^}}}\n"),
    at("karpenter.k8s.aws/v1", "EC2NodeClass", "spec: {kubelet: {evictionHard: {^}}}\n", "5%"),
    class("spec: {metadataOptions: {httpTokens: ^}}\n"),
    class("spec: {instanceStorePolicy: ^}\n"),
    pod("spec:\n  containers:\n    - name: a\n      resources:\n        requests:\n          ^\n"),
    pod("spec:\n  containers:\n    - name: a\n      resources: {limits: {^}}\n"),
    pod("spec: {initContainers: [{name: a, resources: {requests: {^}}}]}\n"),
    pod("spec: {nodeSelector: {^}}\n"),
    pod("spec: {nodeSelector: {kubernetes.io/os: ^}}\n"),
    pod("spec: {tolerations: [{key: a, operator: Exists, effect: ^}]}\n"),
    pod("spec: {tolerations: [{key: a, operator: ^}]}\n"),
    pod(
        "spec: {topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: ^}]}\n",
    ),
    pod("spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ^}]}\n"),
    pod(
        "spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: ^}]}}}\n",
    ),
    pod(
        "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: ^, operator: Exists}]}]}}}}\n",
    ),
    own("v1", "Pod"),
    own("v1", "Node"),
    own("apps/v1", "Deployment"),
    own("karpenter.sh/v1", "NodePool"),
    own("storage.k8s.io/v1", "StorageClass"),
    template("Deployment"),
    template("StatefulSet"),
    at(
        "v1",
        "PersistentVolumeClaim",
        "spec: {accessModes: [ReadWriteOnce], resources: {requests: {^}}}\n",
        "'1'",
    ),
    at("v1", "PersistentVolume", "spec: {accessModes: [ReadWriteOnce], capacity: {^}}\n", "'1'"),
    at(
        "apps/v1",
        "StatefulSet",
        "spec: {volumeClaimTemplates: [{spec: {resources: {requests: {^}}}}]}\n",
        "'1'",
    ),
    at("storage.k8s.io/v1", "StorageClass", "provisioner: ebs.csi.aws.com\nvolumeBindingMode: ^\n", ""),
    at("karpenter.sh/v1", "NodePool", "  ^\n", " {}"),
];

/// The findings of the API server's refusals, and of values that are in the wrong place.
fn findings(text: &str) -> BTreeSet<(String, String)> {
    let file = File { is_relevant: Some(true), ..File::read("a.yaml", text, READ_OPTIONS) };
    let cluster = Cluster { name: String::new(), files: vec![file] };
    let report = karpwarden::check(&[cluster], &Settings::default());
    let is_meant = |rule: &str| rule.starts_with("api-") || rule.ends_with("-wrong-place");
    let own = report.findings.into_iter().filter(|finding| is_meant(finding.rule));
    own.map(|finding| (finding.rule.to_owned(), finding.message.clone())).collect()
}

#[test]
fn every_offer_is_accepted_where_it_is_made() {
    for Place { version, kind, rest, value } in PLACES {
        let marked = format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: a\n{rest}");
        let before = findings(&marked.replacen('^', "", 1));
        let offers = completed("a.yaml", &marked, value);
        assert!(!offers.is_empty(), "nothing is offered: {marked}");
        for (offer, text) in offers {
            let after = findings(&text);
            let new: Vec<_> = after.difference(&before).collect();
            assert!(new.is_empty(), "{offer} in {marked}: {new:?}\n{text}");
        }
    }
}
