//! The terms by which an EC2NodeClass selects AMIs, subnets, security groups and capacity reservations.

use super::super::stored::present;
use super::{Breaches, Held, Relation, always};
use manifest::tree::Node;
use values::spelling::nearest;

/// `spec.amiSelectorTerms`. `ssmParameter` counts as a choice from 1.4 on, and excludes nothing.
pub(in super::super) const AMI: &[Relation] = &[
    always(|held, breaches| chooses(held, &["tags", "id", "name", "alias"], breaches)).until(3),
    always(|held, breaches| chooses(held, &["tags", "id", "name", "alias", "ssmParameter"], breaches))
        .since(4),
    always(|held, breaches| stands_alone(held, "id", &["alias", "tags", "name", "owner"], breaches)),
    always(|held, breaches| stands_alone(held, "alias", &["id", "tags", "name", "owner"], breaches)),
    always(alias_is_the_only_term),
];

/// `spec.amiSelectorTerms[].alias`.
pub(in super::super) const ALIAS: &[Relation] = &[
    always(alias_has_a_version),
    always(|held, breaches| {
        alias_family(held, &["al2", "al2023", "bottlerocket", "windows2019", "windows2022"], breaches);
    })
    .until(8),
    always(|held, breaches| {
        alias_family(
            held,
            &["al2", "al2023", "bottlerocket", "windows2019", "windows2022", "windows2025"],
            breaches,
        );
    })
    .since(9),
    always(|held, breaches| windows_is_latest(held, &["windows2019", "windows2022"], breaches)),
    always(|held, breaches| windows_is_latest(held, &["windows2025"], breaches)).since(9),
];

/// `spec.subnetSelectorTerms`.
pub(in super::super) const SUBNET: &[Relation] = &[
    always(not_empty),
    always(|held, breaches| chooses(held, &["tags", "id"], breaches)),
    always(|held, breaches| some_term_has_alone(held, "id", &["tags"], breaches)),
];

/// `spec.securityGroupSelectorTerms`.
pub(in super::super) const SECURITY_GROUP: &[Relation] = &[
    always(not_empty),
    always(|held, breaches| chooses(held, &["tags", "id", "name"], breaches)),
    always(|held, breaches| some_term_has_alone(held, "id", &["tags", "name"], breaches)),
    always(|held, breaches| some_term_has_alone(held, "name", &["tags", "id"], breaches)),
];

/// `spec.capacityReservationSelectorTerms`.
pub(in super::super) const CAPACITY_RESERVATION: &[Relation] = &[
    always(not_empty),
    always(|held, breaches| chooses(held, &["tags", "id"], breaches)).until(7),
    always(|held, breaches| chooses(held, &["tags", "id", "instanceMatchCriteria"], breaches)).since(8),
    always(|held, breaches| some_term_has_alone(held, "id", &["tags", "ownerID"], breaches)).until(7),
    always(|held, breaches| {
        some_term_has_alone(held, "id", &["tags", "ownerID", "instanceMatchCriteria"], breaches);
    })
    .since(8),
];

fn has_any(term: Node<'_>, fields: &[&str]) -> bool {
    fields.iter().any(|field| present(term, field).is_some())
}

fn written(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
}

fn not_empty<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if held.node.is_sequence() && held.node.is_empty() {
        let name = held.node.key();
        breaches.add(held.node, format!("`{name}` has no term"), "write at least one term");
    }
}

/// Every term has at least one of some fields.
fn chooses<'d>(held: Held<'d>, fields: &[&str], breaches: &mut Breaches<'d>) {
    for term in held.node.items().filter(|term| !has_any(*term, fields)) {
        breaches.add(
            term,
            format!("a term has none of {}", written(fields)),
            "write what the term selects by, or remove it",
        );
    }
}

/// No term has a field beside some others.
fn stands_alone<'d>(held: Held<'d>, field: &str, others: &[&str], breaches: &mut Breaches<'d>) {
    for term in held.node.items() {
        if let Some(value) = present(term, field).filter(|_| has_any(term, others)) {
            breaches.add_key(
                value,
                format!("a term has `{field}` beside other fields; `{field}` excludes {}", written(others)),
                format!("keep `{field}` alone, or remove it"),
            );
        }
    }
}

/// Not every term has a field beside some others. One that has it alone is enough for all. Without any term there is none,
/// which [`not_empty`] says.
fn some_term_has_alone<'d>(held: Held<'d>, field: &str, others: &[&str], breaches: &mut Breaches<'d>) {
    let wrong = |term: &Node<'d>| present(*term, field).is_some() && has_any(*term, others);
    if held.node.items().all(|term| wrong(&term)) {
        stands_alone(held, field, others, breaches);
    }
}

fn alias_is_the_only_term<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if held.node.len() == 1 {
        return;
    }
    for alias in held.node.items().filter_map(|term| present(term, "alias")) {
        breaches.add_key(
            alias,
            "a term with an `alias` stands beside other terms of `amiSelectorTerms`",
            "keep the alias as the only term, or select all AMIs by tags, name or id",
        );
    }
}

/// `^[a-zA-Z0-9]+@.+$`
fn alias_has_a_version<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(text) = held.node.as_str() else { return };
    let fits = text.split_once('@').is_some_and(|(family, version)| {
        !family.is_empty()
            && family.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !version.is_empty()
            && !version.contains('\n')
    });
    if !fits {
        let family = text.split(['@', ':']).next().filter(|family| !family.is_empty()).unwrap_or("al2023");
        breaches.add(
            held.node,
            format!("the alias `{text}` is not a family and a version with `@` between them"),
            format!("write one such as `{family}@latest`, or with a version of the AMI"),
        );
    }
}

fn alias_family<'d>(held: Held<'d>, known: &[&str], breaches: &mut Breaches<'d>) {
    let Some(family) = held.node.as_str().and_then(|text| text.split('@').next()) else { return };
    if !known.contains(&family) {
        let near = nearest(family, known.iter().copied())
            .map(|near| format!("write `{near}`; "))
            .unwrap_or_default();
        breaches.add(
            held.node,
            format!("the alias names the family `{family}`, which there is not"),
            format!("{near}known are {}", written(known)),
        );
    }
}

fn windows_is_latest<'d>(held: Held<'d>, families: &[&str], breaches: &mut Breaches<'d>) {
    let Some(text) = held.node.as_str() else { return };
    let mut parts = text.split('@');
    let (Some(family), version) = (parts.next(), parts.next()) else { return };
    if families.contains(&family) && version != Some("latest") {
        breaches.add(
            held.node,
            format!("the alias `{text}` asks for a version; Windows images have `latest` alone"),
            format!("write `{family}@latest`"),
        );
    }
}
