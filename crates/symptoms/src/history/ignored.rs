//! Pods that the provisioner skips, and why.

use std::collections::BTreeMap;

use super::said::Said;
use crate::entry::{Entry, Origin};

/// How many pods are remembered.
const MOST: usize = 10_000;

/// A pod that was skipped.
#[derive(Clone, Debug)]
pub struct Ignored {
    /// The pod, as `namespace/name`.
    pub pod: Box<str>,
    /// Why: the controller's words.
    pub reason: Box<str>,
    /// How often that was said.
    pub count: u64,
    /// Whether a log says it.
    pub logged: bool,
    /// The first time.
    pub first: Said,
    /// The last time.
    pub last: Said,
}

/// All pods that are remembered.
#[derive(Debug, Default)]
pub struct IgnoredPods {
    map: BTreeMap<Box<str>, Ignored>,
    /// How many were met beyond those that are remembered.
    pub more: u64,
}

impl IgnoredPods {
    /// A pod is skipped.
    pub(super) fn skip(&mut self, pod: &str, reason: &str, entry: &Entry<'_>) {
        let logged = entry.origin == Origin::Log;
        if let Some(there) = self.map.get_mut(pod) {
            there.count += entry.count;
            there.logged |= logged;
            let said = Said::of(entry);
            if said.key() >= there.last.key() {
                there.reason = reason.into();
                there.last = said;
            } else if said.key() < there.first.key() {
                there.first = said;
            }
            return;
        }
        if self.map.len() >= MOST {
            self.more += 1;
            return;
        }
        let said = Said::of(entry);
        let (first, last) = (said.clone(), said);
        let ignored =
            Ignored { pod: pod.into(), reason: reason.into(), count: entry.count, logged, first, last };
        self.map.insert(pod.into(), ignored);
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Ignored> {
        self.map.values()
    }
}
