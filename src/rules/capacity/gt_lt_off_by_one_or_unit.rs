use karpenter::kind::Kind;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::LabelRequirement;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds bounds and values on the memory or the number of vCPUs of instance types that lie below every instance type.
    /// Most of them are written in the wrong unit: `karpenter.k8s.aws/instance-memory` is in MiB, and the smallest
    /// instance types have 512 MiB.
    ///
    /// ## Why it is bad
    ///
    /// An upper bound of 64 excludes every instance type, so Karpenter launches nothing from the NodePool. A lower bound
    /// of 16 excludes nothing, so Karpenter also launches the smallest instance types. `Gt` and `Lt` exclude the bound
    /// itself.
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
    ///         - {key: karpenter.k8s.aws/instance-memory, operator: Lt, values: ["64"]}
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
    ///         - {key: karpenter.k8s.aws/instance-memory, operator: Lt, values: ["65537"]}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2456
    /// - website/content/en/preview/reference/instance-types.md of aws/karpenter-provider-aws
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a bound on instance types is below every instance type, often because of a wrong unit",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// Numeric label that every instance type has.
struct Measure {
    key: &'static str,
    /// The smallest value among all instance types.
    least: i64,
    unit: &'static str,
}

/// The smallest values in website/content/en/preview/reference/instance-types.md of aws/karpenter-provider-aws.
const MEASURES: [Measure; 2] = [
    Measure { key: "karpenter.k8s.aws/instance-memory", least: 512, unit: " MiB" },
    Measure { key: "karpenter.k8s.aws/instance-cpu", least: 1, unit: " vCPU" },
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    for requirement in pool.requirements().parsed() {
        let Some(measure) = MEASURES.iter().find(|measure| measure.key == requirement.key) else { continue };
        let Some((node, value, excludes_all)) = below_every_type(requirement, measure.least) else {
            continue;
        };
        let Measure { least, unit, .. } = measure;
        let effect = if excludes_all {
            "no instance type fits, and Karpenter launches no nodes from this NodePool"
        } else {
            "this bound excludes no instance type"
        };
        let message = format!(
            "`{value}` means {value}{unit}, and the smallest instance types have {least}{unit}: {effect}"
        );
        let help = match value.checked_mul(1024) {
            Some(mib) if *unit == " MiB" => {
                format!("for {value} GiB write {mib}; `Gt` and `Lt` exclude the bound itself")
            }
            _ => "`Gt` and `Lt` exclude the bound itself".to_owned(),
        };
        let severity = if excludes_all { Severity::Error } else { Severity::Warning };
        findings.push(Finding::at(&RULE, node, message).severity(severity).help(help));
    }
}

/// Whether a requirement excludes every instance type, because it is below all of them.
pub(crate) fn excludes_every_type(requirement: LabelRequirement<'_>) -> bool {
    let measure = MEASURES.iter().find(|measure| measure.key == requirement.key);
    let below = measure.and_then(|measure| below_every_type(requirement, measure.least));
    below.is_some_and(|(_, _, excludes_all)| excludes_all)
}

/// Returns the largest value of a requirement that excludes all instance types, or the bound that excludes none, and whether
/// all are excluded. A lower bound of 0 or less is not reported: its author asks for nothing.
fn below_every_type(requirement: LabelRequirement<'_>, least: i64) -> Option<(Node<'_>, i64, bool)> {
    let mut numbers = Vec::new();
    for (text, node) in requirement.values() {
        // Placeholders are no numbers.
        numbers.push((text.parse::<i64>().ok()?, node));
    }
    let (largest, node) = numbers.into_iter().max_by_key(|(number, _)| *number)?;
    let (excludes_all, excludes_none) = match requirement.item.operator()? {
        Operator::In | Operator::Lte => (largest < least, false),
        Operator::Lt => (largest <= least, false),
        Operator::Gt => (false, largest > 0 && largest < least),
        Operator::Gte => (false, largest > 1 && largest < least),
        Operator::NotIn | Operator::Exists | Operator::DoesNotExist => (false, false),
    };
    (excludes_all || excludes_none).then_some((node, largest, excludes_all))
}

#[cfg(test)]
mod tests {
    use super::{MEASURES, RULE};
    use crate::rules::testing::{findings, silent};
    use karpenter::instance_types::{self, TypeLabel};

    fn pool(requirement: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements:
      - {{key: karpenter.k8s.aws/instance-{requirement}}}
"
        )
    }

    #[test]
    fn the_smallest_values_are_those_of_the_table_of_instance_types() {
        for measure in MEASURES {
            let label = TypeLabel::all().find(|label| label.key == measure.key).unwrap();
            let values =
                instance_types::all().iter().map(|kind| label.value(kind).unwrap().parse::<i64>().unwrap());
            assert_eq!(values.min(), Some(measure.least), "{}", measure.key);
        }
    }

    #[test]
    fn reports_an_upper_bound_in_gib() {
        insta::assert_snapshot!(findings(&RULE, &pool("memory, operator: Lt, values: ['64']")), @"
          8 |       - {key: karpenter.k8s.aws/instance-memory, operator: Lt, values: ['64']}
            |                                                                         ^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          `64` means 64 MiB, and the smallest instance types have 512 MiB: no instance type fits, and Karpenter launches no nodes from this NodePool
          help: for 64 GiB write 65536; `Gt` and `Lt` exclude the bound itself
        ");
    }

    #[test]
    fn warns_about_a_lower_bound_in_gib() {
        insta::assert_snapshot!(findings(&RULE, &pool("memory, operator: Gt, values: ['16']")), @"
          8 |       - {key: karpenter.k8s.aws/instance-memory, operator: Gt, values: ['16']}
            |                                                                         ^^^^
        warning NodePool/a spec.template.spec.requirements[0].values[0] [all]
          `16` means 16 MiB, and the smallest instance types have 512 MiB: this bound excludes no instance type
          help: for 16 GiB write 16384; `Gt` and `Lt` exclude the bound itself
        ");
    }

    #[test]
    fn judges_both_sides_of_every_bound() {
        for (operator, reported, accepted) in [
            ("Lt", "'512'", "'513'"),
            ("Lte", "'511'", "'512'"),
            ("In", "'16', '511'", "'16', '512'"),
            ("Gt", "'511'", "'512'"),
            ("Gt", "'1'", "'0'"),
            ("Gte", "'511'", "'512'"),
            ("Gte", "'2'", "'1'"),
        ] {
            let with = |values: &str| pool(&format!("memory, operator: {operator}, values: [{values}]"));
            assert!(!findings(&RULE, &with(reported)).is_empty(), "{operator} {reported}");
            silent(&RULE, &with(accepted));
        }
        let cpu = findings(&RULE, &pool("cpu, operator: Lt, values: ['1']"));
        assert!(cpu.contains("error NodePool/a") && !cpu.contains("GiB"), "{cpu}");
    }

    #[test]
    fn accepts_other_requirements_and_placeholders() {
        for requirement in [
            "cpu, operator: Lt, values: ['2']",
            "cpu, operator: Gt, values: ['0']",
            "memory, operator: NotIn, values: ['16']",
            "memory, operator: Exists",
            "memory, operator: In, values: ['16', '${MEMORY}']",
            "generation, operator: Gt, values: ['2']",
        ] {
            silent(&RULE, &pool(requirement));
        }
    }
}
