//! Lists of resources, and the resources that a pod requests.
//!
//! Source: pkg/utils/resources/resources.go of kubernetes-sigs/karpenter at v1.14.1, and the defaulting of the API server: a
//! resource that a container only limits is also requested.

use std::cell::RefCell;
use std::collections::BTreeMap;

use karpenter::release::Release;
use manifest::source::certain;
use manifest::tree::{Members, Node, items_of, members_of};
use values::quantity::{Notation, Quantity};

use super::behaviour::SchedulerBehaviour;
use crate::scalar::text;

/// Number of a resource name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourceId(u16);

/// `cpu`.
pub(crate) const CPU: ResourceId = ResourceId(0);
/// `memory`.
pub(crate) const MEMORY: ResourceId = ResourceId(1);
/// `pods`.
pub(crate) const PODS: ResourceId = ResourceId(2);
/// `ephemeral-storage`.
pub(crate) const STORAGE: ResourceId = ResourceId(3);
/// `nodes`, which only limits have.
pub(crate) const NODES: ResourceId = ResourceId(4);

/// The names of the resources of a simulation.
#[derive(Debug)]
pub(crate) struct ResourceNames<'d>(RefCell<Known<'d>>);

/// The names in the order of their numbers, and the number of each name.
#[derive(Debug, Default)]
struct Known<'d> {
    names: Vec<&'d str>,
    ids: BTreeMap<&'d str, ResourceId>,
}

impl<'d> ResourceNames<'d> {
    /// The resources that every node has.
    pub(crate) fn new() -> Self {
        let names = Self(RefCell::default());
        for name in ["cpu", "memory", "pods", "ephemeral-storage", "nodes"] {
            names.id(name);
        }
        names
    }

    /// The number of a name.
    pub(crate) fn id(&self, name: &'d str) -> ResourceId {
        let Known { names, ids } = &mut *self.0.borrow_mut();
        *ids.entry(name).or_insert_with(|| {
            let number = u16::try_from(names.len()).unwrap_or(u16::MAX);
            names.push(name);
            ResourceId(number)
        })
    }

    /// The name of a number.
    pub(crate) fn name(&self, id: ResourceId) -> &'d str {
        certain(self.0.borrow().names.get(usize::from(id.0)).copied())
    }

    /// Parses the members of a mapping. A quantity that the API server refuses is left out.
    pub(crate) fn parse(&self, members: Members<'d>) -> Resources {
        let mut all = Resources::default();
        for (name, node) in members {
            if let Some(amount) = quantity(node) {
                all.set(self.id(name), amount);
            }
        }
        all
    }
}

/// Parses a quantity, which may be written as a number.
pub(crate) fn quantity(node: Node<'_>) -> Option<Quantity> {
    Quantity::parse(text(node).trim()).ok()
}

/// Amounts of resources, sorted by resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Resources(Vec<(ResourceId, Quantity)>);

impl Resources {
    /// The resources with their amounts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ResourceId, Quantity)> {
        self.0.iter().copied()
    }

    /// Whether the list has no resource.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The amount of a resource, where the list has it.
    pub(crate) fn find(&self, id: ResourceId) -> Option<Quantity> {
        let index = self.0.binary_search_by_key(&id, |(present, _)| *present).ok()?;
        self.0.get(index).map(|(_, amount)| *amount)
    }

    /// The amount of a resource, or zero.
    pub(crate) fn get(&self, id: ResourceId) -> Quantity {
        self.find(id).unwrap_or(Quantity::ZERO)
    }

    /// Replaces the amount of a resource.
    pub(crate) fn set(&mut self, id: ResourceId, amount: Quantity) {
        match self.0.binary_search_by_key(&id, |(present, _)| *present) {
            Ok(index) => {
                if let Some(entry) = self.0.get_mut(index) {
                    entry.1 = amount;
                }
            }
            Err(index) => self.0.insert(index, (id, amount)),
        }
    }

    /// Removes a resource.
    pub(crate) fn remove(&mut self, id: ResourceId) {
        self.0.retain(|(present, _)| *present != id);
    }

    /// Replaces the amounts of the resources of another list.
    pub(crate) fn replace(&mut self, others: &Self) {
        for (id, amount) in others.iter() {
            self.set(id, amount);
        }
    }

    /// Adds another list.
    pub(crate) fn add(&mut self, others: &Self) {
        for (id, amount) in others.iter() {
            self.set(id, self.get(id).plus(amount));
        }
    }

    /// Subtracts the resources that the list has from another list.
    pub(crate) fn subtract(&mut self, others: &Self) {
        for (id, amount) in &mut self.0 {
            *amount = amount.minus(others.get(*id));
        }
    }

    /// Keeps the larger amount of each resource of both lists.
    pub(crate) fn raise(&mut self, others: &Self) {
        self.combine(others, |present, other| other > present);
    }

    /// Keeps the smaller amount of each resource of both lists.
    pub(crate) fn lower(&mut self, others: &Self) {
        self.combine(others, |present, other| other < present);
    }

    fn combine(&mut self, others: &Self, replaces: impl Fn(Quantity, Quantity) -> bool) {
        for (id, amount) in others.iter() {
            if self.find(id).is_none_or(|present| replaces(present, amount)) {
                self.set(id, amount);
            }
        }
    }

    /// Replaces negative amounts by zero.
    pub(crate) fn floor(&mut self) {
        for (_, amount) in &mut self.0 {
            if amount.is_negative() {
                *amount = Quantity::ZERO;
            }
        }
    }

    /// Whether the amounts fit into available amounts (`resources.Fits`): nothing fits if any available amount is negative.
    pub(crate) fn fit_into(&self, available: &Self) -> bool {
        !available.0.iter().any(|(_, amount)| amount.is_negative())
            && self.0.iter().all(|(id, amount)| *amount <= available.get(*id))
    }

    /// The first resource of which more is asked than available.
    pub(crate) fn exceeding(&self, available: &Self) -> Option<ResourceId> {
        self.0.iter().find(|(id, amount)| *amount > available.get(*id)).map(|(id, _)| *id)
    }

    /// The list as Karpenter prints it in messages.
    pub(crate) fn text(&self, names: &ResourceNames<'_>) -> String {
        let mut all: Vec<(&str, Quantity)> =
            self.iter().map(|(id, amount)| (names.name(id), amount)).collect();
        all.sort_by_key(|(name, _)| *name);
        let fields: Vec<String> =
            all.iter().map(|(name, amount)| format!("\"{name}\":\"{amount}\"")).collect();
        format!("{{{}}}", fields.join(","))
    }
}

impl FromIterator<(ResourceId, Quantity)> for Resources {
    fn from_iter<I: IntoIterator<Item = (ResourceId, Quantity)>>(all: I) -> Self {
        let mut list = Self::default();
        for (id, amount) in all {
            list.set(id, amount);
        }
        list
    }
}

/// A number of MiB.
pub(crate) fn mebibytes(count: i64) -> Quantity {
    Quantity::from_nano(i128::from(count) * (1 << 20) * 1_000_000_000, Notation::Binary)
}

/// Returns the requests of a pod with this specification.
pub(crate) fn requests_of_pod<'d>(spec: Node<'d>, names: &ResourceNames<'d>, release: Release) -> Resources {
    let mut total = Resources::default();
    for container in items_of(spec.get("containers")) {
        total.add(&of_container(container, names));
    }
    let mut sidecars = Resources::default();
    let mut during_init = Resources::default();
    for container in items_of(spec.get("initContainers")) {
        let requests = of_container(container, names);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            total.add(&requests);
            sidecars.add(&requests);
            during_init.raise(&sidecars);
        } else {
            let mut needed = requests;
            needed.add(&sidecars);
            during_init.raise(&needed);
        }
    }
    total.raise(&during_init);
    if SchedulerBehaviour::POD_LEVEL_RESOURCES.holds_in(release) {
        replace_by_pod_level(&mut total, spec, names);
    }
    total.add(&names.parse(members_of(spec.get("overhead"))));
    total.set(PODS, Quantity::from_units(1));
    total
}

fn of_container<'d>(container: Node<'d>, names: &ResourceNames<'d>) -> Resources {
    let part = |part: &str| names.parse(members_of(container.at_path(&["resources", part])));
    let mut requests = part("limits");
    requests.replace(&part("requests"));
    requests
}

/// The pod may set its own CPU, memory and huge pages.
fn replace_by_pod_level<'d>(total: &mut Resources, spec: Node<'d>, names: &ResourceNames<'d>) {
    let part = |part: &str| names.parse(members_of(spec.at_path(&["resources", part])));
    let (requests, limits) = (part("requests"), part("limits"));
    let counts = |name: &str| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
    for (id, amount) in limits.iter().filter(|(id, _)| counts(names.name(*id))) {
        if total.get(id).is_zero() {
            total.set(id, amount);
        }
    }
    for (id, amount) in requests.iter().filter(|(id, _)| counts(names.name(*id))) {
        total.set(id, amount);
    }
}

#[cfg(test)]
mod tests {
    use manifest::limits::Limits;
    use manifest::{Document, File};

    use super::*;

    fn requests(spec: &str) -> String {
        let file = File::read("-", spec, &Limits::DEFAULT);
        let Document::Read(tree) = &file.documents[0] else { panic!("{spec}") };
        let names = ResourceNames::new();
        requests_of_pod(tree.root(), &names, Release::NEWEST).text(&names)
    }

    #[test]
    fn takes_limits_where_nothing_is_requested() {
        let spec = "containers: [{resources: {requests: {cpu: 100m}, limits: {cpu: 1, memory: 1Gi}}}]";
        assert_eq!(requests(spec), r#"{"cpu":"100m","memory":"1Gi","pods":"1"}"#);
    }

    #[test]
    fn adds_sidecars_and_takes_the_largest_init_container() {
        let spec = "
initContainers:
  - {restartPolicy: Always, resources: {requests: {cpu: 200m}}}
  - {resources: {requests: {cpu: 2}}}
containers: [{resources: {requests: {cpu: 500m}}}]
overhead: {cpu: 50m}";
        assert_eq!(requests(spec), r#"{"cpu":"2250m","pods":"1"}"#);
    }
}
