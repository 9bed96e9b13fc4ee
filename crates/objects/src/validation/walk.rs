//! Walk over an object and the table of its kind that finds every refusal of every release.
//!
//! The walk follows the order of the API server: it drops nulls and fills in defaults, checks types and limits, and
//! then checks relations between fields. The server does not check relations if a type is wrong; this walk does, so
//! that it reports all problems at once. Source: k8s.io/apiextensions-apiserver v0.35,
//! pkg/registry/customresource/strategy.go and validator.go.

use super::{Explanation, Refusal, What};
use karpenter::api::comparison::{same, same_field};
use karpenter::api::pattern::is_date_time;
use karpenter::api::relations::{CheckedValue, Violation, Violations};
use karpenter::api::stored::{StoredValue, members, present};
use karpenter::api::{Constraint, FieldSchema, KindSchema, Limit, METADATA, Schema, SchemaType};
use karpenter::release::{ReleaseSet, Releases};
use manifest::tree::{Node, Value, sort_by_text};

use crate::location::Place;
use crate::object::{Object, Operation};

/// Adds every refusal for an object whose kind is in the table.
pub(super) fn walk<'d>(
    root: &'static KindSchema,
    object: Object<'d>,
    keeps_unchanged: bool,
    refusals: &mut Vec<Refusal<'d>>,
) {
    let mut walk = Walk { refusals: Vec::new(), keeps_unchanged };
    let node = object.root();
    let old = object.old().filter(|_| object.operation() == Operation::Update);
    let scope = Scope::of(root.releases);
    if let Some(metadata) = present(node, "metadata") {
        walk.metadata(metadata, node, root.releases);
    }
    walk.field(&root.spec, node, old.map(StoredValue::Given), &scope);
    if let Some(spec) = present(node, "spec") {
        walk.scale(spec, root.scale);
    }
    if let Some(old) = old
        && walk.refusals.iter().any(|refusal| matches!(refusal.what, What::Duplicate))
    {
        walk.keep_duplicates(root, old);
    }
    refusals.append(&mut walk.refusals);
}

/// Adds every refusal for a value.
pub(super) fn value<'d>(
    node: Node<'d>,
    schema: &'static Schema,
    releases: Releases,
    refusals: &mut Vec<Refusal<'d>>,
) {
    let mut walk = Walk { refusals: Vec::new(), keeps_unchanged: false };
    walk.value(node, None, schema, &Scope::of(releases));
    refusals.append(&mut walk.refusals);
}

struct Walk<'d> {
    refusals: Vec<Refusal<'d>>,
    /// Whether a fault of an unchanged value is accepted.
    keeps_unchanged: bool,
}

/// Releases in which a value is checked.
#[derive(Clone)]
struct Scope {
    /// Releases that know all fields on the path to the value.
    live: ReleaseSet,
    /// Releases that do not check the value, because the value, or an object around it, equals the stored one.
    kept: ReleaseSet,
}

impl Scope {
    fn of(releases: Releases) -> Self {
        Self { live: releases.set(), kept: ReleaseSet::none() }
    }

    fn checked(&self) -> ReleaseSet {
        self.live.without(&self.kept)
    }

    fn is_checked(&self) -> bool {
        if self.kept.is_empty() { !self.live.is_empty() } else { !self.checked().is_empty() }
    }

    fn keeping(&self, same: ReleaseSet) -> Self {
        Self { live: self.live.clone(), kept: self.kept.or(same) }
    }
}

impl<'d> Walk<'d> {
    fn refuse(&mut self, place: Place<'d>, releases: ReleaseSet, what: What) {
        if !releases.is_empty() {
            self.refusals.push(Refusal { place, releases, what });
        }
    }

    /// Checks a field of an object, whether it is present or absent.
    fn field(
        &mut self,
        field: &'static FieldSchema,
        holder: Node<'d>,
        old: Option<StoredValue<'d>>,
        scope: &Scope,
    ) {
        let node = present(holder, field.name);
        // Most fields are absent and need not be there.
        if node.is_none() && (!field.required || field.default.is_some()) {
            return;
        }
        let narrower;
        let scope = if field.releases.are_all() {
            scope
        } else {
            narrower = Scope { live: scope.live.and(field.releases), kept: scope.kept.clone() };
            &narrower
        };
        if scope.live.is_empty() {
            return;
        }
        let Some(node) = node else {
            let place = match holder.get(field.name) {
                Some(null) => Place::key(null),
                None => Place::missing(holder, field.name),
            };
            return self.refuse(place, scope.checked(), What::Required(field));
        };
        let Some(old) = old else { return self.value(node, None, &field.schema, scope) };
        let kept = self.kept(|| same_field(field, Some(StoredValue::Given(node)), old.get(field.name)));
        self.value(node, field.stored_in(old), &field.schema, &scope.keeping(kept));
    }

    /// The releases that do not check a value; `same` returns the releases in which it equals the stored value.
    fn kept(&self, same: impl FnOnce() -> ReleaseSet) -> ReleaseSet {
        if self.keeps_unchanged { same() } else { ReleaseSet::none() }
    }

    fn value(
        &mut self,
        node: Node<'d>,
        old: Option<StoredValue<'d>>,
        schema: &'static Schema,
        scope: &Scope,
    ) {
        if !scope.is_checked() {
            return;
        }
        if !is_of_type(node, schema) {
            return self.refuse(Place::value(node), scope.checked(), What::Type(schema.shape));
        }
        for fact in schema.constraints {
            self.fact(node, fact, scope);
        }
        match schema.shape {
            SchemaType::Object(fields) => fields.iter().for_each(|field| self.field(field, node, old, scope)),
            SchemaType::Map(values) => {
                for (key, value) in members(node) {
                    let Some(old) = old.and_then(|old| old.get(key)) else {
                        self.value(value, None, values, scope);
                        continue;
                    };
                    let kept = self.kept(|| same(values, StoredValue::Given(value), old));
                    self.value(value, Some(old), values, &scope.keeping(kept));
                }
            }
            // The server does not match list items with stored items: it compares the list as a whole.
            SchemaType::List(items) => node.items().for_each(|item| self.value(item, None, items, scope)),
            _ => {}
        }
        self.relations(node, old, schema, scope);
    }

    fn relations(
        &mut self,
        node: Node<'d>,
        old: Option<StoredValue<'d>>,
        schema: &'static Schema,
        scope: &Scope,
    ) {
        for relation in schema.relations {
            if relation.compares && old.is_none() {
                continue;
            }
            let mut violations = Violations::default();
            (relation.check)(CheckedValue { node, old }, &mut violations);
            for violation in violations.into_inner() {
                let releases = scope.checked().and(relation.releases);
                let place = if violation.key { Place::key(violation.at) } else { Place::value(violation.at) };
                let Violation { message, help, server, .. } = violation;
                let explanation = Explanation { message, help, server };
                let what =
                    if relation.compares { What::Change(explanation) } else { What::Relation(explanation) };
                self.refuse(place.under(node), releases.and(violation.releases), what);
            }
        }
    }

    fn fact(&mut self, node: Node<'d>, fact: &'static Constraint, scope: &Scope) {
        let releases = || scope.checked().and(fact.releases);
        let text = node.as_str();
        let (releases, what) = match fact.limit {
            Limit::OneOf(words) => {
                let Some(text) = text else { return };
                if words.iter().any(|word| word.text == text && word.releases.are_all()) {
                    return;
                }
                let known = words.iter().filter(|word| word.text == text);
                let known = known.fold(ReleaseSet::none(), |all, word| all.or(word.releases));
                (releases().without(known), What::OneOf(words))
            }
            Limit::Pattern(pattern) if text.is_some_and(|text| !(pattern.matches)(text)) => {
                (releases(), What::Form(pattern))
            }
            Limit::DateTime if text.is_some_and(|text| !is_date_time(text)) => (releases(), What::DateTime),
            Limit::Minimum(bound) if is_below(node, bound) => (releases(), What::Range(fact.limit)),
            Limit::Maximum(bound) if is_above(node, bound) => (releases(), What::Range(fact.limit)),
            Limit::UniqueItems if node.len() < 2 => return,
            Limit::UniqueItems => return self.distinct(node, &scope.live.and(fact.releases)),
            limit => match size_outside_limit(node, limit) {
                Some(size) => (releases(), What::Length(limit, size)),
                None => return,
            },
        };
        self.refuse(Place::value(node), releases, what);
    }

    fn distinct(&mut self, node: Node<'d>, releases: &ReleaseSet) {
        let mut items = Vec::new();
        for item in node.items() {
            if let Some(text) = item.as_str() {
                items.push((text, item));
            }
        }
        sort_by_text(&mut items);
        // The server reports the second of several equal items, not the third.
        for same in items.chunk_by(|(one, _), (other, _)| one == other) {
            if let Some((_, second)) = same.get(1) {
                self.refuse(Place::value(*second), releases.clone(), What::Duplicate);
            }
        }
    }

    /// Drops the refusals of duplicates if the stored object has a duplicate anywhere: the server then accepts them.
    fn keep_duplicates(&mut self, root: &'static KindSchema, old: Node<'d>) {
        let mut stored = Walk { refusals: Vec::new(), keeps_unchanged: true };
        stored.field(&root.spec, old, None, &Scope::of(root.releases));
        let twice = stored.refusals.iter().filter(|refusal| matches!(refusal.what, What::Duplicate));
        let kept = twice.fold(ReleaseSet::none(), |all, refusal| all.or(&refusal.releases));
        for refusal in &mut self.refusals {
            if matches!(refusal.what, What::Duplicate) {
                refusal.releases = refusal.releases.without(&kept);
            }
        }
        self.refusals.retain(|refusal| !refusal.releases.is_empty());
    }

    /// Checks `spec.replicas` as the scale subresource. The server reads it separately, as a 32-bit number, and checks
    /// it even if it equals the stored value.
    fn scale(&mut self, spec: Node<'d>, releases: Releases) {
        /// Path in the spelling of the server.
        const PATH: &str = ".spec.replicas";
        // A `spec` that is not an object has no `replicas`, which the server reports as a separate error.
        let read = if spec.is_mapping() { present(spec, "replicas") } else { Some(spec) };
        let Some(replicas) = read.filter(|_| !releases.is_empty()) else { return };
        let place = Place::value(replicas).spelled(PATH);
        match replicas.value() {
            Value::Int(count) if i32::try_from(count).is_ok_and(|count| count >= 0) => {}
            Value::Int(_) => self.refuse(place, releases.set(), What::Scale),
            _ => self.refuse(place, releases.set(), What::ScaleType),
        }
    }

    /// Checks `metadata`. The server decodes it as a whole, and names no path if that fails.
    fn metadata(&mut self, node: Node<'d>, root: Node<'d>, releases: Releases) {
        let mut inner = Walk { refusals: Vec::new(), keeps_unchanged: self.keeps_unchanged };
        if node.is_mapping() {
            let scope = Scope::of(releases);
            for field in METADATA {
                inner.field(field, node, None, &scope);
            }
        } else {
            inner.refuse(Place::value(node), releases.set(), What::Type(SchemaType::Object(METADATA)));
        }
        for mut refusal in inner.refusals {
            if !refusal.place.node().is_null() {
                refusal.place = refusal.place.under(root);
                self.refusals.push(refusal);
            }
        }
    }
}

fn is_of_type(node: Node<'_>, schema: &Schema) -> bool {
    match (schema.shape, node.value()) {
        (SchemaType::Object(_) | SchemaType::Map(_), Value::Mapping)
        | (SchemaType::List(_), Value::Sequence)
        | (SchemaType::Text | SchemaType::IntOrText, Value::String(_))
        | (SchemaType::Integer | SchemaType::IntOrText, Value::Int(_))
        | (SchemaType::Boolean, Value::Bool(_))
        | (SchemaType::Any, _) => true,
        (SchemaType::Integer | SchemaType::IntOrText, Value::Float(number)) => is_whole(number),
        // The server does not check the type of a string with a format if the value is a list. Source: kube-openapi
        // pkg/validation/validate/type.go, `typeValidator`.
        (SchemaType::Text, Value::Sequence) => {
            schema.constraints.iter().any(|fact| matches!(fact.limit, Limit::DateTime))
        }
        _ => false,
    }
}

/// Whether the server accepts a floating-point number as a whole number. Source: go-openapi/swag convert.go,
/// `IsFloat64AJSONInteger`.
fn is_whole(number: f64) -> bool {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    const NEAR: f64 = 1e-9;
    let below = number.trunc();
    let near = below >= 1.0 && (number - below) / (number + below) < NEAR;
    number.abs() <= EXACT && (number.fract() == 0.0 || near)
}

fn is_below(node: Node<'_>, bound: i32) -> bool {
    match node.value() {
        Value::Int(number) => number < i64::from(bound),
        Value::Float(number) => number < f64::from(bound),
        _ => false,
    }
}

fn is_above(node: Node<'_>, bound: i32) -> bool {
    match node.value() {
        Value::Int(number) => number > i64::from(bound),
        Value::Float(number) => number > f64::from(bound),
        _ => false,
    }
}

/// Size of a string, list or object, if the size is outside the limit.
fn size_outside_limit(node: Node<'_>, limit: Limit) -> Option<usize> {
    let size = match limit {
        Limit::MinLength(_) | Limit::MaxLength(_) => characters(node),
        Limit::MaxProperties(_) => members(node).count(),
        _ => node.len(),
    };
    let wrong = match limit {
        Limit::MinLength(bound) | Limit::MinItems(bound) => size < bound as usize,
        Limit::MaxLength(bound) | Limit::MaxItems(bound) | Limit::MaxProperties(bound) => {
            size > bound as usize
        }
        _ => false,
    };
    wrong.then_some(size)
}

fn characters(node: Node<'_>) -> usize {
    node.as_str().map_or(0, |text| text.chars().count())
}
