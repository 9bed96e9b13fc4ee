//! Taints and tolerations, compared like the scheduler does.
//!
//! Source: `ToleratesTaint` of k8s.io/api/core/v1, which pkg/scheduling/taints.go of kubernetes-sigs/karpenter calls.

use core::fmt;

use objects::pod::TolerationItem;
use objects::taint::TaintItem;

use crate::scalar::text_or_empty;

/// Taint that a NodePool sets on its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolTaint<'t> {
    /// The key.
    pub key: &'t str,
    /// The value; empty if absent.
    pub value: &'t str,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`.
    pub effect: &'t str,
}

/// `key=value:Effect`, like `kubectl` prints it.
impl fmt::Display for PoolTaint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equals = if self.value.is_empty() { "" } else { "=" };
        write!(f, "{}{equals}{}:{}", self.key, self.value, self.effect)
    }
}

/// Toleration of a pod. Absent fields are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Toleration<'t> {
    /// The key; empty for every key.
    pub key: &'t str,
    /// `Equal`, which is the default, or `Exists`.
    pub operator: &'t str,
    /// The value, for `Equal`.
    pub value: &'t str,
    /// The effect; empty for every effect.
    pub effect: &'t str,
}

impl<'t> PoolTaint<'t> {
    /// Converts an item of a list of taints.
    pub fn from_item(item: TaintItem<'t>) -> Self {
        Self {
            key: text_or_empty(item.key_node()),
            value: text_or_empty(item.value_node()),
            effect: text_or_empty(item.effect_node()),
        }
    }
}

impl<'t> Toleration<'t> {
    /// Converts an item of a list of tolerations.
    pub fn from_item(item: TolerationItem<'t>) -> Self {
        Self {
            key: text_or_empty(item.key_node()),
            operator: text_or_empty(item.operator_node()),
            value: text_or_empty(item.value_node()),
            effect: text_or_empty(item.effect_node()),
        }
    }
}

impl<'t> Toleration<'t> {
    /// The toleration for a taint.
    pub(crate) fn of_taint(taint: PoolTaint<'t>) -> Self {
        Self { key: taint.key, operator: "Equal", value: taint.value, effect: taint.effect }
    }
}

impl Toleration<'_> {
    /// Whether the toleration matches a taint. An unknown operator matches every value.
    pub fn tolerates(&self, taint: &PoolTaint<'_>) -> bool {
        let effect = self.effect.is_empty() || self.effect == taint.effect;
        let key = self.key.is_empty() || self.key == taint.key;
        let value = match self.operator {
            "" | "Equal" => self.value == taint.value,
            _ => true,
        };
        effect && key && value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_the_fields_of_a_toleration_that_are_set() {
        let taint = PoolTaint { key: "dedicated", value: "gpu", effect: "NoSchedule" };
        let tolerates =
            |key, operator, value, effect| Toleration { key, operator, value, effect }.tolerates(&taint);
        assert!(tolerates("dedicated", "Equal", "gpu", "NoSchedule"));
        assert!(tolerates("dedicated", "", "gpu", ""));
        assert!(tolerates("dedicated", "Exists", "", ""));
        assert!(tolerates("", "Exists", "", ""));
        assert!(!tolerates("dedicated", "", "", ""));
        assert!(!tolerates("dedicated", "Equal", "cpu", ""));
        assert!(!tolerates("dedicated", "Exists", "", "NoExecute"));
        assert!(!tolerates("other", "Exists", "", ""));
        assert_eq!(taint.to_string(), "dedicated=gpu:NoSchedule");
    }
}
