use karpenter::labels::{self, LabelField};
use karpenter::release::{ReleaseSet, Releases};
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, NodeSelectorTerm, Pod};
use objects::storage::PersistentVolume;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::fix::rename_label;
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::is_control_plane;
use scheduling::provisionable::is_provisionable;

rule! {
    /// ## What it does
    ///
    /// Checks the label keys in the node selector and the node affinity of pods and pod templates against the keys that
    /// Karpenter restricts, and reports which of two things happens:
    ///
    /// 1. **Karpenter ignores the pod.** While the pod is pending, Karpenter launches no node for it. One restricted
    ///    key in the node selector or in *any* required term is enough, whatever its operator, although Kubernetes
    ///    treats the terms as alternatives. In 1.4 and earlier, a preferred term is enough as well. `matchFields` has
    ///    the same effect.
    /// 2. **The API server refuses the NodeClaim.** Karpenter copies `NotIn` and `DoesNotExist` to the NodeClaim that
    ///    it creates for the pod, and the API server refuses that NodeClaim. Since 1.5 this happens with the heaviest
    ///    preferred term. In every release it happens with the first required term of a pod that already runs and has
    ///    to move, because Karpenter does not validate such pods again. All pods that were to share the node stay
    ///    Pending too.
    ///
    /// A node selector alone does *not* lead to the error `label domain "kubernetes.io" is restricted` on a NodeClaim,
    /// although this is often claimed: `In` and `Exists` never reach a NodeClaim unless a NodePool declares the key.
    ///
    /// ## Why it is bad
    ///
    /// In 1.9 and earlier, an ignored pod leaves a trace only in the debug log (`ignoring pod, label … is restricted`).
    /// The pod is `Pending`, and nothing seems to happen. Since 1.10, Karpenter emits an event. A refused NodeClaim
    /// shows as `creating node claim … is invalid: spec.requirements[3].key … label domain "kubernetes.io" is
    /// restricted`, often during consolidation, and the error comes back until the pod is changed.
    ///
    /// In 1.8 and earlier, the domains `kubernetes.io` and `k8s.io` are restricted, except for the well-known keys,
    /// `node.kubernetes.io`, `node-restriction.kubernetes.io` and `kops.k8s.io`. In every release, `karpenter.sh` and
    /// `karpenter.k8s.aws` are restricted, except for the keys that the release lists. The restriction covers labels
    /// that every Karpenter node has: `karpenter.sh/registered`, `karpenter.sh/initialized` and
    /// `karpenter.k8s.aws/ec2nodeclass`.
    ///
    /// Karpenter also applies the node affinity of a PersistentVolume to the nodes for its pods, so the rule checks it
    /// against the same keys.
    ///
    /// ## What is not reported
    ///
    /// - pods that stay off Karpenter's nodes with `karpenter.sh/nodepool` and `DoesNotExist` (in the first required or
    ///   the heaviest preferred term), and pods that already have a node or use another scheduler;
    /// - pods that select a control plane (`node-role.kubernetes.io/control-plane` and similar keys): Karpenter
    ///   launches no control-plane nodes;
    /// - pods of a DaemonSet: Karpenter launches no node for them. The exception is a DaemonSet that selects
    ///   `karpenter.sh/registered` or `karpenter.sh/initialized` in 1.13 and earlier: Karpenter does not count its
    ///   resources when it sizes a node, and the rule reports that.
    ///
    /// A pod that selects another key of `kubernetes.io` may be meant for nodes that Karpenter does not manage, so the
    /// finding is a warning. The finding is an error if other nodes would do (`NotIn`, `DoesNotExist`, a preference) or
    /// if the key is in one of Karpenter's own domains. `hostname-node-affinity` reports `kubernetes.io/hostname`, and
    /// `legacy-annotations-labels` reports labels of old releases. With `PREFERENCE_POLICY=Ignore` (1.4 and later),
    /// preferred terms do not count.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       nodeSelector:
    ///         karpenter.k8s.aws/ec2nodeclass: default
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ```yaml,karpenter=1.8
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   affinity:
    ///     nodeAffinity:
    ///       preferredDuringSchedulingIgnoredDuringExecution:
    ///         - weight: 1
    ///           preference:
    ///             matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       nodeSelector:
    ///         karpenter.sh/nodepool: default
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe where the key is a well-known name in the wrong domain or with a typing mistake, and nothing else can have
    /// been meant.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8022: the error on a NodeClaim, seen during consolidation
    /// - aws/karpenter-provider-aws#9553, #4671, #6844, #8216; kubernetes-sigs/karpenter#1208, #2230
    /// - kubernetes-sigs/karpenter#2182 (1.5.0): preferred terms are no longer validated
    /// - pkg/controllers/provisioning/provisioner.go (`Validate`) and pkg/scheduling/requirements.go of
    ///   kubernetes-sigs/karpenter, v1.0.0 to v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a pod selects a restricted label, so Karpenter ignores the pod or the API server refuses its NodeClaim",
        runs: Runs::InAdmission,
        on: &[On::Workload, On::Kind(PersistentVolume::KIND)],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

/// Checks the node affinity of a volume. Karpenter applies it to the nodes for the volume's pods: only the first term,
/// and since 1.12.1 any of the terms.
///
/// Source: `getPersistentVolumeRequirements` in pkg/controllers/provisioning/scheduling/volumetopology.go of
/// kubernetes-sigs/karpenter at v1.0.0, v1.9.1 and v1.14.0.
fn check_volume<'d>(volume: PersistentVolume<'d>, findings: &mut Vec<Finding<'d>>) {
    let Some(terms) = volume.node_term_list() else { return };
    let counts = if terms.len() == 1 { Releases::ALL } else { Releases::until(11) };
    let Some(first) = volume.node_terms().next() else { return };
    for expression in first.expressions(ExpressionOrigin::Required { term: 0 }) {
        let key = expression.key;
        let (ignored, refused) = consequences(expression);
        let negative = expression.operator.is_negative();
        let releases = counts.and(if negative { refused } else { ignored });
        let severity = severity(expression).filter(|_| key != labels::HOSTNAME && !releases.is_empty());
        let Some(severity) = severity.map(|severity| if negative { Severity::Error } else { severity })
        else {
            continue;
        };
        let what = if negative {
            "the API server refuses the NodeClaim that Karpenter creates for pods with this volume"
        } else {
            "Karpenter launches no node for pods with this volume"
        };
        let message = format!("{what}: `{key}` is restricted ({releases})");
        let finding = Finding::new(&RULE, expression.place(), message).severity(severity).releases(releases);
        findings.push(finding.help(help(expression)));
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(volume) = PersistentVolume::of(object) {
        check_volume(volume, findings);
    }
    let Some(pod) = Pod::of(object) else { return };
    if pod.is_daemon() {
        pod.expressions().for_each(|expression| findings.extend(daemon_overhead(expression)));
    }
    if !is_provisionable(pod) {
        return;
    }
    let concerns = |expression: &LabelExpression<'d>| {
        expression.key != labels::HOSTNAME && !labels::is_of_old_releases(expression.key)
    };
    for expression in pod.expressions().filter(concerns) {
        check_expression(object, expression, findings);
    }
    check_match_fields(pod, findings);
}

fn check_expression<'d>(
    object: Object<'d>,
    expression: LabelExpression<'d>,
    findings: &mut Vec<Finding<'d>>,
) {
    let key = expression.key;
    let (ignored, refused) = consequences(expression);
    let mut report = |releases: ReleaseSet, severity, message: String| {
        if releases.is_empty() {
            return;
        }
        let finding = Finding::new(&RULE, expression.place(), message).severity(severity).releases(releases);
        let finding = finding.help(help(expression));
        let change = labels::likely_label(key)
            .filter(|meant| meant.is_certain() && labels::well_known(key).is_empty());
        let change = change.and_then(|meant| rename_label(expression, object, meant.key));
        findings.push(match change {
            Some(change) => finding.safe_fix("write the well-known key", change),
            None => finding,
        });
    };
    if let Some(severity) = severity(expression) {
        let moved =
            matches!(expression.origin, ExpressionOrigin::Required { term: 0 }) && refused.meets(&ignored);
        let moved = if moved {
            "; once the pod runs and has to move, the API server refuses its NodeClaim"
        } else {
            ""
        };
        let message = format!(
            "Karpenter launches no node for this pod while it is pending: `{key}` is restricted{}{moved}",
            ignored.note()
        );
        report(ignored.clone(), severity, message);
    }
    let refused = refused.without(&ignored);
    let message = format!(
        "the API server refuses the NodeClaim that Karpenter creates for this pod: `{key}` is restricted in NodeClaims{}",
        refused.note()
    );
    report(refused, Severity::Error, message);
}

/// Releases in which Karpenter ignores the pod, and releases in which the API server refuses its NodeClaim.
fn consequences(expression: LabelExpression<'_>) -> (ReleaseSet, ReleaseSet) {
    let ignored = labels::refused_in_pods(expression.key);
    let claim = labels::refused_at_apply(LabelField::ClaimRequirement, labels::normalised(expression.key));
    let claim = if expression.operator.is_negative() { claim } else { ReleaseSet::none() };
    match expression.origin {
        ExpressionOrigin::NodeSelector => (ignored, ReleaseSet::none()),
        ExpressionOrigin::Required { .. } => (ignored, claim),
        ExpressionOrigin::Preferred { heaviest } => {
            let claim = if heaviest { claim.and(Releases::since(5)) } else { ReleaseSet::none() };
            (ignored.and(Releases::until(4)), claim)
        }
    }
}

/// Severity if Karpenter ignores the pod; `None` if the author wants that.
fn severity(expression: LabelExpression<'_>) -> Option<Severity> {
    let preferred = matches!(expression.origin, ExpressionOrigin::Preferred { .. });
    let negative = expression.operator.is_negative();
    let kubernetes = matches!(labels::restricted_domain(expression.key), Some("kubernetes.io" | "k8s.io"));
    match (kubernetes, negative) {
        _ if preferred => Some(Severity::Error),
        (true, false) if is_control_plane(expression.key) => None,
        (true, false) => Some(Severity::Warning),
        (false, true) if is_set_by_karpenter(expression.key) => Some(Severity::Warning),
        _ => Some(Severity::Error),
    }
}

/// Whether Karpenter sets the label on every node.
fn is_set_by_karpenter(key: &str) -> bool {
    matches!(key, labels::NODE_CLASS | "karpenter.sh/registered" | "karpenter.sh/initialized")
}

fn help(expression: LabelExpression<'_>) -> String {
    let key = expression.key;
    let known = labels::well_known(key);
    if is_set_by_karpenter(key) && expression.operator.is_negative() {
        return format!(
            "to keep the pod off Karpenter's nodes, write `{}` with the operator `DoesNotExist`",
            labels::NODEPOOL
        );
    }
    if is_set_by_karpenter(key) {
        return format!("select `{}`, or a custom label that the NodePool sets", labels::NODEPOOL);
    }
    if !known.is_empty() {
        return format!("remove it, or use a release that supports it ({known})");
    }
    if let Some(meant) = labels::likely_label(key).filter(|meant| meant.key != labels::NODEPOOL) {
        return format!("{}; for a custom label, use your own domain", meant.help());
    }
    if is_control_plane(key) {
        return "remove it: control-plane nodes have a taint that keeps pods off, and EKS has no such nodes; 1.9 and later accept it"
            .to_owned();
    }
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let later = if labels::refused_in_pods(key).meets(Releases::since(9)) {
        ""
    } else if expression.operator.is_negative() {
        "; 1.9 and later accept the key as it is"
    } else {
        "; 1.9 and later accept the key if a NodePool sets it"
    };
    let set = if expression.operator.is_negative() { "" } else { ", and set it on the NodePool" };
    format!("use a label in your own domain, such as `example.com/{name}`{set}{later}")
}

/// Reports a DaemonSet that selects a label which Karpenter does not expect on a new node.
fn daemon_overhead(expression: LabelExpression<'_>) -> Option<Finding<'_>> {
    let is_hard = !matches!(expression.origin, ExpressionOrigin::Preferred { .. });
    let is_lifecycle_label = matches!(expression.key, "karpenter.sh/registered" | "karpenter.sh/initialized");
    if !is_hard || !is_lifecycle_label || expression.operator.is_negative() {
        return None;
    }
    // Since 1.14.0 the simulation sets both labels. Source:
    // pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go.
    let releases = Releases::until(13);
    let message = format!(
        "Karpenter does not count these pods when it sizes a node: it does not expect `{}` on a new node ({releases})",
        expression.key
    );
    let finding =
        Finding::new(&RULE, expression.place(), message).severity(Severity::Warning).releases(releases);
    let help =
        format!("select `{}` with the operator `Exists` in a required node affinity", labels::NODEPOOL);
    Some(finding.caught_by(CaughtBy::Nobody).help(help))
}

/// Reports `matchFields`: the only field is the node's name, which a new node does not have yet.
fn check_match_fields<'d>(pod: Pod<'d>, findings: &mut Vec<Finding<'d>>) {
    for term in pod.spec().required_terms() {
        findings.extend(unread_fields(term, Releases::ALL, Severity::Warning));
    }
    for term in pod.spec().preferred_terms() {
        findings.extend(unread_fields(term.preference, Releases::until(4), Severity::Error));
    }
}

fn unread_fields(term: NodeSelectorTerm<'_>, releases: Releases, severity: Severity) -> Option<Finding<'_>> {
    let fields = term.match_fields().node().filter(|fields| fields.is_sequence())?;
    let pinned = term.match_fields().items().all(|item| item.operator_text() == Some("In"));
    let severity = if pinned { severity } else { Severity::Error };
    let message = format!(
        "Karpenter launches no node for this pod while it is pending: Karpenter does not read `matchFields`{}",
        releases.set().note()
    );
    let help = "remove the field; for pods that belong to a particular node, use a DaemonSet";
    Some(Finding::new(&RULE, Place::key(fields), message).severity(severity).releases(releases).help(help))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use rule::settings::{Settings, Target};

    #[test]
    fn checks_the_node_affinity_of_a_volume() {
        let volume = |terms: &str| {
            format!(
                r"apiVersion: v1
kind: PersistentVolume
metadata: {{name: a}}
spec:
  nodeAffinity: {{required: {{nodeSelectorTerms: [{terms}]}}}}
"
            )
        };
        let term = |key: &str, operator: &str| {
            format!("{{matchExpressions: [{{key: {key}, operator: {operator}, values: [a]}}]}}")
        };
        insta::assert_snapshot!(findings(&super::RULE, &volume(&term("karpenter.sh/team", "In"))), @"
          5 |   nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/team, operator: In, values: [a]}]}]}}
            |                                                                           ^^^^^^^^^^^^^^^^^
        error PersistentVolume/a spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key [all]
          Karpenter launches no node for pods with this volume: `karpenter.sh/team` is restricted (all)
          help: use a label in your own domain, such as `example.com/team`, and set it on the NodePool
        ");
        let at_1_8 = Settings { karpenter: Target::parse("1.8").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &volume(&term("kubernetes.io/role", "NotIn")), &at_1_8), @"
          5 |   nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/role, operator: NotIn, values: [a]}]}]}}
            |                                                                           ^^^^^^^^^^^^^^^^^^
        error PersistentVolume/a spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key [until 1.8]
          the API server refuses the NodeClaim that Karpenter creates for pods with this volume: `kubernetes.io/role` is restricted (until 1.8)
          help: use a label in your own domain, such as `example.com/role`; 1.9 and later accept the key as it is
        ");
        silent(&super::RULE, &volume(&term("topology.kubernetes.io/zone", "In")));
        silent(&super::RULE, &volume(&term("kubernetes.io/hostname", "In")));
        silent(
            &super::RULE,
            &volume(&format!(
                "{}, {}",
                term("karpenter.sh/team", "In"),
                term("topology.kubernetes.io/zone", "In")
            )),
        );
    }

    fn at(release: &str, text: &str) -> String {
        let settings = Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        findings_with(&super::RULE, text, &settings)
    }

    fn silent_at(release: &str, text: &str) {
        assert_eq!(at(release, text), "", "{text}");
    }

    /// Deployment whose pods have these fields in their `spec`.
    fn deployment(spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec:
  template:
    spec:
      containers: []
      {spec}
"
        )
    }

    fn selector(key: &str) -> String {
        deployment(&format!("nodeSelector: {{{key}: x}}"))
    }

    fn required(key: &str, operator: &str) -> String {
        deployment(&format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [\n        {{matchExpressions: [{{key: {key}, operator: {operator}, values: []}}]}}]}}}}}}"
        ))
    }

    fn preferred(key: &str, operator: &str) -> String {
        deployment(&format!(
            "affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [\n        {{weight: 9, preference: {{matchExpressions: [{{key: {key}, operator: {operator}}}]}}}}]}}}}"
        ))
    }

    const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

    #[test]
    fn only_warns_about_kubernetes_keys_in_a_node_selector() {
        insta::assert_snapshot!(at("1.8", &selector("node-role.kubernetes.io/spot-worker")), @"
          8 |       nodeSelector: {node-role.kubernetes.io/spot-worker: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/a spec.template.spec.nodeSelector [until 1.8]
          Karpenter launches no node for this pod while it is pending: `node-role.kubernetes.io/spot-worker` is restricted (until 1.8)
          help: use a label in your own domain, such as `example.com/spot-worker`, and set it on the NodePool; 1.9 and later accept the key if a NodePool sets it
        ");
        silent(&super::RULE, &selector("node-role.kubernetes.io/spot-worker"));
    }

    #[test]
    fn required_control_plane_opt_out_blocks_the_pod_and_its_claim_until_1_8() {
        insta::assert_snapshot!(at("1.8", &required(CONTROL_PLANE, "DoesNotExist")), @"
          9 |         {matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist, values: []}]}]}}}
            |                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [until 1.8]
          Karpenter launches no node for this pod while it is pending: `node-role.kubernetes.io/control-plane` is restricted (until 1.8); once the pod runs and has to move, the API server refuses its NodeClaim
          help: remove it: control-plane nodes have a taint that keeps pods off, and EKS has no such nodes; 1.9 and later accept it
        ");
        silent(&super::RULE, &required(CONTROL_PLANE, "DoesNotExist"));
    }

    #[test]
    fn preferred_control_plane_opt_out_blocks_the_pod_until_1_4_and_its_claim_since_1_5() {
        insta::assert_snapshot!(at("1.0..1.14", &preferred(CONTROL_PLANE, "DoesNotExist")), @"
          9 |         {weight: 9, preference: {matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]}}]}}
            |                                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [until 1.4]
          Karpenter launches no node for this pod while it is pending: `node-role.kubernetes.io/control-plane` is restricted (until 1.4)
          help: remove it: control-plane nodes have a taint that keeps pods off, and EKS has no such nodes; 1.9 and later accept it
          9 |         {weight: 9, preference: {matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]}}]}}
            |                                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [1.5 to 1.8]
          the API server refuses the NodeClaim that Karpenter creates for this pod: `node-role.kubernetes.io/control-plane` is restricted in NodeClaims (1.5 to 1.8)
          help: remove it: control-plane nodes have a taint that keeps pods off, and EKS has no such nodes; 1.9 and later accept it
        ");
        silent(&super::RULE, &preferred(CONTROL_PLANE, "NotIn"));
    }

    #[test]
    fn preferred_kubernetes_keys_block_the_pod_until_1_4() {
        for key in [CONTROL_PLANE, "node-role.kubernetes.io/spot-worker"] {
            let found = at("1.4", &preferred(key, "Exists"));
            assert!(found.contains("error Deployment/a"), "{key}: {found}");
        }
    }

    #[test]
    fn labels_set_by_karpenter_block_the_pod_in_every_release() {
        insta::assert_snapshot!(findings(&super::RULE, &selector("karpenter.sh/registered")), @"
          8 |       nodeSelector: {karpenter.sh/registered: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.nodeSelector [all]
          Karpenter launches no node for this pod while it is pending: `karpenter.sh/registered` is restricted
          help: select `karpenter.sh/nodepool`, or a custom label that the NodePool sets
        ");
        insta::assert_snapshot!(findings(&super::RULE, &required("karpenter.sh/initialized", "DoesNotExist")), @"
          9 |         {matchExpressions: [{key: karpenter.sh/initialized, operator: DoesNotExist, values: []}]}]}}}
            |                                   ^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [all]
          Karpenter launches no node for this pod while it is pending: `karpenter.sh/initialized` is restricted; once the pod runs and has to move, the API server refuses its NodeClaim
          help: to keep the pod off Karpenter's nodes, write `karpenter.sh/nodepool` with the operator `DoesNotExist`
        ");
        insta::assert_snapshot!(findings(&super::RULE, &preferred("karpenter.sh/x", "NotIn")), @"
          9 |         {weight: 9, preference: {matchExpressions: [{key: karpenter.sh/x, operator: NotIn}]}}]}}
            |                                                           ^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [since 1.5]
          the API server refuses the NodeClaim that Karpenter creates for this pod: `karpenter.sh/x` is restricted in NodeClaims (since 1.5)
          help: use a label in your own domain, such as `example.com/x`
        ");
    }

    #[test]
    fn checks_every_required_term() {
        let text = deployment(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n        {matchExpressions: [{key: example.com/x, operator: Exists}]},\n        {matchExpressions: [{key: karpenter.sh/x, operator: NotIn, values: [y]}]}]}}}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |         {matchExpressions: [{key: karpenter.sh/x, operator: NotIn, values: [y]}]}]}}}
            |                                   ^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[0].key [all]
          Karpenter launches no node for this pod while it is pending: `karpenter.sh/x` is restricted
          help: use a label in your own domain, such as `example.com/x`
        ");
    }

    #[test]
    fn checks_only_the_heaviest_preference_since_1_5() {
        let text = deployment(
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [\n        {weight: 1, preference: {matchExpressions: [{key: karpenter.sh/x, operator: DoesNotExist}]}},\n        {weight: 2, preference: {matchExpressions: [{key: example.com/x, operator: Exists}]}}]}}",
        );
        silent(&super::RULE, &text);
        assert_ne!(at("1.4", &text), "");
    }

    #[test]
    fn ignores_pods_with_the_supported_opt_out() {
        silent(&super::RULE, &required("karpenter.sh/nodepool", "DoesNotExist"));
        let both = required("karpenter.sh/nodepool", "DoesNotExist")
            + "      nodeSelector: {karpenter.sh/registered: 'true'}\n";
        silent(&super::RULE, &both);
    }

    #[test]
    fn accepts_well_known_keys_aliases_and_custom_keys_in_every_release() {
        for key in [
            "karpenter.sh/nodepool",
            "karpenter.sh/capacity-type",
            "topology.kubernetes.io/zone",
            "topology.k8s.aws/zone-id",
            "topology.ebs.csi.aws.com/zone",
            "failure-domain.beta.kubernetes.io/zone",
            "beta.kubernetes.io/os",
            "kubernetes.io/arch",
            "karpenter.k8s.aws/instance-cpu",
            "node.kubernetes.io/lifecycle",
            "node-restriction.kubernetes.io/team",
            "example.com/team",
            "team",
        ] {
            for text in [selector(key), required(key, "NotIn"), preferred(key, "DoesNotExist")] {
                silent_at("1.0..1.14", &text);
            }
        }
    }

    #[test]
    fn ignores_pods_that_select_a_control_plane() {
        silent_at("1.0..1.14", &selector(CONTROL_PLANE));
        silent_at("1.0..1.14", &required("node-role.kubernetes.io/master", "Exists"));
    }

    #[test]
    fn ignores_pods_that_karpenter_does_not_schedule() {
        let own = |more: &str| selector("karpenter.sh/registered") + "      " + more + "\n";
        silent(&super::RULE, &own("schedulerName: volcano"));
        silent(&super::RULE, &own("nodeName: ip-10-0-0-1"));
        assert_ne!(findings(&super::RULE, &own("schedulerName: default-scheduler")), "");
        let daemon = selector("node-role.kubernetes.io/x").replace("Deployment", "DaemonSet");
        silent_at("1.0..1.14", &daemon);
        let owned = r"apiVersion: v1
kind: Pod
metadata: {name: a, ownerReferences: [{kind: DaemonSet, name: b}]}
spec: {containers: [], nodeSelector: {karpenter.k8s.aws/ec2nodeclass: a}}
";
        silent(&super::RULE, owned);
    }

    #[test]
    fn reports_daemon_sets_that_karpenter_does_not_count_until_1_13() {
        let daemon = selector("karpenter.sh/registered").replace("Deployment", "DaemonSet");
        silent(&super::RULE, &daemon);
        insta::assert_snapshot!(at("1.13", &daemon), @"
          8 |       nodeSelector: {karpenter.sh/registered: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^
        warning DaemonSet/a spec.template.spec.nodeSelector [until 1.13]
          Karpenter does not count these pods when it sizes a node: it does not expect `karpenter.sh/registered` on a new node (until 1.13)
          help: select `karpenter.sh/nodepool` with the operator `Exists` in a required node affinity
        ");
    }

    #[test]
    fn leaves_hostnames_and_old_labels_to_other_rules() {
        silent(&super::RULE, &selector("kubernetes.io/hostname"));
        silent(&super::RULE, &selector("karpenter.sh/provisioner-name"));
    }

    #[test]
    fn reports_match_fields() {
        let text = deployment(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n        {matchFields: [{key: metadata.name, operator: In, values: [ip-10-0-0-1]}]}]}}}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |         {matchFields: [{key: metadata.name, operator: In, values: [ip-10-0-0-1]}]}]}}}
            |          ^^^^^^^^^^^
        warning Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields [all]
          Karpenter launches no node for this pod while it is pending: Karpenter does not read `matchFields`
          help: remove the field; for pods that belong to a particular node, use a DaemonSet
        ");
    }

    #[test]
    fn fixes_a_well_known_name_in_the_wrong_domain() {
        let wrong = selector("karpenter.k8s.aws/capacity-type");
        assert_eq!(fixed(&super::RULE, &wrong), selector("karpenter.sh/capacity-type"));
        let taken = deployment(
            "nodeSelector: {karpenter.k8s.aws/capacity-type: spot, karpenter.sh/capacity-type: spot}",
        );
        assert_eq!(fixed(&super::RULE, &taken), taken);
    }

    #[test]
    fn suggests_a_label_with_other_values_without_a_fix() {
        let text = selector("karpenter.sh/lifecycle");
        let help = "write `karpenter.sh/capacity-type`, with its own values; for a custom label, use your own domain";
        assert!(findings(&super::RULE, &text).contains(help));
        assert_eq!(fixed(&super::RULE, &text), text);
    }

    #[test]
    fn names_the_releases_that_support_the_key() {
        insta::assert_snapshot!(at("1.8", &selector("karpenter.k8s.aws/instance-tenancy")), @"
          8 |       nodeSelector: {karpenter.k8s.aws/instance-tenancy: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.nodeSelector [until 1.8]
          Karpenter launches no node for this pod while it is pending: `karpenter.k8s.aws/instance-tenancy` is restricted (until 1.8)
          help: remove it, or use a release that supports it (since 1.9)
        ");
    }
}
