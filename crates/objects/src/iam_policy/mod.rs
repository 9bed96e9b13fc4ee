//! IAM policies and roles: parser, evaluation of statements, and the policies that belong to Karpenter.
//!
//! | file | contents |
//! |---|---|
//! | `parse` | policy documents in JSON, YAML, CloudFormation and the objects of operators |
//! | `policy` | views of a document and its statements |
//! | `policy_text` | the texts of a document with their locations |
//! | `pattern`, `condition`, `truth` | evaluation of a statement for a request |
//! | `role` | roles: names, trust, attached policies |
//! | `owner` | which policies and roles belong to Karpenter |
//! | `access` | all policies and roles of a cluster |
//! | `pass_role` | the roles that the controller may pass |
//!
//! A placeholder such as `${ClusterName}` or a policy variable such as `${aws:PrincipalTag/x}` is unknown text: a
//! comparison with it may hold.

mod access;
mod condition;
mod owner;
mod parse;
mod pass_role;
mod pattern;
mod policy;
mod policy_text;
mod role;
mod truth;

pub use access::{IamAccess, OwnedPolicy, PermissionsBoundary, PolicyId};
pub use condition::{ContextValue, IamCondition, IamOperator};
pub use owner::PolicyOwner;
pub use parse::{holds, text};
pub use pass_role::{PassRefusal, PassedRoles};
pub use policy::{IamPolicy, IamPrincipal, IamRequest, IamStatement, PASS_ROLE};
pub use policy_text::{PolicyLocation, PolicyText};
pub use role::{IamRole, allows_everything, attaches_broad_policy, is_role_of_karpenter};
pub use truth::Truth;
