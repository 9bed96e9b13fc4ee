//! The pods of a cluster in which several rounds are simulated, each read once.

use std::collections::BTreeMap;
use std::rc::Rc;

use ids::{IdVec, ids};
use objects::object::Object;
use objects::pod::Pod;

use super::pods::{BatchPod, PendingPod, PendingPods, PodReader, ShapeId};
use super::round::RoundPod;
use super::selector::namespace_of;
use super::shape::PodShape;
use super::workloads::InputPod;

ids! {
    /// Shape of pods of any round.
    pub(super) KnownShapeId;
}

/// Namespace and name of a pod, and whether it leaves a node, in which case it is not validated.
type KnownPodKey<'d> = (&'d str, &'d str, bool);

/// The pods of earlier rounds.
#[derive(Debug, Default)]
pub(super) struct KnownPods<'d> {
    pods: BTreeMap<KnownPodKey<'d>, KnownPod<'d>>,
    shapes: IdVec<KnownShapeId, Rc<PodShape<'d>>>,
    ids: BTreeMap<Rc<PodShape<'d>>, KnownShapeId>,
}

#[derive(Debug)]
struct KnownPod<'d> {
    pod: PendingPod<'d>,
    shape: KnownShapeId,
}

impl<'d> KnownPods<'d> {
    /// The pods of a batch and their shapes. Returns also the ids of these shapes in every round.
    pub(super) fn batch(
        &mut self,
        batch: &[RoundPod<'d>],
        reader: &PodReader<'d>,
    ) -> (PendingPods<'d>, IdVec<ShapeId, KnownShapeId>) {
        let mut all = PendingPods::default();
        let mut known_shapes: IdVec<ShapeId, KnownShapeId> = IdVec::default();
        let mut of_round: BTreeMap<KnownShapeId, ShapeId> = BTreeMap::new();
        for RoundPod { object, is_moved, avoids_waiting } in batch.iter().copied() {
            let key = (namespace_of(object), object.name(), is_moved);
            if !self.pods.contains_key(&key) {
                self.read(key, object, reader);
            }
            let Some(KnownPod { pod, shape }) = self.pods.get(&key) else { continue };
            let id = *of_round.entry(*shape).or_insert_with(|| {
                known_shapes.push(*shape);
                all.shapes.push(self.shapes.get(*shape).cloned().unwrap_or_default())
            });
            all.pods.push(PendingPod { shape: id, avoids_waiting, ..pod.clone() });
        }
        (all, known_shapes)
    }

    fn read(&mut self, key: KnownPodKey<'d>, object: Object<'d>, reader: &PodReader<'d>) {
        let (namespace, name, is_moved) = key;
        let Some(pod) = Pod::of(object) else { return };
        let input = InputPod::new(pod, namespace, name.to_owned());
        let pod = BatchPod { input, is_moved, avoids_waiting: false };
        let PendingPods { pods, shapes } = reader.pending(vec![pod]);
        let Some((pod, shape)) = pods.into_iter().zip(shapes).next() else { return };
        let shape = *self.ids.entry(shape).or_insert_with_key(|shape| self.shapes.push(Rc::clone(shape)));
        self.pods.insert(key, KnownPod { pod, shape });
    }
}
