//! User data in the form that Karpenter renders, with other names. The parsers report no problem in it.
//!
//! Source: aws/karpenter-provider-aws pkg/providers/launchtemplate/testdata/*.golden at v1.14.1.

use crate::format::UserDataFormat;
use crate::mime::Archive;
use crate::registration::{Join, Registration};
use crate::shell::Script;
use crate::toml::TomlDocument;

const LABELS: &str = "karpenter.k8s.aws/ec2nodeclass=web,karpenter.sh/capacity-type=spot";

fn assert_registers(text: &str) -> Registration {
    let found = Registration::parse(text);
    let mut taints = found.registered("karpenter.sh/unregistered", "NoExecute");
    let taint = taints.next().expect("the taint is found");
    assert!(taint.taint.key.span.text(text).contains("karpenter.sh/unregistered"));
    assert!(taints.next().is_none());
    drop(taints);
    assert_eq!(found.unresolved, []);
    found
}

#[test]
fn parses_user_data_of_al2() {
    let text = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n\
         Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho mine\n\n--//\n\
         Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash -xe\n\
         exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n\
         /etc/eks/bootstrap.sh 'shop' --apiserver-endpoint 'https://shop' --b64-cluster-ca 'Q0E=' \\\n\
         --dns-cluster-ip '10.0.100.10' \\\n--use-max-pods false \\\n\
         --kubelet-extra-args '--node-labels=\"{LABELS}\" \
         --register-with-taints=\"karpenter.sh/unregistered:NoExecute\" --max-pods=110'\n--//--\n"
    );
    let archive = Archive::parse(&text);
    assert_eq!((archive.parts.len(), archive.problems), (2, vec![]));
    assert_eq!(Script::parse(&text, archive.parts[1].body).problems, []);
    let found = assert_registers(&text);
    let call = found.bootstraps().next().unwrap();
    let flags = call.kubelet_flags();
    assert_eq!(call.cluster_name.as_ref().unwrap().span.text(&text), "'shop'");
    assert_eq!(flags.max_pods().unwrap().text.span.text(&text), "110");
    let labels = flags.node_labels();
    assert_eq!(labels[1].0.span.text(&text), "karpenter.sh/capacity-type");
    assert_eq!(labels[1].1.as_ref().unwrap().span.text(&text), "spot");
    assert!(call.ignored.is_empty() && call.lone_endpoint().is_none() && call.breaks_drop_in().is_none());
}

#[test]
fn parses_user_data_of_al2023() {
    let text = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n\
         Content-Type: application/node.eks.aws\n\n# Karpenter Generated NodeConfig\n\
         apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nmetadata: {{}}\nspec:\n  cluster:\n    name: shop\n  \
         kubelet:\n    config:\n      clusterDNS:\n      - 10.0.100.10\n      maxPods: 110\n      \
         registerWithTaints:\n      - effect: NoExecute\n        key: karpenter.sh/unregistered\n    flags:\n    \
         - --node-labels=\"{LABELS}\"\n\n--//--\n"
    );
    assert_eq!(Archive::parse(&text).problems, []);
    let found = assert_registers(&text);
    assert!(matches!(found.joins[..], [Join::NodeConfig(_)]));
    assert!(found.node_configs[0].text(&text).starts_with("# Karpenter Generated"));
}

#[test]
fn parses_user_data_of_bottlerocket() {
    let text = "[settings]\n[settings.kubernetes]\napi-server = 'https://shop'\nmax-pods = 110\n\n\
        [settings.kubernetes.node-taints]\nbaz = ['bin:NoExecute']\n'karpenter.sh/unregistered' = [':NoExecute']\n\n\
        [settings.kubernetes.eviction-hard]\n'memory.available' = '12%%'\n\n[settings.network]\n\
        hosts = [['10.0.0.0', ['test.example.com', 'test1.example.com']]]\n";
    assert_registers(text);
    let document = TomlDocument::parse(text).unwrap();
    let pods = document.get(&["settings", "kubernetes", "max-pods"]).unwrap();
    assert_eq!((pods.as_integer(), pods.span().text(text)), (Some(110), "110"));
    assert_eq!(document.get(&["settings", "network", "hosts"]).unwrap().children().len(), 1);
}

#[test]
fn parses_user_data_of_windows() {
    let text = format!(
        "<powershell>\nWrite-Host \"mine\"\n\
         [string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n\
         & $EKSBootstrapScriptFile -EKSClusterName 'shop' -APIServerEndpoint 'https://shop' -Base64ClusterCA 'Q0E=' \
         -KubeletExtraArgs '--node-labels=\"{LABELS}\" \
         --register-with-taints=\"karpenter.sh/unregistered:NoExecute\" --max-pods=110' \
         -DNSClusterIP '10.0.100.10'\n</powershell>"
    );
    assert_eq!(UserDataFormat::detect(&text), UserDataFormat::Tagged);
    let found = assert_registers(&text);
    assert!(matches!(found.joins[..], [Join::Windows(_)]));
}
