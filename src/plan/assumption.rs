//! Assumptions of a plan about facts that the input does not show.

use core::fmt;

use karpenter::release::Release;
use values::duration::Duration;

use crate::simulate::Assumption;

/// Assumption about a fact that the input does not show. `Display` writes it as a sentence without a capital letter and a full stop,
/// which names no flag: each front end knows how its users replace an assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanAssumption {
    /// An assumption of the simulations.
    Simulation(Assumption),
    /// The input has no nodes.
    NoNodes,
    /// The snapshot has no NodeClaims, and Nodes of NodePools or no Nodes at all.
    NoNodeClaims,
    /// Drift that only EC2 shows.
    MarkedDrift,
    /// The objects of the cluster that the files lack stay.
    OthersStay,
    /// Fields of an object have redacted values in the snapshot, which do not change.
    Redacted {
        /// Kind and name of the object.
        object: String,
        /// The paths of the fields.
        fields: Vec<String>,
    },
    /// The folder is applied itself, beside the kustomizations that use its objects.
    AppliedBase(String),
    /// Karpenter has written the new hashes before the files are applied.
    EditAfterUpgrade,
    /// A cluster has another name after the change.
    Renamed {
        /// The name before.
        was: String,
        /// The name after.
        now: String,
    },
    /// The hashes of EC2NodeClasses in this release.
    UnrecordedHash(Release),
    /// An assumption of every forecast.
    Forecast(&'static str),
    /// The time from the launch of a node until it has started completely.
    NodeStart(Duration),
    /// The forecast ended early, because it takes too much work.
    ForecastCut,
    /// The pods are too many to place.
    TooManyPods,
    /// The instance types of EKS Auto Mode are not known.
    AutoMode,
    /// The input has several clusters, and too many objects to place the pods of each.
    TooManyClusters,
    /// The overlays build too many objects to compare each cluster.
    MergedOverlays,
}

impl fmt::Display for PlanAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulation(assumption) => assumption.fmt(f),
            Self::NoNodes => f.write_str("the input has no nodes, so the plan says which NodePools change, and not which nodes and when"),
            Self::NoNodeClaims => f.write_str(
                "the snapshot has no NodeClaims, which say when a node has drifted: the plan says which NodePools change, and not which nodes \
                 and when",
            ),
            Self::MarkedDrift => f.write_str(
                "the snapshot does not show which security groups an instance has and which instance types EC2 offers: such drift counts only as \
                 far as Karpenter has marked it (condition Drifted)",
            ),
            Self::OthersStay => f.write_str("the cluster keeps the NodePools, EC2NodeClasses and NodeOverlays that the files lack"),
            Self::Redacted { object, fields } => {
                write!(f, "the values that the snapshot leaves out of {} of {object} do not change", fields.join(", "))
            }
            Self::AppliedBase(folder) => write!(
                f,
                "`{folder}` may be applied itself, beside the kustomizations that use its objects: the input does not show it",
            ),
            Self::EditAfterUpgrade => f.write_str(
                "the files are applied while Karpenter runs: what changes while no controller runs is absorbed, and replaces no node",
            ),
            Self::Renamed { was, now } => {
                write!(f, "`{now}` is the cluster of `{was}` under another name: both have the same NodePools")
            }
            Self::UnrecordedHash(release) => f.write_str(&drift::unrecorded_hash(*release)),
            Self::Forecast(text) => f.write_str(text.trim_end_matches('.')),
            Self::NodeStart(time) => write!(f, "a new node is ready for pods {} after its launch", time.concise()),
            Self::ForecastCut => f.write_str("the forecast ends early, because the cluster takes too much work to simulate: later replacements are not known"),
            Self::TooManyPods => f.write_str("the pods find a place after the change: the input has too many to place them"),
            Self::AutoMode => f.write_str(
                "the pods find a place after the change: some NodePools belong to EKS Auto Mode, whose instance types are not simulated",
            ),
            Self::TooManyClusters => {
                f.write_str("the pods find a place after the change: the input has too many clusters and objects to place them")
            }
            Self::MergedOverlays => f.write_str(
                "the overlays build too many NodePools and EC2NodeClasses to compare each cluster: of the overlays of one base, the first counts",
            ),
        }
    }
}
