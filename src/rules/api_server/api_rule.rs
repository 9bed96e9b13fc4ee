use crate::check::Context;
use crate::finding::{CaughtBy, Draft, Family, Severity};
use crate::karpenter::release::Releases;
use crate::object::Object;
use crate::rules::Fixes;

rule! {
    /// ## What it does
    ///
    /// Checks what the API server asks of several fields together: that a key may be used, that a schedule comes with a duration, that
    /// an alias fits its family, that selector terms choose something, and so on.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, and `kubectl apply` leaves the cluster as it is. An Argo CD or Flux
    /// application with it stays out of sync.
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     budgets: [{nodes: "0", schedule: "0 9 * * mon-fri"}]
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     budgets: [{nodes: "0", schedule: "0 9 * * mon-fri", duration: 8h}]
    /// ```
    ///
    /// ## References
    ///
    /// - `x-kubernetes-validations` in pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    /// - hack/validation of both repositories, which add the rules for keys
    RULE {
        name: "api-rule",
        family: Family::ApiServer,
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "fields that do not go together",
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    super::check(&RULE, object, context, drafts);
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with};
    use crate::settings::{Settings, Target};

    #[test]
    fn the_path_names_the_whole_and_the_place_is_the_very_key() {
        let text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  template:\n    metadata:\n      labels:\n        \
                    karpenter.sh/nodepool: a\n        team.k8s.io/x: y\n    spec:\n      nodeClassRef: {group: g, kind: k, name: ''}\n      \
                    requirements:\n      - {key: kubernetes.io/hostname, operator: In}\n      - {key: a, operator: Gt, values: [many]}\n";
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, text, &range));
    }

    #[test]
    fn a_node_class_is_told_all_at_once() {
        let text = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiFamily: AL2\n  amiSelectorTerms:\n  \
                    - {alias: al2023@latest, owner: self}\n  subnetSelectorTerms: []\n  securityGroupSelectorTerms: [{id: sg-1, name: a}]\n  \
                    blockDeviceMappings: [{ebs: {volumeType: gp3}}]\n  kubelet: {evictionSoft: {memory.available: 5%}, kubeReserved: {cpus: '1'}}\n  \
                    tags: {karpenter.sh/nodepool: a}\n";
        insta::assert_snapshot!(findings(&super::RULE, text));
    }
}
