use karpenter::kind::Kind;
use karpenter::known_values::is_replaced;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField, TermField};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::Requirement;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Compares the architectures that a NodePool allows with the images of its EC2NodeClass, if the name of every image says
    /// the architecture: `x86_64` or `amd64`, `arm64` or `aarch64`. An alias has images for both, and of an ID, a tag or an SSM
    /// parameter the architecture is not known.
    ///
    /// The policy reads only the names of node classes, so the finding is only in the report of files.
    ///
    /// ## Why it is bad
    ///
    /// If no image has an architecture of the NodePool, it launches nothing (`no instance types satisfy requirements of amis`).
    /// If only some have, Karpenter still chooses among the instance types of both architectures. Where it settles on types
    /// without an image, the launch fails, and is repeated with the same result.
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
    ///   amiSelectorTerms: [{name: "amazon-eks-node-al2023-x86_64-standard-1.33-*"}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
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
    ///   amiSelectorTerms: [{name: "amazon-eks-node-al2023-x86_64-standard-1.33-*"}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: kubernetes.io/arch, operator: In, values: [amd64]}
    /// ```
    ///
    /// ## References
    ///
    /// - `MapToInstanceTypes` in pkg/providers/amifamily/ami.go, and resolver.go, of aws/karpenter-provider-aws at v1.14.1
    /// - aws/karpenter-provider-aws#7211, #6168, #3849
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the NodePool allows an architecture for which its EC2NodeClass has no image",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

const ARCHITECTURE: &str = "kubernetes.io/arch";
const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some((name, reference)) =
        pool.node_class_ref().and_then(|reference| Some((reference.name()?, reference)))
    else {
        return;
    };
    let class = name
        .as_str()
        .and_then(|name| context.inventory.find(reference.group_text(), Kind::NODE_CLASS.name, name));
    let Some((image, available)) = class.and_then(Ec2NodeClass::of).and_then(architecture_of_images) else {
        return;
    };
    let Some((stated, allowed)) = allowed_architectures(pool) else { return };
    let class = name.as_str().unwrap_or_default();
    let finding = if !allowed.contains(&available) {
        let message = format!(
            "the images of the EC2NodeClass `{class}` are for `{available}`, which this NodePool excludes, so that it launches no nodes"
        );
        Finding::new(&RULE, Place::value(stated.unwrap_or(name)), message)
    } else if allowed.len() > 1 && !may_imply_architecture(pool) {
        let message = format!(
            "this NodePool allows `{}`, but the images of the EC2NodeClass `{class}` are for `{available}`: launches fail when Karpenter settles on other types",
            allowed.join("` and `")
        );
        Finding::new(&RULE, Place::value(stated.unwrap_or(name)), message).severity(Severity::Warning)
    } else {
        return;
    };
    let help = format!(
        "require `{ARCHITECTURE}` `In` `[{available}]`, or select images for both architectures, as an alias does"
    );
    findings.push(finding.help(help).related(Place::value(image), format!("images for `{available}`")));
}

/// The architecture of all images, if each term names it, with the name of the first.
fn architecture_of_images(class: Ec2NodeClass<'_>) -> Option<(Node<'_>, &'static str)> {
    let mut all = None;
    for term in class.terms(SelectorField::Amis).items() {
        let node = term.field(TermField::Name)?;
        let found = architecture_in(node.as_str()?)?;
        match all {
            None => all = Some((node, found)),
            Some((_, known)) if known != found => return None,
            Some(_) => {}
        }
    }
    all
}

/// The architecture that the name of an image says, if it says one.
fn architecture_in(name: &str) -> Option<&'static str> {
    if has_placeholder(name) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let has = |words: [&str; 2]| words.iter().any(|word| lower.contains(word));
    match (has(["x86_64", "amd64"]), has(["arm64", "aarch64"])) {
        (true, false) => Some("amd64"),
        (false, true) => Some("arm64"),
        _ => None,
    }
}

/// The architectures that a NodePool allows, and the requirement or label that says so. `None` if a value is not known.
fn allowed_architectures(pool: NodePool<'_>) -> Option<(Option<Node<'_>>, Vec<&'static str>)> {
    let labels = pool.node_labels().map(|(key, _)| key);
    let mut keys = pool.requirements().parsed().map(|requirement| requirement.key).chain(labels);
    if keys.any(has_placeholder) || pool.requirements().node().is_some_and(has_placeholder_below) {
        return None;
    }
    let mut stated = None;
    let mut allowed = ARCHITECTURES.to_vec();
    for requirement in pool.requirements().parsed().filter(|requirement| requirement.label() == ARCHITECTURE)
    {
        let values: Vec<_> = requirement.values().iter().map(|(value, _)| *value).collect();
        let parsed = Requirement::new(requirement.item.operator()?, values)?;
        allowed.retain(|architecture| parsed.has(architecture));
        stated = stated.or(Some(requirement.item.node()));
    }
    if let Some((_, node)) = pool.node_labels().find(|(key, _)| *key == ARCHITECTURE) {
        let value = node.as_str().filter(|value| !is_replaced(ARCHITECTURE, value))?;
        allowed.retain(|architecture| *architecture == value);
        stated = stated.or(Some(node));
    }
    // Requirements that exclude both contradict each other, or misspell a value.
    (!allowed.is_empty()).then_some((stated, allowed))
}

/// Labels of instance types, besides the architecture, whose values all types of one architecture may have.
const TYPE_LABELS: [&str; 5] = [
    "node.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-cpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-name",
];
const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
/// Categories with types of both architectures in several generations.
const OF_BOTH: [&str; 5] = ["c", "m", "r", "t", "i"];

/// Whether a NodePool may allow one architecture only, although it does not name it: it lists types, families or the like.
fn may_imply_architecture(pool: NodePool<'_>) -> bool {
    let has_label = pool.node_labels().any(|(key, _)| TYPE_LABELS.contains(&key) || key == CATEGORY);
    let mut requirements = pool.requirements().parsed();
    has_label
        || requirements.any(|requirement| {
            let label = requirement.label();
            let is_common = |(value, _): &(&str, Node<'_>)| OF_BOTH.contains(value);
            TYPE_LABELS.contains(&label)
                || (label == CATEGORY
                    && requirement.operator == "In"
                    && !requirement.values().iter().any(is_common))
        })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn text(terms: &str, requirement: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: web}}
spec: {{amiFamily: Custom, amiSelectorTerms: [{terms}]}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}
      requirements: [{requirement}]
"
        )
    }

    const X86: &str = "{name: my-image-x86_64-1}";
    const ARM: &str = "{name: 'my-image-arm64-*'}";

    fn arch(values: &str) -> String {
        format!("{{key: kubernetes.io/arch, operator: In, values: [{values}]}}")
    }

    #[test]
    fn reports_a_pool_without_image() {
        insta::assert_snapshot!(findings(&RULE, &text(X86, &arch("arm64"))), @"
         13 |       requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]
            |                       ^^^
        error NodePool/a spec.template.spec.requirements[0] [all]
          the images of the EC2NodeClass `web` are for `amd64`, which this NodePool excludes, so that it launches no nodes
          help: require `kubernetes.io/arch` `In` `[amd64]`, or select images for both architectures, as an alias does
          see line 4 spec.amiSelectorTerms[0].name: images for `amd64`
        ");
        let excluded = "{key: kubernetes.io/arch, operator: NotIn, values: [arm64]}";
        assert!(findings(&RULE, &text(ARM, excluded)).contains("error NodePool/a"));
    }

    #[test]
    fn warns_about_a_pool_with_images_for_one_of_its_architectures() {
        insta::assert_snapshot!(findings(&RULE, &text(ARM, "")), @"
         12 |       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}
            |                                                                          ^^^
        warning NodePool/a spec.template.spec.nodeClassRef.name [all]
          this NodePool allows `amd64` and `arm64`, but the images of the EC2NodeClass `web` are for `arm64`: launches fail when Karpenter settles on other types
          help: require `kubernetes.io/arch` `In` `[arm64]`, or select images for both architectures, as an alias does
          see line 4 spec.amiSelectorTerms[0].name: images for `arm64`
        ");
        assert!(findings(&RULE, &text(X86, &arch("amd64, arm64"))).contains("warning NodePool/a"));
    }

    #[test]
    fn accepts_images_that_fit_or_are_not_known() {
        silent(&RULE, &text(X86, &arch("amd64")));
        silent(&RULE, &text(&format!("{X86}, {ARM}"), ""));
        silent(&RULE, &text(&format!("{X86}, {{id: ami-0123456789abcdef0}}"), ""));
        silent(&RULE, &text("{name: my-image}", ""));
        silent(&RULE, &text("{name: 'my-image-${ARCH}-x86_64'}", ""));
        silent(&RULE, &text("{alias: al2023@latest}", ""));
        silent(&RULE, &text(X86, &arch("'${ARCH}'")));
        silent(&RULE, &text(X86, &arch("ARCH")));
        silent(&RULE, &text(X86, "'${REQUIREMENT}'"));
        let of = |label: &str, value: &str| format!("{{key: {label}, operator: In, values: [{value}]}}");
        silent(&RULE, &text(X86, &of("karpenter.k8s.aws/instance-family", "m6i")));
        silent(&RULE, &text(X86, &of("node.kubernetes.io/instance-type", "m5.large")));
        silent(&RULE, &text(X86, &of("karpenter.k8s.aws/instance-category", "p")));
        assert!(
            findings(&RULE, &text(X86, &of("karpenter.k8s.aws/instance-category", "c, m")))
                .contains("warning")
        );
        silent(&RULE, &text(X86, &arch("amd64").replace("kubernetes.io/arch", "'${KEY}'")));
        silent(&RULE, &text(X86, "").replace("name: web}\n      req", "name: other}\n      req"));
    }

    #[test]
    fn compares_several_images_for_one_architecture() {
        let images = format!("{X86}, {{name: other-amd64}}");
        assert!(findings(&RULE, &text(&images, &arch("arm64"))).contains("error NodePool/a"));
    }

    #[test]
    fn reads_the_labels_of_a_pool() {
        let labelled = |label: &str| {
            text(X86, "")
                .replace("  template:\n", &format!("  template:\n    metadata: {{labels: {{{label}}}}}\n"))
        };
        assert!(findings(&RULE, &labelled("kubernetes.io/arch: arm64")).contains("error NodePool/a"));
        assert!(findings(&RULE, &labelled("team: arm64")).contains("warning NodePool/a"));
        silent(&RULE, &labelled("kubernetes.io/arch: amd64"));
        silent(&RULE, &labelled("kubernetes.io/arch: '${ARCH}'"));
        silent(&RULE, &labelled("kubernetes.io/arch: ARCH"));
        silent(&RULE, &labelled("karpenter.k8s.aws/instance-category: c"));
        silent(&RULE, &labelled("karpenter.k8s.aws/instance-family: m5"));
    }
}
