use karpenter::api::pattern::{FieldPattern, NO_SLASH, VOLUME_SIZE};
use karpenter::release::Releases;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks strings against the format that the API server requires: durations, amounts, prices, IDs, keys, schedules
    /// and sizes.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// Durations consist of hours, minutes and seconds: there is no unit `d` for days. In 1.3 and earlier, half of the
    /// pattern of `expireAfter` and `consolidateAfter` is not anchored, so the API server accepts `1hr`, which stops
    /// the controller.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///       expireAfter: 30d
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///       expireAfter: 720h
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    /// - kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go and duration.go
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a string is not in the format that the API server requires",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Form(pattern) => Some(explain(refusal.place.clone(), pattern)),
        _ => None,
    });
}

/// Reports a string that does not match a pattern.
fn explain<'d>(place: Place<'d>, pattern: &'static FieldPattern) -> Finding<'d> {
    let node = place.node();
    let help = node
        .as_str()
        .and_then(|text| help(super::name_of(node), text, pattern))
        .unwrap_or_else(|| format!("write {}", pattern.description));
    super::invalid_value(&RULE, place, "not in the required format").help(help)
}

/// Help for the most common mistakes.
fn help(field: &str, text: &str, pattern: &'static FieldPattern) -> Option<String> {
    if text.eq_ignore_ascii_case("never") && (pattern.matches)("Never") {
        return Some("write `Never`".to_owned());
    }
    if pattern.expression == NO_SLASH.expression {
        return text
            .split('/')
            .next()
            .filter(|group| !group.is_empty())
            .map(|group| format!("write `{group}`, without a version"));
    }
    if pattern.expression == VOLUME_SIZE.expression {
        return super::volume_size(text).map(|size| format!("write `{size}`"));
    }
    if !(pattern.matches)("24h") {
        return None;
    }
    if (pattern.matches)(&format!("{text}h"))
        && let Some(help) = super::time_with_unit(field, text)
    {
        return Some(help);
    }
    let (unit, hours_of_unit) = if text.ends_with('w') { ("weeks", 168) } else { ("days", 24) };
    let number: u32 = text.strip_suffix(['d', 'w'])?.parse().ok()?;
    let hours = number.checked_mul(hours_of_unit)?;
    Some(format!("write `{hours}h`: there is no unit for {unit}"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings_with;
    use rule::settings::{Settings, Target};

    #[test]
    fn alternatives_of_a_manual_are_placeholders_if_each_is_valid() {
        let pool = |expire_after: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: k, name: a}}
      requirements: []
      expireAfter: {expire_after}
"
            )
        };
        for (text, severity) in
            [("720h|Never", "info"), ("720h | Never", "info"), ("720h|Newer", "error"), ("720h|", "error")]
        {
            let found = findings_with(&super::RULE, &pool(text), &Settings::default());
            assert!(found.contains(&format!("{severity} NodePool/a")), "{text}: {found}");
        }
    }

    #[test]
    fn describes_the_required_format() {
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  limits: {cpu: 10 cores}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws/v1, kind: k, name: a}
      requirements: []
      expireAfter: 1hr
      terminationGracePeriod: 2d
";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &range), @"
          5 |   limits: {cpu: 10 cores}
            |                 ^^^^^^^^
        error NodePool/a spec.limits.cpu [all]
          `cpu` is `10 cores`, which is not in the required format; the API server refuses the NodePool
          help: write an amount such as `500m`, `4` or `16Gi`
          8 |       nodeClassRef: {group: karpenter.k8s.aws/v1, kind: k, name: a}
            |                             ^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef.group [all]
          `group` is `karpenter.k8s.aws/v1`, which is not in the required format; the API server refuses the NodePool
          help: write `karpenter.k8s.aws`, without a version
         10 |       expireAfter: 1hr
            |                    ^^^
        error NodePool/a spec.template.spec.expireAfter [since 1.4]
          `expireAfter` is `1hr`, which is not in the required format; the API server refuses the NodePool (since 1.4)
          help: write a duration in hours, minutes and seconds such as `720h` or `1h30m`, or `Never`
         11 |       terminationGracePeriod: 2d
            |                               ^^
        error NodePool/a spec.template.spec.terminationGracePeriod [all]
          `terminationGracePeriod` is `2d`, which is not in the required format; the API server refuses the NodePool
          help: write `48h`: there is no unit for days
        ");
    }

    #[test]
    fn suggests_the_value_that_was_probably_meant() {
        let help = |field: &str, value: &str| {
            let text = format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: g, kind: k, name: a}}
      requirements: []
      {field}: '{value}'
"
            );
            findings_with(&super::RULE, &text, &Settings::default())
        };
        assert!(help("expireAfter", "720").contains("such as `720h` for hours"));
        assert!(help("expireAfter", "2w").contains("write `336h`: there is no unit for weeks"));
        assert!(help("terminationGracePeriod", "1d").contains("write `24h`: there is no unit for days"));
        let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  blockDeviceMappings: [{ebs: {volumeSize: 100GB}}]
";
        assert!(findings_with(&super::RULE, class, &Settings::default()).contains("help: write `100Gi`"));
    }

    #[test]
    fn reports_placeholders_as_info() {
        let pool = |value: &str| {
            let text = format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: g, kind: k, name: a}}
      requirements: []
      expireAfter: '{value}'
"
            );
            findings_with(&super::RULE, &text, &Settings::default())
        };
        for text in
            ["${EXPIRE_AFTER}", "$EXPIRE_AFTER", "<duration>", "{{ .Values.x }}", "__X__", "REPLACE_ME"]
        {
            assert!(pool(text).contains("info NodePool/a"), "{text}");
        }
        assert!(pool("30d").contains("error NodePool/a"));
        assert!(pool("${EXPIRE_AFTER:=30d}").contains("info NodePool/a"));
        assert_eq!(pool("${EXPIRE_AFTER:=720h}"), "");
    }
}
