//! Sentences about the demands that a NodePool does not meet, and about the changes that help.

use karpenter::labels;
use scheduling::simulation::{
    Disagreement, LimitMiss, NearestMiss, PoolReason, ReasonKind, Remedy, UnmetLabel,
    asks_for_no_known_value, is_of_node_groups,
};
use values::quantity::{Notation, Quantity};

/// The demands that the NodePool does not meet, with the numbers that Karpenter's message lacks; empty if the message says it all.
pub fn unmet(reason: &PoolReason<'_>) -> String {
    let pool = reason.pool.name();
    match reason.unmet.as_slice() {
        [Disagreement::OwnRequirement(_)] if reason.kind == ReasonKind::NoInstanceTypes => String::new(),
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
        | Disagreement::Limits(None) => true,
        Disagreement::Label(_)
        | Disagreement::Volume(_)
        | Disagreement::Resource(_)
        | Disagreement::MinValues(_)
        | Disagreement::Limits(Some(_))
        | Disagreement::OwnRequirement(_) => false,
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
    if label.key == labels::ZONE && asks_for_no_known_value(label) {
        return format!("{asks} `{key} {asked}`, a zone ID instead of the name of a zone");
    }
    if asks_for_no_known_value(label) {
        return format!("{asks} `{key} {asked}`, which no known instance type has");
    }
    if is_of_node_groups(label) {
        return format!(
            "{asks} `{key} {asked}`, a label of node groups, which nodes of Karpenter do not have"
        );
    }
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
        Remedy::ReplaceLabel { from, to, value } => {
            format!("select `{to}: {value}` in the pod in place of `{from}`")
        }
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
    use karpenter::release::Release;
    use manifest::limits::Limits;
    use manifest::{Document, File};
    use objects::object::Object;
    use scheduling::simulation::{Placement, Simulation, SimulationSettings};

    use super::*;

    /// The unmet demands and the changes of the first pod of a text, in words.
    fn words(pool: &str, pod: &str) -> (String, Option<String>) {
        words_at(Release::NEWEST, pool, pod)
    }

    fn words_at(release: Release, pool: &str, pod: &str) -> (String, Option<String>) {
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
        let mut settings = SimulationSettings::new(release);
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
    fn shows_the_label_of_karpenter_in_place_of_a_label_of_node_groups() {
        let pool = format!("template: {{spec: {{{REFERENCE}, {TYPES}}}}}");
        let of = |selector: &str| {
            let (unmet, remedy) =
                words(&pool, &format!("nodeSelector: {{{selector}}}, containers: [{{name: a}}]"));
            format!("{unmet} -> {}", remedy.unwrap_or_default())
        };
        for key in
            ["eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "kops.k8s.io/instancegroup"]
        {
            assert_eq!(
                of(&format!("{key}: a")),
                format!(
                    "the pod asks `{key} In a`, a label of node groups, which nodes of Karpenter do not have -> select \
                     `karpenter.sh/nodepool: general` in the pod in place of `{key}`, or remove the requirement on `{key}` \
                     from the pod"
                )
            );
        }
        assert!(
            of("eks.amazonaws.com/capacityType: ON_DEMAND").contains(
                "select `karpenter.sh/capacity-type: on-demand` in the pod in place of `eks.amazonaws.com/capacityType`"
            )
        );
        let nothing = of("alpha.eksctl.io/cluster-name: a");
        assert!(
            nothing.ends_with("-> remove the requirement on `alpha.eksctl.io/cluster-name` from the pod"),
            "{nothing}"
        );
        let own = of("team: a");
        assert!(own.contains("add the label `team: a`"), "{own}");
    }

    #[test]
    fn shows_the_value_that_a_pod_means() {
        let pool = format!("template: {{spec: {{{REFERENCE}, {TYPES}}}}}");
        let of = |pool: &str, selector: &str| {
            let (unmet, remedy) =
                words(pool, &format!("nodeSelector: {{{selector}}}, containers: [{{name: a}}]"));
            format!("{unmet} -> {}", remedy.unwrap_or_default())
        };
        for (key, value, meant) in [
            ("kubernetes.io/arch", "x86_64", "amd64"),
            ("node.kubernetes.io/instance-type", "m5.lage", "m5.large"),
            ("karpenter.k8s.aws/instance-category", "m5", "m"),
        ] {
            assert_eq!(
                of(&pool, &format!("{key}: {value}")),
                format!(
                    "the pod asks `{key} In {value}`, which no known instance type has -> ask for `{meant}` of `{key}` in the \
                     pod, or remove the requirement on `{key}` from the pod"
                )
            );
        }
        let both = pool.replace("m5.large", "m5.large, m7g.large");
        assert!(of(&both, "kubernetes.io/arch: aarch64").contains("-> ask for `arm64` of"));
        let zone = of(&pool, "topology.kubernetes.io/zone: use1-az1");
        assert!(
            zone.starts_with("the pod asks `topology.kubernetes.io/zone In use1-az1`, a zone ID"),
            "{zone}"
        );
    }

    #[test]
    fn names_the_requirement_of_the_pool_that_leaves_no_type_in_every_release() {
        let category = "{key: karpenter.k8s.aws/instance-category, operator: In, values: [t3]}";
        let pool = format!("template: {{spec: {{{REFERENCE}, requirements: [{category}]}}}}");
        let of = |minor: &str| words_at(Release::parse(minor).unwrap(), &pool, "containers: [{name: a}]").0;
        assert_eq!(
            of("1.0"),
            "the requirements of `general` leave no type, `karpenter.k8s.aws/instance-category` among them"
        );
        assert_eq!(of("1.14"), "");
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
