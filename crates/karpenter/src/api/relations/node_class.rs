//! Relations between the fields of `spec` of an EC2NodeClass.

use super::super::stored::{may_be_absent, present};
use super::relation::{CheckedValue, Relation, Violations, always, compared};
use manifest::tree::{Node, items_of};

/// `spec`.
pub(in super::super) const SPEC: &[Relation] = &[
    always(role_or_profile),
    compared(keeps_role_or_profile).until(6),
    always(family_of_alias),
    always(windows_2025_of_alias).since(9),
    always(family_without_alias),
];

/// The API server's message about `role` and `instanceProfile`.
const ROLE_OR_PROFILE: &str = "must specify exactly one of ['role', 'instanceProfile']";

fn role_or_profile<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    match (checked.get("role"), checked.get("instanceProfile")) {
        (Some(role), Some(profile)) if may_be_absent(role) || may_be_absent(profile) => {}
        (Some(_), Some(profile)) => violations.add_key(
            profile,
            "the node class has both a `role` and an `instanceProfile`",
            "keep `role`, for which Karpenter creates a profile, or `instanceProfile`, which you create yourself",
        ).says(ROLE_OR_PROFILE),
        (None, None) => violations.add(
            checked.node,
            "the node class has neither a `role` nor an `instanceProfile`",
            "write `role`, for which Karpenter creates a profile, or `instanceProfile`, which you create yourself",
        ).says(ROLE_OR_PROFILE),
        _ => {}
    }
}

/// The API server's message about a change between `role` and `instanceProfile`.
const KEEPS_ROLE_OR_PROFILE: &str = "changing from 'instanceProfile' to 'role' is not supported. \
     You must delete and recreate this node class if you want to change this.";

fn keeps_role_or_profile<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let Some(old) = checked.old else { return };
    let kept = |field: &str| old.get(field).is_some() && checked.has(field);
    if !kept("role") && !kept("instanceProfile") {
        let now = checked.get("role").or_else(|| checked.get("instanceProfile"));
        violations
            .add(
                now.unwrap_or(checked.node),
                "the node class changes between `role` and `instanceProfile`",
                "create another EC2NodeClass, and refer to it in the NodePools",
            )
            .says(KEEPS_ROLE_OR_PROFILE);
    }
}

/// The aliases and their AMI families.
const FAMILIES: [(&str, &str); 5] = [
    ("al2", "AL2"),
    ("al2023", "AL2023"),
    ("bottlerocket", "Bottlerocket"),
    ("windows2019", "Windows2019"),
    ("windows2022", "Windows2022"),
];

fn family_of_alias<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for (alias, family) in FAMILIES {
        family_is(checked, alias, family, violations);
    }
}

/// The article before the name of an AMI family.
fn article(family: &str) -> &'static str {
    if family.starts_with('A') { "an" } else { "a" }
}

fn windows_2025_of_alias<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    family_is(checked, "windows2025", "Windows2025", violations);
}

fn aliases(checked: CheckedValue<'_>) -> impl Iterator<Item = Node<'_>> {
    let terms = items_of(checked.get("amiSelectorTerms"));
    terms.filter_map(|term| present(term, "alias"))
}

fn family_is<'d>(checked: CheckedValue<'d>, wanted: &str, family: &str, violations: &mut Violations<'d>) {
    let Some(given) = checked.get("amiFamily") else { return };
    let of_alias = |alias: &Node<'d>| alias.as_str().and_then(|text| text.split('@').next()) == Some(wanted);
    if !aliases(checked).any(|alias| of_alias(&alias)) {
        return;
    }
    let Some(name) = given.as_str() else { return };
    if name != family && name != "Custom" {
        violations.add(
            given,
            format!(
                "`spec.amiFamily` is `{name}`, but the alias in `amiSelectorTerms` is of the family {family}"
            ),
            format!("write `{family}`, or remove `amiFamily`, which follows from the alias"),
        ).says(format!("if set, amiFamily must be '{family}' or 'Custom' when using {} {family} alias", article(family)));
    }
}

fn family_without_alias<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if aliases(checked).next().is_none() && !checked.has("amiFamily") {
        violations.add(
            checked.get("amiSelectorTerms").unwrap_or(checked.node),
            "no term of `amiSelectorTerms` has an alias, and `amiFamily` is missing, so Karpenter does not know how to bootstrap nodes",
            "write `amiFamily`, such as `AL2023` or `Bottlerocket`, or select the AMI by an alias",
        ).says("must specify amiFamily if amiSelectorTerms does not contain an alias");
    }
}
