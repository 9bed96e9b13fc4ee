//! What else there is in the cluster of an object: the other documents of an input, or what the cluster was asked for.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::object::{Kind, Object};
use crate::scheduling::pools::Pools;

/// The objects of one cluster.
#[derive(Debug, Default)]
pub struct Inventory<'d> {
    name: String,
    objects: Vec<Object<'d>>,
    by_kind: BTreeMap<(&'d str, &'d str), Vec<usize>>,
    complete: bool,
    /// Read when a rule first asks; it lives and dies with the run.
    pools: OnceCell<Pools<'d>>,
}

impl<'d> Inventory<'d> {
    /// The objects of a cluster. `complete` says that what is absent here is absent from the cluster.
    pub fn new(name: impl Into<String>, objects: Vec<Object<'d>>, complete: bool) -> Self {
        let mut by_kind: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, object) in objects.iter().enumerate() {
            by_kind.entry((object.group(), object.kind())).or_default().push(index);
        }
        Self { name: name.into(), objects, by_kind, complete, pools: OnceCell::new() }
    }

    /// The name of the cluster, where several are checked together; else empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All objects in the order of the input.
    pub fn objects(&self) -> &[Object<'d>] {
        &self.objects
    }

    /// The objects of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = Object<'d>> + Clone {
        let indices = self.by_kind.get(&(kind.group, kind.name)).map_or(&[][..], Vec::as_slice);
        let objects = indices.iter().filter_map(|index| self.objects.get(*index).copied());
        objects.filter(move |object| object.version() == kind.version)
    }

    /// The NodePools as the scheduler sees them, those of the API version before included.
    pub fn pools(&self) -> &Pools<'d> {
        const BETA: Kind = Kind::of("karpenter.sh", "v1beta1", "NodePool");
        self.pools.get_or_init(|| Pools::read(self.of(Kind::NODE_POOL).chain(self.of(BETA))))
    }

    /// Whether what is absent here is absent from the cluster.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}
