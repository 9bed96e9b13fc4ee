//! Groups of flags that several commands have.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use engine::check::MAX_FINDINGS;
use manifest::limits::{Limits, parse_size};
use rule::finding::Severity;

use super::form::{Format, TimelineForm};

/// Input of `check`, `diagnose`, `upgrade`, `simulate` and `disruption`.
#[derive(Args, Debug)]
pub(crate) struct InputFlags {
    /// Files and folders; `-` reads standard input.
    #[arg(value_name = "PATH|-")]
    pub(crate) paths: Vec<PathBuf>,

    /// Folder with the input of one cluster; may be repeated for several clusters.
    #[arg(long, value_name = "DIR")]
    pub(crate) cluster: Vec<PathBuf>,

    /// File with values of Karpenter's Helm chart; may be repeated.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) helm_values: Vec<PathBuf>,

    /// Accept empty standard input, which otherwise exits with status 3.
    #[arg(long)]
    pub(crate) allow_empty: bool,
}

/// Facts about the cluster that do not depend on the Karpenter release.
#[derive(Args, Debug)]
#[command(next_help_heading = "What to check against")]
pub(crate) struct FactFlags {
    /// Kubernetes version of the cluster, such as 1.33, for the rules that depend on it.
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,

    /// Name of the cluster.
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,

    /// The input contains every NodePool and EC2NodeClass of the cluster, so an absent one does not exist.
    #[arg(long)]
    pub(crate) complete: bool,

    /// Refuse a Karpenter release that this version does not know, instead of checking the nearest known one.
    #[arg(long)]
    pub(crate) strict_release: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to check against")]
pub(crate) struct TargetFlags {
    /// Karpenter release, such as 1.8, 1.8.3 or latest, or a range, such as 1.0..1.14 [default: the version that the manifests pin, or else the newest known release].
    #[arg(long, value_name = "RELEASE")]
    pub(crate) karpenter_version: Option<String>,

    #[command(flatten)]
    pub(crate) facts: FactFlags,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to look for")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ChoiceFlags {
    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Report only these rules or families; `karpwarden rules` lists them. `all` includes the rules that are off by default.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    pub(crate) select: Vec<String>,

    /// Report all but these rules or families.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Check also the manifests in the code blocks of the Markdown files of folders. A file that is named is always read.
    #[arg(long)]
    pub(crate) include_docs: bool,

    /// Render the Helm charts of the input with the helm on the PATH, and check their objects at the lines of the templates.
    #[arg(long)]
    pub(crate) render: bool,

    /// Run no helm, whatever the config file says.
    #[arg(long, conflicts_with = "render")]
    pub(crate) no_render: bool,

    /// Folder in which files outside of the input are read, but not reported, if a kustomization refers to them [default: the
    /// repository of the kustomization].
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Apply the exclusions to files named on the command line too; for hooks and editors, which name every file.
    #[arg(long)]
    pub(crate) force_exclude: bool,

    /// Suppress the findings that this baseline file lists.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write the current findings to a baseline file, and suppress them.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub(crate) write_baseline: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// Write the report to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// File name of standard input in the report and for the settings of some paths, such as the file that an editor
    /// shows.
    #[arg(long, value_name = "PATH")]
    pub(crate) stdin_filename: Option<String>,

    /// Lowest severity that sets the exit status to 1.
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Exit with status 4 for any unreadable document, even if its file has nothing to do with Karpenter.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print only findings.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print also the pinned versions, the folders that look like clusters, and what was not checked or read.
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct FixFlags {
    /// Apply the safe fixes to the files; the fixed text of standard input goes to standard output.
    #[arg(long)]
    pub(crate) fix: bool,

    /// Print the changes of --fix as a diff, without writing them.
    #[arg(long, conflicts_with = "write_baseline")]
    pub(crate) diff: bool,

    /// Apply the fixes that you have to review too; with --diff, print them.
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,
}

/// Object of a story, and its form.
#[derive(Args, Debug)]
#[command(next_help_heading = "Story of one object")]
pub(crate) struct StoryFlags {
    /// Tell what happened to this Node, NodeClaim or instance, instead of the diagnoses. The start of a name is enough if it is unique.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pod", "nodepool"])]
    pub(crate) node: Option<String>,

    /// Tell what happened to this pod and its node.
    #[arg(long, value_name = "NAMESPACE/NAME", conflicts_with = "nodepool")]
    pub(crate) pod: Option<String>,

    /// Tell what happened to this NodePool and its nodes.
    #[arg(long, value_name = "NAME")]
    pub(crate) nodepool: Option<String>,

    /// Print one row for each NodeClaim of the object, or for all NodeClaims [default: table].
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub(crate) timeline: Option<TimelineForm>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

/// Bounds of the input, against unbounded work. The largest values keep every offset within 32 bits.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Bounds")]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
pub(crate) struct Bounds {
    /// Bytes per file, such as 1000000 or 64MiB.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = file_size)]
    pub(crate) max_file_bytes: usize,

    /// Documents per file.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::DEFAULT.documents, value_parser = up_to(u32::MAX as u64))]
    pub(crate) max_documents: usize,

    /// Levels of nesting per document.
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::DEFAULT.depth, value_parser = up_to(1000))]
    pub(crate) max_depth: usize,

    /// Values per document, after aliases are expanded.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::DEFAULT.nodes, value_parser = up_to(100_000_000))]
    pub(crate) max_nodes: usize,

    /// Findings in the report.
    #[arg(long, value_name = "COUNT", default_value_t = MAX_FINDINGS, value_parser = up_to(u32::MAX as u64))]
    pub(crate) max_findings: usize,
}

fn file_size(text: &str) -> Result<usize, String> {
    let size = parse_size(text).filter(|size| (1..u32::MAX as usize).contains(size));
    size.ok_or_else(|| "write a number of bytes, or a size below 4GiB such as 64MiB".to_owned())
}

fn up_to(maximum: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=maximum)
}

impl Bounds {
    pub(crate) fn limits(self) -> Limits {
        Limits {
            file_bytes: self.max_file_bytes,
            documents: self.max_documents,
            depth: self.max_depth,
            nodes: self.max_nodes,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn default_size_of_a_file_is_the_default_bound() {
        assert_eq!(super::file_size("64MiB"), Ok(manifest::limits::Limits::DEFAULT.file_bytes));
        assert!(super::file_size("0").is_err() && super::file_size("4GiB").is_err());
    }
}
