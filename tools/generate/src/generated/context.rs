//! The kinds that the policies look up, in the manifests that grant or list them.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use karpwarden::ADMISSION;
use karpwarden::karpenter::kind::Kind;
use karpwarden_admit::kinds::plural;
use karpwarden_policy::host::api_version;

use super::DerivedFile;
use crate::home;

const FOLDER: &str = "policies/karpenter";

/// The manifests with a policy.
const POLICIES: [&str; 8] = [
    "kustomize/base/controller.yaml",
    "kustomize/base/karpenter-objects.yaml",
    "kustomize/base/pods.yaml",
    "kustomize/base/storage.yaml",
    "kustomize/base/workloads.yaml",
    "kustomize/components/disruption/disruption.yaml",
    "kustomize/components/fix/fix.yaml",
    "kustomize/components/node-overlays/node-overlays.yaml",
];

/// The kinds that the policies look up.
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    ADMISSION.looked_up().into_iter().map(|(kind, _)| kind)
}

/// The value of `contextAwareResources`, indented.
pub(super) fn resources(indent: &str) -> String {
    kinds().fold(String::new(), |mut text, kind| {
        let _ = writeln!(text, "{indent}- apiVersion: {}\n{indent}  kind: {}", api_version(kind), kind.name);
        text
    })
}

/// The manifests and the script, with the kinds in them replaced.
pub(super) fn files() -> Result<Vec<DerivedFile>> {
    let mut files = Vec::new();
    let mut replace = |path: &str, key: &str, block: &str| -> Result<()> {
        let path = format!("{FOLDER}/{path}");
        let text = home::text(&path)?;
        files.push((
            path.clone(),
            with_block(&text, key, block).with_context(|| format!("{path}: no `{key}`"))?,
        ));
        Ok(())
    };
    for path in POLICIES {
        replace(path, "  contextAwareResources:", &resources("    "))?;
    }
    replace("kustomize/base/context-rbac.yaml", "rules:", &role_rules())?;
    let path = format!("{FOLDER}/preflight.sh");
    let script = with_kinds(&home::text(&path)?);
    files.push((path, script));
    Ok(files)
}

/// The rules of the role that grants the kinds, one for each API group.
fn role_rules() -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for kind in kinds() {
        let resource = format!("\"{}\"", plural(kind.name));
        match groups.iter_mut().find(|(group, _)| *group == kind.group) {
            Some((_, resources)) => resources.push(resource),
            None => groups.push((kind.group, vec![resource])),
        }
    }
    groups.iter().fold(String::new(), |mut text, (group, resources)| {
        let _ = writeln!(
            text,
            "  - apiGroups: [\"{group}\"]\n    resources: [{}]\n    verbs: [\"get\", \"list\", \"watch\"]",
            resources.join(", ")
        );
        text
    })
}

/// The script with the resources that the policies look up.
fn with_kinds(script: &str) -> String {
    let resources: Vec<String> = kinds().map(resource).collect();
    let line = |line: &str| match line.split_once("all) looked_up=") {
        Some((indent, _)) => format!("{indent}all) looked_up='{}' ;;\n", resources.join(" ")),
        None => format!("{line}\n"),
    };
    script.lines().map(line).collect()
}

/// The resource of a kind as kubectl reads it: `nodepools.karpenter.sh`.
fn resource(kind: Kind) -> String {
    let plural = plural(kind.name);
    if kind.group.is_empty() { plural } else { format!("{plural}.{}", kind.group) }
}

/// A text with another block below a line: the lines that follow it and are indented deeper. `None` if the text has no such line.
fn with_block(text: &str, key: &str, block: &str) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().peekable();
    let (mut result, mut is_found) = (String::new(), false);
    while let Some(line) = lines.next() {
        result.push_str(line);
        result.push('\n');
        if line == key {
            is_found = true;
            result.push_str(block);
            while lines.next_if(|next| indent(next) > indent(key)).is_some() {}
        }
    }
    is_found.then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_the_block_below_a_key_and_nothing_else() {
        let text = "spec:\n  list:\n    - a: b\n      c: d\n  # kept\n  after: {}\n";
        assert_eq!(
            with_block(text, "  list:", "    - e\n").as_deref(),
            Some("spec:\n  list:\n    - e\n  # kept\n  after: {}\n")
        );
        assert_eq!(with_block(text, "list:", ""), None);
    }

    #[test]
    fn script_keeps_everything_but_the_kinds() {
        let script = with_kinds("case $context in\n  all) looked_up='a b' ;;\n  none) looked_up= ;;\nesac\n");
        assert!(
            script.starts_with("case $context in\n  all) looked_up='nodepools.karpenter.sh "),
            "{script}"
        );
        assert!(script.ends_with("' ;;\n  none) looked_up= ;;\nesac\n"), "{script}");
    }
}
