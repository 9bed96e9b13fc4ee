//! The feature gates of a cluster's controller, as far as its Deployment or the values of its chart tell.

use karpenter::chart::GATES;

use super::chart_values;
use super::controller::{Controller, FEATURE_GATES};
use crate::object::Object;

/// What is set of the feature gates, each under its name in `FEATURE_GATES`; what nothing sets is not there.
#[derive(Debug, Default)]
pub struct FeatureGates<'d>(Vec<(&'d str, bool)>);

impl<'d> FeatureGates<'d> {
    /// Reads the gates of the controllers, and of the values in any of the objects. Of several the last counts.
    pub fn of(objects: &[Object<'d>], controllers: &[Controller<'d>]) -> Self {
        let mut gates = Self::default();
        for values in objects.iter().filter_map(|object| chart_values::of(*object)) {
            let known = GATES.iter().filter_map(|gate| {
                let node = values.at(&["settings", "featureGates", gate.key])?;
                // Parameters are text, which Helm reads.
                Some((gate.name, node.as_bool().or_else(|| node.as_str()?.parse().ok())?))
            });
            gates.0.extend(known);
        }
        for controller in controllers {
            let Some((text, _)) = controller.setting(FEATURE_GATES).text() else { continue };
            let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
            let read = |(name, value): (&'d str, &str)| Some((name.trim(), value.trim().parse().ok()?));
            gates.0.extend(pairs.filter_map(read));
        }
        gates
    }

    /// Whether a gate is on; `None` where nothing says.
    pub fn get(&self, name: &str) -> Option<bool> {
        self.0.iter().rev().find(|(known, _)| *known == name).map(|(_, on)| *on)
    }
}
