//! Pods that Karpenter ignores before it schedules.
//!
//! Source: `Validate` in pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.1.

use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Release;
use manifest::tree::items_of;
use objects::pod::Pod;
use objects::requirement::RequirementItem;

use super::behaviour::SchedulerBehaviour;
use super::shape::PodShape;
use crate::provisionable::Unprovisionable;
use crate::requirements::EffectiveOperator;
use crate::scalar::text;

/// The well-known labels whose values Karpenter knows.
const KNOWN_VALUES: [(&str, &[&str]); 2] = [
    (labels::CAPACITY_TYPE, &["on-demand", "reserved", "spot"]),
    ("karpenter.k8s.aws/instance-tenancy", &["dedicated", "default"]),
];

/// The reason for which Karpenter does not look at a pod.
pub(crate) fn unprovisionable(pod: Pod<'_>) -> Option<String> {
    if items_of(pod.spec().node().get("schedulingGates")).next().is_some() {
        return Some("not provisionable".to_owned());
    }
    let object = pod.object();
    let reason = Unprovisionable::of(object).filter(|_| object.kind() == "Pod")?;
    Some(format!("not provisionable: {reason}"))
}

/// The first reason for which Karpenter ignores a pod that it looks at.
pub(crate) fn problem<'d>(pod: Pod<'d>, shape: &PodShape<'d>, release: Release) -> Option<String> {
    let requirements = shape.demand.requirements(true);
    let pool = requirements.get(labels::NODEPOOL);
    if pool.is_some_and(|pool| pool.operator() == EffectiveOperator::DoesNotExist) {
        return Some("configured to not run on a Karpenter provisioned node".to_owned());
    }
    let selector = pod.spec().node_selector();
    selector
        .map(|(key, value)| check(key, Operator::In, &[text(value)], release))
        .find_map(|problem| problem)
        .or_else(|| problem_of_terms(pod, release))
}

fn problem_of_terms(pod: Pod<'_>, release: Release) -> Option<String> {
    pod.spec().required_terms().find_map(|term| {
        if term.match_fields().items().next().is_some() {
            return Some("node selector term with matchFields is not supported".to_owned());
        }
        term.match_expressions().items().find_map(|item| problem_of_item(item, release))
    })
}

fn problem_of_item(item: RequirementItem<'_>, release: Release) -> Option<String> {
    let (key, spelling) = (item.key()?, item.operator_text()?);
    let values: Vec<&str> = item.values().map(text).collect();
    match Operator::parse(spelling) {
        Some(operator) => check(key, operator, &values, release),
        None => Some(format!("key {key} has an unsupported operator {spelling}")),
    }
}

fn check(key: &str, operator: Operator, values: &[&str], release: Release) -> Option<String> {
    let current = labels::normalised(key);
    if labels::refused_in_pods(key).contains(release) {
        return Some(if SchedulerBehaviour::VOLUMES_APART.holds_in(release) {
            format!(
                "using label {current} is not allowed as it might interfere with the internal provisioning logic"
            )
        } else {
            format!("label {current} is restricted")
        });
    }
    if matches!(operator, Operator::In) && values.is_empty() {
        return Some(format!("key {current} with operator In must have a value defined"));
    }
    let is_bound = matches!(operator, Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte);
    let is_number = |value: &&str| value.parse::<i64>().is_ok_and(|number| number >= 0);
    if is_bound && !(values.len() == 1 && values.iter().all(is_number)) {
        return Some(format!(
            "key {current} with operator {operator:?} must have a single positive integer value"
        ));
    }
    unknown_value(current, operator, values, release)
}

fn unknown_value(key: &str, operator: Operator, values: &[&str], release: Release) -> Option<String> {
    let (_, known) = KNOWN_VALUES.iter().find(|(label, _)| *label == key)?;
    let checks =
        SchedulerBehaviour::KNOWN_VALUES.holds_in(release) && labels::well_known(key).contains(release);
    let none = matches!(operator, Operator::In) && !values.iter().any(|value| known.contains(value));
    (checks && none).then(|| {
        let map: Vec<String> = known.iter().map(|value| format!("{value}:{{}}")).collect();
        let got = values.join(" ");
        format!(
            "no valid values found in [{got}] for {key}, expected one of: map[{}], got: [{got}]",
            map.join(" ")
        )
    })
}
