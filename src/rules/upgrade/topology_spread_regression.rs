use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use lint::rule::On;
use scheduling::pod::Pod;

rule! {
    /// ## What it does
    ///
    /// Looks for pods with `topologySpreadConstraints` on the way to 1.8.4.
    ///
    /// ## Why it is bad
    ///
    /// 1.8.4 counts the domains of a spread otherwise, and finds no place for some pods that 1.8.3 and 1.8.5 find one for:
    /// those that heed node affinity (`nodeAffinityPolicy: Honor`, the default). The upgrade guide says to leave this
    /// release out; 1.8.5 takes the change back.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.8.3 to 1.8.4
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   template:
    ///     spec:
    ///       topologySpreadConstraints:
    ///         - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
    ///       containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Another release: the same on the way to 1.8.5 or later is not reported.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2785, #2639, #2791; upgrade guide, 1.8.0
    /// - 1.8.4 of the provider is built on v1.8.1 of kubernetes-sigs/karpenter, 1.8.5 on v1.8.2
    UPGRADE {
        name: "topology-spread-regression",
        family: Family::Scheduling,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::patches(8, 4, 4),
        summary: "1.8.4 makes no node for some pods that are spread",
        on: &[On::Workload],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| pod.may_ask_for_a_node()) else { return };
    let constraints = pod.spec().get("topologySpreadConstraints");
    let heeds = |constraint: &Node<'_>| constraint.str_at(&["nodeAffinityPolicy"]) != Some("Ignore");
    if let Some(constraint) = items_of(constraints).find(heeds) {
        let place = constraint.get("topologyKey").map_or(Place::value(constraint), Place::value);
        let message = "this release may find no place for pods with this spread: it counts the domains of a spread wrongly";
        drafts.push(Draft::new(&RULE, place, message).help("go to 1.8.5 or later instead"));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn workload(policy: &str) -> String {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      containers: []\n      topologySpreadConstraints:\n      - topologyKey: topology.kubernetes.io/zone{policy}\n")
    }

    #[test]
    fn only_who_goes_to_1_8_4_is_told() {
        insta::assert_snapshot!(begins(&super::RULE, "1.7", "1.8.4", &workload("")), @"
        from 1.8.4 on
          9 |       - topologyKey: topology.kubernetes.io/zone
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/a spec.template.spec.topologySpreadConstraints[0].topologyKey [1.8.4]
          this release may find no place for pods with this spread: it counts the domains of a spread wrongly
          help: go to 1.8.5 or later instead
        ");
        assert!(!begins(&super::RULE, "1.9", "1.8.4", &workload("")).is_empty());
        for (from, to) in [("1.7", "1.8.3"), ("1.8.3", "1.8.5"), ("1.7", "1.14"), ("1.8.4", "1.9")] {
            begins_nothing(&super::RULE, from, to, &workload(""));
        }
        begins_nothing(&super::RULE, "1.7", "1.8.4", &workload("\n        nodeAffinityPolicy: Ignore"));
    }
}
