//! Labels of nodes, and their values.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use karpenter::api::KindSchema;
use karpenter::instance_types::{self, TypeLabel, names};
use karpenter::kind::Kind;
use karpenter::known_values;
use karpenter::labels::{self, LabelField, all_well_known, is_usable, well_known};
use objects::node_pool::NodePool;
use objects::object::Object;
use scheduling::simulation::SimulationSettings;

use super::suggestion::{Suggestion, SuggestionKind};
use super::{Question, names as in_folder};

/// Labels whose values are the names of objects or instances.
const REGION: &str = "topology.kubernetes.io/region";
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// The number of values that the documentation of a label shows.
const SHOWN: usize = 8;

/// The labels that a requirement or a pod may name: the labels that Karpenter knows, and the labels of the NodePools in the folder.
pub(super) fn keys(question: Question<'_>, table: Option<&'static KindSchema>) -> Vec<Suggestion> {
    let field = table.and_then(|table| match table.kind {
        Kind::NODE_POOL => Some(LabelField::PoolRequirement),
        Kind::NODE_CLAIM => Some(LabelField::ClaimRequirement),
        Kind::NODE_OVERLAY => Some(LabelField::OverlayRequirement),
        _ => None,
    });
    let release = question.release;
    let is_allowed = |key: &&str| match field {
        Some(field) => is_usable(field, key, release),
        None => well_known(key).contains(release),
    };
    let of_folder = FolderLabels::new(question);
    let known = all_well_known().filter(is_allowed).map(|key| {
        let values = of_folder.values(key);
        let shown: Vec<_> = values.iter().take(SHOWN).map(|value| format!("`{}`", value.text)).collect();
        let more = if values.len() > SHOWN { ", …" } else { "" };
        let documentation =
            if shown.is_empty() { String::new() } else { format!("Values: {}{more}", shown.join(", ")) };
        Suggestion::new(SuggestionKind::Text, key).documented(documentation)
    });
    let mut keys: Vec<Suggestion> = known.collect();
    if field.is_none() {
        let custom = of_folder.custom().keys().filter(|key| well_known(key).is_empty());
        keys.extend(custom.map(|key| {
            Suggestion::new(SuggestionKind::Name, key.clone())
                .detail("of a NodePool in this folder")
                .ranked(0)
        }));
    }
    keys
}

/// The values of a label.
pub(super) fn values(question: Question<'_>, key: &str) -> Vec<Suggestion> {
    FolderLabels::new(question).values(labels::normalised(key))
}

/// The labels that a folder shows. What the files say is computed once, when a label first needs it.
struct FolderLabels<'f> {
    question: Question<'f>,
    objects: OnceCell<Vec<Object<'f>>>,
    settings: OnceCell<Option<SimulationSettings>>,
    custom: OnceCell<BTreeMap<String, Vec<String>>>,
}

impl<'f> FolderLabels<'f> {
    fn new(question: Question<'f>) -> Self {
        Self { question, objects: OnceCell::new(), settings: OnceCell::new(), custom: OnceCell::new() }
    }

    fn objects(&self) -> &[Object<'f>] {
        self.objects.get_or_init(|| self.question.objects())
    }

    fn values(&self, key: &str) -> Vec<Suggestion> {
        if let Some(known) = known_values::of_label(key) {
            return Suggestion::texts(known.values_in(self.question.release));
        }
        if key == INSTANCE_TYPE {
            return instance_types();
        }
        if TypeLabel::of_key(key).is_some() {
            return Suggestion::texts(names::values(key).iter().copied());
        }
        match key {
            labels::ZONE | labels::ZONE_ID | REGION => self.places(key),
            labels::NODEPOOL => in_folder::of_kind(self.objects(), Kind::NODE_POOL),
            labels::NODE_CLASS => in_folder::of_kind(self.objects(), Kind::NODE_CLASS),
            _ => Suggestion::texts(self.custom().get(key).cloned().unwrap_or_default()),
        }
    }

    /// The zones, their IDs or the region of the folder.
    fn places(&self, key: &str) -> Vec<Suggestion> {
        let computed = || self.question.folder.map(|folder| folder.simulation_settings(self.objects()));
        let Some(settings) = self.settings.get_or_init(computed) else { return Vec::new() };
        let zones = || settings.zones.iter();
        let values: Vec<String> = match key {
            REGION => vec![settings.region.clone()],
            labels::ZONE_ID => zones().map(|zone| zone.id.clone()).collect(),
            _ => zones().map(|zone| zone.name.clone()).collect(),
        };
        Suggestion::texts(values.into_iter().filter(|value| !value.is_empty()))
    }

    /// The labels of the NodePools in the folder, with the values that they may have.
    fn custom(&self) -> &BTreeMap<String, Vec<String>> {
        self.custom.get_or_init(|| custom_labels(self.objects()))
    }
}

/// The instance types with their size and price.
fn instance_types() -> Vec<Suggestion> {
    let prices: BTreeMap<&str, f64> = instance_types::prices().collect();
    let typed = |kind: &instance_types::InstanceType| {
        let name = kind.name();
        let arch = if kind.is_arm() { "arm64" } else { "amd64" };
        let price = prices.get(name).map(|price| format!(", ${price}/h")).unwrap_or_default();
        let detail = format!("{} vCPU, {} MiB, {arch}{price}", kind.cpu(), kind.memory());
        Suggestion::new(SuggestionKind::Text, name).detail(detail)
    };
    let named = instance_types::all().iter().map(typed);
    let mut all: Vec<Suggestion> = named.collect();
    // Types that AWS has announced and the table lacks.
    let known: Vec<&str> = instance_types::all().iter().map(instance_types::InstanceType::name).collect();
    let further = names::values(INSTANCE_TYPE).iter().filter(|name| known.binary_search(name).is_err());
    all.extend(further.map(|name| Suggestion::new(SuggestionKind::Text, *name)));
    all
}

/// The labels of the NodePools among objects, with the values that they may have.
fn custom_labels(objects: &[Object<'_>]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pool in objects.iter().filter_map(|object| NodePool::of(*object)) {
        let mut add = |key: &str, value: Option<&str>| {
            let values = all.entry(key.to_owned()).or_default();
            let is_new = |value: &&str| !values.iter().any(|known| known == value);
            if let Some(value) = value.filter(is_new) {
                values.push(value.to_owned());
            }
        };
        pool.node_labels().for_each(|(key, value)| add(key, value.as_str()));
        for item in pool.requirements().items() {
            let Some(key) = item.key() else { continue };
            add(key, None);
            item.values().for_each(|value| add(key, value.as_str()));
        }
    }
    all
}
