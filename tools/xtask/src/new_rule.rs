//! `cargo xtask new-rule`: writes the skeleton of a rule, and its line in the family.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Writes `src/rules/<family>/<name>.rs` and adds it to the family. Returns the path of the new file.
pub(crate) fn write(root: &Path, family: &str, name: &str) -> Result<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.bytes().all(plain) || !name.starts_with(|char: char| char.is_ascii_lowercase()) {
        bail!("`{name}` is not a rule name; write it in lower-case letters, digits and dashes");
    }
    if family == "upgrade" {
        let example = "src/rules/scheduling/node_limit_enforced.rs";
        bail!(
            "`upgrade` is not a family; choose the family of the problem, and `Runs::OnUpgrade` as in {example}"
        );
    }
    let module = name.replace('-', "_");
    let folder = root.join("src/rules").join(family.replace('-', "_"));
    let list = folder.join("mod.rs");
    let modules = fs::read_to_string(&list)
        .with_context(|| format!("no family `{family}`; the families are the folders of src/rules"))?;
    let file = folder.join(format!("{module}.rs"));
    if file.exists() {
        bail!("{} exists already", file.display());
    }
    let added = with_rule(&modules, &module);
    crate::write(&file, SKELETON.as_bytes())?;
    crate::write(&list, added.as_bytes())?;
    Ok(file.strip_prefix(root).unwrap_or(&file).display().to_string())
}

/// The modules of a family with the rule, in alphabetical order.
fn with_rule(text: &str, module: &str) -> String {
    let declaration = format!("pub(crate) mod {module};");
    let mut lines: Vec<&str> = text.lines().collect();
    let is_module = |line: &&str| line.starts_with("pub(crate) mod ");
    let follows = |line: &&str| is_module(line) && **line > *declaration;
    let last = lines.iter().rposition(is_module);
    let at = lines.iter().position(follows).or(last.map(|last| last + 1));
    lines.insert(at.unwrap_or(lines.len()), &declaration);
    lines.join("\n") + "\n"
}

const SKELETON: &str = r#"use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

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
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the problem in one line, without a full stop",
        runs: Runs::InAdmission,
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

    const WRONG: &str = r"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  replicas: wrong
";

    const RIGHT: &str = r"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  replicas: right
";

    #[test]
    fn reports_the_wrong_value() {
        assert_snapshot!(findings(&RULE, WRONG), @"");
    }

    #[test]
    fn writes_the_right_value() {
        assert_eq!(fixed(&RULE, WRONG), RIGHT);
    }

    #[test]
    fn accepts_the_right_value() {
        silent(&RULE, RIGHT);
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_a_rule_in_alphabetical_order() {
        let text = r"//! Family.

mod helper;

pub(crate) mod b_rule;

const OTHER: u8 = 1;
";
        let before = text.replace("pub(crate) mod b_rule;", "pub(crate) mod a_rule;\npub(crate) mod b_rule;");
        let after = text.replace("pub(crate) mod b_rule;", "pub(crate) mod b_rule;\npub(crate) mod c_rule;");
        assert_eq!(with_rule(text, "a_rule"), before);
        assert_eq!(with_rule(text, "c_rule"), after);
        assert_eq!(with_rule("//! Family.\n", "a"), "//! Family.\npub(crate) mod a;\n");
    }

    #[test]
    fn rejects_invalid_names_and_unknown_families() {
        let root = Path::new("no such folder");
        let error = |family, name| write(root, family, name).unwrap_err().to_string();
        assert!(error("labels", "My_Rule").contains("lower-case letters"));
        assert!(error("labels", "my-rule").contains("no family"));
        assert!(error("upgrade", "my-rule").contains("node_limit_enforced"));
    }
}
