//! Sentences about a simulation.

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
