//! Assumptions of a simulation in the words of the command line.

use karpwarden::simulate::Assumption;

/// The texts of assumptions, each with the flag or the input that replaces it.
pub(crate) fn texts(assumptions: &[Assumption]) -> Vec<String> {
    assumptions.iter().map(text).collect()
}

pub(crate) fn text(assumption: &Assumption) -> String {
    let remedy = match assumption {
        Assumption::Release(_) | Assumption::PinnedRelease { .. } => " (`--karpenter-version`)",
        Assumption::Zones(_) => " (`--zones`)",
        Assumption::ListPrices
        | Assumption::OtherRegion(_)
        | Assumption::BuiltinPrices(_)
        | Assumption::NotSold(..) => " (`--prices`)",
        Assumption::SpotDiscount => " (`--spot-discount`)",
        Assumption::BindsFirst => " (`--no-bind`)",
        Assumption::NodesJoin => " (`--rounds 1`)",
        Assumption::OverlaysLeftOut(_) | Assumption::RepeatedPool(_) => "; name the folders of one cluster",
        Assumption::NoDefaultSpreads
        | Assumption::NodesLeave(..)
        | Assumption::DefaultNodeClass(_)
        | Assumption::AnyNumberOfVolumes
        | Assumption::NoReservationFallback
        | Assumption::NothingElse
        | Assumption::Capacity
        | Assumption::NoLimitRanges
        | Assumption::NoWebhooks => "",
    };
    format!("{assumption}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_flag_or_the_input_that_replaces_an_assumption() {
        let assumptions = [
            Assumption::Zones(vec!["us-east-1a".to_owned(), "us-east-1b".to_owned()]),
            Assumption::RepeatedPool("default".to_owned()),
            Assumption::NoWebhooks,
        ];
        assert_eq!(
            texts(&assumptions),
            [
                "the subnets are in us-east-1a, us-east-1b (`--zones`)",
                "NodePool `default` occurs several times, as in several clusters; name the folders of one cluster",
                "webhooks change no pod",
            ]
        );
    }
}
