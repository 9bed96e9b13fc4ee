//! Command-line arguments; clap renders the help and the man pages from these declarations.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::collect::CollectArguments;
use super::disruption::DisruptionArguments;
use super::flags::{
    Bounds, ChoiceFlags, FactFlags, FailOn, FixFlags, InputFlags, OutputFlags, StoryFlags, TargetFlags,
};
use super::form::{Color, Format, ListFormat};
use super::hash::HashArguments;
use super::mcp::McpArguments;
use super::open::OpenArguments;
use super::plan::PlanArguments;
use super::report::PageArguments;
use super::schema::SchemaArguments;
use super::simulate::SimulateArguments;
use super::why::WhyArguments;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_STATUS: &str = "\
Exit status:
  0  no findings at or above --fail-on
  1  findings at or above --fail-on
  2  invalid command line or config file
  3  no input files, or empty standard input without --allow-empty
  4  some input that may concern Karpenter could not be read or parsed, or changed meanwhile;
     with --strict: any input (takes precedence over 1; the rest is checked)
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

const ALONE: &str = "Without a command, karpwarden checks the current folder.";

/// Check Karpenter (AWS) manifests and the Kubernetes objects around them before you apply them.
#[derive(Debug, Parser)]
#[command(name = "karpwarden", version, styles = STYLES, max_term_width = 100, after_help = ALONE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,

    /// When to use colour; `auto` uses it on a terminal unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", help_heading = "Output")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Check manifests: files, folders or standard input
    Check(Box<CheckArguments>),
    /// Find the cause of a problem in logs, events and status
    Diagnose(Box<DiagnoseArguments>),
    /// Show what breaks or changes between two Karpenter releases
    Upgrade(Box<UpgradeArguments>),
    /// Show where Karpenter would place the pods, and why not
    Simulate(Box<SimulateArguments>),
    /// Write a snapshot of a cluster through kubectl, as input for the other commands
    Collect(CollectArguments),
    /// Show what Karpenter may disrupt, when, and what prevents it
    Disruption(Box<DisruptionArguments>),
    /// Show what a change does to the nodes, before it is applied
    Plan(Box<PlanArguments>),
    /// Explain a pod or a node of the cluster that kubectl reads
    Why(WhyArguments),
    /// Write one page to send: findings, placement and cost, disruption, blocked nodes, symptoms
    Report(Box<PageArguments>),
    /// Serve the page of `report` to the browser of this computer, and reload it when the input changes
    Open(Box<OpenArguments>),
    /// Print the hashes by which Karpenter recognises drift
    Hash(Box<HashArguments>),
    /// Run the language server, which an editor starts, on standard input and output
    Lsp {
        /// Accepted because many editors pass it; there is no other transport.
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Run the server for assistants (Model Context Protocol), which an assistant starts
    Mcp(McpArguments),
    /// Print the documentation of rules, symptoms and families
    Explain(ExplainArguments),
    /// List the rules and symptoms
    Rules(RulesArguments),
    /// Print JSON Schemas of objects, of the config file and of answers
    Schema(SchemaArguments),
    /// Write a commented config file
    Init(InitArguments),
    /// Print the man page of karpwarden or of one command
    Man {
        /// Name of the command.
        command: Option<String>,
    },
    /// Complete a command line for kubectl
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words after `kubectl karpwarden`, the last of which is completed.
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Print a shell completion script
    Completions {
        /// Name of the shell.
        shell: Shell,
    },
}

/// Check manifests: files, folders or standard input.
///
/// In a folder, `check` reads the .yaml, .yml, .json, .jsonl, .tf and .tofu files, except hidden files, files in
/// `node_modules`, and files that ignore files or --exclude match. It always reads a file named on the command line, unless --force-exclude is given.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct CheckArguments {
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

    /// Print the number of findings of each rule instead of the findings; with `--format json` in addition to them.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["fix", "diff"])]
    pub(crate) statistics: bool,

    /// Keep running, and check again when a file of the input changes. Ctrl-C ends it.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["fix", "diff", "unsafe_fixes", "write_baseline"])]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// Find the cause of a problem in controller logs, events, object status and manifests.
///
/// The inputs may come in any order and may be mixed in one file: log lines of the controller, with or without the prefixes
/// of kubectl, stern or a container runtime; exports of CloudWatch, Loki and Grafana as JSON or CSV; the output of `kubectl
/// get -o yaml` and `-o json`; the tables of `kubectl get events` and `kubectl describe`. Files may be compressed (gzip,
/// Zstandard, zip). In a folder, `diagnose` reads every text file that is not hidden and does not apply ignore files. Logs
/// are streamed, so they may be larger than the memory.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct DiagnoseArguments {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    #[command(flatten)]
    pub(crate) target: TargetFlags,

    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE", help_heading = "What to look for")]
    pub(crate) config: Option<PathBuf>,

    /// Report only these symptoms, rules or families; all symptoms are in the family `symptoms`.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "What to look for")]
    pub(crate) select: Vec<String>,

    /// Report all but these symptoms, rules or families.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "What to look for")]
    pub(crate) ignore: Vec<String>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "What to look for")]
    pub(crate) exclude: Vec<String>,

    #[command(flatten)]
    pub(crate) story: StoryFlags,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) format: Format,

    /// Write the report to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// File name of standard input in the report.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub(crate) stdin_filename: Option<String>,

    /// Lowest severity that sets the exit status to 1.
    #[arg(long, value_name = "LEVEL", default_value = "error", help_heading = "Output")]
    pub(crate) fail_on: FailOn,

    /// Exit with status 4 for any unreadable document, even if its file has nothing to do with Karpenter.
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,

    /// Print only diagnoses and findings.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Print also the pinned versions, the folders that look like clusters, and what was not checked.
    #[arg(long, short, help_heading = "Output", conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) bounds: Bounds,

    /// Bytes to which a compressed file may decompress.
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30, help_heading = "Bounds")]
    pub(crate) max_decompressed_bytes: u64,
}

/// Show what breaks or changes between two Karpenter releases, and at which release.
///
/// `upgrade` reports the findings of `check` that begin on the upgrade path, and the fields that change their meaning there
/// although every release accepts them. It only counts the findings that already apply to the first release.
#[derive(Args, Debug)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct UpgradeArguments {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    /// Karpenter release that runs now, such as 1.8 or 1.8.3 [default: the version that the manifests pin].
    #[arg(long, value_name = "RELEASE", help_heading = "Upgrade path")]
    pub(crate) from: Option<String>,

    /// Karpenter release to change to, newer or older [default: latest, the newest known release].
    #[arg(long, value_name = "RELEASE", help_heading = "Upgrade path")]
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

#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// Karpenter release of the cluster, such as 1.8, or latest.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) karpenter_version: Option<String>,

    /// Name of the cluster.
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// Names of rules, symptoms and families.
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct RulesArguments {
    /// List only what has these words in its name, its summary or its page, the best matches first.
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: ListFormat,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_help_of_a_command_with_exit_statuses_lists_those_of_a_refused_file() {
        let program = super::Arguments::command();
        let helps = program.get_subcommands().filter_map(clap::Command::get_after_help);
        let helps: Vec<String> = helps.map(ToString::to_string).collect();
        assert_eq!(helps.len(), 12);
        for help in helps {
            assert!(help.contains("\n  5  ") && help.contains("the system refused a resource"), "{help}");
        }
    }

    #[test]
    fn clap_accepts_the_declarations() {
        super::Arguments::command().debug_assert();
    }
}
