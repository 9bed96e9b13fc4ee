//! Taints and tolerations, compared as the scheduler compares them.
//!
//! Source: `ToleratesTaint` of k8s.io/api/core/v1, which pkg/scheduling/taints.go of kubernetes-sigs/karpenter calls.

use core::fmt;

/// A taint of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint<'t> {
    /// The key.
    pub key: &'t str,
    /// The value; empty where there is none.
    pub value: &'t str,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`.
    pub effect: &'t str,
}

impl Taint<'_> {
    /// Whether pods that do not tolerate it stay off the node. `PreferNoSchedule` gives way in the end.
    pub fn is_hard(&self) -> bool {
        matches!(self.effect, "NoSchedule" | "NoExecute")
    }
}

/// `key=value:Effect`, as `kubectl` writes it.
impl fmt::Display for Taint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equals = if self.value.is_empty() { "" } else { "=" };
        write!(f, "{}{equals}{}:{}", self.key, self.value, self.effect)
    }
}

/// What a pod puts up with. Absent fields are empty.
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

impl Toleration<'_> {
    /// Whether the toleration covers a taint. An operator of a later Kubernetes is given the benefit of the doubt.
    pub fn tolerates(&self, taint: &Taint<'_>) -> bool {
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
    fn keys_values_and_effects_have_to_agree_where_they_are_given() {
        let taint = Taint { key: "dedicated", value: "gpu", effect: "NoSchedule" };
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
