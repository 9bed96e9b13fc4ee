//! Objects of v1beta1.

use super::super::testing::converted;
use super::{CLASS, POOL, with_kubelet};

#[test]
fn converts_node_pool_and_keeps_comments() {
    insta::assert_snapshot!(converted(POOL), @"
    # General purpose.
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata:
      name: default
    spec:
      template:
        spec:
          nodeClassRef:
            group: karpenter.k8s.aws
            kind: EC2NodeClass
            name: default # the only one
          # A month.
          expireAfter: 720h
          requirements:
            - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      disruption:
        consolidationPolicy: WhenEmptyOrUnderutilized # all
        consolidateAfter: 0s
        budgets:
          - nodes: 10%
      limits:
        cpu: 100
    ");
}

#[test]
fn converts_node_class_and_keeps_comments() {
    insta::assert_snapshot!(converted(CLASS), @"
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata:
      name: default
    spec:
      amiSelectorTerms:
        - alias: al2023@latest # the newest
      role: KarpenterNodeRole-prod
      subnetSelectorTerms:
        - tags: {karpenter.sh/discovery: prod}
      securityGroupSelectorTerms:
        - tags: {karpenter.sh/discovery: prod}
    ");
}

#[test]
fn moves_kubelet_settings_to_the_node_class() {
    insta::assert_snapshot!(converted(&format!("{}---\n{CLASS}", with_kubelet())), @"
    # General purpose.
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata:
      name: default
    spec:
      template:
        spec:
          nodeClassRef:
            group: karpenter.k8s.aws
            kind: EC2NodeClass
            name: default # the only one
          # A month.
          expireAfter: 720h
          requirements:
            - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      disruption:
        consolidationPolicy: WhenEmptyOrUnderutilized # all
        consolidateAfter: 0s
        budgets:
          - nodes: 10%
      limits:
        cpu: 100
    ---
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata:
      name: default
    spec:
      amiSelectorTerms:
        - alias: al2023@latest # the newest
      role: KarpenterNodeRole-prod
      subnetSelectorTerms:
        - tags: {karpenter.sh/discovery: prod}
      securityGroupSelectorTerms:
        - tags: {karpenter.sh/discovery: prod}
      kubelet:
        # Few pods.
        maxPods: 20
    ");
    // A NodePool that was converted before has moved them already.
    let moved = CLASS.replace("  role:", "  kubelet: {maxPods: 20}\n  role:");
    let text = converted(&format!("{}---\n{moved}", with_kubelet()));
    assert!(text.matches("maxPods").count() == 1 && !text.contains("decide"), "{text}");
}

#[test]
fn leaves_kubelet_settings_that_only_the_author_can_move() {
    let decisions = |text: &str| {
        let lines = converted(text);
        lines.lines().filter(|line| line.starts_with("decide")).collect::<Vec<_>>().join("\n")
    };
    let pool = with_kubelet();
    insta::assert_snapshot!(decisions(&pool), @"decide NodePool: move `spec.template.spec.kubelet` to `spec.kubelet` of the EC2NodeClass: the input does not have exactly one `default`");
    let other = POOL.replace("name: default\nspec", "name: other\nspec");
    insta::assert_snapshot!(decisions(&format!("{pool}---\n{other}---\n{CLASS}")), @"
    decide NodePool: move `spec.template.spec.kubelet` to `spec.kubelet` of the EC2NodeClass: the NodePool `other` uses `default` too, without these settings
    decide NodePool: the NodePool `default`, which has to be converted together with it
    decide EC2NodeClass: the NodePool `default`, which has to be converted together with it
    ");
    let ubuntu = CLASS.replace("AL2023", "Ubuntu");
    insta::assert_snapshot!(decisions(&format!("{pool}---\n{ubuntu}")), @"
    decide NodePool: move `spec.template.spec.kubelet` to `spec.kubelet` of the EC2NodeClass: `default` has to be converted first
    decide EC2NodeClass: v1 does not find Ubuntu's AMIs; name them in `spec.amiSelectorTerms`
    ");
    let known = CLASS.replace("  role:", "  kubelet: {maxPods: 30}\n  role:");
    insta::assert_snapshot!(decisions(&format!("{pool}---\n{known}")), @"
    decide NodePool: move `spec.template.spec.kubelet` to `spec.kubelet` of the EC2NodeClass: `default` has other settings there
    decide EC2NodeClass: the NodePool `default`, which has to be converted together with it
    ");
    let again = pool.replace("name: default\nspec", "name: other\nspec");
    assert_eq!(decisions(&format!("{pool}---\n{again}---\n{known}").replace("30", "20")), "");
}

#[test]
fn decides_nothing_for_the_author() {
    for (from, to, expected) in [
        (
            "consolidationPolicy: WhenUnderutilized # all",
            "consolidationPolicy: WhenEmpty",
            "`WhenEmpty` requires `spec.disruption.consolidateAfter`",
        ),
        (
            "consolidationPolicy: WhenUnderutilized # all",
            "consolidationPolicy: ${POLICY}",
            "`spec.disruption.consolidationPolicy`",
        ),
        (
            "        name: default # the only one",
            "        kind: EC2NodeClass",
            "`spec.template.spec.nodeClassRef.name` is missing",
        ),
        (
            "        name: default # the only one",
            "        apiVersion: ${GROUP}\n        name: default",
            "has a placeholder",
        ),
        (
            "metadata:\n",
            "metadata:\n  annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{}'}\n",
            "annotations of an earlier conversion",
        ),
    ] {
        let text = POOL.replace(from, to);
        let result = converted(&text);
        let start = format!("{text}decide NodePool: ");
        assert!(result.strip_prefix(&start).is_some_and(|rest| rest.contains(expected)), "{result}");
    }
    for (from, to, expected) in [
        ("  amiFamily: AL2023 # the newest\n", "", "`spec.amiFamily` is missing"),
        ("AL2023 # the newest", "Custom", "`Custom` requires `spec.amiSelectorTerms`"),
        ("AL2023 # the newest", "Ubuntu", "v1 does not find Ubuntu's AMIs"),
        ("AL2023 # the newest", "<family>", "is not known"),
        ("AL2023 # the newest", "AL2022", "v1 has no AMI family `AL2022`"),
    ] {
        let text = CLASS.replace(from, to);
        let result = converted(&text);
        let start = format!("{text}decide EC2NodeClass: ");
        assert!(result.strip_prefix(&start).is_some_and(|rest| rest.contains(expected)), "{result}");
    }
}

#[test]
fn asks_for_a_review_of_what_may_differ() {
    let remarks = |text: &str| {
        let lines = converted(text);
        lines.lines().filter(|line| line.starts_with("review")).collect::<Vec<_>>().join("\n")
    };
    let both = POOL.replace("    # A month.", "    consolidateAfter: 30s");
    insta::assert_snapshot!(remarks(&both), @"review NodePool: `consolidateAfter` was refused with `WhenUnderutilized`, and in v1 delays the consolidation of underutilized nodes");
    insta::assert_snapshot!(remarks(&POOL.replace("  limits:", "  lmits:")), @"review NodePool: the API server refuses `spec.lmits` of the converted object");
    insta::assert_snapshot!(remarks(&CLASS.replace("Role-prod", "Role-${CLUSTER}")), @"review EC2NodeClass: the object has placeholders, so check the object that is applied");
    // The variables of a script are no placeholders.
    let script = format!("{CLASS}  userData: |\n    echo ${{HOME}}\n");
    assert_eq!(remarks(&script), "");
    let ubuntu = CLASS.replace("AL2023 # the newest", "Ubuntu\n  amiSelectorTerms: [{id: ami-1}]");
    insta::assert_snapshot!(converted(&ubuntu), @"
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata:
      name: default
    spec:
      amiFamily: AL2
      blockDeviceMappings:
        - deviceName: /dev/sda1
          rootVolume: true
          ebs:
            volumeSize: 20Gi
            volumeType: gp3
            encrypted: true
      amiSelectorTerms: [{id: ami-1}]
      role: KarpenterNodeRole-prod
      subnetSelectorTerms:
        - tags: {karpenter.sh/discovery: prod}
      securityGroupSelectorTerms:
        - tags: {karpenter.sh/discovery: prod}
    review EC2NodeClass: v1 has no family `Ubuntu`: `AL2` boots Ubuntu's AMIs in the same way; check `userData`
    ");
}

#[test]
fn keeps_the_hop_limit_of_metadata_options() {
    for (before, after) in [
        (" {httpTokens: required}", " {httpTokens: required, httpPutResponseHopLimit: 2}"),
        (
            "\n    httpTokens: required # v2",
            "\n    httpTokens: required # v2\n    httpPutResponseHopLimit: 2",
        ),
        (" {}", "\n    httpPutResponseHopLimit: 2"),
        (" {httpPutResponseHopLimit: 1}", " {httpPutResponseHopLimit: 1}"),
    ] {
        let with = |options: &str| CLASS.replace("  role:", &format!("  metadataOptions:{options}\n  role:"));
        let text = converted(&with(before));
        assert!(text.contains(&format!("  metadataOptions:{after}\n  role:")), "{text}");
    }
}

#[test]
fn converts_node_claim_for_review() {
    let claim = "\
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: default-x}
spec:
  nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
  requirements: []
";
    insta::assert_snapshot!(converted(claim), @"
    apiVersion: karpenter.sh/v1
    kind: NodeClaim
    metadata: {name: default-x}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
    review NodeClaim: Karpenter writes NodeClaims itself, with the lifetime of their NodePool; apply it only to restore a NodeClaim
    ");
}
