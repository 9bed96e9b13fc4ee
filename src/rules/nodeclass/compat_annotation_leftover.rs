use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Looks for the annotations in which 1.0 kept what v1 has no field for: those below `compatibility.karpenter.sh/` and
    /// `compatibility.karpenter.k8s.aws/`.
    ///
    /// ## Why it is bad
    ///
    /// They were a bridge from v1beta1, and 1.1 took it away: what is in them counts no more, so that nodes come up with
    /// another kubelet configuration or other block devices. With `v1beta1-kubelet-conversion` on any NodePool the
    /// controller of 1.1 to 1.5 does not even start.
    ///
    /// ## What is not reported
    ///
    /// What Karpenter writes on NodeClaims itself, such as `compatibility.karpenter.k8s.aws/cluster-name-tagged`, which every
    /// release up to 1.14 reads.
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
    /// Move the kubelet's settings to the EC2NodeClass, then remove the annotation:
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
    /// - aws/karpenter-provider-aws#6867, #7134; upgrade guide, 1.1.0
    /// - pkg/operator/operator.go of aws/karpenter-provider-aws at v1.1.0 to v1.5.8 (`stdlog.Fatalf`), gone at v1.6.0
    RULE {
        name: "compat-annotation-leftover",
        family: Family::Nodeclass,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        fix: Fixes::None,
        summary: "an annotation of the migration from v1beta1, which counts no more",
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

const KUBELET: &str = "compatibility.karpenter.sh/v1beta1-kubelet-conversion";

/// The annotations, and what to do about each.
const ANNOTATIONS: [(&str, &str); 5] = [
    (KUBELET, "move the settings in it to `spec.kubelet` of the EC2NodeClass, then remove it"),
    ("compatibility.karpenter.sh/v1beta1-nodeclass-reference", REMOVE),
    (
        "compatibility.karpenter.k8s.aws/v1beta1-ubuntu",
        "write `amiFamily: Custom` with `amiSelectorTerms`, `userData` and `blockDeviceMappings` of your own, then remove it",
    ),
    ("compatibility.karpenter.k8s.aws/v1-alias-version", REMOVE),
    ("compatibility.karpenter.k8s.aws/kubelet-drift-hash", REMOVE),
];

const REMOVE: &str = "remove it";

/// The releases whose controller exits at its start over the kubelet's annotation.
const EXITS: Releases = Releases::between(1, 5);

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    for (key, help) in ANNOTATIONS {
        let Some(node) = object.annotation(key) else { continue };
        let draft = |message: String| Draft::new(&RULE, Place::key(node), message).help(help);
        let ignored = format!("`{key}` counts no more: what it says is not read");
        if key != KUBELET || !object.is(Kind::NODE_POOL) {
            drafts.push(draft(ignored));
            continue;
        }
        let exits = format!("Karpenter {EXITS} does not start while a NodePool has `{key}`");
        drafts.push(draft(exits).releases(EXITS).severity(Severity::Error).caught_by(CaughtBy::Controller));
        drafts.push(draft(ignored).releases(Releases::since(6)));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, on_the_way, silent};
    use lint::settings::{Settings, Target};

    fn object(kind: &str, annotation: &str) -> String {
        format!("apiVersion: {kind}\nmetadata:\n  name: a\n  annotations:\n    {annotation}: '{{}}'\n")
    }

    #[test]
    fn the_controller_of_1_1_to_1_5_exits_over_that_of_the_kubelet() {
        let text = object("karpenter.sh/v1\nkind: NodePool", super::KUBELET);
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &on_the_way("1.0", "1.14")), @"
          6 |     compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a metadata.annotations.compatibility.karpenter.sh/v1beta1-kubelet-conversion [1.1-1.5]
          Karpenter 1.1-1.5 does not start while a NodePool has `compatibility.karpenter.sh/v1beta1-kubelet-conversion`
          help: move the settings in it to `spec.kubelet` of the EC2NodeClass, then remove it
          6 |     compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a metadata.annotations.compatibility.karpenter.sh/v1beta1-kubelet-conversion [1.6-1.14]
          `compatibility.karpenter.sh/v1beta1-kubelet-conversion` counts no more: what it says is not read
          help: move the settings in it to `spec.kubelet` of the EC2NodeClass, then remove it
        ");
        let at = |release| Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        assert_eq!(findings_with(&super::RULE, &text, &at("1.0")), "");
        assert_eq!(findings_with(&super::RULE, &text, &on_the_way("1.1", "1.5")), "");
    }

    #[test]
    fn what_karpenter_writes_itself_is_left_alone() {
        for kind in ["karpenter.sh/v1\nkind: NodeClaim", "karpenter.k8s.aws/v1\nkind: EC2NodeClass"] {
            silent(&super::RULE, &object(kind, "compatibility.karpenter.k8s.aws/cluster-name-tagged"));
        }
    }

    #[test]
    fn the_others_are_not_read() {
        let text = object("karpenter.k8s.aws/v1\nkind: EC2NodeClass", "compatibility.karpenter.k8s.aws/v1beta1-ubuntu");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          6 |     compatibility.karpenter.k8s.aws/v1beta1-ubuntu: '{}'
            |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a metadata.annotations.compatibility.karpenter.k8s.aws/v1beta1-ubuntu [1.1-1.14]
          `compatibility.karpenter.k8s.aws/v1beta1-ubuntu` counts no more: what it says is not read
          help: write `amiFamily: Custom` with `amiSelectorTerms`, `userData` and `blockDeviceMappings` of your own, then remove it
        ");
    }
}
