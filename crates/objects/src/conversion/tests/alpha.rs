//! Objects of v1alpha5 and v1alpha1.

use super::super::testing::converted;
use super::{PROVISIONER, TEMPLATE};

#[test]
fn converts_provisioner_with_the_requirements_that_it_had_by_default() {
    insta::assert_snapshot!(converted(PROVISIONER), @"
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata:
      name: default
    spec:
      template:
        metadata:
          # Teams pay by label.
          labels:
            team: web # cost centre
        spec:
          nodeClassRef:
            group: karpenter.k8s.aws
            kind: EC2NodeClass
            name: web
          requirements:
            # Only spot.
            - key: karpenter.sh/capacity-type
              operator: In
              values: [spot]
            - key: karpenter.k8s.aws/instance-category
              operator: In
              values:
                - c
                - m
            - key: kubernetes.io/os
              operator: In
              values: [linux]
            - key: kubernetes.io/arch
              operator: In
              values: [amd64]
          taints:
            - {key: dedicated, value: web, effect: NoSchedule}
          expireAfter: 720h
      disruption:
        consolidationPolicy: WhenEmpty
        consolidateAfter: 30s # quick
      limits:
        cpu: 1000 # cores
      weight: 10
    ");
}

#[test]
fn converts_the_disruption_of_a_provisioner() {
    let disruption = |from: &str, to: &str| {
        let text = converted(
            &PROVISIONER
                .replace("  ttlSecondsAfterEmpty: 30 # quick\n", from)
                .replace("  ttlSecondsUntilExpired: 2592000\n", to),
        );
        let lines = text.lines().map(str::trim);
        let of_interest = ["consolidationPolicy", "consolidateAfter", "expireAfter", "review", "decide"];
        let lines: Vec<_> =
            lines.filter(|line| of_interest.iter().any(|key| line.starts_with(key))).collect();
        lines.join(", ")
    };
    assert_eq!(
        disruption("", ""),
        "expireAfter: Never, consolidationPolicy: WhenEmpty, consolidateAfter: Never"
    );
    assert_eq!(
        disruption("  consolidation: {enabled: true}\n", "  ttlSecondsUntilExpired: 90\n"),
        "expireAfter: 90s, consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s"
    );
    assert_eq!(
        disruption("  consolidation: {enabled: false}\n", ""),
        "expireAfter: Never, consolidationPolicy: WhenEmpty, consolidateAfter: Never"
    );
    insta::assert_snapshot!(disruption("  consolidation: {enabled: true}\n  ttlSecondsAfterEmpty: 30\n", ""), @"expireAfter: Never, consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, review Provisioner: `ttlSecondsAfterEmpty` had no effect beside `consolidation.enabled`, and is left out");
    insta::assert_snapshot!(disruption("  ttlSecondsAfterEmpty: ${TTL}\n", ""), @"decide Provisioner: `spec.ttlSecondsAfterEmpty` is not a number of seconds");
}

#[test]
fn names_the_fields_of_a_provisioner_that_only_the_author_can_convert() {
    let provider = "provider: {subnetSelector: {a: b}}";
    let text = PROVISIONER
        .replace("providerRef:\n    name: web", provider)
        .replace("  weight: 10\n", "  weight: 10\n  kubeletConfiguration: {maxPods: 20}\n  replicas: 1\n");
    let result = converted(&text);
    insta::assert_snapshot!(result.strip_prefix(&text).unwrap(), @"
    decide Provisioner: v1 has no `spec.replicas`
    decide Provisioner: write the fields of `spec.provider` into an EC2NodeClass, and name it in `nodeClassRef`
    decide Provisioner: move `spec.kubeletConfiguration` to `spec.kubelet` of the EC2NodeClass: the object names none
    ");
    let text = PROVISIONER.replace("  providerRef:\n    name: web\n", "");
    insta::assert_snapshot!(converted(&text).strip_prefix(&text).unwrap(), @"decide Provisioner: v1 requires `spec.template.spec.nodeClassRef`, the name of an EC2NodeClass");
}

#[test]
fn converts_node_template() {
    insta::assert_snapshot!(converted(TEMPLATE), @"
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata:
      name: web
    spec:
      # By tag.
      subnetSelectorTerms:
        - tags:
            karpenter.sh/discovery: prod # the cluster
      securityGroupSelectorTerms:
        - id: sg-1
        - id: sg-2
      instanceProfile: KarpenterNodeInstanceProfile-prod
      tags: {team: web}
      amiSelectorTerms:
        - alias: al2@latest
      metadataOptions:
        httpPutResponseHopLimit: 2
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
}

#[test]
fn converts_selectors_of_a_node_template() {
    let terms = |selector: &str| {
        let text = TEMPLATE.replace("karpenter.sh/discovery: prod # the cluster", selector);
        let result = converted(&text);
        if let Some(remarks) = result.strip_prefix(&text) {
            return remarks.to_owned();
        }
        let terms = result.lines().skip_while(|line| !line.contains("subnetSelectorTerms"));
        terms.take_while(|line| !line.contains("securityGroup")).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(terms("Name: '*-private-*'\n    zone: a,b\n    tier: 'true'"), @r#"
    subnetSelectorTerms:
      - tags:
          Name: "*-private-*"
          zone: a
          tier: "true"
      - tags:
          Name: "*-private-*"
          zone: b
          tier: "true"
    "#);
    insta::assert_snapshot!(terms("aws::ids: subnet-1,subnet-2"), @"
    subnetSelectorTerms:
      - id: subnet-1
      - id: subnet-2
    ");
    insta::assert_snapshot!(terms("aws-ids: subnet-1\n    Name: x"), @"
    decide AWSNodeTemplate: `spec.subnetSelector` combines ids with other keys, which v1 refuses in one term
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
    insta::assert_snapshot!(terms("Name: ''"), @"
    decide AWSNodeTemplate: `spec.subnetSelector` has an empty value for `Name`, which v1 refuses; write `*` for any value
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
    insta::assert_snapshot!(terms("Name: ${CLUSTER}"), @"
    decide AWSNodeTemplate: `spec.subnetSelector` has a value for `Name` that is not known
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
    insta::assert_snapshot!(terms("a: 1,2,3,4,5,6,7,8\n    b: 1,2,3,4"), @"
    decide AWSNodeTemplate: `spec.subnetSelector` needs more than 30 terms
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
}

#[test]
fn converts_amis_of_a_node_template() {
    let amis = |fields: &str| {
        let text = TEMPLATE.replace("  tags: {team: web}\n", fields);
        let result = converted(&text);
        let from = || result.split_once("  instanceProfile").unwrap().1;
        result.strip_prefix(&text).unwrap_or_else(from).to_owned()
    };
    insta::assert_snapshot!(amis("  amiFamily: Bottlerocket\n"), @"
    : KarpenterNodeInstanceProfile-prod
      amiSelectorTerms:
        - alias: bottlerocket@latest
      metadataOptions:
        httpPutResponseHopLimit: 2
    ");
    insta::assert_snapshot!(amis("  amiSelector:\n    aws::name: a,b\n    aws::owners: self\n"), @"
    : KarpenterNodeInstanceProfile-prod
      amiSelectorTerms:
        - name: a
          owner: self
        - name: b
          owner: self
      amiFamily: AL2
      metadataOptions:
        httpPutResponseHopLimit: 2
    review AWSNodeTemplate: the AMI family `AL2`, of which EKS publishes no more images
    ");
    insta::assert_snapshot!(amis("  amiFamily: AL2\n  amiSelector:\n    aws-ids: ami-1\n"), @"
    : KarpenterNodeInstanceProfile-prod
      amiFamily: AL2
      amiSelectorTerms:
        - id: ami-1
      metadataOptions:
        httpPutResponseHopLimit: 2
    review AWSNodeTemplate: the AMI family `AL2`, of which EKS publishes no more images
    ");
    insta::assert_snapshot!(amis("  amiFamily: Custom\n  amiSelector:\n    team: web\n"), @"
    : KarpenterNodeInstanceProfile-prod
      amiFamily: Custom
      amiSelectorTerms:
        - tags:
            team: web
      metadataOptions:
        httpPutResponseHopLimit: 2
    review AWSNodeTemplate: tags of an AMI with the names of labels no longer limit its instance types
    ");
    insta::assert_snapshot!(amis("  amiSelector:\n    aws::owners: self\n"), @"
    decide AWSNodeTemplate: `spec.amiSelector` selects by owner alone, which v1 refuses
    review AWSNodeTemplate: the AMI family `AL2`, of which EKS publishes no more images
    ");
    insta::assert_snapshot!(amis("  launchTemplate: mine\n  role: a\n"), @"
    decide AWSNodeTemplate: v1 has no `spec.launchTemplate`; write its settings into the EC2NodeClass
    decide AWSNodeTemplate: v1 has no `spec.role`
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
    insta::assert_snapshot!(amis("  metadataOptions:\n    httpEndpoint: enabled\n"), @"
    : KarpenterNodeInstanceProfile-prod
      metadataOptions:
        httpEndpoint: enabled
      amiSelectorTerms:
        - alias: al2@latest
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    review AWSNodeTemplate: `metadataOptions.httpTokens` was `optional` where it is missing, and is `required` in v1
    ");
    let without = TEMPLATE.replace("  instanceProfile: KarpenterNodeInstanceProfile-prod\n", "");
    insta::assert_snapshot!(converted(&without).strip_prefix(&without).unwrap(), @"
    decide AWSNodeTemplate: name the role of the nodes in `spec.role`, or the instance profile that `aws.defaultInstanceProfile` of `karpenter-global-settings` named in `spec.instanceProfile`
    review AWSNodeTemplate: the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format
    ");
}

#[test]
fn moves_kubelet_settings_of_a_provisioner() {
    let kubelet = r"  kubeletConfiguration:
    containerRuntime: containerd
    maxPods: 20 # few
  weight: 10
";
    let provisioner = PROVISIONER.replace("  weight: 10\n", kubelet);
    let text = converted(&format!("{provisioner}---\n{TEMPLATE}  amiFamily: Bottlerocket\n"));
    assert!(text.contains("  kubelet:\n    maxPods: 20 # few\n"), "{text}");
    assert!(!text.contains("decide") && text.matches("maxPods").count() == 1, "{text}");
    let decisions = |text: &str| {
        let text = converted(text);
        text.lines().filter(|line| line.starts_with("decide")).collect::<Vec<_>>().join("\n")
    };
    let docker = provisioner.replace("containerd", "dockerd");
    insta::assert_snapshot!(decisions(&format!("{docker}---\n{TEMPLATE}  amiFamily: Bottlerocket\n")), @"
    decide Provisioner: move `spec.kubeletConfiguration` to `spec.kubelet` of the EC2NodeClass: v1 has no setting `containerRuntime`
    decide AWSNodeTemplate: the Provisioner `default`, which has to be converted together with it
    ");
    let other = PROVISIONER.replace("name: default", "name: other");
    insta::assert_snapshot!(decisions(&format!("{provisioner}---\n{other}---\n{TEMPLATE}  amiFamily: Bottlerocket\n")), @"
    decide Provisioner: move `spec.kubeletConfiguration` to `spec.kubelet` of the EC2NodeClass: the Provisioner `other` uses `web` too, without these settings
    decide Provisioner: the Provisioner `default`, which has to be converted together with it
    decide AWSNodeTemplate: the Provisioner `default`, which has to be converted together with it
    ");
}
