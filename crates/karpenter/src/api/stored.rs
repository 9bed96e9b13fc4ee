//! What the API server would store of a value: nulls dropped, unknown fields dropped, defaults filled in. An update keeps
//! what is stored as it was, even where it would be refused today.

use super::{Field, Literal, Schema, Shape};
use crate::release::ReleaseSet;
use manifest::tree::{Node, Value};

/// A value as it is given, or as a default fills it in.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'d> {
    /// It is given.
    Given(Node<'d>),
    /// A default fills it in.
    Filled(&'static Literal),
}

impl<'d> Stored<'d> {
    /// The member of an object under a key; null is none.
    pub fn get(self, key: &str) -> Option<Self> {
        match self {
            Self::Given(node) => present(node, key).map(Self::Given),
            Self::Filled(Literal::Object(members)) => {
                members.iter().find(|(name, _)| *name == key).map(|(_, value)| Self::Filled(value))
            }
            Self::Filled(_) => None,
        }
    }

    /// The field of an object, with its default where it has one.
    pub fn field(self, field: &'static Field) -> Option<Self> {
        self.get(field.name).or_else(|| field.default.as_ref().map(|(value, _)| Self::Filled(value)))
    }

    /// The string, where it is one.
    pub fn as_str(self) -> Option<&'d str> {
        match self {
            Self::Given(node) => node.as_str(),
            Self::Filled(Literal::Text(text)) => Some(text),
            Self::Filled(_) => None,
        }
    }

    fn items(self) -> Vec<Self> {
        match self {
            Self::Given(node) => node.items().map(Self::Given).collect(),
            Self::Filled(Literal::List(items)) => items.iter().map(Self::Filled).collect(),
            Self::Filled(_) => Vec::new(),
        }
    }
}

/// The member of an object under a key; null is none.
pub fn present<'d>(node: Node<'d>, key: &str) -> Option<Node<'d>> {
    node.get(key).filter(|value| !value.is_null())
}

/// The members of an object that are stored: those that are not null.
pub fn members(node: Node<'_>) -> impl Iterator<Item = (&str, Node<'_>)> {
    node.members().filter(|(_, value)| !value.is_null())
}

/// The releases that store the same for two values of a field; where one is absent, with its default.
pub fn same_field(field: &'static Field, one: Option<Stored<'_>>, other: Option<Stored<'_>>) -> ReleaseSet {
    let same = |one: Option<Stored<'_>>, other: Option<Stored<'_>>| match (one, other) {
        (None, None) => ReleaseSet::all(),
        (Some(one), Some(other)) => same(&field.schema, one, other),
        _ => ReleaseSet::none(),
    };
    let Some((value, filled)) = &field.default else { return same(one, other) };
    let fill = |value_given: Option<_>| value_given.or(Some(Stored::Filled(value)));
    let bare = if one.is_some() == other.is_some() { ReleaseSet::all() } else { ReleaseSet::none() };
    let with_default = match (one, other) {
        (None, None) => ReleaseSet::all(),
        _ => same(fill(one), fill(other)),
    };
    with_default.and(filled.or(bare))
}

/// The releases that store the same for two values.
pub fn same(schema: &'static Schema, one: Stored<'_>, other: Stored<'_>) -> ReleaseSet {
    match schema.shape {
        Shape::Object(fields) if is_object(one) && is_object(other) => {
            fields.iter().fold(ReleaseSet::all(), |all, field| {
                let unknown = ReleaseSet::all().without(field.releases);
                all.and(unknown.or(same_field(field, one.get(field.name), other.get(field.name))))
            })
        }
        Shape::Map(values) => match (one, other) {
            (Stored::Given(one), Stored::Given(other)) if one.is_mapping() && other.is_mapping() => {
                same_members(values, one, other)
            }
            _ => bare(one, other),
        },
        Shape::List(items) => {
            let (ones, others) = (one.items(), other.items());
            if ones.len() != others.len() || ones.is_empty() {
                return bare(one, other);
            }
            ones.into_iter()
                .zip(others)
                .fold(ReleaseSet::all(), |all, (one, other)| all.and(same(items, one, other)))
        }
        _ => bare(one, other),
    }
}

fn same_members(values: &'static Schema, one: Node<'_>, other: Node<'_>) -> ReleaseSet {
    if members(one).count() != members(other).count() {
        return ReleaseSet::none();
    }
    // Both sides are looked at in the order of their keys: a map may be long.
    let sorted = |node| {
        let mut all: Vec<_> = members(node).collect();
        all.sort_by_key(|(key, _)| *key);
        all
    };
    sorted(one).into_iter().zip(sorted(other)).fold(
        ReleaseSet::all(),
        |all, ((key, one), (other_key, other))| {
            if key != other_key {
                return ReleaseSet::none();
            }
            all.and(same(values, Stored::Given(one), Stored::Given(other)))
        },
    )
}

fn is_object(value: Stored<'_>) -> bool {
    match value {
        Stored::Given(node) => node.is_mapping(),
        Stored::Filled(literal) => matches!(literal, Literal::Object(_)),
    }
}

/// Whether two values are the same without regard to a schema; whole numbers and others are never the same.
fn bare(one: Stored<'_>, other: Stored<'_>) -> ReleaseSet {
    let same = match (one, other) {
        (Stored::Given(one), Stored::Given(other)) => same_nodes(one, other),
        (Stored::Filled(one), Stored::Filled(other)) => one == other,
        (Stored::Given(node), Stored::Filled(literal)) | (Stored::Filled(literal), Stored::Given(node)) => {
            match literal {
                Literal::Text(text) => node.as_str() == Some(text),
                Literal::Int(number) => node.as_int() == Some(*number),
                Literal::Object(members) => node.is_mapping() && node.is_empty() && members.is_empty(),
                Literal::List(items) => node.is_sequence() && node.is_empty() && items.is_empty(),
            }
        }
    };
    if same { ReleaseSet::all() } else { ReleaseSet::none() }
}

fn same_nodes(one: Node<'_>, other: Node<'_>) -> bool {
    match (one.value(), other.value()) {
        (Value::Mapping, Value::Mapping) => {
            let count = one.members().count();
            count == other.members().count()
                && one
                    .members()
                    .all(|(key, value)| other.get(key).is_some_and(|other| same_nodes(value, other)))
        }
        (Value::Sequence, Value::Sequence) => {
            one.len() == other.len()
                && one.items().zip(other.items()).all(|(one, other)| same_nodes(one, other))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ROOTS;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    /// The releases that store the same `spec` of the first kind, a NodePool's, for two texts.
    fn same_spec(one: &str, other: &str) -> String {
        let file = File::read("-", format!("{one}\n---\n{other}\n"), &Limits::DEFAULT);
        let [Document::Read(one), Document::Read(other)] = file.documents.as_slice() else {
            panic!("{file:?}")
        };
        same(&ROOTS[0].spec.schema, Stored::Given(one.root()), Stored::Given(other.root())).to_string()
    }

    #[test]
    fn defaults_nulls_and_unknown_fields_make_no_difference() {
        assert_eq!(same_spec("{}", "{template: null}"), "all");
        assert_eq!(
            same_spec(
                "{disruption: {consolidateAfter: 0s}}",
                "{disruption: {consolidateAfter: 0s, budgets: [{nodes: 10%}]}}"
            ),
            "all"
        );
        assert_eq!(same_spec("{disruption: {consolidateAfter: 0s}}", "{}"), "since 1.0.4");
        assert_eq!(same_spec("{replicas: 1}", "{}"), "until 1.7");
        assert_eq!(same_spec("{limits: {cpu: 1, memory: null}}", "{limits: {cpu: 1}}"), "all");
        assert_eq!(same_spec("{limits: {cpu: 1}}", "{limits: {cpu: '1'}}"), "");
        assert_eq!(
            same_spec(
                "{template: {spec: {taints: [{key: a}]}}}",
                "{template: {spec: {taints: [{key: a, x: 1}]}}}"
            ),
            "all"
        );
    }
}
