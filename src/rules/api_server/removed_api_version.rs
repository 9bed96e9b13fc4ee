use karpenter::api::served::SERVED_KINDS;
use karpenter::release::{PinnedVersion, ReleaseSet, Releases};
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::Fixes;
use objects::object::Object;
use objects::validation::What;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks that the release serves the object's `apiVersion` and `kind`: v1beta1 was removed in 1.1, `Provisioner`,
    /// `Machine` and `AWSNodeTemplate` were removed before 1.0, and NodeOverlay was added in 1.7. If the manifests pin a
    /// version of Karpenter below 1.0, the finding is an info about the upgrade.
    ///
    /// ## Why it is bad
    ///
    /// `kubectl apply` fails with `no matches for kind`, and the object has no effect.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha5
    /// kind: Provisioner
    /// metadata:
    ///   name: default
    /// spec:
    ///   ttlSecondsAfterEmpty: 30
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at v1.0.0, v1.1.0 and v1.7.0
    /// - website/content/en/docs/upgrading/v1-migration.md
    RULE {
        name: "removed-api-version",
        family: Family::ApiServer,
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a kind or version of Karpenter that the release does not serve",
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(version) = context.version_before_v1
        && object.served().is_some_and(|served| served.instead.is_some())
    {
        findings.extend(upgrade_step(object, version, context));
        return;
    }
    super::report(object, context, findings, |refusal| match refusal.what {
        What::NotServed => Some(explain(refusal.place.clone(), object, &refusal.releases)),
        _ => None,
    });
}

/// Reports a kind and version that has to be converted on the way from a version below 1.0, which serves other versions.
fn upgrade_step<'d>(
    object: Object<'d>,
    version: PinnedVersion,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    let refusal = context.refusals().iter().find(|refusal| matches!(refusal.what, What::NotServed))?;
    let (first, _) = refusal.releases.ends();
    let (api_version, kind) = (object.api_version(), object.kind());
    let message = format!(
        "Karpenter {first} and later do not serve `{kind}` of `{api_version}`: convert it during the upgrade from {version}"
    );
    let finding = Finding::new(&RULE, refusal.place.clone(), message).severity(Severity::Info);
    // The step belongs to the pinned version, whichever release the rest of the input is checked against.
    Some(finding.releases(Releases::ALL).help(help(object, kind)))
}

/// Reports a kind and version that some releases do not serve.
fn explain<'d>(place: Place<'d>, object: Object<'d>, releases: &ReleaseSet) -> Finding<'d> {
    let (api_version, kind) = (object.api_version(), object.kind());
    let message = format!("Karpenter does not serve `{kind}` of `{api_version}`{}", releases.note());
    Finding::new(&RULE, place, message).help(help(object, kind))
}

fn help(object: Object<'_>, kind: &str) -> String {
    if let Some(served) = object.served() {
        return match served.instead {
            Some((api_version, now)) if now == kind => {
                format!(
                    "write `apiVersion: {api_version}`; some fields have moved, so check the result again"
                )
            }
            Some((api_version, now)) => {
                let article = if now.starts_with('E') { "an" } else { "a" };
                format!(
                    "write {article} {now} of `{api_version}`; the v1 migration guide lists the replacement of each field"
                )
            }
            None => {
                format!(
                    "Karpenter serves it only {}: use one of these releases, or remove the object",
                    served.releases.when()
                )
            }
        };
    }
    let current = || SERVED_KINDS.iter().filter(|served| served.instead.is_none());
    if let Some(served) = current().find(|served| served.kind == kind) {
        return format!("write `apiVersion: {}/{}`", served.group, served.version);
    }
    let near = nearest(kind, current().map(|served| served.kind));
    near.map_or_else(
        || "Karpenter has no such kind; remove the object".to_owned(),
        |near| format!("write `kind: {near}`"),
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings_with, silent};
    use lint::settings::{Settings, Target};

    #[test]
    fn names_the_replacement() {
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let kinds = [
            ("karpenter.sh/v1beta1", "NodePool"),
            ("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate"),
            ("karpenter.sh/v1", "EC2NodeClass"),
            ("karpenter.sh/v1", "Nodepool"),
            ("karpenter.sh/v1alpha1", "NodeOverlay"),
        ];
        let text = kinds
            .map(|(version, kind)| format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n"))
            .join("---\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &range), @"
          1 | apiVersion: karpenter.sh/v1beta1
            |             ^^^^^^^^^^^^^^^^^^^^
        error NodePool/a apiVersion [since 1.1]
          Karpenter does not serve `NodePool` of `karpenter.sh/v1beta1` (since 1.1)
          help: write `apiVersion: karpenter.sh/v1`; some fields have moved, so check the result again
          5 | apiVersion: karpenter.k8s.aws/v1alpha1
            |             ^^^^^^^^^^^^^^^^^^^^^^^^^^
        error AWSNodeTemplate/a apiVersion [all]
          Karpenter does not serve `AWSNodeTemplate` of `karpenter.k8s.aws/v1alpha1`
          help: write an EC2NodeClass of `karpenter.k8s.aws/v1`; the v1 migration guide lists the replacement of each field
          9 | apiVersion: karpenter.sh/v1
            |             ^^^^^^^^^^^^^^^
        error EC2NodeClass/a apiVersion [all]
          Karpenter does not serve `EC2NodeClass` of `karpenter.sh/v1`
          help: write `apiVersion: karpenter.k8s.aws/v1`
         13 | apiVersion: karpenter.sh/v1
            |             ^^^^^^^^^^^^^^^
        error Nodepool/a apiVersion [all]
          Karpenter does not serve `Nodepool` of `karpenter.sh/v1`
          help: write `kind: NodePool`
         17 | apiVersion: karpenter.sh/v1alpha1
            |             ^^^^^^^^^^^^^^^^^^^^^
        error NodeOverlay/a apiVersion [until 1.6]
          Karpenter does not serve `NodeOverlay` of `karpenter.sh/v1alpha1` (until 1.6)
          help: Karpenter serves it only since 1.7: use one of these releases, or remove the object
        ");
        silent(&super::RULE, "apiVersion: v1\nkind: Provisioner\n");
    }
}
