//! The instance types of a NodePool, with the node classes of its folder.

use karpenter::kind::Kind;
use objects::node_pool::NodePool;
use objects::object::Object;
use scheduling::simulation::{PoolTypes, SimulationSettings};

use crate::workspace::FolderView;

/// The objects beside a NodePool that decide about its instance types, and the settings of the cluster.
pub(crate) struct PoolSurroundings<'d> {
    /// The node classes and the overlays.
    beside: Vec<Object<'d>>,
    settings: SimulationSettings,
}

impl<'d> PoolSurroundings<'d> {
    /// The surroundings in a folder with these objects.
    pub(crate) fn of(folder: &dyn FolderView, all: &[Object<'d>]) -> Self {
        let mut settings = folder.simulation_settings(all);
        // A class that is not there yet has the defaults.
        settings.assumes_node_classes = true;
        let is_beside = |object: &Object<'_>| object.is(Kind::NODE_CLASS) || object.is(Kind::NODE_OVERLAY);
        Self { beside: all.iter().copied().filter(is_beside).collect(), settings }
    }

    /// The instance types of a NodePool; `None` if Karpenter does not use the NodePool.
    pub(crate) fn types<'s>(&'s self, pool: NodePool<'s>) -> Option<PoolTypes<'s>> {
        let own: Vec<Object<'s>> = self.beside.iter().copied().chain([pool.object()]).collect();
        PoolTypes::of(&own, &self.settings).into_iter().next()
    }
}

/// A price per hour, with three significant digits.
pub(crate) fn price(dollars: f64) -> String {
    let digits = if dollars >= 1.0 {
        2
    } else if dollars >= 0.1 {
        3
    } else {
        4
    };
    let text = format!("{dollars:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("${text}/h")
}

#[cfg(test)]
mod tests {
    use super::price;

    #[test]
    fn shortens_prices() {
        assert_eq!(
            [0.01904, 0.5, 2.0, 12.345, 0.0].map(price),
            ["$0.019/h", "$0.5/h", "$2/h", "$12.35/h", "$0/h"]
        );
    }
}
