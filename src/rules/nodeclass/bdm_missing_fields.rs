use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::{BlockDeviceMapping, Ec2NodeClass};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as AmiFamily;

use crate::rules::ami_family;

rule! {
    /// ## What it does
    ///
    /// Finds block device mappings of an EC2NodeClass without `ebs`, and mappings without `deviceName` where Karpenter
    /// needs the name.
    ///
    /// ## Why it is bad
    ///
    /// Both fields are optional for the API server, but Karpenter reads them without checking that they are set. A
    /// mapping without `ebs` makes Karpenter panic when it creates the launch template, so nothing is launched from the
    /// node class.
    ///
    /// If Karpenter also takes the size of the ephemeral storage from the mapping, it panics earlier, when it lists the
    /// instance types. Release 1.0 then crashes and restarts in a loop. Later releases recover from the panic, but the
    /// control loop that panicked, for this node class or for all of them, runs again and panics again.
    ///
    /// To size the ephemeral storage, Karpenter uses the mapping with `rootVolume: true` if it has a `volumeSize`.
    /// Otherwise it uses the last mapping for `Custom`, and for other families the first mapping whose `deviceName` is
    /// the device that pods write to (`/dev/xvda`; `/dev/xvdb` on Bottlerocket, `/dev/sda1` on Windows). A mapping
    /// without `deviceName` causes the panic if it comes before that mapping.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   blockDeviceMappings:
    ///     - ebs: {volumeSize: 100Gi, volumeType: gp3}
    ///     - deviceName: /dev/xvdb
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
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   blockDeviceMappings:
    ///     - deviceName: /dev/xvda
    ///       ebs: {volumeSize: 100Gi, volumeType: gp3}
    ///     - deviceName: /dev/xvdb
    ///       ebs: {volumeSize: 50Gi, volumeType: gp3}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#3409, #3898
    /// - aws/karpenter-provider-aws `pkg/providers/instancetype/types.go` `ephemeralStorage` and
    ///   `pkg/providers/launchtemplate/launchtemplate.go` `blockDeviceMappings`, 1.0-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a block device mapping lacks `ebs` or `deviceName`, and Karpenter panics",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Ebs,
    DeviceName,
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let mappings: Vec<_> = class.block_device_mappings().collect();
    let family = ami_family::family_of(class);
    let panic = family.and_then(|family| storage_panic(&mappings, family));
    for mapping in mappings {
        let panics_early = |field| panic == Some((mapping, field));
        if mapping.ebs().is_none() {
            let message = if panics_early(Field::Ebs) {
                "this mapping has no `ebs`; Karpenter panics when it lists instance types for the EC2NodeClass, and launches \
                 no nodes from it"
            } else {
                "this mapping has no `ebs`; Karpenter panics when it creates the launch template, and launches no nodes from \
                 the EC2NodeClass"
            };
            let help = "add `ebs` with a `volumeSize`; instance store disks need no mapping";
            findings.push(Finding::new(&RULE, Place::missing(mapping.node(), "ebs"), message).help(help));
        }
        if panics_early(Field::DeviceName) {
            let message = "this mapping has no `deviceName`; Karpenter panics when it lists instance types for the \
                           EC2NodeClass, and launches no nodes from it";
            let device = family.and_then(ephemeral_device).unwrap_or("/dev/xvda");
            let help =
                format!("write `deviceName: {device}`, the volume of this AMI family that pods write to");
            findings
                .push(Finding::new(&RULE, Place::missing(mapping.node(), "deviceName"), message).help(help));
        }
    }
}

/// Device that pods write to; `None` for `Custom`, where Karpenter does not know it (aws/karpenter-provider-aws
/// pkg/providers/amifamily, `EphemeralBlockDevice`, 1.0-1.14).
const fn ephemeral_device(family: AmiFamily) -> Option<&'static str> {
    match family {
        AmiFamily::Al2 | AmiFamily::Al2023 => Some("/dev/xvda"),
        AmiFamily::Bottlerocket => Some("/dev/xvdb"),
        AmiFamily::Windows => Some("/dev/sda1"),
        AmiFamily::Custom => None,
    }
}

/// Returns the mapping and its missing field that make `ephemeralStorage` panic, if any.
fn storage_panic<'d>(
    mappings: &[BlockDeviceMapping<'d>],
    family: AmiFamily,
) -> Option<(BlockDeviceMapping<'d>, Field)> {
    let missing_ebs =
        |mapping: BlockDeviceMapping<'d>| mapping.ebs().is_none().then_some((mapping, Field::Ebs));
    let root = mappings.iter().find(|mapping| mapping.is_root_volume());
    if let Some(root) = root {
        match root.ebs() {
            None => return Some((*root, Field::Ebs)),
            Some(ebs) if ebs.volume_size().is_some() => return None,
            Some(_) => {}
        }
    }
    let Some(device) = ephemeral_device(family) else {
        return mappings.last().and_then(|last| missing_ebs(*last));
    };
    for mapping in mappings {
        match mapping.device_name() {
            None => return Some((*mapping, Field::DeviceName)),
            Some(name) if name.as_str() == Some(device) => return missing_ebs(*mapping),
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(family: &str, mappings: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  {family}
  blockDeviceMappings:
{mappings}"
        )
    }

    const AL2023: &str = "amiSelectorTerms: [{alias: al2023@latest}]";
    const BOTTLEROCKET: &str = "amiFamily: Bottlerocket";
    const CUSTOM: &str = "amiFamily: Custom";
    const EBS: &str = "ebs: {volumeSize: 20Gi}";

    #[test]
    fn reports_early_panic_for_storage_mapping_and_late_panic_for_others() {
        let text = class(
            AL2023,
            &format!(
                "  - {{deviceName: /dev/xvdb}}\n  - {{deviceName: /dev/xvda}}\n  - {{deviceName: /dev/xvdc, {EBS}}}\n"
            ),
        );
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |   - {deviceName: /dev/xvdb}
            |      ^^^^^^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs [all]
          this mapping has no `ebs`; Karpenter panics when it creates the launch template, and launches no nodes from the EC2NodeClass
          help: add `ebs` with a `volumeSize`; instance store disks need no mapping
          8 |   - {deviceName: /dev/xvda}
            |      ^^^^^^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[1].ebs [all]
          this mapping has no `ebs`; Karpenter panics when it lists instance types for the EC2NodeClass, and launches no nodes from it
          help: add `ebs` with a `volumeSize`; instance store disks need no mapping
        ");
    }

    #[test]
    fn requires_device_name_only_before_storage_mapping() {
        let before = format!("  - {{{EBS}}}\n  - {{deviceName: /dev/xvda, {EBS}}}\n");
        insta::assert_snapshot!(findings(&RULE, &class(AL2023, &before)), @"
          7 |   - {ebs: {volumeSize: 20Gi}}
            |      ^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].deviceName [all]
          this mapping has no `deviceName`; Karpenter panics when it lists instance types for the EC2NodeClass, and launches no nodes from it
          help: write `deviceName: /dev/xvda`, the volume of this AMI family that pods write to
        ");
        let after = format!("  - {{deviceName: /dev/xvda, {EBS}}}\n  - {{{EBS}}}\n");
        silent(&RULE, &class(AL2023, &after));
        assert!(findings(&RULE, &class(BOTTLEROCKET, &after)).contains("write `deviceName: /dev/xvdb`"));
    }

    #[test]
    fn accepts_sized_root_volume_without_device_name() {
        let root = format!("  - {{rootVolume: true, {EBS}}}\n");
        silent(&RULE, &class(AL2023, &root));
        let snapshot = "  - {rootVolume: true, ebs: {snapshotID: snap-1}}\n";
        assert!(findings(&RULE, &class(AL2023, snapshot)).contains("has no `deviceName`"));
        let without_ebs = "  - {rootVolume: true, deviceName: /dev/xvda}\n";
        assert!(findings(&RULE, &class(AL2023, without_ebs)).contains("lists instance types"));
    }

    #[test]
    fn uses_last_mapping_for_custom_family() {
        silent(&RULE, &class(CUSTOM, &format!("  - {{{EBS}}}\n")));
        let text = class(CUSTOM, &format!("  - {{{EBS}}}\n  - {{deviceName: /dev/sdb, ebs: null}}\n"));
        assert!(findings(&RULE, &text).contains("lists instance types"));
    }

    #[test]
    fn ignores_unresolved_family_and_mappings() {
        silent(&RULE, &class("amiFamily: '${FAMILY}'", &format!("  - {{{EBS}}}\n")));
        silent(&RULE, &class(AL2023, "  - '{{ mapping }}'\n"));
    }
}
