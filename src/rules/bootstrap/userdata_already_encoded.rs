use super::user_data::UserData;
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use lint::fix::Fix;
use manifest::edit::Change;
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use userdata::kind::{Family as Image, Kind as Format, decode_base64};

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.userData` is the text itself and not its Base64.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter encodes user data before it hands it to EC2. What is encoded already is encoded twice, and the node
    /// gets Base64 where a script, an archive or settings should be: AL2 and AL2023 try to run it, Bottlerocket's user
    /// data is refused before launch.
    ///
    /// With `amiFamily: Custom` it is a warning: nodeadm on AL2023 images decodes what it gets, cloud-init does not.
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
    /// In Terraform, leave out `base64encode`; in Helm, `b64enc`.
    ///
    /// ## Fix safety
    ///
    /// Offered, not made: the decoded text takes the place of the encoded one, in one quoted line.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap at v1.14.1: every family's `Script` encodes
    /// - awslabs/amazon-eks-ami nodeadm/internal/configprovider/encoding.go at v20260724
    RULE {
        name: "userdata-already-encoded",
        family: Family::Bootstrap,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "the user data is Base64 already, and Karpenter encodes it once more",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    let gzip = match Format::of(data.text) {
        Format::Base64 => false,
        Format::Base64Gzip => true,
        _ => return,
    };
    let custom = data.family == Image::Custom;
    let what = if gzip { "the Base64 of a compressed text" } else { "Base64" };
    let effect = if custom { "only nodeadm on the node would decode it" } else { "the node gets it encoded" };
    let message = format!("the user data is {what}, and Karpenter encodes it once more; {effect}");
    let mut draft = Draft::new(&RULE, data.whole(), message)
        .help("write the text itself")
        .severity(if custom { Severity::Warning } else { Severity::Error })
        .caught_by(if data.family == Image::Bottlerocket { CaughtBy::Controller } else { CaughtBy::Nobody });
    if let (false, Some(text)) = (gzip, decode_base64(data.text).and_then(|bytes| String::from_utf8(bytes).ok())) {
        draft = draft.fix(Fix::to_look_at("write the text itself", vec![Change::Set(data.node, text)]));
    }
    drafts.push(draft);
}

#[cfg(test)]
mod tests {
    use super::super::examples::class;
    use crate::rules::testing::{findings, silent};

    const ENCODED: &str = "IyEvYmluL2Jhc2gKZWNobyBoaQo=";

    #[test]
    fn an_encoded_text_is_found() {
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2", ENCODED)), @r##"
          6 |   userData: |
            |   ^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          the user data is Base64, and Karpenter encodes it once more; the node gets it encoded
          help: write the text itself
          fix to look at: write the text itself: "\"#!/bin/bash\\necho hi\\n\""
        "##);
        insta::assert_snapshot!(findings(&super::RULE, &class("Custom", "H4sIAAAAAAAAA0vOSAUAAAA=")), @"
          6 |   userData: |
            |   ^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          the user data is the Base64 of a compressed text, and Karpenter encodes it once more; only nodeadm on the node would decode it
          help: write the text itself
        ");
    }

    #[test]
    fn other_texts_are_left_alone() {
        for text in ["#!/bin/bash\necho hi\n", "Write-Host x", "ThisIsJustAWordOf32CharactersLong", "${USER_DATA}"] {
            silent(&super::RULE, &class("AL2023", text));
        }
        silent(&super::RULE, &class("AL2", &format!("#!/bin/bash\necho {ENCODED} | base64 -d > /etc/x\n")));
    }
}
