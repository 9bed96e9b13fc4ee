//! Updates of objects that were wrong before: an error that the stored object already has does not reject the update.

use std::collections::BTreeMap;

use objects::object::Object;

use crate::classification::{Family, Severity};
use crate::finding::Finding;

/// Turns errors into warnings if the stored object has the same fault. `before` are the findings of the stored object.
///
/// The API server does the same for custom resources (KEP-4008), and its refusals already follow that: see
/// [`objects::validation::keeps_unchanged_faults`]. So the family `api-server` stays as it is.
pub(crate) fn lower_old_errors(
    findings: &mut [Finding<'_>],
    object: Object<'_>,
    before: &[Finding<'_>],
    stored: Object<'_>,
) {
    let mut known = BTreeMap::<String, usize>::new();
    for finding in before {
        *known.entry(fault(finding, stored)).or_default() += 1;
    }
    for finding in findings.iter_mut().filter(|finding| may_be_lowered(finding)) {
        if let Some(left) = known.get_mut(&fault(finding, object)).filter(|left| **left > 0) {
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

/// The properties of a finding that stay the same if an update does not touch the fault: rule, path without indices, value and
/// message.
///
/// An item of a list may move, so the path has no indices. A list or an object has no value here: the fault of an object
/// around a changed field is still the same.
fn fault(finding: &Finding<'_>, object: Object<'_>) -> String {
    let path = finding.place.path(object.root());
    let without_indices: String =
        path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
    let node = finding.place.node();
    let value = if node.is_mapping() || node.is_sequence() { "" } else { node.spelling() };
    [finding.rule.name, &without_indices, value, &finding.message].join("\n")
}
