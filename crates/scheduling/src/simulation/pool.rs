//! NodePools as the scheduler uses them.
//!
//! Source: pkg/controllers/provisioning/provisioner.go (`NewScheduler`) and
//! pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go of kubernetes-sigs/karpenter at v1.14.1.

use std::cell::RefCell;
use std::rc::Rc;

use karpenter::labels;
use karpenter::release::Release;
use manifest::tree::{Node, members_of};
use objects::node_claim::NodeClassRef;
use objects::node_pool::NodePool;
use objects::object::Object;

use super::behaviour::SchedulerBehaviour;
use super::catalog::{Catalog, TypeSet};
use super::filter::{DaemonGroup, fitting};
use super::host_ports::HostPortUsage;
use super::resources::{NODES, ResourceNames, Resources};
use crate::pool_index::is_of_this_provider;
use crate::requirements::{Requirement, Requirements};
use crate::scalar::text;
use crate::taints::PoolTaint;
use crate::template::NodeTemplate;
use values::quantity::Quantity;

/// NodePool as the scheduler uses it.
#[derive(Clone, Debug)]
pub(crate) struct Pool<'d> {
    /// The object.
    pub(crate) object: Object<'d>,
    /// The weight.
    pub(crate) weight: i64,
    /// The requirements and labels that the user wrote.
    pub(crate) written: Requirements<'d>,
    /// The requirements on its nodes.
    pub(crate) requirements: Requirements<'d>,
    /// The taints.
    pub(crate) taints: Vec<PoolTaint<'d>>,
    /// Whether the pool takes pods: it is Ready, not static, and not being deleted.
    pub(crate) is_used: bool,
    /// The name of the node class.
    pub(crate) node_class: &'d str,
    /// The instance types.
    pub(crate) catalog: Rc<Catalog<'d>>,
    /// The instance types that its own requirements leave.
    pub(crate) types: TypeSet,
    /// The daemons by instance type.
    pub(crate) groups: Vec<DaemonGroup<'d>>,
    /// Resources that the limits leave.
    pub(crate) remaining: RefCell<Resources>,
    /// The instance types that these resources leave, once asked.
    within_limits: RefCell<Option<Rc<TypeSet>>>,
    /// The host ports of all its nodes, in releases that share them.
    pub(crate) shared_ports: RefCell<HostPortUsage<'d>>,
}

impl<'d> Pool<'d> {
    /// Reads a NodePool; `None` if its node class belongs to another provider.
    pub(crate) fn read(object: Object<'d>, names: &ResourceNames<'d>, release: Release) -> Option<Self> {
        let pool = NodePool::of(object)?;
        let reference = pool.node_class_ref();
        if !is_of_provider(reference) && SchedulerBehaviour::MANAGED_NODE_CLASSES.holds_in(release) {
            return None;
        }
        let node_class = reference.and_then(NodeClassRef::name).map(text).unwrap_or_default();
        let is_used = is_used(pool, release);
        let NodeTemplate { requirements: written, taints } =
            NodeTemplate::read(pool, SchedulerBehaviour::INCLUSIVE_OPERATORS.holds_in(release));
        let mut requirements = written.clone();
        requirements.add(labels::NODEPOOL, Requirement::is(object.name()));
        if SchedulerBehaviour::NODE_CLASS_LABEL.holds_in(release) {
            requirements.add(labels::NODE_CLASS, Requirement::is(node_class));
        }
        if SchedulerBehaviour::REGISTERED_LABELS.holds_in(release) {
            requirements.add("karpenter.sh/registered", Requirement::is("true"));
            requirements.add("karpenter.sh/initialized", Requirement::is("true"));
        }
        let limits = names.parse(members_of(pool.limits()));
        let has_node_limit = SchedulerBehaviour::NODE_LIMIT.holds_in(release);
        Some(Self {
            object,
            weight: object.at(&["spec", "weight"]).and_then(Node::as_int).unwrap_or_default(),
            written,
            requirements,
            taints,
            is_used,
            node_class,
            catalog: Rc::default(),
            types: TypeSet::default(),
            groups: Vec::new(),
            remaining: RefCell::new(limits.iter().filter(|(id, _)| *id != NODES || has_node_limit).collect()),
            within_limits: RefCell::default(),
            shared_ports: RefCell::default(),
        })
    }

    /// Whether limits leave some amount of a resource, or none.
    pub(crate) fn has_limits(&self) -> bool {
        !self.remaining.borrow().is_empty()
    }

    /// Subtracts an existing node from the limits.
    pub(crate) fn count_node(&self, capacity: &Resources) {
        if !self.has_limits() {
            return;
        }
        self.remaining.borrow_mut().subtract(capacity);
        self.within_limits.take();
    }

    /// Whether the limit `nodes` is used up.
    pub(crate) fn has_no_node_left(&self) -> bool {
        self.remaining.borrow().find(NODES).is_some_and(Quantity::is_zero)
    }

    /// The instance types that the limits leave.
    pub(crate) fn within_limits(&self) -> Rc<TypeSet> {
        let find = || Rc::new(self.find_within_limits());
        Rc::clone(self.within_limits.borrow_mut().get_or_insert_with(find))
    }

    fn find_within_limits(&self) -> TypeSet {
        let remaining = self.remaining.borrow();
        let mut types = self.types.clone();
        if remaining.is_empty() {
            return types;
        }
        for id in self.types.iter() {
            let resources = self.catalog.resources.get(id);
            let exceeds = resources.is_some_and(|resources| {
                remaining.iter().any(|(resource, left)| resources.capacity.get(resource) > left)
            });
            if exceeds {
                types.remove(id);
            }
        }
        types
    }

    /// Whether one of some instance types has room for the requests of a pod beside the daemons.
    pub(crate) fn has_room(&self, requests: &Resources, types: &TypeSet) -> bool {
        !fitting(&self.catalog, self.groups.iter(), requests, types).is_empty()
    }

    /// Subtracts a new node from the limits: the largest of the types that it can have, of each resource.
    pub(crate) fn subtract_largest(&self, types: &TypeSet) {
        if !self.has_limits() {
            return;
        }
        let mut largest = Resources::default();
        for resources in self.catalog.resources_of(types) {
            largest.raise(&resources.capacity);
        }
        self.remaining.borrow_mut().subtract(&largest);
        self.within_limits.take();
    }

    /// The largest amount of each resource that one of some types has beside the daemons.
    pub(crate) fn largest_room(&self, types: &TypeSet) -> Resources {
        let mut largest = Resources::default();
        for group in &self.groups {
            let mut of_group = Resources::default();
            for id in group.types.common(types) {
                if let Some(resources) = self.catalog.resources.get(id) {
                    of_group.raise(&resources.allocatable);
                }
            }
            of_group.subtract(&group.overhead);
            largest.raise(&of_group);
        }
        largest
    }

    /// Whether a taint of the pool is only a preference.
    pub(crate) fn has_soft_taint(&self) -> bool {
        self.taints.iter().any(|taint| taint.effect == "PreferNoSchedule")
    }
}

fn is_of_provider(reference: Option<NodeClassRef<'_>>) -> bool {
    reference.is_some_and(|reference| {
        is_of_this_provider(reference.group_text())
            && reference.kind().map(text).is_none_or(|kind| kind == "EC2NodeClass")
    })
}

fn is_used(pool: NodePool<'_>, release: Release) -> bool {
    let object = pool.object();
    let is_static = pool.replicas().is_some_and(|replicas| !replicas.is_null());
    object.at(&["metadata", "deletionTimestamp"]).is_none()
        && !(is_static && SchedulerBehaviour::STATIC_POOLS.holds_in(release))
        && is_ready(object)
}

/// Whether the status does not say otherwise.
pub(crate) fn is_ready(object: Object<'_>) -> bool {
    let conditions = object.at(&["status", "conditions"]).map(Node::items).into_iter().flatten();
    let mut ready = conditions.filter(|condition| condition.str_at(&["type"]) == Some("Ready"));
    ready.all(|condition| condition.str_at(&["status"]) == Some("True"))
}
