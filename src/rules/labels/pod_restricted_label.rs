use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::labels::{self, Field};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::fix::rename_label;
use lint::rule::{Fixes, On};
use scheduling::elsewhere::is_control_plane;
use scheduling::pod::{Expression, Origin, Pod, expressions_of};

rule! {
    /// ## What it does
    ///
    /// Checks the label keys in the node selector and the node affinity of pods and pod templates against those that
    /// Karpenter keeps for itself, and says which of two things happens:
    ///
    /// 1. **The pod is passed over.** While it waits, no node is made for it. Any restricted key in the node selector or in
    ///    *any* required term is enough, whatever its operator, although Kubernetes takes the terms as alternatives;
    ///    up to 1.4 a preferred term is enough as well. So are `matchFields`.
    /// 2. **The NodeClaim is refused.** `NotIn` and `DoesNotExist` reach the NodeClaim that is made for the pod, and the
    ///    API server refuses it: from 1.5 on by the heaviest preferred term, and in every release by the first required
    ///    term of a pod that already runs and has to move, because such pods are not looked at again. All pods that
    ///    were to share the node wait with it.
    ///
    /// A node selector alone does *not* lead to the error `label domain "kubernetes.io" is restricted` on a NodeClaim,
    /// although this is often written: `In` and `Exists` never reach a NodeClaim unless a pool declares the key.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.9 a pod that is passed over leaves a trace only in the debug log (`ignoring pod, label … is restricted`);
    /// it is `Pending`, and nothing seems to happen. From 1.10 on an event tells. A refused NodeClaim shows as `creating
    /// node claim … is invalid: spec.requirements[3].key … label domain "kubernetes.io" is restricted`, often while nodes
    /// are consolidated, and comes back until the pod is changed.
    ///
    /// The domains `kubernetes.io` and `k8s.io` are restricted up to 1.8 (all but the well-known keys,
    /// `node.kubernetes.io`, `node-restriction.kubernetes.io` and `kops.k8s.io`), `karpenter.sh` and `karpenter.k8s.aws`
    /// beyond the release's list always. That covers labels which every node of Karpenter carries:
    /// `karpenter.sh/registered`, `karpenter.sh/initialized` and `karpenter.k8s.aws/ec2nodeclass`.
    ///
    /// The node affinity of a PersistentVolume is asked of the nodes for its pods, and is held against the same keys.
    ///
    /// ## What is not reported
    ///
    /// - pods that say they stay off Karpenter's nodes with `karpenter.sh/nodepool` and `DoesNotExist` (in the first
    ///   required or the heaviest preferred term), that have a node or another scheduler;
    /// - pods that ask for a control plane (`node-role.kubernetes.io/control-plane` and its like): Karpenter makes none;
    /// - pods of a DaemonSet, for which no node is made. Only where one selects `karpenter.sh/registered` or
    ///   `karpenter.sh/initialized` up to 1.13, the room it takes is not counted, and that is said.
    ///
    /// A pod that selects another key of `kubernetes.io` may be meant for nodes that Karpenter does not make; that is a
    /// warning. It is an error where other nodes would do (`NotIn`, `DoesNotExist`, a preference) and where the key is of
    /// Karpenter's own domains. `kubernetes.io/hostname` is the matter of `hostname-node-affinity`, and names of old
    /// releases that of `legacy-annotations-labels`. With `PREFERENCE_POLICY=Ignore` (1.4 and later) preferred terms do
    /// not count.
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
    /// Safe where the key names a well-known thing in the wrong domain or with a slip of the pen, and nothing else can have
    /// been meant.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8022: the error on a NodeClaim, met while nodes are consolidated
    /// - aws/karpenter-provider-aws#9553, #4671, #6844, #8216; kubernetes-sigs/karpenter#1208, #2230
    /// - kubernetes-sigs/karpenter#2182 (1.5.0): preferred terms are no longer validated
    /// - pkg/controllers/provisioning/provisioner.go (`Validate`) and pkg/scheduling/requirements.go of
    ///   kubernetes-sigs/karpenter, v1.0.0 to v1.14.0
    RULE {
        name: "pod-restricted-label",
        family: Family::Labels,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a pod selects nodes by a label that Karpenter refuses, and gets no node or breaks one",
        on: &[On::Workload, On::Kind(PERSISTENT_VOLUME)],
        inventory: &[],
        check: check,
    }
}

const PERSISTENT_VOLUME: Kind = Kind::of("", "v1", "PersistentVolume");

/// The node affinity of a volume is asked of the nodes for its pods: by its first term, and from 1.12.1 on by any of them.
///
/// Source: `getPersistentVolumeRequirements` in pkg/controllers/provisioning/scheduling/volumetopology.go of
/// kubernetes-sigs/karpenter at v1.0.0, v1.9.1 and v1.14.0.
fn volume<'d>(object: Object<'d>, drafts: &mut Vec<Draft<'d>>) {
    let Some(terms) = object.at(&["spec", "nodeAffinity", "required", "nodeSelectorTerms"]) else { return };
    let counts = if terms.len() == 1 { Releases::ALL } else { Releases::until(11) };
    let Some(first) = terms.items().next() else { return };
    for expression in expressions_of(first, Origin::Required { term: 0 }) {
        let key = expression.key;
        let (unknown, refused) = consequences(expression);
        let negative = expression.operator.is_negative();
        let releases = counts.and(if negative { refused } else { unknown });
        let severity = severity(expression).filter(|_| key != labels::HOSTNAME && !releases.is_empty());
        let Some(severity) = severity.map(|severity| if negative { Severity::Error } else { severity }) else { continue };
        let what = if negative {
            "the NodeClaim that Karpenter makes for pods with this volume is refused by the API server"
        } else {
            "Karpenter makes no node for pods with this volume"
        };
        let message = format!("{what}: `{key}` is restricted ({releases})");
        let draft = Draft::new(&RULE, Place::of_expression(expression), message).severity(severity).releases(releases);
        drafts.push(draft.help(help(expression)));
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if object.is(PERSISTENT_VOLUME) {
        volume(object, drafts);
    }
    let Some(pod) = Pod::of(object) else { return };
    if pod.is_daemon() {
        pod.expressions().for_each(|expression| drafts.extend(overhead(expression)));
    }
    if !pod.may_ask_for_a_node() {
        return;
    }
    let concerns = |expression: &Expression<'d>| {
        expression.key != labels::HOSTNAME && !labels::is_of_old_releases(expression.key)
    };
    for expression in pod.expressions().filter(concerns) {
        judge(object, expression, drafts);
    }
    match_fields(pod, drafts);
}

fn judge<'d>(object: Object<'d>, expression: Expression<'d>, drafts: &mut Vec<Draft<'d>>) {
    let key = expression.key;
    let (passed_over, refused) = consequences(expression);
    let mut report = |releases: Releases, severity, message: String| {
        if releases.is_empty() {
            return;
        }
        let draft = Draft::new(&RULE, Place::of_expression(expression), message).severity(severity).releases(releases);
        let draft = draft.help(help(expression));
        let change = labels::meant(key).filter(|meant| meant.is_certain() && labels::well_known(key).is_empty());
        let change = change.and_then(|meant| rename_label(expression, object, meant.key));
        drafts.push(match change {
            Some(change) => draft.mend("write the well-known key", change),
            None => draft,
        });
    };
    if let Some(severity) = severity(expression) {
        let moved = matches!(expression.origin, Origin::Required { term: 0 }) && refused.meets(passed_over);
        let moved = if moved { "; once it runs and has to move, the NodeClaim made for it is refused" } else { "" };
        let message = format!("Karpenter makes no node for this pod while it waits: `{key}` is restricted ({passed_over}){moved}");
        report(passed_over, severity, message);
    }
    let refused = refused.without(passed_over);
    let message = format!(
        "the NodeClaim that Karpenter makes for this pod is refused by the API server: `{key}` is restricted there ({refused})"
    );
    report(refused, Severity::Error, message);
}

/// The releases in which the pod is passed over, and those in which a NodeClaim made for it is refused.
fn consequences(expression: Expression<'_>) -> (Releases, Releases) {
    let passed_over = labels::refused_in_pods(expression.key);
    let claim = labels::refused_at_apply(Field::ClaimRequirement, labels::normalised(expression.key));
    let claim = if expression.operator.is_negative() { claim } else { Releases::NONE };
    match expression.origin {
        Origin::NodeSelector => (passed_over, Releases::NONE),
        Origin::Required { .. } => (passed_over, claim),
        Origin::Preferred { heaviest } => {
            let claim = if heaviest { claim.and(Releases::since(5)) } else { Releases::NONE };
            (passed_over.and(Releases::until(4)), claim)
        }
    }
}

/// How bad it is that the pod is passed over; nothing where that is what the author wants.
fn severity(expression: Expression<'_>) -> Option<Severity> {
    let preferred = matches!(expression.origin, Origin::Preferred { .. });
    let negative = expression.operator.is_negative();
    let kubernetes = matches!(labels::restricted_domain(expression.key), Some("kubernetes.io" | "k8s.io"));
    match (kubernetes, negative) {
        _ if preferred => Some(Severity::Error),
        (true, false) if is_control_plane(expression.key) => None,
        (true, false) => Some(Severity::Warning),
        (false, true) if is_mark(expression.key) => Some(Severity::Warning),
        _ => Some(Severity::Error),
    }
}

/// Labels by which Karpenter marks each of its nodes.
fn is_mark(key: &str) -> bool {
    matches!(key, labels::NODE_CLASS | "karpenter.sh/registered" | "karpenter.sh/initialized")
}

fn help(expression: Expression<'_>) -> String {
    let key = expression.key;
    let known = labels::well_known(key);
    if is_mark(key) && expression.operator.is_negative() {
        return format!("to stay off Karpenter's nodes, write `{}` with the operator `DoesNotExist`", labels::NODEPOOL);
    }
    if is_mark(key) {
        return format!("select `{}`, or a label of your own that the NodePool sets", labels::NODEPOOL);
    }
    if !known.is_empty() {
        return format!("remove it, or use a release that knows it ({known})");
    }
    if let Some(meant) = labels::meant(key).filter(|meant| meant.key != labels::NODEPOOL) {
        return format!("{}; for a label of your own, use a domain of your own", meant.help());
    }
    if is_control_plane(key) {
        return "remove it: the taint of control-plane nodes keeps pods off them, and EKS has none; 1.9 and later accept it"
            .to_owned();
    }
    let name = key.rsplit('/').next().unwrap_or_default();
    let later = if labels::refused_in_pods(key).meets(Releases::since(9)) {
        ""
    } else if expression.operator.is_negative() {
        "; 1.9 and later accept the key as it is"
    } else {
        "; 1.9 and later accept the key where a NodePool sets it"
    };
    let set = if expression.operator.is_negative() { "" } else { ", and set it on the NodePool" };
    format!("use a label in a domain of your own, such as `example.com/{name}`{set}{later}")
}

/// A DaemonSet that selects what a node to come is not known to carry.
fn overhead(expression: Expression<'_>) -> Option<Draft<'_>> {
    let is_hard = !matches!(expression.origin, Origin::Preferred { .. });
    let is_mark = matches!(expression.key, "karpenter.sh/registered" | "karpenter.sh/initialized");
    if !is_hard || !is_mark || expression.operator.is_negative() {
        return None;
    }
    // C: pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go sets both labels for the simulation from 1.14.0.
    let releases = Releases::until(13);
    let message = format!(
        "Karpenter does not count these pods when it sizes a node: `{}` is no label that it expects there ({releases})",
        expression.key
    );
    let draft = Draft::new(&RULE, Place::of_expression(expression), message).severity(Severity::Warning).releases(releases);
    let help = format!("select `{}` with the operator `Exists` in a required node affinity", labels::NODEPOOL);
    Some(draft.caught_by(CaughtBy::Nobody).help(help))
}

/// Terms by field: there is only the node's name, which a node to come does not have.
fn match_fields<'d>(pod: Pod<'d>, drafts: &mut Vec<Draft<'d>>) {
    for term in pod.required_terms() {
        drafts.extend(unread_fields(term, Releases::ALL, Severity::Warning));
    }
    for (term, _) in pod.preferred_terms() {
        drafts.extend(unread_fields(term, Releases::until(4), Severity::Error));
    }
}

fn unread_fields(term: Node<'_>, releases: Releases, severity: Severity) -> Option<Draft<'_>> {
    let fields = term.get("matchFields").filter(|fields| fields.is_sequence())?;
    let pinned = fields.items().all(|item| item.str_at(&["operator"]) == Some("In"));
    let severity = if pinned { severity } else { Severity::Error };
    let message = format!("Karpenter makes no node for this pod while it waits: it does not read `matchFields` ({releases})");
    let help = "remove the field; a pod that belongs to one machine is best left to a DaemonSet";
    Some(Draft::new(&RULE, Place::key(fields), message).severity(severity).releases(releases).help(help))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use lint::settings::{Settings, Target};

    #[test]
    fn the_affinity_of_a_volume_is_asked_of_its_pods_nodes() {
        let volume = |terms: &str| format!("apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: a}}\nspec:\n  nodeAffinity: {{required: {{nodeSelectorTerms: [{terms}]}}}}\n");
        let term = |key: &str, operator: &str| format!("{{matchExpressions: [{{key: {key}, operator: {operator}, values: [a]}}]}}");
        insta::assert_snapshot!(findings(&super::RULE, &volume(&term("karpenter.sh/team", "In"))), @"
          5 |   nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/team, operator: In, values: [a]}]}]}}
            |                                                                           ^^^^^^^^^^^^^^^^^
        error PersistentVolume/a spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key [1.0-1.14]
          Karpenter makes no node for pods with this volume: `karpenter.sh/team` is restricted (1.0-1.14)
          help: use a label in a domain of your own, such as `example.com/team`, and set it on the NodePool
        ");
        let at_1_8 = Settings { karpenter: Target::parse("1.8").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &volume(&term("kubernetes.io/role", "NotIn")), &at_1_8), @"
          5 |   nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/role, operator: NotIn, values: [a]}]}]}}
            |                                                                           ^^^^^^^^^^^^^^^^^^
        error PersistentVolume/a spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key [1.0-1.8]
          the NodeClaim that Karpenter makes for pods with this volume is refused by the API server: `kubernetes.io/role` is restricted (1.0-1.8)
          help: use a label in a domain of your own, such as `example.com/role`; 1.9 and later accept the key as it is
        ");
        silent(&super::RULE, &volume(&term("topology.kubernetes.io/zone", "In")));
        silent(&super::RULE, &volume(&term("kubernetes.io/hostname", "In")));
        silent(&super::RULE, &volume(&format!("{}, {}", term("karpenter.sh/team", "In"), term("topology.kubernetes.io/zone", "In"))));
    }

    fn at(release: &str, text: &str) -> String {
        let settings = Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        findings_with(&super::RULE, text, &settings)
    }

    fn silent_at(release: &str, text: &str) {
        assert_eq!(at(release, text), "", "{text}");
    }

    /// A Deployment whose pods ask for this in their specification.
    fn deployment(asks: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      containers: []\n      {asks}\n"
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
    fn a_selector_on_a_key_of_kubernetes_may_mean_other_nodes_and_no_claim_is_refused() {
        insta::assert_snapshot!(at("1.8", &selector("node-role.kubernetes.io/spot-worker")), @"
          8 |       nodeSelector: {node-role.kubernetes.io/spot-worker: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/a spec.template.spec.nodeSelector [1.0-1.8]
          Karpenter makes no node for this pod while it waits: `node-role.kubernetes.io/spot-worker` is restricted (1.0-1.8)
          help: use a label in a domain of your own, such as `example.com/spot-worker`, and set it on the NodePool; 1.9 and later accept the key where a NodePool sets it
        ");
        silent(&super::RULE, &selector("node-role.kubernetes.io/spot-worker"));
    }

    #[test]
    fn a_required_opt_out_of_the_control_plane_is_passed_over_and_breaks_a_claim_later_up_to_1_8() {
        insta::assert_snapshot!(at("1.8", &required(CONTROL_PLANE, "DoesNotExist")), @"
          9 |         {matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist, values: []}]}]}}}
            |                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [1.0-1.8]
          Karpenter makes no node for this pod while it waits: `node-role.kubernetes.io/control-plane` is restricted (1.0-1.8); once it runs and has to move, the NodeClaim made for it is refused
          help: remove it: the taint of control-plane nodes keeps pods off them, and EKS has none; 1.9 and later accept it
        ");
        silent(&super::RULE, &required(CONTROL_PLANE, "DoesNotExist"));
    }

    #[test]
    fn a_preferred_opt_out_changes_from_passed_over_to_refused_with_1_5() {
        insta::assert_snapshot!(at("1.0..1.14", &preferred(CONTROL_PLANE, "DoesNotExist")), @"
          9 |         {weight: 9, preference: {matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]}}]}}
            |                                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [1.0-1.4]
          Karpenter makes no node for this pod while it waits: `node-role.kubernetes.io/control-plane` is restricted (1.0-1.4)
          help: remove it: the taint of control-plane nodes keeps pods off them, and EKS has none; 1.9 and later accept it
          9 |         {weight: 9, preference: {matchExpressions: [{key: node-role.kubernetes.io/control-plane, operator: DoesNotExist}]}}]}}
            |                                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [1.5-1.8]
          the NodeClaim that Karpenter makes for this pod is refused by the API server: `node-role.kubernetes.io/control-plane` is restricted there (1.5-1.8)
          help: remove it: the taint of control-plane nodes keeps pods off them, and EKS has none; 1.9 and later accept it
        ");
        silent(&super::RULE, &preferred(CONTROL_PLANE, "NotIn"));
    }

    #[test]
    fn karpenters_own_marks_stop_pods_in_every_release() {
        insta::assert_snapshot!(findings(&super::RULE, &selector("karpenter.sh/registered")), @"
          8 |       nodeSelector: {karpenter.sh/registered: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.nodeSelector [1.0-1.14]
          Karpenter makes no node for this pod while it waits: `karpenter.sh/registered` is restricted (1.0-1.14)
          help: select `karpenter.sh/nodepool`, or a label of your own that the NodePool sets
        ");
        insta::assert_snapshot!(findings(&super::RULE, &required("karpenter.sh/initialized", "DoesNotExist")), @"
          9 |         {matchExpressions: [{key: karpenter.sh/initialized, operator: DoesNotExist, values: []}]}]}}}
            |                                   ^^^^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [1.0-1.14]
          Karpenter makes no node for this pod while it waits: `karpenter.sh/initialized` is restricted (1.0-1.14); once it runs and has to move, the NodeClaim made for it is refused
          help: to stay off Karpenter's nodes, write `karpenter.sh/nodepool` with the operator `DoesNotExist`
        ");
        insta::assert_snapshot!(findings(&super::RULE, &preferred("karpenter.sh/x", "NotIn")), @"
          9 |         {weight: 9, preference: {matchExpressions: [{key: karpenter.sh/x, operator: NotIn}]}}]}}
            |                                                           ^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key [1.5-1.14]
          the NodeClaim that Karpenter makes for this pod is refused by the API server: `karpenter.sh/x` is restricted there (1.5-1.14)
          help: use a label in a domain of your own, such as `example.com/x`
        ");
    }

    #[test]
    fn every_required_term_counts_though_they_are_alternatives() {
        let text = deployment(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n        {matchExpressions: [{key: example.com/x, operator: Exists}]},\n        {matchExpressions: [{key: karpenter.sh/x, operator: NotIn, values: [y]}]}]}}}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |         {matchExpressions: [{key: karpenter.sh/x, operator: NotIn, values: [y]}]}]}}}
            |                                   ^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[0].key [1.0-1.14]
          Karpenter makes no node for this pod while it waits: `karpenter.sh/x` is restricted (1.0-1.14)
          help: use a label in a domain of your own, such as `example.com/x`
        ");
    }

    #[test]
    fn a_lighter_preference_is_dropped_before_it_counts() {
        let text = deployment(
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [\n        {weight: 1, preference: {matchExpressions: [{key: karpenter.sh/x, operator: DoesNotExist}]}},\n        {weight: 2, preference: {matchExpressions: [{key: example.com/x, operator: Exists}]}}]}}",
        );
        silent(&super::RULE, &text);
        assert_ne!(at("1.4", &text), "");
    }

    #[test]
    fn the_supported_opt_out_is_left_alone_whatever_else_the_pod_asks() {
        silent(&super::RULE, &required("karpenter.sh/nodepool", "DoesNotExist"));
        let both = required("karpenter.sh/nodepool", "DoesNotExist") + "      nodeSelector: {karpenter.sh/registered: 'true'}\n";
        silent(&super::RULE, &both);
    }

    #[test]
    fn well_known_keys_aliases_and_keys_of_ones_own_are_left_alone_in_every_release() {
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
    fn pods_that_ask_for_a_control_plane_are_meant_for_it() {
        silent_at("1.0..1.14", &selector(CONTROL_PLANE));
        silent_at("1.0..1.14", &required("node-role.kubernetes.io/master", "Exists"));
    }

    #[test]
    fn pods_that_karpenter_never_looks_at_are_left_alone() {
        let own = |more: &str| selector("karpenter.sh/registered") + "      " + more + "\n";
        silent(&super::RULE, &own("schedulerName: volcano"));
        silent(&super::RULE, &own("nodeName: ip-10-0-0-1"));
        assert_ne!(findings(&super::RULE, &own("schedulerName: default-scheduler")), "");
        let daemon = selector("node-role.kubernetes.io/x").replace("Deployment", "DaemonSet");
        silent_at("1.0..1.14", &daemon);
        let owned = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{kind: DaemonSet, name: b}]}\nspec: {containers: [], nodeSelector: {karpenter.k8s.aws/ec2nodeclass: a}}\n";
        silent(&super::RULE, owned);
    }

    #[test]
    fn the_room_of_a_daemon_set_that_selects_a_mark_is_not_counted() {
        let daemon = selector("karpenter.sh/registered").replace("Deployment", "DaemonSet");
        silent(&super::RULE, &daemon);
        insta::assert_snapshot!(at("1.13", &daemon), @"
          8 |       nodeSelector: {karpenter.sh/registered: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^
        warning DaemonSet/a spec.template.spec.nodeSelector [1.0-1.13]
          Karpenter does not count these pods when it sizes a node: `karpenter.sh/registered` is no label that it expects there (1.0-1.13)
          help: select `karpenter.sh/nodepool` with the operator `Exists` in a required node affinity
        ");
    }

    #[test]
    fn the_names_of_machines_and_of_old_releases_have_rules_of_their_own() {
        silent(&super::RULE, &selector("kubernetes.io/hostname"));
        silent(&super::RULE, &selector("karpenter.sh/provisioner-name"));
    }

    #[test]
    fn match_fields_are_not_read() {
        let text = deployment(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n        {matchFields: [{key: metadata.name, operator: In, values: [ip-10-0-0-1]}]}]}}}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |         {matchFields: [{key: metadata.name, operator: In, values: [ip-10-0-0-1]}]}]}}}
            |          ^^^^^^^^^^^
        warning Deployment/a spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields [1.0-1.14]
          Karpenter makes no node for this pod while it waits: it does not read `matchFields` (1.0-1.14)
          help: remove the field; a pod that belongs to one machine is best left to a DaemonSet
        ");
    }

    #[test]
    fn a_known_name_in_the_wrong_domain_is_written_right() {
        let wrong = selector("karpenter.k8s.aws/capacity-type");
        assert_eq!(fixed(&super::RULE, &wrong), selector("karpenter.sh/capacity-type"));
        let taken = deployment("nodeSelector: {karpenter.k8s.aws/capacity-type: spot, karpenter.sh/capacity-type: spot}");
        assert_eq!(fixed(&super::RULE, &taken), taken);
    }

    #[test]
    fn a_key_that_a_later_release_knows_says_so() {
        insta::assert_snapshot!(at("1.8", &selector("karpenter.k8s.aws/instance-tenancy")), @"
          8 |       nodeSelector: {karpenter.k8s.aws/instance-tenancy: x}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.nodeSelector [1.0-1.8]
          Karpenter makes no node for this pod while it waits: `karpenter.k8s.aws/instance-tenancy` is restricted (1.0-1.8)
          help: remove it, or use a release that knows it (1.9-1.14)
        ");
    }
}
