use karpenter::auto_mode;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_claim::NodeClassRef;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::RequirementItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::duration::{Duration, NillableDuration};

rule! {
    /// ## What it does
    ///
    /// Finds names of Karpenter's provider for AWS in objects of EKS Auto Mode:
    ///
    /// - a NodePool that refers to an `EC2NodeClass` of the group `eks.amazonaws.com`
    /// - a requirement with a label such as `karpenter.k8s.aws/instance-category` in a NodePool of EKS Auto Mode
    /// - an `expireAfter` and a `terminationGracePeriod` that are more than 21 days together in such a NodePool
    /// - a field such as `amiSelectorTerms` in a `NodeClass` of EKS Auto Mode
    ///
    /// For the reverse, `requirement-key-not-wellknown` reports labels of EKS Auto Mode in other NodePools, and
    /// `api-unknown-field` reports its fields in an EC2NodeClass.
    ///
    /// ## Why it is bad
    ///
    /// EKS Auto Mode runs a Karpenter that AWS manages. Its node class is another kind with other fields, and its
    /// labels of instance types start with `eks.amazonaws.com/`. A node class that does not exist keeps a NodePool from
    /// launching nodes, and an unknown label or field does not do what it says. AWS replaces every node after 21 days
    /// at the latest: the API refuses an `expireAfter` that is longer than 21 days together with the
    /// `terminationGracePeriod`, whose default is 24 hours.
    ///
    /// The other findings are warnings, because they come from the documentation: the definitions of EKS Auto Mode are
    /// not published. Nothing else in its NodeClasses is checked.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
    ///       requirements:
    ///         - {key: eks.amazonaws.com/instance-category, operator: In, values: [m]}
    /// ```
    ///
    /// ## References
    ///
    /// - Amazon EKS User Guide: create-node-pool, create-node-class, automode-learn-instances, automode
    /// - aws/containers-roadmap#2487, aws-ia/terraform-aws-eks-blueprints#2059, aws-controllers-k8s/test-infra#1000
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an object of EKS Auto Mode uses a kind, label or field of Karpenter's provider for AWS",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::AUTO_NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else {
        check_fields(object, findings);
        return;
    };
    let Some(reference) = pool.node_class_ref() else { return };
    if reference.is_of_auto_mode() {
        check_labels(pool, findings);
        check_lifetime(pool, findings);
    } else if reference.group_text() == Kind::AUTO_NODE_CLASS.group {
        findings.extend(wrong_kind(reference));
    }
}

/// Reports a reference whose group is from EKS Auto Mode, and whose kind is from Karpenter's provider.
fn wrong_kind(reference: NodeClassRef<'_>) -> Option<Finding<'_>> {
    let kind = reference.kind().filter(|kind| kind.as_str() == Some(Kind::NODE_CLASS.name))?;
    let message = "the group `eks.amazonaws.com` of EKS Auto Mode has no kind `EC2NodeClass`, so that the NodePool launches no nodes";
    let help = "write the kind `NodeClass` for EKS Auto Mode, or the group `karpenter.k8s.aws` for your own Karpenter";
    Some(Finding::at(&RULE, kind, message).help(help))
}

fn check_labels<'d>(pool: NodePool<'d>, findings: &mut Vec<Finding<'d>>) {
    for node in pool.requirements().items().filter_map(RequirementItem::key_node) {
        let Some(key) = node.as_str().filter(|key| auto_mode::is_foreign_label(key)) else { continue };
        let message = format!(
            "`{key}` is a label of Karpenter's provider for AWS: the labels of instance types in EKS Auto Mode start with `eks.amazonaws.com/`"
        );
        let help = auto_mode::own_label(key).map_or_else(
            || "write a label that EKS Auto Mode documents, or remove the requirement".to_owned(),
            |label| format!("write `{label}`"),
        );
        findings.push(Finding::at(&RULE, node, message).help(help));
    }
}

/// Reports an `expireAfter` that exceeds the longest life of a node, together with the `terminationGracePeriod`.
fn check_lifetime<'d>(pool: NodePool<'d>, findings: &mut Vec<Finding<'d>>) {
    let Some(spec) = pool.claim_spec() else { return };
    let Some(node) = spec.expire_after() else { return };
    let Some(expiry) = node.as_str().and_then(|text| NillableDuration::parse(text).ok()) else { return };
    let grace = match spec.termination_grace_period() {
        Some(node) => match node.as_str().and_then(|text| Duration::parse(text).ok()) {
            Some(grace) => grace,
            None => return,
        },
        None => Duration::from_minutes(auto_mode::DEFAULT_GRACE_HOURS * 60),
    };
    let longest = Duration::from_minutes(auto_mode::MAX_LIFETIME_HOURS * 60);
    let left = longest.nanoseconds().saturating_sub(grace.nanoseconds());
    let help = if left > 0 {
        let expiry = Duration::from_nanoseconds(left).concise();
        format!("write `{expiry}` or less, which leaves {} for `terminationGracePeriod`", grace.concise())
    } else {
        "write a `terminationGracePeriod` and an `expireAfter` that are 21 days together, such as `24h` and `480h`".to_owned()
    };
    let finding = match expiry {
        NillableDuration::Never => {
            let message = "EKS Auto Mode replaces a node after 21 days at the latest, so that `expireAfter: Never` does not keep it longer";
            Finding::at(&RULE, node, message)
        }
        NillableDuration::After(expiry) if expiry.nanoseconds() > left => {
            let default = if spec.termination_grace_period().is_none() { ", the default," } else { "" };
            let message = format!(
                "EKS Auto Mode refuses the NodePool: `expireAfter` of {} and `terminationGracePeriod` of {}{default} are more than 21 days together",
                expiry.concise(),
                grace.concise()
            );
            Finding::at(&RULE, node, message).severity(Severity::Error).caught_by(CaughtBy::ApiServer)
        }
        NillableDuration::After(_) => return,
    };
    findings.push(finding.help(help));
}

/// Reports the fields of an EC2NodeClass in the node class of EKS Auto Mode.
fn check_fields<'d>(class: Object<'d>, findings: &mut Vec<Finding<'d>>) {
    for (name, node) in class.root().members_at(&["spec"]) {
        if let Some(field) = auto_mode::foreign_field(name) {
            let message =
                format!("the NodeClass of EKS Auto Mode has no field `{name}`, which EC2NodeClasses have");
            findings.push(Finding::new(&RULE, Place::key(node), message).help(field.instead));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(reference: &str, spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{{reference}, name: a}}
      {spec}
"
        )
    }

    const AUTO: &str = "group: eks.amazonaws.com, kind: NodeClass";
    const OWN: &str = "group: karpenter.k8s.aws, kind: EC2NodeClass";

    fn requirement(key: &str) -> String {
        format!("requirements: [{{key: {key}, operator: Exists}}]")
    }

    #[test]
    fn reports_an_ec2nodeclass_in_the_group_of_auto_mode() {
        insta::assert_snapshot!(findings(&RULE, &pool("group: eks.amazonaws.com, kind: EC2NodeClass", "")), @"
          7 |       nodeClassRef: {group: eks.amazonaws.com, kind: EC2NodeClass, name: a}
            |                                                      ^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.nodeClassRef.kind [all]
          the group `eks.amazonaws.com` of EKS Auto Mode has no kind `EC2NodeClass`, so that the NodePool launches no nodes
          help: write the kind `NodeClass` for EKS Auto Mode, or the group `karpenter.k8s.aws` for your own Karpenter
        ");
        for reference in
            [AUTO, OWN, "group: karpenter.k8s.aws, kind: NodeClass", "group: eks.amazonaws.com, kind: Other"]
        {
            silent(&RULE, &pool(reference, ""));
        }
    }

    #[test]
    fn reports_labels_of_the_provider_in_a_nodepool_of_auto_mode() {
        insta::assert_snapshot!(findings(&RULE, &pool(AUTO, &requirement("karpenter.k8s.aws/instance-family"))), @"
          8 |       requirements: [{key: karpenter.k8s.aws/instance-family, operator: Exists}]
            |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.requirements[0].key [all]
          `karpenter.k8s.aws/instance-family` is a label of Karpenter's provider for AWS: the labels of instance types in EKS Auto Mode start with `eks.amazonaws.com/`
          help: write `eks.amazonaws.com/instance-family`
        ");
        let undocumented =
            findings(&RULE, &pool(AUTO, &requirement("karpenter.k8s.aws/instance-accelerator-count")));
        assert!(undocumented.contains("write a label that EKS Auto Mode documents"), "{undocumented}");
        for key in [
            "eks.amazonaws.com/instance-family",
            "karpenter.sh/capacity-type",
            "kubernetes.io/arch",
            "example.com/team",
        ] {
            silent(&RULE, &pool(AUTO, &requirement(key)));
        }
        silent(&RULE, &pool(OWN, &requirement("karpenter.k8s.aws/instance-family")));
    }

    #[test]
    fn reports_a_lifetime_above_21_days() {
        insta::assert_snapshot!(findings(&RULE, &pool(AUTO, "expireAfter: 720h")), @"
          8 |       expireAfter: 720h
            |                    ^^^^
        error NodePool/a spec.template.spec.expireAfter [all]
          EKS Auto Mode refuses the NodePool: `expireAfter` of 720h and `terminationGracePeriod` of 24h, the default, are more than 21 days together
          help: write `480h` or less, which leaves 24h for `terminationGracePeriod`
        ");
        insta::assert_snapshot!(findings(&RULE, &pool(AUTO, "expireAfter: 480h1s\n      terminationGracePeriod: 24h")), @"
          8 |       expireAfter: 480h1s
            |                    ^^^^^^
        error NodePool/a spec.template.spec.expireAfter [all]
          EKS Auto Mode refuses the NodePool: `expireAfter` of 480h0m1s and `terminationGracePeriod` of 24h are more than 21 days together
          help: write `480h` or less, which leaves 24h for `terminationGracePeriod`
        ");
        insta::assert_snapshot!(findings(&RULE, &pool(AUTO, "expireAfter: 1h\n      terminationGracePeriod: 600h")), @"
          8 |       expireAfter: 1h
            |                    ^^
        error NodePool/a spec.template.spec.expireAfter [all]
          EKS Auto Mode refuses the NodePool: `expireAfter` of 1h and `terminationGracePeriod` of 600h are more than 21 days together
          help: write a `terminationGracePeriod` and an `expireAfter` that are 21 days together, such as `24h` and `480h`
        ");
        insta::assert_snapshot!(findings(&RULE, &pool(AUTO, "expireAfter: Never")), @"
          8 |       expireAfter: Never
            |                    ^^^^^
        warning NodePool/a spec.template.spec.expireAfter [all]
          EKS Auto Mode replaces a node after 21 days at the latest, so that `expireAfter: Never` does not keep it longer
          help: write `480h` or less, which leaves 24h for `terminationGracePeriod`
        ");
        for expiry in [
            "expireAfter: 480h",
            "expireAfter: 503h30m\n      terminationGracePeriod: 30m",
            "expireAfter: 504h\n      terminationGracePeriod: '${GRACE}'",
            "expireAfter: never",
            "expireAfter: '${EXPIRY}'",
        ] {
            silent(&RULE, &pool(AUTO, expiry));
        }
        silent(&RULE, &pool(OWN, "expireAfter: Never"));
    }

    #[test]
    fn reports_fields_of_an_ec2nodeclass_in_a_nodeclass() {
        let class = |field: &str| {
            format!(
                r"apiVersion: eks.amazonaws.com/v1
kind: NodeClass
metadata: {{name: a}}
spec:
  {field}
"
            )
        };
        insta::assert_snapshot!(findings(&RULE, &class("amiSelectorTerms: [{alias: al2023@latest}]")), @"
          5 |   amiSelectorTerms: [{alias: al2023@latest}]
            |   ^^^^^^^^^^^^^^^^
        warning NodeClass/a spec.amiSelectorTerms [all]
          the NodeClass of EKS Auto Mode has no field `amiSelectorTerms`, which EC2NodeClasses have
          help: remove it: AWS chooses the AMI
        ");
        for field in [
            "role: KarpenterNodeRole",
            "subnetSelectorTerms: [{tags: {Name: a}}]",
            "ephemeralStorage: {size: 160Gi}",
            "advancedNetworking: {associatePublicIPAddress: false}",
            "capacityReservationSelectorTerms: [{id: cr-0123456789abcdef0}]",
            "aFieldOfALaterVersion: 1",
        ] {
            silent(&RULE, &class(field));
        }
        let own = class("amiSelectorTerms: []").replace("eks.amazonaws.com", "karpenter.k8s.aws");
        silent(&RULE, &own.replace("kind: NodeClass", "kind: EC2NodeClass"));
    }
}
