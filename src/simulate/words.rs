//! Sentences about a simulation.

use scheduling::simulation::ScaledWorkload;

use super::summary::{HOURS_PER_MONTH, SimulationSummary};

/// The result in one line. `scaled` has the workloads with a chosen number of replicas.
pub fn verdict(totals: SimulationSummary, scaled: &[ScaledWorkload]) -> String {
    let placed = totals.new + totals.existing;
    if totals.pods == 0 {
        if scaled.is_empty() {
            return "the input has no pods to place".to_owned();
        }
        let workloads: Vec<String> = scaled.iter().map(scaling).collect();
        return format!("no pod needs a node: {}", workloads.join("; "));
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
    let untried =
        format!("; {} not tried, because the input takes too much work", counted(totals.untried, "pod"));
    let parts = [
        (totals.claims, price),
        (totals.unplaced, unplaced),
        (totals.ignored, ignored),
        (totals.untried, untried),
    ];
    let shown: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    format!("{placed} of {all} placed{place}{}", shown.concat())
}

/// The effect of a chosen number of replicas: `Deployment shop/web keeps 10 pods, 40 are added`.
pub fn scaling(workload: &ScaledWorkload) -> String {
    let ScaledWorkload { kind, namespace, name, kept, added, removed } = workload;
    let change = match (added, removed) {
        (0, 0) => String::new(),
        (0, removed) => format!(", {removed} {}", if *removed == 1 { "goes" } else { "go" }),
        (added, 0) => format!(", {added} {} added", if *added == 1 { "is" } else { "are" }),
        (added, removed) => format!(", {added} added, {removed} removed"),
    };
    format!("{kind} {namespace}/{name} keeps {}{change}", counted(*kept, "pod"))
}

/// The costs of the new nodes: as they are, on demand, and with spot capacity.
pub fn costs(totals: SimulationSummary) -> [(&'static str, String); 3] {
    let both = |price: f64| format!("${price:.2} per hour, ${:.2} per month", price * HOURS_PER_MONTH);
    let saved = |price: f64| {
        let part = if totals.on_demand > 0.0 { 100.0 * (1.0 - price / totals.on_demand) } else { 0.0 };
        if part >= 0.5 { format!(" ({part:.0} % less)") } else { String::new() }
    };
    [
        ("cheapest", both(totals.price)),
        ("on demand", both(totals.on_demand)),
        ("spot", format!("{}{}", both(totals.spot), saved(totals.spot))),
    ]
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
            verdict(totals, &[]),
            "14 of 15 pods placed on 4 new nodes, about $0.41 per hour on demand; 1 pod fits nowhere"
        );
        let totals = SimulationSummary { new: 12, existing: 2, with_spot: true, ..totals };
        assert_eq!(
            verdict(totals, &[]),
            "14 of 15 pods placed: 12 on 4 new nodes, 2 on existing nodes, about $0.41 per hour with spot capacity; \
             1 pod fits nowhere"
        );
        let totals = SimulationSummary { pods: 1, ignored: 1, ..SimulationSummary::default() };
        assert_eq!(verdict(totals, &[]), "0 of 1 pod placed; Karpenter ignores 1 pod");
        let totals = SimulationSummary { pods: 3, untried: 3, ..SimulationSummary::default() };
        assert_eq!(
            verdict(totals, &[]),
            "0 of 3 pods placed; 3 pods not tried, because the input takes too much work"
        );
    }

    #[test]
    fn tells_the_costs_per_month() {
        let totals =
            SimulationSummary { price: 0.4, spot: 0.4, on_demand: 1.0, ..SimulationSummary::default() };
        assert_eq!(
            costs(totals).map(|(_, text)| text),
            [
                "$0.40 per hour, $292.00 per month",
                "$1.00 per hour, $730.00 per month",
                "$0.40 per hour, $292.00 per month (60 % less)",
            ]
        );
    }

    #[test]
    fn tells_the_effect_of_a_number_of_replicas() {
        let workload = |kept, added, removed| ScaledWorkload {
            kind: "Deployment".to_owned(),
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            kept,
            added,
            removed,
        };
        let words = |kept, added, removed| scaling(&workload(kept, added, removed));
        assert_eq!(words(10, 40, 0), "Deployment shop/web keeps 10 pods, 40 are added");
        assert_eq!(words(1, 0, 2), "Deployment shop/web keeps 1 pod, 2 go");
        assert_eq!(words(10, 0, 0), "Deployment shop/web keeps 10 pods");
        let totals = SimulationSummary::default();
        assert_eq!(
            verdict(totals, &[workload(7, 0, 3)]),
            "no pod needs a node: Deployment shop/web keeps 7 pods, 3 go"
        );
    }
}
