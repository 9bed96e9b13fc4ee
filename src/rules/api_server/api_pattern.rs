use crate::check::Context;
use crate::finding::{CaughtBy, Draft, Family, Place, Severity};
use crate::karpenter::api::pattern::Pattern;
use crate::karpenter::release::Releases;
use crate::object::Object;
use crate::rules::Fixes;

rule! {
    /// ## What it does
    ///
    /// Checks strings against the form that the API server asks of them: durations, amounts, prices, ids, keys, schedules and sizes.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, and `kubectl apply` leaves the cluster as it is. An Argo CD or Flux
    /// application with it stays out of sync.
    /// Durations know hours, minutes and seconds: there is no `d` for days. Up to 1.3, half of the form of `expireAfter` and
    /// `consolidateAfter` is not anchored, so that `1hr` is accepted there and stops the controller.
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
        name: "api-pattern",
        family: Family::ApiServer,
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a string does not have the form that the API server asks for",
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    super::check(&RULE, object, context, drafts);
}

/// A string that is not of a form.
pub(super) fn explain<'d>(place: Place<'d>, pattern: &'static Pattern) -> Draft<'d> {
    let node = place.node();
    let name = super::name_of(node);
    let message = format!("`{name}` is {}, which is not {}", super::shown(node), pattern.wanted);
    let help = node.as_str().and_then(help).unwrap_or_else(|| format!("write {}", pattern.wanted));
    Draft::new(&RULE, place, message).help(help)
}

/// What to write for the mistakes that are made most.
fn help(text: &str) -> Option<String> {
    let days: u32 = text.strip_suffix('d')?.parse().ok()?;
    let hours = days.checked_mul(24)?;
    Some(format!("write `{hours}h`: there is no unit for days"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings_with;
    use crate::settings::{Settings, Target};

    #[test]
    fn the_form_is_said_in_words() {
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  limits: {cpu: 10 cores}\n  template:\n    spec:\n      \
                    nodeClassRef: {group: karpenter.k8s.aws/v1, kind: k, name: a}\n      requirements: []\n      expireAfter: 1hr\n      \
                    terminationGracePeriod: 2d\n";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &range));
    }
}
