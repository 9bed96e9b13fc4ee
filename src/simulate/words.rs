//! Sentences about a simulation.

use karpenter::labels;
use objects::node_pool::NodePool;
use scheduling::simulation::{Disagreement, NearestMiss, PoolReason, ReasonKind};

use scheduling::template::NodeTemplate;

use super::summary::SimulationSummary;

/// The result in one line.
pub fn verdict(totals: SimulationSummary) -> String {
    let placed = totals.new + totals.existing;
    if totals.pods == 0 {
        return "the input has no pods to place".to_owned();
    }
    let all = counted(totals.pods, "pod");
    let nodes = counted(totals.claims, "new node");
    let place = match (totals.new, totals.existing) {
        (0, 0) => String::new(),
        (0, _) => " on existing nodes".to_owned(),
        (_, 0) => format!(" on {nodes}"),
        (new, existing) => format!(": {new} on {nodes}, {existing} on existing nodes"),
    };
    let kind = if totals.with_spot { "with spot capacity" } else { "on demand" };
    let price = format!(", about ${:.2} per hour {kind}", totals.price);
    let verb = if totals.unplaced == 1 { "fits" } else { "fit" };
    let unplaced = format!("; {} {verb} nowhere", counted(totals.unplaced, "pod"));
    let ignored = format!("; Karpenter ignores {}", counted(totals.ignored, "pod"));
    let parts = [(totals.claims, price), (totals.unplaced, unplaced), (totals.ignored, ignored)];
    let shown: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    format!("{placed} of {all} placed{place}{}", shown.concat())
}

/// The comparison of a pod with the largest instance type of a NodePool.
pub fn nearest(pool: &str, miss: NearestMiss<'_>) -> String {
    format!(
        "the largest type of `{pool}` allows {} {} after DaemonSets, the pod asks {}",
        miss.largest, miss.resource, miss.requested
    )
}

/// One change with which the NodePool would get past the reason.
pub fn remedy(reason: &PoolReason<'_>) -> Option<String> {
    Some(match (reason.kind, reason.disagreement) {
        (_, Disagreement::Taint(taint)) => format!("add a toleration for `{taint}` to the pod"),
        (ReasonKind::Requirements, Disagreement::Label(key)) => {
            format!("allow the value that the pod asks of `{key}` in the NodePool, or ask for another one")
        }
        (ReasonKind::Offering, Disagreement::Label(key)) => {
            format!("let the pod and the NodePool agree on a value of `{key}` in which types are sold")
        }
        (ReasonKind::MinValues, Disagreement::Label(key)) => format!("lower `minValues` of `{key}`"),
        (_, Disagreement::Resource(name)) => match reason.nearest {
            Some(miss) if !miss.largest.is_zero() => {
                format!("request at most {} {name}, or allow larger instance types", miss.largest)
            }
            _ => format!("allow instance types with `{name}` in the NodePool"),
        },
        (_, Disagreement::Limits) => "raise `spec.limits` of the NodePool".to_owned(),
        (ReasonKind::Topology, Disagreement::Topology(key)) => topology_remedy(reason, key)?,
        (_, Disagreement::HostPort(port)) => format!("free host port {port}, or use another port"),
        _ => return None,
    })
}

/// The label to write instead of a `topologyKey` of which Karpenter knows no value.
fn topology_remedy(reason: &PoolReason<'_>, key: &str) -> Option<String> {
    let is_known = key == labels::HOSTNAME
        || !labels::well_known(key).is_empty()
        || NodePool::of(reason.pool)
            .is_some_and(|pool| NodeTemplate::of(pool).requirements.get(key).is_some());
    let meant = labels::likely_topology(key).filter(|_| !is_known)?;
    Some(format!("write `topologyKey: {meant}`: Karpenter knows no value of `{key}`"))
}

/// A number with the right form of a noun.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_result_in_one_line() {
        let totals = SimulationSummary {
            pods: 15,
            new: 14,
            unplaced: 1,
            claims: 4,
            price: 0.412,
            ..SimulationSummary::default()
        };
        assert_eq!(
            verdict(totals),
            "14 of 15 pods placed on 4 new nodes, about $0.41 per hour on demand; 1 pod fits nowhere"
        );
        let totals = SimulationSummary { new: 12, existing: 2, with_spot: true, ..totals };
        assert_eq!(
            verdict(totals),
            "14 of 15 pods placed: 12 on 4 new nodes, 2 on existing nodes, about $0.41 per hour with spot capacity; \
             1 pod fits nowhere"
        );
        let totals = SimulationSummary { pods: 1, ignored: 1, ..SimulationSummary::default() };
        assert_eq!(verdict(totals), "0 of 1 pod placed; Karpenter ignores 1 pod");
    }
}
