//! The groups of constraints in the order of their creation.

use std::collections::BTreeMap;

use super::super::selector::{LabelSelector, Labels};
use super::SharedGroup;

/// Key and value of a label.
type Pair<'d> = (&'d str, &'d str);

/// The groups of constraints in the order of their creation, and by a label that they ask of the pods that count. So a pod is
/// compared with the groups that name one of its labels, and not with all groups.
#[derive(Debug, Default)]
pub(crate) struct CreatedGroups<'d> {
    all: Vec<SharedGroup<'d>>,
    by_label: BTreeMap<Pair<'d>, Vec<usize>>,
    /// The groups that ask for no value of a label.
    others: Vec<usize>,
}

impl<'d> CreatedGroups<'d> {
    /// Adds a group.
    pub(super) fn push(&mut self, group: &SharedGroup<'d>) {
        let position = self.all.len();
        let borrowed = group.borrow();
        let pair = borrowed.constraint.selector.as_ref().and_then(LabelSelector::required_label);
        pair.map_or(&mut self.others, |pair| self.by_label.entry(pair).or_default()).push(position);
        self.all.push(SharedGroup::clone(group));
    }

    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The groups from a position on that may count pods with some labels.
    pub(crate) fn since<'c>(
        &'c self,
        first: usize,
        labels: &'c Labels<'d>,
    ) -> impl Iterator<Item = &'c SharedGroup<'d>> {
        let of_label = labels.iter().filter_map(move |(key, value)| self.by_label.get(&(*key, *value)));
        let all = of_label.chain([&self.others]).flat_map(move |positions| {
            let start = positions.partition_point(|position| *position < first);
            positions.iter().skip(start)
        });
        all.filter_map(move |position| self.all.get(*position))
    }
}
