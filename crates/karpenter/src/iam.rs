//! Permissions of the controller that every release needs, and permissions that a release starts to need.
//!
//! Sources: the upgrade guide, and the differences between the tags in
//! website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml of aws/karpenter-provider-aws.

use crate::release::Releases;

/// A permission that a release needs.
#[derive(Clone, Copy, Debug)]
pub struct NeededPermission {
    /// The action.
    pub action: &'static str,
    /// The last part of the ARN of a resource that the policy has to name; empty if any resource will do.
    pub resource: &'static str,
    /// An action of the same statement in the guide's template. A policy with it should have the needed action, too.
    pub companion: &'static str,
    /// The releases that need the permission.
    pub releases: Releases,
    /// The use for which it is needed.
    pub needed_for: PermissionUse,
}

/// The use of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionUse {
    /// Every cluster needs it.
    Everything,
    /// EC2NodeClasses with `spec.role`.
    Roles,
    /// EC2NodeClasses with `spec.capacityReservationSelectorTerms`.
    Reservations,
    /// EC2NodeClasses with `spec.placementGroupSelector`.
    PlacementGroups,
    /// `settings.enableZonalShift`.
    ZonalShift,
    /// The feature gate `RebootForRepair`.
    RebootForRepair,
}

const fn needed(
    action: &'static str,
    companion: &'static str,
    since: u8,
    needed_for: PermissionUse,
) -> NeededPermission {
    NeededPermission { action, resource: "", companion, releases: Releases::since(since), needed_for }
}

const fn on_resource(
    action: &'static str,
    resource: &'static str,
    since: u8,
    needed_for: PermissionUse,
) -> NeededPermission {
    NeededPermission { action, resource, companion: action, releases: Releases::since(since), needed_for }
}

/// A capacity reservation, as the last part of an ARN.
const RESERVATION: &str = "capacity-reservation/cr-0123456789abcdef0";
/// Every resource: the action has no resources in EKS, and a policy limits it with a condition.
const ANY_RESOURCE: &str = "*";
/// A placement group, as the last part of an ARN.
const PLACEMENT_GROUP: &str = "placement-group/pg-0123456789abcdef0";

const fn always(
    action: &'static str,
    companion: &'static str,
    needed_for: PermissionUse,
) -> NeededPermission {
    NeededPermission { action, resource: "", companion, releases: Releases::ALL, needed_for }
}

/// Permissions that every release needs.
///
/// Source: the template at the tags v1.0.0, v1.5.0 and v1.14.1.
pub const ALWAYS: &[NeededPermission] = &[
    always("ec2:CreateFleet", "ec2:RunInstances", PermissionUse::Everything),
    always("ec2:CreateLaunchTemplate", "ec2:RunInstances", PermissionUse::Everything),
    always("ec2:DeleteLaunchTemplate", "ec2:TerminateInstances", PermissionUse::Everything),
    always("ec2:DescribeImages", "ec2:DescribeInstances", PermissionUse::Everything),
    always("ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstances", PermissionUse::Everything),
    always("ec2:DescribeInstanceTypes", "ec2:DescribeInstances", PermissionUse::Everything),
    always("ec2:DescribeLaunchTemplates", "ec2:DescribeInstances", PermissionUse::Everything),
    always("ec2:DescribeSecurityGroups", "ec2:DescribeInstances", PermissionUse::Everything),
    always("ec2:DescribeSpotPriceHistory", "ec2:DescribeInstances", PermissionUse::Everything),
    always("ec2:DescribeSubnets", "ec2:DescribeInstances", PermissionUse::Everything),
    always("iam:DeleteInstanceProfile", "iam:AddRoleToInstanceProfile", PermissionUse::Roles),
    always("iam:RemoveRoleFromInstanceProfile", "iam:AddRoleToInstanceProfile", PermissionUse::Roles),
    always("sqs:DeleteMessage", "sqs:ReceiveMessage", PermissionUse::Everything),
    always("sqs:GetQueueUrl", "sqs:ReceiveMessage", PermissionUse::Everything),
];

/// Permissions that a release starts to need.
pub const NEEDED: &[NeededPermission] = &[
    needed("ec2:DescribeCapacityReservations", "ec2:DescribeSubnets", 3, PermissionUse::Reservations),
    on_resource("ec2:RunInstances", RESERVATION, 3, PermissionUse::Reservations),
    needed("iam:ListInstanceProfiles", "iam:GetInstanceProfile", 7, PermissionUse::Roles),
    needed("ec2:DescribePlacementGroups", "ec2:DescribeSubnets", 11, PermissionUse::PlacementGroups),
    on_resource("ec2:RunInstances", PLACEMENT_GROUP, 11, PermissionUse::PlacementGroups),
    needed("ec2:DescribeInstanceStatus", "ec2:DescribeInstances", 12, PermissionUse::Everything),
    needed("arc-zonal-shift:GetManagedResource", "ec2:DescribeInstances", 12, PermissionUse::ZonalShift),
    // aws/karpenter-provider-aws#9123 replaces the ARN of the cluster, which the template of 1.12 names.
    on_resource("arc-zonal-shift:GetManagedResource", ANY_RESOURCE, 12, PermissionUse::ZonalShift),
    needed("ec2:RebootInstances", "ec2:TerminateInstances", 15, PermissionUse::RebootForRepair),
];
