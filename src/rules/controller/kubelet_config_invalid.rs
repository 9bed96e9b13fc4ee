use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use lint::fix::Fix;
use manifest::edit::Change;
use karpenter::api::pattern::{EVICTION, QUANTITY};
use values::quantity::{Quantity, QuantityError};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use crate::rules::ami_family;
use values::placeholder::is_unresolved;
use lint::rule::{Fixes, On};
use userdata::kind::Family as AmiFamily;

rule! {
    /// ## What it does
    ///
    /// Checks the amounts in the `kubelet` section of an EC2NodeClass: what is reserved, and at what threshold pods are
    /// evicted.
    ///
    /// ## Why it is bad
    ///
    /// The API server holds them to a pattern. Two kinds of text pass it and are no amount: an empty threshold, and an
    /// exponent with a point (`1e1.5`). Karpenter reads reserved resources and the thresholds of `memory.available` and
    /// `nodefs.available` with a function that panics over such a text when it lists the instance types. Release 1.0 crashes
    /// and starts again, over and over; later ones catch the panic, and whatever loop it ended starts again and ends the
    /// same way. Up to 1.8 the same holds for soft thresholds, but on Bottlerocket.
    ///
    /// Other signals are for the kubelet to read. It does not start where a threshold is no amount, or is zero or less, so
    /// the instance never becomes a node. A `Custom` image gets none of this section.
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
    /// To be looked at: `1GB` may stand for `1G` as well as for `1Gi`, which is 7 % more.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws `pkg/providers/instancetype/types.go` `systemReservedResources`, `kubeReservedResources`,
    ///   `evictionThreshold`, 1.0-1.14; soft thresholds up to 1.8
    /// - kubernetes/kubernetes `pkg/kubelet/eviction/helpers.go` `parseThresholdStatement`
    RULE {
        name: "kubelet-config-invalid",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "an amount in the kubelet's configuration is none, over which Karpenter panics or the kubelet fails",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(kubelet) = object.at(&["spec", "kubelet"]) else { return };
    for map in ["systemReserved", "kubeReserved"] {
        for (node, text) in amounts(kubelet, map) {
            drafts.extend(reserved(node, text));
        }
    }
    let family = ami_family::of(object);
    for (map, releases) in [
        ("evictionHard", Releases::ALL),
        ("evictionSoft", if family == Some(AmiFamily::Bottlerocket) { Releases::NONE } else { Releases::until(8) }),
    ] {
        for (node, text) in amounts(kubelet, map) {
            drafts.extend(threshold(node, text, releases, family));
        }
    }
}

/// The members of a map that can be judged.
fn amounts<'d>(kubelet: Node<'d>, map: &str) -> Vec<(Node<'d>, &'d str)> {
    let mut amounts = Vec::new();
    for (_, node) in kubelet.members_at(&[map]) {
        if let Some(text) = node.as_str().filter(|text| !is_unresolved(text)) {
            amounts.push((node, text));
        }
    }
    amounts
}

const PANIC: &str = "Karpenter panics over it whenever it lists instance types for this node class, and launches nothing from it";
const REFUSED: &str = "the API server takes no such amount";
const NO_KUBELET: &str = "the kubelet does not start with it, and the instance never becomes a node";

fn reserved<'d>(node: Node<'d>, text: &str) -> Option<Draft<'d>> {
    let error = Quantity::parse(text).err()?;
    let passes = (QUANTITY.fits)(text);
    let effect = if passes { PANIC } else { REFUSED };
    let draft = Draft::at(&RULE, node, format_args!("{error}; {effect}"));
    let draft = if passes { draft } else { draft.caught_by(CaughtBy::ApiServer) };
    Some(meant(draft, node, &error.suggestions(), "100m` or `500Mi"))
}

fn threshold<'d>(
    node: Node<'d>,
    text: &str,
    panics: Releases,
    family: Option<AmiFamily>,
) -> Option<Draft<'d>> {
    if !(EVICTION.fits)(text) {
        let error = (!text.ends_with('%')).then(|| Quantity::parse(text).err()).flatten();
        let suggestions = error.as_ref().map(QuantityError::suggestions).unwrap_or_default();
        let what = match &error {
            Some(error) => error.to_string(),
            None if text.ends_with('%') => {
                format!("`{text}` is not a percentage from 0 to 100 with at most two decimals")
            }
            None => return None,
        };
        let draft = Draft::at(&RULE, node, format_args!("{what}; {REFUSED}"));
        return Some(meant(draft.caught_by(CaughtBy::ApiServer), node, &suggestions, "5%` or `100Mi"));
    }
    // What passes the pattern as a percentage is one for Karpenter and for the kubelet.
    if text.ends_with('%') {
        return None;
    }
    let parsed = Quantity::parse(text);
    let read_by_karpenter = matches!(node.key(), "memory.available" | "nodefs.available");
    let (what, suggestions) = match &parsed {
        Err(error) => (error.to_string(), error.suggestions()),
        Ok(amount) if amount.is_negative() || amount.is_zero() => {
            (format!("`{text}` is no threshold, which has to be more than nothing"), Vec::new())
        }
        Ok(_) => return None,
    };
    let draft = |message: String| Draft::new(&RULE, Place::value(node), message);
    let draft = if read_by_karpenter && parsed.is_err() && !panics.is_empty() {
        draft(format!("{what}; {PANIC}")).releases(panics)
    } else if family.is_some_and(|family| family != AmiFamily::Custom) {
        draft(format!("{what}; {NO_KUBELET}")).caught_by(CaughtBy::Nobody)
    } else {
        return None;
    };
    Some(meant(draft, node, &suggestions, "5%` or `100Mi"))
}

/// Says what was meant, where that can be told, and what such an amount looks like.
fn meant<'d>(draft: Draft<'d>, node: Node<'d>, suggestions: &[String], such_as: &str) -> Draft<'d> {
    let Some(first) = suggestions.last() else {
        return draft.advise(format_args!("write an amount such as `{such_as}`, or leave the line out"));
    };
    let fix = Fix::to_look_at(format!("write `{first}`"), vec![Change::Set(node, first.clone())]);
    draft.advise(format_args!("write `{}`", suggestions.join("` or `"))).fix(fix)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(family: &str, kubelet: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  amiFamily: {family}\n  kubelet:\n    {kubelet}\n"
        )
    }

    #[test]
    fn what_passes_the_pattern_makes_karpenter_panic() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "kubeReserved: {cpu: 1e1.5}")), @"
          7 |     kubeReserved: {cpu: 1e1.5}
            |                         ^^^^^
        error EC2NodeClass/a spec.kubelet.kubeReserved.cpu [1.0-1.14]
          `1e1.5` is not a quantity, such as `500m`, `2` or `1.5Gi`; Karpenter panics over it whenever it lists instance types for this node class, and launches nothing from it
          help: write an amount such as `100m` or `500Mi`, or leave the line out
        ");
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "evictionHard: {nodefs.available: ''}")), @"
          7 |     evictionHard: {nodefs.available: ''}
            |                                      ^^
        error EC2NodeClass/a spec.kubelet.evictionHard.nodefs.available [1.0-1.14]
          the quantity is empty; Karpenter panics over it whenever it lists instance types for this node class, and launches nothing from it
          help: write an amount such as `5%` or `100Mi`, or leave the line out
        ");
    }

    #[test]
    fn what_the_pattern_refuses_is_the_api_servers_refusal() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "systemReserved: {memory: 100 Mi}")), @r#"
          7 |     systemReserved: {memory: 100 Mi}
            |                              ^^^^^^
        error EC2NodeClass/a spec.kubelet.systemReserved.memory [1.0-1.14]
          `100 Mi` has a blank; a quantity has none; did you mean `100Mi`; the API server takes no such amount
          help: write `100Mi`
          fix to look at: write `100Mi`: "100Mi"
        "#);
        let said = findings(&RULE, &class("AL2023", "evictionHard: {memory.available: 5 %}"));
        assert!(said.contains("`5 %` is not a percentage"), "{said}");
    }

    #[test]
    fn soft_thresholds_are_read_up_to_1_8_but_on_bottlerocket() {
        let soft = "evictionSoft: {memory.available: ''}";
        assert!(findings(&RULE, &class("AL2", soft)).is_empty(), "1.14 does not read them");
        let settings = lint::settings::Settings {
            karpenter: lint::settings::Target::parse("1.8").unwrap(),
            ..Default::default()
        };
        let said = crate::rules::testing::findings_with(&RULE, &class("AL2", soft), &settings);
        assert!(said.contains("[1.0-1.8]") && said.contains("panics"), "{said}");
        let said = crate::rules::testing::findings_with(&RULE, &class("Bottlerocket", soft), &settings);
        assert!(said.contains("the kubelet does not start"), "{said}");
    }

    #[test]
    fn the_kubelet_reads_the_other_signals_and_wants_more_than_nothing() {
        insta::assert_snapshot!(findings(&RULE, &class("AL2023", "evictionHard: {memory.available: '0'}")), @"
          7 |     evictionHard: {memory.available: '0'}
            |                                      ^^^
        error EC2NodeClass/a spec.kubelet.evictionHard.memory.available [1.0-1.14]
          `0` is no threshold, which has to be more than nothing; the kubelet does not start with it, and the instance never becomes a node
          help: write an amount such as `5%` or `100Mi`, or leave the line out
        ");
        let said = findings(&RULE, &class("AL2023", "evictionHard: {imagefs.available: ''}"));
        assert!(said.contains("the kubelet does not start"), "{said}");
        silent(&RULE, &class("Custom", "evictionHard: {memory.available: '0', imagefs.available: ''}"));
    }

    #[test]
    fn amounts_are_left_alone() {
        for kubelet in [
            "systemReserved: {cpu: 100m, memory: 100Mi, ephemeral-storage: 1.5Gi, pid: '1000'}",
            "kubeReserved: {cpu: 1e3, memory: '0', pid: '${PIDS}'}",
            "evictionHard: {memory.available: 5%, nodefs.available: 10.5%, nodefs.inodesFree: 100%, imagefs.available: 0%}",
            "evictionHard: {memory.available: 500Mi, pid.available: 1k}",
            "evictionSoft: {memory.available: 1m}",
            "maxPods: 110",
        ] {
            silent(&RULE, &class("AL2023", kubelet));
        }
    }
}
