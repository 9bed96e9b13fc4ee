//! Search for the fields of an object that a release does not know. The server drops these fields, or refuses the
//! object if the request asks for strict validation, as `kubectl apply` does.
//!
//! Only names count: below a value of the wrong type, every field is unknown. Source: k8s.io/apiextensions-apiserver
//! v0.35, pkg/apiserver/schema/pruning/algorithm.go.

use super::{Refusal, What};
use karpenter::api::{FieldSchema, KindSchema, METADATA, Schema, SchemaType};
use karpenter::release::{ReleaseSet, Releases};
use manifest::tree::Node;

use crate::location::Place;
use crate::object::Object;

/// Adds a refusal for every unknown field of an object whose kind is in the table.
pub(super) fn find<'d>(root: &'static KindSchema, object: Object<'d>, refusals: &mut Vec<Refusal<'d>>) {
    let mut search = Search { root: Some(root), refusals };
    let live = root.releases.set();
    for (key, value) in object.root().members() {
        match key {
            "spec" => search.value(value, Some(&root.spec.schema), &live),
            "status" => search.fields(value, root.status, &live),
            "metadata" => search.fields(value, METADATA, &live),
            _ if key.eq_ignore_ascii_case("apiVersion") || key.eq_ignore_ascii_case("kind") => {}
            _ if key.eq_ignore_ascii_case("metadata") => {}
            _ => search.refuse(value, core::slice::from_ref(&root.spec), live.clone()),
        }
    }
}

/// Adds a refusal for every unknown field of a value.
pub(super) fn find_within<'d>(
    node: Node<'d>,
    schema: &'static Schema,
    releases: Releases,
    refusals: &mut Vec<Refusal<'d>>,
) {
    Search { root: None, refusals }.value(node, Some(schema), &releases.set());
}

struct Search<'r, 'd> {
    root: Option<&'static KindSchema>,
    refusals: &'r mut Vec<Refusal<'d>>,
}

impl<'d> Search<'_, 'd> {
    fn refuse(&mut self, value: Node<'d>, known: &'static [FieldSchema], releases: ReleaseSet) {
        if !releases.is_empty() {
            let what = What::Unknown(known, self.root);
            self.refusals.push(Refusal { place: Place::key(value), releases, what });
        }
    }

    fn fields(&mut self, node: Node<'d>, fields: &'static [FieldSchema], live: &ReleaseSet) {
        if !node.is_mapping() {
            return self.value(node, None, live);
        }
        for (key, value) in node.members() {
            let of_key = fields.iter().filter(|field| field.name == key);
            // Most fields are known in every release.
            if let Some(field) = of_key.clone().find(|field| field.releases.are_all()) {
                self.value(value, Some(&field.schema), live);
                continue;
            }
            let mut unknown = live.clone();
            for field in of_key {
                unknown = unknown.without(field.releases);
                self.value(value, Some(&field.schema), &live.and(field.releases));
            }
            self.refuse(value, fields, unknown);
        }
    }

    fn value(&mut self, node: Node<'d>, schema: Option<&'static Schema>, live: &ReleaseSet) {
        let is_open = schema.is_some_and(|schema| matches!(schema.shape, SchemaType::Any));
        if live.is_empty() || is_open {
            return;
        }
        if node.is_sequence() {
            let items = match schema.map(|schema| schema.shape) {
                Some(SchemaType::List(items)) => Some(items),
                _ => None,
            };
            node.items().for_each(|item| self.value(item, items, live));
        } else if node.is_mapping() {
            match schema.map(|schema| schema.shape) {
                Some(SchemaType::Object(fields)) => self.fields(node, fields, live),
                Some(SchemaType::Map(values)) => {
                    node.members().for_each(|(_, value)| self.value(value, Some(values), live));
                }
                _ => node.members().for_each(|(_, value)| self.refuse(value, &[], live.clone())),
            }
        }
    }
}
