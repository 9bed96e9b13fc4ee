//! EC2NodeClasses of v1beta1.

use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::Conversion;
use super::value::{filled, get, known, member, text};
use crate::object::Object;

/// The AMI families of v1beta1 that v1 has as aliases.
const WITH_ALIAS: [&str; 5] = ["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022"];

const UBUNTU: &str = "Ubuntu";

pub(super) fn convert<'d>(object: Object<'d>, conversion: &mut Conversion<'d>) {
    let Some(spec) = object.spec() else { return conversion.undecided("`spec` is missing") };
    let Some(family) = get(spec, "amiFamily") else {
        return conversion.undecided("`spec.amiFamily` is missing, so the AMI alias is not known");
    };
    convert_family(spec, family, conversion);
    match get(spec, "metadataOptions") {
        // The default of the whole field is 1 in both versions, as Karpenter 1.0 serves them.
        None => conversion.notes.push(
            "up to Karpenter 0.37 the default of `metadataOptions.httpPutResponseHopLimit` was 2, since 1.0 it is 1; write 2 if pods need the instance metadata".to_owned(),
        ),
        Some(options) => hop_limit(options, 2, conversion),
    }
}

/// Converts the AMI family. Without `amiSelectorTerms`, v1beta1 takes the newest AMI of the family, as the alias `latest` does.
pub(super) fn convert_family<'d>(spec: Node<'d>, family: Node<'d>, conversion: &mut Conversion<'d>) {
    let terms = filled(spec, "amiSelectorTerms");
    let Some(name) = known(family) else {
        return conversion.undecided("`spec.amiFamily` is not known, so the AMI alias is not known");
    };
    match (name, terms) {
        (UBUNTU, _) => convert_ubuntu(spec, family, terms, conversion),
        ("Custom", None) => conversion.undecided("`Custom` requires `spec.amiSelectorTerms`"),
        (name, None) if WITH_ALIAS.contains(&name) => {
            review_alias(name, conversion);
            let terms = alias(name);
            if let Some(empty) = spec.get("amiSelectorTerms") {
                // v1 accepts an AMI family that matches the alias.
                conversion.changes.push(Change::Write(empty, terms));
            } else {
                conversion.changes.push(Change::Rename(family, "amiSelectorTerms".to_owned()));
                conversion.changes.push(Change::Write(family, terms));
            }
        }
        (name, Some(_)) if name == "Custom" || WITH_ALIAS.contains(&name) => review_family(name, conversion),
        _ => conversion.undecided(format!("v1 has no AMI family `{name}`")),
    }
}

/// Lets the author review the alias of Amazon Linux 2, which selects no image on newer versions of Kubernetes.
///
/// Source: "Amazon EKS AL2 end of support" in docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html.
pub(super) fn review_alias(family: &str, conversion: &mut Conversion<'_>) {
    if family == "AL2" {
        conversion.selects_old_images = true;
        conversion.review("the alias `al2@latest`: on Kubernetes 1.33 and later it selects no image and no node starts; `al2023@latest` does, and needs `userData` in another format");
    }
}

/// Lets the author review the family of images of Amazon Linux 2.
pub(super) fn review_family(family: &str, conversion: &mut Conversion<'_>) {
    if family == "AL2" {
        conversion.selects_old_images = true;
        conversion.review("the AMI family `AL2`, of which EKS publishes no more images");
    }
}

/// The terms that select the newest AMI of a family.
pub(super) fn alias<'d>(family: &str) -> Composed<'d> {
    let alias = text("alias", format!("{}@latest", family.to_ascii_lowercase()));
    Composed::List(vec![Composed::Object(vec![alias])])
}

/// Converts the AMI family Ubuntu, which v1 does not have: AL2 boots Ubuntu's AMIs in the same way, but has another root
/// device. Source: the case `AMIFamilyUbuntu` of `ConvertFrom` in `pkg/apis/v1/ec2nodeclass_conversion.go` at v1.0.8.
fn convert_ubuntu<'d>(
    spec: Node<'d>,
    family: Node<'d>,
    terms: Option<Node<'d>>,
    conversion: &mut Conversion<'d>,
) {
    if terms.is_none() {
        return conversion.undecided("v1 does not find Ubuntu's AMIs; name them in `spec.amiSelectorTerms`");
    }
    conversion.changes.push(Change::Set(family, "AL2".to_owned()));
    if get(spec, "blockDeviceMappings").is_none() {
        let volume = vec![
            text("volumeSize", "20Gi"),
            text("volumeType", "gp3"),
            member("encrypted", Composed::Bool(true)),
        ];
        let mapping = vec![
            text("deviceName", "/dev/sda1"),
            member("rootVolume", Composed::Bool(true)),
            member("ebs", Composed::Object(volume)),
        ];
        let mappings = Composed::List(vec![Composed::Object(mapping)]);
        let key = "blockDeviceMappings".to_owned();
        conversion.changes.push(Change::AddAfter(family, key, mappings));
    }
    conversion
        .review("v1 has no family `Ubuntu`: `AL2` boots Ubuntu's AMIs in the same way; check `userData`");
}

/// Writes the hop limit, which v1 has another default for if the other options are there.
pub(super) fn hop_limit<'d>(options: Node<'d>, hops: i64, conversion: &mut Conversion<'d>) {
    const KEY: &str = "httpPutResponseHopLimit";
    if get(options, KEY).is_some() {
        return;
    }
    let limit = Composed::Number(hops);
    conversion.changes.push(match (options.get(KEY), options.children().last()) {
        (Some(null), _) => Change::Write(null, limit),
        (None, Some(last)) => Change::AddAfter(last, KEY.to_owned(), limit),
        (None, None) => Change::Write(options, Composed::Object(vec![member(KEY, limit)])),
    });
}
