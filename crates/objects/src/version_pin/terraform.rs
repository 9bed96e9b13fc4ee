//! Blocks of Terraform that pin a version: `helm_release` resources, modules that configure Karpenter's chart, and variables whose
//! name says that they have Karpenter's version.
//!
//! Sources: docs/resources/release.md of hashicorp/terraform-provider-helm; website/docs/language/values/variables.mdx of
//! hashicorp/terraform.

use std::collections::BTreeMap;

use super::script::{part_of_variable, unquoted};
use super::{PinnedPart, part_of_chart};
use crate::controller::is_of_other_cloud;

/// Reader of the blocks of a text, line by line.
#[derive(Default)]
pub(super) struct Blocks<'t> {
    open: Option<Block<'t>>,
}

/// The version in a block, which may be a reference.
pub(super) struct BlockPin<'t> {
    pub(super) part: PinnedPart,
    pub(super) version: &'t str,
    /// The byte at which the line with the version starts.
    pub(super) at: usize,
}

/// A block that may pin a version.
struct Block<'t> {
    at: usize,
    depth: usize,
    /// The attributes of the block itself.
    attributes: BTreeMap<&'t str, &'t str>,
    kind: BlockKind,
}

/// Kind of a block that may pin a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// A `helm_release`, which names its chart.
    Release,
    /// A block of a module that installs the controller's chart.
    Module,
    /// A variable that has the version of a part.
    Variable(PinnedPart),
}

impl<'t> Blocks<'t> {
    /// Reads a line. Returns the pin of the block that ends in it.
    pub(super) fn read(&mut self, line: &'t str, at: usize) -> Option<BlockPin<'t>> {
        let trimmed = line.trim();
        let Some(block) = &mut self.open else {
            let kind = kind_of(trimmed)?;
            if let Some(version) = default_in(trimmed, kind) {
                return Some(version).map(|(part, version)| BlockPin { part, version, at });
            }
            if trimmed.ends_with('{') {
                self.open = Some(Block { at, depth: 1, attributes: BTreeMap::new(), kind });
            }
            return None;
        };
        if block.depth == 1
            && let Some((key, value)) = trimmed.split_once('=')
        {
            block.attributes.insert(key.trim(), unquoted(value.trim()));
            if matches!(key.trim(), "version" | "chart_version" | "default") {
                block.at = at;
            }
        }
        // Braces in strings and comments do not count.
        let code: String = trimmed.split('"').step_by(2).collect();
        let code = code.split('#').next().unwrap_or_default();
        let count = |char| code.bytes().filter(|byte| *byte == char).count();
        block.depth = (block.depth + count(b'{')).saturating_sub(count(b'}'));
        if block.depth > 0 { None } else { self.open.take()?.pin() }
    }
}

impl<'t> Block<'t> {
    fn pin(&self) -> Option<BlockPin<'t>> {
        let of = |name: &str| self.attributes.get(name).copied();
        let of_chart = |otherwise| of("chart").map_or(otherwise, part_of_chart);
        let (part, version) = match self.kind {
            BlockKind::Variable(part) => (part, of("default")?),
            _ if of("repository").is_some_and(is_of_other_cloud) => return None,
            BlockKind::Release => (of_chart(None)?, of("version")?),
            BlockKind::Module => {
                (of_chart(Some(PinnedPart::Controller))?, of("chart_version").or_else(|| of("version"))?)
            }
        };
        Some(BlockPin { part, version, at: self.at })
    }
}

/// The kind of the block that a line opens.
fn kind_of(line: &str) -> Option<BlockKind> {
    if !line.contains('{') {
        return None;
    }
    let key = line.split(['=', ' ']).next().unwrap_or_default();
    if line.contains("\"helm_release\"") {
        Some(BlockKind::Release)
    } else if ["karpenter", "karpenter_helm_config"].contains(&key) && line.contains('=') {
        Some(BlockKind::Module)
    } else {
        let name = line.strip_prefix("variable")?.trim_start().strip_prefix('"')?.split('"').next()?;
        part_of_variable(name).map(BlockKind::Variable)
    }
}

/// The default in `variable "karpenter_version" { default = "1.6.2" }`.
fn default_in(line: &str, kind: BlockKind) -> Option<(PinnedPart, &str)> {
    let BlockKind::Variable(part) = kind else { return None };
    let (_, body) = line.strip_suffix('}')?.split_once('{')?;
    let value = body.trim().strip_prefix("default")?.trim_start().strip_prefix('=')?;
    Some((part, unquoted(value.trim())))
}

#[cfg(test)]
mod tests {
    use super::super::pins_in_text;

    /// The pins of a text, such as `1.6.2:1` for the first line.
    fn found(text: &str) -> Vec<String> {
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        pins_in_text(text).iter().map(|pin| format!("{}:{}", pin.version, line(pin.at))).collect()
    }

    #[test]
    fn blocks_of_terraform_pin_the_chart() {
        let release = r#"resource "helm_release" "karpenter" {
  name       = "karpenter"
  repository = "oci://public.ecr.aws/karpenter"
  chart      = "karpenter"
  version    = "v0.13.2"
  set {
    name  = "settings.version"
    version = "1.1.1"
  }
}
"#;
        assert_eq!(found(release), ["0.13.2:5"]);
        assert!(found(&release.replace("\"karpenter\"\n  version", "\"nginx\"\n  version")).is_empty());
        assert!(found(&release.replace("v0.13.2", "${var.v}")).is_empty());
        let module = "module \"a\" {\n  enable_karpenter = true\n  karpenter = {\n    chart_version = \"0.13.2\"\n  }\n}\n";
        assert_eq!(found(module), ["0.13.2:4"]);
    }

    #[test]
    fn default_of_a_variable_pins_the_version() {
        let variable = r#"variable "karpenter_version" {
  description = "Version of Karpenter, such as 0.37.0"
  type        = string
  default     = "1.6.2"
  validation {
    condition = length(var.karpenter_version) > 0
  }
}
"#;
        assert_eq!(found(variable), ["1.6.2:4"]);
        let braces =
            variable.replace("such as", "opens { a brace, such as").replace("string\n", "string # {\n");
        assert_eq!(found(&braces), ["1.6.2:4"]);
        assert_eq!(found("variable \"karpenter_chart_version\" { default = \"v1.6.2\" }\n"), ["1.6.2:1"]);
        assert!(found(&variable.replace("karpenter_version", "karpenter_ami_version")).is_empty());
        assert!(found(&variable.replace("\"1.6.2\"", "null")).is_empty());
    }
}
