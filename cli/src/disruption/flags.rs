//! Flags of `karpwarden disruption`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use karpwarden::simulate::Choices;
use values::timestamp::Timestamp;

use super::clock::{self, Clock};
use super::{DisruptionOptions, StorySubject};
use crate::error::CommandError;
use crate::flags::{Bounds, InputFlags};
use crate::options::SettingsOptions;
use crate::simulate::{choices, part};

const STATUS: &str = "\
Exit status:
  0  the answer is complete
  2  invalid command line or config file
  3  no input files
  4  some input could not be read or parsed (the rest is judged)
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Show what Karpenter may disrupt, when, and what prevents it.
///
/// The input contains NodePools, and as a snapshot of a cluster also nodes, NodeClaims, pods and PodDisruptionBudgets. The answer
/// is the calendar of the budgets for a week, what blocks each node, what each method of disruption would do now, and how long
/// the drain of each node can take.
#[derive(Args, Debug)]
#[command(after_help = STATUS)]
pub(crate) struct DisruptionArguments {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    /// Tell the story of one node, by its name, its NodeClaim or its instance. The start of a name is enough if it is unique.
    #[arg(long, value_name = "NAME", conflicts_with = "pod")]
    pub(crate) node: Option<String>,

    /// Tell the story of the node that runs a pod.
    #[arg(long, value_name = "NAMESPACE/NAME")]
    pub(crate) pod: Option<String>,

    /// Time to judge at, such as 2026-03-11T10:30:00Z [default: now].
    #[arg(long, value_name = "TIME", help_heading = "What to judge")]
    pub(crate) at: Option<String>,

    /// Time zone for times in the output, such as Europe/Berlin. Karpenter reads schedules in UTC.
    #[arg(long, value_name = "ZONE", default_value = "UTC", help_heading = "What to judge")]
    pub(crate) timezone: String,

    /// Number of nodes of a NodePool, for percentages [default: the nodes in the input].
    #[arg(long, value_name = "NODEPOOL=N,…", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) node_count: Vec<String>,

    /// Nodes that Karpenter has nominated for a pending pod.
    #[arg(long, value_name = "NODE,…", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) nominated: Vec<String>,

    /// Nodes that Karpenter has marked for deletion.
    #[arg(long, value_name = "NODE,…", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) marked_for_deletion: Vec<String>,

    /// Karpenter release, such as 1.8 or 1.8.3 [default: the version that the manifests pin, or else the newest known release].
    #[arg(long, value_name = "RELEASE", help_heading = "What to judge")]
    pub(crate) karpenter_version: Option<String>,

    /// Refuse a Karpenter release that this version does not know, instead of judging the nearest known one.
    #[arg(long, help_heading = "What to judge")]
    pub(crate) strict_release: bool,

    /// AWS region [default: the region of the zones, or else us-east-1].
    #[arg(long, value_name = "REGION", help_heading = "What to judge")]
    pub(crate) region: Option<String>,

    /// Zones of the subnets, such as us-east-1a=use1-az1 [default: three zones of the region, and the zones that the input names].
    #[arg(long, value_name = "ZONE[=ID],…", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) zones: Vec<String>,

    /// File with on-demand prices: an AWS price list, or an object of instance types and numbers.
    #[arg(long, value_name = "FILE", help_heading = "What to judge")]
    pub(crate) prices: Option<PathBuf>,

    /// Part of the on-demand price that spot capacity saves, such as 0.6.
    #[arg(long, value_name = "PART", value_parser = part, help_heading = "What to judge")]
    pub(crate) spot_discount: Option<f64>,

    /// Feature gates of the controller.
    #[arg(long, value_name = "GATE=true|false,…", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) feature_gates: Vec<String>,

    /// Treatment of preferences: `Respect` or `Ignore` [default: what the controller in the input has, or else `Respect`].
    #[arg(long, value_name = "POLICY", help_heading = "What to judge")]
    pub(crate) preference_policy: Option<String>,

    /// Treatment of minimum values: `Strict` or `BestEffort` [default: what the controller in the input has, or else `Strict`].
    #[arg(long, value_name = "POLICY", help_heading = "What to judge")]
    pub(crate) min_values_policy: Option<String>,

    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE", help_heading = "What to judge")]
    pub(crate) config: Option<PathBuf>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "What to judge")]
    pub(crate) exclude: Vec<String>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) format: DisruptionFormat,

    /// List every change of the budgets in the week, instead of the first few.
    #[arg(long, help_heading = "Output")]
    pub(crate) all: bool,

    /// Write the result to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DisruptionFormat {
    /// A week for each NodePool, then the nodes
    Human,
    /// One JSON object
    Json,
    /// A calendar file (iCalendar) with the times at which nodes may be disrupted
    Ics,
}

impl TryFrom<DisruptionArguments> for DisruptionOptions {
    type Error = CommandError;

    fn try_from(flags: DisruptionArguments) -> Result<Self, CommandError> {
        let mut settings =
            SettingsOptions { strict_release: flags.strict_release, ..SettingsOptions::default() };
        settings.set_config(flags.config);
        settings.set_karpenter_version(flags.karpenter_version.as_deref());
        let preference_policy = flags.preference_policy.as_deref();
        let min_values_policy = flags.min_values_policy.as_deref();
        let subject = flags.node.map(StorySubject::Node).or(flags.pod.map(StorySubject::Pod));
        Ok(Self {
            input: flags.input.into_options(flags.exclude, None, flags.bounds),
            settings,
            choices: Choices {
                region: flags.region,
                zones: choices::zones(&flags.zones),
                spot_discount: flags.spot_discount,
                feature_gates: choices::feature_gates(&flags.feature_gates)?,
                ignores_preferences: preference_policy.map(choices::ignores_preferences).transpose()?,
                min_values_best_effort: min_values_policy.map(choices::is_best_effort).transpose()?,
                ..Choices::default()
            },
            prices: flags.prices,
            at: flags.at.as_deref().map_or_else(|| Ok(clock::now()), time)?,
            clock: Clock::parse(&flags.timezone)?,
            node_counts: choices::numbers("--node-count", &flags.node_count)?,
            nominated: flags.nominated.into_iter().collect(),
            marked_for_deletion: flags.marked_for_deletion.into_iter().collect(),
            subject,
            format: flags.format,
            all: flags.all,
            file: flags.output,
            max_findings: flags.bounds.max_findings,
        })
    }
}

pub(crate) fn time(text: &str) -> Result<Timestamp, CommandError> {
    let usage = || format!("`--at`: `{text}` is not a time; write it as `2026-03-11T10:30:00Z`");
    Timestamp::parse(text).ok_or_else(|| CommandError::Usage(usage()))
}
