//! Thirty examples of user data from practice, valid and invalid, with the results of the parsers.

use manifest::source::Span;

use crate::format::UserDataFormat;
use crate::image_family::{ImageFamily, Treatment};
use crate::mime::{Archive, MimeProblemKind};
use crate::registration::{Join, Registration, TaintSource};
use crate::shell::{Script, ShellProblemKind};
use crate::toml::TomlDocument;

const KEY: &str = "karpenter.sh/unregistered";
const EFFECT: &str = "NoExecute";

/// Results for user data of `amiFamily: Custom`, one line per fact.
fn report(text: &str) -> Vec<String> {
    let found = Registration::parse(text);
    let mut lines = Vec::new();
    for call in found.bootstraps() {
        let name = call.cluster_name.as_ref().map_or("-", |word| word.value.as_str());
        lines.push(format!("joins {name}"));
        for ignored in &call.ignored {
            lines.push(format!(
                "ignored {} ({})",
                ignored.word.span.text(text),
                ignored.resembles.unwrap_or("-")
            ));
        }
        let pods = call.kubelet_flags().max_pods().map(|pods| pods.text.value.clone());
        lines.extend(pods.map(|pods| format!("max-pods {pods}")));
    }
    for taint in &found.taints {
        let place = if taint.source == TaintSource::Mention { "mentions" } else { "registers" };
        lines.push(format!("{place} {}", taint.taint.span.text(text)));
    }
    let certain = found.registered(KEY, EFFECT).next().is_some();
    let verdict = if certain {
        "good"
    } else if found.is_dynamic() {
        "unknown"
    } else {
        "missing"
    };
    lines.push(verdict.to_owned());
    lines
}

fn calls(arguments: &str) -> Vec<String> {
    report(&format!("#!/bin/bash\nset -euo pipefail\n/etc/eks/bootstrap.sh {arguments}\n"))
}

#[test]
fn finds_the_taint_in_any_quoting() {
    assert_eq!(
        calls(
            "demo --apiserver-endpoint https://E --b64-cluster-ca Q0E= \
             --kubelet-extra-args '--register-with-taints=karpenter.sh/unregistered:NoExecute'"
        ),
        ["joins demo", "registers karpenter.sh/unregistered:NoExecute", "good"]
    );
    assert_eq!(
        calls(
            "demo --kubelet-extra-args '--register-with-taints \"karpenter.sh/unregistered:NoExecute\" --max-pods=58'"
        ),
        ["joins demo", "max-pods 58", "registers karpenter.sh/unregistered:NoExecute", "good"]
    );
    assert_eq!(
        calls(
            "demo --kubelet-extra-args \"--node-labels=a=b \
             --register-with-taints=karpenter.sh/unregistered=true:NoExecute,team/x=y:NoSchedule\""
        ),
        [
            "joins demo",
            "registers karpenter.sh/unregistered=true:NoExecute",
            "registers team/x=y:NoSchedule",
            "good"
        ]
    );
}

#[test]
fn ignores_option_with_equals_sign() {
    let option = "--kubelet-extra-args='--register-with-taints=karpenter.sh/unregistered:NoExecute'";
    let ignored = format!("ignored {option} (--kubelet-extra-args)");
    assert_eq!(calls(&format!("demo {option}")), ["joins demo", &ignored, "missing"]);
    assert_eq!(
        calls(&format!("{option} demo")),
        [
            "joins --kubelet-extra-args=--register-with-taints=karpenter.sh/unregistered:NoExecute",
            &ignored,
            "ignored demo (-)",
            "missing"
        ]
    );
}

#[test]
fn reports_wrong_key_wrong_effect_and_no_taint_as_missing() {
    let with = |taint: &str| calls(&format!("demo --kubelet-extra-args '--register-with-taints={taint}'"));
    assert_eq!(
        with("karpenter.sh/uninitialized:NoExecute"),
        ["joins demo", "registers karpenter.sh/uninitialized:NoExecute", "missing"]
    );
    assert_eq!(
        with("karpenter.sh/unregistered:NoSchedule"),
        ["joins demo", "registers karpenter.sh/unregistered:NoSchedule", "missing"]
    );
    assert_eq!(calls("demo"), ["joins demo", "missing"]);
}

#[test]
fn finds_the_taint_in_unusual_quoting() {
    assert_eq!(
        calls(
            "demo --kubelet-extra-args --register-with-taints=karpenter.sh/unregistered:NoExecute --max-pods=20"
        ),
        ["joins demo", "ignored --max-pods=20 (-)", "registers karpenter.sh/unregistered:NoExecute", "good"]
    );
    assert_eq!(
        calls(
            "demo --kubelet-extra-args '--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'"
        ),
        ["joins demo", "registers karpenter.sh/unregistered:NoExecute", "good"]
    );
    assert_eq!(
        calls(
            "${module.eks.cluster_name} --kubelet-extra-args \
             '--register-with-taints=karpenter.sh/unregistered:NoExecute'"
        ),
        ["joins ${module.eks.cluster_name}", "registers karpenter.sh/unregistered:NoExecute", "good"]
    );
}

const NODE_CONFIG: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: demo, \
    apiServerEndpoint: https://E, certificateAuthority: Q0E=, cidr: 10.100.0.0/16}\n";

#[test]
fn finds_the_taint_in_a_node_config() {
    let config = format!(
        "{NODE_CONFIG}  kubelet:\n    config:\n      registerWithTaints:\n      - {{key: karpenter.sh/unregistered, effect: NoExecute}}"
    );
    assert_eq!(report(&config), ["registers karpenter.sh/unregistered, effect: NoExecute", "good"]);
    let flags = format!(
        "{NODE_CONFIG}  kubelet:\n    flags: ['--register-with-taints=\"karpenter.sh/unregistered:NoExecute\"']\n"
    );
    assert_eq!(report(&flags), ["registers karpenter.sh/unregistered:NoExecute", "good"]);
    assert_eq!(report(NODE_CONFIG), ["missing"]);
    assert_eq!(Registration::parse(NODE_CONFIG).node_configs, [Span::whole(NODE_CONFIG)]);
}

const BOTTLEROCKET: &str = "[settings.kubernetes]\ncluster-name = \"demo\"\napi-server = \"https://E\"\n\
    cluster-certificate = \"Q0E=\"\n";

#[test]
fn finds_the_taint_in_bottlerocket_settings() {
    for value in ["[\":NoExecute\"]", "\":NoExecute\"", "['true:NoExecute']"] {
        let text = format!(
            "{BOTTLEROCKET}[settings.kubernetes.node-taints]\n\"karpenter.sh/unregistered\" = {value}\n"
        );
        let found = Registration::parse(&text);
        let taint = found.registered(KEY, EFFECT).next().unwrap();
        assert_eq!(taint.taint.effect.span.text(&text), "NoExecute");
        assert!(matches!(found.joins[..], [Join::Bottlerocket(_)]));
    }
    assert_eq!(report(BOTTLEROCKET), ["missing"]);
}

#[test]
fn al2023_treats_yaml_as_a_node_config() {
    assert_eq!(ImageFamily::Al2023.treatment("#!/bin/bash\necho hello"), Treatment::NodeConfigIfYaml);
    assert_eq!(UserDataFormat::detect("#!/bin/bash\necho hello"), UserDataFormat::Script);
    let call = "#!/bin/bash\n/etc/eks/bootstrap.sh demo";
    let found = Registration::parse(call);
    assert_eq!(found.bootstraps().next().unwrap().program.text(call), "/etc/eks/bootstrap.sh");
    let config = "#cloud-config\npackages: [jq]";
    assert_eq!(
        (UserDataFormat::detect(config), ImageFamily::Al2023.treatment(config)),
        (UserDataFormat::CloudConfig, Treatment::NodeConfigIfYaml)
    );
}

#[test]
fn reports_blank_line_before_mime_headers() {
    let text = "\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\n";
    assert_eq!(
        (UserDataFormat::detect(text), ImageFamily::Al2023.treatment(text)),
        (UserDataFormat::Mime, Treatment::Mime)
    );
    assert_eq!(Archive::parse(text).problems[0].kind, MimeProblemKind::LeadingBlankLine);
    assert_eq!(report(text), ["unknown"]);
}

#[test]
fn reads_max_pods_of_a_bootstrap_call() {
    assert_eq!(calls("demo --kubelet-extra-args '--max-pods=20'"), ["joins demo", "max-pods 20", "missing"]);
}

#[test]
fn distinguishes_closed_and_unclosed_archives() {
    let archive = |end: &str| {
        let part = "--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho hi\n";
        let text = format!(
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n{part}{part}{end}\n"
        );
        Archive::parse(&text).problems.iter().map(|problem| problem.kind).collect::<Vec<_>>()
    };
    assert_eq!(archive("--B--"), []);
    assert_eq!(archive("--B-"), [MimeProblemKind::MisspeltDelimiter, MimeProblemKind::NotClosed]);
    let early = Archive::parse("Content-Type: multipart/mixed; boundary=\"B\"\n--B\n");
    assert_eq!(early.problems[0].kind, MimeProblemKind::NoBlankLineAfterHeaders);
}

#[test]
fn parses_bottlerocket_settings_as_toml() {
    let error = TomlDocument::parse("#!/bin/bash\necho hi").unwrap_err();
    assert_eq!(error.span.start, 17);
    let taints =
        TomlDocument::parse("[settings.kubernetes.node-taints]\n\"team/x\" = [\"y:NoSchedule\"]").unwrap();
    assert_eq!(taints.get(&["settings", "kubernetes", "node-taints", "team/x"]).unwrap().children().len(), 1);
    let text = "[settings.kubernetes]\ncluster-name = \"other\"\n[setting.kubernetes]\n";
    let typo = TomlDocument::parse(text).unwrap();
    let name = typo.get(&["settings", "kubernetes", "cluster-name"]).unwrap();
    assert_eq!((name.key_span().text(text), name.span().text(text)), ("cluster-name", "\"other\""));
    assert_eq!(typo.root().get("setting").unwrap().span().text(text), "setting");
}

#[test]
fn detects_windows_tags_and_base64() {
    let tagged = "<powershell>\nWrite-Host x\n</powershell>";
    assert_eq!(
        (UserDataFormat::detect(tagged), ImageFamily::Windows.treatment(tagged)),
        (UserDataFormat::Tagged, Treatment::PowerShell)
    );
    assert_eq!(UserDataFormat::detect("Write-Host x"), UserDataFormat::Unmarked);
    assert_eq!(UserDataFormat::detect("IyEvYmluL2Jhc2gKZWNobyBoaQo="), UserDataFormat::Base64);
    assert_eq!(report("IyEvYmluL2Jhc2gKZWNobyBoaQo="), ["unknown"]);
}

#[test]
fn reports_windows_line_endings() {
    let text = "#!/bin/bash\r\necho hi\r\n";
    let script = Script::parse(text, Span::whole(text));
    assert_eq!(script.problems[0].kind, ShellProblemKind::CarriageReturns);
    // Karpenter removes carriage returns only for AL2 and AL2023.
    assert!(ImageFamily::Al2023.strips_carriage_returns() && !ImageFamily::Custom.strips_carriage_returns());
}

#[test]
fn folded_script_has_no_commands() {
    let text = "#!/bin/bash set -e /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'";
    assert_eq!(UserDataFormat::detect(text), UserDataFormat::Script);
    assert_eq!(Script::parse(text, Span::whole(text)).commands, []);
    assert_eq!(report(text), ["missing"]);
}

#[test]
fn published_custom_family_example_registers_no_taint() {
    // Based on aws/karpenter-provider-aws examples/v1/custom-family.yaml at v1.14.1.
    let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\n\n--BOUNDARY\n\
        Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho \"set-up\"\n\n\
        /etc/eks/bootstrap.sh my-cluster --kubelet-extra-args='--node-labels=foo=bar'\n\n--BOUNDARY\n";
    assert_eq!(
        report(text),
        [
            "joins my-cluster",
            "ignored --kubelet-extra-args='--node-labels=foo=bar' (--kubelet-extra-args)",
            "missing"
        ]
    );
    assert_eq!(Archive::parse(text).problems[0].kind, MimeProblemKind::BareFinalDelimiter);
}
