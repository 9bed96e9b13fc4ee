use karpenter::kind::Kind;
use karpenter::labels::NODEPOOL;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use objects::storage::{ClaimForm, StorageClass, VolumeClaim, claims_in};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, LookUp, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

use crate::rules::indexes::Claims;

rule! {
    /// ## What it does
    ///
    /// Checks PersistentVolumeClaims, the claim templates of StatefulSets and ephemeral volumes:
    ///
    /// - the storage class exists (misspelt names are reported),
    /// - there is a default class if the claim names no class,
    /// - a claim for a volume that many nodes use does not name an EBS class,
    /// - the class does not belong to EKS Auto Mode if the pods run on nodes of Karpenter, which cannot use its volumes: the
    ///   pods select labels or a NodePool of Karpenter, or the inventory is complete and has no nodes of EKS Auto Mode.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter ignores a pod if its claim is not bound and names no storage class, or names a class that does not
    /// exist: `ignoring pod`. Karpenter launches nothing, and the pod stays Pending.
    ///
    /// A claim whose class is `""` waits for a volume that somebody creates by hand, and is not reported. A class that
    /// the input does not contain is not reported either, unless its name nearly equals the name of a class in the
    /// input.
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
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a claim for which no volume can be created",
        runs: Runs::InAdmission,
        on: &[On::Kind(VolumeClaim::KIND), On::Workload],
        inventory: &[LookUp::InCluster(
            Kind::STORAGE_CLASS,
            &["allowedTopologies", "provisioner", "volumeBindingMode"],
        )],
        looks_up: |object| !claims_in(object).is_empty(),
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for claim in claims_in(object).into_iter().filter(|claim| !claim.names_volume()) {
        let class = match claim.class() {
            // The claim waits for a volume that somebody creates by hand.
            Some("") => continue,
            Some(name) => context.inventory.find("storage.k8s.io", "StorageClass", name),
            None => context.inventory.index::<Claims>().default_class(),
        };
        if class.is_none() && is_in_environment(&claim, context) {
            continue;
        }
        match class.and_then(StorageClass::of) {
            Some(class) => {
                findings.extend(many_writers(&claim, class));
                findings.extend(auto_mode(&claim, class, context));
            }
            None => findings.extend(absent(&claim, context)),
        }
    }
}

/// Whether a folder that looks like another cluster has, or may have, the class of a claim.
fn is_in_environment(claim: &VolumeClaim<'_>, context: &Context<'_, '_>) -> bool {
    context.may_be_in_environment(Kind::STORAGE_CLASS)
        || context.anywhere(|inventory| match claim.class() {
            Some(name) => inventory.find("storage.k8s.io", "StorageClass", name).is_some(),
            None => inventory.index::<Claims>().default_class().is_some(),
        })
}

/// Reports a claim whose class is not in the input.
fn absent<'d>(claim: &VolumeClaim<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    /// The first minor version of Kubernetes for which EKS marks no class as the default.
    const NO_DEFAULT: u8 = 30;
    let claims = context.inventory.index::<Claims>();
    let place = Place::value(claim.class_node());
    let Some(name) = claim.class() else {
        let late = context.settings.kubernetes_minor.is_some_and(|minor| minor >= NO_DEFAULT);
        if claims.classes() == 0 || !late {
            return None;
        }
        let message = format!(
            "{} names no storage class, no class in {} is the default, and EKS creates no default class since 1.30",
            subject(claim.form),
            context.scope()
        );
        let finding = Finding::new(&RULE, Place::missing(claim.node, "spec.storageClassName"), message);
        return Some(finding.help("name a class, or mark a class as the default with `storageclass.kubernetes.io/is-default-class: \"true\"`"));
    };
    if has_placeholder(name) || name.starts_with("gp2") || claims.classes() > MAX_CLASSES {
        return None;
    }
    let known = context.inventory.objects_of(Kind::STORAGE_CLASS).map(Object::name);
    // A name that differs only in its digits, such as `gp2` and `gp3`, is a different class and not a spelling mistake.
    let near =
        nearest(name, known).filter(|near| letters(near) != letters(name) || near.len() != name.len())?;
    let message = format!(
        "{} has no storage class `{name}`, and Karpenter ignores pods whose storage class does not exist",
        context.scope()
    );
    Some(Finding::new(&RULE, place, message).help(format!("did you mean `{near}`?")))
}

/// With more classes, misspelt names are not searched for, to bound the work. No real cluster has so many classes.
const MAX_CLASSES: usize = 50;

/// The name without its digits.
fn letters(name: &str) -> String {
    name.chars().filter(|char| !char.is_ascii_digit()).collect()
}

/// Subject of a message.
const fn subject(form: ClaimForm) -> &'static str {
    match form {
        ClaimForm::Object => "this claim",
        ClaimForm::Template => "this claim template",
        ClaimForm::Ephemeral => "this ephemeral volume",
    }
}

/// Reports a claim for an EBS volume that many nodes use. EBS attaches a volume to several nodes only as a raw device.
fn many_writers<'d>(claim: &VolumeClaim<'d>, class: StorageClass<'d>) -> Option<Finding<'d>> {
    let ebs = matches!(class.provisioner(), Some("ebs.csi.aws.com" | "kubernetes.io/aws-ebs"));
    let block = claim.volume_mode() == Some("Block");
    let mode =
        claim.access_modes().find(|mode| matches!(mode.as_str(), Some("ReadWriteMany" | "ReadOnlyMany")))?;
    if !ebs
        || block
        || claim
            .access_modes()
            .any(|mode| matches!(mode.as_str(), Some("ReadWriteOnce" | "ReadWriteOncePod")))
    {
        return None;
    }
    let message = format!(
        "{} requests `{}` from the class `{}`, but only one node can use an EBS volume, and no volume is created",
        subject(claim.form),
        mode.as_str().unwrap_or_default(),
        class.object().name()
    );
    let finding = Finding::at(&RULE, mode, message).severity(Severity::Error);
    let finding = finding.help("write `ReadWriteOnce`, or use a class for EFS");
    Some(finding.related(Place::value(class.object().name_node()), "this class creates EBS volumes"))
}

/// Reports a claim for a volume that only nodes of EKS Auto Mode can use, if its pods certainly run on nodes of Karpenter: they
/// select such nodes, or the input is complete and has no node class of EKS Auto Mode. A cluster can have both kinds of nodes,
/// and the built-in node class of EKS Auto Mode is in no manifest. The policy does not look up the node classes of EKS Auto
/// Mode, so a claim in an admission request gets no such finding.
fn auto_mode<'d>(
    claim: &VolumeClaim<'d>,
    class: StorageClass<'d>,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    if class.provisioner() != Some("ebs.csi.eks.amazonaws.com") || !context.is_text {
        return None;
    }
    let inventory = context.inventory;
    let has_nodes = |group, kind| inventory.count(group, kind) > 0;
    let is_alone = inventory.is_complete()
        && has_nodes("karpenter.k8s.aws", "EC2NodeClass")
        && !has_nodes("eks.amazonaws.com", "NodeClass");
    let user = match claim.form {
        ClaimForm::Object => inventory.index::<Claims>().mount(claim.object).map(|(workload, _)| workload),
        ClaimForm::Template | ClaimForm::Ephemeral => Some(claim.object),
    };
    let is_on_karpenter = || user.and_then(Pod::of).is_some_and(|pod| selects_karpenter(pod, context));
    if !is_alone && !is_on_karpenter() {
        return None;
    }
    let message = format!(
        "{} uses the class `{}` of EKS Auto Mode, and nodes of Karpenter cannot attach its volumes",
        subject(claim.form),
        class.object().name()
    );
    let finding = Finding::at(&RULE, claim.class_node(), message);
    let finding =
        finding.help("use a class with the provisioner `ebs.csi.aws.com`, and install the EBS CSI driver");
    Some(finding.related(Place::value(class.object().name_node()), "this class belongs to EKS Auto Mode"))
}

/// Whether a pod runs only on nodes that Karpenter launches from an EC2NodeClass: it selects a label of Karpenter's provider
/// for AWS, or a NodePool of the input that refers to an EC2NodeClass. Nodes of EKS Auto Mode have labels in the domain
/// `eks.amazonaws.com` instead (EKS user guide, "Create a Node Pool for EKS Auto Mode").
fn selects_karpenter<'d>(pod: Pod<'d>, context: &Context<'_, 'd>) -> bool {
    let is_own_pool = |name: Node<'_>| {
        let pool = name.as_str().and_then(|name| context.inventory.find("karpenter.sh", "NodePool", name));
        let class = pool.and_then(NodePool::of).and_then(NodePool::node_class_ref);
        class.is_some_and(|class| class.group_text() == "karpenter.k8s.aws")
    };
    let selects = |expression: LabelExpression<'d>| {
        let is_pool = expression.key == NODEPOOL
            && expression.values().next().is_some()
            && expression.values().all(is_own_pool);
        !expression.operator.is_negative() && (is_pool || expression.key.starts_with("karpenter.k8s.aws/"))
    };
    let spec = pod.spec();
    let mut terms = spec.required_terms().peekable();
    // The terms are alternatives.
    let by_affinity = terms.peek().is_some()
        && terms.all(|term| term.expressions(ExpressionOrigin::Required { term: 0 }).any(selects));
    by_affinity || spec.node_selector_expressions().any(selects)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_in_files, findings_with, silent};
    use rule::settings::Settings;

    fn class(name: &str, provisioner: &str) -> String {
        format!(
            r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {name}}}
provisioner: {provisioner}
---
"
        )
    }

    fn claim(spec: &str) -> String {
        format!(
            r"apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec: {{{spec}}}
"
        )
    }

    const EBS: &str = "ebs.csi.aws.com";

    #[test]
    fn reports_misspelt_class_in_a_claim_template() {
        let text = class("standard", EBS)
            + r"apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template: {spec: {containers: []}}
  volumeClaimTemplates:
  - spec: {storageClassName: standart}
";
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         12 |   - spec: {storageClassName: standart}
            |                              ^^^^^^^^
        warning StatefulSet/db spec.volumeClaimTemplates[0].spec.storageClassName [all]
          this input has no storage class `standart`, and Karpenter ignores pods whose storage class does not exist
          help: did you mean `standard`?
        ");
    }

    #[test]
    fn reports_ebs_claim_with_many_writers() {
        let text = class("gp3", EBS) + &claim("storageClassName: gp3, accessModes: [ReadWriteMany]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 | spec: {storageClassName: gp3, accessModes: [ReadWriteMany]}
            |                                             ^^^^^^^^^^^^^
        error PersistentVolumeClaim/data spec.accessModes[0] [all]
          this claim requests `ReadWriteMany` from the class `gp3`, but only one node can use an EBS volume, and no volume is created
          help: write `ReadWriteOnce`, or use a class for EFS
          see line 3 metadata.name: this class creates EBS volumes
        ");
        silent(&super::RULE, &text.replace("accessModes: [", "volumeMode: Block, accessModes: ["));
        silent(&super::RULE, &text.replace(EBS, "efs.csi.aws.com"));
        silent(&super::RULE, &text.replace("ReadWriteMany", "ReadWriteOnce"));
    }

    #[test]
    fn reports_missing_default_class_since_kubernetes_1_30() {
        let text = class("gp3", EBS) + &claim("accessModes: [ReadWriteOnce]");
        silent(&super::RULE, &text);
        let on = |minor| Settings { kubernetes_minor: Some(minor), ..Settings::default() };
        assert_eq!(findings_with(&super::RULE, &text, &on(29)), "");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &on(30)), @r#"
          8 | metadata: {name: data}
            |                  ^^^^
        warning PersistentVolumeClaim/data spec.storageClassName [all]
          this claim names no storage class, no class in this input is the default, and EKS creates no default class since 1.30
          help: name a class, or mark a class as the default with `storageclass.kubernetes.io/is-default-class: "true"`
        "#);
        let default = text.replace(
            "{name: gp3}",
            "{name: gp3, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}",
        );
        assert_eq!(findings_with(&super::RULE, &default, &on(30)), "");
    }

    const NODE_CLASS: &str = r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
";
    const AUTO: &str = "ebs.csi.eks.amazonaws.com";

    #[test]
    fn reports_class_of_auto_mode_in_a_complete_inventory_without_its_nodes() {
        let text = class("auto", AUTO) + &claim("storageClassName: auto") + NODE_CLASS;
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &complete), @"
          9 | spec: {storageClassName: auto}
            |                          ^^^^
        warning PersistentVolumeClaim/data spec.storageClassName [all]
          this claim uses the class `auto` of EKS Auto Mode, and nodes of Karpenter cannot attach its volumes
          help: use a class with the provisioner `ebs.csi.aws.com`, and install the EBS CSI driver
          see line 3 metadata.name: this class belongs to EKS Auto Mode
        ");
        let both = format!(
            r"{text}---
apiVersion: eks.amazonaws.com/v1
kind: NodeClass
metadata: {{name: b}}
"
        );
        assert_eq!(findings_with(&super::RULE, &both, &complete), "");
        // A cluster can have both kinds of nodes.
        silent(&super::RULE, &text);
    }

    #[test]
    fn reports_class_of_auto_mode_for_pods_that_select_nodes_of_karpenter() {
        let pool = |name: &str, group: &str| {
            format!(
                r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec: {{template: {{spec: {{nodeClassRef: {{group: {group}, kind: a, name: a}}}}}}}}
"
            )
        };
        let pools = pool("own", "karpenter.k8s.aws") + &pool("auto", "eks.amazonaws.com");
        let set = |spec: &str| {
            let class = class("auto", AUTO);
            format!(
                r"{class}apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  template: {{spec: {{containers: [], {spec}}}}}
  volumeClaimTemplates:
  - spec: {{storageClassName: auto}}
{pools}{NODE_CLASS}"
            )
        };
        let terms = |terms: &str| {
            format!(
                "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}"
            )
        };
        let own = "{matchExpressions: [{key: karpenter.sh/nodepool, operator: In, values: [own]}]}";
        let both = "{matchExpressions: [{key: karpenter.sh/nodepool, operator: In, values: [own, auto]}]}";
        let other = "{matchExpressions: [{key: a, operator: Exists}]}";
        for on_karpenter in [
            "nodeSelector: {karpenter.sh/nodepool: own}",
            "nodeSelector: {karpenter.k8s.aws/instance-family: m7i}",
        ] {
            assert!(findings(&super::RULE, &set(on_karpenter)).contains("claim template"), "{on_karpenter}");
        }
        assert!(findings(&super::RULE, &set(&terms(own))).contains("claim template"));
        for elsewhere in ["", "nodeSelector: {karpenter.sh/nodepool: auto}", "nodeSelector: {team: a}"] {
            silent(&super::RULE, &set(elsewhere));
        }
        silent(&super::RULE, &set(&terms(both)));
        silent(&super::RULE, &set(&terms(&format!("{own}, {other}"))));
    }

    #[test]
    fn ignores_classes_that_may_exist_in_the_cluster() {
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
            silent(
                &super::RULE,
                &(standard.clone() + &claim(spec).replace("\n  volumeName", ", volumeName")),
            );
        }
        silent(&super::RULE, &(class("gp3", EBS) + &claim("storageClassName: gp2")));
        silent(&super::RULE, &(class("io1", EBS) + &claim("storageClassName: io2")));
        silent(&super::RULE, &claim("storageClassName: standart"));
    }

    #[test]
    fn ignores_classes_that_may_exist_in_an_environment() {
        let (standard, claim) = (class("standard", EBS), claim("storageClassName: standart"));
        let found = |in_dev: &str, in_prod: &str, claim_file: &str| {
            let files = [
                ("base/class.yaml", &*standard),
                ("envs/dev/class.yaml", in_dev),
                ("envs/prod/class.yaml", in_prod),
                (claim_file, &*claim),
            ];
            findings_in_files(&super::RULE, &files, &Settings::default())
        };
        let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n";
        let (fast, misspelt) = (class("fast", EBS) + pool, class("standart", EBS) + pool);
        assert_eq!(found(&fast, &fast, "base/claim.yaml"), "");
        assert_eq!(found(&fast, &misspelt, "envs/dev/claim.yaml"), "");
        assert!(found(&fast, &fast, "envs/dev/claim.yaml").contains("no storage class `standart`"));
    }

    #[test]
    fn searches_a_bounded_number_of_classes() {
        let classes = |count: usize| {
            (1..count).map(|index| class(&format!("class-{index}"), EBS)).collect::<String>()
                + &class("standard", EBS)
        };
        let found =
            |count: usize| findings(&super::RULE, &(classes(count) + &claim("storageClassName: standart")));
        assert!(found(super::MAX_CLASSES).contains("did you mean `standard`?"));
        assert_eq!(found(super::MAX_CLASSES + 1), "");
    }

    #[test]
    fn ignores_old_classes_of_eks_and_placeholders() {
        silent(&super::RULE, &(class("gp2-csi", EBS) + &claim("storageClassName: gp2-cs")));
        silent(
            &super::RULE,
            &(class("standard-storage", EBS) + &claim("storageClassName: '$(A)standard-storage'")),
        );
    }
}
