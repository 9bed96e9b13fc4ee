use super::user_data::{MAX_BYTES, UserData};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;

/// Size above which Karpenter's own part may not fit. It adds 1.5 to 3 KiB, most of it the cluster's certificate.
const NEAR: usize = 13_312;

rule! {
    /// ## What it does
    ///
    /// Checks that the user data, with the part that Karpenter adds, is not larger than the 16,384 bytes that EC2
    /// accepts.
    ///
    /// ## Why it is bad
    ///
    /// EC2 refuses to create the launch template (`User data is limited to 16384 bytes`), and Karpenter launches no
    /// node. The limit applies to the text before it is encoded. Karpenter does not compress the text. Since 1.14.1
    /// the EC2NodeClass reports `UserDataSizeLimitExceeded`; in earlier releases only the NodeClaims report the
    /// error.
    ///
    /// No other rule reads user data of more than 64 KiB.
    ///
    /// Karpenter's own part (bootstrap arguments, labels, the certificate) takes 1.5 to 3 KiB, so more than 13 KiB is
    /// a warning. Karpenter adds nothing for `Custom`. It rewrites Bottlerocket's settings without comments, so their
    /// size is only a warning.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2
    ///   userData: |
    ///     #!/bin/bash
    ///     # ... and 16 KiB more
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
    ///   amiFamily: AL2
    ///   userData: |
    ///     #!/bin/bash
    ///     aws s3 cp s3://meadow-bootstrap/prepare.sh /opt/prepare.sh
    ///     bash /opt/prepare.sh
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/resolver.go and pkg/controllers/nodeclass/validation.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the user data is larger than EC2 accepts, or leaves no room for the part that Karpenter adds",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of_any_size(object) else { return };
    let dropped = if data.family.strips_carriage_returns() {
        data.text.bytes().filter(|byte| *byte == b'\r').count()
    } else {
        0
    };
    let length = data.text.len() - dropped;
    let near = if data.family == Image::Custom { MAX_BYTES } else { NEAR };
    if length <= near {
        return;
    }
    let over = length > MAX_BYTES;
    let message = match (over, data.family) {
        (true, Image::Bottlerocket) => format!(
            "the user data has {length} bytes, but EC2 accepts {MAX_BYTES}; it fits only if the rest is comments, which Karpenter removes"
        ),
        (true, _) => {
            format!(
                "the user data has {length} bytes, but EC2 accepts {MAX_BYTES}; Karpenter launches no node"
            )
        }
        (false, _) => format!(
            "the user data has {length} bytes; with the 1.5 to 3 KiB that Karpenter adds it may exceed the {MAX_BYTES} bytes that EC2 accepts"
        ),
    };
    let severity =
        if over && data.family != Image::Bottlerocket { Severity::Error } else { Severity::Warning };
    findings.push(
        Finding::new(&RULE, data.whole(), message)
            .help("move long content into the image, or into a script that the node downloads")
            .severity(severity),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, report};
    use rule::settings::Settings;

    fn class(family: &str, length: usize) -> String {
        let script = format!("#!/bin/bash\\n{}", "x".repeat(length - 12));
        format!(
            r#"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  amiFamily: {family}
  userData: "{script}"
"#
        )
    }

    #[test]
    fn applies_the_limit_to_bytes_before_encoding() {
        for (family, length, severity) in [
            ("Custom", 16_384, None),
            ("Custom", 16_385, Some("error")),
            ("AL2", 13_312, None),
            ("AL2", 13_313, Some("warning")),
            ("AL2", 16_384, Some("warning")),
            ("AL2023", 16_385, Some("error")),
            ("Windows2022", 16_385, Some("error")),
            ("Bottlerocket", 20_000, Some("warning")),
        ] {
            let found = report(&super::RULE, &class(family, length), &Settings::default()).findings;
            assert_eq!(found.first().map(|finding| finding.severity.name()), severity, "{family} {length}");
        }
    }

    #[test]
    fn reports_at_the_key() {
        let found = findings(&super::RULE, &class("AL2", 17_000));
        let without_the_text: Vec<_> = found.lines().skip(1).collect();
        insta::assert_snapshot!(without_the_text.join("\n"), @"
            |   ^^^^^^^^
        error EC2NodeClass/ spec.userData [all]
          the user data has 17000 bytes, but EC2 accepts 16384; Karpenter launches no node
          help: move long content into the image, or into a script that the node downloads
        ");
    }

    #[test]
    fn does_not_count_carriage_returns_that_karpenter_removes() {
        let text = class("AL2", 13_400).replace("xx", "x\\r");
        assert!(report(&super::RULE, &text, &Settings::default()).findings.is_empty());
    }

    #[test]
    fn other_rules_read_user_data_of_64_kib() {
        let secret = &super::super::userdata_secret::RULE;
        let with_secret =
            |length| class("AL2", length).replace("xxxx\"", "\\nTOKEN=ghp_0123456789abcdefghijklmnop\"");
        let read = |rule, length| report(rule, &with_secret(length), &Settings::default()).findings.len();
        let added = "\nTOKEN=ghp_0123456789abcdefghijklmnop".len() - "xxxx".len();
        assert_eq!(read(secret, 65_536 - added), 1);
        assert_eq!(read(secret, 65_537 - added), 0);
        assert_eq!(read(&super::RULE, 65_537), 1);
    }
}
