use super::*;

type Taints<'t> = Vec<(&'t str, Place)>;
type Reasons<'t> = Vec<(Reason, &'t str)>;

/// Each taint with its way, and each reason with the words that it stands at.
fn read(text: &str) -> (Taints<'_>, Reasons<'_>) {
    let found = Registration::read(text);
    let taints = found.taints.iter().map(|found| (found.taint.span.text(text), found.place)).collect();
    (taints, found.unknown.iter().map(|unknown| (unknown.reason, unknown.span.text(text))).collect())
}

fn reasons(lines: &str) -> Vec<Reason> {
    let text = format!("#!/bin/bash\n{lines}\n");
    read(&text).1.into_iter().map(|(reason, _)| reason).collect()
}

#[test]
fn arguments_from_a_variable_are_unknown() {
    let text = "#!/bin/sh\nbootstrap.sh demo --kubelet-extra-args \"$ARGS\"";
    assert_eq!(read(text), (vec![], vec![(Reason::Expansion, "\"$ARGS\"")]));
    assert_eq!(reasons("bootstrap.sh demo $ARGS"), [Reason::Expansion]);
    assert_eq!(reasons("bootstrap.sh \"${ARGS[@]}\""), [Reason::Expansion]);
    assert_eq!(reasons("bootstrap.sh $NAME --use-max-pods false"), []);
    assert_eq!(reasons("bootstrap.sh demo --b64-cluster-ca $CA --apiserver-endpoint $EP"), []);
    assert_eq!(reasons("bootstrap.sh demo --kubelet-extra-args \"--node-labels=a=$B --v=2\""), []);
    assert_eq!(reasons("bootstrap.sh demo --kubelet-extra-args \"--v=2 $MORE\""), [Reason::Expansion]);
    assert_eq!(
        reasons("bootstrap.sh demo --kubelet-extra-args \"--register-with-taints=$T\""),
        [Reason::Expansion]
    );
}

#[test]
fn what_other_files_do_is_unknown() {
    assert_eq!(reasons("curl -s https://x | bash"), [Reason::Download]);
    assert_eq!(reasons("bash <(curl -s https://x)"), [Reason::Download]);
    assert_eq!(reasons("source /opt/env.sh; . /etc/os-release"), [Reason::Sourced]);
    assert_eq!(reasons("eval \"$X\"; bash -c 'y'"), [Reason::InlineScript, Reason::InlineScript]);
    assert_eq!(reasons("/opt/join.sh; sudo bash ./x"), [Reason::OtherProgram, Reason::OtherProgram]);
    assert_eq!(reasons("$TOOL join"), [Reason::DynamicProgram]);
    assert_eq!(
        reasons("yum install -y jq; /usr/bin/systemctl restart x; /etc/eks/max-pods-calculator.sh"),
        []
    );
    assert_eq!(reasons("echo 'x"), [Reason::Unparsed]);
}

#[test]
fn a_configuration_that_the_script_writes_is_read() {
    let text = "#!/bin/bash\ncat > /etc/kubernetes/kubelet/config.json <<'EOF'\n{\"registerWithTaints\": [{\"key\": \
        \"karpenter.sh/unregistered\", \"effect\": \"NoExecute\"}]}\nEOF\n";
    assert_eq!(Registration::read(text).registered("karpenter.sh/unregistered", "NoExecute").count(), 1);
    let text = "#!/bin/bash\nyq '.registerWithTaints' f\necho \"$(jq '.registerWithTaints=[{key:\"a/b\",effect:\"NoExecute\"}]' f)\" > f\n";
    let (taints, unknown) = read(text);
    assert!(taints.contains(&("a/b\",effect:\"NoExecute", Place::Config)), "{taints:?}");
    assert_eq!(unknown.first().map(|unknown| unknown.0), Some(Reason::UnreadList));
    let text = "#!/bin/bash\ncat <<EOF >/etc/systemd/system/kubelet.service.d/x.conf\nEnvironment='KUBELET_EXTRA_ARGS=$A'\nEOF\n";
    assert_eq!(read(text).1.first().map(|unknown| unknown.0), Some(Reason::Expansion));
}

#[test]
fn a_node_config_in_a_here_document_is_handed_to_the_reader() {
    let text = "#!/bin/bash\ncat >/etc/n.yaml <<EOF\napiVersion: node.eks.aws/v1alpha1\nEOF\nnodeadm init -c file:///etc/n.yaml\n";
    let found = Registration::read_with(text, &|body| {
        assert_eq!(body, "apiVersion: node.eks.aws/v1alpha1\n");
        ConfiguredTaints { taints: vec![], unread: Some(Span::new(0, 10)) }
    });
    assert_eq!(found.unknown.len(), 1);
    assert_eq!(found.unknown[0].span.text(text), "apiVersion");
    assert_eq!(found.joins.len(), 2);
    assert_eq!(reasons("nodeadm init --config-source file:///etc/other.yaml"), [Reason::ConfigFile]);
    assert_eq!(reasons("nodeadm init -c imds://user-data"), []);
}

#[test]
fn a_taint_that_is_only_mentioned_is_told_apart() {
    let text = "#!/bin/bash\nARGS='--register-with-taints=a/b:NoExecute'\nbootstrap.sh x --kubelet-extra-args \"$ARGS\"\n";
    let (taints, unknown) = read(text);
    assert_eq!((taints, unknown.len()), (vec![("a/b:NoExecute", Place::Mention)], 1));
}

#[test]
fn parts_and_cloud_config() {
    let head = "Content-Type: multipart/mixed; boundary=B\n\n--B\n";
    let part = |kind: &str, body: &str| format!("{head}Content-Type: {kind}\n\n{body}\n--B--\n");
    let reason = |text: &str| Registration::read(text).unknown.first().map(|unknown| unknown.reason);
    assert_eq!(reason(&part("text/cloud-config", "runcmd:\n- x")), Some(Reason::CloudConfig));
    assert_eq!(reason(&part("text/cloud-config", "packages: [jq]")), None);
    assert_eq!(reason(&part("text/x-include-url", "https://x")), Some(Reason::Download));
    let encoded = part("text/x-shellscript\nContent-Transfer-Encoding: base64", "IyEK");
    assert_eq!(reason(&encoded), Some(Reason::Encoded));
    assert_eq!(reason("[settings.kubernetes\n"), Some(Reason::Unparsed));
}
