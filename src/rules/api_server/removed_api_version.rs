use core::fmt::Write as _;

use karpenter::api::served::SERVED_KINDS;
use karpenter::release::{PinnedVersion, Releases};
use manifest::edit::Change;
use manifest::tree::Node;
use objects::conversion::{Conversion, convert};
use objects::object::{Object, Operation};
use objects::provider::other_provider;
use objects::validation::{Refusal, What};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::fix::Fix;
use rule::{Fixes, Runs};
use values::spelling::nearest;

use crate::rules::indexes::ConversionNeighbours;

rule! {
    /// ## What it does
    ///
    /// Checks that the release serves the object's `apiVersion` and `kind`: v1beta1 was removed in 1.1, `Provisioner`,
    /// `Machine` and `AWSNodeTemplate` were removed before 1.0, and NodeOverlay was added in 1.7. In 1.0, which is the last release
    /// that serves v1beta1, the finding is a warning about the next release, or an info if a comment calls the object legacy. If
    /// the manifests pin a version of Karpenter below 1.0, the finding is an info about the upgrade.
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
    /// ## Fix safety
    ///
    /// The fix writes the v1 object, as the conversion webhook of Karpenter 1.0 and the tool `karpenter-convert` of 0.32 do, and
    /// keeps comments and layout. It is safe if the v1 object certainly means the same and every release from 1.0 on accepts it:
    ///
    /// - NodePool: `nodeClassRef` gets `group` and `kind`, `WhenUnderutilized` becomes `WhenEmptyOrUnderutilized` with
    ///   `consolidateAfter: 0s`, `expireAfter` moves to `spec.template.spec`, and `kubelet` moves to the EC2NodeClass, if that is
    ///   in the input and no other NodePool contradicts,
    /// - EC2NodeClass: an `amiFamily` without selector terms becomes the alias of its newest AMI, and `metadataOptions` get the hop
    ///   limit that they had by default,
    /// - Provisioner: it becomes a NodePool with the requirements that it had by default, and with the same limits, expiration
    ///   and consolidation,
    /// - AWSNodeTemplate: it becomes an EC2NodeClass, its selectors become lists of terms, and AL2 is the AMI family by default.
    ///
    /// One fix converts a NodePool and its node class, also in different files, because no release since 1.1 serves one of them in v1
    /// and the other in an earlier version. There is no fix if the finding about one of them is accepted, off, or about another release
    /// that has no fix.
    ///
    /// The fix is unsafe, and the help names what to review, if a comment calls the object legacy, if every object of Karpenter is
    /// from before 0.32 and the settings name no release, if the checked releases still serve the object, if the object has
    /// placeholders, if it is a NodeClaim, which only Karpenter writes, if its AMI family is Ubuntu, or if the API server would refuse
    /// a field of the v1 object. There is no fix if the v1 objects have a warning or an error that these objects do not have, such as
    /// `al2-end-of-life` for the alias `al2@latest`. There is no fix either, and the help names what to decide, if something cannot
    /// be converted: Ubuntu without selector terms, `spec.provider`, `launchTemplate`, an AWSNodeTemplate without
    /// `instanceProfile`, or kubelet settings whose EC2NodeClass is not in the input.
    ///
    /// ## References
    ///
    /// - pkg/apis/v1/nodepool_conversion.go and nodeclaim_conversion.go of kubernetes-sigs/karpenter at v1.0.8
    /// - pkg/apis/v1/ec2nodeclass_conversion.go of aws/karpenter-provider-aws at v1.0.8
    /// - tools/karpenter-convert of aws/karpenter-provider-aws at v0.32.10
    /// - pkg/apis/crds of aws/karpenter-provider-aws at v1.0.0, v1.1.0 and v1.7.0
    /// - website/content/en/docs/upgrading/v1-migration.md
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a kind or version of Karpenter that the release does not serve",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // Providers for other clouds serve other versions.
    if other_provider(object).is_some() {
        return;
    }
    if let Some(version) = context.version_before_v1
        && object.served().is_some_and(|served| served.instead.is_some())
    {
        findings.extend(upgrade_step(object, version, context));
        return;
    }
    findings.extend(last_release(object, context));
    super::report(object, context, findings, |refusal| match refusal.what {
        What::NotServed => Some(not_served(refusal, object, context)),
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

/// Reports a kind and version that the checked releases serve and a later one does not. An upgrade shows the same as a change.
///
/// Source: pkg/apis/crds of aws/karpenter-provider-aws, which has v1beta1 at v1.0.8 and not at v1.1.0.
fn last_release<'d>(object: Object<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let target = context.settings.karpenter;
    object.served().filter(|served| served.instead.is_some() && target.upgrade_path().is_none())?;
    let is_removal = |refusal: &&Refusal<'d>| matches!(refusal.what, What::NotServed);
    let refusal = context.refusals().iter().find(is_removal)?;
    if target.meets(&refusal.releases) {
        return None;
    }
    let (_, last) = target.ends();
    let next = refusal.releases.published().find(|release| *release > last)?.name_of_minor();
    let (api_version, kind) = (object.api_version(), object.kind());
    let message = format!("Karpenter {next} no longer serves `{kind}` of `{api_version}`");
    let finding = explain(refusal.place.clone(), object, message, context, |conversion| {
        conversion.review.push(format!(
            "Karpenter {last} serves both versions, so convert it before the upgrade to {next}"
        ));
    });
    let severity = if is_marked_as_old(object) { Severity::Info } else { Severity::Warning };
    let finding = finding.severity(severity).caught_by(CaughtBy::Nobody);
    Some(finding.releases(Releases::ALL.without(&refusal.releases)))
}

/// Reports a kind and version that some releases do not serve.
fn not_served<'d>(refusal: &Refusal<'d>, object: Object<'d>, context: &Context<'_, 'd>) -> Finding<'d> {
    let (api_version, kind) = (object.api_version(), object.kind());
    let message = format!("Karpenter does not serve `{kind}` of `{api_version}`{}", refusal.releases.note());
    explain(refusal.place.clone(), object, message, context, |_| {})
}

/// A finding with the object of v1. `review` adds what the author has to review in an object that can be converted.
fn explain<'d>(
    place: Place<'d>,
    object: Object<'d>,
    message: String,
    context: &Context<'_, 'd>,
    review: impl FnOnce(&mut Conversion<'d>),
) -> Finding<'d> {
    let finding = Finding::new(&RULE, place, message);
    // No admission controller may change the version or kind of an object.
    let is_text = object.operation() == Operation::Apply;
    let conversion =
        if is_text { convert(object, context.inventory.index::<ConversionNeighbours>()) } else { None };
    match conversion {
        Some(mut conversion) => {
            if conversion.is_possible() {
                conversion.review.extend(reason_to_keep(object, context).map(str::to_owned));
                let marked = conversion.partners.iter().find(|partner| is_marked_as_old(**partner));
                let marked = marked.map(|one| {
                    format!(
                        "a comment says that the {} `{}` is kept for an old release",
                        one.kind(),
                        one.name()
                    )
                });
                conversion.review.extend(marked);
                review(&mut conversion);
            }
            offer(finding, object, conversion)
        }
        None => finding.help(help(object, object.kind())),
    }
}

/// Whether a comment says that an object is old on purpose.
fn is_marked_as_old(object: Object<'_>) -> bool {
    let tree = object.root().tree();
    let is_mark = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["legacy", "deprecated", "do not migrate", "don't migrate", "archived"]
            .iter()
            .any(|mark| text.contains(mark))
    };
    let mut texts = tree.comments().iter().map(|comment| tree.source_at(comment.source).slice(comment.span));
    texts.any(is_mark)
}

/// The reason why the author may keep an old version on purpose.
fn reason_to_keep(object: Object<'_>, context: &Context<'_, '_>) -> Option<&'static str> {
    if is_marked_as_old(object) {
        return Some("a comment says that the text is kept for an old release");
    }
    let settings = context.settings;
    let is_known = settings.is_karpenter_version_set || settings.karpenter.upgrade_path().is_some();
    let is_old = !is_known && context.inventory.index::<ConversionNeighbours>().are_all_alpha();
    is_old.then_some("every object of Karpenter is from before 0.32, so check which release the cluster runs")
}

/// Offers the object of v1, or names the fields that only the author can convert.
fn offer<'d>(finding: Finding<'d>, object: Object<'d>, conversion: Conversion<'d>) -> Finding<'d> {
    let (api_version, kind) = object.served().and_then(|served| served.instead).unwrap_or_default();
    let is_certain = conversion.is_certain();
    let mut help = format!("write the {kind} of `{api_version}`");
    if !conversion.undecided.is_empty() {
        help = format!("{help}, and decide first: {}", conversion.undecided.join("; "));
    } else if !is_certain {
        help = format!("{help}, and review: {}", conversion.review.join("; "));
    }
    if conversion.is_possible() {
        help = conversion.notes.iter().fold(help, |help, note| format!("{help}; {note}"));
    }
    if conversion.is_possible() && conversion.changes.iter().any(|change| change.edit().is_none()) {
        help.push_str("; the text has anchors or a spelling that a fix cannot edit");
    }
    let is_built = |node: Node<'_>| node.tree().is_assembled();
    let is_elsewhere = |change: &Change<'d>| !is_built(object.root()) && is_built(change.node());
    if conversion.is_possible() && conversion.changes.iter().any(is_elsewhere) {
        help.push_str("; a kustomization builds the node class: move the kubelet settings to `spec.kubelet` of the EC2NodeClass");
    }
    let finding = finding.help(help);
    let mut title = format!("write the {kind} of v1");
    for partner in &conversion.partners {
        let _ = write!(title, ", and convert the {} `{}`", partner.kind(), partner.name());
    }
    match (conversion.is_possible(), is_certain) {
        (false, _) => finding,
        (true, true) => finding.fix(Fix::safe(title, conversion.changes).with_partners(conversion.partners)),
        (true, false) => {
            finding.fix(Fix::for_review(title, conversion.changes).with_partners(conversion.partners))
        }
    }
}

fn help(object: Object<'_>, kind: &str) -> String {
    // The name of a kind before 1.0 in a version that never had it, such as `Provisioner` of `karpenter.sh/v1`.
    let renamed =
        || SERVED_KINDS.iter().find(|served| served.kind == kind && served.releases == Releases::NONE);
    if let Some(served) = object.served().or_else(renamed) {
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
        let is_other_version = object.api_version().rsplit('/').next() != Some(served.version);
        let again = if is_other_version { "; some fields have moved, so check the result again" } else { "" };
        return format!("write `apiVersion: {}/{}`{again}", served.group, served.version);
    }
    // `NodeClaim` is nearer by letters, but Karpenter writes NodeClaims itself.
    if kind.eq_ignore_ascii_case("NodeClass") {
        return "write `apiVersion: karpenter.k8s.aws/v1` and `kind: EC2NodeClass`; for EKS Auto Mode, write `apiVersion: eks.amazonaws.com/v1`".to_owned();
    }
    let near = nearest(kind, current().map(|served| served.kind));
    near.map_or_else(
        || "Karpenter has no such kind; remove the object".to_owned(),
        |near| format!("write `kind: {near}`"),
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, report, silent};
    use rule::settings::{Settings, Target};

    #[test]
    fn names_the_replacement_of_an_old_kind_in_a_new_version() {
        for (version, kind, help) in [
            ("karpenter.sh/v1", "Provisioner", "write a NodePool of `karpenter.sh/v1`"),
            ("karpenter.k8s.aws/v1", "AWSNodeTemplate", "write an EC2NodeClass of `karpenter.k8s.aws/v1`"),
            ("karpenter.sh/v1", "Scaler", "Karpenter has no such kind"),
            ("karpenter.sh/v1", "NodeClass", "and `kind: EC2NodeClass`"),
            ("karpenter.sh/v1", "NodeClaims", "write `kind: NodeClaim`"),
        ] {
            let text = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n");
            assert!(findings(&super::RULE, &text).contains(help), "{kind}");
        }
    }

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
          help: write the NodePool of `karpenter.sh/v1`, and decide first: `spec.template.spec` is missing
          5 | apiVersion: karpenter.k8s.aws/v1alpha1
            |             ^^^^^^^^^^^^^^^^^^^^^^^^^^
        error AWSNodeTemplate/a apiVersion [all]
          Karpenter does not serve `AWSNodeTemplate` of `karpenter.k8s.aws/v1alpha1`
          help: write the EC2NodeClass of `karpenter.k8s.aws/v1`, and decide first: `spec` is missing
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

    const POOL: &str = "\
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {name: default}
      requirements: []
  disruption:
    expireAfter: 24h # a day
";

    #[test]
    fn writes_the_v1_object_where_it_is_certain() {
        insta::assert_snapshot!(findings(&super::RULE, POOL), @r#"
          1 | apiVersion: karpenter.sh/v1beta1
            |             ^^^^^^^^^^^^^^^^^^^^
        error NodePool/a apiVersion [since 1.1]
          Karpenter does not serve `NodePool` of `karpenter.sh/v1beta1` (since 1.1)
          help: write the NodePool of `karpenter.sh/v1`; since Karpenter 1.0 nodes that reach `expireAfter` are drained whatever the disruption budgets allow
          fix: write the NodePool of v1: "karpenter.sh/v1", ":\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: default", "\n      expireAfter: 24h # a day", ":\n    consolidateAfter: 0s"
        "#);
        let text = fixed(&super::RULE, POOL);
        insta::assert_snapshot!(text, @"
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: a}
        spec:
          template:
            spec:
              nodeClassRef:
                group: karpenter.k8s.aws
                kind: EC2NodeClass
                name: default
              expireAfter: 24h # a day
              requirements: []
          disruption:
            consolidateAfter: 0s
        ");
        silent(&super::RULE, &text);
    }

    const PAIR: &str = r"apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default}
spec:
  providerRef: {name: default}
  ttlSecondsAfterEmpty: 30
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  amiFamily: Bottlerocket
  instanceProfile: a
  subnetSelector: {a: b}
  securityGroupSelector: {a: b}
";

    /// Whether each fix is safe, in the order of the findings; `-` for a finding without a fix.
    fn safety(text: &str, settings: &Settings) -> String {
        let of = |finding: answers::report::ReportedFinding| match finding.fix {
            Some(fix) if fix.safe => "safe",
            Some(_) => "unsafe",
            None => "-",
        };
        let findings = report(&super::RULE, text, settings).findings;
        findings.into_iter().map(of).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_pair_is_converted_together() {
        let named = Settings {
            karpenter: Target::parse("1.8").unwrap(),
            is_karpenter_version_set: true,
            ..Settings::default()
        };
        assert_eq!(safety(PAIR, &named), "safe safe");
        // The decision about the images of Amazon Linux 2 concerns both halves.
        assert_eq!(safety(&PAIR.replace("amiFamily: Bottlerocket", "amiFamily: AL2"), &named), "- -");
        // One half that cannot be converted keeps the other.
        let launch_template = PAIR.replace("instanceProfile: a", "launchTemplate: a");
        assert_eq!(safety(&launch_template, &named), "- -");
        let help = findings_with(&super::RULE, &launch_template, &named);
        assert!(
            help.contains("decide first: the AWSNodeTemplate `default`, which has to be converted"),
            "{help}"
        );
        let beta = format!(
            "{POOL}---\napiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {{name: default}}\nspec: {{role: a}}\n"
        );
        assert_eq!(safety(&beta, &named), "- -");
    }

    #[test]
    fn a_half_that_is_accepted_as_it_is_keeps_the_other_from_being_converted() {
        let named = Settings {
            karpenter: Target::parse("1.8").unwrap(),
            is_karpenter_version_set: true,
            ..Settings::default()
        };
        let comment = "# karpwarden: ignore[removed-api-version] applied by an old cluster\napiVersion: karpenter.k8s.aws";
        let suppressed = PAIR.replace("apiVersion: karpenter.k8s.aws", comment);
        assert_eq!(safety(&suppressed, &named), "-");
        let help = findings_with(&super::RULE, &suppressed, &named);
        assert!(
            help.contains("no fix, because it would also change the AWSNodeTemplate `default`"),
            "{help}"
        );
    }

    #[test]
    fn one_fix_converts_a_pair_in_two_documents() {
        let named = Settings {
            karpenter: Target::parse("1.8").unwrap(),
            is_karpenter_version_set: true,
            ..Settings::default()
        };
        let fixes: Vec<_> =
            report(&super::RULE, PAIR, &named).findings.into_iter().filter_map(|one| one.fix).collect();
        let [of_pool, of_class] = fixes.as_slice() else { panic!("{fixes:?}") };
        assert_eq!(of_pool.title, "write the NodePool of v1, and convert the AWSNodeTemplate `default`");
        assert_eq!(of_class.title, "write the EC2NodeClass of v1, and convert the Provisioner `default`");
        let spans = |fix: &answers::report::ReportedFix| {
            fix.edits
                .iter()
                .map(|edit| (edit.offset, edit.text.clone()))
                .collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(spans(of_pool), spans(of_class));
        // The fixes of a text are applied once.
        let beside =
            format!("{PAIR}---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: b}}\n");
        insta::assert_snapshot!(fixed(&super::RULE, &beside), @r#"
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: default}
        spec:
          template:
            spec:
              nodeClassRef:
                group: karpenter.k8s.aws
                kind: EC2NodeClass
                name: default
              requirements:
                - key: kubernetes.io/os
                  operator: In
                  values: [linux]
                - key: kubernetes.io/arch
                  operator: In
                  values: [amd64]
                - key: karpenter.sh/capacity-type
                  operator: In
                  values: [on-demand]
                - key: karpenter.k8s.aws/instance-category
                  operator: In
                  values: [c, m, r]
                - key: karpenter.k8s.aws/instance-generation
                  operator: Gt
                  values: ["2"]
              expireAfter: Never
          disruption:
            consolidationPolicy: WhenEmpty
            consolidateAfter: 30s
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: default}
        spec:
          amiSelectorTerms:
            - alias: bottlerocket@latest
          instanceProfile: a
          subnetSelectorTerms:
            - tags: {a: b}
          securityGroupSelectorTerms:
            - tags: {a: b}
          metadataOptions:
            httpPutResponseHopLimit: 2
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: b}
        "#);
    }

    #[test]
    fn text_that_may_be_old_on_purpose_is_not_converted_unasked() {
        assert_eq!(safety(PAIR, &Settings::default()), "unsafe unsafe");
        let beside =
            format!("{PAIR}---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: b}}\n");
        assert_eq!(safety(&beside, &Settings::default()), "safe safe");
        let legacy = POOL.replace("metadata:", "# legacy, for the old cluster\nmetadata:");
        assert_eq!(safety(&legacy, &Settings::default()), "unsafe");
        // The comment is about one of two objects that are converted together.
        let half = beside.replacen("metadata:", "# legacy, for the old cluster\nmetadata:", 1);
        assert_eq!(safety(&half, &Settings::default()), "unsafe unsafe");
        assert_eq!(safety(POOL, &Settings::default()), "safe");
    }

    #[test]
    fn the_last_release_that_serves_a_version_gets_a_warning_about_the_next() {
        let at =
            |release: &str| Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, POOL, &at("1.0")), @r#"
          1 | apiVersion: karpenter.sh/v1beta1
            |             ^^^^^^^^^^^^^^^^^^^^
        warning NodePool/a apiVersion [1.0]
          Karpenter 1.1 no longer serves `NodePool` of `karpenter.sh/v1beta1`
          help: write the NodePool of `karpenter.sh/v1`, and review: Karpenter 1.0 serves both versions, so convert it before the upgrade to 1.1; since Karpenter 1.0 nodes that reach `expireAfter` are drained whatever the disruption budgets allow
          unsafe fix: write the NodePool of v1: "karpenter.sh/v1", ":\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: default", "\n      expireAfter: 24h # a day", ":\n    consolidateAfter: 0s"
        "#);
        assert!(findings_with(&super::RULE, POOL, &at("1.0.2..1.0.8")).contains("warning NodePool/a"));
        let legacy = POOL.replace("metadata:", "# legacy, for the old cluster\nmetadata:");
        assert!(findings_with(&super::RULE, &legacy, &at("1.0")).contains("info NodePool/a"));
        // A range with a release that refuses the object has one finding.
        assert_eq!(findings_with(&super::RULE, POOL, &at("1.0..1.14")).matches("NodePool/a").count(), 1);
        let current = POOL.replace("v1beta1", "v1");
        assert_eq!(findings_with(&super::RULE, &current, &at("1.0")), "");
        // A pin below 1.0 only informs.
        let pin = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: karpenter}\nspec: {template: {spec: {containers: [{name: controller, image: 'public.ecr.aws/karpenter/controller:0.37.0'}]}}}\n";
        let pinned = findings(&super::RULE, &format!("{POOL}{pin}"));
        assert!(pinned.contains("info NodePool/a") && !pinned.contains("warning"), "{pinned}");
    }

    #[test]
    fn objects_of_other_providers_are_not_reported() {
        let other = |reference: &str| POOL.replace("{name: default}", reference);
        silent(
            &super::RULE,
            &other("{apiVersion: karpenter.azure.com/v1alpha2, kind: AKSNodeClass, name: a}"),
        );
        silent(&super::RULE, &other("{group: karpenter.k8s.linode, kind: LinodeNodeClass, name: a}"));
        let key = "[{key: karpenter.k8s.tke/instance-cpu, operator: Exists}]";
        silent(&super::RULE, &POOL.replace("requirements: []", &format!("requirements: {key}")));
        assert!(!findings(&super::RULE, &other("{name: default, kind: EC2NodeClass}")).is_empty());
    }

    #[test]
    fn names_what_the_author_has_to_review_or_decide() {
        let claim = r"apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: a}
spec:
  nodeClassRef: {kind: EC2NodeClass, group: karpenter.k8s.aws, name: a}
  requirements: []
";
        insta::assert_snapshot!(findings(&super::RULE, claim), @r#"
          1 | apiVersion: karpenter.sh/v1beta1
            |             ^^^^^^^^^^^^^^^^^^^^
        error NodeClaim/a apiVersion [since 1.1]
          Karpenter does not serve `NodeClaim` of `karpenter.sh/v1beta1` (since 1.1)
          help: write the NodeClaim of `karpenter.sh/v1`, and review: Karpenter writes NodeClaims itself, with the lifetime of their NodePool; apply it only to restore a NodeClaim
          unsafe fix: write the NodeClaim of v1: "karpenter.sh/v1"
        "#);
        let kubelet = POOL.replace("      requirements", "      kubelet: {maxPods: 20}\n      requirements");
        insta::assert_snapshot!(findings(&super::RULE, &kubelet), @"
          1 | apiVersion: karpenter.sh/v1beta1
            |             ^^^^^^^^^^^^^^^^^^^^
        error NodePool/a apiVersion [since 1.1]
          Karpenter does not serve `NodePool` of `karpenter.sh/v1beta1` (since 1.1)
          help: write the NodePool of `karpenter.sh/v1`, and decide first: move `spec.template.spec.kubelet` to `spec.kubelet` of the EC2NodeClass: the input does not have exactly one `default`
        ");
    }

    #[test]
    fn moves_kubelet_settings_to_the_node_class() {
        let pool = POOL.replace("      requirements", "      kubelet: {maxPods: 20}\n      requirements");
        let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: a
";
        let item = |text: &str| format!("- {}\n", text.trim_end().replace('\n', "\n  "));
        let list = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item(&pool), item(class));
        insta::assert_snapshot!(fixed(&super::RULE, &list), @"
        apiVersion: v1
        kind: List
        items:
        - apiVersion: karpenter.sh/v1
          kind: NodePool
          metadata: {name: a}
          spec:
            template:
              spec:
                nodeClassRef:
                  group: karpenter.k8s.aws
                  kind: EC2NodeClass
                  name: default
                expireAfter: 24h # a day
                requirements: []
            disruption:
              consolidateAfter: 0s
        - apiVersion: karpenter.k8s.aws/v1
          kind: EC2NodeClass
          metadata: {name: default}
          spec:
            role: a
            kubelet: {maxPods: 20}
        ");
        insta::assert_snapshot!(fixed(&super::RULE, &format!("{pool}---\n{class}")), @"
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: a}
        spec:
          template:
            spec:
              nodeClassRef:
                group: karpenter.k8s.aws
                kind: EC2NodeClass
                name: default
              expireAfter: 24h # a day
              requirements: []
          disruption:
            consolidateAfter: 0s
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: default}
        spec:
          role: a
          kubelet: {maxPods: 20}
        ");
    }

    #[test]
    fn says_why_a_text_cannot_be_edited() {
        let anchors = POOL.replace("  disruption:\n", "  disruption: &once\n");
        let output = findings(&super::RULE, &anchors);
        assert!(output.contains("a fix cannot edit") && !output.contains("fix:"), "{output}");
    }

    #[test]
    fn offers_no_fix_to_an_admission_request() {
        let request = format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: CREATE
  object:
    {}",
            POOL.replace('\n', "\n    ").trim_end()
        );
        let output = findings(&super::RULE, &request);
        assert!(output.contains("Karpenter does not serve") && !output.contains("fix:"), "{output}");
    }
}
