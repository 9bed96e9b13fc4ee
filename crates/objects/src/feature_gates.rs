//! Feature gates of a cluster's controller, from its Deployment and the values of its chart.

use karpenter::chart::GATES;

use crate::chart_values;
use crate::controller::{Controller, FEATURE_GATES};
use crate::object::Object;

/// The feature gates that are set, each under its name in `FEATURE_GATES`.
#[derive(Debug, Default)]
pub struct FeatureGates<'d>(Vec<(&'d str, bool)>);

impl<'d> FeatureGates<'d> {
    /// Collects the gates from chart values in the objects and from the controllers. The last of several counts.
    pub fn of(objects: &[Object<'d>], controllers: &[Controller<'d>]) -> Self {
        let mut gates = Self::default();
        for values in objects.iter().filter_map(|object| chart_values::of(*object)) {
            let known = GATES.iter().filter_map(|gate| {
                let node = values.feature_gate(gate.key)?;
                // Parameters are text, which Helm parses.
                Some((gate.name, node.as_bool().or_else(|| node.as_str()?.parse().ok())?))
            });
            gates.0.extend(known);
        }
        for controller in controllers {
            let Some((text, _)) = controller.setting(FEATURE_GATES).text() else { continue };
            let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
            let parse = |(name, value): (&'d str, &str)| Some((name.trim(), value.trim().parse().ok()?));
            gates.0.extend(pairs.filter_map(parse));
        }
        gates
    }

    /// Whether a gate is on; `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<bool> {
        self.0.iter().rev().find(|(known, _)| *known == name).map(|(_, on)| *on)
    }
}
