//! Pods that Karpenter ignores before it schedules.
//!
//! Source: `Validate` in pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.14.1.

use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Release;
use manifest::tree::{Node, items_of};
use objects::location::Place;
use objects::pod::Pod;
use objects::requirement::RequirementItem;

use super::behaviour::SchedulerBehaviour;
use super::ignored::{FieldProblem, IgnoredReason};
use super::shape::PodShape;
use super::workloads::InputPod;
use crate::places::place_of_label;
use crate::provisionable::Unprovisionable;
use crate::requirements::EffectiveOperator;
use crate::scalar::text;

/// The well-known labels whose values Karpenter knows.
const KNOWN_VALUES: [(&str, &[&str]); 2] = [
    (labels::CAPACITY_TYPE, &["on-demand", "reserved", "spot"]),
    ("karpenter.k8s.aws/instance-tenancy", &["dedicated", "default"]),
];

/// The reason for which Karpenter does not look at a pod.
pub(crate) fn unprovisionable<'d>(input: &InputPod<'d>) -> Option<IgnoredReason<'d>> {
    let object = input.pod.object();
    let gates = input.pod.spec().node().get("schedulingGates");
    if let Some(list) = gates.filter(|list| items_of(Some(*list)).next().is_some()) {
        return Some(IgnoredReason::at(Place::key(list), FieldProblem::Gated, "not provisionable"));
    }
    // An added pod has not the state of the pod that it is read from.
    let reason = Unprovisionable::of(object).filter(|_| object.kind() == "Pod" && !input.is_added)?;
    Some(IgnoredReason::because(format!("not provisionable: {reason}")))
}

/// The first reason for which Karpenter ignores a pod that it looks at.
pub(crate) fn problem<'d>(pod: Pod<'d>, shape: &PodShape<'d>, release: Release) -> Option<IgnoredReason<'d>> {
    let requirements = shape.demand.requirements(true);
    let pool = requirements.get(labels::NODEPOOL);
    if pool.is_some_and(|pool| pool.operator() == EffectiveOperator::DoesNotExist) {
        let message = "configured to not run on a Karpenter provisioned node";
        return Some(match place_of_label(pod, labels::NODEPOOL) {
            Some(place) => IgnoredReason::at(place, FieldProblem::ExcludesKarpenter, message),
            None => IgnoredReason::because(message),
        });
    }
    let selector = pod.spec().node_selector();
    selector
        .map(|(key, value)| {
            let places = FieldPlaces { key: Place::key(value), value: Place::value(value) };
            check(key, Operator::In, vec![text(value)], places, release)
        })
        .find_map(|problem| problem)
        .or_else(|| problem_of_terms(pod, release))
}

fn problem_of_terms(pod: Pod<'_>, release: Release) -> Option<IgnoredReason<'_>> {
    pod.spec().required_terms().find_map(|term| {
        if let Some(fields) =
            term.match_fields().node().filter(|_| term.match_fields().items().next().is_some())
        {
            let message = "node selector term with matchFields is not supported";
            return Some(IgnoredReason::at(Place::key(fields), FieldProblem::MatchFields, message));
        }
        term.match_expressions().items().find_map(|item| problem_of_item(item, release))
    })
}

fn problem_of_item<'d>(item: RequirementItem<'d>, release: Release) -> Option<IgnoredReason<'d>> {
    let (key, spelling) = (item.key()?, item.operator_text()?);
    let values: Vec<&str> = item.values().map(text).collect();
    let own = |node: Option<Node<'d>>| node.map_or_else(|| Place::value(item.node()), Place::value);
    match Operator::parse(spelling) {
        Some(operator) => {
            let first = item.values().next().or(item.value_list());
            let places = FieldPlaces { key: own(item.key_node()), value: own(first) };
            check(key, operator, values, places, release)
        }
        None => Some(IgnoredReason::at(
            own(item.node().get("operator")),
            FieldProblem::UnknownOperator(spelling),
            format!("key {key} has an unsupported operator {spelling}"),
        )),
    }
}

/// The places of the key and of the first value of an expression.
struct FieldPlaces<'d> {
    key: Place<'d>,
    value: Place<'d>,
}

fn check<'d>(
    key: &'d str,
    operator: Operator,
    values: Vec<&'d str>,
    places: FieldPlaces<'d>,
    release: Release,
) -> Option<IgnoredReason<'d>> {
    let current = labels::normalised(key);
    if labels::refused_in_pods(key).contains(release) {
        let message = if SchedulerBehaviour::VOLUMES_APART.holds_in(release) {
            format!(
                "using label {current} is not allowed as it might interfere with the internal provisioning logic"
            )
        } else {
            format!("label {current} is restricted")
        };
        return Some(IgnoredReason::at(places.key, FieldProblem::RestrictedLabel(key), message));
    }
    if matches!(operator, Operator::In) && values.is_empty() {
        let message = format!("key {current} with operator In must have a value defined");
        return Some(IgnoredReason::at(places.value, FieldProblem::NoValue(key), message));
    }
    let is_bound = matches!(operator, Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte);
    let is_number = |value: &&str| value.parse::<i64>().is_ok_and(|number| number >= 0);
    if is_bound && !(values.len() == 1 && values.iter().all(is_number)) {
        let message =
            format!("key {current} with operator {operator:?} must have a single positive integer value");
        return Some(IgnoredReason::at(places.value, FieldProblem::NotANumber(key), message));
    }
    unknown_value(current, operator, values, places.value, release)
}

fn unknown_value<'d>(
    key: &'d str,
    operator: Operator,
    values: Vec<&'d str>,
    place: Place<'d>,
    release: Release,
) -> Option<IgnoredReason<'d>> {
    let (_, known) = KNOWN_VALUES.iter().find(|(label, _)| *label == key)?;
    let checks =
        SchedulerBehaviour::KNOWN_VALUES.holds_in(release) && labels::well_known(key).contains(release);
    let none = matches!(operator, Operator::In) && !values.iter().any(|value| known.contains(value));
    if !checks || !none {
        return None;
    }
    let map: Vec<String> = known.iter().map(|value| format!("{value}:{{}}")).collect();
    let got = values.join(" ");
    let message = format!(
        "no valid values found in [{got}] for {key}, expected one of: map[{}], got: [{got}]",
        map.join(" ")
    );
    Some(IgnoredReason::at(place, FieldProblem::UnknownValue { key, values, known }, message))
}
