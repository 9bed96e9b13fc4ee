//! The effect on nodes of a changed NodePool, EC2NodeClass or NodeOverlay.

use std::collections::{BTreeMap, BTreeSet};

use always_assert::never;
use karpenter::api::comparison::same;
use karpenter::api::stored::StoredValue;
use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::RequirementList;
use scheduling::requirements::Requirements;
use values::duration::NillableDuration;
use values::quantity::Quantity;

use crate::decision::{DriftReason, requirements_of};
use crate::difference::differences;
use crate::effect::{Effect, FIELD_EFFECTS, FieldComparison, FieldEffect};
use crate::elements::HashOptions;
use crate::hasher::{Hasher, Typed};

/// A changed field, with the effect of the change.
#[derive(Clone, Debug)]
pub struct FieldChange<'d> {
    /// The path of the field.
    pub path: String,
    /// The value in the old object; `None` if it is absent or a default.
    pub old: Option<Node<'d>>,
    /// The value in the new object; `None` if it is absent or a default.
    pub new: Option<Node<'d>>,
    /// The effect of this change.
    pub effect: Effect,
    /// The reason of drift, if the change can replace nodes.
    pub reason: Option<DriftReason>,
    /// The effect of changes of the field in general.
    pub field: &'static FieldEffect,
}

/// Kind of a change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum ObjectChangeKind {
    /// Only the new input has the object.
    Added,
    /// Only the old input has the object.
    Removed,
    /// Both have the object, written differently.
    Changed,
}

/// A changed object, with the effect of the change.
#[derive(Clone, Debug)]
pub struct ObjectChange<'d> {
    /// Kind of the change.
    pub change: ObjectChangeKind,
    /// The old object.
    pub old: Option<Object<'d>>,
    /// The new object.
    pub new: Option<Object<'d>>,
    /// The strongest effect.
    pub effect: Effect,
    /// The reason of drift of the strongest effect.
    pub reason: Option<DriftReason>,
    /// The NodePools whose nodes the change concerns.
    pub node_pools: BTreeSet<&'d str>,
    /// The changed fields.
    pub fields: Vec<FieldChange<'d>>,
}

impl<'d> ObjectChange<'d> {
    /// The object: the new one, else the old one.
    pub fn object(&self) -> Option<Object<'d>> {
        self.new.or(self.old)
    }
}

/// The changes between two states of one cluster, in which no two objects have one kind and name.
pub fn changes<'d>(old: &[Object<'d>], new: &[Object<'d>], options: &HashOptions) -> Vec<ObjectChange<'d>> {
    const KINDS: [Kind; 3] = [Kind::NODE_POOL, Kind::NODE_CLASS, Kind::NODE_OVERLAY];
    let pools = ConcernedPools::of(old.iter().chain(new));
    let mut found = Vec::new();
    for kind in KINDS {
        let mut pairs: BTreeMap<&str, (Option<Object<'d>>, Option<Object<'d>>)> = BTreeMap::new();
        for object in old.iter().filter(|object| object.is(kind)) {
            pairs.entry(object.name()).or_default().0 = Some(*object);
        }
        for object in new.iter().filter(|object| object.is(kind)) {
            pairs.entry(object.name()).or_default().1 = Some(*object);
        }
        found.extend(pairs.into_values().filter_map(|(old_object, new_object)| {
            let mut change = object_change(kind, old_object, new_object, options)?;
            change.node_pools = pools.of_object(kind, change.object()?.name());
            Some(change)
        }));
    }
    found
}

fn object_change<'d>(
    kind: Kind,
    old: Option<Object<'d>>,
    new: Option<Object<'d>>,
    options: &HashOptions,
) -> Option<ObjectChange<'d>> {
    let (change, effect, fields) = match (old, new) {
        (None, Some(_)) if kind == Kind::NODE_OVERLAY => {
            (ObjectChangeKind::Added, Effect::ActsAtOnce, vec![])
        }
        (None, Some(_)) => (ObjectChangeKind::Added, Effect::NewNodes, vec![]),
        // The garbage collector deletes the NodeClaims of a NodePool. An EC2NodeClass stays until its nodes are gone.
        (Some(_), None) if kind == Kind::NODE_POOL => {
            (ObjectChangeKind::Removed, Effect::RemovesNodes, vec![])
        }
        (Some(_), None) => (ObjectChangeKind::Removed, Effect::ActsAtOnce, vec![]),
        (Some(old), Some(new)) => {
            if is_written_alike(old.root(), new.root()) {
                return None;
            }
            let fields = field_changes(old, new, options);
            let effect = fields.iter().map(|field| field.effect).max().unwrap_or(Effect::None);
            (ObjectChangeKind::Changed, effect, fields)
        }
        (None, None) => return None,
    };
    let reason = fields.iter().find(|field| field.effect == effect).and_then(|field| field.reason);
    Some(ObjectChange { change, old, new, effect, reason, node_pools: BTreeSet::new(), fields })
}

/// The NodePools among some objects, by the object that a change of which concerns their nodes.
#[derive(Clone, Debug, Default)]
pub struct ConcernedPools<'d> {
    all: BTreeSet<&'d str>,
    by_class: BTreeMap<&'d str, BTreeSet<&'d str>>,
}

impl<'d> ConcernedPools<'d> {
    /// The NodePools among objects.
    pub fn of<'o>(objects: impl IntoIterator<Item = &'o Object<'d>>) -> Self
    where
        'd: 'o,
    {
        let mut pools = Self::default();
        for pool in objects.into_iter().filter_map(|object| NodePool::of(*object)) {
            let name = pool.object().name();
            pools.all.insert(name);
            if let Some(class) = pool.node_class_ref().and_then(|class| class.name()?.as_str()) {
                pools.by_class.entry(class).or_default().insert(name);
            }
        }
        pools
    }

    /// The NodePools whose nodes the change of an object concerns.
    pub fn of_object(&self, kind: Kind, name: &'d str) -> BTreeSet<&'d str> {
        if kind == Kind::NODE_POOL {
            BTreeSet::from([name])
        } else if kind == Kind::NODE_OVERLAY {
            self.all.clone()
        } else {
            self.by_class.get(name).cloned().unwrap_or_default()
        }
    }
}

/// The changed fields of an object that both inputs have.
pub fn field_changes<'d>(old: Object<'d>, new: Object<'d>, options: &HashOptions) -> Vec<FieldChange<'d>> {
    let Some(kind) =
        [Kind::NODE_POOL, Kind::NODE_CLASS, Kind::NODE_OVERLAY].into_iter().find(|kind| new.is(*kind))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if kind != Kind::NODE_OVERLAY {
        for difference in differences(old, new, options) {
            let Some(field) = FieldEffect::hashed(kind, &difference.path) else {
                never!("no row for {}", difference.path);
                continue;
            };
            found.push(FieldChange {
                path: difference.path,
                old: difference.old,
                new: difference.new,
                effect: field.effect,
                reason: field.reason,
                field,
            });
        }
    }
    let rows = FIELD_EFFECTS.iter().filter(|row| row.kind == kind && row.comparison != FieldComparison::Hash);
    found.extend(rows.filter_map(|field| unhashed_change(field, old, new, options.hasher())));
    let mut hidden = Vec::new();
    find_hidden("spec", [old, new].map(|object| object.at(&["spec"])), &mut hidden);
    for (path, [old, new]) in hidden {
        let is_known = found.iter().any(|field| is_at(&field.path, &path) || is_at(&path, &field.path));
        let rows = FIELD_EFFECTS.iter().filter(|row| row.kind == kind);
        let concerned = rows.filter(|row| is_at(row.path, &path) || is_at(&path, row.path));
        if let Some(field) = concerned.max_by_key(|row| row.effect).filter(|_| !is_known) {
            found.push(FieldChange { path, old, new, effect: field.effect, reason: field.reason, field });
        }
    }
    found
}

/// Whether a path is another one, or below it.
fn is_at(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A path, and the values there of both sides.
type HiddenValue<'d> = (String, [Option<Node<'d>>; 2]);

/// Finds the placeholders of Terraform that differ. One in the place of an object or a list hides what is compared.
fn find_hidden<'d>(path: &str, sides: [Option<Node<'d>>; 2], found: &mut Vec<HiddenValue<'d>>) {
    let is_hidden = |node: &Node<'d>| node.as_str().is_some_and(|text| text.starts_with("${"));
    let [old, new] = sides;
    if sides.into_iter().flatten().any(|node| is_hidden(&node)) {
        if old.map(Node::to_json) != new.map(Node::to_json) {
            found.push((path.to_owned(), sides));
        }
        return;
    }
    let others: BTreeMap<&str, Node<'d>> = new.into_iter().flat_map(Node::members).collect();
    for (key, node) in old.into_iter().flat_map(Node::members) {
        let other = others.get(key).copied();
        if node.is_mapping() || is_hidden(&node) || other.is_some_and(|other| is_hidden(&other)) {
            find_hidden(&format!("{path}.{key}"), [Some(node), other], found);
        }
    }
}

fn unhashed_change<'d>(
    field: &'static FieldEffect,
    old: Object<'d>,
    new: Object<'d>,
    hasher: Hasher,
) -> Option<FieldChange<'d>> {
    let value = |object: Object<'d>| -> Option<Typed<'d>> {
        let mut keys = field.path.split('.').skip(1);
        let spec =
            Typed { value: StoredValue::Given(object.at(&["spec"])?), schema: &object.table()?.spec.schema };
        keys.try_fold(spec, |value, key| hasher.member(value, key))
    };
    let (one, other) = (value(old), value(new));
    let effect = effect_between(field, one, other, hasher)?;
    let node = |value: Option<Typed<'d>>| match value?.value {
        StoredValue::Given(node) => Some(node),
        StoredValue::Filled(_) => None,
    };
    let reason = field.reason.filter(|_| effect > Effect::ActsAtOnce);
    Some(FieldChange { path: field.path.to_owned(), old: node(one), new: node(other), effect, reason, field })
}

/// The effect of a change from one value to the other; `None` if they mean the same.
fn effect_between(
    field: &FieldEffect,
    one: Option<Typed<'_>>,
    other: Option<Typed<'_>>,
    hasher: Hasher,
) -> Option<Effect> {
    let is_same = |one: &Typed<'_>, other: &Typed<'_>| {
        same(one.schema, one.value, other.value).contains(hasher.release)
    };
    let is_stored_alike = match (&one, &other) {
        (Some(one), Some(other)) => is_same(one, other),
        (None, None) => true,
        _ => false,
    };
    if is_stored_alike {
        return None;
    }
    match field.comparison {
        FieldComparison::Replicas => match (number(one), number(other)) {
            (Some(one), Some(other)) if other < one => Some(Effect::RemovesNodes),
            _ => Some(field.effect),
        },
        FieldComparison::Duration => {
            (duration(one) != duration(other) || duration(one).is_none()).then_some(field.effect)
        }
        FieldComparison::Quantities => (quantities(one) != quantities(other)).then_some(field.effect),
        FieldComparison::Unordered | FieldComparison::WholeTerms | FieldComparison::Images
            if is_same_set(one, other, &is_same) =>
        {
            None
        }
        FieldComparison::WholeTerms | FieldComparison::Images if have_no_common_id(one, other) => {
            Some(Effect::ReplacesAll)
        }
        FieldComparison::Hash
        | FieldComparison::Stored
        | FieldComparison::Unordered
        | FieldComparison::WholeTerms => Some(field.effect),
        FieldComparison::Requirements => requirements_effect(one, other),
        FieldComparison::Terms => {
            let (ones, others) = (items(one), items(other));
            if is_too_long(&ones) || is_too_long(&others) {
                return Some(field.effect);
            }
            let keeps = |item: &Typed<'_>| others.iter().any(|other| is_same(item, other));
            let adds = |item: &Typed<'_>| !ones.iter().any(|other| is_same(item, other));
            match (ones.iter().all(keeps), others.iter().any(adds)) {
                (true, false) => None,
                (true, true) => Some(Effect::NewNodes),
                (false, _) => Some(field.effect),
            }
        }
        FieldComparison::Images => Some(match (pinned_alias(one), pinned_alias(other)) {
            // Two versions of a family have different images.
            (Some(one), Some(other)) if one != other => Effect::ReplacesAll,
            (Some(_), Some(_)) => return None,
            _ => field.effect,
        }),
    }
}

/// Whether wider or narrower requirements are asked. Nodes are not compared with `minValues`.
fn requirements_effect(one: Option<Typed<'_>>, other: Option<Typed<'_>>) -> Option<Effect> {
    let (had, asked) = (asked_by(one), asked_by(other));
    if had == asked {
        return None;
    }
    let accepts_all = asked.iter().all(|(key, asked)| {
        had.get(key).is_some_and(|had| {
            let had = had.clone().with_min_values(None);
            // A label that may be absent must stay so.
            let may_be_absent = !had.is_negative() || asked.is_negative();
            may_be_absent && had.intersection(asked).with_min_values(None) == had
        })
    });
    Some(if accepts_all { Effect::NewNodes } else { Effect::ReplacesSome })
}

fn asked_by(list: Option<Typed<'_>>) -> Requirements<'_> {
    match list.map(|list| list.value) {
        Some(StoredValue::Given(node)) => requirements_of(RequirementList::new(Some(node))),
        _ => Requirements::default(),
    }
}

/// Whether two lists have the same items, whatever their order and number.
fn is_same_set<'d>(
    one: Option<Typed<'d>>,
    other: Option<Typed<'d>>,
    is_same: &impl Fn(&Typed<'d>, &Typed<'d>) -> bool,
) -> bool {
    let (ones, others) = (items(one), items(other));
    if is_too_long(&ones) || is_too_long(&others) {
        return false;
    }
    let all_in = |all: &[Typed<'d>], others: &[Typed<'d>]| {
        all.iter().all(|item| others.iter().any(|other| is_same(item, other)))
    };
    all_in(&ones, &others) && all_in(&others, &ones)
}

/// Whether a list has far more items than the API server accepts, which are 50. Each item is compared with each other one.
fn is_too_long(items: &[Typed<'_>]) -> bool {
    const MAX_ITEMS: usize = 500;
    items.len() > MAX_ITEMS
}

fn items(value: Option<Typed<'_>>) -> Vec<Typed<'_>> {
    value.map(Hasher::items).unwrap_or_default()
}

fn number(value: Option<Typed<'_>>) -> Option<i64> {
    match value?.value {
        StoredValue::Given(node) => node.as_int(),
        StoredValue::Filled(_) => None,
    }
}

fn duration(value: Option<Typed<'_>>) -> Option<NillableDuration> {
    NillableDuration::parse(value?.value.as_str()?).ok()
}

/// The amounts of a map of quantities, with the text of what is not a quantity.
fn quantities<'d>(value: Option<Typed<'d>>) -> BTreeMap<&'d str, Result<Quantity, String>> {
    let entries = value.map(Hasher::entries).unwrap_or_default();
    let amount = |value: Typed<'d>| match value.value {
        StoredValue::Given(node) => {
            let text = node.as_str().map_or_else(|| node.spelling().to_owned(), str::to_owned);
            Quantity::parse(text.trim()).map_err(|_| text)
        }
        StoredValue::Filled(_) => Err(String::new()),
    };
    entries.into_iter().map(|(key, value)| (key, amount(value))).collect()
}

/// Whether two lists of selector terms name all that they select by ID, and nothing in common.
fn have_no_common_id(one: Option<Typed<'_>>, other: Option<Typed<'_>>) -> bool {
    let ids = |value: Option<Typed<'_>>| -> Option<BTreeSet<String>> {
        let ids = items(value).into_iter().map(|term| Some(term.value.get("id")?.as_str()?.to_owned()));
        ids.collect::<Option<BTreeSet<String>>>().filter(|ids| !ids.is_empty())
    };
    ids(one).zip(ids(other)).is_some_and(|(ones, others)| ones.is_disjoint(&others))
}

/// The alias that pins the version of the image, if the terms are such an alias. A version of Bottlerocket may begin with `v`:
/// pkg/providers/amifamily/bottlerocket.go of aws/karpenter-provider-aws at v1.14.1.
fn pinned_alias(value: Option<Typed<'_>>) -> Option<String> {
    let terms = items(value);
    let [term] = terms.as_slice() else { return None };
    let alias = term.value.get("alias")?.as_str()?;
    let plain = alias.strip_prefix("bottlerocket@v").map(|version| format!("bottlerocket@{version}"));
    (!alias.ends_with("@latest")).then(|| plain.unwrap_or_else(|| alias.to_owned()))
}

/// Whether two objects are written alike, except for the order of keys.
pub fn is_written_alike(one: Node<'_>, other: Node<'_>) -> bool {
    if one.is_mapping() && other.is_mapping() {
        let count = one.members().count();
        return count == other.members().count()
            && one
                .members()
                .all(|(key, value)| other.get(key).is_some_and(|other| is_written_alike(value, other)));
    }
    if one.is_sequence() && other.is_sequence() {
        return one.len() == other.len()
            && one.items().zip(other.items()).all(|(one, other)| is_written_alike(one, other));
    }
    one.value() == other.value()
}
