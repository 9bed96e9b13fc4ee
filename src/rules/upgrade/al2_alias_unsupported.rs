use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks for the alias `al2@…` in EC2NodeClasses where the cluster's Kubernetes version is known to be 1.33 or later.
    ///
    /// ## Why it is bad
    ///
    /// There is no AMI of Amazon Linux 2 for Kubernetes 1.33. Up to 1.5 Karpenter finds none and goes on with those it knew;
    /// from 1.6 on the node class says `AMIsReady=False` with the reason `UnsupportedAlias`, and is not used.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.5 to 1.6,kubernetes=1.33
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2@latest}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.5 to 1.6,kubernetes=1.33
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8151
    /// - pkg/controllers/nodeclass/ami.go and pkg/providers/amifamily/ami.go at v1.6.0
    UPGRADE {
        name: "al2-alias-unsupported",
        family: Family::Nodeclass,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(6),
        summary: "the alias of Amazon Linux 2 is refused on Kubernetes 1.33 and later",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if context.settings.kubernetes_minor.is_none_or(|minor| minor < 33) {
        return;
    }
    let terms = object.items_at(&["spec", "amiSelectorTerms"]);
    for alias in terms.filter_map(|term| term.get("alias")) {
        let Some(text) = alias.as_str().filter(|text| text.starts_with("al2@")) else { continue };
        let message = format!("`{text}` is refused on Kubernetes 1.33 and later: the node class says `UnsupportedAlias` and is not used");
        drafts.push(Draft::new(&RULE, Place::value(alias), message).help("move to an alias of `al2023` before the upgrade"));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins_nothing, findings_with, on_the_way};
    use lint::settings::Settings;

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiSelectorTerms:\n    - alias: al2@v20250519\n";

    fn with_kubernetes(minor: u8, from: &str, to: &str) -> String {
        let settings = Settings { kubernetes_minor: Some(minor), ..on_the_way(from, to) };
        findings_with(&super::RULE, CLASS, &settings)
    }

    #[test]
    fn it_is_refused_from_1_6_on() {
        insta::assert_snapshot!(with_kubernetes(33, "1.5", "1.6.0"), @"
          6 |     - alias: al2@v20250519
            |              ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [1.6-1.14]
          `al2@v20250519` is refused on Kubernetes 1.33 and later: the node class says `UnsupportedAlias` and is not used
          help: move to an alias of `al2023` before the upgrade
        ");
        assert_eq!(with_kubernetes(33, "1.0", "1.5"), "");
        assert_eq!(with_kubernetes(33, "1.6.0", "1.14"), "");
        assert_eq!(with_kubernetes(32, "1.0", "1.14"), "");
        begins_nothing(&super::RULE, "1.0", "1.14", CLASS);
    }
}
