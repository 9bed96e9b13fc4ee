use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, KubeletConfiguration};
use objects::node_config::NodeConfig;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;
use userdata::node_config::Yaml;
use userdata::toml::{TomlDocument, TomlEntry};
use values::spelling::did_you_mean;

use super::user_data::{TAINT_KEY, UserData};

rule! {
    /// ## What it does
    ///
    /// Reports settings in the user data of AL2023 and Bottlerocket that Karpenter overwrites or drops.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter merges its own settings into Bottlerocket's. On AL2023 it adds its own NodeConfig after yours, and
    /// the last NodeConfig wins. Cluster name, endpoint, certificate, taints, the pod limit and the DNS address
    /// always come from Karpenter. Your settings look as if they apply, but they do not.
    ///
    /// Karpenter passes on only the Bottlerocket settings in its list of known keys. Unknown keys under
    /// `settings.kubernetes` and tables outside `settings` do not reach the node.
    ///
    /// The reverse also happens: `--register-with-taints` in the kubelet flags of a NodeConfig replaces the list of
    /// taints that Karpenter writes, including the taint that Karpenter expects.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: Bottlerocket
    ///   userData: |
    ///     [settings.kubernetes.node-taints]
    ///     "team/billing" = ["true:NoSchedule"]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: billing
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       taints:
    ///         - {key: team/billing, value: "true", effect: NoSchedule}
    ///       requirements: []
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/bottlerocket.go, bottlerocketsettings.go, nodeadm.go
    ///   and pkg/providers/amifamily/resolver.go at v1.14.1; #7486
    /// - awslabs/amazon-eks-ami nodeadm/internal/api/merge.go at v20260724
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter overwrites or drops settings in the user data",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    match data.family {
        Image::Bottlerocket => bottlerocket(data, findings),
        Image::Al2023 => {
            let kubelet = Ec2NodeClass::of(object).and_then(Ec2NodeClass::kubelet);
            for body in data.node_configs(context) {
                node_config(data, body, kubelet, context, findings);
            }
        }
        _ => {}
    }
}

/// Help for settings that name the cluster.
const KNOWN_CLUSTER: &str = "remove it; Karpenter knows the cluster it runs in";

/// Keys of `settings.kubernetes` that name the cluster. Karpenter overwrites them.
const CLUSTER: [&str; 3] = ["api-server", "cluster-name", "cluster-certificate"];

/// Other keys of `settings.kubernetes` that Karpenter overwrites, each with its help.
const WRITTEN: [(&str, &str); 3] = [
    ("node-taints", "write the taints in `spec.template.spec.taints` of the NodePool"),
    (
        "max-pods",
        "set `maxPods` in `spec.kubelet` of the EC2NodeClass, where Karpenter's scheduler sees it too",
    ),
    ("cluster-dns-ip", "set `clusterDNS` in `spec.kubelet` of the EC2NodeClass"),
];

/// Other keys of `settings.kubernetes`, each with the first minor release of Karpenter that passes it on
/// (aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/bottlerocketsettings.go, `BottlerocketKubernetes`,
/// at v1.0.0 to v1.14.0).
const KNOWN: [(&str, u8); 42] = [
    ("allowed-unsafe-sysctls", 0),
    ("cloud-provider", 0),
    ("cluster-domain", 0),
    ("container-log-max-files", 0),
    ("container-log-max-size", 0),
    ("container-log-max-workers", 6),
    ("container-log-monitor-interval", 6),
    ("cpu-cfs-quota-enforced", 0),
    ("cpu-manager-policy", 0),
    ("cpu-manager-policy-options", 9),
    ("cpu-manager-reconcile-period", 0),
    ("credential-providers", 0),
    ("device-ownership-from-security-context", 3),
    ("event-burst", 0),
    ("event-qps", 0),
    ("eviction-hard", 0),
    ("eviction-max-pod-grace-period", 5),
    ("eviction-soft", 5),
    ("eviction-soft-grace-period", 5),
    ("hostname-override-source", 9),
    ("ids-per-pod", 9),
    ("image-gc-high-threshold-percent", 0),
    ("image-gc-low-threshold-percent", 0),
    ("kube-api-burst", 0),
    ("kube-api-qps", 0),
    ("kube-reserved", 0),
    ("log-level", 9),
    ("memory-manager-policy", 10),
    ("node-labels", 0),
    ("pod-pids-limit", 0),
    ("registry-burst", 0),
    ("registry-qps", 0),
    ("seccomp-default", 0),
    ("server-tls-bootstrap", 0),
    ("shutdown-grace-period", 0),
    ("shutdown-grace-period-for-critical-pods", 0),
    ("single-process-oom-kill", 5),
    ("static-pods", 0),
    ("system-reserved", 0),
    ("topology-manager-policy", 0),
    ("topology-manager-policy-options", 13),
    ("topology-manager-scope", 0),
];

fn bottlerocket<'d>(data: UserData<'d>, findings: &mut Vec<Finding<'d>>) {
    let Ok(document) = TomlDocument::parse(data.text) else { return };
    let finding = |entry: TomlEntry<'_>, message: String| {
        // The key of a table first occurs in the table header.
        data.finding(&RULE, entry.key_span(), message)
    };
    for entry in document.root().children() {
        let key = entry.key();
        if key != "settings" {
            let near = did_you_mean(key, ["settings"]);
            findings.push(
                finding(
                    entry,
                    format!("Karpenter passes on only tables under `settings` and drops `{key}`{near}"),
                )
                .help("write it under `settings`, or remove it"),
            );
        }
    }
    let Some(kubernetes) = document.get(&["settings", "kubernetes"]) else { return };
    let is_of_cluster = |entry: &TomlEntry<'_>| CLUSTER.contains(&entry.key());
    let mut of_cluster =
        kubernetes.children().into_iter().filter(|entry| is_of_cluster(entry) && !entry.is_empty());
    if let Some(first) = of_cluster.next() {
        let message = format!(
            "Karpenter writes `settings.kubernetes.{}` itself and discards this setting",
            first.key()
        );
        let first = finding(first, message).help(KNOWN_CLUSTER);
        findings.push(of_cluster.fold(first, |finding, other| {
            let what = format!("Karpenter writes `settings.kubernetes.{}` too", other.key());
            finding.related(data.place(other.key_span()), what)
        }));
    }
    for entry in kubernetes.children().into_iter().filter(|entry| !is_of_cluster(entry)) {
        let key = entry.key();
        if let Some((_, help)) = WRITTEN.iter().find(|(written, _)| *written == key) {
            if !entry.is_empty() {
                findings.push(
                    finding(
                        entry,
                        format!(
                            "Karpenter writes `settings.kubernetes.{key}` itself and discards this setting"
                        ),
                    )
                    .help(*help),
                );
            }
            continue;
        }
        match KNOWN.iter().find(|(known, _)| *known == key) {
            Some((_, 0)) => {}
            Some((_, since)) => {
                let message = format!(
                    "Karpenter passes on `settings.kubernetes.{key}` since 1.{since}; earlier releases drop it"
                );
                let help = format!("upgrade Karpenter to 1.{since}, or remove the key");
                findings.push(finding(entry, message).help(help).releases(Releases::until(since - 1)));
            }
            None => {
                let near = did_you_mean(key, KNOWN.iter().map(|(known, _)| *known));
                let message =
                    format!("Karpenter does not know `settings.kubernetes.{key}` and drops it{near}");
                findings.push(finding(entry, message).help("remove it, or write a key that Karpenter knows"));
            }
        }
    }
}

/// Checks a NodeConfig. `kubelet` is `spec.kubelet` of the EC2NodeClass, which Karpenter writes into its own NodeConfig.
fn node_config<'d>(
    data: UserData<'d>,
    body: Span,
    kubelet: Option<KubeletConfiguration<'_>>,
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
) {
    let yaml = data.yaml(context, body);
    let place = |span: Span| data.place(span.shifted(body.start));
    let mut add = |node: Node<'_>, what: &str, help: &str, severity: Severity| {
        let message = format!(
            "Karpenter sets {what} in its own NodeConfig, which comes after this one and overrides it"
        );
        findings.push(Finding::new(&RULE, place(yaml.key(node)), message).help(help).severity(severity));
    };
    for config in yaml.roots().filter(|root| Yaml::is_node_config(*root)).map(NodeConfig::new) {
        if let Some(cluster) = config.cluster().filter(|node| !node.is_empty()) {
            add(cluster, "the cluster", KNOWN_CLUSTER, Severity::Info);
        }
        if let Some(node) = config.register_with_taints().filter(|node| !node.is_empty()) {
            let help = "write the taints in `spec.template.spec.taints` of the NodePool";
            add(node, "the taints", help, Severity::Warning);
        }
        let max_pods = other_than(config.max_pods(), kubelet.and_then(KubeletConfiguration::max_pods));
        let dns = other_than(config.cluster_dns(), kubelet.and_then(KubeletConfiguration::cluster_dns));
        let of_kubelet = match (max_pods, dns) {
            (Some(node), Some(_)) => Some((node, "`maxPods` and `clusterDNS`")),
            (Some(node), None) => Some((node, "`maxPods`")),
            (None, dns) => dns.map(|node| (node, "`clusterDNS`")),
        };
        if let Some((node, what)) = of_kubelet {
            let seen =
                if max_pods.is_some() { ", where Karpenter's scheduler sees `maxPods` too" } else { "" };
            let help = format!("set {what} in `spec.kubelet` of the EC2NodeClass{seen}");
            add(node, what, &help, Severity::Warning);
        }
    }
    for config in yaml.roots().map(NodeConfig::new) {
        let taints =
            |node: &Node<'_>| node.as_str().is_some_and(|flag| flag.starts_with("--register-with-taints"));
        if let Some(flag) = config.kubelet_flags().find(taints) {
            let right = flag.as_str().is_some_and(|flag| flag.contains(TAINT_KEY));
            let effect = if right {
                "the NodePool's taints do not reach the node"
            } else {
                "the node registers without the taint `karpenter.sh/unregistered`"
            };
            let message = format!("this flag replaces the list of taints that Karpenter writes, so {effect}");
            let finding = Finding::new(&RULE, place(yaml.value(flag)), message);
            findings.push(finding.help("write the taints in `spec.template.spec.taints` of the NodePool"));
        }
    }
}

/// Returns a setting of a NodeConfig, unless the EC2NodeClass has the same value.
fn other_than<'n>(setting: Option<Node<'n>>, of_class: Option<Node<'_>>) -> Option<Node<'n>> {
    let is_same = |node: &Node<'n>| {
        of_class.is_some_and(|other| {
            (node.as_int().is_some() && node.as_int() == other.as_int())
                || (node.is_sequence() && node.items().map(Node::as_str).eq(other.items().map(Node::as_str)))
        })
    };
    setting.filter(|node| !is_same(node))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    #[test]
    fn reports_settings_of_one_kubelet_configuration_once() {
        let text = class(
            "AL2023",
            r"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {maxPods: 58, clusterDNS: [10.100.0.10]}
",
        );
        let both = findings(&super::RULE, &text);
        assert!(both.contains("Karpenter sets `maxPods` and `clusterDNS` in its own NodeConfig"), "{both}");
        assert_eq!(both.matches("warning ").count(), 1, "{both}");
        let one = findings(&super::RULE, &text.replace("maxPods: 58, ", ""));
        assert!(one.contains("help: set `clusterDNS` in `spec.kubelet` of the EC2NodeClass\n"), "{one}");
    }

    #[test]
    fn accepts_kubelet_settings_that_the_node_class_repeats() {
        let config = r"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {maxPods: 58, clusterDNS: [10.100.0.10]}
";
        let with = |kubelet: &str| format!("{}  kubelet: {{{kubelet}}}\n", class("AL2023", config));
        silent(&super::RULE, &with("maxPods: 58, clusterDNS: [10.100.0.10]"));
        let dns = findings(&super::RULE, &with("maxPods: 58"));
        assert!(dns.contains("Karpenter sets `clusterDNS` in its own NodeConfig"), "{dns}");
        let pods = findings(&super::RULE, &with("maxPods: 59, clusterDNS: [10.100.0.10]"));
        assert!(pods.contains("Karpenter sets `maxPods` in its own NodeConfig"), "{pods}");
        assert!(!pods.contains("`clusterDNS`"), "{pods}");
    }

    #[test]
    fn reports_bottlerocket_node_taints() {
        let text =
            class("Bottlerocket", "[settings.kubernetes.node-taints]\n\"team/x\" = [\"y:NoSchedule\"]\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |     [settings.kubernetes.node-taints]
            |                          ^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter writes `settings.kubernetes.node-taints` itself and discards this setting
          help: write the taints in `spec.template.spec.taints` of the NodePool
        ");
    }

    #[test]
    fn reports_cluster_name_unknown_key_and_unknown_table() {
        let text = class(
            "Bottlerocket",
            r#"[settings.kubernetes]
cluster-name = "other"
api-server = "https://a"
kube-api-qp = 3
[setting.kubernetes]
x = 1
"#,
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          8 |     cluster-name = "other"
            |     ^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter writes `settings.kubernetes.cluster-name` itself and discards this setting
          help: remove it; Karpenter knows the cluster it runs in
          see line 9 spec.userData: Karpenter writes `settings.kubernetes.api-server` too
         10 |     kube-api-qp = 3
            |     ^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter does not know `settings.kubernetes.kube-api-qp` and drops it (did you mean `kube-api-qps`?)
          help: remove it, or write a key that Karpenter knows
         11 |     [setting.kubernetes]
            |      ^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter passes on only tables under `settings` and drops `setting` (did you mean `settings`?)
          help: write it under `settings`, or remove it
        "#);
    }

    #[test]
    fn reports_key_on_releases_that_drop_it() {
        let text = class("Bottlerocket", "[settings.kubernetes]\nids-per-pod = 65536\n");
        silent(&super::RULE, &text);
        let settings = Settings { karpenter: Target::parse("1.8").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &settings), @"
          8 |     ids-per-pod = 65536
            |     ^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [until 1.8]
          Karpenter passes on `settings.kubernetes.ids-per-pod` since 1.9; earlier releases drop it
          help: upgrade Karpenter to 1.9, or remove the key
        ");
    }

    #[test]
    fn reports_settings_that_the_last_node_config_overrides() {
        let text = class(
            "AL2023",
            r"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
  kubelet:
    config:
      maxPods: 58
      registerWithTaints:
      - {key: a, effect: NoSchedule}
    flags: [--register-with-taints=a=b:NoSchedule]
",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |       cluster:
            |       ^^^^^^^
        info EC2NodeClass/a spec.userData [all]
          Karpenter sets the cluster in its own NodeConfig, which comes after this one and overrides it
          help: remove it; Karpenter knows the cluster it runs in
         14 |           maxPods: 58
            |           ^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter sets `maxPods` in its own NodeConfig, which comes after this one and overrides it
          help: set `maxPods` in `spec.kubelet` of the EC2NodeClass, where Karpenter's scheduler sees `maxPods` too
         15 |           registerWithTaints:
            |           ^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter sets the taints in its own NodeConfig, which comes after this one and overrides it
          help: write the taints in `spec.template.spec.taints` of the NodePool
         17 |         flags: [--register-with-taints=a=b:NoSchedule]
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          this flag replaces the list of taints that Karpenter writes, so the node registers without the taint `karpenter.sh/unregistered`
          help: write the taints in `spec.template.spec.taints` of the NodePool
        ");
    }

    #[test]
    fn accepts_settings_that_karpenter_passes_on() {
        silent(
            &super::RULE,
            &class(
                "Bottlerocket",
                r#"[settings.kubernetes]
kube-api-qps = 30
allowed-unsafe-sysctls = ['net.*']
[settings.kubernetes.node-labels]
a = 'b'
[settings.kubernetes.node-taints]
[settings.kernel.sysctl]
"vm.max_map_count" = "262144"
"#,
            ),
        );
        let config = r#"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {podPidsLimit: 100}
    flags: ["--node-labels=a=b"]
"#;
        silent(&super::RULE, &class("AL2023", config));
        silent(&super::RULE, &custom("[settings.kubernetes]\ncluster-name = 'a'\n"));
        silent(&super::RULE, &custom(&config.replace("podPidsLimit", "maxPods")));
    }
}
