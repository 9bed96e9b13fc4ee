use core::fmt;
use std::collections::BTreeMap;

use karpenter::instance_types::category_and_generation_of_family;
use karpenter::instance_types::names::{Standing, standing};
use karpenter::kind::Kind;
use karpenter::known_values::{self, is_replaced};
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::LabelRequirement;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::{EffectiveOperator, Requirement};

rule! {
    /// ## What it does
    ///
    /// Finds requirements of a NodePool that no instance type meets together: two requirements on the same well-known
    /// label without a common value, a label of the template that a requirement excludes, and lists of instance types or
    /// families whose names show that another requirement excludes all of them.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter intersects all requirements on a label, and the labels of the template. If no value is left, it launches
    /// no nodes from the NodePool. A label that only some instance types have, such as the number of GPUs, is an exception:
    /// Karpenter may then launch instance types without the label. The rule does not judge these labels.
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
    ///         - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["3"]}
    ///         - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["4"]}
    /// ```
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
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c]}
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}
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
    ///         - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["3"]}
    ///         - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["17"]}
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2438: the log shows the emptied requirement as `topology.kubernetes.io/zone DoesNotExist`
    /// - kubernetes-sigs/karpenter `pkg/scheduling/requirements.go` `Add`, and
    ///   `pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go` `NewNodeClaimTemplate`, 1.0-1.14
    /// - aws/karpenter-provider-aws `pkg/providers/instancetype/types.go` `computeRequirements`, 1.0-1.14
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no instance type meets the requirements of a NodePool together",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

const TYPE: &str = "node.kubernetes.io/instance-type";
const FAMILY: &str = "karpenter.k8s.aws/instance-family";
const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
const GENERATION: &str = "karpenter.k8s.aws/instance-generation";
const SIZE: &str = "karpenter.k8s.aws/instance-size";

/// Maximum number of other requirements that a finding shows.
pub(super) const MAX_RELATED: usize = 3;

/// Labels that every node of AWS has. `computeRequirements` leaves out other labels for some instance types. Only Mac types
/// such as `mac-m4.metal` have no category and no generation, and nobody asks for them with a contradiction.
const ON_EVERY_NODE: [&str; 12] = [
    labels::CAPACITY_TYPE,
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    TYPE,
    FAMILY,
    CATEGORY,
    GENERATION,
    SIZE,
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-memory",
];

/// Requirement on a label and the place that states it.
pub(super) struct Stated<'d> {
    pub(super) place: Place<'d>,
    pub(super) written: Written<'d>,
    pub(super) requirement: Requirement<'d>,
}

/// A requirement as the NodePool states it: an item of `requirements`, or the value of a label.
pub(super) enum Written<'d> {
    Item(LabelRequirement<'d>),
    Label(&'d str),
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(item) => {
                let values: Vec<_> = item.values().iter().map(|(value, _)| *value).collect();
                f.write_str(format!("{} {}", item.operator, values.join(", ")).trim_end())
            }
            Self::Label(value) => write!(f, "label {value}"),
        }
    }
}

/// Requirements on one label; `None` if one of them is undecided.
pub(super) type OnLabel<'d> = Option<Vec<Stated<'d>>>;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(pool) = NodePool::of(object).filter(|pool| may_contradict(*pool)) {
        findings.extend(contradictions(&stated_by_label(pool)));
    }
}

/// The findings about the requirements of a NodePool.
pub(super) fn contradictions<'d>(stated: &BTreeMap<&'d str, OnLabel<'d>>) -> Vec<Finding<'d>> {
    // The rules about unknown values report such a list, and name the value to write.
    let is_unknown = |label: &str, on_label: &OnLabel<'d>| {
        on_label.iter().flatten().any(|stated| lists_only_unknown_values(label, &stated.requirement))
    };
    let on_every_node = stated
        .iter()
        .filter(|(label, on_label)| ON_EVERY_NODE.contains(label) && !is_unknown(label, on_label));
    let of_labels = on_every_node.filter_map(|(label, on_label)| contradiction(label, on_label.as_ref()?));
    let mut findings: Vec<_> = of_labels.collect();
    if findings.is_empty() {
        findings.extend([TYPE, FAMILY].into_iter().find_map(|label| excluded_names(label, stated)));
    }
    findings
}

/// Whether requirements may contradict one another: a label has several, or one names instance types or families.
fn may_contradict(pool: NodePool<'_>) -> bool {
    let required = pool.requirements().parsed().map(LabelRequirement::label);
    let mut all: Vec<_> =
        required.chain(pool.node_labels().map(|(key, _)| labels::normalised(key))).collect();
    all.sort_unstable();
    all.iter().any(|label| [TYPE, FAMILY].contains(label))
        || all.windows(2).any(|pair| pair.first() == pair.last())
}

/// Collects the requirements and the labels of the template by label.
pub(super) fn stated_by_label(pool: NodePool<'_>) -> BTreeMap<&str, OnLabel<'_>> {
    let mut all = BTreeMap::new();
    let mut add = |label, stated| match (all.entry(label).or_insert_with(|| Some(Vec::new())), stated) {
        (Some(list), Some(stated)) => list.push(stated),
        (undecided, _) => *undecided = None,
    };
    for requirement in pool.requirements().parsed() {
        let values: Vec<_> = requirement.item.values().filter_map(Node::as_str).collect();
        let operator = requirement.item.operator();
        let is_decided = !values.iter().any(|value| is_replaced(requirement.key, value))
            && requirement.item.values().count() == values.len()
            && (operator != Some(Operator::In) || !values.is_empty());
        let parsed = operator
            .filter(|_| is_decided)
            .and_then(|operator| Requirement::new(operator, values.iter().copied()));
        let stated = parsed.map(|parsed| Stated {
            place: Place::value(requirement.item.node()),
            written: Written::Item(requirement),
            requirement: parsed,
        });
        add(requirement.label(), stated);
    }
    for (key, node) in pool.node_labels() {
        let value = node.as_str().filter(|value| !is_replaced(key, value));
        let stated = value.map(|value| Stated {
            place: Place::value(node),
            written: Written::Label(value),
            requirement: Requirement::is(value),
        });
        add(labels::normalised(key), stated);
    }
    all
}

/// Finds the first requirement that leaves no value, together with those before it.
fn contradiction<'d>(label: &str, all: &[Stated<'d>]) -> Option<Finding<'d>> {
    let mut left = Requirement::exists();
    let mut earlier: Vec<&Stated<'d>> = Vec::new();
    for stated in all {
        left = left.intersection(&stated.requirement);
        let is_empty = left.operator() == EffectiveOperator::DoesNotExist;
        if is_empty && !earlier.is_empty() {
            return Some(report(label, stated, &earlier));
        }
        earlier.push(stated);
    }
    None
}

fn report<'d>(label: &str, stated: &Stated<'d>, earlier: &[&Stated<'d>]) -> Finding<'d> {
    let opposed = |other: &&&Stated<'d>| !other.requirement.intersects(&stated.requirement);
    let mut others: Vec<_> = earlier.iter().filter(opposed).collect();
    if others.is_empty() {
        others = earlier.iter().collect();
    }
    let texts: Vec<_> = others.iter().take(MAX_RELATED).map(|other| format!("`{}`", other.written)).collect();
    let message = format!(
        "no value of `{label}` meets `{}` and {} together, so Karpenter launches no nodes from this NodePool",
        stated.written,
        texts.join(", ")
    );
    let mut finding = Finding::new(&RULE, stated.place.clone(), message)
        .help("keep one of the requirements, or let them have a value in common");
    for other in others.into_iter().take(MAX_RELATED) {
        finding = finding.related(other.place.clone(), "contradicts this requirement");
    }
    finding
}

/// Whether a requirement lists values of which no instance type has any.
fn lists_only_unknown_values(label: &str, requirement: &Requirement<'_>) -> bool {
    let is_known = |value: &str| match known_values::of_label(label) {
        Some(known) => known.values.contains(&value),
        None => standing(label, value).is_none_or(|standing| standing == Standing::Known),
    };
    requirement.operator() == EffectiveOperator::In && !requirement.named_values().any(is_known)
}

/// Finds a list of instance types or families in which other requirements exclude every name.
fn excluded_names<'d>(label: &str, stated: &BTreeMap<&'d str, OnLabel<'d>>) -> Option<Finding<'d>> {
    let lists = stated.get(label)?.as_ref()?;
    let names = intersection(lists);
    let list = lists.iter().find(|list| list.requirement.operator() == EffectiveOperator::In)?;
    if names.operator() != EffectiveOperator::In || lists_only_unknown_values(label, &names) {
        return None;
    }
    let mut excluding: BTreeMap<&str, &Stated<'d>> = BTreeMap::new();
    for name in names.named_values() {
        let mut is_excluded = false;
        for (key, value) in labels_in_name(label, name)? {
            let others = stated.get(key).and_then(Option::as_ref);
            let excludes = |other: &&Stated<'d>| {
                !other.requirement.has(value) && !lists_only_unknown_values(key, &other.requirement)
            };
            if let Some(other) = others.and_then(|all| all.iter().find(excludes)) {
                excluding.insert(key, other);
                is_excluded = true;
            }
        }
        if !is_excluded {
            return None;
        }
    }
    let what = if label == TYPE { "instance types" } else { "instance families" };
    let texts: Vec<_> = excluding.iter().map(|(key, other)| format!("`{key}` `{}`", other.written)).collect();
    let exclude = if texts.len() == 1 { "excludes" } else { "exclude" };
    let message = format!(
        "{} {exclude} all {what} of this requirement, so Karpenter launches no nodes from this NodePool",
        texts.join(" and ")
    );
    let mut finding = Finding::new(&RULE, list.place.clone(), message)
        .help(format!("list {what} that the other requirements accept, or remove the other requirements"));
    for other in excluding.into_values().take(MAX_RELATED) {
        finding = finding.related(other.place.clone(), "excludes them");
    }
    Some(finding)
}

pub(super) fn intersection<'d>(all: &[Stated<'d>]) -> Requirement<'d> {
    all.iter().fold(Requirement::exists(), |left, stated| left.intersection(&stated.requirement))
}

/// Returns the labels that the name of an instance type or family determines; `None` for a name of another form.
fn labels_in_name<'n>(label: &str, name: &'n str) -> Option<Vec<(&'static str, &'n str)>> {
    let (family, mut found) = if label == TYPE {
        let (family, size) = name.split_once('.')?;
        (family, vec![(FAMILY, family), (SIZE, size)])
    } else {
        (name, Vec::new())
    };
    let (category, generation) = category_and_generation_of_family(family)?;
    found.extend([(CATEGORY, category), (GENERATION, generation)]);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn labelled(labels: &str, requirements: &[&str]) -> String {
        let items: Vec<_> = requirements.iter().map(|item| format!("      - {{key: {item}}}\n")).collect();
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    metadata: {{labels: {{{labels}}}}}
    spec:
      requirements:
{}",
            items.concat()
        )
    }

    fn pool(requirements: &[&str]) -> String {
        labelled("", requirements)
    }

    #[test]
    fn leaves_lists_of_unknown_values_to_their_rules() {
        for requirements in [
            [
                "node.kubernetes.io/instance-type, operator: In, values: [m5.lrge]",
                "karpenter.k8s.aws/instance-family, operator: In, values: [m55]",
            ],
            [
                "node.kubernetes.io/instance-type, operator: In, values: [m5.large]",
                "karpenter.k8s.aws/instance-family, operator: In, values: [m55]",
            ],
            [
                "kubernetes.io/arch, operator: In, values: [amd64]",
                "kubernetes.io/arch, operator: In, values: [x64]",
            ],
        ] {
            silent(&RULE, &pool(&requirements));
        }
        let known = pool(&[
            "node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.lrge]",
            "karpenter.k8s.aws/instance-family, operator: In, values: [m6i, m55]",
        ]);
        assert!(!findings(&RULE, &known).is_empty());
    }

    #[test]
    fn reports_disjoint_values_of_one_label() {
        let text = pool(&[
            "kubernetes.io/arch, operator: In, values: [amd64]",
            "beta.kubernetes.io/arch, operator: In, values: [arm64]",
        ]);
        insta::assert_snapshot!(findings(&RULE, &text), @"
         10 |       - {key: beta.kubernetes.io/arch, operator: In, values: [arm64]}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[1] [all]
          no value of `kubernetes.io/arch` meets `In arm64` and `In amd64` together, so Karpenter launches no nodes from this NodePool
          help: keep one of the requirements, or let them have a value in common
          see line 9 spec.template.spec.requirements[0]: contradicts this requirement
        ");
    }

    #[test]
    fn names_only_the_requirements_that_contradict() {
        let text = pool(&[
            "kubernetes.io/arch, operator: In, values: [amd64, arm64]",
            "kubernetes.io/arch, operator: In, values: [amd64]",
            "kubernetes.io/arch, operator: In, values: [arm64]",
        ]);
        let found = findings(&RULE, &text);
        assert!(found.contains("meets `In arm64` and `In amd64` together"), "{found}");
        assert_eq!(found.matches("contradicts this requirement").count(), 1, "{found}");
    }

    #[test]
    fn reports_bounds_without_a_number_between_them() {
        let bounds = |upper: &str| {
            pool(&[
                "karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['3']",
                &format!("karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['{upper}']"),
            ])
        };
        insta::assert_snapshot!(findings(&RULE, &bounds("4")), @"
         10 |       - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['4']}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[1] [all]
          no value of `karpenter.k8s.aws/instance-cpu` meets `Lt 4` and `Gt 3` together, so Karpenter launches no nodes from this NodePool
          help: keep one of the requirements, or let them have a value in common
          see line 9 spec.template.spec.requirements[0]: contradicts this requirement
        ");
        silent(&RULE, &bounds("5"));
    }

    #[test]
    fn reports_a_label_of_the_template_that_a_requirement_excludes() {
        let with = |value: &str| {
            labelled(
                &format!("karpenter.sh/capacity-type: {value}"),
                &["karpenter.sh/capacity-type, operator: In, values: [on-demand]"],
            )
        };
        insta::assert_snapshot!(findings(&RULE, &with("spot")), @"
          6 |     metadata: {labels: {karpenter.sh/capacity-type: spot}}
            |                                                     ^^^^
        error NodePool/a spec.template.metadata.labels.karpenter.sh/capacity-type [all]
          no value of `karpenter.sh/capacity-type` meets `label spot` and `In on-demand` together, so Karpenter launches no nodes from this NodePool
          help: keep one of the requirements, or let them have a value in common
          see line 9 spec.template.spec.requirements[0]: contradicts this requirement
        ");
        silent(&RULE, &with("on-demand"));
        silent(&RULE, &with("'${TYPE}'"));
    }

    #[test]
    fn reports_families_of_another_category() {
        let with = |families: &str| {
            pool(&[
                "karpenter.k8s.aws/instance-category, operator: In, values: [c]",
                &format!("karpenter.k8s.aws/instance-family, operator: In, values: [{families}]"),
            ])
        };
        insta::assert_snapshot!(findings(&RULE, &with("m5, m6i")), @"
         10 |       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[1] [all]
          `karpenter.k8s.aws/instance-category` `In c` excludes all instance families of this requirement, so Karpenter launches no nodes from this NodePool
          help: list instance families that the other requirements accept, or remove the other requirements
          see line 9 spec.template.spec.requirements[0]: excludes them
        ");
        silent(&RULE, &with("m5, c6i"));
        silent(&RULE, &with("m5, '${FAMILY}'"));
        silent(&RULE, &with("m5, unknown"));
    }

    #[test]
    fn reports_types_of_another_generation_or_size() {
        let with = |types: &str| {
            pool(&[
                "karpenter.k8s.aws/instance-generation, operator: Gt, values: ['5']",
                "karpenter.k8s.aws/instance-size, operator: NotIn, values: [nano]",
                &format!("node.kubernetes.io/instance-type, operator: In, values: [{types}]"),
            ])
        };
        insta::assert_snapshot!(findings(&RULE, &with("m5.large, t8g.nano")), @"
         11 |       - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, t8g.nano]}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[2] [all]
          `karpenter.k8s.aws/instance-generation` `Gt 5` and `karpenter.k8s.aws/instance-size` `NotIn nano` exclude all instance types of this requirement, so Karpenter launches no nodes from this NodePool
          help: list instance types that the other requirements accept, or remove the other requirements
          see line 9 spec.template.spec.requirements[0]: excludes them
          see line 10 spec.template.spec.requirements[1]: excludes them
        ");
        silent(&RULE, &with("m5.large, t8g.micro"));
    }

    #[test]
    fn accepts_requirements_with_a_common_value_and_undecided_ones() {
        for requirements in [
            &[
                "kubernetes.io/arch, operator: In, values: [amd64, arm64]",
                "kubernetes.io/arch, operator: NotIn, values: [arm64]",
            ][..],
            &[
                "kubernetes.io/arch, operator: In, values: [amd64]",
                "kubernetes.io/arch, operator: In, values: ['${ARCH}']",
            ],
            &[
                "kubernetes.io/arch, operator: In, values: [amd64]",
                "kubernetes.io/arch, operator: In, values: []",
            ],
            // A custom label may be absent, and a type without GPUs has no number of GPUs.
            &["example.com/team, operator: In, values: [a]", "example.com/team, operator: In, values: [b]"],
            &[
                "karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist",
                "karpenter.k8s.aws/instance-gpu-count, operator: NotIn, values: ['8']",
            ],
            &[
                "kubernetes.io/arch, operator: Is, values: [amd64]",
                "kubernetes.io/arch, operator: In, values: [arm64]",
            ],
        ] {
            silent(&RULE, &pool(requirements));
        }
    }
}
