//! IAM policy documents: actions, resources and conditions.
//!
//! Sids are ignored. A placeholder such as `${ClusterName}` or `${aws:PrincipalTag/x}` matches any text.

mod parse;
mod pass_role;
mod pattern;
mod policy;

pub use parse::{holds, policies};
pub use pass_role::{PASS_ROLE, PassedRoles};
pub use policy::{IamCondition, IamPolicy, IamStatement, PolicyLocation, PolicyText};
