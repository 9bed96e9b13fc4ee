use karpenter::release::Releases;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks what the API server requires of several fields together: for example, that a key is allowed, that a
    /// schedule has a duration, that an alias matches its AMI family, and that selector terms select something.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     budgets: [{nodes: "0", schedule: "0 9 * * mon-fri"}]
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     budgets: [{nodes: "0", schedule: "0 9 * * mon-fri", duration: 8h}]
    /// ```
    ///
    /// ## References
    ///
    /// - `x-kubernetes-validations` in pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    /// - hack/validation of both repositories, which adds the rules for keys
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a combination of fields that the API server does not allow",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match &refusal.what {
        What::Relation(relation) => Some(
            Finding::new(&RULE, refusal.place.clone(), relation.message.as_str())
                .help(relation.help.as_str()),
        ),
        _ => None,
    });
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with};
    use rule::settings::{Settings, Target};

    #[test]
    fn reports_the_limits_of_a_static_nodepool_once() {
        let pool = |limits: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  replicas: 2
  limits: {{{limits}}}
  template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}, requirements: []}}}}
"
            )
        };
        let found = findings(&super::RULE, &pool("cpu: 1, nodes: 5, memory: 1Gi"));
        assert!(
            found.contains("the limits `cpu`, `memory`, but")
                && found.contains("remove `limits.cpu` and `limits.memory`"),
            "{found}"
        );
        assert_eq!(found.matches("error ").count(), 1, "{found}");
        assert!(findings(&super::RULE, &pool("cpu: 1")).contains("the limit `cpu`, but"));
    }

    #[test]
    fn advises_a_window_only_for_budgets_that_block() {
        let help = |budget: &str| {
            let text = format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{disruption: {{consolidateAfter: 1m, budgets: [{{{budget}}}]}}}}
"
            );
            let found = findings(&super::RULE, &text);
            found.split_once("help: ").unwrap().1.to_owned()
        };
        for blocks in ["'0'", "'00%'", "'${NODES}'"] {
            let text = help(&format!("nodes: {blocks}, schedule: '@daily'"));
            assert!(text.starts_with("write `duration`, such as `8h`"), "{blocks}: {text}");
        }
        assert!(help("nodes: 10%, schedule: '@daily'").starts_with("remove `schedule`"));
        assert!(help("nodes: 0%, duration: 8h").starts_with("write `schedule`, such as `0 9 * * mon-fri`"));
        assert!(help("duration: 8h").starts_with("remove `duration`"));
    }

    #[test]
    fn reports_the_api_servers_path_and_points_at_the_key() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    metadata:
      labels:
        karpenter.sh/nodepool: a
        team.k8s.io/x: y
    spec:
      nodeClassRef: {group: g, kind: k, name: ''}
      requirements:
      - {key: kubernetes.io/hostname, operator: In}
      - {key: a, operator: Gt, values: [many]}
";
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, text, &range), @r#"
          8 |         karpenter.sh/nodepool: a
            |         ^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels [all]
          a label cannot have the key `karpenter.sh/nodepool`: Karpenter sets it to the name of the NodePool; the API server refuses the NodePool
          help: remove the label; every node of a NodePool has it
          9 |         team.k8s.io/x: y
            |         ^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels [until 1.8]
          a label cannot have the key `team.k8s.io/x`: until 1.8 the domain `k8s.io` is reserved for Kubernetes; the API server refuses the NodePool (until 1.8)
          help: write a key in your own domain, such as `example.com/x`
         11 |       nodeClassRef: {group: g, kind: k, name: ''}
            |                                               ^^
        error NodePool/a spec.template.spec.nodeClassRef.name [since 1.1]
          `nodeClassRef.name` is empty; the API server refuses the NodePool (since 1.1)
          help: write the name of the node class; `group`, `kind` and `name` are required
         13 |       - {key: kubernetes.io/hostname, operator: In}
            |               ^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].key [all]
          a requirement cannot have the key `kubernetes.io/hostname`: the name of a node is not known before the node is created; the API server refuses the NodePool
          help: remove the requirement; every node has a different name, which Karpenter cannot choose
         13 |       - {key: kubernetes.io/hostname, operator: In}
            |                                                 ^^
        error NodePool/a spec.template.spec.requirements [all]
          a requirement with operator `In` has no `values`; the API server refuses the NodePool
          help: write at least one value, or `Exists` for any value
         14 |       - {key: a, operator: Gt, values: [many]}
            |                                         ^^^^
        error NodePool/a spec.template.spec.requirements [all]
          a requirement with operator `Gt` compares with `many`, which is not a whole number of at least 0; the API server refuses the NodePool
          help: write one whole number as text, such as `values: ["4"]`
        "#);
    }

    #[test]
    fn reports_all_problems_of_a_node_class_at_once() {
        let text = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiFamily: AL2
  amiSelectorTerms:
  - {alias: al2023@latest, owner: self}
  subnetSelectorTerms: []
  securityGroupSelectorTerms: [{id: sg-1, name: a}]
  blockDeviceMappings: [{ebs: {volumeType: gp3}}]
  kubelet: {evictionSoft: {memory.available: 5%}, kubeReserved: {cpus: '1'}}
  tags: {karpenter.sh/nodepool: a}
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          4 | spec:
            | ^^^^
        error EC2NodeClass/a spec [all]
          the node class has neither a `role` nor an `instanceProfile`; the API server refuses the EC2NodeClass
          help: write `role`, for which Karpenter creates a profile, or `instanceProfile`, which you create yourself
          5 |   amiFamily: AL2
            |              ^^^
        error EC2NodeClass/a spec [all]
          `spec.amiFamily` is `AL2`, but the alias in `amiSelectorTerms` is of the family AL2023; the API server refuses the EC2NodeClass
          help: write `AL2023`, or remove `amiFamily`, which follows from the alias
          7 |   - {alias: al2023@latest, owner: self}
            |      ^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms [all]
          a term combines `alias` with other fields, but `alias` excludes `id`, `tags`, `name`, `owner`; the API server refuses the EC2NodeClass
          help: keep only `alias`, or remove it
          8 |   subnetSelectorTerms: []
            |   ^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms [all]
          `subnetSelectorTerms` has no term; the API server refuses the EC2NodeClass
          help: write at least one term
          9 |   securityGroupSelectorTerms: [{id: sg-1, name: a}]
            |                                 ^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms [all]
          a term combines `id` with other fields, but `id` excludes `tags`, `name`; the API server refuses the EC2NodeClass
          help: keep only `id`, or remove it
          9 |   securityGroupSelectorTerms: [{id: sg-1, name: a}]
            |                                           ^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms [all]
          a term combines `name` with other fields, but `name` excludes `tags`, `id`; the API server refuses the EC2NodeClass
          help: keep only `name`, or remove it
         10 |   blockDeviceMappings: [{ebs: {volumeType: gp3}}]
            |                          ^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs [all]
          a volume has neither a `volumeSize` nor a `snapshotID`; the API server refuses the EC2NodeClass
          help: write `volumeSize`, such as `100Gi`, or `snapshotID`, the snapshot to create the volume from
         12 |   tags: {karpenter.sh/nodepool: a}
            |          ^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.tags [all]
          the tag `karpenter.sh/nodepool` is reserved: Karpenter sets it to find its instances again; the API server refuses the EC2NodeClass
          help: remove `karpenter.sh/nodepool` from `spec.tags`
        ");
    }

    /// The findings about an EC2NodeClass in JSON, where `85.0` keeps its fraction. The release is the last one whose server
    /// validates `spec.kubelet`.
    fn of_class(field: &str) -> String {
        let text = format!(
            r#"{{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {{"name": "a"}}, "spec": {{"role": "r", "amiFamily": "AL2023", {field}}}}}"#
        );
        let settings = Settings { karpenter: Target::parse("1.14").unwrap(), ..Settings::default() };
        findings_with(&super::RULE, &text, &settings)
    }

    #[test]
    fn compares_the_thresholds_of_image_garbage_collection() {
        let not_above = "`imageGCHighThresholdPercent` is not above `imageGCLowThresholdPercent`";
        for (high, low, is_refused) in [
            ("85", "80", false),
            ("80", "80", true),
            ("80", "85", true),
            // The server cannot compare fractions.
            ("85.0", "80", true),
        ] {
            let found = of_class(&format!(
                r#""kubelet": {{"imageGCHighThresholdPercent": {high}, "imageGCLowThresholdPercent": {low}}}"#
            ));
            assert_eq!(found.contains(not_above), is_refused, "{high} {low}: {found}");
        }
    }

    #[test]
    fn refuses_fractions_that_the_server_cannot_compare() {
        let interfaces = |card: &str, device: &str| {
            let of = |kind: &str, card: &str, device: &str| {
                format!(
                    r#"{{"interfaceType": "{kind}", "networkCardIndex": {card}, "deviceIndex": {device}}}"#
                )
            };
            let (primary, other) = (of("interface", "0", "0"), of("efa-only", card, device));
            of_class(&format!(r#""networkInterfaces": [{primary}, {other}]"#))
        };
        assert_eq!(interfaces("1", "1"), "");
        for (card, device) in [("1.0", "1"), ("1", "1.0")] {
            assert!(interfaces(card, device).contains("has an index with a fraction"), "{card} {device}");
        }
        let pool = |least: &str| {
            let text = format!(
                r#"{{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {{"name": "a"}}, "spec": {{"template": {{"spec": {{"nodeClassRef": {{"group": "g", "kind": "k", "name": "a"}}, "requirements": [{{"key": "a", "operator": "In", "values": ["b"], "minValues": {least}}}]}}}}}}}}"#
            );
            findings(&super::RULE, &text)
        };
        assert_eq!(pool("1"), "");
        assert!(pool("1.0").contains("`minValues` is not a whole number"));
    }

    #[test]
    fn placement_group_has_either_a_name_or_an_id() {
        let group = |fields: &str| of_class(&format!(r#""placementGroupSelector": {fields}"#));
        assert!(group("{}").contains("neither a `name` nor an `id`"));
        assert!(
            group(r#"{"name": "a", "id": "pg-0123456789abcdef0"}"#).contains("both a `name` and an `id`")
        );
        assert_eq!(group(r#"{"name": "a"}"#), "");
        // `api-type` reports a string.
        assert_eq!(group(r#""a""#), "");
    }

    #[test]
    fn suggests_an_alias_of_the_family_that_is_written() {
        let alias = |text: &str| of_class(&format!(r#""amiSelectorTerms": [{{"alias": "{text}"}}]"#));
        assert!(alias("bottlerocket").contains("write an alias such as `bottlerocket@latest`"));
        assert!(alias("@latest").contains("write an alias such as `al2023@latest`"));
    }

    #[test]
    fn name_of_a_variable_is_a_placeholder() {
        let compared = |value: &str| {
            let text = format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{template: {{spec: {{requirements: [{{key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: [{value}]}}]}}}}}}
"
            );
            findings(&super::RULE, &text)
        };
        assert!(compared("MIN_CPU").contains("info NodePool/a"), "{}", compared("MIN_CPU"));
        assert!(compared("MANY").contains("error NodePool/a"), "{}", compared("MANY"));
    }

    #[test]
    fn placeholder_changes_nothing_about_two_fields_that_exclude_each_other() {
        let class = |spec: &str| {
            let text = format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{spec}, amiFamily: AL2023}}
"
            );
            findings(&super::RULE, &text)
        };
        let both = class("role: '${ROLE}', instanceProfile: '${PROFILE}'");
        assert!(both.contains("error EC2NodeClass/a") && both.contains("both a `role`"), "{both}");
        assert!(!class("role: '${ROLE}'").contains("`instanceProfile`"));
    }
}
