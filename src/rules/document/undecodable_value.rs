use karpenter::api::pattern::{BUDGET_DURATION, DURATION, DURATION_OR_NEVER, LOOSE_DURATION, QUANTITY};
use karpenter::kind::Kind;
use karpenter::release::{ReleaseSet, Releases};
use manifest::tree::{Node, members_of};
use objects::node_claim::{NodeClaim, NodeClaimSpec};
use objects::node_class::{Ec2NodeClass, KubeletConfiguration};
use objects::node_pool::{Disruption, DisruptionBudget, NodePool};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::duration::{Duration, DurationError, NillableDuration};
use values::placeholder::has_placeholder;
use values::quantity::Quantity;

rule! {
    /// ## What it does
    ///
    /// Finds durations and quantities that the API server stores but Karpenter cannot decode.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter lists all objects of a kind with one request, and a single value that it cannot decode fails the whole
    /// response. After its next start the controller sees no object of that kind at all; a running controller sees no
    /// more changes to any of them. The log repeats `failed to list *v1.NodePool: … time: …`; the object itself looks
    /// normal.
    ///
    /// These values are affected: soft eviction grace periods, which have no pattern (`90` has no unit); durations of
    /// more than 292 years; until 1.3, text after a duration in `expireAfter` and `consolidateAfter`, whose pattern was
    /// not anchored at the end; and an exponent with a decimal point (`1e1.5`) in a limit.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   kubelet:
    ///     evictionSoft:
    ///       memory.available: 10%
    ///     evictionSoftGracePeriod:
    ///       memory.available: "90"
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
    ///   kubelet:
    ///     evictionSoft:
    ///       memory.available: 10%
    ///     evictionSoftGracePeriod:
    ///       memory.available: 90s
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe if the text has only one meaning in other tools: `7d` is `168h`.
    ///
    /// ## References
    ///
    /// - kubernetes/apimachinery `pkg/apis/meta/v1/duration.go` `UnmarshalJSON`
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/duration.go` `NillableDuration.UnmarshalJSON`
    /// - the CRDs of aws/karpenter-provider-aws, 1.0-1.14; the patterns of `expireAfter` and `consolidateAfter` are
    ///   anchored since 1.4
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "Karpenter cannot decode a stored value, so it sees no object of that kind",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLAIM), On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(class) = Ec2NodeClass::of(object) {
        for (_, node) in
            class.kubelet().into_iter().flat_map(KubeletConfiguration::eviction_soft_grace_period)
        {
            findings.extend(duration(node, object, false, |_| ReleaseSet::all()));
        }
        return;
    }
    let pool = NodePool::of(object);
    let claim = NodeClaim::of(object).and_then(NodeClaim::spec);
    let spec = pool.and_then(NodePool::claim_spec).or(claim);
    if let Some(node) = spec.and_then(NodeClaimSpec::expire_after) {
        findings.extend(duration(node, object, true, nillable));
    }
    if let Some(node) = spec.and_then(NodeClaimSpec::termination_grace_period) {
        findings.extend(duration(node, object, false, plain));
    }
    let Some(pool) = pool else { return };
    if let Some(node) = pool.disruption().and_then(Disruption::consolidate_after) {
        findings.extend(duration(node, object, true, nillable));
    }
    for node in pool.budgets().filter_map(DisruptionBudget::duration) {
        findings.extend(duration(node, object, false, of_budget));
    }
    for (_, node) in members_of(pool.limits()) {
        findings.extend(quantity(node, object));
    }
}

/// Returns the releases whose pattern accepts the value of `expireAfter` or `consolidateAfter`.
fn nillable(text: &str) -> ReleaseSet {
    let loose = if (LOOSE_DURATION.matches)(text) { Releases::until(3) } else { Releases::NONE };
    if (DURATION_OR_NEVER.matches)(text) { loose.or(Releases::since(4)) } else { loose.set() }
}

/// Returns the releases whose pattern accepts a duration.
fn plain(text: &str) -> ReleaseSet {
    if (DURATION.matches)(text) { ReleaseSet::all() } else { ReleaseSet::none() }
}

/// Returns the releases whose pattern accepts the duration of a budget.
fn of_budget(text: &str) -> ReleaseSet {
    if (BUDGET_DURATION.matches)(text) { ReleaseSet::all() } else { ReleaseSet::none() }
}

fn effect(object: Object<'_>) -> String {
    format!("Karpenter cannot decode it, and therefore cannot list any {} of the cluster", object.kind())
}

fn duration<'d>(
    node: Node<'d>,
    object: Object<'d>,
    may_be_never: bool,
    accepted_in: fn(&str) -> ReleaseSet,
) -> Option<Finding<'d>> {
    let text = node.as_str()?;
    let error: DurationError =
        if may_be_never { NillableDuration::parse(text).err()? } else { Duration::parse(text).err()? };
    let releases = accepted_in(text);
    if releases.is_empty() || has_placeholder(text) {
        return None;
    }
    let message = format!("{error}; {}", effect(object));
    let finding = Finding::at(&RULE, node, message).releases(releases);
    let suggestion = error.suggestion().filter(|meant| may_be_never || meant != "Never");
    Some(match suggestion {
        Some(meant) => finding.set(node, &meant),
        None => finding.help("write a duration such as `90s`, `30m` or `168h`"),
    })
}

fn quantity<'d>(node: Node<'d>, object: Object<'d>) -> Option<Finding<'d>> {
    let text = node.as_str()?;
    let error = Quantity::parse(text).err().filter(|_| (QUANTITY.matches)(text))?;
    let message = format!("{error}; {}", effect(object));
    Some(Finding::at(&RULE, node, message).help("write a quantity such as `100`, `1500m` or `64Gi`"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use rule::settings::{Settings, Target};

    fn class(period: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  kubelet:
    evictionSoftGracePeriod:
      memory.available: {period}
"
        )
    }

    fn pool(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {spec}
"
        )
    }

    #[test]
    fn reports_grace_period_without_unit() {
        insta::assert_snapshot!(findings(&RULE, &class("\"90\"")), @r#"
          7 |       memory.available: "90"
            |                         ^^^^
        error EC2NodeClass/a spec.kubelet.evictionSoftGracePeriod.memory.available [all]
          `90` has a number without a unit (`s`, `m` or `h`); Karpenter cannot decode it, and therefore cannot list any EC2NodeClass of the cluster
          help: write a duration such as `90s`, `30m` or `168h`
        "#);
        assert_eq!(fixed(&RULE, &class("1d")), class("24h"));
        silent(&RULE, &class("1m30s"));
        silent(&RULE, &class("'${PERIOD}'"));
    }

    #[test]
    fn reports_duration_of_more_than_292_years() {
        insta::assert_snapshot!(findings(&RULE, &pool("{template: {spec: {expireAfter: 9999999h}}}")), @"
          4 | spec: {template: {spec: {expireAfter: 9999999h}}}
            |                                       ^^^^^^^^
        error NodePool/a spec.template.spec.expireAfter [all]
          `9999999h` is longer than 292 years, the longest duration; Karpenter cannot decode it, and therefore cannot list any NodePool of the cluster
          help: write a duration such as `90s`, `30m` or `168h`
        ");
        silent(&RULE, &pool("{template: {spec: {expireAfter: 2562047h, terminationGracePeriod: 8760h}}}"));
        let text = pool("{disruption: {budgets: [{nodes: '0', schedule: '@daily', duration: 2562048h}]}}");
        assert!(findings(&RULE, &text).contains("budgets[0].duration"));
        let period = pool("{template: {spec: {terminationGracePeriod: 2562048h}}}");
        assert!(findings(&RULE, &period).contains("spec.terminationGracePeriod [all]"));
    }

    #[test]
    fn reports_text_after_a_duration_until_1_3() {
        let text = pool("{disruption: {consolidateAfter: 30sfoo}}");
        silent(&RULE, &text);
        let settings = Settings { karpenter: Target::parse("1.3").unwrap(), ..Default::default() };
        assert!(findings_with(&RULE, &text, &settings).contains("[until 1.3]"));
        let days = pool("{template: {spec: {expireAfter: 7d}}}");
        assert!(findings_with(&RULE, &days, &settings).is_empty(), "refused by every release");
    }

    #[test]
    fn reports_decimal_point_in_the_exponent_of_a_limit() {
        assert!(findings(&RULE, &pool("{limits: {cpu: 1e1.5}}")).contains("spec.limits.cpu"));
        silent(&RULE, &pool("{limits: {cpu: 1000, memory: 1e3, pods: 10 Gi}}"));
    }

    #[test]
    fn accepts_never_where_it_is_allowed() {
        silent(
            &RULE,
            &pool("{template: {spec: {expireAfter: Never}}, disruption: {consolidateAfter: Never}}"),
        );
    }
}
