//! Volumes that have to be detached before the instance of a node ends.
//!
//! Source: `pendingVolumeAttachments` in pkg/controllers/node/termination/controller.go, and
//! pkg/utils/volume/volume.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::{BTreeMap, BTreeSet};

use objects::object::Object;
use objects::storage::VolumeClaim;

use super::pod::DrainPod;
use scheduling::simulation::namespace_of;

/// The volumes of a cluster that are attached to nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct AttachedVolumes<'d> {
    /// The names of the volume attachments with their volumes, by node. Inline volumes are left out.
    by_node: BTreeMap<&'d str, Vec<(&'d str, &'d str)>>,
    /// The names of volumes by namespace and name of their claim.
    by_claim: BTreeMap<&'d str, BTreeMap<&'d str, &'d str>>,
}

impl<'d> AttachedVolumes<'d> {
    pub(super) fn of(objects: &[Object<'d>]) -> Self {
        let mut volumes = Self::default();
        for object in objects {
            match (object.group(), object.kind()) {
                ("storage.k8s.io", "VolumeAttachment") => {
                    let volume = object.str_at(&["spec", "source", "persistentVolumeName"]);
                    let node = object.str_at(&["spec", "nodeName"]).unwrap_or_default();
                    if let Some(volume) = volume {
                        volumes.by_node.entry(node).or_default().push((object.name(), volume));
                    }
                }
                _ if object.is(VolumeClaim::KIND) => {
                    let volume = object.str_at(&["spec", "volumeName"]).unwrap_or_default();
                    let claims = volumes.by_claim.entry(namespace_of(*object)).or_default();
                    claims.insert(object.name(), volume);
                }
                _ => {}
            }
        }
        volumes
    }

    /// The volume attachments of a node without the volumes of some pods that the drain leaves alone, by name.
    pub(super) fn pending<'p>(
        &self,
        node: &str,
        left_alone: impl Iterator<Item = &'p DrainPod<'d>>,
    ) -> Vec<&'d str>
    where
        'd: 'p,
    {
        let Some(attached) = self.by_node.get(node) else { return Vec::new() };
        let kept: BTreeSet<&str> = left_alone.flat_map(|pod| self.volumes_of(pod)).collect();
        let mut names: Vec<&str> =
            attached.iter().filter(|(_, volume)| !kept.contains(volume)).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    }

    fn volumes_of(&self, pod: &DrainPod<'d>) -> Vec<&'d str> {
        let object = pod.pod.object();
        let Some(by_name) = self.by_claim.get(pod.pod.namespace()) else { return Vec::new() };
        let volumes = object.at(&["spec", "volumes"]);
        let claims = manifest::tree::items_of(volumes).filter_map(|volume| {
            if let Some(name) = volume.str_at(&["persistentVolumeClaim", "claimName"]) {
                return by_name.get(name);
            }
            volume.get("ephemeral")?;
            let name = format!("{}-{}", object.name(), volume.str_at(&["name"])?);
            by_name.get(name.as_str())
        });
        claims.copied().collect()
    }
}
