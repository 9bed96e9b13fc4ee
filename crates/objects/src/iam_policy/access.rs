//! All IAM policies and roles of a cluster, each with its owner.
//!
//! The controller's policy is split over several documents since Karpenter 1.9 (cloudformation.yaml of the getting started
//! guide), and IAM evaluates all policies of a role together.

use std::collections::BTreeMap;

use ids::{IdVec, ids};
use karpenter::iam::{ALWAYS, NEEDED, NeededPermission};
use manifest::tree::{Node, NodeId};

use super::condition::ContextValue;
use super::owner::{PolicyOwner, acts_as_controller, completes_controller, owner_by_name, owner_of_role};
use super::parse::policies;
use super::policy::{IamPolicy, IamRequest, IamStatement};
use super::policy_text::PolicyText;
use super::role::{IamRole, last_part};
use super::truth::Truth;
use crate::node_class::Ec2NodeClass;
use crate::object::{Form, Object};

/// Number of Deny statements to evaluate for a request. With more statements, every request may be denied.
const MAX_DENIALS: usize = 64;

ids! {
    /// Policy of a cluster.
    pub PolicyId;
    /// Role of a cluster.
    RoleId;
}

/// Policies and roles of the objects of a cluster.
#[derive(Debug, Default)]
pub struct IamAccess<'d> {
    policies: IdVec<PolicyId, OwnedPolicy<'d>>,
    roles: IdVec<RoleId, OwnedRole<'d>>,
    policies_of: BTreeMap<NodeKey, Vec<PolicyId>>,
    role_of: BTreeMap<NodeKey, RoleId>,
    /// The policies with Deny statements of Karpenter's controller, by scope.
    denials: BTreeMap<Scope, Vec<PolicyId>>,
    /// The needed permissions that no policy allows, each with the first policy of the controller that has its companion. The
    /// key is the action and the resource.
    missing: BTreeMap<(&'static str, &'static str), PolicyId>,
}

/// A policy with its owner.
#[derive(Clone, Debug)]
pub struct OwnedPolicy<'d> {
    /// The policy.
    pub policy: IamPolicy<'d>,
    /// Its owner.
    pub owner: PolicyOwner,
    /// The permissions boundary of its role.
    pub boundary: PermissionsBoundary,
}

/// A role with its owner, if something shows the owner.
#[derive(Clone, Debug)]
struct OwnedRole<'d> {
    role: IamRole<'d>,
    owner: Option<PolicyOwner>,
}

/// Permissions boundary of the role that a policy belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionsBoundary {
    /// The role has none, or the role is not visible.
    None,
    /// A policy that is not visible.
    Unseen,
    /// A policy in the same template.
    Seen(PolicyId),
}

/// Address of a tree in memory. Only equality matters, not the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TreeAddress(usize);

/// Node of any tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeKey {
    tree: TreeAddress,
    node: NodeId,
}

/// Objects among which a policy or a role is found by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// The resources of a CloudFormation template.
    Template(TreeAddress),
    /// All other objects.
    Others,
}

/// The first policy or role of each name in a scope.
type ByName<I> = BTreeMap<(Scope, String), I>;

fn key_of(node: Node<'_>) -> NodeKey {
    NodeKey { tree: TreeAddress(core::ptr::from_ref(node.tree()).addr()), node: node.id() }
}

fn scope_of(object: Object<'_>) -> Scope {
    if object.form() == Form::StackResource {
        Scope::Template(key_of(object.root()).tree)
    } else {
        Scope::Others
    }
}

impl<'d> IamAccess<'d> {
    /// Collects the policies and roles of objects.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut access = Self::default();
        let names = node_roles(objects);
        let by_name = access.collect_roles(objects, &names);
        for object in objects {
            for policy in policies(*object) {
                let (owner, boundary) = (PolicyOwner::Other, PermissionsBoundary::None);
                let id = access.policies.push(OwnedPolicy { policy, owner, boundary });
                access.policies_of.entry(key_of(object.root())).or_default().push(id);
            }
        }
        access.assign_owners(&by_name);
        access.assign_boundaries(&by_name);
        for (id, owned) in access.policies.enumerate() {
            if owned.owner == PolicyOwner::Controller && owned.policy.statements.iter().any(|one| !one.allows)
            {
                access.denials.entry(scope_of(owned.policy.object)).or_default().push(id);
            }
        }
        access.find_missing();
        access
    }

    fn find_missing(&mut self) {
        let of_controller = |owned: &OwnedPolicy<'_>| owned.owner == PolicyOwner::Controller;
        for needed in NEEDED.iter().chain(ALWAYS) {
            let has = |owned: &OwnedPolicy<'_>| owned.policy.action(needed.companion).is_some();
            let first = self.policies.enumerate().find(|(_, owned)| of_controller(owned) && has(owned));
            let first = first.map(|(id, _)| id);
            if let Some(first) = first.filter(|_| !self.may_allow(needed)) {
                self.missing.insert((needed.action, needed.resource), first);
            }
        }
    }

    /// Whether a policy that is not for nodes allows a needed permission, or may allow it.
    fn may_allow(&self, needed: &NeededPermission) -> bool {
        let request = IamRequest {
            action: needed.action,
            resource: needed.resource,
            context: &|_| ContextValue::Unknown,
        };
        let covers = |statement: &IamStatement<'_>| {
            if needed.resource.is_empty() {
                statement.covers_action(needed.action) != Truth::No
            } else {
                statement.covers(&request) != Truth::No
            }
        };
        let mut others = self.policies.iter().filter(|owned| owned.owner != PolicyOwner::Nodes);
        others.any(|owned| owned.policy.allowing().any(covers))
    }

    /// Whether a needed permission of the tables is missing. Returns the place where the policies of the controller have its
    /// companion.
    pub fn place_without(&self, needed: &NeededPermission) -> Option<(&OwnedPolicy<'d>, &PolicyText<'d>)> {
        let owned = self.policies.get(*self.missing.get(&(needed.action, needed.resource))?)?;
        Some((owned, owned.policy.action(needed.companion)?))
    }

    /// Collects the roles of objects, and returns them by their names.
    fn collect_roles(&mut self, objects: &[Object<'d>], names_of_classes: &[&str]) -> ByName<RoleId> {
        let mut by_name = ByName::new();
        for (scope, role) in roles(objects) {
            let owner = owner_of_role(&role, names_of_classes);
            let (root, names) = (role.root, role.names.clone());
            let id = self.roles.push(OwnedRole { role, owner });
            for name in names {
                by_name.entry((scope, name)).or_insert(id);
            }
            self.role_of.insert(key_of(root), id);
        }
        by_name
    }

    /// Finds the owner of each policy. A role with a policy that acts as the controller is the controller's role.
    fn assign_owners(&mut self, by_name: &ByName<RoleId>) {
        let acting: Vec<_> = self.policies.iter().map(|owned| acts_as_controller(&owned.policy)).collect();
        let roles_of: Vec<Vec<RoleId>> =
            self.policies.iter().map(|owned| attached_roles(&owned.policy, by_name)).collect();
        for (acts, roles) in acting.iter().zip(&roles_of) {
            for role in roles.iter().filter(|_| *acts) {
                if let Some(owned) = self.roles.get_mut(*role) {
                    owned.owner = Some(PolicyOwner::Controller);
                }
            }
        }
        for ((owned, acts), roles) in self.policies.iter_mut().zip(&acting).zip(&roles_of) {
            let of_roles: Vec<_> = roles.iter().filter_map(|role| self.roles.get(*role)?.owner).collect();
            owned.owner = owner_of(&owned.policy, *acts, &of_roles);
        }
        let alone = |owned: &OwnedPolicy<'_>| owned.policy.object.form() == Form::IamPolicy;
        let split = self.policies.iter().any(|owned| alone(owned) && owned.owner == PolicyOwner::Controller);
        for owned in self.policies.iter_mut().filter(|owned| split && alone(owned)) {
            if completes_controller(&owned.policy) {
                owned.owner = PolicyOwner::Controller;
            }
        }
    }

    /// Finds the permissions boundary of each policy's role. A policy that is a boundary allows nothing by itself.
    fn assign_boundaries(&mut self, by_name: &ByName<RoleId>) {
        let mut by_policy_name = ByName::<PolicyId>::new();
        for (id, owned) in self.policies.enumerate() {
            for name in &owned.policy.names {
                by_policy_name.entry((scope_of(owned.policy.object), name.clone())).or_insert(id);
            }
        }
        let mut boundaries = Vec::new();
        for owned in &mut self.policies {
            let scope = scope_of(owned.policy.object);
            let roles = attached_roles(&owned.policy, by_name);
            let named = roles.iter().find_map(|role| self.roles.get(*role)?.role.boundary.as_deref());
            let Some(named) = named else { continue };
            let seen = by_policy_name.get(&(scope, referenced(named))).copied();
            owned.boundary = seen.map_or(PermissionsBoundary::Unseen, PermissionsBoundary::Seen);
            boundaries.extend(seen);
        }
        for boundary in boundaries {
            if let Some(owned) = self.policies.get_mut(boundary) {
                owned.owner = PolicyOwner::Other;
            }
        }
    }

    /// All policies, in the order of the input.
    pub fn policies(&self) -> &[OwnedPolicy<'d>] {
        self.policies.as_slice()
    }

    /// The policies of an object.
    pub fn policies_of(&self, object: Object<'d>) -> impl Iterator<Item = &OwnedPolicy<'d>> {
        let ids = self.policies_of.get(&key_of(object.root())).map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|id| self.policies.get(*id))
    }

    /// The policies of an object that belong to Karpenter's controller.
    pub fn controller_policies(&self, object: Object<'d>) -> impl Iterator<Item = &OwnedPolicy<'d>> {
        self.policies_of(object).filter(|owned| owned.owner == PolicyOwner::Controller)
    }

    /// The role that an object is, with its owner.
    pub fn role(&self, object: Object<'d>) -> Option<(&IamRole<'d>, PolicyOwner)> {
        let owned = self.roles.get(*self.role_of.get(&key_of(object.root()))?)?;
        Some((&owned.role, owned.owner?))
    }

    /// The role that an object is, with its owner if something shows it.
    pub fn role_of(&self, object: Object<'d>) -> Option<(&IamRole<'d>, Option<PolicyOwner>)> {
        let owned = self.roles.get(*self.role_of.get(&key_of(object.root()))?)?;
        Some((&owned.role, owned.owner))
    }

    /// Whether a statement of a policy allows a request, after the Deny statements of Karpenter's policies and the role's
    /// permissions boundary.
    pub fn allows(
        &self,
        owned: &OwnedPolicy<'d>,
        statement: &IamStatement<'d>,
        request: &IamRequest<'_>,
    ) -> Truth {
        let covered = statement.covers(request);
        if covered == Truth::No {
            return Truth::No;
        }
        let within = match owned.boundary {
            PermissionsBoundary::Seen(id) => {
                self.policies.get(id).map_or(Truth::Maybe, |boundary| boundary.policy.allows(request))
            }
            PermissionsBoundary::None | PermissionsBoundary::Unseen => Truth::Yes,
        };
        Truth::all([covered, within, self.denies(&owned.policy, request).negated()])
    }

    /// Whether a Deny statement of a policy or of its companions covers a request.
    fn denies(&self, policy: &IamPolicy<'d>, request: &IamRequest<'_>) -> Truth {
        let companions = self.denials.get(&scope_of(policy.object)).map_or(&[][..], Vec::as_slice);
        if companions.len() > MAX_DENIALS {
            return Truth::Maybe;
        }
        let companions = companions.iter().filter_map(|id| Some(&self.policies.get(*id)?.policy));
        let statements = companions.chain([policy]).flat_map(|policy| &policy.statements);
        let denying = statements.filter(|statement| !statement.allows);
        Truth::any(denying.take(MAX_DENIALS).map(|statement| statement.covers(request)))
    }
}

/// The names of roles in EC2NodeClasses, sorted.
fn node_roles<'d>(objects: &[Object<'d>]) -> Vec<&'d str> {
    let classes = objects.iter().filter_map(|object| Ec2NodeClass::of(*object));
    let roles = classes.filter_map(|class| class.role()?.as_str());
    let mut names: Vec<_> = roles.map(last_part).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The roles of objects with their scopes, including the roles in a CloudFormation template that hold no policy.
fn roles<'d>(objects: &[Object<'d>]) -> Vec<(Scope, IamRole<'d>)> {
    let mut roles = Vec::new();
    let mut last = None;
    for object in objects {
        let scope = scope_of(*object);
        if object.form() == Form::Api {
            roles.extend(IamRole::of(*object).map(|role| (scope, role)));
        } else if object.form() == Form::StackResource && Some(scope) != last {
            // The objects of a template are adjacent.
            last = Some(scope);
            let resources = object.root().tree().root().members_at(&["Resources"]);
            roles.extend(resources.filter_map(|(_, node)| Some((scope, IamRole::of_resource(node)?))));
        }
    }
    roles
}

fn attached_roles(policy: &IamPolicy<'_>, by_name: &ByName<RoleId>) -> Vec<RoleId> {
    let scope = scope_of(policy.object);
    let found = policy.roles.iter().filter_map(|role| by_name.get(&(scope, referenced(role))).copied());
    found.collect()
}

/// The name in a reference: `x` in `${x}`, `${x.Arn}` and `arn:aws:iam::1:role/x`, and otherwise the text itself.
fn referenced(text: &str) -> String {
    let inner = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
    let inner = inner.filter(|inner| !inner.contains("${"));
    let inner = inner.map(|inner| inner.strip_suffix(".Arn").unwrap_or(inner));
    inner.unwrap_or_else(|| last_part(text)).to_owned()
}

/// The owner of a policy: by its actions, by its roles, by the names of roles that are not visible, by its own names.
fn owner_of(policy: &IamPolicy<'_>, acts_as_controller: bool, roles: &[PolicyOwner]) -> PolicyOwner {
    let by_name = owner_by_name(&policy.names);
    let boundary = policy.names.iter().any(|name| name.to_ascii_lowercase().contains("boundary"));
    if boundary {
        return PolicyOwner::Other;
    }
    if acts_as_controller {
        return PolicyOwner::Controller;
    }
    if !roles.is_empty() {
        let of_karpenter = roles.iter().find(|owner| **owner != PolicyOwner::Other);
        return of_karpenter.copied().unwrap_or(PolicyOwner::Other);
    }
    owner_by_name(&policy.roles).or(by_name).unwrap_or(PolicyOwner::Other)
}
