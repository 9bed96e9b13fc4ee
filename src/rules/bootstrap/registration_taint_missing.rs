use super::registration_taint_wrong::is_wrong;
use super::user_data::{TAINT_EFFECT, TAINT_KEY, TAINT_REQUIRED, UserData};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;
use userdata::registration::{Join, Registration};

rule! {
    /// ## What it does
    ///
    /// Checks that the user data of an EC2NodeClass with `amiFamily: Custom` registers its nodes with the taint
    /// `karpenter.sh/unregistered:NoExecute`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter waits for a new node, copies the NodePool's labels, taints and startup taints onto it, and then
    /// removes this taint. Until then the taint keeps pods off the node. For every other AMI family Karpenter writes
    /// the taint into the user data. For `Custom` you have to write it yourself.
    ///
    /// Karpenter 1.0.0-1.0.8, 1.1.0-1.1.3 and 1.2.0-1.2.1 do not register a node without the taint: the NodeClaim has
    /// `Registered=False` with reason `UnregisteredTaintNotFound`, and after 15 minutes Karpenter deletes the node
    /// and launches the next one. Every later release registers the node, logs `node claim registration error` and
    /// publishes the event `UnregisteredTaintMissing`. Pods may then start before the node has the NodePool's taints.
    ///
    /// The key is `karpenter.sh/unregistered`. No release of Karpenter uses `karpenter.sh/uninitialized`, although
    /// some articles mention it. `node.cloudprovider.kubernetes.io/uninitialized` belongs to the cloud controller
    /// manager and is unrelated. Adding the taint to `taints` or `startupTaints` of the NodePool does not help,
    /// because Karpenter copies those too late.
    ///
    /// The rule reports nothing if the user data leaves the question open: arguments from a variable, a file that is
    /// sourced, or a script that is downloaded or part of the image.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   userData: |
    ///     #!/bin/bash
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args '--node-labels=team=billing'
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   userData: |
    ///     #!/bin/bash
    ///     /etc/eks/bootstrap.sh meadow \
    ///       --kubelet-extra-args '--node-labels=team=billing --register-with-taints="karpenter.sh/unregistered:NoExecute"'
    /// ```
    ///
    /// Double quotes inside the single quotes are harmless; Karpenter's own user data contains them.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7399, #6821; kubernetes-sigs/karpenter#1828, #1635
    /// - kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/registration.go at v1.0.0, v1.0.6, v1.1.2, v1.2.1,
    ///   v1.5.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "user data for `amiFamily: Custom` does not register the taint that Karpenter expects",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object).filter(|data| data.family == Image::Custom) else { return };
    let found = data.registration(context);
    let Some(join) = found.joins.first() else { return };
    // A program on the image may register the taint by itself.
    if found.bootstraps().any(|call| !data.is_eks(call)) {
        return;
    }
    let registers = |key: &str| found.taints.iter().any(|taint| taint.taint.matches(key, TAINT_EFFECT));
    let wrong = found.taints.iter().any(|found| is_wrong(&found.taint));
    if registers(TAINT_KEY) || wrong || found.is_dynamic() {
        return;
    }
    let finding = |severity, effect: &str, releases| {
        let message = format!("nodes join without the taint `{TAINT_KEY}:{TAINT_EFFECT}`, {effect}");
        let mut finding = data
            .finding(&RULE, place(join, data.text), message)
            .help(help(join))
            .severity(severity)
            .releases(releases);
        if let Some(word) = hidden(found) {
            finding = finding
                .related(data.place(word), "the taint is in this argument, which bootstrap.sh ignores");
        }
        finding
    };
    let required =
        "so Karpenter never registers them: it deletes each one after 15 minutes and launches the next";
    let expected = "so pods may start before Karpenter has applied the NodePool's taints and labels";
    findings.push(finding(Severity::Error, required, TAINT_REQUIRED.set()));
    findings.push(finding(Severity::Warning, expected, Releases::ALL.without(TAINT_REQUIRED)));
}

/// Span of the argument or section to which the taint has to be added.
fn place(join: &Join, text: &str) -> Span {
    match join {
        Join::Bootstrap(call) => call
            .options
            .iter()
            .find(|option| option.name == "--kubelet-extra-args")
            .map_or(call.program, |option| {
                let value = option.value.span;
                if value.text(text).contains('\n') { option.span } else { option.span.to(value) }
            }),
        Join::Nodeadm(span)
        | Join::Kubelet(span)
        | Join::NodeConfig(span)
        | Join::Bottlerocket(span)
        | Join::Windows(span) => *span,
    }
}

fn help(join: &Join) -> String {
    let (what, between, to) = match join {
        Join::Bootstrap(_) => ("--register-with-taints=", ":", "` to the value of `--kubelet-extra-args`"),
        Join::Kubelet(_) => ("--register-with-taints=", ":", "` to the kubelet's arguments"),
        Join::Windows(_) => ("--register-with-taints=", ":", "` to the value of `-KubeletExtraArgs`"),
        Join::Bottlerocket(_) => {
            return format!(
                "add the table `[settings.kubernetes.node-taints]` with `\"{TAINT_KEY}\" = [\":{TAINT_EFFECT}\"]`"
            );
        }
        Join::NodeConfig(_) | Join::Nodeadm(_) => {
            ("registerWithTaints: [{key: ", ", effect: ", "}]` to `spec.kubelet.config` of the NodeConfig")
        }
    };
    format!("add `{what}{TAINT_KEY}{between}{TAINT_EFFECT}{to}")
}

/// Argument that contains the taint but that bootstrap.sh ignores.
fn hidden(found: &Registration) -> Option<Span> {
    let ignored = found.bootstraps().flat_map(|call| &call.ignored).map(|ignored| &ignored.word);
    ignored.into_iter().find(|word| word.value.contains(TAINT_KEY)).map(|word| word.span)
}

#[cfg(test)]
mod tests {
    use super::super::examples::custom;
    use crate::rules::testing::{findings, findings_with, report, silent};
    use rule::settings::{Settings, Target};

    const CALL: &str = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=58'\n";

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_missing_taint_at_the_kubelet_arguments() {
        insta::assert_snapshot!(findings(&super::RULE, &custom(CALL)), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=58'
            |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0 since 1.0.9, 1.1 since 1.1.4, since 1.2.2]
          nodes join without the taint `karpenter.sh/unregistered:NoExecute`, so pods may start before Karpenter has applied the NodePool's taints and labels
          help: add `--register-with-taints=karpenter.sh/unregistered:NoExecute` to the value of `--kubelet-extra-args`
        ");
    }

    #[test]
    fn points_to_the_taint_in_an_ignored_argument() {
        let text = custom(
            "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args='--register-with-taints=karpenter.sh/unregistered:NoExecute'\n",
        );
        let found = findings(&super::RULE, &text);
        let related = "see line 8 spec.userData: the taint is in this argument, which bootstrap.sh ignores";
        assert!(found.contains(related), "{found}");
    }

    #[test]
    fn is_an_error_on_releases_that_require_the_taint() {
        for (release, severity) in [
            ("1.0.0", "error"),
            ("1.0.8", "error"),
            ("1.0.9", "warning"),
            ("1.1.3", "error"),
            ("1.1.4", "warning"),
            ("1.2.1", "error"),
            ("1.2.2", "warning"),
            ("1.3.0", "warning"),
            ("1.14", "warning"),
        ] {
            let found = report(&super::RULE, &custom(CALL), &at(release)).findings;
            let severities: Vec<_> = found.iter().map(|finding| finding.severity.name()).collect();
            assert_eq!(severities, [severity], "{release}");
        }
        insta::assert_snapshot!(findings_with(&super::RULE, &custom(CALL), &at("1.2.0..1.14")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=58'
            |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [until 1.0.8, 1.1.0 to 1.1.3, 1.2.0 to 1.2.1]
          nodes join without the taint `karpenter.sh/unregistered:NoExecute`, so Karpenter never registers them: it deletes each one after 15 minutes and launches the next
          help: add `--register-with-taints=karpenter.sh/unregistered:NoExecute` to the value of `--kubelet-extra-args`
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=58'
            |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0 since 1.0.9, 1.1 since 1.1.4, since 1.2.2]
          nodes join without the taint `karpenter.sh/unregistered:NoExecute`, so pods may start before Karpenter has applied the NodePool's taints and labels
          help: add `--register-with-taints=karpenter.sh/unregistered:NoExecute` to the value of `--kubelet-extra-args`
        ");
    }

    #[test]
    fn help_matches_the_format_of_the_user_data() {
        for (text, word) in [
            (
                r"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec: {cluster: {name: a}}
",
                "registerWithTaints:",
            ),
            ("[settings.kubernetes]\ncluster-name = 'a'\n", "node-taints"),
            (
                "<powershell>\n& $EKSBootstrapScriptFile -EKSClusterName 'a'\n</powershell>\n",
                "-KubeletExtraArgs",
            ),
            ("#!/bin/sh\nexec kubelet --v=2\n", "kubelet's arguments"),
        ] {
            assert!(findings(&super::RULE, &custom(text)).contains(word), "{text}");
        }
    }

    #[test]
    fn accepts_user_data_that_may_register_the_taint_elsewhere() {
        for script in [
            "source /opt/env.sh\n/etc/eks/bootstrap.sh demo",
            "curl -s https://example.com/join | bash\n/etc/eks/bootstrap.sh demo",
            "/etc/eks/bootstrap.sh demo --kubelet-extra-args \"$ARGS\"",
            "/etc/eks/bootstrap.sh demo $ARGS",
            "/etc/eks/bootstrap.sh \"$@\"",
            "/opt/harden.sh\n/etc/eks/bootstrap.sh demo",
            "echo '{\"registerWithTaints\":[{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoExecute\"}]}' > /etc/k.json\n/etc/eks/bootstrap.sh demo",
            "ARGS='--register-with-taints=karpenter.sh/unregistered:NoExecute'\n/etc/eks/bootstrap.sh demo --kubelet-extra-args \"$ARGS\"",
            r"cat >/etc/x.yaml <<EOF
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    flags: [$FLAGS]
EOF
nodeadm init -c file:///etc/x.yaml",
        ] {
            silent(&super::RULE, &custom(&format!("#!/bin/bash\n{script}\n")));
        }
    }

    #[test]
    fn accepts_images_that_join_by_themselves() {
        silent(&super::RULE, &custom("#!/bin/bash\nyum install -y jq\n"));
        silent(&super::RULE, &custom("#!/bin/bash\n/opt/bootstrap.sh demo\n"));
        silent(&super::RULE, &custom("#cloud-config\npackages: [jq]\n"));
        silent(&super::RULE, &custom("machine:\n  type: worker\n"));
    }

    #[test]
    fn accepts_families_whose_taint_karpenter_writes() {
        for family in ["AL2", "AL2023", "Bottlerocket", "Windows2022"] {
            silent(&super::RULE, &custom(CALL).replace("Custom", family));
        }
    }
}
