//! The rules and their registry: one file per rule, in a folder per family.
//!
//! A rule's file holds its documentation (the doc comment of its `RULE`), its metadata, its check and its tests. The
//! registry does not refer to the documentation, so that a program that never prints it does not link it.

use rule::Rule;
use rule::registry::{LeftOut, Registry, RuleSource, SuppressionRules};

mod absent_fields;
mod access;
mod ami_family;
mod api_server;
mod bootstrap;
mod capacity;
mod controller;
mod disruption;
pub(crate) mod document;
#[cfg(test)]
mod fixes;
mod folders;
mod identity;
mod indexes;
mod labels;
#[cfg(test)]
mod meta;
mod metric_use;
mod node_room;
mod nodeclass;
mod pools_of_pod;
mod scheduling;
mod storage;
mod symptoms;
mod taint;
#[cfg(test)]
pub(crate) mod testing;

pub use bootstrap::userdata_secret::{PRIVATE_KEY, secrets as user_data_secrets};

/// The rules of every family, in the order in which they are listed.
const FAMILIES: [&[&Rule]; 13] = [
    access::RULES,
    api_server::RULES,
    bootstrap::RULES,
    capacity::RULES,
    controller::RULES,
    disruption::RULES,
    document::RULES,
    identity::RULES,
    labels::RULES,
    nodeclass::RULES,
    scheduling::RULES,
    storage::RULES,
    symptoms::RULES,
];

/// The rules that the features of the program leave out.
const LEFT_OUT: [&[LeftOut]; 13] = [
    access::LEFT_OUT,
    api_server::LEFT_OUT,
    bootstrap::LEFT_OUT,
    capacity::LEFT_OUT,
    controller::LEFT_OUT,
    disruption::LEFT_OUT,
    document::LEFT_OUT,
    identity::LEFT_OUT,
    labels::LEFT_OUT,
    nodeclass::LEFT_OUT,
    scheduling::LEFT_OUT,
    storage::LEFT_OUT,
    symptoms::LEFT_OUT,
];

/// The sources of the rules in `FAMILIES`, in the same order.
const SOURCES: [&[RuleSource]; 13] = [
    access::SOURCES,
    api_server::SOURCES,
    bootstrap::SOURCES,
    capacity::SOURCES,
    controller::SOURCES,
    disruption::SOURCES,
    document::SOURCES,
    identity::SOURCES,
    labels::SOURCES,
    nodeclass::SOURCES,
    scheduling::SOURCES,
    storage::SOURCES,
    symptoms::SOURCES,
];

/// Every rule.
pub static REGISTRY: Registry = ALL_RULES;

/// Every rule, in a program that also diagnoses symptoms: settings may name both.
#[cfg(feature = "symptoms")]
pub static REGISTRY_WITH_SYMPTOMS: Registry = ALL_RULES.with_symptoms(::symptoms::names);

const ALL_RULES: Registry = Registry {
    families: &FAMILIES,
    suppressions: SuppressionRules {
        unknown_rule: &document::suppression_of_unknown_rule::RULE,
        unused: &document::suppression_unused::RULE,
        without_reason: &document::suppression_without_reason::RULE,
    },
    unserved: &api_server::removed_api_version::RULE,
    left_out: &LEFT_OUT,
    symptoms: Vec::new,
    large_indexes: &indexes::LARGE,
};

/// The documentation of a rule as Markdown, without its title.
pub fn documentation(rule: &Rule) -> String {
    let mut sources = REGISTRY.rules().zip(SOURCES.into_iter().flatten());
    let doc = sources.find(|(other, _)| other.name == rule.name).map_or("", |(_, source)| source.doc);
    let lines = doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let mut markdown = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    markdown.push('\n');
    markdown
}
