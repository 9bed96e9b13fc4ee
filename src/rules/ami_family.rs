//! AMI family of an EC2NodeClass.

use objects::node_class::{Ec2NodeClass, SelectorField};
use userdata::kind::Family;

/// Returns the AMI family that Karpenter derives from an EC2NodeClass: `amiFamily`, else the family of an alias, else
/// `Custom` (aws/karpenter-provider-aws `pkg/apis/v1/ec2nodeclass.go` `AMIFamily`). `None` for an unknown value.
pub(super) fn of(class: Ec2NodeClass<'_>) -> Option<Family> {
    if let Some(family) = class.ami_family().filter(|family| !family.is_null()) {
        return named(family.as_str()?);
    }
    class.terms(SelectorField::Amis).node()?;
    let Some(alias) = class.ami_aliases().next() else { return Some(Family::Custom) };
    of_alias(alias.as_str()?)
}

/// Parses a value of `amiFamily`.
fn named(name: &str) -> Option<Family> {
    Some(match name {
        "AL2" => Family::Al2,
        "AL2023" => Family::Al2023,
        "Bottlerocket" => Family::Bottlerocket,
        "Windows2019" | "Windows2022" | "Windows2025" => Family::Windows,
        "Custom" => Family::Custom,
        _ => return None,
    })
}

/// Parses the family from an alias such as `al2023@latest`.
fn of_alias(alias: &str) -> Option<Family> {
    Some(match alias.split('@').next()? {
        "al2" => Family::Al2,
        "al2023" => Family::Al2023,
        "bottlerocket" => Family::Bottlerocket,
        "windows2019" | "windows2022" | "windows2025" => Family::Windows,
        _ => return None,
    })
}
