//! The objects of a cluster: from the documents of an input, or looked up in the cluster.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ids::{IdVec, ids};
use karpenter::kind::Kind;
use objects::object::Object;

use crate::index::{Index, Indexes};

ids! {
    /// Object of an inventory.
    InventoryObjectId;
}

/// The objects of a group and kind in the order of the input.
#[derive(Debug, Default)]
struct KindIndex<'d> {
    objects: Vec<InventoryObjectId>,
    /// The last object of each name, computed when a rule first looks for an object of the kind.
    by_name: OnceLock<BTreeMap<&'d str, InventoryObjectId>>,
}

/// The objects of one cluster.
#[derive(Debug, Default)]
pub struct Inventory<'d> {
    name: String,
    objects: IdVec<InventoryObjectId, Object<'d>>,
    by_kind: BTreeMap<&'d str, BTreeMap<&'d str, KindIndex<'d>>>,
    complete: bool,
    /// The number of NodePools that the front end left out.
    omitted_pools: usize,
    /// The kinds that the front end listed in the cluster.
    listed: Vec<Kind>,
    /// The objects of the environment itself, without the objects around it; `None` if the input has no environments.
    own: Option<Vec<Object<'d>>>,
    /// Whether environments lie within the folders of the objects.
    has_environments: bool,
    indexes: Indexes<'d>,
}

impl<'d> Inventory<'d> {
    /// The inventory of a cluster. `complete` means that an object that is absent here is absent from the cluster.
    pub fn new(name: impl Into<String>, objects: Vec<Object<'d>>, complete: bool) -> Self {
        let mut by_kind = BTreeMap::<_, BTreeMap<_, KindIndex<'d>>>::new();
        let objects: IdVec<InventoryObjectId, Object<'d>> = objects.into_iter().collect();
        for (id, object) in objects.enumerate() {
            let kinds = by_kind.entry(object.group()).or_default();
            kinds.entry(object.kind()).or_default().objects.push(id);
        }
        Self { name: name.into(), objects, by_kind, complete, ..Self::default() }
    }

    /// Turns the inventory into one of an environment: a folder that looks like a cluster. `own` are the objects of the
    /// environment. The identity of its cluster and the IAM policies come from these only, because an object outside can be
    /// for another cluster.
    pub fn of_environment(self, own: Vec<Object<'d>>, has_environments: bool) -> Self {
        Self { own: Some(own), has_environments, ..self }
    }

    /// The same inventory with NodePools that the front end left out.
    pub fn with_omitted_pools(self, omitted_pools: usize) -> Self {
        Self { omitted_pools, ..self }
    }

    /// The same inventory with the kinds that the front end listed in the cluster.
    pub fn with_listed(self, listed: Vec<Kind>) -> Self {
        Self { listed, ..self }
    }

    /// An index over the objects.
    pub fn index<I: Index>(&self) -> &I::Value<'d> {
        self.indexes.get::<I>(self)
    }

    /// The objects that identify the cluster.
    pub fn own(&self) -> &[Object<'d>] {
        self.own.as_deref().unwrap_or(self.objects.as_slice())
    }

    /// Whether the input has environments that see these objects, but whose own objects are not among these.
    pub const fn has_environments(&self) -> bool {
        self.has_environments
    }

    /// The number of NodePools that the front end left out.
    pub const fn omitted_pools(&self) -> usize {
        self.omitted_pools
    }

    /// The name of the cluster; empty if the check has only one cluster.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All objects in the order of the input.
    pub fn objects(&self) -> &[Object<'d>] {
        self.objects.as_slice()
    }

    /// The objects of a kind.
    pub fn objects_of(&self, kind: Kind) -> OfKind<'_, 'd> {
        let ids = self.ids(kind.group, kind.name).iter();
        OfKind { objects: &self.objects, ids, version: kind.version }
    }

    fn ids(&self, group: &str, kind: &str) -> &[InventoryObjectId] {
        self.of_kind(group, kind).map_or(&[], |of_kind| &of_kind.objects)
    }

    fn of_kind(&self, group: &str, kind: &str) -> Option<&KindIndex<'d>> {
        self.by_kind.get(group)?.get(kind)
    }

    /// The object of a cluster-scoped kind with a name, in any version; the last object if the input repeats the name. The
    /// namespace is ignored, as the API server ignores it.
    pub fn find(&self, group: &str, kind: &str, name: &str) -> Option<Object<'d>> {
        let of_kind = self.of_kind(group, kind)?;
        let by_name = of_kind.by_name.get_or_init(|| {
            let named = |id: &InventoryObjectId| Some((self.objects.get(*id)?.name(), *id));
            of_kind.objects.iter().filter_map(named).collect()
        });
        self.objects.get(*by_name.get(name)?).copied()
    }

    /// Number of objects of a group and kind, in any version.
    pub fn count(&self, group: &str, kind: &str) -> usize {
        self.ids(group, kind).len()
    }

    /// Whether the objects of a kind are known: they were listed in the cluster, the input is complete, or it has some.
    pub fn knows(&self, kind: Kind) -> bool {
        self.complete || self.listed.contains(&kind) || self.count(kind.group, kind.name) > 0
    }

    /// Whether an object that is absent here is absent from the cluster.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Iterator over the objects of a kind, returned by [`Inventory::objects_of`].
#[derive(Clone, Debug)]
pub struct OfKind<'i, 'd> {
    objects: &'i IdVec<InventoryObjectId, Object<'d>>,
    ids: core::slice::Iter<'i, InventoryObjectId>,
    version: &'static str,
}

impl<'d> Iterator for OfKind<'_, 'd> {
    type Item = Object<'d>;

    fn next(&mut self) -> Option<Object<'d>> {
        loop {
            let object = self.objects.get(*self.ids.next()?)?;
            if object.version() == self.version {
                return Some(*object);
            }
        }
    }
}
