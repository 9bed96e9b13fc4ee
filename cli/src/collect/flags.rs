//! Flags of `karpwarden collect`.

use std::path::PathBuf;

use clap::Args;
use values::duration::Duration;

const COLLECTION_STATUS: &str = "\
Exit status:
  0  everything was read that the cluster has
  2  invalid command line, or the folder is not empty
  3  nothing could be read: kubectl is missing or does not reach the cluster
  4  something could not be read (the rest is written; snapshot.json lists the reasons)
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Write a snapshot of a cluster through kubectl, as input for the other commands.
///
/// `collect` runs `kubectl get` for each kind that the commands read, and `kubectl logs` for Karpenter's controller. It changes
/// nothing in the cluster and never reads Secrets. The values of environment variables, the arguments of containers and
/// the annotations of other tools are redacted. The folder can be checked, diagnosed and simulated like any other input.
#[derive(Args, Debug)]
#[command(after_help = COLLECTION_STATUS)]
pub(crate) struct CollectArguments {
    /// Folder to write; it must be empty, or not exist.
    #[arg(value_name = "DIR", default_value = "karpwarden-snapshot")]
    pub(crate) dir: PathBuf,

    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,

    /// Collect from this namespace only, beside the kinds without a namespace, the controller, and the events about nodes.
    #[arg(long, short, value_name = "NAME", help_heading = "Cluster")]
    pub(crate) namespace: Option<String>,

    /// Namespace of Karpenter's controller [default: with --namespace all namespaces are searched for it].
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    pub(crate) karpenter_namespace: Option<String>,

    /// Age of the oldest log lines, such as 30m or 2h.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration)]
    pub(crate) since: String,

    /// Print the minimal role for this collection, and do not collect.
    #[arg(long)]
    pub(crate) print_rbac: bool,

    /// Print only what could not be read.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Cluster that kubectl reads.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterFlags {
    /// Context of the kubeconfig file, for kubectl.
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Kubeconfig file, for kubectl.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// Accepts a duration of at least a second, which kubectl reads.
fn duration(text: &str) -> Result<String, String> {
    let length = Duration::parse(text).ok().filter(|length| length.seconds() > 0);
    length.map(|_| text.to_owned()).ok_or_else(|| "write a duration such as 30m or 2h".to_owned())
}
