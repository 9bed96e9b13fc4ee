//! Feature gates of a cluster's controller, from its Deployment and the values of its chart.

use karpenter::chart::{AWS_GATES, FeatureGate, GATES};

use crate::chart_values;
use crate::controller::{AWS_FEATURE_GATES, Controller, FEATURE_GATES, LEGACY_NODE_REPAIR};
use crate::object::Object;
use manifest::tree::Node;

/// The feature gates that are set, each under its name in `FEATURE_GATES` or `AWS_FEATURE_GATES`.
#[derive(Debug, Default)]
pub struct FeatureGates<'d> {
    gates: Vec<(&'d str, bool)>,
    /// Number of objects that can set gates.
    holders: usize,
    is_node_repair_legacy: bool,
}

impl<'d> FeatureGates<'d> {
    /// Collects the gates from chart values in the objects and from the controllers. The last of several counts.
    pub fn of(objects: &[Object<'d>], controllers: &[Controller<'d>]) -> Self {
        let mut gates = Self { holders: controllers.len(), ..Self::default() };
        let is_true = |node: Node<'_>| node.as_bool() == Some(true) || node.as_str() == Some("true");
        for values in objects.iter().filter_map(|object| chart_values::of(*object)) {
            gates.holders += 1;
            // Parameters are text, which Helm parses.
            let set = |gate: &FeatureGate, node: Node<'_>| {
                Some((gate.name, node.as_bool().or_else(|| node.as_str()?.parse().ok())?))
            };
            let of_core = GATES.iter().filter_map(|gate| set(gate, values.feature_gate(gate.key)?));
            gates.gates.extend(of_core);
            let of_aws = AWS_GATES.iter().filter_map(|gate| set(gate, values.aws_feature_gate(gate.key)?));
            gates.gates.extend(of_aws);
            gates.is_node_repair_legacy |= values.switch("legacyNodeRepair").is_some_and(is_true);
        }
        for controller in controllers {
            let legacy = controller.setting(LEGACY_NODE_REPAIR).text();
            gates.is_node_repair_legacy |= legacy.is_some_and(|(text, _)| text == "true");
            for option in [FEATURE_GATES, AWS_FEATURE_GATES] {
                let Some((text, _)) = controller.setting(option).text() else { continue };
                let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
                let parse = |(name, value): (&'d str, &str)| Some((name.trim(), value.trim().parse().ok()?));
                gates.gates.extend(pairs.filter_map(parse));
            }
        }
        gates
    }

    /// Whether a gate is on; `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<bool> {
        self.gates.iter().rev().find(|(known, _)| *known == name).map(|(_, on)| *on)
    }

    /// Whether every controller and all values of the chart turn a gate off. If some turn it on or do not set it, the input may show
    /// several clusters.
    pub fn is_off(&self, name: &str) -> bool {
        let settings = || self.gates.iter().filter(|(known, _)| *known == name);
        self.holders > 0 && settings().count() >= self.holders && settings().all(|(_, on)| !on)
    }

    /// Whether `legacyNodeRepair` keeps the node repair of 1.14, which ignores budgets.
    pub fn is_node_repair_legacy(&self) -> bool {
        self.is_node_repair_legacy
    }
}
