//! What the fields of an EC2NodeClass's `spec` ask of one another.

use super::super::stored::present;
use super::{Breaches, Held, Relation, always, compared};
use manifest::tree::{Node, items_of};

/// `spec`.
pub(in super::super) const SPEC: &[Relation] = &[
    always(role_or_profile),
    compared(keeps_role_or_profile).until(6),
    always(family_of_alias),
    always(windows_2025_of_alias).since(9),
    always(family_without_alias),
];

fn role_or_profile<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    match (held.get("role"), held.get("instanceProfile")) {
        (Some(_), Some(profile)) => breaches.add_key(
            profile,
            "the node class has a `role` and an `instanceProfile`",
            "keep `role`, for which Karpenter makes a profile, or `instanceProfile`, which you made yourself",
        ),
        (None, None) => breaches.add(
            held.node,
            "the node class has neither a `role` nor an `instanceProfile`",
            "write `role`, for which Karpenter makes a profile, or `instanceProfile`, which you made yourself",
        ),
        _ => {}
    }
}

fn keeps_role_or_profile<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(old) = held.old else { return };
    let kept = |field: &str| old.get(field).is_some() && held.has(field);
    if !kept("role") && !kept("instanceProfile") {
        let now = held.get("role").or_else(|| held.get("instanceProfile"));
        breaches.add(
            now.unwrap_or(held.node),
            "the node class changes between `role` and `instanceProfile`",
            "make another EC2NodeClass and refer to it in the NodePools",
        );
    }
}

/// The families, with the alias of each.
const FAMILIES: [(&str, &str); 5] = [
    ("al2", "AL2"),
    ("al2023", "AL2023"),
    ("bottlerocket", "Bottlerocket"),
    ("windows2019", "Windows2019"),
    ("windows2022", "Windows2022"),
];

fn family_of_alias<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (alias, family) in FAMILIES {
        family_is(held, alias, family, breaches);
    }
}

fn windows_2025_of_alias<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    family_is(held, "windows2025", "Windows2025", breaches);
}

fn aliases(held: Held<'_>) -> impl Iterator<Item = Node<'_>> {
    let terms = items_of(held.get("amiSelectorTerms"));
    terms.filter_map(|term| present(term, "alias"))
}

fn family_is<'d>(held: Held<'d>, wanted: &str, family: &str, breaches: &mut Breaches<'d>) {
    let Some(given) = held.get("amiFamily") else { return };
    let of_alias = |alias: &Node<'d>| alias.as_str().and_then(|text| text.split('@').next()) == Some(wanted);
    if !aliases(held).any(|alias| of_alias(&alias)) {
        return;
    }
    let Some(name) = given.as_str() else { return };
    if name != family && name != "Custom" {
        breaches.add(
            given,
            format!("`spec.amiFamily` is `{name}`, but the alias of `amiSelectorTerms` is one of {family}"),
            format!("write `{family}`, or remove `amiFamily`: the alias tells it"),
        );
    }
}

fn family_without_alias<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if aliases(held).next().is_none() && !held.has("amiFamily") {
        breaches.add(
            held.get("amiSelectorTerms").unwrap_or(held.node),
            "no term of `amiSelectorTerms` has an alias, and `amiFamily` is missing: nothing tells how nodes are set up",
            "write `amiFamily`, such as `AL2023` or `Bottlerocket`, or choose the AMI by an alias",
        );
    }
}
