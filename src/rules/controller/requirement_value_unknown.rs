use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::known_values::{self, Known, NoZone};
use karpenter::labels;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::operator::Operator;
use karpenter::kind::Kind;
use objects::object::{Object, Operation};
use scheduling::pod::{Expression, Origin, Pod};
use values::placeholder::is_unresolved;
use crate::rules::requirements::{self, Requirement};
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks the values that requirements ask for on labels whose values are known: capacity type, tenancy, architecture,
    /// operating system, and whether a zone is a region or a zone's id.
    ///
    /// ## Why it is bad
    ///
    /// No instance has such a value. Where another value of the list is right, the wrong one is passed over. Where none is,
    /// nothing is launched from the NodePool. Karpenter itself tells that of capacity types since 1.5 and of tenancies since
    /// 1.9: it sets `ValidationSucceeded=False`, also where fewer values are right than `minValues` asks for. Of the others it
    /// never tells, and every pod fails with `no instance type satisfied resources … and requirements …`.
    ///
    /// A pod that asks for a capacity type or a tenancy which no node has, such as `SPOT`, waits for ever. Where the input has
    /// NodePools, `pod-no-matching-pool` says so.
    ///
    /// `reserved` is a capacity type since 1.3, and until 1.5 only with the feature gate `ReservedCapacity`.
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
    /// Safe: another spelling or case of one known value has no second meaning.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2164, aws/karpenter-provider-aws#8637, #1540
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodeclaim_validation.go` `validateWellKnownValues`, 1.5-1.14
    /// - aws/karpenter-provider-aws `pkg/apis/v1/labels.go`, 1.9-1.14
    RULE {
        name: "requirement-value-unknown",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a requirement asks for a value that no instance has",
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_OVERLAY), On::Workload],
        inventory: &[],
        check: check,
    }
}

const ZONE: &str = "topology.kubernetes.io/zone";
/// The groups of node classes on AWS: none written, this provider's, and that of EKS Auto Mode.
const OF_AWS: [&str; 3] = ["", "karpenter.k8s.aws", "eks.amazonaws.com"];
const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if let Some(pod) = Pod::of(object) {
        // Where pools are known, `pod-no-matching-pool` holds the pod against them.
        if context.inventory.pools().is_empty() {
            pod.expressions().for_each(|expression| asked(object, expression, drafts));
        }
        return;
    }
    // Clusters of other clouds have zones and architectures of their own.
    let group = object.str_at(&["spec", "template", "spec", "nodeClassRef", "group"]).unwrap_or_default();
    if !OF_AWS.contains(&group) && !is_unresolved(group) {
        return;
    }
    for requirement in requirements::of(object) {
        let label = requirement.label();
        if let Some(known) = known_values::of(label) {
            against_known(object, requirement, known, drafts);
        } else if label == ZONE {
            zones(requirement, drafts);
        }
    }
}

/// The values that a pod asks for of a label which nodes of Karpenter alone have, where none of them is one.
fn asked<'d>(object: Object<'d>, expression: Expression<'d>, drafts: &mut Vec<Draft<'d>>) {
    let known = known_values::of(expression.key).filter(|known| known.label.starts_with("karpenter."));
    let Some(known) = known.filter(|_| expression.operator == Operator::In) else { return };
    let mut values = Vec::new();
    for node in expression.values() {
        let Some(value) = node.as_str() else { continue };
        if known.values.contains(&value) || is_unresolved(value) {
            return;
        }
        values.push((value, node));
    }
    let selector = expression.origin == Origin::NodeSelector;
    let severity = if selector { Severity::Error } else { Severity::Warning };
    let others = if values.len() > 1 { ", and neither is another value here" } else { "" };
    let fixable = values.len() == 1 && object.operation() != Operation::Update;
    for (value, node) in values {
        let message = format_args!("`{value}` is no {} of any node{others}: no node fits the pod", known.what);
        let draft = Draft::at(&RULE, node, message).severity(severity).caught_by(CaughtBy::Controller);
        drafts.push(match known.meant(value) {
            Some(meant) => instead(draft, node, meant, fixable),
            None => draft.help(all_values(expression.key, known)),
        });
    }
}

/// What is meant, as a change as well where that may be made unasked.
fn instead<'d>(draft: Draft<'d>, node: Node<'d>, meant: &str, fixable: bool) -> Draft<'d> {
    if fixable { draft.set(node, meant) } else { draft.write(meant) }
}

#[inline(never)]
fn all_values(key: &str, known: &Known) -> String {
    format!("the values of `{key}` are {}", known.listed())
}

/// What comes of a list of which these values are no good.
fn effect(object: Object<'_>, releases_that_tell: Releases) -> &'static str {
    match (object.is(Kind::NODE_POOL), releases_that_tell.is_empty()) {
        (true, false) => "no other value here is one, so Karpenter refuses the NodePool and launches nothing from it",
        (true, true) => "no other value here is one, so nothing is launched from this NodePool",
        (false, false) => "no other value here is one, so Karpenter refuses the NodeOverlay and leaves it out",
        (false, true) => "no other value here is one, so this NodeOverlay matches nothing",
    }
}

fn against_known<'d>(
    object: Object<'d>,
    requirement: Requirement<'d>,
    known: &'static Known,
    drafts: &mut Vec<Draft<'d>>,
) {
    if !matches!(requirement.operator, "In" | "NotIn") {
        return;
    }
    let tells = match known.label {
        labels::CAPACITY_TYPE => Releases::since(5),
        TENANCY => Releases::since(9),
        _ => Releases::NONE,
    };
    let releases = if known.label == TENANCY { Releases::since(9) } else { Releases::ALL };
    let values = requirement.values();
    let is_bad = |value: &str| !known.values.contains(&value) && !is_unresolved(value);
    let good = values.iter().filter(|(value, _)| !is_bad(value)).count();
    let none_left = requirement.operator == "In" && good == 0;
    for (value, node) in &values {
        if !is_bad(value) {
            continue;
        }
        let what = known.what;
        let effect = match requirement.operator {
            "NotIn" => "this excludes nothing",
            _ if none_left => effect(object, tells),
            _ => "it is passed over",
        };
        let article = if what.starts_with(['a', 'o']) { "an" } else { "a" };
        let draft = Draft::at(&RULE, *node, format_args!("`{value}` is not {article} {what} of AWS's instances; {effect}"))
            .severity(if none_left { Severity::Error } else { Severity::Warning })
            .caught_by(if tells.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller })
            .releases(releases);
        drafts.push(match known.meant(value) {
            Some(meant) => {
                // Twice the same value is no mistake of Karpenter's making, but none to make unasked either.
                let again = values.iter().any(|(other, at)| at != node && known.meant(other) == Some(meant));
                instead(draft, *node, meant, !again)
            }
            None => draft.help(all_values(requirement.key, known)),
        });
    }
    if requirement.operator == "In" {
        too_few(requirement, known, good, tells, drafts);
        reserved(&values, known, drafts);
    }
}

/// Fewer known values than `minValues`, where the list itself is long enough: a shorter one the API server refuses.
fn too_few<'d>(
    requirement: Requirement<'d>,
    known: &Known,
    good: usize,
    tells: Releases,
    drafts: &mut Vec<Draft<'d>>,
) {
    let Some((least, node)) = requirement.min_values.zip(requirement.node.get("minValues")) else { return };
    let least = usize::try_from(least).unwrap_or_default();
    if tells.is_empty() || good == 0 || good >= least || requirement.values().len() < least {
        return;
    }
    let message = format_args!(
        "{least} values of `{}` are asked for, and {good} of those listed is one; Karpenter refuses the object as a whole",
        requirement.key
    );
    let help = format!("the values are {}", known.listed());
    let draft = Draft::at(&RULE, node, message).help(help);
    drafts.push(draft.caught_by(CaughtBy::Controller).releases(tells));
}

/// `reserved` alone, in releases that do not know it or only with their gate open.
fn reserved<'d>(values: &[(&str, Node<'d>)], known: &Known, drafts: &mut Vec<Draft<'d>>) {
    let only = values.iter().all(|(value, _)| *value == "reserved");
    let Some((_, node)) = values.first().filter(|_| only && known.label == labels::CAPACITY_TYPE) else { return };
    drafts.push(
        Draft::new(
            &RULE,
            Place::value(*node),
            "before 1.3 no instance has the capacity type `reserved`, so this matches nothing",
        )
        .help("add `on-demand`, or upgrade")
        .releases(Releases::until(2)),
    );
    drafts.push(
        Draft::new(
            &RULE,
            Place::value(*node),
            "up to 1.5 the capacity type `reserved` needs the feature gate `ReservedCapacity`, which is off unless opened",
        )
        .help("open the gate in the controller's settings, or add `on-demand`")
        .severity(Severity::Warning)
        .releases(Releases::between(3, 5)),
    );
}

fn zones<'d>(requirement: Requirement<'d>, drafts: &mut Vec<Draft<'d>>) {
    if !matches!(requirement.operator, "In" | "NotIn") {
        return;
    }
    let values = requirement.values();
    let is_bad = |(value, _): &(&str, Node<'_>)| known_values::no_zone(value).is_some();
    let none_left = requirement.operator == "In" && values.iter().all(is_bad);
    for (value, node) in values {
        let (what, help) = match known_values::no_zone(value) {
            Some(NoZone::Region) => (
                "a region, not a zone",
                format!("write zones such as `{value}a`, or put the region under `topology.kubernetes.io/region`"),
            ),
            Some(NoZone::ZoneId) => (
                "the id of a zone, not its name",
                "put it under `topology.k8s.aws/zone-id`, or write the zone's name".to_owned(),
            ),
            None => continue,
        };
        let effect = match requirement.operator {
            "NotIn" => "this excludes nothing",
            _ if none_left => "nothing is launched with this requirement",
            _ => "it is passed over",
        };
        let severity = if none_left { Severity::Error } else { Severity::Warning };
        let message = format_args!("`{value}` is {what}; {effect}");
        drafts.push(Draft::at(&RULE, node, message).help(help).severity(severity));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use lint::settings::{Settings, Target};

    #[test]
    fn a_pod_asks_for_a_value_in_another_case() {
        let pod = |asks: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: []\n  {asks}\n");
        let text = pod("nodeSelector: {karpenter.sh/capacity-type: SPOT}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          6 |   nodeSelector: {karpenter.sh/capacity-type: SPOT}
            |                                              ^^^^
        error Pod/a spec.nodeSelector.karpenter.sh/capacity-type [1.0-1.14]
          `SPOT` is no capacity type of any node: no node fits the pod
          help: write `spot`
          fix: write `spot`: "spot"
        "#);
        assert_eq!(fixed(&super::RULE, &text), text.replace("SPOT", "spot"));
        let affinity = |values: &str| pod(&format!("affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{{key: karpenter.sh/capacity-type, operator: In, values: [{values}]}}]}}]}}}}}}"));
        assert!(findings(&super::RULE, &affinity("ON_DEMAND, cheap")).contains("warning Pod/a"));
        for silence in [affinity("spot, SPOT"), affinity("'${TYPE}'"), pod("nodeSelector: {kubernetes.io/arch: s390x}"), pod("nodeSelector: {karpenter.sh/capacity-type: spot}")] {
            silent(&super::RULE, &silence);
        }
    }

    fn pool(requirement: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      requirements:\n      - {{{requirement}}}\n"
        )
    }

    fn at(release: &str, text: &str) -> String {
        findings_with(&RULE, text, &Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() })
    }

    #[test]
    fn a_list_of_nothing_but_unknown_values_stops_the_pool() {
        insta::assert_snapshot!(findings(&RULE, &pool("key: karpenter.sh/capacity-type, operator: In, values: [SPOT]")), @r#"
          8 |       - {key: karpenter.sh/capacity-type, operator: In, values: [SPOT]}
            |                                                                  ^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [1.0-1.14]
          `SPOT` is not a capacity type of AWS's instances; no other value here is one, so Karpenter refuses the NodePool and launches nothing from it
          help: write `spot`
          fix: write `spot`: "spot"
        "#);
    }

    #[test]
    fn beside_a_known_value_an_unknown_one_is_passed_over() {
        insta::assert_snapshot!(findings(&RULE, &pool("key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap]")), @"
          8 |       - {key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap]}
            |                                                                        ^^^^^
        warning NodePool/a spec.template.spec.requirements[0].values[1] [1.0-1.14]
          `cheap` is not a capacity type of AWS's instances; it is passed over
          help: the values of `karpenter.sh/capacity-type` are `spot`, `on-demand`, `reserved`
        ");
    }

    #[test]
    fn fewer_known_values_than_asked_for_stop_the_pool_since_1_5() {
        let text = pool("key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap], minValues: 2");
        assert!(at("1.5", &text).contains("requirements[0].minValues [1.5-1.14]"));
        assert!(!at("1.4", &text).contains("requirements[0].minValues"));
    }

    #[test]
    fn spellings_are_mended() {
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
    fn a_region_and_an_id_are_no_zones() {
        insta::assert_snapshot!(findings(&RULE, &pool("key: topology.kubernetes.io/zone, operator: In, values: [us-east-1]")), @"
          8 |       - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1]}
            |                                                                   ^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [1.0-1.14]
          `us-east-1` is a region, not a zone; nothing is launched with this requirement
          help: write zones such as `us-east-1a`, or put the region under `topology.kubernetes.io/region`
        ");
        let said = findings(&RULE, &pool("key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, use1-az2]"));
        assert!(said.starts_with("  8") && said.contains("warning") && said.contains("zone-id"), "{said}");
    }

    #[test]
    fn reserved_came_in_1_3_behind_a_gate() {
        let only = pool("key: karpenter.sh/capacity-type, operator: In, values: [reserved]");
        assert!(at("1.2", &only).contains("error") && at("1.5", &only).contains("warning"));
        assert_eq!(at("1.6", &only), "");
        assert_eq!(at("1.2", &pool("key: karpenter.sh/capacity-type, operator: In, values: [reserved, spot]")), "");
    }

    #[test]
    fn an_exclusion_of_nothing_is_a_warning() {
        let said = findings(&RULE, &pool("key: karpenter.sh/capacity-type, operator: NotIn, values: [Spot]"));
        assert!(said.contains("warning") && said.contains("this excludes nothing"), "{said}");
    }

    #[test]
    fn what_is_known_or_to_be_filled_in_is_left_alone() {
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
    fn pools_of_other_clouds_are_left_alone() {
        let text = pool("key: kubernetes.io/arch, operator: In, values: [riscv64]")
            + "      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}\n";
        silent(&RULE, &text);
    }
}
