use karpenter::api::Limit;
use karpenter::api::pattern::{EVICTION, QUANTITY, THRESHOLD};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::{Members, Node};
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use objects::validation::{Refusal, What, refusals_of_kubelet};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as AmiFamily;
use values::kubelet_expression;
use values::placeholder::has_placeholder;
use values::quantity::{Quantity, QuantityError};

use crate::rules::{ami_family, api_server};

rule! {
    /// ## What it does
    ///
    /// Checks the quantities and percentages in the `kubelet` section of an EC2NodeClass: reserved resources and
    /// eviction thresholds. Since 1.15 it checks all types, ranges, keys and combinations of the section, which the API
    /// server checked until 1.14.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.15 Karpenter's controller validates the section. A value that it refuses makes the condition
    /// `ValidationSucceeded` false: the EC2NodeClass is not Ready, and no nodes launch from it. The details come
    /// from the main branch shortly before 1.15.
    ///
    /// Until 1.14 the API server checks these values against a pattern. Two kinds of invalid value pass it: an empty threshold,
    /// and an exponent with a decimal point (`1e1.5`). Karpenter parses reserved resources and the thresholds of
    /// `memory.available` and `nodefs.available` when it lists the instance types, with a function that panics on such
    /// a value. Release 1.0 crashes and restarts in a loop. Later releases recover from the panic, but the control loop
    /// that panicked runs again and panics again. Until 1.8 the same applies to soft thresholds, except on
    /// Bottlerocket.
    ///
    /// The kubelet parses the other signals. It does not start if a threshold is invalid, zero or negative, so the
    /// instance never becomes a node. Karpenter passes nothing from this section to a `Custom` image.
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
    ///   kubelet:
    ///     systemReserved:
    ///       memory: 1GB
    ///     evictionHard:
    ///       memory.available: ""
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
    ///   kubelet:
    ///     systemReserved:
    ///       memory: 1Gi
    ///     evictionHard:
    ///       memory.available: 5%
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe: `1GB` can mean `1G` or `1Gi`, which is 7 % more.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws `pkg/providers/instancetype/types.go` `systemReservedResources`,
    ///   `kubeReservedResources`, `evictionThreshold`, 1.0-1.14; soft thresholds until 1.8
    /// - website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws, `spec.kubelet`;
    ///   `ValidateKubeletConfig` in pkg/apis/v1/kubeletconfiguration_validation.go at 88f4899
    /// - kubernetes/kubernetes `pkg/kubelet/eviction/helpers.go` `parseThresholdStatement`
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        supersedes: &["api-pattern"],
        summary: "a kubelet setting that Karpenter refuses, or with which the kubelet does not start",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some(kubelet) = class.kubelet() else { return };
    for map in [kubelet.system_reserved(), kubelet.kube_reserved()] {
        for (node, text) in resolved_values(map) {
            findings.extend(reserved(node, text));
            findings.extend(no_expression(node, text));
        }
    }
    for refusal in refusals_of_kubelet(kubelet) {
        findings.extend(refused_by_controller(&refusal));
    }
    let family = ami_family::family_of(class);
    for (map, releases) in [
        (kubelet.eviction_hard(), Releases::until(14)),
        (
            kubelet.eviction_soft(),
            if family == Some(AmiFamily::Bottlerocket) { Releases::NONE } else { Releases::until(8) },
        ),
    ] {
        for (node, text) in resolved_values(map) {
            findings.extend(threshold(node, text, releases, family));
        }
    }
}

/// Returns the values of a map that are strings without placeholders.
fn resolved_values(map: Members<'_>) -> Vec<(Node<'_>, &str)> {
    let mut values = Vec::new();
    for (_, node) in map {
        if let Some(text) = node.as_str().filter(|text| !has_placeholder(text)) {
            values.push((node, text));
        }
    }
    values
}

const PANIC: &str =
    "Karpenter panics when it lists instance types for this EC2NodeClass, and launches no nodes from it";
const REFUSED: &str = "the API server refuses the value";
const NO_KUBELET: &str = "the kubelet does not start, and the instance never becomes a node";

const NOT_READY: &str = "the EC2NodeClass is not Ready, and no nodes launch from it";

/// Reports what the controller refuses since 1.15, except unknown fields, which another rule reports.
fn refused_by_controller<'d>(refusal: &Refusal<'d>) -> Option<Finding<'d>> {
    let node = refusal.place.node();
    if node.as_str().is_some_and(has_placeholder) || has_placeholder(node.key()) {
        return None;
    }
    let (name, shown) = (api_server::name_of(node), api_server::shown(node));
    let is = |problem: String| format!("`{name}` is {shown}, {problem}; {NOT_READY}");
    let (message, help) = match &refusal.what {
        What::Type(wanted) => {
            (is(format!("but must be {}", wanted.name())), format!("write {}", wanted.name()))
        }
        What::Range(Limit::Maximum(bound)) => {
            (is(format!("which is above {bound}")), format!("write a number of at most {bound}"))
        }
        What::Range(Limit::Minimum(bound)) => {
            (is(format!("which is below {bound}")), format!("write a number of at least {bound}"))
        }
        What::Form(pattern) => (is(format!("which is not {}", pattern.description)), String::new()),
        What::Relation(relation) => (format!("{}; {NOT_READY}", relation.message), relation.help.clone()),
        _ => return None,
    };
    let finding = Finding::new(&RULE, refusal.place.clone(), message).releases(refusal.releases.clone());
    let What::Form(pattern) = refusal.what else { return Some(finding.help(help)) };
    let text = node.as_str().filter(|text| !text.ends_with('%')).unwrap_or_default();
    let suggestions = Quantity::parse(text).err().map(|error| error.suggestions()).unwrap_or_default();
    let suggestions = suggestions.into_iter().filter(|text| (pattern.matches)(text)).collect::<Vec<_>>();
    let is_threshold = pattern.description == THRESHOLD.description;
    Some(suggest(finding, node, &suggestions, if is_threshold { "5%` or `100Mi" } else { "30s` or `1h30m" }))
}

/// Reports a reservation that is no quantity, which Karpenter reads as an expression since 1.15, and that does not look like
/// an expression either.
fn no_expression<'d>(node: Node<'d>, text: &str) -> Option<Finding<'d>> {
    let error = Quantity::parse(text).err()?;
    if kubelet_expression::is_probable(text) || kubelet_expression::check(text).is_ok() {
        return None;
    }
    let message = format!("{error}; {NOT_READY}");
    let finding = Finding::at(&RULE, node, message).releases(Releases::since(15));
    Some(suggest(finding, node, &error.suggestions(), "100m` or `500Mi"))
}

fn reserved<'d>(node: Node<'d>, text: &str) -> Option<Finding<'d>> {
    let error = Quantity::parse(text).err()?;
    let accepted = (QUANTITY.matches)(text);
    let effect = if accepted { PANIC } else { REFUSED };
    let finding = Finding::at(&RULE, node, format!("{error}; {effect}")).releases(Releases::until(14));
    let finding = if accepted { finding } else { finding.caught_by(CaughtBy::ApiServer) };
    Some(suggest(finding, node, &error.suggestions(), "100m` or `500Mi"))
}

fn threshold<'d>(
    node: Node<'d>,
    text: &str,
    panics: Releases,
    family: Option<AmiFamily>,
) -> Option<Finding<'d>> {
    if !(EVICTION.matches)(text) {
        let error = (!text.ends_with('%')).then(|| Quantity::parse(text).err()).flatten();
        let suggestions = error.as_ref().map(QuantityError::suggestions).unwrap_or_default();
        let problem = match &error {
            Some(error) => error.to_string(),
            None if text.ends_with('%') => {
                format!("`{text}` is not a percentage from 0 to 100 with at most two decimals")
            }
            None => return None,
        };
        let finding = Finding::at(&RULE, node, format!("{problem}; {REFUSED}")).releases(Releases::until(14));
        return Some(suggest(finding.caught_by(CaughtBy::ApiServer), node, &suggestions, "5%` or `100Mi"));
    }
    // Karpenter and the kubelet accept every percentage that passes the pattern.
    if text.ends_with('%') {
        return None;
    }
    let parsed = Quantity::parse(text);
    let read_by_karpenter = matches!(node.key(), "memory.available" | "nodefs.available");
    let (problem, suggestions) = match &parsed {
        Err(error) => (error.to_string(), error.suggestions()),
        Ok(amount) if amount.is_negative() || amount.is_zero() => {
            (format!("`{text}` is not a valid threshold: a threshold must be greater than zero"), Vec::new())
        }
        Ok(_) => return None,
    };
    let finding = |message: String| Finding::new(&RULE, Place::value(node), message);
    let finding = if read_by_karpenter && parsed.is_err() && !panics.is_empty() {
        finding(format!("{problem}; {PANIC}")).releases(panics)
    } else if family.is_some_and(|family| family != AmiFamily::Custom) {
        // Since 1.15 Karpenter refuses all of them but zero.
        let is_refused = parsed.as_ref().map_or(true, |amount| amount.is_negative());
        let releases = if is_refused { Releases::until(14) } else { Releases::ALL };
        finding(format!("{problem}; {NO_KUBELET}")).caught_by(CaughtBy::Nobody).releases(releases)
    } else {
        return None;
    };
    Some(suggest(finding, node, &suggestions, "5%` or `100Mi"))
}

/// Adds help: the likely values and a fix, or an example if no value is likely.
fn suggest<'d>(finding: Finding<'d>, node: Node<'d>, suggestions: &[String], example: &str) -> Finding<'d> {
    let Some(first) = suggestions.last() else {
        return finding.help(format!("write a value such as `{example}`, or remove the line"));
    };
    let fix = Fix::for_review(format!("write `{first}`"), vec![Change::Set(node, first.clone())]);
    finding.help(format!("write `{}`", suggestions.join("` or `"))).fix(fix)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::{Settings, Target};

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    fn findings(rule: &'static rule::Rule, text: &str) -> String {
        findings_with(rule, text, &at("1.14"))
    }

    fn class(family: &str, kubelet: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiFamily: {family}
  kubelet:
    {kubelet}
"
        )
    }

    #[test]
    fn reports_panic_for_invalid_values_that_pass_the_pattern() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "kubeReserved: {cpu: 1e1.5}")), @"
          7 |     kubeReserved: {cpu: 1e1.5}
            |                         ^^^^^
        error EC2NodeClass/a spec.kubelet.kubeReserved.cpu [until 1.14]
          `1e1.5` is not a quantity such as `500m`, `2` or `1.5Gi`; Karpenter panics when it lists instance types for this EC2NodeClass, and launches no nodes from it
          help: write a value such as `100m` or `500Mi`, or remove the line
        ");
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "evictionHard: {nodefs.available: ''}")), @"
          7 |     evictionHard: {nodefs.available: ''}
            |                                      ^^
        error EC2NodeClass/a spec.kubelet.evictionHard.nodefs.available [until 1.14]
          the quantity is empty; Karpenter panics when it lists instance types for this EC2NodeClass, and launches no nodes from it
          help: write a value such as `5%` or `100Mi`, or remove the line
        ");
    }

    #[test]
    fn reports_values_refused_by_api_server() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "systemReserved: {memory: 100 Mi}")), @r#"
          7 |     systemReserved: {memory: 100 Mi}
            |                              ^^^^^^
        error EC2NodeClass/a spec.kubelet.systemReserved.memory [until 1.14]
          `100 Mi` contains whitespace, which a quantity may not; did you mean `100Mi`; the API server refuses the value
          help: write `100Mi`
          unsafe fix: write `100Mi`: "100Mi"
        "#);
        let output = findings(&RULE, &class("AL2023", "evictionHard: {memory.available: 5 %}"));
        assert!(output.contains("`5 %` is not a percentage"), "{output}");
    }

    #[test]
    fn suggests_a_suffix_for_a_threshold_in_every_release() {
        let amount = class("AL2023", "evictionHard: {memory.available: 1GB}");
        for release in ["1.14", "1.15"] {
            let output = findings_with(&RULE, &amount, &at(release));
            assert!(output.contains("help: write `1G` or `1Gi`"), "{release}: {output}");
        }
    }

    #[test]
    fn leaves_a_suffix_without_a_number_to_the_rule_about_patterns() {
        // The parser of quantities accepts the text, and the API server does not.
        assert_eq!(findings(&RULE, &class("AL2023", "evictionHard: {memory.available: M}")), "");
    }

    #[test]
    fn reports_soft_threshold_panic_until_1_8_except_on_bottlerocket() {
        let soft = "evictionSoft: {memory.available: ''}";
        assert!(findings(&RULE, &class("AL2", soft)).is_empty(), "1.14 does not parse soft thresholds");
        let settings = at("1.8");
        let output = findings_with(&RULE, &class("AL2", soft), &settings);
        assert!(output.contains("[until 1.8]") && output.contains("panics"), "{output}");
        let output = findings_with(&RULE, &class("Bottlerocket", soft), &settings);
        assert!(output.contains("the kubelet does not start"), "{output}");
    }

    #[test]
    fn reports_thresholds_that_stop_the_kubelet_from_starting() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "evictionHard: {memory.available: '0'}")), @"
          7 |     evictionHard: {memory.available: '0'}
            |                                      ^^^
        error EC2NodeClass/a spec.kubelet.evictionHard.memory.available [all]
          `0` is not a valid threshold: a threshold must be greater than zero; the kubelet does not start, and the instance never becomes a node
          help: write a value such as `5%` or `100Mi`, or remove the line
        ");
        let output = findings(&RULE, &class("AL2023", "evictionHard: {imagefs.available: ''}"));
        assert!(output.contains("the kubelet does not start"), "{output}");
        let custom = class("Custom", "evictionHard: {memory.available: '0', imagefs.available: ''}");
        assert_eq!(findings(&RULE, &custom), "");
    }

    #[test]
    fn reports_since_1_15_what_the_api_server_refused_before() {
        let kubelet = "{maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}";
        insta::assert_snapshot!(findings_with(&RULE, &class("Custom", kubelet), &at("1.15")), @r#"
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |               ^^
        error EC2NodeClass/a spec.kubelet.maxPods [since 1.15]
          `maxPods` is the number -1, which is below 0; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write a number of at least 0
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                ^^
        error EC2NodeClass/a spec.kubelet [since 1.15]
          `imageGCHighThresholdPercent` is not above `imageGCLowThresholdPercent`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write whole numbers, the high threshold above the low one, such as 85 and 80
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                ^^^
        error EC2NodeClass/a spec.kubelet.imageGCLowThresholdPercent [since 1.15]
          `imageGCLowThresholdPercent` is the number 101, which is above 100; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write a number of at most 100
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                    ^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet [since 1.15]
          `kubelet.evictionSoft` has `memory.available`, but `kubelet.evictionSoftGracePeriod` does not; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `memory.available` in both, or in neither
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                          ^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet.evictionHard [since 1.15]
          `kubelet.evictionHard` has `memory.free`, which is not a valid key there; the EC2NodeClass is not Ready, and no nodes launch from it
          help: the valid keys are `memory.available`, `nodefs.available`, `nodefs.inodesFree`, `imagefs.available`, `imagefs.inodesFree`, `pid.available`
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                              ^^^^
        error EC2NodeClass/a spec.kubelet.evictionHard.nodefs.available [since 1.15]
          `nodefs.available` is `110%`, which is not a percentage such as `5%` or an amount such as `100Mi`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write a value such as `5%` or `100Mi`, or remove the line
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                   ^^^^
        error EC2NodeClass/a spec.kubelet.evictionHard.pid.available [since 1.15]
          `pid.available` is `-5`, which is not a percentage such as `5%` or an amount such as `100Mi`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write a value such as `5%` or `100Mi`, or remove the line
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                                                    ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.kubelet [since 1.15]
          `kubelet.evictionSoftGracePeriod` has `pid.available`, but `kubelet.evictionSoft` does not; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `pid.available` in both, or in neither
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                                                                   ^^^^
        error EC2NodeClass/a spec.kubelet.evictionSoftGracePeriod.pid.available [since 1.15]
          `pid.available` is `fast`, which is not a duration of at least 0, such as `30s` or `1h30m`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write a value such as `30s` or `1h30m`, or remove the line
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                                                                                       ^^^^^
        error EC2NodeClass/a spec.kubelet.cpuCFSQuota [since 1.15]
          `cpuCFSQuota` is `maybe`, but must be `true` or `false`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `true` or `false`
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                                                                                                                       ^^^
        error EC2NodeClass/a spec.kubelet.systemReserved.memory [since 1.15]
          `GB` in `1GB` is not a suffix of a quantity; did you mean `1G` or `1Gi`; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `1G` or `1Gi`
          unsafe fix: write `1Gi`: "1Gi"
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                                                                                                                            ^^^
        error EC2NodeClass/a spec.kubelet.systemReserved [since 1.15]
          `kubelet.systemReserved` has `gpu`, which is not a valid key there; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write `cpu`; the valid keys are `cpu`, `memory`, `ephemeral-storage`, `pid`
          7 |     {maxPods: -1, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 101, evictionSoft: {memory.available: 5%}, evictionHard: {memory.free: 1Gi, nodefs.available: 110%, pid.available: '-5'}, evictionSoftGracePeriod: {pid.available: fast}, cpuCFSQuota: maybe, systemReserved: {memory: 1GB, gpu: '1'}, syncFrequency: 5}
            |                                                                                                                                                                                                                                                                                                                                      ^
        error EC2NodeClass/a spec.kubelet.syncFrequency [since 1.15]
          `syncFrequency` is the number 5, but must be a string; the EC2NodeClass is not Ready, and no nodes launch from it
          help: write a string
        "#);
    }

    #[test]
    fn accepts_other_fields_and_expressions_since_1_15() {
        let kubelet = "{maxPods: 'min(110, max_pods)', kubeReserved: {cpu: 'vcpu * 10'}, evictionMinimumReclaim: {memory.available: 5%}, syncFrequency: 5m, imageGCLowThresholdPercent: '${LOW}'}";
        assert_eq!(findings_with(&RULE, &class("AL2023", kubelet), &at("1.15")), "");
    }

    #[test]
    fn accepts_valid_quantities_and_percentages() {
        for kubelet in [
            "systemReserved: {cpu: 100m, memory: 100Mi, ephemeral-storage: 1.5Gi, pid: '1000'}",
            "kubeReserved: {cpu: '1e3', memory: '0', pid: '${PIDS}'}",
            "evictionHard: {memory.available: 5%, nodefs.available: 10.5%, nodefs.inodesFree: 100%, imagefs.available: 0%}",
            "evictionHard: {memory.available: 500Mi, pid.available: 1k}",
            "evictionSoft: {memory.available: 1m}\n    evictionSoftGracePeriod: {memory.available: 1m}",
            "maxPods: 110",
        ] {
            silent(&RULE, &class("AL2023", kubelet));
        }
    }
}
