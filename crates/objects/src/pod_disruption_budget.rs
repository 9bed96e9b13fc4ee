//! PodDisruptionBudgets.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;

/// View of a PodDisruptionBudget.
#[derive(Clone, Copy, Debug)]
pub struct PodDisruptionBudget<'d>(Object<'d>);

impl<'d> PodDisruptionBudget<'d> {
    /// The object as a PodDisruptionBudget, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::POD_DISRUPTION_BUDGET).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec.selector`. The empty selector selects every pod of the namespace, and an absent one no pod.
    pub fn selector(self) -> Option<Node<'d>> {
        self.in_spec("selector")
    }

    /// `spec.minAvailable`: a number or a percentage.
    pub fn min_available(self) -> Option<Node<'d>> {
        self.in_spec("minAvailable")
    }

    /// `spec.maxUnavailable`: a number or a percentage.
    pub fn max_unavailable(self) -> Option<Node<'d>> {
        self.in_spec("maxUnavailable")
    }

    /// `spec.unhealthyPodEvictionPolicy`.
    pub fn unhealthy_pod_eviction_policy(self) -> Option<Node<'d>> {
        self.in_spec("unhealthyPodEvictionPolicy")
    }

    /// `status.disruptionsAllowed`.
    pub fn disruptions_allowed(self) -> Option<Node<'d>> {
        self.0.at(&["status", "disruptionsAllowed"])
    }

    fn in_spec(self, field: &str) -> Option<Node<'d>> {
        self.0.spec()?.get(field).filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    fn describe(text: &str) -> Option<String> {
        let file = File::read("-", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        let budget = PodDisruptionBudget::of(Object::all(tree)[0])?;
        let allowed = budget.disruptions_allowed().and_then(Node::as_int);
        Some(format!(
            "{} {} {} {} {allowed:?}",
            budget.selector().is_some(),
            budget.min_available().is_some(),
            budget.max_unavailable().is_some(),
            budget.unhealthy_pod_eviction_policy().is_some()
        ))
    }

    #[test]
    fn reads_the_fields_of_a_budget_in_any_version() {
        let text = "{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {selector: {}, maxUnavailable: 0, \
                    minAvailable: null, unhealthyPodEvictionPolicy: AlwaysAllow}, status: {disruptionsAllowed: 2}}";
        assert_eq!(describe(text).as_deref(), Some("true false true true Some(2)"));
        let old = text.replace("policy/v1", "policy/v1beta1");
        assert_eq!(describe(&old).as_deref(), Some("true false true true Some(2)"));
        let empty = "{apiVersion: policy/v1, kind: PodDisruptionBudget}";
        assert_eq!(describe(empty).as_deref(), Some("false false false false None"));
    }

    #[test]
    fn is_no_view_of_another_kind() {
        assert_eq!(describe("{apiVersion: v1, kind: PodDisruptionBudget}"), None);
        assert_eq!(describe("{apiVersion: policy/v1, kind: Eviction}"), None);
    }
}
