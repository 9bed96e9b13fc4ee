use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{EbsBlockDevice, Ec2NodeClass};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::quantity::Quantity;

rule! {
    /// ## What it does
    ///
    /// Checks `iops`, `throughput` and `volumeSize` of EBS volumes against the limits of their type:
    ///
    /// | type | size | `iops` | `iops` per GiB | `throughput` in MiB/s |
    /// |---|---|---|---|---|
    /// | `gp3` | 1 GiB to 64 TiB | 3000 to 80000 | at most 500, above 3000 | 125 to 2000, and at most a quarter of `iops` |
    /// | `io1` | 4 GiB to 16 TiB | 100 to 64000, required | at most 50 | none |
    /// | `io2` | 4 GiB to 64 TiB | 100 to 256000, required | at most 1000 | none |
    /// | `gp2` | 1 GiB to 16 TiB | none | | none |
    /// | `st1`, `sc1` | 125 GiB to 16 TiB | none | | none |
    /// | `standard` | 1 GiB to 1 TiB | none | | none |
    ///
    /// Until September 2025 EC2 had lower limits for `gp3` (16000 IOPS, 1000 MiB/s, 16 TiB). A volume without `volumeType` is
    /// not checked, because its type comes from the image.
    ///
    /// ## Why it is bad
    ///
    /// EC2 refuses the launch (`InvalidParameterCombination`, `InvalidParameterValue`). Karpenter deletes the NodeClaim and
    /// tries again, and no node of the class starts.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   blockDeviceMappings:
    ///     - deviceName: /dev/xvda
    ///       ebs: {volumeSize: 100Gi, volumeType: gp2, throughput: 250}
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
    ///   blockDeviceMappings:
    ///     - deviceName: /dev/xvda
    ///       ebs: {volumeSize: 100Gi, volumeType: gp3, throughput: 250}
    /// ```
    ///
    /// ## References
    ///
    /// - Amazon EBS User Guide, "Amazon EBS volume types" and the pages of the types
    /// - `LaunchTemplateEbsBlockDeviceRequest` in the Amazon EC2 API Reference
    /// - pkg/providers/launchtemplate/launchtemplate.go (`blockDeviceMappings`) of aws/karpenter-provider-aws at v1.14.1
    /// - runs-on/runs-on#426, hashicorp/terraform-provider-aws#44762
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "EC2 refuses the size or the performance of a volume, so that no node starts",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Limits of a volume type.
struct VolumeType {
    name: &'static str,
    /// Smallest and largest size, in GiB.
    size: (i64, i64),
    /// Smallest and largest number of IOPS; `None` if they cannot be set.
    iops: Option<(i64, i64)>,
    /// Most IOPS per GiB.
    iops_per_gib: i64,
    /// Smallest and largest throughput; `None` if it cannot be set.
    throughput: Option<(i64, i64)>,
    /// IOPS of a volume that sets none; `None` if they have to be set.
    default_iops: Option<i64>,
}

impl VolumeType {
    /// Most IOPS of a volume of a size in GiB.
    fn most_iops(&self, size: i64) -> i64 {
        size.saturating_mul(self.iops_per_gib).max(self.default_iops.unwrap_or(0))
    }
}

const TIB: i64 = 1024;

const fn without_performance(name: &'static str, size: (i64, i64)) -> VolumeType {
    VolumeType { name, size, iops: None, iops_per_gib: 0, throughput: None, default_iops: Some(0) }
}

/// Source: Amazon EBS User Guide, "Amazon EBS volume types", and "io2 Block Express volumes".
const TYPES: [VolumeType; 7] = [
    VolumeType {
        name: "gp3",
        size: (1, 64 * TIB),
        iops: Some((3000, 80_000)),
        iops_per_gib: 500,
        throughput: Some((125, 2000)),
        default_iops: Some(3000),
    },
    VolumeType {
        name: "io1",
        size: (4, 16 * TIB),
        iops: Some((100, 64_000)),
        iops_per_gib: 50,
        throughput: None,
        default_iops: None,
    },
    VolumeType {
        name: "io2",
        size: (4, 64 * TIB),
        iops: Some((100, 256_000)),
        iops_per_gib: 1000,
        throughput: None,
        default_iops: None,
    },
    without_performance("gp2", (1, 16 * TIB)),
    without_performance("st1", (125, 16 * TIB)),
    without_performance("sc1", (125, 16 * TIB)),
    without_performance("standard", (1, TIB)),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for mapping in class.block_device_mappings() {
        let Some(ebs) = mapping.ebs() else { continue };
        let name = ebs.volume_type().and_then(|node| Some((node, node.as_str()?)));
        let Some((node, name)) = name else { continue };
        if let Some(volume_type) = TYPES.iter().find(|volume_type| volume_type.name == name) {
            check_volume(ebs, volume_type, node, findings);
        }
    }
}

fn check_volume<'d>(
    ebs: EbsBlockDevice<'d>,
    volume_type: &VolumeType,
    type_node: Node<'d>,
    findings: &mut Vec<Finding<'d>>,
) {
    let name = volume_type.name;
    let size = ebs.volume_size().and_then(|node| Some((node, gibibytes(node)?)));
    if let Some((node, size)) = size {
        findings.extend(outside(node, "volumeSize", size, volume_type.size, name, "GiB"));
    }
    let iops = ebs.iops().and_then(|node| Some((node, node.as_int()?)));
    match (volume_type.iops, iops, ebs.iops()) {
        (None, _, Some(node)) => findings.push(unsupported(
            node,
            "iops",
            name,
            "`volumeType: gp3`, `volumeType: io1` or `volumeType: io2`",
        )),
        (Some(range), Some((node, iops)), _) => {
            let outside = outside(node, "iops", iops, range, name, "IOPS");
            let is_outside = outside.is_some();
            findings.extend(outside);
            if let Some((size_node, size)) = size.filter(|_| !is_outside) {
                findings.extend(too_dense(node, iops, size_node, size, volume_type));
            }
        }
        (Some(_), None, None) if volume_type.default_iops.is_none() => {
            let message =
                format!("EC2 requires `iops` for a volume of type `{name}`, and refuses to launch nodes");
            let finding = Finding::new(&RULE, Place::value(type_node), message);
            findings.push(finding.help("write `iops`, or `volumeType: gp3`"));
        }
        _ => {}
    }
    match (volume_type.throughput, ebs.throughput()) {
        (None, Some(node)) => findings.push(unsupported(node, "throughput", name, "`volumeType: gp3`")),
        (Some(range), Some(node)) => {
            let Some(throughput) = node.as_int() else { return };
            if let Some(finding) = outside(node, "throughput", throughput, range, name, "MiB/s") {
                findings.push(finding);
                return;
            }
            // A value of another type or with a placeholder says nothing about the ratio.
            let number =
                if ebs.iops().is_none() { volume_type.default_iops } else { iops.map(|(_, iops)| iops) };
            if let Some(number) = number.filter(|number| throughput > *number / 4) {
                let message = format!(
                    "`throughput` is {throughput} MiB/s, but with {number} IOPS EC2 allows at most {} MiB/s, and refuses to launch nodes",
                    number / 4
                );
                let help = format!("write `iops: {}` or more, or a smaller throughput", throughput * 4);
                findings.push(Finding::new(&RULE, Place::value(node), message).help(help));
            }
        }
        _ => {}
    }
}

/// The values that a volume cannot keep with another size, in GiB, lowered to the highest that it can have.
pub(super) fn lowered(ebs: EbsBlockDevice<'_>, size: i64) -> Vec<String> {
    let name = ebs.volume_type().and_then(Node::as_str);
    let volume_type = TYPES.iter().find(|volume_type| Some(volume_type.name) == name);
    let Some(volume_type) = volume_type.filter(|volume_type| volume_type.iops.is_some()) else {
        return Vec::new();
    };
    let most = volume_type.most_iops(size);
    if ebs.iops().and_then(Node::as_int).is_none_or(|iops| iops <= most) {
        return Vec::new();
    }
    let mut members = vec![format!("iops: {most}")];
    if ebs.throughput().and_then(Node::as_int).is_some_and(|throughput| throughput > most / 4) {
        members.push(format!("throughput: {}", most / 4));
    }
    members
}

/// The size that Karpenter asks for: whole GiB, rounded up. `None` for a value that is no positive quantity.
fn gibibytes(node: Node<'_>) -> Option<i64> {
    let quantity = Quantity::parse(node.as_str()?).ok()?;
    let bytes = quantity.units();
    (bytes > 0).then(|| bytes.div_euclid(1 << 30) + i64::from(bytes.rem_euclid(1 << 30) > 0))
}

fn unsupported<'d>(node: Node<'d>, field: &str, name: &str, types: &str) -> Finding<'d> {
    let message =
        format!("EC2 does not accept `{field}` for a volume of type `{name}`, and refuses to launch nodes");
    Finding::new(&RULE, Place::key(node), message).help(format!("remove `{field}`, or write {types}"))
}

fn outside<'d>(
    node: Node<'d>,
    field: &str,
    value: i64,
    (least, most): (i64, i64),
    name: &str,
    unit: &str,
) -> Option<Finding<'d>> {
    if (least..=most).contains(&value) {
        return None;
    }
    let message = format!(
        "`{field}` is {value} {unit}, but a volume of type `{name}` has {least} to {most} {unit}: EC2 refuses to launch nodes"
    );
    Some(
        Finding::new(&RULE, Place::value(node), message)
            .help(format!("write a value from {least} to {most}")),
    )
}

/// Reports more IOPS than a volume of this size can have. The smallest number of IOPS needs no size.
fn too_dense<'d>(
    node: Node<'d>,
    iops: i64,
    size_node: Node<'d>,
    size: i64,
    volume_type: &VolumeType,
) -> Option<Finding<'d>> {
    let most = volume_type.most_iops(size);
    if iops <= most {
        return None;
    }
    let per_gib = volume_type.iops_per_gib;
    let message = format!(
        "`iops` is {iops}, but a volume of {size} GiB and type `{}` has at most {most}, {per_gib} per GiB: EC2 refuses to launch nodes",
        volume_type.name
    );
    let needed = iops.div_euclid(per_gib) + i64::from(iops.rem_euclid(per_gib) > 0);
    let finding = Finding::new(&RULE, Place::value(node), message);
    let finding = finding.help(format!("write at most {most}, or a size of {needed}Gi or more"));
    Some(finding.related(Place::value(size_node), "the size of the volume"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(ebs: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  blockDeviceMappings:
  - deviceName: /dev/xvda
    ebs: {{{ebs}}}
"
        )
    }

    #[test]
    fn reports_performance_that_the_type_cannot_have() {
        insta::assert_snapshot!(findings(&RULE, &class("volumeType: gp2, throughput: 250, iops: 3000")), @"
          7 |     ebs: {volumeType: gp2, throughput: 250, iops: 3000}
            |                            ^^^^^^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.throughput [all]
          EC2 does not accept `throughput` for a volume of type `gp2`, and refuses to launch nodes
          help: remove `throughput`, or write `volumeType: gp3`
          7 |     ebs: {volumeType: gp2, throughput: 250, iops: 3000}
            |                                             ^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.iops [all]
          EC2 does not accept `iops` for a volume of type `gp2`, and refuses to launch nodes
          help: remove `iops`, or write `volumeType: gp3`, `volumeType: io1` or `volumeType: io2`
        ");
        assert!(
            findings(&RULE, &class("volumeType: io1, iops: 3000, throughput: 250")).contains("`throughput`")
        );
        silent(&RULE, &class("volumeType: gp2, volumeSize: 100Gi"));
        silent(&RULE, &class("volumeSize: 100Gi, throughput: 250, iops: 3000"));
        silent(&RULE, &class("volumeType: '${TYPE}', throughput: 250"));
    }

    #[test]
    fn reports_values_outside_the_range_of_the_type() {
        for (ebs, is_reported) in [
            ("volumeType: gp3, iops: 2999", true),
            ("volumeType: gp3, iops: 3000", false),
            ("volumeType: gp3, iops: 80000", false),
            ("volumeType: gp3, iops: 80001", true),
            ("volumeType: gp3, throughput: 124", true),
            ("volumeType: gp3, throughput: 125", false),
            ("volumeType: gp3, throughput: 2000, iops: 8000", false),
            ("volumeType: gp3, throughput: 2001, iops: 80000", true),
            ("volumeType: io2, iops: 256000", false),
            ("volumeType: io2, iops: 256001", true),
            ("volumeType: st1, volumeSize: 124Gi", true),
            ("volumeType: st1, volumeSize: 125Gi", false),
            ("volumeType: gp2, volumeSize: 16Ti", false),
            ("volumeType: gp2, volumeSize: 17Ti", true),
            ("volumeType: gp3, volumeSize: 64Ti", false),
            ("volumeType: gp3, volumeSize: '${SIZE}', iops: 80000", false),
        ] {
            assert_eq!(!findings(&RULE, &class(ebs)).is_empty(), is_reported, "{ebs}");
        }
        insta::assert_snapshot!(findings(&RULE, &class("volumeType: gp3, iops: 1000")), @"
          7 |     ebs: {volumeType: gp3, iops: 1000}
            |                                  ^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.iops [all]
          `iops` is 1000 IOPS, but a volume of type `gp3` has 3000 to 80000 IOPS: EC2 refuses to launch nodes
          help: write a value from 3000 to 80000
        ");
    }

    #[test]
    fn compares_iops_with_the_size() {
        insta::assert_snapshot!(findings(&RULE, &class("volumeType: gp3, volumeSize: 20Gi, iops: 16000")), @"
          7 |     ebs: {volumeType: gp3, volumeSize: 20Gi, iops: 16000}
            |                                                    ^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.iops [all]
          `iops` is 16000, but a volume of 20 GiB and type `gp3` has at most 10000, 500 per GiB: EC2 refuses to launch nodes
          help: write at most 10000, or a size of 32Gi or more
          see line 7 spec.blockDeviceMappings[0].ebs.volumeSize: the size of the volume
        ");
        silent(&RULE, &class("volumeType: gp3, volumeSize: 32Gi, iops: 16000"));
        silent(&RULE, &class("volumeType: gp3, volumeSize: 1Gi, iops: 3000"));
        silent(&RULE, &class("volumeType: io1, volumeSize: 10Gi, iops: 500"));
        assert!(!findings(&RULE, &class("volumeType: io1, volumeSize: 10Gi, iops: 501")).is_empty());
    }

    #[test]
    fn compares_throughput_with_iops() {
        insta::assert_snapshot!(findings(&RULE, &class("volumeType: gp3, throughput: 1000")), @"
          7 |     ebs: {volumeType: gp3, throughput: 1000}
            |                                        ^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.throughput [all]
          `throughput` is 1000 MiB/s, but with 3000 IOPS EC2 allows at most 750 MiB/s, and refuses to launch nodes
          help: write `iops: 4000` or more, or a smaller throughput
        ");
        silent(&RULE, &class("volumeType: gp3, throughput: 750"));
        silent(&RULE, &class("volumeType: gp3, throughput: 1000, iops: 4000"));
        silent(&RULE, &class("volumeType: gp3, throughput: 1000, iops: '${IOPS}'"));
    }

    #[test]
    fn provisioned_volumes_need_iops() {
        insta::assert_snapshot!(findings(&RULE, &class("volumeType: io2, volumeSize: 100Gi")), @"
          7 |     ebs: {volumeType: io2, volumeSize: 100Gi}
            |                       ^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.volumeType [all]
          EC2 requires `iops` for a volume of type `io2`, and refuses to launch nodes
          help: write `iops`, or `volumeType: gp3`
        ");
        silent(&RULE, &class("volumeType: io2, volumeSize: 100Gi, iops: 3000"));
    }

    #[test]
    fn rounds_sizes_up_to_whole_gibibytes() {
        silent(&RULE, &class("volumeType: st1, volumeSize: 124.5Gi"));
        silent(&RULE, &class("volumeType: gp3, volumeSize: 0Gi"));
        let text = class("volumeType: gp3, volumeSize: 20Gi, iops: 10001");
        assert!(findings(&RULE, &text).contains("at most 10000, or a size of 21Gi or more"));
    }

    #[test]
    fn knows_the_largest_volume_of_each_type() {
        for (volume, largest) in
            [("gp3", 64), ("io1", 16), ("io2", 64), ("gp2", 16), ("st1", 16), ("sc1", 16), ("standard", 1)]
        {
            let found = |size: i64| {
                findings(&RULE, &class(&format!("volumeType: {volume}, volumeSize: {size}Ti")))
                    .contains("`volumeSize` is")
            };
            assert!(!found(largest) && found(largest + 1), "{volume}");
        }
    }
}
