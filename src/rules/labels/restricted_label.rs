use karpenter::kind::Kind;
use karpenter::labels::{self, LabelField};
use karpenter::release::{ReleaseSet, Releases};
use manifest::edit::Change;
use manifest::tree::Node;
use objects::object::{Object, Operation};
use objects::requirement_holder::RequirementHolder;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks the labels of a NodePool's template and the requirement keys of NodePools, NodeClaims and NodeOverlays
    /// against the domains and keys that Karpenter reserves for itself:
    ///
    /// | key | refused by | releases |
    /// |---|---|---|
    /// | `karpenter.sh/…` except `capacity-type` (and, in NodeClaims and NodeOverlays, `nodepool`) | API server | all |
    /// | `karpenter.k8s.aws/…` except the keys that the release lists | API server | all |
    /// | `kubernetes.io/hostname` | API server | all |
    /// | `…kubernetes.io/…` except the well-known keys, `node.kubernetes.io` and `node-restriction.kubernetes.io` | API server | 1.8 and earlier |
    /// | `…k8s.io/…` except `kops.k8s.io` | API server | 1.8 and earlier |
    /// | `karpenter.k8s.aws/ec2nodeclass` | controller | 1.1 and later |
    /// | template labels `beta.kubernetes.io/…` and `failure-domain.beta.kubernetes.io/…` | controller | 1.8 and earlier |
    ///
    /// The API server compares only the end of a domain and does not require a dot before it: it also refuses
    /// `notkarpenter.sh/x`, and in 1.8 and earlier `mykubernetes.io/x`.
    ///
    /// ## Why it is bad
    ///
    /// If the API server refuses the object, nothing is applied and the NodePool stays as it was: `label domain
    /// "karpenter.sh" is restricted`. If only the controller's validation fails, the object is applied, its status says
    /// `ValidationSucceeded=False`, and Karpenter ignores it: pods stay Pending although the NodePool exists.
    ///
    /// In 1.8 and earlier, the labels `app.kubernetes.io/…` that deployment tools add to every object cause this error
    /// where they reach `spec.template.metadata.labels`. On the NodePool itself they are harmless.
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
    ///         - {key: karpenter.sh/instance-family, operator: In, values: [m7i, m7a]}
    /// ```
    ///
    /// ```yaml,karpenter=1.8
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     metadata:
    ///       labels:
    ///         node-role.kubernetes.io/worker: ""
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,karpenter=1.8
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     metadata:
    ///       labels:
    ///         example.com/role: worker
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7i, m7a]}
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe where a requirement uses a well-known name in the wrong domain or with a typing mistake, and nothing else
    /// can have been meant. Labels are not renamed, because workloads may select them.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2586 (released with 1.9.0) lifted the restriction of the Kubernetes domains
    /// - aws/karpenter-provider-aws#6495, #6618, #5055: refused keys
    /// - hack/validation/labels.sh and requirements.sh, pkg/apis/v1/labels.go and `nodepool_validation.go` of
    ///   kubernetes-sigs/karpenter, v1.0.0 to v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        supersedes: &["api-rule", "api-pattern"],
        summary: "a label or requirement key that Karpenter reserves for itself",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLAIM), On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(holder) = RequirementHolder::of(object) else { return };
    let field = match holder {
        RequirementHolder::Pool(pool) => {
            for (key, member) in pool.node_labels() {
                check_key(object, LabelField::PoolLabel, key, member, findings);
            }
            LabelField::PoolRequirement
        }
        RequirementHolder::Claim(_) => LabelField::ClaimRequirement,
        RequirementHolder::Overlay(_) => LabelField::OverlayRequirement,
    };
    for requirement in holder.requirements().items() {
        if let (Some(node), Some(key)) = (requirement.key_node(), requirement.key()) {
            check_key(object, field, key, node, findings);
        }
    }
}

/// Reports the key once if the API server refuses it, and once if only the controller's validation fails.
fn check_key<'d>(
    object: Object<'d>,
    field: LabelField,
    key: &str,
    node: Node<'d>,
    findings: &mut Vec<Finding<'d>>,
) {
    let kind = object.kind();
    let what = if field == LabelField::PoolLabel { "the label" } else { "the requirement key" };
    let mut refuse = |releases: ReleaseSet, caught_by, message: String| {
        let place = if field == LabelField::PoolLabel { Place::key_of_map(node) } else { Place::value(node) };
        let finding = Finding::new(&RULE, place, message)
            .releases(releases)
            .caught_by(caught_by)
            .help(help(field, key));
        findings.push(match change(object, field, key, node) {
            Some(change) => finding.safe_fix("write the well-known key", change),
            None => finding,
        });
    };
    let at_apply = labels::refused_at_apply(field, key);
    if !at_apply.is_empty() {
        let reason = reason(field, key);
        let message = format!("the API server refuses {what} `{key}`: {reason}{}", at_apply.note());
        refuse(at_apply, CaughtBy::ApiServer, message);
    }
    let at_run_time = labels::refused_at_run_time(field, key);
    if !at_run_time.is_empty() {
        let message = format!(
            "the API server accepts {what} `{key}`, but the controller's validation fails and Karpenter ignores the {kind}{}",
            at_run_time.note()
        );
        refuse(at_run_time, CaughtBy::Controller, message);
    }
}

/// Why the API server refuses a key.
fn reason(field: LabelField, key: &str) -> String {
    match key {
        labels::HOSTNAME => "a node gets its name only when it is created".to_owned(),
        labels::NODEPOOL => "Karpenter sets it itself".to_owned(),
        _ if field == LabelField::OverlayRequirement && !labels::well_known(key).is_empty() => {
            "a NodeOverlay cannot depend on it".to_owned()
        }
        _ if !labels::well_known(key).is_empty() => "these releases do not know the key yet".to_owned(),
        _ => format!("the domain `{}` is restricted", labels::restricted_domain(key).unwrap_or_default()),
    }
}

fn help(field: LabelField, key: &str) -> String {
    let known = labels::well_known(key);
    if matches!(
        key,
        labels::NODEPOOL | labels::NODE_CLASS | "karpenter.sh/registered" | "karpenter.sh/initialized"
    ) {
        return "remove it: Karpenter sets this label on every node".to_owned();
    }
    if key == labels::HOSTNAME {
        return "remove it; to select among nodes, use a label in your own domain".to_owned();
    }
    if labels::normalised(key) != key {
        return format!("write `{}`", labels::normalised(key));
    }
    if field == LabelField::OverlayRequirement && !known.is_empty() {
        return "remove it: Karpenter matches a NodeOverlay against instance types, and decides this only at launch"
            .to_owned();
    }
    if !known.is_empty() {
        return format!("remove it, or use a release that supports it ({known})");
    }
    if let Some(meant) =
        labels::likely_label(key).filter(|meant| labels::refused_at_apply(field, meant.key).is_empty())
    {
        return format!("{}; for a custom label, use your own domain", meant.help());
    }
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let later = if labels::refused_at_apply(field, key).without(Releases::until(8)).is_empty() {
        "; 1.9 and later accept the key as it is"
    } else {
        ""
    };
    format!("use a label in your own domain, such as `example.com/{name}`{later}")
}

fn change<'d>(object: Object<'d>, field: LabelField, key: &str, node: Node<'d>) -> Option<Change<'d>> {
    // The `spec` of a NodeClaim is immutable.
    let is_immutable = field == LabelField::ClaimRequirement && object.operation() == Operation::Update;
    if field == LabelField::PoolLabel || is_immutable || !labels::well_known(key).is_empty() {
        return None;
    }
    let meant = labels::likely_label(key).filter(|meant| meant.is_certain())?;
    let accepted = labels::refused_at_apply(field, meant.key).is_empty();
    accepted.then(|| Change::Set(node, meant.key.to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, request, silent};
    use rule::settings::{Settings, Target};

    /// NodePool with a template label and a requirement key.
    fn pool(label: &str, key: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    metadata:
      labels:
        {label}: x
    spec:
      requirements:
        - key: {key}
          operator: Exists
"
        )
    }

    fn at(release: &str, text: &str) -> String {
        let settings = Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        findings_with(&super::RULE, text, &settings)
    }

    #[test]
    fn reports_the_api_servers_path_and_points_at_the_key() {
        insta::assert_snapshot!(at("1.8", &pool("kubernetes.io/role", "x-k8s.io/a")), @"
          8 |         kubernetes.io/role: x
            |         ^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels [until 1.8]
          the API server refuses the label `kubernetes.io/role`: the domain `kubernetes.io` is restricted (until 1.8)
          help: use a label in your own domain, such as `example.com/role`; 1.9 and later accept the key as it is
         11 |         - key: x-k8s.io/a
            |                ^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [until 1.8]
          the API server refuses the requirement key `x-k8s.io/a`: the domain `k8s.io` is restricted (until 1.8)
          help: use a label in your own domain, such as `example.com/a`; 1.9 and later accept the key as it is
        ");
    }

    #[test]
    fn accepts_kubernetes_domains_since_1_9() {
        silent(&super::RULE, &pool("kubernetes.io/role", "x-k8s.io/a"));
        silent(&super::RULE, &pool("app.kubernetes.io/managed-by", "node-role.kubernetes.io/x"));
    }

    #[test]
    fn reports_keys_that_only_the_controller_refuses() {
        insta::assert_snapshot!(findings(&super::RULE, &pool("a/b", "karpenter.k8s.aws/ec2nodeclass")), @"
         11 |         - key: karpenter.k8s.aws/ec2nodeclass
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [since 1.1]
          the API server accepts the requirement key `karpenter.k8s.aws/ec2nodeclass`, but the controller's validation fails and Karpenter ignores the NodePool (since 1.1)
          help: remove it: Karpenter sets this label on every node
        ");
        insta::assert_snapshot!(at("1.8", &pool("beta.kubernetes.io/arch", "beta.kubernetes.io/os")), @"
          8 |         beta.kubernetes.io/arch: x
            |         ^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels [until 1.8]
          the API server accepts the label `beta.kubernetes.io/arch`, but the controller's validation fails and Karpenter ignores the NodePool (until 1.8)
          help: write `kubernetes.io/arch`
        ");
    }

    #[test]
    fn reports_api_server_and_controller_separately_for_a_range_of_releases() {
        insta::assert_snapshot!(at("1.0..1.14", &pool("a/b", "karpenter.k8s.aws/ec2nodeclass")), @"
         11 |         - key: karpenter.k8s.aws/ec2nodeclass
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [1.0]
          the API server refuses the requirement key `karpenter.k8s.aws/ec2nodeclass`: the domain `karpenter.k8s.aws` is restricted (1.0)
          help: remove it: Karpenter sets this label on every node
         11 |         - key: karpenter.k8s.aws/ec2nodeclass
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [since 1.1]
          the API server accepts the requirement key `karpenter.k8s.aws/ec2nodeclass`, but the controller's validation fails and Karpenter ignores the NodePool (since 1.1)
          help: remove it: Karpenter sets this label on every node
        ");
    }

    #[test]
    fn fixes_a_well_known_name_in_the_wrong_domain() {
        let fixed = |key| fixed(&super::RULE, &pool("a/b", key));
        assert_eq!(fixed("karpenter.sh/instance-size"), pool("a/b", "karpenter.k8s.aws/instance-size"));
        assert_eq!(fixed("karpenter.k8s.aws/capacity-type"), pool("a/b", "karpenter.sh/capacity-type"));
        assert_eq!(fixed("karpenter.k8s.aws/instance-gpu"), pool("a/b", "karpenter.k8s.aws/instance-gpu"));
        assert_eq!(fixed("karpenter.sh/provisioner-name"), pool("a/b", "karpenter.sh/provisioner-name"));
    }

    #[test]
    fn accepts_the_pool_in_a_claim_and_rejects_launch_properties_in_an_overlay() {
        let of = |kind: &str, key: &str| {
            format!(
                r"apiVersion: {kind}
metadata: {{name: a, labels: {{karpenter.sh/x: y}}}}
spec:
  requirements:
  - {{key: {key}, operator: Exists}}
"
            )
        };
        let claim = "karpenter.sh/v1\nkind: NodeClaim";
        let overlay = "karpenter.sh/v1alpha1\nkind: NodeOverlay";
        silent(&super::RULE, &of(claim, "karpenter.sh/nodepool"));
        silent(&super::RULE, &of(overlay, "karpenter.sh/nodepool"));
        silent(&super::RULE, &of(claim, "karpenter.k8s.aws/ec2nodeclass"));
        insta::assert_snapshot!(at("1.0.8", &of(claim, "karpenter.k8s.aws/ec2nodeclass")), @"
          6 |   - {key: karpenter.k8s.aws/ec2nodeclass, operator: Exists}
            |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodeClaim/a spec.requirements[0].key [until 1.0.8]
          the API server refuses the requirement key `karpenter.k8s.aws/ec2nodeclass`: the domain `karpenter.k8s.aws` is restricted (until 1.0.8)
          help: remove it: Karpenter sets this label on every node
        ");
        insta::assert_snapshot!(findings(&super::RULE, &of(overlay, "karpenter.k8s.aws/instance-tenancy")), @"
          6 |   - {key: karpenter.k8s.aws/instance-tenancy, operator: Exists}
            |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodeOverlay/a spec.requirements[0].key [since 1.7]
          the API server refuses the requirement key `karpenter.k8s.aws/instance-tenancy`: a NodeOverlay cannot depend on it (since 1.7)
          help: remove it: Karpenter matches a NodeOverlay against instance types, and decides this only at launch
        ");
    }

    #[test]
    fn gives_the_reason_for_each_key() {
        for (key, reason) in [
            ("kubernetes.io/hostname", "a node gets its name only when it is created"),
            ("karpenter.sh/nodepool", "Karpenter sets it itself"),
            ("karpenter.sh/team", "the domain `karpenter.sh` is restricted"),
        ] {
            assert!(findings(&super::RULE, &pool("a", key)).contains(reason), "{key}");
        }
    }

    #[test]
    fn overlay_cannot_depend_on_a_label_that_is_decided_at_launch() {
        let overlay = r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec:
  requirements: [{key: karpenter.k8s.aws/instance-tenancy, operator: In, values: [default]}]
  price: '1'
";
        let found = at("1.14", overlay);
        assert!(found.contains("a NodeOverlay cannot depend on it"), "{found}");
        assert!(found.contains("decides this only at launch"), "{found}");
        let early = at("1.8", &pool("a", "karpenter.k8s.aws/instance-tenancy"));
        assert!(early.contains("these releases do not know the key yet"), "{early}");
        assert!(early.contains("use a release that supports it (since 1.9)"), "{early}");
    }

    #[test]
    fn renames_keys_of_requirements_but_no_labels() {
        let misspelt = "karpenter.k8s.aws/instance-famly";
        assert!(findings(&super::RULE, &pool("a", misspelt)).contains("fix:"));
        let label = findings(&super::RULE, &pool(misspelt, "a"));
        assert!(!label.is_empty() && !label.contains("fix:"), "{label}");
    }

    #[test]
    fn fixes_a_claim_in_a_file_but_not_its_update() {
        let claim = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  requirements: [{key: karpenter.sh/instance-size, operator: In, values: [large]}]
";
        let fix = "fix: write the well-known key";
        assert!(findings(&super::RULE, claim).contains(fix));
        let update = findings(&super::RULE, &request("UPDATE", claim));
        assert!(update.contains("error NodeClaim/a") && !update.contains("fix:"), "{update}");
        let pool = pool("a/b", "karpenter.sh/instance-size");
        assert!(findings(&super::RULE, &request("UPDATE", &pool)).contains(fix));
    }
}
