//! Conditions that are not met, as the input shows them last.

use std::collections::BTreeMap;

use super::record::Record;
use crate::entry::{EntryObject, EntryOrigin};
use crate::recognise::{Meaning, Recognised};

/// Bound on the number of conditions.
const MAX_CONDITIONS: usize = 20_000;

/// Conditions that are not met, by object and type.
#[derive(Debug, Default)]
pub struct UnmetConditions(BTreeMap<(EntryObject<'static>, Box<str>), UnmetCondition>);

/// A condition of a NodePool, node class, NodeClaim or Node that is not met.
#[derive(Clone, Debug)]
pub struct UnmetCondition {
    /// `False` or `Unknown`; `NotReady` for either in a table of nodes.
    pub status: Box<str>,
    /// The reason; may be empty.
    pub reason: Box<str>,
    /// The message; may be empty.
    pub message: Box<str>,
    /// The condition, with the time of its last transition.
    pub record: Record,
    /// Whether the vocabulary knows what it means.
    pub is_understood: bool,
    /// Whether a symptom explains it.
    pub is_explained: bool,
}

impl UnmetConditions {
    /// Adds a condition, or removes it if it is met now.
    pub(super) fn observe(&mut self, recognised: Recognised<'_, '_>) {
        let entry = recognised.entry;
        let kind = &*entry.condition.kind;
        if entry.origin != EntryOrigin::Condition
            || entry.object.name.is_empty()
            || !is_kept(&entry.object.kind, kind)
        {
            return;
        }
        let key = (entry.object.clone().into_owned(), kind.into());
        let known = self.0.get(&key);
        // Events tell the history of a condition in any order.
        if known.is_some_and(|known| entry.time.is_some() && entry.time < known.record.time) {
            return;
        }
        if !is_unmet(&entry.object.kind, kind, &entry.condition.status) {
            self.0.remove(&key);
        } else if known.is_some() || self.0.len() < MAX_CONDITIONS {
            let condition = UnmetCondition {
                status: (&*entry.condition.status).into(),
                reason: (&*entry.reason).into(),
                message: (&*entry.message).into(),
                record: Record::of(entry),
                is_understood: recognised.is_understood(),
                is_explained: recognised
                    .messages()
                    .any(|(_, known)| !matches!(known.meaning, Meaning::Normal)),
            };
            self.0.insert(key, condition);
        }
    }

    /// Each condition with its object and its type, sorted.
    pub fn all(&self) -> impl Iterator<Item = (&EntryObject<'static>, &str, &UnmetCondition)> {
        self.0.iter().map(|((object, kind), condition)| (object, &**kind, condition))
    }

    /// A condition of an object.
    pub fn get(&self, object: &EntryObject<'_>, kind: &str) -> Option<&UnmetCondition> {
        self.of_object(object).find(|(of_type, _)| *of_type == kind).map(|(_, condition)| condition)
    }

    /// The conditions of an object that are not met, by their types.
    pub fn of_object<'c>(
        &'c self,
        object: &EntryObject<'_>,
    ) -> impl Iterator<Item = (&'c str, &'c UnmetCondition)> {
        let start = (object.clone().into_owned(), Box::<str>::from(""));
        let own = start.0.clone();
        let range = self.0.range(start..).take_while(move |((other, _), _)| *other == own);
        range.map(|((_, kind), condition)| (&**kind, condition))
    }
}

/// Whether a condition of an object is of interest.
fn is_kept(kind: &str, condition: &str) -> bool {
    match kind {
        "NodePool" | "EC2NodeClass" => true,
        "NodeClaim" => matches!(
            condition,
            "Launched" | "Registered" | "Initialized" | "Ready" | "Drained" | "VolumesDetached"
        ),
        "Node" => tolerated(condition, "False").is_some(),
        _ => false,
    }
}

fn is_unmet(kind: &str, condition: &str, status: &str) -> bool {
    match kind {
        "Node" => tolerated(condition, status).is_some(),
        _ => matches!(status, "False" | "Unknown"),
    }
}

/// The milliseconds for which node repair tolerates a condition of a Node; `None` if it does not look at the condition.
///
/// Source: `RepairPolicies` in pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.2.0 and v1.14.1; at v1.1.0
/// `Ready=False` alone.
pub fn tolerated(condition: &str, status: &str) -> Option<i64> {
    const MINUTE: i64 = 60_000;
    match (condition, status) {
        ("Ready", "False" | "Unknown" | "NotReady")
        | ("StorageReady" | "NetworkingReady" | "KernelReady" | "ContainerRuntimeReady", "False") => {
            Some(30 * MINUTE)
        }
        ("AcceleratedHardwareReady", "False") => Some(10 * MINUTE),
        _ => None,
    }
}
