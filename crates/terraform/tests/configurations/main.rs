//! Blocks, modules and places of configurations.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod files;
mod modules;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use karpwarden_terraform::{EvaluatedConfiguration, EvaluatedValue, FolderFiles, Knowledge, to_json};
use manifest::source::Source;

struct Folder(BTreeMap<&'static str, Arc<Source>>);

impl FolderFiles for Folder {
    fn read(&self, path: &str) -> Option<Arc<Source>> {
        self.0.get(path).cloned()
    }

    fn paths(&self) -> Vec<String> {
        self.0.keys().map(|path| (*path).to_owned()).collect()
    }
}

fn folder<const N: usize>(files: [(&'static str, &str); N]) -> Folder {
    Folder(files.map(|(path, text)| (path, Arc::new(Source::new(path, text)))).into())
}

fn evaluate<const N: usize>(files: [(&'static str, &str); N]) -> EvaluatedConfiguration {
    EvaluatedConfiguration::evaluate("", &folder(files), &[])
}

fn addresses(configuration: &EvaluatedConfiguration) -> Vec<&str> {
    configuration.blocks.iter().map(|block| block.address.as_str()).collect()
}

/// The value of an attribute of a block.
fn value<'c>(
    configuration: &'c EvaluatedConfiguration,
    address: &str,
    attribute: &str,
) -> &'c EvaluatedValue {
    let block = configuration.blocks.iter().find(|block| block.address == address);
    let block = block.unwrap_or_else(|| panic!("no {address} in {:?}", addresses(configuration)));
    block.body.get(attribute).unwrap()
}

/// The values of attribute `v` of resource `a.b` in a configuration, as JSON.
fn v(text: &str) -> String {
    let configuration = evaluate([("main.tf", text)]);
    assert_eq!(configuration.problems, []);
    let value = value(&configuration, "a.b", "v");
    assert_eq!(value.knowledge(), Knowledge::Known, "{:?}", value.failure());
    to_json(value)
}

/// The placeholder of attribute `v` of resource `a.b`, and the reason if it failed.
fn placeholder(text: &str) -> (String, Option<String>) {
    let configuration = evaluate([("main.tf", text)]);
    let value = value(&configuration, "a.b", "v");
    let unknown = value.as_unknown().unwrap_or_else(|| panic!("known: {}", to_json(value)));
    let reason = value.failure().map(|failure| failure.message.clone());
    (unknown.text.as_str().to_owned(), reason)
}
