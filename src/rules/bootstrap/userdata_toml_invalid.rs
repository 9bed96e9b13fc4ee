use super::user_data::UserData;
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use userdata::kind::{Family as Image, Kind as Format};
use userdata::toml::Document;

rule! {
    /// ## What it does
    ///
    /// Checks that Bottlerocket's user data is valid TOML.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter reads the settings to merge its own into them. Where it cannot, no node is launched: the NodeClaim says
    /// `LaunchFailed` with `invalid UserData`, from 1.3 on the node class is not ready. With `amiFamily: Custom` it is
    /// Bottlerocket itself that refuses the settings when it boots.
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
        name: "userdata-toml-invalid",
        family: Family::Bootstrap,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Bottlerocket's user data is not valid TOML",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    let custom = data.family == Image::Custom;
    let reads = match (data.family, Format::of(data.text)) {
        // Another format altogether is `userdata-family-mismatch`.
        (Image::Bottlerocket, Format::Toml | Format::Unmarked) => true,
        (Image::Custom, Format::Toml) => data.text.contains("settings"),
        _ => false,
    };
    let Some(error) = reads.then(|| Document::read(data.text).err()).flatten() else { return };
    let who = if custom { "Bottlerocket refuses its settings" } else { "Karpenter launches no node with it" };
    let draft = data.draft(&RULE, error.span, format!("the user data is not valid TOML, and {who}: {}", error.message))
        .help("write `key = value` lines under `[settings...]` tables, strings in quotes");
    drafts.push(if custom { draft.severity(Severity::Warning).caught_by(CaughtBy::Nobody) } else { draft });
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, silent};

    #[test]
    fn the_place_is_where_reading_stops() {
        insta::assert_snapshot!(findings(&super::RULE, &class("Bottlerocket", "[settings.kubernetes]\nmax-pods = 58 pods\n")), @"
          8 |     max-pods = 58 pods
            |                ^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          the user data is not valid TOML, and Karpenter launches no node with it: string values must be quoted
          help: write `key = value` lines under `[settings...]` tables, strings in quotes
        ");
        insta::assert_snapshot!(findings(&super::RULE, &class("Bottlerocket", "[settings]\na = 1\na = 2\n")), @"
          9 |     a = 2
            |     ^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          the user data is not valid TOML, and Karpenter launches no node with it: `a` is defined twice
          help: write `key = value` lines under `[settings...]` tables, strings in quotes
        ");
        insta::assert_snapshot!(findings(&super::RULE, &custom("[settings.kubernetes]\ncluster-name = demo\n")), @"
          8 |     cluster-name = demo
            |                    ^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          the user data is not valid TOML, and Bottlerocket refuses its settings: string values must be quoted
          help: write `key = value` lines under `[settings...]` tables, strings in quotes
        ");
    }

    #[test]
    fn valid_settings_and_other_formats_are_left_alone() {
        silent(&super::RULE, &class("Bottlerocket", "[settings.kubernetes]\n'a.b' = [':NoExecute']\n# end\n"));
        silent(&super::RULE, &class("Bottlerocket", "settings.motd = 'hello'\n"));
        silent(&super::RULE, &class("Bottlerocket", "# nothing yet\n"));
        silent(&super::RULE, &class("AL2023", "[settings\n"));
        silent(&super::RULE, &custom("[Unit]\nDescription=not TOML\n"));
    }
}
