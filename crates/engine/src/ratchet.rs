//! Updates of objects that were wrong before: an error that the stored object already has does not reject the update.

use std::collections::BTreeMap;

use manifest::tree::Node;
use objects::object::Object;

use rule::classification::{Family, Severity};
use rule::finding::Finding;

/// Turns errors into warnings if the stored object has the same fault. `before` are the findings of the stored object.
///
/// The API server does the same for custom resources (KEP-4008), and its refusals already follow that: see
/// [`objects::validation::keeps_unchanged_faults`]. So the family `api-server` stays as it is.
pub(crate) fn lower_old_errors<'d>(
    findings: &mut [Finding<'d>],
    object: Object<'d>,
    before: &[Finding<'d>],
    stored: Object<'d>,
) {
    let mut values = Values::default();
    let mut known = BTreeMap::<FaultIdentity, usize>::new();
    for finding in before {
        *known.entry(FaultIdentity::of(finding, stored, &mut values)).or_default() += 1;
    }
    for finding in findings.iter_mut().filter(|finding| may_be_lowered(finding)) {
        let fault = FaultIdentity::of(finding, object, &mut values);
        if let Some(left) = known.get_mut(&fault).filter(|left| **left > 0) {
            *left -= 1;
            finding.severity = Severity::Warning;
            finding.message.push_str(" (the object had this error before the update)");
        }
    }
}

/// Whether a finding becomes a warning if the stored object has the same fault.
pub(crate) fn may_be_lowered(finding: &Finding<'_>) -> bool {
    finding.severity == Severity::Error && finding.rule.family != Family::ApiServer
}

/// The properties of a finding that stay the same if an update does not touch the fault.
///
/// An item of a list may move, so the path has no indices. A list or an object has no value here: the fault of an object
/// around a changed field is still the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FaultIdentity {
    rule: &'static str,
    path: String,
    /// Number of the value in [`Values`].
    value: usize,
    message: String,
}

impl FaultIdentity {
    fn of<'d>(finding: &Finding<'d>, object: Object<'d>, values: &mut Values<'d>) -> Self {
        let path = finding.place.path(object.root());
        Self {
            rule: finding.rule.name,
            path: path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect(),
            value: values.number(finding.place.node()),
            message: finding.message.clone(),
        }
    }
}

/// The values at fault. Equal values have equal numbers, because a value such as a script may be long and have many faults.
#[derive(Default)]
struct Values<'d> {
    numbers: BTreeMap<&'d str, usize>,
    /// The last node and the number of its value. The findings of a node follow each other.
    last: Option<(Node<'d>, usize)>,
}

impl<'d> Values<'d> {
    fn number(&mut self, node: Node<'d>) -> usize {
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == node) {
            return number;
        }
        let value = if node.is_mapping() || node.is_sequence() { "" } else { node.spelling() };
        let next = self.numbers.len();
        let number = *self.numbers.entry(value).or_insert(next);
        self.last = Some((node, number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ARN, tree};
    use manifest::tree::items_of;

    fn errors(object: Object<'_>) -> Vec<Finding<'_>> {
        items_of(object.at(&["spec"])).map(|item| Finding::at(&ARN, item, "an ARN")).collect()
    }

    /// The severities of an error at each item of `spec`, after an update of an object with the same errors.
    fn severities(stored: &str, updated: &str) -> Vec<Severity> {
        let read = |items: &str| tree(&format!("apiVersion: v1\nkind: A\nspec: {items}\n"));
        let (stored, updated) = (read(stored), read(updated));
        let (stored, updated) = (Object::all(&stored)[0], Object::all(&updated)[0]);
        let mut findings = errors(updated);
        lower_old_errors(&mut findings, updated, &errors(stored), stored);
        findings.iter().map(|finding| finding.severity).collect()
    }

    #[test]
    fn keeps_errors_beyond_the_number_of_equal_old_errors() {
        assert_eq!(severities("[a]", "[b, a]"), [Severity::Error, Severity::Warning]);
        assert_eq!(severities("[a]", "[a, a]"), [Severity::Warning, Severity::Error]);
        assert_eq!(severities("[a, a]", "[a, a]"), [Severity::Warning, Severity::Warning]);
    }

    #[test]
    fn lowers_an_old_error_of_an_object_or_list_whatever_changes_within() {
        assert_eq!(severities("[{a: 1}]", "[{a: 2}]"), [Severity::Warning]);
        assert_eq!(severities("[[1]]", "[[2]]"), [Severity::Warning]);
    }
}
