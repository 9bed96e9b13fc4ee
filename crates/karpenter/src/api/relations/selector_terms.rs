//! The terms by which an EC2NodeClass selects AMIs, subnets, security groups and capacity reservations.

use super::super::schema::{EnumValue, value, value_since};
use super::super::stored::{certain, present};
use super::relation::{CheckedValue, Relation, Violations, always};
use crate::release::Releases;
use manifest::tree::Node;
use values::spelling::nearest;

/// `spec.amiSelectorTerms`. `ssmParameter` selects AMIs since 1.4, and excludes no other field.
pub(in super::super) const AMI: &[Relation] = &[
    always(|checked, violations| selects_by(checked, &["tags", "id", "name", "alias"], violations)).until(3),
    always(|checked, violations| {
        selects_by(checked, &["tags", "id", "name", "alias", "ssmParameter"], violations);
    })
    .since(4),
    always(|checked, violations| {
        stands_alone(checked, "id", &["alias", "tags", "name", "owner"], IN_AMI_TERMS, violations);
    }),
    always(|checked, violations| {
        stands_alone(checked, "alias", &["id", "tags", "name", "owner"], IN_AMI_TERMS, violations);
    }),
    always(alias_is_the_only_term),
];

/// The families of an alias.
pub const ALIAS_FAMILIES: &[EnumValue] = &[
    value("al2"),
    value("al2023"),
    value("bottlerocket"),
    value("windows2019"),
    value("windows2022"),
    value_since(9, "windows2025"),
];

/// `spec.amiSelectorTerms[].alias`.
pub(in super::super) const ALIAS: &[Relation] = &[
    always(alias_has_a_version),
    always(|checked, violations| alias_family(checked, Releases::until(8), violations)).until(8),
    always(|checked, violations| alias_family(checked, Releases::since(9), violations)).since(9),
    always(|checked, violations| windows_is_latest(checked, &["windows2019", "windows2022"], violations)),
    always(|checked, violations| windows_is_latest(checked, &["windows2025"], violations)).since(9),
];

/// `spec.subnetSelectorTerms`.
pub(in super::super) const SUBNET: &[Relation] = &[
    always(not_empty),
    always(|checked, violations| selects_by(checked, &["tags", "id"], violations)),
    always(|checked, violations| some_term_has_alone(checked, "id", &["tags"], IN_SUBNET_TERM, violations)),
];

/// `spec.securityGroupSelectorTerms`.
pub(in super::super) const SECURITY_GROUP: &[Relation] = &[
    always(not_empty),
    always(|checked, violations| selects_by(checked, &["tags", "id", "name"], violations)),
    always(|checked, violations| {
        some_term_has_alone(checked, "id", &["tags", "name"], IN_SECURITY_GROUP_TERM, violations);
    }),
    always(|checked, violations| {
        some_term_has_alone(checked, "name", &["tags", "id"], IN_SECURITY_GROUP_TERM, violations);
    }),
];

/// `spec.capacityReservationSelectorTerms`.
pub(in super::super) const CAPACITY_RESERVATION: &[Relation] = &[
    always(not_empty),
    always(|checked, violations| selects_by(checked, &["tags", "id"], violations)).until(7),
    always(|checked, violations| selects_by(checked, &["tags", "id", "instanceMatchCriteria"], violations))
        .since(8),
    always(|checked, violations| {
        some_term_has_alone(checked, "id", &["tags", "ownerID"], WITH_TAGS, violations);
    })
    .until(7),
    always(|checked, violations| {
        let others = ["tags", "ownerID", "instanceMatchCriteria"];
        some_term_has_alone(checked, "id", &others, WITH_OTHER_FIELDS, violations);
    })
    .since(8),
];

/// End of the API server's message about a field that excludes others.
#[derive(Clone, Copy)]
struct Ending {
    now: &'static str,
    until_1_2: &'static str,
}

impl Ending {
    const fn always(now: &'static str) -> Self {
        Self { now, until_1_2: now }
    }

    fn message(field: &str, ending: &str) -> String {
        format!("'{field}' is mutually exclusive, cannot be set {ending}")
    }
}

const IN_AMI_TERMS: Ending = Ending::always("with a combination of other fields in amiSelectorTerms");
const IN_SUBNET_TERM: Ending = Ending {
    now: "with a combination of other fields in a subnet selector term",
    until_1_2: "with a combination of other fields in subnetSelectorTerms",
};
const IN_SECURITY_GROUP_TERM: Ending = Ending {
    now: "with a combination of other fields in a security group selector term",
    until_1_2: "with a combination of other fields in securityGroupSelectorTerms",
};
const WITH_TAGS: Ending = Ending::always("along with tags in a capacity reservation selector term");
const WITH_OTHER_FIELDS: Ending =
    Ending::always("along with other fields in a capacity reservation selector term");

fn has_any(term: Node<'_>, fields: &[&str]) -> bool {
    fields.iter().any(|field| present(term, field).is_some())
}

fn written(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
}

fn not_empty<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if checked.node.is_sequence() && checked.node.is_empty() {
        let name = checked.node.key();
        violations
            .add(checked.node, format!("`{name}` has no term"), "write at least one term")
            .says(format!("{name} cannot be empty"));
    }
}

/// Requires at least one of some fields in every term.
fn selects_by<'d>(checked: CheckedValue<'d>, fields: &[&str], violations: &mut Violations<'d>) {
    for term in checked.node.items().filter(|term| !has_any(*term, fields)) {
        violations
            .add(
                term,
                format!("a term has none of the fields {}", written(fields)),
                "write one of these fields, or remove the term",
            )
            .says(format!("expected at least one, got none, ['{}']", fields.join("', '")));
    }
}

/// A field of a term that certainly has one of some others too.
fn combined<'d>(term: Node<'d>, field: &str, others: &[&str]) -> Option<Node<'d>> {
    certain(term, field).filter(|_| others.iter().any(|other| certain(term, other).is_some()))
}

/// Rejects terms that combine a field with some others.
fn stands_alone<'d>(
    checked: CheckedValue<'d>,
    field: &str,
    others: &[&str],
    ending: Ending,
    violations: &mut Violations<'d>,
) {
    for term in checked.node.items() {
        if let Some(value) = combined(term, field, others) {
            violations
                .add_key(
                    value,
                    format!(
                        "a term combines `{field}` with other fields, but `{field}` excludes {}",
                        written(others)
                    ),
                    format!("keep only `{field}`, or remove it"),
                )
                .says(Ending::message(field, ending.now));
            violations.said_until(2, Ending::message(field, ending.until_1_2));
        }
    }
}

/// Rejects a list in which every term combines a field with some others. The server accepts the list if at least one term
/// does not. [`not_empty`] reports an empty list.
fn some_term_has_alone<'d>(
    checked: CheckedValue<'d>,
    field: &str,
    others: &[&str],
    ending: Ending,
    violations: &mut Violations<'d>,
) {
    if checked.node.items().all(|term| combined(term, field, others).is_some()) {
        stands_alone(checked, field, others, ending, violations);
    }
}

fn alias_is_the_only_term<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if checked.node.len() == 1 {
        return;
    }
    for alias in checked.node.items().filter_map(|term| certain(term, "alias")) {
        violations
            .add_key(
                alias,
                "a term with an `alias` must be the only term of `amiSelectorTerms`",
                "keep only the term with the alias, or select all AMIs by tags, name or ID",
            )
            .says(
                "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms",
            );
    }
}

/// Requires `^[a-zA-Z0-9]+@.+$`.
fn alias_has_a_version<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let Some(text) = checked.node.as_str() else { return };
    let fits = text.split_once('@').is_some_and(|(family, version)| {
        !family.is_empty()
            && family.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !version.is_empty()
            && !version.contains('\n')
    });
    if !fits {
        let family = text.split(['@', ':']).next().filter(|family| !family.is_empty()).unwrap_or("al2023");
        violations
            .add(
                checked.node,
                format!("the alias `{text}` is not a family and a version separated by `@`"),
                format!("write an alias such as `{family}@latest`, or the family with the version of an AMI"),
            )
            .says("'alias' is improperly formatted, must match the format 'family@version'");
    }
}

fn alias_family<'d>(checked: CheckedValue<'d>, releases: Releases, violations: &mut Violations<'d>) {
    let Some(family) = checked.node.as_str().and_then(|text| text.split('@').next()) else { return };
    let known = ALIAS_FAMILIES.iter().filter(|known| known.releases.meets(releases));
    let known: Vec<&str> = known.map(|known| known.text).collect();
    if !known.contains(&family) {
        let near = nearest(family, known.iter().copied())
            .map(|near| format!("write `{near}`; "))
            .unwrap_or_default();
        violations
            .add(
                checked.node,
                format!("the alias has the unknown family `{family}`"),
                format!("{near}the families are {}", written(&known)),
            )
            .says(format!("family is not supported, must be one of the following: '{}'", known.join("', '")));
    }
}

fn windows_is_latest<'d>(checked: CheckedValue<'d>, families: &[&str], violations: &mut Violations<'d>) {
    let Some(text) = checked.node.as_str() else { return };
    let mut parts = text.split('@');
    let (Some(family), version) = (parts.next(), parts.next()) else { return };
    if families.contains(&family) && version != Some("latest") {
        violations
            .add(
                checked.node,
                format!(
                    "the alias `{text}` does not select `latest`, the only supported version of Windows AMIs"
                ),
                format!("write `{family}@latest`"),
            )
            .says("windows families may only specify version 'latest'");
    }
}
