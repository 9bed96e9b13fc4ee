//! Add-ons of EKS, as resources of a CloudFormation template, which `objects` reads.
//!
//! Sources: `eks_addon.html.markdown` in website/docs/r of hashicorp/terraform-provider-aws at v6.0.0; `AWS::EKS::Addon` in the
//! CloudFormation Template Reference; the arguments `cluster_addons` and `addons` in main.tf of terraform-aws-modules/terraform-aws-eks at
//! v20.37.2 and v21.9.0.

use terraform::{EvaluatedMember, EvaluatedValue, TextPlace};

use super::{ResourceInstance, read_object, stack, used_text};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// The add-on whose settings rules read.
const VPC_CNI: &str = "vpc-cni";

/// `aws_eks_addon` with settings of the VPC CNI plugin.
pub(super) fn aws_eks_addon(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let name = resource.named("addon_name").filter(|name| name.value.as_str() == Some(VPC_CNI));
    let settings = resource.named("configuration_values");
    let Some((name, settings)) = name.zip(settings) else { return Vec::new() };
    addon(resource, name.value.place, (settings.key, &settings.value))
}

/// The VPC CNI plugin that the module `eks` installs with settings.
pub(super) fn of_module(module: &ResourceInstance<'_>, source: &str) -> Vec<DocumentDraft> {
    if !is_eks_module(source) {
        return Vec::new();
    }
    let lists = ["cluster_addons", "addons"].into_iter().filter_map(|name| module.attribute(name)?.members());
    let plugin = lists.filter_map(|addons| addons.as_map().get(VPC_CNI));
    let with_settings = plugin.filter_map(|plugin: &EvaluatedMember| {
        let settings = plugin.value.members()?.as_map().get("configuration_values")?;
        (!settings.value.is_null()).then_some((plugin.key, settings))
    });
    with_settings.flat_map(|(key, settings)| addon(module, key, (settings.key, &settings.value))).collect()
}

/// Whether the source of a call is the module `eks`, and none of its submodules.
pub(super) fn is_eks_module(source: &str) -> bool {
    source.contains("terraform-aws-modules/eks/aws") && !source.contains("aws//")
}

fn addon(
    resource: &ResourceInstance<'_>,
    name: TextPlace,
    (key, settings): (TextPlace, &EvaluatedValue),
) -> Vec<DocumentDraft> {
    let read = read_object(settings);
    let used = used_text(settings).filter(|_| read.is_some());
    let settings = read.unwrap_or_else(|| settings.clone());
    let properties = vec![
        DraftMember::new("AddonName", name, DraftPart::word(VPC_CNI, name)),
        DraftMember::new("ConfigurationValues", key, DraftPart::Value(settings)),
    ];
    [stack::template(resource, "AWS::EKS::Addon", properties)].into_iter().chain(used).collect()
}
