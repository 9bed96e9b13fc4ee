//! One walk over an object, side by side with the table of its kind, that finds what each release refuses.
//!
//! It does what the API server does, in the same order of thought: nulls are dropped and defaults filled in, types and bounds
//! are judged, then relations between fields. The server stops before the relations where a type is wrong; this walk does
//! not, so that all problems come at once. Source: k8s.io/apiextensions-apiserver v0.35,
//! pkg/registry/customresource/strategy.go and validator.go.

use super::{Refusal, What};
use lint::finding::Place;
use karpenter::api::pattern::is_date_time;
use karpenter::api::relations::{Breaches, Held};
use karpenter::api::stored::{Stored, members, present, same, same_field};
use karpenter::api::{Fact, Field, Limit, METADATA, Root, Schema, Shape};
use karpenter::release::Releases;
use manifest::tree::{Node, Value};
use objects::object::{Object, Operation};

/// Adds what is refused of an object of a kind in the table.
pub(super) fn walk<'d>(root: &'static Root, object: Object<'d>, refusals: &mut Vec<Refusal<'d>>) {
    let mut walk = Walk { refusals: Vec::new() };
    let node = object.root();
    let old = object.old().filter(|_| object.operation() == Operation::Update);
    let scope = Scope { live: root.releases, kept: Releases::NONE };
    if let Some(metadata) = present(node, "metadata") {
        walk.metadata(metadata, node, root.releases);
    }
    walk.field(&root.spec, node, old.map(Stored::Given), scope);
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

struct Walk<'d> {
    refusals: Vec<Refusal<'d>>,
}

/// Where a value is judged.
#[derive(Clone, Copy)]
struct Scope {
    /// The releases that know all fields on the way to it.
    live: Releases,
    /// The releases that keep it as it is, because it or what holds it is what is stored already.
    kept: Releases,
}

impl Scope {
    fn judged(self) -> Releases {
        self.live.without(self.kept)
    }

    fn keeping(self, same: Releases) -> Self {
        Self { kept: self.kept.or(same), ..self }
    }
}

impl<'d> Walk<'d> {
    fn refuse(&mut self, place: Place<'d>, releases: Releases, what: What) {
        if !releases.is_empty() {
            self.refusals.push(Refusal { place, releases, what });
        }
    }

    /// A field of an object, there or not.
    fn field(&mut self, field: &'static Field, holder: Node<'d>, old: Option<Stored<'d>>, scope: Scope) {
        let scope = Scope { live: scope.live.and(field.releases), ..scope };
        if scope.live.is_empty() {
            return;
        }
        let Some(node) = present(holder, field.name) else {
            if field.required && field.default.is_none() {
                let place = match holder.get(field.name) {
                    Some(null) => Place::key(null),
                    None => Place::missing(holder, field.name),
                };
                self.refuse(place, scope.judged(), What::Required(field));
            }
            return;
        };
        let Some(old) = old else { return self.value(node, None, &field.schema, scope) };
        let same = same_field(field, Some(Stored::Given(node)), old.get(field.name));
        self.value(node, old.field(field), &field.schema, scope.keeping(same));
    }

    fn value(&mut self, node: Node<'d>, old: Option<Stored<'d>>, schema: &'static Schema, scope: Scope) {
        if scope.judged().is_empty() {
            return;
        }
        if !is_of_type(node, schema) {
            return self.refuse(Place::value(node), scope.judged(), What::Type(schema.shape));
        }
        for fact in schema.facts {
            self.fact(node, fact, scope);
        }
        match schema.shape {
            Shape::Object(fields) => fields.iter().for_each(|field| self.field(field, node, old, scope)),
            Shape::Map(values) => {
                for (key, value) in members(node) {
                    let old = old.and_then(|old| old.get(key));
                    let same = old.map_or(Releases::NONE, |old| same(values, Stored::Given(value), old));
                    self.value(value, old, values, scope.keeping(same));
                }
            }
            // The items of a list are not told apart: they are kept with the whole list or not at all.
            Shape::List(items) => node.items().for_each(|item| self.value(item, None, items, scope)),
            _ => {}
        }
        self.relations(node, old, schema, scope);
    }

    fn relations(&mut self, node: Node<'d>, old: Option<Stored<'d>>, schema: &'static Schema, scope: Scope) {
        for relation in schema.relations {
            let releases = scope.judged().and(relation.releases);
            if releases.is_empty() || (relation.compares && old.is_none()) {
                continue;
            }
            let mut breaches = Breaches::default();
            (relation.check)(Held { node, old }, &mut breaches);
            for breach in breaches.into_inner() {
                let place = if breach.key { Place::key(breach.at) } else { Place::value(breach.at) };
                let (message, help) = (breach.message, breach.help);
                let what = if relation.compares {
                    What::Change { message, help }
                } else {
                    What::Relation { message, help }
                };
                self.refuse(place.under(node), releases.and(breach.releases), what);
            }
        }
    }

    fn fact(&mut self, node: Node<'d>, fact: &'static Fact, scope: Scope) {
        let releases = scope.judged().and(fact.releases);
        if releases.is_empty() {
            return;
        }
        let text = node.as_str();
        let (releases, what) = match fact.limit {
            Limit::OneOf(words) => {
                let Some(text) = text else { return };
                let known = words.iter().filter(|word| word.text == text);
                let known = known.fold(Releases::NONE, |all, word| all.or(word.releases));
                (releases.without(known), What::OneOf(words))
            }
            Limit::Form(pattern) if text.is_some_and(|text| !(pattern.fits)(text)) => {
                (releases, What::Form(pattern))
            }
            Limit::DateTime if text.is_some_and(|text| !is_date_time(text)) => (releases, What::DateTime),
            Limit::Least(bound) if is_below(node, bound) => (releases, What::Range(fact.limit)),
            Limit::Most(bound) if is_above(node, bound) => (releases, What::Range(fact.limit)),
            Limit::Distinct => return self.distinct(node, scope.live.and(fact.releases)),
            limit => match wrong_size(node, limit) {
                Some(size) => (releases, What::Length(limit, size)),
                None => return,
            },
        };
        self.refuse(Place::value(node), releases, what);
    }

    fn distinct(&mut self, node: Node<'d>, releases: Releases) {
        let mut items = Vec::new();
        for item in node.items() {
            if let Some(text) = item.as_str() {
                items.push((text, item));
            }
        }
        items.sort_by_key(|(text, item)| (*text, item.index()));
        // The server names the second of those that are the same, not the third.
        for same in items.chunk_by(|(one, _), (other, _)| one == other) {
            if let Some((_, second)) = same.get(1) {
                self.refuse(Place::value(*second), releases, What::Duplicate);
            }
        }
    }

    /// An update may have what is twice in a list where the stored object has such a thing anywhere.
    fn keep_duplicates(&mut self, root: &'static Root, old: Node<'d>) {
        let mut stored = Walk { refusals: Vec::new() };
        stored.field(&root.spec, old, None, Scope { live: root.releases, kept: Releases::NONE });
        let twice = stored.refusals.iter().filter(|refusal| matches!(refusal.what, What::Duplicate));
        let kept = twice.fold(Releases::NONE, |all, refusal| all.or(refusal.releases));
        for refusal in &mut self.refusals {
            if matches!(refusal.what, What::Duplicate) {
                refusal.releases = refusal.releases.without(kept);
            }
        }
        self.refusals.retain(|refusal| !refusal.releases.is_empty());
    }

    /// The scale of an object is read from `spec.replicas` on its own, as 32 bits, and never kept.
    fn scale(&mut self, spec: Node<'d>, releases: Releases) {
        /// How the server spells the path.
        const PATH: &str = ".spec.replicas";
        // A `spec` that is no object has no `replicas` to read, which is an error of its own.
        let read = if spec.is_mapping() { present(spec, "replicas") } else { Some(spec) };
        let Some(replicas) = read.filter(|_| !releases.is_empty()) else { return };
        let place = Place::value(replicas).spelled(PATH);
        match replicas.value() {
            Value::Int(count) if i32::try_from(count).is_ok_and(|count| count >= 0) => {}
            Value::Int(_) => self.refuse(place, releases, What::Scale),
            _ => self.refuse(place, releases, What::ScaleType),
        }
    }

    /// `metadata` is decoded as a whole; the server names no path where that fails.
    fn metadata(&mut self, node: Node<'d>, root: Node<'d>, releases: Releases) {
        let mut inner = Walk { refusals: Vec::new() };
        if node.is_mapping() {
            let scope = Scope { live: releases, kept: Releases::NONE };
            for field in METADATA {
                inner.field(field, node, None, scope);
            }
        } else {
            inner.refuse(Place::value(node), releases, What::Type(Shape::Object(METADATA)));
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
        (Shape::Object(_) | Shape::Map(_), Value::Mapping)
        | (Shape::List(_), Value::Sequence)
        | (Shape::Text | Shape::IntOrText, Value::String(_))
        | (Shape::Integer | Shape::IntOrText, Value::Int(_))
        | (Shape::Boolean, Value::Bool(_)) => true,
        (Shape::Integer | Shape::IntOrText, Value::Float(number)) => is_whole(number),
        // A string with a format is not asked for its type where a list stands in its place. Source: kube-openapi
        // pkg/validation/validate/type.go, `typeValidator`.
        (Shape::Text, Value::Sequence) => {
            schema.facts.iter().any(|fact| matches!(fact.limit, Limit::DateTime))
        }
        _ => false,
    }
}

/// Whether the server takes a number with a fraction for a whole one. Source: go-openapi/swag convert.go,
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

/// The size of a string, list or object that is beyond a limit of it.
fn wrong_size(node: Node<'_>, limit: Limit) -> Option<usize> {
    let size = match limit {
        Limit::LeastLetters(_) | Limit::MostLetters(_) => letters(node),
        Limit::MostMembers(_) => members(node).count(),
        _ => node.len(),
    };
    let wrong = match limit {
        Limit::LeastLetters(bound) | Limit::LeastItems(bound) => size < bound as usize,
        Limit::MostLetters(bound) | Limit::MostItems(bound) | Limit::MostMembers(bound) => {
            size > bound as usize
        }
        _ => false,
    };
    wrong.then_some(size)
}

fn letters(node: Node<'_>) -> usize {
    node.as_str().map_or(0, |text| text.chars().count())
}
