//! A registry with one rule, and a reader of texts, for the tests of the driver.

use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::limits::Limits;
use manifest::tree::Tree;
use manifest::{Document, File};
use objects::object::Object;

use crate::context::Context;
use crate::finding::{CaughtBy, Family, Finding, Place, Severity};
use crate::registry::{Registry, SuppressionRules};
use crate::rule::{Fixes, On, Rule};

/// Reports an ARN in `spec.instanceProfile`, with a safe fix. The fix of an ARN that ends with `/stays` does not work.
pub(crate) static ARN: Rule = Rule {
    name: "instance-profile-is-arn",
    family: Family::Nodeclass,
    severity: Severity::Error,
    caught_by: CaughtBy::Nobody,
    releases: Releases::ALL,
    fix: Fixes::Safe,
    summary: "an ARN",
    on: &[On::Kind(Kind::NODE_CLASS)],
    check: |object: Object<'_>, _: &Context<'_, '_>, findings: &mut Vec<Finding<'_>>| {
        let Some(node) = object.at(&["spec", "instanceProfile"]) else { return };
        if let Some((_, name)) = node.as_str().and_then(|text| text.rsplit_once('/')) {
            let finding = Finding::new(&ARN, Place::value(node), "an ARN");
            let written = if name == "stays" { "other/stays" } else { name };
            findings.push(finding.safe_fix("write the name", Change::Set(node, written.to_owned())));
        }
        if object.duplicates().next().is_some() {
            findings.push(Finding::new(&DUPLICATE, Place::value(object.root()), "a duplicate key"));
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

/// The rules above.
pub(crate) static REGISTRY: Registry = Registry {
    families: &[&[&ARN], &[&DUPLICATE]],
    suppressions: SuppressionRules {
        unknown_rule: &DUPLICATE,
        unused: &DUPLICATE,
        without_reason: &DUPLICATE,
    },
    left_out: &[&[("left-out", Family::Labels)]],
    symptoms: Vec::new,
};

/// Reads the first document of a text.
pub(crate) fn tree(text: &str) -> Tree {
    match File::read("a.yaml", text, &Limits::DEFAULT).documents.into_iter().next() {
        Some(Document::Read(tree)) => tree,
        other => panic!("{other:?}\n{text}"),
    }
}
