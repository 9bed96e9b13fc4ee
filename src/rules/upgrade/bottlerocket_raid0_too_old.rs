use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::items_of;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks for EC2NodeClasses with `instanceStorePolicy: RAID0` and an alias of Bottlerocket below 1.22.0.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.0 the policy does nothing on Bottlerocket. From 1.1 on Karpenter writes user data that builds the array, and
    /// Bottlerocket before 1.22.0 does not know the setting: its nodes do not join the cluster.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.20.3}]
    ///   instanceStorePolicy: RAID0
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.22.0}]
    ///   instanceStorePolicy: RAID0
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.1.0
    /// - pkg/providers/amifamily/bootstrap/bottlerocket.go of aws/karpenter-provider-aws at v1.1.0
    UPGRADE {
        name: "bottlerocket-raid0-too-old",
        family: Family::Nodeclass,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        summary: "`instanceStorePolicy: RAID0` begins to take effect on a Bottlerocket that is too old for it",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(policy) = object.at(&["spec", "instanceStorePolicy"]) else { return };
    if policy.as_str() != Some("RAID0") {
        return;
    }
    let terms = object.at(&["spec", "amiSelectorTerms"]);
    for alias in items_of(terms).filter_map(|term| term.get("alias")) {
        let Some(version) = alias.as_str().and_then(|alias| alias.strip_prefix("bottlerocket@")) else { continue };
        if minor(version).is_some_and(|minor| minor < 22) {
            let message = format!(
                "`instanceStorePolicy: RAID0` takes effect on Bottlerocket, and nodes of {version} do not join the cluster: the setting is known since 1.22.0"
            );
            drafts.push(
                Draft::new(&RULE, Place::value(alias), message)
                    .help("pin v1.22.0 or later, or remove `instanceStorePolicy` before the upgrade")
                    .related(Place::value(policy), "this begins to take effect"),
            );
        }
    }
}

/// The minor of a version such as `v1.20.3`.
fn minor(version: &str) -> Option<u16> {
    version.strip_prefix('v').unwrap_or(version).strip_prefix("1.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn class(alias: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  instanceStorePolicy: RAID0\n  amiSelectorTerms:\n    - alias: {alias}\n"
        )
    }

    #[test]
    fn bottlerocket_before_1_22_does_not_join() {
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.2", &class("bottlerocket@v1.19.5")), @"
        from 1.1 on
          7 |     - alias: bottlerocket@v1.19.5
            |              ^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].alias [1.1-1.14]
          `instanceStorePolicy: RAID0` takes effect on Bottlerocket, and nodes of v1.19.5 do not join the cluster: the setting is known since 1.22.0
          help: pin v1.22.0 or later, or remove `instanceStorePolicy` before the upgrade
          see line 5 spec.instanceStorePolicy: this begins to take effect
        ");
        begins_nothing(&super::RULE, "1.1", "1.14", &class("bottlerocket@v1.19.5"));
        begins_nothing(&super::RULE, "1.14", "1.0", &class("bottlerocket@v1.19.5"));
        for alias in ["bottlerocket@v1.22.0", "bottlerocket@latest", "al2023@v20240807"] {
            begins_nothing(&super::RULE, "1.0", "1.14", &class(alias));
        }
    }
}
