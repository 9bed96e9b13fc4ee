use karpenter::kind::Kind;
use karpenter::labels::{self, LabelField, is_within};
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::Node;
use objects::object::{Object, Operation};
use objects::requirement::RequirementItem;
use objects::requirement_holder::RequirementHolder;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Looks for requirement keys in the domains of Kubernetes and EKS (`kubernetes.io`, `k8s.io`, `eks.amazonaws.com`
    /// and their subdomains) that Karpenter does not know, and names the well-known key that was meant.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter treats an unknown key as a custom label, which does not restrict the instance types. Every node gets
    /// the label: with one of the values of `In`, or with a *random number* for `Exists`, `NotIn` and numeric bounds.
    /// For example, `eks.amazonaws.com/capacityType In [SPOT]` labels on-demand nodes as spot. In 1.8 and earlier, the
    /// API server refuses most keys of `kubernetes.io` and `k8s.io` (`restricted-label`); 1.9 and later accept every
    /// misspelling silently.
    ///
    /// The finding is an error if the key can only be a misspelt well-known key, and a warning otherwise. Keys of
    /// `node-role.kubernetes.io` and `node-restriction.kubernetes.io` are used on purpose, so they are an info. The
    /// rule does not report keys of `*.x-k8s.io` and `kops.k8s.io`, which belong to other projects, keys in your own
    /// domain, or NodePools of EKS Auto Mode, which has its own labels in `eks.amazonaws.com`.
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
    ///       requirements:
    ///         - {key: node.kubernetes.io/instance-family, operator: In, values: [m7i]}
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
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7i]}
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe where nothing else can have been meant and the values are the same. Keys that also need other values, such
    /// as `eks.amazonaws.com/capacityType`, are not replaced.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#4362, #5521, #6401, #7636; kubernetes-sigs/karpenter#2586
    /// - `Requirement.Any` in pkg/scheduling/requirement.go of kubernetes-sigs/karpenter
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a requirement key of Kubernetes or EKS that Karpenter does not know, so it restricts nothing",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLAIM), On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(holder) = RequirementHolder::of(object) else { return };
    let field = match holder {
        RequirementHolder::Pool(_) => LabelField::PoolRequirement,
        RequirementHolder::Claim(_) => LabelField::ClaimRequirement,
        RequirementHolder::Overlay(_) => LabelField::OverlayRequirement,
    };
    // Karpenter writes owned objects itself and copies the keys from NodePools and pods.
    if object.metadata().owner_references().is_some() {
        return;
    }
    let provider = holder.node_class_group();
    if !provider.is_empty() && provider != "karpenter.k8s.aws" {
        return;
    }
    for requirement in holder.requirements().items() {
        findings.extend(check_requirement(object, field, requirement));
    }
}

fn check_requirement<'d>(
    object: Object<'d>,
    field: LabelField,
    requirement: RequirementItem<'d>,
) -> Option<Finding<'d>> {
    let node = requirement.key_node()?;
    let key = node.as_str()?;
    let (domain, name) = key.split_once('/')?;
    if !is_of_kubernetes_or_eks(domain) || !labels::well_known(labels::normalised(key)).is_empty() {
        return None;
    }
    let releases = field.releases().without(labels::refused_at_apply(field, key));
    if releases.is_empty() {
        return None;
    }
    let operator = requirement.operator()?;
    let values = requirement.value_list().map(Node::len).unwrap_or_default();
    let effect = match (operator, values) {
        (Operator::DoesNotExist, _) => "",
        (Operator::In, 1) => ", and every node just gets the label with this value",
        (Operator::In, _) => ", and every node just gets the label with one of the values",
        _ => ", and every node just gets the label with a random number",
    };
    let since = releases.note();
    let message = format!(
        "Karpenter does not know the label `{key}`: the requirement restricts no instance types{effect}{since}"
    );
    let meant = labels::likely_label(key);
    let on_purpose =
        is_within(domain, "node-role.kubernetes.io") || is_within(domain, "node-restriction.kubernetes.io");
    let severity = match meant {
        Some(meant) if meant.is_certain() => Severity::Error,
        None if on_purpose => Severity::Info,
        _ => Severity::Warning,
    };
    let help = meant.map_or_else(
        || format!("for a custom label, use your own domain, such as `example.com/{name}`"),
        labels::LikelyLabel::help,
    );
    let finding = Finding::at(&RULE, node, message).severity(severity).releases(releases).help(help);
    let is_immutable = field == LabelField::ClaimRequirement && object.operation() == Operation::Update;
    Some(match meant.filter(|meant| meant.is_certain() && !is_immutable) {
        Some(meant) => finding.safe_fix("write the well-known key", Change::Set(node, meant.key.to_owned())),
        None => finding,
    })
}

/// Whether a domain belongs to Kubernetes itself or to EKS. Domains of Kubernetes' sister projects do not.
fn is_of_kubernetes_or_eks(domain: &str) -> bool {
    let sisters = is_within(domain, "kops.k8s.io") || domain.ends_with("x-k8s.io");
    let own = ["kubernetes.io", "k8s.io", "eks.amazonaws.com"].iter().any(|other| is_within(domain, other));
    own && !sisters
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, request, silent};
    use rule::settings::{Settings, Target};

    fn pool(requirement: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements:
      - {{key: {requirement}}}
"
        )
    }

    #[test]
    fn fixes_a_well_known_name_in_the_wrong_domain() {
        let wrong = pool("node.kubernetes.io/instance-family, operator: In, values: [m7i, m7a]");
        insta::assert_snapshot!(findings(&super::RULE, &wrong), @r#"
          8 |       - {key: node.kubernetes.io/instance-family, operator: In, values: [m7i, m7a]}
            |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [all]
          Karpenter does not know the label `node.kubernetes.io/instance-family`: the requirement restricts no instance types, and every node just gets the label with one of the values
          help: write `karpenter.k8s.aws/instance-family`
          fix: write the well-known key: "karpenter.k8s.aws/instance-family"
        "#);
        assert_eq!(fixed(&super::RULE, &wrong), wrong.replace("node.kubernetes.io", "karpenter.k8s.aws"));
    }

    #[test]
    fn suggests_the_well_known_key_for_synonyms_and_misspellings() {
        insta::assert_snapshot!(findings(&super::RULE, &pool("eks.amazonaws.com/capacityType, operator: In, values: [SPOT]")), @"
          8 |       - {key: eks.amazonaws.com/capacityType, operator: In, values: [SPOT]}
            |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.requirements[0].key [all]
          Karpenter does not know the label `eks.amazonaws.com/capacityType`: the requirement restricts no instance types, and every node just gets the label with this value
          help: write `karpenter.sh/capacity-type`, with its own values
        ");
        insta::assert_snapshot!(findings(&super::RULE, &pool("topology.kubernetes.io/zones, operator: Exists")), @r#"
          8 |       - {key: topology.kubernetes.io/zones, operator: Exists}
            |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [since 1.9]
          Karpenter does not know the label `topology.kubernetes.io/zones`: the requirement restricts no instance types, and every node just gets the label with a random number (since 1.9)
          help: write `topology.kubernetes.io/zone`
          fix: write the well-known key: "topology.kubernetes.io/zone"
        "#);
    }

    #[test]
    fn ignores_keys_that_the_api_server_refuses_until_1_8() {
        let settings = Settings { karpenter: Target::parse("1.8").unwrap(), ..Settings::default() };
        let text = pool("topology.kubernetes.io/zones, operator: Exists");
        assert_eq!(findings_with(&super::RULE, &text, &settings), "");
        let text = pool("node.kubernetes.io/instance-size, operator: Exists");
        assert!(findings_with(&super::RULE, &text, &settings).contains("[all]"));
    }

    #[test]
    fn reports_node_roles_as_info() {
        let found =
            findings(&super::RULE, &pool("node-role.kubernetes.io/worker, operator: In, values: ['']"));
        assert!(found.contains("info NodePool/a"), "{found}");
        let other = findings(&super::RULE, &pool("kubernetes.io/role, operator: In, values: [web]"));
        assert!(other.contains("warning NodePool/a"), "{other}");
    }

    #[test]
    fn ignores_known_keys_aliases_own_domains_sister_projects_and_auto_mode() {
        for key in [
            "kubernetes.io/arch",
            "beta.kubernetes.io/arch",
            "failure-domain.beta.kubernetes.io/zone",
            "topology.k8s.aws/zone-id",
            "example.com/instance-family",
            "instance-family",
            "cluster.x-k8s.io/cluster-name",
            "kops.k8s.io/instancegroup",
            "karpenter.sh/instance-family",
        ] {
            silent(&super::RULE, &pool(&format!("{key}, operator: Exists")));
        }
        let auto = pool("eks.amazonaws.com/instance-family, operator: Exists");
        assert_ne!(findings(&super::RULE, &auto), "");
        let class =
            "    spec:\n      nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}\n";
        silent(&super::RULE, &auto.replace("    spec:\n", class));
        silent(&super::RULE, &auto.replace("{name: a}", "{name: a, ownerReferences: [{kind: NodePool}]}"));
    }

    #[test]
    fn says_what_an_unknown_key_does() {
        let found = |requirement: &str| {
            findings(&super::RULE, &pool(&format!("node-role.kubernetes.io/{requirement}")))
        };
        for (requirement, effect) in [
            ("web, operator: In, values: [a]", "every node just gets the label with this value"),
            ("web, operator: In, values: [a, b]", "every node just gets the label with one of the values"),
            ("web, operator: Exists", "every node just gets the label with a random number"),
        ] {
            assert!(found(requirement).contains(effect), "{requirement}");
        }
        let absent = found("web, operator: DoesNotExist");
        assert!(!absent.is_empty() && !absent.contains("every node just gets"), "{absent}");
    }

    #[test]
    fn claim_in_a_file_gets_the_fix() {
        let claim = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  requirements: [{key: node.kubernetes.io/instance-family, operator: In, values: [m7i]}]
";
        assert_ne!(fixed(&super::RULE, claim), claim);
    }

    #[test]
    fn update_of_a_pool_gets_the_fix_and_update_of_a_claim_does_not() {
        let pool = pool("node.kubernetes.io/instance-family, operator: In, values: [m7i]");
        assert!(findings(&super::RULE, &request("UPDATE", &pool)).contains("fix: write the well-known key"));
        let claim = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  requirements: [{key: node.kubernetes.io/instance-family, operator: In, values: [m7i]}]
";
        let found = findings(&super::RULE, &request("UPDATE", claim));
        assert!(found.contains("error NodeClaim/a") && !found.contains("fix:"), "{found}");
    }
}
