//! Instance types by the amounts of their allocatable resources.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use ids::IdVec;
use values::quantity::Quantity;

use super::catalog::{TypeId, TypeResources, TypeSet};
use super::resources::{ResourceId, Resources};

/// The amounts of a resource that types have, in ascending order, each with the types that have at least as much.
type Levels = Vec<(Quantity, TypeSet)>;

/// Instance types by the amounts of their allocatable resources. Each pod asks which types have enough, so each resource that
/// pods ask for is sorted once.
#[derive(Clone, Debug, Default)]
pub(crate) struct AmountIndex {
    levels: RefCell<BTreeMap<ResourceId, Rc<Levels>>>,
    /// The types without a negative amount. Nothing fits into the others (`resources.Fits`).
    usable: OnceCell<TypeSet>,
}

impl AmountIndex {
    /// Removes the types that have less than the requested amounts.
    pub(crate) fn retain_fitting(
        &self,
        types: &mut TypeSet,
        requests: &Resources,
        all: &IdVec<TypeId, TypeResources>,
    ) {
        types.intersect_with(self.usable.get_or_init(|| usable(all)));
        for (id, amount) in requests.iter() {
            let levels = self.levels(id, all);
            let first = levels.partition_point(|(has, _)| *has < amount);
            match levels.get(first) {
                Some((_, enough)) => types.intersect_with(enough),
                None => types.clear(),
            }
        }
    }

    fn levels(&self, id: ResourceId, all: &IdVec<TypeId, TypeResources>) -> Rc<Levels> {
        let mut known = self.levels.borrow_mut();
        Rc::clone(known.entry(id).or_insert_with(|| Rc::new(levels(id, all))))
    }
}

fn usable(all: &IdVec<TypeId, TypeResources>) -> TypeSet {
    let mut types = TypeSet::empty(all.len());
    let is_usable =
        |resources: &TypeResources| !resources.allocatable.iter().any(|(_, amount)| amount.is_negative());
    types.extend(all.enumerate().filter(|(_, resources)| is_usable(resources)).map(|(id, _)| id));
    types
}

fn levels(id: ResourceId, all: &IdVec<TypeId, TypeResources>) -> Levels {
    let amounts = all.enumerate().map(|(of, resources)| (resources.allocatable.get(id), of));
    let mut amounts: Vec<(Quantity, TypeId)> = amounts.collect();
    amounts.sort_unstable();
    let mut types = TypeSet::full(all.len());
    let mut levels: Levels = Vec::new();
    for with_equal in amounts.chunk_by(|(one, _), (other, _)| one == other) {
        if let Some((amount, _)) = with_equal.first() {
            levels.push((*amount, types.clone()));
        }
        for (_, of) in with_equal {
            types.remove(*of);
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::super::resources::{CPU, MEMORY};
    use super::*;
    use ids::Id;

    fn type_with(cpu: i64, memory: i64) -> TypeResources {
        let amounts = [(CPU, Quantity::from_units(cpu)), (MEMORY, Quantity::from_units(memory))];
        TypeResources { allocatable: amounts.into_iter().collect(), ..TypeResources::default() }
    }

    fn fitting(requests: &[(ResourceId, i64)], all: &IdVec<TypeId, TypeResources>) -> Vec<usize> {
        let mut types = TypeSet::full(all.len());
        let requests = requests.iter().map(|(id, amount)| (*id, Quantity::from_units(*amount))).collect();
        AmountIndex::default().retain_fitting(&mut types, &requests, all);
        types.iter().map(Id::position).collect()
    }

    #[test]
    fn keeps_types_with_enough_of_every_resource() {
        let all = [type_with(2, 8), type_with(4, 4), type_with(4, 8), type_with(4, -1)].into_iter().collect();
        assert_eq!(fitting(&[(CPU, 4)], &all), [1, 2]);
        assert_eq!(fitting(&[(CPU, 3), (MEMORY, 5)], &all), [2]);
        assert_eq!(fitting(&[(CPU, 0)], &all), [0, 1, 2]);
        assert_eq!(fitting(&[], &all), [0, 1, 2]);
        assert_eq!(fitting(&[(CPU, 5)], &all), [] as [usize; 0]);
    }
}
