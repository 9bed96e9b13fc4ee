use super::user_data::UserData;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::base64::decode_base64;
use userdata::format::UserDataFormat as Format;
use userdata::image_family::ImageFamily as Image;

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.userData` is plain text and not Base64.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter encodes user data before it passes it to EC2. Text that is already Base64 is therefore encoded
    /// twice, and the node gets Base64 instead of a script, an archive or settings. AL2 and AL2023 try to run it. For
    /// Bottlerocket, Karpenter refuses the user data before launch.
    ///
    /// With `amiFamily: Custom` it is a warning: nodeadm on AL2023 images decodes the user data, cloud-init does not.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   userData: IyEvYmluL2Jhc2gKZWNobyBoaQo=
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   userData: |
    ///     #!/bin/bash
    ///     echo hi
    /// ```
    ///
    /// In Terraform, omit `base64encode`. In Helm, omit `b64enc`.
    ///
    /// ## Fix safety
    ///
    /// Unsafe and only offered: the decoded text replaces the encoded text, as one quoted line.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap at v1.14.1: `Script` of every family
    ///   encodes the user data
    /// - awslabs/amazon-eks-ami nodeadm/internal/configprovider/encoding.go at v20260724
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "the user data is already Base64, and Karpenter encodes it again",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    let gzip = match Format::detect(data.text) {
        Format::Base64 => false,
        Format::Base64Gzip => true,
        _ => return,
    };
    let custom = data.family == Image::Custom;
    let what = if gzip { "compressed and in Base64" } else { "Base64" };
    let effect = if custom {
        "on the node only nodeadm decodes it"
    } else {
        "the node gets Base64 instead of the text"
    };
    let message = format!("the user data is already {what}, and Karpenter encodes it again; {effect}");
    let mut finding = Finding::new(&RULE, data.whole(), message)
        .help("write the decoded text")
        .severity(if custom { Severity::Warning } else { Severity::Error })
        .caught_by(if data.family == Image::Bottlerocket { CaughtBy::Controller } else { CaughtBy::Nobody });
    if let (false, Some(text)) =
        (gzip, decode_base64(data.text).and_then(|bytes| String::from_utf8(bytes).ok()))
    {
        finding = finding.fix(Fix::for_review("write the decoded text", vec![Change::Set(data.node, text)]));
    }
    findings.push(finding);
}

#[cfg(test)]
mod tests {
    use super::super::examples::class;
    use crate::rules::testing::{findings, report, silent};
    use rule::finding::CaughtBy;
    use rule::settings::Settings;

    const ENCODED: &str = "IyEvYmluL2Jhc2gKZWNobyBoaQo=";

    #[test]
    fn reports_base64() {
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2", ENCODED)), @r##"
          6 |   userData: |
            |   ^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          the user data is already Base64, and Karpenter encodes it again; the node gets Base64 instead of the text
          help: write the decoded text
          unsafe fix: write the decoded text: "\"#!/bin/bash\\necho hi\\n\""
        "##);
        insta::assert_snapshot!(findings(&super::RULE, &class("Custom", "H4sIAAAAAAAAA0vOSAUAAAA=")), @"
          6 |   userData: |
            |   ^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the user data is already compressed and in Base64, and Karpenter encodes it again; on the node only nodeadm decodes it
          help: write the decoded text
        ");
    }

    #[test]
    fn karpenter_notices_only_for_bottlerocket() {
        for (family, caught_by) in [("Bottlerocket", CaughtBy::Controller), ("AL2023", CaughtBy::Nobody)] {
            let found = report(&super::RULE, &class(family, ENCODED), &Settings::default()).findings;
            assert_eq!(found.iter().map(|finding| finding.caught_by).collect::<Vec<_>>(), [caught_by]);
        }
    }

    #[test]
    fn accepts_plain_text() {
        for text in
            ["#!/bin/bash\necho hi\n", "Write-Host x", "ThisIsJustAWordOf32CharactersLong", "${USER_DATA}"]
        {
            silent(&super::RULE, &class("AL2023", text));
        }
        silent(&super::RULE, &class("AL2", &format!("#!/bin/bash\necho {ENCODED} | base64 -d > /etc/x\n")));
    }
}
