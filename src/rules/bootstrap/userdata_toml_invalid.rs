use super::user_data::UserData;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::format::UserDataFormat as Format;
use userdata::image_family::ImageFamily as Image;
use userdata::toml::TomlDocument;

rule! {
    /// ## What it does
    ///
    /// Checks that user data for Bottlerocket is valid TOML.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter parses the settings to merge its own settings into them. If it cannot, it launches no node: the
    /// NodeClaim reports `LaunchFailed` with `invalid UserData`, and since 1.3 the EC2NodeClass is not Ready. With
    /// `amiFamily: Custom`, Bottlerocket itself refuses the settings when it boots.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: Bottlerocket
    ///   userData: |
    ///     [settings.kubernetes]
    ///     kube-api-qps = 30 per second
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
    ///   amiFamily: Bottlerocket
    ///   userData: |
    ///     [settings.kubernetes]
    ///     kube-api-qps = 30
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/bottlerocket.go and bottlerocketsettings.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the user data for Bottlerocket is not valid TOML",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    let custom = data.family == Image::Custom;
    let reads = match (data.family, Format::detect(data.text)) {
        // `userdata-family-mismatch` reports other formats.
        (Image::Bottlerocket, Format::Toml | Format::Unmarked) => true,
        (Image::Custom, Format::Toml) => data.text.contains("settings"),
        _ => false,
    };
    let Some(error) = reads.then(|| TomlDocument::parse(data.text).err()).flatten() else { return };
    let effect = if custom { "Bottlerocket refuses the settings" } else { "Karpenter launches no node" };
    let finding = data
        .finding(
            &RULE,
            error.span,
            format!("the user data is not valid TOML, so {effect}: {}", error.message),
        )
        .help("write `key = value` lines under `[settings...]` tables, with strings in quotes");
    findings.push(if custom {
        finding.severity(Severity::Warning).caught_by(CaughtBy::Nobody)
    } else {
        finding
    });
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_invalid_toml_at_the_error() {
        insta::assert_snapshot!(findings(&super::RULE, &class("Bottlerocket", "[settings.kubernetes]\nmax-pods = 58 pods\n")), @"
          8 |     max-pods = 58 pods
            |                ^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          the user data is not valid TOML, so Karpenter launches no node: string values must be quoted
          help: write `key = value` lines under `[settings...]` tables, with strings in quotes
        ");
        insta::assert_snapshot!(findings(&super::RULE, &class("Bottlerocket", "[settings]\na = 1\na = 2\n")), @"
          9 |     a = 2
            |     ^
        error EC2NodeClass/a spec.userData [all]
          the user data is not valid TOML, so Karpenter launches no node: `a` is defined twice
          help: write `key = value` lines under `[settings...]` tables, with strings in quotes
        ");
        insta::assert_snapshot!(findings(&super::RULE, &custom("[settings.kubernetes]\ncluster-name = demo\n")), @"
          8 |     cluster-name = demo
            |                    ^^^^
        warning EC2NodeClass/a spec.userData [all]
          the user data is not valid TOML, so Bottlerocket refuses the settings: string values must be quoted
          help: write `key = value` lines under `[settings...]` tables, with strings in quotes
        ");
    }

    #[test]
    fn accepts_valid_settings_and_other_formats() {
        silent(
            &super::RULE,
            &class("Bottlerocket", "[settings.kubernetes]\n'a.b' = [':NoExecute']\n# end\n"),
        );
        silent(&super::RULE, &class("Bottlerocket", "settings.motd = 'hello'\n"));
        silent(&super::RULE, &class("Bottlerocket", "# nothing yet\n"));
        silent(&super::RULE, &class("AL2023", "[settings\n"));
        silent(&super::RULE, &custom("[Unit]\nDescription=not TOML\n"));
    }
}
