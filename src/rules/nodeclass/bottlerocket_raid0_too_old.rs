use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses with `instanceStorePolicy: RAID0` and a Bottlerocket alias below 1.22.0.
    ///
    /// ## Why it is bad
    ///
    /// In 1.0 the policy has no effect on Bottlerocket. Since 1.1 Karpenter writes user data that builds the RAID
    /// array. Bottlerocket before 1.22.0 does not know that setting, and its nodes do not join the cluster.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.20.3}]
    ///   instanceStorePolicy: RAID0
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.22.0}]
    ///   instanceStorePolicy: RAID0
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.1.0
    /// - pkg/providers/amifamily/bootstrap/bottlerocket.go of aws/karpenter-provider-aws at v1.1.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        summary: "`instanceStorePolicy: RAID0` takes effect on a Bottlerocket version that does not support it",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some(policy) = class.instance_store_policy() else { return };
    if policy.as_str() != Some("RAID0") {
        return;
    }
    for alias in class.ami_aliases() {
        let Some(version) = alias.as_str().and_then(|alias| alias.strip_prefix("bottlerocket@")) else {
            continue;
        };
        if minor(version).is_some_and(|minor| minor < 22) {
            let message = format!(
                "`instanceStorePolicy: RAID0` takes effect on Bottlerocket, but {version} does not know the setting (added in 1.22.0): its nodes do not join the cluster"
            );
            findings.push(
                Finding::new(&RULE, Place::value(alias), message)
                    .help("pin v1.22.0 or later, or remove `instanceStorePolicy` before the upgrade")
                    .related(Place::value(policy), "Karpenter starts to apply this field"),
            );
        }
    }
}

/// Parses the minor from a Bottlerocket version such as `v1.20.3`.
pub(super) fn minor(version: &str) -> Option<u16> {
    version.strip_prefix('v').unwrap_or(version).strip_prefix("1.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn class(alias: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  instanceStorePolicy: RAID0
  amiSelectorTerms:
    - alias: {alias}
"
        )
    }

    #[test]
    fn reports_bottlerocket_before_1_22() {
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.2", &class("bottlerocket@v1.19.5")), @"
        from 1.1 on
          7 |     - alias: bottlerocket@v1.19.5
            |              ^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [since 1.1]
          `instanceStorePolicy: RAID0` takes effect on Bottlerocket, but v1.19.5 does not know the setting (added in 1.22.0): its nodes do not join the cluster
          help: pin v1.22.0 or later, or remove `instanceStorePolicy` before the upgrade
          see line 5 spec.instanceStorePolicy: Karpenter starts to apply this field
        ");
        begins_nothing(&super::RULE, "1.1", "1.14", &class("bottlerocket@v1.19.5"));
        begins_nothing(&super::RULE, "1.14", "1.0", &class("bottlerocket@v1.19.5"));
        for alias in ["bottlerocket@v1.22.0", "bottlerocket@latest", "al2023@v20240807"] {
            begins_nothing(&super::RULE, "1.0", "1.14", &class(alias));
        }
    }
}
