//! Roles: their names, who may assume them, and the managed policies that are attached to them.

use manifest::tree::Node;

use super::parse::{holds, is_role, select, statements_of, text, texts};
use super::policy::IamStatement;
use super::policy_text::{PolicyLocation, PolicyText};
use crate::object::Object;

/// A role, or an object that attaches a managed policy to a role.
#[derive(Clone, Debug)]
pub struct IamRole<'d> {
    /// The resource or object.
    pub root: Node<'d>,
    /// Its names: the key in a template, the name in the cluster and in AWS.
    pub names: Vec<String>,
    /// The managed policies.
    pub managed: Vec<PolicyText<'d>>,
    /// The permissions boundary.
    pub boundary: Option<String>,
    /// The statements of the trust policy.
    pub trusted: Vec<IamStatement<'d>>,
    pub(super) trust: Trust,
}

/// Principals that may assume a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// A service account named `karpenter`.
    Karpenter,
    /// A pod: a service account that the document does not name, or EKS Pod Identity.
    Pod,
    /// EC2 instances.
    Instance,
    /// Somebody else.
    Other,
    /// The document is not visible.
    Unknown,
}

const ROLE_NAMES: [&[&str]; 4] = [
    &["Properties", "RoleName"],
    &["spec", "name"],
    &["spec", "forProvider", "name"],
    &["metadata", "annotations", "crossplane.io/external-name"],
];

const ATTACHED: [&[&str]; 4] = [
    &["Properties", "ManagedPolicyArns", "*"],
    &["spec", "policies", "*"],
    &["spec", "forProvider", "managedPolicyArns", "*"],
    &["spec", "forProvider", "policyArn"],
];

const BOUNDARIES: [&[&str]; 3] = [
    &["Properties", "PermissionsBoundary"],
    &["spec", "permissionsBoundary"],
    &["spec", "forProvider", "permissionsBoundary"],
];

const TRUST: [&[&str]; 4] = [
    &["Properties", "AssumeRolePolicyDocument"],
    &["spec", "assumeRolePolicyDocument"],
    &["spec", "forProvider", "assumeRolePolicy"],
    &["spec", "forProvider", "assumeRolePolicyDocument"],
];

/// AWS's managed policies that allow everything, or everything except the management of accounts and users.
///
/// Source: `AdministratorAccess` and `PowerUserAccess` in the AWS Managed Policy Reference Guide.
const BROAD: [&str; 2] = [":iam::aws:policy/AdministratorAccess", ":iam::aws:policy/PowerUserAccess"];

impl<'d> IamRole<'d> {
    /// The role that an object is, or that it attaches a policy to.
    pub(super) fn of(object: Object<'d>) -> Option<Self> {
        let attaches = object.kind() == "RolePolicyAttachment" || object.kind() == "IAMRolePolicyAttachment";
        if attaches && holds(object) {
            let paths: [&[&str]; 3] = [
                &["spec", "forProvider", "role"],
                &["spec", "forProvider", "roleRef", "name"],
                &["spec", "forProvider", "roleName"],
            ];
            return Some(Self::at(object.root(), texts(object.root(), &paths)));
        }
        if !is_role(object) {
            return None;
        }
        let mut names = texts(object.root(), &ROLE_NAMES);
        names.push(object.name().to_owned());
        Some(Self::at(object.root(), names))
    }

    /// The role in a resource of a CloudFormation template.
    pub(super) fn of_resource(resource: Node<'d>) -> Option<Self> {
        if resource.str_at(&["Type"]) != Some("AWS::IAM::Role") {
            return None;
        }
        let mut names = texts(resource, &ROLE_NAMES);
        names.push(resource.key().to_owned());
        Some(Self::at(resource, names))
    }

    fn at(root: Node<'d>, names: Vec<String>) -> Self {
        let mut attached = Vec::new();
        for path in ATTACHED {
            select(root, path, &mut attached);
        }
        let document = TRUST.iter().find_map(|path| root.at_path(path));
        let managed =
            attached.into_iter().map(|node| PolicyText { text: text(node), at: PolicyLocation::Value(node) });
        Self {
            root,
            names,
            managed: managed.collect(),
            boundary: texts(root, &BOUNDARIES).into_iter().next(),
            trusted: document.and_then(statements_of).unwrap_or_default(),
            trust: document.map_or(Trust::Unknown, trust),
        }
    }

    /// The managed policies that allow everything, each with its name.
    pub fn broad_policies(&self) -> impl Iterator<Item = (&str, &PolicyText<'d>)> {
        let broad = self.managed.iter().filter(|word| allows_everything(&word.text));
        broad.map(|word| (last_part(&word.text), word))
    }
}

/// The part of an ARN or a path after the last `/`.
pub(super) fn last_part(text: &str) -> &str {
    text.rsplit_once('/').map_or(text, |(_, part)| part)
}

/// Whether the managed policy of an ARN allows everything.
pub fn allows_everything(arn: &str) -> bool {
    BROAD.iter().any(|end| arn.ends_with(end))
}

/// Whether a resource of a CloudFormation template attaches a managed policy that allows everything.
pub fn attaches_broad_policy(resource: Node<'_>) -> bool {
    texts(resource, &[&["Properties", "ManagedPolicyArns", "*"]]).iter().any(|arn| allows_everything(arn))
}

/// Whether a resource of a CloudFormation template is a role of Karpenter: its name or its trust policy has the word.
pub fn is_role_of_karpenter(resource: Node<'_>) -> bool {
    let is_named = |text: &str| text.to_ascii_lowercase().contains("karpenter");
    let trusts = |path: &[&str]| resource.at_path(path).is_some_and(|document| any_text(document, &is_named));
    resource.str_at(&["Type"]) == Some("AWS::IAM::Role")
        && (is_named(resource.key())
            || resource.str_at(&["Properties", "RoleName"]).is_some_and(is_named)
            || trusts(&["Properties", "AssumeRolePolicyDocument"]))
}

/// Reads a trust policy, which is a mapping or JSON in a string.
fn trust(document: Node<'_>) -> Trust {
    let any = |found: &dyn Fn(&str) -> bool| any_text(document, found);
    let account = |text: &str| text.contains("system:serviceaccount:");
    if any(&names_karpenter) {
        Trust::Karpenter
    } else if any(&account) || any(&names_other_issuer) {
        Trust::Other
    } else if any(&|text| text.contains("sts:AssumeRoleWithWebIdentity") || text.contains("pods.eks.")) {
        Trust::Pod
    } else if any(&|text| text.contains("ec2.amazonaws.com") || text.contains("ec2.${")) {
        Trust::Instance
    } else if document.is_mapping() || document.as_str().is_some_and(|text| text.contains("Principal")) {
        Trust::Other
    } else {
        Trust::Unknown
    }
}

/// Whether a text names a service account `karpenter` in some namespace: `system:serviceaccount:kube-system:karpenter`.
fn names_karpenter(text: &str) -> bool {
    let mut accounts = text.split("system:serviceaccount:").skip(1);
    accounts.any(|rest| {
        let subject = rest.split_once(['"', '\'']).map_or(rest, |(subject, _)| subject);
        subject.rsplit_once(':').map_or(subject, |(_, name)| name) == "karpenter"
    })
}

/// Whether a text names an identity provider outside EKS, such as the one of a build service. A provider of EKS is
/// `oidc-provider/oidc.eks.<region>.amazonaws.com/id/<id>`.
fn names_other_issuer(text: &str) -> bool {
    let mut issuers = text.split("oidc-provider/").skip(1);
    issuers.any(|issuer| !issuer.starts_with("oidc.") && !issuer.starts_with(['$', '{', '<']))
}

/// Whether a string or a key within a node has a property.
fn any_text(node: Node<'_>, found: &dyn Fn(&str) -> bool) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if found(node.key()) || node.as_str().is_some_and(found) {
            return true;
        }
        open.extend(node.children());
    }
    false
}
