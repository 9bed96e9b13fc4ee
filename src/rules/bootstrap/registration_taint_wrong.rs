use super::user_data::{TAINT_EFFECT, TAINT_KEY, TAINT_REQUIRED, UserData};
use karpenter::kind::Kind;
use karpenter::release::{ReleaseSet, Releases};
use manifest::edit::Change;
use manifest::source::Span;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;
use userdata::registration::{FoundTaint, Registration, TaintSource};
use userdata::taint_list::SpannedTaint;
use userdata::word::SpannedText;

rule! {
    /// ## What it does
    ///
    /// Checks that the user data of an EC2NodeClass with `amiFamily: Custom` registers no Karpenter taint other than
    /// `karpenter.sh/unregistered:NoExecute`. The rule reports the key `karpenter.sh/uninitialized` and the effect
    /// `NoSchedule`, for example.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter compares the key and the effect. If one of them differs, Karpenter does not recognise the taint and
    /// does not remove it. The taint stays on the node permanently, and pods that do not tolerate it never run there.
    ///
    /// `karpenter.sh/uninitialized` is in many articles but in no release of Karpenter. The value does not matter:
    /// `karpenter.sh/unregistered=true:NoExecute` is correct.
    ///
    /// If the correct taint is missing as well, Karpenter 1.0.0-1.0.8, 1.1.0-1.1.3 and 1.2.0-1.2.1 never register the
    /// node. The rule `registration-taint-missing` has the details; it does not report such user data a second time.
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
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args '--register-with-taints="karpenter.sh/uninitialized:NoExecute"'
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
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args '--register-with-taints="karpenter.sh/unregistered:NoExecute"'
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe if this is the only Karpenter taint in the user data: the fix replaces the key and the effect with the
    /// ones that Karpenter expects. If the correct taint is also there, remove the wrong taint by hand.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter pkg/apis/v1/taints.go and pkg/controllers/nodeclaim/lifecycle/registration.go at v1.14.0
    /// - aws/karpenter-provider-aws#7399
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "user data for `amiFamily: Custom` registers a Karpenter taint with the wrong key or effect",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Whether a taint is meant for Karpenter but is not the taint that Karpenter expects.
pub(super) fn is_wrong(taint: &SpannedTaint) -> bool {
    let (domain, name) = taint.key.value.split_once('/').unwrap_or(("", &taint.key.value));
    let karpenters = domain == "karpenter.sh" || domain.ends_with(".karpenter.sh");
    let meant = domain.contains("karpenter") && name == "unregistered";
    (karpenters || meant) && !taint.matches(TAINT_KEY, TAINT_EFFECT)
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object).filter(|data| data.family == Image::Custom) else { return };
    let found = data.registration(context);
    let wrong: Vec<&FoundTaint> = found.taints.iter().filter(|found| is_wrong(&found.taint)).collect();
    let right = found.taints.iter().any(|found| found.taint.matches(TAINT_KEY, TAINT_EFFECT));
    for one in &wrong {
        let fixable = !right && wrong.len() == 1;
        let finding = |severity, more: &str, releases| {
            let message = format!("{}{more}", message(&one.taint));
            let finding = data
                .finding(&RULE, one.taint.span, message)
                .help(help(right))
                .severity(severity)
                .releases(releases);
            match fixable.then(|| changes(data, &one.taint)).flatten() {
                Some(changes) => finding.fix(Fix::safe("write the taint that Karpenter expects", changes)),
                None => finding,
            }
        };
        let more = "; no component ever removes the wrong taint, and pods that do not tolerate it never run on the node";
        if refused(one, right, found) {
            let refused = "; Karpenter never registers the nodes and deletes each one after 15 minutes";
            findings.push(finding(Severity::Error, refused, TAINT_REQUIRED.set()));
            findings.push(finding(Severity::Warning, more, Releases::ALL.without(TAINT_REQUIRED)));
        } else {
            findings.push(finding(Severity::Warning, more, ReleaseSet::all()));
        }
    }
}

/// Whether the node certainly registers with this taint and without the correct one.
fn refused(one: &FoundTaint, right: bool, found: &Registration) -> bool {
    !right && one.source != TaintSource::Mention && !found.is_dynamic()
}

fn message(taint: &SpannedTaint) -> String {
    let (key, effect) = (&taint.key.value, &taint.effect.value);
    match (key == TAINT_KEY, effect.as_str()) {
        (true, "") => {
            format!("the taint `{key}` lacks an effect, but Karpenter expects `{TAINT_KEY}:{TAINT_EFFECT}`")
        }
        (true, _) => {
            format!("the taint `{key}` has the effect `{effect}`, but Karpenter expects `{TAINT_EFFECT}`")
        }
        (false, _) => {
            format!("the taint `{key}` is unknown to Karpenter, which expects `{TAINT_KEY}:{TAINT_EFFECT}`")
        }
    }
}

fn help(right: bool) -> String {
    if right {
        "remove it; the taint that Karpenter expects is already there".to_owned()
    } else {
        format!("write `{TAINT_KEY}:{TAINT_EFFECT}`")
    }
}

/// Edits that replace a wrong key and a wrong effect; `None` if they do not appear verbatim in the user data.
fn changes<'d>(data: UserData<'d>, taint: &SpannedTaint) -> Option<Vec<Change<'d>>> {
    let replaced = |part: &SpannedText, by: &str| {
        let quoted = part.span.text(data.text);
        let inner = quoted.trim_matches(['"', '\'']);
        let start = part.span.start + quoted.find(inner)?;
        let span = Span::new(start, start + inner.len());
        (inner == part.value && !inner.is_empty()).then(|| data.replace(span, by))
    };
    if taint.effect.value.is_empty() {
        return None;
    }
    let mut changes = Vec::new();
    if taint.key.value != TAINT_KEY {
        changes.push(replaced(&taint.key, TAINT_KEY)?);
    }
    if taint.effect.value != TAINT_EFFECT {
        changes.push(replaced(&taint.effect, TAINT_EFFECT)?);
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::super::examples::{custom, script};
    use crate::rules::testing::{findings, findings_with, fixed, report, silent};
    use rule::settings::{Settings, Target};

    fn with(taints: &str) -> String {
        script(&format!("/etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints={taints}'"))
    }

    #[test]
    fn reports_wrong_key_at_the_taint() {
        insta::assert_snapshot!(findings(&super::RULE, &with("\"karpenter.sh/uninitialized:NoExecute\"")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints="karpenter.sh/uninitialized:NoExecute"'
            |                                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0 since 1.0.9, 1.1 since 1.1.4, since 1.2.2]
          the taint `karpenter.sh/uninitialized` is unknown to Karpenter, which expects `karpenter.sh/unregistered:NoExecute`; no component ever removes the wrong taint, and pods that do not tolerate it never run on the node
          help: write `karpenter.sh/unregistered:NoExecute`
          fix: write the taint that Karpenter expects: "karpenter.sh/unregistered"
        "#);
    }

    #[test]
    fn reports_wrong_effect_at_the_taint() {
        insta::assert_snapshot!(findings(&super::RULE, &with("a=b:NoSchedule,karpenter.sh/unregistered=true:NoSchedule")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints=a=b:NoSchedule,karpenter.sh/unregistered=true:NoSchedule'
            |                                                                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0 since 1.0.9, 1.1 since 1.1.4, since 1.2.2]
          the taint `karpenter.sh/unregistered` has the effect `NoSchedule`, but Karpenter expects `NoExecute`; no component ever removes the wrong taint, and pods that do not tolerate it never run on the node
          help: write `karpenter.sh/unregistered:NoExecute`
          fix: write the taint that Karpenter expects: "NoExecute"
        "#);
    }

    #[test]
    fn is_an_error_on_releases_that_require_the_taint() {
        let settings = Settings { karpenter: Target::parse("1.1.3").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &with("karpenter.sh/uninitialized:NoExecute"), &settings), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints=karpenter.sh/uninitialized:NoExecute'
            |                                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [until 1.0.8, 1.1.0 to 1.1.3, 1.2.0 to 1.2.1]
          the taint `karpenter.sh/uninitialized` is unknown to Karpenter, which expects `karpenter.sh/unregistered:NoExecute`; Karpenter never registers the nodes and deletes each one after 15 minutes
          help: write `karpenter.sh/unregistered:NoExecute`
          fix: write the taint that Karpenter expects: "karpenter.sh/unregistered"
        "#);
        // The variable may contain the correct taint.
        let open = script(
            "/etc/eks/bootstrap.sh demo --kubelet-extra-args \"--register-with-taints=karpenter.sh/uninitialized:NoExecute $MORE\"",
        );
        let severities: Vec<_> = report(&super::RULE, &open, &settings)
            .findings
            .iter()
            .map(|finding| finding.severity.name())
            .collect();
        assert_eq!(severities, ["warning"]);
    }

    #[test]
    fn fixes_key_and_effect_in_every_format() {
        let right = "karpenter.sh/unregistered:NoExecute";
        for wrong in [
            "karpenter.sh/uninitialized:NoExecute",
            "karpenter.sh/unregistered:NoSchedule",
            "karpenter.sh/not-ready:PreferNoSchedule",
            "karpenter.k8s.aws/unregistered:NoExecute",
        ] {
            assert_eq!(fixed(&super::RULE, &with(wrong)), with(right));
        }
        let config = r"kind: NodeConfig
apiVersion: node.eks.aws/v1alpha1
spec:
  kubelet:
    config:
      registerWithTaints:
      - {key: 'KEY', effect: EFFECT}
";
        let toml = "[settings.kubernetes.node-taints]\n\"KEY\" = [\":EFFECT\"]\n";
        for text in [config, toml] {
            let of = |key: &str, effect: &str| custom(&text.replace("KEY", key).replace("EFFECT", effect));
            assert_eq!(
                fixed(&super::RULE, &of("karpenter.sh/uninitialized", "NoSchedule")),
                of("karpenter.sh/unregistered", "NoExecute")
            );
        }
    }

    #[test]
    fn offers_no_fix_for_a_key_with_quotes_inside() {
        let text = with("karpenter.sh/\"uninitialized\":NoExecute");
        let found = findings(&super::RULE, &text);
        assert!(
            found.contains("`karpenter.sh/uninitialized` is unknown") && !found.contains("fix:"),
            "{found}"
        );
    }

    #[test]
    fn offers_no_fix_if_the_correct_taint_is_also_there() {
        insta::assert_snapshot!(findings(&super::RULE, &with("karpenter.sh/unregistered:NoExecute,karpenter.sh/uninitialized:NoExecute")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints=karpenter.sh/unregistered:NoExecute,karpenter.sh/uninitialized:NoExecute'
            |                                                                                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the taint `karpenter.sh/uninitialized` is unknown to Karpenter, which expects `karpenter.sh/unregistered:NoExecute`; no component ever removes the wrong taint, and pods that do not tolerate it never run on the node
          help: remove it; the taint that Karpenter expects is already there
        ");
    }

    #[test]
    fn accepts_the_correct_taint_and_unrelated_taints() {
        for taints in [
            "karpenter.sh/unregistered:NoExecute",
            "karpenter.sh/unregistered=true:NoExecute,team/x=y:NoSchedule",
            "karpenter.sh/unregistered:NoExecute,node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",
            "node.cilium.io/agent-not-ready=true:NoExecute",
            "example.com/unregistered:NoExecute",
        ] {
            silent(&super::RULE, &with(taints));
        }
        silent(&super::RULE, &script("kubectl taint node x karpenter.sh/uninitialized:NoExecute-"));
        silent(&super::RULE, &with("karpenter.sh/uninitialized:NoExecute").replace("Custom", "AL2"));
    }
}
