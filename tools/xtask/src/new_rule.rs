//! `cargo xtask new-rule`: writes the skeleton of a rule, and its lines in the family.

use std::fs;
use std::path::Path;

/// Writes `src/rules/<family>/<name>.rs` and adds it to the family. Returns the path of the new file.
pub(crate) fn write(root: &Path, family: &str, name: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.bytes().all(plain) || !name.starts_with(|char: char| char.is_ascii_lowercase()) {
        return Err(format!(
            "`{name}` is not a rule name; write it in lower-case letters, digits and dashes"
        ));
    }
    if family == "upgrade" {
        let example = "src/rules/scheduling/node_limit_enforced.rs";
        return Err(format!(
            "`upgrade` is not a family; choose the family of the problem, and copy {example}"
        ));
    }
    let module = name.replace('-', "_");
    let folder = root.join("src/rules").join(family.replace('-', "_"));
    let list = folder.join("mod.rs");
    let families = fs::read_to_string(&list)
        .map_err(|_| format!("no family `{family}`; the families are the folders of src/rules"))?;
    let file = folder.join(format!("{module}.rs"));
    if file.exists() {
        return Err(format!("{} exists already", file.display()));
    }
    let added =
        with_rule(&families, &module).ok_or_else(|| format!("{} has no list of rules", list.display()))?;
    let put = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    put(&file, &skeleton(family, name))?;
    put(&list, &added)?;
    Ok(file.strip_prefix(root).unwrap_or(&file).display().to_string())
}

/// The text of a family with the rule added to the modules and to the list, in alphabetical order.
fn with_rule(text: &str, module: &str) -> Option<String> {
    let (before, rest) = text.split_once("\nfamily! {\n")?;
    let (rules, after) = rest.split_once('}')?;
    let declaration = format!("pub(crate) mod {module};");
    let (mut modules, head): (Vec<&str>, Vec<&str>) =
        before.lines().partition(|line| line.starts_with("pub(crate) mod "));
    modules.push(&declaration);
    modules.sort_unstable();
    let mut rules: Vec<&str> = rules.split(',').map(str::trim).filter(|rule| !rule.is_empty()).collect();
    rules.push(module);
    rules.sort_unstable();
    let (head, modules, rules) = (head.join("\n"), modules.join("\n"), rules.join(",\n    "));
    Some(format!("{head}\n{modules}\n\nfamily! {{\n    {rules},\n}}{after}"))
}

fn skeleton(family: &str, name: &str) -> String {
    let variant: String = family.split('-').map(capitalised).collect();
    SKELETON.replace("{name}", name).replace("{family}", &variant)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

const SKELETON: &str = r#"use karpenter::kind::Kind;
use karpenter::release::Releases;
use rule::context::Context;
use rule::finding::{CaughtBy, Family, Finding, Severity};
use rule::{Fixes, On};
use manifest::edit::Change;
use objects::node_pool::NodePool;
use objects::object::Object;

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.replicas` of a NodePool is not `wrong`.
    ///
    /// ## Why it is bad
    ///
    /// What happens in the cluster, to which object, and where the failure shows.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   replicas: wrong
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   replicas: right
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: why the fix keeps what the author meant. Delete this section if the rule has no fix.
    ///
    /// ## References
    ///
    /// - a source file of Karpenter at a tag, or owner/repo#number
    RULE {
        name: "{name}",
        family: Family::{family},
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the problem in one line, without a full stop",
        on: &[On::Kind(Kind::NODE_POOL)],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(node) = NodePool::of(object).and_then(NodePool::replicas) else { return };
    let Some(value) = node.as_str() else { return };
    if value == "wrong" {
        findings.push(
            Finding::at(&RULE, node, format!("what happens in the cluster because of `{value}`"))
                .help("what to write instead")
                .safe_fix("write `right`", Change::Set(node, "right".to_owned())),
        );
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n";

    #[test]
    fn reports_the_wrong_value() {
        assert_snapshot!(findings(&RULE, &format!("{POOL}spec: {{replicas: wrong}}\n")), @"");
    }

    #[test]
    fn writes_the_right_value() {
        let text = format!("{POOL}spec: {{replicas: wrong}}\n");
        assert_eq!(fixed(&RULE, &text), format!("{POOL}spec: {{replicas: right}}\n"));
    }

    #[test]
    fn accepts_the_right_value() {
        silent(&RULE, &format!("{POOL}spec: {{replicas: right}}\n"));
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_a_rule_in_alphabetical_order() {
        let text = "//! Words.\n\npub(crate) mod b_rule;\n\nfamily! {\n    b_rule in \"files\",\n}\n";
        let added = "//! Words.\n\npub(crate) mod a_rule;\npub(crate) mod b_rule;\n\nfamily! {\n    a_rule,\n    \
             b_rule in \"files\",\n}\n";
        assert_eq!(with_rule(text, "a_rule").unwrap(), added);
        assert_eq!(with_rule("no list", "a"), None);
    }

    #[test]
    fn rejects_invalid_names_and_unknown_families() {
        let root = Path::new("no such folder");
        assert!(write(root, "labels", "My_Rule").unwrap_err().contains("lower-case letters"));
        assert!(write(root, "labels", "my-rule").unwrap_err().contains("no family"));
        assert!(write(root, "upgrade", "my-rule").unwrap_err().contains("node_limit_enforced"));
        assert!(skeleton("api-server", "my-rule").contains("Family::ApiServer"));
    }
}
