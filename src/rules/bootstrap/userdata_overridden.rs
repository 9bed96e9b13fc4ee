use super::user_data::{TAINT_KEY, UserData};
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use values::spelling::did_you_mean;
use userdata::Span;
use userdata::kind::Family as Image;
use userdata::node_config::Yaml;
use userdata::toml::{Document, Entry, Value};

rule! {
    /// ## What it does
    ///
    /// Reports settings in the user data of AL2023 and Bottlerocket that Karpenter overwrites or drops.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter merges its own settings into Bottlerocket's and puts its own NodeConfig behind yours, and there the last
    /// one wins. Cluster name, endpoint, certificate, taints, the pod limit and the DNS address are always Karpenter's.
    /// What you wrote looks as if it held and does not.
    ///
    /// Bottlerocket's settings pass through a list of known keys: what Karpenter does not know under
    /// `settings.kubernetes`, and every table outside `settings`, does not reach the node.
    ///
    /// The other way round, `--register-with-taints` among the kubelet's flags of a NodeConfig replaces the list that
    /// Karpenter writes, and with it the taint that it waits for.
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
        name: "userdata-overridden",
        family: Family::Bootstrap,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the user data sets what Karpenter overwrites or drops",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    match data.family {
        Image::Bottlerocket => bottlerocket(data, drafts),
        Image::Al2023 => {
            for body in data.node_configs() {
                node_config(data, body, drafts);
            }
        }
        _ => {}
    }
}

/// What Karpenter writes over `settings.kubernetes`, and where it belongs.
const WRITTEN: [(&str, &str); 6] = [
    ("api-server", "take it out; Karpenter knows the cluster it runs in"),
    ("cluster-name", "take it out; Karpenter knows the cluster it runs in"),
    ("cluster-certificate", "take it out; Karpenter knows the cluster it runs in"),
    ("node-taints", "write the taints into `spec.template.spec.taints` of the NodePool"),
    ("max-pods", "write `maxPods` into `spec.kubelet` of the node class, where the scheduler sees it too"),
    ("cluster-dns-ip", "write `clusterDNS` into `spec.kubelet` of the node class"),
];

/// The other keys of `settings.kubernetes`, each with the first minor that passes it on (aws/karpenter-provider-aws
/// pkg/providers/amifamily/bootstrap/bottlerocketsettings.go, `BottlerocketKubernetes`, at v1.0.0 to v1.14.0).
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

fn bottlerocket<'d>(data: UserData<'d>, drafts: &mut Vec<Draft<'d>>) {
    let Ok(document) = Document::read(data.text) else { return };
    let draft = |entry: Entry<'_>, message: String| {
        // The first mention of a table's key is in its header.
        data.draft(&RULE, entry.key().span, message)
    };
    let Some(root) = document.root() else { return };
    for entry in root.children() {
        let key = entry.key().value.as_str();
        if key != "settings" {
            let near = did_you_mean(key, ["settings"]);
            drafts.push(
                draft(entry, format!("Karpenter passes on what is under `settings` alone; `{key}` is dropped{near}"))
                    .help("write it under `settings`, or take it out"),
            );
        }
    }
    let Some(kubernetes) = document.get(&["settings", "kubernetes"]) else { return };
    for entry in kubernetes.children() {
        let key = entry.key().value.as_str();
        if let Some((_, help)) = WRITTEN.iter().find(|(written, _)| *written == key) {
            let empty = matches!(entry.value(), Value::Table | Value::Array) && entry.children().next().is_none();
            if !empty {
                drafts.push(draft(entry, format!("Karpenter writes `settings.kubernetes.{key}` itself; this one is discarded")).help(*help));
            }
            continue;
        }
        match KNOWN.iter().find(|(known, _)| *known == key) {
            Some((_, 0)) => {}
            Some((_, since)) => {
                let message = format!("Karpenter passes `settings.kubernetes.{key}` on from 1.{since}; before, it is dropped");
                let help = format!("update Karpenter to 1.{since}, or take it out");
                drafts.push(draft(entry, message).help(help).releases(Releases::until(since - 1)));
            }
            None => {
                let near = did_you_mean(key, KNOWN.iter().map(|(known, _)| *known));
                let message = format!("Karpenter does not know `settings.kubernetes.{key}` and drops it{near}");
                drafts.push(draft(entry, message).help("take it out, or write the key as Karpenter knows it"));
            }
        }
    }
}

fn node_config<'d>(data: UserData<'d>, body: Span, drafts: &mut Vec<Draft<'d>>) {
    let yaml = Yaml::read(body.text(data.text));
    let place = |span: Span| data.place(Span::new(body.start + span.start, body.start + span.end));
    let mut add = |node: Node<'_>, what: &str, help: &str, severity: Severity| {
        let message = format!("Karpenter writes {what} into its own NodeConfig, which comes after this one and wins");
        drafts.push(Draft::new(&RULE, place(yaml.key(node)), message).help(help).severity(severity));
    };
    for root in yaml.roots().filter(|root| Yaml::is_node_config(*root)) {
        if let Some(cluster) = root.at_path(&["spec", "cluster"]).filter(|node| !node.is_empty()) {
            let help = "take it out; Karpenter knows the cluster it runs in";
            add(cluster, "the cluster", help, Severity::Info);
        }
        let config = |key| root.at_path(&["spec", "kubelet", "config", key]).filter(|node| !node.is_null());
        if let Some(node) = config("registerWithTaints").filter(|node| !node.is_empty()) {
            let help = "write the taints into `spec.template.spec.taints` of the NodePool";
            add(node, "the taints", help, Severity::Warning);
        }
        if let Some(node) = config("maxPods") {
            let help = "write `maxPods` into `spec.kubelet` of the node class, where the scheduler sees it too";
            add(node, "`maxPods`", help, Severity::Warning);
        }
        if let Some(node) = config("clusterDNS") {
            let help = "write `clusterDNS` into `spec.kubelet` of the node class";
            add(node, "`clusterDNS`", help, Severity::Warning);
        }
    }
    for root in yaml.roots() {
        let flags = root.at_path(&["spec", "kubelet", "flags"]);
        let taints = |node: &Node<'_>| node.as_str().is_some_and(|flag| flag.starts_with("--register-with-taints"));
        if let Some(flag) = flags.and_then(|flags| flags.items().find(taints)) {
            let right = flag.as_str().is_some_and(|flag| flag.contains(TAINT_KEY));
            let lost = if right {
                "the NodePool's taints in it do not reach the node"
            } else {
                "the node registers without the taint `karpenter.sh/unregistered`"
            };
            let message = format!("the kubelet prefers this flag to the list that Karpenter writes, and {lost}");
            let draft = Draft::new(&RULE, place(yaml.value(flag)), message);
            drafts.push(draft.help("write the taints into `spec.template.spec.taints` of the NodePool"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::{Settings, Target};

    #[test]
    fn taints_of_bottlerocket_are_discarded() {
        let text = class("Bottlerocket", "[settings.kubernetes.node-taints]\n\"team/x\" = [\"y:NoSchedule\"]\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |     [settings.kubernetes.node-taints]
            |                          ^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter writes `settings.kubernetes.node-taints` itself; this one is discarded
          help: write the taints into `spec.template.spec.taints` of the NodePool
        ");
    }

    #[test]
    fn the_cluster_is_karpenters_and_other_tables_are_dropped() {
        let text = class("Bottlerocket", "[settings.kubernetes]\ncluster-name = \"other\"\nkube-api-qp = 3\n[setting.kubernetes]\nx = 1\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          8 |     cluster-name = "other"
            |     ^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter writes `settings.kubernetes.cluster-name` itself; this one is discarded
          help: take it out; Karpenter knows the cluster it runs in
          9 |     kube-api-qp = 3
            |     ^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter does not know `settings.kubernetes.kube-api-qp` and drops it (did you mean `kube-api-qps`?)
          help: take it out, or write the key as Karpenter knows it
         10 |     [setting.kubernetes]
            |      ^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter passes on what is under `settings` alone; `setting` is dropped (did you mean `settings`?)
          help: write it under `settings`, or take it out
        "#);
    }

    #[test]
    fn a_key_is_dropped_until_karpenter_learns_it() {
        let text = class("Bottlerocket", "[settings.kubernetes]\nids-per-pod = 65536\n");
        silent(&super::RULE, &text);
        let settings = Settings { karpenter: Target::parse("1.8").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &settings), @"
          8 |     ids-per-pod = 65536
            |     ^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.8]
          Karpenter passes `settings.kubernetes.ids-per-pod` on from 1.9; before, it is dropped
          help: update Karpenter to 1.9, or take it out
        ");
    }

    #[test]
    fn the_last_node_config_wins() {
        let text = class(
            "AL2023",
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: demo\n  kubelet:\n    config:\n      maxPods: 58\n      registerWithTaints:\n      - {key: a, effect: NoSchedule}\n    flags: [--register-with-taints=a=b:NoSchedule]\n",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |       cluster:
            |       ^^^^^^^
        info EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter writes the cluster into its own NodeConfig, which comes after this one and wins
          help: take it out; Karpenter knows the cluster it runs in
         14 |           maxPods: 58
            |           ^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter writes `maxPods` into its own NodeConfig, which comes after this one and wins
          help: write `maxPods` into `spec.kubelet` of the node class, where the scheduler sees it too
         15 |           registerWithTaints:
            |           ^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          Karpenter writes the taints into its own NodeConfig, which comes after this one and wins
          help: write the taints into `spec.template.spec.taints` of the NodePool
         17 |         flags: [--register-with-taints=a=b:NoSchedule]
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          the kubelet prefers this flag to the list that Karpenter writes, and the node registers without the taint `karpenter.sh/unregistered`
          help: write the taints into `spec.template.spec.taints` of the NodePool
        ");
    }

    #[test]
    fn what_karpenter_passes_on_is_left_alone() {
        silent(
            &super::RULE,
            &class(
                "Bottlerocket",
                "[settings.kubernetes]\nkube-api-qps = 30\nallowed-unsafe-sysctls = ['net.*']\n[settings.kubernetes.node-labels]\na = 'b'\n[settings.kubernetes.node-taints]\n[settings.kernel.sysctl]\n\"vm.max_map_count\" = \"262144\"\n",
            ),
        );
        let config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config: {podPidsLimit: 100}\n    flags: [\"--node-labels=a=b\"]\n";
        silent(&super::RULE, &class("AL2023", config));
        silent(&super::RULE, &custom("[settings.kubernetes]\ncluster-name = 'a'\n"));
        silent(&super::RULE, &custom(&config.replace("podPidsLimit", "maxPods")));
    }
}
