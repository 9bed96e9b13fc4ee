//! Sentences about the demands that a NodePool does not meet, and about the changes that help.

use scheduling::simulation::{Disagreement, LimitMiss, NearestMiss, PoolReason, Remedy, UnmetLabel};
use values::quantity::{Notation, Quantity};

/// The demands that the NodePool does not meet, with the numbers that Karpenter's message lacks; empty if the message says it all.
pub fn unmet(reason: &PoolReason<'_>) -> String {
    let pool = reason.pool.name();
    match reason.unmet.as_slice() {
        [only] if !reason.is_open && is_said(only) => String::new(),
        all => all.iter().map(|demand| sentence(demand, pool)).collect::<Vec<_>>().join("; "),
    }
}

/// Whether Karpenter's message about a demand needs no numbers.
fn is_said(demand: &Disagreement<'_>) -> bool {
    match demand {
        Disagreement::Taint(_)
        | Disagreement::HostPort(_)
        | Disagreement::Topology(_)
        | Disagreement::Limits(None)
        | Disagreement::OwnRequirement(_) => true,
        Disagreement::Label(_)
        | Disagreement::Volume(_)
        | Disagreement::Resource(_)
        | Disagreement::MinValues(_)
        | Disagreement::Limits(Some(_)) => false,
    }
}

fn sentence(demand: &Disagreement<'_>, pool: &str) -> String {
    match demand {
        Disagreement::Taint(taint) => format!("the pod does not tolerate `{taint}`"),
        Disagreement::Label(label) => label_sentence("the pod asks", label, pool),
        Disagreement::HostPort(port) => format!("host port {port} is taken"),
        Disagreement::Volume(label) => label_sentence("the volumes of the pod ask", label, pool),
        Disagreement::Topology(key) => {
            format!("no value of `{key}` meets the topology constraints")
        }
        Disagreement::Resource(miss) => resource_sentence(*miss),
        Disagreement::MinValues(miss) => {
            let (key, least, found) = (miss.key, miss.least, miss.found);
            format!("`minValues` of `{key}` is {least}, the types left have {found}")
        }
        Disagreement::Limits(None) => "the limits of the NodePool leave no type".to_owned(),
        Disagreement::Limits(Some(LimitMiss { resource, left, needed })) => {
            format!("the limit leaves {left} {resource}, the smallest type for the pod has {needed}")
        }
        Disagreement::OwnRequirement(key) => {
            format!("the requirements of `{pool}` leave no type, `{key}` among them")
        }
    }
}

fn label_sentence(asks: &str, label: &UnmetLabel<'_>, pool: &str) -> String {
    let key = label.key;
    let asked = label.asked.written(true);
    match &label.present {
        _ if label.is_of_types => {
            format!("{asks} `{key} {asked}`, no type of `{pool}` that meets every other demand has it")
        }
        Some(present) => format!("{asks} `{key} {asked}`, `{pool}` has `{key} {}`", present.written(true)),
        None => format!("{asks} `{key} {asked}`, `{pool}` does not set `{key}`"),
    }
}

fn resource_sentence(miss: NearestMiss<'_>) -> String {
    let NearestMiss { resource, requested, largest, instance_type } = miss;
    if largest.is_zero() {
        return format!("the pod asks {requested} {resource}, no type left has any");
    }
    let [requested, largest, missing] = in_one_unit([requested, largest, miss.missing()]);
    format!(
        "the pod asks {requested} {resource}, the largest type left, `{instance_type}`, allows {largest} after DaemonSets: \
         {missing} too much"
    )
}

/// Amounts that are compared, in the largest unit in which all of them are whole numbers: `25600Mi` beside `25437Mi`, instead of `25Gi`.
fn in_one_unit(amounts: [Quantity; 3]) -> [String; 3] {
    const NANO: i128 = 1_000_000_000;
    let is_binary = amounts.iter().all(|amount| amount.notation() == Notation::Binary);
    let units = [("Gi", NANO << 30), ("Mi", NANO << 20), ("Ki", NANO << 10)];
    let is_whole = |size: i128| amounts.iter().all(|amount| amount.nano() % size == 0);
    match units.into_iter().find(|(_, size)| is_binary && is_whole(*size)) {
        Some((unit, size)) => amounts.map(|amount| format!("{}{unit}", amount.nano() / size)),
        None => amounts.map(|amount| amount.to_string()),
    }
}

/// The changes with which the pod has a place, as alternatives; `None` if no change is known to help.
pub fn remedy(reason: &PoolReason<'_>) -> Option<String> {
    let together = |all: &Vec<Remedy<'_>>| all.iter().map(change).collect::<Vec<_>>().join(", and ");
    let alternatives: Vec<String> = reason.remedies.iter().map(together).collect();
    (!alternatives.is_empty()).then(|| alternatives.join(", or "))
}

fn change(remedy: &Remedy<'_>) -> String {
    match remedy {
        Remedy::Tolerate(taint) => format!("add a toleration for `{taint}` to the pod"),
        Remedy::AskValue { key, value } => format!("ask for `{value}` of `{key}` in the pod"),
        Remedy::DropLabel(key) => format!("remove the requirement on `{key}` from the pod"),
        Remedy::Request(amounts) => {
            let texts: Vec<String> =
                amounts.iter().map(|(name, amount)| format!("{amount} {name}")).collect();
            format!("request at most {}", texts.join(" and "))
        }
        Remedy::RenameTopology { from, to } => {
            format!("write `topologyKey: {to}`: Karpenter knows no value of `{from}`")
        }
        Remedy::FreePort(port) => format!("use another host port than {port}"),
        Remedy::AllowValue { key, value, .. } => format!("allow `{value}` of `{key}` in the NodePool"),
        Remedy::AddLabel { key, value, .. } => {
            format!("add the label `{key}: {value}` to `spec.template.metadata.labels` of the NodePool")
        }
        Remedy::LowerMinValues { key, to, .. } => format!("lower `minValues` of `{key}` to {to}"),
        Remedy::RaiseLimit { resource, .. } => format!("raise `spec.limits.{resource}` of the NodePool"),
    }
}

#[cfg(test)]
mod tests {
    use manifest::limits::Limits;
    use manifest::{Document, File};
    use objects::object::Object;
    use scheduling::simulation::{Placement, Simulation, SimulationSettings};

    use super::*;

    /// The unmet demands and the changes of the first pod of a text, in words.
    fn words(pool: &str, pod: &str) -> (String, Option<String>) {
        let text = format!(
            r"apiVersion: v1
kind: List
items:
  - apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {{name: general}}
    spec: {{{pool}}}
  - apiVersion: v1
    kind: Pod
    metadata: {{name: main}}
    spec: {{{pod}}}
"
        );
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("not valid YAML") };
        let objects = Object::all(tree);
        let mut settings = SimulationSettings::new(karpenter::release::Release::NEWEST);
        settings.assumes_node_classes = true;
        let simulation = Simulation::new(settings, &objects).unwrap();
        let result = simulation.run_with_remedies();
        let Placement::Unplaced(unplaced) = &result.pods.iter().next().unwrap().placement else {
            panic!("the pod has a place")
        };
        let reason = unplaced.reasons.first().unwrap();
        (unmet(reason), remedy(reason))
    }

    const REFERENCE: &str = "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}";
    const TYPES: &str =
        "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]";

    #[test]
    fn names_both_demands_and_both_changes() {
        let pool = format!(
            "template: {{spec: {{{REFERENCE}, {TYPES}, taints: [{{key: team, value: blue, effect: NoSchedule}}]}}}}"
        );
        let (unmet, remedy) = words(&pool, "containers: [{name: a, resources: {requests: {cpu: 3}}}]");
        assert_eq!(
            unmet,
            "the pod does not tolerate `team=blue:NoSchedule`; the pod asks 3 cpu, the largest type left, `m5.large`, \
             allows 1930m after DaemonSets: 1070m too much"
        );
        assert_eq!(
            remedy.as_deref(),
            Some("add a toleration for `team=blue:NoSchedule` to the pod, and request at most 1930m cpu")
        );
    }

    #[test]
    fn compares_amounts_in_one_unit() {
        let texts = |all: [&str; 3]| in_one_unit(all.map(|text| Quantity::parse(text).unwrap()));
        assert_eq!(texts(["25Gi", "25437Mi", "163Mi"]), ["25600Mi", "25437Mi", "163Mi"]);
        assert_eq!(texts(["25Gi", "5Gi", "20Gi"]), ["25Gi", "5Gi", "20Gi"]);
        assert_eq!(texts(["4", "3920m", "80m"]), ["4", "3920m", "80m"]);
    }

    #[test]
    fn shows_no_change_for_a_resource_that_no_type_has() {
        let pool = format!("template: {{spec: {{{REFERENCE}, {TYPES}}}}}");
        let (unmet, remedy) =
            words(&pool, "containers: [{name: a, resources: {requests: {example.com/a: 1}}}]");
        assert_eq!(unmet, "the pod asks 1 example.com/a, no type left has any");
        assert_eq!(remedy, None);
    }

    #[test]
    fn tells_the_limit_and_the_smallest_type() {
        let pool = format!("limits: {{cpu: 1}}, template: {{spec: {{{REFERENCE}, {TYPES}}}}}");
        let (unmet, remedy) = words(&pool, "containers: [{name: a, resources: {requests: {cpu: 1}}}]");
        assert_eq!(unmet, "the limit leaves 1 cpu, the smallest type for the pod has 2");
        assert_eq!(remedy.as_deref(), Some("raise `spec.limits.cpu` of the NodePool"));
    }

    #[test]
    fn tells_the_labels_of_both_sides() {
        let team = "{key: team, operator: In, values: [red]}";
        let pool = format!("template: {{spec: {{{REFERENCE}, requirements: [{team}]}}}}");
        let (unmet, remedy) = words(&pool, "nodeSelector: {team: blue}, containers: [{name: a}]");
        assert_eq!(unmet, "the pod asks `team In blue`, `general` has `team In red`");
        assert_eq!(
            remedy.as_deref(),
            Some("allow `blue` of `team` in the NodePool, or ask for `red` of `team` in the pod")
        );
    }
}
