use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::{Ec2NodeClass, SelectorField, SelectorTerm, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily;
use values::placeholder::has_placeholder;

use super::ami_family_image_mismatch;
use crate::rules::ami_family;

rule! {
    /// ## What it does
    ///
    /// Compares the name patterns in `amiSelectorTerms` with the names of the images that EKS publishes. A pattern is too
    /// broad if it matches images of several families, or both standard images and images for accelerators. It is wrong if it
    /// matches only images of another family than `amiFamily`.
    ///
    /// A term with `tags`, or with the account of somebody else under `owner`, selects own images, which the rule does not
    /// know.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter takes the newest image that matches, whatever it is for. Without `owner` it searches the images of Amazon,
    /// too. Nodes then boot an image that does not understand their user data and never join the cluster, or ordinary nodes
    /// get the image with drivers for GPUs. That happens on the day on which EKS publishes the other image.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   amiSelectorTerms:
    ///     - name: "amazon-eks-node-al2023-x86_64-*"
    /// ```
    ///
    /// ## Use instead
    ///
    /// An alias, which knows the image for each kind of instance type, or a name with the kind of the image:
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   amiSelectorTerms:
    ///     - name: "amazon-eks-node-al2023-x86_64-standard-1.33-*"
    /// ```
    ///
    /// ## References
    ///
    /// - `DescribeImageQueries` and `amis` in pkg/providers/amifamily/ami.go of aws/karpenter-provider-aws at v1.14.1: the
    ///   newest image of an architecture wins, and the owners are `self` and `amazon` by default
    /// - aws/karpenter-provider-aws#5091, #8291, #5904, #7211
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the name pattern for images matches images of another kind, and the newest one wins",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// A kind of image that EKS publishes. `{k}` in the name is the version of Kubernetes, and `{v}` the version of the image.
struct Published {
    name: &'static str,
    family: ImageFamily,
    /// Whether the image has the drivers of an accelerator.
    accelerated: bool,
}

const fn image(name: &'static str, family: ImageFamily, accelerated: bool) -> Published {
    Published { name, family, accelerated }
}

/// Sources: the release notes of awslabs/amazon-eks-ami; pkg/providers/amifamily of aws/karpenter-provider-aws at v1.14.1;
/// Amazon EKS User Guide on the images of Bottlerocket and Windows.
const PUBLISHED: [Published; 14] = [
    image("amazon-eks-node-{k}-v{v}", ImageFamily::Al2, false),
    image("amazon-eks-arm64-node-{k}-v{v}", ImageFamily::Al2, false),
    image("amazon-eks-gpu-node-{k}-v{v}", ImageFamily::Al2, true),
    image("amazon-eks-node-al2023-x86_64-standard-{k}-v{v}", ImageFamily::Al2023, false),
    image("amazon-eks-node-al2023-arm64-standard-{k}-v{v}", ImageFamily::Al2023, false),
    image("amazon-eks-node-al2023-x86_64-nvidia-{k}-v{v}", ImageFamily::Al2023, true),
    image("amazon-eks-node-al2023-arm64-nvidia-{k}-v{v}", ImageFamily::Al2023, true),
    image("amazon-eks-node-al2023-x86_64-neuron-{k}-v{v}", ImageFamily::Al2023, true),
    image("bottlerocket-aws-k8s-{k}-x86_64-v1.47.0-0b1d5a2c", ImageFamily::Bottlerocket, false),
    image("bottlerocket-aws-k8s-{k}-aarch64-v1.47.0-0b1d5a2c", ImageFamily::Bottlerocket, false),
    image("bottlerocket-aws-k8s-{k}-nvidia-x86_64-v1.47.0-0b1d5a2c", ImageFamily::Bottlerocket, true),
    image("bottlerocket-aws-k8s-{k}-nvidia-aarch64-v1.47.0-0b1d5a2c", ImageFamily::Bottlerocket, true),
    image("Windows_Server-2022-English-Core-EKS_Optimized-{k}-2025.10.18", ImageFamily::Windows, false),
    image("Windows_Server-2022-English-Full-EKS_Optimized-{k}-2025.10.18", ImageFamily::Windows, false),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let family = ami_family::family_of(class).filter(|family| *family != ImageFamily::Custom);
    let is_alone = class.terms(SelectorField::Amis).items().count() == 1;
    for term in class.terms(SelectorField::Amis).items().filter(|term| is_public(*term)) {
        let Some((node, pattern)) = term.field(TermField::Name).and_then(|node| Some((node, node.as_str()?)))
        else {
            continue;
        };
        // Without a wildcard the name is the one of a single image.
        if has_placeholder(pattern) || !pattern.contains(['*', '?']) {
            continue;
        }
        let matched: Vec<_> =
            PUBLISHED.iter().filter(|image| matches(pattern, &sample(image.name, pattern))).collect();
        let Some(first) = matched.first() else { continue };
        let other_family = matched.iter().find(|image| image.family != first.family);
        let mixed = matched.iter().find(|image| image.accelerated != first.accelerated);
        let newest = "Karpenter takes the newest image that matches";
        let (message, severity, help) = if let Some(other) = other_family {
            let message = format!(
                "`{pattern}` matches images of {} and of {}: {newest}, and its nodes may never join the cluster",
                name_of(first.family),
                name_of(other.family)
            );
            (
                message,
                Severity::Warning,
                "use an alias such as `al2023@v20250807`, or write the whole name with the version in place of the wildcard",
            )
        } else if ami_family_image_mismatch::reports(class, node) {
            continue;
        } else if family.is_some_and(|family| family != first.family) {
            let message = format!(
                "`{pattern}` matches images of {}, but `amiFamily` is for {}: the image does not understand the user data, and its nodes never join the cluster",
                name_of(first.family),
                family.map_or("", name_of)
            );
            let severity = if is_alone { Severity::Error } else { Severity::Warning };
            (message, severity, "write the `amiFamily` of the image")
        } else if mixed.is_some() {
            let message = format!(
                "`{pattern}` matches standard images and images with the drivers of accelerators: {newest}, also for other instance types"
            );
            (
                message,
                Severity::Warning,
                match first.family {
                    ImageFamily::Al2023 => {
                        "use an alias, or write the kind of the image into the name, such as `-standard-`"
                    }
                    _ => "use an alias, or write more of the name, so that it matches one kind of image",
                },
            )
        } else {
            continue;
        };
        findings.push(Finding::at(&RULE, node, message).severity(severity).help(help));
    }
}

/// Whether a term selects images of Amazon: Karpenter searches `self` and `amazon` by default. Tags are visible only to the
/// owner of an image.
fn is_public(term: SelectorTerm<'_>) -> bool {
    const AMAZON: [&str; 2] = ["amazon", "602401143452"];
    let owner = term.field(TermField::Owner).filter(|node| !node.is_null());
    term.tags().next().is_none()
        && owner.is_none_or(|node| node.as_str().is_some_and(|owner| AMAZON.contains(&owner)))
}

fn name_of(family: ImageFamily) -> &'static str {
    match family {
        ImageFamily::Al2 => "Amazon Linux 2",
        ImageFamily::Al2023 => "Amazon Linux 2023",
        ImageFamily::Bottlerocket => "Bottlerocket",
        ImageFamily::Windows => "Windows",
        ImageFamily::Custom => "a custom image",
    }
}

/// A name of the image with the version of Kubernetes that the pattern has.
fn sample(name: &str, pattern: &str) -> String {
    let version = pattern.match_indices("1.").find_map(|(start, _)| {
        let digits = pattern.get(start + 2..start + 4)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("1.{digits}"))
    });
    name.replace("{k}", version.as_deref().unwrap_or("1.33")).replace("{v}", "20251016")
}

/// Compares a name with a pattern of EC2, in which `*` is any text and `?` one character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut read, mut star) = (0, 0, None);
    while let Some(byte) = name.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || wanted == byte => {
                at += 1;
                read += 1;
            }
            _ => {
                // The last star takes one more byte.
                let Some((start, end)) = star else { return false };
                at = start;
                read = end + 1;
            }
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{RULE, matches};
    use crate::rules::testing::{findings, silent};

    fn class(family: &str, terms: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiFamily: {family}
  amiSelectorTerms: [{terms}]
"
        )
    }

    #[test]
    fn reports_patterns_that_match_several_families() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2", "{name: '*1.29*'}")), @"
          6 |   amiSelectorTerms: [{name: '*1.29*'}]
            |                             ^^^^^^^^
        warning EC2NodeClass/a spec.amiSelectorTerms[0].name [all]
          `*1.29*` matches images of Amazon Linux 2 and of Amazon Linux 2023: Karpenter takes the newest image that matches, and its nodes may never join the cluster
          help: use an alias such as `al2023@v20250807`, or write the whole name with the version in place of the wildcard
        ");
        assert!(findings(&RULE, &class("Custom", "{name: '*'}")).contains("warning"));
        assert!(findings(&RULE, &class("AL2", "{name: 'amazon-eks-*', owner: amazon}")).contains("warning"));
    }

    #[test]
    fn reports_patterns_that_match_images_for_accelerators_too() {
        let text = class("AL2023", "{name: 'amazon-eks-node-al2023-x86_64-*'}");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          6 |   amiSelectorTerms: [{name: 'amazon-eks-node-al2023-x86_64-*'}]
            |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.amiSelectorTerms[0].name [all]
          `amazon-eks-node-al2023-x86_64-*` matches standard images and images with the drivers of accelerators: Karpenter takes the newest image that matches, also for other instance types
          help: use an alias, or write the kind of the image into the name, such as `-standard-`
        ");
        assert!(
            findings(&RULE, &class("Bottlerocket", "{name: 'bottlerocket-aws-k8s-1.33-*'}"))
                .contains("warning")
        );
        for name in [
            "amazon-eks-node-al2023-x86_64-standard-1.33-*",
            "amazon-eks-node-al2023-*-standard-*",
            "amazon-eks-node-al2023-x86_64-nvidia-1.33-*",
            "amazon-eks-node-al2023-x86_64-standard-1.33-v20250807",
        ] {
            silent(&RULE, &class("AL2023", &format!("{{name: '{name}'}}")));
        }
        silent(&RULE, &class("Bottlerocket", "{name: 'bottlerocket-aws-k8s-1.33-x86_64-*'}"));
        silent(&RULE, &class("AL2", "{name: 'amazon-eks-node-1.2?-*'}"));
    }

    #[test]
    fn reports_images_of_another_family() {
        let al2 = "{name: '?mazon-eks-node-1.31-*'}";
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", al2)), @"
          6 |   amiSelectorTerms: [{name: '?mazon-eks-node-1.31-*'}]
            |                             ^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.amiSelectorTerms[0].name [all]
          `?mazon-eks-node-1.31-*` matches images of Amazon Linux 2, but `amiFamily` is for Amazon Linux 2023: the image does not understand the user data, and its nodes never join the cluster
          help: write the `amiFamily` of the image
        ");
        let two = format!("{al2}, {{name: my-image}}");
        assert!(findings(&RULE, &class("Bottlerocket", &two)).contains("warning"));
        silent(&RULE, &class("AL2", al2));
        silent(&RULE, &class("Custom", al2));
        // `ami-family-image-mismatch` reports an image that its name shows.
        silent(&RULE, &class("AL2023", &al2.replace('?', "a")));
        // The name of a single image is not too broad.
        silent(&RULE, &class("AL2023", "{name: amazon-eks-node-1.33-v20251016}"));
    }

    #[test]
    fn ignores_own_images() {
        for term in [
            "{name: '*', owner: self}",
            "{name: '*', owner: '111122223333'}",
            "{name: '*', tags: {team: web}}",
            "{name: 'my-image-*'}",
            "{name: '${PREFIX}*'}",
            "{id: ami-0123456789abcdef0}",
        ] {
            silent(&RULE, &class("AL2023", term));
        }
    }

    #[test]
    fn compares_names_as_ec2_does() {
        for (pattern, name, expected) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*b*b", "abbab", true),
            ("", "", true),
            ("*", "", true),
            ("a", "", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
