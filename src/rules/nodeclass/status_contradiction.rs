use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, Ec2NodeClassStatus};
use objects::object::{Object, Operation};
use objects::status::StatusCondition;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::arn;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Reads the status of an EC2NodeClass, as `kubectl get -o yaml` prints it, and finds contradictions and
    /// hidden problems:
    ///
    /// - `InstanceProfileReady` is true, but `ValidationSucceeded` was never decided,
    /// - `Ready` is true, but one of the conditions that it depends on is not,
    /// - a condition is true, but the list that it describes is empty,
    /// - all conditions are true, but `status.amis`, `status.subnets` or `status.securityGroups` is missing,
    /// - the status belongs to an older spec.
    ///
    /// ## Why it is bad
    ///
    /// `InstanceProfileReady=True` does not mean that the profile exists: Karpenter copies `spec.instanceProfile`
    /// without looking it up. Since 1.3.1 a trial launch with such a profile fails. Karpenter assumes that the profile
    /// does not exist yet and waits without logging anything, so `ValidationSucceeded` and `Ready` stay `Unknown`.
    ///
    /// Every new node class has the same status for a moment, and for longer while EC2 throttles requests.
    ///
    /// The controller writes each list together with its condition, and launches nodes only with the AMIs, subnets and
    /// security groups of the status. A status with true conditions and without a list was not written by the controller, for
    /// example restored from a backup, or its text was cut.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceProfile: KarpenterNodeProfile-prod
    /// status:
    ///   instanceProfile: KarpenterNodeProfile-prod
    ///   conditions:
    ///   - {type: SubnetsReady, status: "True", reason: SubnetsReady}
    ///   - {type: InstanceProfileReady, status: "True", reason: InstanceProfileReady}
    ///   - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation, message: object is awaiting reconciliation}
    ///   - {type: Ready, status: Unknown, reason: ReconcilingDependents, message: ValidationSucceeded=Unknown}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceProfile: KarpenterNodeProfile-prod
    /// status:
    ///   instanceProfile: KarpenterNodeProfile-prod
    ///   subnets: [{id: subnet-0a1b2c3d, zone: eu-west-1a, zoneID: euw1-az1}]
    ///   conditions:
    ///   - {type: SubnetsReady, status: "True", reason: SubnetsReady}
    ///   - {type: InstanceProfileReady, status: "True", reason: InstanceProfileReady}
    ///   - {type: ValidationSucceeded, status: "True", reason: ValidationSucceeded}
    ///   - {type: Ready, status: "True", reason: Ready}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8072, #8312, #8538, #7849
    /// - pkg/controllers/nodeclass/validation.go and instanceprofile.go at v1.3.1 and v1.14.1
    /// - pkg/controllers/nodeclass/status/ami.go, subnet.go and securitygroup.go at v1.0.0, and
    ///   pkg/controllers/nodeclass/ami.go, subnet.go and securitygroup.go at v1.3.0, v1.9.0 and v1.14.1
    /// - pkg/providers/amifamily/resolver.go, pkg/providers/subnet/subnet.go and
    ///   pkg/providers/launchtemplate/launchtemplate.go at v1.0.0 and v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the status of a node class contradicts itself",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        diagnoses: Some(&["instance-profile-is-arn"]),
        check: check,
    }
}

/// Releases that keep waiting if EC2 refuses the profile in the trial launch. Source: aws/karpenter-provider-aws#7849,
/// in v1.3.1.
const WAITS: Releases = Releases::since_patch(3, 1);

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // A request that changes the spec still contains the status of the previous spec.
    if object.operation() != Operation::Apply {
        return;
    }
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some(status) = class.status() else { return };
    if status.condition_list().is_none_or(Node::is_empty) {
        return;
    }
    let conditions: Vec<_> = status.conditions().collect();
    findings.extend(undecided(class, &conditions));
    findings.extend(unready(&conditions));
    findings.extend(unauthorised(&conditions));
    emptied(status, &conditions, findings);
    findings.extend(unlisted(status, &conditions));
    findings.extend(outdated(object, &conditions));
    findings.extend(profile(class, status));
}

fn is_true(condition: &StatusCondition<'_>) -> bool {
    condition.status == "True"
}

fn place<'d>(condition: &StatusCondition<'d>) -> Place<'d> {
    Place::value(condition.status_node())
}

fn find<'c, 'd>(conditions: &'c [StatusCondition<'d>], kind: &str) -> Option<&'c StatusCondition<'d>> {
    conditions.iter().find(|condition| condition.kind == kind)
}

fn find_true<'c, 'd>(conditions: &'c [StatusCondition<'d>], kind: &str) -> Option<&'c StatusCondition<'d>> {
    find(conditions, kind).filter(|condition| condition.status == "True")
}

/// Reports a trial launch that was never decided, although all other conditions are true.
fn undecided<'d>(class: Ec2NodeClass<'d>, conditions: &[StatusCondition<'d>]) -> Option<Finding<'d>> {
    let validation = find(conditions, "ValidationSucceeded")?;
    let profile = find_true(conditions, "InstanceProfileReady")?;
    let waits = validation.status == "Unknown" && validation.reason == "AwaitingReconciliation";
    let rest =
        |one: &StatusCondition<'_>| matches!(one.kind, "ValidationSucceeded" | "Ready") || is_true(one);
    if !waits || !conditions.iter().all(rest) {
        return None;
    }
    let message = "`ValidationSucceeded` was never decided although all other conditions are true: Karpenter waits for an \
                   instance profile that EC2 does not find, unless the EC2NodeClass is only minutes old or EC2 throttles \
                   requests";
    let named = class.instance_profile().and_then(Node::as_str);
    let help = match named {
        Some(name) => format!("check that the instance profile `{name}` exists in this account under exactly this name, and that this is not an ARN; `InstanceProfileReady` does not check it"),
        None => "look for `RunInstances` calls of the controller in CloudTrail; `InstanceProfileReady` does not mean that EC2 finds the profile".to_owned(),
    };
    let finding = Finding::new(&RULE, place(validation), message).releases(WAITS).help(help);
    Some(
        finding.related(place(profile), "Karpenter copies the profile from the spec and does not look it up"),
    )
}

/// Reports `Ready` if it is true although another condition is false.
fn unready<'d>(conditions: &[StatusCondition<'d>]) -> Option<Finding<'d>> {
    let ready = find_true(conditions, "Ready")?;
    let part = conditions.iter().find(|one| one.kind != "Ready" && one.status == "False")?;
    let message = format!("`Ready` is true although `{}` is false ({})", part.kind, part.reason);
    let help = "the controller has not updated `Ready`: check that it runs, and that its release matches the installed CRDs";
    let finding = Finding::new(&RULE, place(ready), message).help(help);
    Some(finding.related(place(part), "this condition is false"))
}

/// Reports a launch that fails because of missing permissions although the profile is ready.
fn unauthorised<'d>(conditions: &[StatusCondition<'d>]) -> Option<Finding<'d>> {
    let validation = find(conditions, "ValidationSucceeded").filter(|one| one.status == "False")?;
    let profile = find_true(conditions, "InstanceProfileReady")?;
    let call = validation.reason.strip_suffix("AuthCheckFailed")?;
    let message = format!(
        "the controller is not allowed to call `ec2:{call}`; `InstanceProfileReady` does not mean that it may pass the profile"
    );
    let help = "check `iam:PassRole` on the role of the profile, the tag conditions of the controller's policy, and service control policies; Karpenter caches the answer for half an hour";
    let finding = Finding::new(&RULE, place(validation), message).releases(Releases::since(3)).help(help);
    Some(
        finding
            .caught_by(CaughtBy::Controller)
            .related(place(profile), "this condition does not cover permissions"),
    )
}

/// The lists of a status, each with the condition that describes it. The controller sets both in one patch, in every
/// release: pkg/controllers/nodeclass/status/ami.go, subnet.go and securitygroup.go at v1.0.0, pkg/controllers/nodeclass at
/// v1.3.0, v1.9.0 and v1.14.1.
fn lists(status: Ec2NodeClassStatus<'_>) -> [(&'static str, &'static str, Option<Node<'_>>); 3] {
    [
        ("SubnetsReady", "subnets", status.subnets()),
        ("SecurityGroupsReady", "securityGroups", status.security_groups()),
        ("AMIsReady", "amis", status.amis()),
    ]
}

/// Reports conditions that are true although the list that they describe is empty.
fn emptied<'d>(
    status: Ec2NodeClassStatus<'d>,
    conditions: &[StatusCondition<'d>],
    findings: &mut Vec<Finding<'d>>,
) {
    for (kind, field, list) in lists(status) {
        let Some(condition) = find_true(conditions, kind) else { continue };
        // A placeholder in the place of the list has no items either.
        if list.is_some_and(|list| list.is_empty() && !list.as_str().is_some_and(has_placeholder)) {
            let message = format!("`{kind}` is true although `status.{field}` is empty");
            let help = "the text was truncated, or the status was restored from elsewhere; remove `status` and let the controller write it";
            findings.push(Finding::new(&RULE, place(condition), message).help(help));
        }
    }
}

/// Reports lists that are missing although all conditions are true. While a condition is not true, its list, and the rest of
/// the status, may not be written yet.
fn unlisted<'d>(status: Ec2NodeClassStatus<'d>, conditions: &[StatusCondition<'d>]) -> Option<Finding<'d>> {
    if !conditions.iter().all(is_true) {
        return None;
    }
    let mut missing = Vec::new();
    for (kind, field, list) in lists(status) {
        if let Some(condition) = find_true(conditions, kind).filter(|_| list.is_none()) {
            missing.push((field, condition));
        }
    }
    let (first, condition) = missing.first()?;
    let fields: Vec<_> = missing.iter().map(|(field, _)| format!("`status.{field}`")).collect();
    let (fields, verb) = (fields.join(" and "), if missing.len() == 1 { "is" } else { "are" });
    let message = format!(
        "all conditions are true, but {fields} {verb} missing; Karpenter launches nodes only with what these fields list"
    );
    let help = "if the text is complete, the controller did not write this status: check whether a backup tool or `kubectl replace` restored it, and that the controller runs, which writes the lists again within minutes";
    let finding = Finding::new(&RULE, Place::missing(status.node(), *first), message).help(help);
    Some(finding.related(place(condition), "the controller sets this condition together with the list"))
}

/// Reports a condition that belongs to an older spec.
fn outdated<'d>(object: Object<'d>, conditions: &[StatusCondition<'d>]) -> Option<Finding<'d>> {
    let generation = object.metadata().generation().and_then(Node::as_int)?;
    let (node, seen) = conditions.iter().find_map(|one| {
        let node = one.observed_generation()?;
        let seen = node.as_int().filter(|seen| *seen < generation)?;
        Some((node, seen))
    })?;
    let message = format!(
        "this condition is from generation {seen} of the EC2NodeClass, which is now at generation {generation}; the \
         controller has not processed the new spec"
    );
    let help = "check whether the controller runs and what it logs; it processes a new spec within seconds";
    Some(Finding::at(&RULE, node, message).help(help))
}

/// Reports a profile in the status that differs from the spec, or that is an ARN.
fn profile<'d>(class: Ec2NodeClass<'d>, status: Ec2NodeClassStatus<'d>) -> Option<Finding<'d>> {
    let node = status.instance_profile()?;
    let used = node.as_str().filter(|used| !has_placeholder(used))?;
    let asked = class.instance_profile();
    let arn = matches!(arn::IamReference::parse(used), arn::IamReference::Arn { .. });
    match asked.and_then(|asked| Some((asked, asked.as_str()?))) {
        Some((_, name)) if has_placeholder(name) => None,
        Some((asked, name)) if name != used => {
            let message = format!("nodes get the instance profile `{used}`, but the spec names `{name}`");
            let help =
                "check whether the controller runs and what it logs; it copies the profile within seconds";
            let finding = Finding::at(&RULE, node, message).help(help);
            Some(finding.related(Place::value(asked), "the profile in the spec"))
        }
        None if arn => {
            let message = "`status.instanceProfile` is an ARN, but EC2 expects the profile name; no node of this EC2NodeClass \
                           starts";
            Some(
                Finding::new(&RULE, Place::value(node), message)
                    .help("write the profile name into `spec.instanceProfile`"),
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn class(spec: &str, status: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a, generation: 2}}
spec: {{{spec}}}
status:
{status}
"
        )
    }

    const WAITING: &str = r"  conditions:
  - {type: AMIsReady, status: 'True'}
  - {type: InstanceProfileReady, status: 'True'}
  - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation}
  - {type: Ready, status: Unknown, reason: ReconcilingDependents}";

    #[test]
    fn reports_validation_that_never_finishes_in_the_releases_that_wait() {
        let text = class("instanceProfile: nodes", WAITING);
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |   - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation}
            |                                         ^^^^^^^
        warning EC2NodeClass/a status.conditions[2].status [since 1.3.1]
          `ValidationSucceeded` was never decided although all other conditions are true: Karpenter waits for an instance profile that EC2 does not find, unless the EC2NodeClass is only minutes old or EC2 throttles requests
          help: check that the instance profile `nodes` exists in this account under exactly this name, and that this is not an ARN; `InstanceProfileReady` does not check it
          see line 8 status.conditions[1].status: Karpenter copies the profile from the spec and does not look it up
        ");
        let before = Settings { karpenter: Target::parse("1.3.0").unwrap(), ..Settings::default() };
        assert_eq!(findings_with(&super::RULE, &text, &before), "");
        // Validation waits for another condition that is not true yet.
        silent(&super::RULE, &text.replace("AMIsReady, status: 'True'", "AMIsReady, status: 'False'"));
    }

    #[test]
    fn reports_ready_although_another_condition_is_false() {
        let text = class(
            "role: a",
            "  conditions:\n  - {type: SubnetsReady, status: 'False', reason: SubnetsNotFound}\n  - {type: Ready, status: 'True'}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {type: Ready, status: 'True'}
            |                           ^^^^^^
        warning EC2NodeClass/a status.conditions[1].status [all]
          `Ready` is true although `SubnetsReady` is false (SubnetsNotFound)
          help: the controller has not updated `Ready`: check that it runs, and that its release matches the installed CRDs
          see line 7 status.conditions[0].status: this condition is false
        ");
    }

    #[test]
    fn distinguishes_missing_permissions_from_a_missing_profile() {
        let text = class(
            "role: a",
            "  conditions:\n  - {type: InstanceProfileReady, status: 'True'}\n  - {type: ValidationSucceeded, status: 'False', reason: RunInstancesAuthCheckFailed}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {type: ValidationSucceeded, status: 'False', reason: RunInstancesAuthCheckFailed}
            |                                         ^^^^^^^
        warning EC2NodeClass/a status.conditions[1].status [since 1.3]
          the controller is not allowed to call `ec2:RunInstances`; `InstanceProfileReady` does not mean that it may pass the profile
          help: check `iam:PassRole` on the role of the profile, the tag conditions of the controller's policy, and service control policies; Karpenter caches the answer for half an hour
          see line 7 status.conditions[0].status: this condition does not cover permissions
        ");
    }

    #[test]
    fn reports_true_condition_for_an_empty_list() {
        let text = class("role: a", "  amis: []\n  conditions:\n  - {type: AMIsReady, status: 'True'}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {type: AMIsReady, status: 'True'}
            |                               ^^^^^^
        warning EC2NodeClass/a status.conditions[0].status [all]
          `AMIsReady` is true although `status.amis` is empty
          help: the text was truncated, or the status was restored from elsewhere; remove `status` and let the controller write it
        ");
    }

    #[test]
    fn a_list_that_is_a_placeholder_is_not_empty() {
        let status = "  amis: '${amis}'\n  conditions:\n  - {type: AMIsReady, status: 'True'}";
        silent(&super::RULE, &class("role: a", status));
    }

    const READY: &str = r"  subnets: [{id: subnet-1}]
  securityGroups: [{id: sg-1}]
  amis: [{id: ami-1}]
  conditions:
  - {type: SubnetsReady, status: 'True'}
  - {type: SecurityGroupsReady, status: 'True'}
  - {type: AMIsReady, status: 'True'}
  - {type: Ready, status: 'True'}";

    #[test]
    fn reports_missing_lists_if_all_conditions_are_true() {
        let text = class("role: a", &READY.replace("  amis: [{id: ami-1}]\n", ""));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 | status:
            | ^^^^^^
        warning EC2NodeClass/a status.amis [all]
          all conditions are true, but `status.amis` is missing; Karpenter launches nodes only with what these fields list
          help: if the text is complete, the controller did not write this status: check whether a backup tool or `kubectl replace` restored it, and that the controller runs, which writes the lists again within minutes
          see line 11 status.conditions[2].status: the controller sets this condition together with the list
        ");
        // Three missing lists are one mistake.
        let cut = READY.lines().skip(3).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(findings(&super::RULE, &class("role: a", &cut)), @"
          5 | status:
            | ^^^^^^
        warning EC2NodeClass/a status.subnets [all]
          all conditions are true, but `status.subnets` and `status.securityGroups` and `status.amis` are missing; Karpenter launches nodes only with what these fields list
          help: if the text is complete, the controller did not write this status: check whether a backup tool or `kubectl replace` restored it, and that the controller runs, which writes the lists again within minutes
          see line 7 status.conditions[0].status: the controller sets this condition together with the list
        ");
        silent(&super::RULE, &class("role: a", READY));
        // A list may not be written yet while a condition is not true, and a release may not have the condition.
        silent(&super::RULE, &text.replace("AMIsReady, status: 'True'", "AMIsReady, status: 'Unknown'"));
        silent(&super::RULE, &text.replace("  - {type: AMIsReady, status: 'True'}\n", ""));
    }

    #[test]
    fn reports_status_of_an_older_spec() {
        let text = class(
            "instanceProfile: new",
            "  instanceProfile: old\n  conditions:\n  - {type: Ready, status: 'True', observedGeneration: 1}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          6 |   instanceProfile: old
            |                    ^^^
        warning EC2NodeClass/a status.instanceProfile [all]
          nodes get the instance profile `old`, but the spec names `new`
          help: check whether the controller runs and what it logs; it copies the profile within seconds
          see line 4 spec.instanceProfile: the profile in the spec
          8 |   - {type: Ready, status: 'True', observedGeneration: 1}
            |                                                       ^
        warning EC2NodeClass/a status.conditions[0].observedGeneration [all]
          this condition is from generation 1 of the EC2NodeClass, which is now at generation 2; the controller has not processed the new spec
          help: check whether the controller runs and what it logs; it processes a new spec within seconds
        ");
    }

    #[test]
    fn ignores_a_healthy_or_missing_status_and_updates() {
        let healthy = class(
            "instanceProfile: nodes",
            &format!(
                "  amis: [{{id: ami-1}}]\n{}",
                WAITING.replace("Unknown", "'True'").replace("AwaitingReconciliation", "ValidationSucceeded")
            ),
        );
        silent(&super::RULE, &healthy);
        silent(
            &super::RULE,
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {role: a}
",
        );
        silent(&super::RULE, &class("role: a", "  conditions: []"));
        let changed = class(
            "instanceProfile: new",
            "  instanceProfile: old\n  conditions:\n  - {type: Ready, status: 'True', observedGeneration: 1}",
        );
        silent(
            &super::RULE,
            &format!(
                r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  object:
    {}",
                changed.replace('\n', "\n    ").trim_end()
            ),
        );
    }

    #[test]
    fn compares_the_profile_of_the_status_with_the_spec() {
        let used = |spec: &str, profile: &str| {
            findings(
                &super::RULE,
                &class(
                    spec,
                    &format!("  instanceProfile: {profile}\n  conditions: [{{type: Ready, status: 'True'}}]"),
                ),
            )
        };
        let arn = "arn:aws:iam::111122223333:instance-profile/nodes";
        assert!(used("instanceProfile: other", "nodes").contains("but the spec names `other`"));
        assert!(used("role: a", arn).contains("`status.instanceProfile` is an ARN"));
        for (spec, profile) in [
            ("instanceProfile: nodes", "nodes"),
            ("instanceProfile: '${PROFILE}'", "nodes"),
            ("instanceProfile: other", "'${PROFILE}'"),
            ("role: a", "nodes"),
        ] {
            assert_eq!(used(spec, profile), "", "{spec} {profile}");
        }
    }

    #[test]
    fn validation_that_was_decided_is_not_reported() {
        let text = class("instanceProfile: nodes", WAITING);
        silent(&super::RULE, &text.replace("AwaitingReconciliation", "DependenciesNotReady"));
        let decided = text.replace("status: Unknown, reason: Awaiting", "status: 'True', reason: Awaiting");
        silent(&super::RULE, &decided);
    }
}
