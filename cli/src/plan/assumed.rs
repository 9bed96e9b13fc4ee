//! Assumptions of a plan in the words of the command line.

use karpwarden::plan::PlanAssumption;

use crate::assumed;

/// The text of an assumption, with the flag that replaces it.
pub(super) fn text(assumption: &PlanAssumption) -> String {
    let remedy = match assumption {
        PlanAssumption::Simulation(assumption) => return assumed::text(assumption),
        PlanAssumption::NoNodes => " (`--snapshot`)",
        PlanAssumption::NoNodeClaims => "; `karpwarden collect` needs the right to list NodeClaims",
        PlanAssumption::OthersStay => " (`--complete`)",
        PlanAssumption::AppliedBase(_) => "; name the folders that are applied",
        PlanAssumption::NodeStart(_) => " (`--node-start`)",
        PlanAssumption::Redacted { .. }
        | PlanAssumption::MarkedDrift
        | PlanAssumption::Renamed { .. }
        | PlanAssumption::EditAfterUpgrade
        | PlanAssumption::UnrecordedHash(_)
        | PlanAssumption::Forecast(_)
        | PlanAssumption::AutoMode
        | PlanAssumption::ForecastCut => "",
        PlanAssumption::TooManyPods => " (`--replicas`)",
        PlanAssumption::TooManyClusters | PlanAssumption::MergedOverlays => {
            "; name the folders of one cluster"
        }
    };
    format!("{assumption}{remedy}")
}
