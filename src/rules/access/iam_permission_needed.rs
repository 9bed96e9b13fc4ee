use cluster::inventory::Inventory;
use karpenter::iam::{NEEDED, NeededPermission, PermissionUse};
use karpenter::kind::Kind;
use karpenter::release::{ReleaseSet, Releases};
use objects::chart_values;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{LookUp, On, Rule, Runs};

use crate::rules::indexes::{AnyReservations, Gates, Iam};

rule! {
    /// ## What it does
    ///
    /// Checks that the IAM policies of Karpenter's controller have the permissions that a release starts to need. All policies
    /// of the input count together, as the documents that a policy is split into do.
    ///
    /// | since | permission | needed for |
    /// |---|---|---|
    /// | 1.3 | `ec2:DescribeCapacityReservations`, and `ec2:RunInstances` on `capacity-reservation/*` | `capacityReservationSelectorTerms`; until 1.5 only with the feature gate `ReservedCapacity` |
    /// | 1.7 | `iam:ListInstanceProfiles` | EC2NodeClasses with `role` |
    /// | 1.11 | `ec2:DescribePlacementGroups`, and `ec2:RunInstances` on `placement-group/*` | `placementGroupSelector` |
    /// | 1.12 | `ec2:DescribeInstanceStatus` | every cluster |
    /// | 1.12 | `arc-zonal-shift:GetManagedResource` on `*`; the template of 1.12 names the cluster, which 1.13 corrects | `settings.enableZonalShift` |
    /// | 1.15 | `ec2:RebootInstances` | the feature gate `RebootForRepair` |
    ///
    /// ## Why it is bad
    ///
    /// AWS refuses the request, and the controller repeats it: instance profiles are not cleaned up, unhealthy instances
    /// are not found, or no nodes start. The rule reports a permission only if the policies have another action of the same
    /// statement in the template of the getting started guide, because the input may lack a policy.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.11 to 1.12
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": ["ec2:DescribeInstances", "pricing:GetProducts"], "Resource": "*"}]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.11 to 1.12
    /// apiVersion: iam.services.k8s.aws/v1alpha1
    /// kind: Policy
    /// metadata:
    ///   name: karpenter-controller
    /// spec:
    ///   name: karpenter-controller
    ///   policyDocument: |
    ///     {"Version": "2012-10-17", "Statement": [
    ///       {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"], "Resource": "*"},
    ///       {"Effect": "Allow", "Action": ["ec2:DescribeInstances", "ec2:DescribeInstanceStatus", "pricing:GetProducts"], "Resource": "*"}]}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#9123
    /// - Upgrade guide, 1.7.0, 1.11.0 and 1.12.0
    /// - website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml of
    ///   aws/karpenter-provider-aws at v1.2.0 to v1.14.1, and website/content/en/v1.15/reference/cloudformation.md
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(3),
        summary: "the controller's IAM policies lack a permission that a release starts to need",
        runs: Runs::OnUpgrade,
        on: &[On::IamPolicy],
        inventory: &[LookUp::InFiles(Kind::NODE_CLASS)],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for needed in NEEDED {
        if let Some(finding) = missing(&RULE, needed, object, context) {
            let help = finding.help.clone();
            findings.push(finding.help(format!("{help}; earlier releases do not use it")));
        }
    }
}

/// Reports a permission that the policies of the controller lack, at the policy with the companion of the permission.
pub(crate) fn missing<'d>(
    rule: &'static Rule,
    needed: &NeededPermission,
    object: Object<'d>,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    let place = context.inventory.index::<Iam>().place_without(needed);
    let (_, text) = place.filter(|(owned, _)| owned.policy.object == object)?;
    let releases = needed.releases.and(releases_of_use(needed, context.inventory));
    if releases.is_empty() {
        return None;
    }
    let on = if needed.resource.is_empty() { String::new() } else { format!(" on `{}`", pattern(needed)) };
    let message = format!(
        "Karpenter needs `{}`{on}{}, which no IAM policy in the input allows",
        needed.action,
        reason(needed.needed_for)
    );
    let finding = Finding::new(rule, Place::of_policy(text.at), message).releases(releases);
    Some(finding.help(format!("allow the controller `{}`{on}", needed.action)))
}

/// The resource of a permission as a pattern for a policy.
fn pattern(needed: &NeededPermission) -> String {
    match needed.resource.split_once('/') {
        Some((kind, _)) => format!("{kind}/*"),
        None => needed.resource.to_owned(),
    }
}

fn reason(needed_for: PermissionUse) -> &'static str {
    match needed_for {
        PermissionUse::Everything => "",
        PermissionUse::Roles => " for EC2NodeClasses with `role`",
        PermissionUse::Reservations => " for EC2NodeClasses that select capacity reservations",
        PermissionUse::PlacementGroups => " for EC2NodeClasses with `placementGroupSelector`",
        PermissionUse::ZonalShift => " for `settings.enableZonalShift`",
        PermissionUse::RebootForRepair => " for the feature gate `RebootForRepair`",
    }
}

/// The releases in which the objects of the cluster use a permission.
fn releases_of_use(needed: &NeededPermission, inventory: &Inventory<'_>) -> ReleaseSet {
    let is_used = match needed.needed_for {
        PermissionUse::Everything => true,
        // Without an EC2NodeClass in the input, the cluster probably has one with a role.
        PermissionUse::Roles => {
            let mut classes = inventory.objects_of(Kind::NODE_CLASS).filter_map(Ec2NodeClass::of).peekable();
            classes.peek().is_none() || classes.any(|class| class.role().is_some())
        }
        PermissionUse::Reservations => return releases_of_reservations(inventory),
        PermissionUse::PlacementGroups => {
            let mut classes = inventory.objects_of(Kind::NODE_CLASS).filter_map(Ec2NodeClass::of);
            classes.any(|class| class.placement_group().is_some_and(|node| !node.is_null()))
        }
        PermissionUse::ZonalShift => {
            let mut values = inventory.objects().iter().filter_map(|object| chart_values::of(*object));
            values.any(|values| {
                values.switch("enableZonalShift").is_some_and(|node| node.as_bool() == Some(true))
            })
        }
        PermissionUse::RebootForRepair => inventory.index::<Gates>().get("RebootForRepair") == Some(true),
    };
    if is_used { ReleaseSet::all() } else { ReleaseSet::none() }
}

fn releases_of_reservations(inventory: &Inventory<'_>) -> ReleaseSet {
    if !*inventory.index::<AnyReservations>() {
        return ReleaseSet::none();
    }
    match inventory.index::<Gates>().get("ReservedCapacity") {
        Some(true) => ReleaseSet::all(),
        Some(false) => ReleaseSet::none(),
        None => Releases::since(6).set(),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    /// Two policies of the controller: one launches, the other reads.
    fn policies(read: &str) -> String {
        format!(
            r"Resources:
  KarpenterControllerLaunch:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement:
        - {{Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, ec2:TerminateInstances], Resource: ['arn:aws:ec2:*:*:instance/*']}}
  KarpenterControllerRead:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Statement:
        - {{Effect: Allow, Action: [{read}], Resource: '*'}}
"
        )
    }

    const READ: &str =
        "ec2:DescribeInstances, ec2:DescribeSubnets, iam:GetInstanceProfile, pricing:GetProducts";

    #[test]
    fn reports_permissions_since_the_release_that_needs_them() {
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.15", &policies(READ)), @"
        from 1.12 on
        from 1.7 on
         13 |         - {Effect: Allow, Action: [ec2:DescribeInstances, ec2:DescribeSubnets, iam:GetInstanceProfile, pricing:GetProducts], Resource: '*'}
            |                                    ^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerRead Properties.PolicyDocument.Statement[0].Action[0] [since 1.12]
          Karpenter needs `ec2:DescribeInstanceStatus`, which no IAM policy in the input allows
          help: allow the controller `ec2:DescribeInstanceStatus`; earlier releases do not use it
         13 |         - {Effect: Allow, Action: [ec2:DescribeInstances, ec2:DescribeSubnets, iam:GetInstanceProfile, pricing:GetProducts], Resource: '*'}
            |                                                                                ^^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerRead Properties.PolicyDocument.Statement[0].Action[2] [since 1.7]
          Karpenter needs `iam:ListInstanceProfiles` for EC2NodeClasses with `role`, which no IAM policy in the input allows
          help: allow the controller `iam:ListInstanceProfiles`; earlier releases do not use it
        ");
        begins_nothing(&super::RULE, "1.0", "1.6", &policies(READ));
        begins_nothing(&super::RULE, "1.12", "1.15", &policies(READ));
        let all = format!("{READ}, iam:ListInstanceProfiles, ec2:DescribeInstance*");
        begins_nothing(&super::RULE, "1.0", "1.15", &policies(&all));
    }

    #[test]
    fn zonal_shift_needs_its_action_on_every_resource() {
        let text = |resource: &str, switch: bool| {
            let statement = format!(
                "        - {{Effect: Allow, Action: ['arc-zonal-shift:GetManagedResource'], Resource: '{resource}'}}\n"
            );
            let values = format!("---\nsettings: {{clusterName: a, enableZonalShift: {switch}}}\n");
            let read = format!("{READ}, iam:ListInstanceProfiles, ec2:DescribeInstanceStatus");
            policies(&read) + &statement + &values
        };
        let cluster = "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/${ClusterName}";
        let found = begins(&super::RULE, "1.11", "1.13", &text(cluster, true));
        assert!(found.contains("Karpenter needs `arc-zonal-shift:GetManagedResource` on `*`"), "{found}");
        assert!(found.contains("from 1.12 on"), "{found}");
        for (resource, switch) in [("*", true), ("${Resource}", true), (cluster, false)] {
            begins_nothing(&super::RULE, "1.11", "1.13", &text(resource, switch));
        }
    }

    #[test]
    fn reports_permissions_of_features_that_the_objects_use() {
        let class = r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  instanceProfile: a
  placementGroupSelector: {name: a}
  capacityReservationSelectorTerms: [{id: cr-1}]
";
        let values = "---\nsettings: {clusterName: a, enableZonalShift: true, awsFeatureGates: {rebootForRepair: true}}\n";
        let text = format!("{}{class}{values}", policies(&format!("{READ}, ec2:DescribeInstanceStatus")));
        insta::assert_snapshot!(begins(&super::RULE, "1.2", "1.15", &text), @"
        from 1.6 on
        from 1.11 on
        from 1.15 on
        from 1.12 on
        from 1.6 on
        from 1.11 on
          7 |         - {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, ec2:TerminateInstances], Resource: ['arn:aws:ec2:*:*:instance/*']}
            |                                                     ^^^^^^^^^^^^^^^^
        warning /KarpenterControllerLaunch Properties.PolicyDocument.Statement[0].Action[1] [since 1.6]
          Karpenter needs `ec2:RunInstances` on `capacity-reservation/*` for EC2NodeClasses that select capacity reservations, which no IAM policy in the input allows
          help: allow the controller `ec2:RunInstances` on `capacity-reservation/*`; earlier releases do not use it
          7 |         - {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, ec2:TerminateInstances], Resource: ['arn:aws:ec2:*:*:instance/*']}
            |                                                     ^^^^^^^^^^^^^^^^
        warning /KarpenterControllerLaunch Properties.PolicyDocument.Statement[0].Action[1] [since 1.11]
          Karpenter needs `ec2:RunInstances` on `placement-group/*` for EC2NodeClasses with `placementGroupSelector`, which no IAM policy in the input allows
          help: allow the controller `ec2:RunInstances` on `placement-group/*`; earlier releases do not use it
          7 |         - {Effect: Allow, Action: [ec2:CreateFleet, ec2:RunInstances, ec2:TerminateInstances], Resource: ['arn:aws:ec2:*:*:instance/*']}
            |                                                                       ^^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerLaunch Properties.PolicyDocument.Statement[0].Action[2] [since 1.15]
          Karpenter needs `ec2:RebootInstances` for the feature gate `RebootForRepair`, which no IAM policy in the input allows
          help: allow the controller `ec2:RebootInstances`; earlier releases do not use it
         13 |         - {Effect: Allow, Action: [ec2:DescribeInstances, ec2:DescribeSubnets, iam:GetInstanceProfile, pricing:GetProducts, ec2:DescribeInstanceStatus], Resource: '*'}
            |                                    ^^^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerRead Properties.PolicyDocument.Statement[0].Action[0] [since 1.12]
          Karpenter needs `arc-zonal-shift:GetManagedResource` for `settings.enableZonalShift`, which no IAM policy in the input allows
          help: allow the controller `arc-zonal-shift:GetManagedResource`; earlier releases do not use it
         13 |         - {Effect: Allow, Action: [ec2:DescribeInstances, ec2:DescribeSubnets, iam:GetInstanceProfile, pricing:GetProducts, ec2:DescribeInstanceStatus], Resource: '*'}
            |                                                           ^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerRead Properties.PolicyDocument.Statement[0].Action[1] [since 1.6]
          Karpenter needs `ec2:DescribeCapacityReservations` for EC2NodeClasses that select capacity reservations, which no IAM policy in the input allows
          help: allow the controller `ec2:DescribeCapacityReservations`; earlier releases do not use it
         13 |         - {Effect: Allow, Action: [ec2:DescribeInstances, ec2:DescribeSubnets, iam:GetInstanceProfile, pricing:GetProducts, ec2:DescribeInstanceStatus], Resource: '*'}
            |                                                           ^^^^^^^^^^^^^^^^^^^
        warning /KarpenterControllerRead Properties.PolicyDocument.Statement[0].Action[1] [since 1.11]
          Karpenter needs `ec2:DescribePlacementGroups` for EC2NodeClasses with `placementGroupSelector`, which no IAM policy in the input allows
          help: allow the controller `ec2:DescribePlacementGroups`; earlier releases do not use it
        ");
        let gate = "---\nsettings: {clusterName: a, featureGates: {reservedCapacity: true}}\n";
        assert!(begins(&super::RULE, "1.2", "1.3", &format!("{text}{gate}")).contains("from 1.3 on"));
    }

    #[test]
    fn policies_of_others_and_partial_policies_are_not_reported() {
        begins_nothing(&super::RULE, "1.0", "1.15", &policies("sqs:ReceiveMessage, pricing:GetProducts"));
        begins_nothing(
            &super::RULE,
            "1.0",
            "1.15",
            "Statement: [{Effect: Allow, Action: [ec2:DescribeInstances], Resource: '*'}]\n",
        );
    }
}
