use karpenter::instance_types::hints::{Hint, hint};
use karpenter::instance_types::names::{
    CATEGORY, FAMILY, GENERATION, SIZE, Standing, TYPE, is_label, standing,
};
use karpenter::kind::Kind;
use karpenter::known_values::{self, is_replaced};
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::{Object, Operation};
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use objects::requirement::LabelRequirement;
use objects::requirement_holder::RequirementHolder;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::are_alternatives;

use super::requirement_value_unknown::is_of_aws;
use crate::rules::capacity::gt_lt_off_by_one_or_unit::excludes_every_type;

rule! {
    /// ## What it does
    ///
    /// Checks the values of requirements on the labels of instance types, such as the instance family, the size or the number of
    /// vCPUs, against the instance types of EC2. The help names the nearest value.
    ///
    /// ## Why it is bad
    ///
    /// No instance type has such a value. If another value in the list is right, Karpenter ignores the wrong one, and launches
    /// other instances than its author wants. If no value is right, Karpenter launches no nodes, and every pod fails with `no
    /// instance type which met the scheduling requirements`. In `NotIn` the value excludes nothing.
    ///
    /// ## Instance types that are newer than Karpwarden
    ///
    /// A name that has the form of a new instance type, such as `m10g.large`, may be right although Karpwarden does not know it:
    /// the finding is a warning if the list has no known value, and an info otherwise. In `NotIn` it is not reported.
    ///
    /// ## What it needs
    ///
    /// The policy in the cluster does not have the instance types, so the finding is only in the report of files.
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
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [t3, t3a]}
    ///         - {key: karpenter.k8s.aws/instance-size, operator: NotIn, values: [nono, micro, small]}
    ///         - {key: karpenter.k8s.aws/instance-cpu-manufacturer, operator: In, values: [Intel]}
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
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [t3, t3a]}
    ///         - {key: karpenter.k8s.aws/instance-size, operator: NotIn, values: [nano, micro, small]}
    ///         - {key: karpenter.k8s.aws/instance-cpu-manufacturer, operator: In, values: [intel]}
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the value is another spelling of a known value, such as `M5.large`, and cannot mean anything else.
    ///
    /// ## References
    ///
    /// - squareops/terraform-aws-eks-addons#55
    /// - website/content/en/preview/reference/instance-types.md of aws/karpenter-provider-aws, and the enum `InstanceType` of the EC2
    ///   API
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a requirement names an instance type, family, size or another property that no instance type has",
        runs: Runs::OnKarpenterFiles,
        on: &[
            On::Kind(Kind::NODE_POOL),
            On::Kind(Kind::of("karpenter.sh", "v1beta1", "NodePool")),
            On::Kind(Kind::NODE_OVERLAY),
            On::Workload,
        ],
        inventory: &[],
        check: check,
    }
}

/// The prefix of the labels of this provider.
const OF_PROVIDER: &str = "karpenter.k8s.aws/";
/// The prefix of the labels of EKS Auto Mode, which have the same values as the labels of this provider.
const OF_AUTO_MODE: &str = "eks.amazonaws.com/instance-";

/// Value of a requirement that no known instance type has.
struct Unknown<'d> {
    value: &'d str,
    node: Node<'d>,
    standing: Standing,
}

/// The unknown values of a requirement.
struct Values<'d> {
    unknown: Vec<Unknown<'d>>,
    /// Whether another value is known, or is a placeholder.
    has_others: bool,
}

impl<'d> Values<'d> {
    fn of(label: &str, values: impl Iterator<Item = Node<'d>>) -> Self {
        let mut all = Self { unknown: Vec::new(), has_others: false };
        for node in values {
            let is_known = |value: &str| standing(label, value) == Some(Standing::Known);
            let is_open = |value: &str| is_replaced(label, value) || are_alternatives(value, is_known);
            let value = node.as_str().filter(|value| !is_open(value));
            let standing = value.and_then(|value| Some((value, standing(label, value)?)));
            match standing.filter(|(_, standing)| *standing != Standing::Known) {
                Some((value, standing)) => all.unknown.push(Unknown { value, node, standing }),
                None => all.has_others = true,
            }
        }
        all
    }

    /// Whether no value is right, now or later.
    fn is_impossible(&self) -> bool {
        !self.has_others && self.unknown.iter().all(|one| one.standing != Standing::Possible)
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(pod) = Pod::of(object) {
        // A preference that no node meets keeps no pod from running.
        let is_required = |expression: &LabelExpression<'_>| {
            expression.operator == Operator::In
                && !matches!(expression.origin, ExpressionOrigin::Preferred { .. })
        };
        for expression in pod.expressions().filter(is_required) {
            check_pod_expression(object, expression, findings);
        }
        return;
    }
    let Some(holder) = RequirementHolder::of(object).filter(|holder| is_of_aws(*holder)) else { return };
    for requirement in holder.requirements().parsed() {
        check_requirement(object, requirement, findings);
    }
}

/// The label of instance types that a key names; `None` for other labels, and for labels that another rule checks.
fn label_of(key: &str) -> Option<String> {
    let label = match key.strip_prefix(OF_AUTO_MODE) {
        Some(name) => format!("{OF_PROVIDER}instance-{name}"),
        None => labels::normalised(key).to_owned(),
    };
    (known_values::of_label(&label).is_none() && is_label(&label)).then_some(label)
}

fn check_requirement<'d>(
    object: Object<'d>,
    requirement: LabelRequirement<'d>,
    findings: &mut Vec<Finding<'d>>,
) {
    let Some(label) = label_of(requirement.key) else { return };
    let is_in = match requirement.item.operator() {
        Some(Operator::In) => true,
        Some(Operator::NotIn) => false,
        _ => return,
    };
    if excludes_every_type(requirement) {
        return;
    }
    let values = Values::of(&label, requirement.item.values());
    let is_impossible = values.is_impossible();
    for one in &values.unknown {
        let (effect, severity) = match (is_in, one.standing) {
            (true, _) if is_impossible => (no_nodes(object), Severity::Error),
            (true, Standing::Possible) if values.has_others => {
                ("Karpenter ignores it, unless a newer instance type has it", Severity::Info)
            }
            (true, Standing::Possible) => {
                ("no instance type matches, unless a newer one has it", Severity::Warning)
            }
            (true, _) => ("Karpenter ignores it", Severity::Warning),
            (false, Standing::Malformed) => ("it excludes nothing", Severity::Warning),
            (false, _) => continue,
        };
        let finding = finding(&label, one, effect).severity(severity);
        findings.push(with_hint(finding, &label, one, object.operation() != Operation::Update));
    }
}

fn no_nodes(object: Object<'_>) -> &'static str {
    if object.is(Kind::NODE_OVERLAY) {
        "the list has no valid value, so this NodeOverlay matches no instances"
    } else {
        "the list has no valid value, so Karpenter launches no nodes from this NodePool"
    }
}

/// Reports the values that a pod asks of instance types, if no instance type has any of them. Nodes of other clouds have no label
/// of this provider, but have the label of the instance type.
fn check_pod_expression<'d>(
    object: Object<'d>,
    expression: LabelExpression<'d>,
    findings: &mut Vec<Finding<'d>>,
) {
    let Some(label) = label_of(expression.key) else { return };
    let is_clear = |one: &Unknown<'_>| {
        label.starts_with(OF_PROVIDER)
            || (one.standing != Standing::Possible
                && matches!(hint(&label, one.value), Some(Hint::Near(_) | Hint::Spelling(_))))
    };
    let values = Values::of(&label, expression.values());
    if values.has_others || !values.unknown.iter().all(is_clear) {
        return;
    }
    let is_selector = expression.origin == ExpressionOrigin::NodeSelector;
    let severity = match (is_selector, values.is_impossible()) {
        (true, true) if expression.key.starts_with(OF_PROVIDER) => Severity::Error,
        _ => Severity::Warning,
    };
    let effect = match (values.unknown.len(), values.is_impossible()) {
        (1, true) => "no node fits the pod",
        (_, true) => "no node has it or another value listed here, so no node fits the pod",
        (_, false) => "no node fits the pod, unless a newer instance type has it",
    };
    for one in &values.unknown {
        let finding = finding(&label, one, effect).severity(severity).caught_by(CaughtBy::Controller);
        findings.push(with_hint(finding, &label, one, object.operation() != Operation::Update));
    }
}

fn finding<'d>(label: &str, one: &Unknown<'d>, effect: &str) -> Finding<'d> {
    let value = one.value;
    let problem = match what(label) {
        Some(what) => format!("unknown instance {what} `{value}`"),
        None => format!("no instance type has the value `{value}` of `{label}`"),
    };
    Finding::at(&RULE, one.node, format!("{problem}: {effect}"))
}

/// The name of a value that is a part of the names of instance types.
fn what(label: &str) -> Option<&'static str> {
    Some(match label {
        TYPE => "type",
        FAMILY => "family",
        SIZE => "size",
        CATEGORY => "category",
        GENERATION => "generation",
        _ => return None,
    })
}

fn with_hint<'d>(finding: Finding<'d>, label: &str, one: &Unknown<'d>, is_fixable: bool) -> Finding<'d> {
    match hint(label, one.value) {
        Some(Hint::Spelling(meant)) if is_fixable => finding.set(one.node, &meant),
        Some(Hint::Spelling(meant)) => finding.write(&meant),
        Some(Hint::Near(near)) => finding.help(format!("did you mean `{near}`?")),
        Some(Hint::Advice(advice)) => finding.help(advice),
        None => finding.help("write the name of an EC2 instance type, such as `m7i.large`"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    #[test]
    fn ignores_names_of_variables() {
        let with = |values: &str| {
            pool(&format!("karpenter.k8s.aws/instance-family, operator: In, values: [{values}]"))
        };
        silent(&RULE, &with("FAMILY"));
        silent(&RULE, &with("INSTANCE_FAMILY, '<fam>'"));
        silent(&RULE, &pool("karpenter.k8s.aws/instance-cpu, operator: In, values: [CPU]"));
        silent(&RULE, &pool("eks.amazonaws.com/instance-category, operator: In, values: [CATEGORY]"));
        silent(&RULE, &pool("node.kubernetes.io/instance-type, operator: In, values: [INSTANCE_TYPE]"));
        for mistake in ["M5", "family", "GENERAL_PURPOSE", "M55"] {
            assert!(!findings(&RULE, &with(mistake)).is_empty(), "{mistake}");
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
      - {{key: {requirement}}}
"
        )
    }

    fn pod(fields: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  {fields}
"
        )
    }

    #[test]
    fn reports_lists_without_a_value_of_an_instance_type() {
        insta::assert_snapshot!(findings(&RULE, &pool("karpenter.k8s.aws/instance-category, operator: In, values: [t3, t3a]")), @"
          8 |       - {key: karpenter.k8s.aws/instance-category, operator: In, values: [t3, t3a]}
            |                                                                           ^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          unknown instance category `t3`: the list has no valid value, so Karpenter launches no nodes from this NodePool
          help: did you mean `t`?
          8 |       - {key: karpenter.k8s.aws/instance-category, operator: In, values: [t3, t3a]}
            |                                                                               ^^^
        error NodePool/a spec.template.spec.requirements[0].values[1] [all]
          unknown instance category `t3a`: the list has no valid value, so Karpenter launches no nodes from this NodePool
          help: did you mean `t`?
        ");
        insta::assert_snapshot!(findings(&RULE, &pool("node.kubernetes.io/instance-type, operator: In, values: [m5.lage]")), @"
          8 |       - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.lage]}
            |                                                                        ^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          unknown instance type `m5.lage`: the list has no valid value, so Karpenter launches no nodes from this NodePool
          help: did you mean `m5.large`?
        ");
        insta::assert_snapshot!(findings(&RULE, &pool("karpenter.k8s.aws/instance-cpu, operator: In, values: ['5']")), @"
          8 |       - {key: karpenter.k8s.aws/instance-cpu, operator: In, values: ['5']}
            |                                                                      ^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          no instance type has the value `5` of `karpenter.k8s.aws/instance-cpu`: the list has no valid value, so Karpenter launches no nodes from this NodePool
          help: the nearest values are `4` and `8`
        ");
        insta::assert_snapshot!(findings(&RULE, &pool("karpenter.k8s.aws/instance-family, operator: In, values: [t, m]")), @"
          8 |       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [t, m]}
            |                                                                         ^
        error NodePool/a spec.template.spec.requirements[0].values[0] [all]
          unknown instance family `t`: the list has no valid value, so Karpenter launches no nodes from this NodePool
          help: `t` is an instance category: write it with the key `karpenter.k8s.aws/instance-category`
          8 |       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [t, m]}
            |                                                                            ^
        error NodePool/a spec.template.spec.requirements[0].values[1] [all]
          unknown instance family `m`: the list has no valid value, so Karpenter launches no nodes from this NodePool
          help: `m` is an instance category: write it with the key `karpenter.k8s.aws/instance-category`
        ");
    }

    #[test]
    fn names_the_nearest_value() {
        for (requirement, expected) in [
            ("karpenter.k8s.aws/instance-family, operator: In, values: [m5.large]", "did you mean `m5`?"),
            ("karpenter.k8s.aws/instance-family, operator: In, values: [m55]", "did you mean `m5`?"),
            ("karpenter.k8s.aws/instance-size, operator: In, values: [lagre]", "did you mean `large`?"),
            (
                "karpenter.k8s.aws/instance-local-nvme, operator: In, values: ['true']",
                "write `operator: Exists`",
            ),
            ("karpenter.k8s.aws/instance-memory, operator: In, values: [16Gi]", "write `16384`"),
            ("karpenter.k8s.aws/instance-generation, operator: In, values: [m5]", "did you mean `5`?"),
            (
                "beta.kubernetes.io/instance-type, operator: In, values: [t3.meduim]",
                "did you mean `t3.medium`?",
            ),
        ] {
            let found = findings(&RULE, &pool(requirement));
            assert!(
                found.contains("\nerror NodePool/a") && found.contains(expected),
                "{requirement}: {found}"
            );
        }
    }

    #[test]
    fn judges_values_beside_known_ones_and_excluded_values() {
        let of_size = |operator: &str, values: &str| {
            findings(
                &RULE,
                &pool(&format!("karpenter.k8s.aws/instance-size, operator: {operator}, values: [{values}]")),
            )
        };
        assert!(of_size("In", "lagre, xlarge").contains("\nwarning NodePool/a"));
        let excluded = of_size("NotIn", "nono, micro");
        assert!(excluded.contains("unknown instance size `nono`: it excludes nothing"), "{excluded}");
        assert!(excluded.contains("help: did you mean `nano`?"), "{excluded}");
    }

    #[test]
    fn newer_instance_types_are_no_errors() {
        let of_family = |values: &str| {
            findings(
                &RULE,
                &pool(&format!("karpenter.k8s.aws/instance-family, operator: In, values: [{values}]")),
            )
        };
        let found = of_family("inf3");
        assert!(found.contains("\nwarning NodePool/a") && found.contains("did you mean `inf2`?"), "{found}");
        assert!(of_family("m8g, m10g").contains("\ninfo NodePool/a"));
        silent(&RULE, &pool("karpenter.k8s.aws/instance-family, operator: NotIn, values: [m10g, t5]"));
        assert!(of_family("t5, m7i").contains("warning NodePool/a"));
    }

    #[test]
    fn fixes_another_spelling() {
        let text = pool("node.kubernetes.io/instance-type, operator: In, values: [M5.Large]");
        assert_eq!(fixed(&RULE, &text), text.replace("M5.Large", "m5.large"));
    }

    #[test]
    fn checks_pods_that_select_instance_types() {
        insta::assert_snapshot!(findings(&RULE, &pod("nodeSelector: {karpenter.k8s.aws/instance-family: m55}")), @"
          6 |   nodeSelector: {karpenter.k8s.aws/instance-family: m55}
            |                                                     ^^^
        error Pod/a spec.nodeSelector.karpenter.k8s.aws/instance-family [all]
          unknown instance family `m55`: no node fits the pod
          help: did you mean `m5`?
        ");
        let by_type =
            |name: &str| pod(&format!("nodeSelector: {{node.kubernetes.io/instance-type: {name}}}"));
        assert!(findings(&RULE, &by_type("m5.lrge")).contains("warning Pod/a"));
        for accepted in [
            by_type("m5.large"),
            by_type("n1-standard-4"),
            by_type("Standard_D2s_v3"),
            by_type("m10g.large"),
            by_type("'${TYPE}'"),
            pod("nodeSelector: {karpenter.k8s.aws/instance-family: m5}"),
        ] {
            silent(&RULE, &accepted);
        }
    }

    #[test]
    fn checks_labels_of_auto_mode_and_of_v1beta1() {
        let auto = pool("eks.amazonaws.com/instance-category, operator: In, values: [c5]");
        assert!(findings(&RULE, &auto).contains("did you mean `c`?"));
        let old = pool("karpenter.k8s.aws/instance-size, operator: NotIn, values: [nono]")
            .replace("/v1\n", "/v1beta1\n");
        assert!(findings(&RULE, &old).contains("nono"));
    }

    #[test]
    fn accepts_values_of_instance_types_placeholders_and_other_labels() {
        for requirement in [
            "karpenter.k8s.aws/instance-family, operator: In, values: [m5, c6i, p3, t4g, u-24tb1, mac2]",
            "karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r, trn]",
            "karpenter.k8s.aws/instance-cpu, operator: In, values: ['4', '8', '16']",
            "karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['5']",
            "karpenter.k8s.aws/instance-hypervisor, operator: In, values: [nitro, '']",
            "karpenter.k8s.aws/instance-family, operator: In, values: ['${FAMILY}', m55]",
            "kubernetes.io/arch, operator: In, values: [x86]",
            "example.com/size, operator: In, values: [lagre]",
        ] {
            let found = findings(&RULE, &pool(requirement));
            assert!(
                !found.contains("error") && (found.is_empty() || requirement.contains("m55")),
                "{requirement}: {found}"
            );
        }
        let azure = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D2s_v3]}]
";
        silent(&RULE, azure);
    }
}
