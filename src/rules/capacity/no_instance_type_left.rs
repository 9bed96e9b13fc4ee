use std::collections::{BTreeMap, BTreeSet};

use karpenter::instance_types::names::{
    CATEGORY, FAMILY, Standing, TYPE, UnlistedType, is_open, standing, unlisted,
};
use karpenter::instance_types::{self, InstanceType, TypeLabel};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement_holder::RequirementHolder;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::{EffectiveOperator, Requirement};
use values::spelling::add_quoted;

use super::gt_lt_off_by_one_or_unit::excludes_every_type;
use super::requirement_contradiction::{
    MAX_RELATED, OnLabel, Stated, contradictions, intersection, stated_by_label,
};
use crate::rules::labels::requirement_value_unknown::is_of_aws;

rule! {
    /// ## What it does
    ///
    /// Compares the requirements of a NodePool, and the labels of its template, with the instance types of EC2, and reports the
    /// requirements that together leave none of them.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter launches no nodes from the NodePool, and logs `nodepool requirements filtered out all available instance types`.
    /// Each of the requirements may be right alone: there are instances of the family `t3`, and instances of the size `24xlarge`.
    ///
    /// The finding is a warning if a newer instance type can meet the requirements, for example a larger size of a new family.
    ///
    /// ## What is not reported
    ///
    /// Requirements that contradict one another by themselves, which `requirement-contradiction` reports, and lists without a value
    /// that an instance type has, which `instance-value-unknown` reports.
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
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [t3]}
    ///         - {key: karpenter.k8s.aws/instance-size, operator: In, values: [24xlarge]}
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
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [t3]}
    ///         - {key: karpenter.k8s.aws/instance-size, operator: In, values: [xlarge, 2xlarge]}
    /// ```
    ///
    /// ## References
    ///
    /// - `filterInstanceTypesByRequirements` in pkg/controllers/provisioning/scheduling/nodeclaim.go, and `NewScheduler` in
    ///   scheduler.go, of kubernetes-sigs/karpenter at v1.14.1
    /// - website/content/en/preview/reference/instance-types.md of aws/karpenter-provider-aws
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no instance type of EC2 meets the requirements of a NodePool together",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::of("karpenter.sh", "v1beta1", "NodePool"))],
        inventory: &[],
        check: check,
    }
}

const ARCH: &str = "kubernetes.io/arch";
const OS: &str = "kubernetes.io/os";

/// Labels that all instance types of a family share, whatever their size.
const OF_FAMILY: [&str; 10] = [
    ARCH,
    FAMILY,
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-generation",
    "karpenter.k8s.aws/instance-capability-flex",
    "karpenter.k8s.aws/instance-cpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-manufacturer",
    "karpenter.k8s.aws/instance-accelerator-name",
];

/// Maximum number of values that the help lists.
const MAX_LISTED: usize = 12;

/// The requirements on a label of instance types.
struct OnTypes<'s, 'd> {
    /// The label that the NodePool states.
    key: &'d str,
    /// The label of the instance types that decides.
    label: TypeLabel,
    requirement: Requirement<'d>,
    stated: &'s [Stated<'d>],
}

impl OnTypes<'_, '_> {
    fn allows(&self, kind: &InstanceType) -> bool {
        match self.label.value(kind) {
            Some(value) => self.requirement.has(value),
            None => self.requirement.is_negative(),
        }
    }

    /// The listed values, if the requirement is a list.
    fn listed(&self) -> Option<Vec<&str>> {
        let is_list = self.requirement.operator() == EffectiveOperator::In;
        is_list.then(|| self.requirement.named_values().collect())
    }

    fn standings(&self) -> impl Iterator<Item = Standing> {
        let values = self.listed().unwrap_or_default().into_iter();
        values.filter_map(|value| standing(self.label.key, value)).collect::<Vec<_>>().into_iter()
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| is_of_aws(RequirementHolder::Pool(*pool))) else {
        return;
    };
    let stated = stated_by_label(pool);
    let restricted = on_types(&stated);
    if restricted.is_empty()
        || leaves_types(&restricted.iter())
        || is_reported_elsewhere(pool, &stated, &restricted)
    {
        return;
    }
    findings.extend(finding(&excluding(restricted)));
}

fn on_types<'s, 'd>(stated: &'s BTreeMap<&'d str, OnLabel<'d>>) -> Vec<OnTypes<'s, 'd>> {
    let with_label = |(key, on_label): (&&'d str, &'s OnLabel<'d>)| {
        let (key, stated) = (*key, on_label.as_ref()?);
        let requirement = intersection(stated);
        if key == OS {
            return on_system(key, &requirement, stated);
        }
        Some(OnTypes { key, label: TypeLabel::of_key(key)?, requirement, stated })
    };
    stated.iter().filter_map(with_label).collect()
}

/// Nodes with Windows have the architecture amd64.
///
/// Source: `getOS` in pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.0.0 to v1.14.1.
fn on_system<'s, 'd>(
    key: &'d str,
    system: &Requirement<'d>,
    stated: &'s [Stated<'d>],
) -> Option<OnTypes<'s, 'd>> {
    let needs_windows = system.has("windows") && !system.has("linux");
    let label = TypeLabel::of_key(ARCH).filter(|_| needs_windows)?;
    Some(OnTypes { key, label, requirement: Requirement::is("amd64"), stated })
}

/// Whether an instance type agrees with requirements.
fn leaves_types<'s, 'd: 's>(restricted: &(impl Iterator<Item = &'s OnTypes<'s, 'd>> + Clone)) -> bool {
    let allows = |kind: &InstanceType| restricted.clone().all(|one| one.allows(kind));
    // The families and types that a NodePool lists are found faster than by a look at every instance type.
    let listed =
        |label: &str| restricted.clone().find(|one| one.label.key == label).and_then(OnTypes::listed);
    let of_types =
        || Some(listed(TYPE)?.into_iter().filter_map(|name| Some(name.split_once('.')?.0)).collect());
    let families: Option<Vec<&str>> = listed(FAMILY).or_else(of_types);
    let is_left = match families {
        Some(families) => families.into_iter().flat_map(instance_types::types_of_family).any(allows),
        None => instance_types::all().iter().any(allows),
    };
    is_left || unlisted().iter().any(|one| allows_unlisted(one, restricted.clone()))
}

/// Whether an instance type that the table lacks may agree with requirements: its name does, and a type of the table of the same category
/// and with as many vCPUs does otherwise.
fn allows_unlisted<'s, 'd: 's>(
    unlisted: &UnlistedType,
    restricted: impl Iterator<Item = &'s OnTypes<'s, 'd>> + Clone,
) -> bool {
    let by_name = restricted.clone().filter(|one| unlisted.shows(one.label.key));
    let agrees = by_name.clone().all(|one| match unlisted.value(one.label.key) {
        Some(value) => one.requirement.has(value),
        None => one.requirement.is_negative(),
    });
    if !agrees {
        return false;
    }
    if unlisted.alike().is_empty() {
        // Mac types and types of retired categories are meant only where they are named.
        let mut naming = by_name.filter(|one| [TYPE, FAMILY, CATEGORY].contains(&one.label.key));
        return naming.any(|one| one.listed().is_some());
    }
    let others = restricted.filter(|one| !unlisted.shows(one.label.key));
    unlisted.alike().iter().any(|kind| others.clone().all(|one| one.allows(kind)))
}

fn is_reported_elsewhere<'d>(
    pool: NodePool<'d>,
    stated: &BTreeMap<&'d str, OnLabel<'d>>,
    restricted: &[OnTypes<'_, 'd>],
) -> bool {
    let is_unknown = |one: &OnTypes<'_, '_>| {
        one.listed().is_some() && one.standings().all(|standing| standing != Standing::Known)
    };
    // A newer instance type may have the other properties as well.
    let may_be_newer = |one: &OnTypes<'_, '_>| one.standings().any(|standing| standing == Standing::Possible);
    restricted.iter().any(|one| is_unknown(one) || may_be_newer(one))
        || pool.requirements().parsed().any(excludes_every_type)
        || !contradictions(stated).is_empty()
}

/// The smallest part of requirements that leaves no instance type: without any one of its labels, types are left.
fn excluding<'s, 'd>(mut restricted: Vec<OnTypes<'s, 'd>>) -> Vec<OnTypes<'s, 'd>> {
    for index in (0..restricted.len()).rev() {
        let without = restricted.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, one)| one);
        if restricted.len() > 1 && !leaves_types(&without) {
            restricted.remove(index);
        }
    }
    restricted
}

fn finding<'d>(excluding: &[OnTypes<'_, 'd>]) -> Option<Finding<'d>> {
    let mut all: Vec<(&OnTypes<'_, 'd>, &Stated<'d>)> =
        excluding.iter().flat_map(|one| one.stated.iter().map(move |stated| (one, stated))).collect();
    all.sort_by_key(|(_, stated)| stated.place.order());
    let mut in_order: Vec<&OnTypes<'_, 'd>> = Vec::new();
    for (one, _) in &all {
        if in_order.iter().all(|other| other.key != one.key) {
            in_order.push(one);
        }
    }
    let (last, at) = all.pop()?;
    let texts: Vec<_> = all
        .iter()
        .take(MAX_RELATED)
        .chain([&(last, at)])
        .map(|(one, stated)| format!("`{} {}`", one.key, shortened(&stated.written.to_string())))
        .collect();
    let (severity, known) =
        if is_final(excluding) { (Severity::Error, "") } else { (Severity::Warning, "known ") };
    let (joined, together) = match texts.split_last() {
        Some((last, others)) if !others.is_empty() => {
            (format!("{} and {last}", others.join(", ")), " together")
        }
        _ => (texts.concat(), ""),
    };
    let message = format!(
        "no {known}instance type meets {joined}{together}, so Karpenter launches no nodes from this NodePool"
    );
    let mut finding = Finding::new(&RULE, at.place.clone(), message).severity(severity).help(help(&in_order));
    for (_, other) in all.into_iter().take(MAX_RELATED) {
        finding =
            finding.related(other.place.clone(), "leaves no instance type together with this requirement");
    }
    Some(finding)
}

/// A requirement as text, with at most five of its values.
fn shortened(written: &str) -> String {
    const MAX_SHOWN: usize = 5;
    let values: Vec<_> = written.split(", ").collect();
    let shown = values.iter().take(MAX_SHOWN).copied().collect::<Vec<_>>().join(", ");
    match values.len().saturating_sub(MAX_SHOWN) {
        0 => shown,
        others => format!("{shown} and {others} more"),
    }
}

/// Whether newer instance types will not meet the requirements either: they list instance types that exist, families that get
/// no new sizes, or families with properties that no size of them has.
fn is_final(excluding: &[OnTypes<'_, '_>]) -> bool {
    let of_family = || excluding.iter().all(|one| OF_FAMILY.contains(&one.label.key));
    let of_architecture = excluding.iter().all(|one| one.label.key == ARCH);
    of_architecture
        || excluding.iter().any(|one| match one.label.key {
            TYPE => one.listed().is_some(),
            FAMILY => one
                .listed()
                .is_some_and(|families| of_family() || families.iter().all(|family| !is_open(family))),
            _ => false,
        })
}

/// Help about the last label of which the other requirements leave few values, or numbers.
fn help(excluding: &[&OnTypes<'_, '_>]) -> String {
    let with_others = if excluding.len() == 1 { "" } else { "with the other requirements, " };
    let of_label = |last: &&OnTypes<'_, '_>| {
        let key = last.key;
        if key == OS {
            return None;
        }
        let others = excluding.iter().filter(|one| one.key != key);
        let left = instance_types::all().iter().filter(|kind| others.clone().all(|one| one.allows(kind)));
        let values: BTreeSet<_> = left.filter_map(|kind| last.label.value(kind)).collect();
        Some(format!("{with_others}{}", values_left(key, &values)?))
    };
    let found = excluding.iter().rev().find_map(of_label);
    found.unwrap_or_else(|| "remove one of the requirements, or allow other values".to_owned())
}

/// The values of a label in a sentence; `None` if they are too many.
fn values_left(key: &str, values: &BTreeSet<&str>) -> Option<String> {
    let numbers: Option<Vec<u64>> = values.iter().map(|value| value.parse().ok()).collect();
    let ends = numbers.and_then(|numbers| Some((*numbers.iter().min()?, *numbers.iter().max()?)));
    match ends {
        Some((least, most)) if least < most => {
            return Some(format!("the values of `{key}` are between {least} and {most}"));
        }
        _ if values.is_empty() || values.len() > MAX_LISTED => return None,
        _ => {}
    }
    let mut list = String::new();
    for value in values.iter().filter(|value| !value.is_empty()) {
        add_quoted(&mut list, value);
    }
    // Bare metal has no hypervisor, which the label says with an empty value.
    if values.contains("") {
        list.push_str(if list.is_empty() { "`\"\"` (bare metal)" } else { ", and `\"\"` for bare metal" });
    }
    let are = if values.len() == 1 { "value of `{key}` is" } else { "values of `{key}` are" };
    Some(format!("the {} {list}", are.replace("{key}", key)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(requirements: &[&str]) -> String {
        let items: Vec<_> = requirements.iter().map(|item| format!("      - {{key: {item}}}\n")).collect();
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

    const FAMILY_T3: &str = "karpenter.k8s.aws/instance-family, operator: In, values: [t3]";

    #[test]
    fn reports_a_size_that_a_family_does_not_have() {
        let size = |size: &str| format!("karpenter.k8s.aws/instance-size, operator: In, values: [{size}]");
        insta::assert_snapshot!(findings(&RULE, &pool(&[FAMILY_T3, "kubernetes.io/os, operator: In, values: [linux]", &size("24xlarge")])), @"
         10 |       - {key: karpenter.k8s.aws/instance-size, operator: In, values: [24xlarge]}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[2] [all]
          no instance type meets `karpenter.k8s.aws/instance-family In t3` and `karpenter.k8s.aws/instance-size In 24xlarge` together, so Karpenter launches no nodes from this NodePool
          help: with the other requirements, the values of `karpenter.k8s.aws/instance-size` are `2xlarge`, `large`, `medium`, `micro`, `nano`, `small`, `xlarge`
          see line 8 spec.template.spec.requirements[0]: leaves no instance type together with this requirement
        ");
        silent(&RULE, &pool(&[FAMILY_T3, &size("24xlarge, large")]));
    }

    #[test]
    fn a_variable_leaves_every_value_open() {
        const ARM: &str = "kubernetes.io/arch, operator: In, values: [arm64]";
        let systems =
            |values: &str| pool(&[ARM, &format!("kubernetes.io/os, operator: In, values: [{values}]")]);
        for variable in ["OS", "'${OS}'", "NODE_OS"] {
            silent(&RULE, &systems(&format!("windows, {variable}")));
        }
        let labelled = |system: &str| {
            pool(&[ARM]).replace(
                "template:\n",
                &format!("template:\n    metadata: {{labels: {{kubernetes.io/os: {system}}}}}\n"),
            )
        };
        silent(&RULE, &labelled("OS"));
        for mistaken in [systems("windows"), systems("windows, WINDOWS"), labelled("windows")] {
            assert!(findings(&RULE, &mistaken).contains("error NodePool/a"), "{mistaken}");
        }
        silent(&RULE, &pool(&[FAMILY_T3, "karpenter.k8s.aws/instance-size, operator: In, values: [SIZE]"]));
    }

    #[test]
    fn reports_an_architecture_that_families_do_not_have() {
        let arch = "kubernetes.io/arch, operator: In, values: [arm64]";
        let families =
            |families: &str| format!("karpenter.k8s.aws/instance-family, operator: In, values: [{families}]");
        insta::assert_snapshot!(findings(&RULE, &pool(&[arch, &families("m5, c5, m8i")])), @"
          9 |       - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, c5, m8i]}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[1] [all]
          no instance type meets `kubernetes.io/arch In arm64` and `karpenter.k8s.aws/instance-family In m5, c5, m8i` together, so Karpenter launches no nodes from this NodePool
          help: with the other requirements, the value of `kubernetes.io/arch` is `amd64`
          see line 8 spec.template.spec.requirements[0]: leaves no instance type together with this requirement
        ");
        silent(&RULE, &pool(&[arch, &families("m5, c6g")]));
        let types = "node.kubernetes.io/instance-type, operator: In, values: [m5.large, c5.xlarge]";
        assert!(findings(&RULE, &pool(&[types, arch])).contains("\nerror NodePool/a"));
    }

    #[test]
    fn reports_windows_on_an_architecture_that_it_does_not_have() {
        let windows = "kubernetes.io/os, operator: In, values: [windows]";
        let arm = "kubernetes.io/arch, operator: In, values: [arm64]";
        insta::assert_snapshot!(findings(&RULE, &pool(&[windows, arm])), @"
          9 |       - {key: kubernetes.io/arch, operator: In, values: [arm64]}
            |          ^^^
        error NodePool/a spec.template.spec.requirements[1] [all]
          no instance type meets `kubernetes.io/os In windows` and `kubernetes.io/arch In arm64` together, so Karpenter launches no nodes from this NodePool
          help: with the other requirements, the value of `kubernetes.io/arch` is `amd64`
          see line 8 spec.template.spec.requirements[0]: leaves no instance type together with this requirement
        ");
        let families = "karpenter.k8s.aws/instance-family, operator: In, values: [m7g]";
        assert!(findings(&RULE, &pool(&[families, windows])).contains("\nerror NodePool/a"));
        for other in [
            &[windows][..],
            &["kubernetes.io/os, operator: In, values: [windows, linux]", arm],
            &["kubernetes.io/os, operator: In, values: [linux]", arm],
            &[windows, "kubernetes.io/arch, operator: In, values: [arm64, amd64]"],
            &[windows, "karpenter.k8s.aws/instance-family, operator: In, values: [m7g, m5]"],
            &[windows, "karpenter.k8s.aws/instance-family, operator: In, values: ['${FAMILY}']"],
        ] {
            silent(&RULE, &pool(other));
        }
    }

    #[test]
    fn says_that_bare_metal_has_no_hypervisor() {
        let found = findings(
            &RULE,
            &pool(&[
                "karpenter.k8s.aws/instance-family, operator: In, values: [m5]",
                "karpenter.k8s.aws/instance-hypervisor, operator: In, values: [xen]",
            ]),
        );
        assert!(
            found.contains("`karpenter.k8s.aws/instance-hypervisor` are `nitro`, and `\"\"` for bare metal"),
            "{found}"
        );
    }

    #[test]
    fn newer_types_make_a_warning() {
        for (one, other) in [
            (
                "karpenter.k8s.aws/instance-category, operator: In, values: [t]",
                "karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['64']",
            ),
            (
                "karpenter.k8s.aws/instance-family, operator: In, values: [m8g]",
                "karpenter.k8s.aws/instance-size, operator: In, values: [18xlarge]",
            ),
        ] {
            let found = findings(&RULE, &pool(&[one, other]));
            assert!(
                found.contains("\nwarning NodePool/a") && found.contains("no known instance type"),
                "{one}: {found}"
            );
        }
        for requirements in [
            &[
                "karpenter.k8s.aws/instance-category, operator: In, values: [t]",
                "karpenter.k8s.aws/instance-cpu, operator: In, values: ['96']",
            ][..],
            &[
                "karpenter.k8s.aws/instance-cpu, operator: In, values: ['4']",
                "karpenter.k8s.aws/instance-memory, operator: Gt, values: ['600000']",
            ],
            &[
                "karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]",
                "karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['0']",
            ],
            &["karpenter.k8s.aws/instance-generation, operator: Gt, values: ['12']"],
        ] {
            let found = findings(&RULE, &pool(requirements));
            assert!(found.contains("\nwarning NodePool/a"), "{requirements:?}: {found}");
        }
        let one = findings(&RULE, &pool(&["karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['4000']"]));
        assert!(
            one.contains("help: the values of `karpenter.k8s.aws/instance-cpu` are between 1 and"),
            "{one}"
        );
    }

    #[test]
    fn counts_labels_of_the_template_and_absent_labels() {
        let labelled = pool(&[FAMILY_T3]).replace(
            "    spec:\n",
            r"    metadata: {labels: {kubernetes.io/arch: arm64}}
    spec:
",
        );
        assert!(findings(&RULE, &labelled).contains("`kubernetes.io/arch label arm64`"));
        let gpu = "karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['0']";
        assert!(findings(&RULE, &pool(&[FAMILY_T3, gpu])).contains("\nerror NodePool/a"));
        silent(&RULE, &pool(&[FAMILY_T3, "karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist"]));
    }

    #[test]
    fn accepts_what_other_rules_report_and_what_is_not_known() {
        for requirements in [
            &[FAMILY_T3, "karpenter.k8s.aws/instance-size, operator: In, values: [lagre]"][..],
            &[FAMILY_T3, "karpenter.k8s.aws/instance-size, operator: In, values: ['${SIZE}']"],
            &[FAMILY_T3, "karpenter.k8s.aws/instance-family, operator: In, values: [m5]"],
            &["karpenter.k8s.aws/instance-memory, operator: Lt, values: ['64']"],
            // The instance types of these families are not in the table.
            &[
                "karpenter.k8s.aws/instance-family, operator: In, values: [p3]",
                "karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['0']",
            ],
            &[
                "karpenter.k8s.aws/instance-family, operator: In, values: [m10g]",
                "karpenter.k8s.aws/instance-size, operator: In, values: [large]",
            ],
        ] {
            silent(&RULE, &pool(requirements));
        }
    }
}
