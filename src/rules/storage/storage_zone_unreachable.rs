use karpenter::kind::Kind;
use karpenter::known_values::is_replaced;
use karpenter::labels::ZONE;
use karpenter::release::Releases;
use karpenter::zones::is_zone_id;
use manifest::tree::Node;
use objects::object::Object;
use objects::pod::NodeSelectorTerm;
use objects::storage::{Binding, PersistentVolume, Reach, StorageClass, ZONE_KEYS, reach};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling::add_quoted;

use crate::rules::indexes::{POOLS, ZonesOfPools};

rule! {
    /// ## What it does
    ///
    /// Compares the zones of volumes (`allowedTopologies` of a StorageClass, `nodeAffinity` of a PersistentVolume) with
    /// the zones that the NodePools serve. Also reports zone ids such as `use1-az1` in place of zone names, and EBS
    /// volumes that do not state their zone. A StorageClass is checked if its provisioner creates EBS volumes.
    ///
    /// A NodePool that names no zone serves all zones that it does not exclude. A zone that no NodePool serves is a
    /// warning, because other nodes, such as nodes of a managed node group, may run there. A zone id in place of a zone
    /// name is an error.
    ///
    /// ## Why it is bad
    ///
    /// A pod that needs the volume can run only in the volume's zone. If no NodePool serves that zone, the pod stays
    /// Pending.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// volumeBindingMode: WaitForFirstConsumer
    /// allowedTopologies:
    /// - matchLabelExpressions:
    ///   - key: topology.kubernetes.io/zone
    ///     values: [eu-west-1c]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// volumeBindingMode: WaitForFirstConsumer
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5599, #4407, #2971
    /// - pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a volume is in a zone that no NodePool serves",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::STORAGE_CLASS), On::Kind(PersistentVolume::KIND)],
        inventory: &[POOLS],
        looks_up: |object| StorageClass::of(object).is_none_or(|class| !class.allowed_zones().is_empty()),
        check: check,
    }
}

/// Prefix of the handle of a volume that every node has attached already, so it belongs to no zone. Source:
/// `NodeLocalVolumeHandlePrefix` in pkg/driver/constants.go and docs/node-local-volumes.md of
/// kubernetes-sigs/aws-ebs-csi-driver at 429e202.
const LOCAL_HANDLE: &str = "local-ebs://";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(volume) = PersistentVolume::of(object) {
        check_volume(volume, context, findings);
        return;
    }
    let Some(class) = StorageClass::of(object) else { return };
    // A provisioner of another cloud has other zones, and an unknown provisioner may use the key as it likes.
    if class.provisioner().is_none_or(|provisioner| reach(provisioner) != Reach::Zone) {
        return;
    }
    let zones = class.allowed_zones();
    check_zone_ids(&zones, findings);
    let unserved = unserved(&zones, context);
    let Some(first) = unserved.first() else { return };
    if unserved.len() == zones.len() {
        findings.push(unreachable(&unserved, *first, "volumes of this class", context));
    } else if !matches!(class.binding(), Binding::Other) {
        let name = first.as_str().unwrap_or_default();
        let message = format!(
            "volumes of this class are created before their pod is scheduled, possibly in `{name}`, which no NodePool in {} serves",
            context.scope()
        );
        let help =
            "write `volumeBindingMode: WaitForFirstConsumer`, or allow only the zones of the NodePools";
        findings.push(Finding::at(&RULE, *first, message).severity(Severity::Warning).help(help));
    }
}

/// Checks a PersistentVolume. The terms of its affinity are alternatives.
fn check_volume<'d>(
    volume: PersistentVolume<'d>,
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
) {
    let terms = volume.node_term_list();
    if terms.and_then(Node::as_str).is_some_and(has_placeholder) {
        return;
    }
    if terms.is_none_or(Node::is_empty) {
        findings.extend(without_zone(volume));
        return;
    }
    let (mut all, mut unreachable_everywhere) = (Vec::new(), true);
    for term in volume.node_terms() {
        let mut zones = zones_of(term);
        unreachable_everywhere &= !zones.is_empty() && unserved(&zones, context).len() == zones.len();
        all.append(&mut zones);
    }
    check_zone_ids(&all, findings);
    if unreachable_everywhere && let Some(first) = all.first() {
        findings.push(unreachable(&all, *first, "this volume", context));
    }
}

fn zones_of(term: NodeSelectorTerm<'_>) -> Vec<Node<'_>> {
    let mut zones = Vec::new();
    for expression in term.match_expressions().items() {
        let about_zones = expression.key().is_some_and(|key| ZONE_KEYS.contains(&key));
        if about_zones && expression.operator_text() == Some("In") {
            zones.extend(expression.values());
        }
    }
    zones
}

fn unserved<'d>(zones: &[Node<'d>], context: &Context<'_, 'd>) -> Vec<Node<'d>> {
    let served = context.inventory.index::<ZonesOfPools>();
    let is_known = served.is_known() && !context.may_be_in_environment(Kind::NODE_POOL);
    let is_served = |name: &str| {
        context.anywhere(|inventory| {
            let served = inventory.index::<ZonesOfPools>();
            !served.is_known() || served.serves(name)
        })
    };
    let mut unserved = Vec::new();
    for zone in zones {
        let is_unserved = |name: &str| !is_replaced(ZONE, name) && !is_zone_id(name) && !is_served(name);
        if is_known && zone.as_str().is_some_and(is_unserved) {
            unserved.push(*zone);
        }
    }
    unserved
}

fn unreachable<'d>(
    zones: &[Node<'d>],
    first: Node<'d>,
    what: &str,
    context: &Context<'_, 'd>,
) -> Finding<'d> {
    let scope = context.scope();
    let which = if context.inventory.is_complete() {
        "no NodePool".to_owned()
    } else {
        format!("no NodePool in {scope}")
    };
    let mut names = String::new();
    for name in zones.iter().filter_map(|zone| zone.as_str()) {
        add_quoted(&mut names, name);
    }
    let message = format!(
        "{what} can be used only in {names}, which {which} serves; pods with such a claim stay Pending, unless other nodes run there"
    );
    let served = context.inventory.index::<ZonesOfPools>().named();
    let help = if served.is_empty() {
        format!("let a NodePool serve {names}")
    } else {
        format!("the NodePools serve {served}; let one of them serve {names}, or use a zone that they serve")
    };
    Finding::at(&RULE, first, message).severity(Severity::Warning).help(help)
}

/// Reports zone ids in place of zone names.
fn check_zone_ids<'d>(zones: &[Node<'d>], findings: &mut Vec<Finding<'d>>) {
    for zone in zones {
        let Some(name) = zone.as_str().filter(|name| is_zone_id(name)) else { continue };
        let message =
            format!("`{name}` is a zone id, but this node label holds zone names, and no node matches");
        let help = "write the zone's name, such as `us-east-1a`; the label for zone ids is `topology.k8s.aws/zone-id`";
        findings.push(Finding::at(&RULE, *zone, message).help(help));
    }
}

/// Reports an EBS volume that does not state its zone. `in-tree-storage` reports a volume of the in-tree plug-in, and its help
/// names the zone too.
fn without_zone(volume: PersistentVolume<'_>) -> Option<Finding<'_>> {
    let node = volume.csi("ebs.csi.aws.com")?;
    let metadata = volume.object().metadata();
    let is_local = node.str_at(&["volumeHandle"]).is_some_and(|handle| handle.starts_with(LOCAL_HANDLE));
    if is_local || ZONE_KEYS.iter().any(|key| metadata.label(key).is_some()) {
        return None;
    }
    let message =
        "this EBS volume does not state its zone, and Karpenter launches nodes for its pods in any zone";
    let finding = Finding::new(&RULE, Place::key(node), message).severity(Severity::Warning);
    Some(finding.help("add `spec.nodeAffinity` with the volume's `topology.kubernetes.io/zone`"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_in_files, findings_with, silent};
    use rule::settings::Settings;

    fn pool(requirement: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: p}}
spec:
  template:
    spec:
      requirements: [{requirement}]
"
        )
    }

    fn zones(list: &str) -> String {
        pool(&format!("{{key: topology.kubernetes.io/zone, operator: In, values: [{list}]}}"))
    }

    fn class(zones: &str, more: &str) -> String {
        format!(
            r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: gp3}}
provisioner: ebs.csi.aws.com
volumeBindingMode: {more}
allowedTopologies:
- matchLabelExpressions:
  - {{key: topology.ebs.csi.aws.com/zone, values: [{zones}]}}
"
        )
    }

    fn volume(zone: &str) -> String {
        format!(
            r"apiVersion: v1
kind: PersistentVolume
metadata: {{name: v}}
spec:
  csi: {{driver: ebs.csi.aws.com, volumeHandle: vol-1}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: topology.kubernetes.io/zone, operator: In, values: [{zone}]}}]}}]}}}}
"
        )
    }

    const WAIT: &str = "WaitForFirstConsumer";

    #[test]
    fn reports_zone_that_no_pool_serves() {
        let text = class("eu-west-1c", WAIT) + &zones("eu-west-1a, eu-west-1b");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {key: topology.ebs.csi.aws.com/zone, values: [eu-west-1c]}
            |                                                   ^^^^^^^^^^
        warning StorageClass/gp3 allowedTopologies[0].matchLabelExpressions[0].values[0] [all]
          volumes of this class can be used only in `eu-west-1c`, which no NodePool in this input serves; pods with such a claim stay Pending, unless other nodes run there
          help: the NodePools serve `eu-west-1a`, `eu-west-1b`; let one of them serve `eu-west-1c`, or use a zone that they serve
        ");
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &complete).contains("warning StorageClass"));
        let text = volume("eu-west-1c") + &zones("eu-west-1a");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &complete), @"
          6 |   nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1c]}]}]}}
            |                                                                                                                               ^^^^^^^^^^
        warning PersistentVolume/v spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0] [all]
          this volume can be used only in `eu-west-1c`, which no NodePool serves; pods with such a claim stay Pending, unless other nodes run there
          help: the NodePools serve `eu-west-1a`; let one of them serve `eu-west-1c`, or use a zone that they serve
        ");
    }

    #[test]
    fn reports_immediate_class_with_an_unserved_zone() {
        let text = class("eu-west-1a, eu-west-1c", "Immediate") + &zones("eu-west-1a");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {key: topology.ebs.csi.aws.com/zone, values: [eu-west-1a, eu-west-1c]}
            |                                                               ^^^^^^^^^^
        warning StorageClass/gp3 allowedTopologies[0].matchLabelExpressions[0].values[1] [all]
          volumes of this class are created before their pod is scheduled, possibly in `eu-west-1c`, which no NodePool in this input serves
          help: write `volumeBindingMode: WaitForFirstConsumer`, or allow only the zones of the NodePools
        ");
        silent(&super::RULE, &(class("eu-west-1a, eu-west-1c", WAIT) + &zones("eu-west-1a")));
    }

    #[test]
    fn reports_zone_id_in_place_of_zone_name() {
        assert!(findings(&super::RULE, &class("use1-az1", WAIT)).contains("error StorageClass"));
    }

    #[test]
    fn reports_volume_without_a_zone() {
        let text = volume("x");
        let text = text.split("  nodeAffinity").next().unwrap();
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          5 |   csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
            |   ^^^
        warning PersistentVolume/v spec.csi [all]
          this EBS volume does not state its zone, and Karpenter launches nodes for its pods in any zone
          help: add `spec.nodeAffinity` with the volume's `topology.kubernetes.io/zone`
        ");
        silent(
            &super::RULE,
            &text.replace("{name: v}", "{name: v, labels: {topology.kubernetes.io/zone: a}}"),
        );
        silent(&super::RULE, &text.replace("ebs.csi", "efs.csi"));
        silent(&super::RULE, &text.replace("vol-1", "local-ebs://dev/xvdbz"));
        let in_tree = "awsElasticBlockStore: {volumeID: vol-1}";
        silent(&super::RULE, &text.replace("csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}", in_tree));
    }

    #[test]
    fn ignores_classes_of_other_clouds_and_of_network_storage() {
        for provisioner in ["pd.csi.storage.gke.io", "efs.csi.aws.com", "storage.example.net/block"] {
            let other =
                class("use1-az1, eu-west-1c", WAIT).replace("ebs.csi.aws.com\n", &format!("{provisioner}\n"));
            silent(&super::RULE, &(other + &zones("eu-west-1a")));
        }
    }

    #[test]
    fn ignores_zones_that_a_pool_serves() {
        let one = class("eu-west-1c", WAIT);
        silent(&super::RULE, &one);
        silent(&super::RULE, &(one.clone() + &zones("eu-west-1a") + &zones("eu-west-1c")));
        silent(&super::RULE, &(one.clone() + &zones("eu-west-1a") + &pool("")));
        let except = |zone: &str| {
            pool(&format!("{{key: topology.kubernetes.io/zone, operator: NotIn, values: [{zone}]}}"))
        };
        silent(&super::RULE, &(one.clone() + &except("eu-west-1a")));
        assert!(!findings(&super::RULE, &(one + &except("eu-west-1c"))).is_empty());
        silent(&super::RULE, &(volume("eu-west-1c") + &zones("eu-west-1c")));
        for open in ["'${ZONE}'", "AZ1", "eu-west-1a, ZONE_B"] {
            silent(&super::RULE, &(volume("eu-west-1c") + &zones(open)));
            silent(&super::RULE, &(volume(open) + &zones("eu-west-1a")));
        }
    }

    #[test]
    fn ignores_storage_beside_the_pools_of_environments() {
        let (class, pool) = (class("eu-west-1c", WAIT), zones("eu-west-1a"));
        let found = |environments: &[&str]| {
            let mut files = vec![("base/class.yaml", &*class), ("base/pool.yaml", &*pool)];
            files.extend(environments.iter().map(|name| (*name, &*pool)));
            findings_in_files(&super::RULE, &files, &Settings::default())
        };
        assert!(!found(&[]).is_empty());
        assert_eq!(found(&["envs/dev/pool.yaml", "envs/prod/pool.yaml"]), "");
    }

    #[test]
    fn reads_only_the_zones_that_a_volume_requires() {
        let expression = |key: &str, operator: &str| {
            volume("eu-west-1c")
                .replace("topology.kubernetes.io/zone", key)
                .replace("operator: In", &format!("operator: {operator}"))
        };
        let pool = zones("eu-west-1a");
        assert!(!findings(&super::RULE, &(volume("eu-west-1c") + &pool)).is_empty());
        assert!(
            !findings(&super::RULE, &(expression("topology.kubernetes.io/zone", "In") + &pool)).is_empty()
        );
        silent(&super::RULE, &(expression("example.com/rack", "In") + &pool));
        silent(&super::RULE, &(expression("topology.kubernetes.io/zone", "NotIn") + &pool));
    }
}
