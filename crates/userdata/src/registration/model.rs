//! Result of parsing how a node registers.

use manifest::source::Span;

use crate::bootstrap::Bootstrap;
use crate::taint_list::SpannedTaint;

/// Taints and joins that user data contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// All taints.
    pub taints: Vec<FoundTaint>,
    /// Parts that may add a taint and cannot be evaluated here.
    pub unresolved: Vec<Unresolved>,
    /// Programs and settings that join the node to a cluster.
    pub joins: Vec<Join>,
    /// Span of each NodeConfig.
    pub node_configs: Vec<Span>,
}

impl Registration {
    /// Whether an unresolved part could add a taint.
    pub fn is_dynamic(&self) -> bool {
        !self.unresolved.is_empty()
    }

    /// Taints with this key and effect that certainly reach the kubelet.
    pub fn registered<'r>(&'r self, key: &'r str, effect: &'r str) -> impl Iterator<Item = &'r FoundTaint> {
        self.taints
            .iter()
            .filter(move |found| found.source != TaintSource::Mention && found.taint.matches(key, effect))
    }

    /// Calls of bootstrap.sh.
    pub fn bootstraps(&self) -> impl Iterator<Item = &Bootstrap> {
        self.joins
            .iter()
            .filter_map(|join| if let Join::Bootstrap(call) = join { Some(call.as_ref()) } else { None })
    }
}

/// Taint with the way it reaches the kubelet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTaint {
    /// Taint.
    pub taint: SpannedTaint,
    /// Source of the taint.
    pub source: TaintSource,
}

/// Way in which a taint reaches the kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaintSource {
    /// `--register-with-taints` in the arguments of bootstrap.sh, Start-EKSBootstrap.ps1 or the kubelet.
    Flag,
    /// Configuration that the script writes: a here-document, a jq program.
    Config,
    /// NodeConfig.
    NodeConfig,
    /// `settings.kubernetes.node-taints`.
    BottlerocketSettings,
    /// Text in a command or an assignment that the kubelet may or may not receive.
    Mention,
}

/// Part of user data that only the booting node can evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// Reason.
    pub reason: UnresolvedReason,
    /// Span of the part.
    pub span: Span,
}

/// Reason why a part of user data cannot be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnresolvedReason {
    /// Arguments of the kubelet from a variable or a command.
    Expansion,
    /// Name of a program from a variable or a command.
    DynamicProgram,
    /// Script that the node downloads and runs.
    Download,
    /// `source file`.
    Sourced,
    /// Script in an argument: `eval`, `bash -c`.
    InlineScript,
    /// Script or configuration tool on the image.
    OtherProgram,
    /// Configuration file that is not in the text.
    ConfigFile,
    /// Cloud-config that runs commands or writes files.
    CloudConfig,
    /// List of taints in a form that is not parsed here.
    UnreadList,
    /// Encoded text.
    Encoded,
    /// Text that does not parse.
    Unparsed,
}

/// Program or setting that joins the node to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Join {
    /// bootstrap.sh of Amazon Linux 2.
    Bootstrap(Box<Bootstrap>),
    /// `nodeadm`, called by a script.
    Nodeadm(Span),
    /// The kubelet, called by a script.
    Kubelet(Span),
    /// NodeConfig that nodeadm reads.
    NodeConfig(Span),
    /// `settings.kubernetes` of Bottlerocket.
    Bottlerocket(Span),
    /// `-EKSClusterName` of Start-EKSBootstrap.ps1.
    Windows(Span),
}
