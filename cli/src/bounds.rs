//! The flags that raise the bounds on the input.

use answers::report::Report;
use manifest::limits::Exceeded;

/// The flag that raises a bound; `None` for a bound that no flag raises.
const fn flag(exceeded: Exceeded) -> Option<&'static str> {
    Some(match exceeded {
        Exceeded::FileBytes(_) => "--max-file-bytes",
        Exceeded::Documents(_) => "--max-documents",
        Exceeded::Depth(_) => "--max-depth",
        Exceeded::Nodes(_) | Exceeded::Work(_) => "--max-nodes",
        Exceeded::Expansion => return None,
    })
}

/// The end of a message about an unreadable document: how to raise the bound, if the document exceeds one.
pub(crate) fn advice(exceeded: Option<Exceeded>) -> String {
    exceeded.and_then(flag).map(|flag| format!("; raise the bound with {flag}")).unwrap_or_default()
}

/// Adds to each unreadable document, and to the lines beyond a bound, how to raise the bound.
pub(crate) fn advise(report: &mut Report) {
    for unreadable in &mut report.unreadable {
        unreadable.message += &advice(unreadable.exceeded);
    }
    let skipped = report.logs.iter_mut().flatten().flat_map(|log| &mut log.skipped);
    for lines in skipped.filter(|lines| lines.exceeds_file_bytes) {
        lines.reason += "; raise it with --max-file-bytes";
    }
}
