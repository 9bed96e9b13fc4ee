use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField, TermField};
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
    /// Compares `spec.amiFamily` of an EC2NodeClass with the names and SSM parameters in `amiSelectorTerms`, as far as they show the
    /// operating system of the image: Amazon Linux 2, Amazon Linux 2023, Bottlerocket or Windows.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter writes the user data for the AMI family. An image of another operating system does not understand it: Amazon
    /// Linux 2023 has no `/etc/eks/bootstrap.sh`, which the user data for `AL2` runs, and Bottlerocket reads only TOML. The
    /// instances start and never join the cluster, and Karpenter replaces them again and again.
    ///
    /// ## What is not reported
    ///
    /// `amiFamily: Custom`, for which Karpenter adds nothing to the user data, and images whose name does not show the operating
    /// system. An alias of another family is refused by the API server.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2
    ///   amiSelectorTerms:
    ///   - ssmParameter: /aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id
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
    ///   amiFamily: AL2023
    ///   amiSelectorTerms:
    ///   - ssmParameter: /aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id
    /// ```
    ///
    /// ## References
    ///
    /// - `DescribeImageQuery` in pkg/providers/amifamily/al2.go, al2023.go, bottlerocket.go and windows.go of
    ///   aws/karpenter-provider-aws at v1.14.1: the SSM parameters
    /// - website/content/en/docs/concepts/nodeclasses.md of aws/karpenter-provider-aws at v1.14.1, `spec.amiFamily`
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the AMI family does not fit the operating system of the image",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some((written, family)) = written_family(class) else { return };
    for term in class.terms(SelectorField::Amis).items() {
        let nodes = [TermField::SsmParameter, TermField::Name].map(|field| term.field(field));
        for node in nodes.into_iter().flatten() {
            let Some(image) = other_image(node, family) else { continue };
            let severity = if image.is_of_amazon { Severity::Error } else { Severity::Warning };
            let message = format!(
                "`amiFamily` is `{}`, but this is an image of {}: it does not understand the user data, and the nodes never join the cluster",
                written.as_str().unwrap_or_default(),
                image.system
            );
            findings.push(
                Finding::at(&RULE, node, message)
                    .severity(severity)
                    .help(format!("write `amiFamily: {}`, or select another image", image.name))
                    .related(Place::value(written), "the AMI family"),
            );
        }
    }
}

/// `amiFamily` with its meaning; `None` for the family of custom images.
fn written_family(class: Ec2NodeClass<'_>) -> Option<(Node<'_>, ImageFamily)> {
    let written = class.ami_family().filter(|node| node.as_str().is_some())?;
    let family = ami_family::family_of(class).filter(|family| *family != ImageFamily::Custom)?;
    Some((written, family))
}

/// The image of another family that a name or a parameter selects.
fn other_image(node: Node<'_>, family: ImageFamily) -> Option<Image> {
    let text = node.as_str().filter(|text| !has_placeholder(text))?;
    Image::of(text).filter(|image| image.family != family)
}

/// Whether this rule reports the name or the parameter of an image.
pub(super) fn reports(class: Ec2NodeClass<'_>, node: Node<'_>) -> bool {
    written_family(class).is_some_and(|(_, family)| other_image(node, family).is_some())
}

/// The operating system that the name of an image shows.
struct Image {
    family: ImageFamily,
    /// The name in a sentence.
    system: &'static str,
    /// The value of `amiFamily`.
    name: &'static str,
    /// Whether the name has the form of Amazon's names, and not only a part of it.
    is_of_amazon: bool,
}

impl Image {
    /// Reads the name of an image or an SSM parameter.
    fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('*').to_ascii_lowercase();
        let image = |family, system, name, is_of_amazon| Some(Self { family, system, name, is_of_amazon });
        if text.starts_with("/aws/service/bottlerocket/") || text.starts_with("bottlerocket-aws-") {
            return image(ImageFamily::Bottlerocket, "Bottlerocket", "Bottlerocket", true);
        }
        if text.contains("windows_server-") && text.contains("eks_optimized") {
            let name =
                ["2019", "2022", "2025"].into_iter().zip(["Windows2019", "Windows2022", "Windows2025"]);
            let name = name
                .into_iter()
                .find(|(year, _)| text.contains(year))
                .map_or("Windows2022", |(_, name)| name);
            return image(ImageFamily::Windows, "Windows", name, true);
        }
        let is_eks = text.starts_with("/aws/service/eks/optimized-ami/") || text.starts_with("amazon-eks-");
        if text.contains("amazon-linux-2023") || text.contains("al2023") {
            return image(ImageFamily::Al2023, "Amazon Linux 2023", "AL2023", is_eks);
        }
        // Names of images of Amazon Linux 2 have the version of Kubernetes where images of 2023 have `al2023`.
        let of_al2 = ["amazon-eks-node-1.", "amazon-eks-gpu-node-", "amazon-eks-arm64-node-"];
        let is_al2 = of_al2.iter().any(|start| text.starts_with(start))
            || (is_eks && (text.contains("/amazon-linux-2/") || text.contains("/amazon-linux-2-")));
        if is_al2 { image(ImageFamily::Al2, "Amazon Linux 2", "AL2", true) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(family: &str, term: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiFamily: {family}
  amiSelectorTerms: [{{{term}}}]
"
        )
    }

    const AL2023: &str = "ssmParameter: /aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id";

    #[test]
    fn reports_images_of_another_operating_system() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2", AL2023)), @"
          6 |   amiSelectorTerms: [{ssmParameter: /aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id}]
            |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].ssmParameter [all]
          `amiFamily` is `AL2`, but this is an image of Amazon Linux 2023: it does not understand the user data, and the nodes never join the cluster
          help: write `amiFamily: AL2023`, or select another image
          see line 5 spec.amiFamily: the AMI family
        ");
        for (family, term, name) in [
            ("AL2", "name: amazon-eks-node-al2023-x86_64-standard-1.33-v20250807", "AL2023"),
            ("AL2023", "name: amazon-eks-node-1.32-v20250807", "AL2"),
            (
                "AL2023",
                "ssmParameter: /aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id",
                "AL2",
            ),
            ("Bottlerocket", AL2023, "AL2023"),
            ("AL2023", "name: bottlerocket-aws-k8s-1.33-x86_64-v1.40.0-*", "Bottlerocket"),
            ("AL2023", "name: Windows_Server-2022-English-Core-EKS_Optimized-1.33-*", "Windows2022"),
        ] {
            let found = findings(&RULE, &class(family, term));
            assert!(
                found.contains("error EC2NodeClass/a")
                    && found.contains(&format!("write `amiFamily: {name}`")),
                "{term}: {found}"
            );
        }
        assert!(findings(&RULE, &class("AL2", "name: acme-al2023-*")).contains("warning EC2NodeClass/a"));
    }

    #[test]
    fn accepts_fitting_and_unknown_images() {
        for (family, term) in [
            ("AL2023", AL2023),
            ("AL2", "name: amazon-eks-node-1.32-*"),
            ("AL2", "name: amazon-eks-node-*"),
            ("AL2023", "name: amazon-eks-node-*"),
            ("AL2", "name: ubuntu-eks/k8s_1.30/images/*"),
            ("Custom", "name: amazon-eks-node-al2023-*"),
            ("AL2", "name: acme-golden-*"),
            ("AL2", "id: ami-0123456789abcdef0"),
            ("AL2", "name: '${AMI_NAME}-al2023'"),
            ("Windows2022", "name: Windows_Server-2022-English-Core-EKS_Optimized-1.33-*"),
        ] {
            silent(&RULE, &class(family, term));
        }
    }
}
