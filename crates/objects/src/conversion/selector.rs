//! The selectors of an `AWSNodeTemplate`, which v1 has as lists of terms.
//!
//! Source: `NewSubnetSelectorTerms`, `NewSecurityGroupSelectorTerms` and `NewAMISelectorTerms` in
//! pkg/utils/nodeclass/nodeclass.go of aws/karpenter-provider-aws at v0.32.10. A value with commas selects each of its
//! parts; several such values select every combination.

use core::fmt;

use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::Conversion;
use super::value::{known, member, text};

/// A selector: its name, the name of the terms, and its special keys with the fields of a term.
struct OldSelector {
    old: &'static str,
    new: &'static str,
    special: &'static [(&'static str, &'static str)],
}

const IDS: [(&str, &str); 2] = [("aws-ids", "id"), ("aws::ids", "id")];

const SELECTORS: [OldSelector; 3] = [
    OldSelector { old: "subnetSelector", new: "subnetSelectorTerms", special: &IDS },
    OldSelector { old: "securityGroupSelector", new: "securityGroupSelectorTerms", special: &IDS },
    OldSelector {
        old: "amiSelector",
        new: "amiSelectorTerms",
        special: &[("aws-ids", "id"), ("aws::ids", "id"), ("aws::name", "name"), ("aws::owners", "owner")],
    },
];

/// Most terms that a list of v1 takes: `maxItems` in the custom resource definition at v1.0.0.
const MAX_TERMS: usize = 30;

/// Reason why no terms of v1 select the same as a selector.
#[derive(Debug)]
enum Inexpressible<'d> {
    /// The selector is empty.
    SelectsNothing,
    /// The value of this key is not known.
    UnknownValue(&'d str),
    /// The value of this key is empty, or a part of it.
    EmptyValue(&'d str),
    /// The selector needs too many terms.
    ManyTerms,
    /// A term would have an id and another key.
    IdsWithOtherKeys,
    /// A term would have only an owner.
    OwnerAlone,
}

impl fmt::Display for Inexpressible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelectsNothing => f.write_str("selects nothing"),
            Self::UnknownValue(key) => write!(f, "has a value for `{key}` that is not known"),
            Self::EmptyValue(key) => {
                write!(f, "has an empty value for `{key}`, which v1 refuses; write `*` for any value")
            }
            Self::ManyTerms => write!(f, "needs more than {MAX_TERMS} terms"),
            Self::IdsWithOtherKeys => {
                f.write_str("combines ids with other keys, which v1 refuses in one term")
            }
            Self::OwnerAlone => f.write_str("selects by owner alone, which v1 refuses"),
        }
    }
}

/// Converts the selectors of `spec`.
pub(super) fn convert<'d>(spec: Node<'d>, conversion: &mut Conversion<'d>) {
    for selector in &SELECTORS {
        let Some(node) = spec.get(selector.old) else { continue };
        if spec.get(selector.new).is_some() {
            conversion
                .undecided(format!("`spec.{}` and `spec.{}` are both there", selector.old, selector.new));
            continue;
        }
        match selector.terms(node) {
            Ok(terms) => {
                conversion.changes.push(Change::Rename(node, selector.new.to_owned()));
                conversion.changes.push(Change::Write(node, terms));
            }
            Err(why) => conversion.undecided(format!("`spec.{}` {why}", selector.old)),
        }
        if selector.old == "amiSelector" && node.members().any(|(key, _)| selector.field(key).is_none()) {
            conversion.review("tags of an AMI with the names of labels no longer limit its instance types");
        }
    }
}

impl OldSelector {
    /// The field of a term for a special key; other keys are tags.
    fn field(&self, key: &str) -> Option<&'static str> {
        self.special.iter().find(|(special, _)| *special == key).map(|(_, field)| *field)
    }

    /// The terms that select the same.
    fn terms<'d>(&self, node: Node<'d>) -> Result<Composed<'d>, Inexpressible<'d>> {
        if !node.is_mapping() || node.is_empty() {
            return Err(Inexpressible::SelectsNothing);
        }
        let mut is_simple = true;
        let mut terms: Vec<Vec<(bool, &str, String)>> = vec![Vec::new()];
        for (key, value) in node.members().filter(|(_, value)| !value.is_overridden()) {
            let Some(value) = known(value) else {
                return Err(Inexpressible::UnknownValue(key));
            };
            let parts: Vec<&str> = value.split(',').map(str::trim).collect();
            if parts.iter().any(|part| part.is_empty()) {
                return Err(Inexpressible::EmptyValue(key));
            }
            let field = self.field(key);
            is_simple &= field.is_none() && parts.len() == 1 && *value == *parts.concat();
            let with = |term: &Vec<(bool, &'d str, String)>, part: &str| {
                let mut term = term.clone();
                term.push((field.is_some(), field.unwrap_or(key), part.to_owned()));
                term
            };
            let longer = parts.iter().flat_map(|part| terms.iter().map(move |term| with(term, part)));
            terms = longer.take(MAX_TERMS + 1).collect();
        }
        if terms.len() > MAX_TERMS {
            return Err(Inexpressible::ManyTerms);
        }
        let mixes = |term: &Vec<(bool, &str, String)>| {
            term.len() > 1 && term.iter().any(|(special, field, _)| *special && *field == "id")
        };
        if terms.iter().any(mixes) {
            return Err(Inexpressible::IdsWithOtherKeys);
        }
        let names_owner = |(special, field, _): &(bool, &str, String)| *special && *field == "owner";
        if terms.iter().any(|term| term.len() == 1 && term.iter().all(names_owner)) {
            return Err(Inexpressible::OwnerAlone);
        }
        if is_simple {
            let tags = member("tags", Composed::Copy(node));
            return Ok(Composed::List(vec![Composed::Object(vec![tags])]));
        }
        Ok(Composed::List(terms.into_iter().map(composed).collect()))
    }
}

/// A term from its fields and tags.
fn composed<'d>(term: Vec<(bool, &str, String)>) -> Composed<'d> {
    let (fields, tags): (Vec<_>, Vec<_>) = term.into_iter().partition(|(special, ..)| *special);
    let mut members: Vec<_> = fields.into_iter().map(|(_, key, value)| text(key, value)).collect();
    if !tags.is_empty() {
        let tags = tags.into_iter().map(|(_, key, value)| text(key, value)).collect();
        members.push(member("tags", Composed::Object(tags)));
    }
    Composed::Object(members)
}
