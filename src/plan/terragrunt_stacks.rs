//! Units of the stacks of Terragrunt with other values or another version, if their modules make NodePools or EC2NodeClasses.
//!
//! Source: "Stacks" and `unit`, `stack`, `values` in "Configuration Blocks and Attributes" of the documentation of gruntwork-io/terragrunt: a unit
//! or a stack is a copy of a folder, whose configuration reads the values that it is given.

use std::collections::BTreeSet;

use cluster::folders::{joined, name, parent};

use super::blocks::{Argument, arguments_at};
use super::terraform::{describes_nodes, is_local, makes_nodes};
use super::terragrunt::{ChangedPart, TerragruntUnit, TerragruntUnits, UNIT};

/// Name of the configuration of a stack.
const STACK: &str = "terragrunt.stack.hcl";

/// Stacks within stacks that are followed.
const MAX_STACKS: usize = 8;

/// The changed units and stacks of the stacks that both sides have.
pub(super) fn changed<'p>(units: &TerragruntUnits<'_, 'p>) -> Vec<ChangedPart<'p>> {
    let stacks = units.news.iter().filter(|(file, _)| name(file) == STACK);
    let mut found = Vec::new();
    for (file, new) in stacks {
        let Some(old) = units.olds.get(file) else { continue };
        let (olds, news) = (blocks(&old.whole, old.text), blocks(&new.whole, new.text));
        for block in &news {
            let before = olds.iter().find(|other| other.label == block.label);
            found.extend(before.and_then(|before| changed_block(units, file, before, block)).map(|(feed, what)| {
                let what = format!("{what} of the stack, on which NodePools or EC2NodeClasses depend; a plan of Terraform has them");
                ChangedPart { feed, what, file: new.shown, line: block.line }
            }));
        }
        for gone in olds.iter().filter(|old| news.iter().all(|new| new.label != old.label)) {
            if gone.names_for_nodes(units, file, MAX_STACKS).is_some() {
                let what = format!(
                    "the units of the stack: `{}`, with NodePools or EC2NodeClasses, is gone",
                    gone.label
                );
                found.push(ChangedPart { feed: file, what, file: new.shown, line: 1 });
            }
        }
    }
    found
}

/// A block `unit` or `stack`.
struct StackBlock {
    label: String,
    line: usize,
    source: String,
    arguments: Vec<Argument>,
    values: Vec<Argument>,
}

/// The values of a folder on which NodePools or EC2NodeClasses depend.
enum NodeValues {
    All,
    Named(BTreeSet<String>),
}

fn blocks(whole: &[Argument], text: &str) -> Vec<StackBlock> {
    let own = whole.iter().filter(|one| ["unit", "stack"].contains(&one.name.as_str()));
    let block = |one: &Argument| {
        let arguments = arguments_at(text, one.line);
        let text_of = |name: &str| arguments.iter().find(|argument| argument.name == name);
        let source = text_of("source").and_then(|source| source.text.split('"').nth(1)).unwrap_or_default();
        let (label, source) = (one.text.split('"').nth(1).unwrap_or_default().to_owned(), source.to_owned());
        let values = text_of("values").map(|values| arguments_at(text, values.line)).unwrap_or_default();
        StackBlock { label, line: one.line, source, arguments, values }
    };
    own.map(block).collect()
}

/// The file that changes a block, and what it changes.
fn changed_block<'p>(
    units: &TerragruntUnits<'_, 'p>,
    file: &'p str,
    old: &StackBlock,
    new: &StackBlock,
) -> Option<(&'p str, String)> {
    let names = new.names_for_nodes(units, file, MAX_STACKS)?;
    let text_of = |block: &StackBlock, name: &str| {
        block.arguments.iter().find(|argument| argument.name == name).map(|argument| argument.text.clone())
    };
    let terraform = &units.feeds.terraform;
    let feed_of = |text: &str| terraform.of_expression(text, file).map(|(_, file)| file);
    let source = text_of(new, "source").unwrap_or_default();
    let feed = if text_of(old, "source").as_ref() == Some(&source) { feed_of(&source) } else { Some(file) };
    if let Some(feed) = feed {
        return Some((feed, format!("the source `{}` of `{}`", new.source, new.label)));
    }
    let is_meant = |value: &&Argument| match &names {
        NodeValues::All => true,
        NodeValues::Named(names) => names.contains(&value.name),
    };
    let changed = new.values.iter().filter(is_meant).find_map(|value| {
        let before = old.values.iter().find(|other| other.name == value.name);
        let is_same = before.is_some_and(|before| before.text == value.text);
        Some((if is_same { feed_of(&value.text)? } else { file }, value.name.as_str()))
    });
    let gone = || {
        let is_gone = |value: &&Argument| new.values.iter().all(|other| other.name != value.name);
        Some((file, old.values.iter().filter(is_meant).find(is_gone)?.name.as_str()))
    };
    if let Some((feed, value)) = changed.or_else(gone) {
        return Some((feed, format!("the value `{value}` of `{}`", new.label)));
    }
    // Values that only Terragrunt knows.
    let [before, now] = [old, new].map(|block| text_of(block, "values"));
    let is_computed = new.values.is_empty() && now.is_some();
    let feed = if before == now { feed_of(now.as_deref().unwrap_or_default()) } else { Some(file) };
    Some((feed.filter(|_| is_computed)?, format!("the values of `{}`", new.label)))
}

impl StackBlock {
    /// The values on which NodePools or EC2NodeClasses depend. None if the unit or the stack makes none.
    fn names_for_nodes(
        &self,
        units: &TerragruntUnits<'_, '_>,
        file: &str,
        most: usize,
    ) -> Option<NodeValues> {
        if makes_nodes(&self.source) {
            return Some(NodeValues::All);
        }
        let describes = || {
            let about = self.values.iter().filter(|value| describes_nodes(&value.text));
            let names: BTreeSet<String> = about.map(|value| value.name.clone()).collect();
            (!names.is_empty()).then_some(NodeValues::Named(names))
        };
        let is_in_repository = is_local(&self.source) || self.source.starts_with("${get_");
        if !is_in_repository {
            return describes();
        }
        let path = super::feeds::without_root(&self.source);
        let folder = if path == self.source {
            joined(parent(file).unwrap_or_default(), path)
        } else {
            joined("", path)
        };
        let unit = units.news.get_key_value(joined(&folder, UNIT).as_str());
        if let Some((unit, _)) = unit {
            let texts = TerragruntUnit { file: unit, units }.texts_for_nodes()?;
            return Some(NodeValues::Named(texts.into_iter().flat_map(values_in).collect()));
        }
        let (stack, configuration) = units.news.get_key_value(joined(&folder, STACK).as_str())?;
        let most = most.checked_sub(1)?;
        let mut all: Option<BTreeSet<String>> = None;
        for block in blocks(&configuration.whole, configuration.text) {
            let Some(inner) = block.names_for_nodes(units, stack, most) else { continue };
            let is_meant = |value: &&Argument| match &inner {
                NodeValues::All => true,
                NodeValues::Named(names) => names.contains(&value.name),
            };
            let texts = block.values.iter().filter(is_meant).map(|value| value.text.as_str());
            all.get_or_insert_default().extend(texts.flat_map(values_in));
        }
        all.map(NodeValues::Named)
    }
}

/// The values that an expression reads, such as `team` in `values.team`.
fn values_in(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-' | '.')));
    words.filter_map(|word| word.strip_prefix("values.")?.split('.').next().map(str::to_owned)).collect()
}
