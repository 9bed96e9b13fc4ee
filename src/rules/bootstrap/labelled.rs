//! Thirty real-world user data texts, valid and invalid, each with every finding of this family.
//!
//! Two results differ from common advice. E28: nodeadm on an AL2023 image decodes Base64
//! (nodeadm/internal/configprovider/encoding.go), so encoded user data for `Custom` is only a warning. E29: Karpenter
//! removes carriage returns for AL2 and AL2023, and cloud-init removes them from scripts whose first line has one
//! (`cloudinit/handlers/shell_script.py`), so they are an info for `Custom` and no finding otherwise.

use super::examples::{class, custom, script};
use crate::check;
use cluster::Cluster;
use manifest::File;
use objects::embedded::READ_OPTIONS;
use rule::settings::{RuleSelector, Settings};

/// Severity and rule of each finding of this family, in document order.
fn verdict(text: &str) -> Vec<String> {
    let file = File::read("-", text, READ_OPTIONS);
    let settings = Settings { select: vec![RuleSelector::Family("bootstrap")], ..Settings::default() };
    let report = check(&[Cluster { name: String::new(), files: vec![file] }], &settings);
    assert!(report.unreadable.is_empty(), "{:?}\n{text}", report.unreadable);
    report.findings.iter().map(|finding| format!("{} {}", finding.severity, finding.rule)).collect()
}

/// Findings for a script that calls bootstrap.sh with these arguments.
fn calls(arguments: &str) -> Vec<String> {
    verdict(&script(&format!("set -euo pipefail\n/etc/eks/bootstrap.sh {arguments}")))
}

const GOOD: [&str; 0] = [];
const TAINT: &str = "--register-with-taints=karpenter.sh/unregistered:NoExecute";

#[test]
fn e1_to_e3_accept_the_registration_taint_in_any_quoting() {
    assert_eq!(
        calls(&format!(
            "demo --apiserver-endpoint https://E --b64-cluster-ca Q0E= --kubelet-extra-args '{TAINT}'"
        )),
        GOOD
    );
    assert_eq!(
        calls(
            "demo --kubelet-extra-args '--register-with-taints \"karpenter.sh/unregistered:NoExecute\" --max-pods=58'"
        ),
        GOOD
    );
    assert_eq!(
        calls(
            "demo --kubelet-extra-args \"--node-labels=a=b --register-with-taints=karpenter.sh/unregistered=true:NoExecute,team/x=y:NoSchedule\""
        ),
        GOOD
    );
}

#[test]
fn e4_and_e5_report_equals_sign_that_hides_the_taint() {
    let both = ["warning registration-taint-missing", "error bootstrap-argument-ignored"];
    assert_eq!(calls(&format!("demo --kubelet-extra-args='{TAINT}'")), both);
    assert_eq!(calls(&format!("--kubelet-extra-args='{TAINT}' demo")), both);
}

#[test]
fn e6_to_e8_report_wrong_key_wrong_effect_and_missing_taint() {
    let with = |taint: &str| calls(&format!("demo --kubelet-extra-args '--register-with-taints={taint}'"));
    assert_eq!(with("karpenter.sh/uninitialized:NoExecute"), ["warning registration-taint-wrong"]);
    assert_eq!(with("karpenter.sh/unregistered:NoSchedule"), ["warning registration-taint-wrong"]);
    assert_eq!(calls("demo"), ["warning registration-taint-missing"]);
}

#[test]
fn e9_to_e11_report_missing_quotes_nested_quotes_and_template_residue() {
    assert_eq!(
        calls(&format!("demo --kubelet-extra-args {TAINT} --max-pods=20")),
        ["warning bootstrap-argument-ignored"]
    );
    assert_eq!(
        calls(
            "demo --kubelet-extra-args '--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'"
        ),
        ["warning bootstrap-quoting-fragile"]
    );
    assert_eq!(
        calls(&format!("${{module.eks.cluster_name}} --kubelet-extra-args '{TAINT}'")),
        ["error userdata-template-residue"]
    );
}

#[test]
fn e12_to_e14_check_taint_and_cluster_of_a_node_config() {
    let config = |cidr: &str, kubelet: &str| {
        verdict(&custom(&format!(
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {{name: demo, apiServerEndpoint: https://E, certificateAuthority: Q0E={cidr}}}\n{kubelet}"
        )))
    };
    let cidr = ", cidr: 10.100.0.0/16";
    let list = "  kubelet:\n    config:\n      registerWithTaints:\n      - {key: karpenter.sh/unregistered, effect: NoExecute}\n";
    let flag = "  kubelet:\n    flags: ['--register-with-taints=\"karpenter.sh/unregistered:NoExecute\"']\n";
    assert_eq!(config(cidr, list), GOOD);
    assert_eq!(config(cidr, flag), GOOD);
    assert_eq!(
        config("", ""),
        ["warning registration-taint-missing", "error userdata-nodeconfig-incomplete"]
    );
}

#[test]
fn e15_accepts_bottlerocket_settings_on_custom() {
    let settings = "[settings.kubernetes]\ncluster-name = \"demo\"\napi-server = \"https://E\"\ncluster-certificate = \"Q0E=\"\n\
        [settings.kubernetes.node-taints]\n\"karpenter.sh/unregistered\" = [\":NoExecute\"]\n";
    assert_eq!(verdict(&custom(settings)), GOOD);
}

#[test]
fn e16_to_e19_check_formats_on_al2023() {
    assert_eq!(verdict(&class("AL2023", "#!/bin/bash\necho hello\n")), GOOD);
    assert_eq!(
        verdict(&class("AL2023", "#!/bin/bash\n/etc/eks/bootstrap.sh demo\n")),
        ["error userdata-family-mismatch"]
    );
    assert_eq!(
        verdict(&class("AL2023", "#cloud-config\npackages: [jq]\n")),
        ["error userdata-family-mismatch"]
    );
    let archive = "\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho hi\n--B--\n";
    assert_eq!(verdict(&class("AL2023", archive)), ["error userdata-mime-malformed"]);
}

#[test]
fn e20_reports_second_bootstrap_call_on_al2() {
    assert_eq!(
        verdict(&class(
            "AL2",
            "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'\n"
        )),
        ["warning userdata-family-mismatch"]
    );
}

#[test]
fn e21_and_e22_report_malformed_mime_archives_only() {
    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n";
    let part = "--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho hi\n";
    assert_eq!(verdict(&class("AL2", &format!("{head}\n{part}{part}--B--\n"))), GOOD);
    assert_eq!(
        verdict(&class("AL2", &format!("{head}\n{part}{part}--B-\n"))),
        ["error userdata-mime-malformed"]
    );
    assert_eq!(verdict(&class("AL2", &format!("{head}{part}--B--\n"))), ["error userdata-mime-malformed"]);
}

#[test]
fn e23_to_e25_report_scripts_and_overridden_settings_on_bottlerocket() {
    let bottlerocket = |text: &str| verdict(&class("Bottlerocket", text));
    assert_eq!(bottlerocket("#!/bin/bash\necho hi\n"), ["error userdata-family-mismatch"]);
    assert_eq!(
        bottlerocket("[settings.kubernetes.node-taints]\n\"team/x\" = [\"y:NoSchedule\"]\n"),
        ["warning userdata-overridden"]
    );
    assert_eq!(
        bottlerocket("[settings.kubernetes]\ncluster-name = \"other\"\n[setting.kubernetes]\n"),
        ["warning userdata-overridden", "warning userdata-overridden"]
    );
}

#[test]
fn e26_and_e27_report_powershell_tags_on_windows() {
    assert_eq!(
        verdict(&class("Windows2022", "<powershell>\nWrite-Host x\n</powershell>\n")),
        ["error userdata-family-mismatch"]
    );
    assert_eq!(verdict(&class("Windows2022", "Write-Host x\n")), GOOD);
}

#[test]
fn e28_reports_base64_on_every_family() {
    for (family, severity) in [
        ("AL2", "error"),
        ("AL2023", "error"),
        ("Bottlerocket", "error"),
        ("Windows2022", "error"),
        ("Custom", "warning"),
    ] {
        let expected = [format!("{severity} userdata-already-encoded")];
        assert_eq!(verdict(&class(family, "IyEvYmluL2Jhc2gKZWNobyBoaQo=\n")), expected, "{family}");
    }
}

#[test]
fn e29_reports_windows_line_endings_on_custom_only() {
    let text = |family: &str| {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  amiFamily: {family}\n  userData: \"#!/bin/bash\\r\\n/opt/join.sh\\r\\n\"\n"
        )
    };
    assert_eq!(verdict(&text("Custom")), ["info userdata-script-header"]);
    assert_eq!(verdict(&text("AL2")), GOOD);
    assert_eq!(verdict(&text("AL2023")), GOOD);
}

#[test]
fn e30_reports_script_folded_into_one_comment() {
    assert_eq!(
        verdict(&custom(
            "#!/bin/bash set -e /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'\n"
        )),
        ["error userdata-script-header"]
    );
}

#[test]
fn reports_three_mistakes_in_the_published_custom_ami_example() {
    assert_eq!(
        verdict(include_str!("../../../examples/custom-ami-bad.yaml")),
        [
            "warning registration-taint-missing",
            "error bootstrap-argument-ignored",
            "info userdata-mime-malformed"
        ]
    );
}
