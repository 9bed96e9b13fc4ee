//! Evidence that a policy or role belongs to Karpenter.
//!
//! A policy of other software may allow the same actions: a spot manager terminates instances, a runner for builds creates
//! fleets. Only actions together, names, roles and companions show that a policy is Karpenter's.

use super::policy::{IamPolicy, IamStatement, PASS_ROLE};
use super::role::{IamRole, Trust};
use super::truth::Truth;

/// The part of Karpenter that a policy or role belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyOwner {
    /// Karpenter's controller.
    Controller,
    /// The nodes that Karpenter starts.
    Nodes,
    /// Other software.
    Other,
}

/// Actions on the resources that Karpenter tags. A condition on a tag of Karpenter shows the owner only for them, because
/// a termination handler may be limited to Karpenter's nodes too.
const TAGGED_ACTIONS: [&str; 8] = [
    "ec2:RunInstances",
    "ec2:CreateFleet",
    "ec2:CreateLaunchTemplate",
    "ec2:DeleteLaunchTemplate",
    "iam:CreateInstanceProfile",
    "iam:TagInstanceProfile",
    "iam:AddRoleToInstanceProfile",
    "iam:DeleteInstanceProfile",
];

/// Actions with which Karpenter chooses instance types. Software that creates fleets for builds or batches lacks them.
const CHOOSING_ACTIONS: [&str; 4] = [
    "pricing:GetProducts",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeInstanceTypes",
    "eks:DescribeCluster",
];

/// Actions of the documents that the controller's policy is split into and that no tag of Karpenter marks.
///
/// Source: website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1.
const CONTROLLER_ACTIONS: [&str; 13] = [
    "iam:passrole",
    "iam:createinstanceprofile",
    "iam:taginstanceprofile",
    "iam:addroletoinstanceprofile",
    "iam:removerolefrominstanceprofile",
    "iam:deleteinstanceprofile",
    "iam:getinstanceprofile",
    "iam:listinstanceprofiles",
    "pricing:getproducts",
    "ssm:getparameter",
    "eks:describecluster",
    "ec2:terminateinstances",
    "ec2:deletelaunchtemplate",
];

fn names_karpenter(name: &str) -> bool {
    name.to_ascii_lowercase().contains("karpenter")
}

/// The owner that names show. A boundary limits other policies and allows nothing by itself; a trust policy says who may
/// assume a role.
pub(super) fn owner_by_name(names: &[String]) -> Option<PolicyOwner> {
    let has = |word: &str| names.iter().any(|name| name.to_ascii_lowercase().contains(word));
    if !has("karpenter") {
        return None;
    }
    Some(if has("boundary") || has("trust") || has("assume") {
        PolicyOwner::Other
    } else if has("node") && !has("controller") {
        PolicyOwner::Nodes
    } else {
        PolicyOwner::Controller
    })
}

/// The owner of a role, if something shows it. The trust of a role says whether a pod or an instance may assume it.
pub(super) fn owner_of_role(role: &IamRole<'_>, names_of_classes: &[&str]) -> Option<PolicyOwner> {
    let of_class = role.names.iter().any(|name| names_of_classes.binary_search(&name.as_str()).is_ok());
    let controller = role.names.iter().any(|name| name.to_ascii_lowercase().contains("controller"));
    let by_name = owner_by_name(&role.names);
    match (role.trust, by_name) {
        (Trust::Karpenter, _) | (Trust::Pod, Some(PolicyOwner::Nodes)) => Some(PolicyOwner::Controller),
        (Trust::Other, _) => Some(PolicyOwner::Other),
        (Trust::Instance | Trust::Unknown, _) if of_class => Some(PolicyOwner::Nodes),
        (Trust::Instance, Some(PolicyOwner::Controller)) if !controller => Some(PolicyOwner::Nodes),
        _ => by_name,
    }
}

/// Whether the statements show that a policy belongs to Karpenter's controller.
pub(super) fn acts_as_controller(policy: &IamPolicy<'_>) -> bool {
    let names = |action: &&str| policy.allowing().any(|statement| statement.names(action));
    let launches = names(&"ec2:CreateFleet")
        && (names(&"ec2:RunInstances") || names(&"ec2:TerminateInstances"))
        && (CHOOSING_ACTIONS.iter().any(names) || mentions_karpenter(policy));
    launches || policy.allowing().any(uses_tags_of_karpenter)
}

fn uses_tags_of_karpenter(statement: &IamStatement<'_>) -> bool {
    let tagged = statement.conditions.iter().any(|condition| {
        let tag = condition.tag().unwrap_or_default();
        tag.starts_with("karpenter.sh/") || tag.starts_with("karpenter.k8s.aws/")
    });
    tagged && TAGGED_ACTIONS.iter().any(|action| statement.names(action))
}

/// Whether a `Sid`, a resource or a tag of a policy has Karpenter's name.
fn mentions_karpenter(policy: &IamPolicy<'_>) -> bool {
    policy.statements.iter().any(|statement| {
        let words = statement.sid.iter().chain(&statement.resources);
        let keys = statement.conditions.iter().map(|condition| &condition.key);
        words.chain(keys).any(|word| names_karpenter(&word.text))
    })
}

/// Whether a document without a name may be one of several that the controller's policy is split into: it has only actions
/// of the controller, and passes roles to EC2 if at all.
pub(super) fn completes_controller(policy: &IamPolicy<'_>) -> bool {
    let known = |action: &str| {
        let action = action.to_ascii_lowercase();
        CONTROLLER_ACTIONS.contains(&action.as_str())
    };
    policy.statements.iter().all(|statement| {
        let named = !statement.not_actions && statement.actions.iter().all(|word| known(&word.text));
        let passes = statement.covers_action(PASS_ROLE) != Truth::No;
        named && (!passes || statement.passes_to_ec2())
    })
}
