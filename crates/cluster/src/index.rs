//! Indexes over the objects of a cluster: each has its own type, and is computed when it is first asked for.

use core::any::TypeId;
use core::fmt;
use std::sync::OnceLock;

use better_any::{Tid, TidExt, tid};
use elsa::sync::FrozenBTreeMap;

use crate::inventory::Inventory;

/// An index over the objects of a cluster. It is kept where it is used, and computed once for each inventory that is asked for it,
/// so that each rule stays linear and a request computes only the indexes that it uses.
///
/// An index has a name without a lifetime, such as `Pods`, and a value that borrows from the objects, such as `Vec<Pod<'d>>`. A type
/// can name itself: `impl Index for PodLabels<'static> { type Value<'d> = PodLabels<'d>; … }`.
pub trait Index: 'static {
    /// The value.
    type Value<'d>: Send + Sync;

    /// Computes the value.
    fn compute<'d>(inventory: &Inventory<'d>) -> Self::Value<'d>;
}

/// The indexes that were computed so far.
#[derive(Default)]
pub(crate) struct Indexes<'d> {
    slots: FrozenBTreeMap<TypeId, Box<dyn AnySlot<'d> + 'd>>,
}

impl<'d> Indexes<'d> {
    /// The value of an index. Other threads that ask for it wait while it is computed.
    pub(crate) fn get<I: Index>(&self, inventory: &Inventory<'d>) -> &I::Value<'d> {
        let name = TypeId::of::<I>();
        let slot =
            self.slots.get(&name).unwrap_or_else(|| self.slots.insert(name, Box::new(Slot::<I>::default())));
        let Some(slot) = slot.downcast_ref::<Slot<'d, I>>() else {
            debug_assert!(false, "a slot holds the value of its name");
            return Box::leak(Box::new(I::compute(inventory)));
        };
        slot.0.get_or_init(|| I::compute(inventory))
    }
}

impl fmt::Debug for Indexes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexes").field("computed", &self.slots.len()).finish()
    }
}

/// The value of one index.
struct Slot<'d, I: Index>(OnceLock<I::Value<'d>>);

impl<I: Index> Default for Slot<'_, I> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

// The identity of a slot's type, although the value borrows: `core::any::Any` knows types without lifetimes only.
tid! { impl<'d, I: 'static> TidAble<'d> for Slot<'d, I> where I: Index }

/// A slot of any index.
trait AnySlot<'d>: Tid<'d> + Send + Sync {}

impl<'d, I: Index> AnySlot<'d> for Slot<'d, I> {}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use manifest::limits::Limits;
    use manifest::{Document, File};
    use objects::object::Object;

    static COMPUTED: AtomicUsize = AtomicUsize::new(0);

    struct Names;

    impl Index for Names {
        type Value<'d> = Vec<&'d str>;

        fn compute<'d>(inventory: &Inventory<'d>) -> Vec<&'d str> {
            COMPUTED.fetch_add(1, Ordering::Relaxed);
            inventory.objects().iter().map(|object| object.name()).collect()
        }
    }

    struct Count;

    impl Index for Count {
        type Value<'d> = usize;

        fn compute(inventory: &Inventory<'_>) -> usize {
            inventory.index::<Names>().len()
        }
    }

    #[test]
    fn computes_each_index_once_also_for_other_indexes() {
        let text = r"apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}}
";
        let file = File::read("a.yaml", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{file:?}") };
        let inventory = Inventory::new("", Object::all(tree), true);
        assert_eq!(inventory.index::<Count>(), &2);
        assert_eq!(inventory.index::<Names>(), &["a", "b"]);
        assert_eq!(COMPUTED.load(Ordering::Relaxed), 1);
    }
}
