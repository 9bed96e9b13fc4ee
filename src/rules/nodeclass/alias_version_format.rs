use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::{has_placeholder, is_in_capitals};

rule! {
    /// ## What it does
    ///
    /// Checks that the version in an AMI alias has the form in which AWS publishes the versions of its family: `latest`,
    /// a date such as `v20240807` for `al2` and `al2023`, and a version such as `v1.20.4` or `1.20.4` for `bottlerocket`.
    ///
    /// The API server itself refuses an unknown family, and every version except `latest` for Windows. The rule does not
    /// know which dates and versions AWS has published.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter writes the version into the name of an SSM parameter, such as
    /// `…/amazon-eks-node-al2023-x86_64-standard-1.33-v20240807/image_id`. If no parameter has that name, Karpenter logs
    /// `failed to discover any AMIs for alias`. A new EC2NodeClass never becomes Ready, and no node starts.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@20240807}]
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
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20240807}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/al2.go, al2023.go and bottlerocket.go at v1.0.0 and v1.14.1
    /// - website/content/en/docs/concepts/nodeclasses.md at v1.14.1, section on `alias`: the version is a release tag of
    ///   the AMI's repository
    /// - aws/karpenter-provider-aws#7544
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an AMI alias has a version in a form that AWS does not publish, so Karpenter finds no AMI",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for node in class.ami_aliases() {
        let Some((family, version)) = node.as_str().and_then(|text| text.split_once('@')) else { continue };
        let forms = match family {
            "al2" | "al2023" if !is_date_version(version) => "a date such as `v20240807`",
            "bottlerocket" if !is_number_version(version) => "a version such as `v1.20.4`",
            _ => continue,
        };
        if version.is_empty() || version == "latest" || has_placeholder(version) || is_in_capitals(version) {
            continue;
        }
        let message = format!(
            "no AMI of the family `{family}` has the version `{version}`: the version is `latest` or {forms}; \
             Karpenter finds no AMI, and the EC2NodeClass does not become Ready"
        );
        findings.push(Finding::at(&RULE, node, message).help(help(family, version)));
    }
}

/// Whether a version of Amazon Linux can exist: `v` and a date. A suffix after the date is accepted.
fn is_date_version(version: &str) -> bool {
    let date = version.strip_prefix('v').and_then(|rest| rest.get(..8));
    date.is_some_and(is_date) && !version.contains(['/', '@'])
}

/// Whether eight digits are a year, a month and a day.
fn is_date(digits: &str) -> bool {
    let number =
        |range| digits.get(range).and_then(|part: &str| part.parse::<u32>().ok()).unwrap_or_default();
    digits.len() == 8
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (1..=12).contains(&number(4..6))
        && (1..=31).contains(&number(6..8))
}

/// Whether a version of Bottlerocket can exist: `latest` or three numbers, after any `v`, which Karpenter removes. A suffix
/// such as the build's commit is accepted.
fn is_number_version(version: &str) -> bool {
    let version = version.trim_start_matches('v');
    let numbers = version.split_once('-').map_or(version, |(numbers, _)| numbers);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_numbers = numbers.split('.').count() == 3 && numbers.split('.').all(is_number);
    version == "latest" || (is_numbers && !version.contains(['/', '@']))
}

/// The alias to write instead.
fn help(family: &str, version: &str) -> String {
    if family != "bottlerocket" && is_date(version) {
        return format!("write `{family}@v{version}`");
    }
    let rest =
        version.strip_prefix("latest").filter(|rest| rest.starts_with(|char: char| !char.is_alphanumeric()));
    if rest.is_some() {
        return format!("write `{family}@latest`");
    }
    let example = if family == "bottlerocket" { "v1.20.4" } else { "v20240807" };
    format!("write the version of an AMI, such as `{family}@{example}`, or `{family}@latest`")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(alias: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiSelectorTerms:
    - alias: {alias}
"
        )
    }

    #[test]
    fn points_at_the_alias_and_names_the_form() {
        insta::assert_snapshot!(findings(&RULE, &class("al2023@20240807")), @"
          6 |     - alias: al2023@20240807
            |              ^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [all]
          no AMI of the family `al2023` has the version `20240807`: the version is `latest` or a date such as `v20240807`; Karpenter finds no AMI, and the EC2NodeClass does not become Ready
          help: write `al2023@v20240807`
        ");
        insta::assert_snapshot!(findings(&RULE, &class("bottlerocket@latest/x")), @"
          6 |     - alias: bottlerocket@latest/x
            |              ^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [all]
          no AMI of the family `bottlerocket` has the version `latest/x`: the version is `latest` or a version such as `v1.20.4`; Karpenter finds no AMI, and the EC2NodeClass does not become Ready
          help: write `bottlerocket@latest`
        ");
    }

    #[test]
    fn suggests_a_version_of_the_family() {
        for (alias, example) in [
            ("al2023@1.31", "such as `al2023@v20240807`, or `al2023@latest`"),
            ("bottlerocket@1.20", "such as `bottlerocket@v1.20.4`, or `bottlerocket@latest`"),
            ("bottlerocket@20240807", "such as `bottlerocket@v1.20.4`, or `bottlerocket@latest`"),
        ] {
            let help = format!("help: write the version of an AMI, {example}");
            assert!(findings(&RULE, &class(alias)).contains(&help), "{alias}");
        }
    }

    #[test]
    fn reports_versions_in_other_forms() {
        for alias in [
            "al2023@latest/karpenter",
            "al2023@1.31",
            "al2023@v1.31",
            "al2023@v2024-08-07",
            "al2023@v20241301",
            "al2023@v20240800",
            "al2023@v2024080",
            "al2023@Latest",
            "al2023@recommended",
            "al2023@2023.0.20230222",
            "al2@20240807",
            "al2@v20240807@latest",
            "bottlerocket@v20240807",
            "bottlerocket@1.20",
            "bottlerocket@v1.20.x",
            "bottlerocket@1.20.4/x",
        ] {
            assert!(findings(&RULE, &class(alias)).contains("does not become Ready"), "{alias}");
        }
    }

    #[test]
    fn accepts_published_forms() {
        for alias in [
            "al2@latest",
            "al2@v20240807",
            "al2023@latest",
            "al2023@v20240807",
            "al2023@v20240807-1",
            "bottlerocket@latest",
            "bottlerocket@v1.20.4",
            "bottlerocket@1.20.4",
            "bottlerocket@vlatest",
            "bottlerocket@1.20.3-5d9ac849",
        ] {
            silent(&RULE, &class(alias));
        }
    }

    #[test]
    fn ignores_placeholders_and_what_the_api_server_refuses() {
        for alias in [
            "al2023@${AMI_VERSION}",
            "'al2023@<version>'",
            "'al2023@{{ .Values.version }}'",
            "al2023@AMI_VERSION",
            "al2023@",
            "al2023",
            "ubuntu@1",
            "windows2022@v1",
            "3",
        ] {
            silent(&RULE, &class(alias));
        }
    }
}
