//! The rules and their registry: one file per rule, in a folder per family.
//!
//! A rule's file holds its documentation (the doc comment of its `RULE`), its metadata, its check and its tests. A registry
//! refers neither to the documentation nor to the rules that it leaves out, so that a program does not link what it never uses.

use rule::registry::{Documented, Registry, RegistryPart, SuppressionRules};
use rule::{Rule, RuleNames};

mod absent_fields;
mod access;
mod ami_family;
mod api_server;
mod bootstrap;
mod capacity;
mod disruption;
pub(crate) mod document;
#[cfg(test)]
mod fixes;
mod folders;
#[cfg(test)]
mod help;
mod identity;
mod indexes;
mod labels;
#[cfg(test)]
mod looked_up;
#[cfg(test)]
mod meta;
mod metric_use;
mod names;
mod node_room;
mod nodeclass;
mod nodes_in_use;
mod pools_of_pod;
mod scheduling;
mod storage;
mod symptoms;
mod taint;
#[cfg(test)]
pub(crate) mod testing;

pub use bootstrap::userdata_secret::{PRIVATE_KEY, secrets as user_data_secrets};

/// Every rule, family by family. `build.rs` lists them.
const RULES: &[Documented] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The registry of a part of the rules, chosen while the program is compiled. A part of programs with one thread has no large indexes.
macro_rules! registry {
    ($part:expr, $large_indexes:expr) => {{
        const RULES_IN_PART: usize = $part.count(RULES);
        const SPLIT: ([&Rule; RULES_IN_PART], [RuleNames; RULES.len() - RULES_IN_PART]) = $part.split(RULES);
        Registry {
            rules: &SPLIT.0,
            suppressions: SuppressionRules {
                unknown_rule: &document::suppression_of_unknown_rule::RULE,
                unused: &document::suppression_unused::RULE,
                without_reason: &document::suppression_without_reason::RULE,
            },
            unserved: &api_server::removed_api_version::RULE,
            left_out: &SPLIT.1,
            symptoms: Vec::new,
            large_indexes: $large_indexes,
        }
    }};
}

/// Every rule.
pub static REGISTRY: Registry = registry!(RegistryPart::Everything, &indexes::LARGE);

/// The rules that can run in an admission request.
pub static ADMISSION: Registry = registry!(RegistryPart::InAdmission, &[]);

/// The rules that can run on files that hold only Karpenter's own objects.
pub static KARPENTER_OBJECTS: Registry = registry!(RegistryPart::OnKarpenterFiles, &[]);

/// Every rule, in a program that also diagnoses symptoms: settings may name both.
#[cfg(feature = "symptoms")]
pub static REGISTRY_WITH_SYMPTOMS: Registry =
    registry!(RegistryPart::Everything, &indexes::LARGE).with_symptoms(::symptoms::names);

/// The documentation of a rule as Markdown, without its title.
pub fn documentation(rule: &Rule) -> String {
    let doc = RULES.iter().find(|(other, _)| other.name == rule.name).map_or("", |(_, doc)| doc);
    let lines = doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let mut markdown = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    markdown.push('\n');
    markdown
}
