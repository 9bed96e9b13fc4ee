use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::items_of;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily;
use values::placeholder::has_placeholder;

use crate::rules::ami_family;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses with an alias for Amazon Linux or Windows whose block device mappings do not name the root
    /// device of the image: `/dev/xvda` for Amazon Linux, `/dev/sda1` for Windows.
    ///
    /// ## Why it is bad
    ///
    /// The mapping adds a second volume that nothing formats or mounts. The root volume keeps the size in the image, and
    /// Karpenter assumes its default of 20 GiB (50 GiB for Windows) when it schedules pods that request ephemeral
    /// storage.
    ///
    /// A class with `userData` is not reported, because a script can mount the volume. Nor is a class with
    /// `rootVolume: true`.
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
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   blockDeviceMappings:
    ///   - deviceName: /dev/sda1
    ///     ebs: {volumeSize: 100Gi, volumeType: gp3}
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
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   blockDeviceMappings:
    ///   - deviceName: /dev/xvda
    ///     ebs: {volumeSize: 100Gi, volumeType: gp3}
    /// ```
    ///
    /// ## References
    ///
    /// - `ephemeralStorage` in pkg/providers/instancetype/types.go, and `EphemeralBlockDevice` in al2.go, al2023.go and
    ///   windows.go of pkg/providers/amifamily, of aws/karpenter-provider-aws at v1.14.1
    /// - aws/karpenter-provider-aws#5588
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no block device mapping names the root device of the image",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let has_user_data = class.user_data().is_some_and(|data| !data.is_null());
    // An image that no alias names can have another root device.
    if class.ami_aliases().next().is_none() || has_user_data {
        return;
    }
    let mut mappings = items_of(object.at(&["spec", "blockDeviceMappings"]));
    if mappings.any(|mapping| mapping.as_str().is_some_and(has_placeholder)) {
        return;
    }
    let Some(root) = ami_family::family_of(class).and_then(root_device) else { return };
    let mut first = None;
    for mapping in class.block_device_mappings() {
        let Some(name) = mapping.device_name() else { return };
        let is_root = name.as_str().is_none_or(|text| text == root || has_placeholder(text));
        if is_root || mapping.is_root_volume() {
            return;
        }
        first = first.or(Some(name));
    }
    let Some(name) = first else { return };
    let message = format!(
        "this volume is not the root volume: the root device of the image is `{root}`, and nothing mounts `{}`",
        name.as_str().unwrap_or_default()
    );
    findings.push(
        Finding::new(&RULE, Place::value(name), message)
            .help(format!("write `{root}` to change the root volume, or mount this volume in `userData`")),
    );
}

/// Root device of the images of a family whose pods use the root volume.
fn root_device(family: ImageFamily) -> Option<&'static str> {
    match family {
        ImageFamily::Al2 | ImageFamily::Al2023 => Some("/dev/xvda"),
        ImageFamily::Windows => Some("/dev/sda1"),
        ImageFamily::Bottlerocket | ImageFamily::Custom => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(alias: &str, mapping: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiSelectorTerms: [{{alias: {alias}}}]
  blockDeviceMappings: [{{{mapping}, ebs: {{volumeSize: 50Gi}}}}]
"
        )
    }

    #[test]
    fn reports_a_volume_that_is_not_the_root_volume() {
        insta::assert_snapshot!(findings(&RULE, &class("al2023@v20250807", "deviceName: /dev/xvdb")), @"
          6 |   blockDeviceMappings: [{deviceName: /dev/xvdb, ebs: {volumeSize: 50Gi}}]
            |                                      ^^^^^^^^^
        warning EC2NodeClass/a spec.blockDeviceMappings[0].deviceName [all]
          this volume is not the root volume: the root device of the image is `/dev/xvda`, and nothing mounts `/dev/xvdb`
          help: write `/dev/xvda` to change the root volume, or mount this volume in `userData`
        ");
        assert!(
            findings(&RULE, &class("windows2022@latest", "deviceName: /dev/xvda")).contains("`/dev/sda1`")
        );
    }

    #[test]
    fn accepts_the_root_device_and_volumes_that_a_script_can_mount() {
        silent(&RULE, &class("al2@latest", "deviceName: /dev/xvda"));
        silent(&RULE, &class("windows2022@latest", "deviceName: /dev/sda1"));
        silent(&RULE, &class("bottlerocket@latest", "deviceName: /dev/xvdb"));
        silent(&RULE, &class("al2023@latest", "deviceName: '${ROOT_DEVICE}'"));
        silent(&RULE, &class("al2023@latest", "rootVolume: true, deviceName: /dev/xvdb"));
        silent(
            &RULE,
            &(class("al2023@latest", "deviceName: /dev/xvdb") + "  userData: mount /dev/xvdb /data\n"),
        );
        let custom = class("al2023@latest", "deviceName: /dev/sda1");
        silent(
            &RULE,
            &custom
                .replace("alias: al2023@latest", "name: ubuntu")
                .replace("spec:", "spec:\n  amiFamily: AL2"),
        );
    }
}
