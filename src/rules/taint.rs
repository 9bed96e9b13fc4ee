//! Location of a taint in findings.

use objects::taint::TaintItem;
use rule::finding::Place;

/// Returns the location of a taint: the span of its key, under the path of the taint.
pub(super) fn place(taint: TaintItem<'_>) -> Place<'_> {
    taint.key_node().map_or_else(|| Place::value(taint.node()), Place::value_under_parent)
}
