//! Comparison of a value with the stored value: the releases in which an update changes nothing.

use manifest::tree::{Node, Value, sort_by_text};

use super::schema::{FieldSchema, Schema, SchemaType};
use super::stored::{DefaultValue, StoredValue, members};
use crate::release::ReleaseSet;

/// The releases that store the same for two values of a field. An absent value counts as its default.
pub fn same_field(
    field: &'static FieldSchema,
    one: Option<StoredValue<'_>>,
    other: Option<StoredValue<'_>>,
) -> ReleaseSet {
    let same = |one: Option<StoredValue<'_>>, other: Option<StoredValue<'_>>| match (one, other) {
        (None, None) => ReleaseSet::all(),
        (Some(one), Some(other)) => same(&field.schema, one, other),
        _ => ReleaseSet::none(),
    };
    let Some((value, filled)) = &field.default else { return same(one, other) };
    let fill = |value_given: Option<_>| value_given.or(Some(StoredValue::Filled(value)));
    let bare = if one.is_some() == other.is_some() { ReleaseSet::all() } else { ReleaseSet::none() };
    same(fill(one), fill(other)).and(filled.or(bare))
}

/// The releases that store the same for two values.
pub fn same(schema: &'static Schema, one: StoredValue<'_>, other: StoredValue<'_>) -> ReleaseSet {
    match schema.shape {
        SchemaType::Object(fields) if is_object(one) && is_object(other) => {
            fields.iter().fold(ReleaseSet::all(), |all, field| {
                let unknown = ReleaseSet::all().without(field.releases);
                all.and(unknown.or(same_field(field, one.get(field.name), other.get(field.name))))
            })
        }
        SchemaType::Map(values) => match (one, other) {
            (StoredValue::Given(one), StoredValue::Given(other))
                if one.is_mapping() && other.is_mapping() =>
            {
                same_members(values, one, other)
            }
            _ => bare(one, other),
        },
        SchemaType::List(items) => {
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
    // Sorted by key, because a map may be long.
    let [one, other] = [one, other].map(|map| {
        let mut all: Vec<_> = members(map).collect();
        sort_by_text(&mut all);
        all
    });
    one.into_iter().zip(other).fold(ReleaseSet::all(), |all, ((key, one), (other_key, other))| {
        if key != other_key {
            return ReleaseSet::none();
        }
        all.and(same(values, StoredValue::Given(one), StoredValue::Given(other)))
    })
}

fn is_object(value: StoredValue<'_>) -> bool {
    match value {
        StoredValue::Given(node) => node.is_mapping(),
        StoredValue::Filled(literal) => matches!(literal, DefaultValue::Object(_)),
    }
}

/// The releases that store the same for two values without a schema: all or none. Whole numbers never equal other numbers.
fn bare(one: StoredValue<'_>, other: StoredValue<'_>) -> ReleaseSet {
    let same = match (one, other) {
        (StoredValue::Given(one), StoredValue::Given(other)) => same_nodes(one, other),
        (StoredValue::Filled(one), StoredValue::Filled(other)) => one == other,
        (StoredValue::Given(node), StoredValue::Filled(literal))
        | (StoredValue::Filled(literal), StoredValue::Given(node)) => match literal {
            DefaultValue::Text(text) => node.as_str() == Some(text),
            DefaultValue::Int(number) => node.as_int() == Some(*number),
            DefaultValue::Object(members) => node.is_mapping() && node.is_empty() && members.is_empty(),
            DefaultValue::List(items) => node.is_sequence() && node.is_empty() && items.is_empty(),
        },
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
    use crate::api::KIND_SCHEMAS;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    /// The releases that store the same `spec` of a NodePool for two texts.
    fn same_spec(one: &str, other: &str) -> String {
        same_of_kind("NodePool", one, other)
    }

    fn same_of_kind(kind: &str, one: &str, other: &str) -> String {
        let root = KIND_SCHEMAS.iter().find(|root| root.kind.name == kind).unwrap();
        let file = File::read("-", format!("{one}\n---\n{other}\n"), &Limits::DEFAULT);
        let [Document::Read(one), Document::Read(other)] = file.documents.as_slice() else {
            panic!("{file:?}")
        };
        same(&root.spec.schema, StoredValue::Given(one.root()), StoredValue::Given(other.root())).to_string()
    }

    #[test]
    fn ignores_defaults_nulls_and_unknown_fields() {
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

    #[test]
    fn distinguishes_values_of_the_wrong_type() {
        for (one, other) in [
            ("{template: a}", "{template: b}"),
            ("{template: {}}", "{template: a}"),
            ("{limits: a}", "{limits: b}"),
            ("{limits: {}}", "{limits: a}"),
            ("{weight: {a: 1}}", "{weight: {a: 1, b: 2}}"),
            ("{weight: {a: 1, b: 2}}", "{weight: {a: 1}}"),
            ("{weight: {a: 1}}", "{weight: {a: 2}}"),
        ] {
            assert_eq!(same_spec(one, other), "", "{one} {other}");
            assert_eq!(same_spec(one, one), "all", "{one}");
        }
    }

    #[test]
    fn absent_field_equals_only_its_default() {
        let class = |options: &str| format!("{{metadataOptions: {{{options}}}}}");
        for (options, expected) in [
            ("httpPutResponseHopLimit: 1", "all"),
            ("httpPutResponseHopLimit: 2", ""),
            ("httpTokens: required", "all"),
            ("httpTokens: optional", ""),
        ] {
            assert_eq!(same_of_kind("EC2NodeClass", &class(options), &class("")), expected, "{options}");
        }
    }

    #[test]
    fn empty_default_equals_only_an_empty_value_of_its_type() {
        const EMPTY: DefaultValue = DefaultValue::Object(&[]);
        const FULL: DefaultValue = DefaultValue::Object(&[("a", DefaultValue::Int(1))]);
        const EMPTY_LIST: DefaultValue = DefaultValue::List(&[]);
        const FULL_LIST: DefaultValue = DefaultValue::List(&[DefaultValue::Int(1)]);
        let file = |text: &str| File::read("-", text.to_owned(), &Limits::DEFAULT);
        for (text, default, expected) in [
            ("{}", &EMPTY, "all"),
            ("{a: 1}", &EMPTY, ""),
            ("[]", &EMPTY, ""),
            ("{}", &FULL, ""),
            ("[]", &EMPTY_LIST, "all"),
            ("[1]", &EMPTY_LIST, ""),
            ("{}", &EMPTY_LIST, ""),
            ("[]", &FULL_LIST, ""),
        ] {
            let file = file(text);
            let [Document::Read(document)] = file.documents.as_slice() else { panic!("{file:?}") };
            let given = StoredValue::Given(document.root());
            assert_eq!(bare(given, StoredValue::Filled(default)).to_string(), expected, "{text} {default:?}");
        }
    }
}
