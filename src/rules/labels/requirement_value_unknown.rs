use karpenter::kind::Kind;
use karpenter::known_values::{self, KnownValues, ZoneMistake, is_replaced};
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::{Object, Operation};
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use objects::requirement::LabelRequirement;
use objects::requirement_holder::RequirementHolder;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::is_meant_for_other_nodes;
use values::placeholder::{are_alternatives, has_placeholder};

rule! {
    /// ## What it does
    ///
    /// Checks the values of requirements on labels whose values are known: capacity type, tenancy, architecture and
    /// operating system. It also finds a region or a zone ID in place of a zone name.
    ///
    /// ## Why it is bad
    ///
    /// No instance has such a value. If another value in the list is valid, Karpenter ignores the wrong value. If no
    /// value is valid, nothing is launched from the NodePool. Karpenter itself reports this for capacity types since
    /// 1.5 and for tenancies since 1.9: it sets `ValidationSucceeded=False` if no value is valid, or if fewer values are
    /// valid than `minValues` requires. It does not report it for the other labels: pods then fail with messages such as
    /// `no instance type met the scheduling requirements or had a required offering`.
    ///
    /// A pod that asks for a value that no node has, such as the capacity type `SPOT` or the architecture `x86_64`, stays Pending,
    /// whatever the NodePools allow. The kubelet labels its node with Go's names of architectures and operating systems.
    ///
    /// `reserved` is a capacity type since 1.3. Until 1.5 it requires the feature gate `ReservedCapacity`.
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
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [ON_DEMAND]}
    ///         - {key: kubernetes.io/arch, operator: In, values: [x86_64]}
    ///         - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1]}
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
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
    ///         - {key: kubernetes.io/arch, operator: In, values: [amd64]}
    ///         - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the value is a different spelling of one known value and cannot mean anything else.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2164, aws/karpenter-provider-aws#8637, #1540
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodeclaim_validation.go` `validateWellKnownValues`, 1.5-1.14
    /// - aws/karpenter-provider-aws `pkg/apis/v1/labels.go`, 1.9-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a requirement asks for a value that no instance has",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_OVERLAY), On::Workload],
        inventory: &[],
        check: check,
    }
}

const ZONE: &str = "topology.kubernetes.io/zone";
const WITH_ZONE_ID: &str = "use the key `topology.k8s.aws/zone-id`, or write the zone name";
/// Groups of node classes on AWS: no group, the group of this provider, and the group of EKS Auto Mode.
const OF_AWS: [&str; 3] = ["", "karpenter.k8s.aws", "eks.amazonaws.com"];
const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(pod) = Pod::of(object) {
        check_pod(pod, findings);
        return;
    }
    let Some(holder) = RequirementHolder::of(object).filter(|holder| is_of_aws(*holder)) else { return };
    for requirement in holder.requirements().parsed() {
        let label = requirement.label();
        if let Some(known) = known_values::of_label(label) {
            check_known_values(object, requirement, known, findings);
        } else if label == ZONE {
            zones(requirement, findings);
        }
    }
}

/// Whether requirements are about instances of AWS, as far as the node class shows. Other clouds have other zones and
/// architectures.
pub(crate) fn is_of_aws(holder: RequirementHolder<'_>) -> bool {
    let group = holder.node_class_group();
    OF_AWS.contains(&group) || has_placeholder(group)
}

/// Further architectures of nodes, which EC2 does not have, as the kubelet reports them (`GOARCH`): the server platforms of Kubernetes, and the
/// platforms of older releases and of other builds.
const OTHER_ARCHITECTURES: [&str; 8] =
    ["386", "arm", "loong64", "mips64le", "ppc64", "ppc64le", "riscv64", "s390x"];

/// Values of a label that no node has.
#[derive(Clone, Copy)]
enum NoNode {
    /// The values of the label are known.
    Known(&'static KnownValues),
    /// IDs of zones, instead of names.
    ZoneIds,
}

/// Whether an expression of a pod accepts no value that a node has.
pub(super) fn accepts_no_value(pod: Pod<'_>, expression: LabelExpression<'_>) -> bool {
    no_node(pod, expression).is_some()
}

/// The reason for which no node has a value that an expression of a pod accepts. Nodes that Karpenter does not launch can have other
/// values of labels that are not Karpenter's.
fn no_node(pod: Pod<'_>, expression: LabelExpression<'_>) -> Option<NoNode> {
    let mut values = expression.values().filter_map(Node::as_str);
    if expression.operator != Operator::In || values.clone().next().is_none() {
        return None;
    }
    let label = labels::normalised(expression.key);
    if label == ZONE {
        let is_id = |value| known_values::zone_mistake(value) == Some(ZoneMistake::ZoneId);
        return (values.all(is_id) && !is_meant_for_other_nodes(pod)).then_some(NoNode::ZoneIds);
    }
    let known = known_values::of_label(label)?;
    if label.starts_with("karpenter.") {
        return values.all(|value| is_unknown(known, value)).then_some(NoNode::Known(known));
    }
    // The kubelet labels its node with the values of Go (`GOARCH` and `GOOS`): another spelling of them is on no node.
    let is_spelling = |value: &str| {
        is_unknown(known, value) && known.meant(value).is_some() && !OTHER_ARCHITECTURES.contains(&value)
    };
    (values.all(is_spelling) && !is_meant_for_other_nodes(pod)).then_some(NoNode::Known(known))
}

/// Whether a value is no known value, and not replaced before the object is applied.
fn is_unknown(known: &KnownValues, value: &str) -> bool {
    let is_known = |value: &str| known.values.contains(&value);
    !is_known(value) && !is_replaced(known.label, value) && !are_alternatives(value, is_known)
}

/// Reports the values that a pod lists for a label, if no node has any of them.
fn check_pod<'d>(pod: Pod<'d>, findings: &mut Vec<Finding<'d>>) {
    let reported: Vec<_> =
        pod.expressions().filter_map(|expression| Some((expression, no_node(pod, expression)?))).collect();
    // Required terms are alternatives: another term may leave a node.
    let mut terms = pod.spec().required_terms().enumerate();
    let all_terms = terms.all(|(term, _)| {
        reported.iter().any(|(expression, _)| expression.origin == ExpressionOrigin::Required { term })
    });
    for (expression, reason) in reported {
        let (effect, is_certain) = match expression.origin {
            ExpressionOrigin::NodeSelector => ("so no node fits the pod", true),
            ExpressionOrigin::Required { .. } if all_terms => ("so no node fits the pod", true),
            ExpressionOrigin::Required { .. } => ("so no node meets this term", false),
            ExpressionOrigin::Preferred { .. } => ("so the preference has no effect", false),
        };
        for finding in pod_findings(pod.object(), expression, reason, effect) {
            let is_error = is_certain && matches!(reason, NoNode::Known(_));
            let severity = if is_error { Severity::Error } else { Severity::Warning };
            findings.push(finding.severity(severity));
        }
    }
}

fn pod_findings<'d>(
    object: Object<'d>,
    expression: LabelExpression<'d>,
    reason: NoNode,
    effect: &str,
) -> Vec<Finding<'d>> {
    let values: Vec<_> = expression.values().filter_map(|node| Some((node.as_str()?, node))).collect();
    let others = if values.len() > 1 { " or another value listed here" } else { "" };
    let fixable = values.len() == 1 && object.operation() != Operation::Update;
    let finding = |(value, node): (&str, Node<'d>)| match reason {
        NoNode::Known(known) => {
            let message = format!("no node has the {} `{value}`{others}, {effect}", known.what);
            let finding = Finding::at(&RULE, node, message).caught_by(CaughtBy::Controller);
            match known.meant(value) {
                Some(meant) => suggest(finding, node, meant, fixable),
                None => finding.help(all_values(expression.key, known)),
            }
        }
        NoNode::ZoneIds => {
            let message = format!(
                "`{value}` is a zone ID, and nodes on AWS have the name of their zone in this label, {effect}"
            );
            Finding::at(&RULE, node, message).help(WITH_ZONE_ID).caught_by(CaughtBy::Controller)
        }
    };
    values.into_iter().map(finding).collect()
}

/// Suggests the intended value, with a safe fix if `fixable`.
fn suggest<'d>(finding: Finding<'d>, node: Node<'d>, meant: &str, fixable: bool) -> Finding<'d> {
    if fixable { finding.set(node, meant) } else { finding.write(meant) }
}

fn all_values(key: &str, known: &KnownValues) -> String {
    format!("the values of `{key}` are {}", known.listed())
}

/// Effect of a list without any valid value. `validated_in` lists the releases in which Karpenter validates the values.
fn effect(object: Object<'_>, validated_in: Releases) -> &'static str {
    match (object.is(Kind::NODE_POOL), validated_in.is_empty()) {
        (true, false) => {
            "the list has no valid value, so the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it"
        }
        (true, true) => "the list has no valid value, so Karpenter launches no nodes from this NodePool",
        (false, false) => {
            "the list has no valid value, so the NodeOverlay fails Karpenter's validation, and Karpenter ignores it"
        }
        (false, true) => "the list has no valid value, so this NodeOverlay matches no instances",
    }
}

fn check_known_values<'d>(
    object: Object<'d>,
    requirement: LabelRequirement<'d>,
    known: &'static KnownValues,
    findings: &mut Vec<Finding<'d>>,
) {
    if !matches!(requirement.operator, "In" | "NotIn") {
        return;
    }
    let validated_in = match known.label {
        labels::CAPACITY_TYPE => Releases::since(5),
        TENANCY => Releases::since(9),
        _ => Releases::NONE,
    };
    let releases = if known.label == TENANCY { Releases::since(9) } else { Releases::ALL };
    let values = requirement.values();
    let is_bad = |value: &str| is_unknown(known, value);
    let good = values.iter().filter(|(value, _)| !is_bad(value)).count();
    let none_left = requirement.operator == "In" && good == 0;
    for (value, node) in &values {
        if !is_bad(value) {
            continue;
        }
        let what = known.what;
        let effect = match requirement.operator {
            "NotIn" => "it excludes nothing",
            _ if none_left => effect(object, validated_in),
            _ => "Karpenter ignores it",
        };
        let article = if what.starts_with(['a', 'o']) { "an" } else { "a" };
        let finding = Finding::at(
            &RULE,
            *node,
            format!("`{value}` is not {article} {what} of EC2 instances; {effect}"),
        )
        .severity(if none_left { Severity::Error } else { Severity::Warning })
        .caught_by(if validated_in.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller })
        .releases(releases);
        findings.push(match known.meant(value) {
            Some(meant) => {
                // Karpenter accepts a repeated value, but a fix must not introduce one.
                let again = values.iter().any(|(other, at)| at != node && known.meant(other) == Some(meant));
                suggest(finding, *node, meant, !again)
            }
            None => finding.help(all_values(requirement.key, known)),
        });
    }
    if requirement.operator == "In" {
        too_few(requirement, known, good, validated_in, findings);
        reserved(&values, known, findings);
    }
}

/// Reports a list with fewer known values than `minValues`. The API server refuses a list that is shorter in total.
fn too_few<'d>(
    requirement: LabelRequirement<'d>,
    known: &KnownValues,
    good: usize,
    validated_in: Releases,
    findings: &mut Vec<Finding<'d>>,
) {
    let Some((least, node)) = requirement.min_values() else { return };
    let least = usize::try_from(least).unwrap_or_default();
    if validated_in.is_empty() || good == 0 || good >= least || requirement.values().len() < least {
        return;
    }
    let message = format!(
        "`minValues: {least}` exceeds the number of valid values of `{}` in the list ({good}); the object fails \
         Karpenter's validation",
        requirement.key
    );
    let help = format!("the valid values are {}", known.listed());
    let finding = Finding::at(&RULE, node, message).help(help);
    findings.push(finding.caught_by(CaughtBy::Controller).releases(validated_in));
}

/// Reports a list with only `reserved`, in releases that do not know the value or that require a feature gate for it.
fn reserved<'d>(values: &[(&str, Node<'d>)], known: &KnownValues, findings: &mut Vec<Finding<'d>>) {
    let only = values.iter().all(|(value, _)| *value == "reserved");
    let Some((_, node)) = values.first().filter(|_| only && known.label == labels::CAPACITY_TYPE) else {
        return;
    };
    findings.push(
        Finding::new(
            &RULE,
            Place::value(*node),
            "before 1.3 no instance has the capacity type `reserved`, so this requirement matches nothing",
        )
        .help("add `on-demand`, or upgrade Karpenter")
        .releases(Releases::until(2)),
    );
    findings.push(
        Finding::new(
            &RULE,
            Place::value(*node),
            "until 1.5 the capacity type `reserved` requires the feature gate `ReservedCapacity`, which is off by default",
        )
        .help("enable the feature gate in the controller's settings, or add `on-demand`")
        .severity(Severity::Warning)
        .releases(Releases::between(3, 5)),
    );
}

fn zones<'d>(requirement: LabelRequirement<'d>, findings: &mut Vec<Finding<'d>>) {
    if !matches!(requirement.operator, "In" | "NotIn") {
        return;
    }
    let values = requirement.values();
    let is_bad = |(value, _): &(&str, Node<'_>)| known_values::zone_mistake(value).is_some();
    let none_left = requirement.operator == "In" && values.iter().all(is_bad);
    for (value, node) in values {
        let (mistake, help) = match known_values::zone_mistake(value) {
            Some(ZoneMistake::Region) => (
                "a region, not a zone",
                format!("write zones such as `{value}a`, or use the key `topology.kubernetes.io/region`"),
            ),
            Some(ZoneMistake::ZoneId) => ("a zone ID, not a zone name", WITH_ZONE_ID.to_owned()),
            None => continue,
        };
        let effect = match requirement.operator {
            "NotIn" => "it excludes nothing",
            _ if none_left => "no instance matches this requirement",
            _ => "Karpenter ignores it",
        };
        let severity = if none_left { Severity::Error } else { Severity::Warning };
        let message = format!("`{value}` is {mistake}; {effect}");
        findings.push(Finding::at(&RULE, node, message).help(help).severity(severity));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use rule::settings::{Settings, Target};

    #[test]
    fn reports_alternatives_of_which_one_is_unknown() {
        let pod = |value: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [], nodeSelector: {{karpenter.sh/capacity-type: {value}}}}}\n"
            )
        };
        silent(&RULE, &pod("spot|on-demand"));
        assert!(findings(&RULE, &pod("spot|ondemand")).contains("error Pod/a"));
    }

    #[test]
    fn reports_wrong_case_in_a_pod() {
        let pod = |selection: &str| {
            format!(
                r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  {selection}
"
            )
        };
        let text = pod("nodeSelector: {karpenter.sh/capacity-type: SPOT}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          6 |   nodeSelector: {karpenter.sh/capacity-type: SPOT}
            |                                              ^^^^
        error Pod/a spec.nodeSelector.karpenter.sh/capacity-type [all]
          no node has the capacity type `SPOT`, so no node fits the pod
          help: write `spot`
          fix: write `spot`: "spot"
        "#);
        assert_eq!(fixed(&super::RULE, &text), text.replace("SPOT", "spot"));
        let affinity = |values: &str| {
            pod(&format!(
                "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{{key: karpenter.sh/capacity-type, operator: In, values: [{values}]}}]}}]}}}}}}"
            ))
        };
        assert!(findings(&super::RULE, &affinity("ON_DEMAND, cheap")).contains("error Pod/a"));
        let alternative = "{matchExpressions: [{key: team, operator: Exists}]}";
        let alternatives = affinity("SPOT").replace("Terms: [", &format!("Terms: [{alternative}, "));
        let found = findings(&super::RULE, &alternatives);
        assert!(found.contains("warning Pod/a") && found.contains("no node meets this term"), "{found}");
        let both = affinity("SPOT").replace(
            "}]}]}}}",
            "}]}, {matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [cheap]}]}]}}}",
        );
        assert_eq!(findings(&super::RULE, &both).matches("error Pod/a").count(), 2);
        let preferred = pod(
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [SPOT]}]}}]}}",
        );
        let found = findings(&super::RULE, &preferred);
        assert!(found.contains("warning Pod/a") && found.contains("the preference has no effect"), "{found}");
        for (label, value, meant) in [
            ("kubernetes.io/arch", "x86_64", "amd64"),
            ("beta.kubernetes.io/arch", "aarch64", "arm64"),
            ("kubernetes.io/os", "Linux", "linux"),
        ] {
            let text = pod(&format!("nodeSelector: {{{label}: {value}}}"));
            assert!(findings(&super::RULE, &text).contains("error Pod/a"), "{value}");
            assert_eq!(fixed(&super::RULE, &text), text.replace(value, meant));
        }
        insta::assert_snapshot!(findings(&super::RULE, &pod("nodeSelector: {topology.kubernetes.io/zone: use1-az1}")), @"
          6 |   nodeSelector: {topology.kubernetes.io/zone: use1-az1}
            |                                               ^^^^^^^^
        warning Pod/a spec.nodeSelector.topology.kubernetes.io/zone [all]
          `use1-az1` is a zone ID, and nodes on AWS have the name of their zone in this label, so no node fits the pod
          help: use the key `topology.k8s.aws/zone-id`, or write the zone name
        ");
        for accepted in [
            affinity("spot, SPOT"),
            affinity("'${TYPE}'"),
            pod("nodeSelector: {kubernetes.io/arch: arm}"),
            pod("nodeSelector: {kubernetes.io/arch: '${ARCH}'}"),
            pod("nodeSelector: {kubernetes.io/arch: amd64}"),
            pod("nodeSelector: {kubernetes.io/os: darwin}"),
            pod("nodeSelector: {kubernetes.io/os: Linux, type: virtual-kubelet}"),
            pod("nodeSelector: {topology.kubernetes.io/zone: us-east-1}"),
            pod("nodeSelector: {topology.kubernetes.io/zone: us-east-1a}"),
            pod("nodeSelector: {topology.k8s.aws/zone-id: use1-az1}"),
            pod("nodeSelector: {karpenter.sh/capacity-type: spot|on-demand}"),
            pod("nodeSelector: {kubernetes.io/arch: s390x}"),
            pod("nodeSelector: {karpenter.sh/capacity-type: spot}"),
        ] {
            silent(&super::RULE, &accepted);
        }
    }

    fn pool(requirement: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements:
      - {{{requirement}}}
"
        )
    }

    fn at(release: &str, text: &str) -> String {
        findings_with(
            &RULE,
            text,
            &Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() },
        )
    }

    #[test]
    fn reports_an_error_if_no_value_is_known() {
        insta::assert_snapshot!(findings(&RULE, &pool("key: karpenter.sh/capacity-type, operator: In, values: [SPOT]")), @r#"
          8 |       - {key: karpenter.sh/capacity-type, operator: In, values: [SPOT]}
            |                                                                  ^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          `SPOT` is not a capacity type of EC2 instances; the list has no valid value, so the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it
          help: write `spot`
          fix: write `spot`: "spot"
        "#);
    }

    #[test]
    fn reports_a_warning_if_another_value_is_known() {
        insta::assert_snapshot!(findings(&RULE, &pool("key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap]")), @"
          8 |       - {key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap]}
            |                                                                        ^^^^^
        warning NodePool/a spec.template.spec.requirements[0].values[1] [all]
          `cheap` is not a capacity type of EC2 instances; Karpenter ignores it
          help: the values of `karpenter.sh/capacity-type` are `spot`, `on-demand`, `reserved`
        ");
    }

    #[test]
    fn reports_too_few_known_values_for_min_values_since_1_5() {
        let text = pool("key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap], minValues: 2");
        assert!(at("1.5", &text).contains("requirements[0].minValues [since 1.5]"));
        assert!(!at("1.4", &text).contains("requirements[0].minValues"));
    }

    #[test]
    fn fixes_misspelt_values() {
        for (key, wrong, right) in [
            ("karpenter.sh/capacity-type", "On-Demand", "on-demand"),
            ("karpenter.k8s.aws/instance-tenancy", "Dedicated", "dedicated"),
            ("kubernetes.io/arch", "x86_64", "amd64"),
            ("beta.kubernetes.io/arch", "aarch64", "arm64"),
            ("kubernetes.io/os", "Linux", "linux"),
        ] {
            let with = |value| pool(&format!("key: {key}, operator: In, values: [{value}]"));
            assert_eq!(fixed(&RULE, &with(wrong)), with(right));
        }
        let twice = pool("key: kubernetes.io/arch, operator: In, values: [amd64, x86_64]");
        assert_eq!(fixed(&RULE, &twice), twice);
    }

    #[test]
    fn reports_region_and_zone_id_in_place_of_a_zone() {
        insta::assert_snapshot!(findings(&RULE, &pool("key: topology.kubernetes.io/zone, operator: In, values: [us-east-1]")), @"
          8 |       - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1]}
            |                                                                   ^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          `us-east-1` is a region, not a zone; no instance matches this requirement
          help: write zones such as `us-east-1a`, or use the key `topology.kubernetes.io/region`
        ");
        let output = findings(
            &RULE,
            &pool("key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, use1-az2]"),
        );
        assert!(
            output.starts_with("  8") && output.contains("warning") && output.contains("zone-id"),
            "{output}"
        );
    }

    #[test]
    fn reports_reserved_before_1_3_and_behind_a_feature_gate_until_1_5() {
        let only = pool("key: karpenter.sh/capacity-type, operator: In, values: [reserved]");
        assert!(at("1.2", &only).contains("error") && at("1.5", &only).contains("warning"));
        assert_eq!(at("1.6", &only), "");
        assert_eq!(
            at("1.2", &pool("key: karpenter.sh/capacity-type, operator: In, values: [reserved, spot]")),
            ""
        );
    }

    #[test]
    fn warns_about_an_exclusion_without_effect() {
        let output =
            findings(&RULE, &pool("key: karpenter.sh/capacity-type, operator: NotIn, values: [Spot]"));
        assert!(output.contains("warning") && output.contains("it excludes nothing"), "{output}");
    }

    #[test]
    fn ignores_names_of_variables() {
        const PAIRS: [(&str, &str, &str); 4] = [
            ("karpenter.sh/capacity-type", "CAPACITY_TYPE", "SPOT"),
            ("karpenter.k8s.aws/instance-tenancy", "TENANCY", "DEDICATED"),
            ("kubernetes.io/arch", "ARCH", "AMD64"),
            ("kubernetes.io/os", "OS", "LINUX"),
        ];
        for (label, variable, mistake) in PAIRS {
            let with = |value: &str| pool(&format!("key: {label}, operator: In, values: [{value}]"));
            let pod = |value: &str| {
                format!(
                    "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [], nodeSelector: {{{label}: {value}}}}}\n"
                )
            };
            for text in [with(variable), pod(variable)] {
                silent(&RULE, &text);
            }
            for text in [with(mistake), pod(mistake)] {
                assert!(findings(&RULE, &text).contains("error "), "{text}");
            }
            // The variable may hold a valid value.
            assert!(
                findings(&RULE, &with(&format!("{variable}, {mistake}"))).contains("warning "),
                "{label}"
            );
        }
    }

    #[test]
    fn accepts_known_values_and_placeholders() {
        for requirement in [
            "key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand, reserved]",
            "key: karpenter.sh/capacity-type, operator: In, values: ['${TYPE}']",
            "key: karpenter.sh/capacity-type, operator: Exists",
            "key: karpenter.sh/capacity-type, operator: In, values: []",
            "key: kubernetes.io/os, operator: In, values: [windows]",
            "key: topology.kubernetes.io/zone, operator: In, values: [us-west-2-lax-1a, eu-central-1b]",
            "key: topology.kubernetes.io/region, operator: In, values: [us-east-1]",
            "key: topology.k8s.aws/zone-id, operator: In, values: [use1-az1]",
            "key: example.com/arch, operator: In, values: [x86_64]",
        ] {
            silent(&RULE, &pool(requirement));
        }
    }

    #[test]
    fn ignores_node_pools_of_other_clouds() {
        let text = pool("key: kubernetes.io/arch, operator: In, values: [riscv64]")
            + "      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}\n";
        silent(&RULE, &text);
    }

    #[test]
    fn names_the_other_unknown_values_of_a_pod() {
        let pod = |values: &str| {
            format!(
                r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{{key: karpenter.sh/capacity-type, operator: In, values: [{values}]}}]}}]}}}}}}
"
            )
        };
        let several = findings(&RULE, &pod("SPOT, cheap"));
        assert!(several.contains("`SPOT` or another value listed here"), "{several}");
        assert!(!several.contains("fix:"), "{several}");
        let one = findings(&RULE, &pod("SPOT"));
        assert!(one.contains("`SPOT`, so") && one.contains("fix:"), "{one}");
    }

    #[test]
    fn counts_the_known_values_for_min_values() {
        for (values, least, is_reported) in [
            ("spot, cheap", 2, true),
            ("spot, cheap", 3, false),
            ("spot, on-demand", 2, false),
            ("spot, on-demand, cheap", 1, false),
            ("cheap, dear", 2, false),
        ] {
            let text = pool(&format!(
                "key: karpenter.sh/capacity-type, operator: In, values: [{values}], minValues: {least}"
            ));
            assert_eq!(findings(&RULE, &text).contains("].minValues ["), is_reported, "{values} {least}");
        }
        let systems = pool("key: kubernetes.io/os, operator: In, values: [linux, unix], minValues: 2");
        assert!(!findings(&RULE, &systems).contains("].minValues ["));
    }

    #[test]
    fn says_what_a_region_among_zones_does() {
        let found = |operator: &str, values: &str| {
            findings(
                &RULE,
                &pool(&format!("key: topology.kubernetes.io/zone, operator: {operator}, values: [{values}]")),
            )
        };
        assert!(found("NotIn", "us-east-1").contains("not a zone; it excludes nothing"));
        assert!(found("In", "us-east-1, us-east-1a").contains("not a zone; Karpenter ignores it"));
    }

    #[test]
    fn controller_validates_tenancies_since_1_9() {
        let text = pool(
            "key: karpenter.k8s.aws/instance-tenancy, operator: In, values: [default, cheap], minValues: 2",
        );
        assert!(findings(&RULE, &text).contains("requirements[0].minValues [since 1.9]"));
    }
}
