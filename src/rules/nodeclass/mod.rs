//! Node classes that look healthy and never work.

family! {
    instance_profile_is_arn,
    nodeclass_role_is_arn,
}
