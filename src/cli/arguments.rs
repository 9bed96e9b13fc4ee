//! The arguments, and the help made from them.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use lint::check::MAX_FINDINGS;
use lint::finding::Severity;
use manifest::limits::Limits;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_STATUS: &str = "\
Exit status:
  0  nothing at or above --fail-on
  1  findings
  2  the command line or the config file is wrong
  3  no input file at all
  4  some input could not be read or parsed (wins over 1; the rest is checked)";

/// Checks Karpenter (AWS) manifests, and the Kubernetes objects around them, before a cluster does.
#[derive(Debug, Parser)]
#[command(name = "karpwarden", version, styles = STYLES, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Whether to write in colour; `auto` does on a terminal, and obeys NO_COLOR.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", help_heading = "Output")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check manifests: files, folders or standard input
    Check(Box<Check>),
    /// Read logs, events and status, and name the cause
    Diagnose(Box<Diagnose>),
    /// Tell what manifests lose or break on the way to another release
    Upgrade(Box<Upgrade>),
    /// Print the documentation of a rule or a symptom
    Explain(Explain),
    /// List the rules and symptoms
    Rules(Rules),
    /// Write a config file to start from
    Init(Init),
    /// Print the man page of the program or of a command
    Man {
        /// The command.
        command: Option<String>,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete in.
        shell: Shell,
    },
}

/// Checks manifests: files, folders or standard input.
///
/// A folder is walked for .yaml, .yml, .json and .jsonl files; what ignore files name and hidden files are left out. A
/// file named outright is read all the same, unless --force-exclude is given.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    #[command(flatten)]
    pub(crate) target: TargetFlags,

    #[command(flatten)]
    pub(crate) choice: ChoiceFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    pub(crate) fixing: FixFlags,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// Reads the controller's logs, events, the status of objects and manifests, and tells what is wrong and what to do.
///
/// All of it in any order and mixed in one file: lines as the controller writes them, with or without what kubectl, stern or a
/// container runtime writes before them; `kubectl get -o yaml` and `-o json`; the tables of `kubectl get events` and `kubectl
/// describe`. Of a folder every text file is read, whatever ignore files name. Logs are streamed, however large.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Diagnose {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    #[command(flatten)]
    pub(crate) target: TargetFlags,

    /// The config file [default: the nearest karpwarden.yaml in this folder or above it].
    #[arg(long, value_name = "FILE", help_heading = "What to look for")]
    pub(crate) config: Option<PathBuf>,

    /// Only these symptoms, rules or families; `symptoms` is the family of all that logs, events and status tell.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "What to look for")]
    pub(crate) select: Vec<String>,

    /// All but these symptoms, rules or families.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "What to look for")]
    pub(crate) ignore: Vec<String>,

    /// Leave out of a folder what fits this pattern of an ignore file; may be given several times.
    #[arg(long, value_name = "PATTERN", help_heading = "What to look for")]
    pub(crate) exclude: Vec<String>,

    /// How to print what is found.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) format: LogFormat,

    /// Print to this file rather than to standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// The name under which standard input is reported.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub(crate) stdin_filename: Option<String>,

    /// The least severity that makes the exit status 1.
    #[arg(long, value_name = "LEVEL", default_value = "error", help_heading = "Output")]
    pub(crate) fail_on: FailOn,

    /// Print the diagnoses and findings alone.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// Tells what manifests lose or break on the way from one Karpenter release to another, and at which release.
///
/// Shown are the findings of `check` that begin on the way, and what changes meaning there while every release accepts it.
/// What is wrong at the start already is counted, not shown.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Upgrade {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    /// The Karpenter release that runs, such as 1.8 or 1.8.3.
    #[arg(long, value_name = "RELEASE", help_heading = "Which way")]
    pub(crate) from: String,

    /// The release that is to run; it may be an older one [default: the newest known].
    #[arg(long, value_name = "RELEASE", help_heading = "Which way")]
    pub(crate) to: Option<String>,

    #[command(flatten)]
    pub(crate) facts: FactFlags,

    #[command(flatten)]
    pub(crate) choice: ChoiceFlags,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// What is read.
#[derive(Args, Debug)]
pub(crate) struct InputFlags {
    /// Files and folders; `-` is standard input.
    #[arg(value_name = "PATH|-")]
    pub(crate) paths: Vec<PathBuf>,

    /// A folder with what belongs to one cluster; give it several times for several clusters.
    #[arg(long, value_name = "DIR")]
    pub(crate) cluster: Vec<PathBuf>,

    /// A file with values of Karpenter's Helm chart, whatever its name and its keys; may be given several times.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) helm_values: Vec<PathBuf>,
}

/// What is known of the cluster, whatever the release.
#[derive(Args, Debug)]
#[command(next_help_heading = "What to check against")]
pub(crate) struct FactFlags {
    /// The Kubernetes version, such as 1.33, for what depends on it.
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,

    /// The name of the cluster.
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,

    /// The input holds every NodePool and node class of the cluster: one that is absent is missing.
    #[arg(long)]
    pub(crate) complete: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to check against")]
pub(crate) struct TargetFlags {
    /// The Karpenter release, such as 1.8 or 1.8.3, or a range, such as 1.0..1.14 [default: the newest known].
    #[arg(long, value_name = "RELEASE")]
    pub(crate) karpenter_version: Option<String>,

    /// The Kubernetes version, such as 1.33, for what depends on it.
    #[arg(long, value_name = "VERSION")]
    pub(crate) kubernetes_version: Option<String>,

    /// The name of the cluster.
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,

    /// The input holds every NodePool and node class of the cluster: one that is absent is missing.
    #[arg(long)]
    pub(crate) complete: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "What to look for")]
pub(crate) struct ChoiceFlags {
    /// The config file [default: the nearest karpwarden.yaml in this folder or above it].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Only these rules or families; `karpwarden rules` lists them.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    pub(crate) select: Vec<String>,

    /// All but these rules or families.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,

    /// Leave out of a folder what fits this pattern of an ignore file; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Leave out what is excluded where it is named outright, too: a hook and an editor name every file.
    #[arg(long)]
    pub(crate) force_exclude: bool,

    /// Do not report the findings that this file lists.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// List the findings there are now in this file, for --baseline, and report none of them.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub(crate) write_baseline: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// How to print what is found.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// Print to this file rather than to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The path under which standard input is reported and which settings for some paths go by, such as that of the file
    /// an editor shows.
    #[arg(long, value_name = "PATH")]
    pub(crate) stdin_filename: Option<String>,

    /// The least severity that makes the exit status 1.
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Print the findings alone.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct FixFlags {
    /// Make the safe fixes in the files; of standard input, write the fixed text to standard output.
    #[arg(long)]
    pub(crate) fix: bool,

    /// Print what --fix would change as a diff, and write nothing.
    #[arg(long)]
    pub(crate) diff: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With the lines around each finding
    Human,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// JUnit's XML
    Junit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// With the lines that tell it
    Human,
    /// One JSON object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table
    Human,
    /// One JSON array
    Json,
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

/// Bounds of what is read, so that no input costs unbounded work. Beyond the upper ends here, offsets would not fit.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Bounds")]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
pub(crate) struct Bounds {
    /// Bytes of one file.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::DEFAULT.file_bytes, value_parser = up_to(u32::MAX as u64 - 1))]
    pub(crate) max_file_bytes: usize,

    /// Documents of one file.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::DEFAULT.documents, value_parser = up_to(u32::MAX as u64))]
    pub(crate) max_documents: usize,

    /// Levels of nesting in one document.
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::DEFAULT.depth, value_parser = up_to(1000))]
    pub(crate) max_depth: usize,

    /// Values in one document, after aliases are expanded.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::DEFAULT.nodes, value_parser = up_to(100_000_000))]
    pub(crate) max_nodes: usize,

    /// Findings to show.
    #[arg(long, value_name = "COUNT", default_value_t = MAX_FINDINGS, value_parser = up_to(u32::MAX as u64))]
    pub(crate) max_findings: usize,
}

fn up_to(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
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

#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The Karpenter release that runs in the cluster, such as 1.8.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) karpenter_version: Option<String>,

    /// The name of the cluster.
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The name of the rule or symptom.
    pub(crate) rule: String,
}

#[derive(Args, Debug)]
pub(crate) struct Rules {
    /// How to print them.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: ListFormat,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_declaration_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
