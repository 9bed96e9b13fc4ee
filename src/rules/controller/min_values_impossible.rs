use std::collections::BTreeSet;

use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use karpenter::labels;
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use values::placeholder::is_unresolved;
use crate::rules::requirements::{self, Requirement};
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that `minValues` can be reached, as far as the NodePool alone tells: not on a label that instance types do not
    /// have, and not above the number of values there are or the NodePool allows.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter counts how many different values the instance types it may choose from have for the label. With fewer than
    /// `minValues` it launches nothing from the NodePool (`minValues requirement is not met`), unless it runs with
    /// `MIN_VALUES_POLICY=BestEffort` (1.6 and later). For a label of your own the count is always 0.
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
    ///         - {key: kubernetes.io/arch, operator: Exists, minValues: 3}
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
    ///         - {key: karpenter.k8s.aws/instance-family, operator: Exists, minValues: 3}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#963, #966
    /// - kubernetes-sigs/karpenter `pkg/cloudprovider/types.go` `SatisfiesMinValues`, 1.0-1.14
    /// - aws/karpenter-provider-aws `pkg/providers/instancetype/types.go` `computeRequirements`, 1.0-1.14
    RULE {
        name: "min-values-impossible",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "more different values are asked for than there can be, and nothing is launched",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// How many values a label has at most over all instance types of one node class and region.
///
/// An operating system is one of a node class, and a region one of a controller; the build of Windows is that of the
/// node class too. `reserved` is a capacity type since 1.3.
const MOST: [(&str, usize); 7] = [
    ("kubernetes.io/os", 1),
    ("topology.kubernetes.io/region", 1),
    ("node.kubernetes.io/windows-build", 1),
    ("kubernetes.io/arch", 2),
    ("karpenter.k8s.aws/instance-tenancy", 2),
    ("karpenter.k8s.aws/instance-encryption-in-transit-supported", 2),
    (labels::CAPACITY_TYPE, 3),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    for requirement in requirements::of(object) {
        let (Some(least), Some(node)) = (requirement.min_values, requirement.node.get("minValues")) else { continue };
        if least < 1 || is_unresolved(requirement.key) {
            continue;
        }
        let Some((most, why)) = bound(object, requirement) else { continue };
        if usize::try_from(least).is_ok_and(|least| least <= most) {
            continue;
        }
        let message = format_args!("{why}, so {least} can never be reached and nothing is launched from this NodePool");
        let help = match most {
            0 => "leave `minValues` out here, or ask for it on a label that instance types have, such as \
                  `karpenter.k8s.aws/instance-family`"
                .to_owned(),
            _ => format!("write at most {most}, or allow more values"),
        };
        drafts.push(Draft::at(&RULE, node, message).help(help));
    }
}

/// How many different values there can be, and why no more.
fn bound<'d>(object: Object<'d>, requirement: Requirement<'d>) -> Option<(usize, String)> {
    let label = requirement.label();
    let of_instance_types = !labels::well_known(label).is_empty() && label != labels::NODEPOOL;
    // A label of this domain that is not known may be known to a later release.
    if !of_instance_types && label.starts_with("karpenter.k8s.aws/") {
        return None;
    }
    if !of_instance_types {
        return Some((0, format!("instance types have no label `{label}`")));
    }
    if requirement.operator == "DoesNotExist" {
        return Some((0, format!("what this requirement allows has no value of `{label}`")));
    }
    let existing = MOST.iter().find(|(name, _)| *name == label).map(|(_, most)| *most);
    match (allowed(object, label), existing) {
        (Some(count), most) if most.is_none_or(|most| count <= most) => {
            let why = format!("the requirements of this NodePool allow {count} of the values of `{label}`");
            Some((count, why))
        }
        (_, Some(most)) => {
            Some((most, format!("the instances of a node class have at most {most} of the values of `{label}`")))
        }
        (_, None) => None,
    }
}

/// How many values all requirements on a label together allow, where that is a list; repeated values count once. A
/// single list with too few entries is the API server's to refuse.
fn allowed(object: Object<'_>, label: &str) -> Option<usize> {
    let mut allowed: Option<BTreeSet<&'_ str>> = None;
    let mut excluded = BTreeSet::new();
    for requirement in requirements::of(object) {
        if requirement.label() != label {
            continue;
        }
        let values = requirement.values();
        if values.iter().any(|(value, _)| is_unresolved(value)) {
            return None;
        }
        match requirement.operator {
            "In" => {
                // A list shorter than its own `minValues` the API server refuses.
                let least = requirement.min_values.and_then(|least| usize::try_from(least).ok());
                if least.is_some_and(|least| values.len() < least) {
                    return None;
                }
                let mut both = BTreeSet::new();
                for (value, _) in values {
                    if allowed.as_ref().is_none_or(|allowed| allowed.contains(value)) {
                        both.insert(value);
                    }
                }
                allowed = Some(both);
            }
            "NotIn" => excluded.extend(values.iter().map(|(value, _)| *value)),
            _ => {}
        }
    }
    Some(allowed?.iter().filter(|value| !excluded.contains(*value)).count())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(requirements: &[&str]) -> String {
        let items: Vec<_> = requirements.iter().map(|item| format!("      - {{{item}}}\n")).collect();
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      requirements:\n{}",
            items.concat()
        )
    }

    const FAMILY: &str = "key: karpenter.k8s.aws/instance-family";

    #[test]
    fn a_label_of_ones_own_is_counted_on_no_instance_type() {
        insta::assert_snapshot!(findings(&RULE, &pool(&["key: example.com/team, operator: Exists, minValues: 1"])), @"
          8 |       - {key: example.com/team, operator: Exists, minValues: 1}
            |                                                              ^
        error NodePool/a spec.template.spec.requirements[0].minValues [1.0-1.14]
          instance types have no label `example.com/team`, so 1 can never be reached and nothing is launched from this NodePool
          help: leave `minValues` out here, or ask for it on a label that instance types have, such as `karpenter.k8s.aws/instance-family`
        ");
    }

    #[test]
    fn lists_are_counted_together_and_each_value_once() {
        let twice = format!("{FAMILY}, operator: In, values: [m5, m5, m6i], minValues: 3");
        insta::assert_snapshot!(findings(&RULE, &pool(&[&twice])), @"
          8 |       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m5, m6i], minValues: 3}
            |                                                                                                  ^
        error NodePool/a spec.template.spec.requirements[0].minValues [1.0-1.14]
          the requirements of this NodePool allow 2 of the values of `karpenter.k8s.aws/instance-family`, so 3 can never be reached and nothing is launched from this NodePool
          help: write at most 2, or allow more values
        ");
        let one = format!("{FAMILY}, operator: In, values: [m5, m6i, m7i], minValues: 2");
        let other = format!("{FAMILY}, operator: NotIn, values: [m5, m6i]");
        assert!(findings(&RULE, &pool(&[&one, &other])).contains("allow 1 of the values"));
        silent(&RULE, &pool(&[&one, &format!("{FAMILY}, operator: NotIn, values: [m5]")]));
    }

    #[test]
    fn some_labels_have_few_values() {
        for (requirement, found) in [
            ("key: kubernetes.io/arch, operator: Exists, minValues: 2", false),
            ("key: beta.kubernetes.io/arch, operator: Exists, minValues: 3", true),
            ("key: kubernetes.io/os, operator: In, values: [linux, windows], minValues: 2", true),
            ("key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand], minValues: 2", false),
            ("key: karpenter.sh/capacity-type, operator: Exists, minValues: 4", true),
            ("key: karpenter.k8s.aws/instance-gpu-name, operator: DoesNotExist, minValues: 1", true),
        ] {
            assert_eq!(!findings(&RULE, &pool(&[requirement])).is_empty(), found, "{requirement}");
        }
    }

    #[test]
    fn what_may_be_reached_and_what_the_api_server_refuses_are_left_alone() {
        for requirement in [
            "key: karpenter.k8s.aws/instance-family, operator: Exists, minValues: 50",
            "key: karpenter.k8s.aws/instance-family, operator: In, values: [m5], minValues: 2",
            "key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, '${F}', m5], minValues: 3",
            "key: karpenter.k8s.aws/instance-of-tomorrow, operator: Exists, minValues: 2",
            "key: '${KEY}', operator: Exists, minValues: 2",
            "key: example.com/team, operator: In, values: [a, b]",
            "key: topology.kubernetes.io/zone, operator: Exists, minValues: 3",
        ] {
            silent(&RULE, &pool(&[requirement]));
        }
    }
}
