use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use objects::object::{Object, Operation};
use objects::storage::{Binding, ClaimForm, Reach, StorageClass, reach};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Claims;

rule! {
    /// ## What it does
    ///
    /// Checks that a StorageClass whose volumes belong to one zone or to one node creates them only after a pod is
    /// scheduled: `volumeBindingMode: WaitForFirstConsumer`. If the field is not set, it defaults to `Immediate`.
    ///
    /// ## Why it is bad
    ///
    /// With `Immediate` the volume is created as soon as it is claimed, in any zone, while the pod still waits for a
    /// node. Up to 1.6 Karpenter launches a node in a zone that it chooses itself. If the volume is then created in
    /// another zone, Karpenter launches a second node, and the first node stays empty. This does not happen every time:
    /// Karpenter has to see the pod in the seconds before the volume is bound.
    ///
    /// From 1.7 on Karpenter ignores a pod whose claim is `Immediate` and not bound yet, so it launches no second node.
    /// But in every release the volume can be created in a zone that no NodePool serves or that the pod's own
    /// constraints exclude. The pod then stays Pending with `volume node affinity conflict`.
    ///
    /// A class that allows a single zone cannot cause a second node, so the finding has the severity `info`. Volumes that
    /// nodes reach over the network, such as EFS volumes, may be created at once. The rule judges only provisioners of EBS
    /// volumes and known provisioners of volumes on the disk of a node.
    ///
    /// A class in a folder in which no file mentions Karpenter may belong to a cluster without Karpenter. The finding then
    /// has the severity `info`. A file that you name on the command line counts as one of a cluster with Karpenter.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// parameters:
    ///   type: gp3
    /// volumeBindingMode: Immediate
    /// ```
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// parameters:
    ///   type: gp3
    /// volumeBindingMode: WaitForFirstConsumer
    /// ```
    ///
    /// The field cannot be changed on an existing class. Delete the class and create it again, or create a class with
    /// another name. Existing volumes are not affected.
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix changes when volumes are created, not which volumes, and the API server refuses the change to an
    /// existing class. The fix is offered for files and for objects that are being created.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7800, #2971, #3262; kubernetes-sigs/karpenter#2415 (1.7.0)
    /// - pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.6.4 and v1.7.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "volumes that belong to one zone are created before their pod is scheduled",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::STORAGE_CLASS)],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

/// Releases that launch a node for a pod whose claim is not bound yet.
const SECOND_NODE: Releases = Releases::until(6);
/// Releases that ignore a pod whose claim is `Immediate` and not bound yet.
const IGNORED_POD: Releases = Releases::since(7);
/// Maximum number of claims that a finding names.
const MAX_CLAIMS: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = StorageClass::of(object) else { return };
    let (place, binding) = match class.binding() {
        Binding::Immediate(mode) => (Place::value(mode), "`volumeBindingMode` is `Immediate`"),
        Binding::Default => {
            let place = Place::missing(object.root(), "volumeBindingMode");
            (place, "`volumeBindingMode` is not set and defaults to `Immediate`")
        }
        Binding::Other => return,
    };
    let Some(provisioner) = class.provisioner() else { return };
    let mut report = |releases: Releases, severity: Severity, why: String| {
        let finding = Finding::new(&RULE, place.clone(), format!("{binding}: {why}"));
        let finding = finding.severity(severity).releases(releases).help(help(object));
        let finding = name_claims(finding, class, context);
        findings.push(match change(class) {
            Some(change) if severity == Severity::Warning => {
                finding.safe_fix("write `WaitForFirstConsumer`", change)
            }
            _ => finding,
        });
    };
    match reach(provisioner) {
        // A class of an unknown provisioner, or of another cloud, says nothing about the zones of AWS.
        Reach::Network | Reach::Unknown => {}
        Reach::Zone => match single_zone(class) {
            // The consequence depends on the release.
            None => {
                let what = if provisioner.contains("ebs") { "the EBS volume" } else { "the volume" };
                let why = format!(
                    "{what} can be created in a different zone than the node that Karpenter launches, and Karpenter then launches a second node in the volume's zone"
                );
                report(SECOND_NODE, Severity::Warning, why);
                let why = format!(
                    "{what} can be created in a zone that no NodePool serves or that the pod's own constraints exclude, and Karpenter ignores the pod until the volume is bound"
                );
                report(IGNORED_POD, Severity::Warning, why);
            }
            Some(zone) => {
                let why =
                    format!("volumes are created before their pod is scheduled, but always in `{zone}`");
                report(Releases::ALL, Severity::Info, why);
            }
        },
        Reach::Node => {
            let why = "a volume is bound to one node before its pod is scheduled";
            report(Releases::ALL, Severity::Warning, why.to_owned());
        }
    }
}

/// The only zone that the class allows.
fn single_zone(class: StorageClass<'_>) -> Option<&str> {
    let zones = class.allowed_zones();
    let mut names = zones.iter().filter_map(|zone| zone.as_str());
    let first = names.next()?;
    names.all(|zone| zone == first).then_some(first)
}

fn help(object: Object<'_>) -> &'static str {
    if object.operation() == Operation::Update {
        "the field cannot be changed on an existing class: create a class with another name and `volumeBindingMode: WaitForFirstConsumer`"
    } else {
        "write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again"
    }
}

/// The fix, for files and for objects that are being created. On an existing object the field is immutable.
fn change(class: StorageClass<'_>) -> Option<Change<'_>> {
    const MODE: &str = "WaitForFirstConsumer";
    if class.object().operation() == Operation::Update {
        return None;
    }
    match class.volume_binding_mode() {
        None => Some(Change::Add(class.object().root(), "volumeBindingMode".to_owned(), MODE.to_owned())),
        Some(mode) => Some(Change::Set(mode, MODE.to_owned())),
    }
}

/// Adds the claims that use the class, and the workloads that mount them, as related locations.
fn name_claims<'d>(
    mut finding: Finding<'d>,
    class: StorageClass<'d>,
    context: &Context<'_, 'd>,
) -> Finding<'d> {
    let claims = context.inventory.index::<Claims>();
    let (few, total) = claims.on(class, MAX_CLAIMS);
    for (index, claim) in few.iter().enumerate() {
        let mut what = match claim.form {
            ClaimForm::Object => {
                format!("PersistentVolumeClaim `{}` claims its volume from this class", claim.object.name())
            }
            form => {
                format!(
                    "the {} of {} `{}` claims its volume from this class",
                    form.name(),
                    claim.object.kind(),
                    claim.object.name()
                )
            }
        };
        if index + 1 == MAX_CLAIMS && total > MAX_CLAIMS {
            what = format!("{what}, and {} more", total - MAX_CLAIMS);
        }
        finding = finding.related(Place::value(claim.class_node()), what);
        if claim.form == ClaimForm::Object
            && let Some((workload, node)) = claims.mount(claim.object)
        {
            let who = format!("{} `{}` mounts this claim", workload.kind(), workload.name());
            finding = finding.related(Place::value(node), who);
        }
    }
    finding
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, request, silent};
    use cluster::Cluster;
    use manifest::File;
    use objects::embedded::READ_OPTIONS;
    use rule::finding::Severity;
    use rule::settings::{RuleSelector, Settings, Target};

    const EBS: &str = r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
";

    fn class(provisioner: &str) -> String {
        EBS.replace("ebs.csi.aws.com", provisioner)
    }

    #[test]
    fn is_an_info_in_a_folder_that_does_not_mention_karpenter() {
        let severities = |files: Vec<File>| {
            let select = vec![RuleSelector::One(super::RULE.names())];
            let settings = Settings { select, ..Settings::default() };
            let report = crate::check(&[Cluster { name: String::new(), files }], &settings);
            report.findings.iter().map(|finding| finding.severity).collect::<Vec<_>>()
        };
        let file = |name: &str, text: &str| File::read(name, text, READ_OPTIONS);
        let class = || file("a/class.yaml", EBS);
        let pod = r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: []}
";
        assert_eq!(severities(vec![class(), file("a/pod.yaml", pod)]), [Severity::Info]);
        for evidence in [
            file("a/pool.yaml", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n"),
            file("a/apps.yaml", "apps: [Karpenter, argocd]\n"),
            File { is_relevant: Some(true), ..file("a/pod.yaml", pod) },
        ] {
            assert_eq!(severities(vec![class(), evidence]), [Severity::Warning]);
        }
        // The name of a folder depends on where a run starts.
        assert_eq!(severities(vec![class(), file("karpenter/pod.yaml", pod)]), [Severity::Info]);
        // One file alone shows no more than the file beside another one.
        assert_eq!(severities(vec![class()]), [Severity::Info]);
        assert_eq!(severities(vec![File { is_relevant: Some(true), ..class() }]), [Severity::Warning]);
    }

    #[test]
    fn message_depends_on_the_release() {
        let text = format!("{EBS}volumeBindingMode: Immediate\n");
        let settings = Settings { karpenter: Target::parse("1.6..1.7").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &settings), @r#"
          5 | volumeBindingMode: Immediate
            |                    ^^^^^^^^^
        warning StorageClass/gp3 volumeBindingMode [until 1.6]
          `volumeBindingMode` is `Immediate`: the EBS volume can be created in a different zone than the node that Karpenter launches, and Karpenter then launches a second node in the volume's zone
          help: write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again
          fix: write `WaitForFirstConsumer`: "WaitForFirstConsumer"
          5 | volumeBindingMode: Immediate
            |                    ^^^^^^^^^
        warning StorageClass/gp3 volumeBindingMode [since 1.7]
          `volumeBindingMode` is `Immediate`: the EBS volume can be created in a zone that no NodePool serves or that the pod's own constraints exclude, and Karpenter ignores the pod until the volume is bound
          help: write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again
          fix: write `WaitForFirstConsumer`: "WaitForFirstConsumer"
        "#);
    }

    #[test]
    fn adds_the_missing_field() {
        insta::assert_snapshot!(findings(&super::RULE, EBS), @r#"
          3 | metadata: {name: gp3}
            |                  ^^^
        warning StorageClass/gp3 volumeBindingMode [since 1.7]
          `volumeBindingMode` is not set and defaults to `Immediate`: the EBS volume can be created in a zone that no NodePool serves or that the pod's own constraints exclude, and Karpenter ignores the pod until the volume is bound
          help: write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again
          fix: write `WaitForFirstConsumer`: "\nvolumeBindingMode: WaitForFirstConsumer"
        "#);
        assert_eq!(fixed(&super::RULE, EBS), format!("{EBS}volumeBindingMode: WaitForFirstConsumer\n"));
        for null in ["", " null", " ~"] {
            let text = format!("{EBS}volumeBindingMode:{null}\n");
            assert_eq!(fixed(&super::RULE, &text), format!("{EBS}volumeBindingMode: WaitForFirstConsumer\n"));
        }
    }

    #[test]
    fn names_affected_claims_and_workloads() {
        let text = "\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: gp3
  annotations: {storageclass.kubernetes.io/is-default-class: 'true'}
provisioner: ebs.csi.aws.com
volumeBindingMode: Immediate
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: gp3}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec:
  template:
    spec:
      containers: []
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: sort}
spec:
  template:
    spec:
      containers: []
      volumes:
      - {name: d, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gp3}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template: {spec: {containers: []}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: bound}
spec: {storageClassName: gp3, volumeName: pv-1}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: static}
spec: {storageClassName: ''}
";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          7 | volumeBindingMode: Immediate
            |                    ^^^^^^^^^
        warning StorageClass/gp3 volumeBindingMode [since 1.7]
          `volumeBindingMode` is `Immediate`: the EBS volume can be created in a zone that no NodePool serves or that the pod's own constraints exclude, and Karpenter ignores the pod until the volume is bound
          help: write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again
          see line 12 spec.storageClassName: PersistentVolumeClaim `data` claims its volume from this class
          see line 21 spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Deployment `cart` mounts this claim
          see line 31 spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName: the ephemeral volume of Job `sort` claims its volume from this class
          see line 39 spec.volumeClaimTemplates[0]: the claim template of StatefulSet `db` claims its volume from this class
          fix: write `WaitForFirstConsumer`: "WaitForFirstConsumer"
        "#);
    }

    #[test]
    fn single_zone_is_only_an_info() {
        let text = format!(
            r"{EBS}allowedTopologies:
- matchLabelExpressions:
  - {{key: topology.ebs.csi.aws.com/zone, values: [eu-west-1a]}}
"
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          3 | metadata: {name: gp3}
            |                  ^^^
        info StorageClass/gp3 volumeBindingMode [all]
          `volumeBindingMode` is not set and defaults to `Immediate`: volumes are created before their pod is scheduled, but always in `eu-west-1a`
          help: write `volumeBindingMode: WaitForFirstConsumer`; an existing class has to be deleted and created again
        ");
    }

    #[test]
    fn reports_provisioners_of_ebs_and_of_local_volumes() {
        for provisioner in
            ["ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "kubernetes.io/aws-ebs", "rancher.io/local-path"]
        {
            assert!(
                findings(&super::RULE, &class(provisioner)).contains("warning StorageClass"),
                "{provisioner}"
            );
        }
    }

    #[test]
    fn ignores_other_clouds_and_unknown_provisioners() {
        for provisioner in [
            "pd.csi.storage.gke.io",
            "disk.csi.azure.com",
            "kubernetes.io/no-provisioner",
            "storage.example.net/block",
        ] {
            silent(&super::RULE, &class(provisioner));
        }
    }

    #[test]
    fn existing_class_gets_help_but_no_fix() {
        let immediate = format!("{EBS}volumeBindingMode: Immediate\n");
        let updated = findings(&super::RULE, &request("UPDATE", &immediate));
        assert!(
            updated.contains("create a class with another name") && !updated.contains("fix:"),
            "{updated}"
        );
        assert!(findings(&super::RULE, &request("CREATE", &immediate)).contains("fix: write"));
    }

    #[test]
    fn ignores_waiting_classes_and_network_storage() {
        silent(&super::RULE, &format!("{EBS}volumeBindingMode: WaitForFirstConsumer\n"));
        for provisioner in ["efs.csi.aws.com", "fsx.csi.aws.com", "nfs.csi.k8s.io", "s3.csi.aws.com"] {
            silent(&super::RULE, &class(provisioner));
            silent(&super::RULE, &format!("{}volumeBindingMode: Immediate\n", class(provisioner)));
        }
        // The API server refuses an unknown mode.
        silent(&super::RULE, &format!("{EBS}volumeBindingMode: waitForFirstConsumer\n"));
        silent(
            &super::RULE,
            r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a}
",
        );
    }

    #[test]
    fn a_repeated_zone_is_one_zone() {
        let zones = |zones: &str| {
            format!(
                r"{EBS}allowedTopologies:
- matchLabelExpressions:
  - {{key: topology.ebs.csi.aws.com/zone, values: [{zones}]}}
"
            )
        };
        assert!(findings(&super::RULE, &zones("a, a")).contains("info StorageClass/gp3"));
        assert!(findings(&super::RULE, &zones("a, b")).contains("warning StorageClass/gp3"));
    }

    #[test]
    fn counts_the_claims_that_it_does_not_name() {
        let claim = |index: usize| {
            format!(
                r"---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: c{index}}}
spec: {{storageClassName: gp3}}
"
            )
        };
        let found = |claims: usize| {
            findings(&super::RULE, &(EBS.to_owned() + &(0..claims).map(claim).collect::<String>()))
        };
        assert!(!found(super::MAX_CLAIMS).contains(" more"));
        let many = found(super::MAX_CLAIMS + 2);
        assert!(many.contains("claims its volume from this class, and 2 more"), "{many}");
        assert_eq!(many.matches(", and 2 more").count(), 1, "{many}");
    }
}
