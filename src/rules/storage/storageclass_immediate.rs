use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use manifest::edit::Change;
use karpenter::release::Releases;
use objects::storage::{Binding, ClaimForm, Reach, allowed_zones, reach};
use karpenter::kind::Kind;
use objects::object::{Object, Operation};
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that a StorageClass whose volumes lie in one zone or on one node makes them only once a pod is placed:
    /// `volumeBindingMode: WaitForFirstConsumer`. A class that leaves the field out gets `Immediate`.
    ///
    /// ## Why it is bad
    ///
    /// With `Immediate` the volume is made as soon as it is claimed, in whichever zone, while the pod still waits for a
    /// node. Up to 1.6 Karpenter launches a node in a zone of its own choice; when the volume turns out to lie in
    /// another one, it launches a second node, and the first one stays empty. It does not happen every time: the pod has
    /// to be seen in the seconds before the volume is bound.
    ///
    /// From 1.7 on Karpenter passes over a pod whose claim is `Immediate` and not bound yet, so that there is no second
    /// node; but in every release the volume can lie in a zone that no NodePool serves or that the pod's own rules
    /// exclude, and the pod waits for ever with `volume node affinity conflict`.
    ///
    /// A class that allows a single zone cannot cause a second node and is only pointed out. Volumes that are reached
    /// over the network, such as those of EFS, may be made at once.
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
    /// The field cannot be changed on a live class: delete the class and create it again, or make one under another
    /// name. Volumes that exist are not affected.
    ///
    /// ## Fix safety
    ///
    /// Safe: it changes when volumes are made, not which, and a class that exists refuses the change. It is offered in a
    /// text and where an object is created.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7800, #2971, #3262; kubernetes-sigs/karpenter#2415 (1.7.0)
    /// - pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.6.4 and v1.7.0
    RULE {
        name: "storageclass-immediate",
        family: Family::Storage,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "volumes that lie in one zone are made before it is known where their pod runs",
        on: &[On::Kind(Kind::STORAGE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// A pod whose claim is not bound yet gets a node.
const SECOND_NODE: Releases = Releases::until(6);
/// A pod whose claim is `Immediate` and not bound yet is passed over.
const PASSED_OVER: Releases = Releases::since(7);
/// How many claims a finding names.
const FEW: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let (place, said) = match Binding::of(object) {
        Binding::Immediate(mode) => (Place::value(mode), "`volumeBindingMode` is `Immediate`"),
        Binding::Default => {
            let place = Place::missing(object.root(), "volumeBindingMode");
            (place, "`volumeBindingMode` is left out, which means `Immediate`")
        }
        Binding::Other => return,
    };
    let Some(provisioner) = object.str_at(&["provisioner"]) else { return };
    let mut tell = |releases: Releases, severity: Severity, why: String| {
        let draft = Draft::new(&RULE, place.clone(), format!("{said}: {why}"));
        let draft = draft.severity(severity).releases(releases).help(help(object));
        let draft = name_claims(draft, object, context);
        drafts.push(match change(object) {
            Some(change) if severity == Severity::Warning => draft.mend("write `WaitForFirstConsumer`", change),
            _ => draft,
        });
    };
    match reach(provisioner) {
        Reach::Network => {}
        Reach::Zone => match single_zone(object) {
            // What happens in which releases.
            None => {
                let what = if provisioner.contains("ebs") { "the EBS volume" } else { "the volume" };
                let why = format!("{what} is made in any zone while Karpenter launches a node in another, and then a second node next to the volume");
                tell(SECOND_NODE, Severity::Warning, why);
                let why = format!("{what} is made in any zone, also one that no NodePool serves or that the pod's own rules exclude, and until then Karpenter passes the pod over");
                tell(PASSED_OVER, Severity::Warning, why);
            }
            Some(zone) => {
                let why = format!("volumes are made before a pod is placed, though always in `{zone}`");
                tell(Releases::ALL, Severity::Info, why);
            }
        },
        Reach::Node => {
            let why = "a volume is bound to one node before it is known where its pod can run";
            tell(Releases::ALL, Severity::Warning, why.to_owned());
        }
        Reach::Unknown => {
            let why = format!("where volumes of `{provisioner}` lie in one zone, that is chosen before a pod is placed");
            tell(Releases::ALL, Severity::Info, why);
        }
    }
}

/// The only zone that the class allows.
fn single_zone(class: Object<'_>) -> Option<&str> {
    let zones = allowed_zones(class);
    let mut names = zones.iter().filter_map(|zone| zone.as_str());
    let first = names.next()?;
    names.all(|zone| zone == first).then_some(first)
}

fn help(object: Object<'_>) -> &'static str {
    if object.operation() == Operation::Update {
        "the field cannot change on a live class: make a class under another name with `volumeBindingMode: WaitForFirstConsumer`"
    } else {
        "write `volumeBindingMode: WaitForFirstConsumer`; a class that exists has to be deleted and created again"
    }
}

/// The change, in a text and where the object is created: the field is immutable.
fn change(object: Object<'_>) -> Option<Change<'_>> {
    const MODE: &str = "WaitForFirstConsumer";
    if object.operation() == Operation::Update {
        return None;
    }
    match object.at(&["volumeBindingMode"]) {
        None => Some(Change::Add(object.root(), "volumeBindingMode".to_owned(), MODE.to_owned())),
        Some(mode) if mode.is_null() => None,
        Some(mode) => Some(Change::Set(mode, MODE.to_owned())),
    }
}

/// Names the workloads that would run into it.
fn name_claims<'d>(mut draft: Draft<'d>, class: Object<'d>, context: &Context<'_, 'd>) -> Draft<'d> {
    let claims = context.inventory.claims();
    let (few, total) = claims.on(class, FEW);
    for (index, claim) in few.iter().enumerate() {
        let mut what = match claim.form {
            ClaimForm::Object => format!("the claim `{}` gets its volume so", claim.object.name()),
            form => format!("the {} of {} `{}` gets its volume so", form.name(), claim.object.kind(), claim.object.name()),
        };
        if index + 1 == FEW && total > FEW {
            what = format!("{what}, and {} more", total - FEW);
        }
        draft = draft.related(Place::value(claim.place()), what);
        if claim.form == ClaimForm::Object
            && let Some((workload, node)) = claims.mount(claim.object)
        {
            let who = format!("{} `{}` mounts it", workload.kind(), workload.name());
            draft = draft.related(Place::value(node), who);
        }
    }
    draft
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use lint::settings::{Settings, Target};

    const EBS: &str =
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gp3}\nprovisioner: ebs.csi.aws.com\n";

    fn class(provisioner: &str) -> String {
        EBS.replace("ebs.csi.aws.com", provisioner)
    }

    #[test]
    fn what_happens_depends_on_the_release() {
        let text = format!("{EBS}volumeBindingMode: Immediate\n");
        let settings = Settings { karpenter: Target::parse("1.6..1.7").unwrap(), ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &settings), @r#"
          5 | volumeBindingMode: Immediate
            |                    ^^^^^^^^^
        warning StorageClass/gp3 volumeBindingMode [1.0-1.6]
          `volumeBindingMode` is `Immediate`: the EBS volume is made in any zone while Karpenter launches a node in another, and then a second node next to the volume
          help: write `volumeBindingMode: WaitForFirstConsumer`; a class that exists has to be deleted and created again
          fix: write `WaitForFirstConsumer`: "WaitForFirstConsumer"
          5 | volumeBindingMode: Immediate
            |                    ^^^^^^^^^
        warning StorageClass/gp3 volumeBindingMode [1.7-1.14]
          `volumeBindingMode` is `Immediate`: the EBS volume is made in any zone, also one that no NodePool serves or that the pod's own rules exclude, and until then Karpenter passes the pod over
          help: write `volumeBindingMode: WaitForFirstConsumer`; a class that exists has to be deleted and created again
          fix: write `WaitForFirstConsumer`: "WaitForFirstConsumer"
        "#);
    }

    #[test]
    fn the_field_left_out_is_added() {
        insta::assert_snapshot!(findings(&super::RULE, EBS), @r#"
          3 | metadata: {name: gp3}
            |                  ^^^
        warning StorageClass/gp3 volumeBindingMode [1.7-1.14]
          `volumeBindingMode` is left out, which means `Immediate`: the EBS volume is made in any zone, also one that no NodePool serves or that the pod's own rules exclude, and until then Karpenter passes the pod over
          help: write `volumeBindingMode: WaitForFirstConsumer`; a class that exists has to be deleted and created again
          fix: write `WaitForFirstConsumer`: "\nvolumeBindingMode: WaitForFirstConsumer"
        "#);
        assert_eq!(fixed(&super::RULE, EBS), format!("{EBS}volumeBindingMode: WaitForFirstConsumer\n"));
    }

    #[test]
    fn the_workloads_that_would_run_into_it_are_named() {
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
        warning StorageClass/gp3 volumeBindingMode [1.7-1.14]
          `volumeBindingMode` is `Immediate`: the EBS volume is made in any zone, also one that no NodePool serves or that the pod's own rules exclude, and until then Karpenter passes the pod over
          help: write `volumeBindingMode: WaitForFirstConsumer`; a class that exists has to be deleted and created again
          see line 12 spec.storageClassName: the claim `data` gets its volume so
          see line 21 spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Deployment `cart` mounts it
          see line 31 spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName: the ephemeral volume of Job `sort` gets its volume so
          see line 39 spec.volumeClaimTemplates[0]: the claim template of StatefulSet `db` gets its volume so
          fix: write `WaitForFirstConsumer`: "WaitForFirstConsumer"
        "#);
    }

    #[test]
    fn a_single_zone_is_pointed_out_only() {
        let text = format!(
            "{EBS}allowedTopologies:\n- matchLabelExpressions:\n  - {{key: topology.ebs.csi.aws.com/zone, values: [eu-west-1a]}}\n"
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          3 | metadata: {name: gp3}
            |                  ^^^
        info StorageClass/gp3 volumeBindingMode [1.0-1.14]
          `volumeBindingMode` is left out, which means `Immediate`: volumes are made before a pod is placed, though always in `eu-west-1a`
          help: write `volumeBindingMode: WaitForFirstConsumer`; a class that exists has to be deleted and created again
        ");
    }

    #[test]
    fn node_local_volumes_need_to_wait_even_more() {
        assert!(findings(&super::RULE, &class("kubernetes.io/no-provisioner")).starts_with("  3 |"));
        assert!(findings(&super::RULE, &class("storage.example.net/block")).contains("info StorageClass"));
    }

    #[test]
    fn a_live_class_gets_advice_and_no_fix() {
        let review = |operation: &str| {
            format!(
                "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  operation: {operation}\n  object:\n    {}volumeBindingMode: Immediate\n",
                EBS.replace('\n', "\n    "),
            )
        };
        let updated = findings(&super::RULE, &review("UPDATE"));
        assert!(updated.contains("make a class under another name") && !updated.contains("fix:"), "{updated}");
        assert!(findings(&super::RULE, &review("CREATE")).contains("fix: write"));
    }

    #[test]
    fn what_waits_or_is_reached_over_the_network_is_left_alone() {
        silent(&super::RULE, &format!("{EBS}volumeBindingMode: WaitForFirstConsumer\n"));
        for provisioner in ["efs.csi.aws.com", "fsx.csi.aws.com", "nfs.csi.k8s.io", "s3.csi.aws.com"] {
            silent(&super::RULE, &class(provisioner));
            silent(&super::RULE, &format!("{}volumeBindingMode: Immediate\n", class(provisioner)));
        }
        // The API server refuses a mode that does not exist.
        silent(&super::RULE, &format!("{EBS}volumeBindingMode: waitForFirstConsumer\n"));
        silent(&super::RULE, "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\n");
    }
}
