//! The claims of a cluster by their storage class, and the workloads by the claims that they mount.

use std::collections::BTreeMap;

use karpenter::kind::Kind;
use manifest::tree::Node;

use super::claim::{VolumeClaim, claims_in, ephemeral_claims};
use super::class::StorageClass;
use crate::object::Object;
use crate::pod::Pod;

/// Index of the claims that name no volume, of the storage classes and of mounted claims.
#[derive(Debug, Default)]
pub struct ClaimIndex<'d> {
    by_class: BTreeMap<&'d str, Vec<VolumeClaim<'d>>>,
    without_class: Vec<VolumeClaim<'d>>,
    /// By namespace and name of a claim, the first workload that mounts it, with the node that names it.
    mounted: BTreeMap<&'d str, BTreeMap<&'d str, (Object<'d>, Node<'d>)>>,
    default_class: Option<Object<'d>>,
    classes: usize,
}

impl<'d> ClaimIndex<'d> {
    /// Indexes the claims of objects.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut index = Self::default();
        for object in objects {
            if let Some(class) = StorageClass::of(*object).filter(|_| object.is(Kind::STORAGE_CLASS)) {
                index.classes += 1;
                index.default_class = index.default_class.or(class.is_default().then_some(*object));
            }
            let pods = Pod::all(*object);
            let further = pods.iter().skip(1).copied().flat_map(ephemeral_claims);
            for claim in claims_in(*object).into_iter().chain(further).filter(|claim| !claim.names_volume()) {
                match claim.class() {
                    Some(class) => index.by_class.entry(class).or_default().push(claim),
                    None => index.without_class.push(claim),
                }
            }
            for volume in pods.iter().flat_map(|pod| pod.spec().volumes()) {
                let node = volume.claim_name();
                if let Some((node, name)) = node.and_then(|node| Some((node, node.as_str()?))) {
                    let mounted = index.mounted.entry(object.namespace()).or_default();
                    mounted.entry(name).or_insert((*object, node));
                }
            }
        }
        index
    }

    /// Returns the first few claims on a class and the number of all. Claims that get the class as the default count too.
    pub fn on(&self, class: StorageClass<'d>, few: usize) -> (Vec<VolumeClaim<'d>>, usize) {
        let mut on: Vec<_> = self.by_class.get(class.object().name()).cloned().unwrap_or_default();
        if class.is_default() {
            on.extend(&self.without_class);
        }
        let total = on.len();
        on.truncate(few);
        (on, total)
    }

    /// The class of claims that name none.
    pub fn default_class(&self) -> Option<Object<'d>> {
        self.default_class
    }

    /// The number of storage classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The first workload that mounts a claim, with the node that names it.
    pub fn mount(&self, claim: Object<'d>) -> Option<(Object<'d>, Node<'d>)> {
        self.mounted.get(claim.namespace())?.get(claim.name()).copied()
    }
}
