use karpenter::kind::Kind;
use karpenter::kubernetes;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks, once and at the first NodePool, that Karpenter supports the Kubernetes version of the settings. Without
    /// `--kubernetes-version` or `kubernetesVersion` the rule does not run.
    ///
    /// ## Why it is bad
    ///
    /// Each release supports a range of Kubernetes versions, and the controller reports an error for another one: images,
    /// instance types or the API may differ. Upgrade Karpenter before the cluster if the cluster is too new for it, and the
    /// cluster before Karpenter if the cluster is too old.
    ///
    /// ## Example
    ///
    /// ```yaml,karpenter=1.8,kubernetes=1.35
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// The same with Karpenter 1.9 or later.
    ///
    /// ```yaml,karpenter=1.9,kubernetes=1.35
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## References
    ///
    /// - `MinK8sVersion` and `MaxK8sVersion` in pkg/providers/version/version.go of aws/karpenter-provider-aws at every tag
    /// - website/content/en/v1.15/upgrading/compatibility.md for Kubernetes 1.37
    RULE {
        formerly: &["controller"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the release of Karpenter does not support the Kubernetes version",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(minor) = context.settings.kubernetes_minor else { return };
    let Some(supporting) = kubernetes::supporting(minor) else { return };
    let unsupported = Releases::ALL.without(supporting);
    if unsupported.is_empty() || context.inventory.objects_of(Kind::NODE_POOL).next() != Some(object) {
        return;
    }
    let help = if supporting.is_empty() {
        "upgrade the cluster first: no release since 1.0 supports this version".to_owned()
    } else {
        format!("Karpenter supports Kubernetes 1.{minor} {}", supporting.when())
    };
    let message =
        format!("Karpenter does not support Kubernetes 1.{minor}, and the controller reports an error");
    findings.push(
        Finding::new(&RULE, Place::value(object.name_node()), message).releases(unsupported).help(help),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, on_upgrade_path};
    use rule::settings::{Settings, Target};

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: a\n";

    fn with(release: &str, minor: u8) -> String {
        let karpenter = Target::parse(release).unwrap();
        let settings = Settings { karpenter, kubernetes_minor: Some(minor), ..Settings::default() };
        findings_with(&RULE, &format!("{POOL}---\n{}", POOL.replace("name: a", "name: b")), &settings)
    }

    #[test]
    fn reports_versions_that_the_release_does_not_support() {
        insta::assert_snapshot!(with("1.14", 37), @"
          4 |   name: a
            |         ^
        warning NodePool/a metadata.name [until 1.14]
          Karpenter does not support Kubernetes 1.37, and the controller reports an error
          help: Karpenter supports Kubernetes 1.37 since 1.15
        ");
        assert_eq!(with("1.15", 37), "");
        assert!(with("1.5", 25).contains("until 1.4") && with("1.4", 25).is_empty());
        assert!(with("1.6.5", 34).contains("Kubernetes 1.34") && with("1.6.6", 34).is_empty());
        assert!(with("1.15", 24).contains("no release") && with("1.15", 99).is_empty());
    }

    #[test]
    fn reports_the_release_that_ends_the_support_on_an_upgrade_path() {
        let settings = Settings { kubernetes_minor: Some(25), ..on_upgrade_path("1.4", "1.15") };
        assert!(findings_with(&RULE, POOL, &settings).contains("[since 1.5]"));
        let settings = Settings { kubernetes_minor: Some(35), ..on_upgrade_path("1.8", "1.15") };
        assert_eq!(findings_with(&RULE, POOL, &settings), "");
    }
}
