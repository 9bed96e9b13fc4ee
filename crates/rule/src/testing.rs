//! A registry with a few small rules, and a reader of texts, for tests.

#![allow(clippy::panic, clippy::missing_panics_doc, reason = "only tests use it")]

use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::{Node, Tree, items_of};
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use objects::object::Object;

use crate::context::Context;
use crate::finding::{CaughtBy, Family, Finding, Place, Severity};
use crate::fix::Fix;
use crate::registry::{Registry, SuppressionRules};
use crate::{Fixes, On, Rule, RuleNames};

/// An EC2NodeClass with a name and the members of its `spec`.
pub fn class(name: &str, spec: &str) -> String {
    format!(
        r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: {name}}}
spec: {{{spec}}}
"
    )
}

/// Reports ARNs in `spec.instanceProfile` and `spec.profiles`, with safe fixes. The fix of an ARN that ends with `/stays`
/// does not work.
pub static ARN: Rule = Rule {
    name: "instance-profile-is-arn",
    family: Family::Nodeclass,
    severity: Severity::Error,
    caught_by: CaughtBy::Nobody,
    releases: Releases::ALL,
    fix: Fixes::Safe,
    summary: "an ARN",
    on: &[On::Kind(Kind::NODE_CLASS)],
    check: |object: Object<'_>, _: &Context<'_, '_>, findings: &mut Vec<Finding<'_>>| {
        let profile = object.at(&["spec", "instanceProfile"]).into_iter();
        for node in profile.chain(items_of(object.at(&["spec", "profiles"]))) {
            if let Some((_, name)) = node.as_str().and_then(|text| text.rsplit_once('/')) {
                let finding = Finding::new(&ARN, Place::value(node), "an ARN");
                let written = if name == "stays" { "other/stays" } else { name };
                findings.push(finding.safe_fix("write the name", Change::Set(node, written.to_owned())));
            }
        }
        if object.duplicates().next().is_some() {
            findings.push(Finding::new(&DUPLICATE, Place::value(object.root()), "a duplicate key"));
        }
    },
    ..Rule::DEFAULTS
};

/// Reports `spec.forbids` if another EC2NodeClass has this instance profile.
static FORBIDDEN: Rule = Rule {
    name: "forbidden-profile",
    family: Family::Nodeclass,
    on: &[On::Kind(Kind::NODE_CLASS)],
    check: |object: Object<'_>, context: &Context<'_, '_>, findings: &mut Vec<Finding<'_>>| {
        let Some(forbids) = object.at(&["spec", "forbids"]) else { return };
        let profiles = context
            .inventory
            .objects_of(Kind::NODE_CLASS)
            .filter_map(|other| other.at(&["spec", "instanceProfile"]));
        for profile in profiles.filter(|profile| profile.as_str() == forbids.as_str()) {
            let finding = Finding::at(&FORBIDDEN, forbids, "a forbidden profile");
            findings.push(finding.related(Place::value(profile), "the profile"));
        }
    },
    ..Rule::DEFAULTS
};

/// Reports values with the word `old`, with a safe fix whose kind is the key of the value.
pub static OLD: Rule = Rule {
    name: "old-value",
    family: Family::Nodeclass,
    fix: Fixes::Safe,
    on: &[On::Kind(Kind::NODE_CLASS), On::ChartValues],
    check: |object: Object<'_>, _: &Context<'_, '_>, findings: &mut Vec<Finding<'_>>| {
        let set = |node| Change::Set(node, "new".to_owned());
        let mut offer = |node, changes| {
            findings.push(Finding::at(&OLD, node, "an old value").fix(Fix::safe("replace it", changes)));
        };
        let at = |key: &str| object.at(&["spec", key]);
        let has_old = |text: &str| text.contains("old");
        if let Some(name) = object.at(&["metadata", "name"]).filter(|name| name.as_str().is_some_and(has_old))
        {
            offer(name, vec![set(name)]);
        }
        if let Some(node) = at("set").filter(|node| node.as_str() == Some("old")) {
            offer(node, vec![set(node)]);
        }
        if let Some(node) = at("rename") {
            offer(node, vec![Change::Rename(node, "renamed".to_owned())]);
        }
        if let Some((node, start)) = at("replace").and_then(|node| Some((node, node.as_str()?.find("old")?)))
        {
            offer(node, vec![Change::Replace(node, Span::new(start, start + 3), "new".to_owned())]);
        }
        if let Some(spec) = at("add").and_then(|_| object.at(&["spec"])).filter(|_| at("added").is_none()) {
            offer(spec, vec![Change::Add(spec, "added".to_owned(), "new".to_owned())]);
        }
        let both: Vec<_> = items_of(at("both")).filter(|node| node.as_str() == Some("old")).collect();
        if let Some(first) = both.first() {
            offer(*first, both.iter().copied().map(set).collect());
        }
        // Each fix removes one word, so the fixes overlap.
        let words = || at("words").and_then(Node::as_str).unwrap_or_default().split(' ');
        if let Some(node) = at("words") {
            for old in words().filter(|word| word.starts_with("old")) {
                let others: Vec<&str> = words().filter(|word| *word != old).collect();
                offer(node, vec![Change::Set(node, others.join(" "))]);
            }
        }
    },
    ..Rule::DEFAULTS
};

static DUPLICATE: Rule = Rule {
    name: "duplicate",
    family: Family::Document,
    severity: Severity::Error,
    caught_by: CaughtBy::Nobody,
    releases: Releases::ALL,
    summary: "a duplicate key",
    ..Rule::DEFAULTS
};

/// The names of a rule that the registry leaves out, which belonged to a family that exists no longer.
pub const LEFT_OUT: RuleNames =
    RuleNames { name: "left-out", family: Family::Labels, formerly: &["former-family"] };

/// The rules above.
pub static REGISTRY: Registry = Registry {
    rules: &[&ARN, &FORBIDDEN, &OLD, &DUPLICATE],
    suppressions: SuppressionRules {
        unknown_rule: &DUPLICATE,
        unused: &DUPLICATE,
        without_reason: &DUPLICATE,
    },
    unserved: &DUPLICATE,
    left_out: &[LEFT_OUT],
    symptoms: Vec::new,
    large_indexes: &[],
};

/// Reads the first document of a text.
pub fn tree(text: &str) -> Tree {
    match File::read("a.yaml", text, READ_OPTIONS).documents.into_iter().next() {
        Some(Document::Read(tree)) => tree,
        other => panic!("{other:?}\n{text}"),
    }
}

/// A registry with a rule instead of the rules above.
pub fn registry_of(rule: &'static Rule) -> Registry {
    Registry { rules: Vec::leak(vec![rule]), ..REGISTRY }
}
