use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, LookUp, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks that the node class that a NodePool refers to exists: its group and kind belong together, and if the
    /// input contains node classes, one of them has the name.
    ///
    /// The finding is an error if the input is complete (`--complete`). It is a warning if a node class has a similar name,
    /// or if the file has node classes, and otherwise an info: the node class may be in another repository or in
    /// Terraform. The rule ignores node classes of other providers and of EKS Auto Mode.
    ///
    /// ## Why it is bad
    ///
    /// The NodePool is never ready: `NodeClassReady=False`, `NodeClassNotFound`. Karpenter ignores the NodePool. If
    /// there is no other NodePool, pods stay Pending with `no nodepools found`.
    ///
    /// ## Example
    ///
    /// ```yaml,complete
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: general
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: defualt}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,complete
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: general
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7436, #5176
    /// - pkg/controllers/nodepool/readiness/controller.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool refers to a node class that does not exist",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[LookUp::InCluster(Kind::NODE_CLASS, &["metadata.name"])],
        looks_up: |object| !object.is_being_created(),
        check: check,
    }
}

const GROUP: &str = "karpenter.k8s.aws";
const KIND: &str = "EC2NodeClass";
/// Maximum number of node classes to search for a similar name.
const MAX_CANDIDATES: usize = 200;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(reference) = NodePool::of(object).and_then(NodePool::node_class_ref) else { return };
    let group = reference.group().and_then(|node| Some((node, node.as_str()?)));
    let kind = reference.kind().and_then(|node| Some((node, node.as_str()?)));
    // The API server refuses a NodePool without a group or a kind.
    let (Some((group_node, group)), Some((kind_node, kind))) = (group, kind) else { return };
    if (group == GROUP) != (kind == KIND) {
        findings.extend(wrong_group_or_kind(group_node, group, kind_node, kind));
        return;
    }
    // `kubectl apply` sends the objects of a file one after the other, so the node class may be the next request.
    if object.is_being_created() {
        return;
    }
    let Some((node, name)) = reference.name().and_then(|node| Some((node, node.as_str()?))) else { return };
    let inventory = context.inventory;
    let classes = inventory.count(GROUP, KIND);
    // An input without any node class is about NodePools only.
    let expected = classes > 0 || inventory.is_complete();
    let unresolved = name.is_empty() || has_placeholder(name);
    let may_exist = context.may_be_in_environment(Kind::NODE_CLASS)
        || context.anywhere(|inventory| inventory.find(GROUP, KIND, name).is_some());
    if group != GROUP || !expected || unresolved || may_exist {
        return;
    }
    // A node class whose name is a placeholder may get this name.
    let mut candidates = inventory.objects_of(Kind::NODE_CLASS).take(MAX_CANDIDATES);
    if object.operation() == Operation::Apply && candidates.any(|class| has_placeholder(class.name())) {
        return;
    }
    // In an admission request the node class may not have been created yet.
    let certain = inventory.is_complete() && object.operation() == Operation::Apply;
    let scope = if inventory.is_complete() { String::new() } else { format!(" in {}", context.scope()) };
    let message =
        format!("there is no EC2NodeClass `{name}`{scope}, and without it the NodePool never becomes Ready");
    let finding = Finding::at(&RULE, node, message);
    let near = if classes > MAX_CANDIDATES {
        None
    } else {
        nearest(name, inventory.objects_of(Kind::NODE_CLASS).map(Object::name))
    };
    // The class may be in another repository, or in Terraform.
    let is_probable = near.is_some() || inventory.is_complete() || has_class_in_same_file(object, inventory);
    let severity = match (certain, is_probable) {
        (true, _) => Severity::Error,
        (false, true) => Severity::Warning,
        (false, false) => Severity::Info,
    };
    findings.push(finding.severity(severity).help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write the name of an existing EC2NodeClass, or create this one".to_owned(),
    }));
}

/// Whether the file of a NodePool also has an EC2NodeClass.
fn has_class_in_same_file(pool: Object<'_>, inventory: &Inventory<'_>) -> bool {
    let is_in_same_file = |class: Object<'_>| core::ptr::eq(class.root().source(), pool.root().source());
    inventory.objects_of(Kind::NODE_CLASS).take(MAX_CANDIDATES).any(is_in_same_file)
}

/// Reports a group and a kind that do not belong together, in 1.0. From 1.1 on `nodeclass-ref-unmanaged` reports them.
fn wrong_group_or_kind<'d>(
    group_node: Node<'d>,
    group: &str,
    kind_node: Node<'d>,
    kind: &str,
) -> Option<Finding<'d>> {
    // The API server refuses a group with a version. `auto-mode-mixups` reports the group of EKS Auto Mode.
    let is_reported_elsewhere = group.contains('/') || group == Kind::AUTO_NODE_CLASS.group;
    if has_placeholder(group) || has_placeholder(kind) || is_reported_elsewhere {
        return None;
    }
    let (place, message, help) = if group == GROUP {
        let message =
            format!("the group `{GROUP}` has no kind `{kind}`, so the NodePool never becomes Ready");
        (kind_node, message, format!("write `{KIND}`"))
    } else {
        let message =
            format!("the group `{group}` has no kind `{KIND}`, so the NodePool never becomes Ready");
        (group_node, message, format!("write `{GROUP}`"))
    };
    Some(Finding::new(&RULE, Place::value(place), message).help(help).releases(Releases::until(0)))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use cluster::Cluster;
    use manifest::File;
    use objects::embedded::READ_OPTIONS;
    use rule::finding::Severity;
    use rule::settings::{RuleSelector, Settings, Target};

    fn pool(reference: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: p}}
spec:
  template:
    spec:
      nodeClassRef: {{{reference}}}
---
"
        )
    }

    fn class(name: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: {name}}}
---
"
        )
    }

    const DEFAULT: &str = "group: karpenter.k8s.aws, kind: EC2NodeClass, name: default";

    #[test]
    fn reports_a_name_that_no_node_class_has() {
        let text = pool(DEFAULT) + &class("defaults");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            |                                                                          ^^^^^^^
        warning NodePool/p spec.template.spec.nodeClassRef.name [all]
          there is no EC2NodeClass `default` in this input, and without it the NodePool never becomes Ready
          help: did you mean `defaults`?
        ");
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &complete).contains("error NodePool/p"));
        assert!(findings_with(&super::RULE, &pool(DEFAULT), &complete).contains("error NodePool/p"));
    }

    #[test]
    fn reports_a_kind_in_the_wrong_group_in_1_0() {
        let found = |release: &str, reference: &str| {
            let settings = Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
            findings_with(&super::RULE, &pool(reference), &settings)
        };
        insta::assert_snapshot!(found("1.0", "group: karpenter.sh, kind: EC2NodeClass, name: a"), @"
          7 |       nodeClassRef: {group: karpenter.sh, kind: EC2NodeClass, name: a}
            |                             ^^^^^^^^^^^^
        error NodePool/p spec.template.spec.nodeClassRef.group [1.0]
          the group `karpenter.sh` has no kind `EC2NodeClass`, so the NodePool never becomes Ready
          help: write `karpenter.k8s.aws`
        ");
        let wrong_kind = "group: karpenter.k8s.aws, kind: AWSNodeTemplate, name: a";
        assert!(found("1.0", wrong_kind).contains("write `EC2NodeClass`"));
        assert_eq!(found("1.1", wrong_kind), "");
    }

    #[test]
    fn ignores_node_classes_that_exist_or_may_exist_elsewhere() {
        silent(&super::RULE, &(pool(DEFAULT) + &class("default")));
        silent(&super::RULE, &pool(DEFAULT));
        silent(&super::RULE, &(pool(DEFAULT) + &class("default, namespace: karpenter")));
        silent(
            &super::RULE,
            &(pool("group: eks.amazonaws.com, kind: NodeClass, name: default") + &class("a")),
        );
        silent(
            &super::RULE,
            &(pool("group: karpenter.azure.com, kind: AKSNodeClass, name: default") + &class("a")),
        );
        silent(
            &super::RULE,
            &(pool("group: karpenter.k8s.aws, kind: EC2NodeClass, name: '${NAME}'") + &class("a")),
        );
        for name in ["'${NAME}'", "<name>", "__NAME__"] {
            silent(&super::RULE, &(pool(DEFAULT) + &class(name)));
        }
        // A node class of an older API version counts too.
        silent(&super::RULE, &(pool(DEFAULT) + &class("default").replace("aws/v1", "aws/v1beta1")));
        silent(&super::RULE, &(pool("name: default") + &class("a")));
    }

    #[test]
    fn is_only_an_info_without_a_class_nearby() {
        let severity = |texts: &[&str]| {
            let select = vec![RuleSelector::One(super::RULE.names())];
            let settings = Settings { select, ..Settings::default() };
            let file =
                |(index, text): (usize, &&str)| File::read(format!("{index}.yaml"), *text, READ_OPTIONS);
            let files = texts.iter().enumerate().map(file).collect();
            let report = crate::check(&[Cluster { name: String::new(), files }], &settings);
            report.findings.iter().map(|finding| finding.severity).collect::<Vec<_>>()
        };
        let pool = pool(DEFAULT);
        assert_eq!(severity(&[&pool, &class("storage")]), [Severity::Info]);
        assert_eq!(severity(&[&pool, &class("defaults")]), [Severity::Warning]);
        assert_eq!(severity(&[&(pool.clone() + &class("storage"))]), [Severity::Warning]);
    }

    #[test]
    fn proposes_no_name_among_many_classes() {
        let classes = |count: usize| {
            (1..count).map(|index| class(&format!("class-{index}"))).collect::<String>() + &class("defaults")
        };
        let found = |count: usize| findings(&super::RULE, &(pool(DEFAULT) + &classes(count)));
        assert!(found(super::MAX_CANDIDATES).contains("did you mean `defaults`?"));
        assert!(found(super::MAX_CANDIDATES + 1).contains("create this one"));
    }

    #[test]
    fn accepts_groups_and_kinds_that_other_rules_report() {
        let settings = Settings { karpenter: Target::parse("1.0").unwrap(), ..Settings::default() };
        for reference in [
            "group: '${GROUP}', kind: EC2NodeClass, name: a",
            "group: karpenter.k8s.aws, kind: '${KIND}', name: a",
            "group: karpenter.sh/v1, kind: EC2NodeClass, name: a",
            "group: eks.amazonaws.com, kind: EC2NodeClass, name: a",
        ] {
            assert_eq!(findings_with(&super::RULE, &pool(reference), &settings), "", "{reference}");
        }
    }
}
