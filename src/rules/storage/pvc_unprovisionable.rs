use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use values::placeholder::is_in_name;
use karpenter::release::Releases;
use objects::storage::{Claim, ClaimForm, claims_in};
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks the claims on volumes, in objects of their own, in the claim templates of StatefulSets and in ephemeral
    /// volumes: that the storage class is there (misspelt names), that a default class is there where none is named, that
    /// a class of EBS is not asked for a volume that many nodes write to, and that the class is not one of EKS Auto Mode,
    /// whose volumes nodes of Karpenter cannot use.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter passes over a pod whose claim is not bound and has no storage class, or one that does not exist:
    /// `ignoring pod`. Nothing is launched, and the pod waits.
    ///
    /// A claim whose class is `""` waits for a volume that somebody makes by hand, and is left alone. So is a class that
    /// the input does not hold, unless its name is nearly that of one which it does.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: ebs-gp3
    /// provisioner: ebs.csi.aws.com
    /// volumeBindingMode: WaitForFirstConsumer
    /// ---
    /// apiVersion: v1
    /// kind: PersistentVolumeClaim
    /// metadata:
    ///   name: data
    /// spec:
    ///   storageClassName: esb-gp3
    ///   accessModes: [ReadWriteOnce]
    ///   resources: {requests: {storage: 10Gi}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: ebs-gp3
    /// provisioner: ebs.csi.aws.com
    /// volumeBindingMode: WaitForFirstConsumer
    /// ---
    /// apiVersion: v1
    /// kind: PersistentVolumeClaim
    /// metadata:
    ///   name: data
    /// spec:
    ///   storageClassName: ebs-gp3
    ///   accessModes: [ReadWriteOnce]
    ///   resources: {requests: {storage: 10Gi}}
    /// ```
    ///
    /// ## References
    ///
    /// - `ValidatePersistentVolumeClaims` in pkg/controllers/provisioning/scheduling/volumetopology.go of
    ///   kubernetes-sigs/karpenter at v1.0.0, v1.7.0 and v1.14.0
    /// - aws/karpenter-provider-aws#5560
    RULE {
        name: "pvc-unprovisionable",
        family: Family::Storage,
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a claim for which no volume can be made",
        on: &[On::Kind(Kind::of("", "v1", "PersistentVolumeClaim")), On::Workload],
        inventory: &[Kind::STORAGE_CLASS],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    for claim in claims_in(object).into_iter().filter(|claim| !claim.names_volume()) {
        let class = match claim.class() {
            // A volume made by hand.
            Some("") => continue,
            Some(name) => context.inventory.find("storage.k8s.io", "StorageClass", name),
            None => context.inventory.claims().default_class(),
        };
        match class {
            Some(class) => {
                drafts.extend(many_writers(&claim, class));
                drafts.extend(auto_mode(&claim, class, context));
            }
            None => drafts.extend(absent(&claim, context)),
        }
    }
}

/// A class that the input does not hold.
fn absent<'d>(claim: &Claim<'d>, context: &Context<'_, 'd>) -> Option<Draft<'d>> {
    /// From here on EKS makes no class the default.
    const NO_DEFAULT: u8 = 30;
    let claims = context.inventory.claims();
    let place = Place::value(claim.place());
    let Some(name) = claim.class() else {
        let late = context.settings.kubernetes_minor.is_some_and(|minor| minor >= NO_DEFAULT);
        if claims.classes() == 0 || !late {
            return None;
        }
        let message = format!(
            "{} names no storage class, none in this input is the default, and EKS has none since 1.30",
            article(claim.form)
        );
        let draft = Draft::new(&RULE, Place::missing(claim.node, "spec.storageClassName"), message);
        return Some(draft.help("name a class, or mark one with `storageclass.kubernetes.io/is-default-class: \"true\"`"));
    };
    if is_in_name(name) || name.starts_with("gp2") || claims.classes() > MOST_CLASSES {
        return None;
    }
    let known = context.inventory.of(Kind::STORAGE_CLASS).map(Object::name);
    // A number apart, such as `gp2` and `gp3`, is another class rather than a slip.
    let near = nearest(name, known).filter(|near| letters(near) != letters(name) || near.len() != name.len())?;
    let message = format!("there is no storage class `{name}` in this input, and Karpenter passes over pods whose class does not exist");
    Some(Draft::new(&RULE, place, message).advise(format_args!("did you mean `{near}`?")))
}

/// Beyond, a name is not compared with each class: no cluster has so many.
const MOST_CLASSES: usize = 200;

/// A name without its digits.
fn letters(name: &str) -> String {
    name.chars().filter(|char| !char.is_ascii_digit()).collect()
}

const fn article(form: ClaimForm) -> &'static str {
    match form {
        ClaimForm::Object => "this claim",
        ClaimForm::Template => "this claim template",
        ClaimForm::Ephemeral => "this ephemeral volume",
    }
}

/// A volume of EBS is attached to one node, unless it is used as a raw device.
fn many_writers<'d>(claim: &Claim<'d>, class: Object<'d>) -> Option<Draft<'d>> {
    let ebs = matches!(class.str_at(&["provisioner"]), Some("ebs.csi.aws.com" | "kubernetes.io/aws-ebs"));
    let block = claim.node.str_at(&["spec", "volumeMode"]) == Some("Block");
    let modes = claim.node.at_path(&["spec", "accessModes"])?;
    let mode = modes.items().find(|mode| matches!(mode.as_str(), Some("ReadWriteMany" | "ReadOnlyMany")))?;
    if !ebs || block || modes.items().any(|mode| matches!(mode.as_str(), Some("ReadWriteOnce" | "ReadWriteOncePod"))) {
        return None;
    }
    let message = format_args!(
        "{} asks for `{}` of the class `{}`, but a volume of EBS is used by one node, and none is made",
        article(claim.form),
        mode.as_str().unwrap_or_default(),
        class.name()
    );
    let draft = Draft::at(&RULE, mode, message).severity(Severity::Error);
    let draft = draft.help("write `ReadWriteOnce`, or use a class of EFS");
    Some(draft.related(Place::value(name_of(class)), "this class makes volumes of EBS"))
}

/// Volumes that only nodes of EKS Auto Mode can use.
fn auto_mode<'d>(claim: &Claim<'d>, class: Object<'d>, context: &Context<'_, 'd>) -> Option<Draft<'d>> {
    let auto = class.str_at(&["provisioner"]) == Some("ebs.csi.eks.amazonaws.com");
    let own = context.inventory.count("karpenter.k8s.aws", "EC2NodeClass") > 0;
    let beside = context.inventory.count("eks.amazonaws.com", "NodeClass") > 0;
    if !auto || !own || beside {
        return None;
    }
    let message = format_args!(
        "{} uses the class `{}` of EKS Auto Mode, whose volumes no node of Karpenter can attach",
        article(claim.form),
        class.name()
    );
    let draft = Draft::at(&RULE, claim.place(), message);
    let draft = draft.help("use a class of `ebs.csi.aws.com`, with the EBS CSI driver installed");
    Some(draft.related(Place::value(name_of(class)), "this class is one of EKS Auto Mode"))
}

fn name_of(object: Object<'_>) -> Node<'_> {
    object.at(&["metadata", "name"]).unwrap_or(object.root())
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::Settings;

    fn class(name: &str, provisioner: &str) -> String {
        format!("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {name}}}\nprovisioner: {provisioner}\n---\n")
    }

    fn claim(spec: &str) -> String {
        format!("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data}}\nspec: {{{spec}}}\n")
    }

    const EBS: &str = "ebs.csi.aws.com";

    #[test]
    fn a_misspelt_class_is_found_in_every_form_of_claim() {
        let text = class("standard", EBS)
            + "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  template: {spec: {containers: []}}\n  volumeClaimTemplates:\n  - spec: {storageClassName: standart}\n";
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         12 |   - spec: {storageClassName: standart}
            |                              ^^^^^^^^
        warning StatefulSet/db spec.volumeClaimTemplates[0].spec.storageClassName [1.0-1.14]
          there is no storage class `standart` in this input, and Karpenter passes over pods whose class does not exist
          help: did you mean `standard`?
        ");
    }

    #[test]
    fn ebs_has_one_writer() {
        let text = class("gp3", EBS) + &claim("storageClassName: gp3, accessModes: [ReadWriteMany]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 | spec: {storageClassName: gp3, accessModes: [ReadWriteMany]}
            |                                             ^^^^^^^^^^^^^
        error PersistentVolumeClaim/data spec.accessModes[0] [1.0-1.14]
          this claim asks for `ReadWriteMany` of the class `gp3`, but a volume of EBS is used by one node, and none is made
          help: write `ReadWriteOnce`, or use a class of EFS
          see line 3 metadata.name: this class makes volumes of EBS
        ");
        silent(&super::RULE, &text.replace("accessModes: [", "volumeMode: Block, accessModes: ["));
        silent(&super::RULE, &text.replace(EBS, "efs.csi.aws.com"));
        silent(&super::RULE, &text.replace("ReadWriteMany", "ReadWriteOnce"));
    }

    #[test]
    fn no_default_class_is_found_where_eks_brings_none() {
        let text = class("gp3", EBS) + &claim("accessModes: [ReadWriteOnce]");
        silent(&super::RULE, &text);
        let on = |minor| Settings { kubernetes_minor: Some(minor), ..Settings::default() };
        assert_eq!(findings_with(&super::RULE, &text, &on(29)), "");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &on(30)), @r#"
          8 | metadata: {name: data}
            |                  ^^^^
        warning PersistentVolumeClaim/data spec.storageClassName [1.0-1.14]
          this claim names no storage class, none in this input is the default, and EKS has none since 1.30
          help: name a class, or mark one with `storageclass.kubernetes.io/is-default-class: "true"`
        "#);
        let default = text.replace("{name: gp3}", "{name: gp3, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}");
        assert_eq!(findings_with(&super::RULE, &default, &on(30)), "");
    }

    #[test]
    fn classes_of_auto_mode_are_not_for_nodes_of_karpenter() {
        let node_class = "---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\n";
        let text = class("auto", "ebs.csi.eks.amazonaws.com") + &claim("storageClassName: auto") + node_class;
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 | spec: {storageClassName: auto}
            |                          ^^^^
        warning PersistentVolumeClaim/data spec.storageClassName [1.0-1.14]
          this claim uses the class `auto` of EKS Auto Mode, whose volumes no node of Karpenter can attach
          help: use a class of `ebs.csi.aws.com`, with the EBS CSI driver installed
          see line 3 metadata.name: this class is one of EKS Auto Mode
        ");
        let both = format!("{text}---\napiVersion: eks.amazonaws.com/v1\nkind: NodeClass\nmetadata: {{name: b}}\n");
        silent(&super::RULE, &both);
    }

    #[test]
    fn what_may_be_in_the_cluster_is_left_alone() {
        let standard = class("standard", EBS);
        for spec in [
            "storageClassName: ''",
            "storageClassName: fast",
            "storageClassName: standard",
            "storageClassName: ''\n  volumeName: pv-1",
            "storageClassName: standart, volumeName: pv-1",
            "storageClassName: '${CLASS}'",
            "accessModes: [ReadWriteOnce]",
        ] {
            silent(&super::RULE, &(standard.clone() + &claim(spec).replace("\n  volumeName", ", volumeName")));
        }
        silent(&super::RULE, &(class("gp3", EBS) + &claim("storageClassName: gp2")));
        silent(&super::RULE, &(class("io1", EBS) + &claim("storageClassName: io2")));
        silent(&super::RULE, &claim("storageClassName: standart"));
    }
}
