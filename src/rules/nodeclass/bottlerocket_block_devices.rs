use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{BlockDeviceMapping, Ec2NodeClass};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily;
use values::quantity::Quantity;

use super::gp3_io1_limits::lowered;
use crate::rules::ami_family;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses for Bottlerocket that enlarge the root volume `/dev/xvda`, but have no mapping for the data
    /// volume `/dev/xvdb`.
    ///
    /// ## Why it is bad
    ///
    /// Bottlerocket keeps only the operating system on `/dev/xvda`. Images, containers and their temporary files are on
    /// `/dev/xvdb`. A list of mappings replaces all defaults of Karpenter, so the data volume keeps the 20 GiB of the
    /// image, and pods do not get the space that the larger root volume costs. They are evicted for lack of ephemeral
    /// storage, or stay Pending if they request it.
    ///
    /// A root volume of at most 4 GiB, the default of Karpenter, is not reported. Nor is a class with
    /// `instanceStorePolicy: RAID0`, because its pods use the disks of the instance.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.49.0}]
    ///   blockDeviceMappings:
    ///   - deviceName: /dev/xvda
    ///     ebs: {volumeSize: 200Gi, volumeType: gp3}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.49.0}]
    ///   blockDeviceMappings:
    ///   - deviceName: /dev/xvda
    ///     ebs: {volumeSize: 4Gi, volumeType: gp3}
    ///   - deviceName: /dev/xvdb
    ///     ebs: {volumeSize: 200Gi, volumeType: gp3}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#3528, #8747; aws-ia/terraform-aws-eks-blueprints#1610
    /// - `DefaultBlockDeviceMappings` and `EphemeralBlockDevice` in pkg/providers/amifamily/bottlerocket.go of
    ///   aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the root volume of Bottlerocket is enlarged, but pods use the data volume",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Size of the root volume in Karpenter's default mappings for Bottlerocket, in bytes.
const DEFAULT_ROOT_BYTES: i64 = 4 << 30;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let uses_instance_store = class.instance_store_policy().is_some_and(|policy| !policy.is_null());
    if ami_family::family_of(class) != Some(ImageFamily::Bottlerocket) || uses_instance_store {
        return;
    }
    let mut root = None;
    for mapping in class.block_device_mappings() {
        match mapping.device_name().and_then(Node::as_str) {
            Some("/dev/xvda") => root = Some(mapping),
            // Another name may be a template or the data volume of another image.
            _ => return,
        }
    }
    let Some(size) = root.and_then(size_of) else { return };
    if !is_enlarged(size) {
        return;
    }
    let message = "pods do not get the space of this volume: Bottlerocket keeps their images and files on `/dev/xvdb`, which stays at the size in the image";
    // EC2 bounds `iops` by the size.
    let lowered = root.and_then(BlockDeviceMapping::ebs).map(|ebs| lowered(ebs, DEFAULT_ROOT_BYTES >> 30));
    let help = match lowered.as_deref().unwrap_or_default() {
        [] => "add a mapping for `/dev/xvdb` with this size, and write `4Gi` here".to_owned(),
        [between @ .., last] => {
            let first = [&["volumeSize: 4Gi".to_owned()], between].concat().join("`, `");
            format!(
                "add a mapping for `/dev/xvdb` with this `ebs`, and write `{first}` and `{last}` in this one"
            )
        }
    };
    findings.push(Finding::new(&RULE, Place::value(size), message).help(help));
}

fn size_of(mapping: BlockDeviceMapping<'_>) -> Option<Node<'_>> {
    mapping.ebs()?.volume_size()
}

/// Whether a size is larger than the default of the root volume. A size that does not parse is not.
fn is_enlarged(size: Node<'_>) -> bool {
    let size = size.as_str().and_then(|text| Quantity::parse(text).ok());
    size.is_some_and(|size| size.nano() > Quantity::from_units(DEFAULT_ROOT_BYTES).nano())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(alias: &str, spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiSelectorTerms: [{{alias: {alias}}}]
  {spec}
"
        )
    }

    fn root(size: &str) -> String {
        format!("blockDeviceMappings: [{{deviceName: /dev/xvda, ebs: {{volumeSize: {size}}}}}]")
    }

    #[test]
    fn reports_an_enlarged_root_volume_without_a_data_volume() {
        insta::assert_snapshot!(findings(&RULE, &class("bottlerocket@v1.49.0", &root("5Gi"))), @"
          6 |   blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 5Gi}}]
            |                                                                   ^^^
        warning EC2NodeClass/a spec.blockDeviceMappings[0].ebs.volumeSize [all]
          pods do not get the space of this volume: Bottlerocket keeps their images and files on `/dev/xvdb`, which stays at the size in the image
          help: add a mapping for `/dev/xvdb` with this size, and write `4Gi` here
        ");
        silent(&RULE, &class("bottlerocket@v1.49.0", &root("4Gi")));
    }

    #[test]
    fn lowers_what_a_volume_of_the_default_size_cannot_have() {
        for (ebs, help) in [
            ("volumeType: gp3, iops: 3000, throughput: 500", "and write `4Gi` here"),
            (
                "volumeType: gp3, iops: 6000, throughput: 500",
                "and write `volumeSize: 4Gi` and `iops: 3000` in this one",
            ),
            (
                "volumeType: gp3, iops: 6000, throughput: 1000",
                "and write `volumeSize: 4Gi`, `iops: 3000` and `throughput: 750` in this one",
            ),
            ("volumeType: io1, iops: 5000", "and write `volumeSize: 4Gi` and `iops: 200` in this one"),
            ("volumeType: io2, iops: 4000", "and write `4Gi` here"),
            ("volumeType: gp2, iops: 4000", "and write `4Gi` here"),
            ("iops: 6000", "and write `4Gi` here"),
        ] {
            let class = class("bottlerocket@v1.49.0", &root(&format!("200Gi, {ebs}")));
            let report = findings(&RULE, &class);
            assert!(report.contains(help), "{ebs}: {report}");
        }
    }

    #[test]
    fn accepts_a_data_volume_and_classes_whose_pods_use_other_disks() {
        let both = "blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 50Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 50Gi}}]";
        silent(&RULE, &class("bottlerocket@latest", both));
        silent(&RULE, &class("bottlerocket@latest", &both.replace("/dev/xvdb", "${DATA_DEVICE}")));
        silent(
            &RULE,
            &class("bottlerocket@latest", &format!("instanceStorePolicy: RAID0\n  {}", root("50Gi"))),
        );
        silent(&RULE, &class("al2023@latest", &root("50Gi")));
        silent(&RULE, &class("bottlerocket@latest", &root("'${SIZE}Gi'")));
    }
}
