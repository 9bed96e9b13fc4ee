//! AMI family of an EC2NodeClass.

use objects::node_class::{Ec2NodeClass, SelectorField};
use userdata::image_family::ImageFamily;

/// Returns the AMI family that Karpenter derives from an EC2NodeClass: `amiFamily`, else the family of an alias, else
/// `Custom` (aws/karpenter-provider-aws `pkg/apis/v1/ec2nodeclass.go` `AMIFamily`). `None` for an unknown value.
pub(super) fn family_of(class: Ec2NodeClass<'_>) -> Option<ImageFamily> {
    if let Some(family) = class.ami_family().filter(|family| !family.is_null()) {
        return named(family.as_str()?);
    }
    class.terms(SelectorField::Amis).node()?;
    let Some(alias) = class.ami_aliases().next() else { return Some(ImageFamily::Custom) };
    of_alias(alias.as_str()?)
}

/// Parses a value of `amiFamily`.
fn named(name: &str) -> Option<ImageFamily> {
    Some(match name {
        "AL2" => ImageFamily::Al2,
        "AL2023" => ImageFamily::Al2023,
        "Bottlerocket" => ImageFamily::Bottlerocket,
        "Windows2019" | "Windows2022" | "Windows2025" => ImageFamily::Windows,
        "Custom" => ImageFamily::Custom,
        _ => return None,
    })
}

/// Parses the family from an alias such as `al2023@latest`.
fn of_alias(alias: &str) -> Option<ImageFamily> {
    Some(match alias.split('@').next()? {
        "al2" => ImageFamily::Al2,
        "al2023" => ImageFamily::Al2023,
        "bottlerocket" => ImageFamily::Bottlerocket,
        "windows2019" | "windows2022" | "windows2025" => ImageFamily::Windows,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_every_family_and_its_alias() {
        for (name, alias, family) in [
            ("AL2", "al2@latest", ImageFamily::Al2),
            ("AL2023", "al2023@v20240807", ImageFamily::Al2023),
            ("Bottlerocket", "bottlerocket@latest", ImageFamily::Bottlerocket),
            ("Windows2019", "windows2019@latest", ImageFamily::Windows),
            ("Windows2022", "windows2022@latest", ImageFamily::Windows),
            ("Windows2025", "windows2025@latest", ImageFamily::Windows),
        ] {
            assert_eq!(named(name), Some(family), "{name}");
            assert_eq!(of_alias(alias), Some(family), "{alias}");
        }
        assert_eq!(named("Custom"), Some(ImageFamily::Custom));
        assert!(named("Ubuntu").is_none() && of_alias("custom@latest").is_none());
    }
}
