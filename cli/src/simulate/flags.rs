//! Flags of `karpwarden simulate`; `disruption` shares some of them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::SimulateOptions;
use crate::error::CommandError;
use crate::flags::{Bounds, InputFlags};
use crate::options::SettingsOptions;

const SIMULATION_STATUS: &str = "\
Exit status:
  0  every pod has a node
  1  a pod fits nowhere, or Karpenter ignores it
  2  invalid command line or config file
  3  no input files
  4  some input could not be read or parsed, or some pods were not tried because the simulation takes too
     much work (takes precedence over 1; the rest is simulated)
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Show where Karpenter would place the pods of the input, and why not.
///
/// The input contains NodePools, EC2NodeClasses and workloads, as files or as a snapshot of a cluster with its nodes and pods.
/// kube-scheduler binds the pods that fit existing nodes, and rounds of Karpenter's provisioner follow until nothing changes. The
/// answer has the new nodes with the instance types that remain, and for each pod without a place the reason of every NodePool.
#[derive(Args, Debug)]
#[command(after_help = SIMULATION_STATUS)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) input: InputFlags,

    /// File with further pods; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) pod: Vec<PathBuf>,

    /// Karpenter release, such as 1.8 or 1.8.3 [default: the version that the manifests pin, or else the newest known release].
    #[arg(long, value_name = "RELEASE", help_heading = "What to simulate")]
    pub(crate) karpenter_version: Option<String>,

    /// Refuse a Karpenter release that this version does not know, instead of simulating the nearest known one.
    #[arg(long, help_heading = "What to simulate")]
    pub(crate) strict_release: bool,

    #[command(flatten)]
    pub(crate) simulation: SimulationFlags,

    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE", help_heading = "What to simulate")]
    pub(crate) config: Option<PathBuf>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "What to simulate")]
    pub(crate) exclude: Vec<String>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) format: SimulationFormat,

    /// Write the result to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// The world of a simulation, where the input does not show it.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "What to simulate")]
pub(crate) struct SimulationFlags {
    /// Number of pods of a workload, such as deploy/web=50 or deploy/shop/web=50; may be repeated. Running pods stay, missing pods are
    /// added, surplus pods go.
    #[arg(long, value_name = "KIND/[NAMESPACE/]NAME=N")]
    pub(crate) replicas: Vec<String>,

    /// Ignore existing nodes.
    #[arg(long)]
    pub(crate) empty: bool,

    /// Show Karpenter's view alone: kube-scheduler binds no pod to an existing node first.
    #[arg(long)]
    pub(crate) no_bind: bool,

    /// Largest number of rounds of the provisioner [default: rounds until nothing changes].
    #[arg(long, value_name = "N", value_parser = rounds)]
    pub(crate) rounds: Option<usize>,

    /// AWS region [default: the region of the zones, or else us-east-1].
    #[arg(long, value_name = "REGION")]
    pub(crate) region: Option<String>,

    /// Zones of the subnets, such as us-east-1a=use1-az1 [default: three zones of the region, and the zones that the input names].
    #[arg(long, value_name = "ZONE[=ID],…", value_delimiter = ',')]
    pub(crate) zones: Vec<String>,

    /// File with on-demand prices: an AWS price list, or an object of instance types and numbers.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,

    /// Part of the on-demand price that spot capacity saves, such as 0.6.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(crate) spot_discount: Option<f64>,

    /// Feature gates of the controller.
    #[arg(long, value_name = "GATE=true|false,…", value_delimiter = ',')]
    pub(crate) feature_gates: Vec<String>,

    /// Treatment of preferences: `Respect` or `Ignore` [default: what the controller in the input has, or else `Respect`].
    #[arg(long, value_name = "POLICY")]
    pub(crate) preference_policy: Option<String>,

    /// Treatment of minimum values: `Strict` or `BestEffort` [default: what the controller in the input has, or else `Strict`].
    #[arg(long, value_name = "POLICY")]
    pub(crate) min_values_policy: Option<String>,

    /// Part of the memory that the hypervisor takes [default: what the controller in the input has, or else 0.075].
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(crate) vm_memory_overhead_percent: Option<f64>,

    /// Network interfaces that pods do not use [default: what the controller in the input has, or else 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..=64))]
    pub(crate) reserved_enis: Option<i64>,

    /// Instances left in a capacity reservation.
    #[arg(long, value_name = "ID=N,…", value_delimiter = ',')]
    pub(crate) reservation_capacity: Vec<String>,
}

impl TryFrom<SimulateArguments> for SimulateOptions {
    type Error = CommandError;

    fn try_from(flags: SimulateArguments) -> Result<Self, CommandError> {
        let mut settings =
            SettingsOptions { strict_release: flags.strict_release, ..SettingsOptions::default() };
        settings.set_config(flags.config);
        settings.set_karpenter_version(flags.karpenter_version.as_deref());
        let mut input = flags.input.into_options(flags.exclude, None, flags.bounds);
        input.paths.extend(flags.pod);
        Ok(Self {
            input,
            settings,
            prices: flags.simulation.prices.clone(),
            choices: flags.simulation.try_into()?,
            format: flags.format,
            file: flags.output,
            max_findings: flags.bounds.max_findings,
        })
    }
}

/// Parses a number of rounds, from 1.
fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(rounds) => Ok(rounds),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// Parses a part of one, from 0 to 1.
pub(crate) fn part(text: &str) -> Result<f64, String> {
    let part: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&part) { Ok(part) } else { Err("not between 0 and 1".to_owned()) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimulationFormat {
    /// Nodes with their pods, then the pods without a place
    Human,
    /// One JSON object
    Json,
    /// A graph for Graphviz
    Dot,
}
