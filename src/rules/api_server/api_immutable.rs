use karpenter::release::Releases;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Compares an object with the stored object, where an admission review contains both: the node class of a NodePool
    /// and the `spec` of a NodeClaim never change, a NodePool stays static or dynamic, and in 1.6 and earlier a node
    /// class keeps its `role`.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the update. You have to delete the object and create it again, or create another object.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: admission.k8s.io/v1
    /// kind: AdmissionReview
    /// request:
    ///   operation: UPDATE
    ///   oldObject:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodeClaim
    ///     metadata: {name: default-x7k2p}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    ///   object:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodeClaim
    ///     metadata: {name: default-x7k2p}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    ///       expireAfter: Never
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: admission.k8s.io/v1
    /// kind: AdmissionReview
    /// request:
    ///   operation: UPDATE
    ///   oldObject:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodeClaim
    ///     metadata: {name: default-x7k2p}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    ///   object:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodeClaim
    ///     metadata: {name: default-x7k2p, annotations: {karpenter.sh/do-not-disrupt: "true"}}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ```
    ///
    /// ## References
    ///
    /// - `x-kubernetes-validations` with `oldSelf` in pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to
    ///   v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a change that the API server does not allow",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match &refusal.what {
        What::Change(change) => Some(
            Finding::new(&RULE, refusal.place.clone(), change.message.as_str()).help(change.help.as_str()),
        ),
        _ => None,
    });
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::{Settings, Target};

    fn review(old: &str, new: &str) -> String {
        let object = |spec: &str| {
            format!(
                "{{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {{name: a}}, spec: {{{spec}, template: {{spec: {{requirements: [], \
                 nodeClassRef: {{group: g, kind: k, name: a}}}}}}}}}}"
            )
        };
        format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  oldObject: {}
  object: {}
",
            object(old),
            object(new)
        )
    }

    #[test]
    fn rejects_making_a_dynamic_pool_static() {
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &review("weight: 1", "replicas: 3"), &range), @"
          6 |   object: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {replicas: 3, template: {spec: {requirements: [], nodeClassRef: {group: g, kind: k, name: a}}}}}
            |                                                                                     ^^^^^^^^
        error NodePool/a spec [since 1.8]
          `spec.replicas` would turn a NodePool that scales with its pods into a static NodePool; the API server refuses the NodePool (since 1.8)
          help: create another NodePool with `replicas`, and delete this one
        ");
        silent(&super::RULE, &review("replicas: 1", "replicas: 3"));
    }

    #[test]
    fn rejects_another_role_until_1_6() {
        let object = |role: &str| {
            format!(
                "{{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {{name: a}}, spec: {{role: {role}}}}}"
            )
        };
        let update = |old: &str, new: &str| {
            format!(
                r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  oldObject: {}
  object: {}
",
                object(old),
                object(new)
            )
        };
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let found = findings_with(&super::RULE, &update("one", "other"), &range);
        assert!(found.contains("error EC2NodeClass/a spec.role [until 1.6]"), "{found}");
        assert!(found.contains("`spec.role` changes from `one`, but is immutable until 1.6"), "{found}");
        silent(&super::RULE, &update("one", "other"));
        assert_eq!(findings_with(&super::RULE, &update("one", "one"), &range), "");
    }

    #[test]
    fn accepts_an_invalid_value_that_does_not_change() {
        silent(
            &crate::rules::api_server::api_range::RULE,
            &review("weight: 500", "weight: 500, limits: {cpu: 1}"),
        );
    }
}
