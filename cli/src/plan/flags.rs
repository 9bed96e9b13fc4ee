//! Flags of `karpwarden plan`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use disruption::forecast::ForecastSettings;
use karpenter::release::{NearestRelease, Release};
use karpwarden::plan::ApplyNamespace;
use karpwarden::simulate::Choices;
use values::duration::Duration;
use values::timestamp::Timestamp;

use crate::collect::ClusterFlags;
use crate::disruption::clock::{self, Clock};
use crate::disruption::time;
use crate::error::CommandError;
use crate::flags::Bounds;
use crate::options::{InputOptions, SettingsOptions};
use crate::safe_writer::Escaping;
use crate::simulate::SimulationFlags;

const STATUS: &str = "\
Exit status:
  0  nothing that --fail-on names
  1  something that --fail-on names
  2  invalid command line or config file, or a reference that the repository lacks
  3  no input files
  4  some input could not be parsed (takes precedence over 1; the rest is planned) or opened (nothing is planned)
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Show what a change does to the nodes, before it is applied.
///
/// Karpenter replaces the nodes that no longer match their NodePool or EC2NodeClass. `plan` compares two states of the manifests and says
/// for each changed field whether Karpenter replaces every node, some nodes or none. Compare two files or folders (OLD NEW), the
/// working tree with a commit (--base), the files with a cluster (--snapshot), the two sides of a plan of Terraform (--terraform), or two
/// releases of Karpenter (--from, --to).
#[derive(Args, Debug)]
#[command(after_help = STATUS, group = ArgGroup::new("cluster_state").args(["snapshot", "filename"]).multiple(true))]
pub(crate) struct PlanArguments {
    /// OLD and NEW, as files or folders; one AdmissionReview of an UPDATE; with another source of the old state: the new files and folders.
    #[arg(value_name = "PATH|-")]
    pub(crate) paths: Vec<PathBuf>,

    /// Folder with the files of one cluster; may be repeated for several clusters.
    #[arg(long, value_name = "DIR")]
    pub(crate) cluster: Vec<PathBuf>,

    /// Compare the working tree with this commit or branch [default: the commit at which the current branch left the default branch].
    /// Before a path, write --base=REF PATH or --base -- PATH.
    #[arg(long, value_name = "REF", num_args = 0..=1, default_missing_value = "", conflicts_with = "snapshot", help_heading = "What to compare")]
    pub(crate) base: Option<String>,

    /// Compare the files with this snapshot of a cluster, which `karpwarden collect` writes. Without files: what has drifted already.
    #[arg(long, value_name = "DIR", help_heading = "What to compare")]
    pub(crate) snapshot: Option<PathBuf>,

    /// Compare these files and folders with the cluster that kubectl reads: what applying them does. May be repeated. Nothing is written.
    #[arg(long, short, value_name = "PATH", conflicts_with_all = ["base", "snapshot", "terraform", "cluster", "paths"], help_heading = "What to compare")]
    pub(crate) filename: Vec<PathBuf>,

    /// Compare the two sides of a plan of Terraform: the output of `terraform show -json` for a file of `terraform plan -out`, or - for
    /// standard input. Files and folders that are named too belong to both sides.
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["base", "snapshot", "cluster"], help_heading = "What to compare")]
    pub(crate) terraform: Option<PathBuf>,

    /// The files hold every NodePool, EC2NodeClass and NodeOverlay: an object that only the snapshot or the cluster has is removed.
    #[arg(long, requires = "cluster_state", help_heading = "What to compare")]
    pub(crate) complete: bool,

    #[command(flatten)]
    pub(crate) live: ClusterFlags,

    /// Namespace of the objects in the files that name none [default: the only namespace in which the cluster has the object, else the
    /// namespace of the context].
    #[arg(long, short, value_name = "NAME", requires = "cluster_state", help_heading = "Cluster")]
    pub(crate) namespace: Option<String>,

    /// Karpenter release that runs now, such as 1.8 [default: the version that the manifests pin].
    #[arg(long, value_name = "RELEASE", help_heading = "What to compare")]
    pub(crate) from: Option<String>,

    /// Karpenter release after the change [default: the version that the manifests pin].
    #[arg(
        long,
        value_name = "RELEASE",
        conflicts_with = "karpenter_version",
        help_heading = "What to compare"
    )]
    pub(crate) to: Option<String>,

    /// Karpenter release before and after, such as 1.8 or 1.8.3 [default: the version that the manifests pin, or else the newest known release].
    #[arg(long, value_name = "RELEASE", help_heading = "What to plan")]
    pub(crate) karpenter_version: Option<String>,

    /// Refuse a Karpenter release that this version does not know, instead of planning the nearest known one.
    #[arg(long, help_heading = "What to plan")]
    pub(crate) strict_release: bool,

    /// Time of the change, such as 2026-03-11T10:30:00Z [default: now].
    #[arg(long, value_name = "TIME", help_heading = "What to plan")]
    pub(crate) at: Option<String>,

    /// Time zone for times in the output, such as Europe/Berlin. Karpenter reads schedules in UTC.
    #[arg(long, value_name = "ZONE", default_value = "UTC", help_heading = "What to plan")]
    pub(crate) timezone: String,

    /// File with the cluster's CA bundle, in PEM or Base64. It is a part of the hash of an EC2NodeClass since 1.12.
    #[arg(long, value_name = "FILE", help_heading = "What to plan")]
    pub(crate) ca_bundle: Option<PathBuf>,

    /// Time from the launch of a node until it has started completely.
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = node_start, help_heading = "What to plan")]
    pub(crate) node_start: Duration,

    #[command(flatten)]
    pub(crate) simulation: SimulationFlags,

    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE", help_heading = "What to plan")]
    pub(crate) config: Option<PathBuf>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "What to plan")]
    pub(crate) exclude: Vec<String>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) format: PlanFormat,

    /// Write the result to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Outcome that sets the exit status to 1.
    #[arg(
        long,
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "none",
        help_heading = "Output"
    )]
    pub(crate) fail_on: Vec<PlanFailOn>,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// The verdict, then the changes, the rollouts, the nodes that stay, the cost
    Human,
    /// One JSON object
    Json,
    /// A section for a pull request
    Markdown,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// GitHub Actions annotations
    Github,
}

impl PlanFormat {
    pub(crate) fn escaping(self) -> Escaping {
        match self {
            Self::Json | Self::Sarif => Escaping::Json,
            Self::Human => Escaping::Symbol,
            Self::Markdown | Self::Github => Escaping::Plain,
        }
    }
}

/// Result of a plan that sets the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFailOn {
    /// A node is replaced or removed, or may be
    Replaces,
    /// A rollout cannot start at the time of the change
    Blocked,
    /// A pod ends without a node, and had a place before or is new
    Pending,
    /// A node can never be replaced
    Never,
    /// Nothing
    None,
}

/// Source of the old state.
#[derive(Clone, Debug)]
pub(crate) enum PlanOrigin {
    /// The first path.
    Old,
    /// The old objects of the reviews in the only path.
    Reviews,
    /// A commit of the repository; empty for the commit at which the current branch left the default branch.
    Commit(String),
    /// Folders or texts with the objects of a cluster.
    Snapshot(Vec<PathBuf>),
    /// The side before a plan of Terraform.
    Terraform(PathBuf),
    /// The same files.
    Same,
}

/// Options of `plan`.
#[derive(Clone, Debug)]
pub(crate) struct PlanRun {
    pub(crate) origin: PlanOrigin,
    /// The new files.
    pub(crate) input: InputOptions,
    pub(crate) settings: SettingsOptions,
    pub(crate) complete: bool,
    /// The namespace in which the files are applied to the cluster, if it is known.
    pub(crate) namespace: Option<ApplyNamespace>,
    pub(crate) from: Option<Release>,
    pub(crate) to: Option<Release>,
    pub(crate) at: Timestamp,
    pub(crate) clock: Clock,
    pub(crate) ca_bundle: Option<PathBuf>,
    pub(crate) forecast: ForecastSettings,
    pub(crate) choices: Choices,
    /// File with prices.
    pub(crate) prices: Option<PathBuf>,
    pub(crate) format: PlanFormat,
    /// File to write to; `None` for standard output.
    pub(crate) file: Option<PathBuf>,
    pub(crate) fail_on: Vec<PlanFailOn>,
}

impl TryFrom<PlanArguments> for PlanRun {
    type Error = CommandError;

    fn try_from(flags: PlanArguments) -> Result<Self, CommandError> {
        let mut settings =
            SettingsOptions { strict_release: flags.strict_release, ..SettingsOptions::default() };
        settings.set_config(flags.config);
        settings.set_karpenter_version(flags.karpenter_version.as_deref());
        let from = release("--from", flags.from.as_deref(), &mut settings);
        let to = release("--to", flags.to.as_deref(), &mut settings);
        let has_release = flags.from.is_some() || flags.to.is_some();
        let is_two = flags.paths.len() == 2 && flags.cluster.is_empty();
        let origin = match (flags.base, flags.snapshot, flags.terraform) {
            (Some(base), ..) => PlanOrigin::Commit(base),
            (None, Some(folder), _) => PlanOrigin::Snapshot(vec![folder]),
            _ if !flags.filename.is_empty() => PlanOrigin::Snapshot(Vec::new()),
            (None, None, Some(plan)) => PlanOrigin::Terraform(plan),
            _ if is_two => PlanOrigin::Old,
            _ if has_release => PlanOrigin::Same,
            _ if flags.paths.len() == 1 && flags.cluster.is_empty() => PlanOrigin::Reviews,
            _ => {
                let text = "name OLD and NEW, or compare with `--base`, `--snapshot DIR`, `--terraform FILE`, or `--from` and `--to`";
                return Err(CommandError::Usage(text.to_owned()));
            }
        };
        let is_snapshot = matches!(origin, PlanOrigin::Snapshot(_));
        let has_own_files = is_snapshot || matches!(origin, PlanOrigin::Terraform(_));
        if flags.complete && flags.paths.is_empty() && flags.filename.is_empty() {
            let text = "`--complete`: name the files that hold every NodePool, EC2NodeClass and NodeOverlay";
            return Err(CommandError::Usage(text.to_owned()));
        }
        if is_snapshot && !flags.cluster.is_empty() {
            let text = "`--snapshot` is about one cluster: name its files without `--cluster`";
            return Err(CommandError::Usage(text.to_owned()));
        }
        let mut paths = if flags.filename.is_empty() { flags.paths } else { flags.filename };
        if paths.is_empty() && flags.cluster.is_empty() && !has_own_files {
            paths.push(PathBuf::from("."));
        }
        Ok(Self {
            origin,
            input: InputOptions {
                paths,
                clusters: flags.cluster,
                exclude: flags.exclude,
                limits: flags.bounds.limits(),
                ..InputOptions::default()
            },
            settings,
            complete: flags.complete,
            namespace: flags.namespace.map(|name| ApplyNamespace { name, is_named: true }),
            from,
            to,
            at: flags.at.as_deref().map_or_else(|| Ok(clock::now()), time)?,
            clock: Clock::parse(&flags.timezone)?,
            ca_bundle: flags.ca_bundle,
            forecast: ForecastSettings { node_start: flags.node_start, ..ForecastSettings::default() },
            prices: flags.simulation.prices.clone(),
            choices: flags.simulation.try_into()?,
            format: flags.format,
            file: flags.output,
            fail_on: flags.fail_on,
        })
    }
}

/// Parses a duration such as `90s`.
fn node_start(text: &str) -> Result<Duration, String> {
    let duration = Duration::parse(text).ok().filter(|duration| *duration >= Duration::ZERO);
    duration.ok_or_else(|| "write a duration such as 90s or 2m".to_owned())
}

/// Parses a release of the upgrade. The messages go to the settings, which print them.
pub(crate) fn release(flag: &str, text: Option<&str>, settings: &mut SettingsOptions) -> Option<Release> {
    let text = text?.trim();
    match NearestRelease::parse(text) {
        Ok(nearest) => {
            let note = nearest.note();
            settings.remarks.extend(note.map(|note| format!("{flag}: {text} is not known; {note}")));
            Some(nearest.release())
        }
        Err(error) => {
            settings.problems.push(format!("{flag}: {error}"));
            None
        }
    }
}
