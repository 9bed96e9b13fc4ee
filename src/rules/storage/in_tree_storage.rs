use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::{Pod, PodVolume};
use objects::storage::{PersistentVolume, StorageClass};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Reports storage that uses the in-tree EBS plug-in, which Kubernetes has removed: a StorageClass with the
    /// provisioner `kubernetes.io/aws-ebs`, and a PersistentVolume or a pod with `awsElasticBlockStore`.
    ///
    /// The class `gp2` that EKS used to create is not reported where the manifest only takes its default annotation away.
    ///
    /// ## Why it is bad
    ///
    /// Kubernetes 1.27 removed the plug-in. Kubernetes passes volumes of the plug-in to the EBS CSI driver, if the
    /// driver is installed, but the newer options of the driver, such as `gp3`, are not available.
    ///
    /// Karpenter's troubleshooting page says that Karpenter cannot see how many of these volumes a node can attach.
    /// That was true before 1.0. Since 1.0 Karpenter counts a claim or a volume of the plug-in as a claim or a volume
    /// of the driver. But it does not count a volume that a pod names directly, without a claim, and a node may get
    /// more of these volumes than it can attach.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp2
    /// provisioner: kubernetes.io/aws-ebs
    /// volumeBindingMode: WaitForFirstConsumer
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
    /// ## References
    ///
    /// - pkg/scheduling/volumeusage.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0
    /// - website/content/en/docs/troubleshooting.md at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "storage uses an in-tree plug-in that Kubernetes has removed",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::STORAGE_CLASS), On::Kind(PersistentVolume::KIND), On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    const PLUG_IN: &str =
        "Kubernetes 1.27 removed this plug-in, and only the EBS CSI driver can serve its volumes";
    let class = StorageClass::of(object).filter(|class| !takes_default_away(*class));
    let provisioner = class.and_then(StorageClass::provisioner_node);
    if let Some(node) = provisioner.filter(|node| node.as_str() == Some("kubernetes.io/aws-ebs")) {
        let message = format!("`provisioner` is `kubernetes.io/aws-ebs`: {PLUG_IN}");
        let help = "create a class with the provisioner `ebs.csi.aws.com` and `type: gp3`; the provisioner of an existing class cannot be changed";
        findings.push(Finding::at(&RULE, node, message).help(help));
    }
    if let Some(node) = PersistentVolume::of(object).and_then(PersistentVolume::aws_elastic_block_store) {
        let message = format!("the volume uses `awsElasticBlockStore`: {PLUG_IN}");
        let help = "write `csi: {driver: ebs.csi.aws.com, volumeHandle: <volume id>}`, and the volume's zone in `spec.nodeAffinity`";
        findings.push(Finding::new(&RULE, Place::key(node), message).help(help));
    }
    let volumes = Pod::of(object).into_iter().flat_map(|pod| pod.spec().volumes());
    for node in volumes.filter_map(PodVolume::aws_elastic_block_store) {
        let message = "the pod names an EBS volume without a claim, and Karpenter neither counts the volume nor knows its zone";
        let help = "create a PersistentVolume with the driver `ebs.csi.aws.com` and the volume's zone, and a claim for it";
        findings.push(Finding::new(&RULE, Place::key(node), message).help(help));
    }
}

/// Whether the manifest only makes sure that the class `gp2`, which EKS creates before Kubernetes 1.30, is not the default.
fn takes_default_away(class: StorageClass<'_>) -> bool {
    class.object().name() == "gp2" && class.is_no_default()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_volumes_and_pods_that_use_the_plug_in() {
        let text = "\
apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec:
  awsElasticBlockStore: {volumeID: vol-1}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec:
  containers: []
  volumes: [{name: d, awsElasticBlockStore: {volumeID: vol-1}}]
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          5 |   awsElasticBlockStore: {volumeID: vol-1}
            |   ^^^^^^^^^^^^^^^^^^^^
        warning PersistentVolume/a spec.awsElasticBlockStore [all]
          the volume uses `awsElasticBlockStore`: Kubernetes 1.27 removed this plug-in, and only the EBS CSI driver can serve its volumes
          help: write `csi: {driver: ebs.csi.aws.com, volumeHandle: <volume id>}`, and the volume's zone in `spec.nodeAffinity`
         12 |   volumes: [{name: d, awsElasticBlockStore: {volumeID: vol-1}}]
            |                       ^^^^^^^^^^^^^^^^^^^^
        warning Pod/b spec.volumes[0].awsElasticBlockStore [all]
          the pod names an EBS volume without a claim, and Karpenter neither counts the volume nor knows its zone
          help: create a PersistentVolume with the driver `ebs.csi.aws.com` and the volume's zone, and a claim for it
        ");
    }

    #[test]
    fn accepts_class_of_eks_that_is_only_made_no_default() {
        let class = |name: &str, default: &str| {
            format!(
                r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: {name}
  annotations: {{storageclass.kubernetes.io/is-default-class: '{default}'}}
provisioner: kubernetes.io/aws-ebs
"
            )
        };
        silent(&super::RULE, &class("gp2", "false"));
        assert_ne!(findings(&super::RULE, &class("gp2", "true")), "");
        assert_ne!(findings(&super::RULE, &class("fast", "false")), "");
    }

    #[test]
    fn accepts_the_csi_driver() {
        silent(
            &super::RULE,
            r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a}
provisioner: ebs.csi.aws.com
",
        );
        silent(
            &super::RULE,
            r"apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec: {csi: {driver: ebs.csi.aws.com}}
",
        );
    }
}
