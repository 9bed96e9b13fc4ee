use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::items_of;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Finds storage of plug-ins that are no part of Kubernetes any more: a StorageClass of `kubernetes.io/aws-ebs`, a
    /// PersistentVolume or a pod with `awsElasticBlockStore`.
    ///
    /// ## Why it is bad
    ///
    /// The plug-in was removed from Kubernetes in 1.27. What names it is handed to the EBS CSI driver, if that is
    /// installed; its newer options, `gp3` among them, are not to be had.
    ///
    /// Karpenter's troubleshooting page says that it cannot see how many such volumes a node takes. That was so before
    /// 1.0: since then it counts a claim or a volume of the plug-in as one of the driver. A volume that a pod names
    /// itself, without a claim, is counted by nobody, and a node may get more of them than it can attach.
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
        name: "in-tree-storage",
        family: Family::Storage,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "storage of a plug-in that Kubernetes no longer has",
        on: &[On::Kind(Kind::STORAGE_CLASS), On::Kind(Kind::of("", "v1", "PersistentVolume")), On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    const PLUG_IN: &str = "the plug-in was removed from Kubernetes in 1.27, and only the EBS CSI driver serves it";
    if let Some(node) = object.at(&["provisioner"]).filter(|node| {
        object.is(Kind::STORAGE_CLASS) && node.as_str() == Some("kubernetes.io/aws-ebs")
    }) {
        let message = format_args!("`provisioner` is `kubernetes.io/aws-ebs`: {PLUG_IN}");
        let help = "make a class of `ebs.csi.aws.com` with `type: gp3`; the provisioner of a live class cannot change";
        drafts.push(Draft::at(&RULE, node, message).help(help));
    }
    if object.kind() == "PersistentVolume"
        && let Some(node) = object.at(&["spec", "awsElasticBlockStore"])
    {
        let message = format!("the volume is given as `awsElasticBlockStore`: {PLUG_IN}");
        let help = "write `csi: {driver: ebs.csi.aws.com, volumeHandle: <volume id>}`";
        drafts.push(Draft::new(&RULE, Place::key(node), message).help(help));
    }
    let volumes = object.pod().and_then(|pod| pod.at_path(&["spec", "volumes"]));
    for node in items_of(volumes).filter_map(|volume| volume.get("awsElasticBlockStore")) {
        let message = "the pod names an EBS volume without a claim: Karpenter neither counts it nor knows its zone";
        let help = "make a PersistentVolume of `ebs.csi.aws.com` with the volume's zone, and a claim on it";
        drafts.push(Draft::new(&RULE, Place::key(node), message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn volumes_and_pods_that_name_the_plug_in_are_found() {
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
        warning PersistentVolume/a spec.awsElasticBlockStore [1.0-1.14]
          the volume is given as `awsElasticBlockStore`: the plug-in was removed from Kubernetes in 1.27, and only the EBS CSI driver serves it
          help: write `csi: {driver: ebs.csi.aws.com, volumeHandle: <volume id>}`
         12 |   volumes: [{name: d, awsElasticBlockStore: {volumeID: vol-1}}]
            |                       ^^^^^^^^^^^^^^^^^^^^
        warning Pod/b spec.volumes[0].awsElasticBlockStore [1.0-1.14]
          the pod names an EBS volume without a claim: Karpenter neither counts it nor knows its zone
          help: make a PersistentVolume of `ebs.csi.aws.com` with the volume's zone, and a claim on it
        ");
    }

    #[test]
    fn the_driver_is_left_alone() {
        silent(&super::RULE, "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nprovisioner: ebs.csi.aws.com\n");
        silent(&super::RULE, "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: a}\nspec: {csi: {driver: ebs.csi.aws.com}}\n");
    }
}
