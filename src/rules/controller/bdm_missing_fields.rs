use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use crate::rules::ami_family;
use lint::rule::{Fixes, On};
use userdata::kind::Family as AmiFamily;

rule! {
    /// ## What it does
    ///
    /// Finds block device mappings of an EC2NodeClass without `ebs`, and those without `deviceName` where Karpenter needs
    /// one.
    ///
    /// ## Why it is bad
    ///
    /// Both fields are optional for the API server, and Karpenter reads them without looking whether they are there. A
    /// mapping without `ebs` makes it panic when it makes the launch template, so nothing is launched from the node class.
    /// Where the mapping decides how much storage pods have, it already panics when it lists the instance types: release 1.0
    /// crashes and starts again, over and over; later ones catch the panic, and whatever loop it ended, for this node class
    /// or for all, starts again and ends the same way.
    ///
    /// To find the storage, Karpenter takes the mapping with `rootVolume: true` if it has a size; else, for `Custom`, the
    /// last mapping, and for other families the first whose `deviceName` is the one that pods write to (`/dev/xvda`;
    /// `/dev/xvdb` on Bottlerocket, `/dev/sda1` on Windows). A mapping without a name is a panic if it comes before that one.
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
        name: "bdm-missing-fields",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a block device mapping lacks a field without which Karpenter panics",
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

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(list) = object.at(&["spec", "blockDeviceMappings"]) else { return };
    let mut mappings = Vec::new();
    for item in list.items() {
        if item.is_mapping() {
            mappings.push(item);
        }
    }
    let family = ami_family::of(object);
    let panic = family.and_then(|family| storage_panic(&mappings, family));
    for mapping in mappings {
        let panics_over = |field| panic == Some((mapping, field));
        if field(mapping, "ebs").is_none() {
            let message = if panics_over(Field::Ebs) {
                "without `ebs` Karpenter panics over this mapping as soon as it lists instance types for the node class, and \
                 launches nothing from it"
            } else {
                "without `ebs` Karpenter panics over this mapping when it makes the launch template, and launches nothing from \
                 the node class"
            };
            let help = "write `ebs` with a `volumeSize`; disks of the instance itself need no mapping";
            drafts.push(Draft::new(&RULE, Place::missing(mapping, "ebs"), message).help(help));
        }
        if panics_over(Field::DeviceName) {
            let message = "without `deviceName` Karpenter panics over this mapping as soon as it lists instance types for the \
                           node class, and launches nothing from it";
            let device = family.and_then(ephemeral_device).unwrap_or("/dev/xvda");
            let help = format!("write the device, such as `{device}`, which pods write to on this AMI family");
            drafts.push(Draft::new(&RULE, Place::missing(mapping, "deviceName"), message).help(help));
        }
    }
}

/// The device that pods write to, where Karpenter knows it (aws/karpenter-provider-aws pkg/providers/amifamily,
/// `EphemeralBlockDevice`, 1.0-1.14).
const fn ephemeral_device(family: AmiFamily) -> Option<&'static str> {
    match family {
        AmiFamily::Al2 | AmiFamily::Al2023 => Some("/dev/xvda"),
        AmiFamily::Bottlerocket => Some("/dev/xvdb"),
        AmiFamily::Windows => Some("/dev/sda1"),
        AmiFamily::Custom => None,
    }
}

/// A field that is there and not null.
fn field<'d>(mapping: Node<'d>, name: &str) -> Option<Node<'d>> {
    mapping.get(name).filter(|value| !value.is_null())
}

/// The mapping and the field over which `ephemeralStorage` panics, if it does.
fn storage_panic<'d>(mappings: &[Node<'d>], family: AmiFamily) -> Option<(Node<'d>, Field)> {
    let without_ebs = |mapping: Node<'d>| field(mapping, "ebs").is_none().then_some((mapping, Field::Ebs));
    let root = mappings.iter().find(|mapping| mapping.get("rootVolume").and_then(Node::as_bool) == Some(true));
    if let Some(root) = root {
        match field(*root, "ebs") {
            None => return Some((*root, Field::Ebs)),
            Some(ebs) if field(ebs, "volumeSize").is_some() => return None,
            Some(_) => {}
        }
    }
    let Some(device) = ephemeral_device(family) else {
        return mappings.last().and_then(|last| without_ebs(*last));
    };
    for mapping in mappings {
        match field(*mapping, "deviceName") {
            None => return Some((*mapping, Field::DeviceName)),
            Some(name) if name.as_str() == Some(device) => return without_ebs(*mapping),
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
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  {family}\n  blockDeviceMappings:\n{mappings}"
        )
    }

    const AL2023: &str = "amiSelectorTerms: [{alias: al2023@latest}]";
    const BOTTLEROCKET: &str = "amiFamily: Bottlerocket";
    const CUSTOM: &str = "amiFamily: Custom";
    const EBS: &str = "ebs: {volumeSize: 20Gi}";

    #[test]
    fn the_mapping_that_pods_write_to_panics_early_and_any_other_late() {
        let text = class(AL2023, &format!("  - {{deviceName: /dev/xvdb}}\n  - {{deviceName: /dev/xvda}}\n  - {{deviceName: /dev/xvdc, {EBS}}}\n"));
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |   - {deviceName: /dev/xvdb}
            |      ^^^^^^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs [1.0-1.14]
          without `ebs` Karpenter panics over this mapping when it makes the launch template, and launches nothing from the node class
          help: write `ebs` with a `volumeSize`; disks of the instance itself need no mapping
          8 |   - {deviceName: /dev/xvda}
            |      ^^^^^^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[1].ebs [1.0-1.14]
          without `ebs` Karpenter panics over this mapping as soon as it lists instance types for the node class, and launches nothing from it
          help: write `ebs` with a `volumeSize`; disks of the instance itself need no mapping
        ");
    }

    #[test]
    fn a_name_is_needed_up_to_the_mapping_that_pods_write_to() {
        let before = format!("  - {{{EBS}}}\n  - {{deviceName: /dev/xvda, {EBS}}}\n");
        insta::assert_snapshot!(findings(&RULE, &class(AL2023, &before)), @"
          7 |   - {ebs: {volumeSize: 20Gi}}
            |      ^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].deviceName [1.0-1.14]
          without `deviceName` Karpenter panics over this mapping as soon as it lists instance types for the node class, and launches nothing from it
          help: write the device, such as `/dev/xvda`, which pods write to on this AMI family
        ");
        let behind = format!("  - {{deviceName: /dev/xvda, {EBS}}}\n  - {{{EBS}}}\n");
        silent(&RULE, &class(AL2023, &behind));
        assert!(findings(&RULE, &class(BOTTLEROCKET, &behind)).contains("such as `/dev/xvdb`"));
    }

    #[test]
    fn a_root_volume_with_a_size_needs_no_name() {
        let root = format!("  - {{rootVolume: true, {EBS}}}\n");
        silent(&RULE, &class(AL2023, &root));
        let snapshot = "  - {rootVolume: true, ebs: {snapshotID: snap-1}}\n";
        assert!(findings(&RULE, &class(AL2023, snapshot)).contains("without `deviceName`"));
        let none = "  - {rootVolume: true, deviceName: /dev/xvda}\n";
        assert!(findings(&RULE, &class(AL2023, none)).contains("lists instance types"));
    }

    #[test]
    fn a_custom_image_needs_no_name_and_its_last_mapping_counts() {
        silent(&RULE, &class(CUSTOM, &format!("  - {{{EBS}}}\n")));
        let text = class(CUSTOM, &format!("  - {{{EBS}}}\n  - {{deviceName: /dev/sdb, ebs: null}}\n"));
        assert!(findings(&RULE, &text).contains("lists instance types"));
    }

    #[test]
    fn a_family_that_cannot_be_read_is_not_guessed() {
        silent(&RULE, &class("amiFamily: '${FAMILY}'", &format!("  - {{{EBS}}}\n")));
        silent(&RULE, &class(AL2023, "  - '{{ mapping }}'\n"));
    }
}
