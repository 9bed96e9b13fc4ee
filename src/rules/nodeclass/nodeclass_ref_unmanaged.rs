use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools whose `nodeClassRef` almost refers to an EC2NodeClass: the right kind with another group, or the
    /// right group with another kind.
    ///
    /// ## Why it is bad
    ///
    /// Several Karpenter providers can run in one cluster, and each manages only the NodePools that refer to its own
    /// kind of node class. Karpenter ignores a NodePool with any other combination of group and kind: the NodePool gets
    /// no status, no event and no node. (Release 1.0 checks only the name.)
    ///
    /// The rule does not report references to node classes of other providers or of EKS Auto Mode. If an EC2NodeClass has
    /// the group of EKS Auto Mode, either half can be wrong: see `auto-mode-mixups`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef:
    ///         group: karpenter.sh
    ///         kind: EC2NodeClass
    ///         name: default
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef:
    ///         group: karpenter.k8s.aws
    ///         kind: EC2NodeClass
    ///         name: default
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the correct half of the reference determines the other half. Group and kind of an existing NodePool cannot
    /// be changed, so the fix is offered only for text and for new objects.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/utils/nodepool/nodepool.go` `IsManaged`, 1.1-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        fix: Fixes::Safe,
        summary: "the NodePool refers to a kind of node class that no Karpenter controller manages",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(reference) = NodePool::of(object).and_then(NodePool::node_class_ref) else { return };
    let (Some(group), Some(kind)) = (reference.group(), reference.kind()) else { return };
    let (Some(written_group), Some(written_kind)) = (group.as_str(), kind.as_str()) else { return };
    let is_group = written_group == Kind::NODE_CLASS.group;
    let is_kind = written_kind == Kind::NODE_CLASS.name;
    // The API server refuses empty values and a group with a version.
    if is_group == is_kind
        || written_group == Kind::AUTO_NODE_CLASS.group
        || written_group.contains('/')
        || written_group.is_empty()
        || written_kind.is_empty()
    {
        return;
    }
    let (node, right) = if is_kind { (group, Kind::NODE_CLASS.group) } else { (kind, Kind::NODE_CLASS.name) };
    if has_placeholder(node.as_str().unwrap_or_default()) {
        return;
    }
    let message = format!(
        "no Karpenter controller manages a NodePool that refers to the kind `{written_kind}` in `{written_group}`; the \
         NodePool gets no status and no nodes"
    );
    let finding = Finding::at(&RULE, node, message);
    let is_live = object.operation() == Operation::Update;
    findings.push(if is_live { finding.write(right) } else { finding.set(node, right) });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn pool(group: &str, kind: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: {group}, kind: {kind}, name: a}}
"
        )
    }

    #[test]
    fn reports_wrong_kind_and_wrong_group() {
        insta::assert_snapshot!(findings(&RULE, &pool("karpenter.k8s.aws", "NodeClass")), @r#"
          7 |       nodeClassRef: {group: karpenter.k8s.aws, kind: NodeClass, name: a}
            |                                                      ^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef.kind [since 1.1]
          no Karpenter controller manages a NodePool that refers to the kind `NodeClass` in `karpenter.k8s.aws`; the NodePool gets no status and no nodes
          help: write `EC2NodeClass`
          fix: write `EC2NodeClass`: "EC2NodeClass"
        "#);
        let right = pool("karpenter.k8s.aws", "EC2NodeClass");
        assert_eq!(fixed(&RULE, &pool("karpenter.sh", "EC2NodeClass")), right);
        assert_eq!(fixed(&RULE, &pool("karpenter.k8s.aws", "AWSNodeTemplate")), right);
    }

    #[test]
    fn offers_no_fix_on_update() {
        let review = |operation: &str| {
            let object = r#"{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "karpenter.sh", "kind": "EC2NodeClass", "name": "a"}}}}}"#;
            format!(
                r#"{{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {{"operation": "{operation}", "object": {object}}}}}"#
            )
        };
        assert!(findings(&RULE, &review("CREATE")).contains("fix: write `karpenter.k8s.aws`"));
        let update = findings(&RULE, &review("UPDATE"));
        assert!(update.contains("error") && !update.contains("fix:"), "{update}");
    }

    #[test]
    fn ignores_other_providers_and_what_the_api_server_refuses() {
        silent(&RULE, &pool("karpenter.k8s.aws", "EC2NodeClass"));
        silent(&RULE, &pool("eks.amazonaws.com", "EC2NodeClass"));
        silent(&RULE, &pool("eks.amazonaws.com", "NodeClass"));
        silent(&RULE, &pool("karpenter.azure.com", "AKSNodeClass"));
        silent(&RULE, &pool("karpenter.k8s.aws/v1", "EC2NodeClass"));
        silent(&RULE, &pool("''", "EC2NodeClass"));
        silent(&RULE, &pool("'${GROUP}'", "EC2NodeClass"));
    }
}
