use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::Kind;
use karpenter::known_values::is_replaced;
use karpenter::labels;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::LabelRequirement;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that `minValues` can be satisfied, as far as the NodePool alone shows: the label must be one that
    /// instance types have, and `minValues` must not exceed the number of values that exist or that the NodePool
    /// allows.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter counts the distinct values of the label among the instance types that it may choose from. If there are
    /// fewer than `minValues`, it launches nothing from the NodePool (`minValues requirement is not met`), unless it
    /// runs with `MIN_VALUES_POLICY=BestEffort` (1.6 and later). For a custom label the count is always 0.
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
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "`minValues` requires more distinct values than there can be, so nothing is launched",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// Highest number of values that a label can have across all instance types of one node class and region.
///
/// A node class has one operating system and one Windows build, and a controller has one region. `reserved` is a
/// capacity type since 1.3.
const MAX_VALUES: [(&str, usize); 7] = [
    ("kubernetes.io/os", 1),
    ("topology.kubernetes.io/region", 1),
    ("node.kubernetes.io/windows-build", 1),
    ("kubernetes.io/arch", 2),
    ("karpenter.k8s.aws/instance-tenancy", 2),
    ("karpenter.k8s.aws/instance-encryption-in-transit-supported", 2),
    (labels::CAPACITY_TYPE, 3),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let mut counts = BTreeMap::new();
    for requirement in pool.requirements().parsed() {
        let Some((least, node)) = requirement.min_values() else { continue };
        if least < 1 || has_placeholder(requirement.key) {
            continue;
        }
        let Some((most, why)) = bound(pool, requirement, &mut counts) else { continue };
        if usize::try_from(least).is_ok_and(|least| least <= most) {
            continue;
        }
        let message = format!(
            "{why}, so `minValues: {least}` can never be satisfied and Karpenter launches no nodes from this NodePool"
        );
        let help = match most {
            0 => "remove `minValues` here, or set it on a label that instance types have, such as \
                  `karpenter.k8s.aws/instance-family`"
                .to_owned(),
            _ => format!("write at most {most}, or allow more values"),
        };
        findings.push(Finding::at(&RULE, node, message).help(help));
    }
}

/// Returns the highest number of distinct values that can occur, and the reason for the limit. `counts` keeps the result of
/// [`allowed`] for each label, because a label may have many requirements.
fn bound<'d>(
    pool: NodePool<'d>,
    requirement: LabelRequirement<'d>,
    counts: &mut BTreeMap<&'d str, Option<usize>>,
) -> Option<(usize, String)> {
    let label = requirement.label();
    let of_instance_types = !labels::well_known(label).is_empty() && label != labels::NODEPOOL;
    // An unknown label of this domain may exist in a later release.
    if !of_instance_types && label.starts_with("karpenter.k8s.aws/") {
        return None;
    }
    if !of_instance_types {
        return Some((0, format!("instance types have no label `{label}`")));
    }
    if requirement.operator == "DoesNotExist" {
        return Some((0, format!("this requirement allows only instance types without `{label}`")));
    }
    let existing = MAX_VALUES.iter().find(|(name, _)| *name == label).map(|(_, most)| *most);
    match (*counts.entry(label).or_insert_with(|| allowed(pool, label)), existing) {
        (Some(count), most) if most.is_none_or(|most| count <= most) => {
            let why =
                format!("the requirements of this NodePool allow only {count} of the values of `{label}`");
            Some((count, why))
        }
        (_, Some(most)) => Some((
            most,
            format!("the instances of one EC2NodeClass have at most {most} of the values of `{label}`"),
        )),
        (_, None) => None,
    }
}

/// Returns the number of distinct values that all requirements on a label allow together. `None` if no requirement
/// lists values, or if the number is uncertain.
fn allowed(pool: NodePool<'_>, label: &str) -> Option<usize> {
    let mut allowed: Option<BTreeSet<&'_ str>> = None;
    let mut excluded = BTreeSet::new();
    for requirement in pool.requirements().parsed() {
        if requirement.label() != label {
            continue;
        }
        let values = requirement.values();
        if values.iter().any(|(value, _)| is_replaced(label, value)) {
            return None;
        }
        match requirement.operator {
            "In" => {
                // The API server refuses a list that is shorter than its own `minValues`.
                let least = requirement.min_values().and_then(|(least, _)| usize::try_from(least).ok());
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
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements:
{}",
            items.concat()
        )
    }

    const FAMILY: &str = "key: karpenter.k8s.aws/instance-family";

    #[test]
    fn reports_min_values_on_a_custom_label() {
        insta::assert_snapshot!(findings(&RULE, &pool(&["key: example.com/team, operator: Exists, minValues: 1"])), @"
          8 |       - {key: example.com/team, operator: Exists, minValues: 1}
            |                                                              ^
        error NodePool/a spec.template.spec.requirements[0].minValues [all]
          instance types have no label `example.com/team`, so `minValues: 1` can never be satisfied and Karpenter launches no nodes from this NodePool
          help: remove `minValues` here, or set it on a label that instance types have, such as `karpenter.k8s.aws/instance-family`
        ");
    }

    #[test]
    fn counts_distinct_values_across_requirements() {
        let twice = format!("{FAMILY}, operator: In, values: [m5, m5, m6i], minValues: 3");
        insta::assert_snapshot!(findings(&RULE, &pool(&[&twice])), @"
          8 |       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m5, m6i], minValues: 3}
            |                                                                                                  ^
        error NodePool/a spec.template.spec.requirements[0].minValues [all]
          the requirements of this NodePool allow only 2 of the values of `karpenter.k8s.aws/instance-family`, so `minValues: 3` can never be satisfied and Karpenter launches no nodes from this NodePool
          help: write at most 2, or allow more values
        ");
        let one = format!("{FAMILY}, operator: In, values: [m5, m6i, m7i], minValues: 2");
        let other = format!("{FAMILY}, operator: NotIn, values: [m5, m6i]");
        assert!(findings(&RULE, &pool(&[&one, &other])).contains("allow only 1 of the values"));
        silent(&RULE, &pool(&[&one, &format!("{FAMILY}, operator: NotIn, values: [m5]")]));
    }

    #[test]
    fn reports_more_values_than_a_label_can_have() {
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
    fn ignores_reachable_values_and_what_the_api_server_refuses() {
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
