use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::NodeClasses;

rule! {
    /// ## What it does
    ///
    /// Finds the annotations in which Karpenter 1.0 kept v1beta1 settings that have no field in v1. Their names start
    /// with `compatibility.karpenter.sh/` or `compatibility.karpenter.k8s.aws/`.
    ///
    /// ## Why it is bad
    ///
    /// The annotations eased the migration from v1beta1, and 1.1 removed support for them. Karpenter ignores the
    /// settings in them, so nodes start with a different kubelet configuration or different block devices. If any
    /// NodePool has `v1beta1-kubelet-conversion`, the controller of 1.1 to 1.5 does not even start.
    ///
    /// In 1.0 the annotation `v1beta1-kubelet-conversion` of a NodePool replaces `spec.kubelet` of its EC2NodeClass
    /// completely: the settings of the EC2NodeClass have no effect on the nodes of this NodePool.
    ///
    /// ## What is not reported
    ///
    /// Annotations that Karpenter itself writes on NodeClaims, such as
    /// `compatibility.karpenter.k8s.aws/cluster-name-tagged`, which every release up to 1.14 reads.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    ///   annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods":50}'}
    /// ```
    ///
    /// ## Use instead
    ///
    /// Move the kubelet settings to the EC2NodeClass, then remove the annotation:
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   kubelet: {maxPods: 50}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6867, #7134, #7833, #7235; upgrade guide, 1.1.0
    /// - `GetKubletConfigurationWithNodePool` in pkg/utils/utils.go of aws/karpenter-provider-aws at v1.0.8
    /// - pkg/operator/operator.go of aws/karpenter-provider-aws at v1.1.0 to v1.5.8 (`stdlog.Fatalf`), removed at
    ///   v1.6.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter ignores an annotation that is left over from the migration from v1beta1",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

const KUBELET: &str = "compatibility.karpenter.sh/v1beta1-kubelet-conversion";

/// The annotations, each with its help.
const ANNOTATIONS: [(&str, &str); 5] = [
    (KUBELET, "move its settings to `spec.kubelet` of the EC2NodeClass, then remove the annotation"),
    ("compatibility.karpenter.sh/v1beta1-nodeclass-reference", REMOVE),
    (
        "compatibility.karpenter.k8s.aws/v1beta1-ubuntu",
        "write `amiFamily: Custom` with your own `amiSelectorTerms`, `userData` and `blockDeviceMappings`, then remove the annotation",
    ),
    ("compatibility.karpenter.k8s.aws/v1-alias-version", REMOVE),
    ("compatibility.karpenter.k8s.aws/kubelet-drift-hash", REMOVE),
];

const REMOVE: &str = "remove the annotation";

/// Releases whose controller exits at startup if a NodePool has the kubelet annotation.
const EXITS: Releases = Releases::between(1, 5);

/// The release that reads the kubelet annotation.
const READS: Releases = Releases::until(0);

/// The releases that read no annotation of the migration any more.
const IGNORES: Releases = Releases::since(1);

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for (key, help) in ANNOTATIONS {
        let Some(node) = object.annotation(key) else { continue };
        let finding =
            |message: String| Finding::new(&RULE, Place::key(node), message).help(help).releases(IGNORES);
        let ignored = format!("Karpenter ignores the annotation `{key}`, so its settings have no effect");
        if key != KUBELET || !object.is(Kind::NODE_POOL) {
            findings.push(finding(ignored));
            continue;
        }
        findings.push(in_1_0(object, finding(String::new()), context));
        let exits = format!("Karpenter {EXITS} does not start while a NodePool has the annotation `{key}`");
        findings
            .push(finding(exits).releases(EXITS).severity(Severity::Error).caught_by(CaughtBy::Controller));
        findings.push(finding(ignored).releases(Releases::since(6)));
    }
}

/// Finding about the annotation in 1.0, which overrides the kubelet settings of the EC2NodeClass.
fn in_1_0<'d>(object: Object<'d>, finding: Finding<'d>, context: &Context<'_, 'd>) -> Finding<'d> {
    let class = NodePool::of(object).and_then(|pool| context.inventory.index::<NodeClasses>().of_pool(pool));
    let kubelet = class.and_then(|(class, _)| class.kubelet());
    let message = format!(
        "Karpenter 1.0 uses the annotation `{KUBELET}` instead of `spec.kubelet` of the EC2NodeClass"
    );
    let finding = Finding { message, ..finding }.releases(READS);
    match kubelet {
        Some(kubelet) => finding.related(Place::key(kubelet.node()), "these settings have no effect"),
        None => finding.severity(Severity::Info),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, on_upgrade_path, silent};
    use rule::settings::{Settings, Target};

    fn object(kind: &str, annotation: &str) -> String {
        format!(
            r"apiVersion: {kind}
metadata:
  name: a
  annotations:
    {annotation}: '{{}}'
"
        )
    }

    #[test]
    fn reports_kubelet_annotation_that_stops_the_controller_of_1_1_to_1_5() {
        let text = object("karpenter.sh/v1\nkind: NodePool", super::KUBELET);
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &on_upgrade_path("1.0", "1.14")), @"
          6 |     compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a metadata.annotations.compatibility.karpenter.sh/v1beta1-kubelet-conversion [1.1 to 1.5]
          Karpenter 1.1 to 1.5 does not start while a NodePool has the annotation `compatibility.karpenter.sh/v1beta1-kubelet-conversion`
          help: move its settings to `spec.kubelet` of the EC2NodeClass, then remove the annotation
          6 |     compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a metadata.annotations.compatibility.karpenter.sh/v1beta1-kubelet-conversion [since 1.6]
          Karpenter ignores the annotation `compatibility.karpenter.sh/v1beta1-kubelet-conversion`, so its settings have no effect
          help: move its settings to `spec.kubelet` of the EC2NodeClass, then remove the annotation
        ");
        let at = |release| Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &at("1.0")).contains("\ninfo NodePool/a"));
        assert_eq!(findings_with(&super::RULE, &text, &on_upgrade_path("1.1", "1.5")), "");
        for harmless in [
            object(
                "karpenter.sh/v1\nkind: NodePool",
                "compatibility.karpenter.sh/v1beta1-nodeclass-reference",
            ),
            object("karpenter.k8s.aws/v1\nkind: EC2NodeClass", super::KUBELET),
        ] {
            let found = findings_with(&super::RULE, &harmless, &at("1.5"));
            assert!(found.starts_with("  6 |") && found.contains("\nwarning "), "{found}");
        }
    }

    #[test]
    fn names_the_settings_that_the_kubelet_annotation_overrides_in_1_0() {
        let text = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: a
  annotations:
    compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{\"maxPods\":110}'
spec:
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {kubelet: {maxPods: 58}}
";
        let settings = Settings { karpenter: Target::parse("1.0").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, text, &settings), @r#"
          6 |     compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods":110}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a metadata.annotations.compatibility.karpenter.sh/v1beta1-kubelet-conversion [1.0]
          Karpenter 1.0 uses the annotation `compatibility.karpenter.sh/v1beta1-kubelet-conversion` instead of `spec.kubelet` of the EC2NodeClass
          help: move its settings to `spec.kubelet` of the EC2NodeClass, then remove the annotation
          see line 13 spec.kubelet: these settings have no effect
        "#);
    }

    #[test]
    fn ignores_annotations_that_karpenter_writes() {
        for kind in ["karpenter.sh/v1\nkind: NodeClaim", "karpenter.k8s.aws/v1\nkind: EC2NodeClass"] {
            silent(&super::RULE, &object(kind, "compatibility.karpenter.k8s.aws/cluster-name-tagged"));
        }
    }

    #[test]
    fn warns_about_other_annotations() {
        let text = object(
            "karpenter.k8s.aws/v1\nkind: EC2NodeClass",
            "compatibility.karpenter.k8s.aws/v1beta1-ubuntu",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          6 |     compatibility.karpenter.k8s.aws/v1beta1-ubuntu: '{}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a metadata.annotations.compatibility.karpenter.k8s.aws/v1beta1-ubuntu [since 1.1]
          Karpenter ignores the annotation `compatibility.karpenter.k8s.aws/v1beta1-ubuntu`, so its settings have no effect
          help: write `amiFamily: Custom` with your own `amiSelectorTerms`, `userData` and `blockDeviceMappings`, then remove the annotation
        ");
    }
}
