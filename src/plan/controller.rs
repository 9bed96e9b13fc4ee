//! The changes of the controller: its release, its options, its feature gates.

use std::collections::BTreeSet;

use answers::plan::ControllerChange;
use drift::Effect;
use engine::pins::pins_of_files;
use engine::release_changes::{AMI_ALIAS, HASHES_CA_BUNDLE, alias_changes, hash_changes};
use karpenter::chart::{AWS_GATES, GATES};
use karpenter::option_values::OPTIONS;
use karpenter::release::{PinnedRelease, PinnedVersion};
use manifest::tree::Node;
use objects::chart_values;
use objects::controller::{Controller, ControllerOption};
use objects::feature_gates::FeatureGates;
use objects::node_pool::NodePool;
use objects::object::Object;

use super::kubernetes::ClassesByName;
use super::releases::PlanReleases;
use super::scope::PlanScope;
use super::{PlanPair, PlanSide, kubernetes};

/// The CA bundle of the cluster.
pub(super) const CA_BUNDLE: ControllerOption =
    ControllerOption { flag: "cluster-ca-bundle", variable: "CLUSTER_CA_BUNDLE" };

/// Effects of options that change more than the next decisions of the controller.
///
/// Source: website/content/en/docs/reference/settings.md and pkg/providers/instancetype/types.go of
/// aws/karpenter-provider-aws at v1.14.1.
const OPTION_EFFECTS: [(&str, Effect, &str); 3] = [
    (
        "vm-memory-overhead-percent",
        Effect::NewNodes,
        "Karpenter expects another amount of memory of new nodes; no node is replaced",
    ),
    (
        "reserved-enis",
        Effect::NewNodes,
        "Karpenter expects another number of pods on new nodes; no node is replaced",
    ),
    ("log-level", Effect::None, "the log has other lines; no node is replaced"),
];

/// The changes of the controller of a scope.
pub(super) fn changes(
    scope: &PlanScope<'_>,
    releases: PlanReleases,
    further: &[ControllerChange],
) -> Vec<ControllerChange> {
    let PlanReleases { before, after } = releases;
    let mut found = hash_changes(before, after);
    let of_kubernetes = kubernetes::changes(scope);
    if before != after && of_kubernetes.is_empty() {
        let old = ClassesByName::of(&scope.old);
        found.extend(alias_changes(scope.new.iter().copied().filter(|class| keeps_aliases(*class, &old))));
    }
    found.extend(of_kubernetes);
    found.extend(further.iter().cloned());
    found.extend(option_changes(scope, releases));
    for change in &mut found {
        // Whether the folder is a cluster is not certain.
        if scope.doubtful.is_some() {
            change.effect = change.effect.min(Effect::Unknown);
        }
        change.cluster.clone_from(&scope.name);
    }
    found
}

/// The change of a version before 1.0, which the input pins, to another one.
pub(super) fn before_v1(pair: PlanPair<'_>) -> Option<ControllerChange> {
    let pins = |side: PlanSide<'_>| -> BTreeSet<PinnedVersion> {
        pins_of_files(&side.cluster.files.iter()).into_iter().map(|pin| pin.version).collect()
    };
    let (olds, news) = (pins(pair.old), pins(pair.new));
    let old = *olds.difference(&news).max()?;
    let new = *news.difference(&olds).max().or(news.iter().max())?;
    let is_old = [old, new].iter().any(|version| version.release() == PinnedRelease::BeforeV1);
    is_old.then(|| {
        let text = "the effect of versions before 1.0 on nodes is not known";
        change("release", &old.to_string(), &new.to_string(), Effect::Unknown, text)
    })
}

/// Whether an EC2NodeClass has nodes from before the change, and the same aliases.
fn keeps_aliases(class: Object<'_>, old: &ClassesByName<'_>) -> bool {
    old.get(class.name()).is_some_and(|old| kubernetes::aliases(old).eq(kubernetes::aliases(class)))
}

/// The effect of a change of the controller on the nodes of a NodePool.
pub(super) fn effect_on(
    pool: NodePool<'_>,
    change: &ControllerChange,
    classes: &ClassesByName<'_>,
) -> Effect {
    match change.subject.as_str() {
        kubernetes::SUBJECT => change.effect.min(kubernetes::effect_on(pool, classes)),
        AMI_ALIAS => match classes.of_pool(pool) {
            Some(class) if !kubernetes::aliases(class).any(|alias| alias == change.old) => Effect::None,
            _ => change.effect,
        },
        _ => change.effect,
    }
}

pub(super) fn change(
    subject: &str,
    old: &str,
    new: &str,
    effect: Effect,
    message: impl Into<String>,
) -> ControllerChange {
    let [subject, old, new] = [subject, old, new].map(str::to_owned);
    ControllerChange { cluster: String::new(), subject, old, new, effect, message: message.into() }
}

/// Whether every controller in a cluster turns a feature gate off.
pub(super) fn is_gate_off(cluster: &[Object<'_>], gate: &str) -> bool {
    let controllers: Vec<Controller<'_>> =
        cluster.iter().filter_map(|object| Controller::of(*object)).collect();
    FeatureGates::of(&[], &controllers).is_off(gate)
}

/// The changed options and feature gates, if both sides show the controller.
fn option_changes(scope: &PlanScope<'_>, releases: PlanReleases) -> Vec<ControllerChange> {
    let (old, mut new) = (ControllerView::of(&scope.old), ControllerView::of(&scope.new));
    if !old.is_known() || !new.is_known() {
        return Vec::new();
    }
    // The new values are not yet in the Deployment of a snapshot.
    new.has_new_values = new.has_values() && !old.has_values();
    let mut found = Vec::new();
    let both = |option: ControllerOption, path: &'static [&'static str]| {
        (old.option(option, path), new.option(option, path))
    };
    let (before, after) = both(CA_BUNDLE, &["settings", "clusterCABundle"]);
    if before != after && HASHES_CA_BUNDLE.contains(releases.after) {
        let text = "the CA bundle is a part of the hash of each EC2NodeClass: every node is replaced, unless the text equals the bundle that \
                    Karpenter finds by itself";
        let shown = |text: &Option<String>| text.as_ref().map_or_else(String::new, |_| "…".to_owned());
        found.push(change(CA_BUNDLE.flag, &shown(&before), &shown(&after), Effect::Unknown, text));
    }
    let further =
        [(objects::controller::RESERVED_ENIS, &["settings", "reservedENIs"] as &'static [&'static str])];
    let options = OPTIONS
        .iter()
        .filter(|option| option.releases.contains(releases.after))
        .filter(|option| option.flag != objects::controller::RESERVED_ENIS.flag)
        .map(|option| (ControllerOption { flag: option.flag, variable: option.variable }, option.path));
    for (option, path) in options.chain(further) {
        let (before, after) = both(option, path);
        if before == after {
            continue;
        }
        let known = OPTION_EFFECTS.iter().find(|(flag, _, _)| *flag == option.flag);
        let (effect, text) = known.map_or(
            (
                Effect::ActsAtOnce,
                "the next decisions of the controller follow it; no node is replaced because of drift",
            ),
            |(_, effect, text)| (*effect, *text),
        );
        found.push(change(
            option.flag,
            &before.unwrap_or_default(),
            &after.unwrap_or_default(),
            effect,
            text,
        ));
    }
    for gate in GATES.iter().chain(&AWS_GATES).filter(|gate| gate.releases.contains(releases.after)) {
        let (before, after) = (old.gate(gate.name), new.gate(gate.name));
        if before != after {
            let shown = |is_on: Option<bool>| is_on.map(|is_on| is_on.to_string()).unwrap_or_default();
            let text = "the next decisions of the controller follow it; no node is replaced because of drift";
            let subject = format!("feature gate {}", gate.name);
            found.push(change(&subject, &shown(before), &shown(after), Effect::ActsAtOnce, text));
        }
    }
    found
}

/// The settings of the controller that objects show.
struct ControllerView<'d> {
    /// The objects that may be values of the chart. Each mapping is read as such values, too.
    values: Vec<Object<'d>>,
    controllers: Vec<Controller<'d>>,
    gates: FeatureGates<'d>,
    /// The gates of the values of the chart.
    gates_of_values: FeatureGates<'d>,
    /// Whether the values of the chart count before the Deployment.
    has_new_values: bool,
}

impl<'d> ControllerView<'d> {
    fn of(objects: &[Object<'d>]) -> Self {
        let controllers: Vec<Controller<'d>> =
            objects.iter().filter_map(|object| Controller::of(*object)).collect();
        let is_values = |object: &&Object<'d>| chart_values::of(**object).is_some();
        let values: Vec<Object<'d>> = objects.iter().filter(is_values).copied().collect();
        Self {
            gates: FeatureGates::of(&values, &controllers),
            gates_of_values: FeatureGates::of(&values, &[]),
            values,
            controllers,
            has_new_values: false,
        }
    }

    /// Whether an object has values of the chart.
    fn has_values(&self) -> bool {
        const KEYS: [&str; 2] = ["settings", "controller"];
        let mut values = self.values.iter().filter_map(|object| chart_values::of(*object));
        values.any(|values| KEYS.into_iter().any(|key| values.at(&[key]).is_some()))
    }

    fn gate(&self, name: &str) -> Option<bool> {
        let of_values = self.gates_of_values.get(name).filter(|_| self.has_new_values);
        of_values.or_else(|| self.gates.get(name))
    }

    fn is_known(&self) -> bool {
        !self.controllers.is_empty() || self.has_values()
    }

    /// The text of an option: of the last Deployment that sets it, else of the values of the chart, or the other way round.
    fn option(&self, option: ControllerOption, path: &'static [&'static str]) -> Option<String> {
        let mut set = self.controllers.iter().filter_map(|controller| controller.setting(option).text());
        let written = set.next_back().map(|(text, _)| text.to_owned());
        let values = self.values.iter().filter_map(|object| chart_values::of(*object));
        let node = values.filter_map(|values| values.at(path)).next_back();
        let text = |node: Node<'_>| node.as_str().unwrap_or(node.spelling()).to_owned();
        let of_values = node.map(text).filter(|text| !text.is_empty());
        if self.has_new_values { of_values.or(written) } else { written.or(of_values) }
    }
}
