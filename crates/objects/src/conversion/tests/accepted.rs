//! Properties of all conversions: the API server accepts their results.

use super::super::testing::assert_certain;
use super::{CLASS, KUBELET, POOL, PROVISIONER, TEMPLATE};

/// Each valid object becomes one that every release accepts.
#[test]
fn converted_objects_are_accepted_by_every_release() {
    let disruptions = [
        "",
        "  disruption: {}\n",
        "  disruption: {expireAfter: 24h}\n",
        "  disruption:\n    expireAfter: Never\n",
        "  disruption: {consolidationPolicy: WhenUnderutilized}\n",
        "  disruption:\n    consolidationPolicy: WhenUnderutilized\n    consolidateAfter: Never\n",
        "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s, expireAfter: 24h}\n",
        "  disruption:\n    consolidateAfter: 30s\n    consolidationPolicy: WhenEmpty\n",
        r"  disruption:
    budgets:
    - nodes: '0'
      schedule: '@daily'
      duration: 10m
    expireAfter: 24h # a day
",
    ];
    let references = [
        "{name: default}",
        "{kind: EC2NodeClass, name: default}",
        "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}",
        "\n        name: default\n        apiVersion: karpenter.k8s.aws/v1beta1",
        "\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: default",
    ];
    let (start, _) = POOL.split_once("  disruption:").unwrap();
    for disruption in disruptions {
        for reference in references {
            let pool = format!("{start}{disruption}");
            let plain = pool.replace("\n        name: default # the only one", &format!(" {reference}"));
            assert_certain(&plain.replace(": \n", ":\n"));
            let kubelet = plain.replace(": \n", ":\n").replace("      requirements:\n", KUBELET);
            assert_certain(&format!("{CLASS}---\n{kubelet}"));
        }
    }
    let families = [
        "AL2",
        "AL2023",
        "Bottlerocket",
        "Windows2019",
        "Windows2022 # why",
        "AL2\n  amiSelectorTerms: []",
        "Custom\n  amiSelectorTerms:\n  - id: ami-1",
        "Bottlerocket\n  amiSelectorTerms: [{tags: {a: b}}]",
    ];
    let rest = [
        "",
        "  metadataOptions: {}\n",
        "  metadataOptions:\n    httpTokens: optional\n",
        r"  tags: {team: web}
  detailedMonitoring: true
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi}}]
",
    ];
    for family in families {
        for rest in rest {
            assert_certain(&format!("{}{rest}", CLASS.replace("AL2023 # the newest", family)));
        }
    }
    let selectors = ["a: b", "a: '*'", "aws-ids: subnet-1, subnet-2", "a: b,c\n    d: e"];
    for selector in selectors {
        assert_certain(&TEMPLATE.replace("karpenter.sh/discovery: prod # the cluster", selector));
    }
    for family in ["AL2", "Bottlerocket", "Windows2022"] {
        assert_certain(&format!("{TEMPLATE}  amiFamily: {family}\n"));
        assert_certain(&format!("{TEMPLATE}  amiFamily: {family}\n  amiSelector: {{aws::name: x}}\n"));
    }
    let (start, rest) = PROVISIONER.split_once("  requirements:").unwrap();
    let (_, end) = rest.split_once("  taints:").unwrap();
    let without = format!("{start}  taints:{end}");
    for provisioner in
        [PROVISIONER, &without, &PROVISIONER.replace("  labels:\n    team: web # cost centre\n", "")]
    {
        for empty in ["", "  consolidation:\n    enabled: true\n"] {
            assert_certain(&provisioner.replace("  ttlSecondsAfterEmpty: 30 # quick\n", empty));
        }
        assert_certain(provisioner);
    }
}

/// The same objects as JSON, within a list, and with Windows line ends.
#[test]
fn converts_other_spellings() {
    assert_certain(&POOL.replace('\n', "\r\n"));
    assert_certain(&CLASS.replace('\n', "\r\n"));
    assert_certain(&PROVISIONER.replace('\n', "\r\n"));
    assert_certain(&TEMPLATE.replace('\n', "\r\n"));
    let item = |text: &str| format!("- {}", text.trim_end().replace('\n', "\n  "));
    let template = format!("{TEMPLATE}  amiFamily: Bottlerocket\n");
    let list = [CLASS, PROVISIONER, &template].map(item).join("\n");
    assert_certain(&format!("apiVersion: v1\nkind: List\nitems:\n{list}\n"));
    assert_certain(
        r#"{"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "metadata": {"name": "a"}, "spec": {"amiFamily": "AL2", "role": "a", "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}"#,
    );
    assert_certain(
        r#"{"apiVersion": "karpenter.sh/v1beta1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {"disruption": {"consolidationPolicy": "WhenUnderutilized", "expireAfter": "24h"}, "template": {"spec": {"nodeClassRef": {"name": "a"}, "requirements": []}}}}"#,
    );
}
