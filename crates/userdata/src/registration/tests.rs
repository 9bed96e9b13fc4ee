use super::*;

type Taints<'t> = Vec<(&'t str, TaintSource)>;
type Reasons<'t> = Vec<(UnresolvedReason, &'t str)>;

/// Taints with their sources, and unresolved parts with their reasons.
fn parse(text: &str) -> (Taints<'_>, Reasons<'_>) {
    let found = Registration::parse(text);
    let taints = found.taints.iter().map(|found| (found.taint.span.text(text), found.source)).collect();
    (
        taints,
        found.unresolved.iter().map(|unresolved| (unresolved.reason, unresolved.span.text(text))).collect(),
    )
}

fn reasons(lines: &str) -> Vec<UnresolvedReason> {
    let text = format!("#!/bin/bash\n{lines}\n");
    parse(&text).1.into_iter().map(|(reason, _)| reason).collect()
}

#[test]
fn reports_arguments_from_variables_as_unresolved() {
    let text = "#!/bin/sh\nbootstrap.sh demo --kubelet-extra-args \"$ARGS\"";
    assert_eq!(parse(text), (vec![], vec![(UnresolvedReason::Expansion, "\"$ARGS\"")]));
    assert_eq!(reasons("bootstrap.sh demo $ARGS"), [UnresolvedReason::Expansion]);
    assert_eq!(reasons("bootstrap.sh \"${ARGS[@]}\""), [UnresolvedReason::Expansion]);
    assert_eq!(reasons("bootstrap.sh $NAME --use-max-pods false"), []);
    assert_eq!(reasons("bootstrap.sh demo --b64-cluster-ca $CA --apiserver-endpoint $EP"), []);
    assert_eq!(reasons("bootstrap.sh demo --kubelet-extra-args \"--node-labels=a=$B --v=2\""), []);
    assert_eq!(
        reasons("bootstrap.sh demo --kubelet-extra-args \"--v=2 $MORE\""),
        [UnresolvedReason::Expansion]
    );
    assert_eq!(
        reasons("bootstrap.sh demo --kubelet-extra-args \"--register-with-taints=$T\""),
        [UnresolvedReason::Expansion]
    );
}

#[test]
fn reports_other_scripts_and_programs_as_unresolved() {
    assert_eq!(reasons("curl -s https://x | bash"), [UnresolvedReason::Download]);
    assert_eq!(reasons("bash <(curl -s https://x)"), [UnresolvedReason::Download]);
    assert_eq!(reasons("source /opt/env.sh; . /etc/os-release"), [UnresolvedReason::Sourced]);
    assert_eq!(
        reasons("eval \"$X\"; bash -c 'y'"),
        [UnresolvedReason::InlineScript, UnresolvedReason::InlineScript]
    );
    assert_eq!(
        reasons("/opt/join.sh; sudo bash ./x"),
        [UnresolvedReason::OtherProgram, UnresolvedReason::OtherProgram]
    );
    assert_eq!(reasons("$TOOL join"), [UnresolvedReason::DynamicProgram]);
    assert_eq!(
        reasons("yum install -y jq; /usr/bin/systemctl restart x; /etc/eks/max-pods-calculator.sh"),
        []
    );
    assert_eq!(reasons("echo 'x"), [UnresolvedReason::Unparsed]);
}

#[test]
fn reads_configuration_that_the_script_writes() {
    let text = r#"#!/bin/bash
cat > /etc/kubernetes/kubelet/config.json <<'EOF'
{"registerWithTaints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]}
EOF
"#;
    assert_eq!(Registration::parse(text).registered("karpenter.sh/unregistered", "NoExecute").count(), 1);
    let text = r#"#!/bin/bash
yq '.registerWithTaints' f
echo "$(jq '.registerWithTaints=[{key:"a/b",effect:"NoExecute"}]' f)" > f
"#;
    let (taints, unresolved) = parse(text);
    assert!(taints.contains(&("a/b\",effect:\"NoExecute", TaintSource::Config)), "{taints:?}");
    assert_eq!(unresolved.first().map(|unresolved| unresolved.0), Some(UnresolvedReason::UnreadList));
    let text = r"#!/bin/bash
cat <<EOF >/etc/systemd/system/kubelet.service.d/x.conf
Environment='KUBELET_EXTRA_ARGS=$A'
EOF
";
    assert_eq!(parse(text).1.first().map(|unresolved| unresolved.0), Some(UnresolvedReason::Expansion));
}

#[test]
fn parses_a_node_config_in_a_here_document() {
    let text = r"#!/bin/bash
cat >/etc/n.yaml <<EOF
apiVersion: node.eks.aws/v1alpha1
spec: $SPEC
EOF
nodeadm init -c file:///etc/n.yaml
";
    let found = Registration::parse(text);
    assert_eq!(found.node_configs[0].text(text), "apiVersion: node.eks.aws/v1alpha1\nspec: $SPEC\n");
    assert_eq!(found.unresolved.len(), 1);
    assert_eq!(found.unresolved[0].span.text(text), "$SPEC");
    assert_eq!(found.joins.len(), 2);
    assert_eq!(
        reasons("nodeadm init --config-source file:///etc/other.yaml"),
        [UnresolvedReason::ConfigFile]
    );
    assert_eq!(reasons("nodeadm init -c imds://user-data"), []);
}

#[test]
fn distinguishes_taints_that_are_only_mentioned() {
    let text = "#!/bin/bash\nARGS='--register-with-taints=a/b:NoExecute'\nbootstrap.sh x --kubelet-extra-args \"$ARGS\"\n";
    let (taints, unresolved) = parse(text);
    assert_eq!((taints, unresolved.len()), (vec![("a/b:NoExecute", TaintSource::Mention)], 1));
}

#[test]
fn reports_mime_parts_and_cloud_config_as_unresolved() {
    let head = "Content-Type: multipart/mixed; boundary=B\n\n--B\n";
    let part = |kind: &str, body: &str| format!("{head}Content-Type: {kind}\n\n{body}\n--B--\n");
    let reason =
        |text: &str| Registration::parse(text).unresolved.first().map(|unresolved| unresolved.reason);
    assert_eq!(reason(&part("text/cloud-config", "runcmd:\n- x")), Some(UnresolvedReason::CloudConfig));
    assert_eq!(reason(&part("text/cloud-config", "packages: [jq]")), None);
    assert_eq!(reason(&part("text/x-include-url", "https://x")), Some(UnresolvedReason::Download));
    let encoded = part("text/x-shellscript\nContent-Transfer-Encoding: base64", "IyEK");
    assert_eq!(reason(&encoded), Some(UnresolvedReason::Encoded));
    assert_eq!(reason("[settings.kubernetes\n"), Some(UnresolvedReason::Unparsed));
}
