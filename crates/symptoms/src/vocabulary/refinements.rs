//! Messages whose cause depends on more than their wording: on the caller in a denial of AWS, or on the label in a refusal of the
//! scheduler.

use scheduling::other_nodes::is_node_group_label;

use super::denial::Denial;
use crate::entry::{Entry, LogLevel};

/// Another symptom for some messages of a symptom.
#[derive(Debug)]
struct Refinement {
    /// The symptoms of the messages.
    of: &'static [&'static str],
    /// The symptom that explains them better.
    to: &'static str,
    /// Returns the detail of the other symptom; `None` if the message stays with its own symptom.
    detail: fn(&Entry<'_>, &str) -> Option<String>,
}

/// Symptoms whose messages contain an error of AWS.
const OF_AWS: &[&str] = &["controller-unauthorized", "ec2-out-of-reach", "denied-by-organization"];

/// All refinements. The first one that applies decides.
const ALL: &[Refinement] = &[
    Refinement {
        of: &[
            "interruption-queue-missing",
            "controller-panicked",
            "controller-unauthorized",
            "denied-by-organization",
        ],
        to: "interruption-queue-stops-controller",
        detail: queue_of_panic,
    },
    Refinement { of: OF_AWS, to: "trust-policy-refuses-controller", detail: refused_identity },
    Refinement { of: OF_AWS, to: "role-assumption-refused", detail: assumed_role },
    Refinement {
        of: &["controller-unauthorized", "ec2-out-of-reach"],
        to: "denied-by-organization",
        detail: denied_by_organization,
    },
    Refinement {
        of: &["controller-unauthorized", "ec2-out-of-reach"],
        to: "controller-uses-node-role",
        detail: role_of_node,
    },
    Refinement {
        of: &["ec2-out-of-reach"],
        to: "controller-unauthorized",
        detail: |entry, _| Some(denial(entry)?.action.to_owned()),
    },
    Refinement {
        of: &["label-unknown-to-every-pool"],
        to: "node-group-label-required",
        detail: |_, label| is_node_group_label(label).then(|| label.to_owned()),
    },
];

/// Returns the symptom that explains a message better than the symptom of its wording, with its detail.
pub fn refined(symptom: &str, entry: &Entry<'_>, detail: &str) -> Option<(&'static str, String)> {
    let of_symptom = ALL.iter().filter(|refinement| refinement.of.contains(&symptom));
    of_symptom.into_iter().find_map(|one| Some((one.to, (one.detail)(entry, detail)?)))
}

/// The text with the error of a line, or the message of a condition.
fn error<'e>(entry: &'e Entry<'_>) -> &'e str {
    if entry.error.is_empty() || entry.level == LogLevel::Panic { &entry.message } else { &entry.error }
}

fn denial<'e>(entry: &'e Entry<'_>) -> Option<Denial<'e>> {
    Denial::parse(error(entry)).or_else(|| Denial::parse(&entry.message))
}

/// Up to 1.3 the controller looks up the queue before it starts, and panics if that fails: `NewControllers` in
/// pkg/controllers/controllers.go of aws/karpenter-provider-aws at v1.0.0 and v1.3.3. From 1.4 on it tries again
/// (aws/karpenter-provider-aws#7951).
fn queue_of_panic(entry: &Entry<'_>, _: &str) -> Option<String> {
    let text = error(entry);
    let is_lookup = text.contains("GetQueueUrl") || text.contains("fetching queue url");
    (entry.level == LogLevel::Panic && is_lookup).then(String::new)
}

/// The trust policy of a role refuses the token of a ServiceAccount, or EKS Pod Identity.
fn refused_identity(entry: &Entry<'_>, _: &str) -> Option<String> {
    const REFUSALS: [&str; 2] =
        ["Not authorized to perform sts:AssumeRoleWithWebIdentity", "AssumeRoleForPodIdentity"];
    REFUSALS.iter().any(|refusal| error(entry).contains(refusal)).then(String::new)
}

fn assumed_role(entry: &Entry<'_>, _: &str) -> Option<String> {
    denial(entry)?.assumed_role().map(str::to_owned)
}

fn denied_by_organization(entry: &Entry<'_>, _: &str) -> Option<String> {
    if let Some(call) = entry.reason.strip_suffix("AuthCheckFailed") {
        // From 1.13 on the condition of a node class names the kind of policy: `ToReasonMessage` in pkg/errors/errors.go of
        // aws/karpenter-provider-aws at v1.13.0.
        const KINDS: [&str; 2] = ["due to a service control policy", "due to a permission boundary"];
        return KINDS.iter().any(|kind| entry.message.contains(kind)).then(|| format!("ec2:{call}"));
    }
    denial(entry).filter(Denial::is_by_organization).map(|denial| denial.action.to_owned())
}

fn role_of_node(entry: &Entry<'_>, _: &str) -> Option<String> {
    denial(entry).filter(Denial::is_of_node).map(|denial| denial.role.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::LogFileId;
    use crate::find;
    use crate::reader::FileReader;
    use crate::recognise::Recogniser;
    use crate::tally::Tally;
    use cluster::ids::ClusterId;
    use manifest::limits::Limits;

    /// `symptom: message` of each diagnosis of a log.
    fn told(log: &str) -> Vec<String> {
        let (mut tally, mut recogniser) = (Tally::default(), Recogniser::default());
        let mut reader = FileReader::new("karpenter.log", LogFileId::default(), Limits::DEFAULT);
        let mut observe = |entry: &Entry<'_>| tally.observe(recogniser.recognise(entry));
        reader.feed(log.as_bytes(), &mut observe);
        reader.finish(&mut observe);
        tally
            .diagnoses(ClusterId::FIRST)
            .iter()
            .map(|one| format!("{}: {}", one.symptom.name, one.message))
            .collect()
    }

    fn line(message: &str, error: &str) -> String {
        let line = serde_json::json!({
            "level": "ERROR", "time": "2026-02-10T09:28:52.768Z", "logger": "controller", "message": message,
            "commit": "e7e1327", "error": error,
        });
        format!("{line}\n")
    }

    fn denied(caller: &str, rest: &str) -> String {
        format!(
            "operation error EC2: RunInstances, https response error StatusCode: 403, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/{caller} is not authorized to perform: {rest}"
        )
    }

    #[test]
    fn names_are_symptoms() {
        for refinement in ALL {
            for name in refinement.of.iter().chain([&refinement.to]) {
                assert!(find(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn credentials_of_a_node_are_no_missing_permission() {
        let call = "ec2:RunInstances on resource: arn:aws:ec2:eu-west-1:111122223333:instance/* because no identity-based policy allows the ec2:RunInstances action";
        for (message, caller) in [
            ("Reconciler error", "prod-workers/i-0123456789abcdef0"),
            ("unauthorized to call ec2:RunInstances", "KarpenterNodeRole-prod/1760000000000000000"),
            ("ec2 api connectivity check failed", "KarpenterNodeRole-prod/i-0123456789abcdef0"),
        ] {
            let told = told(&line(message, &denied(caller, call)));
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with("controller-uses-node-role: "), "{told:?}");
        }
        let own = denied("KarpenterControllerRole-prod/1760000000000000000", call);
        for message in ["Reconciler error", "ec2 api connectivity check failed"] {
            assert_eq!(
                told(&line(message, &own)),
                [
                    "controller-unauthorized: the controller has no permission to call `ec2:RunInstances` that it needs"
                ]
            );
        }
    }

    #[test]
    fn policies_of_the_organisation_are_no_missing_permission() {
        for reason in [
            "with an explicit deny in a service control policy",
            "because no service control policy allows the ec2:RunInstances action",
            "because no permissions boundary allows the ec2:RunInstances action",
        ] {
            let call = format!(
                "ec2:RunInstances on resource: arn:aws:ec2:eu-west-1:111122223333:launch-template/* {reason}"
            );
            for message in ["Reconciler error", "unauthorized to call ec2:RunInstances"] {
                let told = told(&line(message, &denied("karpenter/1", &call)));
                assert_eq!(told.len(), 1, "{told:?}");
                assert!(told[0].starts_with("denied-by-organization: "), "{told:?}");
            }
        }
    }

    #[test]
    fn names_the_role_that_the_controller_may_not_assume() {
        let call = "sts:AssumeRole on resource: arn:aws:iam::111122223333:role/karpenter-manager";
        assert_eq!(
            told(&line(
                "ec2 api connectivity check failed",
                &denied("karpenter-manager/1699531699176343806", call)
            )),
            [
                "role-assumption-refused: AWS refuses `sts:AssumeRole` on the role `karpenter-manager`, so that the controller has no credentials"
            ]
        );
    }

    #[test]
    fn trust_policies_that_refuse_the_service_account_are_named() {
        for message in ["ec2 api connectivity check failed", "Reconciler error"] {
            let error = "get identity: get credentials: failed to refresh cached credentials, operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity";
            let told = told(&line(message, error));
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with("trust-policy-refuses-controller: "), "{told:?}");
        }
    }

    #[test]
    fn a_panic_at_the_queue_stops_the_controller() {
        let dump = "\n\ngoroutine 1 [running]:\ngithub.com/samber/lo.must({0x208ec20, 0x40009d7f40}, {0x0, 0x0, 0x0})\n\tgithub.com/samber/lo@v1.39.0/errors.go:53 +0x1dc\ngithub.com/aws/karpenter-provider-aws/pkg/controllers.NewControllers({0x2b83158, 0x4000a70000})\n\tgithub.com/aws/karpenter-provider-aws/pkg/controllers/controllers.go:103 +0x46c\nmain.main()\n";
        for panic in [
            "panic: fetching queue url, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist.",
            "panic: operation error SQS: GetQueueUrl, https response error StatusCode: 400, RequestID: 1b2c, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist.",
            "panic: operation error SQS: GetQueueUrl, https response error StatusCode: 403, RequestID: 1b2c, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/karpenter/1 is not authorized to perform: sqs:getqueueurl on resource: arn:aws:sqs:eu-west-1:111122223333:prod because no identity-based policy allows the sqs:getqueueurl action",
            "panic: operation error SQS: GetQueueUrl, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \"https://sqs.eu-west-1.amazonaws.com/\": dial tcp: i/o timeout",
        ] {
            for dump in [dump, "\n"] {
                let told = told(&format!("{panic}{dump}"));
                assert_eq!(told.len(), 1, "{told:?}");
                assert!(told[0].starts_with("interruption-queue-stops-controller: "), "{told:?}");
            }
        }
        let later = line(
            "Reconciler error",
            "creating sqs provider, operation error SQS: GetQueueUrl, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist.",
        );
        assert!(told(&later)[0].starts_with("interruption-queue-missing: "));
    }

    #[test]
    fn labels_of_node_groups_are_no_labels_of_nodepools() {
        for (label, expected) in [
            ("eks.amazonaws.com/nodegroup", "node-group-label-required"),
            ("alpha.eksctl.io/nodegroup-name", "node-group-label-required"),
            ("kops.k8s.io/instancegroup", "node-group-label-required"),
            ("team", "label-unknown-to-every-pool"),
        ] {
            let error = format!("incompatible requirements, label \"{label}\" does not have known values");
            let told = told(&line("could not schedule pod", &error));
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with(&format!("{expected}: ")), "{told:?}");
        }
    }
}
