//! Batches of the provisioner: the pods of one scheduling decision, and the NodeClaims that it created.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use ids::Id;
use smol_str::SmolStr;

use super::WriterId;
use super::record::Record;
use crate::entry::{Entry, Time};

/// Number of batches that are remembered.
const MAX_BATCHES: usize = 20_000;

/// A batch of the provisioner: the lines with one `reconcileID`.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    order: u64,
    /// The process.
    pub writer: WriterId,
    /// `found provisionable pod(s)`.
    pub found: Option<Record>,
    /// The pods that the line names, at most five.
    pub pods: Vec<SmolStr>,
    /// Number of pods, including pods that the line only counts.
    pub total: u64,
    /// Number of pods for new NodeClaims, if a line says it.
    pub on_new: Option<u64>,
    /// Number of pods for existing nodes and for nodes that are starting.
    pub on_others: u64,
    /// The NodeClaims that were created.
    pub claims: Vec<SmolStr>,
    /// Whether a NodeClaim could not be created.
    pub failed: bool,
}

impl Batch {
    /// Returns the time of the batch.
    pub fn time(&self) -> Option<Time> {
        self.found.as_ref()?.time
    }

    /// Reads `default/a, default/b and 3 other(s)`, which `pretty.Slice` writes with five names at most.
    /// Source: pkg/controllers/provisioning/provisioner.go and pkg/utils/pretty/pretty.go at v1.0.0 and v1.14.0.
    pub fn read_pods(&mut self, list: &str) {
        let (names, others) = match list.rsplit_once(" and ") {
            Some((names, rest)) => {
                (names, rest.strip_suffix(" other(s)").and_then(|count| count.trim().parse().ok()))
            }
            None => (list, Some(0)),
        };
        let (names, others): (&str, u64) = others.map_or((list, 0), |others| (names, others));
        self.pods = names.split(", ").filter(|name| !name.is_empty()).take(20).map(Into::into).collect();
        self.total = (self.pods.len() as u64).saturating_add(others);
    }
}

/// All batches, in bounded memory.
#[derive(Debug, Default)]
pub struct Batches {
    /// By their ids. Their order comes from their times, and each line of the provisioner looks one up.
    map: HashMap<Box<str>, Batch>,
    /// The last batch of each process, for lines without a `reconcileID`.
    last: BTreeMap<WriterId, Box<str>>,
    met: u64,
}

impl Batches {
    /// Changes the batch of a line, which begins here if its id is new.
    pub(super) fn update(
        &mut self,
        entry: &Entry<'_>,
        writer: WriterId,
        begins: bool,
        change: impl FnOnce(&mut Batch),
    ) {
        let id = self.id_of(entry, writer, begins);
        if let Some(batch) = self.map.get_mut(&*id) {
            change(batch);
            return;
        }
        self.met += 1;
        let mut batch = Batch { order: self.met, writer, ..Batch::default() };
        change(&mut batch);
        self.map.insert((&*id).into(), batch);
    }

    /// Returns the id of the batch of a line.
    pub(super) fn id_of<'e>(&mut self, entry: &'e Entry<'_>, writer: WriterId, begins: bool) -> Cow<'e, str> {
        if let Some(id) = entry.fields.text("reconcileID").filter(|id| !id.is_empty()) {
            return id;
        }
        if begins || !self.last.contains_key(&writer) {
            self.last.insert(writer, format!("{}#{}", writer.position(), self.met + 1).into());
        }
        self.last.get(&writer).map_or_else(Cow::default, |id| Cow::Owned(id.to_string()))
    }

    /// Returns all dated batches in the order of time.
    pub fn in_time(&self) -> Vec<&Batch> {
        let mut all: Vec<_> = self.map.values().filter(|batch| batch.time().is_some()).collect();
        all.sort_by_cached_key(|batch| batch.found.as_ref().map(Record::key));
        all
    }

    /// Returns the batch of an id.
    pub fn get(&self, id: &str) -> Option<&Batch> {
        self.map.get(id)
    }

    /// Whether there are too many.
    pub(super) fn is_full(&self) -> bool {
        self.map.len() > MAX_BATCHES
    }

    /// Forgets the oldest quarter if there are too many, except the batches of some NodeClaims; returns how many.
    pub(super) fn forget(&mut self, evidence: &BTreeSet<String>) -> u64 {
        if !self.is_full() {
            return 0;
        }
        let before = self.map.len();
        let mut orders: Vec<_> = self.map.values().map(|batch| batch.order).collect();
        orders.sort_unstable();
        let least = orders.get(before / 4).copied().unwrap_or_default();
        let is_evidence = |batch: &Batch| batch.claims.iter().any(|claim| evidence.contains(&**claim));
        self.map.retain(|_, batch| batch.order >= least || is_evidence(batch));
        (before - self.map.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_named_and_other_pods_of_a_batch() {
        for (list, named, total) in [
            ("default/a", 1, 1),
            ("default/a, default/b", 2, 2),
            ("a/1, a/2, a/3, a/4, a/5 and 7 other(s)", 5, 12),
            ("", 0, 0),
            ("a/b and c", 1, 1),
        ] {
            let mut batch = Batch::default();
            batch.read_pods(list);
            assert_eq!((batch.pods.len(), batch.total), (named, total), "{list}");
        }
    }
}
