//! The running pods by their labels.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::shape::PodShape;
use super::TopologyNode;

/// The running pods that count, by key and value of each label, with their nodes.
#[derive(Debug)]
pub(super) struct PodsByLabel<'d> {
    nodes: Vec<Rc<TopologyNode<'d>>>,
    positions: BTreeMap<(&'d str, &'d str), Vec<(usize, usize)>>,
}

impl<'d> PodsByLabel<'d> {
    /// The pods of nodes.
    pub(super) fn of(nodes: &[Rc<TopologyNode<'d>>]) -> Self {
        let mut positions: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for (of_node, pod) in node.pods.iter().enumerate() {
                for (key, value) in &pod.labels {
                    positions.entry((*key, *value)).or_default().push((at, of_node));
                }
            }
        }
        Self { nodes: nodes.to_vec(), positions }
    }

    /// The pods with a label.
    pub(super) fn find(
        &self,
        label: (&'d str, &'d str),
    ) -> impl Iterator<Item = (&TopologyNode<'d>, &PodShape<'d>)> {
        let positions = self.positions.get(&label).into_iter().flatten();
        positions.filter_map(|(at, of_node)| {
            let node = self.nodes.get(*at)?;
            Some((&**node, &**node.pods.get(*of_node)?))
        })
    }
}
