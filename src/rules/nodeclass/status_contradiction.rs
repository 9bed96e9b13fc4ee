use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use values::arn;
use values::placeholder::is_in_name;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::{Object, Operation};
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Reads the status of an EC2NodeClass, as `kubectl get -o yaml` prints it, and finds what cannot be true at once or
    /// hides what is wrong:
    ///
    /// - `InstanceProfileReady` is true and `ValidationSucceeded` has never been decided,
    /// - `Ready` is true and one of its parts is not,
    /// - a condition is true and what it is about is empty,
    /// - the status is that of an older spec.
    ///
    /// ## Why it is bad
    ///
    /// `InstanceProfileReady=True` does not say that the profile exists: `spec.instanceProfile` is copied without being
    /// looked up. From 1.3.1 on a trial launch fails on such a profile, Karpenter takes that for a profile that is not
    /// there yet, and waits without a word: `ValidationSucceeded` and `Ready` stay `Unknown` for ever.
    ///
    /// The same picture lasts for a moment on every new node class, and longer while EC2 throttles requests.
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
    RULE {
        name: "status-contradiction",
        family: Family::Nodeclass,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the status of a node class contradicts itself",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// A profile that EC2 refuses makes the trial launch wait. Source: aws/karpenter-provider-aws#7849, in v1.3.1.
const WAITS: Releases = Releases::patches(3, 1, 8).or(Releases::since(4));

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    // A request that changes the spec brings the status of the spec before.
    if object.operation() != Operation::Apply {
        return;
    }
    let Some(list) = object.at(&["status", "conditions"]).filter(|list| !list.is_empty()) else { return };
    let mut conditions = Vec::new();
    for item in list.items() {
        if let Some(condition) = Condition::read(item) {
            conditions.push(condition);
        }
    }
    drafts.extend(undecided(object, &conditions));
    drafts.extend(unready(&conditions));
    drafts.extend(unauthorised(&conditions));
    emptied(object, &conditions, drafts);
    drafts.extend(outdated(object, &conditions));
    drafts.extend(profile(object));
}

/// A condition of a status.
#[derive(Clone, Copy, Debug)]
struct Condition<'d> {
    node: Node<'d>,
    kind: &'d str,
    status: &'d str,
    reason: &'d str,
}

impl<'d> Condition<'d> {
    fn read(node: Node<'d>) -> Option<Self> {
        Some(Self {
            node,
            kind: node.str_at(&["type"])?,
            status: node.str_at(&["status"])?,
            reason: node.str_at(&["reason"]).unwrap_or_default(),
        })
    }

    fn is_true(&self) -> bool {
        self.status == "True"
    }

    fn place(&self) -> Place<'d> {
        Place::value(self.node.get("status").unwrap_or(self.node))
    }
}

fn find<'c, 'd>(conditions: &'c [Condition<'d>], kind: &str) -> Option<&'c Condition<'d>> {
    conditions.iter().find(|condition| condition.kind == kind)
}

fn find_true<'c, 'd>(conditions: &'c [Condition<'d>], kind: &str) -> Option<&'c Condition<'d>> {
    find(conditions, kind).filter(|condition| condition.status == "True")
}

/// The profile is ready, all else is, and the trial launch has never been decided.
fn undecided<'d>(object: Object<'d>, conditions: &[Condition<'d>]) -> Option<Draft<'d>> {
    let validation = find(conditions, "ValidationSucceeded")?;
    let profile = find_true(conditions, "InstanceProfileReady")?;
    let waits = validation.status == "Unknown" && validation.reason == "AwaitingReconciliation";
    let rest = |one: &Condition<'_>| matches!(one.kind, "ValidationSucceeded" | "Ready") || one.is_true();
    if !waits || !conditions.iter().all(rest) {
        return None;
    }
    let message = "`ValidationSucceeded` has never been decided while all else is ready: the trial launch waits for an instance profile that EC2 does not find, unless the node class is only minutes old or EC2 throttles";
    let named = object.str_at(&["spec", "instanceProfile"]);
    let help = match named {
        Some(name) => format!("check that the instance profile `{name}` exists in this account, by that very name and not by its ARN; `InstanceProfileReady` does not say so"),
        None => "look into CloudTrail for `RunInstances` of the controller; `InstanceProfileReady` does not say that EC2 finds the profile".to_owned(),
    };
    let draft = Draft::new(&RULE, validation.place(), message).releases(WAITS).help(help);
    Some(draft.related(profile.place(), "this is copied from the spec, not looked up"))
}

/// Ready, though a part of it is not.
fn unready<'d>(conditions: &[Condition<'d>]) -> Option<Draft<'d>> {
    let ready = find_true(conditions, "Ready")?;
    let part = conditions.iter().find(|one| one.kind != "Ready" && one.status == "False")?;
    let message = format!("`Ready` is true although `{}` is false ({})", part.kind, part.reason);
    let help = "the controller has not summed the conditions up again: see whether it runs, and whether its release and the custom resource definition belong together";
    let draft = Draft::new(&RULE, ready.place(), message).help(help);
    Some(draft.related(part.place(), "this is false"))
}

/// The launch is refused for want of permission, with a profile that is ready.
fn unauthorised<'d>(conditions: &[Condition<'d>]) -> Option<Draft<'d>> {
    let validation = find(conditions, "ValidationSucceeded").filter(|one| one.status == "False")?;
    let profile = find_true(conditions, "InstanceProfileReady")?;
    let call = validation.reason.strip_suffix("AuthCheckFailed")?;
    let message = format!("the controller may not call `ec2:{call}`; a profile that is ready does not mean that it may be passed");
    let help = "check `iam:PassRole` on the role of the profile, the tag conditions of the controller's policy, and service control policies; the answer is kept for half an hour";
    let draft = Draft::new(&RULE, validation.place(), message).releases(Releases::since(3)).help(help);
    Some(draft.caught_by(CaughtBy::Controller).related(profile.place(), "this says nothing of permissions"))
}

/// Found, and yet there is nothing.
fn emptied<'d>(object: Object<'d>, conditions: &[Condition<'d>], drafts: &mut Vec<Draft<'d>>) {
    for (kind, field) in [("SubnetsReady", "subnets"), ("SecurityGroupsReady", "securityGroups"), ("AMIsReady", "amis")] {
        let Some(condition) = find_true(conditions, kind) else { continue };
        // A list that is not there may have been cut from the text.
        if object.at(&["status", field]).is_some_and(Node::is_empty) {
            let message = format!("`{kind}` is true although `status.{field}` is empty");
            let help = "the text was cut, or the status was restored from elsewhere: remove `status` and let the controller write it";
            drafts.push(Draft::new(&RULE, condition.place(), message).help(help));
        }
    }
}

/// The status of an older spec.
fn outdated<'d>(object: Object<'d>, conditions: &[Condition<'d>]) -> Option<Draft<'d>> {
    let generation = object.at(&["metadata", "generation"]).and_then(Node::as_int)?;
    let (node, seen) = conditions.iter().find_map(|one| {
        let node = one.node.get("observedGeneration")?;
        let seen = node.as_int().filter(|seen| *seen < generation)?;
        Some((node, seen))
    })?;
    let message = format_args!("the condition is of generation {seen} of the node class, which is at {generation}: the controller has not looked at the new spec");
    let help = "see whether the controller runs and what it logs; a new spec is looked at within seconds";
    Some(Draft::at(&RULE, node, message).help(help))
}

/// The profile that nodes get is not that of the spec.
fn profile(object: Object<'_>) -> Option<Draft<'_>> {
    let node = object.at(&["status", "instanceProfile"])?;
    let used = node.as_str()?;
    let asked = object.at(&["spec", "instanceProfile"]);
    let arn = matches!(arn::Reference::read(used), arn::Reference::Arn { .. });
    match asked.and_then(|asked| Some((asked, asked.as_str()?))) {
        Some((_, name)) if is_in_name(name) => None,
        Some((asked, name)) if name != used => {
            let message = format_args!("nodes get the instance profile `{used}`, but the spec asks for `{name}`");
            let help = "see whether the controller runs and what it logs; the profile is copied within seconds";
            let draft = Draft::at(&RULE, node, message).help(help);
            Some(draft.related(Place::value(asked), "the profile of the spec"))
        }
        None if arn => {
            let message = "the instance profile of the status is an ARN; EC2 takes a name, and no node of this class starts";
            Some(Draft::new(&RULE, Place::value(node), message).help("write the profile's name into `spec.instanceProfile`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::{Settings, Target};

    fn class(spec: &str, status: &str) -> String {
        format!("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a, generation: 2}}\nspec: {{{spec}}}\nstatus:\n{status}\n")
    }

    const WAITING: &str = "  conditions:\n  - {type: AMIsReady, status: 'True'}\n  - {type: InstanceProfileReady, status: 'True'}\n  - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation}\n  - {type: Ready, status: Unknown, reason: ReconcilingDependents}";

    #[test]
    fn a_validation_that_waits_for_ever_is_found_in_the_releases_that_wait() {
        let text = class("instanceProfile: nodes", WAITING);
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |   - {type: ValidationSucceeded, status: Unknown, reason: AwaitingReconciliation}
            |                                         ^^^^^^^
        warning EC2NodeClass/a status.conditions[2].status [1.3.1-1.3.8, 1.4-1.14]
          `ValidationSucceeded` has never been decided while all else is ready: the trial launch waits for an instance profile that EC2 does not find, unless the node class is only minutes old or EC2 throttles
          help: check that the instance profile `nodes` exists in this account, by that very name and not by its ARN; `InstanceProfileReady` does not say so
          see line 8 status.conditions[1].status: this is copied from the spec, not looked up
        ");
        let before = Settings { karpenter: Target::parse("1.3.0").unwrap(), ..Settings::default() };
        assert_eq!(findings_with(&super::RULE, &text, &before), "");
        // Something else is not ready yet, and validation waits for that.
        silent(&super::RULE, &text.replace("AMIsReady, status: 'True'", "AMIsReady, status: 'False'"));
    }

    #[test]
    fn ready_does_not_go_with_a_part_that_is_not() {
        let text = class("role: a", "  conditions:\n  - {type: SubnetsReady, status: 'False', reason: SubnetsNotFound}\n  - {type: Ready, status: 'True'}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {type: Ready, status: 'True'}
            |                           ^^^^^^
        warning EC2NodeClass/a status.conditions[1].status [1.0-1.14]
          `Ready` is true although `SubnetsReady` is false (SubnetsNotFound)
          help: the controller has not summed the conditions up again: see whether it runs, and whether its release and the custom resource definition belong together
          see line 7 status.conditions[0].status: this is false
        ");
    }

    #[test]
    fn missing_permissions_are_told_from_a_missing_profile() {
        let text = class("role: a", "  conditions:\n  - {type: InstanceProfileReady, status: 'True'}\n  - {type: ValidationSucceeded, status: 'False', reason: RunInstancesAuthCheckFailed}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {type: ValidationSucceeded, status: 'False', reason: RunInstancesAuthCheckFailed}
            |                                         ^^^^^^^
        warning EC2NodeClass/a status.conditions[1].status [1.3-1.14]
          the controller may not call `ec2:RunInstances`; a profile that is ready does not mean that it may be passed
          help: check `iam:PassRole` on the role of the profile, the tag conditions of the controller's policy, and service control policies; the answer is kept for half an hour
          see line 7 status.conditions[0].status: this says nothing of permissions
        ");
    }

    #[test]
    fn what_is_found_and_yet_empty_is_found() {
        let text = class("role: a", "  amis: []\n  conditions:\n  - {type: AMIsReady, status: 'True'}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |   - {type: AMIsReady, status: 'True'}
            |                               ^^^^^^
        warning EC2NodeClass/a status.conditions[0].status [1.0-1.14]
          `AMIsReady` is true although `status.amis` is empty
          help: the text was cut, or the status was restored from elsewhere: remove `status` and let the controller write it
        ");
        silent(&super::RULE, &text.replace("  amis: []\n", ""));
    }

    #[test]
    fn a_status_of_an_older_spec_is_found() {
        let text = class("instanceProfile: new", "  instanceProfile: old\n  conditions:\n  - {type: Ready, status: 'True', observedGeneration: 1}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          6 |   instanceProfile: old
            |                    ^^^
        warning EC2NodeClass/a status.instanceProfile [1.0-1.14]
          nodes get the instance profile `old`, but the spec asks for `new`
          help: see whether the controller runs and what it logs; the profile is copied within seconds
          see line 4 spec.instanceProfile: the profile of the spec
          8 |   - {type: Ready, status: 'True', observedGeneration: 1}
            |                                                       ^
        warning EC2NodeClass/a status.conditions[0].observedGeneration [1.0-1.14]
          the condition is of generation 1 of the node class, which is at 2: the controller has not looked at the new spec
          help: see whether the controller runs and what it logs; a new spec is looked at within seconds
        ");
    }

    #[test]
    fn a_healthy_status_and_none_at_all_are_left_alone() {
        let healthy = class("instanceProfile: nodes", &WAITING.replace("Unknown", "'True'").replace("AwaitingReconciliation", "ValidationSucceeded"));
        silent(&super::RULE, &healthy);
        silent(&super::RULE, "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {role: a}\n");
        silent(&super::RULE, &class("role: a", "  conditions: []"));
        let changed = class("instanceProfile: new", "  instanceProfile: old\n  conditions:\n  - {type: Ready, status: 'True', observedGeneration: 1}");
        silent(&super::RULE, &format!("apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  operation: UPDATE\n  object:\n    {}", changed.replace('\n', "\n    ").trim_end()));
    }
}
